//! A call that never comes to a creation, because of a constant that it passes, does not repeat it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use support::{folder, run};

const BUILD: &str = "
import functools
import sys
import tensorflow as tf

def build(training=True):
    if not training:
        return None
    optimizer = tf.keras.optimizers.SGD(0.1)
    return optimizer

class Factory:
    def build(self, training=True):
        return build(training)

";

const TRAIN: &str = r#"
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(optimizer=optimizer, loss="mse")
model.fit(tf.ones([8, 4]), tf.ones([8, 1]))
"#;

/// Whether the optimizer of `build` is said to be created more than once.
fn is_repeated(calls: &str) -> bool {
    let project = folder(&[("train.py", format!("{BUILD}{calls}{TRAIN}"))]);
    // What `fit` alone steps may be made anew unless every restriction is meant to the letter.
    let arguments = ["check", "--strict", "--select", "object-not-assigned-once", "--output", "json"];
    let report = run(project.path(), &arguments).json();
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["level"] == "error"), "{report:#}");
    !findings.is_empty()
}

#[test]
fn a_constant_that_leaves_before_the_creation_repeats_nothing() {
    for calls in [
        "optimizer = build()\nbuild(training=False)",
        "optimizer = build(True)\nbuild(False)",
        "optimizer = build()\nbuild(0)",
        "optimizer = build()\nfor _ in range(3):\n    build(None)",
        "WANTED = False\noptimizer = build()\nbuild(WANTED)",
    ] {
        assert!(!is_repeated(calls), "{calls}");
    }
}

#[test]
fn any_other_call_repeats_the_creation() {
    for calls in [
        "optimizer = build()\nbuild()",
        "optimizer = build()\nbuild(True)\nbuild(False)",
        // Unknown, or one of several.
        "optimizer = build()\nbuild(len(sys.argv) > 1)",
        "optimizer = build()\nfor training in (True, False):\n    build(training)",
        "WANTED = False\nWANTED = True\noptimizer = build()\nbuild(*[WANTED])",
        // What the call adds to the arguments is not written there.
        "optimizer = build()\nbuild(**{'training': True})",
        "optimizer = build()\nfunctools.partial(build, True)()",
        "optimizer = build()\nFactory().build(True)\nFactory().build(False)",
    ] {
        assert!(is_repeated(calls), "{calls}");
    }
}
