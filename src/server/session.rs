//! The conversation's state: which documents are open, which folders there are, and what was said about them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{LogMessage, Notification as _, PublishDiagnostics, ShowMessage};
use lsp_types::{
    Diagnostic, InitializeParams, LogMessageParams, MessageType, PublishDiagnosticsParams, ShowMessageParams,
    Uri,
};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::client::Client;
use super::documents::Documents;
use super::paths::{self, Place};
use super::state::{Extent, State, Surroundings};
use super::watch::Watch;
use super::workspace::{Scope, Update, Workspace};
use crate::cancellation::Cancellation;
use crate::project::locate;

/// How long nobody types before everything that an edit concerns is examined.
const PAUSE: Duration = Duration::from_millis(300);

/// A message, with the number of the last change that it comes after.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) message: Message,
}

/// Why a request is not answered.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// A folder under the two names that it has: the client's, and the one without links.
#[derive(Clone, Debug)]
struct Spelling {
    given: PathBuf,
    located: PathBuf,
}

/// Everything that is known of the editor and its folders.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Client,
    pub(super) documents: Documents,
    pub(super) workspaces: Vec<Workspace>,
    spellings: Vec<Spelling>,
    /// What the client was told of each file that has findings, and under which name of the file.
    published: FxHashMap<PathBuf, (Uri, Vec<Diagnostic>)>,
    outbox: Sender<Message>,
    pub(super) watch: Arc<Watch>,
    /// The number of the last change that was heard of.
    heard: u64,
    requests: i32,
}

impl Session {
    pub(super) fn new(
        client: Client,
        parameters: &InitializeParams,
        outbox: Sender<Message>,
        watch: Arc<Watch>,
    ) -> Self {
        let mut session = Self {
            client,
            documents: Documents::default(),
            workspaces: Vec::new(),
            spellings: Vec::new(),
            published: FxHashMap::default(),
            outbox,
            watch,
            heard: 0,
            requests: 0,
        };
        let folders = parameters.workspace_folders.as_ref();
        #[expect(deprecated, reason = "older clients send nothing else")]
        let root = parameters.root_uri.as_ref().filter(|_| folders.is_none());
        for uri in folders.into_iter().flatten().map(|folder| &folder.uri).chain(root) {
            session.add_folder(uri);
        }
        session
    }

    /// Works until the listening thread is gone. A panic costs one answer, never the conversation.
    pub(super) fn run(mut self, events: &Receiver<Event>) {
        loop {
            let event = match events.try_recv() {
                Ok(event) => event,
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => match self.wait(events) {
                    Some(event) => event,
                    None => return,
                },
            };
            self.heard = event.number;
            match event.message {
                Message::Request(request) => self.answer(request),
                Message::Notification(notification) => {
                    let method = notification.method.clone();
                    self.guarded(&method, |session| session.notified(notification));
                }
                Message::Response(_) => {}
            }
        }
    }

    /// Brings what is known up to date and tells the client until something newer comes; nothing if nobody is there any
    /// more. What an edit changes in what is found near it is told at once, what it changes in everything as soon as
    /// nobody types.
    fn wait(&mut self, events: &Receiver<Event>) -> Option<Event> {
        self.look(Extent::Nearby);
        if !self.is_current(Extent::Everything) {
            match events.recv_timeout(PAUSE) {
                Err(RecvTimeoutError::Timeout) => self.look(Extent::Everything),
                heard => return heard.ok(),
            }
        }
        events.recv().ok()
    }

    fn look(&mut self, extent: Extent) {
        let (watch, heard) = (Arc::clone(&self.watch), self.heard);
        self.catch_up(extent, Cancellation::once(&|| watch.newest() > heard));
    }

    fn is_current(&self, extent: Extent) -> bool {
        self.workspaces.iter().all(|workspace| workspace.is_current(extent))
    }

