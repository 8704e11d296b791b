//! Whatever the program, the analysis ends, gives the same answer again, and its places lie in the text; what fixes
//! make of it parses and is final.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::PathBuf;

use hvdlint::checks::{CHECKS, RULES};
use hvdlint::examine::{Examined, Ignores, Wishes};
use hvdlint::finding::{Applicability, Confidence, Location};
use hvdlint::fix::mend;
use hvdlint::project::{ConfigSource, OpenOptions, Project, SelectOptions, Selection};
use hvdlint::{analysis, semantic};
use proptest::prelude::*;
use proptest::sample::select;

fn name() -> impl Strategy<Value = String> {
    let names = [
        "a",
        "b",
        "tf",
        "model",
        "optimizer",
        "tape",
        "self",
        "f",
        "C",
        "é",
        "x",
        "keras",
        "hvd",
        "print",
        "dataset",
    ];
    select(names.to_vec()).prop_map(str::to_owned)
}

fn known() -> impl Strategy<Value = String> {
    let expressions = [
        "tf.keras.optimizers.Adam(0.1)",
        "tf.keras.Sequential([tf.keras.layers.Dense(1)])",
        "tf.GradientTape()",
        "tf.train.Checkpoint(model=model, optimizer=optimizer)",
        "tf.data.Dataset.range(3)",
        "tape.gradient(a, model.trainable_variables)",
        "optimizer.apply_gradients(zip(a, model.trainable_variables))",
        "optimizer.minimize(f)",
        "model.fit(a, b)",
        "model.compile(optimizer=optimizer)",
        "hvd.rank()",
        "tf.keras",
        "tf.compat.v1.Session()",
        "super().__init__()",
        "getattr(tf, a)",
        "__import__('tensorflow')",
    ];
    select(expressions.to_vec()).prop_map(str::to_owned)
}

fn expression() -> impl Strategy<Value = String> {
    let constant =
        select(vec!["1", "'é'", "None", "True", "f'{a}'", "b''", "...", "1.5"]).prop_map(str::to_owned);
    let leaf = prop_oneof![3 => name(), 1 => constant, 3 => known()];
    leaf.prop_recursive(3, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        let three = (inner.clone(), inner.clone(), inner.clone());
        prop_oneof![
            (inner.clone(), prop::collection::vec(inner.clone(), 0..3))
                .prop_map(|(f, arguments)| format!("({f})({})", arguments.join(", "))),
            (inner.clone(), name()).prop_map(|(of, name)| format!("({of}).{name}")),
            two.clone().prop_map(|(a, b)| format!("({a} + {b})")),
            two.clone().prop_map(|(a, b)| format!("({a} and not {b})")),
            two.clone().prop_map(|(a, b)| format!("({a})[{b}]")),
            two.clone().prop_map(|(a, b)| format!("[{a}, *{b}]")),
            two.clone().prop_map(|(a, b)| format!("{{{a}: {b}, **b}}")),
            two.prop_map(|(a, b)| format!("f({a}, *a, x={b}, **b)")),
            three.prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            (name(), inner.clone()).prop_map(|(name, body)| format!("(lambda {name}, *z: {body})")),
            (name(), inner.clone(), inner.clone())
                .prop_map(|(name, element, of)| format!("[{element} for {name} in {of} if {name}]")),
            (name(), inner.clone(), inner.clone())
                .prop_map(|(name, element, of)| format!("{{{element}: {name} for {name} in {of}}}")),
            (name(), inner).prop_map(|(name, value)| format!("({name} := {value})")),
        ]
    })
}

fn simple() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![
        4 => (name(), expression()).prop_map(|(name, value)| format!("{name} = {value}")),
        1 => (name(), expression()).prop_map(|(name, value)| format!("{name} += {value}")),
        1 => (name(), name(), expression()).prop_map(|(a, b, value)| format!("{a}, *{b} = {value}")),
        2 => (name(), name(), expression()).prop_map(|(of, name, value)| format!("{of}.{name} = {value}")),
        1 => (name(), expression()).prop_map(|(name, value)| format!("{name}[0]: int = {value}")),
        3 => expression(),
        1 => expression().prop_map(|value| format!("return {value}")),
        1 => expression().prop_map(|value| format!("yield {value}")),
        1 => expression().prop_map(|value| format!("raise {value}")),
        1 => expression().prop_map(|value| format!("assert {value}, a")),
        1 => name().prop_map(|name| format!("global {name}")),
        1 => name().prop_map(|name| format!("del {name}")),
        1 => select(vec![
            "import tensorflow as tf", "from tensorflow import keras", "import horovod.tensorflow as hvd",
            "from part import *", "import part", "from . import part", "pass", "break", "continue",
            "import tensorflow.keras.optimizers",
            "# hvdlint: ignore[import-not-at-top] -- é",
        ]).prop_map(str::to_owned),
    ]
    .prop_map(|line| vec![line])
}

/// A block under a header, one level deeper.
fn under(header: String, body: Vec<String>) -> Vec<String> {
    let body = body.into_iter().map(|line| format!("  {line}"));
    std::iter::once(header).chain(body).chain(["  pass".to_owned()]).collect()
}

