//! `check --verbose` on programs that use Horovod: what is proven of their ranks, under which assumptions, and what is
//! unknown.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use serde_json::Value;
use support::{Run, folder, run};

const PROVEN: &str = "\
import tensorflow as tf
import horovod.tensorflow as hvd

from data import batches

hvd.init()
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
optimizer = tf.keras.optimizers.SGD(0.1 * hvd.size())
hvd.broadcast_variables(model.variables, root_rank=0)

for x, y in batches(hvd.size(), hvd.rank()).take(100 // hvd.size()):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

if hvd.rank() == 0:
    model.save_weights('weights')
";

const DATA: &str = "\
import tensorflow as tf


def batches(count, index):
    dataset = tf.data.Dataset.range(1000).repeat().shard(count, index)
    return dataset.map(lambda x: (tf.fill((4,), x), x)).batch(8)
";

/// The claims of the one program, by property.
fn claims(files: &[(&str, &str)]) -> Value {
    let project = folder(files);
    let report = run(project.path(), &["check", "--isolated", "--verbose", "--output", "json"]).json();
    assert_eq!(report["proofs"].as_array().unwrap().len(), 1, "{report:#}");
    let claims = report["proofs"][0]["claims"].as_array().unwrap();
    claims.iter().map(|own| (own["property"].as_str().unwrap().to_owned(), own.clone())).collect()
}

fn verdict<'v>(claims: &'v Value, property: &str) -> &'v str {
    claims[property]["verdict"].as_str().unwrap()
}

/// The messages of remarks, with the lines.
fn remarks(claims: &Value, property: &str, kind: &str) -> Vec<(String, Vec<u64>)> {
    let line = |place: &Value| place["start"]["line"].as_u64().unwrap();
    let remark = |own: &Value| {
        let lines = own["places"].as_array().unwrap().iter().map(line).collect();
        (own["message"].as_str().unwrap().to_owned(), lines)
    };
    claims[property][kind].as_array().unwrap().iter().map(remark).collect()
}

fn reasons(claims: &Value, property: &str) -> Vec<(String, Vec<u64>)> {
    remarks(claims, property, "because")
}

#[test]
fn what_can_be_followed_is_proven_under_what_is_assumed() {
    let claims = claims(&[("train.py", PROVEN), ("data.py", DATA)]);
    for property in ["in-step", "replicas-equal", "written-once", "names-bound"] {
        assert_eq!(verdict(&claims, property), "proven", "{claims:#}");
        assert_eq!(reasons(&claims, property), [], "{property}");
    }
    let turns = ("data has as many elements on each rank".to_owned(), vec![11]);
    assert!(remarks(&claims, "in-step", "assumptions").contains(&turns), "{claims:#}");
    let broadcast = ("all variables exist when they are broadcast".to_owned(), vec![9]);
    assert!(remarks(&claims, "replicas-equal", "assumptions").contains(&broadcast), "{claims:#}");
    assert_eq!(remarks(&claims, "names-bound", "assumptions"), [], "nothing is assumed of names");
}

#[test]
fn an_assumption_is_told_only_where_it_is_used() {
    let equal_turns =
        PROVEN.replace("batches(hvd.size(), hvd.rank()).take(100 // hvd.size())", "[(1, 2), (3, 4)]");
    let claims = claims(&[("train.py", &equal_turns), ("data.py", DATA)]);
    let assumptions = remarks(&claims, "in-step", "assumptions");
    assert!(assumptions.iter().all(|(message, _)| !message.contains("elements")), "{assumptions:?}");
}

#[test]
fn what_can_not_be_followed_may_communicate_and_write() {
    let unknown =
        PROVEN.replace("if hvd.rank() == 0:", "STEPS = {}\nSTEPS[input()](model)\nif hvd.rank() == 0:");
    let claims = claims(&[("train.py", &unknown), ("data.py", DATA)]);
    let called = [("what is called here can't be followed".to_owned(), vec![19])];
    for property in ["in-step", "replicas-equal", "written-once"] {
        assert_eq!(verdict(&claims, property), "not-shown", "{property}");
        assert_eq!(reasons(&claims, property), called, "{property}");
    }
    assert_eq!(verdict(&claims, "names-bound"), "proven", "a call binds no name here");
}

#[test]
fn one_rank_may_write_with_what_can_not_be_followed() {
    let unknown =
        PROVEN.replace("    model.save_weights('weights')", "    STEPS = {}\n    STEPS[input()](model)");
    let claims = claims(&[("train.py", &unknown), ("data.py", DATA)]);
    assert_eq!(verdict(&claims, "written-once"), "proven", "{claims:#}");
    assert_eq!(verdict(&claims, "in-step"), "not-shown");
}

#[test]
fn a_library_that_no_table_describes_is_an_assumption() {
    let library = PROVEN.replace("import tensorflow as tf\n", "import tensorflow as tf\nimport charts\n")
        + "charts.show('weights')\n";
    let claims = claims(&[("train.py", &library), ("data.py", DATA)]);
    assert_eq!(verdict(&claims, "in-step"), "proven");
    let assumed = ("library functions that no table describes don't communicate".to_owned(), vec![21]);
    assert!(remarks(&claims, "in-step", "assumptions").contains(&assumed), "{claims:#}");
}

