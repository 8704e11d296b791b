//! Objects that some ranks leave out of a list whose elements' methods the program calls: `if hvd.rank() == 0:
//! self.callbacks.append(callback)`, and later `for callback in self.callbacks: callback.save()`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::callbacks::leaves_out;
use super::super::guards::Atom;
use super::super::model::Model;
use super::super::values::Cause;
use super::kept::PUTS;
use crate::program::{Ancestor, CallEdge, Caller, ClassRef, FunctionRef, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, CallId, Element, Value};

/// Through how many values and containers at most an object is followed back to where it is put.
const STEPS: usize = 64;

/// The calls that put something into containers, by container.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    puts: FxHashMap<ObjectId, Vec<(FileId, CallId)>>,
}

/// Where an object was before.
enum At {
    Value(Place),
    Container(ObjectId),
}

impl LeftOut {
    pub(super) fn new(model: &Model<'_>) -> Self {
        let facts = model.facts;
        let mut own = Self::default();
        for &file in &model.files {
            for id in (0..facts.module(file).calls.len()).map(CallId::new) {
                for edge in facts.callees(file, id) {
                    if let Object::BuiltinMethod(container, name) = facts.solution.object(edge.callee)
                        && PUTS.contains(&facts.solution.names.text(name))
                    {
                        own.puts.entry(container).or_default().push((file, id));
                    }
                }
            }
        }
        own
    }

    /// Whether a call of a method is made on objects of a list that some ranks leave out of it.
    pub(super) fn is_receiver(&self, model: &Model<'_>, edge: &CallEdge, method: FunctionRef) -> bool {
        let facts = model.facts;
        let file = edge.caller.file;
        let receiver = edge.call.and_then(|call| facts.receiver(file, facts.module(file).call(call)));
        let class = facts.module(method.file).function(method.function).class;
        let Some((receiver, class)) = receiver.zip(class) else { return false };
        let own = Ancestor::Project(ClassRef { file: method.file, class });
        let is_of_class = |object| match object {
            Object::Instance(class, _) => facts.hierarchy.order(class).contains(&own),
            _ => false,
        };
        let mut objects = facts.objects(file, receiver).filter(|&(_, object)| is_of_class(object)).peekable();
        objects.peek().is_some() && objects.all(|(id, _)| self.may_be_missing(model, (file, receiver), id))
    }

    /// Whether a value is an object only where it was put into a list under a condition on the rank, or was picked out
    /// of one under such a condition.
    fn may_be_missing(&self, model: &Model<'_>, place: Place, object: ObjectId) -> bool {
        let facts = model.facts;
        let may_be = |(file, value): Place| facts.solution.values(file, value).contains(&object);
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut opened: FxHashSet<ObjectId> = FxHashSet::default();
        let mut is_chosen = false;
        let mut work = vec![At::Value(place)];
        while let Some(at) = work.pop() {
            if seen.len() + opened.len() > STEPS {
                return false;
            }
            match at {
                At::Value(place @ (file, value)) if seen.insert(place) => {
                    if let Value::Iteration(base) = facts.module(file).value(value).value {
                        let containers = facts.objects(file, base);
                        let containers = containers.filter(|(_, own)| matches!(own, Object::Container(..)));
                        let containers: Vec<ObjectId> = containers.map(|(id, _)| id).collect();
                        let is_picked = |&own: &ObjectId| {
                            origin(model, own).is_some_and(|origin| leaves_out(model, origin, object))
                        };
                        if containers.is_empty() {
                            return false;
                        } else if containers.iter().any(is_picked) {
                            is_chosen = true;
                        } else {
                            work.extend(containers.into_iter().map(At::Container));
                        }
                    } else {
                        let before = work.len();
                        let operands = facts.influence().operands(place).filter(|&own| may_be(own));
                        work.extend(operands.map(At::Value));
                        if work.len() == before {
                            return false;
                        }
                    }
                }
                At::Container(container) if opened.insert(container) => {
                    let Some((file, display)) = origin(model, container) else { return false };
                    let Value::Display(_, elements) = &facts.module(file).value(display).value else {
                        return false;
                    };
                    for element in elements {
                        match *element {
                            Element::At(_, value) | Element::Any(value) if may_be((file, value)) => {
                                work.push(At::Value((file, value)));
                            }
                            Element::At(..) | Element::Any(_) => {}
                            _ => return false,
                        }
                    }
                    for &(file, id) in self.puts.get(&container).into_iter().flatten() {
                        let call = facts.module(file).call(id);
                        let values = || call.arguments.iter().map(|own| (file, own.value));
                        let caller = Caller { file, scope: call.scope };
                        let put: Vec<Place> = values().filter(|&own| may_be(own)).collect();
                        let lists = values().flat_map(|(file, value)| facts.objects(file, value));
                        let lists = lists.filter(|(_, own)| matches!(own, Object::Container(..)));
                        let lists: Vec<ObjectId> = lists.map(|(id, _)| id).collect();
                        if put.is_empty() && lists.is_empty() {
                            continue;
                        }
                        let is_own = !put.is_empty();
                        if is_chosen_by_rank(model, caller, call.block) {
                            is_chosen |= is_own;
                        } else {
                            work.extend(put.into_iter().map(At::Value));
                            work.extend(lists.into_iter().map(At::Container));
                        }
                    }
                }
                At::Value(_) | At::Container(_) => {}
            }
        }
        is_chosen
    }
}

/// Where a container is made.
fn origin(model: &Model<'_>, container: ObjectId) -> Option<Place> {
    match model.facts.solution.object(container) {
        Object::Container(_, node) => model.facts.solution.origin(node),
        _ => None,
    }
}

/// Whether the rank decides whether control comes to a block.
fn is_chosen_by_rank(model: &Model<'_>, caller: Caller, block: BlockId) -> bool {
    let is_of_rank =
        |value| model.difference((caller.file, value)).is_some_and(|own| own.cause == Cause::Rank);
    let conditions = model.facts.conditions(caller, block);
    conditions
        .iter()
        .any(|own| own.branch.kind != BranchKind::For && own.branch.condition.is_some_and(is_of_rank))
        || model.guard(caller, block).0.iter().any(|own| matches!(own.atom, Atom::Is(..)))
}
