//! Reads a configuration from TOML, minding where everything stands.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::KEYS;
use super::{ApiKind, ApiRow, Config, ConfigError, Framework, LevelSetting, PerFileIgnore};
use crate::finding::{Confidence, Level, Rule};
use crate::project::{PathGlobs, Selector, suggest};

pub(super) const LEVELS: [(&str, LevelSetting); 4] = [
    ("error", LevelSetting::At(Level::Error)),
    ("warning", LevelSetting::At(Level::Warning)),
    ("note", LevelSetting::At(Level::Note)),
    ("off", LevelSetting::Off),
];

pub(super) const CONFIDENCES: [(&str, Confidence); 2] =
    [("certain", Confidence::Certain), ("possible", Confidence::Possible)];

pub(super) const FRAMEWORKS: [(&str, Framework); 1] = [("horovod", Framework::Horovod)];

pub(super) const KINDS: [(&str, ApiKind); 6] = [
    ("optimizer", ApiKind::Optimizer),
    ("model", ApiKind::Model),
    ("dataset", ApiKind::Dataset),
    ("callback", ApiKind::Callback),
    ("collective", ApiKind::Collective),
    ("file-writer", ApiKind::FileWriter),
];

type Key<'i> = Spanned<std::borrow::Cow<'i, str>>;
type Value<'i> = Spanned<DeValue<'i>>;

/// The configuration in `text`; `None` for a `pyproject.toml` that has none.
pub(super) fn read(text: &str, path: &Path, rules: &[&'static Rule]) -> Result<Option<Config>, ConfigError> {
    let is_pyproject = path.file_name().is_some_and(|name| name == "pyproject.toml");
    let prefix = if is_pyproject { "tool.hvdlint." } else { "" };
    let reader = Reader { prefix, text, path, rules };
    if is_pyproject && !text.contains("hvdlint") {
        return Ok(None); // Whether it is valid TOML concerns other tools.
    }
    let document = DeTable::parse(text).map_err(|error| {
        let help = "mend the TOML; see https://toml.io for its rules";
        reader.fail(error.span().unwrap_or(0..0), error.message(), help)
    })?;
    if !is_pyproject {
        return reader.config(document.get_ref()).map(Some);
    }
    let Some((_, tool)) = find(document.get_ref(), "tool") else { return Ok(None) };
    let Some((_, own)) = tool.get_ref().as_table().and_then(|tool| find(tool, "hvdlint")) else {
        return Ok(None);
    };
    let own_table = own.get_ref().as_table();
    let own_table =
        own_table.ok_or_else(|| reader.wrong_type("tool.hvdlint", "a table", own, "[tool.hvdlint]"))?;
    reader.config(own_table).map(Some)
}

fn find<'a, 'i>(table: &'a DeTable<'i>, name: &str) -> Option<(&'a Key<'i>, &'a Value<'i>)> {
    table.iter().find(|(key, _)| key.get_ref() == name)
}

/// Entries in the order of the file, so that the first mistake is the one reported.
fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<(&'a Key<'i>, &'a Value<'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

struct Reader<'a> {
    /// What stands before the names of tables.
    prefix: &'static str,
    text: &'a str,
    path: &'a Path,
    rules: &'a [&'static Rule],
}

