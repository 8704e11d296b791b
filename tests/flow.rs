//! How models, optimizers and callbacks travel through training programs.
//!
//! `#> net.Net.call` behind a line: its calls reach exactly these functions of the project, be it through a
//! library. `#< opt.py:3`: what its first method call is made on was created exactly there.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;

use hvdlint::analysis;
use hvdlint::program::{Facts, FunctionRef, Object, QualifiedNames};
use hvdlint::project::{ConfigSource, FileId, OpenOptions, Project};
use hvdlint::semantic::{CallId, Value};

fn files(source: &str) -> Vec<(&str, String)> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for line in source.trim_start_matches('\n').lines() {
        if let Some(name) = line.strip_prefix("# file: ") {
            files.push((name, String::new()));
            continue;
        }
        if files.is_empty() {
            files.push(("train.py", String::new()));
        }
        let text = &mut files.last_mut().unwrap().1;
        text.push_str(line);
        text.push('\n');
    }
    files
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// The functions of the project that calls in a line reach.
fn reached(facts: &Facts<'_>, file: FileId, text: &str, line: usize) -> BTreeSet<String> {
    let names = QualifiedNames { modules: facts.modules };
    let module = facts.module(file);
    let mut found = BTreeSet::new();
    for edge in &facts.solution.edges {
        let Some(call) = edge.call.filter(|_| edge.caller.file == file) else { continue };
        if let Object::Function(function) = facts.solution.object(edge.callee)
            && line_of(text, module.call(call).callee_range.end().to_usize()) == line
        {
            found.insert(names.function(FunctionRef { ..function }));
        }
    }
    found
}

/// Where the receiver of the first method call in a line was made.
fn made(
    facts: &Facts<'_>,
    files: &[(&str, String)],
    file: FileId,
    text: &str,
    line: usize,
) -> BTreeSet<String> {
    let module = facts.module(file);
    let mut calls = (0..module.calls.len()).map(CallId::new).filter_map(|id| {
        let call = module.call(id);
        let receiver = facts.receiver(file, call)?;
        (line_of(text, call.callee_range.end().to_usize()) == line).then_some(receiver)
    });
    let receiver = calls.next().unwrap_or_else(|| panic!("no method call in line {line} of\n{text}"));
    let places = facts.objects(file, receiver).map(|(_, object)| match object {
        Object::Created(_, node) | Object::Instance(_, Some(node)) => {
            let Some((file, value)) = facts.solution.origin(node) else { return "nowhere".to_owned() };
            let (name, text) = &files[position(facts, files, file)];
            let evaluation = facts.module(file).value(value);
            let range = match evaluation.value {
                Value::Call(call) => facts.module(file).call(call).range,
                _ => evaluation.range,
            };
            format!("{name}:{}", line_of(text, range.start().to_usize()))
        }
        Object::Unknown => "unknown".to_owned(),
        other => format!("{other:?}"),
    });
    places.collect()
}

fn position(facts: &Facts<'_>, files: &[(&str, String)], file: FileId) -> usize {
    let name = &facts.modules.names[file.index()];
    let dotted = |path: &str| path.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
    files.iter().position(|(path, _)| dotted(path) == *name).unwrap()
}

#[track_caller]
fn check(source: &str) {
    let files = files(source);
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in &files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let options = OpenOptions {
        config: ConfigSource::Isolated,
        package: Some(folder.path().to_owned()),
        ..OpenOptions::default()
    };
    let project = Project::open(&[folder.path().to_owned()], &options).unwrap();
    let mut checked = 0;
    analysis::with_facts(&project, |facts| {
        for file in facts.modules.files() {
            let (name, text) = &files[position(facts, &files, file)];
            for (number, line) in (1..).zip(text.lines()) {
                let words = |marker| {
                    let (_, words) = line.split_once(marker)?;
                    Some(words.split_whitespace().map(str::to_owned).collect::<BTreeSet<String>>())
                };
                if let Some(expected) = words("#> ") {
                    checked += 1;
                    assert_eq!(
                        reached(facts, file, text, number),
                        expected,
                        "{name}:{number} reaches, in\n{source}"
                    );
                }
                if let Some(expected) = words("#< ") {
                    checked += 1;
                    assert_eq!(
                        made(facts, &files, file, text, number),
                        expected,
                        "{name}:{number} is made, in\n{source}"
                    );
                }
            }
        }
    })
    .unwrap();
    assert!(checked > 0, "nothing is claimed in\n{source}");
}

