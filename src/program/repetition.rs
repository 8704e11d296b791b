//! How often code may run in one run of a program.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::modules::FunctionRef;
use super::object::{Literal, Object};
use super::solver::{CallEdge, Caller};
use crate::api::Effect;
use crate::project::FileId;
use crate::semantic::{
    BlockId, BranchKind, Call, Element, ScopeKind, StatementId, StatementKind, Suite, Value, ValueId,
};

/// A reason why a scope's code runs more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// Two calls reach it.
    Calls((FileId, crate::syntax::TextRange), (FileId, crate::syntax::TextRange)),
    /// A call in a loop does.
    Loop(FileId, StatementId),
    /// A library calls it back as often as it wants, or it calls itself.
    Otherwise,
}

/// For each function whether it runs more than once, and why.
#[derive(Debug, Default)]
pub struct Repetition {
    repeated: FxHashMap<Caller, Repeated>,
}

impl Repetition {
    /// Counts the calls of each function in each program by itself: what two programs call once each runs once.
    #[must_use]
    pub fn new(facts: &Facts<'_>) -> Self {
        let mut repeated = FxHashMap::default();
        for program in &facts.programs {
            for &caller in &program.reached {
                let Some(function) = facts.function_of(caller) else { continue };
                if let Some(why) = own_reason(facts, function, |edge| facts.is_run(program, edge)) {
                    repeated.entry(caller).or_insert(why);
                }
            }
        }
        let mut repetition = Self { repeated };
        repetition.spread(facts);
        repetition
    }

    /// What code that runs often calls runs often.
    fn spread(&mut self, facts: &Facts<'_>) {
        let mut work: Vec<Caller> = self.repeated.keys().copied().collect();
        work.sort_unstable();
        while let Some(caller) = work.pop() {
            let why = self.repeated[&caller];
            for (_, function) in facts.reached_functions(caller) {
                let callee = facts.code_of(function);
                if let std::collections::hash_map::Entry::Vacant(entry) = self.repeated.entry(callee) {
                    entry.insert(why);
                    work.push(callee);
                }
            }
        }
    }

    /// Why the scope's code runs more than once; `None` if it does not.
    #[must_use]
    pub fn of(&self, caller: Caller) -> Option<Repeated> {
        self.repeated.get(&caller).copied()
    }

    /// Why a block of the scope's code runs more than once; calls that never come to the block don't count.
    #[must_use]
    pub fn of_block(&self, facts: &Facts<'_>, caller: Caller, block: BlockId) -> Option<Repeated> {
        let why = self.of(caller)?;
        let Some(function) = facts.function_of(caller) else { return Some(why) };
        let is_ruled_out = |edge: &CallEdge| facts.rules_out(edge, function, block);
        if !facts.incoming(function).iter().any(is_ruled_out) {
            return Some(why);
        }
        facts.programs.iter().filter(|program| program.reached.contains(&caller)).find_map(|program| {
            let comes = |edge: &CallEdge| facts.is_run(program, edge) && !is_ruled_out(edge);
            own_reason(facts, function, comes).or_else(|| {
                let callers = facts.incoming(function).iter().filter(|edge| comes(edge));
                callers.map(|edge| edge.caller).find_map(|caller| self.of(caller))
            })
        })
    }
}

fn own_reason(
    facts: &Facts<'_>,
    function: FunctionRef,
    is_run: impl Fn(&CallEdge) -> bool,
) -> Option<Repeated> {
    let mut sites: Vec<(Caller, &Call)> = Vec::new();
    for edge in facts.incoming(function) {
        if !is_run(edge) {
            continue;
        }
        let Some(call) = edge.call else { return Some(Repeated::Otherwise) };
        let module = facts.module(edge.caller.file);
        let site = module.call(call);
        if let Some(around) = loop_around(facts, edge.caller.file, site.statement, site.block, edge.caller) {
            return Some(Repeated::Loop(edge.caller.file, around));
        }
        if Facts::is_call_back(edge) && facts.function_of(edge.caller) != Some(function) {
            let symbols: Vec<_> = facts.called_symbols(edge.caller.file, call).collect();
            // `absl.app.run(main)` and its like run what they are given once.
            if symbols.iter().any(|symbol| !symbol.has(crate::api::Effect::Exits)) {
                continue;
            }
        }
        let place = |(caller, site): (Caller, &Call)| (caller.file, site.range);
        let own = (edge.caller, site);
        if sites.iter().any(|&before| place(before) == place(own)) {
            continue;
        }
        let is_made_too = |(caller, before): (Caller, &Call)| {
            caller != edge.caller || !module.exclude_each_other(before.statement, site.statement)
        };
        if let Some(&before) = sites.iter().find(|&&before| sites.len() > MANY || is_made_too(before)) {
            return Some(Repeated::Calls(place(before), place(own)));
        }
        sites.push(own);
    }
    None
}

