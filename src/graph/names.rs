//! What values are called in messages.

use super::Graph;
use crate::project::FileId;
use crate::semantic::{Value, ValueId};

impl Graph<'_> {
    /// The name that the source reads a value by: `x`, `self.count`.
    pub(super) fn name(&self, file: FileId, value: ValueId) -> Option<String> {
        let module = self.module(file);
        match module.value(value).value {
            Value::Attribute { base, name, .. } => {
                Some(format!("{}.{}", self.name(file, base)?, module.names.text(name)))
            }
            Value::Cell(variable) => Some(module.variable_name(variable).to_owned()),
            Value::Parameter(function, index) => {
                let parameter = &module.function(function).parameters[index as usize];
                Some(module.names.text(parameter.name).to_owned())
            }
            _ => {
                let definition = module.definitions.iter().find(|definition| definition.value == value)?;
                Some(module.variable_name(definition.variable).to_owned())
            }
        }
    }

    /// The name in back quotes, or other words.
    pub(super) fn named(&self, file: FileId, value: ValueId, otherwise: &str) -> String {
        self.name(file, value).map_or_else(|| otherwise.to_owned(), |name| format!("`{name}`"))
    }
}
