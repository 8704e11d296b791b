//! Restriction 10: checkpoints and their managers are created once, by `name = call(...)`, and have that name
//! only.

use super::objects::Family;
use super::{Context, assigned_once, check};
use crate::finding::Finding;

check!("HVD010", "checkpoint-not-assigned-once", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    assigned_once::findings(context, &CHECK.rule, Family::Checkpoints)
}
