//! The expressions that create objects: `from_tensor_slices(x).map(f).batch(32)` is one.

use rustc_hash::FxHashMap;

use super::objects::{Family, elements, noun};
use crate::api::{Effect, Kind};
use crate::finding::{Confidence, Label, Location};
use crate::program::{Caller, Creation, Facts, Object, Via};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Role, ValueId};
use crate::syntax::TextRange;

/// The expression that creates an object: `from_tensor_slices(x).batch(32)` is one.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// What is created where.
    pub creation: Creation,
    /// The outermost call that still gives the object or a transformation of it.
    pub whole: CallId,
    /// What happens to it; what happens to its container for an element of one that belongs to the expression.
    pub role: Role,
}

impl Source {
    /// The outermost call.
    #[must_use]
    pub fn call<'a>(&self, facts: &Facts<'a>) -> &'a Call {
        facts.module(self.creation.file).call(self.whole)
    }

    /// The call that creates, without transformations.
    #[must_use]
    pub fn place(&self, facts: &Facts<'_>) -> Location {
        let module = facts.module(self.creation.file);
        facts.location(self.creation.file, module.call(self.creation.call).range)
    }

    /// Whose code creates it.
    #[must_use]
    pub fn caller(&self, facts: &Facts<'_>) -> Caller {
        Caller { file: self.creation.file, scope: self.call(facts).scope }
    }

    /// The object in a message: ``optimizer `Adam` ``, by the variable where it has one.
    #[must_use]
    pub fn name(&self, facts: &Facts<'_>) -> String {
        let module = facts.module(self.creation.file);
        let whole = self.call(facts);
        let variable = matches!(self.role, Role::Assigned)
            .then(|| {
                let definition =
                    module.definitions.iter().find(|definition| definition.value == whole.result)?;
                Some(module.variable_name(definition.variable))
            })
            .flatten();
        let noun = noun(self.creation.kind);
        match variable.or_else(|| self.class(facts)) {
            Some(name) => format!("{noun} `{name}`"),
            None => noun.to_owned(),
        }
    }

    /// Whether it is certain that the call makes such an object.
    #[must_use]
    pub fn confidence(&self, facts: &Facts<'_>) -> Confidence {
        let result = facts.module(self.creation.file).call(self.creation.call).result;
        if facts.is_unknown(self.creation.file, result) { Confidence::Possible } else { Confidence::Certain }
    }

    fn class<'a>(&self, facts: &Facts<'a>) -> Option<&'a str> {
        if let Object::Instance(class, _) = facts.solution.object(self.creation.object) {
            let module = facts.module(class.file);
            return Some(module.names.text(module.class(class.class).name));
        }
        let mut symbols = facts.called_symbols(self.creation.file, self.creation.call);
        symbols.next().map(crate::api::Symbol::last_name)
    }
}

/// The expressions of the training programs' files that create objects of the family, in source order. What is
/// made from another object of its kind is none, nor is a dataset that a dataset makes for itself.
#[must_use]
pub fn sources(facts: &Facts<'_>, family: Family) -> Vec<Source> {
    let mut indices: FxHashMap<FileId, Expressions> = FxHashMap::default();
    let mut found = Vec::new();
    for &creation in &facts.creations {
        if !family.has(creation.kind)
            || !facts.concerned.contains(&creation.file)
            || is_transformation(facts, &creation)
            || is_in_pipeline(facts, &creation)
        {
            continue;
        }
        let index = indices.entry(creation.file).or_insert_with(|| Expressions::new(facts, creation.file));
        let (whole, role) = index.whole(facts, &creation);
        // In `hvd.DistributedOptimizer(Adam())` nothing is left to be distributed.
        if let Role::Argument(call) = role
            && facts.called_symbols(creation.file, call).any(|symbol| symbol.has(Effect::Distributes))
        {
            continue;
        }
        found.push(Source { creation, whole, role });
    }
    found
}

/// The way from a training loop that uses the object to its creation, as far as it is known.
#[must_use]
pub fn flow(facts: &Facts<'_>, source: &Source) -> Vec<Label> {
    let mut loops = facts.programs.iter().flat_map(|program| &program.loops);
    let object = source.creation.object;
    let uses = loops.find(|own| own.optimizers.contains(&object) || own.datasets.contains(&object));
    let step = |location: Location, message: &str| Label { location, message: message.to_owned() };
    uses.map_or_else(Vec::new, |own| {
        let training = facts.location(own.caller.file, own.range);
        let mut steps = vec![step(training, "trains here")];
        steps.extend(own.steps.iter().filter_map(|&(file, call)| {
            let place = facts.location(file, facts.module(file).call(call).range);
            (place != training).then(|| step(place, "steps here"))
        }));
        steps.push(step(source.place(facts), "created here"));
        steps
    })
}

