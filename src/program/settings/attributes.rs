//! What is put into attributes of the project's objects: `self.verbose = verbose`.

use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::hierarchy::Ancestor;
use super::super::influence::Place;
use super::super::modules::ClassRef;
use super::super::object::Object;
use crate::project::FileId;
use crate::semantic::{StoreKey, Value, ValueId};

/// What changes attributes by names that are values: `setattr(options, name, value)`, `vars(options)[name] = value`.
const BY_NAME: [&str; 2] = ["builtins.setattr", "builtins.vars"];

/// The attribute that has all others: `self.__dict__.update(options)`.
const DICTIONARY: &str = "__dict__";

/// All that the source puts into attributes.
#[derive(Debug)]
pub(super) struct Attributes<'a> {
    /// Whose attribute of a name is assigned, and what.
    stores: FxHashMap<&'a str, Vec<(Place, Place)>>,
    /// The objects any attribute of which may be assigned.
    by_name: Vec<Place>,
}

impl<'a> Attributes<'a> {
    pub(super) fn new(facts: &Facts<'a>) -> Self {
        let mut stores: FxHashMap<&str, Vec<(Place, Place)>> = FxHashMap::default();
        let mut by_name = Vec::new();
        for file in facts.files() {
            let module = facts.module(file);
            for store in &module.stores {
                if let StoreKey::Attribute(name) = store.key {
                    let own = stores.entry(module.names.text(name)).or_default();
                    own.push(((file, store.base), (file, store.value)));
                }
            }
            let dictionaries = module.values.iter().filter_map(|own| match own.value {
                Value::Attribute { base, name, .. } if module.names.text(name) == DICTIONARY => {
                    Some((file, base))
                }
                _ => None,
            });
            by_name.extend(dictionaries);
        }
        let symbols = BY_NAME.map(|name| facts.library.lookup(name));
        for edge in &facts.solution.edges {
            let callee = facts.solution.object(edge.callee);
            if !matches!(callee, Object::Builtin(_)) || !symbols.contains(&facts.symbol(callee)) {
                continue;
            }
            let file = edge.caller.file;
            let Some(call) = edge.call.map(|call| facts.module(file).call(call)) else { continue };
            let is_text =
                |value: ValueId| matches!(facts.module(file).value(value).value, Value::Constant(_));
            if let Some(changed) = call.arguments.first()
                && !call.arguments.get(1).is_some_and(|name| is_text(name.value))
            {
                by_name.push((file, changed.value));
            }
        }
        Self { stores, by_name }
    }

    /// All that an attribute may hold, if it is one of the project's own objects, and nothing but statements of the
    /// source assign it.
    pub(super) fn held(
        &self,
        facts: &Facts<'a>,
        file: FileId,
        base: ValueId,
        name: &str,
    ) -> Option<Vec<Place>> {
        // A decorator may call a method with anything; the receiver is an object of the class all the same.
        let is_receiver = is_receiver(facts, file, base);
        let classes =
            facts.objects(file, base).filter(|(_, object)| *object != Object::Unknown || !is_receiver);
        let classes = classes.map(|(_, object)| match object {
            Object::Instance(class, _) => Some(class),
            _ => None,
        });
        let mut classes = classes.collect::<Option<Vec<ClassRef>>>()?;
        classes.sort_unstable();
        classes.dedup();
        // A base class that nobody knows may assign anything.
        let is_of_library = |&class: &ClassRef| {
            facts.hierarchy.order(class).iter().any(|ancestor| match ancestor {
                Ancestor::Project(_) | Ancestor::Builtin(_) => false,
                Ancestor::External(path) => {
                    let base = facts.library.lookup(path);
                    base.is_none_or(|base| facts.library.member(base, name).is_some())
                }
                Ancestor::Unknown => true,
            })
        };
        // Most likely something unknown is none of them, but then who knows.
        let may_be = |place: Place| {
            facts.is_unknown(place.0, place.1)
                || facts.objects(place.0, place.1).any(|(_, object)| match object {
                    Object::Instance(own, _) | Object::Class(own) | Object::Super(own, _) => {
                        classes.iter().any(|&class| are_related(facts, own, class))
                    }
                    _ => false,
                })
        };
        if classes.is_empty()
            || classes.iter().any(is_of_library)
            || self.by_name.iter().any(|&changed| may_be(changed))
        {
            return None;
        }
        let stores = self.stores.get(name).into_iter().flatten();
        let mut held: Vec<Place> =
            stores.filter(|(base, _)| may_be(*base)).map(|&(_, value)| value).collect();
        for &class in &classes {
            held.extend(facts.hierarchy.order(class).iter().filter_map(|ancestor| match *ancestor {
                Ancestor::Project(own) => bound_by_body(facts, own, name),
                _ => None,
            }));
        }
        (!held.is_empty()).then_some(held)
    }
}

/// Whether a value is the first parameter of a method.
fn is_receiver(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    match facts.module(file).value(value).value {
        Value::Parameter(function, 0) => {
            let own = facts.module(file).function(function);
            own.class.is_some() && own.statement.is_some()
        }
        _ => false,
    }
}

/// What the body of a class binds to a name.
fn bound_by_body(facts: &Facts<'_>, own: ClassRef, name: &str) -> Option<Place> {
    let module = facts.module(own.file);
    let exports = &module.scope(module.class(own.class).scope).exports;
    let value = module.names.get(name).and_then(|name| exports.get(&name))?;
    Some((own.file, *value))
}

/// Whether one of two classes is the other, or derives from it.
fn are_related(facts: &Facts<'_>, one: ClassRef, other: ClassRef) -> bool {
    let derives =
        |class: ClassRef, base: ClassRef| facts.hierarchy.order(class).contains(&Ancestor::Project(base));
    one == other || derives(one, other) || derives(other, one)
}
