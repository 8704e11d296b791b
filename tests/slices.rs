//! What depends on what: slices follow calls into functions and back to where they came from.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;

use hvdlint::analysis;
use hvdlint::program::{Facts, Place};
use hvdlint::project::{ConfigSource, OpenOptions, Project};
use hvdlint::semantic::Module;

/// What a program begins with: functions that texts go through.
const FUNCTIONS: &str = "
import functools
import tensorflow as tf

def same(x):
    return x

def twice(x):
    return same(same(x))

def down(x, left):
    if left == 0:
        return x
    return down(x, left - 1)

def apply(function, x):
    return function(x)

def each(*texts, **options):
    for text in texts:
        yield text, options

def read():
    return open('text').read()

class Kept:
    def put(self, x):
        self.x = x

    def get(self):
        return self.x

a = open('a').read()
b = open('b').read()
";

/// The variables of the module by name, each with what it is bound to last.
fn bound(facts: &Facts<'_>) -> Vec<(String, Place)> {
    let file = facts.modules.files().next().unwrap();
    let module = facts.module(file);
    let name = |own: &hvdlint::semantic::Definition| {
        let symbol = &module.scope(own.variable.scope).symbols[own.variable.symbol as usize];
        module.names.text(symbol.name).to_owned()
    };
    let own = module.definitions.iter().filter(|own| own.scope == Module::TOP);
    own.map(|own| (name(own), (file, own.value))).collect()
}

/// The variables of `program` that depend on `a`, as words. Forwards and backwards have to agree.
fn of_a(program: &str) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("train.py"), format!("{FUNCTIONS}{program}")).unwrap();
    let options = OpenOptions { config: ConfigSource::Isolated, ..OpenOptions::default() };
    let project = Project::open(&[folder.path().to_owned()], &options).unwrap();
    analysis::with_facts(&project, |facts| {
        let bound = bound(facts);
        let (_, a) = bound.iter().find(|(name, _)| name == "a").unwrap();
        let forwards = facts.influence().forwards(&[*a], |_| false);
        let mut found = BTreeSet::new();
        for (name, place) in bound.iter().filter(|(name, _)| name.starts_with('r')) {
            let backwards = facts.influence().backwards(&[*place], |_| false);
            assert_eq!(forwards.contains(place), backwards.contains(a), "{name} in{program}");
            if name != "read" && forwards.contains(place) {
                found.insert(name.clone());
            }
        }
        found
    })
    .unwrap()
}

#[track_caller]
fn check(program: &str, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(of_a(program), expected, "{program}");
}

#[test]
fn what_a_call_brings_in_comes_back_to_it_alone() {
    check("ra = same(a)\nrb = same(b)\n", &["ra"]);
    check("rb = twice(b)\nra = twice(a)\nrs = same(b)\n", &["ra"]);
    check("ra = down(a, 3)\nrb = down(b, 3)\n", &["ra"]);
    check("ra = list(each(a, b))\nrb = list(each(b, b))\n", &["ra"]);
    check("ra = list(each(b, text=a))\nrb = list(each(text=b))\n", &["ra"]);
    check("ra = apply(same, a)\nrb = apply(same, b)\n", &["ra"]);
    check("ra = same(same(b) + a)\nrb = same(same(b))\n", &["ra"]);
    check("double = lambda x: x + x\nra = double(a)\nrb = double(b)\n", &["ra"]);
}

#[test]
fn what_enters_by_several_calls_comes_back_to_each() {
    check("ra = same(a)\nrt = twice(a)\nrn = twice(same(a))\nrb = twice(b)\n", &["ra", "rt", "rn"]);
    // The way through the function is known when the second call is come to.
    check("ra = same(a)\nrr = same(ra)\nrb = same(b)\n", &["ra", "rr"]);
    check("c = [a, b]\nrc = [same(own) for own in c]\nrb = same(b)\n", &["rc"]);
}

#[test]
fn what_begins_in_a_function_comes_back_to_all_calls() {
    check("def held():\n    return a\nr1 = held()\nr2 = same(held())\nr3 = same(b)\n", &["r1", "r2"]);
}

#[test]
fn what_goes_through_an_object_may_come_back_anywhere() {
    check(
        "kept = Kept()\nkept.put(a)\nr1 = kept.get()\nr2 = same(kept.get())\nr3 = same(b)\n",
        &["r1", "r2"],
    );
    check("late = functools.partial(same, a)\nra = late()\n", &["ra"]);
    check("def outer(x):\n    def inner():\n        return x\n    return inner()\nra = outer(a)\n", &["ra"]);
    check("ra = f'{(lambda x: x)(a)}'\n", &["ra"]);
}
