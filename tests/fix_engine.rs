//! How fixes go together: with checks that find names, each with a fix of a certain kind.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fs;

use hvdlint::analysis;
use hvdlint::checks::{Check, Context};
use hvdlint::examine::{Examined, Ignores, Wishes};
use hvdlint::finding::{
    Applicability, Confidence, Edit, Finding, Fix, Group, Level, Location, Rule, SpanRange,
};
use hvdlint::fix::{Cause, Mended, mend};
use hvdlint::project::{OpenOptions, Project, SelectOptions, Selection};
use support::folder;
use tempfile::TempDir;

/// A check that reports every variable with a name of its own.
macro_rules! check {
    ($static:ident, $code:literal, $name:literal, $run:path) => {
        static $static: Check = Check {
            rule: Rule { code: $code, name: $name, group: Group::Restriction, level: Level::Error, page: "" },
            run: $run,
        };
    };
}

check!(BAD, "HVD011", "bad-name", bad);
check!(WRONG, "HVD012", "wrong-name", wrong);
check!(UNIT, "HVD013", "unit-name", unit);
check!(LATE, "HVD014", "late-name", late);
check!(IMPORT, "HVD015", "import-name", import);
check!(STATEMENT, "HVD016", "statement-name", statement);
/// Of a group that is sure of its findings in distributed programs, too.
static GUARDED: Check = Check {
    rule: Rule { code: "HVD017", name: "guarded-name", group: Group::Graph, level: Level::Error, page: "" },
    run: guarded,
};

static CHECKS: &[&Check] = &[&BAD, &WRONG, &UNIT, &LATE, &IMPORT, &STATEMENT, &GUARDED];
static RULES: &[&Rule] =
    &[&BAD.rule, &WRONG.rule, &UNIT.rule, &LATE.rule, &IMPORT.rule, &STATEMENT.rule, &GUARDED.rule];

/// The variables whose name begins with `name`: the name, where it stands, its statement.
fn variables(context: Context<'_>, name: &str) -> Vec<(String, Location, Location)> {
    let modules = context.facts.modules;
    let mut found = Vec::new();
    for file in modules.files() {
        let module = modules.get(file);
        for definition in &module.definitions {
            let own = module.variable_name(definition.variable);
            let statement = definition.statement.map_or(definition.range, |id| module.statement(id).range);
            if own.starts_with(name) {
                found.push((
                    own.to_owned(),
                    Location::new(file, definition.range),
                    Location::new(file, statement),
                ));
            }
        }
    }
    found
}

fn replace(location: Location, content: &str) -> Edit {
    Edit { location, content: content.to_owned() }
}

fn fix(edits: Vec<Edit>) -> Fix {
    Fix { applicability: Applicability::Safe, message: "rename it".to_owned(), edits, unit: None }
}

fn insertion(location: Location, content: &str) -> Edit {
    let range = SpanRange { start: 0, end: 0 };
    replace(Location { range, ..location }, content)
}

/// `bad` becomes `good`.
fn bad(context: Context<'_>) -> Vec<Finding> {
    let found = variables(context, "bad").into_iter().map(|(name, here, _)| {
        let fix = fix(vec![replace(here, &name.replacen("bad", "good", 1))]);
        Finding::new(&BAD.rule, Level::Error, here, "a bad name").mended_by(fix)
    });
    found.collect()
}

/// `wrong` becomes `bad`, `stay` stays, `loud` becomes what no Latin-1 file has, `lone` what is no syntax.
fn wrong(context: Context<'_>) -> Vec<Finding> {
    let cases = [("wrong", "bad"), ("stay", "stay"), ("loud", "名"), ("lone", "1")];
    let found = cases.iter().flat_map(|(name, new)| {
        variables(context, name).into_iter().map(|(_, here, _)| {
            let fix = fix(vec![replace(here, new)]);
            Finding::new(&WRONG.rule, Level::Error, here, "a wrong name").mended_by(fix)
        })
    });
    found.collect()
}

/// All variables that begin with `unit` become `done` together; `unit_bad` becomes `wrong`.
fn unit(context: Context<'_>) -> Vec<Finding> {
    let found = variables(context, "unit").into_iter().map(|(name, here, _)| {
        let new = if name == "unit_bad" { "wrong" } else { "done" };
        let mut fix = fix(vec![insertion(here, "import os\n"), replace(here, new)]);
        fix.unit = Some(hvdlint::project::FileId(0));
        Finding::new(&UNIT.rule, Level::Error, here, format!("{name} is of a unit")).mended_by(fix)
    });
    found.collect()
}