#[test]
fn calling_a_model_runs_its_call() {
    check(
        "
# file: net.py
import tensorflow as tf
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def call(self, x, training=False):
        return self.block(x)  #> net.Block.build net.Block.call
class Block(tf.keras.layers.Layer):
    def build(self, shape):
        pass
    def call(self, x):
        return x
# file: train.py
from net import Net
net = Net()  #> net.Net.__init__
net(1)  #> net.Net.call
",
    );
}

#[test]
fn a_model_with_its_own_call_operator_keeps_it() {
    check(
        "
import tensorflow as tf
class Net(tf.Module):
    def __call__(self, x):
        return x
Net()(1)  #> train.Net.__call__
",
    );
}

#[test]
fn fit_runs_the_train_step_of_the_model() {
    check(
        "
import tensorflow as tf
class Net(tf.keras.Model):
    def call(self, x):
        return x
    def train_step(self, data):
        return self(data)  #> train.Net.call
model = Net()
model.compile(tf.keras.optimizers.SGD())
model.fit([1])  #> train.Net.train_step train.Net.call
",
    );
}

#[test]
fn a_subclass_of_a_subclass_in_another_file_is_a_model() {
    check(
        "
# file: base.py
from tensorflow import keras
class Base(keras.Model):
    def train_step(self, data):
        return self(data)  #> train.Net.call
# file: middle.py
from base import Base as Root
class Middle(Root):
    pass
# file: train.py
import middle
class Net(middle.Middle):
    def call(self, x):
        return x
Net().fit([1])  #> base.Base.train_step train.Net.call
",
    );
}

#[test]
fn a_compiled_function_is_called() {
    check(
        "
import tensorflow as tf
@tf.function
def one(x):
    return x
@tf.function(jit_compile=True)
def two(x):
    return x
def three(x):
    return x
def four(x):
    return x
compiled = tf.function(three)
again = tf.function(jit_compile=True)(four)
def main():
    one(1)  #> train.one
    two(1)  #> train.two
    compiled(1)  #> train.three
    again(1)  #> train.four
main()
",
    );
}

#[test]
fn a_compiled_method_is_called() {
    check(
        "
import tensorflow as tf
class Trainer:
    def __init__(self, model):
        self.model = model
        self.fast = tf.function(self.slow)
    @tf.function
    def step(self, x):
        return self.model(x)  #> train.Net.call
    def slow(self, x):
        return x
class Net(tf.keras.Model):
    def call(self, x):
        return x
trainer = Trainer(Net())  #> train.Trainer.__init__
trainer.step(1)  #> train.Trainer.step
trainer.fast(1)  #> train.Trainer.slow
",
    );
}

#[test]
fn a_partial_binds_its_arguments() {
    check(
        "
import functools
import tensorflow as tf
def train(model, optimizer, data):
    model(data)  #> train.Net.call
    optimizer.apply_gradients([])  #< train.py:9
class Net(tf.keras.Model):
    def call(self, x):
        return x
run = functools.partial(train, Net(), optimizer=tf.keras.optimizers.Adam())
run(data=1)  #> train.train
",
    );
}

