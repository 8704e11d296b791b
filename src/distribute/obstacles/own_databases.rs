//! Databases in files that the program writes: `connection.execute("insert ..."); connection.commit()`. Each rank would add rows of its
//! own, and lock the file for the others.

use super::super::job::Job;
use super::super::step::Step;
use super::{first_call, obstacle};
use crate::finding::Rule;

/// What writes them.
const WRITING: [&str; 5] = [
    "sqlite3.Connection.commit",
    "sqlite3.Connection.executemany",
    "sqlite3.Connection.executescript",
    "sqlite3.Cursor.executemany",
    "sqlite3.Cursor.executescript",
];

/// The first call that does so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let (file, call) = first_call(job, WRITING)?;
    let finding = obstacle(rule, job.at_call(file, call), "the program writes a database")
        .help("open and write it on rank 0 alone: `if hvd.rank() == 0:`")
        .in_scope(job.scope_of(file, call));
    Some(Step::blocked(finding, "Every rank would write its own rows, and lock the file for the others."))
}
