//! Files that stay open and summary writers: on the other ranks they go nowhere.

use super::super::bound::end_of_use;
use super::super::job::Job;
use super::super::meeting::Meeting;
use super::super::ranked::{is_for_one_rank, reads_rank};
use super::super::started::runs_started;
use super::super::step::Step;
use super::waiting::Waiting;
use crate::api::{Effect, Kind, Parameter, Symbol};
use crate::finding::{Finding, Rule};
use crate::project::FileId;
use crate::semantic::{Argument, Call, CallId, Role, Value, ValueId};
use crate::syntax::TextRange;

/// Where ranks write what only one rank keeps.
pub(crate) const NOWHERE: &str = "/dev/null";

/// The files that every rank opens for writing.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut found = Vec::new();
    let preparations = job.preparations();
    let of_graphs = job.facts.library.lookup(WRITER_OF_GRAPHS);
    // TensorFlow 1 has no writer that writes nothing.
    let is_old = job.facts.is_program_of_tensorflow_1(job.program);
    for (file, id) in job.calls() {
        let call = job.facts.module(file).call(id);
        let writers = || job.facts.called_symbols(file, id).filter(|symbol| makes_writer(job, symbol));
        let is_of_graphs = |own| is_old || job.facts.library.returned_class(own) == of_graphs;
        let step = if writers().any(|own| own.is_class() || is_of_graphs(own)) {
            file_writer(job, rule, file, id)
        } else if writers().next().is_some() {
            summary_writer(job, rule, file, id)
        } else if is_profile(job, file, id) {
            profile(job, rule, file, id)
        } else if job.facts.opens_for_writing(file, call) {
            let path = call.arguments.first().filter(|own| !is_open_already(job, file, id, own));
            path.and_then(|path| opened(job, rule, (file, id), path))
        } else if let Some(path) = kept_writer(job, file, id) {
            opened(job, rule, (file, id), path)
        } else if let Some(path) = job.facts.log_file(file, id) {
            if runs_started(job, file, id) {
                opened(job, rule, (file, id), path)
            } else {
                let finding = finding(job, rule, file, id, "every rank writes the same file");
                found.push(Step::blocked(finding, TOO_EARLY));
                None
            }
        } else {
            None
        };
        if let Some(step) = step
            && runs_started(job, file, id)
            && !is_for_one_rank(job, file, id)
            && !preparations.contain(job, file, id)
        {
            found.push(step);
        }
    }
    found
}

/// The class of TensorFlow 1's writers of summaries.
const WRITER_OF_GRAPHS: &str = "tensorflow.compat.v1.summary.FileWriter";

/// The parameter of summary writers that write somewhere.
const DIRECTORY: &str = "logdir";

fn finding(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId, message: &str) -> Finding {
    Step::missing(rule, job.at_call(file, id), message)
        .here("opened by each rank")
        .help("open it on rank 0 only")
        .in_scope(job.scope_of(file, id))
}

/// Whether a call of a symbol makes a writer of events that is told where to write.
fn makes_writer(job: &Job<'_>, symbol: &Symbol) -> bool {
    let library = job.facts.library;
    let class = library.returned_class(symbol);
    class.is_some_and(|class| library.kind_of_class(class) == Kind::SummaryWriter)
        && !symbol.has(Effect::Shards)
        && symbol.parameter(DIRECTORY).is_some()
}

/// `FileWriter(d)` of TensorFlow 1, which has no counterpart that writes nothing: the other ranks write into a folder that
/// nobody keeps. By themselves the names of its files tell hosts and seconds apart, and no ranks.
fn file_writer(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let given =
        facts.called_symbols(file, id).find_map(|symbol| facts.argument(file, call, symbol, DIRECTORY))?;
    if differs_between_ranks(job, file, call) || facts.is_none(file, given.value) {
        return None;
    }
    let text = job.text(file)?;
    let code = job.code(file, call.scope);
    let (tempfile, temporary) = job.temporary(file);
    let other = format!(" if {} else {tempfile}.mkdtemp()", code.is_first());
    let edits = if text.binds_like_a_product(given.range) {
        vec![text.insert(given.range.end(), other)]
    } else {
        text.wrap(given.range, "(", &format!("){other}"))
    };
    let finding = finding(job, rule, file, id, "every rank writes the same event file");
    let imports = vec![code.import, temporary];
    Some(code.step(Step::change(finding, "keep the events of rank 0 only", edits, imports)))
}