#[test]
fn a_partial_may_be_around_itself() {
    check(
        "
import functools
import tensorflow as tf
def build(optimizer, *layers):
    optimizer.apply_gradients([])  #< train.py:5
optimizer = tf.keras.optimizers.Adam()
for layer in range(3):
    build = functools.partial(build, optimizer)
build(optimizer)  #> train.build
",
    );
}

#[test]
fn callbacks_are_run_by_fit() {
    check(
        "
import tensorflow as tf
class Log(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.write()  #> train.Log.write
    def write(self):
        pass
def rate(epoch):
    return 0.1
model = tf.keras.Sequential()
callbacks = [Log()]
callbacks.append(tf.keras.callbacks.LearningRateScheduler(rate))  #> train.rate
model.fit([1], callbacks=callbacks)
",
    );
}

#[test]
fn an_application_runs_its_main() {
    check(
        "
from absl import app, flags
def main(argv):
    train()  #> train.train
def train():
    pass
if __name__ == '__main__':
    app.run(main)  #> train.main
",
    );
}

#[test]
fn an_old_application_runs_its_main() {
    check(
        "
import tensorflow.compat.v1 as tf
def main(_):
    pass
tf.app.run(main=main)  #> train.main
",
    );
}

#[test]
fn an_old_application_runs_the_main_of_its_module() {
    check(
        "
import tensorflow as tf
def main(_):
    train()  #> train.train
def train():
    pass
def other(_):
    pass
if __name__ == '__main__':
    tf.app.run()  #> train.main
    tf.app.run(argv=[])  #> train.main
    tf.app.run(other)  #> train.other
",
    );
}

#[test]
fn a_thread_runs_its_target() {
    check(
        "
import threading
from multiprocessing import Process
def work(n):
    pass
def other():
    pass
def main():
    thread = threading.Thread(target=work, args=(1,))  #> train.work
    thread.start()
    Process(target=other).start()  #> train.other
main()
",
    );
}

#[test]
fn a_dataset_maps_functions_of_the_project() {
    check(
        "
import tensorflow as tf
def parse(x):
    return x
data = tf.data.Dataset.range(3).map(parse).batch(2)  #> train.parse
",
    );
}

#[test]
fn a_trainer_holds_model_and_optimizer() {
    check(
        "
import tensorflow as tf
class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = self.model(x)
        grads = tape.gradient(loss, self.model.trainable_variables)  #< train.py:7
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))  #< train.py:13
        self.model.summary()  #< train.py:12
model = tf.keras.Sequential()
optimizer = tf.keras.optimizers.Adam(1e-3)
trainer = Trainer(model, optimizer)
trainer.step(1)  #> train.Trainer.step
",
    );
}

#[test]
fn an_optimizer_travels_through_two_modules() {
    check(
        "
# file: a.py
import tensorflow as tf
import b
def main():
    b.run(tf.keras.optimizers.SGD(0.1))
# file: b.py
from c import step
def run(optimizer):
    step(opt=optimizer)  #> c.step
# file: c.py
def step(opt):
    opt.apply_gradients([])  #< a.py:4
# file: main.py
import a
a.main()  #> a.main
",
    );
}

#[test]
fn an_optimizer_comes_from_a_factory() {
    check(
        "
# file: factory.py
from tensorflow import keras
def make(name):
    if name == 'adam':
        return keras.optimizers.Adam()
    elif name == 'sgd':
        return keras.optimizers.SGD()
    raise ValueError(name)
# file: train.py
from factory import make
optimizer = make('adam')
optimizer.apply_gradients([])  #< factory.py:4 factory.py:6
",
    );
}

#[test]
fn an_optimizer_is_kept_in_containers() {
    check(
        "
import tensorflow.keras as K
table = {'opt': K.optimizers.Adam(), 'model': K.Sequential()}
items = [K.optimizers.SGD(), K.optimizers.RMSprop()]
def main():
    table['opt'].apply_gradients([])  #< train.py:2
    items[1].apply_gradients([])  #< train.py:3
    for item in items:
        item.apply_gradients([])  #< train.py:3
    model, opt = build()
    opt.apply_gradients([])  #< train.py:13
def build():
    model = K.Sequential()
    opt = K.optimizers.Adam()
    return model, opt
main()
",
    );
}

