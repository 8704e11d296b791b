//! What each function communicates: a summary for each of its blocks, of all that a rank sends from there to the
//! function's end.
//!
//! Horovod matches eager collectives by their kind and order, and those of one traced step by their names
//! (`ranks.md`, B1), so a summary is a sequence of events; traced steps are one event with a set of names. Summaries
//! are shared values: two ways through a function are equal exactly if their summaries are the same node, whatever
//! follows the place where they meet. Each block is looked at once, each function before those that call it.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use super::guards::Key;
use super::model::Model;
use super::values::is_distributed;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::Location;
use crate::program::{CallEdge, Caller, LoopKind, Object, ObjectId, Via};
use crate::project::FileId;
use crate::semantic::{
    Block, BlockId, BranchKind, Call, CallId, CallKind, Constant, Flow, Role, StatementKind, Value,
};

/// A summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

/// A kind of event with all that has to be equal on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(u32);

/// How a way through a function ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The caller goes on.
    Returns,
    /// The program ends as it was meant to.
    Exits,
    /// An error ends it.
    Fails,
    /// The loop at this depth makes another turn.
    Repeats(u32),
}

/// What a rank communicates from some place on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Nothing more.
    End(Ending),
    /// First this, then the rest.
    Then(EventId, NodeId),
    /// One of these, by a condition.
    Choice(Key, Box<[NodeId]>),
}

/// Something that all ranks have to take part in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A collective of this name, with its reduction and root as far as they are told.
    Collective {
        /// The collective and how it reduces; what Horovod matches.
        kind: Box<str>,
        /// What it is for: its name, or the variables.
        purpose: Option<Key>,
    },
    /// A step of a traced function: its collectives, in no order.
    Step(Box<[EventId]>),
    /// A function whose communication depends on conditions.
    Call(NodeId),
}

/// The places of the events of a way, one after the other.
#[derive(Clone, Copy, Debug)]
struct Trail {
    at: Location,
    next: Option<u32>,
}

/// What a block communicates, with what follows it.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The events.
    pub node: NodeId,
    trail: Option<u32>,
}

/// The ways through a scope.
#[derive(Debug, Default)]
struct Ways {
    /// From each block on.
    blocks: Vec<Option<Way>>,
    /// For each block that branches the way behind each arm.
    arms: FxHashMap<BlockId, Vec<Way>>,
}

/// The summaries of all scopes that programs reach.
#[derive(Debug, Default)]
pub struct Comms {
    nodes: Vec<Node>,
    node_ids: FxHashMap<Node, NodeId>,
    events: Vec<Event>,
    event_ids: FxHashMap<Event, EventId>,
    trails: Vec<Trail>,
    scopes: FxHashMap<Caller, Ways>,
    /// The scopes, those that are called before those that call them.
    pub order: Vec<Caller>,
}

/// Where two ways part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// What the one way does first that the other does not do then.
    pub one: Option<Location>,
    /// What the other does.
    pub other: Option<Location>,
    /// Both go on to collectives that Horovod can't tell apart: values are mixed.
    pub mixes: bool,
}

impl Comms {
    /// The summaries of a model's programs.
    #[must_use]
    pub fn new(model: &Model<'_>) -> Self {
        let mut comms = Self::default();
        let mut graph = DiGraph::<Caller, ()>::new();
        let mut nodes: FxHashMap<Caller, NodeIndex> = FxHashMap::default();
        for caller in model.callers() {
            nodes.insert(caller, graph.add_node(caller));
        }
        for node in graph.node_indices().collect::<Vec<_>>() {
            for (_, function) in model.facts.reached_functions(graph[node]) {
                if let Some(&callee) = nodes.get(&model.facts.code_of(function)) {
                    graph.update_edge(node, callee, ());
                }
            }
        }
        for component in tarjan_scc(&graph) {
            for node in component {
                let ways = Walk::new(model, &mut comms, graph[node]).ways();
                comms.scopes.insert(graph[node], ways);
                comms.order.push(graph[node]);
            }
        }
        comms
    }

    /// What follows the beginning of a block.
    #[must_use]
    pub fn way(&self, caller: Caller, block: BlockId) -> Option<Way> {
        *self.scopes.get(&caller)?.blocks.get(block.index())?
    }

    /// What follows each arm of a block that branches.
    #[must_use]
    pub fn arms(&self, caller: Caller, block: BlockId) -> &[Way] {
        self.scopes.get(&caller).and_then(|own| own.arms.get(&block)).map_or(&[], Vec::as_slice)
    }

    /// Whether nothing but an error follows.
    #[must_use]
    pub fn only_fails(&self, way: Way) -> bool {
        *self.node(way.node) == Node::End(Ending::Fails)
    }

