//! Matrices that a program draws once and multiplies its data by: `x @ np.random.normal(size=(2, 64))`. They are a part of the
//! function that it learns, so that all ranks need the same one.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use crate::api::{Effect, Kind};
use crate::program::Place;
use crate::project::FileId;
use crate::semantic::{CallId, Method, Operator, Value, ValueId};

/// What multiplies matrices, and the parameter for the second one.
const PRODUCTS: [(&str, &str); 5] = [
    ("numpy.dot", "b"),
    ("numpy.matmul", "x2"),
    ("numpy.tensordot", "b"),
    ("tensorflow.matmul", "b"),
    ("tensorflow.tensordot", "b"),
];

/// The products of matrices among some values, each with what it is multiplied by.
pub(super) fn products(job: &Job<'_>, among: &FxHashSet<Place>) -> Vec<(Place, Place)> {
    let facts = job.facts;
    let multiplier = |&(file, value): &Place| {
        let module = facts.module(file);
        let by = match module.value(value).value {
            Value::Operator {
                operator: Operator::Binary(Method::MATMUL) | Operator::InPlace(Method::MATMUL),
                right,
                ..
            } => right,
            Value::Call(call) => by_call(job, file, call)?,
            _ => return None,
        };
        Some(((file, value), (file, by)))
    };
    among.iter().filter_map(multiplier).collect()
}

fn by_call(job: &Job<'_>, file: FileId, id: CallId) -> Option<ValueId> {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let products = PRODUCTS.map(|(name, parameter)| (facts.library.lookup(name), parameter));
    facts.called_symbols(file, id).find_map(|symbol| {
        let (_, parameter) = products.iter().find(|&&(own, _)| own == Some(symbol))?;
        facts.argument(file, call, symbol, parameter).map(|own| own.value)
    })
}

/// Whether data are multiplied by what was drawn, and not by a variable that begins with it.
pub(super) fn multiplies(job: &Job<'_>, drawn: Place, products: &[(Place, Place)]) -> bool {
    if products.is_empty() {
        return false;
    }
    let facts = job.facts;
    let is_other = |place: Place| {
        let (file, value) = place;
        [Kind::Variable, Kind::Layer, Kind::Model, Kind::Dataset]
            .into_iter()
            .any(|kind| facts.may_be(file, value, kind))
            || facts.gives(place, &[Effect::Agrees])
            || products.iter().any(|&(product, _)| product == place)
    };
    let drawn = facts.influence().forwards(&[drawn], is_other);
    products.iter().any(|&(_, by)| drawn.contains(&by) && !is_other(by))
}
