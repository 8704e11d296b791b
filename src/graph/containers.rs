//! Containers of Python values: lists and dictionaries, what libraries derive of them, such as `collections.Counter`, and
//! `NumPy`'s arrays. The graph does not see what is put into them.

use super::Graph;
use crate::api::{Effect, Symbol};
use crate::program::{Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// The classes of Python that libraries derive containers of.
const CONTAINERS: [&str; 3] = ["builtins.dict", "builtins.list", "builtins.set"];

/// The parameter for what makes the elements that are missing.
const FACTORY: &str = "default_factory";

impl Graph<'_> {
    /// Whether an object holds values of Python's that code can put there one by one.
    pub(super) fn is_container(&self, object: ObjectId) -> bool {
        match self.facts.solution.object(object) {
            Object::Container(..) => true,
            created @ Object::Created(..) => self.facts.symbol(created).is_some_and(|symbol| {
                self.facts.is_of_numbers(symbol) || symbol.is_class() && self.derives_container(symbol)
            }),
            _ => false,
        }
    }

    fn derives_container(&self, class: &Symbol) -> bool {
        let library = self.facts.library;
        let mut bases = CONTAINERS.into_iter().filter_map(|base| library.lookup(base));
        bases.any(|base| library.is_subclass(class, base))
    }

    /// Whether a call changes the container whose method it calls.
    pub(super) fn changes_container(&self, file: FileId, id: CallId) -> bool {
        let facts = self.facts;
        let is_own = facts.callees(file, id).iter().any(|edge| {
            matches!(facts.solution.object(edge.callee), Object::BuiltinMethod(..))
                && facts.effects().of_edge(facts, edge).effects.contains(Effect::UpdatesState)
        });
        let Some(receiver) = facts.receiver(file, facts.module(file).call(id)) else { return false };
        let objects = facts.solution.values(file, receiver);
        let is_of_library = || {
            !objects.is_empty()
                && objects.iter().all(|&own| self.is_container(own))
                && facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::UpdatesState))
        };
        is_own || is_of_library()
    }

    /// The container that a call changes an element of which that container has made: `table[key].append(x)` of
    /// `defaultdict(list)`.
    pub(super) fn container_of_changed(&self, file: FileId, id: CallId) -> Option<ValueId> {
        let module = self.module(file);
        let call = module.call(id);
        let Value::Attribute { name, .. } = module.value(call.callee).value else { return None };
        let Value::Item { base, .. } = module.value(self.facts.receiver(file, call)?).value else {
            return None;
        };
        let mut objects = self.facts.solution.values(file, base).iter().peekable();
        objects.peek()?;
        let name = module.names.text(name);
        objects.all(|&own| self.makes_elements_with(own, name)).then_some(base)
    }

    /// Whether a container makes missing elements of a class with a method of some name that changes them.
    fn makes_elements_with(&self, container: ObjectId, name: &str) -> bool {
        let facts = self.facts;
        let Some((file, made)) = facts.made_at(container) else { return false };
        let Some(class) = facts.symbol(facts.solution.object(container)) else { return false };
        let call = facts.module(file).call(made);
        let Some(factory) = facts.argument(file, call, class, FACTORY) else { return false };
        facts.objects(file, factory.value).any(|(_, object)| {
            let made = facts.symbol(object).and_then(|class| facts.library.member(class, name));
            made.is_some_and(|method| method.has(Effect::UpdatesState))
        })
    }
}
