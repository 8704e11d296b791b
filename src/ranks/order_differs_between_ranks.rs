//! Data that is divided by position, or numbered, in an order that is another one on each rank.

mod hashing;
mod leaving;
mod numbering;

use super::alone::dominating;
use super::disorder::{self, Disorder, Why};
use super::model::Model;
use super::values::Cause;
use crate::api::{Effect, Kind};
use crate::finding::{Applicability, Confidence, Finding, Fix, Level, Location};
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::ranks::ranks_check;
use crate::semantic::{BranchKind, Call, CallId, Dependence, Operator, Role, ScopeId, Value, ValueId};
use crate::syntax::TextRange;

ranks_check!("HVD307", "order-differs-between-ranks", Error, run);

fn run(model: &Model<'_>) -> Vec<Finding> {
    let mut files: Vec<FileId> = model.programs.iter().flat_map(|program| program.files()).collect();
    files.sort_unstable();
    files.dedup();
    let mut findings = Vec::new();
    for file in files {
        findings.extend(shards(model, file));
        findings.extend(slices(model, file));
        findings.extend(numbering::findings(model, file));
        findings.extend(hashing::findings(model, file));
    }
    findings
}

fn is_of_rank(model: &Model<'_>, place: Place) -> bool {
    model.difference(place).is_some_and(|own| own.cause == Cause::Rank)
}

/// `dataset.shuffle(n).shard(size, rank)`
fn shards(model: &Model<'_>, file: FileId) -> Vec<Finding> {
    let facts = model.facts;
    let calls = facts.calls_with(Effect::Shards).filter(|&(of, _)| of == file);
    calls
        .filter_map(|(file, id)| {
            let call = facts.module(file).call(id);
            let receiver = facts.receiver(file, call)?;
            // A dataset stays as it is: who throws the part away has all of it still.
            if call.role == Role::Statement {
                return None;
            }
            let is_dataset = facts.may_be(file, receiver, Kind::Dataset);
            let is_divided = call.arguments.iter().any(|argument| is_of_rank(model, (file, argument.value)));
            let disorder = disorder::of(model, (file, receiver)).filter(|_| is_dataset && is_divided)?;
            if is_only_in_order(model, file, call, &disorder) {
                return None;
            }
            // Of a chain over several lines the part that divides.
            let chain = facts.module(file).value(receiver).range;
            let start = if call.range.contains_range(chain) { chain.end() } else { call.range.start() };
            let shown = TextRange::new(start, call.range.end());
            let own = finding(model, file, shown, call.scope, &disorder, Use::Divided);
            Some(match listed(model, &disorder) {
                Some(fix) => own.mended_by(fix),
                None => own,
            })
        })
        .collect()
}

/// Whether data is only divided where it was told not to be shuffled: `if not shuffle: files = files.shard(...)` behind
/// `Dataset.list_files(pattern, shuffle=shuffle)`.
fn is_only_in_order(model: &Model<'_>, file: FileId, divided: &Call, disorder: &Disorder) -> bool {
    let facts = model.facts;
    let (of, value) = disorder.place;
    let module = facts.module(file);
    let Value::Call(id) = facts.module(of).value(value).value else { return false };
    let call = facts.module(of).call(id);
    let mut symbols = facts.called_symbols(of, id);
    let told = symbols.find_map(|symbol| facts.argument(of, call, symbol, "shuffle"));
    let Some(told) = told.filter(|_| of == file && call.scope == divided.scope) else { return false };
    let caller = Caller { file, scope: divided.scope };
    dominating(facts, caller, divided.block).into_iter().any(|Dependence { branch, arm }| {
        let branch = module.scope(caller.scope).flow.blocks[branch.index()].branch;
        let said = branch.and_then(|own| Some((own.condition?, own.kind.outcome(arm)?)));
        said.is_some_and(|(condition, holds)| says_off(model, file, condition, holds, told.value))
    })
}

/// Whether a condition says that a value is not true.
fn says_off(model: &Model<'_>, file: FileId, condition: ValueId, holds: bool, value: ValueId) -> bool {
    let module = model.facts.module(file);
    let own = module.value(condition);
    match own.value {
        _ if condition == value => !holds,
        Value::Operator { operator: Operator::Not, left, .. } => says_off(model, file, left, !holds, value),
        Value::Phi(ref parts) => {
            let all_hold = match module.junction(own.range) {
                Some(BranchKind::And) => holds,
                Some(BranchKind::Or) => !holds,
                _ => false,
            };
            all_hold && parts.iter().any(|&part| says_off(model, file, part, holds, value))
        }
        _ => false,
    }
}

