//! What a run with Horovod does not come to, though value flow mixes it up with what it does: no finding speaks of it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use serde_json::json;

/// The certain findings of a project's ranks and traced code.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    support::found(files, "certain")
}

/// A program that trains by Horovod, with what stands before it fits and what it is compiled with.
fn trained(before: &str, optimizer: &str, compiled: &str) -> String {
    format!(
        "import os\nimport keras\nimport horovod.keras as hvd\n{before}\nhvd.init()\nmodel = keras.models.Sequential([\
         keras.layers.Dense(1)])\nmodel.compile(loss='mse', optimizer={optimizer})\n{compiled}\nmodel.fit([1], [2], \
         callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])\n"
    )
}

const WRAPPED: &str = "hvd.DistributedOptimizer(keras.optimizers.Adam())";

#[test]
fn callbacks_of_a_run_without_horovod_write_alone() {
    let program = |condition: &str| {
        format!(
            "import sys\nimport keras\nimport horovod.keras as hvd\nfrom keras.callbacks import Callback, TensorBoard\n\
             distributed = '--hvd' in sys.argv\nif distributed:\n    hvd.init()\nboard = TensorBoard(log_dir='logs')\n\
             class Keep(Callback):\n    def on_epoch_end(self, epoch, logs=None):\n        model.save_weights('kept.h5')\n\
             kept = Keep()\nmodel = keras.models.Sequential([keras.layers.Dense(1)])\nif distributed:\n    \
             model.compile(loss='mse', optimizer=hvd.DistributedOptimizer(keras.optimizers.Adam()))\n    \
             model.fit([1], [2], callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])\nif {condition}:\n    \
             model.compile(loss='mse', optimizer=hvd.DistributedOptimizer(keras.optimizers.Adam()))\n    \
             model.fit([1], [2], callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0), board, kept])\n"
        )
    };
    assert_eq!(found(&[("train.py", &program("not distributed"))]), Vec::<String>::new());
    assert_eq!(
        found(&[("train.py", &program("distributed"))]),
        ["train.py:8 HVD305", "train.py:11 HVD305", "train.py:12 HVD305"]
    );
}

#[test]
fn a_decorated_function_is_run_where_its_name_is_called() {
    let decorators = "import functools\n\ndef guarded(function):\n    @functools.wraps(function)\n    \
                      def wrapper(*args):\n        try:\n            return function(*args)\n        except MemoryError:\n            \
                      print('too large')\n    return wrapper\n";
    let body = trained("from decorators import guarded", WRAPPED, "").replace("hvd.init()", "\nhvd.init()");
    let (imports, body) = body.split_once("\n\n").unwrap();
    let body: Vec<String> = body.lines().map(|line| format!("    {line}\n")).collect();
    let train = format!(
        "{imports}\n\n@guarded\ndef main():\n{}\nif __name__ == '__main__':\n    main()\n",
        body.concat()
    );
    let evaluate = "import os\nimport importlib\nimport keras\nfrom decorators import guarded\n\n@guarded\n\
                    def main():\n    importlib.import_module('models.' + os.environ['MODEL'])\n    \
                    open('scores.txt', 'a').write('1')\n\nif __name__ == '__main__':\n    os.makedirs('results')\n    main()\n";
    let files = [("decorators.py", decorators), ("train.py", train.as_str()), ("evaluate.py", evaluate)];
    assert_eq!(found(&files), Vec::<String>::new());
    // What is decorated and called is run: the last line but one of the body writes on each rank.
    let writes = train.replace("    model.fit", "    open('scores.txt', 'a').write('1')\n    model.fit");
    let files = [("decorators.py", decorators), ("train.py", writes.as_str()), ("evaluate.py", evaluate)];
    assert_eq!(found(&files), ["train.py:12 HVD305"]);
}

#[test]
fn an_optimizer_that_is_put_into_the_model_is_the_one_that_steps() {
    let plain = "keras.optimizers.Adam()";
    let replaced = "model.optimizer = hvd.DistributedOptimizer(model.optimizer)";
    assert_eq!(found(&[("train.py", &trained("", plain, replaced))]), Vec::<String>::new());
    assert_eq!(found(&[("train.py", &trained("", plain, ""))]), ["train.py:7 HVD303"]);
}

#[test]
fn a_step_that_is_put_into_the_model_is_the_one_that_fit_makes() {
    let step = |tape: &str| {
        format!(
            "import tensorflow as tf\nimport horovod.tensorflow.keras as hvd\nimport horovod.tensorflow as base\n\
             hvd.init()\nclass Trainer:\n    def __init__(self):\n        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n        \
             self.model.compile(optimizer=tf.keras.optimizers.Adam(), loss='mse')\n        self.model.train_step = self.train_step\n    \
             def train_step(self, data):\n        x, y = data\n        with tf.GradientTape() as tape:\n            \
             loss = tf.reduce_mean(tf.square(self.model(x) - y))\n        {tape}\n        \
             gradients = tape.gradient(loss, self.model.trainable_variables)\n        \
             self.model.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))\n        return {{'loss': loss}}\n\
             trainer = Trainer()\ntrainer.model.fit(tf.ones([8, 1]), tf.ones([8, 1]), \
             callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])\n"
        )
    };
    assert_eq!(
        found(&[("train.py", &step("tape = base.DistributedGradientTape(tape)"))]),
        Vec::<String>::new()
    );
    assert_eq!(found(&[("train.py", &step("pass"))]), ["train.py:16 HVD303"]);
}

