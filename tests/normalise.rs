//! Fixes of restrictions keep what a program does: what they rewrite, and what they leave alone because the order of
//! evaluation, a name or a value could be another one.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use hvdlint::finding::Applicability;
use support::{Files, mended};

/// What stands in front of each snippet.
const HEAD: &str = "import tensorflow as tf\n";
/// What makes a snippet a program that trains.
const TAIL: &str = "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile(optimizer=\"sgd\", loss=\"mse\")\n\
     model.fit(tf.ones([8, 4]), tf.ones([8, 1]))\n";

fn with(least: Applicability, check: &str, snippet: &str) -> String {
    let text = format!("{HEAD}{snippet}{TAIL}");
    let files = Files::from([("train.py".to_owned(), text)]);
    let after = mended(&files, least, Some(check)).remove("train.py").unwrap();
    let body = after.strip_suffix(TAIL).unwrap_or(&after);
    body.strip_prefix(HEAD).unwrap_or(body).to_owned()
}

/// What safe fixes of a check make of a snippet.
fn safe(check: &str, snippet: &str) -> String {
    with(Applicability::Safe, check, snippet)
}

/// Snippets that no fix changes, each with the reason.
fn stay(check: &str, snippets: &[(&str, &str)]) {
    for (reason, snippet) in snippets {
        assert_eq!(with(Applicability::Unsafe, check, snippet), *snippet, "{reason}");
    }
}

const PRINT: &str = "print-with-side-effects";
const ITERATOR: &str = "it = iter([1, 2])\n";

#[test]
fn what_print_does_is_done_before() {
    let becomes = |before: &str, after: &str| {
        assert_eq!(safe(PRINT, &format!("{ITERATOR}{before}")), format!("{ITERATOR}{after}"));
    };
    becomes("print(next(it))\n", "value = next(it)\nprint(value)\n");
    becomes("print('a', 1 + next(it), 'b')  # c\n", "value = next(it)\nprint('a', 1 + value, 'b')  # c\n");
    becomes("print(f'{next(it):>3}')\n", "value = next(it)\nprint(f'{value:>3}')\n");
    becomes(
        "for x in [1]: print(x, next(it)); x\n",
        "for x in [1]:\n    value = next(it)\n    print(x, value)\n    x\n",
    );
    becomes("x = 1; print(x, next(it))\n", "x = 1\nvalue = next(it)\nprint(x, value)\n");
    becomes(
        "print(next(it),\n      # two\n      next(\n          it))\n",
        "value = next(it)\nvalue_2 = next(\n          it)\nprint(value,\n      # two\n      value_2)\n",
    );
    becomes(
        "value = 1\nprint(tf.abs(next(it)), value)\n",
        "value = 1\nvalue_2 = next(it)\nprint(tf.abs(value_2), value)\n",
    );
}

#[test]
fn print_stays_where_the_order_could_change() {
    let cases = [
        ("it does not always run", "print(x and next(it))\n"),
        ("it does not always run", "print(next(it) if x else 0)\n"),
        ("it does not always run", "print(0 < x < next(it))\n"),
        ("it runs more than once", "print([next(it) for _ in 'ab'])\n"),
        ("what is before it does something, too", "print(len(x.pop()), next(it))\n"),
        ("what is before it could be changed by it", "print(x[0], next(it))\n"),
        ("what is before it could be changed by it", "print(x.y, next(it))\n"),
        ("what is before it is made a text first", "print(f'{x} {next(it)}')\n"),
        ("what is before it is iterated over first", "print(*it, next(it))\n"),
        ("what is before it is iterated over first", "print([*it, next(it)])\n"),
        ("its text is shown", "print(f'{next(it) = }')\n"),
        ("it binds a name for what follows", "print(y := next(it))\n"),
        ("it runs again and again", "while print(next(it)): pass\n"),
    ];
    let cases = cases.map(|(reason, text)| (reason, format!("x = input\n{ITERATOR}{text}")));
    stay(PRINT, &cases.each_ref().map(|(reason, text)| (*reason, text.as_str())));
    let rebinding = "n = 0\ndef f():\n    global n\n    n = next(it)\n    return n\n\n\nit = iter([1, 2])\nprint(n, f())\n";
    stay(PRINT, &[("what is before it is bound again by it", rebinding)]);
    assert_eq!(
        safe(PRINT, &rebinding.replace("print(n, f())", "print(f(), n)")),
        rebinding.replace("print(n, f())", "value = f()\nprint(value, n)"),
        "behind it that does not matter"
    );
}

