//! Pictures of graphs and of training loops: what is in them, what stands out, and that big ones can be read.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fmt::Write;
use std::path::Path;

use support::{copy_of, folder, root, run};

const WAY: &str = "fillcolor=\"#ffedd5\"";
const GOAL: &str = "fillcolor=\"#c2410c\"";

fn dot(folder: &Path, arguments: &[&str]) -> String {
    let drawn = run(folder, arguments);
    assert_eq!((drawn.status, drawn.stderr.as_str()), (0, ""));
    drawn.stdout
}

/// The line that describes a node or an edge.
fn line<'d>(dot: &'d str, begin: &str) -> &'d str {
    let line = dot.lines().map(str::trim).find(|line| line.starts_with(begin));
    line.unwrap_or_else(|| panic!("there is no {begin} in {dot}"))
}

#[test]
fn the_way_to_the_training_loop_stands_out() {
    let project = copy_of(&root().join("fixtures/mnist"));
    let calls = dot(project.path(), &["graph", "calls", "--format", "dot"]);
    assert!(line(&calls, "label=\"What calls").contains("Orange"));
    assert!(calls.contains("label=\"train.py\""), "functions stand in the frame of their file");
    assert!(line(&calls, "\"train\" [").contains("the program starts here"));
    assert!(line(&calls, "\"train.main\" [").contains(WAY));
    let goal = line(&calls, "\"train.train_step\" [");
    assert!(goal.contains("training loop: gradient-tape, line 21") && goal.contains(GOAL), "{goal}");
    assert!(line(&calls, "\"train.main\" -> \"train.train_step\"").contains("line 37"));
    let aside = line(&calls, "\"data.digits\" [");
    assert!(!aside.contains(WAY) && !aside.contains(GOAL), "{aside}");
    assert!(!calls.contains("\"tensorflow"), "libraries are not in the picture");
    assert!(!calls.contains("Classifier.call"), "what nothing in the picture calls is not");

    let imports = dot(project.path(), &["graph", "imports", "--format", "dot"]);
    assert!(line(&imports, "\"train\" [").contains(GOAL));
    let classes = dot(project.path(), &["graph", "classes", "--format", "dot"]);
    assert!(line(&classes, "\"model.Classifier\" [").contains(GOAL));
    line(&classes, "\"model.Classifier\" -> \"tensorflow.keras.Model\"");
}

#[test]
fn imports_lead_from_a_program_to_the_file_with_its_loop() {
    let project = folder(&[
        ("hvdlint.toml", ""),
        ("run.py", "import middle\nimport other\nmiddle.go()\n"),
        ("middle.py", "import inner\n\ndef go():\n    inner.train()\n"),
        ("inner.py", "import tensorflow as tf\n\ndef train():\n    tf.keras.Sequential([]).fit([1], [1])\n"),
        ("other.py", "import os\n"),
    ]);
    let imports = dot(project.path(), &["graph", "imports", "--format", "dot"]);
    assert!(line(&imports, "\"run\" [").contains(WAY));
    assert!(line(&imports, "\"inner\" [").contains(GOAL));
    for (edge, bold) in
        [("\"run\" -> \"middle\"", true), ("\"middle\" -> \"inner\"", true), ("\"run\" -> \"other\"", false)]
    {
        assert_eq!(line(&imports, edge).contains("penwidth"), bold, "{edge}");
    }
}

#[test]
fn of_a_big_graph_the_part_around_the_training_loop_is_drawn() {
    let mut helpers = String::new();
    for number in 0..60 {
        writeln!(helpers, "def far{number}():\n    far{}()\n", (number + 1) % 60).unwrap();
    }
    let train = "import tensorflow as tf\nimport helpers\n\ndef near():\n    helpers.far0()\n\nmodel = tf.keras.Sequential([])\n\
                 near()\nmodel.fit([1], [1])\n";
    let project = folder(&[("hvdlint.toml", ""), ("train.py", train), ("helpers.py", &helpers)]);
    let part = dot(project.path(), &["graph", "calls", "--format", "dot"]);
    line(&part, "\"train\" -> \"train.near\"");
    assert!(!part.contains("far"), "{part}");
    assert!(line(&part, "label=\"What").contains("60 boxes further away are left out; --all draws them."));
    let all = dot(project.path(), &["graph", "calls", "--format", "dot", "--all"]);
    line(&all, "\"helpers.far58\" -> \"helpers.far59\"");
    assert!(!all.contains("left out"));
    let json = run(project.path(), &["graph", "calls", "--format", "json"]).json();
    assert!(json.get("helpers.far59").is_some(), "the map always has everything");
}

#[test]
fn training_loops_are_drawn_with_what_they_train() {
    let project = copy_of(&root().join("fixtures/mnist"));
    let loops = dot(project.path(), &["loops", "--output", "dot"]);
    assert!(line(&loops, "\"loop train.py 21\" [").contains(GOAL));
    assert!(line(&loops, "\"start of train.py\" -> \"train.main\"").contains("line 42"));
    assert!(line(&loops, "\"train.main\" -> \"train.train_step\"").contains("line 37"));
    assert!(line(&loops, "\"loop train.py 21\" -> \"model model train.py 33\"").contains("trains"));
    for optimizer in ["17", "19"] {
        let edge = format!("\"loop train.py 21\" -> \"optimizer optimizer model.py {optimizer}\"");
        assert!(line(&loops, &edge).contains("steps with"));
    }
    line(&loops, "\"start of train.py\" -> \"dataset dataset data.py 10\"");
    assert!(dot(project.path(), &["loops", "--output", "mermaid"]).contains("flowchart LR"));
    if std::process::Command::new("dot").arg("-V").output().is_ok() {
        assert!(dot(project.path(), &["loops", "--output", "svg"]).contains("<svg"));
    }
}
