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