const OBJECT: &str = "object-not-assigned-once";

#[test]
fn an_inline_object_gets_a_name() {
    let model = "net = tf.keras.Sequential()\n";
    assert_eq!(
        safe(OBJECT, &format!("{model}net.compile(tf.keras.optimizers.Adam(1e-3))\n")),
        format!("{model}optimizer = tf.keras.optimizers.Adam(1e-3)\nnet.compile(optimizer)\n")
    );
    assert_eq!(
        safe(OBJECT, "def make():\n    return tf.keras.optimizers.Adam()\n\n\noptimizer = make()\n"),
        "def make():\n    optimizer = tf.keras.optimizers.Adam()\n    return optimizer\n\n\noptimizer = make()\n",
        "another scope may have the name"
    );
    assert_eq!(
        safe(OBJECT, "for x in tf.data.Dataset.range(3).batch(2):\n    pass\n"),
        "dataset = tf.data.Dataset.range(3).batch(2)\nfor x in dataset:\n    pass\n"
    );
}

#[test]
fn two_inline_objects_of_a_statement_get_two_names() {
    let model = "net = tf.keras.Sequential()\n";
    let text = format!(
        "{model}def f(a, b):\n    return a\n\n\nf(tf.keras.optimizers.Adam(), tf.keras.optimizers.SGD(0.1))\n"
    );
    let after = safe(OBJECT, &text);
    let expected = "optimizer = tf.keras.optimizers.Adam()\noptimizer_2 = tf.keras.optimizers.SGD(0.1)\nf(optimizer, optimizer_2)\n";
    assert!(after.ends_with(expected), "{after}");
}

#[test]
fn a_plain_second_name_of_an_object_goes() {
    let first = "optimizer = tf.keras.optimizers.SGD(0.1)\n";
    assert_eq!(
        safe(
            OBJECT,
            &format!("{first}opt = optimizer  # short\n\n\ndef f(x):\n    return opt.minimize(x, opt=opt)\n")
        ),
        format!("{first}# short\n\n\ndef f(x):\n    return optimizer.minimize(x, opt=optimizer)\n")
    );
    stay(
        OBJECT,
        &[
            (
                "another value may have the name",
                "optimizer = tf.keras.optimizers.SGD(0.1)\nopt = optimizer\nopt = 1\n",
            ),
            (
                "the first name means something else there",
                "optimizer = tf.keras.optimizers.SGD(0.1)\nopt = optimizer\n\n\ndef f(optimizer):\n    return opt\n",
            ),
            (
                "the first name gets another value in each turn",
                "for rate in (1, 2):\n    optimizer = tf.keras.optimizers.SGD(rate)\n    opt = optimizer\n    opt\n",
            ),
            (
                "somebody may ask for the name",
                "optimizer = tf.keras.optimizers.SGD(0.1)\nopt = optimizer\nglobals()['opt']\n",
            ),
        ],
    );
}

#[test]
fn a_second_name_that_another_module_reads_stays() {
    let train = format!("{HEAD}optimizer = tf.keras.optimizers.SGD(0.1)\nopt = optimizer\n{TAIL}");
    for reader in ["from train import opt\n", "import train\ntrain.opt\n", "from train import *\nopt\n"] {
        let files = Files::from([
            ("train.py".to_owned(), train.clone()),
            ("use.py".to_owned(), format!("{HEAD}{reader}")),
        ]);
        assert_eq!(mended(&files, Applicability::Unsafe, Some(OBJECT)), files, "{reader}");
    }
}

const MEMBER: &str = "tensorflow-member-aliased";
const MODULE: &str = "tensorflow-module-reassigned";

#[test]
fn an_alias_of_a_member_becomes_an_import_or_its_own_name() {
    assert_eq!(
        safe(MEMBER, "L = tf.keras.layers\nL.Dense(1)\n"),
        "from tensorflow.keras import layers as L\nL.Dense(1)\n"
    );
    assert_eq!(
        safe(MEMBER, "tf.random.set_seed(1)\nrelu = tf.nn.relu\nrelu(1)\n"),
        "tf.random.set_seed(1)\ntf.nn.relu(1)\n",
        "what is in front of it may matter to an import"
    );
    assert_eq!(
        safe(MEMBER, "def f(x):\n    relu = tf.nn.relu\n    return relu(relu(x))\n"),
        "def f(x):\n    return tf.nn.relu(tf.nn.relu(x))\n"
    );
    assert_eq!(
        safe(MEMBER, "Adam = tf.optimizers.Adam\no = Adam()\n"),
        "o = tf.optimizers.Adam()\n",
        "no module has this name, so nothing can be imported from it"
    );
    assert_eq!(
        safe(MEMBER, "S = tf.distribute.MirroredStrategy\ns = S()\n"),
        "s = tf.distribute.MirroredStrategy()\n",
        "the package of this name is an empty one"
    );
}

