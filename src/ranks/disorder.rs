//! Why the elements of a value stand in another order on another rank.

use rustc_hash::FxHashSet;

use super::model::Model;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Caller, Literal, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{Argument, BuiltinType, Call, CallId, Container, Element, Operator, Value, ValueId};

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// By random numbers that no common seed makes equal.
    Shuffled,
    /// By the hash values of texts, which are other ones in each process.
    Hashed,
    /// By the file system.
    Listed,
}

/// An order that is another one on each rank, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Disorder {
    pub(super) why: Why,
    pub(super) place: Place,
}

/// How far the way of the elements is followed.
const STEPS: usize = 60;

/// The disorder of a value's elements, if there is one.
pub(super) fn of(model: &Model<'_>, place: Place) -> Option<Disorder> {
    // With each value whether an operator has joined it to others: numbers that are drawn and added to others are no order.
    let mut work = vec![(place, false)];
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    while let Some((place, is_joined)) = work.pop() {
        if !seen.insert(place) || seen.len() > STEPS || is_sorted_in_place(model, place) {
            continue;
        }
        if !is_joined && let Some(by) = shuffled_in_place(model, place) {
            return Some(Disorder { why: Why::Shuffled, place: by });
        }
        match step(model, place) {
            Step::Found(Why::Shuffled) if is_joined => {}
            Step::Found(why) => return Some(Disorder { why, place }),
            Step::From(places) => work.extend(places.into_iter().map(|own| (own, is_joined))),
            Step::Joined(parts) => work.extend(parts.map(|own| (own, true))),
            Step::Ordered => {}
        }
    }
    None
}

enum Step {
    Found(Why),
    /// The order is that of other values.
    From(Vec<Place>),
    /// An operator joins these.
    Joined([Place; 2]),
    /// All ranks have the same, as far as is known.
    Ordered,
}

fn step(model: &Model<'_>, (file, value): Place) -> Step {
    let facts = model.facts;
    match &facts.module(file).value(value).value {
        Value::Call(call) => of_call(model, file, value, *call),
        Value::Display(Container::Set, elements) if elements.iter().all(|own| is_text(model, file, own)) => {
            Step::Found(Why::Hashed)
        }
        // A comprehension goes through what it is made of.
        Value::Display(Container::List | Container::Tuple | Container::Generator, elements) => {
            let any = elements.iter().any(|own| matches!(own, Element::Any(_)));
            let mut from = if any { iterated(model, file, value) } else { filled_with(model, file, value) };
            from.extend(elements.iter().filter_map(|own| match own {
                Element::Spread(own) => Some((file, *own)),
                _ => None,
            }));
            Step::From(from)
        }
        // `{word: text.count(word) for word in set(text)}` is gone through in the order in which it was made.
        Value::Display(Container::Dict, elements) => match elements[..] {
            [Element::Key(key, _)] if matches!(facts.module(file).value(key).value, Value::Iteration(_)) => {
                Step::From(iterated(model, file, value))
            }
            _ => Step::Ordered,
        },
        &Value::Operator { operator: Operator::Binary(_) | Operator::InPlace(_), left, right } => {
            Step::Joined([(file, left), (file, right)])
        }
        Value::Phi(_) | Value::Cell(_) | Value::Import(_) | Value::Slice { .. } => {
            Step::From(facts.influence().operands((file, value)).collect())
        }
        // What another program gives it is nothing that ranks have.
        Value::Parameter(..) => {
            let given = facts.influence().operands((file, value));
            Step::From(given.filter(|&place| is_of_programs(model, place)).collect())
        }
        Value::Attribute { narrowed: Some(narrowed), .. } => Step::From(vec![(file, *narrowed)]),
        Value::Attribute { .. } => {
            let own = facts.influence().operands((file, value));
            Step::From(own.filter(|&(of, operand)| is_stored(model, of, operand)).collect())
        }
        _ => Step::Ordered,
    }
}

/// Whether code that the programs come to computes a value.
fn is_of_programs(model: &Model<'_>, (file, value): Place) -> bool {
    let module = model.facts.module(file);
    let caller = Caller { file, scope: module.code_scope(module.value(value).scope) };
    model.programs.iter().any(|program| program.reached.contains(&caller))
}

fn is_text(model: &Model<'_>, file: FileId, element: &Element) -> bool {
    match element {
        Element::At(_, value) => model.facts.objects(file, *value).any(|(_, object)| {
            matches!(object, Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str))
        }),
        Element::Any(_) => true,
        _ => false,
    }
}

fn is_known_number(model: &Model<'_>, file: FileId, value: ValueId) -> bool {
    let is_number = |object| {
        matches!(
            object,
            Object::Literal(Literal::Int(_)) | Object::Type(BuiltinType::Int | BuiltinType::Float)
        )
    };
    let mut objects = model.facts.objects(file, value).peekable();
    objects.peek().is_some() && objects.all(|(_, object)| is_number(object))
}

