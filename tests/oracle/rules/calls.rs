//! The strict form of expression statements, the same text in sections 2.3 and 2.4.

use hvdlint::syntax::ast::{Expr, ExprCall, Stmt};

use super::env::{Env, Key};
use super::expr::trans_e;
use super::{Output, Rules, is_method, is_method_of};
use crate::tree::{expression, filled, is_name, keyword, statements, with_call, with_first, with_keyword};

/// The name of the flag in the published output.
pub const FLAG: &str = "hvd_broadcast_done";

impl Rules {
    /// `trans_S[expr₁(...)]`
    ///
    /// The branch `expr₁ = model.summary` at the end of the published rule is never reached: `expr.summary` comes
    /// before it and gives the same.
    pub fn expression_statement(&self, stmt: &Stmt, call: &ExprCall, env: &Env) -> Output {
        self.apply_gradients(stmt, call, env)
            .or_else(|| output(stmt, call, env))
            .or_else(|| fit(stmt, call, env))
            .or_else(|| self.compile(stmt, call, env))
            .unwrap_or_else(|| {
                let mut made = stmt.clone();
                if let Stmt::Expr(statement) = &mut made {
                    *statement.value = trans_e(&statement.value, env);
                }
                (vec![made], env.clone())
            })
    }

    /// `expr₁ = id_t.apply_gradients`, as a statement and, in section 2.4, as an assignment: what is zipped gets a
    /// name, and after the step its variables and the optimizer's are broadcast once.
    pub fn apply_gradients(&self, stmt: &Stmt, call: &ExprCall, env: &Env) -> Option<Output> {
        let optimizer = env.get(Key::Optimizer)?;
        if !is_method_of(&call.func, env, Key::Optimizer, "apply_gradients") {
            return None;
        }
        let id = self.new_id();
        let name = expression(&id, &[]);
        let (zipped, call) = match keyword(call, "grads_and_vars") {
            Some(zipped) => (zipped, with_keyword(call, "grads_and_vars", name)),
            None => (call.arguments.args.first()?, with_first(call, name)),
        };
        let mut made = filled(&format!("{id} = zipped"), &[("zipped", zipped)]);
        made.push(with_call(stmt, call));
        made.extend(statements(&format!(
            "\
global {FLAG}
if not {FLAG}:
    hvd.broadcast_variables([x[1] for x in {id}], root_rank=0)
    hvd.broadcast_variables({optimizer}.variables(), root_rank=0)
    {FLAG} = True
"
        )));
        Some((made, env.clone()))
    }

    /// `expr₁ = id_t.compile` of the model with `"adam"`, by keyword or first: an optimizer with a name, scaled and
    /// wrapped. The `tf` of the formula is literal.
    fn compile(&self, stmt: &Stmt, call: &ExprCall, env: &Env) -> Option<Output> {
        if !is_method_of(&call.func, env, Key::Model, "compile") {
            return None;
        }
        let is_adam = |value: Option<&Expr>| {
            value
                .and_then(Expr::as_string_literal_expr)
                .is_some_and(|literal| literal.value.to_str() == "adam")
        };
        let by_keyword = is_adam(keyword(call, "optimizer"));
        if !by_keyword && !is_adam(call.arguments.args.first()) {
            return None;
        }
        let id = self.new_id();
        let name = expression(&id, &[]);
        let mut made = statements(&format!(
            "\
{id} = tf.optimizers.Adam(learning_rate=0.001 * hvd.size())
{id} = hvd.DistributedOptimizer({id})
"
        ));
        let call = if by_keyword { with_keyword(call, "optimizer", name) } else { with_first(call, name) };
        made.push(with_call(stmt, call));
        Some((made, env.clone()))
    }
}

/// The statement on one rank.
pub fn guarded(stmt: &Stmt) -> Vec<Stmt> {
    let mut made = statements("if hvd.rank() == 0: pass");
    if let Some(Stmt::If(guard)) = made.first_mut() {
        guard.body[0] = stmt.clone();
    }
    made
}

/// `expr₁ = print`, `expr.write`, `expr.summary`, `expr.save_weights`, `expr.load_weights`, and `id_t.save` of the
/// checkpoint: on one rank.
fn output(stmt: &Stmt, call: &ExprCall, env: &Env) -> Option<Output> {
    let writes = ["write", "summary", "save_weights", "load_weights"];
    let is_output = is_name(&call.func, "print")
        || writes.iter().any(|method| is_method(&call.func, method))
        || is_method_of(&call.func, env, Key::Checkpoint, "save");
    is_output.then(|| (guarded(stmt), env.clone()))
}

/// `expr₁ = id_t.fit` of the model: verbose on one rank, and the callback that broadcasts.
///
/// Reading: the statements of the published rule bind `callback` and use `callbacks`; that is kept. The `idᵢ =
/// callbacks` of the call stands for the `id_j` of its condition. The root rank is written as a keyword but for the
/// last case, also as published.
fn fit(stmt: &Stmt, call: &ExprCall, env: &Env) -> Option<Output> {
    if !is_method_of(&call.func, env, Key::Model, "fit") {
        return None;
    }
    let given = keyword(call, "verbose").is_some();
    let verbose = expression("1 if hvd.rank() == 0 else 0", &[]);
    let verbosely = |call: &ExprCall| with_keyword(call, "verbose", verbose.clone());
    let made = if let Some(callbacks) = keyword(call, "callbacks") {
        let template = "\
callback = [hvd.callbacks.BroadcastGlobalVariablesCallback(root_rank=0)]
if hvd.rank() == 0: callbacks.append(given)
";
        let mut made = filled(template, &[("given", callbacks)]);
        let call = with_keyword(call, "callbacks", expression("callbacks", &[]));
        made.push(with_call(stmt, verbosely(&call)));
        made
    } else {
        let root = if given { "root_rank=0" } else { "0" };
        let callback = format!("[hvd.callbacks.BroadcastGlobalVariablesCallback({root})]");
        let call = with_keyword(&verbosely(call), "callbacks", expression(&callback, &[]));
        vec![with_call(stmt, call)]
    };
    Some((made, env.clone()))
}
