//! The language server as an editor meets it, over a connection in memory; `tests/server/` has the same with a client
//! of others over standard input and output.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hvdlint::finding::Applicability;
use hvdlint::server::{End, serve};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use support::{Files, folder, mended, root, run};

/// Long enough for the slowest machine; a test that waits so long fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// An editor that remembers what it is told.
struct Editor {
    connection: Connection,
    server: Option<JoinHandle<End>>,
    next: i32,
    /// What is found in each file, by the end of its URI.
    diagnostics: BTreeMap<String, Vec<Value>>,
    /// The same by the whole URI: several files may have one name.
    by_uri: BTreeMap<String, Vec<Value>>,
    /// All other messages of the server.
    told: Vec<Message>,
}

impl Editor {
    /// An editor with these folders open and this said of itself.
    fn new(folders: &[&Path], capabilities: &Value) -> Self {
        let (connection, other) = Connection::memory();
        let server = thread::spawn(|| serve(other, 16 << 20).unwrap());
        let mut editor = Self {
            connection,
            server: Some(server),
            next: 0,
            diagnostics: BTreeMap::new(),
            by_uri: BTreeMap::new(),
            told: Vec::new(),
        };
        let folders: Vec<Value> =
            folders.iter().map(|path| json!({ "uri": uri(path), "name": "folder" })).collect();
        let result = editor.ask(
            "initialize",
            json!({ "processId": null, "capabilities": capabilities, "workspaceFolders": folders }),
        );
        assert_eq!(result["serverInfo"]["name"], "hvdlint");
        editor.tell("initialized", json!({}));
        editor
    }

    /// An editor with one folder.
    fn with(folder: &Path) -> Self {
        Self::new(&[folder], &able())
    }

