//! Commands that change files, `os.system("mkdir -p logs")` and `!unzip data.zip` in a notebook, are run by rank 0, and the other
//! ranks wait for it: they might read what a command brings, or lose what it removes.

use rustc_hash::FxHashSet;

use super::super::awaited::{can_wait, past_handlers, questions_of_block};
use super::super::callback::is_of_callback;
use super::super::job::Job;
use super::super::meeting::Meeting;
use super::super::ranked::{is_for_some, reads_rank};
use super::super::shell_lines::{self, changes_files, runs_command};
use super::super::step::Step;
use super::waiting::Waiting;
use crate::finding::{Location, Rule};
use crate::program::{Caller, Object};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{
    CallId, Constant, Container, Element, Operator, Role, StatementId, StatementKind, Value, ValueId,
};

/// Why a command can't be left to rank 0.
const NO_PLACE: &str = "Not all ranks come to it in the same way, so that they can't wait for rank 0 there: run it in front of the training.";

/// Why the result of a command can't be left out.
const USED: &str = "What it returns is used: run the command in a statement of its own.";

/// Why a cell can't be left to rank 0.
const CELL: &str = "A cell for the shell is run by each rank: write its commands in lines that begin with `!`, which rank 0 can be left \
     to run.";

/// Statements that follow one another and run commands.
struct Commands {
    first: StatementId,
    last: StatementId,
    /// Where each is written.
    places: Vec<Location>,
    /// Why it can't be left to rank 0, if one can't.
    obstacle: Option<&'static str>,
}

/// The commands that every rank would run.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let mut found: Vec<Step> = Vec::new();
    for file in job.program.files() {
        let mut all: Vec<Commands> = called(job, file).collect();
        if all.is_empty() && !job.facts.is_notebook(file) {
            continue;
        }
        let Some(text) = job.text(file) else { continue };
        all.extend(of_shell(text));
        all.retain(|own| is_for_all(job, text, own));
        all.sort_by_key(|own| own.first);
        all.dedup_by(|next, own| {
            let is_joined =
                own.obstacle.is_none() && next.obstacle.is_none() && text.follows(own.last, next.first);
            if is_joined {
                own.last = next.last;
                own.places.append(&mut next.places);
            }
            is_joined
        });
        found.extend(all.iter().map(|own| step(job, rule, text, own)));
    }
    found
}

/// The calls that run commands that change files.
fn called<'j>(job: &'j Job<'_>, file: FileId) -> impl Iterator<Item = Commands> + 'j {
    let facts = job.facts;
    let calls = job.calls_in(file).filter(move |&id| {
        runs_command(facts, file, id)
            && line(job, file, id).is_some_and(changes_files)
            && !facts.module(file).call(id).arguments.iter().any(|own| reads_rank(job, file, own.value))
    });
    calls.map(move |id| {
        let call = facts.module(file).call(id);
        let statement = facts.module(file).statement(call.statement);
        let is_used =
            call.role != Role::Statement || !matches!(statement.kind, StatementKind::Expression { .. });
        Commands {
            first: call.statement,
            last: call.statement,
            places: vec![job.at_call(file, id)],
            obstacle: is_used.then_some(USED),
        }
    })
}

/// The lines of a notebook that a shell runs.
fn of_shell(text: Text<'_>) -> impl Iterator<Item = Commands> {
    let lines = shell_lines::of_notebook(text).filter(|own| changes_files(own.line));
    lines.map(|own| Commands {
        first: own.statement,
        last: own.statement,
        places: vec![own.place],
        obstacle: own.is_cell.then_some(CELL),
    })
}

/// Whether every rank runs commands, and no callback, what those write being their rule's.
fn is_for_all(job: &Job<'_>, text: Text<'_>, own: &Commands) -> bool {
    let statement = text.module.statement(own.first);
    let caller = Caller { file: text.file, scope: statement.scope };
    !job.facts.function_of(caller).is_some_and(|function| is_of_callback(job, function))
        && !is_for_some(job, caller, statement.block, &mut FxHashSet::default())
}

fn step(job: &Job<'_>, rule: &'static Rule, text: Text<'_>, own: &Commands) -> Step {
    let statement = text.module.statement(own.first);
    let caller = Caller { file: text.file, scope: statement.scope };
    let (first, others) = own.places.split_first().expect("there is one");
    let mut finding = Step::missing(rule, *first, "every rank runs a command that changes files")
        .here("run by each rank")
        .help("let rank 0 run it: `if hvd.rank() == 0:`")
        .in_scope(job.facts.scope_name(caller));
    for place in others {
        finding = finding.label(*place, "and here");
    }
    if let Some(reason) = own.obstacle {
        return Step::blocked(finding, reason);
    }
    let can_wait = can_wait(job, text.file, own.first) && past_handlers(text.module, own.first).is_some();
    let questions = questions_of_block(job, caller, statement.block, own.first).filter(|_| can_wait);
    let Some(questions) = questions else { return Step::blocked(finding, NO_PLACE) };
    let code = job.code(text.file, statement.scope);
    let mut edits = text.guard(own.first, own.last, &format!("if {}:", code.is_first()));
    let meeting = Meeting::at(job, text, own.last);
    edits.extend(meeting.behind());
    let mut step = code.step(Step::change(finding, "let rank 0 run it", edits, meeting.uses().collect()));
    Waiting { is_behind: true, questions, ..Waiting::default() }.add_to(job, &mut step);
    step
}

/// The first text of what a call runs, if it is written: of `"rm -rf " + folder`, and of `["rm", "-rf", folder]`.
fn line<'j>(job: &'j Job<'_>, file: FileId, id: CallId) -> Option<&'j str> {
    let facts = job.facts;
    let module = facts.module(file);
    let mut value: ValueId = module.call(id).arguments.first()?.value;
    loop {
        value = match &module.value(value).value {
            Value::Constant(Constant::Str(text)) => {
                return Some(module.names.text(*text));
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
