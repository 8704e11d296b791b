//! Where value flow mixes up what a name holds: what rests on that alone is no certain finding, and is still possible.

mod support;

use support::found;

/// A registry of many things, of which traced code calls one.
fn registry(called: &str) -> String {
    let functions: Vec<String> =
        (0..10).map(|at| format!("def made_{at}(x):\n    print('made', x)\n\n")).collect();
    let functions = functions.concat();
    let names: Vec<String> = (0..10).map(|at| format!("'{at}': made_{at}")).collect();
    let kept = names.join(", ");
    format!(
        "import sys\nimport tensorflow as tf\n\n{functions}REGISTRY = {{{kept}}}\n\n@tf.function\ndef step(x):\n    {called}(x)\n    \
         return x\n\nstep(tf.ones([2]))\nstep(tf.ones([2]))\n"
    )
}

#[test]
fn what_only_a_lost_call_leads_to_is_traced_with_doubt() {
    let lost = registry("REGISTRY[sys.argv[1]]");
    assert_eq!(found(&[("train.py", &lost)], "certain"), Vec::<String>::new());
    assert!(found(&[("train.py", &lost)], "possible").contains(&"train.py:5 HVD401".to_owned()));
    let known = registry("made_0");
    assert_eq!(found(&[("train.py", &known)], "certain"), ["train.py:5 HVD401"]);
}

#[test]
fn a_function_that_programs_share_gives_each_of_them_its_own_optimizer() {
    let hooks = "class Hook:\n    def watch(self, optimizer):\n        self.optimizer = optimizer\n        \
                 return self.optimizer\n\nwatched = Hook().watch\n";
    let train = |optimizer: &str, callbacks: &str| {
        format!(
            "import tensorflow as tf\nimport horovod.tensorflow.keras as hvd\nfrom hooks import watched\n\n\
             {callbacks}\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n\
             optimizer = {optimizer}\nmodel.compile(optimizer=watched(optimizer), loss='mse')\n\
             model.fit(tf.ones([8, 4]), tf.ones([8, 1]), callbacks=callbacks)\n"
        )
    };
    let alone = train("tf.keras.optimizers.Adam(0.1)", "callbacks = []\n");
    let started = "hvd.init()\ncallbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]";
    let ranks = train("hvd.DistributedOptimizer(tf.keras.optimizers.Adam(0.1))", started);
    let bad = train("tf.keras.optimizers.Adam(0.1)", started);
    let programs = [("hooks.py", hooks), ("alone.py", alone.as_str()), ("ranks.py", ranks.as_str())];
    assert_eq!(found(&programs, "certain"), Vec::<String>::new());
    let programs = [("hooks.py", hooks), ("alone.py", alone.as_str()), ("ranks.py", bad.as_str())];
    assert_eq!(found(&programs, "certain"), ["ranks.py:8 HVD303"]);
}

/// A program of files in which every rank writes the same file, on one way.
fn writing(main: &str, others: &[(&str, &str)]) -> Vec<(String, String)> {
    let head = "import sys\nimport numpy as np\nimport tensorflow as tf\nimport horovod.tensorflow as hvd\n";
    let tail = "\nprint(hvd.allreduce(tf.constant(1.0)))\n";
    let main = ("train.py".to_owned(), format!("{head}{main}{tail}"));
    let others = others.iter().map(|&(path, text)| (path.to_owned(), text.to_owned()));
    std::iter::once(main).chain(others).collect()
}

/// How sure it is that every rank writes.
fn sureness(main: &str, others: &[(&str, &str)]) -> Option<&'static str> {
    let files = writing(main, others);
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let has = |confidence: &str| found(&files, confidence).iter().any(|own| own.ends_with("HVD305"));
    ["certain", "possible"].into_iter().find(|confidence| has(confidence))
}

const SAVE: &str = "np.save('mean.npy', np.random.rand(3))";
/// A class whose objects write if they keep something true.
fn keeping(keep: &str) -> String {
    format!(
        "class Data:\n    def __init__(self, save=False, **options):\n        {keep}\n    def rows(self):\n        \
         if self.save:\n            write()\n"
    )
}