#[test]
fn nothing_is_written_to_a_path_that_is_never_passed() {
    let before = |passed: &str| {
        format!(
            "\nclass Evaluator:\n    def __call__(self, values, folder=None):\n        if folder is not None:\n            \
             with open(os.path.join(folder, 'values.txt'), 'a') as kept:\n                kept.write(str(values))\n\
             evaluator = Evaluator()\nevaluator([1]{passed})\n"
        )
    };
    assert_eq!(found(&[("train.py", &trained(&before(""), WRAPPED, ""))]), Vec::<String>::new());
    assert_eq!(found(&[("train.py", &trained(&before(", 'kept'"), WRAPPED, ""))]), ["train.py:8 HVD305"]);
    // Nor is it among options.
    for passed in ["", "options['step'] = 1", "options.setdefault('step', 1)", "options.update(step=1)"] {
        let before = before(", **options")
            .replace("evaluator([1]", &format!("options = {{}}\n{passed}\nevaluator([1]"));
        assert_eq!(found(&[("train.py", &trained(&before, WRAPPED, ""))]), Vec::<String>::new(), "{passed}");
    }
    let give = [
        "options['folder'] = 'kept'",
        "options.setdefault('folder', 'kept')",
        "options.update(folder='kept')",
        "options.update({'folder': 'kept'})",
        "options = dict(options, folder='kept')",
        "options = {**options, 'folder': 'kept'}",
        "options['fol' + 'der'] = 'kept'",
        "options.update(zip(['folder'], ['kept']))",
        "options = dict(json.load(open('options.json')))",
        "options = json.load(open('options.json'))",
        "for name in ['folder']:\n    options[name] = 'kept'",
    ];
    for passed in give {
        let passed = format!("import json\noptions = {{'step': 1}}\n{passed}\n");
        let before = before(", **options").replace("evaluator([1]", &format!("{passed}evaluator([1]"));
        assert_eq!(found(&[("train.py", &trained(&before, WRAPPED, ""))]), ["train.py:8 HVD305"], "{passed}");
    }
}

#[test]
fn tools_that_share_code_with_training_say_nothing_of_its_ranks() {
    let saving = "import os\n\ndef save(model, path):\n    if os.path.exists(path):\n        os.remove(path)\n    \
                  model.save(path)\n";
    let train = |guard: &str| {
        let body = trained("from saving import save", WRAPPED, "");
        format!("{body}{guard}save(model, 'kept.h5')\n")
    };
    let tool = "import keras\nimport horovod.keras as hvd\nfrom saving import save\nhvd.init()\n\
                save(keras.models.load_model('trained.h5'), 'pruned.h5')\n";
    let own = train("if hvd.rank() == 0:\n    ");
    let files = [("saving.py", saving), ("train.py", own.as_str()), ("prune.py", tool)];
    assert_eq!(found(&files), Vec::<String>::new());
    let all = train("");
    let files = [("saving.py", saving), ("train.py", all.as_str()), ("prune.py", tool)];
    assert_eq!(found(&files), ["saving.py:5 HVD305", "saving.py:6 HVD305"]);
}

#[test]
fn what_is_read_from_a_temporary_file_is_what_the_program_put_there() {
    let load = |path: &str| {
        let before = "import random\nimport shutil\nimport tempfile\n";
        let weights = format!(
            "path = {path}\nshutil.copy('trained.h5', path)\nloaded = keras.models.load_model(path)\n\
             model.set_weights(loaded.get_weights())"
        );
        let body = trained(before, WRAPPED, "");
        format!("{body}{weights}\nmodel.fit([1], [2])\n")
    };
    assert_eq!(found(&[("train.py", &load("tempfile.mkdtemp() + '/model.h5'"))]), Vec::<String>::new());
    let drawn = found(&[("train.py", &load("'model-%d.h5' % random.randrange(9)"))]);
    assert!(drawn.iter().any(|own| own.ends_with("HVD302")), "{drawn:?}");
}

#[test]
fn the_epoch_to_go_on_at_is_no_decision_of_each_rank() {
    let program = |condition: &str| {
        let before = "def latest(folder):\n    if not os.path.exists(folder):\n        return 0\n    \
                      return len(folder)\nfolder = 'kept'\nopen(os.path.join(folder, 'log.txt'), 'a').close()\n\
                      first = latest(folder)\n";
        let body = trained(before, WRAPPED, "");
        body.replace("\n\nmodel.fit", &format!("\nif {condition}:\n    model.fit"))
    };
    let steps = |condition: &str| {
        let all = found(&[("train.py", &program(condition))]);
        all.into_iter().filter(|own| !own.ends_with("HVD305")).collect::<Vec<String>>()
    };
    assert_eq!(steps("first < 9"), Vec::<String>::new());
    assert_eq!(steps("not os.path.exists(folder)").len(), 1);
}

