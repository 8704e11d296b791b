//! Output of the making of a graph, which happens once as it should: what is printed is no part of the data, it tells that
//! the making fails, or the program makes one graph and runs it, as those of TensorFlow 1 do.

use std::iter;

use rustc_hash::FxHashSet;

use super::Graph;
use super::outside::Change;
use crate::api::{Effect, Kind};
use crate::program::{Caller, Place, Program, Reason};
use crate::project::FileId;
use crate::semantic::{CallId, Constant, Suite, Value};

/// Of how many values at most what an output is made of is followed back.
const STEPS: usize = 256;

/// What differs from one call to the next.
const CHANGING: [Effect; 4] = [Effect::Varies, Effect::DrawsRandom, Effect::ReadsClock, Effect::ReadsInput];

/// What is known of the making of graphs.
pub(super) struct Construction<'g, 'a> {
    graph: &'g Graph<'a>,
    /// What traced code changes outside of itself to.
    changed: FxHashSet<Place>,
    /// The programs with traced code, and whether each only makes a graph and runs it.
    programs: Vec<(&'g Program, bool)>,
    /// The files of TensorFlow 1.
    old: FxHashSet<FileId>,
}

impl<'g, 'a> Construction<'g, 'a> {
    pub(super) fn new(graph: &'g Graph<'a>, changes: &[Change]) -> Self {
        let facts = graph.facts;
        let changed = changes.iter().filter_map(|own| Some((own.caller.file, own.value?)));
        let files: FxHashSet<FileId> = graph.scopes().map(|caller| caller.file).collect();
        let is_concerned = |own: &&Program| own.reached.iter().any(|&caller| graph.is_traced(caller));
        let programs = facts.programs.iter().filter(is_concerned);
        Self {
            graph,
            changed: changed.collect(),
            programs: programs.map(|own| (own, facts.runs_one_graph(own))).collect(),
            old: files.into_iter().filter(|&file| facts.is_of_tensorflow_1(file)).collect(),
        }
    }

    /// Whether an output may be meant for the time at which the graph is made. What `tf.function` is given is called
    /// like any function, and its output is wanted at each call.
    pub(super) fn has(&self, caller: Caller, call: CallId) -> bool {
        if self.is_of_failure(caller, call) {
            return true;
        }
        let graph = self.graph;
        let Some((first, file, tracer)) = graph.tracing.tracer(caller) else { return false };
        // What examples go through is printed to look at the first one.
        let of_data = |own| graph.facts.may_be(file, own, Kind::Dataset);
        if graph.facts.receiver(file, graph.module(file).call(tracer)).is_some_and(of_data)
            || self.announces_trace(caller)
        {
            return true;
        }
        let is_given = || graph.tracing.get(first).is_some_and(|own| matches!(own.reason, Reason::Given(..)));
        self.is_made_once(caller)
            || !self.is_wrapped(caller) && is_given() && self.is_alike(caller, call, first)
    }

    /// Whether code makes one graph, as that of TensorFlow 1 does: it may keep count of what it makes.
    pub(super) fn is_made_once(&self, caller: Caller) -> bool {
        !self.is_wrapped(caller) && self.is_of_one_graph(caller)
    }

    fn is_wrapped(&self, caller: Caller) -> bool {
        let tracer = self.graph.tracing.tracer(caller);
        tracer.is_none_or(|(_, file, tracer)| self.graph.facts.is_wrapper(file, tracer))
    }

    /// Whether an output stands in a handler: it is made when tracing fails, and what fails in the graph is not handled.
    fn is_of_failure(&self, caller: Caller, call: CallId) -> bool {
        let module = self.graph.module(caller.file);
        let own = module.call(call).statement;
        let mut around = iter::once(own).chain(module.ancestor_ids(own)).map(|id| module.statement(id));
        around.any(|own| own.suite == Suite::Handler && module.code_scope(own.scope) == caller.scope)
    }

    /// Whether code begins by a fixed line of text, `print("Tracing the step")`: who writes that knows when it is printed.
    fn announces_trace(&self, caller: Caller) -> bool {
        let graph = self.graph;
        let module = graph.module(caller.file);
        let first = module.calls.iter().enumerate().find(|(_, call)| call.scope == caller.scope);
        first.is_some_and(|(index, call)| {
            let is_text = |value| matches!(module.value(value).value, Value::Constant(Constant::Str(_)));
            graph.python_effects(caller.file, CallId::new(index)).contains(Effect::Prints)
                && !call.arguments.is_empty()
                && call.arguments.iter().all(|own| is_text(own.value))
                && graph.staging.around(module, caller.file, call.statement).next().is_none()
        })
    }

    /// Whether code is of programs that only make a graph and run it.
    fn is_of_one_graph(&self, caller: Caller) -> bool {
        let mut programs = self.programs.iter().filter(|(own, _)| own.reached.contains(&caller)).peekable();
        self.old.contains(&caller.file) || programs.peek().is_some() && programs.all(|&(_, is_one)| is_one)
    }

    /// Whether an output is the same at each call: made of nothing that the function is given, that is computed in the
    /// graph, or that changes.
    fn is_alike(&self, caller: Caller, id: CallId, first: Caller) -> bool {
        let graph = self.graph;
        let module = graph.module(caller.file);
        let call = module.call(id);
        if graph.staging.around(module, caller.file, call.statement).next().is_some() {
            return false;
        }
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut work: Vec<Place> = call.arguments.iter().map(|own| (caller.file, own.value)).collect();
        while let Some(place) = work.pop() {
            if !seen.insert(place) {
                continue;
            }
            let (file, value) = place;
            let module = graph.module(file);
            let own = module.value(value);
            let scope = Caller { file, scope: module.code_scope(own.scope) };
            let is_data = match own.value {
                Value::Parameter(function, index) => {
                    scope == first && (index > 0 || module.function(function).class.is_none())
                }
                _ => graph.is_traced(scope) && graph.facts.gives(place, &CHANGING),
            };
            let is_other = is_data || graph.nature(file, value).is_tensor() || self.changed.contains(&place);
            if is_other || seen.len() > STEPS {
                return false;
            }
            work.extend(graph.facts.influence().operands(place));
        }
        true
    }
}
