//! Programs that tell Keras to compute by something else than TensorFlow: `os.environ["KERAS_BACKEND"] = "jax"`.

use super::super::job::Job;
use super::super::step::Step;
use super::{first_call, obstacle};
use crate::finding::{Location, Rule};
use crate::program::{Caller, Literal, Object};
use crate::project::FileId;
use crate::semantic::{CallId, Store, StoreKey, ValueId};

/// The variable of the environment that tells it, and what stands for TensorFlow there.
const VARIABLE: &str = "KERAS_BACKEND";
const TENSORFLOW: &str = "tensorflow";

/// What says so by a call of its own.
const INSTALLS: [&str; 1] = ["plaidml.keras.install_backend"];

/// The first place that does so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let by_call = || first_call(job, INSTALLS).map(|(file, call)| job.at_call(file, call));
    let location = stored(job).or_else(|| given(job)).or_else(by_call)?;
    let finding = obstacle(rule, location, "another library than TensorFlow computes for Keras here")
        .help("let Keras compute by TensorFlow: `os.environ[\"KERAS_BACKEND\"] = \"tensorflow\"`");
    Some(Step::blocked(
        finding,
        "What is averaged and broadcast here are gradients and variables of TensorFlow.",
    ))
}

/// `os.environ["KERAS_BACKEND"] = "theano"`
fn stored(job: &Job<'_>) -> Option<Location> {
    let facts = job.facts;
    job.program.files().into_iter().find_map(|file| {
        let module = facts.module(file);
        let tells = |store: &&Store| {
            let caller = Caller { file, scope: module.code_scope(store.scope) };
            matches!(store.key, StoreKey::Item(key) if text(job, file, key) == Some(VARIABLE))
                && is_other(job, file, store.value)
                && job.program.reached.contains(&caller)
        };
        module.stores.iter().find(tells).map(|store| facts.location(file, store.range))
    })
}

/// `os.environ.setdefault("KERAS_BACKEND", "jax")`
fn given(job: &Job<'_>) -> Option<Location> {
    let tells = |&(file, id): &(FileId, CallId)| {
        let arguments = &job.facts.module(file).call(id).arguments;
        matches!(&arguments[..], [name, value]
            if text(job, file, name.value) == Some(VARIABLE) && is_other(job, file, value.value))
    };
    job.calls().find(tells).map(|(file, call)| job.at_call(file, call))
}

fn is_other(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    text(job, file, value).is_some_and(|own| own != TENSORFLOW)
}

/// The only text that a value may be.
fn text<'j>(job: &'j Job<'_>, file: FileId, value: ValueId) -> Option<&'j str> {
    let mut objects = job.facts.objects(file, value);
    match (objects.next(), objects.next()) {
        (Some((_, Object::Literal(Literal::Str(text)))), None) => Some(job.facts.solution.names.text(text)),
        _ => None,
    }
}
