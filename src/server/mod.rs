//! The language server: the same findings, fixes and pages, in an editor and as somebody types.
//!
//! ```text
//! editor ──▶ listening thread ──▶ working thread ──▶ outbox ──▶ editor
//!            [`serve`]: order,    [`session`]: open texts,
//!            cancellation, exit   workspaces, answers
//! ```
//!
//! The listening thread never computes: it hands messages on in their order, and tells the working thread through
//! `watch` that texts have changed or that nobody waits for an answer any more, so that it stops what it does.
//! The working thread owns a `workspace` for each folder: a project and what is found in it. After an edit it
//! reads the changed text alone, and examines only the files that imports link to it. Where these are many, it first
//! examines some that are near to the edit as they were and as they are, and tells the difference at once (`nearby`,
//! `difference`); what the edit changes in everything it finds out when nobody types, or when a request asks for it.
//!
//! Findings are pushed (`textDocument/publishDiagnostics`) and not pulled: an edit may change what is found in files
//! that are not open, which pulling does not tell about.

mod actions;
mod client;
mod difference;
mod documents;
mod edits;
mod nearby;
mod notifications;
mod paths;
mod places;
mod requests;
mod said;
mod session;
mod state;
mod watch;
mod workspace;

use std::collections::HashSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    Cancel, DidChangeTextDocument, DidChangeWatchedFiles, DidChangeWorkspaceFolders, DidCloseTextDocument,
    DidOpenTextDocument, Exit, Notification as _,
};
use lsp_types::request::{Request as _, Shutdown};
use lsp_types::{CancelParams, InitializeParams, NumberOrString};

use client::Client;
use session::{Event, Session};
use watch::Watch;

/// How the conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client said `shutdown`, then `exit`.
    Orderly,
    /// The client left without a word, or said `exit` too early.
    Abrupt,
}

/// Speaks with the client on standard input and output until one of both ends it.
///
/// # Errors
///
/// Standard input or output fails, or a thread can't be started.
pub fn stdio(stack: usize) -> anyhow::Result<End> {
    let (connection, threads) = Connection::stdio();
    let end = serve(connection, stack)?;
    // What was said last is still being written.
    match threads.join() {
        // What a client that is gone does not read does not matter.
        Err(_) if end == End::Abrupt => Ok(end),
        joined => Ok(joined.map(|()| end)?),
    }
}

/// Speaks with the client until it ends the conversation. `stack` is the size of the working threads' stacks, in
/// bytes.
///
/// # Errors
///
/// A thread can't be started.
pub fn serve(connection: Connection, stack: usize) -> anyhow::Result<End> {
    let Ok((id, parameters)) = connection.initialize_start() else { return Ok(End::Abrupt) };
    let parameters: InitializeParams = match serde_json::from_value(parameters) {
        Ok(parameters) => parameters,
        Err(error) => {
            let refusal = Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string());
            _ = connection.sender.send(refusal.into());
            return Ok(End::Abrupt);
        }
    };
    let client = Client::new(&parameters.capabilities);
    let result = serde_json::json!({
        "capabilities": client::capabilities(client),
        "serverInfo": { "name": "hvdlint", "version": env!("CARGO_PKG_VERSION") },
    });
    if connection.sender.send(Response::new_ok(id, result).into()).is_err() {
        return Ok(End::Abrupt);
    }
    let watch = Arc::new(Watch::default());
    let (inbox, events) = unbounded();
    let (outbox, messages) = unbounded();
    let session = Session::new(client, &parameters, outbox, Arc::clone(&watch));
    let threads = rayon::current_num_threads();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(stack).build()?;
    thread::Builder::new().name("work".to_owned()).spawn(move || pool.install(|| session.run(&events)))?;
    let listener = Listener { connection, inbox, watch, open: HashSet::new(), is_shut_down: false };
    Ok(listener.listen(&messages))
}

/// What listens to the client, and sends it what the working thread has to say.
struct Listener {
    connection: Connection,
    inbox: Sender<Event>,
    watch: Arc<Watch>,
    /// The requests that are not answered yet.
    open: HashSet<RequestId>,
    is_shut_down: bool,
}

impl Listener {
    fn listen(mut self, messages: &Receiver<Message>) -> End {
        loop {
            select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(message) => if let Some(end) = self.hear(message, messages) { return end },
                    Err(_) => return End::Abrupt,
                },
                recv(messages) -> message => match message {
                    Ok(message) => if !self.tell(message) { return End::Abrupt },
                    // The working thread is gone, which it never should be.
                    Err(_) => return End::Abrupt,
                },
            }
        }
    }

    /// Hands a message on, unless it is about the conversation itself.
    fn hear(&mut self, message: Message, messages: &Receiver<Message>) -> Option<End> {
        match message {
            Message::Notification(own) if own.method == Exit::METHOD => {
                return Some(if self.is_shut_down { self.finish(messages) } else { End::Abrupt });
            }
            Message::Notification(own) if own.method == Cancel::METHOD => self.cancel(own),
            Message::Request(request) if self.is_shut_down => {
                let text = "the server is shut down".to_owned();
                let refusal = Response::new_err(request.id, ErrorCode::InvalidRequest as i32, text);
                _ = self.connection.sender.send(refusal.into());
            }
            _ if self.is_shut_down => {}
            message => {
                let number = self.number(&message);
                _ = self.inbox.send(Event { number, message });
            }
        }
        None
    }

    /// Sends the answers that are still to come, that to `shutdown` among them; not for long, and not to a client that
    /// is gone.
    fn finish(&mut self, messages: &Receiver<Message>) -> End {
        let deadline = Instant::now() + LAST_WORDS;
        while !self.open.is_empty()
            && let Ok(message) = messages.recv_deadline(deadline)
        {
            if !self.tell(message) {
                break;
            }
        }
        End::Orderly
    }

    /// The number of the last change that a message comes after.
    fn number(&mut self, message: &Message) -> u64 {
        match message {
            Message::Request(Request { id, method, .. }) => {
                self.open.insert(id.clone());
                self.is_shut_down = method == Shutdown::METHOD;
                if self.is_shut_down { self.watch.supersede() } else { self.watch.newest() }
            }
            Message::Notification(own) if CHANGES.contains(&own.method.as_str()) => self.watch.supersede(),
            _ => self.watch.newest(),
        }
    }

    fn cancel(&self, notification: Notification) {
        let parameters: Result<CancelParams, _> = serde_json::from_value(notification.params);
        let id = parameters.map(|parameters| match parameters.id {
            NumberOrString::Number(number) => RequestId::from(number),
            NumberOrString::String(text) => RequestId::from(text),
        });
        // What is answered already can't be cancelled.
        if let Ok(id) = id
            && self.open.contains(&id)
        {
            self.watch.cancel(id);
        }
    }

    /// Sends a message; whether the client still listens.
    fn tell(&mut self, message: Message) -> bool {
        if let Message::Response(response) = &message {
            self.open.remove(&response.id);
            self.watch.answered(&response.id);
        }
        self.connection.sender.send(message).is_ok()
    }
}

/// How long a client that says `exit` is kept waiting for answers.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The notifications after which what was found before may be wrong.
const CHANGES: [&str; 5] = [
    DidOpenTextDocument::METHOD,
    DidChangeTextDocument::METHOD,
    DidCloseTextDocument::METHOD,
    DidChangeWatchedFiles::METHOD,
    DidChangeWorkspaceFolders::METHOD,
];
