//! From a project's programs to findings: steps, imports, and what withholds the fixes.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::common::Common;
use super::initialisation;
use super::job::Job;
use super::names::Import;
use super::output::decided_by_first;
use super::step::{Outcome, Step};
use super::unstarted::Runner;
use super::{DISTRIBUTION, DistributionRule, INITIALISATION};
use crate::checks::Context;
use crate::finding::{Applicability, Confidence, Edit, Finding, Fix, Group, Level, Location, Rule};
use crate::program::{Caller, Facts, Pattern, Program};
use crate::project::FileId;
use crate::semantic::Module;

/// Why the fixes of a program are withheld.
#[derive(Clone, Debug)]
struct Refusal {
    location: Location,
    reason: String,
    /// A finding of its own tells it.
    is_told: bool,
    /// A fix of its own takes it out of the way first.
    is_mended: bool,
}

/// What one program needs.
struct Plan<'c> {
    program: &'c Program,
    /// The file that starts Horovod by being imported, where the plan writes that.
    start: Option<FileId>,
    steps: Vec<Step>,
    /// Why the fixes are withheld, if they are.
    refusal: Option<Refusal>,
}

/// The findings of all programs.
pub(super) fn findings(context: Context<'_>, restrictions: &[Finding]) -> Vec<Finding> {
    let Context { facts, texts, .. } = context;
    let traced = facts.traced();
    let nothing = Common::default();
    let programs: Vec<&Program> =
        facts.programs.iter().filter(|program| program.pattern != Pattern::None).collect();
    let alone: Vec<Job<'_>> = programs
        .into_par_iter()
        .filter_map(|program| Job::new(facts, texts, program, &traced, &nothing))
        .collect();
    let common = Common::of(&alone);
    let steps_of = |job: &Job<'_>| -> Vec<Step> {
        let of_rules = DISTRIBUTION.iter().flat_map(|rule| context.unless_cancelled(|| (rule.steps)(job)));
        of_rules.chain(context.unless_cancelled(|| decided_by_first::steps(job))).collect()
    };
    let jobs = alone.into_par_iter().map(|job| job.among(&common));
    let begun: Vec<(Vec<Step>, Job<'_>)> = jobs.map(|job| (steps_of(&job), job)).collect();
    let needed = needed(begun.iter().flat_map(|(steps, _)| steps));
    if context.cancellation.is_requested() {
        return Vec::new();
    }
    let plans = begun.into_par_iter().map(|(steps, job)| plan(&job, steps, &needed, restrictions));
    let mut plans: Vec<Plan<'_>> = plans.filter(|plan| !plan.steps.is_empty()).collect();
    let units = units(facts, &common, &mut plans);
    let mut seen: FxHashMap<(&str, Location), usize> = FxHashMap::default();
    let mut found: Vec<Finding> = Vec::new();
    for (plan, unit) in plans.into_iter().zip(units) {
        for step in plan.steps {
            let key = (step.finding.rule.code, step.finding.primary.location);
            if let Some(&known) = seen.get(&key) {
                bring_own_imports(&mut found[known], step);
            } else {
                seen.insert(key, found.len());
                found.push(finding(facts, step, plan.refusal.as_ref(), unit));
            }
        }
    }
    found
}

/// What some rules find that the checks of ranks tell.
pub(super) fn findings_between_ranks(context: Context<'_>, rules: &[&DistributionRule]) -> Vec<Finding> {
    let Context { facts, texts, .. } = context;
    let (traced, common) = (facts.traced(), Common::default());
    let programs = facts.programs.iter().filter(|program| program.already_distributed);
    let jobs = programs.filter_map(|program| Job::new(facts, texts, program, &traced, &common));
    let of_job = |job: &Job<'_>| -> Vec<Finding> {
        let steps = rules.iter().flat_map(|rule| context.unless_cancelled(|| (rule.steps)(job)));
        steps.map(|step| finding(facts, step, None, job.program.entry)).collect()
    };
    jobs.flat_map(|job| of_job(&job)).filter(|finding| finding.rule.group == Group::Ranks).collect()
}

/// Several programs may run one loop, which is told once: where Horovod is started the files of each of them get the imports
/// that they need.
fn bring_own_imports(known: &mut Finding, step: Step) {
    if let Some(fix) = &mut known.fix
        && known.rule.code == INITIALISATION.rule.code
        && let Outcome::Change { edits, .. } = step.outcome
    {
        fix.edits.extend(edits);
        sort(&mut fix.edits);
    }
}

