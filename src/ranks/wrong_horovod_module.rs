//! A member of Horovod that the module it is asked of does not have, such as `callbacks` of `horovod.tensorflow`.

use rustc_hash::FxHashMap;

use crate::api::Symbol;
use crate::checks::{Context, check};
use crate::distribute::{Api, Import, Name, Names};
use crate::finding::{Applicability, Confidence, Finding, Fix, Level};
use crate::program::{Caller, Facts, Literal, Object, ObjectId, Place};
use crate::project::{FileId, nearest};
use crate::semantic::{CallId, DefinitionKind, Evaluation, Module, StatementKind, Suite, Value, ValueId};
use crate::syntax::{TextRange, TextSize};

check!("HVD309", "wrong-horovod-module", Ranks, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let mut findings = Vec::new();
    for file in facts.files() {
        let missing: FxHashMap<ObjectId, Missing<'_>> = facts
            .objects_in(file)
            .iter()
            .filter_map(|&object| Some((object, missing(facts, object)?)))
            .filter(|(_, missing)| !is_asked_for(facts, file, missing.name))
            .collect();
        if missing.is_empty() {
            continue;
        }
        let module = facts.module(file);
        for (index, evaluation) in module.values.iter().enumerate() {
            if let Some(found) = found(facts, file, ValueId::new(index), &missing)
                && !is_tried(module, evaluation)
            {
                findings.push(finding(context, file, evaluation, found));
            }
        }
    }
    findings
}

/// A member that its module does not have.
#[derive(Clone, Copy)]
struct Missing<'a> {
    module: &'a str,
    name: &'a str,
}

/// The member that an object would be, if all public members of its module are known and it is none of them.
fn missing<'f>(facts: &'f Facts<'_>, object: ObjectId) -> Option<Missing<'f>> {
    let Object::External(external) = facts.solution.object(object) else { return None };
    let external = facts.solution.externals.get(external);
    let (module, name) = external.path.rsplit_once('.')?;
    let is_closed = facts.library.lookup(module)?.is_closed();
    // A fork of Horovod may have more.
    let is_own = || facts.modules.imports().holds_library(module.split('.').next().unwrap_or(module));
    (external.symbol.is_none() && is_closed && !name.starts_with('_') && !is_own())
        .then_some(Missing { module, name })
}

/// Whether a value may be made of a member that its module does not have: nobody knows what it is meant to do.
pub(super) fn is_of_missing(facts: &Facts<'_>, (file, value): Place) -> bool {
    let module = facts.module(file);
    let mut value = value;
    loop {
        let objects = facts.solution.values(file, value);
        if objects.iter().any(|&object| missing(facts, object).is_some()) {
            return true;
        }
        value = match module.value(value).value {
            Value::Attribute { base, .. } => base,
            Value::Call(call) => module.call(call).callee,
            _ => return false,
        };
    }
}

/// What is missing where a member is asked for. Where the module is one of several, another one may have it.
fn found<'f>(
    facts: &Facts<'_>,
    file: FileId,
    value: ValueId,
    missing: &FxHashMap<ObjectId, Missing<'f>>,
) -> Option<Missing<'f>> {
    if !matches!(facts.module(file).value(value).value, Value::Attribute { .. } | Value::Import(_)) {
        return None;
    }
    let objects = facts.solution.values(file, value);
    let first = missing.get(objects.first()?)?;
    objects.iter().all(|object| missing.contains_key(object)).then_some(*first)
}

/// Whether the program asks whether something has the member, before it uses it.
fn is_asked_for(facts: &Facts<'_>, file: FileId, name: &str) -> bool {
    let module = facts.module(file);
    let asks = ["builtins.hasattr", "builtins.getattr"].map(|name| facts.library.lookup(name));
    (0..module.calls.len()).map(CallId::new).any(|call| {
        let mut callees = facts.callees(file, call).iter();
        callees.any(|edge| {
            let symbol = facts.symbol(facts.solution.object(edge.callee));
            symbol.is_some() && asks.contains(&symbol)
        }) && module.call(call).arguments.get(1).is_some_and(|argument| {
            facts.objects(file, argument.value).any(|(_, object)| {
                matches!(object, Object::Literal(Literal::Str(text)) if facts.solution.names.text(text) == name)
            })
        })
    })
}

