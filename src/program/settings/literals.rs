//! What a value is in all runs, where that stands in the source and only edits change it.

use rustc_hash::FxHashSet;

use super::super::contents::{asked_key, key_of};
use super::super::facts::Facts;
use super::super::hierarchy::Ancestor;
use super::super::influence::Place;
use super::super::modules::{FunctionRef, Meaning};
use super::super::object::{Literal, Object};
use super::super::solver::CallEdge;
use super::attributes::Attributes;
use super::{CONSTRUCTOR, NESTING, Settings, VALUES};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Container, Module, ParameterKind, Passing, Value, ValueId};

impl Settings<'_, '_> {
    /// The literals that a value is one of, and nothing else.
    pub(super) fn literals(&self, place: Place) -> Option<Vec<Literal>> {
        let literals = self.settled(place)?.into_iter().map(|object| match object {
            Object::Literal(literal) => Some(literal),
            _ => None,
        });
        literals.collect::<Option<Vec<Literal>>>().filter(|own| !own.is_empty())
    }

    /// Whether a value is always `None`, or never.
    pub(super) fn is_none(&self, place: Place) -> Option<bool> {
        let mut objects = self.settled(place)?.into_iter().map(|object| match object {
            Object::Literal(literal) => Some(literal == Literal::None),
            Object::Function(_)
            | Object::Class(_)
            | Object::Module(_)
            | Object::Instance(..)
            | Object::Container(..)
            | Object::Type(_) => Some(false),
            _ => None,
        });
        let first = objects.next()??;
        objects.all(|own| own == Some(first)).then_some(first)
    }

    fn settled(&self, place: Place) -> Option<Vec<Object>> {
        self.settled_within(place, NESTING)
    }

    /// All that a value may be, if it stands in the source, and only edits change it; so many dictionaries in dictionaries are
    /// looked into.
    fn settled_within(&self, place: Place, nesting: u32) -> Option<Vec<Object>> {
        let facts = self.facts;
        let mut found = Vec::new();
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut work = vec![place];
        while let Some((file, value)) = work.pop() {
            if !seen.insert((file, value)) {
                continue;
            }
            if seen.len() > VALUES {
                return None;
            }
            let module = facts.module(file);
            let meaning = match module.value(value).value {
                Value::Unbound => continue,
                Value::Constant(_)
                | Value::Instance(_)
                | Value::Function(_)
                | Value::Class(_)
                | Value::Display(..) => {
                    found.extend(facts.objects(file, value).map(|(_, object)| object));
                    continue;
                }
                Value::Call(call) => {
                    let made: Vec<Object> = facts.objects(file, value).map(|(_, object)| object).collect();
                    let is_made = |object: &Object| matches!(object, Object::Instance(..));
                    if !made.is_empty() && made.iter().all(is_made) {
                        found.extend(made);
                    } else {
                        let entry = self.asked(file, call)?;
                        self.taken(&entry, nesting, &mut work, &mut found)?;
                    }
                    continue;
                }
                Value::Item { base, key, narrowed: None } => {
                    let key = key_of(facts, file, key)?;
                    let entry = Entry { dictionary: (file, base), key, default: Default::Fails };
                    self.taken(&entry, nesting, &mut work, &mut found)?;
                    continue;
                }
                Value::Phi(ref parts) => {
                    work.extend(parts.iter().map(|&part| (file, part)));
                    continue;
                }
                Value::Cell(variable) => {
                    if variable.scope == Module::TOP && self.bound_by_name.contains(&file) {
                        return None;
                    }
                    work.extend(module.shared_definitions(variable).map(|own| (file, own.value)));
                    continue;
                }
                Value::Parameter(function, _) => {
                    work.extend(self.given(FunctionRef { file, function }, value)?);
                    continue;
                }
                Value::Attribute { .. } => {
                    work.extend(self.held((file, value))?);
                    continue;
                }
                Value::Import(import) => facts.modules.imported(file, module.import(import), facts.library),
                Value::Free(name) => facts.modules.free(file, module.names.text(name), facts.library),
                _ => return None,
            };
            match meaning {
                Meaning::Value(of, value) if !self.bound_by_name.contains(&of) => work.push((of, value)),
                _ => return None,
            }
        }
        Some(found)
    }

    /// The entry that a call takes out of a dictionary: `options.get("folder", "out")`.
    fn asked(&self, file: FileId, call: CallId) -> Option<Entry> {
        let key = asked_key(self.facts, file, call)?;
        let call = self.facts.module(file).call(call);
        let dictionary = (file, self.facts.receiver(file, call)?);
        let default = call.arguments.get(1).map_or(Default::Nothing, |own| Default::Given((file, own.value)));
        Some(Entry { dictionary, key, default })
    }

    /// Finds what dictionaries have under a key: values to follow, and objects.
    fn taken(
        &self,
        entry: &Entry,
        nesting: u32,
        work: &mut Vec<Place>,
        found: &mut Vec<Object>,
    ) -> Option<()> {
        let facts = self.facts;
        let mut is_lacking = false;
        if let Some(function) = self.keywords(entry.dictionary) {
            let calls = self.calls(function)?;
            for edge in calls {
                match self.keyword(edge, entry.key) {
                    Keyword::Given(given) => work.push(given),
                    Keyword::Missing => is_lacking = true,
                    Keyword::Unknown => return None,
                }
            }
        } else {
            for dictionary in self.settled_within(entry.dictionary, nesting.checked_sub(1)?)? {
                let held = match dictionary {
                    Object::Container(Container::Dict, _) => {
                        facts.solution.under_key(dictionary, entry.key)?
                    }
                    _ => return None,
                };
                is_lacking |= held.is_empty();
                found.extend(held.iter().map(|&own| facts.solution.object(own)));
            }
        }
        match entry.default {
            Default::Given(default) if is_lacking => work.push(default),
            Default::Nothing if is_lacking => found.push(Object::Literal(Literal::None)),
            _ => {}
        }
        Some(())
    }

