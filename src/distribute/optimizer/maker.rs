//! Where the optimizer comes from that `compile` is given or that `minimize` is called on.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::forms;
use crate::api::{Calls, Effect, Kind};
use crate::program::{Caller, Literal, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Container, Value, ValueId};

/// The parameter of `compile`, and the attribute of the model.
pub(in crate::distribute) const OPTIMIZER: &str = "optimizer";

/// How many optimizers around each other are looked through.
const AROUND: u32 = 8;

/// Where an optimizer comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::distribute) enum Origin {
    /// From these calls, which make it; those that distribute it are left out.
    Made(Vec<(FileId, CallId)>),
    /// It is the one of this name.
    Named(String),
    /// It is named by a string that is known only when the program runs.
    NamedLater,
    /// It is described by this dictionary.
    Described(FileId, ValueId),
    /// Nobody knows.
    Unseen,
}

impl Origin {
    /// The origin of what a value may be.
    pub(in crate::distribute) fn of(job: &Job<'_>, file: FileId, value: ValueId) -> Self {
        Self::within(job, file, value, AROUND)
    }

    /// The origin through so many optimizers, each around the next: `optimizer = wrap(optimizer)` in a loop has no end.
    fn within(job: &Job<'_>, file: FileId, value: ValueId, depth: u32) -> Self {
        let facts = job.facts;
        let mut makers = Vec::new();
        let mut distributed = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        let mut dictionaries = Vec::new();
        let all = facts.solution.values(file, value);
        for (id, object) in facts.objects(file, value) {
            match object {
                _ if forms::takes_place(facts, all, id) => {}
                _ if facts.kind(id) == Some(Kind::Optimizer) => match makers_of(job, id, depth) {
                    Some(found) if found.is_empty() => distributed.extend(facts.made_at(id)),
                    Some(found) => makers.extend(found),
                    None => return Self::Unseen,
                },
                // Keras refuses to compile with none: where it is tested for, it does not arrive.
                Object::Literal(Literal::None) => {}
                Object::Literal(Literal::Str(name)) => names.push(facts.solution.names.text(name)),
                Object::Container(Container::Dict, node) => dictionaries.extend(facts.solution.origin(node)),
                _ if is_of_command_line(job, file, value) => return Self::NamedLater,
                _ => return Self::Unseen,
            }
        }
        if job.program.already_distributed {
            makers.retain(|&maker| !distributed.iter().any(|&other| are_alternatives(job, maker, other)));
        }
        makers.sort_unstable();
        makers.dedup();
        let is_optimizer = facts.may_be(file, value, Kind::Optimizer);
        match (is_optimizer, names.as_slice(), dictionaries.as_slice()) {
            (true, [], []) => Self::Made(makers),
            (false, [name], []) => Self::Named((*name).to_owned()),
            (false, [_, _, ..], []) => Self::NamedLater,
            (false, [], [(file, value)]) => Self::Described(*file, *value),
            (false, [], []) if is_of_command_line(job, file, value) => Self::NamedLater,
            _ => Self::Unseen,
        }
    }
}

/// Whether a function makes one of two calls and never both: `if distributed: return hvd.DistributedOptimizer(...)`.
fn are_alternatives(job: &Job<'_>, (file, one): (FileId, CallId), (of, other): (FileId, CallId)) -> bool {
    let module = job.facts.module(file);
    let (one, other) = (module.call(one), job.facts.module(of).call(other));
    if file != of || one.scope != other.scope || one.block == other.block {
        return false;
    }
    let flow = &module.scope(one.scope).flow;
    !flow.leads(one.block, other.block) && !flow.leads(other.block, one.block)
}

/// The calls that make the optimizers which models keep, whoever handed them through to `compile`, in `**kwargs` for
/// instance; `None` if they can't be seen.
pub(super) fn makers_of_kept(job: &Job<'_>, models: &[ObjectId]) -> Option<Vec<(FileId, CallId)>> {
    let name = job.facts.solution.names.find(OPTIMIZER)?;
    let mut makers = Vec::new();
    for &model in models {
        let solution = &job.facts.solution;
        let is_one = |&&kept: &&ObjectId| !matches!(solution.object(kept), Object::Literal(Literal::None));
        let mut kept = solution.attribute(model, name).iter().filter(is_one).peekable();
        kept.peek()?;
        for &optimizer in kept {
            if job.facts.kind(optimizer) != Some(Kind::Optimizer) {
                return None;
            }
            makers.extend(makers_of(job, optimizer, AROUND)?);
        }
    }
    makers.sort_unstable();
    makers.dedup();
    (!models.is_empty()).then_some(makers)
}

