//! The checks as SARIF describes them: from their pages.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use serde_sarif::sarif::{
    MultiformatMessageString, PropertyBag, ReportingConfiguration, ReportingConfigurationLevel,
    ReportingDescriptor, ToolComponent,
};

use super::message::{Templates, Worded};
use crate::checks::RULES;
use crate::finding::{Level, Rule};
use crate::report::markdown;

/// GitHub cuts descriptions here, in characters.
const DESCRIPTION: usize = 1024;

/// The checks that have results, by code, each with the templates of their messages; all where there is no result.
pub(super) struct Rules(Vec<(&'static Rule, Templates)>);

impl Rules {
    pub(super) fn of(messages: impl Iterator<Item = (&'static Rule, Worded)>) -> Self {
        let mut by_code: BTreeMap<&str, (&'static Rule, Templates)> = BTreeMap::new();
        for (rule, worded) in messages {
            let (_, templates) = by_code.entry(rule.code).or_insert_with(|| (rule, Templates::new()));
            templates.insert(worded.id, worded.template);
        }
        if by_code.is_empty() {
            // Readers of a clean log still learn what was looked for.
            by_code.extend(RULES.iter().map(|rule| (rule.code, (*rule, Templates::new()))));
        }
        Self(by_code.into_values().collect())
    }

    /// Where the check stands in the driver's list.
    pub(super) fn index(&self, rule: &Rule) -> Option<i64> {
        let index = self.0.binary_search_by_key(&rule.code, |(known, _)| known.code).ok()?;
        i64::try_from(index).ok()
    }

    /// The tool, with what it may say about its run.
    pub(super) fn driver(&self, notifications: Vec<ReportingDescriptor>) -> ToolComponent {
        let rules = self.0.iter().map(|(rule, templates)| descriptor(rule, templates));
        let mut driver = ToolComponent::builder()
            .name(env!("CARGO_PKG_NAME"))
            .semantic_version(env!("CARGO_PKG_VERSION"))
            .information_uri(format!("{DOCUMENTATION}/{}", env!("CARGO_PKG_VERSION")))
            .rules(rules.collect::<Vec<_>>())
            .build();
        driver.notifications = (!notifications.is_empty()).then_some(notifications);
        driver
    }
}

/// Where the source of this version of the package is published, pages included.
const DOCUMENTATION: &str = concat!("https://docs.rs/crate/", env!("CARGO_PKG_NAME"));

pub(super) fn descriptor(rule: &Rule, templates: &Templates) -> ReportingDescriptor {
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
        .help_uri(format!("{DOCUMENTATION}/{}/source/checks/{}.md", env!("CARGO_PKG_VERSION"), rule.name))
        .properties(properties(rule))
        .build();
    let strings = templates.iter().map(|(id, template)| (id.clone(), template.multiformat()));
    descriptor.message_strings = (!templates.is_empty()).then(|| strings.collect());
    descriptor
}

fn properties(rule: &Rule) -> PropertyBag {
    let severity = match rule.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "recommendation",
    };
    let tags: BTreeSet<&str> = BTreeSet::from([rule.group.name(), "horovod", "tensorflow"]);
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
