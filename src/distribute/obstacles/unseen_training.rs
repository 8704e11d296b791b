//! Training that the analysis does not see: by a model that nobody knows, `generator, discriminator = gan.layers`, or by what a
//! program puts in the place of Keras' own methods, `tf.keras.Model.train_step = own_step`. Its gradients would not be averaged.

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::api::Effect;
use crate::finding::{Location, Rule};
use crate::program::{Caller, Object};
use crate::project::FileId;
use crate::semantic::{CallId, Store, StoreKey};

/// The class of models, and what only its methods are called like.
const MODEL: &str = "tensorflow.keras.Model";
const TRAINING: [&str; 2] = ["tensorflow.keras.Model.train_on_batch", "tensorflow.keras.Model.fit_generator"];

/// The first place of each kind.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let step = |(location, message, help): (Location, &str, &str)| {
        let finding = obstacle(rule, location, message).help(help);
        Step::blocked(
            finding,
            "Gradients that nobody sees are not averaged, and the ranks would drift apart.",
        )
    };
    by_unknown_models(job).into_iter().chain(in_place_of_methods(job)).map(step).collect()
}

/// A call that trains a model which nobody knows.
fn by_unknown_models(job: &Job<'_>) -> Option<(Location, &'static str, &'static str)> {
    let facts = job.facts;
    let training = TRAINING.map(|name| facts.library.lookup(name));
    let is_unseen = |&(file, call): &(FileId, CallId)| {
        facts.called_symbols(file, call).next().is_none()
            && facts.called_functions(file, call).next().is_none()
            && facts.may_call(file, call, MODEL, |own| training.contains(&Some(own)))
    };
    let (file, call) = job.calls().find(is_unseen)?;
    Some((
        job.at_call(file, call),
        "it can't be seen which model this trains",
        "give the model to the code that trains it by a name or an argument of its own",
    ))
}

/// The store that puts something else in the place of a method of Keras' that makes steps.
fn in_place_of_methods(job: &Job<'_>) -> Option<(Location, &'static str, &'static str)> {
    let facts = job.facts;
    job.program.files().into_iter().find_map(|file| {
        let module = facts.module(file);
        let makes_steps = |store: &&Store| {
            let StoreKey::Attribute(name) = store.key else { return false };
            let caller = Caller { file, scope: module.code_scope(store.scope) };
            job.program.reached.contains(&caller)
                && facts.objects(file, store.base).any(|(_, object)| {
                    let class = facts.symbol(object).filter(|own| {
                        own.is_class()
                            && matches!(object, Object::External(_))
                            && facts.library.is_training_library(own.package())
                    });
                    let method = class.and_then(|class| facts.library.member(class, module.names.text(name)));
                    method.is_some_and(|own| {
                        own.has(Effect::TakesGradients) || own.has(Effect::AppliesGradients)
                    })
                })
        };
        let store = module.stores.iter().find(makes_steps)?;
        Some((
            facts.location(file, store.range),
            "the program puts something else in the place of a method that makes the steps",
            "define the method in a class of the program's own that inherits from Keras'",
        ))
    })
}
