//! How the other ranks wait for what rank 0 writes, if the program reads it later: behind the writing, or, where not all of
//! them come to it, in front of the reading.

use rustc_hash::FxHashSet;

use super::super::awaited::{
    Question, all_ranks_come_to, can_wait, past_handlers, questions_around, undecided,
};
use super::super::job::Job;
use super::super::meeting::Meeting;
use super::super::ranked::is_for_some;
use super::super::step::{Outcome, Step};
use super::downloads::missed_elsewhere;
use super::inputs::{Calls, names_input, own_effects};
use super::read_before;
use super::unknown_readers::is_named_by_command;
use crate::api::Effect;
use crate::program::{Caller, Spot};
use crate::project::FileId;
use crate::semantic::{Branch, BranchKind, CallId, StatementId, StatementKind, Suite};

/// Why what is written can't be awaited.
const NOWHERE: &str = "Rank 0 alone is to write what the program reads later, and there is no place at which all ranks could wait for it: \
     read it where all ranks come to, outside of conditions, handlers and graphs.";

/// Why what a handler writes can't be kept from who reads it.
const INSTEAD: &str = "While rank 0 writes the file, another rank may read the beginning of it, and not come to the handler: ask whether \
     the file exists, instead of catching the exception.";

/// Why rank 0 alone can't write what it may fail to.
const DECIDING: &str = "Only rank 0 would write, and come to the handler, which changes what the program goes on with: ask whether the \
     file exists, instead of catching the exception.";

/// Why a loop over a folder can't change the folder.
const LISTED: &str = "The loop goes over what it changes: another rank may list the files when rank 0 has begun to, and make fewer turns. \
     List them in a statement in front of the loop: `names = sorted(os.listdir(folder))`.";

/// How the other ranks wait for what rank 0 writes.
#[derive(Clone, Debug, Default)]
pub(in crate::distribute) struct Waiting {
    /// They wait behind the writing.
    pub(super) is_behind: bool,
    /// What rank 0 has to answer for them, so that all of them come to the writing.
    pub(super) questions: Vec<Question>,
    /// They wait in front of these statements.
    pub(super) in_front_of: Vec<(FileId, StatementId)>,
    /// Why they can't wait, though they would have to: a full sentence.
    pub(super) impossible: Option<&'static str>,
}

impl Waiting {
    /// How the ranks wait for what a call writes; `behind` is the statement that ends the writing.
    pub(super) fn for_written(job: &Job<'_>, write: (FileId, CallId), behind: Option<StatementId>) -> Self {
        let (file, call) = write;
        let facts = job.facts;
        if !job.program.already_distributed && is_decided_by_error(job, write) {
            return Self { impossible: Some(DECIDING), ..Self::default() };
        }
        let is_model = facts.concerns_weights(file, facts.module(file).call(call));
        if is_model {
            let found = Self::for_read(job, write, behind, job.inputs().weights_read());
            // `h5py.File("model.h5")`, `tf.lite.TFLiteConverter.from_saved_model("model")`
            let reads = || [job.inputs().read_at(job, write), job.inputs().read_unknown(job, write)].concat();
            return if found.is_due() { found } else { Self::for_unknown(job, write, behind, &reads()) };
        }
        if !names_input(job, file, call) {
            return Self::for_unknown(job, write, behind, &job.inputs().read_unknown(job, write));
        }
        let read = job.inputs().read_where(job, write);
        let found = Self::for_read(job, write, behind, &read);
        if found.is_due() || job.program.already_distributed {
            return found;
        }
        // Who reads instead of writing must not find what is half written.
        match questions_around(job, file, call) {
            Some(questions) => Self { questions, ..found },
            None if catches_reading(job, write, &read) => Self { impossible: Some(INSTEAD), ..found },
            None => found,
        }
    }