    /// What a scope's code communicates.
    #[must_use]
    pub fn of_scope(&self, caller: Caller) -> Option<NodeId> {
        self.way(caller, Flow::ENTRY).map(|way| way.node)
    }

    /// The node behind an id.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Whether anything is communicated.
    #[must_use]
    pub fn communicates(&self, id: NodeId) -> bool {
        match self.node(id) {
            Node::End(ending) => matches!(ending, Ending::Repeats(_)),
            Node::Then(..) => true,
            Node::Choice(_, arms) => arms.iter().any(|&arm| self.communicates(arm)),
        }
    }

    /// The place of the first event.
    #[must_use]
    pub fn first(&self, way: Way) -> Option<Location> {
        way.trail.map(|trail| self.trails[trail as usize].at)
    }

    fn intern(&mut self, node: Node) -> NodeId {
        let next = NodeId(u32::try_from(self.nodes.len()).expect("fewer summaries than 2^32"));
        *self.node_ids.entry(node).or_insert_with_key(|node| {
            self.nodes.push(node.clone());
            next
        })
    }

    fn event(&mut self, event: Event) -> EventId {
        let next = EventId(u32::try_from(self.events.len()).expect("fewer events than 2^32"));
        *self.event_ids.entry(event).or_insert_with_key(|event| {
            self.events.push(event.clone());
            next
        })
    }

    fn then(&mut self, event: EventId, at: Location, rest: Way) -> Way {
        let node = self.intern(Node::Then(event, rest.node));
        self.trails.push(Trail { at, next: rest.trail });
        let trail = u32::try_from(self.trails.len() - 1).expect("fewer events than 2^32");
        Way { node, trail: Some(trail) }
    }

    fn end(&mut self, ending: Ending) -> Way {
        Way { node: self.intern(Node::End(ending)), trail: None }
    }

    /// The events of a way without conditions, and how it ends; `None` if there are conditions, or too many events.
    fn line(&self, mut id: NodeId) -> Option<(Vec<EventId>, Ending)> {
        const MANY: usize = 32;
        let mut events = Vec::new();
        loop {
            match self.node(id) {
                Node::End(ending) => return Some((events, *ending)),
                Node::Then(event, rest) if events.len() < MANY => {
                    events.push(*event);
                    id = *rest;
                }
                _ => return None,
            }
        }
    }

    /// Where two ways part; `None` if a rank on the one is in step with a rank on the other. In traced code the order
    /// does not matter. `follows` tells whether more is communicated when the function returns.
    #[must_use]
    pub fn parting(&self, one: Way, other: Way, traced: bool, follows: bool) -> Option<Parting> {
        if traced && let (Some((mut a, _)), Some((mut b, _))) = (self.line(one.node), self.line(other.node)) {
            a.sort_unstable();
            b.sort_unstable();
            if a == b {
                return None;
            }
        }
        let (mut a, mut b) = (one, other);
        loop {
            if a.node == b.node {
                return None;
            }
            match (self.node(a.node), self.node(b.node)) {
                (Node::Then(first, rest), Node::Then(second, other)) if first == second => {
                    a = Way {
                        node: *rest,
                        trail: a.trail.and_then(|trail| self.trails[trail as usize].next),
                    };
                    b = Way {
                        node: *other,
                        trail: b.trail.and_then(|trail| self.trails[trail as usize].next),
                    };
                }
                (Node::End(first), Node::End(second)) => {
                    let ends = [Ending::Returns, Ending::Exits, Ending::Fails];
                    if !follows && ends.contains(first) && ends.contains(second) {
                        return None;
                    }
                    break;
                }
                _ => break,
            }
        }
        let mixes = self.kinds(a.node).is_some_and(|kinds| Some(kinds) == self.kinds(b.node));
        Some(Parting { one: self.first(a), other: self.first(b), mixes })
    }

    /// What Horovod matches of the events of a way without conditions.
    fn kinds(&self, id: NodeId) -> Option<Vec<&str>> {
        let (events, _) = self.line(id)?;
        let kinds = events.into_iter().map(|event| match &self.events[event.0 as usize] {
            Event::Collective { kind, .. } => Some(&**kind),
            _ => None,
        });
        kinds.collect()
    }
}

/// The summaries of one scope in the making.
struct Walk<'w, 'c> {
    model: &'w Model<'c>,
    comms: &'w mut Comms,
    caller: Caller,
    blocks: &'w [Block],
    /// The edges that close a loop, with their loop.
    back: FxHashMap<(BlockId, BlockId), usize>,
    loops: Vec<Loop>,
    ways: Ways,
}