/// Whether a value is stored into an attribute.
fn is_stored(model: &Model<'_>, file: FileId, value: ValueId) -> bool {
    model.facts.module(file).stores.iter().any(|store| store.value == value)
}

/// What a comprehension goes through first.
fn iterated(model: &Model<'_>, file: FileId, comprehension: ValueId) -> Vec<Place> {
    let module = model.facts.module(file);
    let range = module.value(comprehension).range;
    let bases = module.values.iter().filter_map(|evaluation| match evaluation.value {
        Value::Iteration(base) if range.contains_range(evaluation.range) => Some((file, base)),
        _ => None,
    });
    bases.take(1).collect()
}

fn of_call(model: &Model<'_>, file: FileId, value: ValueId, id: CallId) -> Step {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    let symbols: Vec<&Symbol> = facts
        .callees(file, id)
        .iter()
        .filter_map(|edge| facts.symbol(facts.solution.object(edge.callee)))
        .collect();
    let has = |effect: Effect| symbols.iter().any(|symbol| symbol.has(effect));
    let is = |name: &str| symbols.iter().any(|symbol| facts.library.lookup(name) == Some(*symbol));
    if let Some(sorted) = symbols.iter().find(|own| facts.library.lookup("builtins.sorted") == Some(own)) {
        let key = facts.argument(file, call, sorted, "key");
        let keeps = key.is_some_and(|key| leaves_ties(model, file, key));
        return if keeps { Step::From(given(model, file, call)) } else { Step::Ordered };
    }
    if is("builtins.map") {
        return Step::From(call.arguments.iter().skip(1).map(|own| (file, own.value)).collect());
    }
    if facts.callees(file, id).iter().any(|edge| is_set_method(model, edge.callee)) {
        let receiver = facts.receiver(file, call).into_iter();
        let others = call.arguments.iter().map(|own| own.value);
        return Step::From(receiver.chain(others).map(|own| (file, own)).collect());
    }
    if has(Effect::DrawsRandom) {
        let is_equal = model.seeds.is_equal(facts, (file, value));
        return if is_equal { Step::From(given(model, file, call)) } else { Step::Found(Why::Shuffled) };
    }
    if has(Effect::ReadsFile) && has(Effect::Varies) {
        return listing(model, file, value, call, &symbols);
    }
    if is("builtins.set") || is("builtins.frozenset") {
        let is_hashed = match &call.arguments[..] {
            [] => is_filled(model, file, value),
            _ => !is_of_numbers(model, file, call),
        };
        return if is_hashed { Step::Found(Why::Hashed) } else { Step::Ordered };
    }
    let is_dataset = facts.may_be(file, value, Kind::Dataset);
    if is_dataset || has(Effect::KeepsLength) {
        return Step::From(given(model, file, call));
    }
    let functions: Vec<Place> = facts
        .called_functions(file, id)
        .flat_map(|function| {
            let own = facts.module(function.file).function(function.function);
            own.returns.iter().map(move |&value| (function.file, value))
        })
        .collect();
    Step::From(functions)
}

/// Whether a key of `sorted` may be the same for several elements, which then stay in the order that they had: the values of a
/// dictionary, `counts.get`, or what a function computes from an element and does not return with the element itself.
fn leaves_ties(model: &Model<'_>, file: FileId, key: &Argument) -> bool {
    let facts = model.facts;
    let objects = facts.solution.values(file, key.value).iter();
    objects.copied().any(|object| {
        if facts.builtin_method(object).is_some_and(|(_, method)| method.last_name() == "get") {
            return true;
        }
        let Object::Function(function) = facts.solution.object(object) else { return false };
        let module = facts.module(function.file);
        let own = module.function(function.function);
        let Some(element) = own.parameters.first().map(|parameter| parameter.value) else { return false };
        let has_element = |returned: ValueId| match &module.value(returned).value {
            Value::Display(Container::Tuple, parts) => {
                parts.iter().any(|part| part.written_out() == Some(element))
            }
            _ => returned == element,
        };
        !own.returns.iter().any(|&returned| has_element(returned))
    })
}

/// Whether an object is a method of a set that makes another set of it.
fn is_set_method(model: &Model<'_>, callee: ObjectId) -> bool {
    let method = model.facts.builtin_method(callee);
    method.is_some_and(|(_, own)| JOINING.iter().any(|&name| model.facts.library.lookup(name) == Some(own)))
}

/// The methods of sets that make other sets of them.
const JOINING: [&str; 5] = [
    "builtins.set.copy",
    "builtins.set.difference",
    "builtins.set.intersection",
    "builtins.set.symmetric_difference",
    "builtins.set.union",
];