const WRITE: &str = "def write():\n    np.save('mean.npy', np.random.rand(3))\n";

#[test]
fn what_a_setting_switches_off_is_only_possible() {
    let programs: &[(String, &[(&str, &str)])] = &[
        (format!("DEBUG = False\nhvd.init()\nif DEBUG:\n    {SAVE}\n"), &[]),
        (format!("LOUD = True\nhvd.init()\nif not LOUD:\n    {SAVE}\n"), &[]),
        (format!("hvd.init()\nMODE = 'train'\nif MODE == 'eval':\n    {SAVE}\n"), &[]),
        (format!("hvd.init()\nDEBUG = 0\nif len(sys.argv) > 1 and DEBUG:\n    {SAVE}\n"), &[]),
        // What stands behind a way that is always left.
        (
            format!(
                "DEBUG = False\ndef main():\n    hvd.init()\n    if not DEBUG:\n        return\n    {SAVE}\nmain()\n"
            ),
            &[],
        ),
        // What only such code calls.
        (format!("DEBUG = False\ndef save():\n    {SAVE}\nhvd.init()\nif DEBUG:\n    save()\n"), &[]),
        (
            format!("from settings import DEBUG\nhvd.init()\nif DEBUG:\n    {SAVE}\n"),
            &[("settings.py", "DEBUG = False\n")],
        ),
        (
            format!("from settings import *\nhvd.init()\nif DEBUG:\n    {SAVE}\n"),
            &[("settings.py", "DEBUG = False\n")],
        ),
        (
            format!(
                "{WRITE}hvd.init()\ndef rows(count, save=False):\n    if save:\n        write()\nrows(1)\nrows(2)\n"
            ),
            &[],
        ),
        (
            format!(
                "{WRITE}hvd.init()\ndef rows(path=None):\n    if path is not None:\n        write()\nrows()\n"
            ),
            &[],
        ),
        (
            format!(
                "{WRITE}hvd.init()\ndef rows(path=None):\n    if path is None:\n        write()\nrows([1])\n"
            ),
            &[],
        ),
        (
            format!(
                "{WRITE}hvd.init()\nclass Data:\n    def __init__(self, save=False):\n        if save:\n            write()\nData()\n"
            ),
            &[],
        ),
        // What an object keeps of it.
        (format!("{WRITE}hvd.init()\n{}Data().rows()\n", keeping("self.save = save")), &[]),
        (format!("{WRITE}hvd.init()\n{}Data(False).rows()\n", keeping("self.save = save")), &[]),
        (
            format!(
                "{WRITE}hvd.init()\nclass Options:\n    save = False\ndef rows(options):\n    if options.save:\n        write()\nrows(Options())\n"
            ),
            &[],
        ),
        (
            format!(
                "{WRITE}hvd.init()\n{}data = Data()\nsetattr(data, 'path', sys.argv)\ndata.rows()\n",
                keeping("self.save = save")
            ),
            &[],
        ),
        // What other programs may pass to a package is theirs.
        (
            "from tools.rows import rows\nhvd.init()\nrows()\n".to_owned(),
            &[
                ("tools/__init__.py", ""),
                (
                    "tools/rows.py",
                    "import numpy as np\n\ndef write():\n    np.save('mean.npy', np.random.rand(3))\n\ndef rows(save=False):\n    \
                     if save:\n        write()\n",
                ),
            ],
        ),
        // A function in a function.
        (
            "from tools.rows import rows\nhvd.init()\nrows()\n".to_owned(),
            &[
                ("tools/__init__.py", ""),
                (
                    "tools/rows.py",
                    "import numpy as np\n\ndef write():\n    np.save('mean.npy', np.random.rand(3))\n\ndef rows():\n    \
                     def inner(save=False):\n        if save:\n            write()\n    inner()\n",
                ),
            ],
        ),
    ];
    for (main, others) in programs {
        assert_eq!(sureness(main, others), Some("possible"), "{main}");
    }
}

