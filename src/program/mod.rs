//! All modules together: classes, value flow and calls.

mod call_graph;
mod hierarchy;
mod modules;
mod object;
mod solver;

pub use call_graph::{Adjacency, QualifiedNames, adjacency};
pub use hierarchy::{Ancestor, Entity, Hierarchy, Resolver};
pub use modules::{ClassRef, FunctionRef, Meaning, Modules};
pub use object::{External, ExternalId, Externals, Literal, Name, NodeId, Object, ObjectId, Objects, ProjectNames};
pub use solver::{CallEdge, Caller, Solution, Via, solve};