    /// The same for what may not be read at all, as far as is known, if they can simply wait behind the writing: by calls, or
    /// by commands of a notebook.
    fn for_unknown(
        job: &Job<'_>,
        write: (FileId, CallId),
        behind: Option<StatementId>,
        read: &[(FileId, CallId)],
    ) -> Self {
        let found = Self::for_read(job, write, behind, read);
        if found.is_behind && found.questions.is_empty() {
            return found;
        }
        let can_wait = || behind.is_some_and(|behind| can_wait_behind(job, write.0, behind));
        let is_simple =
            || questions_around(job, write.0, write.1).is_some_and(|questions| questions.is_empty());
        let is_behind = is_named_by_command(job, write) && can_wait() && is_simple();
        Self { is_behind, ..Self::default() }
    }

    /// The same, where it is known what may read it.
    pub(super) fn for_read(
        job: &Job<'_>,
        write: (FileId, CallId),
        behind: Option<StatementId>,
        read: &[(FileId, CallId)],
    ) -> Self {
        let is_later =
            |&&read: &&(FileId, CallId)| read != write && job.facts.may_follow(job.program, write, read);
        let mut later = read.iter().filter(is_later).peekable();
        if later.peek().is_none() {
            return Self::default();
        }
        if !job.program.already_distributed && loop_over_listed(job, write, || read.into()).is_some() {
            return Self { impossible: Some(LISTED), ..Self::default() };
        }
        let can_wait = behind.is_some_and(|behind| can_wait_behind(job, write.0, behind));
        if let Some(questions) = questions_around(job, write.0, write.1).filter(|_| can_wait) {
            return Self { is_behind: true, questions, ..Self::default() };
        }
        let places: Option<Vec<_>> = later.map(|&(file, call)| in_front_of(job, write, file, call)).collect();
        // A folder holds nothing yet; who reads waits for what is put there.
        let is_content = !own_effects(job, write.0, write.1).contains(Effect::FailsTwice);
        let is_impossible = places.is_none() && is_content && !job.program.already_distributed;
        let impossible = is_impossible.then_some(NOWHERE);
        let mut in_front_of: Vec<_> = places.into_iter().flatten().flatten().collect();
        in_front_of.sort_unstable();
        in_front_of.dedup();
        Self { in_front_of, impossible, ..Self::default() }
    }

    /// The same, and in front of the statement of calls that write they wait for those who still read what was there.
    pub(super) fn and_for_readers(
        mut self,
        job: &Job<'_>,
        writes: impl IntoIterator<Item = (FileId, CallId)>,
        (file, statement): (FileId, StatementId),
    ) -> Self {
        if writes.into_iter().any(|write| read_before::is_awaited(job, write, statement)) {
            self.in_front_of.push((file, statement));
        }
        self
    }

    /// Whether the ranks wait at all.
    pub(super) fn is_due(&self) -> bool {
        self.is_behind || !self.in_front_of.is_empty() || self.impossible.is_some()
    }

    /// Adds what has to be done for something else that is written at the same place.
    pub(super) fn join(&mut self, other: Self) {
        self.is_behind |= other.is_behind;
        self.impossible = self.impossible.or(other.impossible);
        self.questions.extend(other.questions);
        self.in_front_of.extend(other.in_front_of);
    }

    /// Adds the edits by which ranks wait elsewhere than behind the writing to the step that lets rank 0 write.
    pub(super) fn add_to(&self, job: &Job<'_>, step: &mut Step) {
        let Outcome::Change { edits, uses, .. } = &mut step.outcome else { return };
        for question in &self.questions {
            let Some(text) = job.text(question.file) else { continue };
            let meeting = Meeting::at(job, text, question.statement);
            edits.extend(meeting.answered_by_first(question.range));
            step.everywhere.extend(meeting.everywhere());
            uses.extend(meeting.uses());
        }
        for &(file, statement) in &self.in_front_of {
            let Some(text) = job.text(file) else { continue };
            let meeting = Meeting::at(job, text, statement);
            // In front of a guard that the step puts there, too.
            edits.splice(0..0, meeting.in_front());
            step.everywhere.extend(meeting.everywhere());
            uses.extend(meeting.uses());
        }
    }
}

/// Whether all ranks can wait behind a statement.
fn can_wait_behind(job: &Job<'_>, file: FileId, behind: StatementId) -> bool {
    can_wait(job, file, behind) && past_handlers(job.facts.module(file), behind).is_some()
}

