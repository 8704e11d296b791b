//! What `--fix` and `--diff` do to files: byte for byte, all or nothing, and never more than was asked for.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{Run, finish, folder, hvdlint, run};

/// A safe fix removes the comment.
const FIXABLE: &str = "x = 1  # hvdlint: ignore[invalid-syntax] -- nothing here\n";
const FIXED: &str = "x = 1\n";

fn read(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap()
}

/// What `--fix` makes of a file with these bytes.
fn fixed(bytes: &[u8]) -> Vec<u8> {
    let project = folder(&[("train.py", bytes)]);
    let run = run(project.path(), &["check", "--fix"]);
    assert_eq!(run.status, 0, "{run:#?}");
    read(project.path(), "train.py")
}

/// Runs a tool of the system with the diff on its standard input.
fn pipe(folder: &Path, command: &[&str], input: &[u8]) {
    let mut tool = assert_cmd::Command::from_std(Command::new(command[0]));
    tool.current_dir(folder).args(&command[1..]).write_stdin(input);
    let output = tool.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

type Encode = fn(&str) -> Vec<u8>;

/// Files of all kinds: bytes before and after.
fn kinds() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let with = |text: &str, encode: Encode| {
        (encode(&text.replace('@', "  # hvdlint: ignore[HVD901] -- n")), encode(&text.replace('@', "")))
    };
    let utf8 = |text: &str| text.as_bytes().to_vec();
    let latin1 =
        |text: &str| text.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect();
    let many = "v = 0\n".repeat(30);
    let cases: Vec<(&str, String, Encode)> = vec![
        ("plain", "# é\nx = 1@\ny = 2\n".to_owned(), utf8),
        ("carriage returns", "a = 0\r\nx = 1@\r\ny = '\\\r\n'\r\n".to_owned(), utf8),
        ("lone carriage returns", "a = 0\rx = 1@\ry = 2\r".to_owned(), utf8),
        ("mixed line ends", "a = 0\r\nx = 1@\ny = 2\rz = 3\r\n".to_owned(), utf8),
        ("byte order mark", "\u{feff}x = 1@\ny = 'é'\n".to_owned(), utf8),
        ("latin-1", "# coding: latin-1\nx = 'é'@\ny = '\u{80}ÿ'\n".to_owned(), latin1),
        ("no final newline", "a = 0\nx = 1@".to_owned(), utf8),
        ("blanks at the ends", "a = 0  \n\t\nx = 1@\n   \n\n".to_owned(), utf8),
        ("form feed", "a = 0\n\u{c}\nx = 1@\n".to_owned(), utf8),
        ("two places", format!("x = 1@\n{many}y = 2@\n"), utf8),
    ];
    cases
        .into_iter()
        .map(|(name, text, encode)| {
            let (before, after) = with(&text, encode);
            (name, before, after)
        })
        .collect()
}

#[test]
fn everything_outside_of_the_edits_keeps_its_bytes() {
    for (name, before, after) in kinds() {
        assert_eq!(fixed(&before).escape_ascii().to_string(), after.escape_ascii().to_string(), "{name}");
    }
}

#[test]
fn fixing_twice_changes_nothing() {
    for (name, _, after) in kinds() {
        assert!(fixed(&after) == after, "{name}");
    }
}

