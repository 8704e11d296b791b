//! What the client asks: pages, places that belong together, and what can be done.

use lsp_server::{ErrorCode, Request, RequestId};
use lsp_types::request::{
    ApplyWorkspaceEdit, CodeActionRequest, CodeActionResolveRequest, ExecuteCommand, GotoDefinition,
    HoverRequest, Request as _, Shutdown,
};
use lsp_types::{
    ApplyWorkspaceEditParams, CodeAction, CodeActionParams, ExecuteCommandParams, GotoDefinitionParams,
    Hover, HoverContents, HoverParams, Location, MarkupContent, MarkupKind, TextDocumentPositionParams, Uri,
    WorkspaceEdit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::actions::{self, Data, Deed};
use super::client::DISTRIBUTE;
use super::edits::workspace_edit;
use super::paths::Place;
use super::places::contains;
use super::said::Said;
use super::session::{Fault, Session};
use super::state::State;

/// What is answered where nothing can be said.
const NOTHING: Value = Value::Null;

impl Session {
    /// Answers a request about the texts as they are now.
    pub(super) fn replied(&mut self, request: Request) -> Result<Value, Fault> {
        let Request { id, method, params } = request;
        match method.as_str() {
            HoverRequest::METHOD => self.hover(&id, &read(params)?),
            GotoDefinition::METHOD => self.definition(&id, &read(params)?),
            CodeActionRequest::METHOD => self.code_actions(&id, &read(params)?),
            CodeActionResolveRequest::METHOD => self.resolve(&id, read(params)?),
            ExecuteCommand::METHOD => self.execute(&id, &read(params)?),
            Shutdown::METHOD => Ok(NOTHING),
            _ => Err(Fault::new(ErrorCode::MethodNotFound, format!("there is no request `{method}`"))),
        }
    }

    /// The pages of the checks that found something here.
    fn hover(&mut self, id: &RequestId, params: &HoverParams) -> Result<Value, Fault> {
        self.catch_up_for(id)?;
        let here = self.said_at(&params.text_document_position_params);
        let Some(first) = here.first() else { return Ok(NOTHING) };
        let mut rules: Vec<_> = here.iter().map(|said| said.finding.rule).collect();
        rules.dedup_by_key(|rule| rule.code);
        let pages: Vec<&str> = rules.iter().map(|rule| rule.page.trim_end()).collect();
        let kind = if self.client.hover_markdown { MarkupKind::Markdown } else { MarkupKind::PlainText };
        let contents = HoverContents::Markup(MarkupContent { kind, value: pages.join("\n\n---\n\n") });
        write(Hover { contents, range: Some(first.diagnostic.range) })
    }

    /// The places that belong to the findings here.
    fn definition(&mut self, id: &RequestId, params: &GotoDefinitionParams) -> Result<Value, Fault> {
        self.catch_up_for(id)?;
        let here = self.said_at(&params.text_document_position_params);
        let places: Vec<Location> = here.iter().flat_map(|said| said.related.iter().cloned()).collect();
        if places.is_empty() { Ok(NOTHING) } else { write(places) }
    }

    fn said_at(&self, position: &TextDocumentPositionParams) -> Vec<&Said> {
        let said = self.document(&position.text_document.uri).map(|(place, state)| state.said(place.path()));
        let here = said.unwrap_or_default().iter();
        here.filter(|said| contains(said.diagnostic.range, position.position)).collect()
    }

    fn document(&self, uri: &Uri) -> Option<(Place, &State)> {
        let place = Place::of(uri)?;
        let state = self.state_of(place.path())?;
        Some((place, state))
    }

    fn code_actions(&mut self, id: &RequestId, params: &CodeActionParams) -> Result<Value, Fault> {
        self.catch_up_for(id)?;
        let uri = &params.text_document.uri;
        let Some((place, state)) = self.document(uri) else { return Ok(NOTHING) };
        let only = params.context.only.as_deref();
        let mut offered = actions::offered(state, place.path(), uri, params.range, only);
        if !self.client.resolves_edits {
            // What can't be done is not offered to a client that wants to know the edits now.
            offered.retain_mut(|action| {
                let is_cancelled = self.watch.is_cancelled(id);
                let data = action.data.take().and_then(|data| serde_json::from_value::<Data>(data).ok());
                action.edit = data.filter(|_| !is_cancelled).and_then(|data| self.edit(&data).ok());
                action.edit.is_some()
            });
        }
        write(offered)
    }

    fn resolve(&mut self, id: &RequestId, mut action: CodeAction) -> Result<Value, Fault> {
        self.catch_up_for(id)?;
        let data = action.data.clone().map(serde_json::from_value::<Data>);
        let Some(Ok(data)) = data else {
            return Err(Fault::new(ErrorCode::InvalidParams, "the action is not one of this server's"));
        };
        action.edit = Some(self.edit(&data).map_err(failed)?);
        write(action)
    }

    /// What an action changes, over all files.
    fn edit(&self, data: &Data) -> Result<WorkspaceEdit, String> {
        let (place, state) = self.document(&data.uri).ok_or("the document is in no project")?;
        let changes = actions::done(state, place.path(), &data.deed)?;
        workspace_edit(&changes, state.project(), &self.documents, self.client, &|path| self.uri(path))
    }

    fn execute(&mut self, id: &RequestId, params: &ExecuteCommandParams) -> Result<Value, Fault> {
        if params.command != DISTRIBUTE {
            let text = format!("there is no command `{}`", params.command);
            return Err(Fault::new(ErrorCode::InvalidParams, text));
        }
        let uri = params.arguments.first().and_then(|uri| serde_json::from_value::<Uri>(uri.clone()).ok());
        let Some(uri) = uri else {
            let text = format!("`{DISTRIBUTE}` needs the URI of one of the program's files");
            return Err(Fault::new(ErrorCode::InvalidParams, text));
        };
        self.catch_up_for(id)?;
        let entry = self.entry(&uri).map_err(failed)?;
        let label = format!("Distribute {entry} with Horovod");
        let edit = self.edit(&Data { uri, deed: Deed::Distribute(entry) }).map_err(failed)?;
        self.ask(ApplyWorkspaceEdit::METHOD, ApplyWorkspaceEditParams { label: Some(label), edit });
        Ok(NOTHING)
    }

    /// The entry of the only program that a file belongs to, or of the one that it is the entry of.
    fn entry(&self, uri: &Uri) -> Result<String, String> {
        let (place, state) = self.document(uri).ok_or("the document is in no project")?;
        let file = |file| state.project().file(file);
        let trainers: Vec<_> = state.trainers_of(place.path()).collect();
        let own = trainers.iter().find(|trainer| file(trainer.entry).path == place.path());
        match (own, &trainers[..]) {
            (Some(trainer), _) | (None, [trainer]) => Ok(file(trainer.entry).relative.clone()),
            (None, []) => Err("no program that trains runs this file".to_owned()),
            (None, several) => {
                let names: Vec<&str> =
                    several.iter().map(|trainer| file(trainer.entry).relative.as_str()).collect();
                Err(format!("several programs run this file: {}; give the URI of one", names.join(", ")))
            }
        }
    }
}

fn failed(reason: String) -> Fault {
    Fault::new(ErrorCode::RequestFailed, reason)
}

fn read<P: DeserializeOwned>(params: Value) -> Result<P, Fault> {
    serde_json::from_value(params).map_err(|error| Fault::new(ErrorCode::InvalidParams, error.to_string()))
}

fn write(value: impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(value).map_err(|error| Fault::new(ErrorCode::InternalError, error.to_string()))
}
