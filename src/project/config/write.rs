//! Writes a configuration as TOML, for `hvdlint config show`.

use toml::{Table, Value};

use super::{Config, LevelSetting, Selector, read};

impl Config {
    /// All that applies, defaults included, as the text of an `hvdlint.toml`; reading it gives the same configuration.
    ///
    /// # Panics
    ///
    /// Never: strings, lists and truth values are TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut table = Table::new();
        if let Some(select) = &self.select {
            table.insert("select".into(), selectors(select));
        }
        table.insert("ignore".into(), selectors(&self.ignore));
        table.insert("extend-select".into(), selectors(&self.extend_select));
        table.insert("strict".into(), self.strict.into());
        table.insert("confidence".into(), self.confidence.to_string().into());
        table.insert("exclude".into(), self.exclude.clone().into());
        table.insert("extend-exclude".into(), self.extend_exclude.clone().into());
        table.insert("entry".into(), self.entry.clone().into());
        table.extend(
            self.baseline.as_ref().map(|path| ("baseline".into(), path.display().to_string().into())),
        );
        table.insert("framework".into(), word(&read::FRAMEWORKS, &self.framework));
        table.insert("levels".into(), Value::Table(self.levels.iter().map(level).collect()));
        let ignores = self.per_file_ignores.iter().map(|row| (row.pattern.clone(), selectors(&row.checks)));
        table.insert("per-file-ignores".into(), Value::Table(ignores.collect()));
        let rows = self.api.iter().map(|row| {
            let mut columns = Table::new();
            columns.insert("name".into(), row.name.clone().into());
            columns.insert("kind".into(), word(&read::KINDS, &row.kind));
            columns.extend(row.base.clone().map(|base| ("base".into(), base.into())));
            columns.extend(row.returns.clone().map(|returns| ("returns".into(), returns.into())));
            columns.insert("parameters".into(), row.parameters.clone().into());
            Value::Table(columns)
        });
        table.insert("api".into(), Value::Array(rows.collect()));
        toml::to_string(&table).expect("a table of strings, lists and truth values is TOML")
    }

    /// The same, with comments: where each key comes from.
    #[must_use]
    pub fn explained(&self) -> String {
        let origin = self.origin.as_ref().map_or("built in".into(), |path| path.display().to_string());
        let mut text = format!("# {origin}\n");
        let mut inside = false;
        for line in self.to_toml().lines() {
            let header = line.strip_prefix('[').map(|line| line.trim_matches(['[', ']']));
            inside |= header.is_some();
            let key = header.or_else(|| line.split_once(" = ").filter(|_| !inside).map(|(key, _)| key));
            let is_default = key.is_some_and(|key| !self.given.contains(key));
            text.push_str(line);
            text.push_str(if is_default { "  # default\n" } else { "\n" });
        }
        text
    }
}

fn selectors(selectors: &[Selector]) -> Value {
    Value::Array(selectors.iter().map(|selector| selector.as_str().into()).collect())
}

fn level((check, setting): &(Selector, LevelSetting)) -> (String, Value) {
    (check.to_string(), word(&read::LEVELS, setting))
}

/// The word that is read as `value`.
fn word<T: PartialEq>(words: &[(&str, T)], value: &T) -> Value {
    let word = words.iter().find(|(_, meaning)| meaning == value);
    word.expect("every value has a word").0.into()
}
