//! The programs of a project: for people, and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::Sources;
use crate::distribute::INITIALISATION;
use crate::finding::{Applicability, Finding, Level, Location};
use crate::program::{
    Creation, Facts, Object, ObjectId, Pattern, Program, QualifiedNames, TrainingLoop, way,
};
use crate::project::FileId;

/// A line, as machines and as people find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The file, relative to the project root.
    pub path: String,
    /// The line in the file, 1-based.
    pub line: usize,
    /// `path:line`, in a notebook `path:cell 3:line`.
    #[serde(skip)]
    pub shown: String,
}

impl Line {
    /// The line of a place.
    #[must_use]
    pub fn of(location: Location, sources: &Sources<'_>) -> Self {
        Self {
            path: sources.path(location.file).to_owned(),
            line: sources.line_in_file(location),
            shown: sources.page_and_line(location),
        }
    }
}

/// A place that something is named by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The variable that it is assigned to, else its class.
    pub name: String,
    /// Its class or the function that made it.
    pub class: String,
    /// Where it is made.
    #[serde(flatten)]
    pub place: Line,
}

/// A training loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loop {
    /// Of the `with` statement or the call.
    #[serde(flatten)]
    pub place: Line,
    /// The qualified name of the function in its module; empty at module level.
    pub function: String,
    /// `gradient-tape`, `keras-fit`, `minimize`, `session`, `monitored-session`.
    pub kind: &'static str,
    /// The calls that lead there from the entry.
    #[serde(serialize_with = "steps")]
    pub way: Vec<Step>,
    /// What it trains.
    #[serde(skip)]
    pub models: Vec<Named>,
    /// What it steps with.
    #[serde(skip)]
    pub optimizers: Vec<Named>,
}

/// A call on the way to a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Of the call.
    pub place: Line,
    /// The function that is called.
    pub name: String,
}

/// As `path:line name`.
fn steps<S: serde::Serializer>(way: &[Step], serializer: S) -> Result<S::Ok, S::Error> {
    serializer
        .collect_seq(way.iter().map(|Step { place, name }| format!("{}:{} {name}", place.path, place.line)))
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// The file that is run, relative to the project root.
    pub entry: String,
    /// How it trains.
    pub pattern: &'static str,
    /// It starts Horovod.
    pub already_distributed: bool,
    /// Its loops, then the tapes in a `train_step` that `fit` runs.
    pub loops: Vec<Loop>,
    /// The models that its loops train.
    pub models: Vec<Named>,
    /// The optimizers that step in its loops.
    pub optimizers: Vec<Named>,
    /// The datasets that it creates.
    pub datasets: Vec<Named>,
    /// No error stands in the way that `--fix` can't do away with.
    pub distributable: bool,
    /// The codes of the errors that do.
    pub blocked_by: Vec<&'static str>,
    /// The same errors for people: `path:line message (name)`.
    #[serde(skip)]
    pub reasons: Vec<String>,
}

/// Describes the programs that have code in a file that is `wanted`.
#[must_use]
pub fn describe(
    facts: &Facts<'_>,
    sources: &Sources<'_>,
    findings: &[Finding],
    wanted: impl Fn(FileId) -> bool,
) -> Vec<Described> {
    let of_interest = |program: &&Program| {
        wanted(program.entry) || program.loops.iter().any(|training_loop| wanted(training_loop.caller.file))
    };
    facts
        .programs
        .iter()
        .filter(of_interest)
        .map(|program| described(facts, sources, findings, program))
        .collect()
}

fn described(facts: &Facts<'_>, sources: &Sources<'_>, findings: &[Finding], program: &Program) -> Described {
    let files = program.files();
    // What `--fix` does away with is in nobody's way.
    let is_fixable =
        |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe);
    let mut blocking: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.level == Level::Error && files.contains(&finding.primary.location.file))
        .filter(|finding| !is_fixable(finding))
        .collect();
    // The best reason is one that concerns the program as a whole.
    let is_part = |finding: &Finding| finding.rule.code != INITIALISATION.rule.code;
    blocking.sort_by_key(|&finding| (is_part(finding), finding.primary.location, finding.rule.code));
    let reasons = blocking.iter().map(|finding| {
        let place = sources.page_and_line(finding.primary.location);
        format!("{place} {} ({})", finding.message, finding.rule.name)
    });
    let reasons = reasons.collect();
    let mut blocked_by: Vec<&'static str> = blocking.iter().map(|finding| finding.rule.code).collect();
    blocked_by.sort_unstable();
    blocked_by.dedup();
    let collect = |objects: &dyn Fn(&TrainingLoop) -> Vec<ObjectId>| {
        let mut named: Vec<Named> = Vec::new();
        for training_loop in program.loops.iter().chain(&program.steps_of_fit) {
            for object in objects(training_loop) {
                if let Some(name) = named_object(facts, sources, object)
                    && !named.contains(&name)
                {
                    named.push(name);
                }
            }
        }
        named.sort_by(|a, b| (&a.place.path, a.place.line).cmp(&(&b.place.path, b.place.line)));
        named
    };
    let datasets: Vec<Named> = facts
        .creations
        .iter()
        .filter(|creation| creation.kind == crate::api::Kind::Dataset && !creation.derived)
        .filter(|creation| {
            let scope = facts.module(creation.file).call(creation.call).scope;
            program.reached.contains(&crate::program::Caller { file: creation.file, scope })
        })
        .filter_map(|creation| named_object(facts, sources, creation.object))
        .collect();
    Described {
        entry: sources.path(program.entry).to_owned(),
        pattern: program.pattern.name(),
        already_distributed: program.already_distributed,
        loops: program
            .loops
            .iter()
            .chain(&program.steps_of_fit)
            .map(|training_loop| described_loop(facts, sources, program, training_loop))
            .collect(),
        models: collect(&|training_loop| training_loop.models.clone()),
        optimizers: collect(&|training_loop| training_loop.optimizers.clone()),
        datasets,
        distributable: program.pattern != Pattern::None && blocked_by.is_empty(),
        blocked_by,
        reasons,
    }
}