impl Reader<'_> {
    fn config(&self, table: &DeTable) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        for (key, value) in in_order(table) {
            let name = key.get_ref().as_ref();
            match name {
                "select" => config.select = Some(self.selectors(name, value)?),
                "ignore" => config.ignore = self.selectors(name, value)?,
                "extend-select" => config.extend_select = self.selectors(name, value)?,
                "levels" => {
                    for (check, level) in in_order(self.table(name, value)?) {
                        let key = format!("levels.{}", check.get_ref());
                        let check = self.selector(check.get_ref(), check.span())?;
                        config.levels.push((check, self.one_of(&key, level, &LEVELS)?));
                    }
                }
                "strict" => config.strict = self.bool(name, value)?,
                "confidence" => config.confidence = self.one_of(name, value, &CONFIDENCES)?,
                "exclude" => config.exclude = self.patterns(name, value)?,
                "extend-exclude" => config.extend_exclude = self.patterns(name, value)?,
                "per-file-ignores" => {
                    for (pattern, checks) in in_order(self.table(name, value)?) {
                        config.per_file_ignores.push(PerFileIgnore {
                            pattern: pattern.get_ref().to_string(),
                            globs: self.globs(pattern.get_ref(), pattern.span())?,
                            checks: self.selectors(&format!("'{}'", pattern.get_ref()), checks)?,
                        });
                    }
                }
                "entry" => {
                    let entries = self.strings(name, value)?;
                    config.entry = entries.into_iter().map(|(entry, _)| entry.to_owned()).collect();
                }
                "baseline" => config.baseline = Some(self.string(name, value)?.into()),
                "framework" => config.framework = self.one_of(name, value, &FRAMEWORKS)?,
                "api" => config.api = self.api(value)?,
                "tool" => {
                    let help = "let the keys stand at the top; `[tool.hvdlint]` is for pyproject.toml";
                    return Err(self.fail(key.span(), "there is no table `tool` in this file", help));
                }
                _ => return Err(self.unknown_key(key, &KEYS.map(|key| key.name))),
            }
            config.given.insert(name.to_owned());
        }
        Ok(config)
    }

    fn api_row(&self, row: &DeTable, span: Range<usize>) -> Result<ApiRow, ConfigError> {
        let (mut name, mut kind, mut base, mut returns, mut parameters) =
            (None, None, None, None, Vec::new());
        for (key, value) in in_order(row) {
            let column = key.get_ref().as_ref();
            match column {
                "name" => name = Some(self.string(column, value)?.to_owned()),
                "kind" => kind = Some(self.one_of(column, value, &KINDS)?),
                "base" => base = Some(self.string(column, value)?.to_owned()),
                "returns" => returns = Some(self.string(column, value)?.to_owned()),
                "parameters" => {
                    let names = self.strings(column, value)?;
                    parameters = names.into_iter().map(|(name, _)| name.to_owned()).collect();
                }
                _ => return Err(self.unknown_key(key, &["name", "kind", "base", "returns", "parameters"])),
            }
        }
        let missing = |key: &str| {
            self.fail(span.clone(), format!("the row has no `{key}`"), format!("add `{key} = \"...\"`"))
        };
        let name = name.ok_or_else(|| missing("name"))?;
        let kind = kind.ok_or_else(|| missing("kind"))?;
        let place = self.fail(span, "", "");
        Ok(ApiRow { name, kind, base, returns, parameters, place })
    }

    fn selectors(&self, key: &str, value: &Value) -> Result<Vec<Selector>, ConfigError> {
        let names = self.strings(key, value)?;
        names.into_iter().map(|(name, span)| self.selector(name, span)).collect()
    }

    fn selector(&self, name: &str, span: Range<usize>) -> Result<Selector, ConfigError> {
        Selector::new(name, self.rules).map_err(|error| self.fail(span, error.to_string(), error.help))
    }

    fn patterns(&self, key: &str, value: &Value) -> Result<Vec<String>, ConfigError> {
        let mut patterns = Vec::new();
        for (pattern, span) in self.strings(key, value)? {
            self.globs(pattern, span)?;
            patterns.push(pattern.to_owned());
        }
        Ok(patterns)
    }

    fn globs(&self, pattern: &str, span: Range<usize>) -> Result<PathGlobs, ConfigError> {
        let help = "write a pattern as in .gitignore, such as `tests/*_old.py`";
        PathGlobs::new([pattern]).map_err(|error| self.fail(span, error.to_string(), help))
    }

    fn one_of<T: Copy>(&self, key: &str, value: &Value, values: &[(&str, T)]) -> Result<T, ConfigError> {
        let given = self.string(key, value)?;
        if let Some((_, value)) = values.iter().find(|(name, _)| *name == given) {
            return Ok(*value);
        }
        let names: Vec<String> = values.iter().map(|(name, _)| format!("`{name}`")).collect();
        let help = match suggest::nearest(given, values.iter().map(|(name, _)| *name)) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("write {}", names.join(" or ")),
        };
        Err(self.fail(value.span(), format!("`{given}` is not a value of `{key}`"), help))
    }

    fn bool(&self, key: &str, value: &Value) -> Result<bool, ConfigError> {
        let example = format!("{key} = true");
        value.get_ref().as_bool().ok_or_else(|| self.wrong_type(key, "true or false", value, &example))
    }

    fn string<'a>(&self, key: &str, value: &'a Value) -> Result<&'a str, ConfigError> {
        let example = format!("{key} = \"...\"");
        value.get_ref().as_str().ok_or_else(|| self.wrong_type(key, "a string", value, &example))
    }

    fn strings<'a>(&self, key: &str, value: &'a Value) -> Result<Vec<(&'a str, Range<usize>)>, ConfigError> {
        let strings = self.array(key, value)?.iter();
        strings.map(|item| Ok((self.string_in(key, item)?, item.span()))).collect()
    }

    fn string_in<'a>(&self, key: &str, item: &'a Value) -> Result<&'a str, ConfigError> {
        let example = format!("{key} = [\"...\"]");
        item.get_ref().as_str().ok_or_else(|| self.wrong_type(key, "a list of strings", item, &example))
    }

    fn array<'a, 'i>(&self, key: &str, value: &'a Value<'i>) -> Result<&'a [Value<'i>], ConfigError> {
        let example = format!("{key} = [\"...\"]");
        let array = value.get_ref().as_array().map(AsRef::as_ref);
        array.ok_or_else(|| self.wrong_type(key, "a list of strings", value, &example))
    }

    fn table<'a, 'i>(&self, key: &str, value: &'a Value<'i>) -> Result<&'a DeTable<'i>, ConfigError> {
        let example = format!("[{}{key}]", self.prefix);
        value.get_ref().as_table().ok_or_else(|| self.wrong_type(key, "a table", value, &example))
    }

    fn api(&self, value: &Value) -> Result<Vec<ApiRow>, ConfigError> {
        let example = format!("[[{}api]]", self.prefix);
        let wrong = |value| self.wrong_type("api", "a list of tables", value, &example);
        let rows = value.get_ref().as_array().ok_or_else(|| wrong(value))?.iter();
        rows.map(|row| self.api_row(row.get_ref().as_table().ok_or_else(|| wrong(row))?, row.span()))
            .collect()
    }

    fn wrong_type(&self, key: &str, expected: &str, value: &Value, example: &str) -> ConfigError {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a truth value",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let what = format!("`{key}` must be {expected}, and here is {found}");
        self.fail(value.span(), what, format!("write `{example}`"))
    }

    fn unknown_key(&self, key: &Key, keys: &[&'static str]) -> ConfigError {
        let given = key.get_ref();
        let help = match suggest::nearest(given, keys.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("remove it; the keys are {}", keys.join(", ")),
        };
        self.fail(key.span(), format!("there is no key `{given}`"), help)
    }

    fn fail(&self, span: Range<usize>, what: impl Into<String>, help: impl Into<String>) -> ConfigError {
        ConfigError::new(self.path, self.text, span, what, help)
    }
}