/// The calls that make an optimizer and don't distribute it; `None` if they can't be seen.
fn makers_of(job: &Job<'_>, object: ObjectId, depth: u32) -> Option<Vec<(FileId, CallId)>> {
    let facts = job.facts;
    let (file, call) = facts.made_at(object)?;
    let data = facts.module(file).call(call);
    for symbol in facts.called_symbols(file, call) {
        if symbol.has(Effect::Distributes) {
            return Some(Vec::new());
        }
        // One that takes its gradients from another: that other is the one to distribute.
        let inner = symbol.calls().iter().find_map(|calls| match calls {
            Calls::ArgumentMethod(parameter, _) => facts.argument(file, data, symbol, parameter),
            _ => None,
        });
        if let Some(inner) = inner {
            return match Origin::within(job, file, inner.value, depth.checked_sub(1)?) {
                Origin::Made(makers) => Some(makers),
                _ => None,
            };
        }
    }
    if let Object::Instance(..) = facts.solution.object(object)
        && (is_given_to_distributor(job, object) || is_given_distributed(job, file, call))
    {
        return Some(Vec::new());
    }
    Some(vec![(file, call)])
}

/// An object of the project's own class stays the same when it is distributed.
fn is_given_to_distributor(job: &Job<'_>, object: ObjectId) -> bool {
    let facts = job.facts;
    job.calls().any(|(file, call)| {
        facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Distributes))
            && facts
                .module(file)
                .call(call)
                .arguments
                .iter()
                .any(|argument| facts.objects(file, argument.value).any(|(id, _)| id == object))
    })
}

/// Whether a call is given an optimizer that is distributed, or one that is given such a one itself: optimizers of the
/// project's own, each of which steps with the one inside.
fn is_given_distributed(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let mut seen = FxHashSet::default();
    let mut work = vec![(file, call)];
    while let Some((file, call)) = work.pop() {
        for argument in &facts.module(file).call(call).arguments {
            for optimizer in facts.of_kind(file, argument.value, Kind::Optimizer) {
                let Some((of, made)) = facts.made_at(optimizer) else { continue };
                if distributes(job, of, made) {
                    return true;
                }
                let is_own = matches!(facts.solution.object(optimizer), Object::Instance(..));
                if is_own && seen.insert((of, made)) {
                    work.push((of, made));
                }
            }
        }
    }
    false
}

/// Whether a call gives the distributed form of an optimizer.
fn distributes(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    job.facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Distributes))
}

/// Whether a value is what a call makes, or in its place what a call of the other way through the same function gives,
/// which is distributed: `builder.build() if builder else SGD(0.1)`.
pub(super) fn may_be_distributed_instead(
    job: &Job<'_>,
    (file, value): Place,
    maker: (FileId, CallId),
) -> bool {
    let facts = job.facts;
    let is_distributed = |&own: &ObjectId| {
        facts.kind(own) == Some(Kind::Optimizer)
            && facts.made_at(own).is_some_and(|(file, call)| distributes(job, file, call))
    };
    let all = facts.solution.values(file, value).iter();
    let distributed: Vec<ObjectId> = all.copied().filter(is_distributed).collect();
    let module = facts.module(maker.0);
    !distributed.is_empty()
        && job.calls_in(maker.0).any(|call| {
            let given = facts.solution.values(maker.0, module.call(call).result);
            given.iter().any(|own| distributed.contains(own))
                && (are_alternatives(job, maker, (maker.0, call))
                    || is_conditional(job, maker.0, call) && starts_under_condition(job))
        })
}

/// Whether Horovod is an option: the program starts it under conditions only.
fn starts_under_condition(job: &Job<'_>) -> bool {
    let starts = job.facts.calls_with(Effect::Initializes).filter(|&(file, call)| job.runs(file, call));
    let mut starts = starts.peekable();
    starts.peek().is_some() && starts.all(|(file, call)| is_conditional(job, file, call))
}

fn is_conditional(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let data = job.facts.module(file).call(call);
    let conditions = job.facts.conditions(Caller { file, scope: data.scope }, data.block);
    conditions.iter().any(|own| !job.facts.is_main_guard(file, &own.branch))
}

/// Whether a value is an option of the command line: a string, where an optimizer is wanted.
fn is_of_command_line(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let facts = job.facts;
    let Value::Attribute { base, .. } = facts.module(file).value(value).value else { return false };
    let Some(namespace) = facts.library.lookup("argparse.Namespace") else { return false };
    let mut objects = facts.objects(file, base);
    objects.any(|(_, object)| {
        facts.symbol(object).is_some_and(|symbol| facts.library.is_subclass(symbol, namespace))
    })
}
