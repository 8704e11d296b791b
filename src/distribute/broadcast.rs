//! After the first step all ranks get the variables of rank 0: models, and the state of optimizers.
//!
//! The seed's rule `apply_gradients` (section 2.4), but once for all that a loop steps, outside of traced code, and
//! with variables that are named and not taken from a `zip` that the step has used up.

mod copied;
pub(super) mod kept_copies;
mod later_variables;
pub(super) mod sent;
pub(super) mod site;
mod spoken;
mod untrained;

use super::distribution_rule;
use super::job::Job;
use super::names::fresh;
use super::optimizer::forms;
use super::session;
use super::step::Step;
use crate::api::{Effect, Symbol};
use crate::finding::{Edit, Finding};
use crate::program::{Caller, LoopKind, Place, TrainingLoop, loop_around};
use crate::project::FileId;
use crate::semantic::{CallId, Module, StatementId, StatementKind, Value};
use crate::syntax::TextRange;
use later_variables::OTHERS_LATER;
use sent::is_broadcast;
use site::{Memory, Site};
use spoken::Spoken;

distribution_rule!("HVD206", "variables-not-broadcast", steps);

/// A step of a loop: where it is applied, and what it changes.
struct Applied<'l> {
    own: &'l TrainingLoop,
    file: FileId,
    call: CallId,
    variables: Option<Vec<Spoken>>,
}

fn steps(job: &Job<'_>) -> Vec<Step> {
    let mut sites: Vec<Site> = Vec::new();
    let mut found = Vec::new();
    if job.program.already_distributed && begins_equal(job) {
        return found;
    }
    for applied in all_applied(job) {
        if is_broadcast(job, applied.own) || forms::is_of_others(job, applied.own) {
            continue;
        }
        let Applied { own, file, call, variables } = applied;
        let caller = Caller { file, scope: job.facts.module(file).call(call).scope };
        let Some(variables) = variables else {
            let reason = "It can't be seen which variables the step changes.";
            found.push(Step::blocked(missing(job, file, call), reason));
            continue;
        };
        match site::sites(job, own, caller, statement_of(job, own, file, call), variables) {
            Ok(own_sites) if own_sites.iter().any(|site| later_variables::are_stepped(job, own, site)) => {
                found.push(Step::blocked(missing(job, file, call), OTHERS_LATER));
            }
            Ok(own_sites) => own_sites.into_iter().for_each(|site| add(job, &mut sites, site)),
            Err(reason) => found.push(Step::blocked(missing(job, file, call), reason)),
        }
    }
    if !sites.is_empty() {
        let unnamed = copied::add(job, &mut sites);
        found.extend(
            unnamed.into_iter().map(|(file, call)| Step::blocked(missing(job, file, call), copied::UNNAMED)),
        );
        untrained::add(job, &mut sites);
    }
    found.extend(kept_copies::steps(job, &RULE.rule));
    found.extend(session::broadcasts(job, &RULE.rule));
    let mut taken = Vec::new();
    for site in &sites {
        let blocked = || {
            let reason = "It can't be seen in which function the broadcast would stand.";
            Step::blocked(finding(job, site.caller.file, site.statement), reason)
        };
        found.push(step(job, site, &mut taken).unwrap_or_else(blocked));
    }
    found
}

/// Whether all ranks draw the same initial values, from one constant seed.
fn begins_equal(job: &Job<'_>) -> bool {
    let facts = job.facts;
    let seeds = |symbol: &Symbol| {
        symbol.has(Effect::SeedsRandom) && facts.library.is_training_library(symbol.package())
    };
    let of_rank = |place: Place| facts.gives(place, &[Effect::ReadsRank, Effect::ReadsLocalRank]);
    job.calls().any(|(file, call)| {
        let is_equal = || {
            let seed = facts.module(file).call(call).arguments.first();
            seed.is_some_and(|seed| {
                let behind = facts.influence().backwards(&[(file, seed.value)], |_| false);
                !behind.into_iter().any(of_rank)
            })
        };
        facts.called_symbols(file, call).any(seeds) && is_equal()
    })
}

fn missing(job: &Job<'_>, file: FileId, call: CallId) -> Finding {
    finding(job, file, job.facts.module(file).call(call).statement)
}

fn finding(job: &Job<'_>, file: FileId, statement: StatementId) -> Finding {
    let own = job.facts.module(file).statement(statement);
    let caller = Caller { file, scope: own.scope };
    let around = loop_around(job.facts, file, statement, own.block, caller);
    let trains = around.filter(|_| job.program.already_distributed).unwrap_or(statement);
    let finding = Step::missing(
        &RULE.rule,
        job.at_header(file, trains),
        "the ranks begin with different variables, and nothing makes them equal after the first step",
    )
    .here(if trains == statement { "first step" } else { "trains" })
    .help("broadcast the variables of rank 0 once, behind the first step")
    .in_scope(job.facts.scope_name(caller));
    if trains == statement { finding } else { finding.label(job.at_header(file, statement), "first step") }
}