/// The names that steps use, file by file: those of several programs, so that a file that they share gets each once.
fn needed<'s>(steps: impl Iterator<Item = &'s Step>) -> BTreeMap<FileId, Vec<Import>> {
    let mut needed: BTreeMap<FileId, Vec<Import>> = BTreeMap::new();
    for step in steps {
        if let Outcome::Change { uses, .. } = &step.outcome {
            for &(file, import) in uses {
                needed.entry(file).or_default().push(import);
            }
        }
    }
    needed
}

fn plan<'c>(
    job: &Job<'c>,
    mut steps: Vec<Step>,
    needed: &BTreeMap<FileId, Vec<Import>>,
    restrictions: &[Finding],
) -> Plan<'c> {
    let mut files: Vec<FileId> = steps.iter().flat_map(|step| step.outcome.files()).collect();
    files.sort_unstable();
    files.dedup();
    let mut all = initialisation::steps(job, &files, needed);
    if job.program.already_distributed {
        bring_imports(job, &mut steps, needed);
        for step in &mut steps {
            let is_of_taste = OF_TASTE.iter().any(|rule| rule.code == step.finding.rule.code);
            if is_of_taste {
                step.finding.confidence = Confidence::Possible;
            }
        }
    }
    all.append(&mut steps);
    let refusal = refusal(job, &all, restrictions);
    let start = Some(job.owner()).filter(|&owner| job.is_start(owner));
    Plan { program: job.program, start, steps: all, refusal }
}

/// What who distributed a program by hand may have left out on purpose: lines of every rank, rates that don't grow. What
/// several ranks write is told by the model of the ranks, which sees more of it.
const OF_TASTE: [&Rule; 4] = [
    &super::learning_rate::RULE.rule,
    &super::schedule::RULE.rule,
    &super::output::RULE.rule,
    &super::checkpoint::RULE.rule,
];

/// Gives each step the imports of the files that it changes: those of a file are written once, however many steps bring
/// them.
fn bring_imports(job: &Job<'_>, steps: &mut [Step], needed: &BTreeMap<FileId, Vec<Import>>) {
    let mut known: FxHashMap<FileId, Vec<Edit>> = FxHashMap::default();
    for step in steps {
        let Outcome::Change { edits, uses, .. } = &mut step.outcome else { continue };
        let files: BTreeSet<FileId> = uses.iter().map(|&(file, _)| file).collect();
        for file in files {
            let imports = known.entry(file).or_insert_with(|| initialisation::imports(job, file, needed));
            edits.extend(imports.iter().cloned());
        }
    }
}

/// Why a program's fixes are withheld: an error of a restriction in its files, or a step that can't be made. What no fix
/// mends counts before what one does.
fn refusal(job: &Job<'_>, steps: &[Step], restrictions: &[Finding]) -> Option<Refusal> {
    let files = job.program.files();
    let is_mended =
        |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe);
    let refusal = |finding: &Finding, is_mended: bool| Refusal {
        location: finding.primary.location,
        reason: format!("{} ({})", finding.message, finding.rule.name),
        is_told: true,
        is_mended,
    };
    let errors = restrictions.iter().filter(|finding| {
        finding.level == Level::Error
            && finding.confidence == Confidence::Certain
            && files.contains(&finding.primary.location.file)
            && !decided_by_first::is_decided(job, finding)
    });
    let (mended, kept): (Vec<&Finding>, Vec<&Finding>) = errors.partition(|own| is_mended(own));
    let blocked = steps.iter().filter(|step| matches!(step.outcome, Outcome::Blocked(_)));
    let mut standing = kept.into_iter().chain(blocked.map(|step| &step.finding));
    match standing.next() {
        Some(finding) => Some(refusal(finding, false)),
        None => mended.first().map(|finding| refusal(finding, true)),
    }
}

/// The unit of each plan: programs that change a file in common are distributed together or not at all. A file that
/// a program runs which is not distributed stays as it is.
fn units(facts: &Facts<'_>, common: &Common, plans: &mut [Plan<'_>]) -> Vec<FileId> {
    let mut unit: Vec<usize> = (0..plans.len()).collect();
    let mut first: FxHashMap<FileId, usize> = FxHashMap::default();
    for (index, plan) in plans.iter().enumerate() {
        for file in edited(plan) {
            let other = *first.entry(file).or_insert(index);
            let (from, to) = (unit[index].max(unit[other]), unit[index].min(unit[other]));
            for own in &mut unit {
                if *own == from {
                    *own = to;
                }
            }
        }
    }
    for plan in &mut *plans {
        if plan.refusal.is_none() {
            plan.refusal = shared_with_another(facts, common, plan);
        }
    }
    let refused: FxHashMap<usize, Refusal> =
        plans.iter().zip(&unit).filter_map(|(plan, &unit)| Some((unit, plan.refusal.clone()?))).collect();
    for (plan, unit) in plans.iter_mut().zip(&unit) {
        if plan.refusal.is_none() {
            plan.refusal = refused.get(unit).cloned();
        }
    }
    let entries: Vec<FileId> = plans.iter().map(|plan| plan.program.entry).collect();
    unit.into_iter().map(|unit| entries[unit]).collect()
}

