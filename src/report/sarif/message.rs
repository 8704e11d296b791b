//! Messages in SARIF: a template of the check's, what fills it in, and the sentence that they make.
//!
//! A finding quotes what stands in the source between backticks. These parts are a template's arguments, so that
//! findings of one kind have one template.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_sarif::sarif::{Message, MultiformatMessageString};

use super::place::Places;
use super::result::RELATED;
use crate::finding::{Finding, Label};

/// So many letters of a template are its name; what follows is hashed.
const ID: usize = 60;

/// The templates of one check, by their names.
pub(super) type Templates = BTreeMap<String, Template>;

/// A message with `{0}` in place of what differs from finding to finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Template {
    text: String,
    markdown: String,
}

impl Template {
    pub(super) fn multiformat(&self) -> MultiformatMessageString {
        MultiformatMessageString::builder().text(self.text.clone()).markdown(self.markdown.clone()).build()
    }
}

/// A message taken apart.
pub(super) struct Worded {
    pub(super) id: String,
    pub(super) template: Template,
    arguments: Vec<String>,
}

impl Worded {
    /// The finding's message, and links to its labels: places that are not linked are invisible on GitHub. Where
    /// nothing is quoted the message says which scope or file it is about.
    pub(super) fn of(finding: &Finding, places: Places<'_>) -> Self {
        let mut message = sentence(&finding.message);
        if !message.contains('`') {
            let path = places.sources.path(finding.primary.location.file);
            let scope = if finding.scope.is_empty() { path } else { &finding.scope };
            let end = message.pop().unwrap_or('.');
            message = format!("{message} in `{}`{end}", plain(scope));
        }
        if !finding.labels.is_empty() {
            let link = |(label, id): (&Label, i64)| format!("[{}]({id})", link_text(label_text(label)));
            let links: Vec<String> = finding.labels.iter().take(RELATED).zip(1..).map(link).collect();
            message = format!("{message} See {}.", links.join(", "));
        }
        Self::taken_apart(&message)
    }

    /// A clause that quotes something.
    pub(super) fn said(message: &str) -> Self {
        Self::taken_apart(&sentence(message))
    }

    fn taken_apart(message: &str) -> Self {
        let parts: Vec<&str> = message.split('`').collect();
        let mut worded = Self {
            id: String::new(),
            template: Template { text: String::new(), markdown: String::new() },
            arguments: Vec::new(),
        };
        for (index, part) in parts.iter().enumerate() {
            // A backtick without a partner is a letter like others.
            let is_quoted = index % 2 == 1 && index + 1 < parts.len();
            if is_quoted {
                let number = worded.arguments.len();
                write!(worded.template.text, "'{{{number}}}'").expect("a string takes all");
                write!(worded.template.markdown, "`{{{number}}}`").expect("a string takes all");
                worded.arguments.push((*part).to_owned());
            } else {
                let part = if index % 2 == 1 { format!("`{part}") } else { (*part).to_owned() };
                worded.template.text.push_str(&part);
                worded.template.markdown.push_str(&part);
            }
        }
        worded.id = id(&worded.template.text);
        worded
    }

    /// All of it: readers that know templates and readers that don't show the same.
    pub(super) fn message(self) -> Message {
        Message {
            text: Some(filled(&self.template.text, &self.arguments)),
            markdown: Some(filled(&self.template.markdown, &self.arguments)),
            id: Some(self.id),
            arguments: Some(self.arguments),
            ..Message::default()
        }
    }
}

fn filled(template: &str, arguments: &[String]) -> String {
    let mut text = String::new();
    let mut rest = template;
    for (number, argument) in arguments.iter().enumerate() {
        let Some((before, after)) = rest.split_once(&format!("{{{number}}}")) else { break };
        text.push_str(before);
        text.push_str(argument);
        rest = after;
    }
    text + rest
}

/// The template's words, joined; the same in every log.
fn id(template: &str) -> String {
    let words = template.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    let digest = blake3::hash(template.as_bytes()).to_hex();
    let short = slug.get(..ID).unwrap_or(&slug).trim_end_matches('-');
    format!("{short}-{}", &digest[..8])
}

pub(super) fn label_text(label: &Label) -> &str {
    if label.message.is_empty() { "this place" } else { &label.message }
}

/// Brackets would end the link.
fn link_text(text: &str) -> String {
    plain(&text.replace('[', "(").replace(']', ")"))
}

/// A capital letter, a full stop, and no white space for layout (3.11.3).
pub(super) fn sentence(text: &str) -> String {
    let text = plain(text);
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    let mut sentence: String = first.chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// Text in which nothing is a placeholder (3.11.5) or a link (3.11.6). Doubled braces would be right, but GitHub shows
/// them doubled, so their full-width forms stand in for them.
fn plain(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace('{', "\u{ff5b}").replace('}', "\u{ff5d}").replace("](", "\\](")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(message: &str) -> (String, Vec<String>, String) {
        let worded = Worded::taken_apart(&sentence(message));
        let (template, arguments) = (worded.template.text.clone(), worded.arguments.clone());
        (template, arguments, worded.message().text.unwrap_or_default())
    }

    #[test]
    fn what_is_quoted_are_the_arguments() {
        let (template, arguments, text) = parts("`opt` is a second name of `{0}`");
        assert_eq!(template, "'{0}' is a second name of '{1}'.");
        assert_eq!(arguments, ["opt", "｛0｝"]);
        assert_eq!(text, "'opt' is a second name of '｛0｝'.");
    }

    #[test]
    fn a_backtick_without_partner_is_a_letter() {
        assert_eq!(parts("got ` here").0, "Got ` here.");
        assert_eq!(parts("`a` and ` here").0, "'{0}' and ` here.");
    }

    #[test]
    fn a_template_has_one_name_and_templates_have_different_ones() {
        let id = |message: &str| Worded::taken_apart(message).id;
        assert_eq!(id("`a` is bound."), id("`b` is bound."));
        assert_ne!(id("`a` is bound."), id("`a` is bound!"));
        assert!(id("`a` is bound.").starts_with("is-bound-"));
    }
}
