//! What is said of an object that differs between ranks: where from, why, and what to do.

use super::super::change::Culprit;
use super::super::model::Model;
use super::super::out_of_step;
use super::super::values::{Cause, Difference};
use super::{CHECK, DEPTH, Manner, Replicas, loops};
use crate::api::{Effect, Kind};
use crate::finding::{Confidence, Finding, Label, Level, Location};
use crate::program::{Caller, ClassRef, Condition, Object, ObjectId, Program, TrainingLoop, way};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId, Module, StatementId, StatementKind};

/// The class of what gives variables their first values.
const INITIALIZER: &str = "tensorflow.keras.initializers.Initializer";

impl Replicas<'_, '_> {
    /// Tells that an object differs between ranks from some place on.
    pub(super) fn finding(&self, program: &Program, object: usize, culprit: Culprit) -> Finding {
        let (at, manner) = self.culprits[culprit as usize];
        let own = self.objects[object];
        let model = self.model;
        let what = match model.facts.kind(own) {
            Some(Kind::Model | Kind::Layer) => "the model",
            Some(Kind::Optimizer) => "the optimizer",
            _ => "the variable",
        };
        let mut first_fit = None;
        let (primary, message, level, help) = match manner {
            Manner::Begins(_) => {
                let of_own = || loops(model, program).filter(|training| training.models.contains(&own));
                let training = of_own().find(|own| self.first_fit(own).is_some()).or_else(|| of_own().next());
                first_fit = training.and_then(|training| self.first_fit(training));
                let primary = training.map_or(at, |training| self.place_of_training(program, training));
                let message = format!(
                    "{what} begins with other values on each rank, and no broadcast makes them equal"
                );
                (
                    primary,
                    message,
                    Level::Error,
                    "broadcast the variables of rank 0 before they are relied on",
                )
            }
            Manner::Assigned(own) => {
                let level = if own.cause == Cause::Rank { Level::Error } else { Level::Warning };
                let message = format!("{what} gets another value on each rank");
                (at, message, level, "assign a value that is equal on all ranks, or broadcast it behind")
            }
            Manner::Changed => {
                let message =
                    format!("{what} is changed by some ranks only, and nothing makes them equal again");
                (at, message, Level::Error, "change it on all ranks, or broadcast the variables behind it")
            }
        };
        let level = if self.trained.contains(&own) { level } else { Level::Warning };
        // What is not trained may be meant to hold what the rank has gathered of its own data, or its number, to send it.
        let is_own_data = match manner {
            Manner::Begins(cause) => matches!(cause, Cause::Files | Cause::Data | Cause::Rank),
            Manner::Assigned(Difference { cause, .. }) => matches!(cause, Cause::Files | Cause::Data),
            Manner::Changed => false,
        };
        let begins = matches!(manner, Manner::Begins(_));
        let is_unsure = is_own_data && !self.trained.contains(&own)
            || begins && self.stands_for_several(program, own)
            || begins && model.facts.keeps_models_apart(program)
            || begins && self.draws_together(program)
            || model.exchanges(program);
        // Another of the objects that one place makes may be changed, and it is no proof that they are not one. Nor is it one
        // that what begins in another module can't come here.
        let is_doubtful =
            !is_unsure && (self.stands_for_several(program, own) || self.is_from_elsewhere(at, manner));
        let sureness = if is_unsure || is_doubtful { Confidence::Possible } else { Confidence::Certain };
        let (scope, _) = code_at(model, primary);
        let mut finding = Finding::new(&CHECK.rule, level, primary, message)
            .confidence(sureness)
            .here("differs between ranks")
            .help(help)
            .in_scope(model.facts.scope_name(scope));
        finding.forbids_fixes = is_doubtful;
        let made = model.facts.made_at(own).map(|(file, call)| model.at_call(file, call));
        if let Some(made) = made {
            finding.flow.push(Label { location: made, message: "each rank makes its own".to_owned() });
            if made != primary {
                finding = finding.label(made, "each rank makes its own");
            }
        }
        if let Some(first_fit) = first_fit {
            finding = finding.label(first_fit, "its callback broadcasts once, here");
        }
        if let Manner::Assigned(own) = manner {
            let origin = out_of_step::source(model, own);
            finding.flow.push(origin.clone());
            if origin.location != primary {
                finding = finding.label(origin.location, origin.message);
            }
        }
        finding.flow.push(Label { location: primary, message: "differs from here on".to_owned() });
        finding
    }

