//! Decides which checks run, at which level, and in which files.
//!
//! People name checks by name, by code, by the beginning of a code, by group, or all at once. The narrower word wins:
//! `--select HVD001 --ignore restriction` runs HVD001. Between equals `ignore` wins. `--select` on the command line
//! replaces what the configuration selects and ignores; `--ignore` and `--extend-select` change it.

use std::fmt;
use std::path::Path;

use thiserror::Error;

use super::config::{Config, LevelSetting};
use super::globs::PathGlobs;
use super::suggest;
use crate::finding::{Level, Rule};

/// A word that names no check.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no check, code or group `{given}`")]
pub struct UnknownCheck {
    /// As written.
    pub given: String,
    /// What to do, in the imperative.
    pub help: String,
}

/// How narrow a selector is, widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    All,
    Group,
    /// With the number of digits.
    Prefix(usize),
    Exact,
}

/// One or more checks under the word that somebody named them with.
#[derive(Clone, Debug)]
pub struct Selector {
    text: String,
    width: Width,
    codes: Vec<&'static str>,
}

impl Selector {
    /// Finds out what `text` names among `rules`.
    ///
    /// # Errors
    ///
    /// It is no name, code, beginning of a code, group, or `ALL`.
    pub fn new(text: &str, rules: &[&'static Rule]) -> Result<Self, UnknownCheck> {
        let matching = |is_named: &dyn Fn(&Rule) -> bool| -> Vec<&'static str> {
            rules.iter().filter(|rule| is_named(rule)).map(|rule| rule.code).collect()
        };
        let digits =
            text.strip_prefix("HVD").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let candidates = [
            (Width::Exact, matching(&|rule| rule.name == text || rule.code == text)),
            (Width::Group, matching(&|rule| rule.group.name() == text)),
            (
                Width::Prefix(digits.map_or(0, str::len)),
                matching(&|rule| digits.is_some() && rule.code.starts_with(text)),
            ),
            (Width::All, matching(&|_| text == "ALL")),
        ];
        let found = candidates.into_iter().find(|(_, codes)| !codes.is_empty());
        let (width, codes) = found.ok_or_else(|| unknown(text, rules))?;
        Ok(Self { text: text.to_owned(), width, codes })
    }

