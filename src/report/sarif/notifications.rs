//! What the tool has to say about its run: files that it could not read whole, and results that it left out.

use serde_json::json;
use serde_sarif::sarif::{
    MultiformatMessageString, Notification, NotificationLevel, ReportingConfiguration,
    ReportingConfigurationLevel, ReportingDescriptor, ReportingDescriptorReference,
};

use super::message::{Templates, Worded};
use super::place::Places;
use super::result::RESULTS;
use super::rules;
use crate::checks::tool::INVALID_SYNTAX;
use crate::report::Report;

/// The identity of the notification about results that are left out.
const LEFT_OUT: &str = "HVD999";

/// The notifications of a run, and what describes them.
#[derive(Default)]
pub(super) struct Notifications {
    pub(super) descriptors: Vec<ReportingDescriptor>,
    pub(super) list: Vec<Notification>,
}

impl Notifications {
    /// `found` is how many results there would be without a limit.
    pub(super) fn of(report: &Report, found: usize, places: Places<'_>) -> Self {
        let mut notifications = Self::default();
        notifications.syntax_errors(report, places);
        if found > RESULTS {
            notifications.left_out(found);
        }
        notifications
    }

    fn syntax_errors(&mut self, report: &Report, places: Places<'_>) {
        let index = self.descriptors.len();
        let mut templates = Templates::new();
        let broken = report.findings.iter().map(|reported| &reported.finding);
        for finding in broken.filter(|finding| finding.rule.code == INVALID_SYNTAX.code) {
            let location = finding.primary.location;
            let message = format!("a part of `{}` could not be read", places.sources.path(location.file));
            let worded = Worded::said(&message);
            templates.insert(worded.id.clone(), worded.template.clone());
            let mut notification =
                notification(INVALID_SYNTAX.code, index, &NotificationLevel::Error, worded);
            notification.locations = Some(vec![places.location(location, None)]);
            self.list.push(notification);
        }
        if !templates.is_empty() {
            self.descriptors.push(rules::descriptor(&INVALID_SYNTAX, &templates));
        }
    }

    fn left_out(&mut self, found: usize) {
        let message = format!("`{}` results of the lowest levels are left out", found - RESULTS);
        let worded = Worded::said(&message);
        let templates = Templates::from([(worded.id.clone(), worded.template.clone())]);
        let text = |text: &str| MultiformatMessageString::builder().text(text).build();
        let mut descriptor = ReportingDescriptor::builder()
            .id(LEFT_OUT)
            .name("ResultsLeftOut")
            .short_description(text("Results are left out."))
            .full_description(text("Code scanning keeps 5,000 results of a run, so the log has no more."))
            .help(text("Use the json format for all results, or a baseline for what is known."))
            .default_configuration(ReportingConfiguration {
                level: Some(json!(ReportingConfigurationLevel::Warning)),
                ..ReportingConfiguration::default()
            })
            .build();
        let strings = templates.iter().map(|(id, template)| (id.clone(), template.multiformat()));
        descriptor.message_strings = Some(strings.collect());
        let index = self.descriptors.len();
        self.descriptors.push(descriptor);
        self.list.push(notification(LEFT_OUT, index, &NotificationLevel::Warning, worded));
    }
}

fn notification(id: &str, index: usize, level: &NotificationLevel, worded: Worded) -> Notification {
    let mut descriptor = ReportingDescriptorReference::builder().id(id).build();
    descriptor.index = i64::try_from(index).ok();
    Notification::builder().descriptor(descriptor).level(json!(level)).message(worded.message()).build()
}
