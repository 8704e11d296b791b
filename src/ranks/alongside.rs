//! Whether a run of the program that comes to a place trains or communicates too: what is exported or predicted in a
//! run of its own, `if mode == 'export': export(); return`, is seldom run by several ranks; and what is run instead of
//! starting Horovod is not.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::model::Model;
use crate::api::{Effect, Symbol};
use crate::program::{CallEdge, Caller, LoopKind, Program};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId, Module};

/// What a program does that trains.
const DEEDS: [Effect; 4] =
    [Effect::Trains, Effect::Minimizes, Effect::AppliesGradients, Effect::TakesGradients];

/// What runs together with training and with the start of Horovod.
pub(super) struct Alongside<'m, 'c> {
    model: &'m Model<'c>,
    training: Company<'m, 'c>,
    start: Company<'m, 'c>,
    /// Calls that take or apply gradients, or communicate.
    deeds: Vec<(FileId, CallId)>,
    /// For the entry of a program whether it comes to one of them.
    busy: RefCell<FxHashMap<FileId, bool>>,
}

/// The code of some programs that does something, and what runs together with it.
struct Company<'m, 'c> {
    model: &'m Model<'c>,
    steps: FxHashSet<(FileId, CallId)>,
    /// The scopes whose code comes to one of them, by itself or in what it calls.
    busy: FxHashSet<Caller>,
    /// For the entry of a program and a scope whether one of its calls is made in such a run.
    scopes: RefCell<FxHashMap<(FileId, Caller), bool>>,
}

impl<'m, 'c> Alongside<'m, 'c> {
    pub(super) fn new(model: &'m Model<'c>) -> Self {
        let mut steps = FxHashSet::default();
        let mut deeds: Vec<(FileId, CallId)> =
            DEEDS.into_iter().flat_map(|effect| model.facts.calls_with(effect)).collect();
        for own in model.programs.iter().flat_map(|program| program.loops.iter().chain(&program.steps_of_fit))
        {
            steps.extend(own.steps.iter().chain(&own.by_hand).copied());
            steps.insert((own.caller.file, own.call));
            // What a session runs may be anything.
            if !matches!(own.kind, LoopKind::Session | LoopKind::MonitoredSession) {
                deeds.push((own.caller.file, own.call));
            }
        }
        let communicates =
            |symbol: &Symbol| symbol.has(Effect::Collective) && !symbol.has(Effect::Initializes);
        let collectives = calls_of(model, Effect::Collective, communicates);
        deeds.extend(&collectives);
        steps.extend(collectives);
        let communicating = model.callers().into_iter().filter(|&caller| model.code_communicates(caller));
        let starts = calls_of(model, Effect::Initializes, |symbol| symbol.has(Effect::Initializes));
        Self {
            model,
            deeds,
            busy: RefCell::default(),
            training: Company::of(model, steps, communicating),
            start: Company::of(model, starts, std::iter::empty()),
        }
    }

    /// Whether a run that comes to a call may also come to a step of training or a collective, before or after it, and
    /// starts Horovod.
    pub(super) fn is_in_training(&self, program: &Program, caller: Caller, call: CallId) -> bool {
        self.is_busy(program)
            && self.training.includes(program, caller, call)
            && self.start.includes(program, caller, call)
    }

    /// Whether a program trains or communicates, as far as the constants don't rule it out that its calls pass:
    /// `model_fn(features, labels, tf.estimator.ModeKeys.EVAL)`.
    fn is_busy(&self, program: &Program) -> bool {
        let known = self.busy.borrow().get(&program.entry).copied();
        known.unwrap_or_else(|| {
            let facts = self.model.facts;
            let is_reached = |&&(file, call): &&(FileId, CallId)| {
                let scope = facts.module(file).call(call).scope;
                program.reached.contains(&Caller { file, scope })
            };
            let deeds: Vec<(FileId, CallId)> = self.deeds.iter().filter(is_reached).copied().collect();
            // An optimizer that nobody knows may be at work in a session.
            let is_busy = deeds.is_empty() || facts.may_reach(program, deeds);
            self.busy.borrow_mut().insert(program.entry, is_busy);
            is_busy
        })
    }
}

/// The calls of functions with an effect.
fn calls_of(
    model: &Model<'_>,
    effect: Effect,
    is_wanted: impl Fn(&Symbol) -> bool,
) -> FxHashSet<(FileId, CallId)> {
    let facts = model.facts;
    facts
        .calls_with(effect)
        .filter(|&(file, call)| facts.called_symbols(file, call).any(&is_wanted))
        .collect()
}

