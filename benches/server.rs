//! How long the language server takes to answer an edit in a project of a thousand files, from `didChange` to the
//! findings of the new text; how long until everything is known that the edit concerns; and how long a check of the
//! whole project takes beside it.
//!
//! The programs of a repository that have no file in common are independent: fifty programs of twenty files. Where
//! they share modules, or where all files are one program, the files near the edited one answer first, and all are
//! examined together as soon as nobody types: fifty programs of which each has ten of fifty modules, and one program of
//! a thousand files.

mod support;

use std::cell::Cell;
use std::fmt::{self, Write};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use divan::Bencher;
use hvdlint::checks::{CHECKS, RULES};
use hvdlint::examine::{Examined, Ignores, Wishes};
use hvdlint::project::{OpenOptions, Project, SelectOptions, Selection};
use hvdlint::{analysis, server};
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use tempfile::TempDir;

fn main() {
    support::run(0);
}

/// What a thousand files have to do with each other.
#[derive(Clone, Copy)]
enum Shape {
    /// Fifty programs with files of their own.
    Apart,
    /// Fifty programs with ten modules in common.
    Sharing,
    /// One program.
    One,
}

const SHAPES: [Shape; 3] = [Shape::Apart, Shape::Sharing, Shape::One];

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Apart => "fifty programs",
            Self::Sharing => "fifty programs that share modules",
            Self::One => "one program",
        })
    }
}

impl Shape {
    /// How many programs there are, how many modules each has, and how many all have.
    fn sizes(self) -> (usize, usize, usize) {
        match self {
            Self::Apart => (50, 19, 0),
            Self::Sharing => (50, 18, 50),
            Self::One => (1, 999, 0),
        }
    }
}

/// A project on the disk, and one of its files in the middle.
struct Subject {
    folder: TempDir,
    edited: PathBuf,
}

impl Subject {
    fn new(shape: Shape) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a project");
        let root = fs::canonicalize(folder.path()).expect("it is there");
        let write = |path: &str, text: String| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("there is room");
            fs::write(path, text).expect("there is room");
        };
        let (programs, own, shared) = shape.sizes();
        write("hvdlint.toml", String::new());
        for index in 0..shared {
            write(&format!("common/part_{index}.py"), module("common.part", "Part", index));
        }
        for program in 0..programs {
            for index in 0..own {
                write(&format!("program_{program}/layers_{index}.py"), module("layers", "Block", index));
            }
            write(&format!("program_{program}/train.py"), train(own, shared.min(10)));
        }
        let edited = root.join(format!("program_{}/layers_{}.py", programs / 2, own / 2));
        Self { folder, edited }
    }
}

/// A module of about forty lines that imports the one before it.
fn module(prefix: &str, class: &str, index: usize) -> String {
    let mut text = "import tensorflow as tf\n".to_owned();
    if index > 0 {
        let before = index - 1;
        writeln!(text, "from {prefix}_{before} import make_{before}").expect("memory");
    }
    for layer in 0..4 {
        write!(
            text,
            "class {class}{index}_{layer}(tf.keras.layers.Layer):\n    def __init__(self, units):\n        \
             super().__init__()\n        self.dense = tf.keras.layers.Dense(units)\n        \
             self.sizes = [units * step for step in range(3)]\n    def call(self, inputs):\n        \
             for size in self.sizes:\n            if size > 1:\n                \
             inputs = self.dense(inputs) + size\n        return inputs\n"
        )
        .expect("memory");
    }
    writeln!(text, "def make_{index}(units):\n    return {class}{index}_0(units)").expect("memory");
    text
}

fn train(own: usize, shared: usize) -> String {
    let mut text = "import tensorflow as tf\n".to_owned();
    for index in 0..own {
        writeln!(text, "from layers_{index} import make_{index}").expect("memory");
    }
    for index in 0..shared {
        writeln!(text, "from common.part_{index} import make_{index} as part_{index}").expect("memory");
    }
    text += "def build():\n    model = tf.keras.Sequential()\n";
    for index in 0..own {
        writeln!(text, "    model.add(make_{index}({index}))").expect("memory");
    }
    for index in 0..shared {
        writeln!(text, "    model.add(part_{index}({index}))").expect("memory");
    }
    text += "    return model\nmodel = build()\noptimizer = tf.keras.optimizers.SGD(0.1)\n\
             for images, labels in tf.data.Dataset.range(10):\n    with tf.GradientTape() as tape:\n        \
             loss = tf.reduce_mean(model(images) - labels)\n    \
             gradients = tape.gradient(loss, model.trainable_variables)\n    \
             optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n";
    text
}

