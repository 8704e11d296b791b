//! What the client can do, and what it is told that the server can.

use lsp_types::{
    ClientCapabilities, CodeActionKind, CodeActionOptions, CodeActionProviderCapability,
    ExecuteCommandOptions, HoverProviderCapability, MarkupKind, OneOf, SaveOptions, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};

use super::places::Encoding;

/// The command that distributes a program; its argument is the URI of one of the program's files.
pub(super) const DISTRIBUTE: &str = "hvdlint.distribute";

/// The kind of the actions that distribute a program.
pub(super) const DISTRIBUTE_KIND: CodeActionKind = CodeActionKind::new("source.distribute.hvdlint");

/// The kind of the action that applies all safe fixes of a file.
pub(super) const FIX_ALL_KIND: CodeActionKind = CodeActionKind::new("source.fixAll.hvdlint");

/// What the client can do.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of the protocol")]
pub(super) struct Client {
    /// How positions are counted.
    pub(super) encoding: Encoding,
    /// The edits of an action may come when it is chosen.
    pub(super) resolves_edits: bool,
    /// Edits may say which version of a document they are for.
    pub(super) versioned_edits: bool,
    /// Findings may have places that belong to them.
    pub(super) related_information: bool,
    /// Pages may be Markdown.
    pub(super) hover_markdown: bool,
    /// It tells about files that change outside of the editor.
    pub(super) watches_files: bool,
}

impl Client {
    pub(super) fn new(capabilities: &ClientCapabilities) -> Self {
        let text = capabilities.text_document.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let general = capabilities.general.as_ref();
        let encodings = general.and_then(|general| general.position_encodings.as_deref()).unwrap_or_default();
        let resolved = text
            .and_then(|text| text.code_action.as_ref())
            .and_then(|action| action.resolve_support.as_ref())
            .is_some_and(|support| support.properties.iter().any(|property| property == "edit"));
        let versioned = workspace
            .and_then(|workspace| workspace.workspace_edit.as_ref())
            .and_then(|edit| edit.document_changes);
        let related = text
            .and_then(|text| text.publish_diagnostics.as_ref())
            .and_then(|diagnostics| diagnostics.related_information);
        let formats =
            text.and_then(|text| text.hover.as_ref()).and_then(|hover| hover.content_format.as_ref());
        let watches = workspace
            .and_then(|workspace| workspace.did_change_watched_files.as_ref())
            .and_then(|watching| watching.dynamic_registration);
        Self {
            encoding: Encoding::agreed(encodings),
            resolves_edits: resolved,
            versioned_edits: versioned.unwrap_or_default(),
            related_information: related.unwrap_or_default(),
            hover_markdown: formats.is_none_or(|formats| formats.contains(&MarkupKind::Markdown)),
            watches_files: watches.unwrap_or_default(),
        }
    }
}

/// What the server can do.
pub(super) fn capabilities(client: Client) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(client.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, FIX_ALL_KIND, DISTRIBUTE_KIND]),
            resolve_provider: Some(true),
            ..CodeActionOptions::default()
        })),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![DISTRIBUTE.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}
