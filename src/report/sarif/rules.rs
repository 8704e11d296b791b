//! The checks as SARIF describes them: from their pages.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use serde_sarif::sarif::{
    MultiformatMessageString, PropertyBag, ReportingConfiguration, ReportingConfigurationLevel,
    ReportingDescriptor, ToolComponent,
};

use crate::finding::{Level, Rule};
use crate::report::markdown;

/// GitHub cuts descriptions here, in characters.
const DESCRIPTION: usize = 1024;

/// The checks that have results, by code.
pub(super) struct Rules(Vec<&'static Rule>);

impl Rules {
    pub(super) fn of(rules: impl Iterator<Item = &'static Rule>) -> Self {
        let by_code: BTreeMap<&str, &'static Rule> = rules.map(|rule| (rule.code, rule)).collect();
        Self(by_code.into_values().collect())
    }

    /// Where the check stands in the driver's list.
    pub(super) fn index(&self, rule: &Rule) -> Option<i64> {
        let index = self.0.binary_search_by_key(&rule.code, |known| known.code).ok()?;
        i64::try_from(index).ok()
    }

    pub(super) fn driver(&self) -> ToolComponent {
        let mut driver = ToolComponent::builder()
            .name(env!("CARGO_PKG_NAME"))
            .semantic_version(env!("CARGO_PKG_VERSION"))
            .rules(self.0.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>())
            .build();
        driver.information_uri = repository().map(str::to_owned);
        driver
    }
}

/// The repository's address, once the package names it.
fn repository() -> Option<&'static str> {
    Some(env!("CARGO_PKG_REPOSITORY")).filter(|uri| !uri.is_empty())
}

fn descriptor(rule: &Rule) -> ReportingDescriptor {
    let summary = markdown::summary(rule.page);
    let mut descriptor = ReportingDescriptor::builder()
        .id(rule.code)
        .name(pascal_case(rule.name))
        .short_description(plain(markdown::first_sentence(&summary)))
        .full_description(plain(&summary))
        .help(
            MultiformatMessageString::builder()
                .text(markdown::plain_text(rule.page))
                .markdown(rule.page.to_owned())
                .build(),
        )
        .default_configuration(ReportingConfiguration {
            level: Some(json!(level(rule.level))),
            ..ReportingConfiguration::default()
        })
        .properties(properties(rule))
        .build();
    descriptor.help_uri =
        repository().map(|uri| format!("{uri}/blob/v{}/checks/{}.md", env!("CARGO_PKG_VERSION"), rule.name));
    descriptor
}

fn properties(rule: &Rule) -> PropertyBag {
    let severity = match rule.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "recommendation",
    };
    let tags: BTreeSet<&str> = BTreeSet::from([rule.group.name(), "tensorflow"]);
    PropertyBag {
        tags: Some(tags.into_iter().map(str::to_owned).collect()),
        additional_properties: BTreeMap::from([
            ("precision".to_owned(), json!("high")),
            ("problem.severity".to_owned(), json!(severity)),
        ]),
    }
}

fn level(level: Level) -> ReportingConfigurationLevel {
    match level {
        Level::Error => ReportingConfigurationLevel::Error,
        Level::Warning => ReportingConfigurationLevel::Warning,
        Level::Note => ReportingConfigurationLevel::Note,
    }
}

fn plain(text: &str) -> MultiformatMessageString {
    let text: String = text.chars().take(DESCRIPTION).collect();
    MultiformatMessageString::builder().text(text).build()
}

/// `object-not-assigned-once` as `ObjectNotAssignedOnce`.
fn pascal_case(name: &str) -> String {
    let capitalised = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect::<String>()
    };
    name.split('-').map(capitalised).collect()
}