/// So many calls that exclude each other are taken for repeated ones.
const MANY: usize = 32;

/// The innermost loop statement whose body repeats a statement's code, within its scope; a comprehension
/// counts as the statement that it stands in.
#[must_use]
pub fn loop_around(
    facts: &Facts<'_>,
    file: FileId,
    statement: StatementId,
    block: BlockId,
    caller: Caller,
) -> Option<StatementId> {
    let module = facts.module(file);
    let scope = caller.scope;
    let mut child = module.statement(statement);
    // A `for` statement's iterable is evaluated once, a `while` statement's test again and again.
    if child.kind == StatementKind::While {
        return Some(statement);
    }
    let mut next = child.parent;
    while let Some(id) = next {
        let parent = module.statement(id);
        if matches!(parent.kind, StatementKind::Function | StatementKind::Class) {
            break;
        }
        let repeats =
            matches!(parent.kind, StatementKind::For | StatementKind::While) && child.suite == Suite::Body;
        if repeats && parent.scope == scope {
            return Some(id);
        }
        child = parent;
        next = parent.parent;
    }
    is_in_comprehension(facts, file, statement, block, caller).then_some(statement)
}

/// Whether a block of a statement is run for each element of a comprehension in the statement.
#[must_use]
pub fn is_in_comprehension(
    facts: &Facts<'_>,
    file: FileId,
    statement: StatementId,
    block: BlockId,
    caller: Caller,
) -> bool {
    let conditions = facts.conditions(caller, block);
    conditions.iter().any(|condition| {
        condition.branch.kind == BranchKind::For
            && condition.branch.statement == statement
            && facts.module(file).statement(statement).kind != StatementKind::For
    })
}

/// Whether a display has an element for sure.
fn is_filled(elements: &[Element]) -> bool {
    elements.iter().any(|element| matches!(element, Element::At(..) | Element::Key(..)))
}

impl Facts<'_> {
    /// Whether iterating over a value surely yields something: a display, a `range` of known numbers, folds of examples.
    #[must_use]
    pub fn surely_iterates(&self, file: FileId, iterable: ValueId) -> bool {
        let mut objects = self.objects(file, iterable).peekable();
        objects.peek().is_some()
            && objects.all(|(_, object)| match object {
                Object::Container(_, node) => self.solution.origin(node).is_some_and(|(file, value)| {
                    matches!(&self.module(file).value(value).value, Value::Display(_, elements) if is_filled(elements))
                }),
                _ => self.is_counted(file, iterable),
            })
    }

    /// Whether a value is a `range` of known numbers that is not empty, folds, or an `enumerate` of such.
    fn is_counted(&self, file: FileId, iterable: ValueId) -> bool {
        let module = self.module(file);
        let Value::Call(id) = module.value(iterable).value else { return false };
        let arguments = &module.call(id).arguments;
        let calls = |name: &str| {
            self.callees(file, id).iter().any(|edge| match self.solution.object(edge.callee) {
                Object::Builtin(builtin) => self.solution.names.text(builtin) == name,
                _ => false,
            })
        };
        if calls("range") {
            let numbers: Option<Vec<i64>> =
                arguments.iter().map(|argument| self.least_integer(file, argument.value)).collect();
            return match numbers.as_deref() {
                Some([stop]) => *stop > 0,
                Some([start, stop]) => start < stop,
                _ => false,
            };
        }
        self.called_symbols(file, id).any(|symbol| symbol.has(Effect::GivesFolds))
            || calls("enumerate") && arguments.first().is_some_and(|of| self.surely_iterates(file, of.value))
    }

    fn least_integer(&self, file: FileId, value: ValueId) -> Option<i64> {
        let integers: Option<Vec<i64>> = self
            .objects(file, value)
            .map(|(_, object)| match object {
                Object::Literal(Literal::Int(integer)) => Some(integer),
                _ => None,
            })
            .collect();
        integers?.into_iter().min()
    }

    /// The scopes that run when a file is imported: its own, its class bodies.
    #[must_use]
    pub fn import_time_scopes(&self, file: FileId) -> Vec<Caller> {
        let module = self.module(file);
        (0..module.scopes.len())
            .map(crate::semantic::ScopeId::new)
            .filter(|&scope| {
                let mut scope = scope;
                loop {
                    match (module.scope(scope).kind, module.scope(scope).parent) {
                        (ScopeKind::Module, _) => return true,
                        (ScopeKind::Class(_), Some(parent)) => scope = parent,
                        _ => return false,
                    }
                }
            })
            .map(|scope| Caller { file, scope })
            .collect()
    }
}
