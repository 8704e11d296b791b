//! Sessions of TensorFlow 1: the device of each process, and the variables of rank 0 before the first step.
//!
//! The article's patterns for sessions and monitored sessions. A session gets a configuration that shows it the GPU of its
//! local rank. The broadcast stands behind the statement that initialises the variables, or is a hook of a monitored
//! session, which initialises them itself; those of its hooks that only write belong to rank 0.

pub(super) mod decisions;
mod evaluations;
pub(super) mod fed;
pub(super) mod fetched;
pub(super) mod raced_steps;
pub(super) mod runs;

use rustc_hash::FxHashSet;

use super::awaited::{all_ranks_come_to, undecided};
use super::job::Job;
use super::obstacles::first_call;
use super::output::read_before::trains_in;
use super::ranked::{is_for_one_rank, is_for_some, reads_rank, reads_size};
use super::step::Step;
use crate::api::{Effect, Kind, Scaling, Symbol};
use crate::finding::{Edit, Finding, Rule};
use crate::program::{Caller, Creation, LoopKind, TrainingLoop};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{
    Argument, Call, CallId, Container, Element, Role, StatementId, StatementKind, StoreKey, Use, Value,
    ValueId,
};
use crate::syntax::{TextRange, TextSize};

/// Whether a loop is that of a session.
pub(super) fn is_session(own: &TrainingLoop) -> bool {
    matches!(own.kind, LoopKind::Session | LoopKind::MonitoredSession)
}

/// The sessions of a program.
pub(super) fn sessions<'c>(job: &Job<'c>) -> impl Iterator<Item = &'c TrainingLoop> + use<'c> {
    job.program.loops.iter().filter(|own| is_session(own))
}

// ---- the configuration ----

/// The edits that show each process its GPU, for all sessions of a program, with the files in which they use Horovod; or why
/// they can't be made.
pub(super) fn devices(job: &Job<'_>) -> Result<(Vec<Edit>, Vec<FileId>), &'static str> {
    let (mut edits, mut files) = (Vec::new(), Vec::new());
    for own in sessions(job) {
        edits.extend(device(job, own.caller.file, own.call, own.kind)?);
        files.push(own.caller.file);
    }
    // `K.set_session(tf.Session(config=config))`: Keras trains in it. In TensorFlow 2, too, the first session that a process makes
    // says which GPU is its own.
    let trains_otherwise = || job.program.loops.iter().any(|own| !is_session(own));
    for made in job.facts.creations.iter().filter(|own| own.kind == Kind::Session && !own.derived) {
        let is_configured = |symbol: &Symbol| {
            let call = job.facts.module(made.file).call(made.call);
            job.facts.argument(made.file, call, symbol, CONFIG).is_some()
        };
        if job.runs(made.file, made.call)
            && trains_otherwise()
            && job.facts.called_symbols(made.file, made.call).any(is_configured)
        {
            edits.extend(device(job, made.file, made.call, LoopKind::Session)?);
            files.push(made.file);
        }
    }
    Ok((edits, files))
}

fn device(job: &Job<'_>, file: FileId, id: CallId, kind: LoopKind) -> Result<Vec<Edit>, &'static str> {
    let facts = job.facts;
    let text = job.text(file).ok_or(GONE)?;
    let call = text.module.call(id);
    let (hvd, _) = job.horovod(file);
    let symbol = called(job, file, id).ok_or(OTHER)?;
    let settings = |name: &str| {
        [
            format!("{name}.gpu_options.{GROWS} = True"),
            format!("{name}.gpu_options.visible_device_list = str({hvd}.local_rank())"),
        ]
    };
    let Some(given) = facts.argument(file, call, symbol, CONFIG) else {
        let module =
            namespace(text, call).ok_or("The session is not made by a member of TensorFlow's module.")?;
        let name = super::names::fresh(text.module, CONFIG);
        let mut lines = vec![format!("{name} = {module}ConfigProto()")];
        lines.extend(settings(&name));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut edits = text.before(call.statement, &lines);
        // The hook that broadcasts is written behind it: the first argument, too.
        let is_followed =
            kind == LoopKind::MonitoredSession && call.arguments.is_empty() && !is_broadcast(job);
        let separator = if is_followed { ", " } else { "" };
        edits.push(text.append_argument(call, &format!("{CONFIG}={name}{separator}")));
        return Ok(edits);
    };
    if let Value::Call(_) = text.module.value(given.value).value
        && given.range.contains_range(text.module.value(given.value).range)
    {
        let name = super::names::fresh(text.module, CONFIG);
        let mut lines = vec![format!("{name} = {}", text.slice(given.range))];
        lines.extend(settings(&name));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut edits = text.before(call.statement, &lines);
        edits.push(text.replace(given.range, name));
        return Ok(edits);
    }
    if !text.is_chain(given.range) {
        return Err("The configuration of the session is no plain name.");
    }
    let lines = settings(text.slice(given.range));
    let told = usize::from(grows(job, file, given));
    let lines: Vec<&str> = lines[told..].iter().map(String::as_str).collect();
    Ok(text.before(call.statement, &lines))
}

/// Whether the program itself lets the memory grow by a configuration: `config.gpu_options.allow_growth = True`.
fn grows(job: &Job<'_>, file: FileId, config: &Argument) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let is_config =
        |own: ValueId| facts.solution.values(file, own) == facts.solution.values(file, config.value);
    module.stores.iter().any(|store| {
        let StoreKey::Attribute(name) = store.key else { return false };
        module.names.text(name) == GROWS
            && facts.truth(file, store.value) == Some(true)
            && matches!(module.value(store.base).value, Value::Attribute { base, .. } if is_config(base))
    })
}

/// The option by which a process takes as much memory of its GPU as it needs.
const GROWS: &str = "allow_growth";

const CONFIG: &str = "config";
const GONE: &str = "The file can't be read any more.";
const OTHER: &str = "Only `Session`, `InteractiveSession` and `MonitoredTrainingSession` are distributed.";

/// The symbol that makes a session, if it takes a configuration.
fn called<'c>(job: &Job<'c>, file: FileId, call: CallId) -> Option<&'c Symbol> {
    job.facts.called_symbols(file, call).find(|symbol| symbol.parameter(CONFIG).is_some())
}