#[test]
fn what_something_else_than_an_edit_may_switch_on_is_certain() {
    let options = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--debug', default=False)\n\
                   debug = parser.parse_args().debug\n";
    let rows = "def rows(save=False):\n    if save:\n        write()\n";
    let programs: &[(String, &[(&str, &str)])] = &[
        (format!("DEBUG = True\nhvd.init()\nif DEBUG:\n    {SAVE}\n"), &[]),
        (format!("{options}hvd.init()\nif debug:\n    {SAVE}\n"), &[]),
        (
            format!(
                "DEBUG = False\nif len(sys.argv) > 1:\n    DEBUG = True\nhvd.init()\nif DEBUG:\n    {SAVE}\n"
            ),
            &[],
        ),
        (
            format!(
                "DEBUG = False\ndef switch():\n    global DEBUG\n    DEBUG = True\nswitch()\ndef main():\n    \
                     if DEBUG:\n        {SAVE}\nhvd.init()\nmain()\n"
            ),
            &[],
        ),
        // The text of another file, or a dictionary, binds names that no statement shows.
        (
            format!(
                "DEBUG = False\nexec(open('options.py').read())\nhvd.init()\ndef main():\n    if DEBUG:\n        {SAVE}\nmain()\n"
            ),
            &[],
        ),
        (
            format!(
                "DEBUG = False\nglobals().update(debug=1)\nhvd.init()\ndef main():\n    if DEBUG:\n        {SAVE}\nmain()\n"
            ),
            &[],
        ),
        (
            format!("import settings\nsettings.DEBUG = True\nhvd.init()\nif settings.DEBUG:\n    {SAVE}\n"),
            &[("settings.py", "DEBUG = False\n")],
        ),
        // A setting that counts is none.
        (
            format!(
                "step = 0\nhvd.init()\nwhile step < 3:\n    if step == 2:\n        {SAVE}\n    step += 1\n"
            ),
            &[],
        ),
        // One call of several gives it.
        (format!("{WRITE}{rows}hvd.init()\nrows()\nrows(True)\n"), &[]),
        (format!("{WRITE}{rows}hvd.init()\nrows()\nrows(save=len(sys.argv) > 1)\n"), &[]),
        (format!("{WRITE}{rows}hvd.init()\nrows()\nrows(**{{'save': len(sys.argv) > 1}})\n"), &[]),
        // Something else changes what an object keeps of it.
        (format!("{WRITE}hvd.init()\n{}Data(len(sys.argv) > 1).rows()\n", keeping("self.save = save")), &[]),
        (
            format!("{WRITE}hvd.init()\n{}Data().rows()\nData(True).rows()\n", keeping("self.save = save")),
            &[],
        ),
        (
            format!(
                "{WRITE}hvd.init()\n{}data = Data()\ndata.save = len(sys.argv) > 1\ndata.rows()\n",
                keeping("self.save = save")
            ),
            &[],
        ),
        (
            format!(
                "{WRITE}hvd.init()\n{}data = Data()\nfor name in sys.argv:\n    setattr(data, name, 1)\ndata.rows()\n",
                keeping("self.save = save")
            ),
            &[],
        ),
        (
            format!(
                "{WRITE}hvd.init()\n{}data = Data()\nvars(data)[sys.argv[1]] = 1\ndata.rows()\n",
                keeping("self.save = save")
            ),
            &[],
        ),
        (
            format!(
                "{WRITE}hvd.init()\n{}Data(path=1).rows()\n",
                keeping("self.save = save\n        self.__dict__.update(options)")
            ),
            &[],
        ),
        (
            format!(
                "import tools\n{WRITE}hvd.init()\n{}Data().rows()\n",
                keeping("self.save = save").replace("class Data", "class Data(tools.Kept)")
            ),
            &[],
        ),
        // Who else calls it can't be seen.
        (format!("import options\n\n{WRITE}@options.command\n{rows}hvd.init()\nrows()\n"), &[]),
        (format!("import pool\n\n{WRITE}{rows}hvd.init()\nrows()\npool.map(rows, [1])\n"), &[]),
    ];
    for (main, others) in programs {
        assert_eq!(sureness(main, others), Some("certain"), "{main}");
    }
}

