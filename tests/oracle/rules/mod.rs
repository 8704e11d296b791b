//! The oracle: sections 2.3 and 2.4 of the seed as pure functions from syntax tree to syntax tree.
//!
//! The rules are written down as published, faults included; [`crate::departures`] says where the product differs.
//! Places where the published formulas can be read in more than one way carry the word *reading*.
//!
//! - [`calls`][]: the strict form of expression statements, the same text in both sections;
//! - [`keras`][]: the strict form of assignments, section 2.3;
//! - [`tape`][]: the strict form of assignments, section 2.4;
//! - [`imports`][]: imports and aliases, the same text in both sections;
//! - [`expr`][]: expressions;
//! - [`env`] and [`classes`]: the environment σ and the relation `<:`.
//!
//! What is left, all other statements, is here.

pub mod calls;
pub mod classes;
pub mod env;
pub mod expr;
pub mod imports;
pub mod keras;
pub mod tape;

use std::cell::Cell;
use std::collections::BTreeSet;

use hvdlint::syntax::ast::visitor::{Visitor, walk_expr};
use hvdlint::syntax::ast::{Expr, MatchCase, Pattern as CasePattern, Stmt, WithItem};

use self::classes::Classes;
use self::env::{Env, Key};
use self::expr::trans_e;
use crate::tree::{is_path, map_suites, path, statements, strict_assignment, strict_expression};

/// Which section's rules a program is transformed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// Section 2.3, "TensorFlow 2.x Keras API Pattern"
    Keras,
    /// Section 2.4, "TensorFlow 2.x `GradientTape` API Pattern"
    Tape,
}

/// What `trans_S` and its like give: statements, and the environment for those that follow.
pub type Output = (Vec<Stmt>, Env);

/// The rules of one section, for one module.
pub struct Rules {
    pattern: Pattern,
    classes: Classes,
    taken: BTreeSet<String>,
    made: Cell<usize>,
}

/// `trans_M : Module → Module`, from the empty environment.
pub fn transformed(pattern: Pattern, module: &[Stmt]) -> Vec<Stmt> {
    Rules::new(pattern, module).suite(module, &Env::default()).0
}

impl Rules {
    fn new(pattern: Pattern, module: &[Stmt]) -> Rules {
        struct Names(BTreeSet<String>);
        impl<'a> Visitor<'a> for Names {
            fn visit_expr(&mut self, expr: &'a Expr) {
                if let Expr::Name(name) = expr {
                    self.0.insert(name.id.to_string());
                }
                walk_expr(self, expr);
            }
        }
        let mut names = Names(BTreeSet::new());
        names.visit_body(module);
        Rules { pattern, classes: Classes::of(module), taken: names.0, made: Cell::new(0) }
    }