/// What the elements of a list come from that is filled by calls: `words.extend(set(text))`, and `words.append(word)` in a loop.
fn filled_with(model: &Model<'_>, file: FileId, list: ValueId) -> Vec<Place> {
    let facts = model.facts;
    let module = facts.module(file);
    let [extend, append] = FILLING.map(|name| facts.library.lookup(name));
    let made = facts.solution.values(file, list);
    let calls = module.calls.iter().enumerate().filter(|(_, call)| call.arguments.len() == 1);
    let filled = calls.filter_map(|(index, call)| {
        let methods = facts.callees(file, CallId::new(index)).iter();
        let mut methods = methods.filter_map(|edge| facts.builtin_method(edge.callee));
        let (_, method) = methods.find(|(own, _)| made.contains(own))?;
        let given = call.arguments[0].value;
        match module.value(given).value {
            _ if Some(method) == extend => Some((file, given)),
            Value::Iteration(from) if Some(method) == append => Some((file, from)),
            _ => None,
        }
    });
    filled.collect()
}

/// The methods of lists that take elements.
const FILLING: [&str; 2] = ["builtins.list.extend", "builtins.list.append"];

/// The dataset that a method is called on, else what a function is given first.
fn given(model: &Model<'_>, file: FileId, call: &Call) -> Vec<Place> {
    let facts = model.facts;
    let receiver = facts.receiver(file, call).filter(|&own| facts.may_be(file, own, Kind::Dataset));
    let first = || call.arguments.first().map(|argument| argument.value);
    receiver.or_else(first).into_iter().map(|value| (file, value)).collect()
}

/// What lists files: Python's functions in the file system's order, `Dataset.list_files` shuffled unless it is told
/// otherwise.
fn listing(model: &Model<'_>, file: FileId, value: ValueId, call: &Call, symbols: &[&Symbol]) -> Step {
    let facts = model.facts;
    let shuffles = symbols.iter().find(|symbol| symbol.parameter("shuffle").is_some());
    let Some(symbol) = shuffles else { return Step::Found(Why::Listed) };
    let is_off = facts.argument(file, call, symbol, "shuffle").is_some_and(|argument| {
        facts.objects(file, argument.value).all(|(_, object)| object != Object::Literal(Literal::Bool(true)))
    });
    if is_off || model.seeds.is_equal(facts, (file, value)) {
        return Step::Ordered;
    }
    Step::Found(Why::Shuffled)
}

/// Whether a set is made of numbers, whose hash values are the same in each process.
fn is_of_numbers(model: &Model<'_>, file: FileId, call: &Call) -> bool {
    let facts = model.facts;
    let range = facts.library.lookup("builtins.range");
    call.arguments
        .iter()
        .any(|argument| facts.objects(file, argument.value).any(|(_, object)| facts.symbol(object) == range))
}

/// Whether something is put into a set that is made empty, `words.add(word)`, and no numbers only.
fn is_filled(model: &Model<'_>, file: FileId, set: ValueId) -> bool {
    let facts = model.facts;
    let adding = ADDING.map(|name| facts.library.lookup(name));
    let made = facts.solution.values(file, set);
    let adds = |id: CallId| {
        let methods = facts.callees(file, id).iter().filter_map(|edge| facts.builtin_method(edge.callee));
        methods.into_iter().any(|(own, method)| made.contains(&own) && adding.contains(&Some(method)))
    };
    let calls = facts.module(file).calls.iter().enumerate().filter(|&(index, _)| adds(CallId::new(index)));
    let mut added = calls.flat_map(|(_, call)| call.arguments.iter());
    added.any(|own| !is_known_number(model, file, own.value))
}

/// The methods of sets that take elements.
const ADDING: [&str; 2] = ["builtins.set.add", "builtins.set.update"];

/// Whether the same code sorts a list in its place: `files.sort()`.
fn is_sorted_in_place(model: &Model<'_>, (file, value): Place) -> bool {
    let facts = model.facts;
    let Some(sort) = facts.library.lookup("builtins.list.sort") else { return false };
    let module = facts.module(file);
    module.calls.iter().any(|call| match module.value(call.callee).value {
        Value::Attribute { base, name, .. } => base == value && module.names.text(name) == sort.last_name(),
        _ => false,
    })
}

/// The call that shuffles a list in its place, in the same code.
fn shuffled_in_place(model: &Model<'_>, (file, value): Place) -> Option<Place> {
    let facts = model.facts;
    if !facts
        .objects_in(file)
        .iter()
        .any(|&object| facts.symbol(facts.solution.object(object)).is_some_and(shuffles))
    {
        return None;
    }
    let module = facts.module(file);
    let scope = module.value(value).scope;
    let mut calls = module.calls.iter().enumerate().filter(|(_, call)| {
        call.scope == scope && call.arguments.first().is_some_and(|argument| argument.value == value)
    });
    calls
        .find(|&(index, call)| {
            facts.called_symbols(file, CallId::new(index)).any(shuffles)
                && !model.seeds.is_equal(facts, (file, call.result))
        })
        .map(|(_, call)| (file, call.result))
}

fn shuffles(symbol: &Symbol) -> bool {
    symbol.has(Effect::DrawsRandom) && symbol.has(Effect::UpdatesState)
}
