//! An expression gets a name in front of its statement.

use super::names::fresh;
use super::order::can_go_first;
use crate::checks::Context;
use crate::finding::{Applicability, Fix};
use crate::project::FileId;
use crate::semantic::StatementId;
use crate::syntax::TextRange;

/// Assigns the calls at `expressions`, outermost ones of a statement, to variables in front of it. `wish` names them.
/// `None` where the order of evaluation would be another one, or an expression does not run exactly when the
/// statement does.
#[must_use]
pub fn hoist(
    context: Context<'_>,
    file: FileId,
    statement: StatementId,
    expressions: &[TextRange],
    wish: &str,
) -> Option<Fix> {
    let module = context.facts.module(file);
    let text = context.texts.get(file, module)?;
    let mut expressions = expressions.to_vec();
    expressions.sort_by_key(|range| (range.start(), std::cmp::Reverse(range.end())));
    expressions.dedup();
    let mut outermost: Vec<TextRange> = Vec::new();
    for range in expressions {
        if !outermost.iter().any(|around| around.contains_range(range)) {
            outermost.push(range);
        }
    }
    if outermost.is_empty()
        || !can_go_first(context.facts, file, statement, &outermost)
        || outermost.iter().any(|&range| text.is_shown_as_text(range))
    {
        return None;
    }
    let scope = module.statement(statement).scope;
    let first = fresh(module, scope, wish);
    let mut names = vec![first];
    let mut number = 2;
    while names.len() < outermost.len() {
        let name = fresh(module, scope, &format!("{wish}_{number}"));
        number += 1;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let named: Vec<(TextRange, &str)> =
        outermost.iter().copied().zip(names.iter().map(String::as_str)).collect();
    let message = match names.as_slice() {
        [name] => format!("assign it to `{name}` first"),
        _ => format!("assign them to `{}` first", names.join("`, `")),
    };
    Some(super::fix(Applicability::Safe, message, text.hoist(statement, &named)))
}