/// Whether a failure is caught: the program tries what there is.
fn is_tried(module: &Module, evaluation: &Evaluation) -> bool {
    let Some(mut statement) = module.statement_around(evaluation.range) else { return false };
    loop {
        let own = module.statement(statement);
        let Some(parent) = own.parent else { return false };
        if own.suite == Suite::Body && module.statement(parent).kind == StatementKind::Try {
            return true;
        }
        statement = parent;
    }
}

fn finding(context: Context<'_>, file: FileId, evaluation: &Evaluation, missing: Missing<'_>) -> Finding {
    let facts = context.facts;
    let Missing { module, name } = missing;
    let message = format!("`{module}` has no `{name}`");
    let mut finding =
        Finding::new(&CHECK.rule, Level::Error, facts.location(file, evaluation.range), message)
            .here("not there")
            .in_scope(facts.scope_name(Caller { file, scope: evaluation.scope }));
    let owner = [Import::Horovod, Import::HorovodKeras]
        .into_iter()
        .find(|import| facts.library.lookup(&format!("{}.{name}", import.module())).is_some());
    let Some(owner) = owner else {
        finding = finding.help("no module of Horovod for TensorFlow has it: use another way to the same end");
        // What nobody knows at all is most likely of a Horovod that somebody has changed.
        let is_known = OF_TORCH.contains(&name) || resembles_member(facts, module, name);
        return if is_known { finding } else { finding.confidence(Confidence::Possible) };
    };
    finding =
        finding.help(format!("`{}` has it: import that module, under a name of its own", owner.module()));
    match fix(context, file, evaluation, owner) {
        Some(fix) => finding.mended_by(fix),
        None => finding,
    }
}

/// What Horovod has for `PyTorch` alone.
const OF_TORCH: [&str; 18] = [
    "Compression",
    "SyncBatchNorm",
    "allgather_async",
    "allreduce_",
    "allreduce_async",
    "allreduce_async_",
    "alltoall_async",
    "barrier",
    "broadcast_",
    "broadcast_async",
    "broadcast_async_",
    "broadcast_optimizer_state",
    "broadcast_parameters",
    "grouped_allreduce_",
    "grouped_allreduce_async",
    "poll",
    "sparse_allreduce_async",
    "synchronize",
];

/// Whether a name is nearly that of a member of a module of Horovod's.
fn resembles_member(facts: &Facts<'_>, module: &str, name: &str) -> bool {
    let package = module.split('.').next().unwrap_or(module);
    let members = facts
        .library
        .of_package(package)
        .filter(|own| own.name().rsplit_once('.').is_some_and(|(of, _)| of == module));
    nearest(name, members.map(Symbol::last_name)).is_some()
}

/// Asks the module that has the member, which is imported behind the other one.
fn fix(context: Context<'_>, file: FileId, evaluation: &Evaluation, owner: Import) -> Option<Fix> {
    let facts = context.facts;
    let module = facts.module(file);
    let Value::Attribute { base, .. } = evaluation.value else { return None };
    let text = context.texts.get(file, module)?;
    let written = text.slice(evaluation.range);
    let length = TextSize::try_from(written.rfind('.')?).ok()?;
    let before = TextRange::new(evaluation.range.start(), evaluation.range.start() + length);
    if !text.is_chain(before) {
        return None;
    }
    let names = Names::new(facts, file, Api::Tape);
    let Name { text: name, bound, .. } =
        if owner == Import::HorovodKeras { names.keras } else { names.horovod };
    let mut edits = Vec::new();
    if !bound {
        let import = module.definitions.iter().find(|definition| {
            definition.kind == DefinitionKind::Import
                && facts.solution.values(file, definition.value) == facts.solution.values(file, base)
        })?;
        let statement = import.statement?;
        edits.extend(text.after(statement, &[&format!("import {} as {name}", owner.module())]));
    }
    edits.push(text.replace(before, name));
    Some(Fix {
        applicability: Applicability::Safe,
        message: format!("take it from `{}`", owner.module()),
        edits,
        unit: None,
    })
}