    fn all(texts: &[String], rules: &[&'static Rule]) -> Result<Vec<Self>, UnknownCheck> {
        texts.iter().map(|text| Self::new(text, rules)).collect()
    }

    /// The word as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether `rule` is among the named.
    #[must_use]
    pub fn names(&self, rule: &Rule) -> bool {
        self.codes.contains(&rule.code)
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn unknown(given: &str, rules: &[&'static Rule]) -> UnknownCheck {
    let names = rules.iter().flat_map(|rule| [rule.name, rule.code, rule.group.name()]).chain(["ALL"]);
    let help = match suggest::nearest(given, names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "run `hvdlint explain` for the list of checks".into(),
    };
    UnknownCheck { given: given.into(), help }
}

/// What the command line says about the choice of checks.
#[derive(Clone, Debug, Default)]
pub struct SelectOptions {
    /// `--select`.
    pub select: Option<Vec<String>>,
    /// `--ignore`.
    pub ignore: Vec<String>,
    /// `--extend-select`.
    pub extend_select: Vec<String>,
}

/// The checks that run.
#[derive(Clone, Debug)]
pub struct Selection {
    enabled: Vec<(&'static Rule, Option<Level>)>,
    per_file_ignores: Vec<(PathGlobs, Vec<Selector>)>,
}

impl Selection {
    /// Combines the configuration with the command line.
    ///
    /// # Errors
    ///
    /// The command line names a check that doesn't exist.
    pub fn new(
        config: &Config,
        options: &SelectOptions,
        rules: &[&'static Rule],
    ) -> Result<Self, UnknownCheck> {
        let select = options.select.as_ref().map(|texts| Selector::all(texts, rules)).transpose()?;
        let ignore = Selector::all(&options.ignore, rules)?;
        let extend = Selector::all(&options.extend_select, rules)?;
        let is_enabled = |rule: &Rule, setting: Option<LevelSetting>| match &select {
            Some(select) => chosen(rule, select.iter().chain(&extend), &ignore).unwrap_or(false),
            None => chosen(rule, &extend, &ignore)
                .unwrap_or_else(|| setting != Some(LevelSetting::Off) && configured(rule, config)),
        };
        let mut enabled = Vec::new();
        for rule in rules {
            let setting = level_setting(rule, config);
            if is_enabled(rule, setting) {
                let level = setting.and_then(LevelSetting::level);
                enabled.push((*rule, level));
            }
        }
        let ignores = config.per_file_ignores.iter();
        let per_file_ignores = ignores.map(|row| (row.globs.clone(), row.checks.clone())).collect();
        Ok(Self { enabled, per_file_ignores })
    }

    /// The checks that run, in the order of the table they come from.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        self.enabled.iter().map(|(rule, _)| *rule)
    }

    /// Whether the check runs at all.
    #[must_use]
    pub fn is_enabled(&self, rule: &Rule) -> bool {
        self.enabled.iter().any(|(enabled, _)| enabled.code == rule.code)
    }

    /// Whether the check's findings in a file, given relative to the project root with `/`, are wanted.
    #[must_use]
    pub fn applies(&self, rule: &Rule, relative: &str) -> bool {
        let mut ignores = self.per_file_ignores.iter();
        self.is_enabled(rule)
            && !ignores.any(|(globs, checks)| {
                checks.iter().any(|check| check.names(rule)) && globs.covers(Path::new(relative))
            })
    }

    /// The level of a finding that has the level `found` by itself.
    #[must_use]
    pub fn level(&self, rule: &Rule, found: Level) -> Level {
        let row = self.enabled.iter().find(|(enabled, _)| enabled.code == rule.code);
        row.and_then(|(_, level)| *level).unwrap_or(found)
    }
}

/// Whether the narrowest word about `rule` chooses it; `None` where there is no word.
fn chosen<'a>(
    rule: &Rule,
    select: impl IntoIterator<Item = &'a Selector>,
    ignore: impl IntoIterator<Item = &'a Selector>,
) -> Option<bool> {
    let (select, ignore) = (narrowest(rule, select), narrowest(rule, ignore));
    (select.is_some() || ignore.is_some()).then_some(select > ignore)
}

fn narrowest<'a>(rule: &Rule, selectors: impl IntoIterator<Item = &'a Selector>) -> Option<Width> {
    selectors.into_iter().filter(|selector| selector.names(rule)).map(|selector| selector.width).max()
}

fn configured(rule: &Rule, config: &Config) -> bool {
    let select = config.select.iter().flatten().chain(&config.extend_select);
    chosen(rule, select, &config.ignore).unwrap_or(config.select.is_none())
}

fn level_setting(rule: &Rule, config: &Config) -> Option<LevelSetting> {
    let rows = config.levels.iter().filter(|(selector, _)| selector.names(rule));
    rows.max_by_key(|(selector, _)| selector.width).map(|(_, setting)| *setting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Group;

    static LATE_IMPORT: Rule = rule("HVD001", "import-not-at-top", Group::Restriction);
    static ALIAS: Rule = rule("HVD002", "member-aliased", Group::Restriction);
    static NO_LOOP: Rule = rule("HVD101", "no-training-loop", Group::TrainingLoop);
    static RULES: [&Rule; 3] = [&LATE_IMPORT, &ALIAS, &NO_LOOP];

    const fn rule(code: &'static str, name: &'static str, group: Group) -> Rule {
        Rule { code, name, group, level: Level::Error, page: "" }
    }

    fn config(text: &str) -> Config {
        Config::parse(text, Path::new("hvdlint.toml"), &RULES).expect("a valid configuration")
    }

    fn options(select: Option<&str>, ignore: &str, extend: &str) -> SelectOptions {
        let words = |list: &str| list.split_whitespace().map(str::to_owned).collect();
        SelectOptions { select: select.map(words), ignore: words(ignore), extend_select: words(extend) }
    }

    fn codes(text: &str, options: &SelectOptions) -> Vec<&'static str> {
        let selection = Selection::new(&config(text), options, &RULES).expect("known checks");
        selection.rules().map(|rule| rule.code).collect()
    }

    #[test]
    fn everything_runs_by_default() {
        assert_eq!(codes("", &SelectOptions::default()), ["HVD001", "HVD002", "HVD101"]);
    }

    #[test]
    fn checks_go_by_name_code_prefix_group_and_all() {
        for (word, expected) in [
            ("import-not-at-top", vec!["HVD001"]),
            ("HVD002", vec!["HVD002"]),
            ("HVD1", vec!["HVD101"]),
            ("HVD", vec!["HVD001", "HVD002", "HVD101"]),
            ("restriction", vec!["HVD001", "HVD002"]),
            ("ALL", vec!["HVD001", "HVD002", "HVD101"]),
        ] {
            assert_eq!(codes("", &options(Some(word), "", "")), expected, "{word}");
            assert_eq!(codes(&format!("select = ['{word}']"), &SelectOptions::default()), expected, "{word}");
        }
    }

    #[test]
    fn the_narrower_word_wins_and_ignore_between_equals() {
        assert_eq!(codes("", &options(Some("HVD001"), "restriction", "")), ["HVD001"]);
        assert_eq!(codes("", &options(Some("restriction"), "HVD001", "")), ["HVD002"]);
        assert_eq!(codes("", &options(Some("HVD001"), "HVD001", "")), [""; 0]);
        assert_eq!(codes("", &options(None, "HVD00", "HVD002")), ["HVD002", "HVD101"]);
    }

    #[test]
    fn the_command_line_wins_over_the_configuration() {
        let text = "select = ['restriction']\nignore = ['HVD002']\n";
        assert_eq!(codes(text, &SelectOptions::default()), ["HVD001"]);
        assert_eq!(codes(text, &options(None, "", "HVD101")), ["HVD001", "HVD101"]);
        assert_eq!(codes(text, &options(None, "ALL", "")), [""; 0]);
        assert_eq!(codes(text, &options(Some("HVD002"), "", "")), ["HVD002"], "select replaces both");
        assert_eq!(codes("extend-select = ['HVD001']", &SelectOptions::default()).len(), 3);
    }

    #[test]
    fn levels_change_and_switch_off() {
        let text = "[levels]\nALL = 'off'\nrestriction = 'note'\nHVD002 = 'warning'\n";
        let selection =
            Selection::new(&config(text), &SelectOptions::default(), &RULES).expect("known checks");
        assert!(!selection.is_enabled(&NO_LOOP));
        assert_eq!(selection.level(&LATE_IMPORT, Level::Error), Level::Note);
        assert_eq!(selection.level(&ALIAS, Level::Error), Level::Warning);
        assert_eq!(codes(text, &options(None, "", "HVD101")).len(), 3, "asked for on the command line");
    }

    #[test]
    fn a_file_can_be_spared() {
        let text = "[per-file-ignores]\n'tests' = ['restriction']\n'*_old.py' = ['ALL']\n";
        let selection =
            Selection::new(&config(text), &SelectOptions::default(), &RULES).expect("known checks");
        assert!(!selection.applies(&ALIAS, "tests/a/b.py"));
        assert!(selection.applies(&NO_LOOP, "tests/a/b.py"));
        assert!(!selection.applies(&NO_LOOP, "a/b_old.py"));
        assert!(selection.applies(&ALIAS, "a/b.py"));
    }

    #[test]
    fn a_misspelt_check_is_mended() {
        let error = Selector::new("import-not-on-top", &RULES).expect_err("misspelt");
        assert_eq!(error.to_string(), "there is no check, code or group `import-not-on-top`");
        assert_eq!(error.help, "did you mean `import-not-at-top`?");
        assert_eq!(Selector::new("", &RULES).expect_err("empty").given, "");
        assert_eq!(Selector::new("HVD101x", &RULES).expect_err("a typo").help, "did you mean `HVD101`?");
        assert_eq!(Selector::new("HVD7", &RULES).expect_err("no such prefix").given, "HVD7");
        let error = Selector::new("pylint", &RULES).expect_err("another tool's");
        assert_eq!(error.help, "run `hvdlint explain` for the list of checks");
    }
}
