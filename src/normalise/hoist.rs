//! An expression gets a name in front of its statement.

use super::names::fresh;
use super::order::can_go_first;
use crate::checks::Context;
use crate::finding::{Applicability, Fix};
use crate::program::Facts;
use crate::project::FileId;
use crate::rewrite::Text;
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
    let text = context.texts.get(file, context.facts.module(file))?;
    let named = named(context.facts, text, statement, expressions, wish)?;
    let named: Vec<(TextRange, &str)> = named.iter().map(|(range, name)| (*range, name.as_str())).collect();
    let message = if let [(_, name)] = named[..] {
        format!("assign it to `{name}` first")
    } else {
        let names: Vec<&str> = named.iter().map(|&(_, name)| name).collect();
        format!("assign them to `{}` first", names.join("`, `"))
    };
    Some(super::fix(Applicability::Safe, message, text.hoist(statement, &named)))
}

/// The same calls with the names of variables that they can be assigned to in front of the statement.
#[must_use]
pub fn named(
    facts: &Facts<'_>,
    text: Text<'_>,
    statement: StatementId,
    expressions: &[TextRange],
    wish: &str,
) -> Option<Vec<(TextRange, String)>> {
    let (file, module) = (text.file, text.module);
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
        || !can_go_first(facts, file, statement, &outermost)
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
    Some(outermost.into_iter().zip(names).collect())
}