    /// Does the work; a panic is logged and gives nothing.
    fn guarded<R>(&mut self, what: &str, work: impl FnOnce(&mut Self) -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(|| work(self))) {
            Ok(result) => Some(result),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                self.log(MessageType::ERROR, format!("internal error in {what}: {text}"));
                None
            }
        }
    }

    fn answer(&mut self, request: Request) {
        let (id, method) = (request.id.clone(), request.method.clone());
        let answer = self.guarded(&method, |session| session.replied(request));
        let response = match answer {
            Some(Ok(value)) => Response::new_ok(id, value),
            Some(Err(fault)) => Response::new_err(id, fault.code as i32, fault.message),
            None => Response::new_err(id, ErrorCode::InternalError as i32, "internal error".to_owned()),
        };
        self.send(response);
    }

    /// Brings what is known up to date for a request.
    ///
    /// # Errors
    ///
    /// The request is cancelled, or texts have changed since it was made.
    pub(super) fn catch_up_for(&mut self, id: &RequestId) -> Result<(), Fault> {
        let (watch, heard) = (Arc::clone(&self.watch), self.heard);
        let is_superfluous = || watch.newest() > heard || watch.is_cancelled(id);
        // Who has just typed is answered first.
        for extent in [Extent::Nearby, Extent::Everything] {
            self.catch_up(extent, Cancellation::once(&is_superfluous));
        }
        if self.watch.is_cancelled(id) {
            return Err(Fault::new(ErrorCode::RequestCanceled, "the request is cancelled"));
        }
        if self.watch.newest() > heard {
            return Err(Fault::new(ErrorCode::ContentModified, "the text has changed since"));
        }
        Ok(())
    }

    fn catch_up(&mut self, extent: Extent, cancellation: Cancellation<'_>) {
        self.arrange();
        for index in 0..self.workspaces.len() {
            if self.workspaces[index].is_current(extent) {
                continue;
            }
            let mut workspaces = std::mem::take(&mut self.workspaces);
            let workspace = &mut workspaces[index];
            let name = format!("the analysis of {}", workspace.scope.path().display());
            let update = self.guarded(&name, |session| {
                let uri = |path: &Path| session.uri(path);
                let (documents, client) = (&session.documents, session.client);
                workspace.update(extent, Surroundings { documents, client, uri: &uri, cancellation })
            });
            if update.is_none() {
                // Trying again would come to the same.
                workspace.give_up();
            }
            self.workspaces = workspaces;
            match update {
                Some(Update::Files(files)) => self.publish(index, files),
                Some(Update::Stopped) => return,
                None => {}
            }
        }
    }

    // ---- folders ----

    /// Opens a folder of the editor.
    pub(super) fn add_folder(&mut self, uri: &Uri) {
        let Some(given) = paths::file(uri) else { return };
        let located = locate(&given).unwrap_or_else(|_| given.clone());
        let scope = Scope::Folder(located.clone());
        if !self.workspaces.iter().any(|workspace| workspace.scope == scope) {
            self.spellings.push(Spelling { given, located });
            self.workspaces.push(Workspace::new(scope));
        }
    }

    /// Closes a folder of the editor.
    pub(super) fn remove_folder(&mut self, uri: &Uri) {
        let Some(given) = paths::file(uri) else { return };
        let scope = Scope::Folder(locate(&given).unwrap_or(given));
        self.spellings.retain(|spelling| spelling.located != scope.path());
        self.remove(|workspace| workspace.scope == scope);
    }

    fn remove(&mut self, is_gone: impl Fn(&Workspace) -> bool) {
        let (gone, staying): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.workspaces).into_iter().partition(|workspace| is_gone(workspace));
        self.workspaces = staying;
        for workspace in gone {
            let files: Vec<PathBuf> =
                self.published.keys().filter(|path| workspace.scope.covers(path)).cloned().collect();
            for file in files {
                if self.owner(&file).is_none() {
                    self.publish_file(&file, Vec::new());
                }
            }
        }
    }

    /// Makes a workspace for each open document that is in no folder, and drops those of closed ones.
    fn arrange(&mut self) {
        let in_folder = |workspaces: &[Workspace], path: &Path| {
            let mut folders =
                workspaces.iter().filter(|workspace| matches!(workspace.scope, Scope::Folder(_)));
            folders.any(|workspace| workspace.scope.covers(path))
        };
        let is_superfluous = |workspace: &Workspace| match &workspace.scope {
            Scope::Folder(_) => false,
            Scope::Document(place) => {
                self.documents.get(place.path()).is_none() || in_folder(&self.workspaces, place.path())
            }
        };
        if self.workspaces.iter().any(is_superfluous) {
            let gone: Vec<Scope> = self
                .workspaces
                .iter()
                .filter(|workspace| is_superfluous(workspace))
                .map(|workspace| workspace.scope.clone())
                .collect();
            self.remove(|workspace| gone.contains(&workspace.scope));
        }
        let mut alone: Vec<Place> = self
            .documents
            .iter()
            .filter(|(path, _)| self.owner(path).is_none())
            .map(|(_, document)| document.place.clone())
            .collect();
        alone.sort_by(|a, b| a.path().cmp(b.path()));
        self.workspaces.extend(alone.into_iter().map(|place| Workspace::new(Scope::Document(place))));
    }

    /// The workspace that tells what is found in a file: the innermost.
    pub(super) fn owner(&self, path: &Path) -> Option<usize> {
        let covering = self.workspaces.iter().enumerate().filter(|(_, own)| own.scope.covers(path));
        covering.max_by_key(|(_, own)| own.scope.path().as_os_str().len()).map(|(index, _)| index)
    }

    /// What is known of the project that a document is in.
    pub(super) fn state_of(&self, path: &Path) -> Option<&State> {
        self.workspaces[self.owner(path)?].state()
    }

    /// The URI of a file, as the client writes it.
    pub(super) fn uri(&self, path: &Path) -> Option<Uri> {
        if let Some(document) = self.documents.get(path) {
            return Some(document.uri.clone());
        }
        let spelt = self.spellings.iter().find_map(|spelling| {
            path.strip_prefix(&spelling.located).ok().map(|rest| spelling.given.join(rest))
        });
        paths::uri(spelt.as_deref().unwrap_or(path))
    }

    // ---- what the client is told ----

    /// Tells what is found in these files, where that is new or the text is.
    fn publish(&mut self, index: usize, files: Vec<PathBuf>) {
        if let Some(problem) = &self.workspaces[index].problem {
            let message = format!("hvdlint: {problem}");
            self.notify(ShowMessage::METHOD, ShowMessageParams { typ: MessageType::ERROR, message });
        }
        for file in files {
            let workspace = &self.workspaces[index];
            let fault = workspace.problem.as_ref().and_then(|problem| problem.in_file(&file, self.client));
            let mut diagnostics: Vec<Diagnostic> = fault.into_iter().collect();
            if self.owner(&file).is_none_or(|owner| owner == index) {
                let said = workspace.state().map(|state| state.said(&file)).unwrap_or_default();
                diagnostics.extend(said.iter().map(|said| said.diagnostic.clone()));
            } else if diagnostics.is_empty() {
                continue;
            }
            self.publish_file(&file, diagnostics);
        }
    }

    fn publish_file(&mut self, path: &Path, diagnostics: Vec<Diagnostic>) {
        let document = self.documents.get(path);
        let before = self.published.get(path);
        // The client waits for an answer about a text that it has sent.
        if document.is_none() && before.map_or(&[][..], |(_, before)| before) == diagnostics {
            return;
        }
        let version = document.map(|document| document.version);
        // A client may spell the file that it opens otherwise than the server has spelt it before.
        let opened = document.map(|document| document.uri.clone());
        let earlier = before.map(|(uri, _)| uri.clone());
        let Some(uri) = opened.or_else(|| earlier.clone()).or_else(|| self.uri(path)) else { return };
        if let Some(earlier) = earlier.filter(|earlier| *earlier != uri) {
            let nothing = PublishDiagnosticsParams { uri: earlier, diagnostics: Vec::new(), version: None };
            self.notify(PublishDiagnostics::METHOD, nothing);
        }
        if diagnostics.is_empty() {
            self.published.remove(path);
        } else {
            self.published.insert(path.to_owned(), (uri.clone(), diagnostics.clone()));
        }
        self.notify(PublishDiagnostics::METHOD, PublishDiagnosticsParams { uri, diagnostics, version });
    }

    /// Writes to the client's log.
    pub(super) fn log(&self, typ: MessageType, message: String) {
        self.notify(LogMessage::METHOD, LogMessageParams { typ, message });
    }

    pub(super) fn notify(&self, method: &str, parameters: impl Serialize) {
        self.send(Notification::new(method.to_owned(), parameters));
    }

    /// Asks the client for something; its answer does not matter.
    pub(super) fn ask(&mut self, method: &str, parameters: impl Serialize) {
        self.requests += 1;
        let id = RequestId::from(format!("hvdlint-{}", self.requests));
        self.send(Request::new(id, method.to_owned(), parameters));
    }

    fn send(&self, message: impl Into<Message>) {
        // Without the listening thread nobody is left to tell.
        _ = self.outbox.send(message.into());
    }
}
