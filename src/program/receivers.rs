//! Of which classes the objects are whose methods code calls: what a base class' method calls on `self` is decided by
//! those that the method itself was called on.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::hierarchy::Ancestor;
use super::modules::{ClassRef, FunctionRef};
use super::object::Object;
use super::solver::CallEdge;
use crate::semantic::Value;

/// More classes are as good as any.
const MANY: usize = 32;

/// The classes of the objects that a method is called on.
#[derive(Clone, Debug)]
pub(super) enum Receivers {
    /// It can't be seen, or the function is no method.
    Any,
    /// One of these.
    Of(FxHashSet<ClassRef>),
}

impl Receivers {
    /// On what a function is called along an edge, by code that is called on `own` itself; `None` if no object among
    /// them has the method.
    pub(super) fn along(&self, facts: &Facts<'_>, edge: &CallEdge, function: FunctionRef) -> Option<Self> {
        let (file, Some(call)) = (edge.caller.file, edge.call) else { return Some(Self::Any) };
        if Facts::is_call_back(edge) || facts.modules.class_of(function).is_none() {
            return Some(Self::Any);
        }
        let module = facts.module(file);
        let call = module.call(call);
        let is_itself = |receiver| match (facts.function_of(edge.caller), &module.value(receiver).value) {
            (Some(own), &Value::Parameter(of, 0)) => {
                own.function == of && facts.modules.class_of(own).is_some()
            }
            _ => false,
        };
        // `self.network(x)` calls what the attribute holds.
        let is_held = || {
            let mut callees = facts.objects(file, call.callee);
            callees.all(|(_, callee)| !matches!(callee, Object::Bound(..) | Object::Function(_)))
        };
        if facts.receiver(file, call).is_some_and(is_itself) && !is_held() {
            return self.with(facts, function);
        }
        let mut classes = FxHashSet::default();
        for (_, callee) in facts.objects(file, call.callee) {
            let receiver = match callee {
                Object::Bound(_, own) if own != function => continue,
                Object::Bound(receiver, _) => facts.solution.object(receiver),
                other => other,
            };
            // What else may be called here is no object that is known to have the method.
            let is_other = match receiver {
                Object::Instance(class, _) => {
                    classes.insert(class);
                    true
                }
                Object::Function(own) => own != function,
                Object::Unknown
                | Object::External(_)
                | Object::Created(..)
                | Object::Member(..)
                | Object::Literal(_)
                | Object::Container(..) => true,
                _ => false,
            };
            if !is_other {
                return Some(Self::Any);
            }
        }
        Some(if classes.is_empty() { Self::Any } else { Self::Of(classes).bounded() })
    }

    /// Those whose objects have a method: all, or none, as far as that can be told.
    fn with(&self, facts: &Facts<'_>, method: FunctionRef) -> Option<Self> {
        let (Self::Of(classes), Some(owner)) = (self, facts.modules.class_of(method)) else {
            return Some(Self::Any);
        };
        let has = |class: &&ClassRef| facts.hierarchy.order(**class).contains(&Ancestor::Project(owner));
        let classes: FxHashSet<ClassRef> = classes.iter().filter(has).copied().collect();
        (!classes.is_empty()).then_some(Self::Of(classes))
    }

    /// Adds those of another call; tells whether there are more now.
    pub(super) fn extend(&mut self, other: &Self) -> bool {
        match (&mut *self, other) {
            (Self::Any, _) => false,
            (_, Self::Any) => {
                *self = Self::Any;
                true
            }
            (Self::Of(own), Self::Of(news)) => {
                let before = own.len();
                own.extend(news);
                let grows = own.len() > before;
                if own.len() > MANY {
                    *self = Self::Any;
                }
                grows
            }
        }
    }

    fn bounded(self) -> Self {
        match self {
            Self::Of(classes) if classes.len() > MANY => Self::Any,
            other => other,
        }
    }
}