/// `tf.summary.create_file_writer(d)`: the other ranks get a writer that writes nothing.
fn summary_writer(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let call = job.facts.module(file).call(id);
    if differs_between_ranks(job, file, call) {
        return None;
    }
    let text = job.text(file)?;
    let code = job.code(file, call.scope);
    let (tf, tensorflow) = job.tensorflow(file);
    let other = format!(" if {} else {tf}.summary.create_noop_writer()", code.is_first());
    let edits = if matches!(call.role, Role::Assigned | Role::Stored) {
        vec![text.insert(call.range.end(), other)]
    } else {
        text.wrap(call.range, "(", &format!("{other})"))
    };
    let finding = finding(job, rule, file, id, "every rank writes the same event file");
    Some(code.step(Step::change(
        finding,
        "write events on rank 0 only",
        edits,
        vec![code.import, tensorflow],
    )))
}

/// Whether a call makes what writes in the block that it manages, of which the block knows nothing: `with
/// tf.profiler.experimental.Profile(d):`, `with mlflow.start_run():`.
fn is_profile(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let call = module.call(id);
    let writes = |symbol: &Symbol| {
        symbol.has(Effect::WritesFile) && (!symbol.is_class() || symbol.parameter(DIRECTORY).is_some())
    };
    let is_named = || {
        let entered =
            |value: ValueId| matches!(module.value(value).value, Value::Enter(own) if own == call.result);
        module.definitions.iter().any(|own| entered(own.value))
    };
    call.role == Role::Managed
        && facts.called_symbols(file, id).any(writes)
        && !facts.may_be(file, call.result, Kind::SummaryWriter)
        && !facts.may_be(file, call.result, Kind::FileWriter)
        && !facts.opens(file, call)
        && !is_named()
}

/// The other ranks run the block as it is.
fn profile(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let call = job.facts.module(file).call(id);
    if differs_between_ranks(job, file, call) {
        return None;
    }
    let text = job.text(file)?;
    let code = job.code(file, call.scope);
    let (contextlib, contexts) = job.contexts(file);
    let other = format!(" if {} else {contextlib}.nullcontext()", code.is_first());
    let edits = vec![text.insert(call.range.end(), other)];
    let finding = finding(job, rule, file, id, "every rank writes the same file");
    Some(code.step(Step::change(
        finding,
        "write the file on rank 0 only",
        edits,
        vec![code.import, contexts],
    )))
}

/// The path of the file of a writer that stays open outside of a block: `writer = tf.io.TFRecordWriter(path)`.
fn kept_writer<'c>(job: &Job<'c>, file: FileId, id: CallId) -> Option<&'c Argument> {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let writes = |own: &&Symbol| {
        own.is_class() && own.has(Effect::WritesFile) && facts.library.kind_of_class(own) == Kind::FileWriter
    };
    let writer = facts.called_symbols(file, id).find(writes)?;
    let (path, is_kept) = (writer.parameters().first()?, call.role != Role::Managed);
    facts.argument(file, call, writer, path.name()).filter(|_| is_kept)
}

/// What asks the name of its file how to write it, and can't write what is no file.
const EXCEL: [&str; 2] = ["pandas.ExcelWriter", "xlsxwriter.Workbook"];

/// What makes a folder and writes into that.
const FOLDERS: [&str; 1] = ["tensorflow.compat.v1.saved_model.Builder"];

/// Why the other ranks can't be kept from a file.
const TOO_EARLY: &str = "It is opened before Horovod is started, which tells the rank.";

/// Why the other ranks can't be given a file of their own.
const CHANGED: &str = "It changes a file that is there already, of which the other ranks have no copy.";

/// Why a path can't be replaced.
const READ_TOO: &str = "Files that the program reads are opened here, too: what is written should be opened by a call of its own.";

/// Why the other ranks can't be given the null device.
const RENAMED: &str = "It renames its file when it begins another one, which must not happen to the null device of other ranks.";

