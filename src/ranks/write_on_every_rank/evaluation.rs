//! Code that an estimator runs while it evaluates, predicts or exports, and not while it trains:
//! `if mode != tf.estimator.ModeKeys.TRAIN:` in the function that makes the model. The ranks come there that ask for it.

use rustc_hash::FxHashSet;

use super::super::alone::dominating;
use super::super::model::Model;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Caller, FunctionRef, Literal, Object, ObjectId, Place};
use crate::semantic::{BlockId, BranchKind, CallId, Method, Operator, Value};

/// The parameter for what the model is made for, and what it is while the estimator trains.
const MODE: &str = "mode";
const TRAINING: &str = "train";

/// How deep conditions are looked into, and through how many functions calls are followed back.
const DEPTH: u32 = 8;

/// The functions that make the models of estimators which one rank alone has evaluate, predict or export.
pub(in crate::ranks) struct Evaluation {
    makers: FxHashSet<FunctionRef>,
}

impl Evaluation {
    pub(super) fn new(model: &Model<'_>) -> Self {
        let facts = model.facts;
        let mut made: Vec<(FunctionRef, ObjectId)> = Vec::new();
        for &file in &model.files {
            for (index, call) in facts.module(file).calls.iter().enumerate() {
                let estimators = facts.of_kind(file, call.result, Kind::Estimator);
                let makers =
                    facts.called_functions(file, CallId::new(index)).filter(|_| !estimators.is_empty());
                made.extend(
                    makers.flat_map(|maker| estimators.iter().map(move |&estimator| (maker, estimator))),
                );
            }
        }
        let asked = if made.is_empty() { FxHashSet::default() } else { asked_by_several(model) };
        let of_several: FxHashSet<FunctionRef> =
            made.iter().filter(|(_, estimator)| asked.contains(estimator)).map(|&(maker, _)| maker).collect();
        Self {
            makers: made
                .into_iter()
                .map(|(maker, _)| maker)
                .filter(|own| !of_several.contains(own))
                .collect(),
        }
    }

    /// Whether one rank alone comes to a block, because it only runs while an estimator does not train.
    pub(super) fn is_at(&self, model: &Model<'_>, caller: Caller, block: BlockId) -> bool {
        !self.makers.is_empty() && self.is_outside_of_training(model, (caller, block), DEPTH)
    }

    fn is_outside_of_training(
        &self,
        model: &Model<'_>,
        (caller, block): (Caller, BlockId),
        depth: u32,
    ) -> bool {
        let facts = model.facts;
        let (Some(function), Some(depth)) = (facts.function_of(caller), depth.checked_sub(1)) else {
            return false;
        };
        if self.makers.contains(&function) {
            let blocks = &facts.module(caller.file).scope(caller.scope).flow.blocks;
            return dominating(facts, caller, block).into_iter().any(|own| {
                let branch = blocks[own.branch.index()].branch;
                let told = branch.and_then(|branch| Some((branch.condition?, branch.kind.outcome(own.arm)?)));
                told.is_some_and(|(condition, holds)| {
                    in_training(model, function, (caller.file, condition), DEPTH) == Some(!holds)
                })
            });
        }
        let mut edges = facts.incoming(function).iter().peekable();
        edges.peek().is_some()
            && edges.all(|edge| {
                edge.call.is_some_and(|call| {
                    let block = facts.module(edge.caller.file).call(call).block;
                    self.is_outside_of_training(model, (edge.caller, block), depth)
                })
            })
    }
}

/// The estimators that several ranks have evaluate, predict or export.
fn asked_by_several(model: &Model<'_>) -> FxHashSet<ObjectId> {
    let facts = model.facts;
    let asked = [Effect::Evaluates, Effect::Predicts, Effect::WritesFile];
    let mut found = FxHashSet::default();
    for (file, id) in asked.into_iter().flat_map(|effect| facts.calls_with(effect)) {
        let call = facts.module(file).call(id);
        // `tf.estimator.train_and_evaluate` is a function that does both.
        let only_trains = |own: &Symbol| own.has(Effect::Trains) && !own.has(Effect::Evaluates);
        let caller = Caller { file, scope: call.scope };
        if facts.called_symbols(file, id).all(only_trains) || model.guard(caller, call.block).is_one() {
            continue;
        }
        let given = call.arguments.iter().map(|own| own.value);
        let given = given.chain(facts.receiver(file, call));
        found.extend(given.flat_map(|value| facts.of_kind(file, value, Kind::Estimator)));
    }
    found
}

/// Whether a condition of an estimator's function is true while it trains, if its mode decides that.
fn in_training(model: &Model<'_>, function: FunctionRef, place: Place, depth: u32) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let (file, value) = place;
    let module = model.facts.module(file);
    let truth = |value| in_training(model, function, (file, value), depth);
    match module.value(value).value {
        Value::Operator { operator: Operator::Not, left, .. } => truth(left).map(|truth| !truth),
        Value::Operator { operator: Operator::Compare(method @ (Method::EQ | Method::NE)), left, right } => {
            let is_mode = |own| {
                matches!(module.value(own).value, Value::Parameter(of, index) if of == function.function
                    && module.function(of).parameters.get(index as usize).is_some_and(|own| module.names.text(own.name) == MODE))
            };
            let other = match (is_mode(left), is_mode(right)) {
                (true, false) => right,
                (false, true) => left,
                _ => return None,
            };
            let mut objects = model.facts.objects(file, other).map(|(_, object)| object);
            match (objects.next(), objects.next()) {
                (Some(Object::Literal(Literal::Str(mode))), None) => {
                    let is_training = model.facts.solution.names.text(mode) == TRAINING;
                    Some(is_training == (method == Method::EQ))
                }
                _ => None,
            }
        }
        Value::Phi(ref parts) => {
            let decides = match module.junction(module.value(value).range)? {
                BranchKind::And => false,
                BranchKind::Or => true,
                _ => return None,
            };
            let truths: Vec<Option<bool>> = parts.iter().map(|&part| truth(part)).collect();
            if truths.contains(&Some(decides)) {
                return Some(decides);
            }
            truths.into_iter().all(|truth| truth.is_some()).then_some(!decides)
        }
        _ => None,
    }
}