#[test]
fn what_a_setting_switches_off_in_a_graph_is_only_possible() {
    let step = |setting: &str| {
        format!(
            "import tensorflow as tf\n\nDEBUG = {setting}\n\n@tf.function\ndef step(x):\n    if DEBUG:\n        print('step', x)\n    \
             return x\n\nstep(tf.ones([2]))\nstep(tf.ones([2]))\n"
        )
    };
    let on = step("True");
    assert_eq!(found(&[("train.py", &on)], "certain"), ["train.py:8 HVD401"]);
    let off = step("False");
    assert_eq!(found(&[("train.py", &off)], "certain"), Vec::<String>::new());
    assert!(found(&[("train.py", &off)], "possible").contains(&"train.py:8 HVD401".to_owned()));
}

#[test]
fn what_a_setting_keeps_from_being_traced_is_only_possible() {
    let step = |graph: &str| {
        format!(
            "import tensorflow as tf\n\nUSE_GRAPH = {graph}\n\ndef step(x):\n    return x * float(x.numpy())\n\n\
             if USE_GRAPH:\n    step = tf.function(step)\nprint(step(tf.constant(1.0)))\n"
        )
    };
    assert_eq!(found(&[("train.py", &step("True"))], "certain"), ["train.py:6 HVD409"]);
    assert_eq!(found(&[("train.py", &step("False"))], "certain"), Vec::<String>::new());
    assert!(found(&[("train.py", &step("False"))], "possible").contains(&"train.py:6 HVD409".to_owned()));
    // Somebody else has it traced.
    let both = format!("{}also = tf.function(step)\nprint(also(tf.constant(1.0)))\n", step("False"));
    assert_eq!(found(&[("train.py", &both)], "certain"), ["train.py:6 HVD409"]);
}

#[test]
fn what_an_object_keeps_switched_off_in_a_graph_is_only_possible() {
    let net = |given: &str| {
        format!(
            "import tensorflow as tf\n\nclass Net(tf.keras.Model):\n    def __init__(self, verbose=False):\n        \
             super().__init__()\n        self.verbose = verbose\n\n    @tf.function\n    def call(self, x):\n        \
             if self.verbose:\n            print('input', x)\n        return x\n\nnet = Net({given})\nnet(tf.ones([2]))\n\
             net(tf.ones([2]))\n"
        )
    };
    for given in ["", "verbose=False", "False"] {
        let net = net(given);
        assert_eq!(found(&[("train.py", &net)], "certain"), Vec::<String>::new());
        assert!(found(&[("train.py", &net)], "possible").contains(&"train.py:11 HVD401".to_owned()));
    }
    assert_eq!(found(&[("train.py", &net("True"))], "certain"), ["train.py:11 HVD401"]);
}

#[test]
fn what_nobody_calls_is_only_possible() {
    let data = "import tensorflow as tf\nseen = []\ndef build(paths):\n    return \
                tf.data.Dataset.from_tensor_slices(paths).map(parse)\n\ndef parse(path):\n    seen.append('parsed')\n    \
                return path\n";
    let train = |uses: &str| {
        format!(
            "import sys\nimport tensorflow as tf\nimport data\n\ndef main():\n    \
             model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n    model.compile('adam', 'mse')\n    \
             model.fit(tf.ones([8, 1]), tf.ones([8, 1]))\n{uses}\nmain()\n"
        )
    };
    let sure = |data: &str, uses: &str| {
        let train = train(uses);
        let files = [("data.py", data), ("train.py", train.as_str())];
        ["certain", "possible"]
            .into_iter()
            .find(|sure| found(&files, sure).contains(&"data.py:7 HVD401".to_owned()))
    };
    assert_eq!(sure(data, ""), Some("possible"));
    assert_eq!(sure(data, "def other():\n    return data.build(sys.argv)\n"), Some("possible"));
    assert_eq!(sure(data, "def other():\n    return data.build(sys.argv)\n\nother()\n"), Some("certain"));
    let calls = [
        "data.build(sys.argv)",
        "make = {'all': data.build}[sys.argv[1]]",
        "getattr(data, sys.argv[1])(sys.argv)",
        "import importlib\nimportlib.import_module(sys.argv[1]).build(sys.argv)",
        "tf.data.Dataset.from_tensor_slices(sys.argv).map(data.parse)",
    ];
    for call in calls {
        assert_eq!(sure(data, call), Some("certain"), "{call}");
    }
    let by_name = format!("{data}\ndef choose(name):\n    return globals()[name]\n");
    assert_eq!(sure(&by_name, ""), Some("certain"));
    // A library alone is there for others.
    assert_eq!(found(&[("data.py", data)], "certain"), ["data.py:7 HVD401"]);
}

