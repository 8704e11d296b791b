//! Code that no run with Horovod is known to come to: the other commands of a program of which one starts Horovod, what
//! runs in front of the processes that a program launches, and programs to which the code that they share offers a start
//! that they make nothing of, or that they tell not to start it.

pub mod modes;
mod without;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::api::Effect;
use crate::finding::{Confidence, Finding, Group};
use crate::program::{Caller, Facts, HandedOver, Program, Via, code, handed_over};
use crate::project::FileId;
use crate::semantic::{CallId, Module};

/// Takes certainty from what is found between the ranks in such code: a library that nobody knows may still run it
/// beside what starts Horovod.
pub fn doubt(facts: &Facts<'_>, findings: &mut [Finding]) {
    if !findings.iter().any(|finding| finding.rule.group == Group::Ranks) {
        return;
    }
    let together = together(facts);
    for finding in findings.iter_mut().filter(|finding| finding.rule.group == Group::Ranks) {
        // What is told of several places needs a run that comes to all of them.
        let places = std::iter::once(&finding.primary).chain(&finding.labels);
        let mut callers = places.map(|label| facts.code_at(label.location));
        if callers.any(|caller| is_reached(facts, caller) && !together.contains(&caller)) {
            finding.confidence = Confidence::Possible;
        }
    }
}

/// The code of the runs that start Horovod.
pub(super) fn together(facts: &Facts<'_>) -> FxHashSet<Caller> {
    let handed = handed_over(facts);
    meant(facts, &handed).iter().flat_map(Runs::with_horovod).collect()
}

fn is_reached(facts: &Facts<'_>, caller: Caller) -> bool {
    facts.programs.iter().any(|program| program.already_distributed && program.reached.contains(&caller))
}

/// The runs of the programs that are made for several ranks.
fn meant<'r, 'f, 'h>(facts: &'r Facts<'f>, handed: &'h HandedOver) -> Vec<Runs<'r, 'f, 'h>> {
    let (using, communicating) = (code_with(facts, &USES), code_with(facts, &COMMUNICATES));
    let programs = facts.programs.iter().filter(|program| program.already_distributed);
    let mut runs: Vec<Runs<'_, '_, '_>> = programs.map(|program| Runs { facts, program, handed }).collect();
    let telling = code_with(facts, &TELLS);
    let is_meant = |own: &Runs<'_, '_, '_>| own.is_meant_for_several(&using, &communicating, &telling);
    let is_any = runs.iter().any(is_meant);
    // Where nothing is left of Horovod but the choice of a device, ranks have nothing to do with each other, and mostly
    // there is one.
    let is_whole = |own: &Runs<'_, '_, '_>| {
        own.reaches_some(&communicating) || own.reaches_some(&telling) || !own.reaches_some(&using)
    };
    runs.retain(|own| {
        own.comes_to_start() && !own.only_may_start(&using) && is_whole(own) && (!is_any || is_meant(own))
    });
    runs
}

/// What a program does with Horovod once it is started.
const USES: [Effect; 7] = [
    Effect::ReadsRank,
    Effect::ReadsLocalRank,
    Effect::ReadsSize,
    Effect::Collective,
    Effect::Broadcasts,
    Effect::Averages,
    Effect::Distributes,
];

/// What tells ranks apart, or how many there are.
const TELLS: [Effect; 2] = [Effect::ReadsRank, Effect::ReadsSize];

/// What ranks do together.
const COMMUNICATES: [Effect; 4] =
    [Effect::Collective, Effect::Broadcasts, Effect::Averages, Effect::Distributes];

/// Code that does something.
#[derive(Default)]
struct Code {
    scopes: FxHashSet<Caller>,
    /// The files that do it where they are what is run, `if __name__ == "__main__"`, and not where they are imported.
    of_main: FxHashSet<FileId>,
}

impl Code {
    /// Whether the code of a scope does it in a program.
    fn is_in(&self, caller: Caller, program: &Program) -> bool {
        self.scopes.contains(&caller)
            || caller.scope == Module::TOP
                && caller.file == program.entry
                && self.of_main.contains(&caller.file)
    }
}

/// The code that does some of this beside starting Horovod.
fn code_with(facts: &Facts<'_>, effects: &[Effect]) -> Code {
    let mut code = Code::default();
    for (caller, call) in calls_with(facts, effects) {
        let block = facts.module(caller.file).call(call).block;
        if caller.scope == Module::TOP && facts.is_block_of_main(caller.file, block) {
            code.of_main.insert(caller.file);
        } else {
            code.scopes.insert(caller);
        }
    }
    code
}