/// `late` can be fixed when there is no bad name.
fn late(context: Context<'_>) -> Vec<Finding> {
    let is_time = variables(context, "bad").is_empty();
    let found = variables(context, "late").into_iter().map(|(_, here, _)| {
        let mut finding = Finding::new(&LATE.rule, Level::Error, here, "a late name");
        finding.fix = is_time.then(|| fix(vec![replace(here, "done")]));
        finding
    });
    found.collect()
}

/// `import_a` becomes `a`, and there is an import at the top.
fn import(context: Context<'_>) -> Vec<Finding> {
    let found = variables(context, "import_").into_iter().map(|(name, here, _)| {
        let fix = fix(vec![insertion(here, "import os\n"), replace(here, &name["import_".len()..])]);
        Finding::new(&IMPORT.rule, Level::Error, here, "an import is missing").mended_by(fix)
    });
    found.collect()
}

/// The whole statement of `statement` is written anew.
fn statement(context: Context<'_>) -> Vec<Finding> {
    let found = variables(context, "statement").into_iter().map(|(_, here, whole)| {
        let fix = fix(vec![replace(whole, "done = 0")]);
        Finding::new(&STATEMENT.rule, Level::Error, here, "a statement").mended_by(fix)
    });
    found.collect()
}

/// What binds `guarded` is done by rank 0 alone.
fn guarded(context: Context<'_>) -> Vec<Finding> {
    let found = variables(context, "guarded").into_iter().map(|(_, here, whole)| {
        let fix = fix(vec![
            replace(
                Location { range: SpanRange { end: whole.range.start, ..whole.range }, ..whole },
                "if hvd.rank() == 0: ",
            ),
            replace(here, "done"),
        ]);
        Finding::new(&GUARDED.rule, Level::Error, here, "done by all ranks").mended_by(fix)
    });
    found.collect()
}

/// How a project is mended.
struct Options<'a> {
    paths: &'a [&'a str],
    ignore: &'a [&'a str],
    least: Applicability,
    /// What happens after the project is read.
    meanwhile: &'a dyn Fn(&TempDir),
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { paths: &["."], ignore: &[], least: Applicability::Safe, meanwhile: &|_| {} }
    }
}

/// What became of the files, and why fixes are left out.
#[derive(Debug)]
struct Outcome {
    texts: Vec<String>,
    refusals: Vec<String>,
    mended: Mended,
}

fn mended(files: &[(&str, &str)], options: &Options<'_>) -> Outcome {
    let project_folder = folder(files);
    fs::write(project_folder.path().join("hvdlint.toml"), "").unwrap();
    let open = OpenOptions { rules: RULES, ..OpenOptions::default() };
    let paths: Vec<_> = options.paths.iter().map(|path| project_folder.path().join(path)).collect();
    let project = Project::open(&paths, &open).unwrap();
    let choice = SelectOptions {
        ignore: options.ignore.iter().map(|name| (*name).to_owned()).collect(),
        ..SelectOptions::default()
    };
    let selection = Selection::new(project.config(), &choice, RULES).unwrap();
    let work = |library: &_| {
        let wishes = Wishes {
            checks: CHECKS,
            library,
            selection: &selection,
            strict: false,
            confidence: Confidence::Certain,
            ignores: Ignores::Obeyed,
            baseline: None,
            progress: None,
        };
        let examined = Examined::new(project.clone(), wishes);
        (options.meanwhile)(&project_folder);
        mend(examined, wishes, options.least, None)
    };
    let mended = analysis::with_library(&project, work).unwrap();
    let texts = files.iter().map(|(name, _)| {
        let id = project.find(&project_folder.path().join(name)).unwrap().id;
        let change = mended.changes.iter().find(|change| change.file == id);
        change.map_or("-".to_owned(), |change| String::from_utf8(change.after.clone()).unwrap())
    });
    let texts = texts.collect();
    let refusals = mended.refusals.iter();
    let refusals = refusals.map(|refusal| format!("{} {}: {}", refusal.check, refusal.place, refusal.reason));
    Outcome { texts, refusals: refusals.collect(), mended }
}