/// The start that two programs share, and what one of them trains with it.
fn sharing(start: &str, uses: &str) -> Vec<String> {
    let train = format!(
        "import sys\nimport tensorflow as tf\nfrom start import start\n\nstart(sys.argv[1])\n{uses}\n\
         model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile(tf.keras.optimizers.Adam(0.1), 'mse')\n\
         model.fit(tf.ones([8, 4]), tf.ones([8, 1]))\n"
    );
    found(&[("start.py", start), ("train.py", &train)], "certain")
}

#[test]
fn a_start_that_shared_code_offers_is_no_use_of_it() {
    let offered = "import horovod.tensorflow as hvd\n\ndef start(strategy):\n    if strategy == 'horovod':\n        \
                   hvd.init()\n";
    let always = "import horovod.tensorflow as hvd\n\ndef start(strategy):\n    hvd.init()\n";
    let of_ranks =
        |all: Vec<String>| all.into_iter().filter(|own| own.contains("HVD3")).collect::<Vec<String>>();
    assert_eq!(of_ranks(sharing(offered, "")), Vec::<String>::new());
    let reported = of_ranks(sharing(always, ""));
    assert!(reported.contains(&"train.py:8 HVD303".to_owned()), "{reported:?}");
    let uses = "import horovod.tensorflow as hvd\nprint(hvd.rank())";
    assert!(!of_ranks(sharing(offered, uses)).is_empty());
}

#[test]
fn what_a_module_does_when_it_is_run_is_no_use_of_those_who_import_it() {
    let shared = "import horovod.tensorflow as hvd\n\ndef load():\n    hvd.init()\n    return list(range(100))[hvd.rank() :: hvd.size()]\n";
    let plot = "import numpy as np\nimport tensorflow as tf\nimport horovod.tensorflow as hvd\nfrom shared import load\n\
                from train import build\n\nhvd.init()\nmodel = build()\nmodel.compile('adam', 'mse')\n\
                model.fit(np.ones([8, 4]), np.ones([8, 1]))\nnp.save('plot.npy', np.random.rand(3) + load()[0])\n";
    let train = |guard: &str| {
        format!(
            "import numpy as np\nimport tensorflow as tf\nimport horovod.tensorflow.keras as hvd\nfrom shared import load\n\n\
             def build():\n    return tf.keras.Sequential([tf.keras.layers.Dense(1)])\n\n{guard}:\n    hvd.init()\n    \
             model = build()\n    model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.Adam(0.1 * hvd.size())), 'mse')\n    \
             model.fit(np.ones([8, 4]), load(), callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])\n"
        )
    };
    let sureness = |guard: &str| {
        let train = train(guard);
        let has = |confidence: &&str| {
            let files = [("shared.py", shared), ("plot.py", plot), ("train.py", train.as_str())];
            found(&files, confidence).contains(&"plot.py:11 HVD305".to_owned())
        };
        ["certain", "possible"].into_iter().find(has)
    };
    assert_eq!(sureness("if __name__ == '__main__'"), Some("possible"));
    assert_eq!(sureness("if True"), Some("certain"));
}

