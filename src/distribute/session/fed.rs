//! What a session is fed with where it runs something: `session.run(step, feed_dict={x: batch})`.

use super::super::job::Job;
use super::runs;
use crate::program::Place;
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Container, Element, Value, ValueId};

/// The parameter for what is fed.
const FED: &str = "feed_dict";

/// What a session is fed with.
pub(in crate::distribute) fn fed_at<'j>(job: &'j Job<'_>, file: FileId, id: CallId) -> Option<&'j Argument> {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let mut symbols = facts.called_symbols(file, id).filter(|_| runs(job, file, id));
    symbols.find_map(|symbol| facts.argument(file, call, symbol, FED))
}

/// The keys and values of the dictionary that a session is fed with, as far as it is written out.
pub(in crate::distribute) fn fed(job: &Job<'_>, file: FileId, id: CallId) -> Vec<(ValueId, ValueId)> {
    let dictionary = fed_at(job, file, id).map(|own| &job.facts.module(file).value(own.value).value);
    let Some(Value::Display(Container::Dict, elements)) = dictionary else { return Vec::new() };
    let entry = |own: &Element| match *own {
        Element::Key(key, value) => Some((key, value)),
        _ => None,
    };
    elements.iter().filter_map(entry).collect()
}

/// What a session is fed with: the values of a dictionary that is written out, else the dictionary.
pub(in crate::distribute) fn fed_values(job: &Job<'_>, file: FileId, id: CallId) -> Vec<Place> {
    let values: Vec<Place> = fed(job, file, id).into_iter().map(|(_, value)| (file, value)).collect();
    if values.is_empty() {
        fed_at(job, file, id).map(|own| (file, own.value)).into_iter().collect()
    } else {
        values
    }
}