    /// The function that a value is the `**options` of, if it only reads them.
    fn keywords(&self, (file, value): Place) -> Option<FunctionRef> {
        let module = self.facts.module(file);
        let Value::Parameter(function, position) = module.value(value).value else { return None };
        let own = module.function(function);
        let is_it = own.parameters[position as usize].kind == ParameterKind::Keywords;
        let is_changed = || {
            let stored = module.stores.iter().any(|store| store.base == value || store.value == value);
            stored || module.calls.iter().any(|call| self.may_change(file, call, value))
        };
        (is_it && !is_changed()).then_some(FunctionRef { file, function })
    }

    /// Whether a call may change a dictionary: it is handed over as it is, or the call is of a method that does more than
    /// take out what is under a key.
    fn may_change(&self, file: FileId, call: &Call, dictionary: ValueId) -> bool {
        let is_handed =
            call.arguments.iter().any(|own| own.value == dictionary && own.passing != Passing::Merge);
        is_handed
            || self.facts.receiver(file, call) == Some(dictionary)
                && match self.facts.module(file).value(call.result).value {
                    Value::Call(id) => asked_key(self.facts, file, id).is_none(),
                    _ => true,
                }
    }

    /// What a call of a function passes under a name that is none of its parameters.
    fn keyword(&self, edge: &CallEdge, key: Literal) -> Keyword {
        let facts = self.facts;
        let (Literal::Str(key), Some(call)) = (key, edge.call.filter(|_| !Facts::is_call_back(edge))) else {
            return Keyword::Unknown;
        };
        let key = facts.solution.names.text(key);
        let file = edge.caller.file;
        let module = facts.module(file);
        let arguments = &module.call(call).arguments;
        let is_named = |passing| matches!(passing, Passing::Keyword(name) if module.names.text(name) == key);
        if let Some(given) = arguments.iter().find(|own| is_named(own.passing)) {
            return Keyword::Given((file, given.value));
        }
        let mut merged = arguments.iter().filter(|own| own.passing == Passing::Merge);
        if merged.any(|own| facts.may_bind(file, own, key)) { Keyword::Unknown } else { Keyword::Missing }
    }

    /// What all calls of a function pass for a parameter; `None` if that can't be told.
    fn given(&self, function: FunctionRef, parameter: ValueId) -> Option<Vec<Place>> {
        let mut calls = self.calls(function)?.into_iter();
        calls.try_fold(Vec::new(), |mut all, edge| {
            all.push(self.facts.given_by(edge, function, parameter)?);
            Some(all)
        })
    }

    /// All calls of a function, if there are no others than those that the source shows.
    fn calls(&self, function: FunctionRef) -> Option<Vec<&CallEdge>> {
        if *self.open.borrow_mut().entry(function).or_insert_with(|| self.is_open(function)) {
            return None;
        }
        let is_run = |edge: &&CallEdge| self.program.is_none_or(|program| self.facts.is_run(program, edge));
        let edges: Vec<&CallEdge> = self.facts.incoming(function).iter().filter(is_run).collect();
        (!edges.is_empty() && edges.len() <= VALUES).then_some(edges)
    }

    /// Whether calls may come to a function that the source does not show: nobody calls it here, or a decorator or a
    /// library has it. What other programs pass, which can import it, is theirs.
    fn is_open(&self, function: FunctionRef) -> bool {
        let facts = self.facts;
        let module = facts.module(function.file);
        let own = module.function(function.function);
        let name = module.names.text(own.name);
        let is_of_library = || {
            facts.modules.class_of(function).is_some_and(|class| {
                let ancestors = facts.hierarchy.order(class).iter();
                name != CONSTRUCTOR && ancestors.into_iter().any(|own| !matches!(own, Ancestor::Project(_)))
            })
        };
        facts.incoming(function).is_empty() || is_of_library() || facts.is_handed_out(function)
    }

    /// All that an attribute of the project's objects may hold, if that can be told.
    fn held(&self, (file, value): Place) -> Option<Vec<Place>> {
        let module = self.facts.module(file);
        let Value::Attribute { base, name, .. } = module.value(value).value else { return None };
        let attributes = self.attributes.get_or_init(|| Attributes::new(self.facts));
        attributes.held(self.facts, file, base, module.names.text(name))
    }
}

/// What a call passes by name.
enum Keyword {
    Given(Place),
    Missing,
    /// `**options` may have it.
    Unknown,
}

/// What a dictionary is asked for.
struct Entry {
    dictionary: Place,
    key: Literal,
    default: Default,
}

/// What is taken where a dictionary has nothing under a key.
#[derive(Clone, Copy)]
enum Default {
    /// Nothing, it is an error.
    Fails,
    /// `None`.
    Nothing,
    /// A value.
    Given(Place),
}
