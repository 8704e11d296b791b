//! The generated programs are what the differential test takes them for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tempfile::TempDir;

use crate::departures::departed;
use crate::generate::{Program, programs};
use crate::rules::{Pattern, transformed};
use crate::show::{diff, source};
use crate::support::{folder, run};
use crate::tree::{equal, statements};

/// A folder with the programs, each a project's module of its own.
pub fn written(programs: &[Program]) -> TempDir {
    let files: Vec<_> =
        programs.iter().map(|program| (program.name.as_str(), program.source.as_str())).collect();
    folder(&files)
}

#[test]
fn there_are_more_than_two_hundred_and_no_two_are_the_same() {
    let programs = programs();
    let trees: BTreeSet<String> =
        programs.iter().map(|program| source(&statements(&program.source))).collect();
    assert_eq!(trees.len(), programs.len(), "comments and layout aside, some programs are equal");
    assert!(programs.len() >= 200);
}

#[test]
fn the_same_programs_are_made_in_every_run() {
    let sources = || programs().into_iter().map(|program| program.source).collect::<Vec<_>>();
    assert_eq!(sources(), sources());
}

#[test]
fn every_choice_is_made_often_enough_to_matter() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for program in programs() {
        for feature in program.features {
            *counts.entry(feature).or_default() += 1;
        }
    }
    let rare: Vec<_> = counts.iter().filter(|(_, count)| **count < 8).collect();
    assert!(rare.is_empty(), "too few programs have: {rare:?}");
    assert!(counts.len() > 60, "{counts:#?}");
}

#[test]
fn printing_a_tree_and_reading_it_again_gives_the_tree() {
    for program in programs() {
        let tree = statements(&program.source);
        for tree in [departed(program.pattern, &tree, transformed(program.pattern, &tree)), tree] {
            let again = statements(&source(&tree));
            assert!(equal(&tree, &again), "{}\n{}", program.name, diff(&tree, &again));
        }
    }
}

#[test]
fn the_published_rules_find_everything_they_need_in_them() {
    for program in programs() {
        let tree = statements(&program.source);
        let made = source(&transformed(program.pattern, &tree));
        let wanted: &[&str] = match program.pattern {
            Pattern::Tape => &["hvd.DistributedGradientTape(", "[x[1] for x in hvd_id_1]"],
            Pattern::Keras => {
                &["hvd.DistributedOptimizer(", "hvd.callbacks.BroadcastGlobalVariablesCallback("]
            }
        };
        for wanted in wanted {
            assert!(made.contains(wanted), "{}: no {wanted} in\n{made}", program.name);
        }
    }
}

/// What the checks of the restrictions say, each taken to the letter.
const RESTRICTIONS: &[&str] =
    &["check", "--isolated", "--select", "restriction,training-loop", "--strict", "--output", "concise"];

#[test]
fn no_restriction_is_violated_to_the_letter() {
    let folder = written(&programs());
    let report = run(folder.path(), RESTRICTIONS);
    assert_eq!(report.status, 0, "{}", report.stdout);
}

#[test]
fn a_violation_in_any_of_them_would_be_seen() {
    let mut programs = programs();
    for program in &mut programs {
        program.source += "\nimport math\n";
    }
    let folder = written(&programs);
    let report = run(folder.path(), RESTRICTIONS).stdout;
    let unseen: Vec<_> = programs.iter().filter(|program| !report.contains(&program.name)).collect();
    assert!(
        unseen.is_empty(),
        "nothing is said of {:?}",
        unseen.iter().map(|it| &it.name).collect::<Vec<_>>()
    );
}

#[test]
fn each_has_the_training_loop_of_its_pattern() {
    let programs = programs();
    let folder = written(&programs);
    let loops = run(folder.path(), &["loops", "--isolated", "--output", "json"]).json();
    let found: BTreeMap<_, _> = loops["programs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|program| (program["entry"].as_str().unwrap(), &program["pattern"]))
        .collect();
    for program in &programs {
        let wanted = match program.pattern {
            Pattern::Tape => "gradient-tape",
            Pattern::Keras => "keras-fit",
        };
        let found = found.iter().find(|(entry, _)| program.name.starts_with(**entry));
        assert_eq!(found.map(|(_, pattern)| *pattern), Some(&Value::from(wanted)), "{}", program.name);
    }
}
