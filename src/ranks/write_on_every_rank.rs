//! Each file is written by one rank: several that write the same path tear it, or fail.

mod alike;
mod estimators;
mod evaluation;
mod figures;
mod inputs;
mod kept;
mod later;
mod left_out;
mod modes;
mod read_alike;
mod report;
mod session_hooks;
mod untold;

use super::destination::{self, DIRECTORY, Destination};
use alike::Alike;
pub(super) use inputs::Inputs;
pub(super) use read_alike::is_read_alike;
pub(super) use report::is_written_at;
use report::{Doubts, finding};

use super::alongside::Alongside;
use super::guards::{self, Atom, Guard, Number};
use super::model::Model;
use super::values::Cause;
use super::{callbacks, ranks_check};
use crate::api::{Effect, EffectSet, Kind};
use crate::distribute::NOWHERE;
use crate::finding::Finding;
use crate::program::{CallEdge, Caller, Literal, Object, Place, Program};
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, Call, CallId, CallKind, StatementKind, Value, ValueId};

ranks_check!("HVD305", "write-on-every-rank", Warning, check);

fn check(model: &Model<'_>) -> Vec<Finding> {
    let inputs = Inputs::new(model);
    let doubts = Doubts { inputs: &inputs, alongside: Alongside::new(model), alike: Alike::default() };
    let of_one_rank = callbacks::of_one_rank(model);
    let is_of_one = |caller: Caller| {
        let function = model.facts.function_of(caller);
        let class = function.and_then(|own| model.facts.modules.class_of(own));
        class.is_some_and(|class| of_one_rank.contains(&class))
    };
    let mut found = Vec::new();
    for (caller, call) in run_calls(model).into_iter().filter(|&(caller, _)| !is_of_one(caller)) {
        if let Some(fate) = fate(model, caller, call, &inputs) {
            found.extend(finding(model, &doubts, caller, call, fate));
        }
    }
    found.extend(callbacks::writing(model, &inputs));
    found
}

/// The calls that the programs come to.
fn run_calls(model: &Model<'_>) -> Vec<(Caller, CallId)> {
    let mut found = Vec::new();
    for caller in model.callers() {
        let flow = &model.facts.module(caller.file).scope(caller.scope).flow;
        for block in (0..flow.blocks.len()).map(BlockId::new) {
            if flow.is_reachable(block) && !model.unreached.is_block(caller, block) {
                found.extend(model.blocks.of(caller, block).calls.iter().map(|&call| (caller, call)));
            }
        }
    }
    found
}

/// What becomes of the file that a call writes.
pub(super) enum Fate {
    /// One rank writes it, or each rank has its own, or it does no harm to write it twice.
    Safe,
    /// One rank of each host writes it.
    OncePerHost,
    /// Ranks write it as they find it missing.
    IfMissing,
    /// Every rank fetches it: what is written is what was read elsewhere.
    Fetched,
    /// Every rank puts something there that the program reads as its input.
    Input,
    /// Several ranks may come here.
    Some,
    /// Each rank writes to a path that differs, and two may still be equal.
    PathsMayMeet,
    /// These ranks write to these paths, by these calls.
    Many { paths: Vec<Place>, writers: Writers, by: Vec<(Caller, CallId)> },
}

/// Which ranks write a file, where several do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writers {
    All,
    AllButOne,
    /// Those whose data says so.
    Any,
    /// All that come before the first of them is done: `if not os.path.exists(path): os.makedirs(path)`.
    Racing,
}

/// How paths begin of what is no file: what the kernel shows of its devices and processes, and what TensorFlow keeps in
/// the memory of a process.
const NO_FILES: [&str; 4] = ["/dev/", "/proc/", "/sys/", "ram://"];

/// What becomes of the file that a call writes; `None` if it writes none, or the programs don't make it.
pub(super) fn fate(model: &Model<'_>, caller: Caller, id: CallId, inputs: &Inputs) -> Option<Fate> {
    let written = written(model, caller.file, id)?;
    if inputs.later.is_told(caller.file, id) {
        return Some(Fate::Safe);
    }
    let own = fate_of(model, caller, id, written, inputs)?;
    let Fate::Many { paths, .. } = &own else { return Some(own) };
    let Some(opener) = inputs.later.opener(caller.file, id) else { return Some(own) };
    // What is told where to write does so at other places, each with ranks of its own.
    let there = opener
        .writings
        .iter()
        .filter_map(|&(caller, id)| fate_of(model, caller, id, Written::To(paths.clone()), inputs));
    let mut worst = if opener.escapes { Fate::Some } else { Fate::Safe };
    for fate in there {
        match (&mut worst, fate) {
            (Fate::Many { by, .. }, Fate::Many { by: more, .. }) => by.extend(more),
            (Fate::Many { .. }, _) | (_, Fate::Safe) => {}
            (_, fate) => worst = fate,
        }
    }
    Some(worst)
}

