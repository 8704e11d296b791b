//! No input makes the program panic or hang, and a strange file does not keep the others from being analysed.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};

use support::{Run, folder, run};

/// A program that trains, to be found beside strange files.
const TRAIN: &str = "import tensorflow as tf\n\
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n\
    model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss='mse')\n\
    model.fit(tf.ones([8, 4]), tf.ones([8, 1]))\n";

/// What each command does with a project that has this file; none may fail.
fn ask(text: impl AsRef<[u8]>) -> Run {
    let project = folder(&[("strange.py", text.as_ref()), ("train.py", TRAIN.as_bytes())]);
    for command in [&["loops", "--output", "json"][..], &["graph", "calls"]] {
        let answer = run(project.path(), command);
        assert_eq!(answer.status, 0, "{command:?}: {}", answer.stderr);
        assert!(answer.stdout.contains("train"), "the rest of the project is there");
    }
    let check = run(project.path(), &["check", "--output", "concise"]);
    assert!(check.status < 2, "{}", check.stderr);
    check
}

/// The findings in the strange file.
fn findings(run: &Run) -> Vec<&str> {
    run.stdout.lines().filter(|line| line.starts_with("strange.py:")).collect()
}

fn is_invalid(text: impl AsRef<[u8]>) -> bool {
    findings(&ask(text)).iter().any(|line| line.contains("invalid-syntax"))
}

#[test]
fn python_2_is_a_finding_and_the_rest_is_analysed() {
    assert!(is_invalid("print \"x\"\n"));
    assert!(is_invalid("try:\n    pass\nexcept IOError, error:\n    print error\n"));
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let with_fault = ask(b"\xef\xbb\xbfdef f(:\n    pass\n");
    assert!(findings(&with_fault)[0].starts_with("strange.py:1:7:"), "{with_fault:#?}");
    assert!(!is_invalid(b"\xef\xbb\xbfx = 1\n"));
}

