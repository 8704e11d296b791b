//! What a value is in all runs, where that stands in the source and only edits change it.

use rustc_hash::FxHashSet;

use super::super::contents::{asked_key, key_of};
use super::super::influence::Place;
use super::super::modules::{FunctionRef, Meaning};
use super::super::object::{Literal, Object};
use super::attributes::Attributes;
use super::passed::Keyword;
use super::{NESTING, Settings, VALUES};
use crate::project::FileId;
use crate::semantic::{CallId, Container, Module, Value};

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
                    let entry = Entry { dictionary: (file, base), key, default: Otherwise::Fails };
                    self.taken(&entry, nesting, &mut work, &mut found)?;
                    continue;
                }
                Value::Phi(ref parts) => {
                    work.extend(parts.iter().map(|&part| (file, part)));
                    continue;
                }
                Value::Cell(variable) => {
                    if variable.scope == Module::TOP && self.common.bound_by_name.contains(&file) {
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
                Meaning::Value(of, value) if !self.common.bound_by_name.contains(&of) => {
                    work.push((of, value));
                }
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
        let default =
            call.arguments.get(1).map_or(Otherwise::Nothing, |own| Otherwise::Given((file, own.value)));
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
            Otherwise::Given(default) if is_lacking => work.push(default),
            Otherwise::Nothing if is_lacking => found.push(Object::Literal(Literal::None)),
            _ => {}
        }
        Some(())
    }

    /// All that an attribute of the project's objects may hold, if that can be told.
    fn held(&self, (file, value): Place) -> Option<Vec<Place>> {
        let module = self.facts.module(file);
        let Value::Attribute { base, name, .. } = module.value(value).value else { return None };
        let attributes = self.common.attributes.get_or_init(|| Attributes::new(self.facts));
        attributes.held(self.facts, file, base, module.names.text(name))
    }
}

/// What a dictionary is asked for.
struct Entry {
    dictionary: Place,
    key: Literal,
    default: Otherwise,
}

/// What is taken where a dictionary has nothing under a key.
#[derive(Clone, Copy)]
enum Otherwise {
    /// Nothing, it is an error.
    Fails,
    /// `None`.
    Nothing,
    /// A value.
    Given(Place),
}
