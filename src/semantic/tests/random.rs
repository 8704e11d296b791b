//! Random functions, against references that are too simple to be wrong: what runs of them see is among what
//! reaches, a classical iteration over the graph finds the same definitions, and so does the SSA form.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{DefinitionKind, Module, Reaching, ScopeKind, Snippet, Value};
use crate::semantic::{BlockId, Detour, Variable};

/// How many functions, and how often each is run.
const FUNCTIONS: u64 = 400;
const RUNS: usize = 60;

/// A small generator of random numbers (xorshift), the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }
}

/// The variable and the line of `except E as v0`, and its suite.
type Handler = (Option<(usize, usize)>, Vec<Node>);

/// A statement with the line it stands in; variables are `v0`, `v1`, `v2`.
enum Node {
    Assign(usize, usize),
    Use(usize, usize),
    Delete(usize),
    Exit(Exit),
    If(Vec<Node>, Vec<Node>),
    /// `while`, with `else`; `true` never ends by itself.
    While(bool, Vec<Node>, Vec<Node>),
    /// `for`: binds its variable in the line.
    For(usize, usize, Vec<Node>, Vec<Node>),
    Try {
        body: Vec<Node>,
        handlers: Vec<Handler>,
        orelse: Vec<Node>,
        finally: Vec<Node>,
    },
    With(usize, usize, Vec<Node>),
    /// Each case captures; `true` for one with a guard.
    Match(Vec<(bool, usize, usize, Vec<Node>)>),
}

#[derive(Clone, Copy, PartialEq)]
enum Exit {
    Return,
    Raise,
    Break,
    Continue,
}

struct Writer {
    dice: Dice,
    text: String,
    line: usize,
}

impl Writer {
    fn put(&mut self, depth: usize, text: &str) -> usize {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(depth));
        self.line += 1;
        self.line
    }

    fn suite(&mut self, depth: usize, in_loop: bool) -> Vec<Node> {
        let count = 1 + self.dice.roll(2);
        (0..count).map(|_| self.statement(depth, in_loop)).collect()
    }

    fn optional(&mut self, depth: usize, head: &str, in_loop: bool) -> Vec<Node> {
        if self.dice.roll(2) == 0 {
            return Vec::new();
        }
        self.put(depth, head);
        self.suite(depth + 1, in_loop)
    }

    fn statement(&mut self, depth: usize, in_loop: bool) -> Node {
        let variable = self.dice.roll(3);
        let kind = if depth > 3 { self.dice.roll(7) } else { self.dice.roll(16) };
        match kind {
            0..3 => Node::Assign(variable, self.put(depth, &format!("v{variable} = g()"))),
            3..5 => Node::Use(variable, self.put(depth, &format!("g(v{variable})"))),
            5 => match self.dice.roll(6) {
                0 => {
                    self.put(depth, &format!("del v{variable}"));
                    Node::Delete(variable)
                }
                _ => Node::Use(variable, self.put(depth, &format!("g(v{variable})"))),
            },
            6 => {
                let exit = match self.dice.roll(if in_loop { 6 } else { 2 }) {
                    0 => Exit::Return,
                    1 => Exit::Raise,
                    2 | 3 => Exit::Break,
                    _ => Exit::Continue,
                };
                let text = match exit {
                    Exit::Return => "return",
                    Exit::Raise => "raise E",
                    Exit::Break => "break",
                    Exit::Continue => "continue",
                };
                self.put(depth, text);
                Node::Exit(exit)
            }
            7..10 => {
                self.put(depth, "if g():");
                let then = self.suite(depth + 1, in_loop);
                Node::If(then, self.optional(depth, "else:", in_loop))
            }
            10 => {
                let endless = self.dice.roll(3) == 0;
                self.put(depth, if endless { "while True:" } else { "while g():" });
                let body = self.suite(depth + 1, true);
                Node::While(endless, body, self.optional(depth, "else:", in_loop))
            }
            11 => {
                let line = self.put(depth, &format!("for v{variable} in g():"));
                let body = self.suite(depth + 1, true);
                Node::For(variable, line, body, self.optional(depth, "else:", in_loop))
            }
            12 | 13 => self.try_statement(depth, in_loop),
            14 => {
                let line = self.put(depth, &format!("with g() as v{variable}:"));
                Node::With(variable, line, self.suite(depth + 1, in_loop))
            }
            _ => {
                self.put(depth, "match g():");
                let mut cases = Vec::new();
                for _ in 0..=self.dice.roll(2) {
                    let variable = self.dice.roll(3);
                    let guard = self.dice.roll(2) == 0;
                    let line = self.put(
                        depth + 1,
                        &format!("case [v{variable}]{}:", if guard { " if g()" } else { "" }),
                    );
                    cases.push((guard, variable, line, self.suite(depth + 2, in_loop)));
                }
                Node::Match(cases)
            }
        }
    }

    fn try_statement(&mut self, depth: usize, in_loop: bool) -> Node {
        self.put(depth, "try:");
        let body = self.suite(depth + 1, in_loop);
        let mut handlers = Vec::new();
        for _ in 0..self.dice.roll(3) {
            let name = (self.dice.roll(2) == 0).then(|| self.dice.roll(3));
            let head = name.map_or("except E:".to_owned(), |name| format!("except E as v{name}:"));
            let line = self.put(depth, &head);
            handlers.push((name.map(|name| (name, line)), self.suite(depth + 1, in_loop)));
        }
        let orelse = if handlers.is_empty() { Vec::new() } else { self.optional(depth, "else:", in_loop) };
        let finally = if handlers.is_empty() {
            self.put(depth, "finally:");
            self.suite(depth + 1, in_loop)
        } else {
            self.optional(depth, "finally:", in_loop)
        };
        Node::Try { body, handlers, orelse, finally }
    }
}

