//! From a project to what is said about it: the findings that are selected, not suppressed and in the given paths.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::analysis;
use crate::api::Library;
use crate::baseline::{self, Baseline};
use crate::cancellation::Cancellation;
use crate::checks::{Check, Context, RULES, tool};
use crate::distribute::INITIALISATION;
use crate::finding::{Confidence, Finding, Rule};
use crate::fix;
use crate::program::{Facts, Modules, Pattern, Program};
use crate::progress::{Progress, Stage};
use crate::project::{Document, Documents, FileId, Project, Selection, SourceFile};
use crate::ranks::{self, proof::Claim};
use crate::report::{Report, Standing};
use crate::rewrite::Texts;
use crate::suppression::{self, Checks, Suppressions};

/// Whether comments in the source suppress findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignores {
    /// They do.
    Obeyed,
    /// Nothing is suppressed.
    Disregarded,
}

/// What decides what is said.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    /// The checks that there are. All of them run, because a fix must not cause what nobody asked for either.
    pub checks: &'a [&'static Check],
    /// What is known of libraries.
    pub library: &'a Library,
    /// Which checks, in which files.
    pub selection: &'a Selection,
    /// Every restriction to the letter.
    pub strict: bool,
    /// Findings of lower confidence are hidden.
    pub confidence: Confidence,
    /// What comments mean.
    pub ignores: Ignores,
    /// The findings that are known already.
    pub baseline: Option<&'a Baseline>,
    /// Who wants to know how far it is.
    pub progress: Option<&'a Progress>,
}

impl Wishes<'_> {
    fn enter(&self, stage: Stage) {
        if let Some(progress) = self.progress {
            progress.enter(stage);
        }
    }
}

/// A program that trains, by its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trainer {
    /// The module that is run.
    pub entry: FileId,
    /// The files that own code which it may run.
    pub files: Vec<FileId>,
    /// The files in which it trains.
    pub loops: Vec<FileId>,
    /// How far it is from training with Horovod.
    pub distribution: Distribution,
}

/// How far a program is from training with Horovod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// It does, or nobody asks for it.
    Settled,
    /// A fix starts Horovod.
    Offered,
    /// It is to be distributed, and no fix does it.
    Refused,
}

impl Distribution {
    /// That of the program of these files, by what stands of its findings.
    fn of(files: &[FileId], standing: &[Finding], selection: &Selection) -> Self {
        let rule = &INITIALISATION.rule;
        let mut missing = standing.iter().filter(|finding| {
            finding.rule.code == rule.code && files.contains(&finding.primary.location.file)
        });
        match missing.next() {
            Some(first) if selection.is_enabled(rule) => {
                let is_refused = first.fix.is_none() || missing.any(|finding| finding.fix.is_none());
                if is_refused { Self::Refused } else { Self::Offered }
            }
            _ => Self::Settled,
        }
    }
}

/// A project with all that is found in it.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Its files.
    pub project: Project,
    /// What they hold.
    pub modules: Modules,
    /// What is said.
    pub report: Report,
    /// What all checks find and no comment suppresses, whether it is reported or not; the comments that suppress
    /// nothing, too.
    pub standing: Vec<Finding>,
    /// The texts that findings and fixes point into.
    pub documents: Documents,
    /// The programs that train.
    pub trainers: Vec<Trainer>,
}

impl Examined {
    /// Reads the project and examines what can have to do with the files that findings are reported in.
    #[must_use]
    pub fn new(project: Project, wishes: Wishes<'_>) -> Self {
        let modules = match wishes.progress {
            Some(progress) => Modules::load_with(&project, |_| {
                progress.count();
                None
            }),
            None => Modules::load(&project),
        };
        wishes.enter(Stage::Checking);
        let reported: Vec<FileId> = project.reported().map(|file| file.id).collect();
        let modules = if reported.len() == project.files().len() {
            modules
        } else {
            modules.only(&modules.components.around(reported))
        };
        Self::of(project, modules, wishes)
    }

    /// Examines a project whose modules are known.
    #[must_use]
    pub fn of(project: Project, modules: Modules, wishes: Wishes<'_>) -> Self {
        Self::unless(project, modules, wishes, Cancellation::NEVER).expect("nobody stops it")
    }

