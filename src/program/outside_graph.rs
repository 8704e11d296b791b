//! What traced code does not do at each call: what stands outside of the graph, and what is made once.

use super::facts::Facts;
use super::modules::FunctionRef;
use super::solver::Caller;
use super::travel::code;
use crate::api::Effect;
use crate::project::FileId;
use crate::semantic::{
    BlockId, BranchKind, BuiltinType, CallId, Dependence, Method, Operator, StatementId, Value, ValueId,
};

impl Facts<'_> {
    /// Whether what a call runs is plain Python although traced code calls it: `tf.py_function(f)`, a block of
    /// `tf.init_scope()`.
    #[must_use]
    pub fn leaves_graph(&self, file: FileId, call: CallId) -> bool {
        let eager = |call| self.called_symbols(file, call).any(|symbol| symbol.has(Effect::RunsEagerly));
        eager(call) || self.is_outside_graph(file, self.module(file).call(call).statement)
    }

    /// Whether a block runs only where nothing is traced: `if not tf.is_tensor(x):`, `if tf.executing_eagerly():`.
    #[must_use]
    pub fn is_for_eager_code(&self, caller: Caller, mut block: BlockId) -> bool {
        let flow = &self.module(caller.file).scope(caller.scope).flow;
        for _ in 0..16 {
            let &[Dependence { branch, arm }] = self.control(caller).direct(block) else { return false };
            let Some(own) = flow.blocks[branch.index()].branch else { return false };
            if own.kind == BranchKind::If
                && own
                    .condition
                    .is_some_and(|value| self.holds_in_graph(caller.file, value) == Some(arm != 0))
            {
                return true;
            }
            block = branch;
        }
        false
    }

    /// Whether what a condition asks is so in traced code; `None` if it asks something else.
    fn holds_in_graph(&self, file: FileId, value: ValueId) -> Option<bool> {
        let module = self.module(file);
        match module.value(value).value {
            Value::Operator { operator: Operator::Not, left, .. } => {
                self.holds_in_graph(file, left).map(|holds| !holds)
            }
            Value::Call(call) => {
                let call = module.call(call);
                // `isinstance(x, EagerTensor)` asks for what there is not in a graph.
                let classes = call.arguments.get(1).filter(|_| self.asks_for_type(file, call.callee));
                let values = [Some(call.callee), classes.map(|own| own.value)].into_iter().flatten();
                values.flat_map(|value| self.objects(file, value)).find_map(|(_, object)| {
                    let symbol = self.symbol(object)?;
                    match (symbol.has(Effect::HoldsInGraph), symbol.has(Effect::FailsInGraph)) {
                        (false, false) => None,
                        (holds, _) => Some(holds),
                    }
                })
            }
            _ => None,
        }
    }

    /// Whether a function of Python asks what something is: `isinstance`.
    fn asks_for_type(&self, file: FileId, callee: ValueId) -> bool {
        self.objects(file, callee)
            .any(|(_, object)| self.symbol(object).is_some_and(|symbol| symbol.has(Effect::ReadsType)))
    }

    /// Whether a statement stands in a block that runs outside of the graph: `with tf.init_scope():`.
    #[must_use]
    pub fn is_outside_graph(&self, file: FileId, statement: StatementId) -> bool {
        let module = self.module(file);
        let lifted = |manager: ValueId| match module.value(manager).value {
            Value::Call(call) => {
                self.called_symbols(file, call).any(|symbol| symbol.has(Effect::RunsEagerly))
            }
            _ => false,
        };
        module.managers_around(statement).any(lifted)
    }

    /// Whether a function has a decorator with this effect: `functools.lru_cache`, `tf.py_function`.
    pub(super) fn is_decorated(&self, function: FunctionRef, effect: Effect) -> bool {
        let module = self.module(function.file);
        module.function(function.function).decorators.iter().any(|&decorator| {
            let has = |value| {
                let mut objects = self.objects(function.file, value);
                objects.any(|(_, object)| self.symbol(object).is_some_and(|symbol| symbol.has(effect)))
            };
            match module.value(decorator).value {
                Value::Call(call) => has(module.call(call).callee),
                _ => has(decorator),
            }
        })
    }

    /// Whether code is what Python runs to make an instance: what it stores belongs to what is made.
    #[must_use]
    pub fn is_constructor(&self, caller: Caller) -> bool {
        self.function_of(caller).is_some_and(|function| {
            let module = self.module(function.file);
            let own = module.function(function.function);
            own.class.is_some() && matches!(module.names.text(own.name), "__init__" | "__new__")
        })
    }

    /// Whether a library calls a method once, when it first needs what the method makes: `build`.
    #[must_use]
    pub fn is_built_once(&self, function: FunctionRef) -> bool {
        let module = self.module(function.file);
        let own = module.function(function.function);
        let base = self.modules.class_of(function).and_then(|class| self.library_base(class));
        base.and_then(|base| self.library.member(base, module.names.text(own.name)))
            .is_some_and(|member| member.has(Effect::RunsOnce))
    }

    /// Whether a library calls such a method for what a call is given: `build` with its shape.
    pub(super) fn is_built_for(&self, file: FileId, call: CallId, function: FunctionRef) -> bool {
        let mut edges = self.callees(file, call).iter();
        self.is_built_once(function)
            && edges.all(|edge| {
                code(self.solution.object(edge.callee)) != Some(function) || Self::is_call_back(edge)
            })
    }

    /// Whether a call stands where something is made that is not there yet.
    #[must_use]
    pub fn is_in_first_call(&self, caller: Caller, call: CallId) -> bool {
        self.is_guarded(caller, self.module(caller.file).call(call).block)
    }

    /// Whether a block runs only as long as something is not there: `if self.v is None`, `if not hasattr(...)`,
    /// `if not self.built`, `except AttributeError`.
    #[must_use]
    pub fn is_guarded(&self, caller: Caller, block: BlockId) -> bool {
        let conditions = self.conditions(caller, block);
        conditions.iter().any(|condition| {
            condition.branch.condition.is_some_and(|value| self.asks_for_presence(caller.file, value, 4))
        })
    }

    fn asks_for_presence(&self, file: FileId, value: ValueId, depth: u32) -> bool {
        let module = self.module(file);
        match &module.value(value).value {
            Value::Operator { operator: Operator::Not, left, .. } if depth > 0 => {
                matches!(module.value(*left).value, Value::Attribute { .. })
                    || self.asks_for_presence(file, *left, depth - 1)
            }
            Value::Phi(values) if depth > 0 => {
                values.iter().any(|&value| self.asks_for_presence(file, value, depth - 1))
            }
            Value::Call(call) => {
                self.called_symbols(file, *call).any(|symbol| symbol.has(Effect::ReadsType))
                    || self.asks_for_type(file, module.call(*call).callee)
            }
            // `x is None` leaves no operands, but a truth value; and `if key in cache`.
            Value::Instance(BuiltinType::Bool)
            | Value::Operator { operator: Operator::Compare(Method::CONTAINS), .. } => true,
            Value::Operator { operator: Operator::Compare(_), left, right } => {
                [*left, *right].into_iter().any(|side| self.is_none(file, side))
            }
            _ => false,
        }
    }
}