/// What becomes of what a call writes.
fn fate_of(model: &Model<'_>, caller: Caller, id: CallId, written: Written, inputs: &Inputs) -> Option<Fate> {
    // `if path is not None:`, where none of the programs passes a path.
    let is_ruled_out = |program: &&Program| {
        !program.reached.contains(&caller) || model.facts.is_ruled_out(program, caller.file, id)
    };
    if !model.is_run(caller, id) || model.programs.iter().all(is_ruled_out) {
        return None;
    }
    let call = model.facts.module(caller.file).call(id);
    let mut guard = model.guard(caller, call.block);
    let all = guard.0.len();
    // What depends on data of the rank's own may be so on any of them.
    guard.0.retain(|literal| !matches!(literal.atom, Atom::Varies(_)));
    let is_any = guard.0.len() < all;
    read_alike::without_conditions(model, inputs, caller, call.block, &mut guard);
    let all_but_one = all_but_one(&guard);
    if guard.is_one() || inputs.evaluation.is_at(model, caller, call.block) {
        return Some(Fate::Safe);
    }
    let paths = match written {
        Written::To(paths) => paths,
        Written::Harmless => return Some(Fate::Safe),
        Written::Fetched => return Some(Fate::Fetched),
        Written::Unknown => return Some(Fate::Some),
    };
    let call = model.facts.module(caller.file).call(id);
    let is_checked = is_checked(model, inputs, caller.file, call);
    let fails_twice = fails_twice(model, caller.file, id);
    if fails_twice && is_tried(model, caller.file, call) {
        return Some(Fate::Safe);
    }
    // `open(os.path.join(folder, name))`, where none of the programs passes a folder, comes to nothing.
    let has_path = |program: &&Program| {
        program.reached.contains(&caller)
            && !paths
                .iter()
                .flat_map(|&path| made_of(model, path))
                .any(|part| model.facts.is_passed_nothing(program, part))
    };
    if !model.programs.iter().any(has_path) {
        return Some(Fate::Safe);
    }
    if is_checked && fails_twice {
        // The answer that the ranks wait for changes while they ask.
        guard.0.retain(|literal| !matches!(literal.atom, Atom::True(_, Cause::Files)));
    }
    if paths.iter().any(|&path| model.is_injective(path)) {
        let is_of_host = |path: &Place| {
            let source = model.difference(*path).map(|own| own.source);
            source.is_some_and(|source| model.facts.gives(source, &[Effect::ReadsLocalRank]))
        };
        return Some(if paths.iter().any(is_of_host) { Fate::OncePerHost } else { Fate::Safe });
    }
    // `os.devnull` is written by all, and what is in memory or what the kernel shows is no file.
    let is_nowhere = |&path: &Place| {
        model.facts.gives(path, &[Effect::Idempotent])
            || model.text(path).is_some_and(|text| NO_FILES.iter().any(|own| text.starts_with(own)))
    };
    if paths.iter().any(|&path| is_path_of_one(model, path)) || paths.iter().any(is_nowhere) {
        return Some(Fate::Safe);
    }
    if untold::may_be_of_one(model, inputs, caller, call.block)
        || guard.is_all() && is_called_by_some(model, caller)
        || untold::is_of_replaced(model, caller)
        || paths.iter().any(|&path| untold::is_named_by_unknown(model, path))
    {
        return Some(Fate::Some);
    }
    Some(if guard.is_one_of_host() {
        Fate::OncePerHost
    } else if !guard.is_all() && !all_but_one {
        Fate::Some
    } else if paths
        .iter()
        .any(|&path| !is_read_alike(model, inputs, caller, path) || inputs.kept.may_give(model, path))
    {
        Fate::PathsMayMeet
    } else if is_checked && !fails_twice {
        Fate::IfMissing
    } else if !fails_twice
        && !model.facts.concerns_weights(caller.file, call)
        && paths.iter().any(|&path| inputs.contain(model, caller, path))
    {
        Fate::Input
    } else {
        let writers = match (all_but_one, is_any) {
            _ if is_checked => Writers::Racing,
            (true, _) => Writers::AllButOne,
            (_, true) => Writers::Any,
            _ => Writers::All,
        };
        Fate::Many { paths, writers, by: vec![(caller, id)] }
    })
}