/// A client that edits one document.
struct Editor {
    connection: Connection,
    uri: String,
    version: Cell<i32>,
}

impl Editor {
    fn new(subject: &Subject) -> Self {
        let (connection, other) = Connection::memory();
        thread::spawn(|| server::serve(other, support::STACK));
        let uri = |path: &Path| format!("file://{}", path.display());
        let editor = Self { connection, uri: uri(&subject.edited), version: Cell::new(1) };
        let folders = json!([{ "uri": uri(subject.folder.path()), "name": "project" }]);
        let parameters = json!({ "processId": null, "capabilities": {}, "workspaceFolders": folders });
        let request = Request::new(RequestId::from(1), "initialize".to_owned(), parameters);
        editor.send(request.into());
        editor.tell("initialized", json!({}));
        let text = fs::read_to_string(&subject.edited).expect("it was written");
        let item = json!({ "uri": editor.uri, "languageId": "python", "version": 1, "text": text });
        editor.tell("textDocument/didOpen", json!({ "textDocument": item }));
        editor.wait();
        editor
    }

    fn tell(&self, method: &str, parameters: Value) {
        self.send(Notification::new(method.to_owned(), parameters).into());
    }

    fn send(&self, message: Message) {
        self.connection.sender.send(message).expect("the server listens");
    }

    /// Waits for the findings of the document as it is now.
    fn wait(&self) {
        loop {
            if let Message::Notification(own) = self.connection.receiver.recv().expect("the server speaks")
                && own.params["uri"] == self.uri
                && own.params["version"] == self.version.get()
            {
                return;
            }
        }
    }

    /// Waits until everything is known: a request is answered out of nothing less.
    fn settle(&self) {
        let id = RequestId::from(self.version.get() + 1);
        let place = json!({ "textDocument": { "uri": self.uri }, "position": { "line": 0, "character": 0 } });
        self.send(Request::new(id.clone(), "textDocument/hover".to_owned(), place).into());
        loop {
            if let Message::Response(own) = self.connection.receiver.recv().expect("the server speaks")
                && own.id == id
            {
                return;
            }
        }
    }

    /// Writes a line into a function, or takes it out again.
    fn edit(&self) {
        let version = self.version.get() + 1;
        self.version.set(version);
        let (end, text) = if version % 2 == 0 { (8, "        units = units + 1\n") } else { (9, "") };
        let range = json!({ "start": { "line": 8, "character": 0 }, "end": { "line": end, "character": 0 } });
        let change = json!({
            "textDocument": { "uri": self.uri, "version": version },
            "contentChanges": [{ "range": range, "text": text }],
        });
        self.tell("textDocument/didChange", change);
        self.wait();
    }
}

/// Everything that `hvdlint check` does but write the report.
fn check(folder: &Path) -> usize {
    let options = OpenOptions { rules: RULES, ..OpenOptions::default() };
    let project = Project::open(&[folder.to_owned()], &options).expect("the project can be opened");
    let selection = Selection::new(project.config(), &SelectOptions::default(), RULES).expect("no choice");
    let work = |library: &_| {
        let wishes = Wishes {
            checks: CHECKS,
            library,
            selection: &selection,
            strict: false,
            confidence: project.config().confidence,
            ignores: Ignores::Obeyed,
            baseline: None,
            progress: None,
        };
        Examined::new(project.clone(), wishes).report.findings.len()
    };
    analysis::with_library(&project, work).expect("no rows")
}

/// From an edit to what is found then, after everything before it is known.
#[divan::bench(args = SHAPES, sample_count = 50, sample_size = 1)]
fn a_edit(bencher: Bencher<'_, '_>, shape: Shape) {
    let subject = Subject::new(shape);
    let editor = Editor::new(&subject);
    bencher.with_inputs(|| editor.settle()).bench_local_values(|()| editor.edit());
}

/// From an edit to all that it concerns.
#[divan::bench(args = SHAPES, sample_count = 20, sample_size = 1)]
fn b_everything(bencher: Bencher<'_, '_>, shape: Shape) {
    let subject = Subject::new(shape);
    let editor = Editor::new(&subject);
    bencher.bench_local(|| {
        editor.edit();
        editor.settle();
    });
}

/// A check of everything, with as many threads as there are cores.
#[divan::bench(args = SHAPES, sample_count = 10, sample_size = 1)]
fn c_check(bencher: Bencher<'_, '_>, shape: Shape) {
    let subject = Subject::new(shape);
    bencher.bench_local(|| check(subject.folder.path()));
}