#[test]
fn the_diff_gives_what_fix_gives() {
    let files: Vec<_> = kinds();
    let mut before: Vec<(String, &[u8])> = files
        .iter()
        .enumerate()
        .map(|(index, file)| (format!("pkg/f{index}.py"), file.1.as_slice()))
        .collect();
    let strange = "my files/é \"quoted\".py".to_owned();
    before.push((strange, FIXABLE.as_bytes()));
    before.push(("with blank.py".to_owned(), FIXABLE.as_bytes()));
    let given: Vec<(&str, &[u8])> = before.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let diff = {
        let project = folder(&given);
        let output = hvdlint().current_dir(project.path()).args(["check", "--diff"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        for (name, bytes) in &given {
            assert!(read(project.path(), name) == *bytes, "{name} is not changed");
        }
        output.stdout
    };
    let wanted = folder(&given);
    assert_eq!(run(wanted.path(), &["check", "--fix"]).status, 0);
    for tool in [&["git", "apply", "--whitespace=nowarn", "-"][..], &["patch", "-p1", "--silent"]] {
        let project = folder(&given);
        pipe(project.path(), tool, &diff);
        for (name, _) in &given {
            let (is, should) = (read(project.path(), name), read(wanted.path(), name));
            assert_eq!(is.escape_ascii().to_string(), should.escape_ascii().to_string(), "{tool:?} {name}");
        }
    }
}

#[test]
fn the_diff_is_the_whole_output() {
    let project = folder(&[("train.py", FIXABLE)]);
    let Run { status, stdout, stderr } = run(project.path(), &["check", "--diff"]);
    assert_eq!(status, 1);
    insta::assert_snapshot!(stdout, @"
    --- a/train.py
    +++ b/train.py
    @@ -1 +1 @@
    -x = 1  # hvdlint: ignore[invalid-syntax] -- nothing here
    +x = 1
    ");
    assert_eq!(stderr, "Would fix 1 finding in 1 file; 0 findings would remain\n");
    let quiet = run(project.path(), &["check", "--diff", "-q"]);
    assert_eq!(quiet.stderr, "");
    assert_eq!(run(project.path(), &["check", "--diff", "--exit-zero"]).status, 0);
    let both = run(project.path(), &["check", "--diff", "--fix"]);
    assert_eq!((both.status, both.stdout), (1, stdout));
    assert_eq!(read(project.path(), "train.py"), FIXABLE.as_bytes(), "--diff never writes");
}

#[test]
fn without_a_difference_the_status_is_the_usual() {
    let clean = folder(&[("train.py", FIXED)]);
    let answer = run(clean.path(), &["check", "--diff"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (0, ""));
    let broken = folder(&[("train.py", "def f(:\n")]);
    let answer = run(broken.path(), &["check", "--diff"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (1, ""));
    assert_eq!(answer.stderr, "Would fix 0 findings in 0 files; 1 finding would remain\n");
}

#[test]
fn what_remains_is_reported_and_decides_the_status() {
    let project = folder(&[("a.py", FIXABLE), ("b.py", "x = 1  # hvdlint: ignore -- no list\n")]);
    let answer = run(project.path(), &["check", "--fix", "--output", "full", "--output", "json=out.json"]);
    assert_eq!(answer.status, 1);
    assert!(
        answer.stdout.ends_with("Fixed 1 finding in 1 file. Found 1 warning in 2 files\n"),
        "{answer:#?}"
    );
    let json: serde_json::Value = serde_json::from_slice(&read(project.path(), "out.json")).unwrap();
    assert_eq!(json["summary"]["fixed"], 1);
    assert_eq!(json["findings"][0]["path"], "b.py");
    let fixed = folder(&[("a.py", FIXABLE)]);
    let answer = run(fixed.path(), &["check", "--fix"]);
    assert_eq!(
        (answer.status, answer.stdout.as_str()),
        (0, "Fixed 1 finding in 1 file. All is well: nothing to report in 1 file\n")
    );
}

#[test]
fn what_is_distributed_is_told_how_to_start() {
    let arrays = "\
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.Adam(0.1), loss='mse')
";
    let whole = format!("{arrays}model.fit(np.ones([64, 4]), np.ones([64, 1]), epochs=2)\n");
    let project = folder(&[("jobs/my train.py", &whole)]);
    let answer = run(project.path(), &["check", "--fix"]);
    assert_eq!(answer.status, 0, "{answer:#?}");
    let said = "\
hvdlint: jobs/my train.py is distributed; start it with `horovodrun -np 2 python 'jobs/my train.py'`
  note: jobs/my train.py:16: each rank trains on all of the data (data-not-sharded)
  help: give each rank a part of the same size, `data[hvd.rank() :: hvd.size()]`, or divide the epochs by `hvd.size()`
";
    assert_eq!(answer.stderr, said, "{}", String::from_utf8_lossy(&read(project.path(), "jobs/my train.py")));
    assert_eq!(run(project.path(), &["check", "--fix"]).stderr, "", "nothing is distributed anew");
    let divided = format!("{arrays}model.fit(data(), steps_per_epoch=400, epochs=2)\n");
    let project = folder(&[("train.py", divided.as_str()), ("other.py", FIXABLE)]);
    let answer = run(project.path(), &["check", "--fix", "--quiet"]);
    assert_eq!(answer.stderr, "", "{answer:#?}");
}

#[test]
fn datasets_that_no_rank_reads_otherwise_are_told() {
    let program = |shuffled: &str| {
        format!(
            "\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
for x in tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])){shuffled}.batch(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"
        )
    };
    for (shuffled, order) in
        [("", ", as far as is seen in the same order as the others"), (".shuffle(64)", "")]
    {
        let project = folder(&[("train.py", &program(shuffled))]);
        let said = run(project.path(), &["check", "--fix"]).stderr;
        let note = format!("each rank trains on all of the data{order} (data-not-sharded)");
        assert!(said.contains(&note), "{said}");
    }
}

#[test]
fn examples_of_a_generator_that_no_rank_orders_otherwise_are_told() {
    let program = |order: &str| {
        format!(
            "\
import random
import tensorflow as tf

numbers = list(range(640))
{order}


def examples():
    for number in numbers:
        yield [float(number)], [1.0]


dataset = tf.data.Dataset.from_generator(examples, output_types=(tf.float32, tf.float32)).batch(8).repeat()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
model.compile(optimizer=optimizer, loss='mse')
model.fit(dataset, epochs=3, steps_per_epoch=80)
"
        )
    };
    for (order, is_told) in [("print(len(numbers))", true), ("random.shuffle(numbers)", false)] {
        let project = folder(&[("train.py", &program(order))]);
        let said = run(project.path(), &["check", "--fix"]).stderr;
        assert_eq!(said.contains("each rank trains on the same first examples"), is_told, "{said}");
    }
}

#[test]
fn whether_the_ranks_have_orders_of_their_own_is_told() {
    let stepped = "\
for x in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
";
    let program = |data: &str| {
        format!(
            "import numpy as np\nimport tensorflow as tf\nimport tensorflow_datasets as tfds\n\
             from sklearn.model_selection import train_test_split\n\n{data}\
             model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n\
             optimizer = tf.keras.optimizers.SGD(0.1)\n{stepped}"
        )
    };
    let made = "tf.data.Dataset.from_tensor_slices";
    let split = format!(
        "x, held_out = train_test_split(np.load('x.npy'))\ndata = {made}(x).batch(8)\nprint(held_out.mean())\n"
    );
    let zipped = |order: &str| {
        format!(
            "x = {made}(np.load('x.npy'))\ny = {made}(np.load('y.npy')).shuffle(640)\n\
             data = tf.data.Dataset.zip((x, y)).map(lambda x, y: x + y){order}.batch(8)\n"
        )
    };
    let of_function = |shuffle: &str| {
        format!(
            "def load(shuffle=True):\n    data = {made}(np.load('x.npy'))\n    if shuffle:\n        \
             data = data.shuffle(640)\n    return data.batch(8)\n\n\ndata = load({shuffle})\n"
        )
    };
    let directory = |arguments: &str| {
        format!("data = tf.keras.utils.image_dataset_from_directory('x', label_mode=None{arguments})\n")
    };
    let cases = [
        // The seed of the split is that of rank 0.
        (split, true),
        // The images come in one order, whatever is done with the labels.
        (zipped(""), true),
        (zipped(".shuffle(640)"), false),
        (of_function("shuffle=False"), true),
        (of_function(""), false),
        (directory(""), false),
        (directory(", shuffle=False"), true),
        (directory(", seed=1"), true),
        ("data = tfds.load('mnist')['train'].shuffle(1000).batch(8)\n".to_owned(), false),
    ];
    for (data, is_one) in cases {
        let project = folder(&[("train.py", &program(&data))]);
        let said = run(project.path(), &["check", "--diff"]).stderr;
        assert!(said.contains("each rank trains on all of the data"), "{data}\n{said}");
        assert_eq!(said.contains("in the same order as the others"), is_one, "{data}\n{said}");
    }
}

#[test]
fn what_fix_can_mend_is_counted() {
    let project = folder(&[("a.py", FIXABLE)]);
    let answer = run(project.path(), &["check"]);
    assert!(answer.stdout.ends_with("Found 1 warning in 1 file; 1 fixable with --fix\n"), "{answer:#?}");
    assert_eq!(read(project.path(), "a.py"), FIXABLE.as_bytes());
}

#[test]
fn only_what_is_selected_not_suppressed_and_in_the_paths_is_fixed() {
    let project = folder(&[("a.py", FIXABLE), ("b.py", FIXABLE), ("hvdlint.toml", "")]);
    assert_eq!(run(project.path(), &["check", "--fix", "--ignore", "unused-suppression"]).status, 0);
    assert_eq!(read(project.path(), "a.py"), FIXABLE.as_bytes(), "not selected");
    assert_eq!(run(project.path(), &["check", "--fix", "b.py"]).status, 0);
    assert_eq!(read(project.path(), "a.py"), FIXABLE.as_bytes(), "not in the paths");
    assert_eq!(read(project.path(), "b.py"), FIXED.as_bytes());
}

/// A strategy stands in the way of distribution; the import does not.
const REFUSED: &str = "\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(optimizer='sgd', loss='mse')
import numpy as np
model.fit(np.ones([8, 4]), np.ones([8, 1]))
";

#[test]
fn a_program_that_can_not_be_distributed_stays_as_it_is() {
    let project = folder(&[("train.py", REFUSED.as_bytes())]);
    run(project.path(), &["check", "--fix"]);
    assert_eq!(read(project.path(), "train.py"), REFUSED.as_bytes());
    // Who asks for restrictions alone gets them.
    run(project.path(), &["check", "--fix", "--select", "import-not-at-top"]);
    assert!(read(project.path(), "train.py").starts_with(b"import tensorflow as tf\nimport numpy as np\n"));
}

#[test]
fn what_keeps_a_program_as_it_is_is_told_also_if_restrictions_could_be_fixed() {
    let text = "import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
model.compile(optimizer=optimizer, loss='mse')
import numpy as np
model.fit(np.ones([8, 4]), np.ones([8, 1]))
done = [np.save('weights.npy', model.get_weights()[0])]
";
    let project = folder(&[("train.py", text)]);
    let answer = run(project.path(), &["check", "--fix"]);
    assert_eq!(read(project.path(), "train.py"), text.as_bytes());
    // The place is that of the file as it is, not as it would be.
    let reason = "is left out: it would cause write-on-every-rank at train.py:7:9";
    assert!(answer.stderr.contains(reason), "{answer:#?}");
}

#[test]
fn what_is_of_the_time_of_tensorflow_1_is_left_alone() {
    let reason = "a Keras outside of TensorFlow, of the time of TensorFlow 1";
    let program = |import: &str, model: &str| {
        let text = format!(
            "import numpy as np\nfrom keras import backend as K\nfrom keras.layers import Dense, Input\n\
             from keras.models import Model\n{import}\ninputs = Input(shape=(4,))\n{model}\n\
             model.compile(loss='mse', optimizer='adam')\nmodel.fit(np.ones([8, 4]), np.ones([8, 1]))\n"
        );
        let project = folder(&[("train.py", text.as_bytes())]);
        run(project.path(), &["check"]).stdout.contains(reason)
    };
    let model = "model = Model(inputs, Dense(1)(inputs))";
    assert!(!program("", model));
    assert!(program("", "model = Model(input=inputs, output=Dense(1)(inputs))"));
    assert!(program("print(K.get_session().graph)", model));
    assert!(program("print(K.tf.__version__)", model));
}

#[test]
fn a_note_tells_of_no_draw_that_rank_0_makes_for_all() {
    let text = "import numpy as np\nimport tensorflow as tf\n\nx, y = np.load('x.npy'), np.load('y.npy')\n\
                order = np.random.permutation(len(x))\nx, y = x[order, :], y[order, :]\n\
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile('adam', 'mse')\n\
                model.fit(x[:100], y[:100], validation_data=(x[100:], y[100:]))\n";
    let project = folder(&[("train.py", text.as_bytes())]);
    let answer = run(project.path(), &["check", "--diff"]);
    assert!(answer.stdout.contains("np.random.RandomState(int(hvd.broadcast("), "{answer:#?}");
    assert!(!answer.stderr.contains("each rank chooses other examples"), "{answer:#?}");
}

#[test]
fn a_file_that_does_not_parse_is_left_alone() {
    let text = format!("{FIXABLE}def f(:\n");
    let project = folder(&[("train.py", text.as_str())]);
    let answer = run(project.path(), &["check", "--fix"]);
    assert_eq!(answer.status, 1);
    assert!(answer.stderr.contains("is left out: train.py does not parse"), "{answer:#?}");
    assert_eq!(read(project.path(), "train.py"), text.as_bytes());
}

#[test]
fn standard_input_comes_out_fixed() {
    let project = folder(&[("train.py", FIXABLE), ("hvdlint.toml", "")]);
    let given = |arguments: &[&str], bytes: &[u8]| {
        let mut command = hvdlint();
        command.current_dir(project.path()).arg("check").args(arguments).write_stdin(bytes);
        command.output().unwrap()
    };
    for name in
        [&["-"][..], &["-", "--stdin-filename", "train.py"], &["-", "--stdin-filename", "new/name.py"]]
    {
        for (kind, before, after) in kinds() {
            let output = given(&[&["--fix"], name].concat(), &before);
            assert_eq!(
                output.stdout.escape_ascii().to_string(),
                after.escape_ascii().to_string(),
                "{kind} {name:?}"
            );
            assert_eq!(output.status.code(), Some(0), "{kind}");
        }
    }
    assert_eq!(read(project.path(), "train.py"), FIXABLE.as_bytes(), "nothing is written");
    let broken = given(&["-", "--fix"], b"def f(:\n");
    assert_eq!((broken.status.code(), broken.stdout.as_slice()), (Some(1), &b"def f(:\n"[..]));
    assert!(String::from_utf8_lossy(&broken.stderr).contains("invalid-syntax"), "the report goes elsewhere");
    let diff = given(&["-", "--diff", "--stdin-filename", "pkg/a.py"], FIXABLE.as_bytes());
    assert!(diff.stdout.starts_with(b"--- a/pkg/a.py\n+++ b/pkg/a.py\n"), "{diff:?}");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn mode_and_owner_are_kept() {
        let project = folder(&[("train.py", FIXABLE)]);
        let path = project.path().join("train.py");
        set_mode(&path, 0o754);
        // Only some users may give files away.
        let _ = std::os::unix::fs::chown(&path, Some(12), Some(34));
        let before = fs::metadata(&path).unwrap();
        assert_eq!(run(project.path(), &["check", "--fix"]).status, 0);
        let after = fs::metadata(&path).unwrap();
        assert_ne!(before.ino(), after.ino(), "the file is replaced at once");
        let kept = |metadata: &fs::Metadata| (metadata.mode(), metadata.uid(), metadata.gid());
        assert_eq!(kept(&before), kept(&after));
        assert_eq!(read(project.path(), "train.py"), FIXED.as_bytes());
    }

    #[test]
    fn links_are_followed() {
        let elsewhere = folder(&[("real.txt", FIXABLE)]);
        let project = folder(&[("other.py", FIXED)]);
        symlink(elsewhere.path().join("real.txt"), project.path().join("train.py")).unwrap();
        assert_eq!(run(project.path(), &["check", "--fix"]).status, 0);
        assert!(fs::symlink_metadata(project.path().join("train.py")).unwrap().is_symlink());
        assert_eq!(read(elsewhere.path(), "real.txt"), FIXED.as_bytes());
    }

    #[test]
    fn what_is_read_only_is_left_alone_and_the_rest_is_fixed() {
        let project = folder(&[("a/train.py", FIXABLE), ("b.py", FIXABLE), ("c.py", FIXABLE)]);
        set_mode(&project.path().join("a"), 0o555);
        set_mode(&project.path().join("b.py"), 0o444);
        let answer = run(project.path(), &["check", "--fix"]);
        set_mode(&project.path().join("a"), 0o755);
        assert_eq!(answer.status, 2, "{answer:#?}");
        assert!(
            answer.stderr.contains("train.py: is in a read-only folder; it is left alone"),
            "{answer:#?}"
        );
        assert!(answer.stderr.contains("b.py: is read-only; it is left alone"), "{answer:#?}");
        assert!(
            answer.stdout.contains("Fixed 1 finding in 1 file. Found 2 warnings in 3 files"),
            "{answer:#?}"
        );
        for (name, bytes) in [("a/train.py", FIXABLE), ("b.py", FIXABLE), ("c.py", FIXED)] {
            assert_eq!(read(project.path(), name), bytes.as_bytes(), "{name}");
        }
    }

    #[test]
    fn two_names_of_one_file_are_fixed_once() {
        let project = folder(&[("train.py", FIXABLE)]);
        symlink("train.py", project.path().join("link.py")).unwrap();
        run(project.path(), &["check", "--fix"]);
        assert_eq!(read(project.path(), "train.py"), FIXED.as_bytes());
        assert_eq!(run(project.path(), &["check", "--fix"]).status, 0);
    }
}

#[test]
fn nothing_is_left_behind() {
    let project = folder(&[("train.py", FIXABLE)]);
    run(project.path(), &["check", "--fix"]);
    let names: Vec<_> =
        fs::read_dir(project.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["train.py"]);
}

#[test]
fn nothing_is_written_without_fix() {
    let project = folder(&[("train.py", FIXABLE)]);
    for arguments in [&["check"][..], &["check", "--unsafe-fixes"], &["check", "--diff"], &["loops"]] {
        run(project.path(), arguments);
        assert_eq!(read(project.path(), "train.py"), FIXABLE.as_bytes(), "{arguments:?}");
    }
}

#[test]
fn a_pipe_is_no_place_for_colors() {
    let project = folder(&[("train.py", FIXABLE)]);
    assert!(!run(project.path(), &["check", "--diff"]).stdout.contains('\u{1b}'));
    let colored =
        finish(hvdlint().current_dir(project.path()).args(["check", "--diff", "--color", "always"]));
    assert!(colored.stdout.contains("\u{1b}[31m-x = 1"), "{colored:#?}");
}
