//! How values are computed, so that what is asked at one place can be told from what is asked at another.

use super::super::model::Model;
use super::junctions::{AND, OR};
use super::kept::kept;
use super::{Number, calls, number};
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{BranchKind, Constant, Operator, Value, ValueId};

/// A value by how it is computed: equal keys are equal values on each rank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// This very value.
    Place(FileId, u32),
    /// The rank's number.
    Number(Number),
    /// A literal.
    Constant(Box<str>),
    /// What a function stores.
    Stored(Caller),
    /// An operator or an attribute, by name, of other values.
    Of(Box<str>, Box<[Key]>),
}

impl Model<'_> {
    /// How a value is computed.
    #[must_use]
    pub fn key(&self, place: Place) -> Key {
        self.key_within(place, 0)
    }

    fn key_within(&self, place: Place, depth: u32) -> Key {
        let facts = self.facts;
        let (file, value) = place;
        let itself = || Key::Place(file, u32::try_from(value.index()).unwrap_or(u32::MAX));
        if depth > 6 {
            return itself();
        }
        let of = |name: &str, operands: &[ValueId]| {
            let operands = operands.iter().map(|&operand| self.key_within((file, operand), depth + 1));
            Key::Of(name.into(), operands.collect())
        };
        if let Some(number) = number(facts, place) {
            return Key::Number(number);
        }
        let module = facts.module(file);
        match &module.value(value).value {
            Value::Constant(Constant::Str(name)) => {
                Key::Constant(format!("'{}", module.names.text(*name)).into())
            }
            Value::Constant(constant) => Key::Constant(format!("{constant:?}").into()),
            Value::Operator { operator, left, right } => {
                let name = match operator {
                    Operator::Binary(method)
                    | Operator::InPlace(method)
                    | Operator::Compare(method)
                    | Operator::Unary(method) => method.name(),
                    Operator::Not => "not",
                };
                of(name, &[*left, *right])
            }
            Value::Attribute { base, name, narrowed: None } if self.same(place).is_none() => {
                let name = module.names.text(*name);
                let number = self.number_of_several(place, depth).map(Key::Number);
                let stored = || Some(Key::Of(name.into(), [Key::Stored(self.kept_by(place, *base)?)].into()));
                number.or_else(stored).unwrap_or_else(|| of(name, &[*base]))
            }
            Value::Item { base, key, narrowed: None } if self.same(place).is_none() => {
                of("[.]", &[*base, *key])
            }
            Value::Display(_, elements) if elements.len() < 8 => {
                let at = elements.iter().filter_map(|element| element.written_out());
                of("[]", &at.collect::<Vec<_>>())
            }
            Value::Phi(parts) => {
                let name = match module.junction(module.value(value).range) {
                    Some(BranchKind::And) => Some(AND),
                    Some(BranchKind::Or) => Some(OR),
                    _ => None,
                };
                match (self.number_of_several(place, depth), name) {
                    (Some(number), _) => Key::Number(number),
                    (None, Some(name)) if parts.len() < 8 => of(name, parts),
                    _ => itself(),
                }
            }
            Value::Parameter(..) => self.number_of_several(place, depth).map_or_else(itself, Key::Number),
            Value::Call(call) if let Some((name, arguments)) = calls::range(facts, file, *call) => {
                of(name, &arguments)
            }
            _ => self.same(place).map_or_else(itself, |same| self.key_within(same, depth + 1)),
        }
    }

    /// Which number of a rank a value is where there are several ranks, and a constant where there is one:
    /// `rank = hvd.rank() if distributed else 0`.
    fn number_of_several(&self, place: Place, depth: u32) -> Option<Number> {
        let facts = self.facts;
        let is_constant =
            |&(file, value): &Place| matches!(facts.module(file).value(value).value, Value::Constant(_));
        // What an attribute is does not depend on what else its object has.
        let object = match facts.module(place.0).value(place.1).value {
            Value::Attribute { base, .. } => Some((place.0, base)),
            _ => None,
        };
        let given = match facts.module(place.0).value(place.1).value {
            Value::Attribute { base, name, .. } => kept(facts, place.0, base, name),
            _ => Vec::new(),
        };
        let operands = facts.influence().operands(place).filter(|part| Some(*part) != object);
        let mut parts = operands.chain(given).filter(|part| !is_constant(part));
        let number = |part: Place| match self.difference(part).map(|_| self.key_within(part, depth + 1)) {
            Some(Key::Number(number)) => Some(number),
            _ => None,
        };
        let first = number(parts.next()?)?;
        parts.all(|part| number(part) == Some(first)).then_some(first)
    }
}
