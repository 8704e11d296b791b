//! One module at a time: scopes, values, control flow and definitions, in a compact form that outlives the
//! syntax tree.
//!
//! The way: `symbols` decides which scope owns each name, `lower` walks the code once and turns it into
//! values in static single assignment form (`ssa`), statements, definitions, calls and a control flow graph
//! per scope (`flow`). What control and names do is answered here; what a value *is* needs the other modules
//! and is answered by `program`.

mod flow;
mod id;
mod lower;
mod module;
mod names;
mod reaching;
mod ssa;
mod symbols;
#[cfg(test)]
mod tests;
mod value;

pub use flow::{Block, Branch, BranchKind, ControlDependence, Dependence, Detour, Flow, Stretch};
pub use id::{BlockId, CallId, ClassId, FunctionId, ImportId, NameId, ScopeId, StatementId, ValueId};
pub use module::{
    Argument, Call, CallKind, Class, Clause, Definition, DefinitionKind, Function, Import, Imported, Module,
    Parameter, ParameterKind, Passing, Scope, ScopeKind, SideEffect, Statement, StatementKind, Store,
    StoreKey, Suite, Symbol, SyntaxError, Use,
};
pub use names::Names;
pub use reaching::Reaching;
pub use value::{
    Bounds, BuiltinType, Constant, Container, Element, Evaluation, Method, Operator, Role, Value, Variable,
};

/// The compact form of the module whose decoded text is `source`. Never fails: syntax errors are part of the
/// result, and what parses is still there.
#[must_use]
pub fn analyse(source: &str) -> Module {
    crate::syntax::with_stack_for(source, || lower::module(source))
}