/// The steps of all loops that are not `fit`.
fn all_applied<'l>(job: &Job<'l>) -> Vec<Applied<'l>> {
    let mut found = Vec::new();
    for own in &job.program.loops {
        match own.kind {
            LoopKind::GradientTape => {
                let sources = own.gradients.iter().map(|&(file, call)| of_gradient(job, file, call));
                let sources: Option<Vec<Vec<Spoken>>> = sources.collect();
                for &(file, call) in &own.steps {
                    let optimizer = Spoken::optimizer(job, file, job.facts.module(file).call(call));
                    let models = stepped(job, file, call).or_else(|| sources.clone().map(|all| all.concat()));
                    let variables = models.zip(optimizer).map(|(mut models, optimizer)| {
                        models.push(optimizer);
                        models
                    });
                    found.push(Applied { own, file, call, variables });
                }
                if own.steps.is_empty()
                    && let Some(&(file, call)) = own.by_hand.last()
                {
                    // In code of its own, a loop over the gradients would be taken for the one that trains.
                    let scope = job.facts.module(file).call(call).scope;
                    let is_near = own
                        .gradients
                        .iter()
                        .all(|&(of, taken)| of == file && job.facts.module(of).call(taken).scope == scope);
                    let variables = sources.map(|all| all.concat()).filter(|_| is_near);
                    found.push(Applied { own, file, call, variables });
                }
            }
            // A part of the graph that a session runs.
            LoopKind::Minimize if session::sessions(job).next().is_some() => {}
            LoopKind::Minimize => {
                let (file, call) = (own.caller.file, own.call);
                let data = job.facts.module(file).call(call);
                let variables = job
                    .facts
                    .called_symbols(file, call)
                    .find_map(|symbol| job.facts.argument(file, data, symbol, "var_list"))
                    .and_then(|argument| Spoken::of_argument(job, file, argument));
                let optimizer = Spoken::optimizer(job, file, data);
                let variables = variables.zip(optimizer).map(|(mut all, optimizer)| {
                    all.push(optimizer);
                    all
                });
                found.push(Applied { own, file, call, variables });
            }
            LoopKind::KerasFit if !job.is_fit(own) => {
                let (file, call) = (own.caller.file, own.call);
                let variables = Spoken::compiled(job, file, job.facts.module(file).call(call));
                found.push(Applied { own, file, call, variables: variables.map(Vec::from) });
            }
            LoopKind::KerasFit | LoopKind::Session | LoopKind::MonitoredSession => {}
        }
    }
    found
}

/// The variables that gradients are taken of.
fn of_gradient(job: &Job<'_>, file: FileId, call: CallId) -> Option<Vec<Spoken>> {
    let facts = job.facts;
    let data = facts.module(file).call(call);
    let argument = facts
        .called_symbols(file, call)
        .find_map(|symbol| facts.argument(file, data, symbol, "sources"))
        .or_else(|| data.arguments.get(1))?;
    Spoken::of_argument(job, file, argument)
}

/// The variables of `optimizer.apply_gradients(zip(gradients, variables))`, where that is how it is written.
fn stepped(job: &Job<'_>, file: FileId, call: CallId) -> Option<Vec<Spoken>> {
    let facts = job.facts;
    let module = facts.module(file);
    let data = module.call(call);
    let pairs = facts
        .called_symbols(file, call)
        .find_map(|symbol| facts.argument(file, data, symbol, "grads_and_vars"))
        .or_else(|| data.arguments.first())?;
    let Value::Call(zip) = module.value(pairs.value).value else { return None };
    let zip = module.call(zip);
    let is_zip = facts.objects(file, zip.callee).any(|(_, object)| {
        facts.symbol(object).is_some_and(|symbol| facts.library.lookup("builtins.zip") == Some(symbol))
    });
    let (true, [_, variables]) = (is_zip, zip.arguments.as_slice()) else { return None };
    if zip.scope != data.scope {
        return None;
    }
    Spoken::of_argument(job, file, variables)
}

/// The statement behind which the variables have been stepped: for a step inside a loop over the gradients that
/// loop, so that all of them have.
fn statement_of(job: &Job<'_>, own: &TrainingLoop, file: FileId, call: CallId) -> StatementId {
    let module = job.facts.module(file);
    let statement = module.call(call).statement;
    let mut taken = own
        .gradients
        .iter()
        .filter(|&&(of, taken)| of == file && module.call(taken).scope == module.call(call).scope);
    let Some(parent) =
        taken.next_back().map(|&(_, taken)| module.statement(module.call(taken).statement).parent)
    else {
        return statement;
    };
    // From the step outwards, to the suite that the gradients are taken in.
    let mut at = statement;
    loop {
        let own = module.statement(at);
        if own.parent == parent {
            return at;
        }
        match own.parent {
            Some(around) if module.statement(around).scope == module.call(call).scope => at = around,
            _ => return statement,
        }
    }
}

