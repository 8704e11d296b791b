//! Which ranks come to a place: what the conditions around it say about the rank.
//!
//! A condition is a conjunction of [`Literal`]s as far as it can be read: `hvd.rank() == 0`, `not chief`,
//! `is_main() and step % 10 == 0`. Conditions that are the same on all ranks say nothing here.

mod calls;
mod junctions;
mod kept;
mod key;

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::environment;
use super::model::Model;
use super::values::Cause;
use crate::api::Effect;
use crate::program::{Caller, Facts, Place};
use crate::project::FileId;
use crate::semantic::{
    BlockId, BranchKind, Constant, Dependence, Dominance, Method, Operator, Value, ValueId,
};
use junctions::{AND, OR};
pub(super) use kept::keeps;
pub use key::Key;

/// How deep a condition is taken apart.
const DEPTH: u32 = 16;

/// How much of that a call's argument takes.
const CALL: u32 = 5;

/// Which number of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Number {
    /// Among all ranks.
    World,
    /// Among those of its host.
    Host,
}

/// A statement about the rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// Its number is this one.
    Is(Number, i64),
    /// A value that depends on the rank's number, or is another one for this reason, is true.
    True(Key, Cause),
    /// A value that differs between ranks by their data is true: on any number of them.
    Varies(Key),
}

/// An atom that holds or does not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    /// What is said.
    pub atom: Atom,
    /// Whether it holds.
    pub holds: bool,
}

/// What is known of the ranks that come to a place: all of the literals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard(pub Vec<Literal>);

impl Guard {
    /// Whether at most one rank of all comes here.
    #[must_use]
    pub fn is_one(&self) -> bool {
        self.0.iter().any(|own| own.holds && matches!(own.atom, Atom::Is(Number::World, _)))
    }

    /// Whether at most one rank of each host comes here.
    #[must_use]
    pub fn is_one_of_host(&self) -> bool {
        self.0.iter().any(|own| own.holds && matches!(own.atom, Atom::Is(..)))
    }

    /// Whether a literal holds for all ranks that come here.
    #[must_use]
    pub fn implies(&self, wanted: &Literal) -> bool {
        self.0.iter().any(|own| {
            own == wanted
                || match (&own.atom, &wanted.atom) {
                    (Atom::Is(number, one), Atom::Is(of, other)) => {
                        own.holds && !wanted.holds && number == of && one != other
                    }
                    // Where `a` is true, `a or b` is; where it is not, `a and b` is not.
                    (Atom::True(key, _), Atom::True(Key::Of(name, parts), _)) => {
                        let decides = if wanted.holds { OR } else { AND };
                        own.holds == wanted.holds && **name == *decides && parts.contains(key)
                    }
                    _ => false,
                }
        })
    }

    /// Whether all ranks come here, as far as is known.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn both(&self, other: &Self) -> Self {
        Self(self.0.iter().filter(|own| other.implies(own)).cloned().collect())
    }

    pub(super) fn and(mut self, other: &Self) -> Self {
        for literal in &other.0 {
            if !self.0.contains(literal) {
                self.0.push(literal.clone());
            }
        }
        self
    }
}

/// Stores to attributes, by the attribute's name.
type ByName = FxHashMap<Box<str>, Vec<u32>>;

/// Blocks, and what is known of the ranks that come there.
type Arms = Rc<[(BlockId, Guard)]>;

/// Guards that were asked for before.
#[derive(Debug, Default)]
pub struct Known {
    blocks: RefCell<FxHashMap<(Caller, BlockId), Guard>>,
    scopes: FxHashMap<Caller, Guard>,
    /// The stores of files to attributes, by name.
    stores: RefCell<FxHashMap<FileId, ByName>>,
    dominance: RefCell<FxHashMap<Caller, Dominance>>,
    /// The arms of branches that ask for the rank, each of which only its branch leads to.
    arms: RefCell<FxHashMap<Caller, Arms>>,
}

impl Known {
    /// Whether control comes to `later` only through `block`.
    pub(super) fn is_behind(
        &self,
        facts: &Facts<'_>,
        caller: Caller,
        block: BlockId,
        later: BlockId,
    ) -> bool {
        let mut known = self.dominance.borrow_mut();
        let own = known
            .entry(caller)
            .or_insert_with(|| facts.module(caller.file).scope(caller.scope).flow.dominance());
        own.dominates(block, later)
    }
}