impl<'m, 'c> Company<'m, 'c> {
    /// What runs together with some calls, or with the code of some scopes.
    fn of(
        model: &'m Model<'c>,
        steps: FxHashSet<(FileId, CallId)>,
        scopes: impl Iterator<Item = Caller>,
    ) -> Self {
        let of = |&(file, call): &(FileId, CallId)| Caller {
            file,
            scope: model.facts.module(file).call(call).scope,
        };
        let mut work: Vec<Caller> = steps.iter().map(of).chain(scopes).collect();
        let mut busy = FxHashSet::default();
        while let Some(caller) = work.pop() {
            if busy.insert(caller) {
                let function = model.facts.function_of(caller);
                let incoming = function.map_or(&[][..], |function| model.facts.incoming(function));
                work.extend(incoming.iter().map(|edge| edge.caller));
            }
        }
        Self { model, steps, busy, scopes: RefCell::default() }
    }

    /// Whether a run that comes to a call may also come to one of them, before or after it.
    fn includes(&self, program: &Program, caller: Caller, call: CallId) -> bool {
        self.in_scope(caller, call) || self.in_callers(program, caller)
    }

    /// Whether that is so of the places that a scope's code is called at.
    fn in_callers(&self, program: &Program, caller: Caller) -> bool {
        let facts = self.model.facts;
        let Some(function) = facts.function_of(caller) else {
            // What the import of a module does is done in every run.
            return caller != Caller { file: program.entry, scope: Module::TOP };
        };
        let key = (program.entry, caller);
        if let Some(&known) = self.scopes.borrow().get(&key) {
            return known;
        }
        // Functions that call each other are run together with it if one of the others is.
        self.scopes.borrow_mut().insert(key, false);
        let incoming = facts.incoming(function);
        // Where one rank comes to it, nothing is done by several.
        let is_for_several = |edge: &CallEdge| {
            edge.call.is_none_or(|call| {
                let block = facts.module(edge.caller.file).call(call).block;
                !self.model.own_guard(edge.caller, block).is_one_of_host()
            })
        };
        let found = incoming.is_empty()
            || incoming
                .iter()
                .filter(|edge| facts.is_run(program, edge) && is_for_several(edge))
                .any(|edge| edge.call.is_none_or(|call| self.includes(program, edge.caller, call)));
        self.scopes.borrow_mut().insert(key, found);
        found
    }

    fn in_scope(&self, caller: Caller, call: CallId) -> bool {
        let block = self.model.facts.module(caller.file).call(call).block;
        let blocks = &self.model.facts.module(caller.file).scope(caller.scope).flow.blocks;
        let next = |from: BlockId| {
            let ends = self.model.exits.ends(caller, from);
            blocks[from.index()].successors.iter().filter(move |_| !ends).copied()
        };
        let busy = (0..blocks.len()).map(BlockId::new).filter(|&own| self.is_busy(caller, own, call));
        let busy: FxHashSet<BlockId> = busy.collect();
        let reach = |from: Vec<BlockId>| {
            let mut seen: FxHashSet<BlockId> = FxHashSet::default();
            let mut work = from;
            while let Some(at) = work.pop() {
                if seen.insert(at) {
                    work.extend(next(at));
                }
            }
            seen
        };
        !busy.is_empty()
            && (!reach(vec![block]).is_disjoint(&busy) || reach(busy.into_iter().collect()).contains(&block))
    }

    /// Whether another call of a block is one of them.
    fn is_busy(&self, caller: Caller, block: BlockId, except: CallId) -> bool {
        let facts = self.model.facts;
        let calls = self.model.blocks.of(caller, block).calls.iter();
        calls.filter(|&&call| call != except).any(|&call| {
            self.steps.contains(&(caller.file, call))
                || facts
                    .called_functions(caller.file, call)
                    .any(|own| self.busy.contains(&facts.code_of(own)))
        })
    }
}

/// Whether a program starts Horovod in the file that it begins with, or always: a tool that only shares the code of a
/// program that trains may come to its start too, under a flag, and is seldom run by several ranks.
pub(super) fn starts_horovod_itself(model: &Model<'_>, program: &Program) -> bool {
    let facts = model.facts;
    let starts = facts.calls_with(Effect::Initializes).filter(|&(file, call)| {
        facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Initializes))
    });
    let mut work: Vec<(FileId, CallId)> = starts.collect();
    let mut seen: FxHashSet<Caller> = FxHashSet::default();
    while let Some((file, call)) = work.pop() {
        let data = facts.module(file).call(call);
        let caller = Caller { file, scope: data.scope };
        if file == program.entry && program.reached.contains(&caller) {
            return true;
        }
        if facts.conditions(caller, data.block).is_empty()
            && seen.insert(caller)
            && let Some(function) = facts.function_of(caller)
        {
            let edges = facts.incoming(function).iter().filter(|edge| facts.is_run(program, edge));
            work.extend(edges.filter_map(|edge| Some((edge.caller.file, edge.call?))));
        }
    }
    false
}