/// `open(path, "w")`: the other ranks open the null device, or a file that nobody keeps where it has to be one. If the program
/// reads the file, they wait for it.
fn opened(job: &Job<'_>, rule: &'static Rule, (file, id): (FileId, CallId), path: &Argument) -> Option<Step> {
    let call = job.facts.module(file).call(id);
    if differs_between_ranks(job, file, call) {
        return None;
    }
    if job.facts.called_symbols(file, id).any(|own| own.has(Effect::KeepsLog) && own.has(Effect::FailsTwice))
    {
        return Some(Step::blocked(finding(job, rule, file, id, "every rank writes the same file"), RENAMED));
    }
    let facts = job.facts;
    let opens = facts.opens_for_writing(file, call);
    let is_other = opens && !facts.opens_stream(file, call);
    if is_other && !facts.begins_anew(file, call) || facts.opens_to_change(file, call) {
        return Some(Step::blocked(finding(job, rule, file, id, "every rank writes the same file"), CHANGED));
    }
    if facts.opens_for_both(file, call) {
        return Some(Step::blocked(
            finding(job, rule, file, id, "every rank writes the same file"),
            READ_TOO,
        ));
    }
    let makes_folder = facts.called_symbols(file, id).any(|own| FOLDERS.contains(&own.name()));
    let needs_file = is_other || makes_folder || facts.opens_new_or_to_read(file, call);
    let text = job.text(file)?;
    let code = job.code(file, call.scope);
    let mut imports = vec![code.import];
    let excel = EXCEL.map(|name| job.facts.library.lookup(name));
    let is_excel = job.facts.called_symbols(file, id).any(|own| excel.contains(&Some(own)));
    let nowhere = if needs_file || is_excel {
        let (tempfile, temporary) = job.temporary(file);
        imports.push(temporary);
        format!("{tempfile}.mkdtemp() + '/unused{}'", if is_excel { ".xlsx" } else { "" })
    } else {
        format!("'{NOWHERE}'")
    };
    let other = format!(" if {} else {nowhere}", code.is_first());
    let mut edits = if job.facts.path_asked(file, call).is_some() {
        // `path.open(mode)` is `open(path, mode)`.
        let (path, _) = text.slice(call.callee_range).rsplit_once('.')?;
        let mode = call.arguments.first()?.range.start();
        let callee = TextRange::new(call.callee_range.start(), mode);
        vec![text.replace(callee, format!("open({path}{other}, "))]
    } else if text.binds_like_a_product(path.range) {
        vec![text.insert(path.range.end(), other)]
    } else {
        text.wrap(path.range, "(", &format!("){other}"))
    };
    let mut managers = text.module.managers.iter();
    let block = managers.find(|(manager, _)| *manager == call.result);
    let end = block.map_or_else(|| end_of_use(text.module, call), |&(_, block)| Some(block));
    let waiting =
        Waiting::for_written(job, (file, id), end).and_for_readers(job, [(file, id)], (file, call.statement));
    let finding = finding(job, rule, file, id, "every rank writes the same file");
    if let Some(reason) = waiting.impossible {
        return Some(Step::blocked(finding, reason));
    }
    if let Some(end) = end.filter(|_| waiting.is_behind) {
        let meeting = Meeting::at(job, text, end);
        edits.extend(meeting.behind());
        imports.extend(meeting.uses());
    }
    let change = Step::change(finding, "write the file on rank 0 only", edits, imports);
    let mut step = code.step(change);
    waiting.add_to(job, &mut step);
    Some(step)
}

/// Whether the first argument of a call that opens a file is no path but something to write to: `ZipFile(io.BytesIO(), "w")`,
/// `tarfile.open(fileobj=stream, mode="w")`.
fn is_open_already(job: &Job<'_>, file: FileId, id: CallId, first: &Argument) -> bool {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let is_stream = |own: &Symbol| {
        facts.library.lookup("io.IOBase").is_some_and(|stream| facts.library.is_subclass(own, stream))
            || facts.library.kind_of_class(own) == Kind::FileWriter
    };
    let is_first = |symbol: &Symbol| {
        let name = symbol.parameters().first().map(Parameter::name);
        let given = name.and_then(|name| facts.argument(file, call, symbol, name));
        given.is_some_and(|own| own.value == first.value)
    };
    !facts.opens_stream(file, call)
        && (!facts.called_symbols(file, id).any(is_first)
            || facts.is_none(file, first.value)
            || facts.objects(file, first.value).any(|(_, own)| facts.symbol(own).is_some_and(is_stream)))
}

/// Whether an argument depends on the rank: each rank has a file of its own.
fn differs_between_ranks(job: &Job<'_>, file: FileId, call: &Call) -> bool {
    call.arguments.iter().any(|argument| reads_rank(job, file, argument.value))
}