    /// Whether a program makes initializers of its own that communicate: what they give is equal on all ranks.
    fn draws_together(&self, program: &Program) -> bool {
        let facts = self.model.facts;
        let Some(initializer) = facts.library.lookup(INITIALIZER) else { return false };
        // The library calls it, which nobody follows.
        let collective_in = |code: Caller| {
            facts.calls_with(Effect::Collective).any(|(file, call)| {
                let module = facts.module(file);
                code == Caller { file, scope: module.code_scope(module.call(call).scope) }
            })
        };
        let communicates = |class: ClassRef| {
            let base = facts.library_base(class);
            base.is_some_and(|base| facts.library.is_subclass(base, initializer))
                && facts.method(class, "__call__").is_some_and(|method| collective_in(facts.code_of(method)))
        };
        program.reached.iter().any(|&caller| {
            facts.outgoing(caller).iter().any(|edge| match facts.solution.object(edge.callee) {
                Object::Class(class) => communicates(class),
                _ => false,
            })
        })
    }

    /// Whether an object differs by something that begins in another module: on such a long way other objects and other calls of
    /// the same code may get in between.
    fn is_from_elsewhere(&self, at: Location, manner: Manner) -> bool {
        match manner {
            Manner::Begins(_) => false,
            Manner::Assigned(own) => own.source.0 != at.file,
            Manner::Changed => {
                let model = self.model;
                let (caller, block) = code_at(model, at);
                let function = model.facts.function_of(caller);
                let incoming = function.map_or(&[][..], |function| model.facts.incoming(function));
                let decides = |condition: &Condition| {
                    let asked = condition.branch.condition;
                    asked.is_some_and(|value| model.comes_from_elsewhere((caller.file, value)))
                };
                block.is_some_and(|block| model.facts.conditions(caller, block).iter().any(decides))
                    || !incoming.is_empty()
                        && incoming.iter().all(|edge| edge.caller.file != at.file)
                        && block.is_none_or(|block| model.own_guard(caller, block).is_all())
            }
        }
    }

    /// Whether one of several objects that a function makes may be trained and another only made.
    fn stands_for_several(&self, program: &Program, object: ObjectId) -> bool {
        let of_own: Vec<&TrainingLoop> =
            loops(self.model, program).filter(|training| training.models.contains(&object)).collect();
        // Each that is made is trained, too.
        let trains = |caller: Caller| of_own.iter().any(|training| training.caller == caller);
        self.is_made_for_several(object, trains)
    }

    /// Whether an object is made by a function that several places call, if only through others that give it back, up to code
    /// that `stops`.
    pub(super) fn is_made_for_several(&self, object: ObjectId, stops: impl Fn(Caller) -> bool) -> bool {
        let facts = self.model.facts;
        let Some((file, call)) = facts.made_at(object) else { return false };
        let mut caller = Caller { file, scope: facts.module(file).call(call).scope };
        for _ in 0..DEPTH {
            let Some(function) = facts.function_of(caller).filter(|_| !stops(caller)) else { return false };
            let edges = facts.incoming(function);
            let mut places: Vec<(FileId, Option<CallId>)> =
                edges.iter().map(|edge| (edge.caller.file, edge.call)).collect();
            places.sort_unstable();
            places.dedup();
            let (Some(edge), true) = (edges.first(), places.len() == 1) else { return places.len() > 1 };
            let returns = &facts.module(function.file).function(function.function).returns;
            let gives = |&value| facts.solution.values(function.file, value).contains(&object);
            if !returns.iter().any(gives) {
                return false;
            }
            caller = edge.caller;
        }
        false
    }

    /// The loop that makes the steps, as a reader sees it: the statement that repeats them.
    fn place_of_training(&self, program: &Program, training: &TrainingLoop) -> Location {
        let facts = self.model.facts;
        let header = |file: FileId, statement: StatementId| {
            let module = facts.module(file);
            let scope = module.statement(statement).scope;
            module
                .ancestor_ids(statement)
                .find(|&id| {
                    let around = module.statement(id);
                    around.scope == scope && matches!(around.kind, StatementKind::For | StatementKind::While)
                })
                .map(|id| facts.location(file, module.statement(id).header))
        };
        let own = header(training.caller.file, training.statement);
        own.or_else(|| {
            way(facts, program, training.caller).into_iter().rev().find_map(|edge| {
                let module = facts.module(edge.caller.file);
                header(edge.caller.file, module.call(edge.call?).statement)
            })
        })
        .unwrap_or_else(|| facts.location(training.caller.file, training.range))
    }
}

/// The innermost scope around a place, and the block of the statement there.
fn code_at(model: &Model<'_>, at: Location) -> (Caller, Option<BlockId>) {
    let module = model.facts.module(at.file);
    let statements = module.statements.iter().filter(|own| own.range.contains_range(at.text_range()));
    let innermost = statements.min_by_key(|own| own.range.len());
    let scope = innermost.map_or(Module::TOP, |own| own.scope);
    (Caller { file: at.file, scope }, innermost.map(|own| own.block))
}
