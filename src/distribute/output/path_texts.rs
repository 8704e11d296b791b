//! The texts that paths are made of, and whether two of them may be one place: `"data/part%d.npy"` lies in `"data"`, and is what
//! `"data/*.npy"` finds.

use std::collections::BTreeMap;

use super::super::job::Job;
use crate::program::Place;
use crate::semantic::{Constant, Value};

/// What parts the names of folders and files.
const SEPARATOR: char = '/';

/// With what the parts of a text begin that say only later what they are: `%d`, `{}`, `*`.
const OPEN: [char; 5] = ['%', '{', '*', '?', '['];

/// What `NumPy` adds to a name, `np.save("values")` writes "values.npy", and `SentencePiece`.
const ADDED: [&str; 4] = [".npy", ".npz", ".model", ".vocab"];

/// A literal, or an f-string, as part of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathText {
    /// What it begins with for sure.
    start: String,
    /// Its end behind what is open, if anything is.
    end: Option<String>,
}

impl PathText {
    /// What a text says of a place, if anything.
    pub(super) fn new(text: &str) -> Option<Self> {
        // What stands in front of a separator is a part of its own: `f"{folder}/values.npy"`.
        let text = text.strip_prefix("{}").unwrap_or(text).trim_start_matches(SEPARATOR);
        let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches(SEPARATOR);
        let (start, end) = match text.find(OPEN) {
            Some(open) => (&text[..open], Some(closed_end(text))),
            None => (text, None),
        };
        // An ending alone, `path + ".npy"`, says nothing of a place.
        let says_nothing = start.is_empty() || end.is_none() && start.starts_with('.');
        (!says_nothing).then(|| Self { start: start.to_owned(), end: end.map(str::to_owned) })
    }

    /// Whether both may name one place, or one of them a folder in which the other lies.
    fn meets(&self, other: &Self) -> bool {
        self.is_same(other)
            || self.is_folder_of(other)
            || other.is_folder_of(self)
            || self.is_named_like(other)
    }

    /// Whether one is the name of a file in a folder that it does not tell, and the other ends with it:
    /// `os.path.join(folder, "train.h5")`, `"checkpoint/train.h5"`.
    fn is_named_like(&self, other: &Self) -> bool {
        let is_bare = |own: &Self| !own.start.contains(SEPARATOR);
        self.file_name().is_some_and(|name| other.file_name() == Some(name))
            && (is_bare(self) || is_bare(other))
    }

    /// The name of a file, with its ending, where nothing of the text is open.
    fn file_name(&self) -> Option<&str> {
        let name = self.start.rsplit(SEPARATOR).next()?;
        (self.end.is_none() && name.contains('.')).then_some(name)
    }

    fn is_same(&self, other: &Self) -> bool {
        let is_begun = |long: &str, short: &Self| {
            long.strip_prefix(&short.start)
                .is_some_and(|rest| short.end.is_some() || rest.is_empty() || ADDED.contains(&rest))
        };
        let ends_alike = |one: &str, other: &str| one.ends_with(other) || other.ends_with(one);
        (is_begun(&self.start, other) || is_begun(&other.start, self))
            && match (&self.end, &other.end) {
                (Some(own), Some(other)) => ends_alike(own, other),
                (Some(end), None) => other.start.ends_with(end.as_str()),
                (None, Some(end)) => self.start.ends_with(end.as_str()),
                (None, None) => true,
            }
    }

    fn is_folder_of(&self, other: &Self) -> bool {
        self.end.is_none()
            && other.start.strip_prefix(&self.start).is_some_and(|rest| rest.starts_with(SEPARATOR))
    }
}

/// The end of a text behind all that is open in it.
fn closed_end(text: &str) -> &str {
    let open = text.rfind(OPEN).map_or(0, |at| at + 1);
    let rest = &text[open..];
    match text[..open].chars().next_back() {
        Some('{') => rest.find('}').map_or(rest, |close| &rest[close + 1..]),
        Some('[') => rest.find(']').map_or(rest, |close| &rest[close + 1..]),
        // `%05d`
        Some('%') => {
            rest.find(|letter: char| letter.is_ascii_alphabetic()).map_or(rest, |letter| &rest[letter + 1..])
        }
        _ => rest,
    }
}