#[test]
fn an_alias_of_what_is_replaced_stays() {
    let patched = "def f():\n    old = tf.nn.relu\n    tf.nn.relu = lambda x: old(-x)\n    tf.ones(1)\n    tf.nn.relu = old\n";
    stay(
        MEMBER,
        &[
            ("it keeps what was there", patched),
            ("from elsewhere, too", "relu = tf.nn.relu\ndef patch():\n    tf.nn.relu = None\nrelu(1)\n"),
        ],
    );
}

#[test]
fn an_alias_of_the_module_becomes_its_imported_name() {
    assert_eq!(safe(MODULE, "t = tf\nt.ones(1)\n"), "tf.ones(1)\n");
    assert_eq!(
        safe(MODULE, "keras = tf.keras\nkeras.Model\n"),
        "from tensorflow import keras\nkeras.Model\n"
    );
    let text = format!("import tensorflow as tf\ntf = tf.compat.v1\n{TAIL}");
    let files = Files::from([("train.py".to_owned(), text)]);
    let after = mended(&files, Applicability::Safe, Some(MODULE)).remove("train.py").unwrap();
    assert_eq!(after, format!("import tensorflow.compat.v1 as tf\n{TAIL}"));
    stay(MODULE, &[("both are used", "tf.ones(1)\ntf = tf.compat.v1\n")]);
}

const IMPORT: &str = "import-not-at-top";

#[test]
fn an_import_below_harmless_code_moves() {
    assert_eq!(
        safe(IMPORT, "x = 1\nimport json  # why\njson.dumps(x)\n"),
        "import json\nx = 1\n# why\njson.dumps(x)\n"
    );
    assert_eq!(
        safe(IMPORT, "x = tf.ones(1)\nfrom json import (\n    dumps,\n)\n"),
        "from json import (\n    dumps,\n)\nx = tf.ones(1)\n"
    );
}

#[test]
fn a_move_that_could_matter_is_unsafe() {
    let cases = [
        ("os = __import__('os')\nos.environ['A'] = 'b'\nimport json\n", "a setting"),
        ("def f():\n    import json\n    return json\n", "in a function"),
        (
            "import os\nif __name__ == '__main__':\n    os.environ['A'] = 'b'\n    import json\n",
            "a setting of the main program",
        ),
    ];
    for (snippet, reason) in cases {
        assert_eq!(safe(IMPORT, snippet), snippet, "{reason}");
        assert!(with(Applicability::Unsafe, IMPORT, snippet).contains("import json\n"), "{reason}");
    }
}

#[test]
fn an_import_of_what_is_loaded_crosses_the_choice_of_devices() {
    let devices = "for gpu in tf.config.list_physical_devices('GPU'):\n    \
                   tf.config.experimental.set_memory_growth(gpu, True)\n";
    let layers = "from tensorflow.keras import layers\n";
    assert_eq!(safe(IMPORT, &format!("{devices}{layers}")), format!("{layers}{devices}"));
    assert_eq!(
        safe(IMPORT, &format!("{devices}import json\n")),
        format!("import json\n{devices}"),
        "Python's own modules know of no devices"
    );
    let other = format!("{devices}import thinc\n");
    assert_eq!(safe(IMPORT, &other), other, "it is not loaded, and may ask for the devices");
}

#[test]
fn an_import_of_the_main_program_moves() {
    assert_eq!(
        safe(IMPORT, "if __name__ == '__main__':\n    x = 1\n    import json\n    json.dumps(x)\n"),
        "import json\nif __name__ == '__main__':\n    x = 1\n    json.dumps(x)\n"
    );
}

#[test]
fn an_import_of_the_main_program_stays_where_others_import_the_module() {
    let blocks = "import tensorflow as tf\n\n\ndef build():\n    return tf.keras.Sequential()\n\n\n\
                  if __name__ == '__main__':\n    from thop import profile\n    profile(build())\n";
    let train = format!("import blocks\n{HEAD}{TAIL}");
    let files = Files::from([("train.py".to_owned(), train), ("blocks.py".to_owned(), blocks.to_owned())]);
    assert_eq!(mended(&files, Applicability::Safe, Some(IMPORT))["blocks.py"], blocks);
}