    /// The same, or nothing as soon as nobody wants to know any more.
    #[must_use]
    pub fn unless(
        project: Project,
        modules: Modules,
        wishes: Wishes<'_>,
        cancellation: Cancellation<'_>,
    ) -> Option<Self> {
        let (found, mut documents, suppressions, mut trainers) =
            analysis::with_modules(&modules, &project, wishes.library, |facts| {
                let (checks, strict) = (wishes.checks, wishes.strict);
                let mut found = analysis::findings_unless(checks, &project, facts, strict, cancellation)?;
                let documents = documents(&project, facts, &found);
                fix::settle(&mut found, &documents);
                let suppressions = suppressions(facts, &documents);
                Some((found, documents, suppressions, trainers(facts)))
            })?;
        let everything = Checks { known: RULES, ran: &|_| true };
        let standing = match wishes.ignores {
            Ignores::Obeyed => {
                let applied = suppression::apply(found.clone(), &suppressions, everything);
                applied.kept.into_iter().chain(applied.unused).collect()
            }
            Ignores::Disregarded => found.clone(),
        };
        for trainer in &mut trainers {
            trainer.distribution = Distribution::of(&trainer.files, &standing, wishes.selection);
        }
        let outcome = Outcome { project: &project, wishes, documents: &documents };
        let mut report = outcome.report(found, &suppressions);
        if let Some(baseline) = wishes.baseline {
            let scope = scope(&project, &standing);
            baseline.apply(&mut report);
            let rule = &tool::STALE_BASELINE_ENTRY;
            if wishes.selection.is_enabled(rule) {
                let level = wishes.selection.level(rule, rule.level);
                baseline.report_stale(&mut report, &scope, level, next_file(&project), &mut documents);
            }
        }
        Some(Self { project, modules, report, standing, documents, trainers })
    }

    /// The text of a baseline that knows all that is reported, and what `old` knows of what is not looked at here.
    #[must_use]
    pub fn baseline(&self, old: Option<&Baseline>) -> String {
        let scope = scope(&self.project, &self.standing);
        let kept = old.into_iter().flat_map(|old| old.kept(&self.report, &scope));
        let known = self.report.findings.iter().chain(&self.report.known);
        baseline::text(known, kept, &self.documents)
    }

    /// How many entries of a baseline are stale.
    #[must_use]
    pub fn stale(&self, old: &Baseline) -> usize {
        old.stale(&self.report, &scope(&self.project, &self.standing)).len()
    }

    /// The same, with what is proven of the ranks of the programs that the report is about. The facts are derived anew, so
    /// that only those who ask pay for it.
    #[must_use]
    pub fn with_proofs(mut self, wishes: Wishes<'_>) -> Self {
        let Report { findings, hidden, known, suppressed, .. } = &self.report;
        let all = findings.iter().chain(hidden).chain(known).chain(suppressed.iter().map(|(own, _)| own));
        let all: Vec<&Finding> = all.map(|reported| &reported.finding).collect();
        let mut proofs = analysis::with_modules(&self.modules, &self.project, wishes.library, |facts| {
            let texts = Texts::new(&self.project, facts.modules);
            let (strict, cancellation) = (wishes.strict, Cancellation::NEVER);
            let context = Context { project: &self.project, facts, texts: &texts, strict, cancellation };
            ranks::proofs(context, &all)
        });
        proofs.retain(|proof| proof.files.iter().any(|&file| self.project.file(file).reported));
        for proof in &proofs {
            let places = proof.claims.iter().flat_map(Claim::places).map(|at| at.file);
            for file in places.chain([proof.entry]) {
                self.documents.entry(file).or_insert_with(|| document(&self.project, file));
            }
        }
        self.report.proofs = Some(proofs);
        self
    }

    /// The same project with these texts in place of what the files hold.
    #[must_use]
    pub fn with_texts(&self, texts: &BTreeMap<FileId, Arc<str>>, wishes: Wishes<'_>) -> Self {
        Self::of(self.project.with_texts(texts), self.modules.with_texts(texts), wishes)
    }
}

/// What of the project a baseline can be held against. A file that does not parse has findings that nobody sees.
fn scope(project: &Project, standing: &[Finding]) -> baseline::Scope {
    let broken: BTreeSet<FileId> = standing
        .iter()
        .filter(|finding| finding.rule.code == tool::INVALID_SYNTAX.code)
        .map(|finding| finding.primary.location.file)
        .collect();
    let (reported, others) =
        project.files().iter().partition::<Vec<_>, _>(|file| file.reported && !broken.contains(&file.id));
    let paths = |files: Vec<&SourceFile>| files.into_iter().map(|file| file.relative.clone()).collect();
    let is_whole = project.files().iter().all(|file| file.reported) && project.problems().is_empty();
    baseline::Scope { reported: paths(reported), others: paths(others), is_whole }
}

/// A number that no file of the project has.
fn next_file(project: &Project) -> FileId {
    FileId(u32::try_from(project.files().len()).expect("fewer files than 2^32"))
}

