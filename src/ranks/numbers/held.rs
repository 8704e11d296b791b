//! The variables whose numbers are followed: those that only the program's own code changes, at places that can be told.
//!
//! A variable that something else gets hold of, a model, an optimizer, a checkpoint, a list, may change at any time: it
//! is left out. So is one that stands for several, because the call that makes it is made more than once.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::values::places_of;
use super::evaluate::{Evaluation, kept};
use super::number::Number;
use crate::api::{Effect, Kind, Returns, Symbol};
use crate::program::{CallEdge, Caller, Creation, Facts, Object, ObjectId, Place, Program, Via, loop_around};
use crate::project::FileId;
use crate::semantic::{BuiltinType, CallId, CallKind, Operator, ScopeKind, StoreKey, Value};

/// How many variables of a file are followed at most.
const MANY: usize = 64;

/// How often a number may grow before it is taken to grow for ever.
const GROWTH: u8 = 3;

/// A number that becomes more as more of the program is known.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Growing {
    number: Number,
    times: u8,
}

impl Growing {
    const NONE: Self = Self { number: Number::NONE, times: 0 };

    /// Takes another number in; tells whether it grew.
    fn grow(&mut self, other: Number) -> bool {
        let joined = self.number.or(other);
        if joined == self.number {
            return false;
        }
        self.number = if self.times < GROWTH { joined } else { self.number.widened(joined) };
        self.times += 1;
        true
    }
}

/// What is known of variables' numbers.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The variables that are followed.
    pub(super) variables: FxHashMap<ObjectId, usize>,
    /// The scopes whose code runs where a call of the program's own says so, and at no other time.
    pub(super) plain: FxHashSet<Caller>,
    /// What calls read of variables where they stand.
    read: FxHashMap<Place, Growing>,
    /// All that each variable ever holds.
    ever: Vec<Growing>,
}

impl Held {
    /// Finds the variables that can be followed; nothing is known of their numbers yet.
    pub(super) fn new(facts: &Facts<'_>, files: &[FileId], programs: &[&Program]) -> Self {
        let mut held = Self::default();
        let mut of_file: FxHashMap<FileId, usize> = FxHashMap::default();
        let mut made: Vec<&Creation> = facts
            .creations
            .iter()
            .filter(|made| made.kind == Kind::Variable && !made.derived && files.contains(&made.file))
            .filter(|made| is_single(facts, made) && begins_with_number(facts, made))
            .collect();
        for made in &made {
            *of_file.entry(made.file).or_default() += 1;
        }
        made.retain(|made| of_file[&made.file] <= MANY);
        if made.is_empty() {
            return held;
        }
        held.plain = plain(facts, programs);
        let mut kept: FxHashSet<ObjectId> = made.iter().map(|made| made.object).collect();
        for file in files {
            for store in &facts.module(*file).stores {
                if matches!(store.key, StoreKey::Attribute(_)) {
                    for object in facts.solution.values(*file, store.value) {
                        kept.remove(object);
                    }
                }
            }
        }
        for place in places_of(facts, files) {
            let of = facts.solution.values(place.0, place.1);
            if of.iter().any(|object| kept.contains(object)) && !held.is_told(facts, place) {
                for object in of {
                    kept.remove(object);
                }
            }
        }
        let order = made.iter().map(|made| made.object).filter(|object| kept.contains(object));
        held.variables = order.zip(0..).collect();
        held.ever = vec![Growing::NONE; held.variables.len()];
        held
    }

    /// The variables that are followed that a value may be.
    pub(super) fn of(&self, facts: &Facts<'_>, (file, value): Place) -> Vec<usize> {
        if self.variables.is_empty() {
            return Vec::new();
        }
        let objects = facts.solution.values(file, value).iter();
        objects.filter_map(|object| self.variables.get(object).copied()).collect()
    }