/// Whether an error of a call that writes decides what the program goes on with: `try: os.makedirs(path)` and then `break`, or
/// `except FileExistsError: number += 1`.
fn is_decided_by_error(job: &Job<'_>, (file, write): (FileId, CallId)) -> bool {
    let module = job.facts.module(file);
    let statement = module.call(write).statement;
    let within = std::iter::once(statement).chain(module.ancestor_ids(statement));
    let mut tried = within.zip(module.ancestor_ids(statement)).filter(|&(own, around)| {
        module.statement(around).kind == StatementKind::Try && module.statement(own).suite == Suite::Body
    });
    tried.any(|(_, around)| {
        let mut below = module.statements_below(around).filter(|own| own.parent == Some(around));
        below.any(|own| match own.suite {
            Suite::Handler => !missed_elsewhere(job, file, own.range).is_empty(),
            Suite::Body => own.kind == StatementKind::Break,
            _ => false,
        })
    })
}

/// Whether a call writes in a handler of what may be raised by a call that reads.
fn catches_reading(job: &Job<'_>, (file, write): (FileId, CallId), read: &[(FileId, CallId)]) -> bool {
    let module = job.facts.module(file);
    let statement = module.call(write).statement;
    let around = || std::iter::once(statement).chain(module.ancestor_ids(statement));
    let handlers = around().filter(|&own| module.statement(own).suite == Suite::Handler);
    let mut tried = handlers.filter_map(|own| module.statement(own).parent);
    tried.any(|tried| {
        let range = module.statement(tried).range;
        read.iter().any(|&(of, call)| of == file && range.contains_range(module.call(call).range))
    })
}

/// The loop in whose turns a call writes, if it goes over what one of these calls lists there and then: `for name in
/// os.listdir(folder): os.remove(os.path.join(folder, name))`.
pub(super) fn loop_over_listed(
    job: &Job<'_>,
    write: (FileId, CallId),
    read: impl FnOnce() -> Calls,
) -> Option<StatementId> {
    let (file, call) = write;
    let facts = job.facts;
    let module = facts.module(file);
    let data = module.call(call);
    let branches = facts.conditions(Caller { file, scope: data.scope }, data.block).into_iter();
    let loops = branches.map(|own| own.branch).filter(|own| own.kind == BranchKind::For);
    let lists = |own: &Branch, among: &[(FileId, CallId)]| {
        among.iter().any(|&(of, call)| of == file && own.range.contains_range(module.call(call).range))
    };
    let inputs = job.inputs();
    // Few loops list anything, and it takes long to find what is read where a call writes.
    let listing: Vec<Branch> =
        loops.filter(|own| lists(own, inputs.all_data_read()) || lists(own, inputs.weights_read())).collect();
    if listing.is_empty() {
        return None;
    }
    let read = read();
    listing.into_iter().find(|own| lists(own, &read)).map(|own| own.statement)
}

/// The statements in front of which all ranks can wait for what a call reads that another call has written.
fn in_front_of(
    job: &Job<'_>,
    write: (FileId, CallId),
    file: FileId,
    call: CallId,
) -> Option<Vec<(FileId, StatementId)>> {
    let facts = job.facts;
    let writing = facts.leading_to(vec![facts.spot(write)], |edge| facts.is_run(job.program, edge));
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work = vec![(file, facts.module(file).call(call).statement)];
    while let Some((file, statement)) = work.pop() {
        if !seen.insert((file, statement)) {
            continue;
        }
        let module = facts.module(file);
        let at = undecided(job, file, statement);
        let own = module.statement(at);
        let caller = Caller { file, scope: own.scope };
        if is_for_some(job, caller, own.block, &mut FxHashSet::default()) {
            return None;
        }
        if all_ranks_come_to(job, file, at) && can_wait(job, file, at) {
            let is_within = |&(of, _, range): &Spot| of == caller && own.range.contains_range(range);
            if writing.iter().any(is_within) {
                return None;
            }
            found.push((file, at));
            continue;
        }
        for edge in facts.incoming(facts.function_of(caller)?) {
            if facts.is_run(job.program, edge) {
                let call = facts.call_in_place(edge)?;
                work.push((edge.caller.file, facts.module(edge.caller.file).call(call).statement));
            }
        }
    }
    Some(found)
}
