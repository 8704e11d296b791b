//! Which of the functions that a decorator was given its wrapper calls, in one run.
//!
//! Value flow has one object for all that `def wrapper(*args): return function(*args)` gives back: whoever calls one
//! decorated function seems to call them all. Which one is meant shows where the wrapper is called, by the name that
//! was decorated.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::hierarchy::Ancestor;
use super::influence::Place;
use super::modules::FunctionRef;
use super::object::Object;
use super::solver::{CallEdge, Caller};
use crate::project::FileId;
use crate::semantic::{CallId, FunctionId, Value};

/// The functions behind the wrappers of decorators.
pub(super) struct Decorated<'f, 'a> {
    facts: &'f Facts<'a>,
    wrappers: RefCell<FxHashMap<FunctionRef, Option<Rc<Wrapper>>>>,
}

/// The functions that a wrapper may call as what its decorator was given.
struct Wrapper {
    decorator: FunctionRef,
    parameter: u32,
    functions: FxHashSet<FunctionRef>,
}

/// How far a called name is followed to what decorated it.
const STEPS: usize = 200;

impl<'f, 'a> Decorated<'f, 'a> {
    pub(super) fn new(facts: &'f Facts<'a>) -> Self {
        Self { facts, wrappers: RefCell::default() }
    }

    /// Whether an edge is a wrapper calling one of several functions that its decorator was given.
    pub(super) fn is_within(&self, edge: &CallEdge, function: FunctionRef) -> bool {
        let Some(caller) = self.facts.function_of(edge.caller) else { return false };
        self.wrapper(caller).is_some_and(|wrapper| wrapper.functions.contains(&function))
    }

    /// What a wrapper that an edge leads to calls in its turn there, wrappers of wrappers too.
    pub(super) fn behind(&self, edge: &CallEdge, function: FunctionRef) -> Vec<FunctionRef> {
        let called = |call: CallId| {
            let data = self.facts.module(edge.caller.file).call(call);
            // A library is handed what it calls.
            let values = if Facts::is_call_back(edge) {
                data.arguments.iter().map(|own| own.value).collect()
            } else {
                vec![data.callee]
            };
            values.into_iter().map(|value| (edge.caller.file, value)).collect()
        };
        self.behind_values(edge.call.map(called), function)
    }

    /// The same of a wrapper that a call hands to code that nobody knows.
    pub(super) fn behind_handed(
        &self,
        caller: Caller,
        call: CallId,
        function: FunctionRef,
    ) -> Vec<FunctionRef> {
        let arguments = &self.facts.module(caller.file).call(call).arguments;
        let places = arguments.iter().map(|own| (caller.file, own.value)).collect();
        self.behind_values(Some(places), function)
    }

    fn behind_values(&self, places: Option<Vec<Place>>, function: FunctionRef) -> Vec<FunctionRef> {
        let Some(wrapper) = self.wrapper(function) else { return Vec::new() };
        let found = places.and_then(|places| self.follow(&places, function));
        let mut found: Vec<FunctionRef> =
            found.unwrap_or_else(|| wrapper.functions.clone()).into_iter().collect();
        found.sort_unstable();
        found
    }

    /// The functions that were decorated to give what some values are, those behind wrappers of wrappers too; nothing
    /// if nobody knows.
    fn follow(&self, places: &[Place], wrapper: FunctionRef) -> Option<FxHashSet<FunctionRef>> {
        let facts = self.facts;
        let holds = |(file, value): Place, function| {
            facts.objects(file, value).any(|(_, own)| matches!(own, Object::Function(own) if own == function))
        };
        let is_held = |place: &&Place| holds(**place, wrapper) || self.is_bound(**place, wrapper);
        let mut work: Vec<(Place, FunctionRef)> =
            places.iter().filter(is_held).map(|&place| (place, wrapper)).collect();
        if work.is_empty() {
            return None;
        }
        let mut found = FxHashSet::default();
        let mut seen = FxHashSet::default();
        while let Some((place, function)) = work.pop() {
            if !seen.insert((place, function)) {
                continue;
            }
            let wrapper = self.wrapper(function)?;
            if let Some((file, call)) = self.decoration(&wrapper, place) {
                let (file, value) = facts.passed_for(file, call, wrapper.decorator, wrapper.parameter)?;
                for (_, object) in facts.objects(file, value) {
                    let Object::Function(own) = object else { return None };
                    found.insert(own);
                    // A wrapper may be around itself: `f = decorate(f)` in a loop.
                    if self.wrapper(own).is_some() {
                        work.push(((file, value), own));
                    }
                }
                continue;
            }
            let named = self.named(&wrapper, function, place);
            if !named.is_empty() {
                found.extend(named);
                continue;
            }
            let before = work.len();
            let operands = facts.influence().operands(place).filter(|&next| holds(next, function));
            work.extend(operands.map(|next| (next, function)));
            if work.len() == before || seen.len() >= STEPS {
                return None;
            }
        }
        Some(found)
    }