/// Whether some ranks only come to each of the calls of a function, though not the same ones to all: `if rank == 0:
/// write(head)`, and `if rank == owner: write(table)`.
fn is_called_by_some(model: &Model<'_>, caller: Caller) -> bool {
    let function = model.facts.function_of(caller);
    let incoming = function.map_or(&[][..], |function| model.facts.incoming(function)).iter();
    let is_run = |edge: &&CallEdge| model.programs.iter().any(|program| model.facts.is_run(program, edge));
    let mut incoming = incoming.filter(is_run).peekable();
    let is_of_rank = |own: &guards::Literal| matches!(own.atom, Atom::Is(..) | Atom::True(_, Cause::Rank));
    incoming.peek().is_some()
        && incoming.all(|edge| {
            edge.call.is_some_and(|call| {
                let block = model.facts.module(edge.caller.file).call(call).block;
                model.guard(edge.caller, block).0.iter().any(is_of_rank)
            })
        })
}

/// A path, and what a call or an operator joins it of.
fn made_of(model: &Model<'_>, (file, path): Place) -> Vec<Place> {
    let module = model.facts.module(file);
    let parts = match module.value(path).value {
        Value::Call(call) => module.call(call).arguments.iter().map(|own| own.value).collect(),
        Value::Operator { left, right, .. } => vec![left, right],
        _ => Vec::new(),
    };
    std::iter::once(path).chain(parts).map(|value| (file, value)).collect()
}

/// Whether one rank writes to a path and the others nowhere: `path if hvd.rank() == 0 else '/dev/null'`.
fn is_path_of_one(model: &Model<'_>, (file, value): Place) -> bool {
    let module = model.facts.module(file);
    let chosen = module.value(value);
    let Value::Phi(parts) = &chosen.value else { return false };
    let [one, other] = parts[..] else { return false };
    let is_nowhere = |part: ValueId| {
        let is_temporary = |part: ValueId| model.facts.gives((file, part), &[Effect::Temporary]);
        // `tempfile.mkdtemp() + '/unused'`
        let is_within =
            || matches!(module.value(part).value, Value::Operator { left, .. } if is_temporary(left));
        model.text((file, part)).as_deref() == Some(NOWHERE) || is_temporary(part) || is_within()
    };
    let (path, nowhere) = match (is_nowhere(one), is_nowhere(other)) {
        (false, true) => (one, other),
        (true, false) => (other, one),
        _ => return false,
    };
    let blocks = &module.scope(module.code_scope(chosen.scope)).flow.blocks;
    let mut tests = blocks.iter().filter_map(|block| block.branch);
    let test = tests.find(|own| own.kind == BranchKind::If && chosen.range.contains_range(own.range));
    let Some((test, condition)) = test.and_then(|test| Some((test.range, test.condition?))) else {
        return false;
    };
    // In front of the test stands what is chosen if it is true. A value that other places have, too, tells nothing.
    let is_here = |part: ValueId| chosen.range.contains_range(module.value(part).range);
    let is_behind = |part: ValueId| module.value(part).range.start() >= test.end();
    let if_true = match (is_here(path), is_here(nowhere)) {
        (true, _) => !is_behind(path),
        (false, true) => is_behind(nowhere),
        (false, false) => return false,
    };
    model.literals((file, condition), if_true).is_one()
}

/// Whether all ranks come here but one: `if hvd.rank() != 0:`.
fn all_but_one(guard: &Guard) -> bool {
    !guard.0.is_empty()
        && guard.0.iter().all(|own| !own.holds && matches!(own.atom, Atom::Is(Number::World, _)))
}

/// What a call that writes files does.
enum Written {
    /// It writes a file of its own, to one of these paths as far as they can be seen.
    To(Vec<Place>),
    /// All ranks may do so, or the file is another call's.
    Harmless,
    /// It fetches a file.
    Fetched,
    /// It can't be seen where, or whether it does.
    Unknown,
}

