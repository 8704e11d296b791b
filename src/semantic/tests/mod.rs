//! Python snippets that say in comments what the semantic form should know of them.
//!
//! `#: x = 1 3` behind a line: its use of `x` sees the definitions in lines 1 and 3. Further words: `unbound`,
//! `free` for a name that nothing in the module binds, `cell` for a variable that is read through its cell, with
//! all definitions that other scopes may see. `#: dead`: control never comes here. `#: if 2 for 1`: the
//! statement is control dependent on exactly these branches.

mod control;
mod random;
mod reaching;
mod scopes;

use std::collections::BTreeSet;

use super::{BranchKind, DefinitionKind, Module, Reaching, ScopeKind, Use, Value, ValueId, analyse};
use crate::syntax::TextRange;

/// A module's compact form with the lines of its source.
struct Snippet<'s> {
    source: &'s str,
    module: Module,
}

impl<'s> Snippet<'s> {
    fn new(source: &'s str) -> Self {
        let module = analyse(source);
        assert!(module.errors.is_empty(), "{:?} in\n{source}", module.errors);
        Self { source, module }
    }

    /// The 1-based line in which a range begins.
    fn line(&self, range: TextRange) -> usize {
        self.source[..range.start().to_usize()].matches('\n').count() + 1
    }

    /// What the value is at the bottom, through all φs.
    fn leaves(&self, value: ValueId) -> BTreeSet<ValueId> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            if seen.insert(value) {
                match &self.module.value(value).value {
                    Value::Phi(operands) => work.extend(operands),
                    _ => {
                        found.insert(value);
                    }
                }
            }
        }
        found
    }

    /// What a use sees, in the words of the comments.
    fn sees(&self, index: usize) -> BTreeSet<String> {
        let reading: &Use = &self.module.uses[index];
        let mut words = BTreeSet::new();
        let leaves = self.leaves(reading.value);
        for &leaf in &leaves {
            match &self.module.value(leaf).value {
                Value::Unbound => words.insert("unbound".to_owned()),
                Value::Free(_) => words.insert("free".to_owned()),
                Value::Cell(variable) => {
                    let lines = self
                        .module
                        .shared_definitions(*variable)
                        .map(|definition| self.line(definition.range));
                    words.extend(lines.map(|line| line.to_string()));
                    words.insert("cell".to_owned())
                }
                _ => continue,
            };
        }
        if !words.contains("cell") {
            let definitions = Reaching::new(&self.module, reading.scope).definitions(index);
            let definitions = definitions.into_iter().map(|definition| &self.module.definitions[definition]);
            let bindings = definitions.filter(|definition| definition.kind != DefinitionKind::Deletion);
            words.extend(bindings.map(|definition| self.line(definition.range).to_string()));
        }
        words
    }

    /// The branches on which the first statement of a line depends.
    fn depends_on(&self, line: usize) -> BTreeSet<String> {
        let statement = self.module.statements.iter().find(|statement| self.line(statement.range) == line);
        let statement =
            statement.unwrap_or_else(|| panic!("no statement in line {line} of\n{}", self.source));
        let flow = &self.module.scope(statement.scope).flow;
        let branches = flow.control_dependence().of(statement.block);
        // The end of a `finally` suite goes on where its `try` was going.
        let branches = branches.into_iter().filter_map(|block| flow.blocks[block.index()].branch);
        branches.map(|branch| format!("{} {}", word(branch.kind), self.line(branch.range))).collect()
    }

    fn is_dead(&self, line: usize) -> bool {
        let mut statements =
            self.module.statements.iter().filter(|statement| self.line(statement.range) == line);
        let statement =
            statements.next().unwrap_or_else(|| panic!("no statement in line {line} of\n{}", self.source));
        !self.module.scope(statement.scope).flow.is_reachable(statement.block)
    }
}

fn word(kind: BranchKind) -> &'static str {
    match kind {
        BranchKind::If => "if",
        BranchKind::And | BranchKind::Or => "bool",
        BranchKind::While => "while",
        BranchKind::For => "for",
        BranchKind::Match | BranchKind::Case => "match",
        BranchKind::Try => "try",
        BranchKind::Assert => "assert",
    }
}

/// Checks all that the comments of `source` say.
#[track_caller]
fn check(source: &str) {
    let source = source.trim_start_matches('\n');
    let snippet = Snippet::new(source);
    let mut checked = 0;
    for (number, text) in (1..).zip(source.lines()) {
        let Some((_, comment)) = text.split_once("#: ") else { continue };
        for claim in comment.split(';').map(str::trim) {
            checked += 1;
            if claim == "dead" {
                assert!(snippet.is_dead(number), "line {number} is not dead in\n{source}");
            } else if let Some((name, words)) = claim.split_once('=') {
                let name = name.trim();
                let uses = &snippet.module.uses;
                let found = (0..uses.len()).find(|&index| {
                    snippet.line(uses[index].range) == number && &source[range(uses[index].range)] == name
                });
                let found = found.unwrap_or_else(|| panic!("no use of {name} in line {number} of\n{source}"));
                let expected: BTreeSet<String> = words.split_whitespace().map(str::to_owned).collect();
                assert_eq!(snippet.sees(found), expected, "what {name} in line {number} sees in\n{source}");
            } else {
                assert!(!snippet.is_dead(number), "line {number} is dead in\n{source}");
                let words: Vec<&str> = claim.split_whitespace().filter(|word| *word != "alive").collect();
                let expected: BTreeSet<String> = words.chunks(2).map(|pair| pair.join(" ")).collect();
                assert_eq!(
                    snippet.depends_on(number),
                    expected,
                    "what line {number} depends on in\n{source}"
                );
            }
        }
    }
    assert!(checked > 0, "nothing is claimed in\n{source}");
}

fn range(range: TextRange) -> std::ops::Range<usize> {
    range.start().to_usize()..range.end().to_usize()
}