/// What stands in front of the members of TensorFlow 1 where a session is made: `tf.compat.v1.`.
fn namespace<'t>(text: Text<'t>, call: &Call) -> Option<&'t str> {
    let (module, _) = text.slice(call.callee_range).rsplit_once('.')?;
    let module = module.strip_suffix(".train").unwrap_or(module);
    Some(&text.slice(call.callee_range)[..=module.len()])
}

// ---- the broadcast ----

/// The steps that give all ranks the variables of rank 0.
pub(super) fn broadcasts(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if is_broadcast(job) {
        return Vec::new();
    }
    sessions(job)
        .map(|own| match own.kind {
            LoopKind::MonitoredSession => by_hook(job, rule, own),
            _ => behind_initialiser(job, rule, own),
        })
        .collect()
}

/// Whether the program broadcasts variables by itself.
fn is_broadcast(job: &Job<'_>) -> bool {
    job.calls().any(|(file, call)| {
        let mut symbols = job.facts.called_symbols(file, call);
        symbols.any(|symbol| does(symbol, Effect::Broadcasts))
    })
}

fn missing(job: &Job<'_>, rule: &'static Rule, own: &TrainingLoop) -> Finding {
    let message = "the ranks begin with different variables, and nothing makes them equal";
    Step::missing(rule, job.facts.location(own.caller.file, own.range), message)
        .here("session")
        .help("broadcast the variables of rank 0 once they are initialised")
        .in_scope(job.facts.scope_name(own.caller))
}