/// What a call does that writes a file; `None` if it writes none.
fn written(model: &Model<'_>, file: FileId, id: CallId) -> Option<Written> {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    if call.kind != CallKind::Expression {
        return None;
    }
    let first = || call.arguments.first().map(|argument| (file, argument.value));
    if let Some(path) = modes::opened_for_writing(model, file, id) {
        // `h5py.File(io.BytesIO(), "w")` writes what is open already.
        let is_open = is_of_open_file(model, file, call);
        return Some(if is_open { Written::Harmless } else { Written::To(vec![path]) });
    }
    let written = estimators::written(model, file, id).or_else(|| session_hooks::written(model, file, id));
    if written.is_some() {
        return written;
    }
    let mut effects = EffectSet::NONE;
    for edge in facts.callees(file, id) {
        match facts.solution.object(edge.callee) {
            Object::Function(_) | Object::Class(_) => return None,
            _ if edge.via == crate::program::Via::Library => {}
            _ => effects = effects.union(facts.effects().of_edge(facts, edge).effects),
        }
    }
    let is_writer = facts.called_symbols(file, id).any(|symbol| {
        let returned = facts.library.returned_class(symbol);
        returned.is_some_and(|class| facts.library.kind_of_class(class) == Kind::SummaryWriter)
            && symbol.parameter(DIRECTORY).is_some()
    });
    if !is_writer && !effects.contains(Effect::WritesFile) {
        return None;
    }
    if effects.intersects(EffectSet::of_every_rank().with(Effect::Idempotent))
        || begins_run(model, file, id)
        || is_of_open_file(model, file, call)
        || is_told_once(model, file, id)
    {
        return Some(Written::Harmless);
    }
    // A file that is read too is a download: every rank needs it.
    if effects.contains(Effect::ReadsFile) {
        return Some(Written::Fetched);
    }
    let mut paths: Vec<Place> = Vec::new();
    if let Some(receiver) = facts.receiver(file, call) {
        for (object, _) in facts.objects(file, receiver) {
            // `tf.train.CheckpointManager(checkpoint, directory)`
            if let Some((of, made)) = facts.made_at(object) {
                let arguments = &facts.module(of).call(made).arguments;
                paths.extend(arguments.iter().map(|argument| (of, argument.value)));
            }
        }
        if facts
            .kind(facts.solution.values(file, receiver).first().copied()?)
            .is_none_or(|kind| matches!(kind, Kind::Path | Kind::Other))
        {
            paths.push((file, receiver));
        }
    }
    match destination::of(facts, file, id) {
        Some(Destination::Path(parts)) => return Some(Written::To(parts)),
        Some(Destination::Nowhere) => return Some(Written::Harmless),
        None => {}
    }
    match first() {
        Some(first) if call.arguments[0].passing == crate::semantic::Passing::Positional => {
            paths.insert(0, first);
        }
        _ => paths.extend(call.arguments.iter().map(|argument| (file, argument.value))),
    }
    paths.retain(|&(file, value)| {
        // Which model or array is written does not say where.
        ![Kind::Model, Kind::Optimizer, Kind::Checkpoint, Kind::Tensor, Kind::Variable]
            .into_iter()
            .any(|kind| facts.may_be(file, value, kind))
    });
    Some(Written::To(paths))
}

/// Whether a call begins a run that a service records, `wandb.init()`: each process has a folder of its own for it.
fn begins_run(model: &Model<'_>, file: FileId, id: CallId) -> bool {
    model.facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::DisabledByMode))
}

/// Whether a call writes to an open file, whose opening is what differs between ranks.
fn is_of_open_file(model: &Model<'_>, file: FileId, call: &Call) -> bool {
    let facts = model.facts;
    let is_file = |value| {
        facts.may_be(file, value, Kind::FileWriter)
            || facts.may_be(file, value, Kind::SummaryWriter)
            || facts.objects(file, value).any(|(id, _)| facts.builtin_class(id) == Some("file"))
    };
    facts.receiver(file, call).is_some_and(is_file)
        || call.arguments.iter().any(|argument| is_file(argument.value))
}

/// Whether a call is told not to mind that a directory exists, or that a file does not:
/// `os.makedirs(path, exist_ok=True)`, `path.unlink(missing_ok=True)`.
fn is_told_once(model: &Model<'_>, file: FileId, id: CallId) -> bool {
    ["exist_ok", "missing_ok"].into_iter().any(|parameter| is_told(model, file, id, parameter))
}

/// Whether a call is given `True` for a parameter.
fn is_told(model: &Model<'_>, file: FileId, id: CallId, parameter: &str) -> bool {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    let told =
        facts.called_symbols(file, id).find_map(|symbol| facts.argument(file, call, symbol, parameter));
    told.is_some_and(|told| {
        facts
            .objects(file, told.value)
            .any(|(_, object)| matches!(object, Object::Literal(Literal::Bool(true))))
    })
}

/// Whether a call fails if another rank has made it before: a directory is there already, a file is gone.
fn fails_twice(model: &Model<'_>, file: FileId, id: CallId) -> bool {
    model.facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::FailsTwice))
        && !is_told(model, file, id, "ignore_errors")
}

/// Whether a statement of the same code minds that a call fails: `try: os.makedirs(path)`.
fn is_tried(model: &Model<'_>, file: FileId, call: &Call) -> bool {
    let module = model.facts.module(file);
    let mut around = module.ancestor_ids(call.statement).map(|id| module.statement(id));
    around.any(|own| own.scope == call.scope && own.kind == StatementKind::Try)
}

/// Whether the file system is asked before: `if not os.path.exists(path): os.makedirs(path)`.
fn is_checked(model: &Model<'_>, inputs: &Inputs, file: FileId, call: &Call) -> bool {
    let caller = Caller { file, scope: call.scope };
    model.facts.conditions(caller, call.block).into_iter().any(|condition| {
        let Some(asked) = condition.branch.condition.map(|value| (file, value)) else { return false };
        model.difference(asked).is_some_and(|own| model.facts.gives(own.source, &[Effect::ReadsFile]))
            && !is_read_alike(model, inputs, caller, asked)
    })
}