#[test]
fn wrappers_may_be_around_each_other_without_end() {
    let wrapper = |name: &str| {
        format!(
            "def {name}(function):\n    def wrapper(*given):\n        return function(*given)\n    return wrapper\n\n"
        )
    };
    let decorated = |name: &str, by: &str, body: &str| format!("@{by}\ndef {name}():\n    {body}\n\n");
    let before = [
        wrapper("counted"),
        wrapper("timed"),
        decorated("write", "counted", "open('log.txt', 'a').write('x')"),
        decorated("read", "timed", "open('log.txt').read()"),
        decorated("show", "counted", "print('shown')"),
        "run = write\nfor turn in range(3):\n    run = counted(run)\n    run = timed(run)\n".to_owned(),
    ];
    let program = |call: &str| trained(&before.concat(), WRAPPED, call);
    assert_eq!(found(&[("train.py", &program("run()"))]), ["train.py:16 HVD305"]);
}

/// A module that trains, with an optimizer that nobody distributes.
const TRAINING: &str = "import tensorflow as tf\nimport horovod.tensorflow.keras as hvd\n\ndef train():\n    \
                        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n    \
                        model.compile(optimizer=tf.keras.optimizers.Adam(), loss='mse')\n    \
                        model.fit(tf.ones([8, 1]), tf.ones([8, 1]), callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])\n";

#[test]
fn folders_that_a_project_puts_on_the_path_are_searched() {
    let reports = |edit: &str| {
        let train = format!(
            "import os\nimport sys\nimport horovod.tensorflow.keras as hvd\n\nHOME = os.path.dirname(__file__)\n{edit}\n\
             from training import train\n\nhvd.init()\ntrain()\n"
        );
        found(&[("run/train.py", train.as_str()), ("run/own/training.py", TRAINING)])
    };
    let told = ["run/own/training.py:6 HVD303"];
    assert_eq!(reports(""), Vec::<String>::new());
    assert_eq!(reports("sys.path.append(os.path.join(HOME, 'own'))"), told);
    assert_eq!(reports("sys.path.insert(0, HOME + '/own')"), told);
    assert_eq!(reports("sys.path.append('../run/own')"), told);
    assert_eq!(reports("sys.path.append('run/own')"), told);
    // The project may lie elsewhere; a folder of the machine is none of the project's.
    assert_eq!(reports("sys.path.append('/workspace/run/own')"), told);
    assert_eq!(reports("sys.path.append('/own')"), Vec::<String>::new());
    assert_eq!(reports("sys.path.append(os.path.join(HOME, 'other'))"), Vec::<String>::new());
}

#[test]
fn a_folder_on_the_path_serves_the_programs_that_put_it_there() {
    let train = |edit: &str| {
        format!(
            "import sys\nimport horovod.tensorflow.keras as hvd\n{edit}\nfrom training import train\n\nhvd.init()\ntrain()\n"
        )
    };
    let (with, without) = (train("sys.path.append('../lib')"), train(""));
    let files = [("a/train.py", &*with), ("b/train.py", &*without), ("lib/training.py", TRAINING)];
    let project = support::folder(&files);
    let graph = support::run(project.path(), &["graph", "imports", "--all"]).json();
    assert_eq!([&graph["a.train"], &graph["b.train"]], [&json!(["lib.training"]), &json!([])]);
    let imported = without.replace("import sys\n", "import paths\n");
    let files = [
        ("b/train.py", &*imported),
        ("b/paths.py", "import sys\nsys.path.append('../lib')\n"),
        ("lib/training.py", TRAINING),
    ];
    assert_eq!(found(&files), ["lib/training.py:6 HVD303"]);
}

#[test]
fn folders_that_a_project_installs_packages_from_are_searched() {
    let train =
        "import horovod.tensorflow.keras as hvd\nfrom own.training import train\n\nhvd.init()\ntrain()\n";
    let reports = |setup: (&str, &str), library_at: &str| {
        found(&[("run/train.py", train), setup, (library_at, TRAINING)])
    };
    let setup = "from setuptools import setup\nsetup(name='own')\n";
    let (beside, below) = ("python/lib/own/training.py", "python/lib/src/own/training.py");
    assert_eq!(reports(("python/lib/setup.py", setup), beside), [format!("{beside}:6 HVD303")]);
    assert_eq!(reports(("python/lib/setup.py", setup), below), [format!("{below}:6 HVD303")]);
    let others = [
        "import setuptools\nsetuptools.setup(name='own')\n",
        "from skbuild import setup\nsetup(name='own')\n",
    ];
    for other in others {
        assert_eq!(
            reports(("python/lib/setup.py", other), beside),
            [format!("{beside}:6 HVD303")],
            "{other}"
        );
    }
    assert_eq!(reports(("python/lib/setup.py", "setup = 1\n"), beside), Vec::<String>::new());
    let version = "from distutils.version import StrictVersion\n";
    assert_eq!(reports(("python/lib/versions.py", version), beside), Vec::<String>::new());
}