/// `sess.run(hvd.broadcast_global_variables(0))` behind `sess.run(tf.global_variables_initializer())`, wherever that is run.
fn behind_initialiser(job: &Job<'_>, rule: &'static Rule, own: &TrainingLoop) -> Step {
    let finding = missing(job, rule, own);
    let mut runs = job.calls().filter(|&(file, call)| job.facts.initialises_variables(file, call)).peekable();
    if runs.peek().is_none() {
        let reason = "It can't be seen which statement initialises the variables of the session.";
        return Step::blocked(finding, reason);
    }
    if first_call(job, [FINALIZE]).is_some() {
        return Step::blocked(
            finding,
            "Nothing can be added to a graph that is finalized, and a broadcast is an operation.",
        );
    }
    let graph = called(job, own.caller.file, own.call).and_then(|symbol| {
        let call = job.facts.module(own.caller.file).call(own.call);
        job.facts.argument(own.caller.file, call, symbol, GRAPH)
    });
    let is_of_other_graph = graph.is_some_and(|graph| !job.facts.is_none(own.caller.file, graph.value));
    let (mut edits, mut uses) = (Vec::new(), Vec::new());
    // What is drawn again later has to be made equal again.
    let again = job.calls().filter(|&(file, call)| job.facts.initialises_some_variables(file, call));
    for (file, call) in runs.chain(again) {
        if is_of_other_graph && !is_in_graph(job, file, call) {
            let reason = "The session runs a graph of its own, in which a broadcast would have to be made: initialise the variables in \
                          `with graph.as_default():`.";
            return Step::blocked(finding, reason);
        }
        match behind_run(job, file, call) {
            Ok(behind) => edits.extend(behind),
            Err(reason) => return Step::blocked(finding, reason),
        }
        let import = job.horovod(file).1;
        if !uses.contains(&import) {
            uses.push(import);
        }
    }
    Step::change(finding, "broadcast the variables", edits, uses)
}

/// The method that closes a graph, and the one that makes it the default.
const FINALIZE: &str = "tensorflow.Graph.finalize";
const AS_DEFAULT: &str = "tensorflow.Graph.as_default";

/// The parameter of a session for its graph.
const GRAPH: &str = "graph";

/// Whether a call stands where a graph is made the default: `with graph.as_default():`, or `with session:`, which does it with its
/// own.
fn is_in_graph(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let as_default = facts.library.lookup(AS_DEFAULT);
    module.managers_around(module.call(call).statement).any(|manager| {
        facts.may_be(file, manager, Kind::Session)
            || match module.value(manager).value {
                Value::Call(call) => facts.called_symbols(file, call).any(|own| Some(own) == as_default),
                _ => false,
            }
    })
}

