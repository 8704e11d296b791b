//! The string literals of a program as paths: `"data/values.txt"` lies below `"data"`.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::job::Job;
use crate::program::Place;
use crate::semantic::{Constant, Value, ValueId};

/// The literals that a program has, by their text without a separator at its end.
#[derive(Debug, Default)]
pub(super) struct Literals(BTreeMap<String, Vec<Place>>);

/// What parts the names of folders and files.
const SEPARATOR: char = '/';

impl Literals {
    /// The literals of the program's files.
    pub(super) fn new(job: &Job<'_>) -> Self {
        let mut own = Self::default();
        for file in job.program.files() {
            for index in 0..job.facts.module(file).values.len() {
                let place = (file, ValueId::new(index));
                if let Some(text) = text(job, place) {
                    own.0.entry(text.to_owned()).or_default().push(place);
                }
            }
        }
        own
    }

    /// Places, and the literals that name folders in which those lie that these places name.
    pub(super) fn and_folders(&self, job: &Job<'_>, mut places: FxHashSet<Place>) -> FxHashSet<Place> {
        let texts: Vec<&str> = places.iter().filter_map(|&place| text(job, place)).collect();
        for text in texts {
            for (end, _) in text.match_indices(SEPARATOR).filter(|&(end, _)| end > 0) {
                places.extend(self.0.get(&text[..end]).into_iter().flatten());
            }
        }
        places
    }

    /// Places, and the literals that name what lies in the folders which these places name.
    pub(super) fn and_contents(&self, job: &Job<'_>, mut places: FxHashSet<Place>) -> FxHashSet<Place> {
        let texts: Vec<&str> = places.iter().filter_map(|&place| text(job, place)).collect();
        for text in texts {
            let folder = format!("{text}{SEPARATOR}");
            let below = self.0.range(folder.clone()..).take_while(|(own, _)| own.starts_with(&folder));
            places.extend(below.flat_map(|(_, found)| found));
        }
        places
    }
}

/// What a literal that may be a path says.
fn text<'j>(job: &'j Job<'_>, (file, value): Place) -> Option<&'j str> {
    let module = job.facts.module(file);
    let Value::Constant(Constant::Str(text)) = module.value(value).value else { return None };
    let text = module.names.text(text);
    let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches(SEPARATOR);
    (!text.is_empty()).then_some(text)
}
