//! The way through one scope: its blocks from the end to the beginning, each with what it adds.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::guards::Key;
use super::super::model::Model;
use super::sessions::{builds_graph, is_of_session, runs_step, takes_distributed};
use super::settled::question;
use super::{Comms, Ending, Event, Node, NodeId, Way, Ways};
use crate::api::{Effect, Symbol};
use crate::finding::Location;
use crate::program::{CallEdge, Caller, FunctionRef, Object, Place, Via};
use crate::project::FileId;
use crate::semantic::{
    Block, BlockId, BranchKind, Call, CallId, CallKind, Constant, Flow, StatementId, StatementKind, Value,
    ValueId,
};

/// The summaries of one scope in the making.
pub(super) struct Walk<'w, 'c> {
    pub(super) model: &'w Model<'c>,
    pub(super) comms: &'w mut Comms,
    pub(super) caller: Caller,
    pub(super) blocks: &'w [Block],
    /// The edges that close a loop, with their loop.
    pub(super) back: FxHashMap<(BlockId, BlockId), usize>,
    pub(super) loops: Vec<Loop>,
    ways: Ways,
}

/// A loop of the control flow.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) header: BlockId,
    pub(super) blocks: FxHashSet<BlockId>,
    /// Where control goes behind it.
    pub(super) exit: Option<BlockId>,
    pub(super) communicates: bool,
    pub(super) depth: u32,
}

impl<'w, 'c> Walk<'w, 'c> {
    pub(super) fn new(model: &'w Model<'c>, comms: &'w mut Comms, caller: Caller) -> Self {
        let flow: &'w Flow = &model.facts.module(caller.file).scope(caller.scope).flow;
        let ways = Ways { blocks: vec![None; flow.blocks.len()], ..Ways::default() };
        let mut walk = Self {
            model,
            comms,
            caller,
            blocks: &flow.blocks,
            back: FxHashMap::default(),
            loops: Vec::new(),
            ways,
        };
        walk.find_loops();
        walk
    }

    /// The way from each block to the end of the scope.
    pub(super) fn ways(mut self) -> Ways {
        let mut stack = vec![(Flow::ENTRY, 0)];
        let mut open = vec![false; self.blocks.len()];
        while let Some((block, index)) = stack.pop() {
            open[block.index()] = true;
            let next = self.next(block);
            if let Some(&successor) = next.get(index) {
                stack.push((block, index + 1));
                if self.ways.blocks[successor.index()].is_none() && !open[successor.index()] {
                    stack.push((successor, 0));
                }
            } else {
                let way = self.way(block);
                self.ways.blocks[block.index()] = Some(way);
            }
        }
        self.ways
    }

    /// What has to be known before a block.
    fn next(&self, block: BlockId) -> Vec<BlockId> {
        let successors = self.blocks[block.index()].successors.iter();
        successors
            .filter_map(|&next| match self.back.get(&(block, next)) {
                Some(&of) if self.loops[of].communicates => None,
                Some(&of) => self.loops[of].exit,
                None => Some(next),
            })
            .collect()
    }

    fn after(&mut self, block: BlockId, next: BlockId) -> Way {
        let target = match self.back.get(&(block, next)) {
            Some(&of) if self.loops[of].communicates => {
                let depth = self.loops[of].depth;
                return self.comms.end(Ending::Repeats(depth));
            }
            Some(&of) => self.loops[of].exit,
            None => Some(next),
        };
        match target.and_then(|target| self.ways.blocks[target.index()]) {
            Some(way) => way,
            None => self.comms.end(Ending::Returns),
        }
    }

    fn way(&mut self, id: BlockId) -> Way {
        let block = &self.blocks[id.index()];
        let mut way = match block.successors[..] {
            [] => self.comms.end(self.last(id)),
            [next] => self.after(id, next),
            _ => self.choice(id),
        };
        let contents = self.model.blocks.of(self.caller, id);
        let module = self.model.facts.module(self.caller.file);
        let mut implied = contents.implied.iter().rev().peekable();
        for &call in contents.calls.iter().rev() {
            let is_later =
                |value: &&ValueId| module.value(**value).range.end() >= module.call(call).range.end();
            while let Some(&value) = implied.next_if(is_later) {
                way = self.with_implied(value, way);
            }
            way = self.with_call(call, way);
        }
        implied.fold(way, |way, &value| self.with_implied(value, way))
    }