    fn tell(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification::new(method.to_owned(), params).into()).unwrap();
    }

    fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        self.connection.sender.send(Request::new(id.clone(), method.to_owned(), params).into()).unwrap();
        id
    }

    /// Waits until something is told of a file; gives what.
    fn hear_of(&mut self, path: &Path) -> Vec<Value> {
        self.by_uri.remove(&uri(path));
        loop {
            self.receive();
            if let Some(found) = self.by_uri.get(&uri(path)) {
                return found.clone();
            }
        }
    }

    fn receive(&mut self) -> Option<Response> {
        match self.connection.receiver.recv_timeout(PATIENCE).unwrap() {
            Message::Response(response) => return Some(response),
            Message::Notification(own) if own.method == "textDocument/publishDiagnostics" => {
                let name = own.params["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
                let list = own.params["diagnostics"].as_array().unwrap();
                self.diagnostics.insert(name, list.clone());
                self.by_uri.insert(own.params["uri"].as_str().unwrap().to_owned(), list.clone());
            }
            message => self.told.push(message),
        }
        None
    }

    fn answer(&mut self, id: &RequestId) -> Response {
        loop {
            if let Some(response) = self.receive()
                && response.id == *id
            {
                return response;
            }
        }
    }

    fn try_ask(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.send(method, params);
        let response = serde_json::to_value(self.answer(&id)).unwrap();
        match response.get("error") {
            None => Ok(response["result"].clone()),
            Some(error) => {
                let code = i32::try_from(error["code"].as_i64().unwrap()).unwrap();
                Err((code, error["message"].as_str().unwrap().to_owned()))
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, params).unwrap_or_else(|error| panic!("{method}: {error:?}"))
    }

    /// Waits until everything is known.
    fn settle(&mut self) {
        let position = json!({ "textDocument": { "uri": "file:///nowhere.py" }, "position": { "line": 0, "character": 0 } });
        self.ask("textDocument/hover", position);
    }

    fn open(&mut self, path: &Path, text: &str) {
        let item = json!({ "uri": uri(path), "languageId": "python", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": item }));
    }

    fn open_file(&mut self, path: &Path) {
        self.open(path, &fs::read_to_string(path).unwrap());
    }

    /// Replaces the whole text.
    fn change(&mut self, path: &Path, text: &str) {
        let document = json!({ "uri": uri(path), "version": 2 });
        let changes = json!([{ "text": text }]);
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    fn close(&mut self, path: &Path) {
        self.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri(path) } }));
    }

    fn files_changed(&mut self, changes: &[(&Path, u32)]) {
        let changes: Vec<Value> =
            changes.iter().map(|(path, kind)| json!({ "uri": uri(path), "type": kind })).collect();
        self.tell("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    }

    /// The names of the checks that found something in a file, with their lines from 1.
    fn found(&self, name: &str) -> Vec<String> {
        let list = self.diagnostics.get(name).map(Vec::as_slice).unwrap_or_default();
        list.iter().map(in_words).collect()
    }

    /// What is shown of each file that anything is found in.
    fn shown(&self) -> BTreeMap<&str, &[Value]> {
        let files = self.by_uri.iter().filter(|(_, list)| !list.is_empty());
        files.map(|(uri, list)| (uri.as_str(), list.as_slice())).collect()
    }

    fn actions(&mut self, path: &Path, line: u32, only: Option<&str>) -> Vec<Value> {
        let place = json!({ "line": line, "character": 0 });
        let end = json!({ "line": line, "character": 200 });
        let mut context = json!({ "diagnostics": [] });
        if let Some(only) = only {
            context["only"] = json!([only]);
        }
        let params = json!({ "textDocument": { "uri": uri(path) }, "range": { "start": place, "end": end }, "context": context });
        self.ask("textDocument/codeAction", params).as_array().unwrap().clone()
    }

    /// The action whose title begins so, with its edit.
    fn action(&mut self, path: &Path, line: u32, title: &str) -> Value {
        let actions = self.actions(path, line, None);
        let found = actions.iter().find(|action| action["title"].as_str().unwrap().starts_with(title));
        let action = found.unwrap_or_else(|| panic!("{title} is not among {actions:#?}"));
        self.ask("codeAction/resolve", action.clone())
    }

    fn stop(mut self) -> End {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        self.server.take().unwrap().join().unwrap()
    }
}

/// The line of a diagnostic, from 1, and its check.
fn in_words(own: &Value) -> String {
    let line = own["range"]["start"]["line"].as_u64().unwrap() + 1;
    format!("{line}: {}", own["code"].as_str().unwrap_or("?"))
}

/// What the usual editor says that it can do.
fn able() -> Value {
    json!({
        "workspace": {
            "workspaceEdit": { "documentChanges": true },
            "didChangeWatchedFiles": { "dynamicRegistration": true },
            "workspaceFolders": true,
        },
        "textDocument": {
            "publishDiagnostics": { "relatedInformation": true },
            "codeAction": { "resolveSupport": { "properties": ["edit"] }, "dataSupport": true },
            "hover": { "contentFormat": ["markdown", "plaintext"] },
        },
    })
}

fn uri(path: &Path) -> String {
    let text = path.to_str().unwrap();
    if text.contains(':') { text.to_owned() } else { format!("file://{}", text.replace(' ', "%20")) }
}

/// Makes an action's edits in texts.
fn applied(edit: &Value, files: &mut Files) {
    let documents = edit["documentChanges"].as_array().unwrap();
    for document in documents {
        let uri = document["textDocument"]["uri"].as_str().unwrap();
        let name = files.keys().find(|name| uri.ends_with(&format!("/{name}"))).unwrap().clone();
        let text = &files[&name];
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let byte = |place: &Value| {
            let line = usize::try_from(place["line"].as_u64().unwrap()).unwrap();
            let column = usize::try_from(place["character"].as_u64().unwrap()).unwrap();
            starts.get(line).map_or(text.len(), |start| start + column)
        };
        let mut changed = text.clone();
        for own in document["edits"].as_array().unwrap().iter().rev() {
            let range = byte(&own["range"]["start"])..byte(&own["range"]["end"]);
            changed.replace_range(range, own["newText"].as_str().unwrap());
        }
        files.insert(name, changed);
    }
}

fn fixture(name: &str) -> Files {
    fn add(place: &Path, prefix: &str, files: &mut Files) {
        for entry in fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() {
                add(&path, &format!("{name}/"), files);
            } else if path.extension().is_some_and(|ending| ending == "py") {
                files.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut files = Files::new();
    add(&root().join("fixtures").join(name), "", &mut files);
    files
}

fn written(files: &Files) -> tempfile::TempDir {
    let mut list: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    list.push(("hvdlint.toml", ""));
    folder(&list)
}

/// What `hvdlint check` finds in each file.
fn checked(place: &Path) -> BTreeMap<String, Vec<String>> {
    let report = run(place, &["check", "--output", "json", "."]).json();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for finding in report["findings"].as_array().unwrap() {
        let path = finding["path"].as_str().unwrap().to_owned();
        let line = finding["start"]["line"].as_u64().unwrap();
        found.entry(path).or_default().push(format!("{line}: {}", finding["name"].as_str().unwrap()));
    }
    found
}

const TRAIN: &str = "\
import tensorflow as tf
from model import build
model = build()
optimizer = tf.keras.optimizers.SGD(0.1)
for images, labels in tf.data.Dataset.range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images) - labels)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
";

const MODEL: &str = "\
import tensorflow as tf
def build():
    return tf.keras.Sequential([tf.keras.layers.Dense(1)])
";

/// The same with an import in a place where restrictions forbid it.
const LATE: &str = "\
def build():
    import tensorflow as tf
    return tf.keras.Sequential([tf.keras.layers.Dense(1)])
";

#[test]
fn unsaved_text_counts_in_all_files() {
    let place = folder(&[("train.py", TRAIN), ("model.py", MODEL), ("other.py", "x = 1\n")]);
    let model = place.path().join("model.py");
    let mut editor = Editor::with(place.path());
    editor.settle();
    let at_first = editor.diagnostics.clone();
    assert_eq!(
        editor.found("train.py"),
        checked(place.path())["train.py"],
        "files that are not open count too"
    );
    assert_eq!(editor.found("model.py"), [""; 0]);

    editor.open(&model, LATE);
    editor.settle();
    assert_eq!(editor.found("model.py"), ["2: import-not-at-top"]);
    editor.change(&model, "def build():\n    return (\n");
    editor.settle();
    assert!(
        editor.found("model.py").iter().any(|found| found.contains("invalid-syntax")),
        "{:?}",
        editor.diagnostics
    );
    editor.close(&model);
    editor.settle();
    assert_eq!(editor.found("model.py"), [""; 0], "what was not saved is gone");
    assert_eq!(editor.diagnostics["train.py"], at_first["train.py"]);
    assert!(
        !editor.diagnostics.contains_key("other.py"),
        "nothing is said of a file that nothing is found in"
    );
    assert_eq!(editor.stop(), End::Orderly);
}

#[test]
fn an_edit_changes_what_is_found_in_another_file() {
    let place = folder(&[("train.py", TRAIN), ("model.py", MODEL)]);
    let train = place.path().join("train.py");
    let mut editor = Editor::with(place.path());
    editor.open(&place.path().join("model.py"), LATE);
    editor.open(&train, TRAIN);
    editor.settle();
    assert_eq!(editor.found("model.py"), ["2: import-not-at-top"]);
    // Without a training program nothing is asked of the model.
    editor.change(&train, "print('nothing')\n");
    editor.settle();
    let alone = folder(&[("train.py", "print('nothing')\n"), ("model.py", LATE)]);
    let expected = checked(alone.path()).remove("model.py").unwrap_or_default();
    assert_eq!(editor.found("model.py"), expected);
    editor.change(&train, TRAIN);
    editor.settle();
    assert_eq!(editor.found("model.py"), ["2: import-not-at-top"]);
}

/// Nobody asks for anything here: what other files have to do with an edit is found out by itself.
#[test]
fn the_programs_of_an_edited_file_speak_first() {
    let place = written(&sharing_programs());
    let own = place.path().join("sharing");
    let (made, train) = (own.join("own.py"), own.join("train_0.py"));
    let text =
        "import tensorflow as tf\n\ndef make():\n    own = tf.keras.optimizers.SGD(0.1)\n    return own\n";
    fs::write(&made, text).unwrap();
    let program = fs::read_to_string(&train).unwrap();
    let program = program.replace("tf.keras.optimizers.SGD(0.1)", "own.make()");
    let program = format!("import own\n{program}");
    fs::write(&train, &program).unwrap();
    let mut editor = Editor::with(place.path());
    editor.open_file(&train);
    editor.settle();
    assert_eq!(editor.found("own.py"), ["4: learning-rate-not-scaled"]);
    // Without a training program nothing is asked of the optimizer.
    editor.change(&train, "import own\nprint(\n");
    editor.hear_of(&train);
    assert!(editor.found("train_0.py").iter().any(|found| found.contains("invalid-syntax")));
    assert_eq!(editor.found("own.py").len(), 1, "the programs of the edited file come first");
    editor.hear_of(&made);
    assert!(editor.found("own.py").is_empty());
    editor.change(&train, &program);
    editor.hear_of(&made);
    assert_eq!(editor.found("own.py"), ["4: learning-rate-not-scaled"]);
    assert_eq!(editor.stop(), End::Orderly);
}

#[test]
fn a_quick_fix_is_what_fix_does() {
    let unused = format!("{MODEL}# hvdlint: ignore-file[import-not-at-top] -- it was once needed\n");
    let lazy =
        MODEL.replace("    return", "    import json\n    print(json)\n    return").replace("def", "\ndef");
    let cases = [
        ("import-not-at-top", LATE, 1, Applicability::Safe),
        ("import-not-at-top", lazy.as_str(), 3, Applicability::Unsafe),
        ("unused-suppression", unused.as_str(), 3, Applicability::Safe),
    ];
    for (check, text, line, applicability) in cases {
        let files = Files::from([
            ("train.py".to_owned(), TRAIN.to_owned()),
            ("model.py".to_owned(), text.to_owned()),
        ]);
        let place = written(&files);
        let model = place.path().join("model.py");
        let mut editor = Editor::with(place.path());
        editor.open(&model, text);
        let actions = editor.actions(&model, line, Some("quickfix"));
        let action = actions[0].clone();
        assert!(action.get("edit").is_none(), "edits are found out when they are wanted");
        let title = action["title"].as_str().unwrap();
        assert_eq!(title.ends_with(" (unsafe)"), applicability == Applicability::Unsafe, "{title}");
        assert_eq!(action["isPreferred"] == true, applicability == Applicability::Safe, "{title}");
        let action = editor.ask("codeAction/resolve", action);
        let mut after = files.clone();
        applied(&action["edit"], &mut after);
        assert_ne!(after, files);
        let by_fix = mended(&files, applicability, Some("import-not-at-top,unused-suppression"));
        assert_eq!(after, by_fix, "{check}");
        assert_eq!(action["edit"]["documentChanges"][0]["textDocument"]["version"], 1);
    }
}

#[test]
fn edits_come_at_once_where_the_client_can_not_ask_for_them() {
    let place = folder(&[("train.py", TRAIN), ("model.py", LATE)]);
    let model = place.path().join("model.py");
    let mut editor = Editor::new(&[place.path()], &json!({}));
    editor.open(&model, LATE);
    let actions = editor.actions(&model, 1, Some("quickfix"));
    assert!(!actions.is_empty());
    for action in actions {
        let edits = &action["edit"]["changes"][uri(&model)];
        assert!(!edits.as_array().unwrap().is_empty(), "{action:#?}");
    }
}

#[test]
fn a_program_is_distributed_over_all_its_files_at_once() {
    for name in ["tape-trainer-class", "tape-package", "fit-callbacks-function", "tape-rate-in-loop"] {
        let files = fixture(name);
        let place = written(&files);
        let mut editor = Editor::with(place.path());
        editor.settle();
        let (file, list) = editor
            .diagnostics
            .iter()
            .find(|(_, list)| {
                list.iter().any(|own| own["code"] == "horovod-not-initialized" || own["severity"] == 2)
            })
            .map(|(file, list)| (file.clone(), list.clone()))
            .unwrap();
        let path = files.keys().find(|name| name.ends_with(&file)).unwrap();
        let line = u32::try_from(list[0]["range"]["start"]["line"].as_u64().unwrap()).unwrap();
        let action = editor.action(&place.path().join(path), line, "Distribute ");
        let mut after = files.clone();
        applied(&action["edit"], &mut after);
        let by_fix = mended(&files, Applicability::Safe, None);
        assert_ne!(by_fix, files, "{name}");
        assert_eq!(after, by_fix, "{name}");

        // The command sends the same edit.
        let source = editor.actions(&place.path().join(path), 0, Some("source"));
        assert!(source.iter().any(|action| action["kind"] == "source.distribute.hvdlint"), "{source:#?}");
        let entry = uri(&place.path().join(path));
        let told = editor.told.len();
        editor.ask(
            "workspace/executeCommand",
            json!({ "command": "hvdlint.distribute", "arguments": [entry] }),
        );
        let asked = editor.told[told..].iter().find_map(|message| match message {
            Message::Request(request) if request.method == "workspace/applyEdit" => {
                Some(request.params.clone())
            }
            _ => None,
        });
        assert_eq!(asked.unwrap()["edit"], action["edit"], "{name}");
    }
}

#[test]
fn what_can_not_be_distributed_says_why() {
    let files = fixture("refused-tape-and-fit");
    let place = written(&files);
    let mut editor = Editor::with(place.path());
    let name = files.keys().next().unwrap();
    let argument = uri(&place.path().join(name));
    let params = json!({ "command": "hvdlint.distribute", "arguments": [argument] });
    let (code, reason) = editor.try_ask("workspace/executeCommand", params).unwrap_err();
    assert_eq!(code, ErrorCode::RequestFailed as i32);
    assert!(reason.contains(' '), "{reason}");
    let asked = editor
        .told
        .iter()
        .any(|message| matches!(message, Message::Request(own) if own.method.contains("Edit")));
    assert!(!asked, "half a program is never written");
}

#[test]
fn a_comment_suppresses_a_finding() {
    let files =
        Files::from([("train.py".to_owned(), TRAIN.to_owned()), ("model.py".to_owned(), LATE.to_owned())]);
    let place = written(&files);
    let model = place.path().join("model.py");
    let mut editor = Editor::with(place.path());
    editor.open(&model, LATE);
    let action = editor.action(&model, 1, "Ignore import-not-at-top here");
    let mut after = files.clone();
    applied(&action["edit"], &mut after);
    assert!(
        after["model.py"].contains("    # hvdlint: ignore[import-not-at-top] -- "),
        "{}",
        after["model.py"]
    );
    editor.change(&model, &after["model.py"]);
    editor.settle();
    assert_eq!(editor.found("model.py"), [""; 0]);
}

#[test]
fn pages_and_related_places_are_at_the_finding() {
    let files = fixture("mnist");
    let place = written(&files);
    let model = place.path().join("model.py");
    let mut editor = Editor::with(place.path());
    editor.open_file(&model);
    editor.settle();
    let own = editor.diagnostics["model.py"][0].clone();
    let at = json!({ "textDocument": { "uri": uri(&model) }, "position": own["range"]["start"] });
    let hover = editor.ask("textDocument/hover", at.clone());
    let page =
        fs::read_to_string(root().join(format!("checks/{}.md", own["code"].as_str().unwrap()))).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().starts_with(page.trim_end()));
    assert_eq!(hover["contents"]["kind"], "markdown");
    let related = own["relatedInformation"].as_array().unwrap();
    assert!(!related.is_empty());
    let places = editor.ask("textDocument/definition", at);
    let expected: Vec<Value> = related.iter().map(|place| place["location"].clone()).collect();
    assert_eq!(places, Value::Array(expected));
    let elsewhere =
        json!({ "textDocument": { "uri": uri(&model) }, "position": { "line": 0, "character": 0 } });
    assert_eq!(editor.ask("textDocument/definition", elsewhere.clone()), Value::Null);
    assert_eq!(editor.ask("textDocument/hover", elsewhere), Value::Null);
}

#[test]
fn characters_are_counted_as_the_client_wants() {
    let text = "def build():\n    '🙂'; import tensorflow as tf; return tf.keras.Sequential([])\n";
    for (offered, name, character) in [
        (json!([]), "utf-16", 10),
        (json!(["utf-16", "utf-8"]), "utf-8", 12),
        (json!(["utf-32"]), "utf-32", 9),
    ] {
        let place = folder(&[("train.py", TRAIN), ("model.py", text)]);
        let mut capabilities = able();
        capabilities["general"] = json!({ "positionEncodings": offered });
        let mut editor = Editor::new(&[place.path()], &capabilities);
        editor.settle();
        assert_eq!(editor.diagnostics["model.py"][0]["range"]["start"]["character"], character, "{name}");
        // A change in the same line is understood in the same units.
        let model = place.path().join("model.py");
        editor.open(&model, text);
        let range = json!({ "start": { "line": 1, "character": character }, "end": { "line": 1, "character": character + 7 } });
        let document = json!({ "uri": uri(&model), "version": 2 });
        let changes = json!([{ "range": range, "text": "x = 1; " }]);
        editor.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
        editor.settle();
        assert!(editor.found("model.py").iter().all(|found| found.contains("invalid-syntax")), "{name}");
    }
}

#[test]
fn files_come_and_go() {
    let place = folder(&[("train.py", TRAIN), ("model.py", LATE)]);
    let model = place.path().join("model.py");
    let net = place.path().join("net.py");
    let mut editor = Editor::with(place.path());
    editor.settle();
    assert_eq!(editor.found("model.py"), ["2: import-not-at-top"]);
    let registered = editor
        .told
        .iter()
        .any(|message| matches!(message, Message::Request(own) if own.method == "client/registerCapability"));
    assert!(registered, "the server wants to know about files");

    fs::rename(&model, &net).unwrap();
    editor.files_changed(&[(&model, 3), (&net, 1)]);
    editor.settle();
    assert_eq!(editor.found("model.py"), [""; 0], "it is gone");
    assert_eq!(editor.found("net.py"), checked(place.path()).remove("net.py").unwrap_or_default());

    fs::write(&net, MODEL).unwrap();
    fs::write(&model, LATE).unwrap();
    editor.files_changed(&[(&net, 2), (&model, 1)]);
    editor.settle();
    assert_eq!(editor.found("model.py"), ["2: import-not-at-top"]);
    fs::write(&model, MODEL).unwrap();
    editor.files_changed(&[(&model, 2)]);
    editor.settle();
    assert_eq!(editor.found("model.py"), [""; 0]);
}

#[test]
fn the_configuration_is_read_again() {
    let place = folder(&[("train.py", TRAIN), ("model.py", LATE), ("hvdlint.toml", "")]);
    let config = place.path().join("hvdlint.toml");
    let mut editor = Editor::with(place.path());
    editor.settle();
    assert_eq!(editor.found("model.py"), ["2: import-not-at-top"]);
    fs::write(&config, "ignore = ['import-not-at-top']\n").unwrap();
    editor.files_changed(&[(&config, 2)]);
    editor.settle();
    assert_eq!(editor.found("model.py"), [""; 0]);

    fs::write(&config, "ignore = []\nignroe = []\n").unwrap();
    editor.tell("textDocument/didSave", json!({ "textDocument": { "uri": uri(&config) } }));
    editor.settle();
    assert_eq!(editor.found("hvdlint.toml"), ["2: ?"]);
    assert_eq!(editor.found("model.py"), [""; 0], "what is known stays");
    fs::write(&config, "").unwrap();
    editor.files_changed(&[(&config, 2)]);
    editor.settle();
    assert_eq!(editor.found("hvdlint.toml"), [""; 0]);
    assert_eq!(editor.found("model.py"), ["2: import-not-at-top"]);
}

#[test]
fn several_folders_and_documents_in_none() {
    let one = folder(&[("train.py", TRAIN), ("model.py", LATE), ("hvdlint.toml", "")]);
    let two = folder(&[("main.py", TRAIN), ("model.py", MODEL), ("hvdlint.toml", "")]);
    let three = folder(&[("lone.py", TRAIN), ("model.py", LATE)]);
    let mut editor = Editor::new(&[one.path(), two.path()], &able());
    editor.settle();
    assert_eq!(editor.found("train.py"), checked(one.path())["train.py"]);
    assert_eq!(editor.found("main.py"), checked(two.path())["main.py"]);

    let lone = three.path().join("lone.py");
    editor.open(&lone, TRAIN);
    editor.open(Path::new("untitled:Untitled-1"), TRAIN);
    editor.open(Path::new("git:/main.py?ref"), TRAIN);
    editor.settle();
    let of_lone = checked(three.path()).remove("lone.py").unwrap();
    assert_eq!(editor.found("lone.py"), of_lone);
    assert!(!editor.found("untitled:Untitled-1").is_empty());
    assert!(!editor.diagnostics.contains_key("main.py?ref"), "another version of a file is not analysed");
    editor.close(&lone);
    editor.close(Path::new("untitled:Untitled-1"));
    editor.settle();
    assert_eq!(editor.found("lone.py"), [""; 0]);
    assert_eq!(editor.found("untitled:Untitled-1"), [""; 0]);

    let gone = json!({ "uri": uri(one.path()), "name": "one" });
    editor
        .tell("workspace/didChangeWorkspaceFolders", json!({ "event": { "added": [], "removed": [gone] } }));
    editor.settle();
    assert_eq!(editor.found("train.py"), [""; 0]);
    assert!(!editor.found("main.py").is_empty());
}

#[test]
fn bytes_that_are_no_text_are_a_finding_until_the_editor_has_a_text() {
    let place = folder(&[
        ("train.py", TRAIN.as_bytes()),
        ("model.py", &b"import tensorflow as tf\nx = '\xff'\n"[..]),
    ]);
    let model = place.path().join("model.py");
    let mut editor = Editor::with(place.path());
    editor.settle();
    assert_eq!(editor.found("model.py"), ["2: invalid-syntax"]);
    editor.open(&model, MODEL);
    editor.settle();
    assert_eq!(editor.found("model.py"), [""; 0]);
    editor.close(&model);
    editor.settle();
    assert_eq!(editor.found("model.py"), ["2: invalid-syntax"]);
}

#[test]
fn a_file_that_is_not_saved_yet_is_part_of_the_project() {
    let place = folder(&[("train.py", TRAIN)]);
    let model = place.path().join("with space").join("model.py");
    let mut editor = Editor::with(place.path());
    fs::create_dir(place.path().join("with space")).unwrap();
    editor.open(&model, "import tensorflow as tf\nx = (\n");
    editor.settle();
    assert_eq!(editor.found("model.py").len(), 1);
    editor.close(&model);
    editor.settle();
    assert_eq!(editor.found("model.py"), [""; 0]);
}

#[test]
fn requests_are_answered_in_any_case() {
    let place = folder(&[("train.py", TRAIN), ("model.py", LATE)]);
    let mut editor = Editor::with(place.path());
    let code = |answer: Result<Value, (i32, String)>| answer.unwrap_err().0;
    assert_eq!(code(editor.try_ask("no/such", Value::Null)), ErrorCode::MethodNotFound as i32);
    assert_eq!(
        code(editor.try_ask("textDocument/hover", json!({ "x": 1 }))),
        ErrorCode::InvalidParams as i32
    );
    let unknown = json!({ "command": "hvdlint.fly", "arguments": [] });
    assert_eq!(code(editor.try_ask("workspace/executeCommand", unknown)), ErrorCode::InvalidParams as i32);
    // What can't be read does no harm.
    editor.tell("textDocument/didOpen", json!({ "nothing": true }));
    editor.tell("no/such", Value::Null);
    editor.settle();
    assert_eq!(editor.found("model.py"), ["2: import-not-at-top"]);
}

#[test]
fn what_nobody_waits_for_is_not_answered_with_a_result() {
    let place = folder(&[("train.py", TRAIN), ("model.py", LATE)]);
    let model = place.path().join("model.py");
    let mut editor = Editor::with(place.path());
    editor.open(&model, LATE);
    let at = json!({ "textDocument": { "uri": uri(&model) }, "position": { "line": 1, "character": 6 } });
    // The analysis of the folder comes first, so that there is time for both.
    let id = editor.send("textDocument/hover", at.clone());
    editor.tell("$/cancelRequest", json!({ "id": 2 }));
    let response = serde_json::to_value(editor.answer(&id)).unwrap();
    assert_eq!(response["error"]["code"], ErrorCode::RequestCanceled as i32, "{response}");
    let id = editor.send("textDocument/hover", at.clone());
    editor.change(&model, MODEL);
    let response = serde_json::to_value(editor.answer(&id)).unwrap();
    let is_old = response["error"]["code"] == ErrorCode::ContentModified as i32;
    assert!(is_old || response["result"].is_object(), "{response}");
    editor.settle();
    assert_eq!(editor.found("model.py"), [""; 0], "the last text counts");
    // What is answered already can't be cancelled, and what is not known neither.
    editor.tell("$/cancelRequest", json!({ "id": 2 }));
    editor.tell("$/cancelRequest", json!({ "id": "unknown" }));
    assert_eq!(editor.ask("textDocument/hover", at), Value::Null);
}

#[test]
fn the_end_is_as_the_protocol_says() {
    let place = folder(&[("train.py", TRAIN), ("model.py", MODEL)]);
    let mut editor = Editor::with(place.path());
    assert_eq!(editor.ask("shutdown", Value::Null), Value::Null);
    let late = editor.try_ask("textDocument/hover", Value::Null);
    assert_eq!(late.unwrap_err().0, ErrorCode::InvalidRequest as i32);
    editor.tell("exit", Value::Null);
    assert_eq!(editor.server.take().unwrap().join().unwrap(), End::Orderly);

    let mut editor = Editor::with(place.path());
    editor.tell("exit", Value::Null);
    assert_eq!(editor.server.take().unwrap().join().unwrap(), End::Abrupt, "`exit` without `shutdown`");

    let mut editor = Editor::with(place.path());
    let server = editor.server.take();
    drop(editor);
    assert_eq!(server.unwrap().join().unwrap(), End::Abrupt, "the client is gone");
}

#[test]
fn nothing_is_answered_before_initialize() {
    let (connection, other) = Connection::memory();
    let server = thread::spawn(|| serve(other, 16 << 20).unwrap());
    let request = Request::new(RequestId::from(1), "textDocument/hover".to_owned(), json!({}));
    connection.sender.send(request.into()).unwrap();
    let answer = serde_json::to_value(connection.receiver.recv_timeout(PATIENCE).unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], ErrorCode::ServerNotInitialized as i32);
    connection.sender.send(Notification::new("exit".to_owned(), Value::Null).into()).unwrap();
    assert_eq!(server.join().unwrap(), End::Abrupt);
}