/// The edits by which the variables are broadcast behind a call that initialises them, and behind the question whether there
/// are some to restore.
fn behind_run(job: &Job<'_>, file: FileId, call: CallId) -> Result<Vec<Edit>, &'static str> {
    let text = job.text(file).ok_or(GONE)?;
    let data = text.module.call(call);
    if data.role != Role::Statement {
        return Err("The call that initialises the variables is no statement of its own.");
    }
    let behind = behind_choice(job, file, undecided(job, file, data.statement));
    if !all_ranks_come_to(job, file, behind) {
        return Err(
            "Not all ranks may come to the statement that initialises the variables, behind which they are \
                    broadcast: initialise them outside of conditions that ranks may find otherwise.",
        );
    }
    let broadcast = format!("{}.broadcast_global_variables(0)", job.horovod(file).0);
    let callee = text.slice(data.callee_range);
    let line = match (callee.rsplit_once('.'), data.arguments.is_empty()) {
        (Some((session, _)), false) => format!("{session}.run({broadcast})"),
        _ => format!("{broadcast}.run()"),
    };
    Ok(text.after(behind, &[&line]))
}

/// The outermost `if` statement around a statement, or itself, in which nothing trains and no session is made: what it asks
/// may be whether there is something to restore, which another rank may find otherwise.
fn behind_choice(job: &Job<'_>, file: FileId, statement: StatementId) -> StatementId {
    let module = job.facts.module(file);
    let makes_session = |range: TextRange| {
        let is_session = |kind: Kind| matches!(kind, Kind::Session | Kind::MonitoredSession);
        let mut made = job.facts.creations.iter().filter(|made| made.file == file && is_session(made.kind));
        made.any(|made| range.contains_range(module.call(made.call).range))
    };
    let is_choice = |own: &StatementId| {
        let own = module.statement(*own);
        own.kind == StatementKind::If
            && own.scope == module.statement(statement).scope
            && !trains_in(job, file, own.range)
            && !makes_session(own.range)
    };
    module.ancestor_ids(statement).take_while(is_choice).last().unwrap_or(statement)
}

/// Whether a call runs something in a session.
pub(super) fn runs(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    job.facts.session_run(file, id).is_some()
}

/// `hvd.BroadcastGlobalVariablesHook(0)` first among the hooks.
fn by_hook(job: &Job<'_>, rule: &'static Rule, own: &TrainingLoop) -> Step {
    let finding =
        missing(job, rule, own).help("put `hvd.BroadcastGlobalVariablesHook(0)` first among the hooks");
    let file = own.caller.file;
    let Some(text) = job.text(file) else { return Step::blocked(finding, GONE) };
    let call = text.module.call(own.call);
    let Some(symbol) = called(job, own.caller.file, own.call) else { return Step::blocked(finding, OTHER) };
    let (hvd, import) = job.horovod(file);
    let hook = format!("{hvd}.BroadcastGlobalVariablesHook(0)");
    let edits = match job.facts.argument(file, call, symbol, HOOKS) {
        None => vec![text.append_argument(call, &format!("{HOOKS}=[{hook}]"))],
        Some(given) => with_hook(text, given, &hook),
    };
    Step::change(finding, "broadcast the variables by a hook", edits, vec![import])
}

const HOOKS: &str = "hooks";

fn with_hook(text: Text<'_>, given: &Argument, hook: &str) -> Vec<Edit> {
    let evaluation = text.module.value(given.value);
    match &evaluation.value {
        Value::Display(Container::List, elements) if given.range.contains_range(evaluation.range) => {
            let separator = if elements.is_empty() { "" } else { ", " };
            // The first element may be changed, too, from its first character on.
            let bracket = TextRange::at(evaluation.range.start(), TextSize::from(1));
            vec![text.replace(bracket, format!("[{hook}{separator}"))]
        }
        _ if text.binds_like_a_product(given.range) => {
            vec![text.insert(given.range.start(), format!("[{hook}] + "))]
        }
        _ => text.wrap(given.range, &format!("[{hook}] + ("), ")"),
    }
}

// ---- what is written ----

/// The steps that let one rank write the checkpoints and summaries of monitored sessions.
pub(super) fn folders(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let monitored = sessions(job).filter(|own| own.kind == LoopKind::MonitoredSession);
    monitored.flat_map(|own| FOLDERS.iter().filter_map(|name| folder(job, rule, own, name))).collect()
}

/// The parameters of a monitored session that name folders in which it writes.
const FOLDERS: [&str; 2] = ["checkpoint_dir", "summary_dir"];

fn folder(job: &Job<'_>, rule: &'static Rule, own: &TrainingLoop, name: &str) -> Option<Step> {
    let file = own.caller.file;
    let text = job.text(file)?;
    let given = job.facts.argument(
        file,
        text.module.call(own.call),
        called(job, own.caller.file, own.call)?,
        name,
    )?;
    if reads_rank(job, file, given.value) || job.facts.is_none(file, given.value) {
        return None;
    }
    let (hvd, import) = job.horovod(file);
    let finding = Step::missing(
        rule,
        job.facts.location(file, given.range),
        "every rank writes the checkpoints of this session",
    )
    .here("written by each rank")
    .help(format!("give it on rank 0 only: `{name}=... if hvd.rank() == 0 else None`"))
    .in_scope(job.facts.scope_name(own.caller));
    // Other arguments may be appended right behind it.
    let edit =
        text.replace(given.range, format!("{} if {hvd}.rank() == 0 else None", text.as_factor(given.range)));
    Some(Step::change(finding, "write them on rank 0 only", vec![edit], vec![import]))
}

/// The steps that let one rank run the hooks that only write.
pub(super) fn writing_hooks(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let hooks =
        facts.creations.iter().filter(|made| made.kind == Kind::Hook && job.runs(made.file, made.call));
    let step = |made: &Creation| {
        let (file, call) = (made.file, made.call);
        let does = |effect| facts.called_symbols(file, call).any(|symbol| does(symbol, effect));
        let writes = does(Effect::WritesFile) || does(Effect::WritesSummary);
        if !writes && !does(Effect::Prints) || is_for_one_rank(job, file, call) {
            return None;
        }
        let text = job.text(file)?;
        let data = text.module.call(call);
        let (hvd, import) = job.horovod(file);
        let finding = Step::missing(rule, job.at_call(file, call), "every rank writes what this hook writes")
            .here("written by each rank")
            .help("give it to the session on rank 0 only")
            .in_scope(job.scope_of(file, call));
        let (before, behind) = ("*([", format!("] if {hvd}.rank() == 0 else [])"));
        let edits = if data.role == Role::Element {
            text.wrap(data.range, before, &behind)
        } else {
            let names = read_everywhere(job, file, data)?;
            let own = |name: TextRange| text.replace(name, format!("{before}{}{behind}", text.slice(name)));
            if are_elements(text, data, &names) { names.into_iter().map(own).collect() } else { Vec::new() }
        };
        if !edits.is_empty() {
            return Some(Step::change(finding, "run it on rank 0 only", edits, vec![import]));
        }
        writes.then(|| Step::blocked(finding, "The hook is not written in a list of hooks."))
    };
    hooks.filter_map(step).collect()
}

/// Where names of what a call makes are read on all ranks; `None` if there are such names, and all are read on some ranks only.
fn read_everywhere(job: &Job<'_>, file: FileId, call: &Call) -> Option<Vec<TextRange>> {
    let uses = job.facts.module(file).uses.iter().filter(|own| own.value == call.result);
    let is_everywhere = |own: &&Use| {
        !is_for_some(job, Caller { file, scope: own.scope }, own.block, &mut FxHashSet::default())
    };
    let (everywhere, others): (Vec<&Use>, Vec<&Use>) = uses.partition(is_everywhere);
    (others.is_empty() || !everywhere.is_empty()).then(|| everywhere.iter().map(|own| own.range).collect())
}

/// Whether each of the names of what a call makes stands in a list as it is.
fn are_elements(text: Text<'_>, call: &Call, names: &[TextRange]) -> bool {
    let holds = |element: &Element| matches!(*element, Element::At(_, value) if value == call.result);
    let lists = text.module.values.iter().filter(
        |own| matches!(&own.value, Value::Display(Container::List, elements) if elements.iter().any(holds)),
    );
    let elements: Vec<TextRange> = lists.filter_map(|own| text.elements(own.range)).flatten().collect();
    names.iter().all(|name| elements.contains(name))
}

/// The steps that share out the steps after which a session stops.
pub(super) fn stops(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let hooks =
        facts.creations.iter().filter(|made| made.kind == Kind::Hook && job.runs(made.file, made.call));
    let mut found = Vec::new();
    for made in hooks {
        let (file, call) = (made.file, made.call);
        let Some(text) = job.text(file) else { continue };
        for symbol in facts.called_symbols(file, call) {
            let counts = symbol.scaled().filter(|(_, scaling)| *scaling == Scaling::Divide);
            for (parameter, _) in counts {
                let Some(count) = facts.argument(file, text.module.call(call), symbol, parameter) else {
                    continue;
                };
                if facts.is_none(file, count.value) || reads_size(job, file, count.value) {
                    continue;
                }
                let (hvd, import) = job.horovod(file);
                let finding = Step::missing(
                    rule,
                    facts.location(file, count.range),
                    "each rank makes all steps instead of its share",
                )
                .here("steps of one process")
                .help("divide it by the number of ranks: `// hvd.size()`")
                .in_scope(job.scope_of(file, call));
                let divided = format!("{} // {hvd}.size()", text.as_factor(count.range));
                let edits = vec![text.replace(count.range, divided)];
                found.push(Step::change(finding, "divide it by the number of ranks", edits, vec![import]));
            }
        }
    }
    found
}

/// Whether a symbol, or a class through one of its methods, has an effect.
fn does(symbol: &Symbol, effect: Effect) -> bool {
    symbol.has(effect) || symbol.is_class() && symbol.members().iter().any(|member| member.has(effect))
}
