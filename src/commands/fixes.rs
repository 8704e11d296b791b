//! `hvdlint check --fix` and `--diff`: what becomes of the mended project.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::check::Job;
use crate::cli::{CheckArgs, GlobalArgs, Output};
use crate::distribute::DATA;
use crate::examine::{Distribution, Examined, Trainer, Wishes};
use crate::finding::{Applicability, Finding};
use crate::fix::{self, Cause, Change, LineKind, Mended, Target};
use crate::progress::Stage;
use crate::project::{FileId, Project};
use crate::report::next_steps::{self, Distributed};
use crate::report::{Fixed, Ink, Sources, proofs};

/// Standard input, as a file of the project.
pub(super) struct Input {
    file: FileId,
    bytes: Vec<u8>,
}

impl Input {
    /// Finds the file that standard input stands for.
    pub(super) fn new(project: &Project, filename: Option<&Path>, bytes: Vec<u8>) -> Option<Self> {
        let file = project.find(filename.unwrap_or(Path::new("<stdin>")))?.id;
        Some(Self { file, bytes })
    }

    /// The file and what it holds.
    pub(super) fn bytes(&self) -> (FileId, Vec<u8>) {
        (self.file, self.bytes.clone())
    }
}

/// Prints what `--fix` would change.
pub(super) fn show(job: Job<'_>, examined: &Examined) -> anyhow::Result<u8> {
    let Job { arguments, global, .. } = job;
    let usual = job.status(&examined.report);
    let mended = mend(job, examined.clone());
    let color = super::color(global);
    let mut out = BufWriter::new(io::stdout().lock());
    for change in &mended.changes {
        let path = &mended.examined.project.file(change.file).relative;
        for line in fix::diff(path, &change.before, &change.after) {
            let ink = match line.kind {
                LineKind::File => Ink::Bold,
                LineKind::Hunk => Ink::Code,
                LineKind::Added => Ink::Added,
                LineKind::Removed => Ink::Removed,
                LineKind::Context | LineKind::NoEnd => Ink::Plain,
            };
            ink.paint(&line.bytes, color, &mut out)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    let mut status = if mended.changes.is_empty() || arguments.exit_zero { usual } else { super::FINDINGS };
    if refusals(&mended, global)? {
        status = super::FAILED;
    }
    if global.verbose > 0 {
        let proven = mended.examined.clone().with_proofs(job.wishes);
        let proofs = proven.report.proofs.as_deref().unwrap_or_default();
        proofs::show(proofs, &Sources::new(&proven.documents), color, &mut io::stderr().lock())?;
    }
    if !global.quiet {
        let sources = Sources::new(&mended.examined.documents);
        for program in distributed(&examined.trainers, &mended) {
            next_steps::foresee(&program, &sources, &mut io::stderr().lock())?;
        }
        let rest = mended.examined.report.findings.len();
        let would = sentence("Would fix", mended.fixed, mended.changes.len());
        let remain = if rest == 1 {
            "1 finding would remain".to_owned()
        } else {
            format!("{rest} findings would remain")
        };
        writeln!(io::stderr().lock(), "{would}; {remain}")?;
    }
    // The diff alone goes to standard output; reports go to the files that were asked for.
    let outputs: Vec<Output> =
        arguments.output.iter().filter(|output| output.file.is_some()).cloned().collect();
    if !outputs.is_empty() {
        let arguments = CheckArgs { output: outputs, statistics: false, ..arguments.clone() };
        let job = Job { arguments: &arguments, ..job };
        job.write(examined, &examined.report, status, &mut io::sink())?;
    }
    Ok(status)
}

/// Changes the files, or prints the changed standard input, and reports what remains.
pub(super) fn apply(job: Job<'_>, examined: Examined) -> anyhow::Result<u8> {
    let before = examined.trainers.clone();
    let mut mended = mend(job, examined);
    let mut failed = refusals(&mended, job.global)?;
    failed |= !replace(&mut mended, job.wishes, job.input.map(|input| input.file))?;
    mended.examined = job.with_proofs(mended.examined);
    if !job.global.quiet && job.input.is_none() {
        let sources = Sources::new(&mended.examined.documents);
        for program in distributed(&before, &mended) {
            next_steps::show(&program, &sources, &mut io::stderr().lock())?;
        }
    }
    let mut report = mended.examined.report.clone();
    report.fixed = Some(Fixed { findings: mended.fixed, files: mended.changes.len() });
    let status = if failed { super::FAILED } else { job.status(&report) };
    let Some(input) = job.input else {
        job.write(&mended.examined, &report, status, &mut io::stdout().lock())?;
        return Ok(status);
    };
    let change = mended.changes.iter().find(|change| change.file == input.file);
    let source = change.map_or(&input.bytes, |change| &change.after);
    let mut out = io::stdout().lock();
    out.write_all(source)?;
    out.flush()?;
    job.write(&mended.examined, &report, status, &mut io::stderr().lock())?;
    Ok(status)
}

/// The programs that the fixes have distributed; `before` are the programs as they were.
fn distributed<'a>(before: &[Trainer], mended: &'a Mended) -> Vec<Distributed<'a>> {
    let examined = &mended.examined;
    let is_new = |own: &&Trainer| {
        own.distribution == Distribution::Settled
            && mended.changes.iter().any(|change| own.files.contains(&change.file))
            && before.iter().any(|old| old.entry == own.entry && old.distribution != Distribution::Settled)
    };
    let programs = examined.trainers.iter().filter(is_new);
    programs
        .map(|program| {
            let is_of_data = |own: &&Finding| {
                own.rule.code == DATA.rule.code && program.files.contains(&own.primary.location.file)
            };
            Distributed {
                path: &examined.project.file(program.entry).relative,
                data: examined.standing.iter().filter(is_of_data).collect(),
            }
        })
        .collect()
}

