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

/// The products of matrices among some values.
#[derive(Debug, Default)]
pub(super) struct Products {
    results: FxHashSet<Place>,
    /// What is multiplied by.
    by: Vec<Place>,
}

impl Products {
    pub(super) fn among(job: &Job<'_>, values: &FxHashSet<Place>) -> Self {
        let facts = job.facts;
        let mut found = Self::default();
        for &(file, value) in values {
            let by = match facts.module(file).value(value).value {
                Value::Operator {
                    operator: Operator::Binary(Method::MATMUL) | Operator::InPlace(Method::MATMUL),
                    right,
                    ..
                } => Some(right),
                Value::Call(call) => by_call(job, file, call),
                _ => None,
            };
            if let Some(by) = by {
                found.results.insert((file, value));
                found.by.push((file, by));
            }
        }
        found
    }

    /// Whether data are multiplied by what was drawn, and not by a variable that begins with it.
    pub(super) fn are_by(&self, job: &Job<'_>, drawn: Place) -> bool {
        if self.by.is_empty() {
            return false;
        }
        let facts = job.facts;
        let is_other = |place: Place| {
            let (file, value) = place;
            [Kind::Variable, Kind::Layer, Kind::Model, Kind::Dataset]
                .into_iter()
                .any(|kind| facts.may_be(file, value, kind))
                || facts.gives(place, &[Effect::Agrees])
                || self.results.contains(&place)
        };
        let drawn = facts.influence().forwards(&[drawn], is_other);
        self.by.iter().any(|&by| drawn.contains(&by) && !is_other(by))
    }
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
