//! Departure F2: a seed that all ranks share gives all of them the same examples.

use hvdlint::syntax::ast::visitor::transformer::{Transformer, walk_expr};
use hvdlint::syntax::ast::{Expr, Stmt};

use super::Program;
use crate::tree::{expression, keyword, with_keyword};

/// `data.shuffle(size, seed=7)` gets the rank's number.
pub fn of_each_rank(_: &Program, mut body: Vec<Stmt>) -> Vec<Stmt> {
    Seeds.visit_body(&mut body);
    body
}

struct Seeds;

impl Transformer for Seeds {
    fn visit_expr(&self, expr: &mut Expr) {
        walk_expr(self, expr);
        let Expr::Call(call) = expr else { return };
        let shuffles = matches!(&*call.func, Expr::Attribute(method) if &*method.attr == "shuffle");
        if let Some(seed) = keyword(call, "seed").filter(|_| shuffles) {
            let own = expression("seed + hvd.rank()", &[("seed", seed)]);
            *call = with_keyword(call, "seed", own);
        }
    }
}