#[test]
fn an_optimizer_is_kept_in_a_closure() {
    check(
        "
import tensorflow as tf
def make_step(model, optimizer):
    @tf.function
    def step(x):
        optimizer.apply_gradients([])  #< train.py:8
        return model(x)
    return step
step = make_step(tf.keras.Sequential(), tf.keras.optimizers.Adam())
step(1)  #> train.make_step.step
",
    );
}

#[test]
fn spellings_of_tensorflow_mean_the_same() {
    for import in [
        "import tensorflow as tf",
        "import tensorflow.compat.v1 as tf",
        "import tensorflow.compat.v2 as tf",
        "from tensorflow import keras",
        "import tensorflow.keras as keras",
        "from tensorflow.python import keras",
        "import keras",
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf",
        "if True:\n    from tensorflow import keras\nelse:\n    import keras",
    ] {
        let keras = if import.contains("as tf") { "tf.keras" } else { "keras" };
        check(&format!(
            "{import}\nclass Net({keras}.Model):\n    def call(self, x):\n        return x\nNet()(1)  #> train.Net.call\n"
        ));
    }
}

#[test]
fn names_imported_one_by_one_mean_the_same() {
    check(
        "
from tensorflow.keras.models import Model as M
from tensorflow.keras.layers import Layer
class Inner(Layer):
    def call(self, x):
        return x
class Net(M):
    def __init__(self):
        super(Net, self).__init__()
        self.layers_ = [Inner() for _ in range(3)]
    def call(self, x):
        for layer in self.layers_:
            x = layer(x)  #> train.Inner.call
        return x
Net()(1)  #> train.Net.__init__ train.Net.call
",
    );
}

#[test]
fn a_wrapped_optimizer_is_one_of_its_own() {
    check(
        "
import tensorflow as tf
import horovod.tensorflow as hvd
optimizer = tf.keras.optimizers.SGD()
optimizer = hvd.DistributedOptimizer(optimizer)
optimizer.apply_gradients([])  #< train.py:4
",
    );
}

#[test]
fn a_conditional_import_of_the_project_is_followed() {
    check(
        "
# file: train.py
try:
    from fast import step
except ImportError:
    from slow import step
step()  #> slow.step
# file: slow.py
def step():
    pass
",
    );
}

#[test]
fn a_session_hook_is_run() {
    check(
        "
import tensorflow.compat.v1 as tf
class Hook(tf.train.SessionRunHook):
    def after_run(self, context, values):
        self.log()  #> train.Hook.log
    def log(self):
        pass
def model_fn(features, labels, mode):
    pass
estimator = tf.estimator.Estimator(model_fn=model_fn)
",
    );
}

#[test]
fn a_private_method_is_called_for_those_that_public_ones_pass_to_it() {
    check(
        "
import tensorflow
class Container:
    def _merge(self, others):
        for other in others:
            self._add(other)  #> train.Parser._add
    def _add(self, action):
        return action
    def add(self, action):
        return self._add(action)  #> train.Container._add
class Parser(Container):
    def __init__(self, parents):
        self._merge(parents)  #> train.Container._merge
    def _add(self, action):
        return action
",
    );
}

#[test]
fn a_private_method_that_nobody_calls_is_called_from_outside() {
    check(
        "
import tensorflow
class Container:
    def _merge(self, others):
        self._add(others)  #> train.Container._add
    def _add(self, action):
        return action
",
    );
}

#[test]
fn what_is_set_under_an_unknown_name_may_be_any_attribute() {
    check(
        "
import sys
class First:
    def run(self):
        pass
class Second:
    def run(self):
        pass
class Options:
    def __init__(self, **given):
        self.solver = First()
        for name, value in given.items():
            setattr(self, name, value)
options = Options()
for name in sys.argv:
    setattr(options, name, Second())
options.solver.run()  #> train.First.run train.Second.run
",
    );
}

