//! Which parcels can be applied: all of them, or those that remain when the guilty ones are found.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::edits::Edits;
use super::origin::Origin;
use super::original::Originals;
use super::parcel::{Parcel, Refusal};
use super::unbound;
use super::verify::{State, Verdict, verdict};
use crate::examine::{Examined, Wishes};
use crate::finding::Finding;
use crate::project::{FileId, encode_as};

/// A state of the project, and what is tried on it.
pub(super) struct Search<'s, 'p> {
    pub(super) before: &'s Examined,
    pub(super) wishes: Wishes<'s>,
    /// What it was before other fixes.
    pub(super) origin: Origin<'s>,
    pub(super) originals: &'s mut Originals<'p>,
    /// How many more analyses may be made.
    pub(super) proofs: &'s mut usize,
    /// What is good so far: the parcels, their edits, the project that they make.
    pub(super) admitted: Vec<&'s Parcel>,
    pub(super) edits: Edits,
    pub(super) after: Option<Examined>,
    pub(super) refusals: Vec<Refusal>,
}

impl<'s> Search<'s, '_> {
    /// Admits all of `parcels` that are good together with those that are admitted. Where they are not, each half is
    /// tried, so that few guilty ones among many cost few analyses.
    pub(super) fn admit(&mut self, parcels: &[&'s Parcel]) {
        if parcels.is_empty() {
            return;
        }
        match self.prove(parcels) {
            Ok((edits, after)) => {
                self.admitted.extend(parcels);
                self.edits = edits;
                self.after = Some(after);
            }
            Err(reason) => {
                if let [one] = parcels {
                    self.refusals.push(Refusal::new(&one.findings[0], self.origin, reason));
                } else {
                    let (first, second) = parcels.split_at(parcels.len() / 2);
                    self.admit(first);
                    self.admit(second);
                }
            }
        }
    }

    /// What the project becomes with these parcels too, or why it must not.
    fn prove(&mut self, parcels: &[&Parcel]) -> Result<(Edits, Examined), String> {
        let mut edits = self.edits.clone();
        for parcel in parcels {
            edits = edits.with(&parcel.edits).ok_or("it contradicts another fix")?;
        }
        *self.proofs = self.proofs.checked_sub(1).ok_or("too many fixes had to be tried one by one")?;
        let texts = self.texts(&edits)?;
        let after = self.before.with_texts(&texts, self.wishes);
        let fixed: Vec<&Finding> =
            self.admitted.iter().chain(parcels).flat_map(|parcel| &parcel.findings).collect();
        match verdict(State::of(self.before), State::of(&after), &edits, &fixed) {
            Verdict::Good => match self.unbound(&edits, &after) {
                Some(reason) => Err(reason),
                None => Ok((edits, after)),
            },
            Verdict::Remains(_) if parcels.len() == 1 => Err("the finding would remain".to_owned()),
            Verdict::Remains(finding) => Err(format!("{} would remain", finding.rule.name)),
            Verdict::New(finding) => {
                let place = self.origin.place(finding, Some((&edits, &after.documents)));
                Err(format!("it would cause {} at {place}", finding.rule.name))
            }
        }
    }

    /// What speaks against a project whose changed files read names that nothing binds.
    fn unbound(&self, edits: &Edits, after: &Examined) -> Option<String> {
        edits.files().find_map(|file| {
            let (before, library) = (&self.before.modules, self.wishes.library);
            let name = unbound::brought_in(before, &after.modules, library, file)?;
            let path = &after.project.file(file).relative;
            Some(format!("{path} would read `{name}`, which nothing would bind there"))
        })
    }

    /// The changed texts; each can be written in the encoding of its file.
    fn texts(&mut self, edits: &Edits) -> Result<BTreeMap<FileId, Arc<str>>, String> {
        let mut texts = BTreeMap::new();
        for file in edits.files() {
            let document = self.before.documents.get(&file).ok_or("its file can't be read")?;
            let text = edits.apply(file, &document.text).ok_or("its edits lie outside of the text")?;
            let original = self.originals.get(file)?;
            encode_as(self.before.project.file(file).kind, &text, original)
                .map_err(|error| error.to_string())?;
            texts.insert(file, text.into());
        }
        Ok(texts)
    }
}
