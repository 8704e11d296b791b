//! Notebooks: analysed as the program that their cells are, reported by cells to people and by lines to machines,
//! and fixed without a change of anything but code.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use hvdlint::finding::Applicability;
use hvdlint::syntax;
use serde_json::{Value, json};
use support::{Files, finish, fixtures, folder, hvdlint, mended, run};

/// A notebook in which text, outputs and magics stand between the code, as Jupyter writes it.
const BOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {},
   "source": [
    "# Title"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 1,
   "metadata": {"tags": ["z", "a"]},
   "outputs": [{"output_type": "stream", "text": ["caf\u00e9\n"], "name": "stdout"}],
   "source": [
    "%matplotlib inline\n",
    "!pip install tensorflow\n",
    "import tensorflow as tf"
   ]
  },
  {
   "cell_type": "code",
   "metadata": {},
   "outputs": [],
   "source": [
    "%%bash\n",
    "echo no Python"
   ]
  },
  {
   "cell_type": "code",
   "metadata": {},
   "outputs": [],
   "source": "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\noptimizer = tf.keras.optimizers.SGD(learning_rate=0.1)\nmodel.compile(optimizer=optimizer, loss=\"mse\")"
  },
  {
   "cell_type": "code",
   "metadata": {},
   "outputs": [],
   "source": [
    "x = tf.random.normal((64, 4))\n",
    "%time model.fit(x, x, epochs=2, verbose=0)\n",
    "print(\"caf\u00e9\")"
   ]
  }
 ],
 "metadata": {
  "kernelspec": {
   "language": "python",
   "name": "python3"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 2
}
"##;

const FIXED_LINES: [&str; 13] = [
    r#"    "import tensorflow as tf\n","#,
    r#"    "import horovod.tensorflow.keras as hvd\n","#,
    r#"    "\n","#,
    r#"    "hvd.init()\n","#,
    r#"    "gpus = tf.config.list_physical_devices('GPU')\n","#,
    r#"    "for gpu in gpus:\n","#,
    r#"    "    tf.config.experimental.set_memory_growth(gpu, True)\n","#,
    r#"    "if gpus:\n","#,
    r#"    "    tf.config.set_visible_devices(gpus[hvd.local_rank()], 'GPU')\n""#,
    r#"   "source": "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\noptimizer = tf.keras.optimizers.SGD(learning_rate=0.1 * hvd.size())\noptimizer = hvd.DistributedOptimizer(optimizer)\nmodel.compile(optimizer=optimizer, loss=\"mse\")""#,
    r#"    "%time model.fit(x, x, epochs=2, verbose=0, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])\n","#,
    r#"    "if hvd.rank() == 0:\n","#,
    r#"    "    print(\"caf\u00e9\")""#,
];

fn book(cells: &[&str]) -> String {
    let cell = |source: &&str| {
        let lines: Vec<&str> = source.split_inclusive('\n').collect();
        json!({"cell_type": "code", "metadata": {}, "outputs": [], "source": lines})
    };
    let cells: Vec<Value> = cells.iter().map(cell).collect();
    serde_json::to_string_pretty(&json!({"cells": cells, "metadata": {}, "nbformat": 4})).unwrap()
}

#[test]
fn people_are_told_cells_and_their_lines() {
    let project = folder(&[("nb/train.ipynb", BOOK)]);
    let concise = run(project.path(), &["check", "--output", "concise"]);
    assert_eq!(concise.status, 1);
    insta::assert_snapshot!(concise.stdout, @r#"
    nb/train.ipynb:cell 4:2:13: warning[learning-rate-not-scaled] the learning rate of `SGD` does not grow with the number of ranks (HVD202)
    nb/train.ipynb:cell 4:2:13: warning[optimizer-not-distributed] the gradients of this optimizer are not averaged over the ranks (HVD204)
    nb/train.ipynb:cell 5:2:7: warning[horovod-not-initialised] the program trains on one GPU: nothing starts Horovod (HVD201)
    nb/train.ipynb:cell 5:2:7: warning[fit-without-broadcast] the ranks begin with different variables, and no callback makes them equal (HVD207)
    nb/train.ipynb:cell 5:3:1: warning[output-on-every-rank] every rank prints (HVD208)
    "#);
    let full = run(project.path(), &["check", "--select", "optimizer-not-distributed"]);
    insta::assert_snapshot!(full.stdout, @r#"
    warning[optimizer-not-distributed]: the gradients of this optimizer are not averaged over the ranks
      ┌─ nb/train.ipynb:cell 4:2:13
      │
    2 │ optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)
      │             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ each rank would train by itself
      │
      ┌─ nb/train.ipynb:cell 5:2:7
      │
    2 │ %time model.fit(x, x, epochs=2, verbose=0)
      │       ------------------------------------ trains with it
      │
      = help: distribute the optimizer: `hvd.DistributedOptimizer(optimizer)`

      fix: distribute the optimizer
         3 + optimizer = hvd.DistributedOptimizer(optimizer)

    Found 1 warning in 1 file; 1 fixable with --fix
    "#);
    let loops = run(project.path(), &["loops"]);
    insta::assert_snapshot!(loops.stdout, @r#"
    nb/train.ipynb: keras-fit
      loop          nb/train.ipynb:cell 5:2 keras-fit
      model         nb/train.ipynb:cell 4:1 model (tensorflow.keras.Sequential)
      optimizer     nb/train.ipynb:cell 4:2 optimizer (tensorflow.keras.optimizers.SGD)
      distributable yes
    "#);
}

#[test]
fn machines_are_told_lines_of_the_file() {
    let project = folder(&[("train.ipynb", BOOK)]);
    let lines: Vec<&str> = BOOK.lines().collect();
    let json = run(project.path(), &["check", "--output", "json"]).json();
    let findings = json["findings"].as_array().unwrap();
    assert!(findings.len() > 4);
    for finding in findings {
        let at = |place: &Value, key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap() - 1;
        let (start, end) = (&finding["start"], &finding["end"]);
        assert_eq!(at(start, "line"), at(end, "line"), "{finding:#}");
        let line: Vec<char> = lines[at(start, "line")].chars().collect();
        let text: String = line[at(start, "column")..at(end, "column")].iter().collect();
        let code = match finding["code"].as_str().unwrap() {
            "HVD202" | "HVD204" => "tf.keras.optimizers.SGD(learning_rate=0.1)",
            "HVD201" | "HVD207" => "model.fit(x, x, epochs=2, verbose=0)",
            "HVD208" => "print(\\\"caf\\u00e9\\\")",
            other => panic!("{other}"),
        };
        assert_eq!(text, code, "{finding:#}");
    }
    let loops = run(project.path(), &["loops", "--output", "json"]).json();
    let line = usize::try_from(loops["programs"][0]["loops"][0]["line"].as_u64().unwrap()).unwrap();
    assert!(lines[line - 1].contains("%time model.fit"), "{loops:#}");
}

/// The file with the edits that a document of JSON names for it.
fn applied(file: &str, json: &Value) -> String {
    let starts: Vec<usize> =
        std::iter::once(0).chain(file.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let byte = |place: &Value| {
        let number = |key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap() - 1;
        let start = starts[number("line")];
        start + file[start..].chars().take(number("column")).map(char::len_utf8).sum::<usize>()
    };
    let mut edits: Vec<(usize, usize, &str)> = Vec::new();
    for finding in json["findings"].as_array().unwrap() {
        for edit in finding["fix"]["edits"].as_array().into_iter().flatten() {
            let edit = (byte(&edit["start"]), byte(&edit["end"]), edit["content"].as_str().unwrap());
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
    }
    // Those at one place keep the order in which they are told.
    edits.sort_by_key(|&(start, end, _)| (start, end));
    let mut out = String::new();
    let mut done = 0;
    for (start, end, content) in edits {
        out.push_str(&file[done..start]);
        out.push_str(content);
        done = end;
    }
    out + &file[done..]
}

#[test]
fn fixes_change_code_and_nothing_else() {
    let mut forms = vec![BOOK.to_owned(), BOOK.trim_end().to_owned(), BOOK.replace('\n', "\r\n")];
    forms.push(format!("\u{feff}{BOOK}"));
    for before in forms {
        let project = folder(&[("train.ipynb", &before)]);
        let json = run(project.path(), &["check", "--output", "json"]).json();
        let fix = run(project.path(), &["check", "--fix"]);
        assert_eq!(fix.status, 0, "{fix:#?}");
        let after = fs::read_to_string(project.path().join("train.ipynb")).unwrap();
        let old: Vec<&str> = before.split('\n').collect();
        let new: Vec<&str> = after.split('\n').filter(|line| !old.contains(line)).collect();
        let new: Vec<&str> = new.iter().map(|line| line.trim_end_matches('\r')).collect();
        assert_eq!(new, FIXED_LINES);
        assert_eq!(after.starts_with('\u{feff}'), before.starts_with('\u{feff}'));
        assert_eq!(after.ends_with('\n'), before.ends_with('\n'));
        let text = before.trim_start_matches('\u{feff}');
        assert_eq!(
            applied(text, &json),
            after.trim_start_matches('\u{feff}'),
            "the fixes of JSON are the same"
        );
        assert_eq!(
            run(project.path(), &["check", "--fix"]).stdout,
            "All is well: nothing to report in 1 file\n"
        );
        assert_eq!(fs::read_to_string(project.path().join("train.ipynb")).unwrap(), after);
    }
}

const FIT: &str = "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile(\"sgd\", \"mse\")\nx = tf.ones([64, 3])\nmodel.fit(x, x, verbose=0)\n";

/// The code of a notebook after `check --fix`.
fn fixed(cells: &[&str]) -> String {
    let project = folder(&[("train.ipynb", &book(cells))]);
    run(project.path(), &["check", "--fix"]);
    code_of(&fs::read_to_string(project.path().join("train.ipynb")).unwrap())
}

#[test]
fn lines_for_the_shell_are_run_by_rank_0() {
    let lines = "!nvidia-smi\n!mkdir -p \\\n  data\n!cd data && unzip -q ../x.zip\n%cd data\n\
                 if not os.path.exists('x'):\n    !wget -q \\\n      https://example.com/x\n";
    let code = fixed(&["!pip install -q imageio\nimport os\n", lines, FIT]);
    let start = code.find("hvd.init()").expect("Horovod is started");
    let first = code.find("!nvidia-smi").unwrap();
    assert!(code.find("!pip").unwrap() < start && start < first, "{code}");
    let guarded = "!nvidia-smi\n\
                   if hvd.rank() == 0:\n    !mkdir -p \\\n      data\n    !cd data && unzip -q ../x.zip\n\
                   hvd.broadcast(0, 0, name='written')\n\
                   %cd data\n\
                   if hvd.broadcast(bool(not os.path.exists('x')), 0, name='asked'):\n    if hvd.rank() == 0:\n        \
                   !wget -q \\\n          https://example.com/x\n    hvd.broadcast(0, 0, name='written')\n";
    assert!(code[first..].starts_with(guarded), "{code}");
    assert_eq!(code.trim_end(), fixed(&[&code]).trim_end(), "the second run has nothing to do");
}

#[test]
fn a_cell_for_the_shell_that_changes_files_keeps_the_notebook_as_it_is() {
    for (cell, is_told) in [
        ("%%bash\nunzip -qo x.zip\n", true),
        ("%%sh\ncd data\n\nwget -q https://example.com/x\n", true),
        ("%%bash\nls data\n", false),
        ("%%writefile fetch.sh\nwget https://example.com/x\n", false),
        ("%%html\n<b>rm</b>\n", false),
    ] {
        let cells = ["import os\n", cell, FIT];
        let project = folder(&[("train.ipynb", &book(&cells))]);
        let before = fs::read_to_string(project.path().join("train.ipynb")).unwrap();
        let check = run(project.path(), &["check", "--fix"]);
        let after = fs::read_to_string(project.path().join("train.ipynb")).unwrap();
        assert_eq!(
            check.stdout.contains("every rank runs a command that changes files"),
            is_told,
            "{check:#?}"
        );
        assert_eq!(after == before, is_told, "{cell}");
        assert!(code_of(&after).contains(cell.trim_end()), "{after}");
    }
}

#[test]
fn a_module_that_a_cell_writes_is_imported_where_it_was() {
    let code = fixed(&["import os\n", FIT, "%%writefile own.py\nx = 1\n", "import own\nprint(own.x)\n"]);
    assert!(code.find("%%writefile").unwrap() < code.find("import own").unwrap(), "{code}");
    assert!(code.contains("hvd.init()"), "{code}");
}

#[test]
fn nothing_is_put_in_front_of_a_cell_for_the_shell() {
    let code = fixed(&["%%bash\npip install -q tensorflow\n", "__import__('os')\n", FIT]);
    assert!(code.starts_with("%%bash\npip install -q tensorflow\n"), "{code}");
    assert!(code.contains("hvd.init()"), "{code}");
}

#[test]
fn lines_for_the_shell_in_front_of_what_installs_packages_are_told() {
    let cells = ["!wget -q https://example.com/x\n!pip install tensorflow==2.10\n", FIT];
    let project = folder(&[("train.ipynb", &book(&cells))]);
    let before = fs::read_to_string(project.path().join("train.ipynb")).unwrap();
    let check = run(project.path(), &["check", "--fix"]);
    assert!(check.stdout.contains("every rank runs a command that changes files"), "{check:#?}");
    assert_eq!(fs::read_to_string(project.path().join("train.ipynb")).unwrap(), before);
}

#[test]
fn the_diff_is_one_of_the_file() {
    let project = folder(&[("train.ipynb", BOOK)]);
    let diff = run(project.path(), &["check", "--diff"]);
    assert_eq!(diff.status, 1);
    let added: Vec<&str> = diff
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix('+'))
        .filter(|line| !line.starts_with("++"))
        .collect();
    assert_eq!(added, FIXED_LINES);
    assert_eq!(fs::read_to_string(project.path().join("train.ipynb")).unwrap(), BOOK);
}

#[test]
fn standard_input_can_be_a_notebook() {
    let project = folder(&[("other.py", "")]);
    let mut command = hvdlint();
    command.current_dir(project.path()).args(["check", "-", "--fix", "--stdin-filename", "nb.ipynb"]);
    let fixed = finish(command.write_stdin(BOOK));
    assert_eq!(fixed.status, 0, "{fixed:#?}");
    let new: Vec<&str> = fixed.stdout.lines().filter(|line| !BOOK.lines().any(|old| old == *line)).collect();
    assert_eq!(new, FIXED_LINES);
    let mut command = hvdlint();
    command.current_dir(project.path()).args([
        "check",
        "-",
        "--output",
        "concise",
        "--stdin-filename",
        "nb.ipynb",
    ]);
    assert!(finish(command.write_stdin(BOOK)).stdout.starts_with("nb.ipynb:cell 4:2:13: "));
}

#[test]
fn comments_in_cells_suppress() {
    let cells = [
        "import tensorflow as tf\nK = tf.keras  # hvdlint: ignore[tensorflow-module-reassigned] -- short",
        "# hvdlint: ignore[import-not-at-top] -- nothing here\nx = 1",
    ];
    let project = folder(&[("a.ipynb", book(&cells))]);
    let found = run(project.path(), &["check", "--output", "concise", "--show-suppressed"]);
    insta::assert_snapshot!(found.stdout, @r#"
    a.ipynb:cell 2:1:1: warning[unused-suppression] there is nothing to suppress for `import-not-at-top` (HVD902)
    a.ipynb:cell 1:2:1: suppressed[tensorflow-module-reassigned] `K` is another name for the module `tensorflow.keras` (HVD002) -- short
    "#);
    assert_eq!(run(project.path(), &["check", "--fix"]).status, 0);
    let after = fs::read_to_string(project.path().join("a.ipynb")).unwrap();
    assert_eq!(after, book(&[cells[0], "x = 1"]));
}

#[test]
fn a_notebook_imports_modules_and_is_imported_by_none() {
    let project = folder(&[
        (
            "make.py",
            "import tensorflow as tf\n\ndef model():\n    return tf.keras.Sequential([])\n".to_owned(),
        ),
        (
            "train.ipynb",
            book(&["import make\n", "net = make.model()\nnet.compile(loss='mse')\nnet.fit([1], [1])\n"]),
        ),
        ("use.py", "import train\ntrain.net.fit([1], [1])\n".to_owned()),
    ]);
    let loops = run(project.path(), &["loops", "--output", "json"]).json();
    let programs = loops["programs"].as_array().unwrap();
    let training: Vec<&Value> = programs.iter().filter(|program| program["pattern"] != "none").collect();
    assert_eq!(training.len(), 1, "{loops:#}");
    assert_eq!(training[0]["entry"], "train.ipynb");
    assert_eq!(training[0]["models"][0]["path"], "make.py");

    fs::write(project.path().join("hvdlint.toml"), "entry = [\"train.ipynb\"]\n").unwrap();
    let loops = run(project.path(), &["loops", "--output", "json"]).json();
    assert_eq!(loops["programs"].as_array().unwrap().len(), 1, "{loops:#}");
}

#[test]
fn broken_and_foreign_notebooks_do_not_stop_the_others() {
    let r = r#"{"cells": [{"cell_type": "code", "source": "x <- 1"}], "metadata": {"kernelspec": {"language": "R"}}, "nbformat": 4}"#;
    let project = folder(&[
        ("broken.ipynb", "{\"cells\": [}"),
        ("julia.ipynb", r),
        ("old.ipynb", "{\"metadata\": {},\n \"nbformat\": 3, \"worksheets\": []}"),
        ("python.ipynb", &book(&["def f(:\n  pass", "import tensorflow as tf\nK = tf.keras"])),
        (".ipynb_checkpoints/python.ipynb", "{}"),
    ]);
    let found = run(project.path(), &["check", "--output", "concise"]);
    assert_eq!((found.status, found.stderr.as_str()), (1, ""));
    insta::assert_snapshot!(found.stdout, @r#"
    broken.ipynb:1:12: error[invalid-syntax] the notebook is not valid JSON: expected value (HVD901)
    old.ipynb:2:2: error[invalid-syntax] the notebook has format 3, and only 4 is read (HVD901)
    python.ipynb:cell 1:1:7: error[invalid-syntax] expected a parameter or the end of the parameter list (HVD901)
    python.ipynb:cell 2:1:1: error[import-not-at-top] `tensorflow` is imported below the top of the module (HVD001)
    python.ipynb:cell 2:2:1: warning[tensorflow-module-reassigned] `K` is another name for the module `tensorflow.keras` (HVD002)
    "#);
}

/// A program as cells: parts that stand apart by an empty line and are Python by themselves.
fn in_cells(source: &str) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    let mut cell = String::new();
    for part in source.trim_end().split("\n\n") {
        if !cell.is_empty() {
            cell.push_str("\n\n");
        }
        cell.push_str(part);
        let rest = &source[source.find(&cell).unwrap() + cell.len()..];
        let next = rest.trim_start_matches('\n');
        if syntax::parses(&cell) && !next.starts_with([' ', '\t', '#', ')', ']', '}']) && !next.is_empty() {
            cells.push(std::mem::take(&mut cell));
        }
    }
    cells.push(cell);
    cells
}

fn code_of(book: &str) -> String {
    let json: Value = serde_json::from_str(book).unwrap();
    let mut code = String::new();
    for cell in json["cells"].as_array().unwrap() {
        for line in cell["source"].as_array().unwrap() {
            code.push_str(line.as_str().unwrap());
        }
        code.push('\n');
    }
    code
}

/// Without what depends on borders between cells: empty lines, and where one guard ends and the same begins again.
fn solid(code: &str) -> String {
    let (mut all, mut above) = (String::new(), "");
    for line in code.lines().filter(|line| !line.trim().is_empty()) {
        if line == above && line.ends_with(".rank() == 0:") {
            continue;
        }
        if !line.starts_with([' ', '\t']) {
            above = line;
        }
        writeln!(all, "{line}").unwrap();
    }
    all
}

#[test]
fn a_program_in_cells_is_fixed_as_the_program_is() {
    let mut compared = 0;
    let mut fixed = 0;
    for (name, path) in fixtures() {
        let Some(program) = only_program(&path) else { continue };
        let Ok(source) = fs::read_to_string(program) else { continue };
        let cells = in_cells(&source);
        if cells.len() < 2 || solid(&source) != solid(&cells.join("\n\n")) {
            continue;
        }
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let one = |name: &str, text: String| Files::from([(name.to_owned(), text)]);
        let script = mended(&one("train.py", source.clone()), Applicability::Safe, None)["train.py"].clone();
        let book =
            mended(&one("train.ipynb", book(&cells)), Applicability::Safe, None)["train.ipynb"].clone();
        assert_eq!(solid(&code_of(&book)), solid(&script), "{name}");
        compared += 1;
        fixed += usize::from(script != source);
    }
    assert!(compared > 50 && fixed > 30, "{compared} programs, {fixed} of them fixed");
}

/// The file of a fixture that has just one.
fn only_program(folder: &Path) -> Option<std::path::PathBuf> {
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut programs =
        files.into_iter().filter(|path| path.is_dir() || path.extension().is_some_and(|own| own == "py"));
    let first = programs.next()?;
    (first.is_file() && programs.next().is_none()).then_some(first)
}
