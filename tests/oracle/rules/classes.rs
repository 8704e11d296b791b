//! The relation `<:` of section 2.2.1: whether the class that an expression specifies is a subclass.
//!
//! The seed takes it from an analysis of the class hierarchy and does not say more. Here a class is specified by a
//! name or a dotted path; imports say which class of the library that is, and class statements of the module add
//! their own.

use std::collections::BTreeMap;

use hvdlint::syntax::ast::{Expr, Stmt};

use crate::tree::path;

/// Base class of all optimizers.
pub const OPTIMIZER: &str = "tensorflow.keras.optimizers.Optimizer";
/// Base class of all schedules.
pub const SCHEDULE: &str = "tensorflow.keras.optimizers.schedules.LearningRateSchedule";
/// The schedule without an initial rate.
pub const PIECEWISE: &str = "tensorflow.keras.optimizers.schedules.PiecewiseConstantDecay";
/// Its older name.
pub const EXPERIMENTAL_PIECEWISE: &str = "tensorflow.keras.experimental.PiecewiseConstantDecay";
/// A function, which the seed treats as a class.
pub const EXPONENTIAL_DECAY: &str = "tensorflow.compat.v1.train.exponential_decay";
/// Base class of all models.
pub const MODEL: &str = "tensorflow.keras.models.Model";

/// The library's classes that the tests use, with their bases.
const LIBRARY: &[(&str, &[&str])] = &[
    (OPTIMIZER, &["Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD"]),
    (
        SCHEDULE,
        &[
            "schedules.CosineDecay",
            "schedules.ExponentialDecay",
            "schedules.InverseTimeDecay",
            "schedules.PiecewiseConstantDecay",
            "schedules.PolynomialDecay",
        ],
    ),
];

/// What the names of a module specify.
#[derive(Debug, Default)]
pub struct Classes {
    /// Local name to qualified name.
    names: BTreeMap<String, String>,
    /// Class of the module to what it derives from.
    bases: BTreeMap<String, Vec<String>>,
}

impl Classes {
    /// Reads the imports and class statements at the top level of a module, in their order.
    pub fn of(module: &[Stmt]) -> Classes {
        let mut classes = Classes::default();
        for stmt in module {
            match stmt {
                Stmt::Import(import) => {
                    for alias in &import.names {
                        let first = alias.name.id.split('.').next().unwrap_or_default();
                        let (local, whole) = match &alias.asname {
                            Some(local) => (local.id.as_str(), alias.name.id.as_str()),
                            None => (first, first),
                        };
                        classes.names.insert(local.to_owned(), whole.to_owned());
                    }
                }
                Stmt::ImportFrom(import) => {
                    let module = import.module.as_ref().map_or("", |module| module.id.as_str());
                    for alias in &import.names {
                        let local = alias.asname.as_ref().unwrap_or(&alias.name);
                        let whole = format!("{module}.{}", alias.name.id);
                        classes.names.insert(local.id.to_string(), whole);
                    }
                }
                Stmt::ClassDef(class) => {
                    let bases = class.arguments.iter().flat_map(|arguments| &arguments.args);
                    let bases = bases.filter_map(|base| classes.qualified(base)).collect();
                    classes.bases.insert(class.name.id.to_string(), bases);
                }
                _ => {}
            }
        }
        classes
    }

    /// `expr <: class`
    pub fn is_subclass(&self, expr: &Expr, class: &str) -> bool {
        self.qualified(expr).is_some_and(|name| self.derives(&name, class))
    }

    fn derives(&self, name: &str, class: &str) -> bool {
        let own = || self.bases.get(name).into_iter().flatten().any(|base| self.derives(base, class));
        name == class || library_base(name) == Some(class) || own()
    }

    fn qualified(&self, expr: &Expr) -> Option<String> {
        let path = path(expr)?;
        let (first, rest) = path.split_first()?;
        let first = match self.names.get(*first) {
            Some(whole) => whole.clone(),
            None => (*first).to_owned(),
        };
        let whole = std::iter::once(first.as_str()).chain(rest.iter().copied()).collect::<Vec<_>>().join(".");
        Some(canonical(&whole))
    }
}

/// The base that the library gives a class.
fn library_base(name: &str) -> Option<&'static str> {
    if name == "tensorflow.keras.models.Sequential" {
        return Some(MODEL);
    }
    let name = name.strip_prefix("tensorflow.keras.optimizers.")?;
    let name = name.strip_prefix("legacy.").unwrap_or(name);
    LIBRARY.iter().find(|(_, classes)| classes.contains(&name)).map(|(base, _)| *base)
}

/// One of the names under which the library has the same class.
fn canonical(name: &str) -> String {
    for (other, one) in [
        ("keras.", "tensorflow.keras."),
        ("tensorflow.optimizers.", "tensorflow.keras.optimizers."),
        ("tensorflow.keras.Model", MODEL),
        ("tensorflow.keras.Sequential", "tensorflow.keras.models.Sequential"),
    ] {
        if let Some(rest) = name.strip_prefix(other) {
            return canonical(&format!("{one}{rest}"));
        }
    }
    name.to_owned()
}
