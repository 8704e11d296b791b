//! A check's page as a terminal shows it: wrapped, set off by colours where there are any.

mod lines;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::paint::{Ink, Painted};
use lines::display_width;

pub(super) use lines::{Word, wrap};

/// The paper to write on.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// In columns.
    pub width: usize,
    /// Whether to use colours.
    pub color: bool,
}

/// The page without colours and line breaks within paragraphs.
pub(super) fn plain_text(page: &str) -> String {
    render(page, Terminal { width: usize::MAX, color: false })
}

/// The text of the page's first paragraph, on one line.
pub(super) fn summary(page: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Paragraph) => inside = true,
            Event::End(TagEnd::Paragraph) => break,
            Event::Text(part) | Event::Code(part) if inside => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak if inside => text.push(' '),
            _ => {}
        }
    }
    text
}

/// Up to the first full stop that ends a sentence.
pub(super) fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// The page, ending in one line feed.
pub(super) fn render(page: &str, terminal: Terminal) -> String {
    let mut renderer = Renderer::new(terminal);
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        renderer.event(event);
    }
    renderer.flush();
    format!("{}\n", renderer.out.trim_end())
}

struct Renderer {
    terminal: Terminal,
    out: String,
    /// The inline text of the block that is being read.
    words: Vec<Word>,
    inks: Vec<Ink>,
    /// What stands in front of the lines of the blocks that are open, innermost last.
    prefixes: Vec<String>,
    /// The mark of a list item whose first line is not written yet.
    mark: Option<String>,
    /// The number of the next item of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    code: Option<String>,
    link: String,
    rows: Vec<Vec<Vec<Word>>>,
}

impl Renderer {
    fn new(terminal: Terminal) -> Self {
        Self {
            terminal,
            out: String::new(),
            words: Vec::new(),
            inks: vec![Ink::Plain],
            prefixes: Vec::new(),
            mark: None,
            lists: Vec::new(),
            code: None,
            link: String::new(),
            rows: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) if self.terminal.color => self.word(&text, Ink::Code),
            Event::Code(text) => self.word(&format!("`{text}`"), Ink::Plain),
            Event::SoftBreak => self.words.push(Word::Space),
            Event::HardBreak => self.words.push(Word::Break),
            Event::Rule => {
                let rule = "─".repeat(self.terminal.width.min(40));
                self.word(&rule, Ink::Dim);
                self.block();
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => self.inks.push(Ink::Heading),
            Tag::Strong => self.inks.push(Ink::Bold),
            Tag::Emphasis => self.inks.push(Ink::Link),
            Tag::Link { dest_url, .. } => {
                self.link = dest_url.into_string();
                self.inks.push(Ink::Link);
            }
            Tag::BlockQuote(_) => self.prefixes.push("│ ".to_owned()),
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_owned(),
                };
                self.prefixes.push(" ".repeat(mark.len()));
                self.mark = Some(mark);
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.code_heading(&kind);
                self.code = Some(String::new());
            }
            Tag::Table(_) => self.rows.clear(),
            Tag::TableHead => {
                self.inks.push(Ink::Bold);
                self.rows.push(Vec::new());
            }
            Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.block(),
            TagEnd::Heading(level) => self.heading(level),
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::TableHead => {
                self.inks.pop();
            }
            TagEnd::Link => {
                self.inks.pop();
                if self.link.contains("://") {
                    let address = format!("({})", self.link);
                    self.words.push(Word::Space);
                    self.word(&address, Ink::Dim);
                }
            }
            TagEnd::BlockQuote(_) => {
                self.prefixes.pop();
            }
            TagEnd::Item => {
                self.flush();
                self.prefixes.pop();
                self.mark = None;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.gap();
                }
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.words);
                self.rows.last_mut().into_iter().for_each(|row| row.push(cell.clone()));
            }
            TagEnd::Table => self.table(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let ink = self.inks.last().copied().unwrap_or_default();
        self.word(text, ink);
    }

    /// Adds text that may be broken at its blanks.
    fn word(&mut self, text: &str, ink: Ink) {
        for (index, part) in text.split(' ').enumerate() {
            if index > 0 {
                self.words.push(Word::Space);
            }
            if !part.is_empty() {
                self.words.push(Word::Text(part.to_owned(), ink));
            }
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        self.inks.pop();
        let width: usize = self.words.iter().map(Word::width).sum();
        self.flush();
        if !self.terminal.color {
            let line = if level == HeadingLevel::H1 { "=" } else { "-" };
            self.line(&line.repeat(width.min(self.terminal.width)));
        }
        self.gap();
    }

    /// Ends a block: its lines, and a blank one.
    fn block(&mut self) {
        self.flush();
        self.gap();
    }

    /// Writes the words that are waiting, wrapped.
    fn flush(&mut self) {
        let words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return;
        }
        let indent: usize = self.prefixes.iter().map(|prefix| display_width(prefix)).sum();
        let width = self.terminal.width.saturating_sub(indent).max(20);
        for line in wrap(&words, width, self.terminal.color) {
            self.line(&line);
        }
    }

    fn line(&mut self, text: &str) {
        let mark = self.mark.take();
        let inner = self.prefixes.len().saturating_sub(1);
        let mut line = String::new();
        for (index, prefix) in self.prefixes.iter().enumerate() {
            line.push_str(mark.as_deref().filter(|_| index == inner).unwrap_or(prefix));
        }
        line.push_str(text);
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// `python reported` is an example that a check reports; the label says so.
    fn code_heading(&mut self, kind: &CodeBlockKind<'_>) {
        let CodeBlockKind::Fenced(info) = kind else { return };
        let words = info.split_whitespace();
        let (label, ink) = if words.clone().any(|word| word == "reported") {
            ("reported:", Ink::Removed)
        } else if words.clone().any(|word| word == "accepted") {
            ("accepted:", Ink::Added)
        } else {
            return;
        };
        let label = Painted { text: label, ink, color: self.terminal.color }.to_string();
        self.line(&label);
    }

    fn code_block(&mut self) {
        let code = self.code.take().unwrap_or_default();
        for line in code.lines() {
            let line = Painted { text: line, ink: Ink::Code, color: self.terminal.color }.to_string();
            self.line(&format!("    {line}"));
        }
        self.gap();
    }

    fn table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let cell_width = |cell: &Vec<Word>| cell.iter().map(Word::width).sum::<usize>();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| rows.iter().filter_map(|row| row.get(column)).map(cell_width).max().unwrap_or(0))
            .collect();
        for (index, row) in rows.iter().enumerate() {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(&wrap(cell, usize::MAX, self.terminal.color).concat());
                line.push_str(&" ".repeat(width - cell_width(cell) + 2));
            }
            self.line(line.trim_end());
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                self.line(&rules.join("  "));
            }
        }
        self.gap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# a-check

