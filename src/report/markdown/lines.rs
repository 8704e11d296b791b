//! Words to lines: breaks at blanks, counting the columns that a terminal uses.

use unicode_width::UnicodeWidthStr;

use crate::report::paint::{Ink, Painted};

/// A piece of a paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) enum Word {
    /// Text without blanks; stays together with the text before it.
    Text(String, Ink),
    /// Where a line may be broken.
    Space,
    /// Where a line must be broken.
    Break,
}

impl Word {
    /// In columns.
    pub(in crate::report) fn width(&self) -> usize {
        match self {
            Self::Text(text, _) => display_width(text),
            Self::Space | Self::Break => 1,
        }
    }
}

/// The columns that a terminal needs for `text`.
pub(in crate::report) fn display_width(text: &str) -> usize {
    text.width()
}

/// The words on lines of at most `width` columns, except for words that are longer.
pub(in crate::report) fn wrap(words: &[Word], width: usize, color: bool) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for group in words.split_inclusive(|word| !matches!(word, Word::Text(..))) {
        let texts = group.iter().filter(|word| matches!(word, Word::Text(..)));
        let needed: usize = texts.map(Word::width).sum();
        if used > 0 && used + needed > width {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().expect("there is always a line");
        for word in group {
            match word {
                Word::Text(text, ink) => line.push_str(&Painted { text, ink: *ink, color }.to_string()),
                Word::Space if used + needed > 0 => line.push(' '),
                Word::Space | Word::Break => {}
            }
        }
        used += needed + usize::from(used + needed > 0);
        if group.last() == Some(&Word::Break) {
            lines.push(String::new());
            used = 0;
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}
