//! How often code may run in one run of a program.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::modules::FunctionRef;
use super::solver::Caller;
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, ScopeKind, StatementId, StatementKind, Suite};

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
                if let Some(why) = own_reason(facts, function, |caller| program.reached.contains(&caller)) {
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
}

fn own_reason(
    facts: &Facts<'_>,
    function: FunctionRef,
    is_reached: impl Fn(Caller) -> bool,
) -> Option<Repeated> {
    let mut first = None;
    for edge in facts.incoming(function) {
        if !is_reached(edge.caller) {
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
        let place = (edge.caller.file, site.range);
        match first {
            None => first = Some(place),
            Some(other) if other != place => return Some(Repeated::Calls(other, place)),
            Some(_) => {}
        }
    }
    None
}

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
    let conditions = facts.conditions(caller, block);
    let in_comprehension = conditions.iter().any(|condition| {
        condition.branch.kind == BranchKind::For
            && condition.branch.statement == statement
            && module.statement(statement).kind != StatementKind::For
    });
    in_comprehension.then_some(statement)
}

impl Facts<'_> {
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
