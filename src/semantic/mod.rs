//! One module at a time: scopes, values, control flow and definitions, in a compact form that outlives the
//! syntax tree.
//!
//! The way: `symbols` decides which scope owns each name, `lower` walks the code once and turns it into
//! values in static single assignment form (`ssa`), statements, definitions, calls and a control flow graph
//! per scope (`flow`). What control and names do is answered here; what a value *is* needs the other modules
//! and is answered by `program`.

mod binder;
mod binding;
mod call;
mod flow;
mod function;
mod id;
mod import;
mod interner;
mod lower;
mod module;
mod names;
mod reaching;
mod scope;
mod ssa;
mod statement;
mod symbols;
#[cfg(test)]
mod tests;
mod value;

pub use binder::{Binder, Binding};
pub use binding::{Definition, DefinitionKind, Store, StoreKey, Use};
pub use call::{Argument, Call, CallKind, Passing};
pub use flow::{Block, Branch, BranchKind, ControlDependence, Dependence, Detour, Dominance, Flow, Stretch};
pub use function::{Class, Function, Parameter, ParameterKind};
pub use id::{BlockId, CallId, ClassId, FunctionId, ImportId, NameId, ScopeId, StatementId, ValueId};
pub use import::{Import, Imported};
pub use interner::Interner;
pub use module::{Module, NoneTest, SideEffect, SyntaxError};
pub use names::Names;
pub use reaching::Reaching;
pub use scope::{Scope, ScopeKind, Symbol};
pub use statement::{Clause, Statement, StatementKind, Suite};
pub use value::{
    Bounds, BuiltinType, Constant, Container, Cut, Element, Evaluation, Method, Operator, Role, Value,
    Variable,
};

/// The compact form of the module whose decoded text is `source`. Never fails: syntax errors are part of the
/// result, and what parses is still there.
#[must_use]
pub fn analyse(source: &str) -> Module {
    crate::syntax::with_stack_for(source, || lower::module(source))
}
