//! Horovod is imported and started, and each process sees one GPU.
//!
//! The seed's rules `import` and `import-from` (section 2.3). The import stands behind those of other packages, so
//! that no module of the project has made a tensor before the GPU is chosen.

use std::collections::BTreeMap;

use super::device::hides_gpus;
use super::job::Job;
use super::names::{Import, Name};
use super::obstacles;
use super::session;
use super::shell_lines::{self, changes_files, installs_packages};
use super::step::Step;
use super::{DistributionRule, INITIALISATION, distribution_rule};
use crate::checks::Top;
use crate::finding::Edit;
use crate::program::{Caller, Program};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{Module, StatementId, StatementKind};
use crate::syntax::TextSize;

distribution_rule!("HVD201", "horovod-not-initialised", nothing);

/// The rule needs to know what the others use: see [`steps`].
fn nothing(_: &Job<'_>) -> Vec<Step> {
    Vec::new()
}

/// The start of Horovod in the owner of the loop, with the imports that other steps need in these files. A program
/// that starts it already needs no step of its own: see [`imports`].
pub(super) fn steps(job: &Job<'_>, files: &[FileId], needed: &BTreeMap<FileId, Vec<Import>>) -> Vec<Step> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let rule: &DistributionRule = INITIALISATION;
    let owner = job.owner();
    let mut files = files.to_vec();
    if !files.contains(&owner) {
        files.push(owner);
    }
    let mut needed = needed.clone();
    let (mut edits, mut obstacle) = (Vec::new(), None);
    match session::devices(job) {
        Ok((devices, of_sessions)) => {
            edits.extend(devices);
            for file in of_sessions {
                needed.entry(file).or_default().push(job.names(file).horovod.import);
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        Err(reason) => obstacle = Some(reason),
    }
    edits.extend(files.iter().flat_map(|&file| imports(job, file, &needed)));
    let loops = &job.program.loops;
    let location = loops.first().map_or_else(
        || job.facts.location(owner, job.facts.module(owner).scope(Module::TOP).range),
        |own| job.facts.location(own.caller.file, own.range),
    );
    let finding = Step::missing(&rule.rule, location, ON_ONE_GPU)
        .here("training loop")
        .help("start Horovod behind the imports, and let each process see one GPU");
    let start = if let Some(reason) = obstacle {
        Step::blocked(finding, reason)
    } else {
        // To import Horovod does no harm to who does not start it.
        let others = files.into_iter().filter(|&file| file != owner).collect();
        Step::change(finding, "import and start Horovod", edits, Vec::new()).right_everywhere_in(others)
    };
    let mut found = vec![start];
    found.extend(obstacles::steps(job, &rule.rule));
    found
}

/// The imports that steps need in a file; where the program is to be started, with the start of Horovod.
pub(super) fn imports(job: &Job<'_>, file: FileId, needed: &BTreeMap<FileId, Vec<Import>>) -> Vec<Edit> {
    if job.is_started_by_another(file) {
        return Vec::new();
    }
    let Some(text) = job.text(file) else { return Vec::new() };
    let mut wanted: Vec<Import> = needed.get(&file).cloned().unwrap_or_default();
    let begins = !job.program.already_distributed && file == job.owner();
    if begins {
        wanted.push(job.names(file).horovod.import);
        if chooses_gpu(job) {
            wanted.push(Import::TensorFlow);
        }
    }
    preamble(job, text, &wanted, begins)
}

const ON_ONE_GPU: &str = "the program trains on one GPU: nothing starts Horovod";

/// Whether a program trains in sessions of TensorFlow 1.
fn is_of_sessions(job: &Job<'_>) -> bool {
    session::sessions(job).next().is_some()
}

/// Whether each process takes its GPU where Horovod is started. Each session of TensorFlow 1 is shown its own.
fn chooses_gpu(job: &Job<'_>) -> bool {
    !is_of_sessions(job) && !hides_gpus(job)
}

/// Whether a program that runs a file is written for TensorFlow 1: those that share it share its lines.
fn is_of_tensorflow_1(job: &Job<'_>, file: FileId) -> bool {
    let facts = job.facts;
    let runs = |program: &&Program| program.reached.contains(&Caller { file, scope: Module::TOP });
    let mut programs = facts.programs.iter().filter(runs);
    programs.any(|program| facts.is_program_of_tensorflow_1(program))
}

/// The lines behind a file's imports.
fn preamble(job: &Job<'_>, text: Text<'_>, wanted: &[Import], begins: bool) -> Vec<Edit> {
    let names = job.names(text.file);
    let start = start(job, text.file);
    let place = start.map_or(TextSize::default(), |statement| text.module.statement(statement).range.end());
    // Imports below the start of Horovod bind a name too late for it.
    let is_bound = |name: &Name| {
        name.bound && (!begins || super::names::is_bound_before(job.facts, text.file, name.import, place))
    };
    let mut lines: Vec<String> = Vec::new();
    let mut import = |name: &Name| {
        let line = match name.import.module() {
            module if module == name.text => format!("import {module}"),
            module => format!("import {module} as {}", name.text),
        };
        if !is_bound(name) && wanted.contains(&name.import) && !lines.contains(&line) {
            lines.push(line);
        }
    };
    import(&names.contexts);
    import(&names.random);
    import(&names.temporary);
    import(&names.tensorflow);
    import(&names.horovod);
    import(&names.keras);
    let hvd = &names.horovod.text;
    if begins {
        lines.extend([String::new(), format!("{hvd}.init()")]);
    }
    if begins && chooses_gpu(job) {
        // TensorFlow 1 with eager execution has them there only.
        let is_old = is_of_tensorflow_1(job, text.file);
        let config = format!("{}.config{}", names.tensorflow.text, if is_old { ".experimental" } else { "" });
        let tf = &names.tensorflow.text;
        let gpus = super::names::fresh(text.module, "gpus");
        let gpu = super::names::fresh(text.module, "gpu");
        let unit = text.unit();
        lines.extend([
            format!("{gpus} = {config}.list_physical_devices('GPU')"),
            format!("for {gpu} in {gpus}:"),
            format!("{unit}{tf}.config.experimental.set_memory_growth({gpu}, True)"),
            format!("if {gpus}:"),
            format!("{unit}{config}.set_visible_devices({gpus}[{hvd}.local_rank()], 'GPU')"),
        ]);
    }
    if lines.is_empty() {
        return Vec::new();
    }
    if begins && start.is_none_or(|statement| text.is_followed(statement)) {
        lines.push(String::new());
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    match start {
        Some(statement) => text.after(statement, &lines),
        None => text.at_top(&lines, true),
    }
}

/// Where the start of Horovod stands in the file that owns the loop: behind its imports, if it has any.
pub(super) fn end_of_imports(job: &Job<'_>, file: FileId) -> Option<TextSize> {
    start(job, file).map(|statement| job.facts.module(file).statement(statement).range.end())
}

/// The statement behind which Horovod is imported and started: the last import at the top of a file in front of which
/// only modules of other packages are imported; in a notebook also in front of the lines for the shell that change
/// files, which rank 0 has to run alone.
fn start(job: &Job<'_>, file: FileId) -> Option<StatementId> {
    let module = job.facts.module(file);
    let top = Top::new(job.facts, file);
    let end = top.end(module).map(|statement| statement.range.start());
    let Preparing { first, installing } = job.text(file).map(|text| preparing(text, end)).unwrap_or_default();
    let end = first.or(end);
    let mut last = None;
    for index in 0..module.statements.len() {
        let statement = &module.statements[index];
        if end.is_some_and(|end| statement.range.start() >= end) {
            break;
        }
        if statement.scope != Module::TOP || statement.parent.is_some() {
            continue;
        }
        let id = StatementId::new(index);
        // The top may end within a `try` statement.
        let holds_imports = top.is_transparent(id) && end.is_none_or(|end| statement.range.end() <= end);
        let is_import = matches!(statement.kind, StatementKind::Import { .. });
        if !is_import && !holds_imports && !installing.contains(&id) {
            continue;
        }
        let mut imports = module.imports.iter().filter(|import| statement.range.contains_range(import.range));
        if imports.any(|import| !job.facts.files_of_import(file, import).is_empty()) {
            break;
        }
        last = Some(id);
    }
    last
}

/// The lines for the shell at the top of a notebook that matter to where Horovod is started.
#[derive(Default)]
struct Preparing {
    /// Where the first one stands that changes files.
    first: Option<TextSize>,
    /// Those in front of it that install packages.
    installing: Vec<StatementId>,
}

/// Those lines, `end` being where the top ends. None where packages are installed behind the first line that changes files, as what
/// Horovod needs may be one of them.
fn preparing(text: Text<'_>, end: Option<TextSize>) -> Preparing {
    let mut own = Preparing::default();
    for line in shell_lines::of_notebook(text) {
        let outermost = text.module.ancestor_ids(line.statement).last().unwrap_or(line.statement);
        let statement = text.module.statement(outermost);
        let start = statement.range.start();
        if line.is_cell || statement.scope != Module::TOP || end.is_some_and(|end| start >= end) {
            continue;
        }
        match own.first {
            Some(_) if installs_packages(line.line) => return Preparing::default(),
            None if installs_packages(line.line) => own.installing.push(outermost),
            None if changes_files(line.line) => own.first = Some(start),
            _ => {}
        }
    }
    if own.first.is_some() { own } else { Preparing::default() }
}