fn edited(plan: &Plan<'_>) -> FxHashSet<FileId> {
    let edits = plan.steps.iter().flat_map(|step| match &step.outcome {
        Outcome::Change { edits, .. } => edits.as_slice(),
        _ => &[],
    });
    edits.map(|edit| edit.location.file).collect()
}

/// Code that would ask Horovod although it runs also where nothing starts Horovod.
fn shared_with_another(facts: &Facts<'_>, common: &Common, plan: &Plan<'_>) -> Option<Refusal> {
    let unstarted = common.unstarted(facts);
    let leading = OnceCell::new();
    let mut found = Vec::new();
    for step in &plan.steps {
        let Outcome::Change { edits, uses, .. } = &step.outcome else { continue };
        let told = step.finding.primary.location;
        let edits = edits.iter().map(|edit| edit.location);
        let is_right =
            |file| file == plan.program.entry || Some(file) == plan.start || step.everywhere.contains(&file);
        for at in edits.filter(|at| !is_right(at.file)) {
            let code = facts.code_at(at);
            match unstarted.runner(code) {
                // A program that does not train runs nothing that leads to a training loop.
                Some(Runner::Program(_))
                    if leading.get_or_init(|| leading_to_loops(facts, plan.program)).contains(&code) => {}
                // A module by itself does without what it loses.
                Some(Runner::Alone) if uses.is_empty() => {}
                Some(runner) => found.push((runner, if told.file == at.file { told } else { at })),
                None => {}
            }
        }
    }
    let (runner, location) = found.into_iter().min_by_key(|&(runner, at)| (runner, at))?;
    let reason = match runner {
        Runner::Program(entry) => {
            let name = &facts.modules.names[entry.index()];
            format!("the program `{name}` runs this file too, and does not start Horovod")
        }
        Runner::Alone => "the file also runs this code by itself, and does not start Horovod then".to_owned(),
    };
    Some(Refusal { location, reason, is_told: false, is_mended: false })
}

/// The functions that train, and those that call them.
fn leading_to_loops(facts: &Facts<'_>, program: &Program) -> FxHashSet<Caller> {
    let mut leading = FxHashSet::default();
    let mut work: Vec<Caller> =
        program.loops.iter().chain(&program.steps_of_fit).map(|own| own.caller).collect();
    while let Some(caller) = work.pop() {
        // What a module trains under a guard only its main program does.
        if caller.scope != Module::TOP && leading.insert(caller) {
            let calls = facts.function_of(caller).map_or(&[][..], |function| facts.incoming(function));
            work.extend(calls.iter().filter(|edge| !facts.is_mere_wrapping(edge)).map(|edge| edge.caller));
        }
    }
    leading
}

/// The finding of a step: with its fix, unless the program is refused.
fn finding(facts: &Facts<'_>, step: Step, refusal: Option<&Refusal>, unit: FileId) -> Finding {
    let mut finding = step.finding;
    match step.outcome {
        Outcome::Blocked(reason) => {
            finding.level = Level::Error;
            finding.notes.push(reason);
        }
        Outcome::Change { applicability, message, mut edits, .. } => {
            if let Some(Refusal { location, reason, is_told, is_mended }) = refusal {
                if finding.rule.code == INITIALISATION.rule.code
                    && !finding.labels.iter().any(|label| label.location == *location)
                {
                    finding = finding.label(*location, "stands in the way");
                    if !is_told {
                        finding.level = Level::Error;
                    }
                    let file = &facts.modules.names[location.file.index()];
                    finding.notes.push(if *is_mended {
                        format!("The program can't be distributed before this is mended: in `{file}`, {reason}.")
                    } else {
                        format!(
                            "The program can't be distributed as it is, and `--fix` leaves it alone: in `{file}`, {reason}."
                        )
                    });
                }
            } else {
                sort(&mut edits);
                // One that changes what the program means is a choice of its own.
                let unit = (applicability == Applicability::Safe).then_some(unit);
                finding.fix = Some(Fix { applicability, message, edits, unit });
            }
        }
        Outcome::ByHand => {}
    }
    finding
}

fn sort(edits: &mut Vec<Edit>) {
    edits.sort_by_key(|edit| edit.location);
    edits.dedup();
}