#[test]
fn a_declared_encoding_is_used() {
    assert!(!is_invalid(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n"));
    assert!(!is_invalid(b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n"));
}

#[test]
fn bytes_that_are_no_text_are_a_finding() {
    let answer = ask(b"y = 1\nx = '\xe9'\n");
    assert!(findings(&answer)[0].starts_with("strange.py:2:6: error[invalid-syntax]"), "{answer:#?}");
    assert_eq!(answer.stderr, "", "it is said once");
}

#[test]
fn every_line_ending_counts_as_one() {
    for ending in ["\n", "\r\n", "\r"] {
        let text = ["x = 1", "if x:", "    y = 2", "def f(:", "    pass", ""].join(ending);
        let answer = ask(&text);
        assert!(findings(&answer)[0].starts_with("strange.py:4:7:"), "{ending:?}: {answer:#?}");
        assert!(!is_invalid(text.replace("(:", "():")), "{ending:?}");
    }
}

#[test]
fn small_and_blank_files_have_no_findings() {
    for text in ["", "\n", "\r", " ", "\t", "#", "\u{c}", "if 1:\n\tx = 1\n\ty = 2\n"] {
        let answer = ask(text);
        assert_eq!(findings(&answer), [] as [&str; 0], "{text:?}");
    }
}

#[test]
fn garbage_is_a_finding_at_most() {
    for text in [
        "\0",
        "\\\n",
        "x = 1\0\ny = 2\n",
        "\u{feff}\u{feff}",
        "'''",
        "f'{",
        "f'{x!}'",
        "((((",
        "))))",
        "class",
        "def f(a, a, *, **k, *b): pass",
        "lambda: (yield)",
        "return\nbreak\ncontinue\nawait x\n",
        "match x:\n    case [*a, *b]: pass\n",
        "@\ndef f(): pass",
        "x: int = \n",
        "from . import\nimport\nfrom .......... import x\n",
        "global x\nnonlocal y\n",
        "del\ndel (a, [b]), c.d, e[0]\n",
        "x = *y\n",
        "a := 1\n",
        "𝕩 = 1; ℌ = 𝕩\n",
        "\u{202e}x = 1\n",
        "try:\n    pass\n",
        "async with a as b, c as (d, e): pass\n",
        "type X[T] = list[X]\n",
        "import a.b.c as d, e; from e import *\n",
    ] {
        ask(text);
    }
}

#[cfg(unix)]
#[test]
fn links_in_a_circle_end() {
    let project = folder(&[("train.py", TRAIN), ("package/part.py", "x = 1\n")]);
    std::os::unix::fs::symlink("..", project.path().join("package/up")).unwrap();
    std::os::unix::fs::symlink("self.py", project.path().join("self.py")).unwrap();
    std::os::unix::fs::symlink("nowhere.py", project.path().join("gone.py")).unwrap();
    let answer = run(project.path(), &["check"]);
    assert!(answer.status < 2, "{answer:#?}");
    assert!(answer.stdout.contains("2 files"), "{answer:#?}");
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let project = folder(&[("train.py", TRAIN), ("secret.py", "x = 1\n")]);
    let secret = project.path().join("secret.py");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&secret).is_ok() {
        // Nothing is secret to root.
        return;
    }
    let answer = run(project.path(), &["check"]);
    assert!(answer.status < 2, "{answer:#?}");
    assert!(answer.stderr.contains("secret.py") && answer.stderr.contains("help: "), "{answer:#?}");
}

#[test]
fn a_file_of_ten_megabytes_is_analysed_in_time() {
    let mut text = String::new();
    let mut index = 0;
    while text.len() < 10 << 20 {
        write!(
            text,
            "def function_{index}(first, second=None):\n    \"\"\"A function among many, as generators write them.\"\"\"\n    \
             total = first + {index}\n    for item in second or []:\n        total += item.value\n    \
             return [total, {{'key_{index}': first}}, 'a rather long string, as tables of data have them']\n\n",
        )
        .unwrap();
        index += 1;
    }
    let project = folder(&[("strange.py", text.as_str()), ("train.py", TRAIN)]);
    let start = Instant::now();
    let answer = run(project.path(), &["check"]);
    assert!(answer.status < 2, "{answer:#?}");
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}

/// Fifty thousand and more levels, in every way in which Python nests.
#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let blocks = |header: &str, depth: usize| {
        let mut text = String::new();
        for level in 0..depth {
            writeln!(text, "{}{header}", " ".repeat(level)).unwrap();
        }
        writeln!(text, "{}pass", " ".repeat(depth)).unwrap();
        text
    };
    let cases = [
        ("terms", format!("x = {}\n", vec!["1"; 50_000].join("+"))),
        ("attributes", format!("import a\nx = a{}\n", ".b".repeat(60_000))),
        ("calls", format!("import a\nx = a{}\n", ".b()".repeat(30_000))),
        ("subscripts", format!("x = a{}\n", "[0]".repeat(30_000))),
        ("parentheses", format!("x = {}1{}\n", "(".repeat(3_000), ")".repeat(3_000))),
        ("lists", format!("x = {}{}\n", "[".repeat(3_000), "]".repeat(3_000))),
        ("dictionaries", format!("x = {}1{}\n", "{1:".repeat(3_000), "}".repeat(3_000))),
        ("nested calls", format!("x = {}{}\n", "f(".repeat(3_000), ")".repeat(3_000))),
        ("comprehensions", format!("x = {}c{}\n", "[a for b in ".repeat(500), "]".repeat(500))),
        ("conditions", format!("x = {}2\n", "1 if a else ".repeat(5_000))),
        ("lambdas", format!("x = {}1\n", "lambda: ".repeat(1_000))),
        ("negations", format!("x = {}1\n", "not ".repeat(20_000))),
        ("signs", format!("x = {}1\n", "-".repeat(100_000))),
        ("powers", format!("x = {}\n", vec!["1"; 5_000].join("**"))),
        ("choices", format!("x = {}\n", vec!["a"; 50_000].join(" or "))),
        ("assignments", format!("{}1\n", "a = ".repeat(20_000))),
        ("strings", format!("x = {}\n", vec!["'a'"; 50_000].join(" "))),
        ("lines in brackets", format!("x = (\n{}\n)\n", vec!["1"; 50_000].join("\n+"))),
        ("open brackets", "x = [".repeat(50_000)),
        ("patterns", format!("match x:\n case {}{}: pass\n", "[".repeat(3_000), "]".repeat(3_000))),
        ("elifs", format!("if a:\n pass\n{}", "elif b:\n pass\n".repeat(20_000))),
        ("ifs", blocks("if a:", 1_000)),
        ("loops", blocks("for a in b:", 1_000)),
        ("withs", blocks("with a as b:", 1_000)),
        ("functions", blocks("def f(a):", 1_000)),
        ("classes", blocks("class A:", 1_000)),
    ];
    let files: Vec<(String, &str)> =
        cases.iter().map(|(name, text)| (format!("{}.py", name.replace(' ', "_")), text.as_str())).collect();
    for (name, text) in &files {
        let project = folder(&[(name.as_str(), *text)]);
        for command in [&["check", "--output", "concise"][..], &["loops"]] {
            let answer = run(project.path(), command);
            assert!(answer.status < 2, "{name}: {}", answer.stderr);
        }
    }
}

/// A list whose methods a library calls, element by element, may be its own element.
#[test]
fn what_contains_itself_is_followed_once() {
    let text = "import tensorflow as tf\nmodel = tf.keras.Sequential()\nmodel.compile('sgd', 'mse')\n\
                callbacks = []\ncallbacks.append(callbacks)\nmodel.fit([], callbacks=callbacks)\n";
    ask(text);
}

/// Names that stand for each other in the turns of a loop lead round in circles, on more ways than can be gone.
/// Each turn of the loop brings what is at ten million to the position in front of it.
#[test]
fn lists_that_are_shortened_have_an_end() {
    let run =
        ask("rows = [1, 2, 3]\nlast = rows[10000000]\nwhile rows:\n    rows = rows[1:]\n    print(rows)\n");
    assert!(findings(&run).is_empty(), "{}", run.stdout);
}

#[test]
fn names_that_stand_for_each_other_are_asked_for_once() {
    const NAMES: usize = 8;
    let mut text = String::new();
    for name in 0..NAMES {
        writeln!(text, "v{name} = unknown").unwrap();
    }
    text += "while x:\n";
    for name in 0..NAMES {
        text += "    if x:\n        pass\n";
        for step in 1..NAMES {
            writeln!(text, "    elif x > {step}:\n        v{name} = v{}", (name + step) % NAMES).unwrap();
        }
    }
    text += "    class C(v0):\n        pass\n";
    ask(text);
}

/// What stands under the `else` of a `try` is numbered before its handlers.
#[test]
fn statements_are_looked_for_in_front_of_others_whatever_their_numbers() {
    let text = "import tensorflow as tf\ntape = tf.GradientTape()\nv = tf.Variable(1.0)\n\n\ndef show():\n    \
                try:\n        a = 1\n    except ValueError:\n        print('no')\n    else:\n        try:\n            \
                print('b')\n        except ValueError:\n            print('c')\n    print('d')\n\n\nfor _ in range(2):\n    \
                with tf.GradientTape() as tape:\n        loss = v * v\n    \
                tf.keras.optimizers.SGD().apply_gradients([(tape.gradient(loss, v), v)])\n    show()\n";
    ask(text);
}

/// An optimizer around another, which may be itself.
#[test]
fn an_optimizer_around_itself_has_an_end() {
    let text = "import tensorflow as tf\n\n\nclass Net:\n    def __init__(self):\n        \
                self.optimizer = tf.keras.optimizers.SGD()\n        self.optimizer = \
                tf.keras.mixed_precision.LossScaleOptimizer(self.optimizer)\n\n\nnet = Net()\nmodel = \
                tf.keras.Sequential()\nmodel.compile(net.optimizer, 'mse')\nmodel.fit([], [])\n";
    ask(text);
}

/// Programs whose values come, by way of loops, globals, attributes and functions, of themselves.
const OF_ITSELF: [&str; 8] = [
    // What a loop has chosen decides who writes.
    "import sys\n\nimport horovod.tensorflow as hvd\nimport tensorflow as tf\n\nhvd.init()\nchosen = False\n\
     for step in range(10):\n    hvd.allreduce(tf.constant(1.0))\n    if step == int(sys.argv[1]):\n        \
     chosen = True\n    elif step == int(sys.argv[2]):\n        chosen = False\n    if chosen:\n        \
     open('log.txt', 'w').write(str(step))\n",
    // An option that is converted where it is kept.
    "import argparse\n\nimport horovod.tensorflow as hvd\nimport tensorflow as tf\n\nhvd.init()\n\
     parser = argparse.ArgumentParser()\nparser.add_argument('--chief')\noptions = parser.parse_args()\n\
     options.chief = int(options.chief)\n\n\ndef main():\n    if hvd.rank() == options.chief:\n        \
     print(hvd.allreduce(tf.constant(1.0)))\n\n\nmain()\n",
    // The number of a rank that only functions know which ask each other.
    "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\nhvd.init()\n\n\ndef chief():\n    \
     return other()\n\n\ndef other():\n    return int(chief())\n\n\nif hvd.rank() == chief():\n    \
     print(hvd.allreduce(tf.constant(1.0)))\n",
    // What such functions give is assigned to a variable.
    "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\nhvd.init()\nrate = tf.Variable(0.0)\n\n\n\
     def value():\n    return value()\n\n\nfor step in range(3):\n    rate.assign(value())\n    \
     print(hvd.allreduce(rate))\n",
    // A list of variables that is shortened from step to step.
    "import tensorflow as tf\nfrom models import *\n\noptimizer = tf.keras.optimizers.SGD(0.1)\n\n\n\
     def step(x, y):\n    global weights\n    weights = weights[1:]\n    with tf.GradientTape() as tape:\n        \
     loss = tf.reduce_mean((model(x) - y) ** 2)\n    \
     optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))\n\n\nfor x, y in data:\n    \
     step(x, y)\n",
    // A loop of the graph begins with what one of Python's has kept.
    "import tensorflow as tf\n\n\n@tf.function\ndef gather(count, data, part):\n    kept = tf.zeros([1, 2])\n    \
     for _ in range(3):\n        last = kept\n        if part is not None:\n            last = part\n        \
     kept = last\n    rows = kept\n    index = tf.constant(0)\n    while index < count:\n        \
     rows = tf.concat([rows, data], 0)\n        index += 1\n    return rows\n\n\n\
     gather(tf.constant(3), tf.zeros([1, 2]), None)\n",
    // A method that is wrapped in itself.
    "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\nhvd.init()\n\n\nclass Loader:\n    \
     def __init__(*arguments):\n        pass\n\n    for _ in range(2):\n        \
     __init__ = staticmethod(__init__)\n\n\nLoader()\n",
    // A decorated function that a loop decorates again.
    "import tensorflow as tf\n\n\ndef step(x):\n    return x\n\n\nfor _ in range(2):\n    \
     step = tf.function(step)\nstep(tf.ones([]))\n",
];

#[test]
fn what_comes_of_itself_is_followed_once() {
    for text in OF_ITSELF {
        ask(text);
    }
}

/// Each line uses twice what the line before has made; and each adds one to it.
#[test]
fn long_chains_of_operators_are_followed_in_time() {
    let program = |step: &str, lines: usize| {
        let mut text =
            "import tensorflow as tf\n\n\n@tf.function\ndef f(count, y):\n    index = tf.constant(0)\n    \
                        while index < count:\n        index += 1\n"
                .to_owned();
        for _ in 0..lines {
            writeln!(text, "        y = {step}").unwrap();
        }
        text + "    return y\n\n\nf(tf.constant(3), 2)\n"
    };
    ask(program("y * y", 60));
    ask(program("y + 1", 5000));
}
