//! Where an estimator keeps its checkpoints while it trains: in the folder that it was given, or its configuration.

use super::super::model::Model;
use super::Written;
use crate::api::{Effect, Kind};
use crate::program::{Facts, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Passing};

/// The parameter for the folder, of estimators and of their configurations.
const FOLDER: &str = "model_dir";

/// The parameter for the configuration.
const CONFIGURATION: &str = "config";

/// The settings of a configuration that say when to write: never, if all that are given are `None`.
const WHEN: [&str; 2] = ["save_checkpoints_steps", "save_checkpoints_secs"];

/// Where an estimator writes.
enum Folder {
    /// In this folder.
    Given(Place),
    /// In a new folder of the rank's own.
    Own,
}

/// What the estimators write that a call trains; `None` if it trains none.
pub(super) fn written(model: &Model<'_>, file: FileId, id: CallId) -> Option<Written> {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    if !facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::Trains)) {
        return None;
    }
    let given = call.arguments.iter().map(|own| own.value);
    let values = facts.receiver(file, call).into_iter().chain(given);
    let mut estimators = values.flat_map(|value| facts.of_kind(file, value, Kind::Estimator)).peekable();
    estimators.peek()?;
    let mut folders = Vec::new();
    for estimator in estimators {
        match folder(model, estimator) {
            Some(Folder::Given(place)) => folders.push(place),
            Some(Folder::Own) => {}
            None => return Some(Written::Unknown),
        }
    }
    Some(if folders.is_empty() { Written::Harmless } else { Written::To(folders) })
}

/// The folder of an estimator; `None` if it can't be seen which, or whether this rank writes at all.
fn folder(model: &Model<'_>, estimator: ObjectId) -> Option<Folder> {
    let facts = model.facts;
    let own = Creation::of(facts, estimator)?;
    let mut folder = own.argument(FOLDER);
    if let Some((file, value)) = own.argument(CONFIGURATION) {
        let &[configuration] = facts.solution.values(file, value) else { return None };
        let configuration = Creation::of(facts, configuration)?;
        let when: Vec<Place> = WHEN.into_iter().filter_map(|own| configuration.given(own)).collect();
        let is_never = !when.is_empty() && when.iter().all(|&(file, value)| facts.is_none(file, value));
        if is_never || when.iter().any(|&own| model.difference(own).is_some()) {
            return None;
        }
        folder = folder.or_else(|| configuration.argument(FOLDER));
    }
    Some(folder.map_or(Folder::Own, Folder::Given))
}

/// The call that makes an object, with all arguments in sight.
struct Creation<'f, 'a> {
    facts: &'f Facts<'a>,
    file: FileId,
    id: CallId,
}

impl<'f, 'a> Creation<'f, 'a> {
    fn of(facts: &'f Facts<'a>, object: ObjectId) -> Option<Self> {
        let (file, id) = facts.made_at(object)?;
        let mut arguments = facts.module(file).call(id).arguments.iter();
        let is_spread = arguments.any(|own| matches!(own.passing, Passing::Spread | Passing::Merge));
        (!is_spread).then_some(Self { facts, file, id })
    }

    /// What is given for a parameter.
    fn given(&self, parameter: &str) -> Option<Place> {
        let call = self.facts.module(self.file).call(self.id);
        let mut symbols = self.facts.called_symbols(self.file, self.id);
        let argument = symbols.find_map(|symbol| self.facts.argument(self.file, call, symbol, parameter));
        argument.map(|own| (self.file, own.value))
    }

    /// The same, if it is something.
    fn argument(&self, parameter: &str) -> Option<Place> {
        self.given(parameter).filter(|&(file, value)| !self.facts.is_none(file, value))
    }
}
