//! The oracle on examples: the published text's own, and one for each rule, worked out by hand.

use crate::rules::{Pattern, transformed};
use crate::show::diff;
use crate::tree::{equal, statements};

/// What the published rules of a section make of `source`.
#[track_caller]
fn published(pattern: Pattern, source: &str, wanted: &str) {
    let made = transformed(pattern, &statements(source));
    let wanted = statements(wanted);
    assert!(equal(&wanted, &made), "{}", diff(&wanted, &made));
}

/// The same of `rest` behind the import of TensorFlow, and its preamble.
#[track_caller]
fn after_import(pattern: Pattern, rest: &str, wanted: &str) {
    let flag = if pattern == Pattern::Tape { "hvd_broadcast_done = False\n" } else { "" };
    let preamble = preamble("tf", "horovod.tensorflow", flag);
    let wanted = format!("import tensorflow as tf\n{preamble}{wanted}");
    published(pattern, &format!("import tensorflow as tf\n{rest}"), &wanted);
}

fn preamble(tensorflow: &str, horovod: &str, flag: &str) -> String {
    format!(
        "\
import {horovod} as hvd
{flag}hvd.init()
gpus = {tensorflow}.config.experimental.list_physical_devices('GPU')
for gpu in gpus:  {tensorflow}.config.experimental.set_memory_growth(gpu, True)
if gpus:  {tensorflow}.config.experimental.set_visible_devices(gpus[hvd.local_rank()], 'GPU')
"
    )
}

/// The example of the paper's draft: "Original code example" and "Transformed code example". The draft passes `lr`
/// by position and wraps the optimizer of Keras.
#[test]
fn the_draft_s_example_comes_out_as_printed() {
    let source = "\
import tensorflow as tf
import tensorflow.keras as keras

optimizer = keras.optimizers.Adam(lr)
";
    let wanted = "\
import tensorflow as tf
import horovod.tensorflow as hvd
hvd_broadcast_done = False
hvd.init()
gpus = tf.config.experimental.list_physical_devices('GPU')
for gpu in gpus:  tf.config.experimental.set_memory_growth(gpu, True)
if gpus:  tf.config.experimental.set_visible_devices(gpus[hvd.local_rank()], 'GPU')
import tensorflow.keras as keras

optimizer = keras.optimizers.Adam(lr * hvd.size())
optimizer = hvd.DistributedOptimizer(optimizer)
";
    published(Pattern::Tape, source, wanted);
}

/// The article's figures of the `GradientTape` pattern, with the optimizer that they leave out.
#[test]
fn a_tape_is_distributed_and_what_is_stepped_is_broadcast() {
    let source = "\
opt = tf.optimizers.Adam(0.001)
with tf.GradientTape() as tape:
    probs = model(images)
    loss_value = loss(labels, probs)

grads = tape.gradient(loss_value, model.trainable_variables)
opt.apply_gradients(zip(grads, model.trainable_variables))
";
    let wanted = "\
opt = tf.optimizers.Adam(0.001 * hvd.size())
with tf.GradientTape() as tape:
    probs = model(images)
    loss_value = loss(labels, probs)
tape = hvd.DistributedGradientTape(tape)
grads = tape.gradient(loss_value, model.trainable_variables)
hvd_id_1 = zip(grads, model.trainable_variables)
opt.apply_gradients(hvd_id_1)
global hvd_broadcast_done
if not hvd_broadcast_done:
    hvd.broadcast_variables([x[1] for x in hvd_id_1], root_rank=0)
    hvd.broadcast_variables(opt.variables(), root_rank=0)
    hvd_broadcast_done = True
";
    after_import(Pattern::Tape, source, wanted);
}