    /// How a block ends that nothing follows.
    fn last(&self, id: BlockId) -> Ending {
        let (facts, file) = (self.model.facts, self.caller.file);
        let contents = self.model.blocks.of(self.caller, id);
        let raises = |&leave: &StatementId| facts.module(file).statement(leave).kind == StatementKind::Raise;
        if !contents.leaves.iter().any(raises) {
            return Ending::Returns;
        }
        // `raise SystemExit`
        let is_exit = |&call: &CallId| {
            let call = facts.module(file).call(call);
            let mut raised = facts.objects(file, call.callee).filter_map(|(_, object)| facts.symbol(object));
            call.kind == CallKind::Raise && raised.any(|symbol| symbol.has(Effect::Exits))
        };
        if contents.calls.iter().any(is_exit) { Ending::Exits } else { Ending::Fails }
    }

    fn choice(&mut self, id: BlockId) -> Way {
        let block = &self.blocks[id.index()];
        let arms: Vec<Way> = block.successors.iter().map(|&next| self.after(id, next)).collect();
        self.ways.arms.insert(id, arms.clone());
        let Some(branch) = block.branch else { return arms[0] };
        let file = self.caller.file;
        // What handles an exception is no part of the way that a program is meant to take.
        if branch.kind == BranchKind::Try || self.model.facts.is_main_guard(file, &branch) {
            return arms[0];
        }
        let own = branch.condition.map(|condition| (file, condition));
        let of_several = |&arm: &usize| !self.model.unreached.is_arm(self.caller, id, arm);
        let mut kept: Vec<Way> = (0..arms.len()).filter(of_several).map(|arm| arms[arm]).collect();
        if !own.is_some_and(|own| self.model.is_on_rank(own)) {
            let fails = self.comms.end(Ending::Fails).node;
            kept.retain(|arm| arm.node != fails);
        }
        let Some(&first) = kept.first() else { return arms[0] };
        if kept.iter().all(|arm| arm.node == first.node) {
            return first;
        }
        if let (Some(own), &[one, other]) = (own, &kept[..])
            && arms.len() == kept.len()
            && let Some((key, is_yes)) = question(self.model, own)
            && let Some(first) = branch.kind.outcome(0)
        {
            return self.by_rank(id, key, if first == is_yes { [one, other] } else { [other, one] });
        }
        let key = own.map_or(Key::Constant("".into()), |own| self.model.key(own));
        let node = self.comms.intern(Node::Choice(key, kept.iter().map(|arm| arm.node).collect()));
        Way { node, trail: kept.iter().find_map(|arm| arm.trail) }
    }

    /// The ways of the ranks for which the answer to a question is yes, and of the others.
    fn by_rank(&mut self, id: BlockId, key: Key, [yes, no]: [Way; 2]) -> Way {
        let trail = yes.trail.or(no.trail);
        let known = [self.comms.answered(yes.node, &key, 0), self.comms.answered(no.node, &key, 1)];
        self.ways.asked.insert(id, key.clone());
        if known[0] == known[1] {
            self.ways.settled.insert(key);
            return Way { node: known[0], trail };
        }
        Way { node: self.comms.intern(Node::Choice(key, Box::new([yes.node, no.node]))), trail }
    }

