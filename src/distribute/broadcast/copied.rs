//! Copies of the models that a loop trains: `target.set_weights(online.get_weights())`, or variable by variable. What was
//! copied in front of the broadcast is each rank's own, so that a copy is broadcast with its model.

use super::super::job::Job;
use super::super::layer_variables::VARIABLES;
use super::super::learning_rate::rate_changes::sets;
use super::site::{Site, is_repeated};
use super::spoken::Spoken;
use crate::api::{Effect, Kind};
use crate::program::{Caller, for_bound};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Definition, Value, ValueId, Variable};
use crate::syntax::TextRange;

/// Why a copy can't be broadcast.
pub(super) const UNNAMED: &str = "A model is made equal to the trained one before that is broadcast, and it can't be seen what it is called behind \
     the first step: each rank would go on with a copy of its own.";

/// Adds copies of what is trained to the broadcasts of their models. Gives the calls that make copies which have no
/// name there, and are only made once.
pub(super) fn add(job: &Job<'_>, sites: &mut [Site]) -> Vec<(FileId, CallId)> {
    let mut unnamed = Vec::new();
    for (file, call) in job.calls() {
        let Some(source) = copied(job, file, call) else { continue };
        let module = job.facts.module(file);
        let Some(text) = job.text(file) else { continue };
        let beside = |spoken: &Spoken| spoken.beside(text, module.call(source), module.call(call));
        let is_named = broadcast_beside(sites, beside) || broadcast_handed(job, sites, file, source, call);
        if !is_named && !is_repeated(job, file, call) {
            unnamed.push((file, call));
        }
    }
    unnamed.extend(add_paired(job, sites));
    unnamed
}

/// Adds to each broadcast what stands beside one of its variables. Gives whether there is such a one.
pub(super) fn broadcast_beside(sites: &mut [Site], beside: impl Fn(&Spoken) -> Option<Spoken>) -> bool {
    let mut is_named = false;
    for site in sites {
        if let Some(copy) = site.variables.iter().find_map(&beside) {
            is_named = true;
            if !site.variables.contains(&copy) {
                site.variables.push(copy);
            }
        }
    }
    is_named
}

/// The same where the model and its copy are handed to the function that trains: `train(online, target)`.
fn broadcast_handed(job: &Job<'_>, sites: &mut [Site], file: FileId, source: CallId, call: CallId) -> bool {
    let receiver = |id| job.facts.receiver(file, job.facts.module(file).call(id));
    let (Some(model), Some(copy)) = (receiver(source), receiver(call)) else { return false };
    let mut is_named = false;
    for site in sites {
        let Some([model, copy]) = handed(job, site.caller, file, [model, copy]) else { continue };
        let module = job.facts.module(site.caller.file);
        is_named |=
            broadcast_beside(std::slice::from_mut(site), |spoken| spoken.beside_handed(module, model, copy));
    }
    is_named
}

/// The parameters that two values come to wherever a function is called, if it gives these no other values.
fn handed(job: &Job<'_>, caller: Caller, file: FileId, values: [ValueId; 2]) -> Option<[Variable; 2]> {
    let facts = job.facts;
    let function = facts.function_of(caller)?;
    let mut found: Option<[usize; 2]> = None;
    for edge in facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge)) {
        let id = facts.call_in_place(edge).filter(|_| edge.caller.file == file)?;
        let mut places = [None; 2];
        for_bound(facts, file, facts.module(file).call(id), function, |value, parameter| {
            for (place, wanted) in places.iter_mut().zip(values) {
                *place = place.or((value == wanted).then_some(parameter));
            }
        });
        let [Some(first), Some(second)] = places else { return None };
        if found.is_some_and(|known| known != [first, second]) {
            return None;
        }
        found = Some([first, second]);
    }
    let module = facts.module(function.file);
    let parameters = &module.function(function.function).parameters;
    let variable = |index: usize| {
        let is_it = |own: &&Definition| own.value == parameters[index].value;
        let variable = module.definitions.iter().find(is_it)?.variable;
        let definitions = module.definitions.iter().filter(|own| own.variable == variable);
        (definitions.count() == 1).then_some(variable)
    };
    let [first, second] = found?;
    Some([variable(first)?, variable(second)?])
}

/// The same for models whose variables follow those of the trained one, pair by pair:
/// `for a, b in zip(model.weights, target.weights): b.assign(0.99 * b + 0.01 * a)`.
fn add_paired(job: &Job<'_>, sites: &mut [Site]) -> Vec<(FileId, CallId)> {
    let mut unnamed = Vec::new();
    for (file, call) in job.calls() {
        let Some(text) = job.text(file) else { continue };
        let paired = paired(job, file, call);
        for (model, follower) in paired.iter().flat_map(|one| paired.iter().map(move |other| (one, other))) {
            if model.range == follower.range || follower.is_trained {
                continue;
            }
            let beside = |spoken: &Spoken| spoken.beside_variables(text, model.range, follower.range);
            if !broadcast_beside(sites, beside) && model.is_trained {
                unnamed.push((file, call));
            }
        }
    }
    unnamed
}

/// The variables of a model, where they are paired with those of others.
struct Paired {
    range: TextRange,
    /// A loop of the program trains the model.
    is_trained: bool,
}

/// The models whose variables a call pairs, if some of these are assigned to.
fn paired(job: &Job<'_>, file: FileId, call: CallId) -> Vec<Paired> {
    let facts = job.facts;
    let module = facts.module(file);
    let data = module.call(call);
    let variables = |argument: &Argument| {
        let Value::Attribute { base, name, .. } = module.value(argument.value).value else { return None };
        let may_be = |kind| facts.may_be(file, base, kind);
        let is_trained = |(id, _)| job.program.loops.iter().any(|own| own.models.contains(&id));
        let are_variables = VARIABLES.contains(&module.names.text(name));
        (are_variables && (may_be(Kind::Model) || may_be(Kind::Layer)))
            .then(|| Paired { range: argument.range, is_trained: facts.objects(file, base).any(is_trained) })
    };
    let paired: Vec<Paired> = data.arguments.iter().filter_map(variables).collect();
    if paired.len() < 2 {
        return Vec::new();
    }
    let pairs = facts.influence().forwards(&[(file, data.result)], |_| false);
    let is_assigned = job.calls().any(|(file, call)| {
        let receiver = facts.receiver(file, facts.module(file).call(call));
        receiver.is_some_and(|own| pairs.contains(&(file, own))) && sets(job, file, call)
    });
    if is_assigned { paired } else { Vec::new() }
}

/// The call that reads the weights of a model that is trained by steps of its own, where another model gets them.
fn copied(job: &Job<'_>, file: FileId, call: CallId) -> Option<CallId> {
    let facts = job.facts;
    let module = facts.module(file);
    let data = module.call(call);
    let target = facts.receiver(file, data)?;
    let [weights] = data.arguments.as_slice() else { return None };
    let Value::Call(source) = module.value(weights.value).value else { return None };
    let is_copied = facts.called_symbols(file, source).any(|symbol| symbol.has(Effect::CopiesWeights));
    let read = facts.receiver(file, module.call(source)).filter(|_| is_copied)?;
    let mut loops = job.program.loops.iter().filter(|own| !job.is_fit(own));
    let is_trained = loops.any(|own| facts.objects(file, read).any(|(id, _)| own.models.contains(&id)));
    (is_trained && facts.may_be(file, target, Kind::Model)).then_some(source)
}
