//! `hvdlint check`.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;

use super::baseline;
use super::fixes::{self, Input};
use super::progress::Bar;
use crate::analysis;
use crate::api::Library;
use crate::checks::{CHECKS, RULES};
use crate::cli::{CheckArgs, GlobalArgs, Output};
use crate::examine::{Examined, Ignores, Wishes};
use crate::fix;
use crate::progress::Progress;
use crate::project::{Project, SelectOptions, Selection, StandardInput, decode};
use crate::report::{self, Format, Offers, Report, Sources};

pub(super) fn run(arguments: &CheckArgs, global: &GlobalArgs) -> anyhow::Result<u8> {
    let mut options = super::options(&arguments.config, global);
    options.force_exclude = arguments.force_exclude;
    options.report_all = arguments.project;
    let mut stdin = None;
    if arguments.paths.iter().any(|path| path == Path::new("-")) {
        let (bytes, input) = standard_input(arguments)?;
        stdin = Some(bytes);
        options.stdin = Some(input);
    }
    let project = super::open(&arguments.paths, &options, global)?;
    let choice = SelectOptions {
        select: arguments.select.clone(),
        ignore: arguments.ignore.clone(),
        extend_select: arguments.extend_select.clone(),
    };
    let selection = Selection::new(project.config(), &choice, RULES)?;
    let input = stdin.and_then(|bytes| Input::new(&project, arguments.stdin_filename.as_deref(), bytes));
    let baseline = baseline::open(arguments, &project)?;
    let progress = Arc::new(Progress::default());
    let work = |library: &Library| {
        let config = project.config();
        let wishes = Wishes {
            checks: CHECKS,
            library,
            selection: &selection,
            strict: arguments.strict || config.strict,
            confidence: arguments.confidence.unwrap_or(config.confidence),
            ignores: if arguments.no_ignores { Ignores::Disregarded } else { Ignores::Obeyed },
            baseline: baseline.as_ref(),
            progress: Some(&progress),
        };
        let job = Job { arguments, global, wishes, input: input.as_ref(), progress: &progress };
        examine(job, project.clone())
    };
    analysis::with_library(&project, work)?
}

/// What is to be done, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) arguments: &'a CheckArgs,
    pub(super) global: &'a GlobalArgs,
    pub(super) wishes: Wishes<'a>,
    /// Standard input, where it is among the paths.
    pub(super) input: Option<&'a Input>,
    pub(super) progress: &'a Arc<Progress>,
}

/// Finds, fixes if that is wanted, and reports.
fn examine(job: Job<'_>, project: Project) -> anyhow::Result<u8> {
    let Job { arguments, global, wishes, .. } = job;
    let start = Instant::now();
    let examined = {
        let _bar = job.bar(&project);
        Examined::new(project, wishes)
    };
    super::warn(&examined.modules.problems, global)?;
    if global.verbose > 0 {
        let (found, took) = (examined.standing.len(), start.elapsed());
        writeln!(io::stderr().lock(), "hvdlint: found {found} in {:.2} s", took.as_secs_f64())?;
    }
    if arguments.write_baseline {
        return baseline::write(job, examined);
    }
    if arguments.diff {
        return fixes::show(job, &examined);
    }
    if arguments.fix {
        return fixes::apply(job, examined);
    }
    let examined = job.with_proofs(examined);
    let status = job.status(&examined.report);
    job.write(&examined, &examined.report, status, &mut io::stdout().lock())?;
    Ok(status)
}

fn standard_input(arguments: &CheckArgs) -> anyhow::Result<(Vec<u8>, StandardInput)> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).context("standard input can't be read")?;
    let text = decode(bytes.clone()).map_err(|error| anyhow::anyhow!("standard input: {}", error.what))?;
    Ok((bytes, StandardInput { filename: arguments.stdin_filename.clone(), text }))
}

/// A file for what is reported, or for what is known.
pub(super) fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("{} can't be written", path.display()))?;
    Ok(BufWriter::new(file))
}

impl Job<'_> {
    /// Shows how far the work on `project` is, until the bar is dropped.
    pub(super) fn bar(self, project: &Project) -> Bar {
        Bar::watch(self.progress, project.files().len(), self.global)
    }

    /// With what is proven of the ranks, if the user wants to hear more.
    pub(super) fn with_proofs(self, examined: Examined) -> Examined {
        if self.global.verbose > 0 { examined.with_proofs(self.wishes) } else { examined }
    }

    /// What the findings alone make the process end with.
    pub(super) fn status(self, report: &Report) -> u8 {
        let worst = report.findings.iter().map(|reported| reported.finding.level).max();
        match worst {
            Some(level) if level >= self.arguments.fail_on && !self.arguments.exit_zero => super::FINDINGS,
            _ => super::CLEAN,
        }
    }

    /// Writes `report` in all formats that are wanted: those without a file to `out`.
    pub(super) fn write(
        self,
        examined: &Examined,
        report: &Report,
        status: u8,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let Self { arguments, global, .. } = self;
        let sources = Sources::new(&examined.documents);
        let default = [Output { format: Format::Full, file: None }];
        let outputs = if arguments.output.is_empty() { &default[..] } else { &arguments.output };
        let mut offers = None;
        for output in outputs {
            let mut options = self.options(output, &examined.project, status);
            if output.format.has_offers() {
                options.offers = offers.get_or_insert_with(|| self.offers(examined)).clone();
            }
            if let Some(path) = &output.file {
                let mut out = create(path)?;
                report::write(output.format, report, &sources, &options, &mut out)?;
                out.flush()?;
            } else if !(global.quiet && report.findings.is_empty() && output.format == Format::Full) {
                let mut out = BufWriter::new(&mut *out);
                report::write(output.format, report, &sources, &options, &mut out)?;
                out.flush()?;
            }
        }
        if arguments.statistics {
            report::write_statistics(report, out)?;
        }
        Ok(())
    }

    fn offers(self, examined: &Examined) -> Offers {
        fix::offers(examined, self.wishes, self.input.map(Input::bytes))
    }

    fn options(self, output: &Output, project: &Project, status: u8) -> report::Options {
        let is_sarif = output.format == Format::Sarif;
        report::Options {
            color: output.file.is_none() && super::color(self.global),
            show_suppressed: self.arguments.show_suppressed,
            exit_code: Some(status),
            source_control: if is_sarif {
                project.source_control(|name| std::env::var_os(name))
            } else {
                None
            },
            folder: project.folder_in_repository(),
            offers: Offers::default(),
            sarif_category: self.arguments.sarif_category.clone(),
        }
    }
}