/// Whether an object is made from another of its kind: `dataset.batch(8)`, `DistributedOptimizer(optimizer)`.
fn is_transformation(facts: &Facts<'_>, creation: &Creation) -> bool {
    let module = facts.module(creation.file);
    let is_one = |value: ValueId| facts.may_be(creation.file, value, creation.kind);
    creation.derived
        || module.call(creation.call).arguments.iter().any(|argument| {
            is_one(argument.value) || elements(&module.value(argument.value).value).any(is_one)
        })
}

/// Whether a dataset is made in a function that only datasets call back, such as that of `interleave`.
fn is_in_pipeline(facts: &Facts<'_>, creation: &Creation) -> bool {
    let scope = facts.module(creation.file).call(creation.call).scope;
    let Some(function) = facts.function_of(Caller { file: creation.file, scope }) else { return false };
    let edges = facts.incoming(function);
    let from_dataset = |edge: &crate::program::CallEdge| {
        edge.via == Via::Library
            && edge.call.is_some_and(|call| {
                let result = facts.module(edge.caller.file).call(call).result;
                facts.may_be(edge.caller.file, result, Kind::Dataset)
            })
    };
    creation.kind == Kind::Dataset && !edges.is_empty() && edges.iter().all(from_dataset)
}

/// Which expressions of a file stand in which.
struct Expressions {
    /// Method calls by the value that they are made on.
    methods: FxHashMap<ValueId, Vec<CallId>>,
    /// Displays by their elements.
    displays: FxHashMap<ValueId, Vec<ValueId>>,
    /// Calls by their arguments.
    arguments: FxHashMap<ValueId, Vec<CallId>>,
}

impl Expressions {
    fn new(facts: &Facts<'_>, file: FileId) -> Self {
        let module = facts.module(file);
        let mut methods: FxHashMap<_, Vec<_>> = FxHashMap::default();
        let mut displays: FxHashMap<_, Vec<_>> = FxHashMap::default();
        let mut arguments: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (index, call) in module.calls.iter().enumerate() {
            if let Some(receiver) = facts.receiver(file, call) {
                methods.entry(receiver).or_default().push(CallId::new(index));
            }
            for argument in &call.arguments {
                arguments.entry(argument.value).or_default().push(CallId::new(index));
            }
        }
        for (index, evaluation) in module.values.iter().enumerate() {
            for element in elements(&evaluation.value) {
                displays.entry(element).or_default().push(ValueId::new(index));
            }
        }
        Self { methods, displays, arguments }
    }

    /// The outermost call of the expression that a creation begins, and what happens to that.
    fn whole(&self, facts: &Facts<'_>, creation: &Creation) -> (CallId, Role) {
        let module = facts.module(creation.file);
        let mut whole = creation.call;
        let gives = |id: CallId| facts.may_be(creation.file, module.call(id).result, creation.kind);
        let within = |inner: TextRange, outer: TextRange| outer.contains_range(inner);
        loop {
            let call = module.call(whole);
            let next = match call.role {
                Role::Receiver => {
                    let calls = self.methods.get(&call.result).into_iter().flatten();
                    calls.copied().find(|&id| within(call.range, module.call(id).callee_range))
                }
                // `Dataset.zip((a, b))` is one expression of datasets.
                Role::Argument(outer) if creation.kind == Kind::Dataset => Some(outer),
                Role::Element if creation.kind == Kind::Dataset => {
                    let displays = self.displays.get(&call.result).into_iter().flatten();
                    displays
                        .copied()
                        .filter(|&display| within(call.range, module.value(display).range))
                        .filter_map(|display| self.arguments.get(&display))
                        .flatten()
                        .copied()
                        .find(|&id| within(call.range, module.call(id).range))
                }
                _ => None,
            };
            let known = |id: CallId| facts.called_symbols(creation.file, id).next().is_some();
            match next.filter(|&next| gives(next) && known(next)) {
                Some(next) => whole = next,
                None => return (whole, call.role),
            }
        }
    }
}