    pub(super) fn with_call(&mut self, id: CallId, mut rest: Way) -> Way {
        let file = self.caller.file;
        let call = self.model.facts.module(file).call(id);
        if call.kind == CallKind::Decorator {
            return rest;
        }
        let at = self.model.at_call(file, id);
        let mut bodies: Vec<NodeId> = Vec::new();
        let mut own: Vec<Event> = Vec::new();
        for edge in self.model.facts.callees(file, id) {
            match self.model.facts.solution.object(edge.callee) {
                Object::Function(function) if !self.model.overrides.is_replaced(file, id, function) => {
                    let code = self.model.facts.code_of(function);
                    let body = self.comms.of_scope(code);
                    if let Some(body) = body.filter(|_| !self.model.only_wraps(edge))
                        && !(self.comms.communicates(body) && self.is_silenced(edge, function))
                    {
                        bodies.push(self.stepped(code, body));
                    }
                }
                object @ (Object::External(_) | Object::Builtin(_)) => {
                    if let Some(symbol) = self.model.facts.symbol(object) {
                        if symbol.has(Effect::Exits) && symbol.calls().is_empty() {
                            rest = self.comms.end(ending(self.model, file, call));
                        }
                        own.extend(self.event(edge, symbol, id, call));
                    }
                }
                _ => {}
            }
        }
        for event in own.into_iter().take(1) {
            let event = self.comms.event(event);
            rest = self.comms.then(event, at, rest);
        }
        self.with_bodies(bodies, (file, call.result), at, rest)
    }

    /// Whether the constants that a call passes keep it from all that the function communicates: `report(None)` where that stands
    /// behind `if history:`.
    fn is_silenced(&mut self, edge: &CallEdge, function: FunctionRef) -> bool {
        let facts = self.model.facts;
        let code = facts.code_of(function);
        let known = self.comms.speaking.get(&code).map(Rc::clone);
        let speaking = known.unwrap_or_else(|| {
            let found: Rc<[BlockId]> = self.speaking(code).into();
            self.comms.speaking.insert(code, Rc::clone(&found));
            found
        });
        !speaking.is_empty() && speaking.iter().all(|&block| facts.rules_out(edge, function, block))
    }

    /// The blocks of a scope with calls that communicate.
    fn speaking(&self, code: Caller) -> Vec<BlockId> {
        let facts = self.model.facts;
        let speaks = |own: &Symbol| own.has(Effect::Collective) || own.has(Effect::Trains);
        let communicates = |own: FunctionRef| {
            self.comms.of_scope(facts.code_of(own)).is_some_and(|body| self.comms.communicates(body))
        };
        let blocks = (0..facts.module(code.file).scope(code.scope).flow.blocks.len()).map(BlockId::new);
        let is_speaking = |&block: &BlockId| {
            self.model.blocks.of(code, block).calls.iter().any(|&id| {
                facts.called_symbols(code.file, id).any(speaks)
                    || is_of_session(facts, code.file, facts.module(code.file).call(id))
                    || facts.called_functions(code.file, id).any(communicates)
            })
        };
        blocks.filter(is_speaking).collect()
    }

    /// What the functions communicate that the language calls where something is evaluated.
    fn with_implied(&mut self, value: ValueId, rest: Way) -> Way {
        let place = (self.caller.file, value);
        let mut bodies = Vec::new();
        for function in self.model.facts.implied_functions(place) {
            let code = self.model.facts.code_of(function);
            if let Some(body) = self.comms.of_scope(code) {
                bodies.push(self.stepped(code, body));
            }
        }
        let at = self.model.facts.location(place.0, self.model.facts.module(place.0).value(value).range);
        self.with_bodies(bodies, place, at, rest)
    }

    /// What one of several functions communicates, whose summaries are `bodies`; the result of the call is `place`.
    fn with_bodies(&mut self, mut bodies: Vec<NodeId>, place: Place, at: Location, rest: Way) -> Way {
        bodies.sort_unstable();
        bodies.dedup();
        // Which of several functions is meant can't be seen: that it is one that communicates is a guess.
        if bodies.len() > 1 && bodies.iter().any(|&body| !self.comms.communicates(body)) {
            bodies.clear();
        }
        bodies.retain(|&body| *self.comms.node(body) != Node::End(Ending::Returns));
        match bodies[..] {
            [] => rest,
            [body] => self.with_body(body, at, rest),
            _ => {
                let key = self.model.key(place);
                let either = self.comms.intern(Node::Choice(key, bodies.into()));
                if !self.comms.communicates(either) {
                    return rest;
                }
                let event = self.comms.event(Event::Call(either));
                self.comms.then(event, at, rest)
            }
        }
    }