/// A small generator of numbers, so that a failure can be made again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Three programs that share modules with more layers than are told apart: what is found in one depends on the order in
/// which everything is analysed.
fn sharing_programs() -> Files {
    let mut files = Files::new();
    for index in 0..4 {
        let mut text = "import tensorflow as tf\n".to_owned();
        for layer in 0..10 {
            write!(
                text,
                "class Block{layer}(tf.keras.layers.Layer):\n    def __init__(self, units):\n        \
                 super().__init__()\n        self.first = tf.keras.layers.Dense(units)\n        \
                 self.second = tf.keras.layers.Dense({layer})\n    def call(self, inputs):\n        \
                 return self.second(self.first(inputs))\n"
            )
            .unwrap();
        }
        text += "def build(units):\n    print('build')\n    return tf.keras.Sequential([Block0(units), Block1(2)])\n";
        files.insert(format!("sharing/part_{index}.py"), text);
    }
    for index in 0..3 {
        let imports = format!("from part_{index} import build\nfrom part_3 import build as other\n");
        let text = TRAIN.replace("from model import build\n", &imports).replace("build()", "build(1)");
        files.insert(format!("sharing/train_{index}.py"), text + "print(other(index))\n");
    }
    files
}

/// The text after an edit as people make them.
fn edited(text: &str, others: &[String], dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = dice.roll(lines.len().max(1));
    let line = lines.get(at).cloned().unwrap_or_default();
    let indentation = line[..line.len() - line.trim_start().len()].to_owned();
    let mut insert = |text: String| lines.insert(at, text);
    match dice.roll(10) {
        0 if !line.is_empty() => drop(lines.remove(at)),
        1 => insert(others[dice.roll(others.len())].clone()),
        2 => insert("# a comment".to_owned()),
        3 => lines.insert(0, "import tape_trainer_class.trainer".to_owned()),
        4 if !line.is_empty() => lines[at] = format!("{line}  # hvdlint: ignore"),
        5 if !line.is_empty() => {
            let next =
                |digit: char| digit.to_digit(10).and_then(|digit| char::from_digit((digit + 1) % 10, 10));
            lines[at] = line.chars().map(|own| next(own).unwrap_or(own)).collect();
        }
        6 => insert(format!("{indentation}print(tape_trainer_class)")),
        7 => insert(format!("{indentation}value = build(1)")),
        8 => insert(format!("{indentation}import tensorflow as tf")),
        // Half a line, as it is while somebody types.
        _ if !line.is_empty() => lines[at] = line.chars().take(line.chars().count() / 2).collect(),
        _ => insert(String::new()),
    }
    lines.join("\n") + "\n"
}