    /// Whether a value is one of the variables that are followed, and nothing else.
    pub(super) fn is_one(&self, facts: &Facts<'_>, place: Place) -> bool {
        let objects = facts.solution.values(place.0, place.1);
        !self.variables.is_empty()
            && !objects.is_empty()
            && objects.iter().all(|object| self.variables.contains_key(object))
    }

    /// All that a value may ever hold; `None` if it is no variable.
    pub(super) fn ever(&self, facts: &Facts<'_>, place: Place) -> Option<Number> {
        let all = self.of(facts, place).into_iter().map(|variable| self.ever[variable].number);
        let joined = all.reduce(Number::or)?;
        Some(if self.is_one(facts, place) { joined } else { Number::ANY })
    }

    /// What a call that returns it reads of a variable; `None` if that is none.
    pub(super) fn read(&self, facts: &Facts<'_>, variable: Place, call: Place) -> Option<Number> {
        let ever = self.ever(facts, variable)?;
        let (file, value) = call;
        let caller = Caller { file, scope: facts.module(file).value(value).scope };
        if !self.plain.contains(&caller) || !self.is_one(facts, variable) {
            return Some(ever);
        }
        Some(self.read.get(&call).map_or(Number::NONE, |own| own.number))
    }

    /// Notes what a call reads; tells whether that is news.
    pub(super) fn note_read(&mut self, call: Place, number: Number) -> bool {
        self.read.entry(call).or_insert(Growing::NONE).grow(number)
    }

    /// Notes what a variable holds at some time; tells whether that is news.
    pub(super) fn note_held(&mut self, variable: usize, number: Number) -> bool {
        self.ever[variable].grow(number)
    }

    /// Whether all that uses a value that may be a variable is known to do nothing with it that can't be followed.
    fn is_told(&self, facts: &Facts<'_>, place: Place) -> bool {
        let (file, value) = place;
        let own = facts.solution.values(file, value);
        facts.influence().dependents(place).all(|next| {
            let (file, value) = next;
            let module = facts.module(file);
            match &module.value(value).value {
                Value::Call(id) => self.is_told_call(facts, file, *id, place),
                Value::Attribute { base, .. } if (file, *base) == place => {
                    let updates = |symbol: &Symbol| symbol.has(Effect::UpdatesState);
                    let mut methods = facts.objects(file, value).map(|(_, object)| facts.symbol(object));
                    facts.influence().dependents(next).next().is_none()
                        || methods.all(|method| method.is_some_and(|method| !updates(method)))
                }
                Value::Operator { operator: Operator::InPlace(_), .. } => false,
                Value::Operator { .. }
                | Value::Instance(
                    BuiltinType::Str | BuiltinType::Bool | BuiltinType::Int | BuiltinType::Float,
                ) => true,
                Value::Display(..) => facts.influence().dependents(next).all(|(file, value)| {
                    let Value::Call(id) = facts.module(file).value(value).value else { return false };
                    facts.called_symbols(file, id).all(|symbol| symbol.has(Effect::Collective))
                        && facts.called_symbols(file, id).next().is_some()
                        && facts.called_functions(file, id).next().is_none()
                }),
                _ => {
                    let others = facts.solution.values(file, value);
                    own.iter().all(|object| !is_made(facts, *object) || others.contains(object))
                }
            }
        })
    }

    /// Whether a call that a variable goes into can be followed.
    fn is_told_call(&self, facts: &Facts<'_>, file: FileId, id: CallId, variable: Place) -> bool {
        let call = facts.module(file).call(id);
        let is_plain = self.plain.contains(&Caller { file, scope: call.scope });
        let is_argument = call.arguments.iter().any(|own| (file, own.value) == variable);
        let mut callees = facts.callees(file, id).iter().peekable();
        callees.peek().is_some()
            && callees.all(|edge| match facts.solution.object(edge.callee) {
                Object::Function(_) => edge.via == Via::Source,
                object => facts.symbol(object).is_some_and(|symbol| {
                    if is_argument {
                        [Effect::KeepsValue, Effect::Collective, Effect::Prints]
                            .into_iter()
                            .any(|effect| symbol.has(effect))
                            || is_conversion(facts, symbol)
                    } else {
                        is_plain || !symbol.has(Effect::UpdatesState)
                    }
                }),
            })
    }
}