/// The programs that train; how far they are only their findings tell.
fn trainers(facts: &Facts<'_>) -> Vec<Trainer> {
    let trainer = |program: &Program| {
        let loops = program.loops.iter().chain(&program.steps_of_fit).map(|own| own.caller.file);
        let loops: BTreeSet<FileId> = loops.chain(program.other_gradients.iter().map(|own| own.0)).collect();
        let (files, loops) = (program.files(), loops.into_iter().collect());
        Trainer { entry: program.entry, files, loops, distribution: Distribution::Settled }
    };
    let trains = facts.programs.iter().filter(|program| program.pattern != Pattern::None);
    trains.map(trainer).collect()
}

/// The texts that findings, fixes and suppressions point into.
fn documents(project: &Project, facts: &Facts<'_>, findings: &[Finding]) -> Documents {
    let mut files: Vec<_> =
        facts.modules.files().filter(|&file| !facts.module(file).comments.is_empty()).collect();
    for finding in findings {
        files.push(finding.primary.location.file);
        files.extend(finding.labels.iter().chain(&finding.flow).map(|label| label.location.file));
        files.extend(finding.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.location.file));
        files.extend(finding.fix.iter().filter_map(|fix| fix.unit));
    }
    files.sort_unstable();
    files.dedup();
    files.into_iter().map(|file| (file, document(project, file))).collect()
}

/// The text of a file; empty if it is gone.
fn document(project: &Project, file: FileId) -> Document {
    project.document(file).unwrap_or_else(|| Document::new(project.file(file).relative.clone(), ""))
}

fn suppressions(facts: &Facts<'_>, documents: &Documents) -> Suppressions {
    let mut found = Suppressions::new();
    for file in facts.modules.files() {
        let module = facts.module(file);
        if module.comments.is_empty() {
            continue;
        }
        let statements: Vec<_> = module.statements.iter().map(|statement| statement.header).collect();
        let text = &documents[&file].text;
        // The comments of a file that has changed since stand elsewhere.
        if !facts.modules.is_made_of(file, text) {
            continue;
        }
        found.insert(file, suppression::parse(text, &module.comments, &statements));
    }
    found
}

/// What decides which findings are reported.
struct Outcome<'a> {
    project: &'a Project,
    wishes: Wishes<'a>,
    documents: &'a Documents,
}

impl Outcome<'_> {
    fn report(&self, found: Vec<Finding>, suppressions: &Suppressions) -> Report {
        let Wishes { selection, confidence, ignores, .. } = self.wishes;
        let relative = |finding: &Finding| &self.project.file(finding.primary.location.file).relative;
        let selected = |finding: &Finding| {
            // What does not parse is always said: nothing else is sure then.
            finding.rule.code == tool::INVALID_SYNTAX.code
                || selection.applies(finding.rule, relative(finding))
        };
        let levelled = |mut finding: Finding| {
            finding.level = selection.level(finding.rule, finding.level);
            finding
        };
        let (chosen, others): (Vec<Finding>, Vec<Finding>) = found.into_iter().partition(selected);
        let mut chosen: Vec<Finding> = chosen.into_iter().map(levelled).collect();
        ranks::say_once(&mut chosen);
        let ran = |rule: &Rule| selection.is_enabled(rule);
        let (kept, suppressed) = match ignores {
            Ignores::Disregarded => (chosen, Vec::new()),
            Ignores::Obeyed => {
                let applied = suppression::apply(chosen, suppressions, Checks { known: RULES, ran: &ran });
                let unused = applied.unused.into_iter().filter(|finding| selected(finding)).map(levelled);
                (applied.kept.into_iter().chain(unused).collect(), applied.suppressed)
            }
        };
        let shown = |finding: &Finding| finding.confidence >= confidence && self.is_reported(finding);
        let standing = |finding: &Finding, standing| if shown(finding) { standing } else { Standing::Hidden };
        let kept = kept.into_iter().map(|finding| (standing(&finding, Standing::Reported), finding));
        let suppressed = suppressed
            .into_iter()
            .map(|(finding, reason)| (standing(&finding, Standing::Suppressed(reason)), finding));
        let others = others.into_iter().map(|finding| (Standing::Hidden, finding));
        let all = kept.chain(suppressed).chain(others).map(|(standing, finding)| (finding, standing));
        Report::of(all.collect(), self.project.reported().count(), self.documents)
    }

    /// A finding is reported when one of its places is in the paths that the user gave.
    fn is_reported(&self, finding: &Finding) -> bool {
        let places = finding.labels.iter().chain(&finding.flow).chain([&finding.primary]);
        places.into_iter().any(|label| self.project.file(label.location.file).reported)
    }
}
