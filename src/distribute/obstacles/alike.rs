//! What is the same on all ranks though it is computed from what differs: how many there are, averages, the number of the step.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::session::fetched;
use super::counted::{counts, is_length};
use super::form_questions::tells_form;
use super::own_lengths::is_selected;
use crate::api::Effect;
use crate::program::{Object, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// Whether a value is the same on all ranks though it is computed from what differs. The number that `enumerate` gives
/// does not depend on what it counts.
pub(super) fn is_common(job: &Job<'_>, place: Place) -> bool {
    let is_common = job.common.alike(job.facts).get_or(job.facts, place, || is_common_anywhere(job, place));
    is_common && !is_padded_form(job, place)
}

/// The same where no data are padded; it does not depend on the program.
fn is_common_anywhere(job: &Job<'_>, (file, value): Place) -> bool {
    let facts = job.facts;
    if tells_form(job, (file, value)) {
        return true;
    }
    match facts.module(file).value(value).value {
        Value::Call(call) => {
            facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Averages))
                || counts_data(job, file, call)
                || counts(job, file, call) && !measures_selection(job, file, call)
                || fetched::is_step(job, (file, value))
        }
        Value::Attribute { name, base, .. } => match facts.module(file).names.text(name) {
            SHAPE => !is_selected(job, (file, base)),
            // How many epochs were made, in what `fit` returns.
            EPOCHS => facts.gives((file, base), &[Effect::Trains]),
            name => facts.objects(file, base).any(|(_, object)| {
                let class = facts.symbol(object);
                let attribute = class.and_then(|class| facts.library.member(class, name));
                attribute.is_some_and(|own| own.has(Effect::Measures))
            }),
        },
        Value::Unpack { .. } | Value::Item { .. } => fetched::is_step(job, (file, value)),
        _ => false,
    }
}

/// The attribute of a history that lists the numbers of its epochs.
const EPOCHS: &str = "epoch";

/// The attribute of arrays and tensors that tells how many elements they have.
const SHAPE: &str = "shape";

/// Whether a call is `len(data)`: how many examples there are does not depend on what they are.
fn counts_data(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    is_length(job, file, call) && !counts_memory(job, file, call) && !measures_selection(job, file, call) && {
        let mut arguments = job.facts.module(file).call(call).arguments.iter();
        arguments.all(|argument| {
            let mut objects = job.facts.objects(file, argument.value);
            !objects.any(|(_, object)| matches!(object, Object::Container(..)))
        })
    }
}

/// Whether a call is `len(memory)` of a queue, such as those that keep what an agent has met.
pub(super) fn counts_memory(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let [counted] = &facts.module(file).call(call).arguments[..] else { return false };
    is_length(job, file, call) && {
        let queue = facts.library.lookup("collections.deque");
        facts.objects(file, counted.value).any(|(_, object)| facts.symbol(object) == queue)
    }
}

/// Whether a call counts what values select, `tf.size(tf.where(y > 0))`: as many as each rank's own batch has.
fn measures_selection(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let counted = job.facts.module(file).call(call).arguments.first();
    counted.is_some_and(|own| is_selected(job, (file, own.value)))
}

/// Whether a value is the form of batches that are as long as their longest example.
fn is_padded_form(job: &Job<'_>, (file, value): Place) -> bool {
    let module = job.facts.module(file);
    match module.value(value).value {
        Value::Attribute { name, base, .. } => {
            module.names.text(name) == SHAPE && job.padded().contains(&(file, base))
        }
        _ => false,
    }
}

/// What is made of such batches.
pub(in crate::distribute) fn padded(job: &Job<'_>) -> FxHashSet<Place> {
    let facts = job.facts;
    let padding = PADDING.map(|name| facts.library.lookup(name));
    let pads = |&(file, call): &(FileId, CallId)| {
        facts.called_symbols(file, call).any(|own| padding.contains(&Some(own)))
    };
    let batches: Vec<Place> =
        job.calls().filter(pads).map(|(file, call)| (file, facts.module(file).call(call).result)).collect();
    facts.influence().forwards(&batches, |_| false)
}

/// What makes them.
const PADDING: [&str; 2] =
    ["tensorflow.data.Dataset.padded_batch", "tensorflow.data.Dataset.bucket_by_sequence_length"];
