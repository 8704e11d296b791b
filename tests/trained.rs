//! Which models a program's loops train and which optimizers step in them: those made in the lines that end with
//! `# trained`, and no others.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::collections::BTreeSet;

use support::{folder, run};

/// The lines in which models and optimizers of the loops are made.
fn found(source: &str) -> BTreeSet<u64> {
    let project = folder(&[("train.py", source)]);
    let program = &run(project.path(), &["loops", "--output", "json"]).json()["programs"][0];
    ["models", "optimizers"]
        .iter()
        .flat_map(|kind| program[*kind].as_array().unwrap())
        .map(|named| named["line"].as_u64().unwrap())
        .collect()
}

#[track_caller]
fn check(source: &str) {
    let source = format!("import tensorflow as tf\nfrom tensorflow import keras\n{source}");
    let lines = (1..).zip(source.lines());
    let expected = lines.filter(|(_, line)| line.ends_with("# trained")).map(|(number, _)| number).collect();
    assert_eq!(found(&source), expected, "\n{source}");
}

/// A step on the globals `net` and `optimizer`.
const STEP: &str = "
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
";

#[test]
fn a_global_that_is_made_after_the_last_step_is_not_trained() {
    check(&format!(
        "
net = keras.Sequential([keras.layers.Dense(1)])  # trained
optimizer = keras.optimizers.SGD(0.1)  # trained
{STEP}
for _ in range(10):
    step(tf.ones([8, 4]), tf.ones([8, 1]))
net.save_weights('net')
net = keras.Sequential([keras.layers.Dense(1)])
net.load_weights('net')
print(net(tf.ones([8, 4])))
optimizer = keras.optimizers.Adam(0.1)
"
    ));
}

#[test]
fn a_global_that_is_made_between_two_steps_is_trained() {
    check(&format!(
        "
net = keras.Sequential([keras.layers.Dense(1)])  # trained
optimizer = keras.optimizers.SGD(0.1)  # trained
{STEP}
step(tf.ones([8, 4]), tf.ones([8, 1]))
net = keras.Sequential([keras.layers.Dense(1)])  # trained
step(tf.ones([8, 4]), tf.ones([8, 1]))
"
    ));
}

#[test]
fn a_global_that_is_made_at_the_end_of_a_turn_is_trained_in_the_next() {
    check(&format!(
        "
net = keras.Sequential([keras.layers.Dense(1)])  # trained
optimizer = keras.optimizers.SGD(0.1)  # trained
{STEP}
for _ in range(10):
    step(tf.ones([8, 4]), tf.ones([8, 1]))
    net = keras.Sequential([keras.layers.Dense(1)])  # trained
"
    ));
}

#[test]
fn a_global_that_a_function_makes_is_as_old_as_its_call() {
    check(&format!(
        "
def restart():
    global net
    net = keras.Sequential([keras.layers.Dense(1)])  # trained

def restore():
    global net
    net = keras.models.load_model('net')

optimizer = keras.optimizers.SGD(0.1)  # trained
{STEP}
restart()
step(tf.ones([8, 4]), tf.ones([8, 1]))
restore()
"
    ));
}

#[test]
fn nobody_knows_when_a_generator_or_a_stranger_calls() {
    check(&format!(
        "
import schedule

net = keras.Sequential([keras.layers.Dense(1)])  # trained
optimizer = keras.optimizers.SGD(0.1)  # trained
{STEP}
def later():
    step(tf.ones([8, 4]), tf.ones([8, 1]))

schedule.every(10).do(later)
net = keras.Sequential([keras.layers.Dense(1)])  # trained
schedule.run()
"
    ));
    check(&format!(
        "
net = keras.Sequential([keras.layers.Dense(1)])  # trained
optimizer = keras.optimizers.SGD(0.1)  # trained
{STEP}
def steps():
    while True:
        step(tf.ones([8, 4]), tf.ones([8, 1]))
        yield

generator = steps()
net = keras.Sequential([keras.layers.Dense(1)])  # trained
next(generator)
"
    ));
}

#[test]
fn a_model_that_the_loss_asks_is_not_trained() {
    check(
        "
critic = keras.applications.VGG19(include_top=False)
image = tf.Variable(tf.ones([1, 224, 224, 3]))
optimizer = keras.optimizers.Adam(0.02)  # trained

def size(variables):
    return sum(tf.nn.l2_loss(variable) for variable in variables)

for _ in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(critic(image)) / size(critic.trainable_variables)
    gradients = tape.gradient(loss, [image])
    optimizer.apply_gradients(zip(gradients, [image]))
",
    );
}

#[test]
fn variables_are_not_trained_by_the_functions_of_a_later_model() {
    check(&format!(
        "
w = tf.Variable(tf.ones([4, 1]))
optimizer = keras.optimizers.SGD(0.1)  # trained

def error(prediction, y):
    return tf.reduce_mean((prediction - y) ** 2)

def descend(x, y):
    with tf.GradientTape() as tape:
        loss = error(x @ w, y)
    optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]))