/// A loop of the control flow.
#[derive(Debug)]
struct Loop {
    header: BlockId,
    blocks: FxHashSet<BlockId>,
    /// Where control goes behind it.
    exit: Option<BlockId>,
    communicates: bool,
    depth: u32,
}

impl<'w, 'c> Walk<'w, 'c> {
    fn new(model: &'w Model<'c>, comms: &'w mut Comms, caller: Caller) -> Self {
        let flow: &'w Flow = &model.facts.module(caller.file).scope(caller.scope).flow;
        let ways = Ways { blocks: vec![None; flow.blocks.len()], arms: FxHashMap::default() };
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
    fn ways(mut self) -> Ways {
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
            [] => {
                let fails = self.model.blocks.of(self.caller, id).leaves.iter().any(|&leave| {
                    self.model.facts.module(self.caller.file).statement(leave).kind == StatementKind::Raise
                });
                self.comms.end(if fails { Ending::Fails } else { Ending::Returns })
            }
            [next] => self.after(id, next),
            _ => self.choice(id),
        };
        for &call in self.model.blocks.of(self.caller, id).calls.iter().rev() {
            way = self.with_call(call, way);
        }
        way
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
        let mut kept: Vec<Way> = arms.clone();
        if !own.is_some_and(|own| self.model.is_on_rank(own)) {
            let fails = self.comms.end(Ending::Fails).node;
            kept.retain(|arm| arm.node != fails);
        }
        let Some(&first) = kept.first() else { return arms[0] };
        if kept.iter().all(|arm| arm.node == first.node) {
            return first;
        }
        let key = own.map_or(Key::Constant("".into()), |own| self.model.key(own));
        let node = self.comms.intern(Node::Choice(key, kept.iter().map(|arm| arm.node).collect()));
        Way { node, trail: kept.iter().find_map(|arm| arm.trail) }
    }

