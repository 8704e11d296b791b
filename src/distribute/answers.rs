//! Answers to a question about values, each of which is found once, however many programs ask.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::program::{Facts, Place};

/// What is known of each value of a project.
#[derive(Debug)]
pub(super) struct Answers(Vec<AtomicU8>);

/// How an answer is written down; nothing is known where there is none of these.
const NO: u8 = 1;
const YES: u8 = 2;

impl Answers {
    /// Nothing is known of any value.
    pub(super) fn none_of(facts: &Facts<'_>) -> Self {
        let count = facts.modules.list.iter().map(|module| module.values.len()).sum();
        Self(std::iter::repeat_with(AtomicU8::default).take(count).collect())
    }

    /// The answer for a value; `find` finds it where it is not known yet. Several threads may find the same at once.
    pub(super) fn get_or(
        &self,
        facts: &Facts<'_>,
        (file, value): Place,
        find: impl FnOnce() -> bool,
    ) -> bool {
        let answer = &self.0[facts.solution.node(file, value).index()];
        match answer.load(Ordering::Relaxed) {
            NO => false,
            YES => true,
            _ => {
                let found = find();
                answer.store(if found { YES } else { NO }, Ordering::Relaxed);
                found
            }
        }
    }
}