/// The article's figures of the Keras pattern, in the form that the seed gives them.
#[test]
fn fit_gets_the_callback_that_broadcasts() {
    let source = "\
class ResNet(tf.keras.Model):
    pass

model = ResNet([2, 2, 2])
model.fit(x_train, y_train)
";
    let wanted = "\
class ResNet(tf.keras.Model):
    pass

model = ResNet([2, 2, 2])
model.fit(x_train, y_train, verbose=1 if hvd.rank() == 0 else 0,
          callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
";
    after_import(Pattern::Keras, source, wanted);
}

#[test]
fn callbacks_are_appended_on_one_rank_to_a_name_that_is_not_bound() {
    let source = "model = tf.keras.Sequential()\nmodel.fit(x, callbacks=[A()], verbose=2)\n";
    let wanted = "\
model = tf.keras.Sequential()
callback = [hvd.callbacks.BroadcastGlobalVariablesCallback(root_rank=0)]
if hvd.rank() == 0: callbacks.append([A()])
model.fit(x, callbacks=callbacks, verbose=1 if hvd.rank() == 0 else 0)
";
    after_import(Pattern::Keras, source, wanted);
}

#[test]
fn an_assignment_of_apply_gradients_is_a_step_of_the_tape_pattern_only() {
    let source = "opt = tf.optimizers.Adam(0.1)\ndone = opt.apply_gradients(grads_and_vars=pairs)\n";
    let scaled = "opt = tf.optimizers.Adam(0.1 * hvd.size())\n";
    let step = "\
hvd_id_1 = pairs
done = opt.apply_gradients(grads_and_vars=hvd_id_1)
global hvd_broadcast_done
if not hvd_broadcast_done:
    hvd.broadcast_variables([x[1] for x in hvd_id_1], root_rank=0)
    hvd.broadcast_variables(opt.variables(), root_rank=0)
    hvd_broadcast_done = True
";
    after_import(Pattern::Tape, source, &format!("{scaled}{step}"));
    let plain = "opt = hvd.DistributedOptimizer(opt)\ndone = opt.apply_gradients(grads_and_vars=pairs)\n";
    after_import(Pattern::Keras, source, &format!("{scaled}{plain}"));
}

#[test]
fn new_names_are_not_used_by_the_program() {
    let source = "hvd_id_1 = 0\nopt = tf.optimizers.Adam(0.1)\nopt.apply_gradients(pairs)\n";
    let made = transformed(Pattern::Tape, &statements(&format!("import tensorflow as tf\n{source}")));
    assert!(made.iter().any(|stmt| equal(std::slice::from_ref(stmt), &statements("hvd_id_2 = pairs"))));
}

#[test]
fn rates_are_scaled_by_keyword_or_position() {
    for (given, made) in [
        ("0.1", "0.1 * hvd.size()"),
        ("learning_rate=RATE", "learning_rate=RATE * hvd.size()"),
        ("RATE / 10 + 1, 0.9", "(RATE / 10 + 1) * hvd.size(), 0.9"),
        ("beta_1=0.8, learning_rate=a if b else c", "beta_1=0.8, learning_rate=(a if b else c) * hvd.size()"),
        // Nothing to scale: the published rule has no branch for it.
        ("", ""),
    ] {
        let source = format!("opt = tf.keras.optimizers.Adam({given})\n");
        let wanted = format!("opt = tf.keras.optimizers.Adam({made})\nopt = hvd.DistributedOptimizer(opt)\n");
        after_import(Pattern::Keras, &source, &wanted);
    }
}

#[test]
fn schedules_are_scaled_in_the_keras_pattern_and_so_is_the_optimizer_that_takes_one() {
    let source = "\
a = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9)
b = tf.keras.optimizers.schedules.CosineDecay(decay_steps=100, initial_learning_rate=0.1)
c = tf.keras.optimizers.schedules.PiecewiseConstantDecay([1], [0.1, 0.01])
d = tf.keras.experimental.PiecewiseConstantDecay([1], [0.1, 0.01])
e = tf.compat.v1.train.exponential_decay(0.1, step, 100, 0.9)
f = tf.compat.v1.train.exponential_decay(learning_rate=0.1, global_step=step)
opt = tf.keras.optimizers.SGD(a)
";
    let wanted = "\
a = tf.keras.optimizers.schedules.ExponentialDecay(0.1 * hvd.size(), 100, 0.9)
b = tf.keras.optimizers.schedules.CosineDecay(decay_steps=100, initial_learning_rate=0.1 * hvd.size())
c = tf.keras.optimizers.schedules.PiecewiseConstantDecay([1], [0.1, 0.01])
d = tf.keras.experimental.PiecewiseConstantDecay([1], [0.1, 0.01])
e = tf.compat.v1.train.exponential_decay(0.1 * hvd.size(), step, 100, 0.9)
f = tf.compat.v1.train.exponential_decay(learning_rate=0.1 * hvd.size(), global_step=step)
opt = tf.keras.optimizers.SGD(a * hvd.size())
opt = hvd.DistributedOptimizer(opt)
";
    after_import(Pattern::Keras, source, wanted);
    // Section 2.4 records schedules and scales none, nor an optimizer other than `Adam`.
    after_import(Pattern::Tape, source, source);
}

#[test]
fn the_tape_pattern_scales_adam_under_the_names_it_knows() {
    for (import, class, wrapped) in [
        ("", "tf.optimizers.Adam", false),
        ("from tensorflow.keras import optimizers\n", "optimizers.Adam", false),
        ("import tensorflow.keras as k\n", "k.optimizers.Adam", true),
    ] {
        let source = format!("{import}opt = {class}(0.1)\n");
        let wrap = if wrapped { "opt = hvd.DistributedOptimizer(opt)\n" } else { "" };
        after_import(Pattern::Tape, &source, &format!("{import}opt = {class}(0.1 * hvd.size())\n{wrap}"));
    }
    let unknown = "opt = tf.keras.optimizers.Adam(0.1)\n";
    after_import(Pattern::Tape, unknown, unknown);
}

#[test]
fn take_is_divided_where_it_is_called() {
    let source = "\
data = tf.data.Dataset.from_tensor_slices(x).batch(32)
data = data.take(100)
other = [step(e) for e in data.take(count=n + 1) if e]
for i, e in enumerate(data.take(STEPS)):
    pass
kept = unknown.take(5)
";
    let wanted = "\
data = tf.data.Dataset.from_tensor_slices(x).batch(32)
data = data.take(100 // hvd.size())
other = [step(e) for e in data.take(count=(n + 1) // hvd.size()) if e]
for i, e in enumerate(data.take(STEPS // hvd.size())):
    pass
kept = unknown.take(5)
";
    after_import(Pattern::Tape, source, wanted);
    // Section 2.3 knows a dataset only where its variable is annotated.
    after_import(Pattern::Keras, source, source);
    let source = "data: Dataset = tf.data.Dataset.range(9)\nmodel = f(data.take(4))\n";
    let wanted = "data: Dataset = tf.data.Dataset.range(9)\nmodel = f(data.take(4 // hvd.size()))\n";
    after_import(Pattern::Keras, source, wanted);
}

#[test]
fn output_is_written_on_one_rank() {
    let source = "\
checkpoint = tf.train.Checkpoint(model=model)
def report(log):
    if verbose:
        print('loss', 1)
    log.write('x')
    net.summary()
    net.save_weights('w')
    net.load_weights('w')
    checkpoint.save('c')
    other.save('c')
    value = print('not a statement')
";
    let wanted = "\
checkpoint = tf.train.Checkpoint(model=model)
def report(log):
    if verbose:
        if hvd.rank() == 0: print('loss', 1)
    if hvd.rank() == 0: log.write('x')
    if hvd.rank() == 0: net.summary()
    if hvd.rank() == 0: net.save_weights('w')
    if hvd.rank() == 0: net.load_weights('w')
    if hvd.rank() == 0: checkpoint.save('c')
    other.save('c')
    value = print('not a statement')
";
    after_import(Pattern::Tape, source, wanted);
    after_import(Pattern::Keras, source, wanted);
}

#[test]
fn a_path_of_a_checkpoint_is_left_unbound_on_the_other_ranks() {
    let source = "checkpoint = tf.train.Checkpoint()\npath = checkpoint.save('c')\n";
    let wanted = "checkpoint = tf.train.Checkpoint()\nif hvd.rank() == 0: path = checkpoint.save('c')\n";
    after_import(Pattern::Tape, source, wanted);
    after_import(Pattern::Keras, source, source);
}

#[test]
fn evaluation_is_verbose_on_one_rank() {
    let source =
        "model = tf.keras.Sequential()\nscore = model.evaluate(x, verbose=0)\nscore = model.evaluate(x)\n";
    let verbose = "verbose=1 if hvd.rank() == 0 else 0";
    let wanted = format!(
        "model = tf.keras.Sequential()\nscore = model.evaluate(x, {verbose})\nscore = model.evaluate(x, {verbose})\n"
    );
    after_import(Pattern::Keras, source, &wanted);
}

#[test]
fn a_string_for_adam_becomes_a_wrapped_optimizer() {
    for (given, made) in [("'adam', 'mse'", "hvd_id_1, 'mse'"), ("optimizer='adam'", "optimizer=hvd_id_1")] {
        let source = format!("model = tf.keras.Sequential()\nmodel.compile({given})\n");
        let wanted = format!(
            "\
model = tf.keras.Sequential()
hvd_id_1 = tf.optimizers.Adam(learning_rate=0.001 * hvd.size())
hvd_id_1 = hvd.DistributedOptimizer(hvd_id_1)
model.compile({made})
"
        );
        after_import(Pattern::Keras, &source, &wanted);
    }
    let other = "model = tf.keras.Sequential()\nmodel.compile('sgd')\nmodel.compile(optimizer=opt)\n";
    after_import(Pattern::Keras, other, other);
}

#[test]
fn the_device_chosen_by_hand_is_dropped() {
    let source = "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nos.environ['OTHER'] = '1'\n";
    published(Pattern::Keras, source, "import os\nos.environ['OTHER'] = '1'\n");
    let unknown = "os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n";
    published(Pattern::Keras, unknown, unknown);
}

#[test]
fn both_imports_write_a_preamble_each() {
    let keras = "from tensorflow import keras\n";
    let wanted = format!("{keras}{}", preamble("keras", "horovod.tensorflow.keras", ""));
    after_import(Pattern::Keras, keras, &wanted);
    published(Pattern::Tape, keras, &wanted);
    // Two names at once are more than the rule looks for.
    let both = "import os, tensorflow as tf\n";
    published(Pattern::Tape, both, both);
}

#[test]
fn a_block_with_two_tapes_distributes_the_last_and_one_with_arguments_none() {
    let source = "\
def f():
    with tf.GradientTape() as a, tf.GradientTape() as b:
        pass
def g():
    with tf.GradientTape(persistent=True) as c:
        pass
async def h():
    async with tf.GradientTape() as d:
        pass
";
    let wanted = "\
def f():
    with tf.GradientTape() as a, tf.GradientTape() as b:
        pass
    b = hvd.DistributedGradientTape(b)
def g():
    with tf.GradientTape(persistent=True) as c:
        pass
async def h():
    async with tf.GradientTape() as d:
        pass
    d = hvd.DistributedGradientTape(d)
";
    after_import(Pattern::Tape, source, wanted);
}

#[test]
fn every_kind_of_statement_and_expression_is_entered() {
    let call = "data.take(8)";
    let share = "data.take(8 // hvd.size())";
    for place in [
        "a.b = {}",
        "a += {}",
        "a: int = {}",
        "return_ = ({}, *{K})",
        "assert {}, {K}",
        "x = {{1: {}, **{K}}}",
        "x = [{}, {{{}}}]",
        "x = {} and {}",
        "x = -{}",
        "x = {} < {}",
        "x = f({}, k={}, *{K}, **{K})",
        "x = {}[{}:{}]",
        "x = {}.batch(2)",
        "x = lambda: {}",
        "x = {} if {} else {}",
        "x = {{k: {} for k in {}}}",
        "x = f'{{{K}}}'",
        "x = (e for e in {} if {})",
        "while {}:\n    a = {}\nelse:\n    a = {}",
        "del a[{K}]",
        "if {}:\n    a = {}\nelif {}:\n    a = {}\nelse:\n    a = {}",
        "try:\n    a = {}\nexcept {K}:\n    a = {}\nelse:\n    a = {}\nfinally:\n    a = {}",
        "match {}:\n    case 1 if {}:\n        a = {}",
        "with {} as a:\n    a = {}",
        "raise {K}",
        "def f(a={K}):\n    return {}",
        "class A:\n    a = {}",
        "async def f():\n    await {}\n    yield {}",
    ] {
        let fill = |value: &str| {
            let text = place.replace("{K}", call).replace("{}", value);
            let text = text.replace("{{", "{").replace("}}", "}");
            format!("data = tf.data.Dataset.range(9)\n{text}\n")
        };
        after_import(Pattern::Tape, &fill(call), &fill(share));
    }
}