fn described_loop(facts: &Facts<'_>, sources: &Sources<'_>, program: &Program, own: &TrainingLoop) -> Loop {
    let file = own.caller.file;
    let statement = facts.module(file).statement(own.statement);
    let at = if statement.header.contains_range(own.range) { statement.range } else { own.range };
    let names = QualifiedNames { modules: facts.modules };
    let way = way(facts, program, own.caller)
        .into_iter()
        .filter_map(|edge| {
            let call = facts.module(edge.caller.file).call(edge.call?);
            let Object::Function(function) = facts.solution.object(edge.callee) else { return None };
            let place = Line::of(Location::new(edge.caller.file, call.range), sources);
            Some(Step { place, name: names.function(function) })
        })
        .collect();
    Loop {
        place: Line::of(Location::new(file, at), sources),
        function: facts.scope_name(own.caller).to_owned(),
        kind: own.kind.name(),
        way,
        models: own.models.iter().filter_map(|&model| named_object(facts, sources, model)).collect(),
        optimizers: own.optimizers.iter().filter_map(|&own| named_object(facts, sources, own)).collect(),
    }
}

/// An object by the variable that its creation is assigned to.
fn named_object(facts: &Facts<'_>, sources: &Sources<'_>, object: ObjectId) -> Option<Named> {
    let &Creation { file, call: id, .. } = facts.creation(object)?;
    let module = facts.module(file);
    let call = module.call(id);
    let class = match facts.solution.object(object) {
        Object::Created(external, _) => facts.solution.externals.get(external).path.to_string(),
        Object::Instance(class, _) => QualifiedNames { modules: facts.modules }.class(class),
        _ => return None,
    };
    let variable = module
        .definitions
        .iter()
        .find(|definition| definition.value == call.result && definition.statement == Some(call.statement));
    let name = match variable {
        Some(definition) => module.variable_name(definition.variable).to_owned(),
        None => class.rsplit('.').next().unwrap_or(&class).to_owned(),
    };
    Some(Named { name, class, place: Line::of(Location::new(file, call.range), sources) })
}

#[derive(Serialize)]
struct Document<'p> {
    version: u32,
    programs: &'p [Described],
}

/// Writes the programs as JSON.
///
/// # Errors
///
/// `out` can't be written to.
pub fn write_json(programs: &[Described], out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document { version: 1, programs })?;
    writeln!(out)
}

/// Writes the programs for people.
///
/// # Errors
///
/// `out` can't be written to.
pub fn write_full(programs: &[Described], color: bool, out: &mut dyn Write) -> io::Result<()> {
    let bold = |text: &str| if color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() };
    let training: Vec<&Described> = programs.iter().filter(|program| program.pattern != "none").collect();
    if training.is_empty() {
        writeln!(out, "No training loop found in {} program{}.", programs.len(), plural(programs.len()))?;
        return Ok(());
    }
    for program in &training {
        writeln!(out, "{}: {}", bold(&program.entry), program.pattern)?;
        for own in &program.loops {
            let function =
                if own.function.is_empty() { String::new() } else { format!(" in {}", own.function) };
            writeln!(out, "  loop          {} {}{function}", own.place.shown, own.kind)?;
            for Step { place, name } in &own.way {
                writeln!(out, "                  called at {} {name}", place.shown)?;
            }
        }
        for (title, names) in
            [("model", &program.models), ("optimizer", &program.optimizers), ("dataset", &program.datasets)]
        {
            for named in names {
                let Named { name, class, place } = named;
                writeln!(out, "  {title:<12}  {} {name} ({class})", place.shown)?;
            }
        }
        let distributable = match (program.already_distributed, program.distributable) {
            (true, _) => "already distributed".to_owned(),
            (false, true) => "yes".to_owned(),
            (false, false) => {
                format!("no, because of {}", program.reasons.join("\n                         "))
            }
        };
        writeln!(out, "  distributable {distributable}\n")?;
    }
    let others = programs.len() - training.len();
    if others > 0 {
        writeln!(out, "{others} other program{} without a training loop.", plural(others))?;
    }
    Ok(())
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