impl Model<'_> {
    /// What the conditions on the way from the beginning of the program to a block say of the rank.
    #[must_use]
    pub fn guard(&self, caller: Caller, block: BlockId) -> Guard {
        self.own_guard(caller, block).and(&self.scope_guard(caller))
    }

    /// What the conditions of its own scope say.
    #[must_use]
    pub fn own_guard(&self, caller: Caller, block: BlockId) -> Guard {
        let decided = self.block_guard(caller, block, &mut FxHashSet::default());
        decided.and(&self.guard_of_arms(caller, block))
    }

    /// What the arms say of the rank through which alone control comes to a block. In a loop that ends by `return` alone the branches
    /// around that one decide nothing: in the end control comes there, or nowhere.
    fn guard_of_arms(&self, caller: Caller, block: BlockId) -> Guard {
        let known = self.guards.arms.borrow().get(&caller).cloned();
        let arms = known.unwrap_or_else(|| {
            let found = self.arms_of_ranks(caller);
            self.guards.arms.borrow_mut().insert(caller, Rc::clone(&found));
            found
        });
        let leading = arms.iter().filter(|(arm, _)| self.guards.is_behind(self.facts, caller, *arm, block));
        leading.fold(Guard::default(), |guard, (_, own)| guard.and(own))
    }

    fn arms_of_ranks(&self, caller: Caller) -> Arms {
        let blocks = &self.facts.module(caller.file).scope(caller.scope).flow.blocks;
        let mut entries = vec![0_u32; blocks.len()];
        for &next in blocks.iter().flat_map(|own| &own.successors) {
            entries[next.index()] += 1;
        }
        let arms =
            blocks.iter().enumerate().filter(|(_, own)| own.branch.is_some()).flat_map(|(index, own)| {
                own.successors.iter().enumerate().map(move |(arm, &next)| (BlockId::new(index), arm, next))
            });
        let arms = arms.filter(|&(.., next)| entries[next.index()] == 1).map(|(branch, arm, next)| {
            let mut guard = self.arm(caller, branch, arm);
            guard.0.retain(|own| matches!(own.atom, Atom::Is(..)));
            (next, guard)
        });
        arms.filter(|(_, guard)| !guard.is_all()).collect()
    }

    fn block_guard(&self, caller: Caller, block: BlockId, open: &mut FxHashSet<BlockId>) -> Guard {
        if let Some(known) = self.guards.blocks.borrow().get(&(caller, block)) {
            return known.clone();
        }
        let is_outermost = open.is_empty();
        open.insert(block);
        let mut joined: Option<Guard> = None;
        let mut is_whole = true;
        let ways = self.control(caller).direct(block);
        let is_unreached = |way: &Dependence| self.unreached.is_arm(caller, way.branch, way.arm);
        let has_reached = !ways.iter().all(is_unreached);
        for &own @ Dependence { branch, arm } in ways {
            if has_reached && is_unreached(&own) || self.is_left_open(caller, block, own) {
                continue;
            }
            if open.contains(&branch) {
                is_whole = branch == block;
                continue;
            }
            // What decides on further turns of a loop does not decide on the first.
            if self.guards.is_behind(self.facts, caller, block, branch) {
                continue;
            }
            let around = self.block_guard(caller, branch, open);
            let own = self.arm(caller, branch, arm).and(&around);
            joined = Some(joined.map_or(own.clone(), |other| other.both(&own)));
        }
        open.remove(&block);
        let guard = joined.unwrap_or_default();
        if is_outermost || is_whole {
            self.guards.blocks.borrow_mut().insert((caller, block), guard.clone());
        }
        guard
    }

    /// Whether control comes to a block also where a flag is off under which the rank is asked: behind `if distributed:
    /// if hvd.rank() != 0: return` comes rank 0, and who trains alone.
    fn is_left_open(&self, caller: Caller, block: BlockId, open: Dependence) -> bool {
        let control = self.control(caller);
        let others = control.direct(block);
        let flow = &self.facts.module(caller.file).scope(caller.scope).flow;
        others.len() > 1
            && flow.blocks[open.branch.index()].branch.and_then(|own| own.condition).is_some_and(|flag| {
                self.difference((caller.file, flag)).is_none_or(|own| own.cause != Cause::Rank)
                    && !matches!(
                        self.facts.module(caller.file).value(flag).value,
                        Value::Operator { operator: Operator::Compare(_), .. }
                    )
            })
            && others.iter().any(|own| {
                let under = control.direct(own.branch);
                under.len() == 1
                    && under[0].branch == open.branch
                    && under[0].arm != open.arm
                    && self.arm(caller, own.branch, own.arm).is_one_of_host()
            })
    }

    /// What it says of the rank that a branch goes to one of its arms.
    fn arm(&self, caller: Caller, block: BlockId, arm: usize) -> Guard {
        let branch = self.facts.module(caller.file).scope(caller.scope).flow.blocks[block.index()].branch;
        let told = branch.and_then(|branch| Some((branch.condition?, branch.kind.outcome(arm)?)));
        told.map_or_else(Guard::default, |(condition, holds)| self.literals((caller.file, condition), holds))
    }

    /// What it says of the rank that a condition is true, or that it is false.
    #[must_use]
    pub fn literals(&self, condition: Place, holds: bool) -> Guard {
        let mut found = Vec::new();
        self.add_literals(condition, holds, &mut found, 0);
        Guard(found)
    }

    fn add_literals(&self, place: Place, holds: bool, found: &mut Vec<Literal>, depth: u32) {
        let Some(own) = self.difference(place).filter(|_| depth <= DEPTH) else { return };
        let facts = self.facts;
        let mut other = || {
            let key = self.key(place);
            let by_rank = !matches!(own.cause, Cause::Data | Cause::Held) || self.is_told_rank(place);
            let atom = if by_rank { Atom::True(key, own.cause) } else { Atom::Varies(key) };
            found.push(Literal { atom, holds });
        };
        let (file, value) = place;
        if let Some(number) = number(facts, place) {
            found.push(Literal { atom: Atom::Is(number, 0), holds: !holds });
            return;
        }
        match facts.module(file).value(value).value {
            Value::Operator { operator: Operator::Not, left, .. } => {
                self.add_literals((file, left), !holds, found, depth + 1);
            }
            // `if is_chief == True`
            Value::Operator {
                operator: Operator::Compare(method @ (Method::EQ | Method::NE)),
                left,
                right,
            } if let Value::Constant(Constant::Bool(truth)) = facts.module(file).value(right).value => {
                let is_so = (method == Method::EQ) == truth;
                self.add_literals((file, left), holds == is_so, found, depth + 1);
            }
            Value::Operator { operator: Operator::Compare(method), left, right } => {
                match self.comparison((file, left), method, (file, right)) {
                    Some((atom, is_so)) => found.push(Literal { atom, holds: holds == is_so }),
                    None => other(),
                }
            }
            Value::Phi(ref parts) => {
                let junction = facts.module(file).junction(facts.module(file).value(value).range);
                let splits = matches!(
                    (junction, holds),
                    (Some(BranchKind::And), true) | (Some(BranchKind::Or), false)
                );
                // `hvd is None or hvd.rank() == 0`: what is the same on all ranks is the other case, without Horovod, as
                // in `hvd.rank() == 0 if distributed else True`.
                let differs = |&&part: &&ValueId| self.difference((file, part)).is_some();
                let mut differing = parts.iter().filter(differs);
                let is_one_of_two = junction.is_some() || self.is_constant_but_for_ranks(place, parts);
                let only = differing.next().filter(|_| is_one_of_two && differing.next().is_none());
                let only = only.copied().or_else(|| self.only_of_several(place, parts));
                if splits {
                    for &part in parts {
                        self.add_literals((file, part), holds, found, depth + 1);
                    }
                } else if let Some(only) = only {
                    self.add_literals((file, only), holds, found, depth + 1);
                } else {
                    other();
                }
            }
            Value::Parameter(..) => match self.passed_literals(place, holds, depth) {
                Some(passed) => found.extend(passed),
                None => other(),
            },
            _ => match self.same(place) {
                Some(same) => self.add_literals(same, holds, found, depth + 1),
                None => other(),
            },
        }
    }

    /// What all calls that pass something for a parameter say by it, but for those that pass a constant, as a program
    /// without Horovod does: `build(save=hvd.rank() == 0)`.
    fn passed_literals(&self, place: Place, holds: bool, depth: u32) -> Option<Vec<Literal>> {
        let (file, value) = place;
        let is_constant =
            |&(file, value): &Place| matches!(self.facts.module(file).value(value).value, Value::Constant(_));
        let passed = self.facts.influence().operands((file, value)).filter(|own| !is_constant(own));
        let mut literals = passed.map(|own| {
            let mut found = Vec::new();
            self.add_literals(own, holds, &mut found, depth + CALL);
            found
        });
        let first = literals.next().filter(|first| !first.is_empty())?;
        literals.all(|next| next == first).then_some(first)
    }

    /// Whether what decides is computed from the rank's number, if only by a library: `is_chief(hvd.rank())`.
    fn is_told_rank(&self, place: Place) -> bool {
        let influence = self.facts.influence();
        let is_of_rank = |own: Place| self.difference(own).is_some_and(|own| own.cause == Cause::Rank);
        influence.operands(place).any(|own| is_of_rank(own) || influence.operands(own).any(is_of_rank))
    }

    /// What a comparison with the rank's number says, and whether it says so when it holds.
    fn comparison(&self, left: Place, method: Method, right: Place) -> Option<(Atom, bool)> {
        let name = method.name();
        let (rank, constant, name) = match (self.number(left), self.int(right)) {
            (Some(number), Some(constant)) => (number, constant, name),
            _ => (self.number(right)?, self.int(left)?, mirrored(name)),
        };
        let (value, is_so) = match (name, constant) {
            ("__eq__", value) => (value, true),
            ("__ne__", value) => (value, false),
            ("__lt__", 1) | ("__le__", 0) => (0, true),
            ("__gt__", 0) | ("__ge__", 1) => (0, false),
            _ => return None,
        };
        Some((Atom::Is(rank, value), is_so))
    }

    fn number(&self, place: Place) -> Option<Number> {
        match self.key(place) {
            Key::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The integer that a value is.
    pub(super) fn int(&self, place: Place) -> Option<i64> {
        self.origins(place).find_map(|(file, value)| match self.facts.module(file).value(value).value {
            Value::Constant(Constant::Int(int)) => Some(int),
            _ => None,
        })
    }

    /// A value and those that it has come from, each of them the only origin of the one before: `chief = int(chief)` may
    /// have come from itself.
    pub(super) fn origins(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        std::iter::successors(Some(place), |&place| self.same(place)).take(DEPTH as usize)
    }

    /// A value that has only one origin: the argument of a conversion, the only definition of a variable that another
    /// scope reads, what a function returns.
    pub(super) fn same(&self, place: Place) -> Option<Place> {
        let facts = self.facts;
        let (file, value) = place;
        let only = || {
            let mut operands = facts.influence().operands(place);
            operands.next().filter(|_| operands.next().is_none())
        };
        match facts.module(file).value(value).value {
            Value::Cell(_) | Value::Import(_) => only(),
            Value::Attribute { narrowed: Some(narrowed), .. } => Some((file, narrowed)),
            Value::Attribute { base, .. } => {
                let mut stored = facts.influence().operands(place).filter(|&from| from != (file, base));
                stored.next().filter(|_| stored.next().is_none())
            }
            Value::Call(id) => {
                let call = facts.module(file).call(id);
                let mut functions = facts.called_functions(file, id);
                if let Some(function) = functions.next() {
                    return calls::returned(facts, (file, id), function)
                        .filter(|_| functions.next().is_none());
                }
                let converts = ["builtins.int", "builtins.bool", "builtins.float"];
                let is_conversion = converts.into_iter().any(|name| facts.calls_builtin(file, id, name));
                let given = call.arguments.first().filter(|_| is_conversion);
                given.or_else(|| calls::given_back(facts, file, id)).map(|argument| (file, argument.value))
            }
            _ => None,
        }
    }
}

pub(super) fn mirrored(name: &'static str) -> &'static str {
    match name {
        "__lt__" => "__gt__",
        "__gt__" => "__lt__",
        "__le__" => "__ge__",
        "__ge__" => "__le__",
        other => other,
    }
}

/// Which number of the rank a call returns.
fn number(facts: &Facts<'_>, place: Place) -> Option<Number> {
    let told = environment::number(facts, place);
    let is = |effect: Effect| facts.gives(place, &[effect]) || told.contains(effect);
    if is(Effect::ReadsRank) {
        Some(Number::World)
    } else {
        is(Effect::ReadsLocalRank).then_some(Number::Host)
    }
}
