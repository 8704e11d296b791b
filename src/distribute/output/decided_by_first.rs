//! Rank 0 decides for all whether they train, where a program asks the file system or the like: `if not os.path.exists(weights):
//! model.fit(..)`. Each rank would ask for itself, and those that train would wait for the others for ever.

use super::super::INITIALISATION;
use super::super::awaited::{Question, questions_around};
use super::super::job::Job;
use super::super::step::Step;
use super::waiting::Waiting;
use crate::checks::{conditional_training_loop, object_created_conditionally};
use crate::finding::{Finding, Location};
use crate::program::TrainingLoop;

/// The steps by which rank 0 answers what decides whether a program comes to its training loops.
pub(in crate::distribute) fn steps(job: &Job<'_>) -> Vec<Step> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let mut found: Vec<Question> = Vec::new();
    for question in job.program.loops.iter().flat_map(|own| questions(job, own)) {
        if !found.contains(&question) {
            found.push(question);
        }
    }
    found.into_iter().map(|question| step(job, question)).collect()
}

/// Whether a finding is about a condition of a training loop, or of an optimizer, that rank 0 decides for all.
pub(in crate::distribute) fn is_decided(job: &Job<'_>, finding: &Finding) -> bool {
    let code = finding.rule.code;
    if code == conditional_training_loop::CHECK.rule.code {
        let is_shown = |question: Question| {
            let asked = job.facts.location(question.file, question.range);
            finding.labels.iter().any(|label| label.location == asked)
        };
        let is_of =
            |own: &&TrainingLoop| Location::new(own.caller.file, own.range) == finding.primary.location;
        return job.program.loops.iter().filter(is_of).flat_map(|own| questions(job, own)).any(is_shown);
    }
    code == object_created_conditionally::CHECK.rule.code && is_made_with_loop(job, finding.primary.location)
}

/// Whether what decides about making what stands somewhere decides about a training loop, too.
fn is_made_with_loop(job: &Job<'_>, place: Location) -> bool {
    let file = place.file;
    let made = job.calls_in(file).find(|&call| job.at_call(file, call) == place);
    let Some(asked) = made.and_then(|call| questions_around(job, file, call)) else { return false };
    let decided: Vec<Question> = job.program.loops.iter().flat_map(|own| questions(job, own)).collect();
    !asked.is_empty() && asked.iter().all(|question| decided.contains(question))
}

/// The questions that decide whether a rank comes to a loop, if nothing else does that ranks may find otherwise.
fn questions(job: &Job<'_>, own: &TrainingLoop) -> Vec<Question> {
    questions_around(job, own.caller.file, own.call).unwrap_or_default()
}

fn step(job: &Job<'_>, question: Question) -> Step {
    let asked = job.facts.location(question.file, question.range);
    let finding = Step::missing(&INITIALISATION.rule, asked, "each rank decides for itself whether to train")
        .here("another rank may find another answer")
        .help("let rank 0 answer for all: `hvd.broadcast_object`");
    let mut step = Step::change(finding, "let rank 0 answer for all", Vec::new(), Vec::new());
    Waiting { questions: vec![question], ..Waiting::default() }.add_to(job, &mut step);
    step
}