/// A tool that writes beside a start of Horovod which one has to ask for.
fn asking(start: &str) -> Option<&'static str> {
    let wrapper = "comm = None\n\ndef start(use_horovod=False):\n    global comm\n    if use_horovod:\n        \
                   import horovod.tensorflow as hvd\n        hvd.init()\n        comm = hvd\n\ndef size():\n    \
                   return comm.size()\n";
    let tool = format!(
        "import numpy as np\nimport tensorflow as tf\nimport wrapper\n\n{start}\nx = tf.get_variable('x', [])\n\
         if wrapper.size() > 1:\n    \
         op = wrapper.comm.DistributedOptimizer(tf.train.AdamOptimizer(0.1)).minimize(x * x)\nelse:\n    \
         op = tf.train.AdamOptimizer(0.1).minimize(x * x)\nwith tf.Session() as sess:\n    \
         sess.run(tf.global_variables_initializer())\n    \
         for _ in range(10):\n        sess.run(op)\nopen('done.txt', 'a').write('done')\n"
    );
    let has = |confidence: &&str| {
        let files = [("wrapper.py", wrapper), ("tool.py", tool.as_str())];
        found(&files, confidence).iter().any(|own| own.ends_with("HVD305"))
    };
    ["certain", "possible"].into_iter().find(has)
}

#[test]
fn a_start_that_nobody_asks_for_is_seldom_one_of_ranks() {
    assert_eq!(asking("wrapper.start()"), Some("possible"));
    assert_eq!(asking("wrapper.start(False)"), Some("possible"));
    assert_eq!(asking("wrapper.start(True)"), Some("certain"));
    assert_eq!(asking("import sys\nwrapper.start(len(sys.argv) > 1)"), Some("certain"));
}

/// A program of a session whose model is made for a mode, beside what it writes at its end.
fn made_for(mode: &str) -> String {
    format!(
        "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\ndef model_fn(mode):\n    \
         x = tf.get_variable('x', [])\n    if mode == tf.estimator.ModeKeys.TRAIN:\n        \
         return hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.1)).minimize(x * x)\n    return x\n\n\
         hvd.init()\nop = model_fn({mode})\nwith tf.Session() as sess:\n    \
         sess.run(tf.global_variables_initializer())\n    \
         for _ in range(10):\n        result = sess.run(op)\n\
         open('result.txt', 'a').write(str(result))\n"
    )
}

#[test]
fn a_program_that_only_evaluates_is_seldom_run_by_several_ranks() {
    let sureness = |mode: &str| sureness_of("HVD305", &made_for(mode));
    assert_eq!(sureness("tf.estimator.ModeKeys.EVAL"), Some("possible"));
    assert_eq!(sureness("'eval'"), Some("possible"));
    assert_eq!(sureness("tf.estimator.ModeKeys.TRAIN"), Some("certain"));
    assert_eq!(sureness("'train'"), Some("certain"));
    // The mode is handed on, and decides where another function is called.
    let apart = |mode: &str| {
        let train = "        return hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.1)).minimize(x * x)";
        let program = made_for(mode).replace(train, "        return minimize(x * x)");
        let other = "def minimize(loss):\n    \
                     return hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.1)).minimize(loss)\n\nhvd.init()\n";
        sureness_of("HVD305", &program.replacen("hvd.init()\n", other, 1))
    };
    assert_eq!(apart("'eval'"), Some("possible"));
    assert_eq!(apart("'train'"), Some("certain"));
}

/// How sure it is that a program has a mistake.
fn sureness_of(code: &str, program: &str) -> Option<&'static str> {
    let has =
        |confidence: &&str| found(&[("train.py", program)], confidence).iter().any(|own| own.ends_with(code));
    ["certain", "possible"].into_iter().find(has)
}