/// The text of the one file, and the refusals.
fn one(text: &str) -> (String, Vec<String>) {
    let Outcome { mut texts, refusals, .. } = mended(&[("a.py", text)], &Options::default());
    (texts.remove(0), refusals)
}

#[test]
fn all_good_fixes_are_applied_at_once() {
    let Outcome { texts, refusals, mended } =
        mended(&[("a.py", "bad = 1\nbad2 = 2\n"), ("b.py", "bad3 = 1\n")], &Options::default());
    assert_eq!(texts, ["good = 1\ngood2 = 2\n", "good3 = 1\n"]);
    assert_eq!((mended.fixed, refusals.len(), mended.groups.len()), (3, 0, 2));
    assert!(mended.examined.report.findings.is_empty());
}

#[test]
fn what_two_fixes_insert_alike_is_inserted_once() {
    assert_eq!(one("import_a = 1\nimport_b = 2\n"), ("import os\na = 1\nb = 2\n".to_owned(), Vec::new()));
}

#[test]
fn guilty_fixes_are_found_among_good_ones_and_refused() {
    let (text, refusals) = one("bad = 1\nwrong = 2\nbad2 = 3\nstay = 4\nbad3 = 5\nlone = 6\nbad4 = 7\n");
    assert_eq!(text, "good = 1\nwrong = 2\ngood2 = 3\nstay = 4\ngood3 = 5\nlone = 6\ngood4 = 7\n");
    assert_eq!(
        refusals,
        [
            "wrong-name a.py:2:1: it would cause bad-name at a.py:2:1",
            "wrong-name a.py:4:1: the finding would remain",
            "wrong-name a.py:6:1: it would cause invalid-syntax at a.py:6:1",
        ]
    );
}

#[test]
fn a_fix_after_which_a_name_stands_for_nothing_is_refused() {
    let (text, refusals) = one("bad = 1\nbad2 = bad\nbad3 = 3\n");
    assert_eq!(text, "bad = 1\ngood2 = bad\ngood3 = 3\n");
    assert_eq!(refusals, ["bad-name a.py:1:1: a.py would read `bad`, which nothing would bind there"]);
    // In front of its definition, and where it was read already.
    let (text, refusals) = one("print(bad)\nbad = 1\n");
    assert_eq!((text.as_str(), refusals.len()), ("print(bad)\ngood = 1\n", 0));
}

#[test]
fn what_the_model_of_the_ranks_rejects_is_refused_with_the_reason() {
    let program = |last: &str| {
        format!(
            "import horovod.tensorflow as hvd\nimport tensorflow as tf\nhvd.init()\nx = tf.constant(1.0)\n{last}"
        )
    };
    let (text, refusals) = one(&program("guarded = hvd.allreduce(x)\n"));
    assert_eq!((text.as_str(), refusals.len()), ("-", 1), "nothing is changed");
    assert_eq!(refusals, ["guarded-name a.py:5:1: it would cause ranks-out-of-step at a.py:5:11"]);
    let (text, refusals) = one(&program("guarded = hvd.size()\n"));
    assert_eq!(
        (text, refusals),
        (program("if hvd.rank() == 0: done = hvd.size()\n"), Vec::new()),
        "no rank waits"
    );
}

#[test]
fn a_fix_that_another_enables_is_applied_in_a_later_round() {
    assert_eq!(one("late = 1\nbad = 2\n"), ("done = 1\ngood = 2\n".to_owned(), Vec::new()));
}

#[test]
fn of_two_contradicting_fixes_the_earlier_is_applied_first() {
    // The statement begins in front of the bad name in it.
    assert_eq!(one("statement = (bad := 1)\n"), ("done = 0\n".to_owned(), Vec::new()));
    assert_eq!(one("bad = statement = 1\n"), ("done = 0\n".to_owned(), Vec::new()));
    // Here it has to wait for the import.
    assert_eq!(one("import_a = statement = 1\n"), ("import os\ndone = 0\n".to_owned(), Vec::new()));
}

#[test]
fn what_contradicts_a_refused_fix_is_applied() {
    let (text, refusals) = one("stay = bad = 1\n");
    assert_eq!((text.as_str(), refusals.len()), ("stay = good = 1\n", 1));
}

