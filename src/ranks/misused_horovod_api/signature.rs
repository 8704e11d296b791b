//! Arguments that a function of Horovod does not have, or that it needs and is not given.

use super::{Misuse, Site};
use crate::api::{Effect, Parameter, Passing as Way, Symbol};
use crate::program::Caller;
use crate::project::{Version, nearest};
use crate::semantic::{CallKind, Passing};

/// Parameters that older versions of Horovod do without, and the first version that needs them.
const NEEDED_SINCE: [(&str, Version); 1] = [("initial_lr", Version(0, 21))];

pub(super) fn misuse(site: &Site<'_>) -> Option<Misuse> {
    let symbol = site.horovods()?;
    let parameters = symbol.parameters();
    // A row without parameters may be one whose parameters are unknown, and a fork of Horovod may have others.
    if parameters.is_empty()
        || site.facts.modules.imports().holds_library(symbol.package())
        || site.call.kind != CallKind::Expression
    {
        return None;
    }
    let names = &site.facts.module(site.file).names;
    let mut given: Vec<&str> = Vec::new();
    for (position, argument) in site.call.arguments.iter().enumerate() {
        match argument.passing {
            Passing::Spread | Passing::Merge => return None,
            Passing::Positional => match symbol.parameter_at(position) {
                Some(parameter) => given.push(parameter.name()),
                None => return Some(too_many(site, symbol, argument.range)),
            },
            Passing::Keyword(name) => {
                let name = names.text(name);
                let is_known = symbol.parameter(name).is_some()
                    || parameters.iter().any(|own| own.passing() == Way::RestKeywords);
                if !is_known {
                    let message = format!("`{}` has no parameter `{name}`", symbol.last_name());
                    let help = "leave it out, or look for its present name";
                    let misuse = Misuse::fails(argument.range, message, help);
                    let is_of_other =
                        is_asked_of_environment(site) || !resembles_parameter(site, symbol, name);
                    return Some(if is_of_other { misuse.of_own_build() } else { misuse });
                }
                given.push(name);
            }
        }
    }
    let is_needed = |parameter: &&Parameter| {
        parameter.default().is_none()
            && matches!(parameter.passing(), Way::Either | Way::Position | Way::Keyword)
            && !given.contains(&parameter.name())
    };
    let missing = parameters.iter().find(is_needed)?;
    let (function, name) = (symbol.last_name(), missing.name());
    let message = format!("`{function}` is called without `{name}`, which it needs");
    let help = format!("give it `{name}`");
    let Some(&(_, since)) = NEEDED_SINCE.iter().find(|(parameter, _)| *parameter == name) else {
        return Some(Misuse::fails(site.call.range, message, help));
    };
    let is_older = site.asks_for_less("horovod", since);
    let misuse = Misuse::fails(site.call.range, format!("{message} since Horovod {since}"), help);
    (!is_older).then(|| misuse.of_newer_versions(site))
}

/// Whether the environment decides that a call is made: `if os.getenv("OWN_HOROVOD"):`. It may say which build of Horovod is
/// installed.
fn is_asked_of_environment(site: &Site<'_>) -> bool {
    let facts = site.facts;
    let caller = Caller { file: site.file, scope: site.call.scope };
    let conditions = facts.conditions(caller, site.call.block).into_iter();
    conditions.filter_map(|own| own.branch.condition).any(|condition| {
        let behind = facts.influence().backwards(&[(site.file, condition)], |_| false);
        behind.into_iter().any(|place| facts.gives(place, &[Effect::ReadsEnvironment]))
    })
}

fn too_many(site: &Site<'_>, symbol: &Symbol, range: crate::syntax::TextRange) -> Misuse {
    let count = symbol.parameters().len();
    let message = format!("`{}` takes no more than {count} arguments", symbol.last_name());
    let location = site.facts.location(site.file, site.call.callee_range);
    Misuse::fails(range, message, "leave out what is too much").label(location, "called here")
}

/// Whether a name is that of a parameter which something else of Horovod or of TensorFlow has, or nearly one of the function's
/// own. What is neither a slip of the hand nor taken for another is most likely of a Horovod that somebody has changed.
fn resembles_parameter(site: &Site<'_>, symbol: &Symbol, name: &str) -> bool {
    let own = symbol.parameters().iter().map(Parameter::name);
    let others = [symbol.package(), TENSORFLOW].into_iter();
    let mut others = others.flat_map(|package| site.facts.library.of_package(package));
    nearest(name, own).is_some() || others.any(|other| other.parameter(name).is_some())
}

/// The package whose objects Horovod wraps.
const TENSORFLOW: &str = "tensorflow";
