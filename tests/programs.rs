//! Which modules train when they are run.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use support::{folder, run};

/// A module that trains in a function `name`, which stands under `decorators`.
fn training(imports: &str, decorators: &str, name: &str) -> String {
    format!(
        "import tensorflow as tf\n{imports}\n\n{decorators}\ndef {name}(x=tf.ones([8, 4])):\n    model = \
         tf.keras.Sequential([tf.keras.layers.Dense(1)])\n    model.compile('sgd', 'mse')\n    model.fit(x, x[:, :1])\n"
    )
}

/// The entries of the programs that train.
fn trained(files: &[(&str, &str)]) -> Vec<String> {
    let project = folder(files);
    let loops = run(project.path(), &["loops", "--output", "json"]).json();
    let programs = loops["programs"].as_array().unwrap().iter();
    let trained = programs.filter(|program| program["pattern"] != "none");
    trained.map(|program| program["entry"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_unit_test_is_no_program_that_trains() {
    let case = |base: &str| {
        let class = format!("\nclass NetTest({base}):\n    def test_loss(self):\n        pass\n\nfit()\n");
        training("import unittest", "", "fit") + &class
    };
    let test = case("unittest.TestCase");
    assert_eq!(trained(&[("net_test.py", &test)]), Vec::<String>::new());
    assert_eq!(trained(&[("net_test.py", &case("*BASES"))]), Vec::<String>::new(), "a base that is not seen");
    assert_eq!(trained(&[("net.py", &test)]), ["net.py"], "it is not called like a test");
    let distributed = format!("{test}\nimport horovod.tensorflow as hvd\nhvd.init()\n");
    assert_eq!(trained(&[("net_test.py", &distributed)]), ["net_test.py"]);
    let other =
        [("net_test.py", test.as_str()), ("main.py", "import horovod.tensorflow as hvd\nhvd.init()\n")];
    assert_eq!(trained(&other), Vec::<String>::new());
}

#[test]
fn who_runs_a_module_runs_none_of_its_tests() {
    let decorators = ["", "@tf.function", "@sizes(1, 2)", "@sizes.named(('one', 1))"];
    for decorator in decorators {
        let test = training("from sizes import sizes", decorator, "test_fit");
        assert_eq!(trained(&[("test_net.py", &test)]), Vec::<String>::new(), "{decorator}");
        let called = format!("{test}\ntest_fit()\n");
        assert_eq!(trained(&[("test_net.py", &called)]), ["test_net.py"], "{decorator}");
    }
    let method =
        training("from sizes import sizes", "@sizes(1, 2)", "test_fit").replace("\n\n", "\nclass TestNet:\n");
    let method: String = method
        .lines()
        .enumerate()
        .map(|(index, line)| if index > 2 { format!("    {line}\n") } else { format!("{line}\n") })
        .collect();
    assert_eq!(trained(&[("net_test.py", &method)]), Vec::<String>::new());
    assert_eq!(trained(&[("net.py", &method)]), ["net.py"], "nobody knows what collects it");
}

#[test]
fn who_runs_a_module_runs_none_of_its_fixtures() {
    let fixture = training("import pytest", "@pytest.fixture(scope='module')", "net");
    assert_eq!(trained(&[("test_net.py", &fixture)]), Vec::<String>::new());
}

#[test]
fn a_command_is_run_by_its_program() {
    let command = training("from cli import app", "@app.command()", "train");
    assert_eq!(trained(&[("train.py", &command)]), ["train.py"]);
    let run = "import train\ntrain.app()\n";
    assert_eq!(trained(&[("run.py", run), ("train.py", &command)]), ["run.py"]);
    let again = format!("{command}    if x is None:\n        train(x)\n");
    assert_eq!(trained(&[("run.py", run), ("train.py", &again)]), ["run.py"], "it calls itself");
}

#[test]
fn what_is_decorated_and_called_by_its_name_is_run_by_who_calls_it() {
    let library = training("import gin", "@gin.configurable", "train");
    let program = "from library import train\n\n\ndef main():\n    train()\n\n\nif __name__ == '__main__':\n    main()\n";
    let files = [
        ("library.py", &*library),
        ("program.py", program),
        ("report.py", "import library\nprint(library)\n"),
    ];
    assert_eq!(trained(&files), ["program.py"]);
}