/// `files[hvd.rank()::hvd.size()]`
fn slices(model: &Model<'_>, file: FileId) -> Vec<Finding> {
    let facts = model.facts;
    let module = facts.module(file);
    let mut found = Vec::new();
    for evaluation in &module.values {
        // What only begins somewhere, `files[done:]`, goes on and divides nothing.
        if let Value::Slice { base, cut } = &evaluation.value
            && (cut.upper.is_some() || cut.step.is_some())
            && cut.limits.iter().any(|&limit| is_of_rank(model, (file, limit)))
            && let Some(disorder) = disorder::of(model, (file, *base))
            && is_divided(
                model,
                facts.location(file, evaluation.range),
                cut.limits.iter().map(|&limit| (file, limit)),
            )
        {
            found.push(finding(model, file, evaluation.range, evaluation.scope, &disorder, Use::Divided));
        }
    }
    found
}

/// Whether ranks that come to a place together take different parts there. What a single rank takes it takes for all.
fn is_divided(model: &Model<'_>, at: Location, limits: impl Iterator<Item = Place>) -> bool {
    let caller = model.facts.code_at(at);
    let Some(block) = model.facts.block_at(caller, at) else { return true };
    let mut limits = limits.filter(|&limit| is_of_rank(model, limit));
    !model.guard(caller, block).is_one()
        && limits.any(|limit| leaving::differs_among_the_others(model, limit, (caller, block)))
}

/// What the order is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Divided,
    Numbered,
}

fn finding(
    model: &Model<'_>,
    file: FileId,
    range: TextRange,
    scope: ScopeId,
    disorder: &Disorder,
    used: Use,
) -> Finding {
    let facts = model.facts;
    let message = match (used, disorder.why) {
        (Use::Numbered, Why::Shuffled) => "each rank numbers these elements in an order that it has drawn",
        (Use::Numbered, _) => "each rank numbers the elements of this set in an order of its own",
        (_, Why::Shuffled) => "the ranks divide data that each of them has shuffled in its own way",
        (_, Why::Hashed) => "the ranks divide a set, which each of them goes through in its own order",
        (_, Why::Listed) => "the ranks divide files in the order in which the file system lists them",
    };
    let (level, help) = match (used, disorder.why) {
        (_, Why::Listed) => (Level::Warning, "sort what is listed: `sorted(...)`"),
        (_, Why::Hashed) => (Level::Error, "sort the set: `sorted(...)`"),
        (Use::Numbered, Why::Shuffled) => {
            (Level::Error, "number them in sorted order, or shuffle with the same seed on all ranks")
        }
        (Use::Divided, Why::Shuffled) => {
            (Level::Error, "divide first and shuffle then, or give all ranks the same seed")
        }
    };
    let here = match used {
        Use::Divided => "some twice, some never",
        Use::Numbered => "other numbers elsewhere",
    };
    let (of, at) = disorder.place;
    let label = match disorder.why {
        Why::Shuffled => "shuffled here",
        Why::Hashed => "a set",
        Why::Listed => "listed here",
    };
    // One file system lists a folder to all ranks in one order; copies on the disks of several machines need not.
    let confidence = if disorder.why == Why::Listed { Confidence::Possible } else { Confidence::Certain };
    let finding = Finding::new(&CHECK.rule, level, facts.location(file, range), message)
        .confidence(confidence)
        .here(here)
        .help(help)
        .in_scope(facts.scope_name(Caller { file, scope }));
    let cause = facts.location(of, facts.module(of).value(at).range);
    if cause == facts.location(file, range) { finding } else { finding.label(cause, label) }
}

/// `Dataset.list_files` lists in order when it is told to.
fn listed(model: &Model<'_>, disorder: &Disorder) -> Option<Fix> {
    let facts = model.facts;
    let (file, value) = disorder.place;
    let Value::Call(id) = facts.module(file).value(value).value else { return None };
    let call = facts.module(file).call(id);
    let lists = |id: CallId| {
        let mut symbols = facts.called_symbols(file, id);
        symbols.any(|symbol| symbol.has(Effect::ReadsFile) && symbol.parameter("shuffle").is_some())
    };
    let is_given =
        facts.called_symbols(file, id).any(|symbol| facts.argument(file, call, symbol, "shuffle").is_some());
    let text = model.texts.get(file, facts.module(file)).filter(|_| lists(id) && !is_given)?;
    Some(Fix {
        applicability: Applicability::Unsafe,
        message: "list the files in order".to_owned(),
        edits: vec![text.append_argument(call, "shuffle=False")],
        unit: None,
    })
}