#[test]
fn a_fix_that_loses_a_comment_is_unsafe() {
    let text = "statement = [  # why\n    1]\n";
    assert_eq!(one(text), ("-".to_owned(), Vec::new()));
    let options = Options { least: Applicability::Unsafe, ..Options::default() };
    assert_eq!(mended(&[("a.py", text)], &options).texts, ["done = 0\n"]);
    assert_eq!(one("statement = [1]  # why\n").0, "done = 0  # why\n", "the comment is not replaced");
}

#[test]
fn a_unit_is_applied_as_a_whole() {
    let files = [("a.py", "unit1 = 1\nunit2 = 2\n"), ("b.py", "unit3 = 3\n"), ("c.py", "bad = 1\n")];
    let Outcome { texts, mended, .. } = mended(&files, &Options::default());
    assert_eq!(texts, ["import os\ndone = 1\ndone = 2\n", "import os\ndone = 3\n", "good = 1\n"]);
    let sizes: Vec<usize> = mended.groups.iter().map(std::collections::BTreeSet::len).collect();
    assert_eq!(sizes, [2, 1], "the files of the unit change together");
}

#[test]
fn a_unit_with_one_refused_fix_is_refused() {
    let files = [("a.py", "unit1 = 1\n"), ("b.py", "unit_bad = 3\n"), ("c.py", "bad = 1\n")];
    let Outcome { texts, refusals, .. } = mended(&files, &Options::default());
    assert_eq!(texts, ["-", "-", "good = 1\n"]);
    assert_eq!(refusals, ["unit-name a.py:1:1: it would cause wrong-name at b.py:1:1"]);
}

#[test]
fn a_unit_is_refused_where_a_member_is_not_to_be_fixed() {
    let files = [("a.py", "unit1 = 1\nimport b\n"), ("b.py", "unit2 = 3\n")];
    let only_one = Options { paths: &["a.py"], ..Options::default() };
    let Outcome { texts, refusals, .. } = mended(&files, &only_one);
    assert_eq!(texts, ["-", "-"]);
    assert_eq!(
        refusals,
        [
            "unit-name a.py:1:1: it is right only together with that of unit-name at b.py:1:1, which is not to be fixed"
        ]
    );
    let suppressed =
        [("a.py", "unit1 = 1\n"), ("b.py", "unit2 = 3  # hvdlint: ignore[HVD013] -- for a test\n")];
    let Outcome { texts, refusals, .. } = mended(&suppressed, &Options::default());
    assert_eq!((texts, refusals.len()), (vec!["-".to_owned(), "-".to_owned()], 1));
}

#[test]
fn what_is_not_selected_is_not_fixed_but_must_not_be_caused() {
    let options = Options { ignore: &["bad-name"], ..Options::default() };
    let Outcome { texts, refusals, .. } = mended(&[("a.py", "bad = 1\nwrong = 2\n")], &options);
    assert_eq!(texts, ["-"]);
    assert_eq!(refusals, ["wrong-name a.py:2:1: it would cause bad-name at a.py:2:1"]);
}

#[test]
fn a_character_that_the_file_can_t_have_is_refused() {
    let (text, refusals) = one("# coding: latin-1\nloud = 1\nbad = 2\n");
    assert_eq!(text, "# coding: latin-1\nloud = 1\ngood = 2\n");
    assert_eq!(refusals, ["wrong-name a.py:2:1: the file's encoding has no character for '名'"]);
    assert_eq!(one("loud = 1\n").0, "名 = 1\n");
}

#[test]
fn a_file_that_changes_meanwhile_is_left_alone() {
    let meanwhile = |folder: &TempDir| fs::write(folder.path().join("a.py"), "bad = 22\n").unwrap();
    let options = Options { meanwhile: &meanwhile, ..Options::default() };
    let Outcome { texts, refusals, mended } =
        mended(&[("a.py", "bad = 1\n"), ("b.py", "bad = 1\n")], &options);
    assert_eq!(texts, ["-", "good = 1\n"]);
    assert_eq!(refusals, ["bad-name a.py:1:1: the file has changed since it was read"]);
    assert_eq!(mended.refusals[0].cause, Cause::File);
}

#[test]
fn a_suppression_that_loses_its_finding_goes_too() {
    // The suppressed finding hides in the statement that another fix replaces.
    let text = "statement = (bad := 1)  # hvdlint: ignore[bad-name] -- for a test\n";
    let (text, refusals) = one(text);
    assert_eq!((text.as_str(), refusals.len()), ("done = 0  # hvdlint: ignore[bad-name] -- for a test\n", 0));
}