/// After any edits what the editor shows is what a check of the same texts finds, and to the last word what it shows when
/// it is started anew.
#[test]
fn edits_come_to_the_same_as_a_check_of_everything() {
    let names =
        ["tape-trainer-class", "mnist", "tape-two-programs", "object-variable-reused", "import-not-at-top"];
    let mut files = sharing_programs();
    for name in names {
        for (path, text) in fixture(name) {
            files.insert(format!("{}/{path}", name.replace('-', "_")), text);
        }
    }
    let place = written(&files);
    let mut editor = Editor::with(place.path());
    let paths: Vec<PathBuf> = files.keys().map(|name| place.path().join(name)).collect();
    let mut texts: Vec<String> = files.values().cloned().collect();
    for path in &paths {
        editor.open_file(path);
    }
    let lines: Vec<String> = texts.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
    let mut dice = Dice(7);
    for round in 0..30 {
        let mut last = 0;
        for _ in 0..=dice.roll(3) {
            let own = dice.roll(texts.len());
            last = own;
            texts[own] = edited(&texts[own], &lines, &mut dice);
            editor.change(&paths[own], &texts[own]);
        }
        if dice.roll(2) == 0 {
            editor.hear_of(&paths[last]);
        }
        editor.settle();
        for (path, text) in paths.iter().zip(&texts) {
            fs::write(path, text).unwrap();
        }
        let mut fresh = Editor::with(place.path());
        fresh.settle();
        assert_eq!(editor.shown(), fresh.shown(), "round {round}");
        if round % 3 > 0 {
            continue;
        }
        let report = run(place.path(), &["check", "--output", "json", "."]).json();
        let mut expected: Vec<String> = Vec::new();
        for finding in report["findings"].as_array().unwrap() {
            let (path, line) = (finding["path"].as_str().unwrap(), &finding["start"]["line"]);
            expected.push(format!("{path}:{line}: {}", finding["name"].as_str().unwrap()));
        }
        let root = format!("{}/", uri(place.path()));
        let shown = editor.shown().into_iter().flat_map(|(uri, list)| {
            let path = uri.strip_prefix(&root).unwrap().to_owned();
            list.iter().map(|own| format!("{path}:{}", in_words(own))).collect::<Vec<_>>()
        });
        let mut shown: Vec<String> = shown.collect();
        expected.sort();
        shown.sort();
        assert_eq!(shown, expected, "round {round}");
    }
}

#[test]
fn what_is_found_in_a_file_is_told_as_the_editor_spells_it() {
    let place = folder(&[("a+b.py", "def (\n")]);
    let mut editor = Editor::with(place.path());
    editor.settle();
    assert_eq!(editor.shown().len(), 1, "it is not open yet");
    let spelt = uri(&place.path().canonicalize().unwrap().join("a+b.py")).replace('+', "%2B");
    let item = json!({ "uri": spelt, "languageId": "python", "version": 1, "text": "def (\n" });
    editor.tell("textDocument/didOpen", json!({ "textDocument": item }));
    editor.settle();
    assert_eq!(editor.shown().keys().collect::<Vec<_>>(), [&spelt]);
    assert_eq!(editor.stop(), End::Orderly);
}
