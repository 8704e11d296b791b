//! Horovod's `rank` and `size`, which are functions, used as if they were the numbers.

use crate::api::{Effect, Role, Symbol};
use crate::checks::{Context, check};
use crate::finding::{Applicability, Confidence, Finding, Fix, Level};
use crate::program::{Caller, Facts, Object};
use crate::project::FileId;
use crate::semantic::{BranchKind, CallId, Module, Operator, ScopeId, Value, ValueId};
use crate::syntax::TextRange;

check!("HVD308", "rank-not-called", Ranks, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let has_any = |file: &FileId| {
        facts.objects_in(*file).iter().any(|&id| asks(facts, facts.solution.object(id)).is_some())
    };
    let files = facts.files().filter(has_any);
    files
        .flat_map(|file| found_in(facts, file).into_iter().map(move |found| finding(context, &found)))
        .collect()
}

/// What the function is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Compared,
    Computed,
    Tested,
    Index,
    Argument,
}

impl Use {
    fn clause(self) -> &'static str {
        match self {
            Self::Compared => "is compared without being called: a function equals no number",
            Self::Computed => "is computed with without being called: a function is no number",
            Self::Tested => "is tested without being called: a function is always true",
            Self::Index => "is an index without being called: a function is no number",
            Self::Argument => "is given as a number without being called",
        }
    }
}

struct Found {
    file: FileId,
    scope: ScopeId,
    /// The value that is the function.
    value: ValueId,
    /// Where it is used.
    range: TextRange,
    name: String,
    used: Use,
}

/// The function that tells a number of the ranks, if the object is one.
fn asks<'a>(facts: &Facts<'a>, object: Object) -> Option<&'a Symbol> {
    let Object::External(_) = object else { return None };
    let symbol = facts.symbol(object)?;
    let tells = [Effect::ReadsRank, Effect::ReadsLocalRank, Effect::ReadsSize];
    (*symbol.role() == Role::Function && tells.into_iter().any(|effect| symbol.has(effect))).then_some(symbol)
}

fn found_in(facts: &Facts<'_>, file: FileId) -> Vec<Found> {
    let module = facts.module(file);
    let mut found = Vec::new();
    let mut add = |scope: ScopeId, value: ValueId, within: TextRange, used: Use| {
        let mut functions = facts.objects(file, value).filter_map(|(_, object)| asks(facts, object));
        if let Some(symbol) = functions.next() {
            let range = place(module, value, within);
            let name = symbol.last_name().to_owned();
            found.push(Found { file, scope, value, range, name, used });
        }
    };
    for evaluation in &module.values {
        let (scope, range) = (evaluation.scope, evaluation.range);
        match evaluation.value {
            Value::Operator { operator: Operator::Not, left, .. } if is_written(module, left) => {
                add(scope, left, range, Use::Tested);
            }
            Value::Operator { operator: Operator::Not, .. } => {}
            Value::Operator { operator: Operator::Compare(_), left, right } => {
                // Functions may be compared with each other.
                let other = |of| if of == left { right } else { left };
                for operand in [left, right].into_iter().filter(|&of| !is_function(facts, file, other(of))) {
                    add(scope, operand, range, Use::Compared);
                }
            }
            Value::Operator { left, right, .. } => {
                add(scope, left, range, Use::Computed);
                if left != right {
                    add(scope, right, range, Use::Computed);
                }
            }
            Value::Item { key, .. } => add(scope, key, range, Use::Index),
            _ => {}
        }
    }
    for (index, scope) in module.scopes.iter().enumerate() {
        for branch in scope.flow.blocks.iter().filter_map(|block| block.branch) {
            let is_test = matches!(branch.kind, BranchKind::If | BranchKind::While | BranchKind::Assert);
            if let Some(condition) = branch.condition.filter(|&value| is_test && is_written(module, value)) {
                add(ScopeId::new(index), condition, branch.range, Use::Tested);
            }
        }
    }
    for (index, call) in module.calls.iter().enumerate() {
        if takes_numbers(facts, file, CallId::new(index)) {
            for argument in &call.arguments {
                add(call.scope, argument.value, argument.range, Use::Argument);
            }
        }
    }
    found
}

/// Whether a value is a name or an attribute as it is written, and not one of several: an optional function may be
/// tested for being there.
fn is_written(module: &Module, value: ValueId) -> bool {
    matches!(module.value(value).value, Value::Attribute { .. } | Value::Import(_) | Value::Free(_))
}

fn is_function(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    facts.objects(file, value).any(|(_, object)| match object {
        Object::Function(_) | Object::Bound(..) => true,
        Object::External(_) => facts.symbol(object).is_some_and(|symbol| *symbol.role() == Role::Function),
        _ => false,
    })
}

/// Whether a call makes a number or a text of its arguments, or divides data by them.
fn takes_numbers(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let conversions = ["builtins.int", "builtins.float", "builtins.str", "builtins.range"];
    let known = conversions.map(|name| facts.library.lookup(name));
    facts.callees(file, call).iter().any(|edge| {
        let symbol = facts.symbol(facts.solution.object(edge.callee));
        symbol.is_some_and(|symbol| symbol.has(Effect::Shards) || known.contains(&Some(symbol)))
    })
}

/// Where a value is written within an expression that uses it: itself, or a name that stands for it.
fn place(module: &Module, value: ValueId, within: TextRange) -> TextRange {
    let own = module.value(value).range;
    if within.contains_range(own) {
        return own;
    }
    let mut uses = module.uses.iter();
    uses.find(|reading| reading.value == value && within.contains_range(reading.range))
        .map_or(within, |reading| reading.range)
}

fn finding(context: Context<'_>, found: &Found) -> Finding {
    let Found { file, scope, value, range, .. } = *found;
    let facts = context.facts;
    let message = format!("`{}` {}", found.name, found.used.clause());
    let finding = Finding::new(&CHECK.rule, Level::Error, facts.location(file, range), message)
        .here("a function")
        .help(format!("call it: `{}()`", found.name))
        .in_scope(facts.scope_name(Caller { file, scope }));
    let is_certain = facts.objects(file, value).all(|(_, object)| object != Object::Unknown);
    if !is_certain {
        return finding.confidence(Confidence::Possible);
    }
    match fix(context, found) {
        Some(fix) => finding.mended_by(fix),
        None => finding,
    }
}

/// A call where the function's name stands.
fn fix(context: Context<'_>, found: &Found) -> Option<Fix> {
    let facts = context.facts;
    let text = context.texts.get(found.file, facts.module(found.file))?;
    let mut objects = facts.objects(found.file, found.value);
    if !objects.all(|(_, object)| asks(facts, object).is_some()) || !text.is_chain(found.range) {
        return None;
    }
    Some(Fix {
        applicability: Applicability::Safe,
        message: format!("call `{}`", found.name),
        edits: vec![text.insert(found.range.end(), "()")],
        unit: None,
    })
}