descend(tf.ones([8, 4]), tf.ones([8, 1]))
net = keras.Sequential([keras.layers.Dense(1)])  # trained
optimizer = keras.optimizers.Adam(0.1)  # trained
{STEP}
step(tf.ones([8, 4]), tf.ones([8, 1]))
net = keras.Sequential([keras.layers.Dense(1)])
print(error(net(tf.ones([8, 4])), tf.ones([8, 1])))
"
    ));
}

#[test]
fn a_model_that_is_loaded_and_evaluated_is_not_trained() {
    check(
        "
net = keras.Sequential([keras.layers.Dense(2)])
net = keras.Sequential([keras.layers.Dense(1)])  # trained
net.compile(optimizer=keras.optimizers.SGD(0.1), loss='mse')  # trained
net.fit(tf.ones([8, 4]), tf.ones([8, 1]))
net.save('net.h5')
del net
net = keras.models.load_model('net.h5', compile=False)
net.compile(optimizer=keras.optimizers.SGD(0.1), loss='mse')
net.evaluate(tf.ones([8, 4]), tf.ones([8, 1]))
",
    );
}

#[test]
fn a_program_runs_no_code_of_files_that_it_does_not_import() {
    let train = "\
import tensorflow as tf
import study

def train(rate):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(rate), \"mse\")
    model.fit(tf.data.Dataset.range(10))

study.optimize(train)
";
    let files_of_loops = |study: &str| -> Vec<Vec<String>> {
        let project = folder(&[("study.py", study), ("one.py", train), ("two.py", train)]);
        let report = run(project.path(), &["loops", "--output", "json"]).json();
        let path = |own: &serde_json::Value| own["path"].as_str().unwrap().to_owned();
        let loops =
            |program: &serde_json::Value| program["loops"].as_array().unwrap().iter().map(path).collect();
        report["programs"].as_array().unwrap().iter().map(loops).collect()
    };
    // The helper calls what each of them gives it.
    let study = "def optimize(train):\n    for rate in (0.1, 0.2):\n        train(rate)\n";
    assert_eq!(files_of_loops(study), [["one.py"], ["two.py"]]);
    // Nobody knows what is imported by strings.
    let study = format!("from importlib import import_module\n{study}");
    assert_eq!(files_of_loops(&study).concat(), ["one.py", "two.py", "two.py", "one.py"]);
}

#[test]
fn what_another_program_makes_is_not_trained() {
    let common = format!(
        "import tensorflow as tf\n{}",
        STEP.replace("def step(x, y)", "def step(net, optimizer, x, y)")
    );
    let train = "\
import tensorflow as tf
from common import step
net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
for _ in range(10):
    step(net, optimizer, tf.ones([8, 4]), tf.ones([8, 1]))
";
    let project = folder(&[("common.py", &*common), ("one.py", train), ("two.py", train)]);
    let report = run(project.path(), &["loops", "--output", "json"]).json();
    for (program, entry) in report["programs"].as_array().unwrap().iter().zip(["one.py", "two.py"]) {
        for kind in ["models", "optimizers"] {
            let made: Vec<_> = program[kind].as_array().unwrap().iter().map(|own| &own["path"]).collect();
            assert_eq!(made, [entry], "{kind}");
        }
    }
}

#[test]
fn a_program_runs_the_trainer_that_it_gives_to_shared_code() {
    let common = "\
import tensorflow as tf

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = tf.keras.optimizers.SGD(0.1)
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = self.model(x)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

class Noisy(Trainer):
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = self.model(x + tf.random.normal(x.shape))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

def train(kind):
    trainer = kind(tf.keras.Sequential([tf.keras.layers.Dense(1)]))
    for _ in range(10):
        trainer.step(tf.ones([8, 4]))

if __name__ == '__main__':
    train(Trainer)
";
    let noisy = "from common import Noisy, train\ntrain(Noisy)\n";
    let chosen = "import sys\nimport common\ncommon.train(getattr(common, sys.argv[1]))\n";
    let project = folder(&[("common.py", common), ("noisy.py", noisy), ("chosen.py", chosen)]);
    let report = run(project.path(), &["loops", "--output", "json"]).json();
    let lines = |program: &serde_json::Value| -> Vec<u64> {
        program["loops"].as_array().unwrap().iter().map(|own| own["line"].as_u64().unwrap()).collect()
    };
    let mut found: Vec<(&str, Vec<u64>)> = report["programs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|program| (program["entry"].as_str().unwrap(), lines(program)))
        .collect();
    found.sort();
    // Nobody knows what is chosen by a string.
    assert_eq!(found, [("chosen.py", vec![8, 15]), ("common.py", vec![8]), ("noisy.py", vec![15])]);
}
