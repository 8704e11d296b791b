//! What the checks of the group `ranks` say of random programs, and what goes wrong when a model runs them on two and
//! three ranks.
//!
//! Where broadcasts stand where all ranks come in any case, what goes wrong is found, at least as possible, and nothing
//! else is said for certain. A broadcast under a condition that all ranks share is taken to be made, as programs
//! broadcast in their first turn: there the only promise is to say nothing for certain of a good program. Neither holds
//! of what numbers decide that only a run tells; the programs here don't rest on these.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "../support/mod.rs"]
mod support;

mod language;
mod model;
mod python;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use language::{Broadcasts, Program, program};
use model::{Fault, faults};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use support::run;
use tempfile::TempDir;

/// How many programs are examined at once.
const TOGETHER: usize = 120;

/// What a check says goes wrong.
fn fault(code: &str) -> Fault {
    match code {
        "HVD301" => Fault::OutOfStep,
        "HVD302" => Fault::Diverged,
        "HVD305" => Fault::Overwritten,
        "HVD306" => Fault::Unbound,
        other => panic!("{other} is nothing that the model decides"),
    }
}

/// What the checks say of a program.
#[derive(Clone, Debug, Default)]
struct Found {
    certain: BTreeSet<Fault>,
    /// The certain ones, too.
    possible: BTreeSet<Fault>,
}

/// What the checks say of each program.
fn found(programs: &[&Program]) -> Vec<Found> {
    let folder = TempDir::new().unwrap();
    let mut numbers = BTreeMap::new();
    for (number, program) in programs.iter().enumerate() {
        let name = format!("program_{number}.py");
        std::fs::write(folder.path().join(&name), python::text(program)).unwrap();
        numbers.insert(name, number);
    }
    let arguments = [
        "check",
        "--isolated",
        "--select",
        "HVD301,HVD302,HVD305,HVD306",
        "--confidence",
        "possible",
        "--output",
        "json",
        ".",
    ];
    let report = run(folder.path(), &arguments).json();
    let mut found = vec![Found::default(); programs.len()];
    for finding in report["findings"].as_array().unwrap() {
        let path = finding["path"].as_str().unwrap();
        let name = path.rsplit(['/', '\\']).next().unwrap();
        let (found, fault) = (&mut found[numbers[name]], fault(finding["code"].as_str().unwrap()));
        found.possible.insert(fault);
        if finding["confidence"] == "certain" {
            found.certain.insert(fault);
        }
    }
    found
}

/// Examines some programs; `is_right` judges what goes wrong in each, and what is found.
fn compare(broadcasts: Broadcasts, is_right: impl Fn(&BTreeSet<Fault>, &Found) -> bool) {
    let config = Config { cases: 2, max_shrink_iters: 8, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let seen: RefCell<BTreeMap<Option<Fault>, usize>> = RefCell::default();
    let programs = prop::collection::vec(program(broadcasts), TOGETHER);
    let result = runner.run(&programs, |programs| {
        let judged: Vec<(&Program, BTreeSet<Fault>)> =
            programs.iter().filter_map(|program| Some((program, faults(program)?))).collect();
        let examined: Vec<&Program> = judged.iter().map(|(program, _)| *program).collect();
        for ((program, wrong), found) in judged.iter().zip(found(&examined)) {
            let mut seen = seen.borrow_mut();
            for &fault in wrong {
                *seen.entry(Some(fault)).or_default() += 1;
            }
            *seen.entry(None).or_default() += usize::from(wrong.is_empty());
            prop_assert!(is_right(wrong, &found), "goes wrong: {wrong:?}, found: {found:?} in {program:?}");
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let seen = seen.into_inner();
    assert!(seen.len() == 5 && seen.values().all(|&count| count >= 4), "programs of all kinds: {seen:?}");
}

#[test]
fn what_goes_wrong_is_found_and_nothing_else_is_certain() {
    compare(Broadcasts::Always, |wrong, found| {
        // Ranks that wait for ever, or fail, do not come to the rest.
        let ends = !wrong.contains(&Fault::OutOfStep) && !wrong.contains(&Fault::Unbound);
        if ends {
            found.certain.is_subset(wrong) && wrong.is_subset(&found.possible)
        } else {
            !wrong.is_disjoint(&found.possible)
        }
    });
}

#[test]
fn good_programs_are_not_reported_wherever_they_broadcast() {
    compare(Broadcasts::Anywhere, |wrong, found| !wrong.is_empty() || found.certain.is_empty());
}
