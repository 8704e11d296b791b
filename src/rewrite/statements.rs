//! Changes of statements: something before, behind or around them.

use super::layout::size;
use super::text::{Moved, Text};
use crate::finding::Edit;
use crate::semantic::{StatementId, StatementKind};
use crate::syntax::{TextRange, TextSize};

impl Text<'_> {
    /// The indentation that a statement has, or gets when its line is unfolded.
    #[must_use]
    pub fn indentation(&self, statement: StatementId) -> String {
        let first = self.module.statement(self.first_of_line(statement));
        let line = self.line_indentation(first.range.start());
        let moved = self.moved.iter().find(|moved| {
            moved.file == self.file && moved.range.contains_range(first.range) && moved.inner <= line.len()
        });
        let line = match moved {
            Some(moved) => &(line[..moved.outer].to_owned() + &line[moved.inner..]),
            None => line,
        };
        if self.starts_line(first.range.start()) {
            line.to_owned()
        } else {
            format!("{line}{}", self.lexed.unit())
        }
    }

    /// One step of the file's indentation.
    #[must_use]
    pub fn unit(&self) -> &str {
        self.lexed.unit()
    }

    /// The step of indentation that a statement has against the one around it; the file's for one that has none.
    #[must_use]
    pub fn unit_at(&self, statement: StatementId) -> &str {
        let own = self.module.statement(self.first_of_line(statement));
        let around = own.parent.map(|around| self.module.statement(around).range.start());
        let step = around.filter(|_| self.starts_line(own.range.start())).and_then(|around| {
            self.line_indentation(own.range.start()).strip_prefix(self.line_indentation(around))
        });
        step.filter(|step| !step.is_empty()).unwrap_or(self.unit())
    }

    /// How the file ends its lines.
    #[must_use]
    pub fn newline(&self) -> &'static str {
        self.lexed.newline
    }

    /// Puts lines in front of a statement; they are given without indentation.
    #[must_use]
    pub fn before(&self, statement: StatementId, lines: &[&str]) -> Vec<Edit> {
        self.before_at(self.module.statement(statement).range.start(), statement, lines)
    }

    /// Puts lines in front of a statement and the comments directly above it, which speak of it.
    #[must_use]
    pub fn above(&self, statement: StatementId, lines: &[&str]) -> Vec<Edit> {
        self.before_at(self.start_with_comments(statement), statement, lines)
    }

    fn before_at(&self, at: TextSize, statement: StatementId, lines: &[&str]) -> Vec<Edit> {
        let indentation = self.indentation(statement);
        let mut text = String::new();
        for line in lines {
            text.push_str(line);
            text.push_str(self.newline());
            text.push_str(&indentation);
        }
        let mut edits = self.unfold(statement);
        edits.push(self.insert(at, text));
        edits
    }

    /// Where a statement begins, the comments directly above it included.
    fn start_with_comments(&self, statement: StatementId) -> TextSize {
        let start = self.module.statement(statement).range.start();
        let mut first = start;
        while let Some(above) = self.comment_above(first)
            && !self.is_parted(TextRange::new(above, start))
        {
            first = above;
        }
        first
    }

    /// Whether a statement begins a notebook's cell that has a magic for all of it, in front of which nothing can stand.
    fn is_cell(&self, statement: StatementId) -> bool {
        let start = self.module.statement(statement).range.start();
        self.command(start).is_some_and(|(command, _)| command.starts_with("%%"))
    }

    /// Puts lines behind a statement; they are given without its indentation. Behind a cell for the shell they go into the next.
    #[must_use]
    pub fn after(&self, statement: StatementId, lines: &[&str]) -> Vec<Edit> {
        if self.is_cell(statement)
            && let Some(next) = self.next(statement)
        {
            return self.above(next, lines);
        }
        let mut edits = self.unfold(statement);
        edits.push(self.insert(self.end(statement), self.lines(statement, lines)));
        edits
    }

    /// Lines with the indentation of a statement, each behind a line end.
    fn lines(&self, statement: StatementId, lines: &[&str]) -> String {
        let indentation = self.indentation(statement);
        let line = |line: &&str| match *line {
            "" => self.newline().to_owned(),
            line => format!("{}{indentation}{line}", self.newline()),
        };
        lines.iter().map(line).collect()
    }

    /// Where a statement ends, a comment behind it and comments that belong to its suite included.
    fn end(&self, statement: StatementId) -> TextSize {
        let range = self.module.statement(statement).range;
        if self.next_on_line(statement).is_some() {
            return range.end();
        }
        let mut end = self.line_end(range.end());
        let own = self.line_indentation(range.start()).len();
        if self.module.statement(statement).header == range {
            return end;
        }
        let mut at = end;
        while at < size(self.text().len()) {
            let start = self.next_line(at);
            at = self.line_end(start);
            let line = &self.text()[start.to_usize()..at.to_usize()];
            let is_comment = line.trim_start().starts_with('#');
            if is_comment && self.line_indentation(start).len() > own {
                end = at;
            } else if !line.trim().is_empty() {
                break;
            }
        }
        end
    }

    /// Puts statements that follow one another in one suite under `header`, such as `if rank == 0:`.
    #[must_use]
    pub fn guard(&self, first: StatementId, last: StatementId, header: &str) -> Vec<Edit> {
        let indentation = self.indentation(first);
        let unit = self.unit_at(first);
        let range = TextRange::new(
            self.module.statement(first).range.start(),
            self.module.statement(last).range.end(),
        );
        let mut edits = self.unfold(first);
        for edit in self.unfold(last) {
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
        let opening = format!("{header}{}{indentation}{unit}", self.newline());
        edits.push(self.insert(range.start(), opening));
        let own = self.indentable_lines(range);
        edits.extend(own.into_iter().map(|line| self.insert(line, unit)));
        // What unfolding puts on lines of its own is deeper too.
        for edit in &mut edits {
            let at = edit.location.text_range();
            if !at.is_empty() && range.contains_range(at) && edit.content.starts_with(self.newline()) {
                edit.content.push_str(unit);
            }
        }
        edits
    }

    /// The same, with lines for the other case.
    #[must_use]
    pub fn guard_else(
        &self,
        first: StatementId,
        last: StatementId,
        header: &str,
        otherwise: &[String],
    ) -> Vec<Edit> {
        let mut edits = self.guard(first, last, header);
        let deeper: Vec<String> =
            otherwise.iter().map(|line| format!("{}{line}", self.unit_at(first))).collect();
        let lines: Vec<&str> = std::iter::once("else:").chain(deeper.iter().map(String::as_str)).collect();
        edits.push(self.insert(self.end(last), self.lines(last, &lines)));
        edits
    }

    /// Makes `return x` bind a name to what it would return.
    #[must_use]
    pub fn bind_returned(&self, statement: StatementId, name: &str) -> Edit {
        let start = self.module.statement(statement).range.start();
        self.replace(TextRange::at(start, size("return".len())), format!("{name} ="))
    }

    /// Whether one statement comes directly behind another in its suite.
    #[must_use]
    pub fn follows(&self, first: StatementId, second: StatementId) -> bool {
        let place = |statement| self.module.statement(statement).range;
        self.previous(second) == Some(first)
            && !self.is_parted(TextRange::new(place(first).end(), place(second).start()))
    }

    /// Removes a statement, or puts `pass` in its place where its suite would be empty. A comment behind it stays.
    #[must_use]
    pub fn remove(&self, statement: StatementId) -> Vec<Edit> {
        let own = self.module.statement(statement);
        let is_nested = own.parent.is_some();
        if is_nested && self.previous(statement).is_none() && self.next(statement).is_none() {
            return vec![self.replace(own.range, "pass")];
        }
        if let Some(next) = self.next_on_line(statement) {
            let next = self.module.statement(next).range.start();
            return vec![self.replace(TextRange::new(own.range.start(), next), "")];
        }
        let line_end = self.line_end(own.range.end());
        let rest = &self.text()[own.range.end().to_usize()..line_end.to_usize()];
        if !self.starts_line(own.range.start()) {
            // Behind another one: the `;` goes with it.
            let before = self.text()[..own.range.start().to_usize()].trim_end_matches([' ', '\t', ';']);
            return vec![self.replace(TextRange::new(size(before.len()), own.range.end()), "")];
        }
        if let Some(comment) = rest.find('#') {
            let end = own.range.end() + size(comment);
            return vec![self.replace(TextRange::new(own.range.start(), end), "")];
        }
        let start = self.line_start(own.range.start());
        vec![self.replace(TextRange::new(start, self.next_line(line_end)), "")]
    }

    /// Puts a line at the beginning of a function's body, behind its docstring.
    #[must_use]
    pub fn at_beginning_of(&self, function: StatementId, line: &str) -> Vec<Edit> {
        let body = self.body(function);
        let is_docstring = |id: &StatementId| {
            matches!(self.module.statement(*id).kind, StatementKind::Expression { docstring: true })
        };
        match body.as_slice() {
            [docstring] if is_docstring(docstring) => self.after(*docstring, &[line]),
            [docstring, first, ..] if is_docstring(docstring) => self.above(*first, &[line]),
            [first, ..] => self.above(*first, &[line]),
            [] => Vec::new(),
        }
    }

    /// The statements of a `def`'s own body.
    #[must_use]
    pub fn body(&self, function: StatementId) -> Vec<StatementId> {
        let end = self.module.statement(function).range.end();
        let inside = (function.index() + 1..self.module.statements.len()).map(StatementId::new);
        inside
            .take_while(|&id| self.module.statement(id).range.start() < end)
            .filter(|&id| self.module.statement(id).parent == Some(function))
            .collect()
    }

    /// Where the last statements of a block go if they move to the level of its header. `None` if they do not stand
    /// on lines of their own below it.
    #[must_use]
    pub fn moved(&self, block: StatementId, moved: &[StatementId]) -> Option<Moved> {
        let (&first, &last) = (moved.first()?, moved.last()?);
        let outer = self.line_indentation(self.module.statement(block).range.start());
        let start = self.start_with_comments(first);
        let inner = self.line_indentation(start);
        if !self.starts_line(start) || !inner.starts_with(outer) || inner.len() == outer.len() {
            return None;
        }
        let range = TextRange::new(self.line_start(start), self.end(last));
        Some(Moved { file: self.file, range, inner: inner.len(), outer: outer.len() })
    }

    /// Moves the last statements of a block to the level of its header, behind `lines`.
    #[must_use]
    pub fn dedent(&self, block: StatementId, moved: &[StatementId], lines: &[String]) -> Option<Vec<Edit>> {
        let Moved { range, inner, outer, .. } = self.moved(block, moved)?;
        let inner = &self.text()[range.start().to_usize()..][..inner];
        let outer = &inner[..outer];
        let surplus = size(inner.len() - outer.len());
        let lines: Vec<String> =
            lines.iter().map(|line| format!("{outer}{line}{}", self.newline())).collect();
        let mut edits = vec![self.insert(range.start(), lines.concat())];
        for at in std::iter::once(range.start()).chain(self.indentable_lines(range)) {
            let indentation = self.line_indentation(at);
            if !indentation.starts_with(inner) {
                // A comment or the rest of an expression that stands further left.
                continue;
            }
            edits.push(self.replace(TextRange::at(at + size(outer.len()), surplus), ""));
        }
        Some(edits)
    }

    /// Whether the line behind a statement holds something, so that new lines should be parted from it.
    #[must_use]
    pub fn is_followed(&self, statement: StatementId) -> bool {
        let start = self.next_line(self.end(statement));
        let end = self.line_end(start);
        !self.text()[start.to_usize()..end.to_usize()].trim().is_empty()
    }

    /// Puts lines in front of a module's first statement, behind its docstring and the comments at its top; `is_all` if no
    /// others follow them there.
    #[must_use]
    pub fn at_top(&self, lines: &[&str], is_all: bool) -> Vec<Edit> {
        let first = (0..self.module.statements.len()).map(StatementId::new).find(|&id| {
            let own = self.module.statement(id);
            !matches!(own.kind, StatementKind::Expression { docstring: true }) && !self.is_cell(id)
        });
        let Some(first) = first else { return Vec::new() };
        match self.module.statement(first).kind {
            StatementKind::Function | StatementKind::Class if is_all => {
                self.before(first, &[lines, &["", ""]].concat())
            }
            _ => self.before(first, lines),
        }
    }

    // ---- lines with several statements ----

    /// The statement in front of this one in its suite.
    fn previous(&self, statement: StatementId) -> Option<StatementId> {
        let own = self.module.statement(statement);
        let mut id = StatementId::new(statement.index().checked_sub(1)?);
        while self.module.statement(id).parent != own.parent {
            id = self.module.statement(id).parent?;
        }
        // What stands under the `else` of a `try` is numbered before the handlers in front of it.
        let end = self.module.statement(id).range.end();
        (end <= own.range.start() && self.is_trivia(TextRange::new(end, own.range.start()))).then_some(id)
    }

    /// The statement behind this one in its suite.
    fn next(&self, statement: StatementId) -> Option<StatementId> {
        let end = self.module.statement(statement).range.end();
        let index = self.module.statements.partition_point(|other| other.range.start() < end);
        let next = StatementId::new(index);
        (index < self.module.statements.len() && self.previous(next) == Some(statement)).then_some(next)
    }

    /// Whether nothing but `;`, line ends and comments parts two statements of a suite: no `else:`.
    fn is_trivia(&self, between: TextRange) -> bool {
        let is_empty = |line: &str| {
            let code = line.split('#').next().unwrap_or_default();
            code.trim_matches([' ', '\t', '\x0c', ';', '\\']).is_empty()
        };
        between.start() <= between.end() && self.slice(between).split(['\n', '\r']).all(is_empty)
    }

    /// The first statement of the suite on the physical line that a statement begins on.
    fn first_of_line(&self, statement: StatementId) -> StatementId {
        let mut first = statement;
        while let Some(previous) = self.previous_on_line(first) {
            first = previous;
        }
        first
    }

    /// The statement that a `;` parts from this one on its line.
    fn previous_on_line(&self, statement: StatementId) -> Option<StatementId> {
        let start = self.module.statement(statement).range.start();
        if self.starts_line(start) {
            return None;
        }
        self.previous(statement).filter(|&id| self.module.statement(id).range.end() >= self.line_start(start))
    }

    fn next_on_line(&self, statement: StatementId) -> Option<StatementId> {
        self.next(statement).filter(|&next| self.previous_on_line(next) == Some(statement))
    }

    /// Puts each statement of a line on a line of its own: `if a: b; c`. Nothing for a line that has just one.
    pub(super) fn unfold(&self, statement: StatementId) -> Vec<Edit> {
        let own = self.module.statement(statement);
        if own.header != own.range && self.starts_line(own.range.start()) {
            return Vec::new();
        }
        let mut line = vec![self.first_of_line(statement)];
        while let Some(last) = line.last().copied()
            && let Some(next) = self.next_on_line(last)
        {
            line.push(next);
        }
        let break_line = format!("{}{}", self.newline(), self.indentation(statement));
        let mut edits = Vec::new();
        let first = self.module.statement(line[0]).range.start();
        if !self.starts_line(first) {
            let before = self.text()[..first.to_usize()].trim_end_matches([' ', '\t']);
            edits.push(self.replace(TextRange::new(size(before.len()), first), break_line.clone()));
        }
        for pair in line.windows(2) {
            let (end, start) =
                (self.module.statement(pair[0]).range.end(), self.module.statement(pair[1]).range.start());
            edits.push(self.replace(TextRange::new(end, start), break_line.clone()));
        }
        edits
    }
}
