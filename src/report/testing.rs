//! What the tests of the formats share: rules, documents and places.

use crate::finding::{Applicability, Edit, Finding, Fix, Group, Level, Location, Rule};
use crate::fix::Edits;
use crate::project::{Document, Documents, FileId};
use crate::report::{Format, Offer, Offers, Options, Report, Sources, write};
use crate::syntax::TextRange;

pub(crate) static ASSIGNED: Rule = Rule {
    code: "HVD005",
    name: "object-not-assigned-once",
    group: Group::Restriction,
    level: Level::Error,
    page: "# object-not-assigned-once\n\nAn optimizer or a dataset has *several* names. More about it.\n\n\
           ## How to fix it\n\n- Use one name.\n",
};

pub(crate) static ALIASED: Rule = Rule {
    code: "HVD003",
    name: "tensorflow-member-aliased",
    group: Group::Restriction,
    level: Level::Warning,
    page: "# tensorflow-member-aliased\n\nA member of the `tensorflow` module is bound to another name.\n",
};

/// Documents in the given order, numbered from 0.
pub(crate) fn documents(files: &[(&str, &str)]) -> Documents {
    let number = |index| FileId(u32::try_from(index).expect("few files"));
    let document = |(path, text): &(&str, &str)| Document::new(*path, *text);
    files.iter().enumerate().map(|(index, file)| (number(index), document(file))).collect()
}

/// The first place where `needle` stands in the file.
pub(crate) fn at(documents: &Documents, path: &str, needle: &str) -> Location {
    nth(documents, path, needle, 0)
}

/// The place where `needle` stands for the `n`th time, counted from 0.
pub(crate) fn nth(documents: &Documents, path: &str, needle: &str, n: usize) -> Location {
    let (file, document) = documents.iter().find(|(_, document)| document.path == path).expect("path exists");
    let (start, _) = document.text.match_indices(needle).nth(n).expect("needle exists");
    let start = u32::try_from(start).expect("small");
    let len = u32::try_from(needle.len()).expect("small");
    Location::new(*file, TextRange::at(start.into(), len.into()))
}

/// A finding of the rule's level at the first place of `needle`.
pub(crate) fn finding(
    documents: &Documents,
    rule: &'static Rule,
    path: &str,
    needle: &str,
    message: &str,
) -> Finding {
    Finding::new(rule, rule.level, at(documents, path, needle), message)
}

/// A safe fix that replaces `location` by `content`.
pub(crate) fn replace(location: Location, content: &str) -> Fix {
    Fix {
        applicability: Applicability::Safe,
        message: "use the module's own name".to_owned(),
        edits: vec![Edit { location, content: content.to_owned() }],
        unit: None,
    }
}

/// Options that offer every fix.
pub(crate) fn offering(report: &Report) -> Options {
    let offers = report.findings.iter().filter_map(|reported| {
        let fix = reported.finding.fix.as_ref()?;
        let edits = Edits::new(&fix.edits)?;
        Some((&reported.finding, Offer { message: fix.message.clone(), edits, findings: 1 }))
    });
    Options { offers: Offers::new(offers), ..Options::default() }
}

/// What a format writes.
pub(crate) fn written(format: Format, report: &Report, documents: &Documents, options: &Options) -> String {
    let mut out = Vec::new();
    write(format, report, &Sources::new(documents), options, &mut out).expect("writing to memory succeeds");
    String::from_utf8(out).expect("formats write UTF-8")
}
