//! Programs by themselves: what is found only where the programs of a repository are looked at together is only possible.
//!
//! Value flow knows no contexts: what one program passes to a function that many share comes to all of them, and so does
//! what tests draw and pass. So the programs that a finding between ranks or in a graph is about are analysed once more
//! as they run, each with the files that it imports and with nothing else.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis;
use crate::checks::Context;
use crate::finding::{Confidence, Finding, Group, Location};
use crate::program::{Facts, Program};
use crate::project::FileId;
use crate::ranks::apart::modes;
use crate::semantic::Module;

/// How often the values of all files may be looked at again, so that many programs that share much cost no more than a
/// few.
const BUDGET: usize = 4;

/// Takes certainty from what no program shows by itself, and tells what is left as the program shows it: its own calls
/// and places, and not those of another.
pub fn doubt(context: Context<'_>, findings: &mut Vec<Finding>) {
    let facts = context.facts;
    let mut left = BUDGET * facts.modules.files().map(|file| facts.module(file).values.len()).sum::<usize>();
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    for (index, finding) in findings.iter_mut().enumerate().filter(|(_, own)| own.is_certain_of_runs()) {
        let reaching = programs_with(facts, finding.primary.location);
        let (programs, others): (Vec<_>, Vec<_>) =
            reaching.into_iter().partition(|&own| may_show(facts, &facts.programs[own], finding));
        let file = finding.primary.location.file;
        let is_not_run =
            facts.modules.has_tests(file) || programs.is_empty() && facts.fails_at(file).is_some();
        if is_not_run || programs.is_empty() && !others.is_empty() {
            finding.confidence = Confidence::Possible;
        } else {
            open.push((index, programs));
        }
    }
    // The findings that are told as the programs together show them.
    let mut together: FxHashSet<usize> = FxHashSet::default();
    let mut alone = Alone { context, shown: FxHashMap::default() };
    loop {
        let frequent = most_frequent(&open);
        let Some(&program) = frequent.first() else { break };
        let entry = facts.programs[program].entry;
        let files = facts.own_files(entry);
        if is_all(facts, entry, &files) {
            for (index, programs) in open.iter_mut().filter(|(_, programs)| programs.contains(&program)) {
                findings[*index].confidence = Confidence::Certain;
                together.insert(*index);
                programs.clear();
            }
            continue;
        }
        let size = size(facts, &files);
        if size > left {
            break;
        }
        if context.cancellation.is_requested() {
            return;
        }
        let shown = alone.shown_by(&frequent, left);
        left -= size;
        for (index, programs) in open.iter_mut().filter(|(_, programs)| programs.contains(&program)) {
            let finding = &mut findings[*index];
            let same = shown.iter().filter(|own| is_same(own, finding));
            let differs = |own: &&Finding| (own.primary != finding.primary, own.message != finding.message);
            if let Some(same) = same.min_by_key(differs) {
                *finding = Finding { fix: finding.fix.take(), ..same.clone() };
            } else {
                finding.confidence = Confidence::Possible;
            }
            if finding.confidence == Confidence::Certain {
                programs.clear();
            } else {
                programs.retain(|own| *own != program);
            }
        }
    }
    together.extend(open.iter().filter(|(_, programs)| !programs.is_empty()).map(|&(index, _)| index));
    let own = findings.iter_mut().enumerate().filter(|(index, _)| together.contains(index));
    modes::doubt(context.project, facts, own.map(|(_, finding)| finding));
    tell_once(findings);
}

/// Leaves one of the findings that say the same of the same place: a callback that is given to two calls of `fit`.
fn tell_once(findings: &mut Vec<Finding>) {
    let mut told: FxHashSet<(&str, Location, String)> = FxHashSet::default();
    findings.retain(|own| {
        !own.is_certain_of_runs() || told.insert((own.rule.code, own.primary.location, own.message.clone()))
    });
}

/// The programs that findings wait for, those of most findings first.
fn most_frequent(open: &[(usize, Vec<usize>)]) -> Vec<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for &program in open.iter().flat_map(|(_, programs)| programs) {
        *counts.entry(program).or_default() += 1;
    }
    let mut programs: Vec<(usize, usize)> = counts.into_iter().collect();
    programs.sort_by_key(|&(program, count)| (Reverse(count), program));
    programs.into_iter().map(|(program, _)| program).collect()
}