fn mend(job: Job<'_>, examined: Examined) -> Mended {
    let _bar = job.bar(&examined.project);
    job.progress.enter(Stage::Fixing);
    let least = if job.arguments.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe };
    let stdin = job.input.map(Input::bytes);
    fix::mend(examined, job.wishes, least, stdin)
}

/// Tells which fixes are left out, and whether that is a failure.
fn refusals(mended: &Mended, global: &GlobalArgs) -> io::Result<bool> {
    let mut failed = false;
    let mut stderr = io::stderr().lock();
    for refusal in &mended.refusals {
        let kind = match refusal.cause {
            Cause::Fix if global.quiet => continue,
            Cause::Fix => "warning",
            Cause::File => "error",
        };
        failed |= refusal.cause == Cause::File;
        let fix::Refusal { check, place, reason, .. } = refusal;
        writeln!(stderr, "hvdlint: {kind}: the fix of {check} at {place} is left out: {reason}")?;
    }
    Ok(failed)
}

/// Replaces the changed files on the disk, group by group. Where a group can't be replaced that is said, and
/// `mended` then tells what is on the disk.
fn replace(mended: &mut Mended, wishes: Wishes<'_>, stdin: Option<FileId>) -> io::Result<bool> {
    let mut failed: BTreeSet<FileId> = BTreeSet::new();
    for group in &mended.groups {
        let target = |change: &Change| Target {
            path: mended.examined.project.file(change.file).path.clone(),
            before: change.before.clone(),
            after: change.after.clone(),
        };
        let changes = mended.changes.iter().filter(|change| group.contains(&change.file));
        let targets: Vec<Target> = changes.filter(|change| Some(change.file) != stdin).map(target).collect();
        if let Err(problem) = fix::write(&targets) {
            let mut stderr = io::stderr().lock();
            writeln!(stderr, "hvdlint: error: {}: {problem}; it is left alone", problem.path.display())?;
            let others = targets.iter().filter(|target| target.path != problem.path).count();
            if others > 0 {
                writeln!(stderr, "  note: so are {others} files that change only together with it")?;
            }
            writeln!(stderr, "  help: {}", problem.help)?;
            failed.extend(group);
        }
    }
    if failed.is_empty() {
        return Ok(true);
    }
    let before = mended.examined.report.findings.len() + mended.fixed;
    mended.changes.retain(|change| !failed.contains(&change.file));
    let project = mended.examined.project.without_texts(&failed);
    mended.examined = Examined::new(project, wishes);
    mended.fixed = before.saturating_sub(mended.examined.report.findings.len());
    Ok(false)
}

fn sentence(verb: &str, findings: usize, files: usize) -> String {
    let plural = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    format!("{verb} {} in {}", plural(findings, "finding"), plural(files, "file"))
}