/// A run: what it has seen, by line of the use.
struct Run {
    dice: Dice,
    /// The line of the latest definition of each variable.
    state: [Option<usize>; 3],
    seen: BTreeMap<(usize, usize), BTreeSet<Option<usize>>>,
    fuel: usize,
}

impl Run {
    fn suite(&mut self, suite: &[Node]) -> Result<(), Exit> {
        suite.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Result<(), Exit> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Exit::Return)?;
        // Anything that is evaluated may fail.
        if !matches!(node, Node::Exit(_) | Node::Try { .. } | Node::While(true, ..)) && self.dice.roll(8) == 0
        {
            return Err(Exit::Raise);
        }
        match node {
            Node::Assign(variable, line) => self.state[*variable] = Some(*line),
            Node::Use(variable, line) => {
                self.seen.entry((*line, *variable)).or_default().insert(self.state[*variable]);
            }
            Node::Delete(variable) => self.state[*variable] = None,
            Node::Exit(exit) => return Err(*exit),
            Node::If(then, otherwise) => {
                let taken = if self.dice.roll(2) == 0 { then } else { otherwise };
                return self.suite(taken);
            }
            Node::While(endless, body, orelse) => return self.turns(None, *endless, body, orelse),
            Node::For(variable, line, body, orelse) => {
                return self.turns(Some((*variable, *line)), false, body, orelse);
            }
            Node::Try { body, handlers, orelse, finally } => {
                let mut result = self.suite(body);
                if result.is_ok() {
                    result = self.suite(orelse);
                } else if result == Err(Exit::Raise)
                    && !handlers.is_empty()
                    && let Some((name, body)) = handlers.get(self.dice.roll(handlers.len() + 1))
                {
                    if let Some((name, line)) = *name {
                        self.state[name] = Some(line);
                    }
                    result = self.suite(body);
                    // The name is unbound however the clause ends, but whoever leaves it early leaves the value.
                    if let Some((name, _)) = *name
                        && result.is_ok()
                    {
                        self.state[name] = None;
                    }
                }
                self.suite(finally)?;
                return result;
            }
            Node::With(variable, line, body) => {
                self.state[*variable] = Some(*line);
                return self.suite(body);
            }
            Node::Match(cases) => {
                for (guard, variable, line, body) in cases {
                    if self.dice.roll(2) == 0 {
                        self.state[*variable] = Some(*line);
                        if !guard || self.dice.roll(2) == 0 {
                            return self.suite(body);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn turns(
        &mut self,
        target: Option<(usize, usize)>,
        endless: bool,
        body: &[Node],
        orelse: &[Node],
    ) -> Result<(), Exit> {
        while endless || self.dice.roll(3) > 0 {
            self.fuel = self.fuel.checked_sub(1).ok_or(Exit::Return)?;
            if let Some((variable, line)) = target {
                self.state[variable] = Some(line);
            }
            match self.suite(body) {
                Err(Exit::Break) => return Ok(()),
                Err(Exit::Continue) | Ok(()) => {}
                other => return other,
            }
        }
        self.suite(orelse)
    }
}

/// The definitions that reach each use, by iteration over all points until nothing changes.
fn classical(module: &Module, scope: crate::semantic::ScopeId) -> BTreeMap<usize, BTreeSet<usize>> {
    let flow = &module.scope(scope).flow;
    let mut events: Vec<Vec<(u32, bool, usize)>> = vec![Vec::new(); flow.blocks.len()];
    for (index, reading) in module.uses.iter().enumerate().filter(|(_, reading)| reading.scope == scope) {
        events[reading.block.index()].push((reading.order, false, index));
    }
    for (index, definition) in
        module.definitions.iter().enumerate().filter(|(_, definition)| definition.scope == scope)
    {
        events[definition.block.index()].push((definition.order, true, index));
    }
    for events in &mut events {
        events.sort_unstable();
    }
    let variable = |index: usize| -> Variable { module.definitions[index].variable };
    let mut at_entry: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); flow.blocks.len()];
    let mut at_end: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); flow.blocks.len()];
    let mut found: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    loop {
        let before = at_end.clone();
        for block in (0..flow.blocks.len()).filter(|&block| flow.reachable[block]) {
            let predecessors = (0..flow.blocks.len()).filter(|&from| {
                flow.reachable[from] && flow.blocks[from].successors.contains(&BlockId::new(block))
            });
            let mut state: BTreeSet<usize> =
                predecessors.flat_map(|from| at_end[from].iter().copied()).collect();
            let within = |stretch: crate::semantic::Stretch| {
                let all = events
                    .iter()
                    .enumerate()
                    .filter(|&(block, _)| flow.reachable[block])
                    .flat_map(|(_, events)| events);
                all.filter(move |&&(order, defines, _)| defines && stretch.contains(order))
                    .map(|&(_, _, index)| index)
            };
            match flow.blocks[block].detour {
                Some(Detour::Exception(stretch)) => state.extend(within(stretch)),
                Some(Detour::Finally(normal, stretch)) => {
                    let set: BTreeSet<Variable> = within(stretch).map(variable).collect();
                    state.retain(|&index| set.contains(&variable(index)));
                    state.extend(
                        at_end[normal.index()]
                            .iter()
                            .copied()
                            .filter(|&index| !set.contains(&variable(index))),
                    );
                }
                None => {}
            }
            at_entry[block].clone_from(&state);
            for &(_, defines, index) in &events[block] {
                if defines {
                    state.retain(|&other| variable(other) != variable(index));
                    state.insert(index);
                } else if let Some(read) = module.uses[index].variable {
                    let reach =
                        state.iter().copied().filter(|&definition| variable(definition) == read).collect();
                    found.insert(index, reach);
                }
            }
            at_end[block] = state;
        }
        if before == at_end {
            return found;
        }
    }
}

fn function(seed: u64) -> (String, Vec<Node>) {
    let mut writer =
        Writer { dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1), text: String::new(), line: 0 };
    writer.put(0, "def f():");
    let mut body = writer.suite(1, false);
    body.extend(writer.suite(1, false));
    for variable in 0..3 {
        body.push(Node::Use(variable, writer.put(1, &format!("g(v{variable})"))));
    }
    // Make each variable the function's own.
    let mut text = writer.text;
    text.push_str("    v0 = v1 = v2 = g()\n");
    (text, body)
}