/// How many values there are in some files.
fn size(facts: &Facts<'_>, files: &FxHashSet<FileId>) -> usize {
    files.iter().map(|&file| facts.module(file).values.len()).sum()
}

/// How many programs are analysed at once, each of which holds all that is known of it.
const AT_ONCE: usize = 4;

/// What is certain of programs by themselves.
struct Alone<'c> {
    context: Context<'c>,
    shown: FxHashMap<usize, Vec<Finding>>,
}

impl Alone<'_> {
    /// What is certain of the first of some programs. Threads that would have nothing to do analyse those meanwhile that
    /// are most likely asked for next and are no larger than `most` values; whether they were has no influence.
    fn shown_by(&mut self, programs: &[usize], most: usize) -> Vec<Finding> {
        let Some(&first) = programs.first() else { return Vec::new() };
        if !self.shown.contains_key(&first) {
            let facts = self.context.facts;
            let is_due = |program: &usize| {
                let entry = facts.programs[*program].entry;
                let files = facts.own_files(entry);
                !self.shown.contains_key(program)
                    && (*program == first || size(facts, &files) <= most && !is_all(facts, entry, &files))
            };
            let at_once = rayon::current_num_threads().min(AT_ONCE);
            let due: Vec<usize> = programs.iter().copied().filter(is_due).take(at_once).collect();
            let shown: Vec<(usize, Vec<Finding>)> =
                due.par_iter().map(|&program| (program, self.analysed(program))).collect();
            self.shown.extend(shown);
        }
        self.shown.remove(&first).unwrap_or_default()
    }

    /// What is certain of a program by itself.
    fn analysed(&self, program: usize) -> Vec<Finding> {
        let Context { facts: together, project, .. } = self.context;
        let entry = together.programs[program].entry;
        let found = |facts: &Facts<'_>| {
            let mut found = analysis::findings_of_runs(Context { facts, ..self.context });
            found.retain(Finding::is_certain_of_runs);
            modes::doubt(project, facts, &mut found);
            found
        };
        self.context.unless_cancelled(|| {
            let modules = together.modules.alone(entry, &together.own_files(entry));
            let entries = [together.modules.names[entry.index()].clone()];
            analysis::with_entries(&modules, together.library, &entries, found)
        })
    }
}

/// Whether both say the same of the same place; what is said at the first of several places may begin elsewhere.
fn is_same(own: &Finding, other: &Finding) -> bool {
    own.rule.code == other.rule.code
        && own.labels.iter().chain([&own.primary]).any(|label| label.location == other.primary.location)
}

/// Whether a program has all files that were looked at together with its own, and each does what it does when it is run.
fn is_all(facts: &Facts<'_>, entry: FileId, files: &FxHashSet<FileId>) -> bool {
    let linked = facts.modules.components.around([entry]);
    linked.iter().all(|file| files.contains(file) || facts.module(*file).values.is_empty())
        && files.iter().all(|&file| file == entry || !facts.module(file).has_main_guard())
}

/// Whether what is found in code that a program may run can come true in it: tests are run by one process, and know what
/// tracing does to them; what only shows how something is done is not run.
fn may_show(facts: &Facts<'_>, program: &Program, finding: &Finding) -> bool {
    let at = finding.primary.location;
    let is_foreign_main = || {
        let caller = facts.code_at(at);
        let block = facts.block_at(caller, at).filter(|_| caller.scope == Module::TOP);
        at.file != program.entry && block.is_some_and(|block| facts.is_block_of_main(at.file, block))
    };
    (finding.rule.group != Group::Ranks || program.already_distributed)
        && !facts.modules.has_tests(program.entry)
        && !places_of(finding).any(|at| facts.fails_before(program, at))
        && !is_foreign_main()
}

/// All places that a finding is about.
fn places_of(finding: &Finding) -> impl Iterator<Item = Location> {
    let others = finding.labels.iter().chain(&finding.flow);
    std::iter::once(&finding.primary).chain(others).map(|label| label.location)
}

/// The programs that may run the code at a place.
fn programs_with(facts: &Facts<'_>, at: Location) -> Vec<usize> {
    let caller = facts.code_at(at);
    let reached = facts.programs.iter().map(|program| program.reached.contains(&caller));
    reached.enumerate().filter(|(_, is_reached)| *is_reached).map(|(index, _)| index).collect()
}