    fn with_call(&mut self, id: CallId, mut rest: Way) -> Way {
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
                Object::Function(function) => {
                    let code = self.model.facts.code_of(function);
                    let body = self.comms.of_scope(code);
                    if let Some(body) = body.filter(|_| !self.model.only_wraps(edge)) {
                        bodies.push(self.stepped(code, body));
                    }
                }
                object @ Object::External(_) => {
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
        bodies.sort_unstable();
        bodies.dedup();
        bodies.retain(|&body| *self.comms.node(body) != Node::End(Ending::Returns));
        for event in own.into_iter().take(1) {
            let event = self.comms.event(event);
            rest = self.comms.then(event, at, rest);
        }
        match bodies[..] {
            [] => rest,
            [body] => self.with_body(body, at, rest),
            _ => {
                let key = self.model.key((file, call.result));
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
        if symbol.has(Effect::Initializes) {
            return None;
        }
        if symbol.has(Effect::Collective) {
            let is_pruned = self.model.traced.contains(&self.caller)
                && !symbol.has(Effect::UpdatesState)
                && self.model.is_unused(file, call);
            return (!is_pruned).then(|| self.collective(symbol, call));
        }
        if symbol.has(Effect::Trains) {
            return self.model.fit_communicates(file, id).then(|| plain("fit")).flatten();
        }
        let takes = symbol.has(Effect::Minimizes) || symbol.has(Effect::TakesGradients);
        if takes && is_distributed(self.model.facts, file, id) { plain("gradient") } else { None }
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

    fn find_loops(&mut self) {
        let mut state = vec![0_u8; self.blocks.len()];
        let mut stack = vec![(Flow::ENTRY, 0)];
        let mut found: Vec<(BlockId, BlockId)> = Vec::new();
        while let Some((block, index)) = stack.pop() {
            state[block.index()] = 1;
            if let Some(&next) = self.blocks[block.index()].successors.get(index) {
                stack.push((block, index + 1));
                match state[next.index()] {
                    0 => stack.push((next, 0)),
                    1 => found.push((block, next)),
                    _ => {}
                }
            } else {
                state[block.index()] = 2;
            }
        }
        if found.is_empty() {
            return;
        }
        let mut before: Vec<Vec<BlockId>> = vec![Vec::new(); self.blocks.len()];
        for (index, block) in self.blocks.iter().enumerate() {
            for next in &block.successors {
                before[next.index()].push(BlockId::new(index));
            }
        }
        for (latch, header) in found {
            let of = match self.loops.iter().position(|own| own.header == header) {
                Some(of) => of,
                None => {
                    let blocks = std::iter::once(header).collect();
                    let own = Loop { header, blocks, exit: None, communicates: false, depth: 0 };
                    self.loops.push(own);
                    self.loops.len() - 1
                }
            };
            self.back.insert((latch, header), of);
            let mut work = vec![latch];
            while let Some(block) = work.pop() {
                if self.loops[of].blocks.insert(block) {
                    work.extend(&before[block.index()]);
                }
            }
        }
        for of in 0..self.loops.len() {
            let own = &self.loops[of];
            let mut blocks: Vec<BlockId> = own.blocks.iter().copied().collect();
            blocks.sort_unstable_by_key(|&block| (block != own.header, block));
            let mut ahead = blocks.iter().flat_map(|block| &self.blocks[block.index()].successors);
            let exit = ahead.find(|next| !own.blocks.contains(next)).copied();
            let around = self.loops.iter().filter(|other| other.header != own.header);
            let depth = around.filter(|other| other.blocks.contains(&own.header)).count();
            let communicates = blocks.into_iter().any(|block| self.block_communicates(block));
            let own = &mut self.loops[of];
            own.exit = exit;
            own.depth = u32::try_from(depth).unwrap_or(u32::MAX);
            own.communicates = communicates;
        }
    }

    fn block_communicates(&mut self, block: BlockId) -> bool {
        let start = self.comms.end(Ending::Returns);
        let calls = self.model.blocks.of(self.caller, block).calls.iter().rev();
        let calls: Vec<CallId> = calls.copied().collect();
        calls.into_iter().any(|call| {
            let way = self.with_call(call, start);
            matches!(self.comms.node(way.node), Node::Then(..))
        })
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

impl Model<'_> {
    /// Whether a call only hands a function on to be called later: a decorator, `tf.function(step)`.
    #[must_use]
    pub fn only_wraps(&self, edge: &CallEdge) -> bool {
        let (file, Some(call)) = (edge.caller.file, edge.call) else { return false };
        edge.via == Via::Library
            && (self.facts.module(file).call(call).kind == CallKind::Decorator
                || self
                    .facts
                    .called_symbols(file, call)
                    .any(|symbol| symbol.has(Effect::Traces) || symbol.has(Effect::KeepsLength)))
    }

    /// Whether a condition says something of the rank's number alone.
    #[must_use]
    pub fn is_on_rank(&self, condition: crate::program::Place) -> bool {
        use super::guards::{Atom, Literal};
        let is_number = |own: &Literal| matches!(own.atom, Atom::Is(..));
        let yes = self.literals(condition, true);
        !yes.is_all() && yes.0.iter().all(is_number) && {
            let no = self.literals(condition, false);
            !no.is_all() && no.0.iter().all(is_number)
        }
    }

    /// Whether nothing reads what a call returns.
    fn is_unused(&self, file: FileId, call: &Call) -> bool {
        match call.role {
            Role::Statement => true,
            Role::Assigned => {
                self.facts.influence().dependents((file, call.result)).next().is_none()
                    && !self.facts.module(file).uses.iter().any(|reading| reading.value == call.result)
            }
            _ => false,
        }
    }

    /// Whether `fit`, or another call that trains a model, averages over the ranks.
    #[must_use]
    pub fn fit_communicates(&self, file: FileId, call: CallId) -> bool {
        let facts = self.facts;
        let receiver = facts.receiver(file, facts.module(file).call(call));
        let Some(receiver) = receiver else { return false };
        if facts.objects(file, receiver).any(|(_, object)| matches!(object, Object::Super(..))) {
            return false;
        }
        let mut loops = self.programs.iter().flat_map(|program| &program.loops);
        let optimizers: Vec<ObjectId> = loops
            .find(|own| own.kind == LoopKind::KerasFit && (own.caller.file, own.call) == (file, call))
            .map(|own| own.optimizers.clone())
            .unwrap_or_default();
        if optimizers.is_empty() {
            // A model whose optimizer can't be seen: the program's only kind.
            return facts.is_unknown(file, receiver) && self.distributes_optimizers();
        }
        optimizers.into_iter().any(|optimizer| super::values::is_distributed_object(facts, optimizer))
    }

    fn distributes_optimizers(&self) -> bool {
        self.facts.creations.iter().any(|made| {
            made.kind == Kind::Optimizer && super::values::is_distributed_object(self.facts, made.object)
        })
    }

    /// A value as its literal or the library's name for it; empty if it is neither.
    fn spelled(&self, file: FileId, value: crate::semantic::ValueId) -> String {
        let symbols = self.facts.objects(file, value).filter_map(|(_, object)| self.facts.symbol(object));
        let mut names: Vec<&str> = symbols.map(Symbol::name).collect();
        names.sort_unstable();
        match self.key((file, value)) {
            Key::Constant(text) => format!(" {text}"),
            _ => names.concat(),
        }
    }
}
