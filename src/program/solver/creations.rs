//! Objects by the places that make them, as long as these are few.

use super::super::hierarchy::Ancestor;
use super::super::object::{NodeId, Object, ObjectId};
use super::Solver;
use crate::api::Kind;

/// How many creation sites of one class or library function are told apart in a component.
const SITES: u32 = 64;

impl Solver<'_> {
    /// Whether each object of a kind matters by itself, however many there are: rules act on optimizers, not on
    /// layers.
    fn is_told_apart(&self, kind: Object) -> bool {
        let symbol = match kind {
            Object::Created(external, _) => self.externals.get(external).symbol,
            Object::Instance(class, _) => {
                self.hierarchy.order(class).iter().find_map(|ancestor| match ancestor {
                    Ancestor::External(path) => self.externals.library().lookup(path),
                    _ => None,
                })
            }
            _ => None,
        };
        symbol.filter(|symbol| symbol.is_class()).is_some_and(|symbol| {
            !matches!(
                self.externals.library().kind_of_class(symbol),
                Kind::Layer
                    | Kind::Loss
                    | Kind::Metric
                    | Kind::Tensor
                    | Kind::Variable
                    | Kind::Random
                    | Kind::Other
            )
        })
    }

    /// An object for what is created at `site`: its own, unless too many of the kind are.
    pub(super) fn creation(&mut self, kind: Object, site: NodeId) -> ObjectId {
        let count = self.creations.entry(kind).or_default();
        let own = |site: NodeId| match kind {
            Object::Instance(class, _) => Object::Instance(class, Some(site)),
            Object::Created(symbol, _) => Object::Created(symbol, site),
            other => other,
        };
        if let Some(known) = self.objects.find(own(site)) {
            return known;
        }
        *count += 1;
        if *count > SITES && !self.is_told_apart(kind) {
            return self.objects.id(kind);
        }
        self.objects.id(own(site))
    }
}