First *sentence* with `code of several words`. Second **bold one**
continues; see [the guide](https://example.com/guide) and [a page](other.md).

## List

- one item that is long enough to be wrapped at the width of the terminal
  - nested
- two

3. three
4. four

> quoted

```python reported
x = 1

if x:
    pass
```

```sh
ls
```

| name | 名前 |
|---|---|
| `a` | b |
| longer | 損失 |
";

    #[test]
    fn a_page_is_wrapped_without_colours() {
        insta::assert_snapshot!(render(PAGE, Terminal { width: 50, color: false }), @"
        a-check
        =======

        First sentence with `code of several words`.
        Second bold one continues; see the guide
        (https://example.com/guide) and a page.

        List
        ----

        - one item that is long enough to be wrapped at
          the width of the terminal
          - nested
        - two

        3. three
        4. four

        │ quoted

        reported:
            x = 1

            if x:
                pass

            ls

        name    名前
        ──────  ────
        `a`     b
        longer  損失
        ");
    }

    #[test]
    fn colours_set_off_headings_code_and_links() {
        let page = "# T\n\nSee `code` and **bold** [x](http://y).\n\n```python accepted\nx = 1\n```\n";
        insta::assert_debug_snapshot!(render(page, Terminal { width: 80, color: true }), @r#""\u{1b}[1;35mT\u{1b}[0m\n\nSee \u{1b}[36mcode\u{1b}[0m and \u{1b}[1mbold\u{1b}[0m \u{1b}[4mx\u{1b}[0m \u{1b}[2m(http://y)\u{1b}[0m.\n\n\u{1b}[32maccepted:\u{1b}[0m\n    \u{1b}[36mx = 1\u{1b}[0m\n""#);
    }

    #[test]
    fn the_summary_is_the_first_paragraph() {
        assert_eq!(
            summary(PAGE),
            "First sentence with code of several words. Second bold one continues; see the guide and a page."
        );
        assert_eq!(summary("# only a heading\n"), "");
    }

    #[test]
    fn a_narrow_terminal_and_a_long_word_do_no_harm() {
        let shown = render(&"x".repeat(100), Terminal { width: 3, color: false });
        assert_eq!(shown, format!("{}\n", "x".repeat(100)));
    }
}