/// The calls that do some of this beside starting Horovod, and whose code they are.
fn calls_with(facts: &Facts<'_>, effects: &[Effect]) -> Vec<(Caller, CallId)> {
    let starts = |&(file, call): &(FileId, CallId)| {
        facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Initializes))
    };
    let calls = effects.iter().flat_map(|&effect| facts.calls_with(effect)).filter(|call| !starts(call));
    calls.map(|(file, call)| (Caller { file, scope: facts.module(file).call(call).scope }, call)).collect()
}

/// What the runs of a program come to.
struct Runs<'r, 'f, 'h> {
    facts: &'r Facts<'f>,
    program: &'r Program,
    handed: &'h HandedOver,
}

impl Runs<'_, '_, '_> {
    /// The code of runs that start Horovod.
    fn with_horovod(&self) -> FxHashSet<Caller> {
        let reached = &self.program.reached;
        let starts: Vec<Caller> = self.starts().collect();
        let launched = self.reach(self.launched(), true);
        if !launched.is_empty() && starts.iter().all(|start| launched.contains(start)) {
            return launched;
        }
        let modules = reached.iter().copied().filter(|&caller| self.facts.function_of(caller).is_none());
        let modules: Vec<Caller> = modules.collect();
        let mut common = self.reach(modules.clone(), false);
        let leading = self.leading(starts.clone());
        if starts.iter().any(|start| common.contains(start)) {
            let mut together = self.reach_with(modules, &leading);
            let without = self.without(&self.starting().collect::<Vec<_>>());
            together.retain(|&caller| !without.is_scope(caller));
            return together;
        }
        let commands: Vec<Caller> =
            self.handed_functions().filter(|function| leading.contains(function)).collect();
        // What hands on the function that starts Horovod, `fmin(objective)` with `run(train)` in it, is no rank's code.
        let starts_itself = |&own: &Caller| {
            let run = self.reach(vec![own], false);
            starts.iter().any(|start| run.contains(start))
        };
        let own: Vec<Caller> = commands.iter().copied().filter(starts_itself).collect();
        common.extend(self.reach(if own.is_empty() { commands } else { own }, true));
        common
    }

    fn starts(&self) -> impl Iterator<Item = Caller> + '_ {
        self.starting().map(|(caller, _)| caller)
    }

    /// The calls that start Horovod, and whose code they are.
    fn starting(&self) -> impl Iterator<Item = (Caller, CallId)> + '_ {
        let calls = self.facts.calls_with(Effect::Initializes);
        let calls = calls
            .map(|(file, call)| (Caller { file, scope: self.facts.module(file).call(call).scope }, call));
        calls.filter(|(caller, _)| self.program.reached.contains(caller))
    }

    /// Whether Horovod is started, as far as the constants tell that the program passes: `init(use_horovod=False)`.
    fn comes_to_start(&self) -> bool {
        let starting: Vec<_> = self.starting().map(|(caller, call)| (caller.file, call)).collect();
        starting.is_empty() || self.facts.may_reach(self.program, starting)
    }

    /// Whether other files of the program start Horovod under a condition, `if strategy == "horovod": hvd.init()`, and
    /// nothing in it is made for several ranks.
    fn only_may_start(&self, using: &Code) -> bool {
        let is_offered = |(caller, call): (Caller, CallId)| {
            let block = self.facts.module(caller.file).call(call).block;
            caller.file != self.program.entry && !self.facts.conditions(caller, block).is_empty()
        };
        let mut starting = self.starting().peekable();
        starting.peek().is_some() && starting.all(is_offered) && !self.reaches_some(using)
    }

    /// Whether the program does something with Horovod in its own file, or its ranks communicate and something tells them apart or how
    /// many they are. One that does not, beside others that do, starts it because they share code, or read what the others have
    /// written.
    fn is_meant_for_several(&self, using: &Code, communicating: &Code, telling: &Code) -> bool {
        let is_own = |own: &Caller| own.file == self.program.entry && using.is_in(*own, self.program);
        self.program.reached.iter().any(is_own)
            || self.reaches_some(communicating) && self.reaches_some(telling)
    }

    /// Whether the program comes to some of this code.
    fn reaches_some(&self, code: &Code) -> bool {
        self.program.reached.iter().any(|&own| code.is_in(own, self.program))
    }

    /// The functions that the program has launched on all ranks: `horovod.spark.run(train)`.
    fn launched(&self) -> Vec<Caller> {
        let facts = self.facts;
        let mut found = Vec::new();
        for file in self.program.files() {
            for (index, call) in facts.module(file).calls.iter().enumerate() {
                let mut symbols = facts.called_symbols(file, CallId::new(index));
                if symbols.any(|symbol| facts.is_launcher(symbol)) {
                    let given = call.arguments.iter().flat_map(|own| facts.objects(file, own.value));
                    found.extend(given.filter_map(|(_, object)| code(object)).map(|own| facts.code_of(own)));
                }
            }
        }
        found
    }

    fn handed_functions(&self) -> impl Iterator<Item = Caller> + '_ {
        let handed = self.handed.iter().filter(|(caller, _)| self.program.reached.contains(caller));
        handed.flat_map(|(_, functions)| functions.iter().map(|&(_, own)| self.facts.code_of(own)))
    }

    /// What a scope's code runs; with what it hands to code that nobody knows, or without.
    fn next(&self, caller: Caller, hands: bool) -> impl Iterator<Item = Caller> + '_ {
        let facts = self.facts;
        let called = facts.reached_functions(caller).filter(|(edge, function)| {
            facts.is_run(self.program, edge) && !facts.only_wraps(edge, *function)
        });
        let handed = self.handed.get(&caller).filter(|_| hands).into_iter().flatten();
        let functions = called.map(|(_, function)| function).chain(handed.map(|&(_, function)| function));
        functions.map(|own| facts.code_of(own)).filter(|own| self.program.reached.contains(own))
    }

    fn reach(&self, mut work: Vec<Caller>, hands: bool) -> FxHashSet<Caller> {
        let mut found = FxHashSet::default();
        while let Some(caller) = work.pop() {
            if found.insert(caller) {
                work.extend(self.next(caller, hands));
            }
        }
        found
    }

    /// What some code runs where each call that chooses one of several functions, `builders[name]()`, chooses one that
    /// leads to a start, if any of them does.
    fn reach_with(&self, mut work: Vec<Caller>, leading: &FxHashSet<Caller>) -> FxHashSet<Caller> {
        let mut found = FxHashSet::default();
        while let Some(caller) = work.pop() {
            if found.insert(caller) {
                let others = self.others(caller, leading);
                work.extend(self.next(caller, true).filter(|next| !others.contains(next)));
            }
        }
        found
    }

    /// What calls of a scope's code only run if they don't run what leads to a start. What is called in a loop may be
    /// called one after the other.
    fn others(&self, caller: Caller, leading: &FxHashSet<Caller>) -> FxHashSet<Caller> {
        let facts = self.facts;
        let module = facts.module(caller.file);
        let mut chosen: FxHashMap<CallId, Vec<Caller>> = FxHashMap::default();
        let mut certain: FxHashSet<Caller> = FxHashSet::default();
        for (edge, function) in facts.reached_functions(caller) {
            let code = facts.code_of(function);
            match edge.call.filter(|_| edge.via == Via::Source) {
                Some(call) => chosen.entry(call).or_default().push(code),
                None => drop(certain.insert(code)),
            }
        }
        let mut others: FxHashSet<Caller> = FxHashSet::default();
        for (call, functions) in chosen {
            let block = module.call(call).block;
            let flow = &module.scope(caller.scope).flow;
            let is_choice = functions.iter().any(|own| leading.contains(own)) && !flow.leads(block, block);
            let (kept, left): (Vec<_>, Vec<_>) =
                functions.into_iter().partition(|own| !is_choice || leading.contains(own));
            certain.extend(kept);
            others.extend(left);
        }
        others.retain(|own| !certain.contains(own));
        others
    }

    /// The code that leads to some other.
    fn leading(&self, mut work: Vec<Caller>) -> FxHashSet<Caller> {
        let mut before: FxHashMap<Caller, Vec<Caller>> = FxHashMap::default();
        for &caller in &self.program.reached {
            for next in self.next(caller, true) {
                before.entry(next).or_default().push(caller);
            }
        }
        let mut found = FxHashSet::default();
        while let Some(caller) = work.pop() {
            if found.insert(caller) {
                work.extend(before.get(&caller).into_iter().flatten());
            }
        }
        found
    }
}
