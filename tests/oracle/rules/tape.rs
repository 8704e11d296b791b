//! Section 2.4: the strict form of assignments in the `GradientTape` pattern.

use hvdlint::syntax::ast::{ExprCall, Stmt};

use super::calls::guarded;
use super::classes::{OPTIMIZER, SCHEDULE};
use super::env::{Env, Key};
use super::expr::{scaled, with_argument};
use super::keras::{checkpoint, default, scaled_and_wrapped};
use super::{Output, Rules, is_dataset, is_method_of};
use crate::tree::with_call;

impl Rules {
    /// `trans_S[id_r = expr₁(...)]`
    ///
    /// Reading: the rule begins with `IF expr₁ <: ...LearningRateSchedule`, `IF expr₁ <: ...Optimizer` and `IF ...
    /// data.Dataset` followed by `ELIF`s, three IFs and one ELSE. If the first that holds decided, the branches
    /// below that scale `Adam` could never be reached. So the first two record a name, and the third and its
    /// `ELIF`s say what is written.
    pub fn tape_assignment(&self, stmt: &Stmt, target: &str, call: &ExprCall, env: &Env) -> Output {
        let mut env = env.clone();
        if self.classes.is_subclass(&call.func, SCHEDULE) {
            env = env.with(Key::Schedule, target);
        }
        if self.classes.is_subclass(&call.func, OPTIMIZER) {
            env = env.with(Key::Optimizer, target);
        }
        dataset(stmt, target, call, &env)
            .or_else(|| checkpoint(stmt, target, call, &env))
            .or_else(|| adam(stmt, target, call, &env))
            .or_else(|| self.apply_gradients(stmt, call, &env))
            .or_else(|| checkpoint_save(stmt, call, &env))
            .or_else(|| sequential(stmt, target, call, &env))
            .or_else(|| keras_adam(stmt, target, call, &env))
            .unwrap_or_else(|| default(stmt, call, &env))
    }
}

/// `expr₁ = id_t.data.Dataset.expr₃`: recorded.
fn dataset(stmt: &Stmt, target: &str, call: &ExprCall, env: &Env) -> Option<Output> {
    is_dataset(&call.clone().into(), env).then(|| (vec![stmt.clone()], env.with(Key::Dataset, target)))
}

/// `expr₁ = id_t.optimizers.Adam` of TensorFlow, and `expr₁ = id_t.Adam` of the module `optimizers`: scaled.
fn adam(stmt: &Stmt, target: &str, call: &ExprCall, env: &Env) -> Option<Output> {
    let named = is_method_of(&call.func, env, Key::TensorFlow, "optimizers.Adam")
        || is_method_of(&call.func, env, Key::Optimizers, "Adam");
    named.then(|| {
        let call = with_argument(call, "learning_rate", scaled);
        (vec![with_call(stmt, call)], env.with(Key::Optimizer, target))
    })
}

/// `expr₁ = id_t.save` of the checkpoint: on one rank.
fn checkpoint_save(stmt: &Stmt, call: &ExprCall, env: &Env) -> Option<Output> {
    is_method_of(&call.func, env, Key::Checkpoint, "save").then(|| (guarded(stmt), env.clone()))
}

/// `expr₁ = id_k.models.Sequential` of Keras: recorded.
fn sequential(stmt: &Stmt, target: &str, call: &ExprCall, env: &Env) -> Option<Output> {
    is_method_of(&call.func, env, Key::Keras, "models.Sequential")
        .then(|| (vec![stmt.clone()], env.with(Key::Model, target)))
}

/// `expr₁ = id_t.optimizers.Adam` of Keras: scaled and wrapped.
fn keras_adam(stmt: &Stmt, target: &str, call: &ExprCall, env: &Env) -> Option<Output> {
    is_method_of(&call.func, env, Key::Keras, "optimizers.Adam")
        .then(|| (scaled_and_wrapped(stmt, target, call), env.with(Key::Optimizer, target)))
}