fn is_conversion(facts: &Facts<'_>, symbol: &Symbol) -> bool {
    ["builtins.int", "builtins.bool"].into_iter().any(|name| facts.library.lookup(name) == Some(symbol))
}

fn is_made(facts: &Facts<'_>, object: ObjectId) -> bool {
    facts.creation(object).is_some_and(|made| made.kind == Kind::Variable)
}

/// Whether the call that makes an object is made once.
fn is_single(facts: &Facts<'_>, made: &Creation) -> bool {
    let call = facts.module(made.file).call(made.call);
    let caller = Caller { file: made.file, scope: call.scope };
    facts.repetition().of(caller).is_none()
        && loop_around(facts, made.file, call.statement, call.block, caller).is_none()
}

fn begins_with_number(facts: &Facts<'_>, made: &Creation) -> bool {
    initial(facts, made.file, made.call)
        .is_some_and(|initial| Evaluation::new(facts, &Held::default()).number(initial).is_known())
}

/// What a variable begins with.
pub(super) fn initial(facts: &Facts<'_>, file: FileId, id: CallId) -> Option<Place> {
    let call = facts.module(file).call(id);
    facts.called_symbols(file, id).find_map(|symbol| kept(facts, file, call, symbol))
}

/// The scopes that run where a call of the program's own says so, and at no other time.
fn plain(facts: &Facts<'_>, programs: &[&Program]) -> FxHashSet<Caller> {
    let mut plain: FxHashSet<Caller> =
        programs.iter().flat_map(|program| program.reached.iter().copied()).collect();
    loop {
        let others: Vec<Caller> =
            plain.iter().copied().filter(|&own| !is_plain(facts, programs, &plain, own)).collect();
        if others.is_empty() {
            return plain;
        }
        for own in &others {
            plain.remove(own);
        }
    }
}

fn is_plain(facts: &Facts<'_>, programs: &[&Program], plain: &FxHashSet<Caller>, caller: Caller) -> bool {
    if matches!(facts.module(caller.file).scope(caller.scope).kind, ScopeKind::Module) {
        return true;
    }
    let Some(function) = facts.function_of(caller) else { return false };
    let own = facts.module(function.file).function(function.function);
    let mut edges = facts.incoming(function).iter();
    !own.generator
        && !own.asynchronous
        && edges.all(|edge| {
            !programs.iter().any(|program| facts.is_run(program, edge))
                || is_wrapped(facts, edge)
                || edge.via == Via::Source
                    && plain.contains(&edge.caller)
                    && edge.call.is_some_and(|call| {
                        facts.module(edge.caller.file).call(call).kind == CallKind::Expression
                    })
        })
}

/// Whether a call only makes a function of another one, for calls that are seen: `@tf.function`.
pub(super) fn is_wrapped(facts: &Facts<'_>, edge: &CallEdge) -> bool {
    let file = edge.caller.file;
    let makes = |symbol: &Symbol| matches!(symbol.returns(), Returns::Wrapped(_) | Returns::Decorator);
    edge.via == Via::Library
        && edge.call.is_some_and(|call| {
            let mut symbols = facts.called_symbols(file, call).peekable();
            symbols.peek().is_some() && symbols.all(makes)
        })
}

/// The scopes that have to do with variables that are followed.
pub(super) fn scopes_of(facts: &Facts<'_>, held: &Held, files: &[FileId]) -> FxHashSet<Caller> {
    let mut found = FxHashSet::default();
    for (file, value) in places_of(facts, files) {
        if !held.of(facts, (file, value)).is_empty() {
            found.insert(Caller { file, scope: facts.module(file).value(value).scope });
        }
    }
    found
}
