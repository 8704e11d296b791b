//! Each departure, on what the published rules make of a program.

use crate::departures::{DEPARTURES, departed};
use crate::rules::{Pattern, transformed};
use crate::show::diff;
use crate::tree::{equal, in_keyword_order, statements};

/// What the product should make of `source`.
#[track_caller]
fn wanted(pattern: Pattern, source: &str, wanted: &str) {
    let source = statements(source);
    let made = in_keyword_order(departed(pattern, &source, transformed(pattern, &source)));
    let wanted = in_keyword_order(statements(wanted));
    assert!(equal(&wanted, &made), "{}", diff(&wanted, &made));
}

const TAPE_PREAMBLE: &str = "\
import tensorflow as tf
import horovod.tensorflow as hvd
hvd.init()
gpus = tf.config.list_physical_devices('GPU')
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
if gpus:
    tf.config.set_visible_devices(gpus[hvd.local_rank()], 'GPU')
";

fn keras_preamble() -> String {
    TAPE_PREAMBLE.replace("horovod.tensorflow", "horovod.tensorflow.keras")
}

#[test]
fn every_departure_has_a_reason() {
    assert!(DEPARTURES.iter().all(|departure| !departure.number.is_empty() && departure.reason.len() > 40));
}

#[test]
fn a_loop_at_module_level_has_its_flag_before_it() {
    let source = "\
import tensorflow as tf
optimizer = tf.optimizers.Adam(0.001)
for epoch in range(2):
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = compare(model(x), y)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
";
    let rest = "\
optimizer = tf.optimizers.Adam(0.001 * hvd.size())
hvd_broadcast_done = False
for epoch in range(2):
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = compare(model(x), y)
        tape = hvd.DistributedGradientTape(tape)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        if not hvd_broadcast_done:
            hvd.broadcast_variables(model.variables, root_rank=0)
            hvd.broadcast_variables(optimizer.variables(), root_rank=0)
            hvd_broadcast_done = True
";
    wanted(Pattern::Tape, source, &format!("{TAPE_PREAMBLE}{rest}"));
}

#[test]
fn a_loop_in_a_function_has_its_flag_in_the_function() {
    let source = "\
import tensorflow as tf
optimizer = tf.optimizers.Adam(0.001)
def train():
    for x, y in dataset:
        grads = gradients(model.trainable_variables)
        result = optimizer.apply_gradients(grads_and_vars=zip(grads, model.trainable_variables))
";
    let rest = "\
optimizer = tf.optimizers.Adam(0.001 * hvd.size())
def train():
    hvd_broadcast_done = False
    for x, y in dataset:
        grads = gradients(model.trainable_variables)
        result = optimizer.apply_gradients(grads_and_vars=zip(grads, model.trainable_variables))
        if not hvd_broadcast_done:
            hvd.broadcast_variables(model.variables, root_rank=0)
            hvd.broadcast_variables(optimizer.variables(), root_rank=0)
            hvd_broadcast_done = True
";
    wanted(Pattern::Tape, source, &format!("{TAPE_PREAMBLE}{rest}"));
}

#[test]
fn a_step_in_a_function_of_its_own_is_followed_where_it_is_called() {
    let source = "\
import tensorflow as tf
optimizer = tf.optimizers.Adam(0.001)
def step(x, y):
    grads = gradients(model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return grads
for epoch in range(2):
    for x, y in dataset:
        grads = step(x, y)
";
    let rest = "\
optimizer = tf.optimizers.Adam(0.001 * hvd.size())
def step(x, y):
    grads = gradients(model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return grads
hvd_broadcast_done = False
for epoch in range(2):
    for x, y in dataset:
        grads = step(x, y)
        if not hvd_broadcast_done:
            hvd.broadcast_variables(model.variables, root_rank=0)
            hvd.broadcast_variables(optimizer.variables(), root_rank=0)
            hvd_broadcast_done = True
";
    wanted(Pattern::Tape, source, &format!("{TAPE_PREAMBLE}{rest}"));
}

#[test]
fn a_tape_s_optimizer_is_scaled_however_it_is_named_and_never_wrapped() {
    for (import, class) in [
        ("", "tf.keras.optimizers.Adam"),
        ("from tensorflow.keras.optimizers import SGD\n", "SGD"),
        ("import tensorflow.keras as keras\n", "keras.optimizers.Adam"),
    ] {
        let source = format!("import tensorflow as tf\n{import}optimizer = {class}(learning_rate=RATE)\n");
        let rest = format!("optimizer = {class}(learning_rate=RATE * hvd.size())\n");
        let preamble = TAPE_PREAMBLE.replace("import horovod", &format!("{import}import horovod"));
        wanted(Pattern::Tape, &source, &format!("{preamble}{rest}"));
    }
}

#[test]
fn a_schedule_is_scaled_and_its_optimizer_is_not() {
    for pattern in [Pattern::Keras, Pattern::Tape] {
        let source = "\
import tensorflow as tf
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1000, 0.9)
steps = tf.keras.optimizers.schedules.PiecewiseConstantDecay([100, 200], [0.1, 0.01, 0.001])
optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
";
        let rest = "\
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1 * hvd.size(), 1000, 0.9)
steps = tf.keras.optimizers.schedules.PiecewiseConstantDecay(
    [100, 200], [0.1 * hvd.size(), 0.01 * hvd.size(), 0.001 * hvd.size()]
)
optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
";
        let (preamble, wrapped) = match pattern {
            Pattern::Keras => (keras_preamble(), "optimizer = hvd.DistributedOptimizer(optimizer)\n"),
            Pattern::Tape => (TAPE_PREAMBLE.to_owned(), ""),
        };
        wanted(pattern, source, &format!("{preamble}{rest}{wrapped}"));
    }
}

#[test]
fn one_preamble_stands_behind_the_imports() {
    let rest = keras_preamble().split_off("import tensorflow as tf\n".len());
    for imports in [
        "import tensorflow as tf\nfrom tensorflow import keras\n",
        "from tensorflow import keras\nimport tensorflow as tf\n",
        "'Trains.'\nimport tensorflow as tf\nimport os\nos.environ['A'] = 'b'\nimport numpy as np\n",
    ] {
        let source = format!("{imports}SIZE = 3\n");
        wanted(Pattern::Keras, &source, &format!("{imports}{rest}SIZE = 3\n"));
    }
}

#[test]
fn fit_gets_one_list_of_callbacks() {
    for (given, made) in [
        ("", ", callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)]"),
        (
            ", callbacks=[A(), B()]",
            ", callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0), A(), B()]",
        ),
        (
            ", callbacks=mine, verbose=1",
            ", callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)] + mine",
        ),
        (
            ", steps_per_epoch=STEPS",
            ", steps_per_epoch=STEPS // hvd.size(), callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)]",
        ),
    ] {
        let source = format!(
            "import tensorflow as tf\nmodel = tf.keras.Sequential()\nmodel.fit(dataset, epochs=3{given})\n"
        );
        let rest = format!(
            "\
model = tf.keras.Sequential()
model.fit(dataset, epochs=3{made}, verbose=1 if hvd.rank() == 0 else 0)
"
        );
        wanted(Pattern::Keras, &source, &format!("{}{rest}", keras_preamble()));
    }
}
