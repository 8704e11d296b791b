//! Texts, each once, with a number.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Texts with their numbers, from 0 on. There are many of them, and they live and die together: they stand one behind
/// the other.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    texts: String,
    /// Where each text ends in `texts`, in bytes; it begins where the one before ends.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
}

impl Interner {
    /// The number of `text`, new or known.
    ///
    /// # Panics
    ///
    /// If there are 2^32 texts.
    pub fn intern(&mut self, text: &str) -> u32 {
        let hash = hash(text);
        let Self { texts, ends, numbers } = self;
        if let Some(&known) = numbers.find(hash, |&number| is(texts, ends, number, text)) {
            return known;
        }
        let number = u32::try_from(ends.len()).expect("fewer names than 2^32");
        texts.push_str(text);
        ends.push(texts.len());
        numbers.insert_unique(hash, number, |&number| self::hash(&texts[place(ends, number)]));
        number
    }

    /// The number of `text` if it is known.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<u32> {
        self.numbers.find(hash(text), |&number| is(&self.texts, &self.ends, number, text)).copied()
    }

    /// The text of a number.
    #[must_use]
    pub fn text(&self, number: u32) -> &str {
        &self.texts[place(&self.ends, number)]
    }

    /// How many texts there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.ends.len()
    }
}

fn hash(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

/// Where the text of a number stands.
fn place(ends: &[usize], number: u32) -> Range<usize> {
    let index = number as usize;
    index.checked_sub(1).map_or(0, |before| ends[before])..ends[index]
}

fn is(texts: &str, ends: &[usize], number: u32, text: &str) -> bool {
    texts.as_bytes()[place(ends, number)] == *text.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_number() {
        let mut interner = Interner::default();
        let texts = ["model", "", "é", "mode", "lmodel", "model", ""];
        let numbers = texts.map(|text| interner.intern(text));
        assert_eq!(numbers, [0, 1, 2, 3, 4, 0, 1]);
        assert_eq!(numbers.map(|number| interner.text(number)), texts);
        assert_eq!(interner.find("lmodel"), Some(4));
        assert_eq!(interner.find("l"), None, "a part of one");
        assert_eq!(interner.count(), 5);
    }

    #[test]
    fn many_texts_are_told_apart() {
        let mut interner = Interner::default();
        let texts: Vec<String> = (0..10_000).map(|index| format!("name_{index}")).collect();
        for (number, text) in (0..).zip(&texts) {
            assert_eq!(interner.intern(text), number);
        }
        for (number, text) in (0..).zip(&texts) {
            assert_eq!((interner.find(text), interner.text(number)), (Some(number), text.as_str()));
        }
    }
}