#[test]
fn many_strings_leave_room_for_what_is_called() {
    let strings: Vec<String> = (0..100).map(|index| format!("use('{index}')")).collect();
    let strings = strings.join("\n");
    check(&format!(
        "
class First:
    def run(self):
        pass
class Holder:
    def __init__(self, held):
        self.held = held
def use(value):
    value.run()  #> train.First.run
{strings}
outer = Holder(Holder(First()))
use(outer.held.held)
"
    ));
}

#[test]
fn what_nobody_runs_is_followed_only_near_training() {
    check(
        "
# file: train.py
import tensorflow as tf
from tools import used
used()
def unused():
    used()  #> tools.used
# file: tools.py
def used():
    helper()  #> tools.helper
def unused():
    helper()  #> \nscript = lambda: helper()  #> tools.helper
def helper():
    pass
",
    );
}

#[test]
fn what_names_training_through_other_modules_is_followed() {
    check(
        "
# file: cli.py
import runner
def main():
    runner.run()  #> runner.run
def inline():
    import runner as own
    own.run()  #> runner.run
def version():
    show()  #> \ndef show():
    pass
# file: runner.py
from engine import *
def run():
    Engine().start()  #> engine.Engine.start
# file: engine.py
import train
class Engine:
    def start(self):
        return train.fit()  #> train.fit
# file: train.py
import tensorflow as tf
def fit():
    tf.keras.Sequential().fit()
",
    );
}

#[test]
fn a_star_brings_the_submodules_that_a_package_imports() {
    check(
        "
# file: train.py
import tensorflow as tf
from models import *
gan.build()  #> models.gan.build
# file: models/__init__.py
__all__ = ['gan']
import models.gan
# file: models/gan.py
def build():
    return tf.keras.Sequential()
",
    );
}

#[test]
fn what_is_given_to_unknown_code_is_followed() {
    check(
        "
# file: train.py
import tensorflow as tf
import schedule
from jobs import Job, job
schedule.every(job)
schedule.daily(Job().work)
# file: jobs.py
def job():
    step()  #> jobs.step
def step():
    pass
class Job:
    def work(self):
        step()  #> jobs.step
    def rest(self):
        step()  #> \n",
    );
}

#[test]
fn methods_of_what_holds_a_model_are_followed() {
    check(
        "
# file: train.py
import tensorflow as tf
from engine import Engine, Plain
engine = Engine(tf.keras.Sequential())
plain = Plain('name')
# file: engine.py
class Base:
    def start(self):
        self.log()  #> engine.Base.log
    def log(self):
        pass
class Engine(Base):
    def __init__(self, model):
        self.model = model
    def run(self):
        self.step()  #> engine.Engine.step
    def step(self):
        pass
class Plain:
    def __init__(self, name):
        self.name = name
    def run(self):
        self.step()  #> \n    def step(self):
        pass
",
    );
}

#[test]
fn functions_share_the_names_of_their_module() {
    check(
        "
# file: train.py
import tensorflow as tf
import glue
glue.second()
# file: glue.py
def first():
    helper()  #> \ndef second():
    helper()  #> glue.helper
def helper():
    pass
",
    );
}

/// Each function gives the next one away: however long the chain is, its end is followed.
#[test]
fn long_chains_are_followed_to_their_end() {
    let links = (0..20).map(|index| format!("def f{index}():\n    schedule.every(f{})\n", index + 1));
    let chain: String = links.collect();
    check(&format!(
        "
# file: train.py
import tensorflow as tf
import schedule
from jobs import f0
schedule.every(f0)
# file: jobs.py
import schedule
{chain}
def f20():
    step()  #> jobs.step
def step():
    pass
"
    ));
}
