//! Restriction 10: checkpoints and their managers are created once, by `name = call(...)`, and have that name
//! only.

use super::objects::Family;
use super::{Context, check, object_not_assigned_once};
use crate::finding::Finding;

check!("HVD010", "checkpoint-not-assigned-once", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    object_not_assigned_once::findings(context, &CHECK.rule, Family::Checkpoints)
}