/// Adds a site; those in one suite are one, behind the last.
fn add(job: &Job<'_>, sites: &mut Vec<Site>, mut site: Site) {
    let suite = |site: &Site| {
        let statement = job.facts.module(site.caller.file).statement(site.statement);
        (site.caller, statement.parent, statement.suite, site.memory)
    };
    let joins = |other: &&mut Site| suite(other) == suite(&site) && !is_left_between(job, other, &site);
    if let Some(other) = sites.iter_mut().find(joins) {
        other.statement = other.statement.max(site.statement);
        for spoken in site.variables.drain(..) {
            if !other.variables.contains(&spoken) {
                other.variables.push(spoken);
            }
        }
    } else {
        let mut variables = Vec::new();
        for spoken in site.variables.drain(..) {
            if !variables.contains(&spoken) {
                variables.push(spoken);
            }
        }
        sites.push(Site { variables, ..site });
    }
}

/// Whether a turn may end between two steps of a loop: then the first needs a broadcast of its own.
fn is_left_between(job: &Job<'_>, one: &Site, other: &Site) -> bool {
    let module = job.facts.module(one.caller.file);
    let end = |site: &Site| module.statement(site.statement).range.end();
    let between = TextRange::new(end(one).min(end(other)), end(one).max(end(other)));
    let leaves = [StatementKind::Break, StatementKind::Continue, StatementKind::Return];
    module.statements.iter().any(|own| leaves.contains(&own.kind) && between.contains_range(own.range))
}

/// The block behind a site; `taken` has the names that other blocks use.
fn step(job: &Job<'_>, site: &Site, taken: &mut Vec<String>) -> Option<Step> {
    let file = site.caller.file;
    let text = job.text(file)?;
    let (hvd, import) = job.horovod(file);
    let mut variables = site.variables.clone();
    variables.sort_by_key(Spoken::rank);
    let broadcasts: Vec<String> = variables
        .iter()
        .map(|spoken| format!("{hvd}.broadcast_variables({}, root_rank=0)", spoken.expression()))
        .collect();
    let flag = free(
        text.module,
        taken,
        if site.memory == Memory::Graph { "hvd_first_batch" } else { "hvd_broadcast_done" },
    );
    let mut uses = vec![import];
    let unit = text.unit_at(site.statement);
    let block = |condition: String, done: String| {
        let mut lines = vec![condition];
        lines.extend(broadcasts.iter().map(|line| format!("{unit}{line}")));
        lines.push(format!("{unit}{done}"));
        lines
    };
    let mut edits: Vec<Edit> = Vec::new();
    let lines = match site.memory {
        Memory::None => broadcasts.clone(),
        Memory::Local(outermost) => {
            edits.extend(text.above(outermost, &[&format!("{flag} = False")]));
            block(format!("if not {flag}:"), format!("{flag} = True"))
        }
        Memory::Global => {
            let function = definition(text.module, site)?;
            edits.extend(text.above(top_level(text.module, function), &[&format!("{flag} = False"), ""]));
            edits.extend(text.at_beginning_of(function, &format!("global {flag}")));
            block(format!("if not {flag}:"), format!("{flag} = True"))
        }
        Memory::Graph => {
            let (tf, import) = job.tensorflow(file);
            uses.push(import);
            let function = definition(text.module, site)?;
            let made = format!("{flag} = {tf}.Variable(True, trainable=False)");
            edits.extend(text.above(top_level(text.module, function), &[&made, ""]));
            block(format!("if {flag}:"), format!("{flag}.assign(False)"))
        }
    };
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    edits.extend(text.after(site.statement, &lines));
    Some(Step::change(finding(job, file, site.statement), "broadcast the variables once", edits, uses))
}

fn free(module: &Module, taken: &mut Vec<String>, wish: &str) -> String {
    let mut name = fresh(module, wish);
    let mut number = 2;
    while taken.contains(&name) {
        name = fresh(module, &format!("{wish}_{number}"));
        number += 1;
    }
    taken.push(name.clone());
    name
}

/// The `def` whose code a site is in.
fn definition(module: &Module, site: &Site) -> Option<StatementId> {
    let mut around = module.ancestor_ids(site.statement);
    around.find(|&id| module.statement(id).kind == StatementKind::Function)
}

/// The statement of the module itself around another.
fn top_level(module: &Module, statement: StatementId) -> StatementId {
    module.ancestor_ids(statement).last().unwrap_or(statement)
}
