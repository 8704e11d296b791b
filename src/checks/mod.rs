//! The checks: each a question to the facts, in a file of its own.

mod aliases;
mod apply_gradients_nested;
mod assigned_once;
mod checkpoint_not_assigned_once;
pub(crate) mod conditional_training_loop;
mod containers;
mod global_bindings;
mod global_optimizer_order;
mod held;
mod import_not_at_top;
mod loaded_before;
mod loop_in_several_files;
mod loop_not_recognised;
mod model_with_two_loops;
pub(crate) mod object_created_conditionally;
mod object_not_assigned_once;
mod object_variable_reused;
mod objects;
mod print_with_side_effects;
mod reused_attributes;
mod second_names;
mod sources;
mod tensorflow_member_aliased;
mod tensorflow_module_reassigned;
pub mod tool;
mod top_of_module;
mod trained_on;
mod training;
mod training_function_as_value;

pub use loaded_before::{Importers, is_loaded_before, is_loaded_by};
pub use top_of_module::Top;

use rustc_hash::FxHashSet;

use crate::cancellation::Cancellation;
use crate::distribute;
use crate::finding::{Confidence, Finding, Group, Level, Rule};
use crate::graph;
use crate::program::{Facts, Pattern, Program};
use crate::project::{FileId, Project};
use crate::ranks;
use crate::rewrite::Texts;

/// What a check is given.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The files, and what stands beside them.
    pub project: &'a Project,
    /// Everything that is known of the project's code.
    pub facts: &'a Facts<'a>,
    /// The texts that fixes are made in.
    pub texts: &'a Texts<'a>,
    /// Every restriction to the letter: what is a warning is an error.
    pub strict: bool,
    /// Whether anybody still wants to know.
    pub cancellation: Cancellation<'a>,
}

impl Context<'_> {
    /// The level of a violation that the analysis can still follow: a warning, to the letter an error.
    #[must_use]
    pub fn warning(&self) -> Level {
        if self.strict { Level::Error } else { Level::Warning }
    }

    /// What work finds; nothing once nobody wants to know any more.
    pub fn unless_cancelled<T>(&self, work: impl FnOnce() -> Vec<T>) -> Vec<T> {
        if self.cancellation.is_requested() { Vec::new() } else { work() }
    }
}

