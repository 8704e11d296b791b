//! Libraries that nobody knows may read what rank 0 has written: `coco.loadRes("results.json")`. Where the ranks can wait for
//! it behind the writing, they do.

use rustc_hash::FxHashMap;

use super::super::job::Job;
use super::inputs::own_effects;
use super::path_texts::text;
use crate::api::Effect;
use crate::program::{Literal, Object, Place};
use crate::project::FileId;
use crate::semantic::CallId;

/// The calls of such libraries, by the texts that they are given.
#[derive(Debug, Default)]
pub(in crate::distribute) struct UnknownReaders(FxHashMap<Given, Vec<(FileId, CallId)>>);

/// A text: what is written, or the value of a variable.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Given {
    Text(String),
    Value(Place),
}

impl UnknownReaders {
    pub(in crate::distribute) fn new(job: &Job<'_>) -> Self {
        let facts = job.facts;
        let mut own = Self::default();
        for (file, call) in job.calls() {
            let data = facts.module(file).call(call);
            let mut called = std::iter::once(data.callee).chain(facts.receiver(file, data));
            let is_unknown = called.any(|value| facts.may_be_foreign(file, value));
            if is_unknown && facts.called_symbols(file, call).next().is_none() {
                for given in texts(job, file, call, |_| true) {
                    own.0.entry(given).or_default().push((file, call));
                }
            }
        }
        own
    }

    /// Those that are given a path of a call that writes.
    pub(super) fn given_path_of(
        &self,
        job: &Job<'_>,
        (file, write): (FileId, CallId),
    ) -> Vec<(FileId, CallId)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        // The mode of a file is a text, too.
        let is_path = |text: &str| {
            text.contains(['.', '/']) || own_effects(job, file, write).contains(Effect::MakesFolder)
        };
        texts(job, file, write, is_path).iter().filter_map(|own| self.0.get(own)).flatten().copied().collect()
    }
}

/// The texts that a call is given, also through parameters; those of the source only if they are wanted.
fn texts(job: &Job<'_>, file: FileId, call: CallId, is_wanted: impl Fn(&str) -> bool) -> Vec<Given> {
    let facts = job.facts;
    let mut found = Vec::new();
    for value in facts.module(file).call(call).arguments.iter().map(|own| own.value) {
        if let Some(text) = text(job, (file, value)) {
            found.extend(is_wanted(text).then(|| Given::Text(text.to_owned())));
            continue;
        }
        let mut is_text = false;
        for (id, object) in facts.objects(file, value) {
            is_text |= facts.builtin_class(id) == Some("str");
            if let Object::Literal(Literal::Str(name)) = object {
                let text = facts.solution.names.text(name);
                found.extend(is_wanted(text).then(|| Given::Text(text.to_owned())));
            }
        }
        found.extend(is_text.then_some(Given::Value((file, value))));
    }
    found
}
