//! Restriction 5: datasets and optimizers are created once, by `name = call(...)`, and have that name only.

use super::objects::Family;
use super::{Context, assigned_once, check};
use crate::finding::Finding;

check!("HVD005", "object-not-assigned-once", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    assigned_once::findings(context, &CHECK.rule, Family::DatasetsAndOptimizers)
}
