//! What a loop can train: an object that the program never makes, or only after the loop's last run, is none of it.
//!
//! Value flow knows neither programs nor time. Code that several programs share trains what each of them gives it. A
//! function that reads the global `model` may read each model that is ever bound to it, also the one that a script
//! makes at its end to load the trained weights into. A module's own code runs once, from top to bottom: where both
//! the making and the training begin there, the order is known.

use rustc_hash::FxHashSet;

use super::conditions::reaches;
use super::facts::Facts;
use super::loops::TrainingLoop;
use super::modules::FunctionRef;
use super::object::ObjectId;
use super::programs::Program;
use super::solver::Caller;
use crate::project::FileId;
use crate::semantic::{CallId, Module};

/// A call, somewhere in the project.
type Site = (FileId, CallId);

/// Takes from each loop of a program the steps that other programs make, and the models and optimizers that do not
/// exist when it runs: not yet, or in other programs only. What `handed` functions do, nobody knows when.
pub(super) fn forget_missing_objects(
    facts: &Facts<'_>,
    program: &mut Program,
    handed: &FxHashSet<FunctionRef>,
) {
    let mut loops = std::mem::take(&mut program.loops);
    let mut steps_of_fit = std::mem::take(&mut program.steps_of_fit);
    let clock = Clock { facts, program, handed };
    for own in loops.iter_mut().chain(&mut steps_of_fit) {
        clock.forget_missing_objects(own);
    }
    program.loops = loops;
    program.steps_of_fit = steps_of_fit;
}

struct Clock<'f, 'a> {
    facts: &'f Facts<'a>,
    program: &'f Program,
    handed: &'f FxHashSet<FunctionRef>,
}

impl Clock<'_, '_> {
    fn forget_missing_objects(&self, own: &mut TrainingLoop) {
        for objects in [&mut own.models, &mut own.optimizers, &mut own.datasets] {
            objects.retain(|&object| {
                self.facts
                    .made_at(object)
                    .is_none_or(|(file, call)| self.facts.runs(self.program, file, call))
            });
        }
        for steps in [&mut own.gradients, &mut own.steps, &mut own.by_hand] {
            steps.retain(|&(file, call)| self.facts.runs(self.program, file, call));
        }
        let last = own.steps.iter().chain(&own.by_hand).copied().chain([(own.caller.file, own.call)]);
        let begins: Option<Vec<Vec<Site>>> = last.map(|site| self.begins(site)).collect();
        let Some(runs) = begins.map(|begins| begins.concat()) else { return };
        for objects in [&mut own.models, &mut own.optimizers] {
            objects.retain(|&object| self.may_precede(object, &runs));
        }
    }

    /// Whether an object may be there when code runs that begins at one of the sites.
    fn may_precede(&self, object: ObjectId, runs: &[Site]) -> bool {
        let made = self.facts.made_at(object).and_then(|site| self.begins(site));
        made.is_none_or(|made| {
            made.iter().any(|&from| runs.iter().any(|&to| from.0 != to.0 || self.leads(from, to)))
        })
    }

    /// The calls in the own code of modules that lead to a call; `None` where it may run at another time, too.
    fn begins(&self, site: Site) -> Option<Vec<Site>> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![site];
        while let Some((file, call)) = work.pop() {
            let caller = Caller { file, scope: self.facts.module(file).call(call).scope };
            if caller.scope == Module::TOP {
                found.push((file, call));
                continue;
            }
            if !seen.insert(caller) {
                continue;
            }
            let function = self.facts.function_of(caller)?;
            let own = self.facts.module(file).function(function.function);
            // A generator runs when it is asked for a value, a coroutine when it is awaited.
            if own.generator || own.asynchronous || self.handed.contains(&function) {
                return None;
            }
            for edge in self.facts.incoming(function) {
                if self.facts.is_run(self.program, edge) {
                    let call = edge.call.filter(|_| !Facts::is_call_back(edge))?;
                    work.push((edge.caller.file, call));
                }
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Whether control may come from one call of a module's own code to another, or to itself.
    fn leads(&self, (file, from): Site, (_, to): Site) -> bool {
        let module = self.facts.module(file);
        let (from, to) = (module.call(from), module.call(to));
        let flow = &module.scope(Module::TOP).flow;
        let onwards = || flow.blocks[from.block.index()].successors.iter();
        // An argument is evaluated before the call that it is for.
        from.block == to.block && from.range.end() <= to.range.end()
            || onwards().any(|&next| reaches(flow, next, to.block))
    }
}