#[test]
fn an_import_that_other_modules_lead_back_from_stays() {
    let model = "import tensorflow as tf\n\n\ndef build():\n    from data import SIZE\n    return SIZE\n";
    let train = format!("import model\n{HEAD}{TAIL}");
    let files = |data: &str| {
        let texts = [("train.py", train.as_str()), ("model.py", model), ("data.py", data)];
        Files::from(texts.map(|(name, text)| (name.to_owned(), text.to_owned())))
    };
    let mended = |data: &str| mended(&files(data), Applicability::Unsafe, Some(IMPORT))["model.py"].clone();
    assert_eq!(mended("from model import build\nSIZE = 4\n"), model);
    assert!(mended("SIZE = 4\n").starts_with("import tensorflow as tf\nfrom data import SIZE\n"));
}

#[test]
fn an_import_of_the_project_stays_behind_what_makes_it_known() {
    let data = ("nearby.py".to_owned(), "SIZE = 4\n".to_owned());
    let mended = |between: &str| {
        let train = format!("{HEAD}{between}\nfrom nearby import SIZE\n{TAIL}");
        let files = Files::from([("train.py".to_owned(), train.clone()), data.clone()]);
        let after = mended(&files, Applicability::Unsafe, Some(IMPORT)).remove("train.py").unwrap();
        (after == train, after)
    };
    let (stays, after) = mended("import sys\nx = 1\nif x:\n    sys.path.append('..')");
    assert!(stays, "{after}");
    assert!(!mended("x = 1").0);
}

#[test]
fn an_import_overwrites_an_unread_one_at_the_top() {
    assert_eq!(
        safe(IMPORT, "from a import Dense\nx = 1\nfrom tensorflow.keras.layers import Dense\nDense(x)\n"),
        "from a import Dense\nfrom tensorflow.keras.layers import Dense\nx = 1\nDense(x)\n"
    );
    stay(
        IMPORT,
        &[("the other is read before", "from a import Dense\nx = Dense\nfrom b import Dense\nDense(x)\n")],
    );
}

#[test]
fn imports_of_several_things_under_one_name_stay_in_their_functions() {
    let other = "def f():\n    from json import loads\n    return loads\ndef g():\n    from pickle import loads\n    return loads\n";
    stay(IMPORT, &[("one would take the place of the other", other)]);
}

#[test]
fn an_import_whose_name_could_mean_something_else_stays() {
    stay(
        IMPORT,
        &[
            ("the name has another value before", "json = 1\njson\nimport json\n"),
            (
                "the name is a parameter elsewhere in the function",
                "def f():\n    import json\n    json = 1\n    return json\n",
            ),
            ("the module has the name", "json = 1\n\n\ndef f():\n    import json\n    return json\n"),
            (
                "Python has the name",
                "x = pow(1, 2)\n\n\ndef f():\n    from math import pow\n    return pow\n",
            ),
            ("it depends on a condition", "x = 1\nif x:\n    import json\nelse:\n    json = None\n"),
            ("it may fail", "x = 1\ntry:\n    import json\nexcept Exception:\n    pass\n"),
            ("it binds names that nobody knows", "x = 1\nfrom os.path import *\n"),
            ("it is an attribute of the class", "class C:\n    import json\n"),
        ],
    );
}

const REUSED: &str = "object-variable-reused";

#[test]
fn another_kind_of_value_gets_a_name_of_its_own() {
    let data = "data = tf.data.Dataset.range(3)\n";
    assert_eq!(
        safe(REUSED, &format!("{data}data = list(data)\ndata = data[1:]\nlen(data)\n")),
        format!("{data}data_2 = list(data)\ndata_2 = data_2[1:]\nlen(data_2)\n")
    );
    let stays = |text: &str| format!("{data}{text}");
    let cases = [
        ("a reading may see either", stays("if model:\n    data = [1]\nlen(data)\n")),
        ("nobody reads it", stays("data = None\n")),
        ("a function reads it", stays("data = list(data)\n\n\ndef f():\n    return data\n")),
        ("it is deleted", stays("data = list(data)\nlen(data)\ndel data\n")),
        ("its name is shown", stays("data = list(data)\nprint(f'{data=}')\n")),
    ];
    stay(REUSED, &cases.each_ref().map(|(reason, text)| (*reason, text.as_str())));
}