/// A check: what it is called, and how it is decided.
#[derive(Debug)]
pub struct Check {
    /// Its identity and page.
    pub rule: Rule,
    /// Finds the violations in files of training programs, in any order.
    pub run: fn(Context<'_>) -> Vec<Finding>,
}

/// Restrictions are what our own rewriting asks for. Who distributed a program by hand did without it: in files that imports
/// link to one, a violation is only possible, but for the files of programs that are still to be distributed.
pub fn doubt_in_distributed(facts: &Facts<'_>, findings: &mut [Finding]) {
    let components = &facts.modules.components;
    let distributed = facts.programs.iter().filter(|program| program.already_distributed);
    let by_hand: FxHashSet<FileId> = distributed.map(|program| components.of(program.entry)).collect();
    if by_hand.is_empty() {
        return;
    }
    let trains_alone = |program: &&Program| program.pattern != Pattern::None && !program.already_distributed;
    let alone: FxHashSet<FileId> =
        facts.programs.iter().filter(trains_alone).flat_map(Program::files).collect();
    for finding in findings {
        let is_of_rewriting = matches!(finding.rule.group, Group::Restriction | Group::TrainingLoop);
        let file = finding.primary.location.file;
        if is_of_rewriting && by_hand.contains(&components.of(file)) && !alone.contains(&file) {
            finding.confidence = Confidence::Possible;
        }
    }
}

/// Defines a check's static from its code, name, group and worst level; the page is the file of its name.
macro_rules! check {
    ($code:literal, $name:literal, $group:ident, $level:ident, $run:path) => {
        /// What the check is called, and how it is decided.
        pub static CHECK: crate::checks::Check = crate::checks::Check {
            rule: crate::finding::Rule {
                code: $code,
                name: $name,
                group: crate::finding::Group::$group,
                level: crate::finding::Level::$level,
                page: include_str!(concat!("../../checks/", $name, ".md")),
            },
            run: $run,
        };
    };
}
pub(crate) use check;

/// All checks, in the order of their codes.
pub static CHECKS: &[&Check] = &[
    &import_not_at_top::CHECK,
    &tensorflow_module_reassigned::CHECK,
    &tensorflow_member_aliased::CHECK,
    &print_with_side_effects::CHECK,
    &object_not_assigned_once::CHECK,
    &object_variable_reused::CHECK,
    &object_created_conditionally::CHECK,
    &apply_gradients_nested::CHECK,
    &global_optimizer_order::CHECK,
    &checkpoint_not_assigned_once::CHECK,
    &loop_in_several_files::CHECK,
    &loop_not_recognised::CHECK,
    &model_with_two_loops::CHECK,
    &training_function_as_value::CHECK,
    &conditional_training_loop::CHECK,
];

/// The rules of all checks and the tool's own.
pub static RULES: &[&Rule] = &[
    &import_not_at_top::CHECK.rule,
    &tensorflow_module_reassigned::CHECK.rule,
    &tensorflow_member_aliased::CHECK.rule,
    &print_with_side_effects::CHECK.rule,
    &object_not_assigned_once::CHECK.rule,
    &object_variable_reused::CHECK.rule,
    &object_created_conditionally::CHECK.rule,
    &apply_gradients_nested::CHECK.rule,
    &global_optimizer_order::CHECK.rule,
    &checkpoint_not_assigned_once::CHECK.rule,
    &loop_in_several_files::CHECK.rule,
    &loop_not_recognised::CHECK.rule,
    &model_with_two_loops::CHECK.rule,
    &training_function_as_value::CHECK.rule,
    &conditional_training_loop::CHECK.rule,
    &distribute::initialisation::RULE.rule,
    &distribute::learning_rate::RULE.rule,
    &distribute::schedule::RULE.rule,
    &distribute::optimizer::RULE.rule,
    &distribute::tape::RULE.rule,
    &distribute::broadcast::RULE.rule,
    &distribute::callbacks::RULE.rule,
    &distribute::output::RULE.rule,
    &distribute::checkpoint::RULE.rule,
    &distribute::steps::RULE.rule,
    &distribute::device::RULE.rule,
    &distribute::data::RULE.rule,
    &ranks::out_of_step::CHECK.rule,
    &ranks::replicas_diverge::CHECK.rule,
    &ranks::gradients_not_averaged::RULE,
    &ranks::broadcast_without_effect::CHECK.rule,
    &ranks::write_on_every_rank::CHECK.rule,
    &ranks::name_missing::CHECK.rule,
    &ranks::order_differs_between_ranks::CHECK.rule,
    &ranks::rank_not_called::CHECK.rule,
    &ranks::wrong_horovod_module::CHECK.rule,
    &ranks::misused_horovod_api::CHECK.rule,
    &graph::side_effect_while_tracing::CHECK.rule,
    &graph::trace_time_constant::CHECK.rule,
    &graph::leaked_tensor::CHECK.rule,
    &graph::variable_created_in_traced_function::CHECK.rule,
    &graph::branch_leaves_name_undefined::CHECK.rule,
    &graph::branches_disagree::CHECK.rule,
    &graph::function_left_unconverted::CHECK.rule,
    &graph::exit_from_traced_loop::CHECK.rule,
    &graph::eager_call_on_tensor::CHECK.rule,
    &graph::exception_not_caught::CHECK.rule,
    &graph::retraced_every_call::CHECK.rule,
    &tool::INVALID_SYNTAX,
    &tool::UNUSED_SUPPRESSION,
    &tool::STALE_BASELINE_ENTRY,
];
