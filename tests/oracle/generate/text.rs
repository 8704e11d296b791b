//! The text of a program: lines, and the layout that no rule should look at.

use std::collections::BTreeSet;

use super::Dice;

/// Comments that stand for themselves.
const COMMENTS: &[&str] = &[
    "# to be tuned",
    "# see section 3 of the report",
    "# hvd.size() is not known here",
    "#: documented elsewhere",
    "# if hvd_broadcast_done: nothing",
    "# größer ist nicht besser",
];

/// A program that is being written.
pub struct Text {
    /// Where the choices come from.
    pub dice: Dice,
    lines: Vec<(usize, String)>,
    depth: usize,
    features: BTreeSet<&'static str>,
}

impl Text {
    /// An empty program.
    pub fn new(dice: Dice) -> Text {
        Text { dice, lines: Vec::new(), depth: 0, features: BTreeSet::new() }
    }

    /// Notes what was chosen.
    pub fn note(&mut self, feature: &'static str) {
        self.features.insert(feature);
    }

    /// Whether this was chosen.
    pub fn has(&self, feature: &str) -> bool {
        self.features.contains(feature)
    }

    /// Whether something optional is written, once in `times`; notes it.
    pub fn maybe(&mut self, times: u64, feature: &'static str) -> bool {
        let happens = self.dice.once_in(times);
        if happens {
            self.note(feature);
        }
        happens
    }

    /// A statement that a rule removes: what becomes of a comment on its line is not for the rules to say.
    pub fn removed(&mut self, line: &str) {
        self.lines.push((self.depth, line.to_owned()));
    }

    /// A statement, sometimes with a comment above or behind it.
    pub fn line(&mut self, line: &str) {
        if self.maybe(9, "comment above") {
            let comment = self.dice.one(COMMENTS);
            self.lines.push((self.depth, comment.to_owned()));
        }
        let mut line = line.to_owned();
        if !line.contains('\n') && self.maybe(11, "comment behind") {
            line = format!("{line}  {}", self.dice.one(COMMENTS));
        }
        self.lines.push((self.depth, line));
    }

    /// An empty line, or none.
    pub fn gap(&mut self) {
        if !self.dice.once_in(3) {
            self.lines.push((0, String::new()));
        }
    }

    /// A compound statement.
    pub fn block(&mut self, head: &str, body: impl FnOnce(&mut Text)) {
        self.line(head);
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }

    /// A call, on one line or with a line for each argument.
    pub fn call(&mut self, function: &str, arguments: &[String]) -> String {
        if arguments.len() > 1 && self.maybe(4, "call over several lines") {
            let arguments: Vec<_> = arguments.iter().map(|argument| format!("\n\0{argument},")).collect();
            format!("{function}({}\n)", arguments.concat())
        } else {
            format!("{function}({})", arguments.join(", "))
        }
    }

    /// The whole program, and what was chosen for it.
    pub fn finish(mut self) -> (String, BTreeSet<&'static str>) {
        let indent = self.dice.one(&["    ", "    ", "  ", "\t"]);
        let ending = self.dice.one(&["\n", "\n", "\n", "\r\n"]);
        let mut source = String::new();
        for (depth, line) in &self.lines {
            for (at, part) in line.split('\n').enumerate() {
                let (more, part) = part.strip_prefix('\0').map_or((0, part), |part| (1, part));
                assert!(at > 0 || more == 0);
                if !part.is_empty() {
                    source += &indent.repeat(depth + more);
                }
                source += part;
                source += ending;
            }
        }
        for (is, feature) in [(ending == "\r\n", "carriage returns"), (indent == "\t", "tabs")] {
            if is {
                self.note(feature);
            }
        }
        if self.maybe(2, "double quotes") {
            source = source.replace('\'', "\"");
        }
        if self.maybe(8, "no line end at the end") {
            source.truncate(source.trim_end().len());
        }
        (source, self.features)
    }
}
