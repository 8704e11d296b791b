//! What the analysis does not know of a program: what calls lead to, and which values rest on that.

use rustc_hash::FxHashSet;

use super::super::model::Model;
use super::super::values::agrees;
use super::{Assumption, Claim, Code, Obstacle};
use crate::api::{Effect, EffectSet};
use crate::finding::Location;
use crate::program::{Ancestor, ClassRef, Object, Place, Via};
use crate::project::FileId;
use crate::semantic::{CallId, Module, Value, ValueId};
use crate::syntax::TextRange;

/// How much is known of what a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callee<'c> {
    /// All of it.
    Known,
    /// A function of a library that no table describes.
    Library,
    /// A method of this name, of an object that nobody knows.
    Method(&'c str),
    /// Anything.
    Anything,
}

/// What is unknown in the programs of a model.
pub(super) struct Survey<'m, 'c> {
    model: &'m Model<'c>,
    /// The values that rest on something unknown.
    values: FxHashSet<Place>,
    /// The calls that are known to be steps of an optimizer, or to change something of one.
    steps: FxHashSet<(FileId, CallId)>,
    /// The names of the project's functions that communicate.
    communicating: FxHashSet<&'c str>,
}

/// The effects of methods that may not be overlooked where the object is unknown.
pub(super) struct Dangerous<'c> {
    names: FxHashSet<&'c str>,
}

impl Dangerous<'_> {
    /// Notes a call that is not known in full.
    pub(super) fn note(&self, claim: &mut Claim, callee: Callee<'_>, at: Location) {
        match callee {
            Callee::Known => {}
            Callee::Library => claim.assumes(Assumption::Library, at),
            Callee::Method(name) if !self.names.contains(name) => claim.assumes(Assumption::Method, at),
            Callee::Method(_) | Callee::Anything => claim.fails(Obstacle::Call, at),
        }
    }
}

impl<'m, 'c> Survey<'m, 'c> {
    pub(super) fn new(model: &'m Model<'c>) -> Self {
        let facts = model.facts;
        let loops = model.programs.iter().flat_map(|own| own.loops.iter().chain(&own.steps_of_fit));
        let steps = loops.flat_map(|own| own.steps.iter().chain(&own.by_hand)).copied().collect();
        let (values, communicating) = Default::default();
        let mut survey = Self { model, values, steps, communicating };
        let mut sources: Vec<Place> = Vec::new();
        for &file in &model.files {
            let module = facts.module(file);
            for index in 0..module.values.len() {
                let place = (file, ValueId::new(index));
                if survey.is_source(place) {
                    sources.push(place);
                }
            }
        }
        survey.values = facts.influence().forwards(&sources, |place| agrees(facts, place));
        survey.values.retain(|&place| !agrees(facts, place));
        for &caller in &model.comms.order {
            if let Some(function) = facts.function_of(caller).filter(|_| model.code_communicates(caller)) {
                let module = facts.module(function.file);
                survey.communicating.insert(module.names.text(module.function(function.function).name));
            }
        }
        survey
    }

    /// Whether nobody knows a value, whatever it is computed from.
    fn is_source(&self, place: Place) -> bool {
        let facts = self.model.facts;
        let (file, value) = place;
        match facts.module(file).value(value).value {
            Value::Call(call) => self.callee(file, call) != Callee::Known,
            // What nobody passes comes from code that is not seen.
            Value::Parameter(..) => {
                facts.is_unknown(file, value) && facts.influence().operands(place).next().is_none()
            }
            _ => false,
        }
    }

    /// Whether a value rests on something unknown.
    pub(super) fn is_unknown(&self, place: Place) -> bool {
        self.values.contains(&place)
    }

    /// The names of methods with these effects, in libraries.
    pub(super) fn dangerous(&self, effects: &[Effect]) -> Dangerous<'c> {
        let effects: EffectSet = effects.iter().copied().collect();
        Dangerous { names: self.model.facts.library.names_with(effects) }
    }

    /// The same with those of the project's functions that communicate.
    pub(super) fn communicating(&self) -> Dangerous<'c> {
        let mut dangerous = self.dangerous(&[Effect::Collective]);
        dangerous.names.extend(&self.communicating);
        dangerous
    }

    /// How much is known of what a call calls.
    pub(super) fn callee(&self, file: FileId, id: CallId) -> Callee<'c> {
        let facts = self.model.facts;
        let module = facts.module(file);
        let mut found = Callee::Known;
        if self.steps.contains(&(file, id)) {
            return Callee::Known;
        }
        let edges = facts.callees(file, id);
        for edge in edges.iter().filter(|edge| edge.via == Via::Source) {
            match facts.solution.object(edge.callee) {
                Object::Unknown => return unknown(module, id),
                object @ Object::External(_) if facts.symbol(object).is_none() => found = Callee::Library,
                _ => {}
            }
        }
        if edges.is_empty() && facts.is_unknown(file, module.call(id).callee) {
            return self.inherited(file, id).unwrap_or_else(|| unknown(module, id));
        }
        found
    }

    /// How much is known of a method that is called on `super()`.
    fn inherited(&self, file: FileId, id: CallId) -> Option<Callee<'c>> {
        let facts = self.model.facts;
        let receiver = facts.receiver(file, facts.module(file).call(id))?;
        let classes = facts.objects(file, receiver).map(|(_, object)| match object {
            Object::Super(class, _) => Some(class),
            _ => None,
        });
        let classes: Option<Vec<ClassRef>> = classes.collect();
        let is_known = |class: &ClassRef| {
            facts.hierarchy.order(*class).iter().all(|ancestor| match ancestor {
                Ancestor::External(path) => facts.library.lookup(path).is_some(),
                _ => true,
            })
        };
        let classes = classes.filter(|classes| !classes.is_empty())?;
        Some(if classes.iter().all(is_known) { Callee::Known } else { Callee::Library })
    }
}

fn unknown(module: &Module, id: CallId) -> Callee<'_> {
    match module.value(module.call(id).callee).value {
        Value::Attribute { name, .. } => Callee::Method(module.names.text(name)),
        _ => Callee::Anything,
    }
}

/// Notes code that is made from text, and files that don't parse: nothing is known of what they hold.
pub(super) fn text_and_syntax(model: &Model<'_>, code: &Code<'_>, claim: &mut Claim) {
    let made_from_text = ["builtins.exec", "builtins.eval"];
    for &(caller, _, call) in &code.calls {
        if made_from_text.into_iter().any(|name| model.facts.calls_builtin(caller.file, call, name)) {
            claim.fails(Obstacle::Text, model.at_call(caller.file, call));
        }
    }
    for file in code.program.files() {
        if let Some(error) = model.facts.module(file).errors.first() {
            claim.fails(Obstacle::Syntax, Location::new(file, TextRange::empty(error.range.start())));
        }
    }
}
