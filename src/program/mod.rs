//! All modules together: classes, value flow, calls, effects, training loops and programs.

mod attribute_reads;
mod averaged;
mod call_graph;
mod components;
mod conditions;
mod containers;
mod decorated;
mod doings;
mod effects;
mod elsewhere;
mod facts;
mod given;
mod hierarchy;
mod import_targets;
mod influence;
mod loops;
mod modules;
mod numbering;
mod object;
mod one_graph;
mod outside_graph;
mod overwritten;
mod programs;
mod receivers;
mod repetition;
mod roots;
mod ruled_out;
mod settings;
mod settled;
mod solver;
mod time;
mod tracing;
mod travel;
mod unreached;

pub use call_graph::{Adjacency, QualifiedNames, adjacency};
pub use components::Components;
pub use conditions::{Approach, ConditionalCall, Decision, Manner};
pub use doings::Doing;
pub use effects::{Effects, Summary};
pub use facts::{Condition, Creation, Facts};
pub use hierarchy::{Ancestor, Entity, Hierarchy, Resolver};
pub use influence::{Influence, Place, for_bound};
pub use loops::{LoopKind, TrainingLoop};
pub use modules::{ClassRef, FunctionRef, Meaning, Modules};
pub use object::{
    External, ExternalId, Externals, Literal, Name, NodeId, Object, ObjectId, Objects, ProjectNames,
};
pub(crate) use overwritten::comes_to;
pub use programs::{HandedOver, Pattern, Program, handed_over, way};
pub use repetition::{Repeated, Repetition, loop_around};
pub use settings::Settings;
pub use solver::{CallEdge, Caller, Solution, Via, View, solve};
pub use tracing::{Conversion, Reason, Traced, Tracing};
pub use travel::{Travel, code};
pub use unreached::Unreached;