fn statement() -> impl Strategy<Value = Vec<String>> {
    simple().prop_recursive(4, 40, 4, |inner| {
        let body = prop::collection::vec(inner, 1..4).prop_map(|parts| parts.concat());
        let two = (body.clone(), body.clone());
        prop_oneof![
            (expression(), two.clone()).prop_map(|(test, (then, other))| [
                under(format!("if {test}:"), then),
                under("else:".into(), other)
            ]
            .concat()),
            (expression(), body.clone()).prop_map(|(test, body)| under(format!("while {test}:"), body)),
            (name(), expression(), two.clone()).prop_map(|(name, of, (body, other))| [
                under(format!("for {name} in {of}:"), body),
                under("else:".into(), other)
            ]
            .concat()),
            (name(), two.clone(), body.clone()).prop_map(|(name, (body, handler), last)| [
                under("try:".into(), body),
                under(format!("except ValueError as {name}:"), handler),
                under("finally:".into(), last)
            ]
            .concat()),
            (name(), expression(), body.clone())
                .prop_map(|(name, of, body)| under(format!("with {of} as {name}:"), body)),
            (name(), expression(), two).prop_map(|(name, of, (first, second))| {
                let cases = [
                    under(format!("case [{name}, *_]:"), first),
                    under(format!("case C(x={name}) | {{'k': {name}}}:"), second),
                ];
                under(format!("match {of}:"), cases.concat())
            }),
            (name(), name(), expression(), body.clone()).prop_map(|(name, parameter, default, body)| {
                let header = format!("def {name}(self, {parameter}={default}, *rest, **more):");
                [vec!["@tf.function".to_owned()], under(header, body)].concat()
            }),
            (name(), expression(), body)
                .prop_map(|(name, base, body)| under(format!("class {name}({base}):"), body)),
        ]
    })
}

fn module() -> impl Strategy<Value = String> {
    prop::collection::vec(statement(), 0..8).prop_map(|parts| {
        let head = "import tensorflow as tf\nimport horovod.tensorflow as hvd\n";
        format!("{head}{}\n", parts.concat().join("\n"))
    })
}

/// A project of two modules.
fn project(train: &str, part: &str) -> Project {
    let root = PathBuf::from("/nowhere");
    let overlay = [(root.join("train.py"), train.to_owned()), (root.join("part.py"), part.to_owned())]
        .into_iter()
        .collect();
    let options =
        OpenOptions { config: ConfigSource::Isolated, rules: RULES, overlay, ..OpenOptions::default() };
    Project::open(&["train.py", "part.py"].map(|name| root.join(name)), &options).unwrap()
}

/// What all fixes make of the first of two modules, and of the second.
fn fixed(train: &str, part: &str) -> [String; 2] {
    let project = project(train, part);
    let selection = Selection::new(project.config(), &SelectOptions::default(), RULES).unwrap();
    let work = |library: &_| {
        let wishes = Wishes {
            checks: CHECKS,
            library,
            selection: &selection,
            strict: false,
            confidence: Confidence::Possible,
            ignores: Ignores::Obeyed,
            baseline: None,
            progress: None,
        };
        mend(Examined::new(project.clone(), wishes), wishes, Applicability::Unsafe, None)
    };
    let mended = analysis::with_library(&project, work).unwrap();
    let text = |name: &str, before: &str| {
        let mut changes = mended.changes.iter();
        let change = changes.find(|change| project.file(change.file).relative == name);
        change.map_or(before.to_owned(), |change| String::from_utf8(change.after.clone()).unwrap())
    };
    [text("train.py", train), text("part.py", part)]
}

/// The findings in a project of two modules, as text.
fn findings(train: &str, part: &str) -> Vec<String> {
    let project = project(train, part);
    let found = analysis::with_facts(&project, |facts| analysis::findings(&project, facts, true)).unwrap();
    for finding in &found {
        let places = finding.labels.iter().chain(&finding.flow).chain([&finding.primary]);
        for place in places.map(|label| label.location) {
            let text = if project.file(place.file).relative == "train.py" { train } else { part };
            assert!(is_in(text, place), "{}: {place:?} lies outside of\n{text}", finding.message);
        }
    }
    found.iter().map(|finding| format!("{finding:?}")).collect()
}

#[test]
fn the_programs_of_the_other_tests_are_really_analysed() {
    let train = "import tensorflow as tf\nimport part\nprint(part.f(\n";
    assert_eq!(findings(train, "x = 1\n").len(), 1, "there is a syntax error");
}

fn is_in(text: &str, place: Location) -> bool {
    let (start, end) = (place.range.start as usize, place.range.end as usize);
    start <= end && text.is_char_boundary(start) && text.is_char_boundary(end)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_program_is_analysed(train in module(), part in module()) {
        let first = findings(&train, &part);
        prop_assert_eq!(first, findings(&train, &part));
    }

    #[test]
    fn fixes_parse_and_are_final(train in module(), part in module()) {
        let after = fixed(&train, &part);
        let errors = |text: &str| semantic::analyse(text).errors.len();
        prop_assert!(errors(&after[0]) <= errors(&train), "{}", after[0]);
        prop_assert!(errors(&after[1]) <= errors(&part), "{}", after[1]);
        prop_assert_eq!(fixed(&after[0], &after[1]), after.clone());
    }

    #[test]
    fn every_text_is_analysed(text in "[a-z(\\[{:=,.'\"#\\\\ \n\té0-9@*]{0,200}") {
        findings(&text, "");
    }

    #[test]
    fn every_beginning_of_a_program_is_analysed(text in module(), part in 0.0..1.0_f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "texts are short")]
        let mut end = (text.len() as f64 * part) as usize;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        findings(&text[..end], &text);
    }

    #[test]
    fn values_lie_in_the_text(text in module()) {
        let module = semantic::analyse(&text);
        for call in &module.calls {
            let (start, end) = (call.range.start().to_usize(), call.range.end().to_usize());
            prop_assert!(start <= end && text.is_char_boundary(start) && text.is_char_boundary(end));
        }
        for statement in &module.statements {
            prop_assert!(statement.range.contains_range(statement.header));
            prop_assert!(statement.range.end().to_usize() <= text.len());
        }
    }
}
