//! What `DistributedOptimizer` and `DistributedGradientTape` are given.

use super::{Misuse, Site};
use crate::api::{Effect, Kind, Symbol};
use crate::finding::{Applicability, Fix};
use crate::program::{Literal, Object};
use crate::semantic::{Argument, BuiltinType, Passing, ValueId};

/// The class that scales losses around an optimizer.
const LOSS_SCALE: &str = "tensorflow.keras.mixed_precision.LossScaleOptimizer";
/// The classes that Horovod can't combine by Adasum.
const OPTIMIZER: &str = "tensorflow.keras.optimizers.Optimizer";
const ADASUM: &str = "horovod.tensorflow.Adasum";
/// What goes around an optimizer of TensorFlow 1 as often as it is asked to: the mean of means is the mean.
const AROUND_LEGACY: &str = "horovod.tensorflow.DistributedOptimizer";
const LEGACY: &str = "tensorflow.compat.v1.train.Optimizer";

pub(super) fn misuse(site: &Site<'_>) -> Option<Misuse> {
    let symbol = site.horovods().filter(|symbol| symbol.has(Effect::Distributes))?;
    let argument = site.argument(symbol, symbol.parameters().first()?.name())?;
    let is_optimizer = symbol.parameter("optimizer").is_some();
    let name = symbol.last_name();
    if is_optimizer && site.is_always(argument.value, |_, object| is_text(object)) {
        let message = format!("`{name}` takes an optimizer and not its name");
        let help = "make the optimizer: `tf.keras.optimizers.get(...)`";
        return Some(Misuse::fails(argument.range, message, help));
    }
    let is_class = |object| match object {
        Object::Class(_) | Object::External(_) => site.facts.symbol(object).is_some_and(|class| {
            class.is_class() && site.facts.library.kind_of_class(class) == Kind::Optimizer
        }),
        _ => false,
    };
    if is_optimizer && site.is_always(argument.value, |_, object| is_class(object)) {
        let message = format!("`{name}` takes an optimizer and not its class");
        return Some(
            Misuse::fails(argument.range, message, "make an instance of the class")
                .mended_by(instance(site, argument)),
        );
    }
    if is_optimizer && site.is_instance_of(argument.value, LOSS_SCALE) {
        let message = "a distributed `LossScaleOptimizer` can't be made: Horovod makes its optimizer anew";
        let help = "distribute the optimizer inside of it: `LossScaleOptimizer(hvd.DistributedOptimizer(optimizer))`";
        return Some(Misuse::fails(argument.range, message, help));
    }
    twice(site, symbol, argument).or_else(|| unnamed(site, symbol)).or_else(|| adasum(site, symbol, argument))
}

fn is_text(object: Object) -> bool {
    matches!(object, Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str))
}

/// `Adam` becomes `Adam()`.
fn instance(site: &Site<'_>, argument: &Argument) -> Option<Fix> {
    let text = site.context.texts.get(site.file, site.facts.module(site.file))?;
    text.is_chain(argument.range).then(|| Fix {
        applicability: Applicability::Safe,
        message: "make an instance".to_owned(),
        edits: vec![text.insert(argument.range.end(), "()")],
        unit: None,
    })
}

/// What is distributed already is given again.
fn twice(site: &Site<'_>, symbol: &Symbol, argument: &Argument) -> Option<Misuse> {
    let facts = site.facts;
    if symbol.name() == AROUND_LEGACY && may_be_legacy(site, argument.value) {
        return None;
    }
    let mut first = None;
    let is_distributed = site.is_always(argument.value, |id, _| {
        let made = facts.made_at(id).filter(|&(file, call)| {
            (file, call) != (site.file, site.id)
                && facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Distributes))
                && !facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::LoadsModel))
        });
        made.is_some()
    });
    if is_distributed {
        first = facts.objects(site.file, argument.value).find_map(|(id, _)| facts.made_at(id));
    }
    let (file, call) = first?;
    let message = format!("`{}` is given what is distributed already", symbol.last_name());
    let location = facts.location(file, facts.module(file).call(call).range);
    Some(Misuse::fails(argument.range, message, "distribute it once").label(location, "distributed here"))
}

/// Whether a value may be an optimizer of TensorFlow 1, as far as its class is known.
fn may_be_legacy(site: &Site<'_>, value: ValueId) -> bool {
    let library = &site.facts.library;
    let Some(legacy) = library.lookup(LEGACY) else { return false };
    site.facts.objects(site.file, value).any(|(_, object)| {
        let class = site.facts.symbol(object).filter(|symbol| symbol.is_class());
        class.is_none_or(|class| library.is_subclass(class, legacy))
    })
}

/// A second positional argument is the wrapper's name, and nothing else.
fn unnamed(site: &Site<'_>, symbol: &Symbol) -> Option<Misuse> {
    let parameter = symbol.parameter_at(1).filter(|parameter| parameter.name() == "name")?;
    let argument = site.call.arguments.get(1).filter(|argument| argument.passing == Passing::Positional)?;
    let is_name = |object| is_text(object) || object == Object::Literal(Literal::None);
    if !site.is_always(argument.value, |_, object| !is_name(object)) {
        return None;
    }
    let message = format!("the second argument of `{}` is its `{}`", symbol.last_name(), parameter.name());
    Some(Misuse::fails(argument.range, message, "give it by its keyword, such as `compression=`"))
}

/// Keras' optimizers can't be combined by Adasum.
fn adasum(site: &Site<'_>, symbol: &Symbol, argument: &Argument) -> Option<Misuse> {
    let operation = site.argument(symbol, "op")?;
    let adasum = site.facts.library.lookup(ADASUM)?;
    let is_adasum = site.is_always(operation.value, |_, object| site.facts.symbol(object) == Some(adasum));
    if !is_adasum || !site.is_instance_of(argument.value, OPTIMIZER) {
        return None;
    }
    let message = "Horovod has no Adasum for the optimizers of Keras";
    Some(Misuse::fails(operation.range, message, "leave it out, or distribute the tape with it"))
}
