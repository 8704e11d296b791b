//! Callbacks that correct the momentum of an optimizer whose momentum can't be changed.

use super::{Misuse, Site, TENSORFLOW};
use crate::api::{Effect, Kind, Symbol};
use crate::finding::{Applicability, Fix};
use crate::program::{Literal, LoopKind, Object, ObjectId};
use crate::project::Version;
use crate::semantic::{CallId, Passing};

/// Horovod's callback that follows a schedule, and corrects momentum on the way.
const SCHEDULE: &str = "horovod.tensorflow.keras.callbacks.LearningRateScheduleCallback";
/// The first version of TensorFlow and Keras whose optimizers keep the momentum as a plain number.
const SINCE: Version = Version(2, 11);
/// The optimizers of Keras since TensorFlow 2.11 whose `momentum` is a plain number.
const WITH_MOMENTUM: [&str; 2] = ["tensorflow.keras.optimizers.SGD", "tensorflow.keras.optimizers.RMSprop"];

pub(super) fn misuse(site: &Site<'_>) -> Option<Misuse> {
    let facts = site.facts;
    let class = facts.library.lookup(SCHEDULE)?;
    let symbol = site.horovods().filter(|symbol| symbol.is_class())?;
    if !facts.library.is_subclass(symbol, class) {
        return None;
    }
    if let Some(argument) = site.argument(symbol, "momentum_correction") {
        let is_on =
            site.is_always(argument.value, |_, object| object == Object::Literal(Literal::Bool(true)));
        if !is_on {
            return None;
        }
    }
    if is_behind_another(site, class) || TENSORFLOW.iter().any(|package| site.asks_for_less(package, SINCE)) {
        return None;
    }
    let made = (site.file, site.call.result);
    let used = facts.influence().forwards(&[made], |_| false);
    let mut loops = facts.programs.iter().flat_map(|program| &program.loops);
    let own = loops.find(|own| {
        own.kind == LoopKind::KerasFit
            && !own.optimizers.is_empty()
            && own.optimizers.iter().all(|&optimizer| has_plain_momentum(site, optimizer))
            && facts
                .module(own.caller.file)
                .call(own.call)
                .arguments
                .iter()
                .any(|argument| used.contains(&(own.caller.file, argument.value)))
    })?;
    let message = format!(
        "`{}` corrects the momentum, which can't be changed in this optimizer since TensorFlow {SINCE}",
        symbol.last_name()
    );
    let help =
        "turn it off by `momentum_correction=False`, or use the optimizer of `tf.keras.optimizers.legacy`";
    let location = facts.location(own.caller.file, own.range);
    let misuse =
        Misuse::fails(site.call.range, message, help).label(location, "trains with such an optimizer");
    let text = site.context.texts.get(site.file, facts.module(site.file));
    let is_given = site.argument(symbol, "momentum_correction").is_some();
    let fix = text.filter(|_| !is_given).map(|text| Fix {
        applicability: Applicability::Unsafe,
        message: "turn the correction off".to_owned(),
        edits: vec![text.append_argument(site.call, "momentum_correction=False")],
        unit: None,
    });
    Some(misuse.mended_by(fix).of_newer_versions(site))
}

/// Whether the same code makes such a callback before: the first one fails.
fn is_behind_another(site: &Site<'_>, class: &Symbol) -> bool {
    let calls = &site.facts.module(site.file).calls;
    (0..site.id.index()).map(CallId::new).any(|id| {
        let before = calls[id.index()].scope == site.call.scope;
        before
            && site
                .facts
                .called_symbols(site.file, id)
                .any(|symbol| symbol.is_class() && site.facts.library.is_subclass(symbol, class))
    })
}

/// Whether an optimizer, or the one that it distributes, is of a class with a plain momentum. One that is made with a
/// parameter that the class does not have, such as `lr`, is of an older version of it.
fn has_plain_momentum(site: &Site<'_>, optimizer: ObjectId) -> bool {
    let facts = site.facts;
    let object = facts.solution.object(optimizer);
    let Some((file, call)) = facts.made_at(optimizer) else { return false };
    let Some(class) = facts.symbol(object).filter(|_| matches!(object, Object::Created(..))) else {
        return false;
    };
    let data = facts.module(file).call(call);
    if facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Distributes)) {
        let mut inner = data
            .arguments
            .first()
            .into_iter()
            .flat_map(|argument| facts.of_kind(file, argument.value, Kind::Optimizer));
        return inner.next().is_some_and(|inner| inner != optimizer && has_plain_momentum(site, inner));
    }
    let names = &facts.module(file).names;
    let is_new = data.arguments.iter().all(|argument| match argument.passing {
        Passing::Keyword(name) => class.parameter(names.text(name)).is_some(),
        Passing::Merge => false,
        _ => true,
    });
    is_new && WITH_MOMENTUM.iter().any(|name| facts.library.lookup(name) == Some(class))
}
