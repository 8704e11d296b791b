//! Commands that change files, `os.system("mkdir -p logs")`, are run by rank 0, and the other ranks wait for it: they might read
//! what the command brings, or lose what it removes.

use super::super::awaited::{can_wait, past_handlers, questions_around};
use super::super::callback::is_of_callback;
use super::super::job::Job;
use super::super::meeting::Meeting;
use super::super::ranked::{is_for_one_rank, reads_rank};
use super::super::step::Step;
use super::waiting::Waiting;
use crate::finding::Rule;
use crate::program::{Caller, Object};
use crate::project::FileId;
use crate::semantic::{CallId, Constant, Container, Element, Operator, Role, StatementKind, Value, ValueId};

/// The functions that run a command.
const RUNNING: [&str; 6] = [
    "os.popen",
    "os.system",
    "subprocess.Popen",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.run",
];

/// The commands that change files.
const CHANGING: [&str; 18] = [
    "aws", "cp", "curl", "ffmpeg", "git", "gsutil", "gunzip", "gzip", "ln", "mkdir", "mv", "rm", "rmdir",
    "rsync", "tar", "touch", "unzip", "wget",
];

/// Why a command can't be left to rank 0.
const NO_PLACE: &str = "Not all ranks come to it in the same way, so that they can't wait for rank 0 there: run it in front of the training.";

/// Why the result of a command can't be left out.
const USED: &str = "What it returns is used: run the command in a statement of its own.";

/// The commands that every rank would run.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let facts = job.facts;
    let running = RUNNING.map(|name| facts.library.lookup(name));
    // What callbacks write is the callbacks' rule.
    let is_of_callback = |file: FileId, id: CallId| {
        let caller = Caller { file, scope: facts.module(file).call(id).scope };
        facts.function_of(caller).is_some_and(|own| is_of_callback(job, own))
    };
    let commands = job.calls().filter(|&(file, id)| {
        facts.called_symbols(file, id).any(|own| running.contains(&Some(own)))
            && !is_of_callback(file, id)
            && word(job, file, id).is_some_and(|own| CHANGING.contains(&own))
            && !is_for_one_rank(job, file, id)
            && !facts.module(file).call(id).arguments.iter().any(|own| reads_rank(job, file, own.value))
    });
    commands.filter_map(|(file, id)| step(job, rule, file, id)).collect()
}

fn step(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let text = job.text(file)?;
    let call = text.module.call(id);
    let finding = Step::missing(rule, job.at_call(file, id), "every rank runs a command that changes files")
        .here("run by each rank")
        .help("let rank 0 run it: `if hvd.rank() == 0:`")
        .in_scope(job.scope_of(file, id));
    let statement = text.module.statement(call.statement);
    if call.role != Role::Statement || !matches!(statement.kind, StatementKind::Expression { .. }) {
        return Some(Step::blocked(finding, USED));
    }
    let can_wait =
        can_wait(job, file, call.statement) && past_handlers(text.module, call.statement).is_some();
    let Some(questions) = questions_around(job, file, id).filter(|_| can_wait) else {
        return Some(Step::blocked(finding, NO_PLACE));
    };
    let code = job.code(file, call.scope);
    let mut edits = text.guard(call.statement, call.statement, &format!("if {}:", code.is_first()));
    let meeting = Meeting::at(job, text, call.statement);
    edits.extend(meeting.behind());
    let mut step = code.step(Step::change(finding, "let rank 0 run it", edits, meeting.uses().collect()));
    Waiting { is_behind: true, questions, ..Waiting::default() }.add_to(job, &mut step);
    Some(step)
}

/// The first word of what a call runs, if it is written: of `"rm -rf " + folder`, and of `["rm", "-rf", folder]`.
fn word<'j>(job: &'j Job<'_>, file: FileId, id: CallId) -> Option<&'j str> {
    let facts = job.facts;
    let module = facts.module(file);
    let mut value: ValueId = module.call(id).arguments.first()?.value;
    loop {
        value = match &module.value(value).value {
            Value::Constant(Constant::Str(text)) => {
                return module.names.text(*text).split_whitespace().next();
            }
            Value::Display(Container::List | Container::Tuple, elements) => match elements.first()? {
                Element::At(_, first) => *first,
                _ => return None,
            },
            Value::Operator { operator: Operator::Binary(_), left, .. } => *left,
            // `"mkdir {}".format(folder)`
            Value::Call(call) => {
                let mut callees = facts.callees(file, *call).iter();
                let is_of_text = callees
                    .any(|edge| matches!(facts.solution.object(edge.callee), Object::BuiltinMethod(..)));
                facts.receiver(file, module.call(*call)).filter(|_| is_of_text)?
            }
            _ => return None,
        };
    }
}