#[test]
fn a_condition_that_can_not_be_followed_is_in_the_way_where_ranks_communicate_by_it() {
    let program = |inside: &str| {
        let condition = format!("import charts\nif charts.is_shown():\n    {inside}\n");
        claims(&[("train.py", &(PROVEN.to_owned() + &condition)), ("data.py", DATA)])
    };
    let communicating = program("print(hvd.allreduce(tf.constant(1.0)))");
    let condition = ("ranks communicate by a condition that can't be followed".to_owned(), vec![21]);
    assert_eq!(reasons(&communicating, "in-step"), [condition]);
    assert_eq!(verdict(&program("print(1)"), "in-step"), "proven", "nothing is communicated by it");
}

#[test]
fn a_finding_denies_what_it_is_about() {
    let wrong =
        PROVEN.replace("if hvd.rank() == 0:\n", "if hvd.rank() == 0:\n    hvd.allreduce(tf.constant(1.0))\n");
    let claims = claims(&[("train.py", &wrong), ("data.py", DATA)]);
    assert_eq!(verdict(&claims, "in-step"), "denied");
    let [(message, lines)] = &reasons(&claims, "in-step")[..] else { panic!("{claims:#}") };
    assert!(message.ends_with("(ranks-out-of-step)") && *lines == [19], "{message} {lines:?}");
    assert_eq!(verdict(&claims, "replicas-equal"), "proven");
    let suppressed = wrong.replace("1.0))\n", "1.0))  # hvdlint: ignore[ranks-out-of-step] -- all is well\n");
    let claims = self::claims(&[("train.py", &suppressed), ("data.py", DATA)]);
    assert_eq!(verdict(&claims, "in-step"), "denied", "a comment proves nothing");
}

#[test]
fn several_writers_and_paths_that_may_meet_are_told() {
    let every = PROVEN.replace("if hvd.rank() == 0:\n    model", "model");
    let claims = claims(&[("train.py", &every), ("data.py", DATA)]);
    assert_eq!(verdict(&claims, "written-once"), "denied", "{claims:#}");
    let meeting = PROVEN.replace(
        "if hvd.rank() == 0:\n    model.save_weights('weights')",
        "open(f'log-{hvd.rank() % 2}', 'w')",
    );
    let claims = self::claims(&[("train.py", &meeting), ("data.py", DATA)]);
    assert_eq!(
        reasons(&claims, "written-once"),
        [("the ranks' paths differ, and two may be equal".to_owned(), vec![18])]
    );
    let own = PROVEN
        .replace("if hvd.rank() == 0:\n    model.save_weights('weights')", "open(f'log-{hvd.rank()}', 'w')");
    let claims = self::claims(&[("train.py", &own), ("data.py", DATA)]);
    assert_eq!(verdict(&claims, "written-once"), "proven", "each rank has its own");
}

#[test]
fn people_read_it_in_front_of_the_summary() {
    let project = folder(&[("train.py", PROVEN), ("data.py", DATA)]);
    let Run { status, stdout, .. } = run(project.path(), &["check", "--isolated", "--verbose"]);
    assert_eq!(status, 0);
    insta::assert_snapshot!(stdout, @"
    train.py on ranks with the same source, libraries, arguments and environment:
      proven     all ranks take part in the same collectives
                 if data has as many elements on each rank (train.py:11)
      proven     what is trained becomes and stays equal on all ranks
                 if all variables exist when they are broadcast (train.py:9)
      proven     no file is written by several ranks
      proven     no rank uses a name that only other ranks bind

    All is well: nothing to report in 2 files
    ");
}

#[test]
fn only_who_asks_hears_of_it_and_only_of_distributed_programs() {
    let project = folder(&[("train.py", PROVEN), ("data.py", DATA)]);
    let quiet = run(project.path(), &["check", "--isolated", "--output", "json"]).json();
    assert!(quiet.get("proofs").is_none());
    let single = folder(&[("train.py", "import tensorflow as tf\nmodel = tf.keras.Sequential()\n")]);
    let report = run(single.path(), &["check", "--isolated", "--verbose", "--output", "json"]).json();
    assert_eq!(report["proofs"], serde_json::json!([]));
}

#[test]
fn fixing_tells_what_is_proven_of_the_result() {
    let single = "\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
optimizer = tf.keras.optimizers.SGD(0.1)
dataset = tf.data.Dataset.from_tensor_slices((tf.ones((64, 4)), tf.ones((64, 1)))).batch(8)
for x, y in dataset:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
model.save_weights('weights')
";
    let project = folder(&[("train.py", single)]);
    let diff = run(project.path(), &["check", "--isolated", "--diff", "--verbose"]);
    assert!(diff.stderr.contains("proven     all ranks take part in the same collectives"), "{diff:#?}");
    assert!(!diff.stdout.contains("proven"), "the diff is the whole output");
    let fixed = run(project.path(), &["check", "--isolated", "--fix", "--verbose"]);
    assert!(fixed.stdout.contains("proven     no file is written by several ranks"), "{fixed:#?}");
}
