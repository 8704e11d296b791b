//! What the client tells: documents, files and folders that come, change and go.

use lsp_server::Notification;
use lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidChangeWorkspaceFolders,
    DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Initialized, Notification as _,
};
use lsp_types::request::{RegisterCapability, Request as _};
use lsp_types::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWatchedFilesRegistrationOptions,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, FileChangeType, FileSystemWatcher, GlobPattern, MessageType, Registration,
    RegistrationParams,
};
use serde::de::DeserializeOwned;

use std::path::Path;

use super::documents::Document;
use super::paths::Place;
use super::session::Session;

/// The files besides Python's that decide what is analysed, and how.
const DECIDING: [&str; 5] = ["hvdlint.toml", "pyproject.toml", ".gitignore", ".ignore", "pyvenv.cfg"];

/// Whether a file decides what is analysed, or how.
fn decides(path: &Path) -> bool {
    path.file_name().is_some_and(|name| DECIDING.iter().any(|deciding| name == *deciding))
}

impl Session {
    /// Takes down what has happened; what follows from it is found out when nothing else is waiting.
    pub(super) fn notified(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        let result = match method.as_str() {
            DidOpenTextDocument::METHOD => read(params).map(|params| self.opened(params)),
            DidChangeTextDocument::METHOD => read(params).map(|params| self.changed(params)),
            DidCloseTextDocument::METHOD => read(params).map(|params| self.closed(&params)),
            DidSaveTextDocument::METHOD => read(params).map(|params| self.saved(&params)),
            DidChangeWatchedFiles::METHOD => read(params).map(|params| self.files_changed(&params)),
            DidChangeWorkspaceFolders::METHOD => read(params).map(|params| self.folders_changed(&params)),
            DidChangeConfiguration::METHOD => {
                self.everything_changed();
                Ok(())
            }
            Initialized::METHOD => {
                self.initialized();
                Ok(())
            }
            // The protocol lets a server ignore what it does not know.
            _ => Ok(()),
        };
        if let Err(error) = result {
            self.log(MessageType::WARNING, format!("{method} can't be read: {error}"));
        }
    }

    /// Asks to be told about files that change outside of the editor.
    fn initialized(&mut self) {
        if !self.client.watches_files {
            return;
        }
        let globs = ["**/*.{py,pyi}".to_owned()].into_iter();
        let globs = globs.chain(DECIDING.iter().map(|name| format!("**/{name}")));
        let watcher = |glob| FileSystemWatcher { glob_pattern: GlobPattern::String(glob), kind: None };
        let options = DidChangeWatchedFilesRegistrationOptions { watchers: globs.map(watcher).collect() };
        let registration = Registration {
            id: "hvdlint-files".to_owned(),
            method: DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: serde_json::to_value(options).ok(),
        };
        self.ask(RegisterCapability::METHOD, RegistrationParams { registrations: vec![registration] });
    }

    fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        let Some(place) = Place::of(&item.uri) else { return };
        if item.language_id != "python" && !is_python(place.path()) {
            return;
        }
        let path = place.path().to_owned();
        let text = item.text.into();
        self.documents.open(Document { uri: item.uri, version: item.version, text, place });
        self.text_or_file_changed(&path);
    }

    fn changed(&mut self, params: DidChangeTextDocumentParams) {
        let Some(place) = Place::of(&params.text_document.uri) else { return };
        let encoding = self.client.encoding;
        let Some(document) = self.documents.get_mut(place.path()) else { return };
        document.change(params.content_changes, params.text_document.version, encoding);
        if let Some(owner) = self.owner(place.path()) {
            self.workspaces[owner].text_changed(place.path());
        }
        self.tell_other_projects(place.path());
    }

    fn closed(&mut self, params: &DidCloseTextDocumentParams) {
        let Some(place) = Place::of(&params.text_document.uri) else { return };
        if self.documents.close(place.path()).is_some() {
            self.text_or_file_changed(place.path());
        }
    }

    fn saved(&mut self, params: &DidSaveTextDocumentParams) {
        let Some(place) = Place::of(&params.text_document.uri) else { return };
        // A client that does not watch files tells of this alone.
        if decides(place.path()) {
            self.everything_changed();
        }
    }

    fn files_changed(&mut self, params: &DidChangeWatchedFilesParams) {
        for event in &params.changes {
            let Some(Place::File(path)) = Place::of(&event.uri) else { continue };
            if decides(&path) {
                self.everything_changed();
            } else if event.typ == FileChangeType::CHANGED {
                // An open document says itself what it holds.
                if self.documents.get(&path).is_none() {
                    self.text_or_file_changed(&path);
                }
            } else {
                for workspace in &mut self.workspaces {
                    workspace.file_changed(&path);
                }
            }
        }
    }

    fn folders_changed(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        for folder in &params.event.removed {
            self.remove_folder(&folder.uri);
        }
        for folder in &params.event.added {
            self.add_folder(&folder.uri);
        }
    }

    fn everything_changed(&mut self) {
        for workspace in &mut self.workspaces {
            workspace.everything_changed();
        }
    }

    /// Takes down that a file has another text, or that it is there only now, or no more.
    fn text_or_file_changed(&mut self, path: &Path) {
        let is_there = path.is_file() || self.documents.get(path).is_some();
        for workspace in &mut self.workspaces {
            if workspace.knows(path) && is_there {
                workspace.text_changed(path);
            } else if workspace.scope.covers(path) || workspace.knows(path) {
                workspace.file_changed(path);
            }
        }
    }

    /// A file may belong to the projects of several folders.
    fn tell_other_projects(&mut self, path: &Path) {
        for workspace in self.workspaces.iter_mut().filter(|workspace| workspace.knows(path)) {
            workspace.text_changed(path);
        }
    }
}

fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py" || extension == "pyi")
}

fn read<P: DeserializeOwned>(params: serde_json::Value) -> Result<P, serde_json::Error> {
    serde_json::from_value(params)
}
