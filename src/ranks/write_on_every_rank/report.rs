//! What is said of files that several ranks write, and how sure it is.

use super::super::alongside::{Alongside, starts_horovod_itself};
use super::super::model::Model;
use super::alike::Alike;
use super::{CHECK, Fate, Inputs, Writers, modes};
use crate::api::{Effect, Kind};
use crate::finding::{Applicability, Confidence, Finding, Fix, Label, Level, Location};
use crate::program::{Caller, Pattern, Program};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Passing};

/// What makes it only possible that several ranks write, or that it does harm.
pub(super) struct Doubts<'m, 'c> {
    pub(super) inputs: &'m Inputs,
    pub(super) alongside: Alongside<'m, 'c>,
    pub(super) alike: Alike,
}

/// Why it does no harm.
const ALIKE: &str =
    "All ranks write the same, as far as is seen: it does no harm unless somebody reads it meanwhile.";

/// What is said of the place that writes, where another has told it the path.
const WRITTEN: &str = "written here";

/// Whether a finding is about something that a call at another place writes.
pub(in crate::ranks) fn is_written_at(finding: &Finding, place: Location) -> bool {
    finding.labels.iter().any(|own| own.location == place && own.message == WRITTEN)
}

pub(super) fn finding(
    model: &Model<'_>,
    doubts: &Doubts<'_, '_>,
    caller: Caller,
    id: CallId,
    fate: Fate,
) -> Option<Finding> {
    let Fate::Many { paths, writers, by } = fate else { return None };
    let location = model.at_call(caller.file, id);
    let makes_folder = may_be_told_of_folder(model, caller.file, id);
    let message = match writers {
        Writers::All if makes_folder => "every rank makes the same folder, and all but the first fail",
        Writers::Racing if makes_folder => {
            "if two ranks find at once that the folder is missing, the second one fails to make it"
        }
        Writers::All => "every rank writes the same file",
        Writers::AllButOne => "every rank but one writes the same file",
        Writers::Any => "any of the ranks may write the same file, several of them at once",
        Writers::Racing => "if two ranks find at once that this is to be done, the second one fails",
    };
    // What only exports or predicts with a trained model is seldom run by several ranks, and so are notebooks.
    let is_parallel = |program: &&Program| {
        let comes_to = |&(by, call): &(Caller, CallId)| {
            doubts.alongside.is_in_training(program, by, call) && program.reached.contains(&by)
        };
        !model.facts.is_notebook(program.entry)
            && (program.pattern != Pattern::None
                || model.communicates(program) && starts_horovod_itself(model, program))
            && by.iter().any(comes_to)
    };
    let is_certain = !modes::is_shared_log(model, caller.file, id) && model.programs.iter().any(is_parallel);
    let is_harmless =
        is_certain && by.iter().all(|&(by, call)| doubts.alike.is_written(model, doubts.inputs, by, call));
    let sureness = if is_certain && !is_harmless { Confidence::Certain } else { Confidence::Possible };
    // A fix must not cause what does no harm either: see `fix::verify`.
    let level = if is_harmless { Level::Note } else { Level::Warning };
    let mut finding = Finding::new(&CHECK.rule, level, location, message)
        .confidence(sureness)
        .here("each rank writes")
        .help(if makes_folder {
            "let the folder be there already: `exist_ok=True`"
        } else if is_for_all(model, caller.file, id) {
            "give the path to rank 0 alone, `path if hvd.rank() == 0 else None`: all ranks have to take part in this"
        } else if writers == Writers::Racing {
            "let rank 0 do it, and the others wait: `hvd.barrier()`"
        } else if by == [(caller, id)] {
            "let rank 0 write it: `if hvd.rank() == 0:`, or put the rank into its name"
        } else {
            "let rank 0 do both: `if hvd.rank() == 0:`, or put the rank into its name"
        })
        .in_scope(model.facts.scope_name(caller));
    if is_harmless {
        finding = finding.note(ALIKE);
    }
    if makes_folder && let Some(text) = model.texts.get(caller.file, model.facts.module(caller.file)) {
        let call = text.module.call(id);
        finding = finding.mended_by(Fix {
            // Who does not ask whether it is there may want to fail if it is.
            applicability: if writers == Writers::Racing {
                Applicability::Safe
            } else {
                Applicability::Unsafe
            },
            message: "let the folder be there already".to_owned(),
            edits: vec![text.append_argument(call, &format!("{EXIST_OK}=True"))],
            unit: None,
        });
    }
    for &(file, path) in paths.iter().take(1) {
        let range = model.facts.module(file).value(path).range;
        let path = model.facts.location(file, range);
        // What a variable of another scope holds stands nowhere by itself.
        if path != location && !range.is_empty() {
            finding = finding.label(path, "the same on all ranks");
            finding.flow.push(Label { location: path, message: "the same on all ranks".to_owned() });
        }
    }
    for (by, call) in by {
        let written = model.at_call(by.file, call);
        if written != location {
            finding = finding.label(written, WRITTEN);
        }
        finding.flow.push(Label { location: written, message: "written by each rank".to_owned() });
    }
    Some(finding)
}

/// Whether a call makes a folder, and could be told not to mind that there is one: `os.makedirs(path)`.
fn may_be_told_of_folder(model: &Model<'_>, file: FileId, id: CallId) -> bool {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    let is_plain = |own: &Argument| !matches!(own.passing, Passing::Spread | Passing::Merge);
    let mut symbols = facts.called_symbols(file, id).peekable();
    symbols.peek().is_some()
        && call.arguments.iter().all(is_plain)
        && symbols.all(|own| {
            own.parameter(EXIST_OK).is_some() && facts.argument(file, call, own, EXIST_OK).is_none()
        })
}

/// The parameter for whether a folder may be there already.
const EXIST_OK: &str = "exist_ok";

/// Whether a call that writes also trains, or makes what does: on one rank alone it would wait for the others.
fn is_for_all(model: &Model<'_>, file: FileId, id: CallId) -> bool {
    let facts = model.facts;
    facts.called_symbols(file, id).any(|symbol| {
        let made = facts.library.returned_class(symbol);
        symbol.has(Effect::Trains)
            || made.is_some_and(|class| facts.library.kind_of_class(class) == Kind::MonitoredSession)
    })
}
