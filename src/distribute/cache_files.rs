//! Each rank caches its data in a file of its own: `dataset.cache(path)` writes it, and two ranks can't.

use super::job::Job;
use super::ranked::{is_for_one_rank, reads_rank};
use super::started::runs_started;
use super::step::Step;
use crate::api::Symbol;
use crate::finding::Rule;
use crate::program::{Literal, Object};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Value};

/// The steps of `output-on-every-rank` that name the files of caches.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    job.calls().filter_map(|(file, call)| step(job, rule, file, call)).collect()
}

/// The path of the file in which a call caches a dataset, as far as one is given.
pub(super) fn cached_in<'j>(job: &'j Job<'_>, file: FileId, id: CallId) -> Option<&'j Argument> {
    let facts = job.facts;
    let cache = facts.library.lookup("tensorflow.data.Dataset.cache")?;
    let path = facts.argument(file, facts.module(file).call(id), cache, "filename")?;
    let is_cache = facts.called_symbols(file, id).any(|symbol| symbol == cache);
    (is_cache || is_called_like(job, file, id, cache, path)).then_some(path)
}

fn step(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let facts = job.facts;
    let path = cached_in(job, file, id)?;
    if is_in_memory(job, file, path)
        || reads_rank(job, file, path.value)
        || is_for_one_rank(job, file, id)
        || !runs_started(job, file, id)
    {
        return None;
    }
    let finding = Step::missing(rule, job.at_call(file, id), "every rank caches its data in the same file")
        .here("cached by each rank")
        .help("give each rank a file of its own: `path + str(hvd.rank())`")
        .in_scope(job.scope_of(file, id));
    let is_text =
        facts.objects(file, path.value).all(|(object, _)| facts.builtin_class(object) == Some("str"));
    if facts.is_unknown(file, path.value) || !is_text {
        return Some(Step::blocked(finding, "It can't be seen that the path of the cache is a text."));
    }
    let text = job.text(file)?;
    let (hvd, import) = job.horovod(file);
    let path = text.replace(path.range, format!("{} + str({hvd}.rank())", text.as_factor(path.range)));
    Some(Step::change(finding, "cache in a file of each rank's own", vec![path], vec![import]))
}

/// Whether a method of an object that nobody knows has the name of the one that caches, and is given a text: the dataset of
/// `data, info = tfds.load(name, with_info=True)`.
fn is_called_like(job: &Job<'_>, file: FileId, id: CallId, cache: &Symbol, path: &Argument) -> bool {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let Value::Attribute { name, .. } = facts.module(file).value(call.callee).value else {
        return false;
    };
    facts.module(file).names.text(name) == cache.last_name()
        && facts.called_symbols(file, id).next().is_none()
        && facts.called_functions(file, id).next().is_none()
        && facts.objects(file, path.value).any(|(id, _)| facts.builtin_class(id) == Some("str"))
}

/// Whether a cache has surely no file.
fn is_in_memory(job: &Job<'_>, file: FileId, path: &Argument) -> bool {
    let facts = job.facts;
    let mut objects = facts.objects(file, path.value).peekable();
    objects.peek().is_some()
        && objects.all(|(_, object)| match object {
            Object::Literal(Literal::Str(text)) => facts.solution.names.text(text).is_empty(),
            _ => false,
        })
}
