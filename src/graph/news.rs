//! Which values are to be read again because others that they were read from have changed.

use crate::program::Place;

/// The values that something new may be known of, and those that have to do with each.
#[derive(Debug)]
pub(super) struct News {
    files: Vec<Vec<Entry>>,
    /// For each value a linked list of those that were read from it.
    links: Vec<(Place, Link)>,
    /// How many values are to be read.
    waiting: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    waits: bool,
    readers: Link,
}

/// The link of what was told last, as a place in a list of all.
#[derive(Clone, Copy, Debug)]
struct Link(u32);

impl Link {
    const END: Self = Self(u32::MAX);
}

impl News {
    /// Each of the values that the files have is to be read.
    pub(super) fn of_all(counts: &[usize]) -> Self {
        let entry = Entry { waits: true, readers: Link::END };
        let files = counts.iter().map(|&count| vec![entry; count]).collect();
        Self { files, links: Vec::new(), waiting: counts.iter().sum() }
    }

    /// Whether nothing is to be read any more.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether a value is to be read; after this it is not.
    pub(super) fn take(&mut self, (file, value): Place) -> bool {
        let waited = std::mem::take(&mut self.files[file.index()][value.index()].waits);
        self.waiting -= usize::from(waited);
        waited
    }

    /// Takes down that `reader` was read from a value, and is to be read again when that changes.
    pub(super) fn tell(&mut self, (file, value): Place, reader: Place) {
        let Some(entry) = self.files[file.index()].get_mut(value.index()) else { return };
        let link = Link(u32::try_from(self.links.len()).expect("fewer reads than 2^32"));
        self.links.push((reader, std::mem::replace(&mut entry.readers, link)));
    }

    /// Has all that were read from a value read again. They are told anew when they are.
    pub(super) fn changed(&mut self, (file, value): Place) {
        let mut next = std::mem::replace(&mut self.files[file.index()][value.index()].readers, Link::END);
        while let Some(&((file, value), rest)) = self.links.get(next.0 as usize) {
            let entry = &mut self.files[file.index()][value.index()];
            self.waiting += usize::from(!std::mem::replace(&mut entry.waits, true));
            next = rest;
        }
    }
}