/// A step with a distributed tape for one loss, and gradients of a table by a tape of its own.
fn beside(table: &str, variables: &str, loss: &str) -> String {
    format!(
        "import horovod.tensorflow as hvd\nimport tensorflow as tf\n{table}\n\
         hvd.init()\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n\
         optimizer = tf.keras.optimizers.SGD(0.1)\nrows = tf.Variable(tf.ones([8, 4]))\n\
         for number in range(10):\n    \
         with tf.GradientTape() as whole:\n        \
         with tf.GradientTape(persistent=True) as own:\n            \
         loss = tf.reduce_mean(model(rows) ** 2)\n            other = tf.reduce_sum(rows)\n    \
         gradients = {loss}\n    \
         optimizer.apply_gradients(zip(own.gradient(other, {variables}), {variables}))\n    \
         optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n    \
         if number == 0:\n        hvd.broadcast_variables(model.variables + [rows], root_rank=0)\n        \
         hvd.broadcast_variables(optimizer.variables(), root_rank=0)\n"
    )
}

#[test]
fn gradients_of_what_may_be_each_ranks_own_are_only_possibly_missed() {
    let averaged = "hvd.DistributedGradientTape(whole).gradient(loss, model.trainable_variables)";
    let left = "own.gradient(loss, model.trainable_variables)";
    let table = "class Table(tf.Module):\n    def __init__(self):\n        self.rows = tf.Variable(tf.ones([8, 4]))\n\
                 tables = [Table() for _ in range(4)]\n";
    let sureness = |program: &str| sureness_of("HVD303", program);
    assert_eq!(sureness(&beside("", "[rows]", averaged)), Some("certain"));
    assert_eq!(sureness(&beside("", "[rows]", left)), Some("certain"));
    assert_eq!(sureness(&beside("", "[rows]", &averaged.replace("loss", "other"))), Some("possible"));
    assert_eq!(sureness(&beside(table, "tables", averaged)), Some("possible"));
    assert_eq!(sureness(&beside(table, "[tables[0]]", averaged)), Some("possible"));
    assert_eq!(sureness(&beside(table, "[table.rows for table in tables]", averaged)), Some("certain"));
}

#[test]
fn a_run_that_has_failed_before_shows_nothing() {
    let program = |before: &str, after: &str| {
        format!(
            "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\nhvd.init()\n\
             hvd.broadcast_variables([tf.Variable(1.0)], root_rank=0)\n{before}\n\
             open('done.txt', 'a').write('done')\n{after}\n"
        )
    };
    let sureness = |before: &str, after: &str| sureness_of("HVD305", &program(before, after));
    assert_eq!(sureness("", ""), Some("certain"));
    // Nobody binds the name, and every run asks for it.
    assert_eq!(sureness("print(EXAMPLES)", ""), Some("possible"));
    assert_eq!(sureness("", "print(EXAMPLES)"), Some("certain"));
    assert_eq!(sureness("if hvd.size() > 8:\n    print(EXAMPLES)", ""), Some("certain"));
    assert_eq!(sureness("from options import *\nprint(EXAMPLES)", ""), Some("certain"));
    assert_eq!(sureness("print(unicode, __file__)", ""), Some("certain"));
    // Python 2 knows a statement that prints, and no Python a block without a body.
    assert_eq!(sureness("", "print 'done'"), Some("certain"));
    assert_eq!(sureness("", "try:\n    hvd.size()\nexcept ValueError, error:\n    pass"), Some("certain"));
    assert_eq!(sureness("", "def empty():\nempty()"), Some("possible"));
    assert_eq!(sureness("", "done = 0\ndef late():\n    done = 1\n    global done\n"), Some("possible"));
}

#[test]
fn a_function_that_is_given_too_few_arguments_does_nothing() {
    let program = |call: &str| {
        format!(
            "import sys\nimport horovod.tensorflow as hvd\nimport tensorflow as tf\n\n\
             def save(path, text, end=''):\n    open(path, 'a').write(text + end)\n\nhvd.init()\n\
             hvd.broadcast_variables([tf.Variable(1.0)], root_rank=0)\n{call}\n"
        )
    };
    let sureness = |call: &str| sureness_of("HVD305", &program(call));
    assert_eq!(sureness("save('done.txt', 'done')"), Some("certain"));
    assert_eq!(sureness("save('done.txt')"), Some("possible"));
    assert_eq!(sureness("save(*['done.txt', 'done'])"), Some("certain"));
    assert_eq!(sureness("save('done.txt')\nsave('done.txt', text='done')"), Some("certain"));
}