/// Texts that paths are made of, and where the code of a program has each.
#[derive(Clone, Debug, Default)]
pub(super) struct PathTexts {
    places: BTreeMap<PathText, Vec<Place>>,
    /// The texts that tell the name of a file.
    named: BTreeMap<String, Vec<PathText>>,
}

impl PathTexts {
    /// The texts among some values of a program's code.
    pub(super) fn among(job: &Job<'_>, places: impl IntoIterator<Item = Place>) -> Self {
        let mut own = Self::default();
        for place in places.into_iter().filter(|&(file, _)| job.runs_in(file)) {
            if let Some(text) = text(job, place).and_then(PathText::new) {
                own.places.entry(text).or_default().push(place);
            }
        }
        for text in own.places.keys() {
            if let Some(name) = text.file_name() {
                own.named.entry(name.to_owned()).or_default().push(text.clone());
            }
        }
        own
    }

    /// Where others have texts that may name the place of one of these.
    pub(super) fn met_in<'t>(&'t self, others: &'t Self) -> impl Iterator<Item = Place> + 't {
        self.places.keys().flat_map(|own| {
            let alike = others.begun_alike(own).chain(others.named_alike(own));
            alike.filter(|(other, _)| own.meets(other)).flat_map(|(_, places)| places).copied()
        })
    }

    /// Those that name a file as a text does.
    fn named_alike<'t>(&'t self, text: &PathText) -> impl Iterator<Item = (&'t PathText, &'t Vec<Place>)> {
        let texts = text.file_name().and_then(|name| self.named.get(name)).into_iter().flatten();
        texts.filter_map(|text| self.places.get_key_value(text))
    }

    /// Those that begin with all that a text begins with, or that it begins with: besides those that name a file alike, no
    /// others meet it.
    fn begun_alike<'t>(&'t self, text: &'t PathText) -> impl Iterator<Item = (&'t PathText, &'t Vec<Place>)> {
        let from = |start: &str| self.places.range(PathText { start: start.to_owned(), end: None }..);
        let shorter = text.start.char_indices().skip(1).flat_map(move |(length, _)| {
            let start = &text.start[..length];
            from(start).take_while(move |(other, _)| other.start == start)
        });
        let longer = from(&text.start).take_while(|(other, _)| other.start.starts_with(&text.start));
        shorter.chain(longer)
    }
}

/// What a literal says, or an f-string with `{}` for what it inserts.
pub(in crate::distribute) fn text<'j>(job: &'j Job<'_>, (file, value): Place) -> Option<&'j str> {
    let module = job.facts.module(file);
    match module.value(value).value {
        Value::Constant(Constant::Str(text)) => Some(module.names.text(text)),
        _ => module.template(value),
    }
}

#[cfg(test)]
mod tests {
    use super::PathText;

    fn meet(one: &str, other: &str) -> bool {
        let texts = PathText::new(one).zip(PathText::new(other));
        texts.is_some_and(|(one, other)| one.meets(&other) && other.meets(&one))
    }

    #[test]
    fn a_folder_meets_what_lies_in_it() {
        assert!(meet("data", "data/values.txt"));
        assert!(meet("./data/", "data/%d/part.npy"));
        assert!(!meet("data", "database.txt"));
        assert!(!meet("data/a", "data/b"));
    }

    #[test]
    fn what_is_open_meets_what_begins_and_ends_like_it() {
        assert!(meet("data/part%05d.npy", "data/*.npy"));
        assert!(meet("part{}.npy", "part7.npy"));
        assert!(meet("{}/part{}.npy", "part%d.npy"));
        assert!(!meet("part{}.npy", "part7.txt"));
        assert!(!meet("part{}.npy", "values.npy"));
    }

    #[test]
    fn the_name_of_a_file_may_stand_in_any_folder() {
        assert!(meet("train.h5", "checkpoint/train.h5"));
        assert!(!meet("train.h5", "checkpoint/test.h5"));
        assert!(!meet("one/train.h5", "other/train.h5"));
        assert!(!meet("train", "checkpoint/train"));
    }

    #[test]
    fn numpy_adds_an_ending() {
        assert!(meet("features", "features.npy"));
        assert!(!meet("data", "data.zip"));
        assert!(!meet("features", "features2.npy"));
    }

    #[test]
    fn an_ending_alone_is_no_place() {
        assert!(!meet(".npy", ".npy"));
        assert!(!meet("{}.npy", "{}.npy"));
    }
}
