//! The lines at which the ranks wait for each other, or are told something. Where graphs are made for sessions of TensorFlow 1,
//! but none of those is in charge, collectives bring a graph and a session of their own, which leave the GPUs alone: a process
//! takes those that the first session on them is shown.

use super::awaited::{lacks_session, past_handlers};
use super::job::Job;
use super::names::{Import, fresh};
use super::unstarted::{Code, Runs};
use crate::finding::Edit;
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{Call, StatementId, StatementKind};
use crate::syntax::TextRange;

/// What rank 0 answers is called.
const ASKED: &str = "asked";

/// A statement that all ranks come to, and meet behind it or in front of it.
pub(super) struct Meeting<'t> {
    text: Text<'t>,
    statement: StatementId,
    code: Code,
    /// TensorFlow's name, where collectives need a session of their own, and the import of it.
    session: Option<(String, (FileId, Import))>,
}

impl<'t> Meeting<'t> {
    pub(super) fn at(job: &Job<'_>, text: Text<'t>, statement: StatementId) -> Self {
        let code = job.code(text.file, text.module.statement(statement).scope);
        let is_alone = lacks_session(job, text.file, statement);
        Self { text, statement, code, session: is_alone.then(|| job.tensorflow(text.file)) }
    }

    /// The edits by which the ranks wait for each other behind the statement, and what catches an exception of it.
    pub(super) fn behind(&self) -> Vec<Edit> {
        let place = past_handlers(self.text.module, self.statement).unwrap_or(self.statement);
        self.lines_behind(place, vec![self.wait()])
    }

    /// The same in front of it.
    pub(super) fn in_front(&self) -> Vec<Edit> {
        let lines = self.collectives(vec![self.wait()]);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.text.above(self.statement, &lines)
    }

    /// The edits by which all ranks but the first wait in front of the statement, until the first has `last` behind it. None where
    /// that takes a session of their own, which would come and go under a condition.
    pub(super) fn first_goes(&self, last: StatementId) -> Option<Vec<Edit>> {
        if self.session.is_some() {
            return None;
        }
        let wait_if =
            |condition: String| [format!("if {condition}:"), format!("{}{}", self.text.unit(), self.wait())];
        let (others, first) = (wait_if(self.code.is_other()), wait_if(self.code.is_first_of_several()));
        let mut edits = self.text.above(self.statement, &others.each_ref().map(String::as_str));
        edits.extend(self.text.after(last, &first.each_ref().map(String::as_str)));
        Some(edits)
    }

    /// The edits by which rank 0 tells the others behind the statement what variables are; they wait for it. None where only
    /// Horovod's module for Keras is at hand, which broadcasts numbers.
    pub(super) fn tell_behind(&self, names: &[&str]) -> Option<Vec<Edit>> {
        let hvd = &self.code.horovod;
        let tell = |name: &&str| format!("{name} = {hvd}.broadcast_object({name}, name='{name}')");
        let is_able = self.code.import.1 == Import::Horovod
            && past_handlers(self.text.module, self.statement) == Some(self.statement);
        is_able.then(|| self.lines_behind(self.statement, names.iter().map(tell).collect()))
    }

    /// The edits by which rank 0 answers for the others what the statement asks first.
    pub(super) fn answered_by_first(&self, condition: TextRange) -> Vec<Edit> {
        let hvd = &self.code.horovod;
        if self.session.is_some() {
            return self.told_in_front(condition, ASKED);
        }
        let (before, behind) = match self.code.import.1 {
            Import::HorovodKeras => (format!("{hvd}.broadcast(bool("), format!("), 0, name='{ASKED}')")),
            _ => (format!("{hvd}.broadcast_object("), format!(", name='{ASKED}')")),
        };
        let otherwise = match self.code.runs {
            Runs::Started => String::new(),
            Runs::Anywhere => format!(" if {hvd}.is_initialized() else {}", self.text.slice(condition)),
        };
        self.text.wrap(condition, &before, &format!("{behind}{otherwise}"))
    }

    /// The edits by which rank 0 tells the others what time it is, where Horovod is started; `None` where that
    /// takes a session of their own in front of the statement, but the clock is not asked first or not once.
    pub(super) fn told_name(&self, asked: &Call) -> Option<Vec<Edit>> {
        if self.session.is_none() {
            let told = format!("{}.broadcast_object(", self.code.horovod);
            // Before Python 3.12 no quote may stand within an f-string that is the f-string's own.
            let module = self.text.module;
            let mut templates = module.templates.iter().map(|&(value, _)| module.value(value).range);
            let is_in_text = templates.any(|own| own.contains_range(asked.range));
            let name = if is_in_text { ")" } else { ", name='name')" };
            return Some(self.text.wrap(asked.range, &told, name));
        }
        let statement = self.text.module.statement(self.statement);
        let is_simple =
            matches!(statement.kind, StatementKind::Assign { .. } | StatementKind::Expression { .. });
        (is_simple && asked.scope == statement.scope).then(|| self.told_in_front(asked.range, "name"))
    }

    /// The edits by which an expression is computed in front of the statement, and what it is on rank 0 told to all.
    fn told_in_front(&self, expression: TextRange, wish: &str) -> Vec<Edit> {
        let name = fresh(self.text.module, wish);
        let told = format!("{name} = {}.broadcast_object({name}, name='{wish}')", self.code.horovod);
        let lines = self.collectives(vec![told]);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.text.hoist_with(self.statement, &[(expression, &name)], &lines)
    }

    /// The names that these edits use, Horovod's and that of the session.
    pub(super) fn uses(&self) -> impl Iterator<Item = (FileId, Import)> {
        let session = self.session.as_ref().map(|(_, import)| *import);
        std::iter::once(self.code.import).chain(session)
    }

    /// The file, if the edits are right also where Horovod is not started.
    pub(super) fn everywhere(&self) -> Vec<FileId> {
        self.code.everywhere()
    }

    /// The line at which ranks wait for each other; Horovod's module for Keras broadcasts numbers only.
    fn wait(&self) -> String {
        let hvd = &self.code.horovod;
        match self.code.import.1 {
            Import::HorovodKeras => format!("{hvd}.broadcast(0, 0, name='written')"),
            _ => format!("{hvd}.broadcast_object(0, name='written')"),
        }
    }

    fn lines_behind(&self, place: StatementId, lines: Vec<String>) -> Vec<Edit> {
        let lines = self.collectives(lines);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.text.after(place, &lines)
    }

    /// Lines of collectives, in a session of their own if need be, and only where Horovod is started.
    fn collectives(&self, lines: Vec<String>) -> Vec<String> {
        let lines = match &self.session {
            None => lines,
            Some((tf, _)) => {
                let config = format!("{tf}.compat.v1.ConfigProto(device_count={{'GPU': 0}})");
                let header =
                    format!("with {tf}.Graph().as_default(), {tf}.compat.v1.Session(config={config}):");
                let deeper = lines.iter().map(|line| format!("{}{line}", self.text.unit()));
                std::iter::once(header).chain(deeper).collect()
            }
        };
        self.code.if_started(self.text, &lines)
    }
}
