//! How many objects a value may be, and what takes their place when there are more.

use super::{Literal, NodeId, Object, ObjectId, Solver};
use crate::semantic::BuiltinType;

/// How many objects a value may be before it is unknown: fewer in a large project, so that the work stays near
/// linear in its size.
#[must_use]
pub(in crate::program) fn capacity(values: usize) -> usize {
    (WORK / values.max(1)).clamp(8, 64)
}

/// How many objects all values together may be, roughly, in a project that is not small.
const WORK: usize = 6_000_000;

/// Which share of what a value may be single strings and numbers take; more of them are some string or number, so that
/// they leave room for what is called and trained.
const LITERALS: usize = 2;

impl Solver<'_> {
    /// The type of a string or number if `node` may be many already.
    pub(super) fn widened(&mut self, node: NodeId, object: ObjectId) -> ObjectId {
        let room = self.capacity / LITERALS;
        let objects = &self.nodes[node.index()].objects;
        if objects.len() < room {
            return object;
        }
        let single = |object: ObjectId| match self.objects.get(object) {
            Object::Literal(Literal::Str(_)) => Some(BuiltinType::Str),
            Object::Literal(Literal::Int(_)) => Some(BuiltinType::Int),
            _ => None,
        };
        match single(object) {
            Some(builtin) if objects.iter().filter(|&&own| single(own).is_some()).count() >= room => {
                self.objects.id(Object::Type(builtin))
            }
            _ => object,
        }
    }
}