    /// Whether a value is a wrapper as a method of some object.
    fn is_bound(&self, (file, value): Place, wrapper: FunctionRef) -> bool {
        self.facts.objects(file, value).any(|(_, own)| matches!(own, Object::Bound(_, own) if own == wrapper))
    }

    /// The functions behind a wrapper that stand under the name of an attribute in the classes or the modules that it is read
    /// of: `self.fit`, `tools.fit`; nothing if one of these has none there.
    fn named(&self, wrapper: &Wrapper, function: FunctionRef, (file, value): Place) -> Vec<FunctionRef> {
        let facts = self.facts;
        let module = facts.module(file);
        let Value::Attribute { base, name, .. } = module.value(value).value else { return Vec::new() };
        let receivers = facts.objects(file, value).filter_map(|(_, own)| match own {
            Object::Bound(receiver, own) if own == function => Some(facts.solution.object(receiver)),
            _ => None,
        });
        let mut holders: Vec<Object> = receivers.collect();
        if holders.is_empty() {
            holders.extend(facts.objects(file, base).map(|(_, own)| own));
        }
        let name = module.names.text(name);
        let in_holder = |&holder: &Object| {
            wrapper.functions.iter().copied().find(|&own| {
                let function = facts.module(own.file).function(own.function);
                facts.module(own.file).names.text(function.name) == name && self.has(holder, own)
            })
        };
        holders.iter().map(in_holder).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// Whether a function is a method of an object, or stands in a module.
    fn has(&self, holder: Object, function: FunctionRef) -> bool {
        let class = self.facts.modules.class_of(function);
        match holder {
            Object::Instance(own, _) | Object::Class(own) => {
                let order = self.facts.hierarchy.order(own);
                class.is_some_and(|class| order.contains(&Ancestor::Project(class)))
            }
            Object::Module(file) => class.is_none() && file == function.file,
            _ => false,
        }
    }

    /// The call of a wrapper's decorator that gives a value.
    fn decoration(&self, wrapper: &Wrapper, (file, value): Place) -> Option<(FileId, CallId)> {
        let Value::Call(call) = self.facts.module(file).value(value).value else { return None };
        let calls = |own: FunctionRef| own == wrapper.decorator;
        self.facts.called_functions(file, call).any(calls).then_some((file, call))
    }

    fn wrapper(&self, function: FunctionRef) -> Option<Rc<Wrapper>> {
        if let Some(known) = self.wrappers.borrow().get(&function) {
            return known.clone();
        }
        let found = self.find_wrapper(function).map(Rc::new);
        self.wrappers.borrow_mut().insert(function, found.clone());
        found
    }

    fn find_wrapper(&self, function: FunctionRef) -> Option<Wrapper> {
        let facts = self.facts;
        let own = facts.code_of(function);
        let module = facts.module(own.file);
        let around = module.code_scope(module.scope(own.scope).parent?);
        let decorator = facts.function_of(Caller { file: own.file, scope: around })?;
        let decorates =
            |edge: &CallEdge| edge.call.is_some_and(|call| facts.is_decorator(edge.caller.file, call));
        if !facts.incoming(decorator).iter().any(decorates) {
            return None;
        }
        let mut functions = FxHashSet::default();
        let mut parameter = None;
        for (edge, called) in facts.reached_functions(own) {
            let Some(call) = edge.call else { continue };
            if let Some(position) = self.parameter_called(own.file, call, decorator.function) {
                parameter = Some(position);
                functions.insert(called);
            }
        }
        let parameter = parameter.filter(|_| functions.len() > 1)?;
        Some(Wrapper { decorator, parameter, functions })
    }

    /// Which parameter of a function around it a call calls.
    fn parameter_called(&self, file: FileId, call: CallId, around: FunctionId) -> Option<u32> {
        let facts = self.facts;
        let module = facts.module(file);
        let callee = module.call(call).callee;
        let Value::Cell(_) = module.value(callee).value else { return None };
        let mut operands = facts.influence().operands((file, callee));
        let position = |(of, value): Place| match facts.module(of).value(value).value {
            Value::Parameter(own, position) if of == file && own == around => Some(position),
            _ => None,
        };
        let first = position(operands.next()?)?;
        operands.next().is_none().then_some(first)
    }
}