/// Checks random functions; of those that fail the shortest is shown.
#[track_caller]
fn check_all(check: impl Fn(u64, &str, &[Node]) -> Result<(), String>) {
    let functions = (1..=FUNCTIONS).map(|seed| (seed, function(seed)));
    let failures =
        functions.filter_map(|(seed, (source, body))| Some((check(seed, &source, &body).err()?, source)));
    if let Some((why, source)) = failures.min_by_key(|(_, source)| source.len()) {
        panic!("{why} in\n{source}");
    }
}

#[test]
fn what_runs_see_is_among_what_reaches() {
    check_all(|seed, source, body| {
        let snippet = Snippet::new(source);
        let module = &snippet.module;
        let mut seen = BTreeMap::<(usize, usize), BTreeSet<Option<usize>>>::new();
        for run in 0..RUNS {
            let dice = Dice((seed << 32) ^ (run as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d));
            let mut run = Run { dice, state: [None; 3], seen: BTreeMap::new(), fuel: 300 };
            let _ = run.suite(body);
            for (place, lines) in run.seen {
                seen.entry(place).or_default().extend(lines);
            }
        }
        for ((line, variable), lines) in seen {
            let name = format!("v{variable}");
            let index = (0..module.uses.len()).find(|&index| {
                let reading = &module.uses[index];
                snippet.line(reading.range) == line && source[super::range(reading.range)] == name
            });
            let index = index.unwrap_or_else(|| panic!("no use of {name} in line {line} of\n{source}"));
            let words = snippet.sees(index);
            for definition in lines {
                let word = definition.map_or("unbound".to_owned(), |line| line.to_string());
                if !words.contains(&word) {
                    return Err(format!("{name} in line {line} may see {word}, not only {words:?}"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn the_ssa_form_and_a_classical_iteration_agree_with_what_reaches() {
    check_all(|_, source, _| {
        let snippet = Snippet::new(source);
        let module = &snippet.module;
        let (index, scope) = module
            .scopes
            .iter()
            .enumerate()
            .find(|(_, scope)| matches!(scope.kind, ScopeKind::Function(_)))
            .expect("a function");
        let scope_id = crate::semantic::ScopeId::new(index);
        let reaching = Reaching::new(module, scope_id);
        let classical = classical(module, scope_id);
        let is_bound =
            |value: &crate::semantic::ValueId| !matches!(module.value(*value).value, Value::Unbound);
        for (index, reading) in module.uses.iter().enumerate() {
            if reading.scope != scope_id
                || reading.variable.is_none()
                || !scope.flow.is_reachable(reading.block)
            {
                continue;
            }
            let line = snippet.line(reading.range);
            let definitions = reaching.definitions(index);
            let as_set: BTreeSet<usize> = definitions.iter().copied().collect();
            if classical[&index] != as_set {
                return Err(format!("line {line}: {as_set:?} reach, classically {:?}", classical[&index]));
            }
            let reached: BTreeSet<_> = definitions
                .into_iter()
                .filter(|&definition| module.definitions[definition].kind != DefinitionKind::Deletion)
                .flat_map(|definition| snippet.leaves(module.definitions[definition].value))
                .collect();
            let mut leaves = snippet.leaves(reading.value);
            leaves.retain(is_bound);
            if leaves != reached {
                return Err(format!("line {line}: {leaves:?} in SSA form, {reached:?} reach"));
            }
        }
        for definition in 0..module.definitions.len() {
            for reading in reaching.uses(definition) {
                assert!(reaching.definitions(reading).contains(&definition));
            }
        }
        Ok(())
    });
}
