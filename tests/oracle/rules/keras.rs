//! Section 2.3: the strict form of assignments in the Keras pattern.

use hvdlint::syntax::ast::{ExprCall, Stmt};

use super::classes::{EXPERIMENTAL_PIECEWISE, EXPONENTIAL_DECAY, MODEL, OPTIMIZER, PIECEWISE, SCHEDULE};
use super::env::{Env, Key};
use super::expr::{scaled, trans_e, with_argument};
use super::{Output, Rules, is_method_of};
use crate::tree::{expression, statements, with_call, with_keyword};

impl Rules {
    /// `trans_S[id_r = expr₁(...)]`
    pub fn keras_assignment(&self, stmt: &Stmt, target: &str, call: &ExprCall, env: &Env) -> Output {
        self.schedule(stmt, target, call, env)
            .or_else(|| self.optimizer(stmt, target, call, env))
            .or_else(|| self.model(stmt, target, call, env))
            .or_else(|| checkpoint(stmt, target, call, env))
            .unwrap_or_else(|| default(stmt, call, env))
    }

    /// "Learning rate scheduler scaling": the initial rate, by keyword or as the first argument.
    /// `PiecewiseConstantDecay`, under both names, is recorded and left as it is.
    fn schedule(&self, stmt: &Stmt, target: &str, call: &ExprCall, env: &Env) -> Option<Output> {
        let is = |class| self.classes.is_subclass(&call.func, class);
        let made = if is(PIECEWISE) || is(EXPERIMENTAL_PIECEWISE) {
            call.clone()
        } else if is(SCHEDULE) {
            with_argument(call, "initial_learning_rate", scaled)
        } else if is(EXPONENTIAL_DECAY) {
            with_argument(call, "learning_rate", scaled)
        } else {
            return None;
        };
        Some((vec![with_call(stmt, made)], env.with(Key::Schedule, target)))
    }

    /// "Optimizer learning rate scaling and wrapping"
    fn optimizer(&self, stmt: &Stmt, target: &str, call: &ExprCall, env: &Env) -> Option<Output> {
        if !self.classes.is_subclass(&call.func, OPTIMIZER) {
            return None;
        }
        Some((scaled_and_wrapped(stmt, target, call), env.with(Key::Optimizer, target)))
    }

    /// "Model related": a model is recorded, and evaluated with output on one rank.
    fn model(&self, stmt: &Stmt, target: &str, call: &ExprCall, env: &Env) -> Option<Output> {
        if self.classes.is_subclass(&call.func, MODEL) {
            return Some((vec![stmt.clone()], env.with(Key::Model, target)));
        }
        if is_method_of(&call.func, env, Key::Model, "evaluate") {
            let verbose = expression("1 if hvd.rank() == 0 else 0", &[]);
            return Some((vec![with_call(stmt, with_keyword(call, "verbose", verbose))], env.clone()));
        }
        None
    }
}

/// The rate times the number of ranks, and the optimizer wrapped in the next statement.
pub fn scaled_and_wrapped(stmt: &Stmt, target: &str, call: &ExprCall) -> Vec<Stmt> {
    let mut made = vec![with_call(stmt, with_argument(call, "learning_rate", scaled))];
    made.extend(statements(&format!("{target} = hvd.DistributedOptimizer({target})")));
    made
}

/// "Checkpoint": recorded.
pub fn checkpoint(stmt: &Stmt, target: &str, call: &ExprCall, env: &Env) -> Option<Output> {
    is_method_of(&call.func, env, Key::TensorFlow, "train.Checkpoint")
        .then(|| (vec![stmt.clone()], env.with(Key::Checkpoint, target)))
}

/// "Default": the call as an expression.
pub fn default(stmt: &Stmt, call: &ExprCall, env: &Env) -> Output {
    let mut made = stmt.clone();
    if let Stmt::Assign(assign) = &mut made {
        *assign.value = trans_e(&call.clone().into(), env);
    }
    (vec![made], env.clone())
}
