//! What a check means: its page, and the list of all checks.

use std::io::{self, Write};

use thiserror::Error;

use super::markdown;
use super::markdown::{Word, wrap};
use super::paint::{Ink, Painted};
use crate::finding::{Group, Rule};

pub use super::markdown::Terminal;

/// A name or code that no check has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no check `{name}`{}", suggestion.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
pub struct UnknownCheck {
    /// What was asked for.
    pub name: String,
    /// A check whose name or code is much like it.
    pub suggestion: Option<&'static str>,
}

/// The check with this name or code.
///
/// # Errors
///
/// Fails where there is none, with a suggestion if a name is near.
pub fn find(rules: &[&'static Rule], name: &str) -> Result<&'static Rule, UnknownCheck> {
    if let Some(rule) = rules.iter().find(|rule| rule.name == name || rule.code.eq_ignore_ascii_case(name)) {
        return Ok(rule);
    }
    let near = |candidate: &'static str| (strsim::jaro_winkler(candidate, name), candidate);
    let best =
        rules.iter().flat_map(|rule| [near(rule.name), near(rule.code)]).max_by(|a, b| a.0.total_cmp(&b.0));
    let suggestion = best.filter(|(likeness, _)| *likeness > 0.85).map(|(_, candidate)| candidate);
    Err(UnknownCheck { name: name.to_owned(), suggestion })
}

/// Writes the page of a check under a line with its code, group and level.
///
/// # Errors
///
/// Fails when `out` does.
pub fn page(rule: &Rule, terminal: Terminal, out: &mut dyn Write) -> io::Result<()> {
    let facts = format!("{}, {}, {}", rule.code, rule.group.name(), rule.level);
    writeln!(out, "{}\n", Painted { text: &facts, ink: Ink::Dim, color: terminal.color })?;
    out.write_all(markdown::render(rule.page, terminal).as_bytes())
}

/// Writes the checks by group, each with its code, its name and the first sentence of its page.
///
/// # Errors
///
/// Fails when `out` does.
pub fn list(rules: &[&'static Rule], terminal: Terminal, out: &mut dyn Write) -> io::Result<()> {
    let mut rules = rules.to_vec();
    rules.sort_by_key(|rule| (rule.group, rule.code));
    let code_width = rules.iter().map(|rule| rule.code.len()).max().unwrap_or(0);
    let name_width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let indent = 2 + code_width + 2 + name_width + 2;
    for (index, group) in rules.chunk_by(|a, b| a.group == b.group).enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        heading(group[0].group, terminal, out)?;
        for rule in group {
            let name = Painted { text: rule.name, ink: Ink::Bold, color: terminal.color };
            let pad = name_width - rule.name.len();
            write!(out, "  {:code_width$}  {name}{:pad$}", rule.code, "")?;
            let width = terminal.width.saturating_sub(indent).max(30);
            for (index, line) in summary_lines(rule, width).iter().enumerate() {
                if index == 0 {
                    write!(out, "  {line}")?;
                } else {
                    write!(out, "\n{:indent$}{line}", "")?;
                }
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

fn heading(group: Group, terminal: Terminal, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", Painted { text: group.name(), ink: Ink::Heading, color: terminal.color })
}

fn summary_lines(rule: &Rule, width: usize) -> Vec<String> {
    let summary = markdown::summary(rule.page);
    let words: Vec<Word> = markdown::first_sentence(&summary)
        .split_whitespace()
        .flat_map(|word| [Word::Text(word.to_owned(), Ink::Plain), Word::Space])
        .collect();
    wrap(&words, width, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::tool::{INVALID_SYNTAX, UNUSED_SUPPRESSION};
    use crate::report::testing::{ALIASED, ASSIGNED};

    static RULES: [&Rule; 4] = [&UNUSED_SUPPRESSION, &ASSIGNED, &ALIASED, &INVALID_SYNTAX];

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn checks_are_listed_by_group() {
        let terminal = Terminal { width: 76, color: false };
        insta::assert_snapshot!(text(|out| list(&RULES, terminal, out)), @"
        restriction
          HVD003  tensorflow-member-aliased  A member of the tensorflow module is
                                             bound to another name.
          HVD005  object-not-assigned-once   An optimizer or a dataset has several
                                             names.

        tool
          HVD901  invalid-syntax             The file has a syntax error, so part of
                                             it could not be read.
          HVD902  unused-suppression         A # hvdlint: ignore[...] comment
                                             suppresses nothing.
        ");
    }

    #[test]
    fn a_page_follows_the_facts() {
        let terminal = Terminal { width: 40, color: false };
        insta::assert_snapshot!(text(|out| page(&ASSIGNED, terminal, out)), @"
        HVD005, restriction, error

        object-not-assigned-once
        ========================

        An optimizer or a dataset has several
        names. More about it.

        How to fix it
        -------------

        - Use one name.
        ");
    }

    #[test]
    fn checks_are_found_by_name_and_by_code() {
        assert_eq!(find(&RULES, "HVD005").map(|rule| rule.name), Ok("object-not-assigned-once"));
        assert_eq!(find(&RULES, "hvd901").map(|rule| rule.code), Ok("HVD901"));
        let near = find(&RULES, "object-not-asigned-once").expect_err("misspelt");
        assert_eq!(
            near.to_string(),
            "there is no check `object-not-asigned-once`; did you mean `object-not-assigned-once`?"
        );
        assert_eq!(find(&RULES, "zzz").expect_err("unknown").to_string(), "there is no check `zzz`");
    }
}