    /// The body of a traced function is one step when code calls it that is not traced itself.
    fn stepped(&mut self, code: Caller, body: NodeId) -> NodeId {
        if !self.model.traced.contains(&code) || self.model.traced.contains(&self.caller) {
            return body;
        }
        match self.comms.line(body) {
            Some((mut events, ending)) if events.len() > 1 => {
                events.sort_unstable();
                let step = self.comms.event(Event::Step(events.into()));
                let end = self.comms.intern(Node::End(ending));
                self.comms.intern(Node::Then(step, end))
            }
            _ => body,
        }
    }

    fn with_body(&mut self, body: NodeId, at: Location, rest: Way) -> Way {
        if let Some((events, ending)) = self.comms.line(body) {
            let end = match ending {
                Ending::Returns | Ending::Repeats(_) => rest,
                other => self.comms.end(other),
            };
            return events.into_iter().rev().fold(end, |rest, event| self.comms.then(event, at, rest));
        }
        if !self.comms.communicates(body) {
            return rest;
        }
        let event = self.comms.event(Event::Call(body));
        self.comms.then(event, at, rest)
    }

    /// What all ranks have to take part in when a library's symbol is called.
    fn event(&self, edge: &CallEdge, symbol: &Symbol, id: CallId, call: &Call) -> Option<Event> {
        let file = self.caller.file;
        let plain = |kind: &str| Some(Event::Collective { kind: kind.into(), purpose: None });
        if edge.via == Via::Library {
            return symbol.has(Effect::Collective).then(|| plain("fit")).flatten();
        }
        // Of a set of processes it is not known which ranks belong to it.
        let is_of_some = || self.model.facts.argument(file, call, symbol, "process_set").is_some();
        if symbol.has(Effect::Initializes) || symbol.has(Effect::Collective) && is_of_some() {
            return None;
        }
        if symbol.has(Effect::Collective) {
            let is_pruned = self.model.traced.contains(&self.caller)
                && !symbol.has(Effect::UpdatesState)
                && self.model.is_unused(file, call);
            return (!is_pruned).then(|| self.collective(symbol, call));
        }
        if symbol.has(Effect::Trains) {
            let communicates =
                self.model.fit_communicates(file, id) || self.model.estimator_communicates(file, id);
            return communicates.then(|| plain("fit")).flatten();
        }
        if is_of_session(self.model.facts, file, call) {
            let steps = runs_step(self.model.facts, file, call);
            return steps.then(|| plain("step of a session")).flatten();
        }
        let facts = self.model.facts;
        let communicates =
            takes_distributed(facts, (file, id), symbol) && !builds_graph(facts, (file, id), symbol);
        if communicates { plain("gradient") } else { None }
    }

    fn collective(&self, symbol: &Symbol, call: &Call) -> Event {
        let file = self.caller.file;
        let argument = |name: &str| self.model.facts.argument(file, call, symbol, name);
        let mut kind = symbol.name().to_owned();
        for name in ["op", "average", "root_rank"] {
            if let Some(argument) = argument(name) {
                kind.push_str(&self.model.spelled(file, argument.value));
            }
        }
        let purpose = argument("name").or_else(|| argument("variables"));
        let purpose = purpose.map(|own| self.model.key((file, own.value)));
        Event::Collective { kind: kind.into(), purpose }
    }
}

/// How a program ends that calls `sys.exit`: well, or with an error.
fn ending(model: &Model<'_>, file: FileId, call: &Call) -> Ending {
    let status = call.arguments.first().map(|status| &model.facts.module(file).value(status.value).value);
    match status {
        None | Some(Value::Constant(Constant::Int(0) | Constant::None)) => Ending::Exits,
        _ => Ending::Fails,
    }
}