    /// `NewID()`: a name that the module does not use; the one function of the seed that gives a new value each time.
    fn new_id(&self) -> String {
        loop {
            self.made.set(self.made.get() + 1);
            let name = format!("hvd_id_{}", self.made.get());
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }

    /// `trans_S̄ : Stmt list → Σ → (Stmt list × Σ)`: the environment passes from each statement to the next.
    fn suite(&self, body: &[Stmt], env: &Env) -> Output {
        body.iter().fold((Vec::new(), env.clone()), |(mut made, env), stmt| {
            let (stmts, env) = self.stmt(stmt, &env);
            made.extend(stmts);
            (made, env)
        })
    }

    /// `trans_S : Stmt → Σ → (Stmt list × Σ)`
    fn stmt(&self, stmt: &Stmt, env: &Env) -> Output {
        if let Some((target, call)) = strict_assignment(stmt) {
            return match self.pattern {
                Pattern::Keras => self.keras_assignment(stmt, target, call, env),
                Pattern::Tape => self.tape_assignment(stmt, target, call, env),
            };
        }
        if let Some(call) = strict_expression(stmt) {
            return self.expression_statement(stmt, call, env);
        }
        let mut made = stmt.clone();
        match &mut made {
            Stmt::Assign(it) => {
                if let [target] = it.targets.as_slice()
                    && is_visible_devices(target, env)
                {
                    return (Vec::new(), env.clone());
                }
                *it.value = trans_e(&it.value, env);
            }
            Stmt::AugAssign(it) => *it.value = trans_e(&it.value, env),
            Stmt::AnnAssign(it) => {
                // Reading: the rule prints its general result before its IF; the IF decides.
                if let (Expr::Name(target), Some(value)) = (it.target.as_ref(), &it.value)
                    && is_dataset(value, env)
                {
                    return (vec![stmt.clone()], env.with(Key::Dataset, &target.id));
                }
                if let Some(value) = &mut it.value {
                    **value = trans_e(value, env);
                }
            }
            Stmt::Return(it) => it.value.iter_mut().for_each(|value| **value = trans_e(value, env)),
            Stmt::For(it) => *it.iter = trans_e(&it.iter, env),
            Stmt::While(it) => *it.test = trans_e(&it.test, env),
            Stmt::If(it) => {
                *it.test = trans_e(&it.test, env);
                // The seed has no `elif`; it is an `if` inside an `else`.
                let tests = it.elif_else_clauses.iter_mut().filter_map(|clause| clause.test.as_mut());
                tests.for_each(|test| *test = trans_e(test, env));
            }
            Stmt::Match(it) => {
                *it.subject = trans_e(&it.subject, env);
                it.cases.iter_mut().for_each(|case| trans_c(case, env));
            }
            Stmt::Assert(it) => *it.test = trans_e(&it.test, env),
            Stmt::Expr(it) => *it.value = trans_e(&it.value, env),
            Stmt::With(it) => {
                let inner = it.items.iter_mut().fold(env.clone(), |env, item| trans_w(item, &env));
                return self.with(made, &inner, env);
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => return self.import(stmt, env),
            // Handlers of `try` name exceptions only: `trans_H` changes their suites. The rest stays as it is.
            _ => {}
        }
        map_suites(&mut made, |body| self.suite(&body, env).0);
        (vec![made], env.clone())
    }

    /// `with` and `async with`: a tape that the items bind is distributed after the block, and the environment of
    /// the block goes on behind it.
    fn with(&self, mut with: Stmt, inner: &Env, outer: &Env) -> Output {
        let mut after = inner.clone();
        map_suites(&mut with, |body| {
            let (body, env) = self.suite(&body, inner);
            after = env;
            body
        });
        let mut made = vec![with];
        if let Some(tape) = inner.only_new(outer, Key::GradientTape) {
            made.extend(statements(&format!("{tape} = hvd.DistributedGradientTape({tape})")));
        }
        (made, after)
    }
}

/// `expr₀ = id_os.environ['CUDA_VISIBLE_DEVICES']`
fn is_visible_devices(target: &Expr, env: &Env) -> bool {
    let (Expr::Subscript(subscript), Some(os)) = (target, env.get(Key::Os)) else { return false };
    let key = subscript.slice.as_string_literal_expr().map(|literal| literal.value.to_str());
    is_path(&subscript.value, &format!("{os}.environ")) && key == Some("CUDA_VISIBLE_DEVICES")
}

/// `id_t.data.Dataset.expr₃(...)`
///
/// Reading: `expr₃` is an expression and not an identifier, so that a chain of calls that begins with
/// `id_t.data.Dataset.from_...(...)` is one too.
fn is_dataset(expr: &Expr, env: &Env) -> bool {
    let (Expr::Call(call), Some(tensorflow)) = (expr, env.get(Key::TensorFlow)) else { return false };
    let mut function = call.func.as_ref();
    while let Expr::Attribute(attribute) = function {
        match attribute.value.as_ref() {
            Expr::Call(inner) => function = &inner.func,
            receiver => return is_path(receiver, &format!("{tensorflow}.data.Dataset")),
        }
    }
    false
}

/// `trans_W : WithItem → Σ → (WithItem × Σ)`; gives the environment.
fn trans_w(item: &mut WithItem, env: &Env) -> Env {
    if let Some(Expr::Name(tape)) = item.optional_vars.as_deref()
        && is_tape(&item.context_expr, env)
    {
        return env.with(Key::GradientTape, &tape.id);
    }
    item.context_expr = trans_e(&item.context_expr, env);
    env.clone()
}

/// `expr₁ = id₁.GradientTape()`, without arguments, as it is written.
fn is_tape(expr: &Expr, env: &Env) -> bool {
    let (Expr::Call(call), Some(tensorflow)) = (expr, env.get(Key::TensorFlow)) else { return false };
    call.arguments.is_empty() && is_path(&call.func, &format!("{tensorflow}.GradientTape"))
}

/// `trans_C : MatchCase → Σ → MatchCase`, but for the suite.
fn trans_c(case: &mut MatchCase, env: &Env) {
    trans_p(&mut case.pattern, env);
    case.guard.iter_mut().for_each(|guard| **guard = trans_e(guard, env));
}

/// `trans_P : Pattern → Σ → Pattern`
fn trans_p(pattern: &mut CasePattern, env: &Env) {
    let each = |pattern: &mut CasePattern| trans_p(pattern, env);
    match pattern {
        CasePattern::MatchValue(it) => *it.value = trans_e(&it.value, env),
        CasePattern::MatchSequence(it) => it.patterns.iter_mut().for_each(each),
        CasePattern::MatchMapping(it) => it.patterns.iter_mut().for_each(each),
        CasePattern::MatchClass(it) => {
            it.arguments.patterns.iter_mut().for_each(each);
            it.arguments.keywords.iter_mut().for_each(|keyword| trans_p(&mut keyword.pattern, env));
        }
        CasePattern::MatchAs(it) => it.pattern.iter_mut().for_each(|pattern| trans_p(pattern, env)),
        CasePattern::MatchOr(it) => it.patterns.iter_mut().for_each(each),
        CasePattern::MatchSingleton(_) | CasePattern::MatchStar(_) => {}
    }
}

/// Whether the function is `expr.method`, for any expression.
fn is_method(function: &Expr, method: &str) -> bool {
    function.as_attribute_expr().is_some_and(|attribute| attribute.attr.id == *method)
}

/// Whether the function is `id.method`, with the `id` that stands for `key`.
fn is_method_of(function: &Expr, env: &Env, key: Key, method: &str) -> bool {
    env.get(key).is_some_and(|id| path(function) == Some([id].into_iter().chain(method.split('.')).collect()))
}
