//! Numbers for the things of all files: those of the first file, then those of the second, and so on.

use std::ops::Range;

use crate::project::FileId;

/// How the things of one kind, such as values or scopes, are numbered through all files.
#[derive(Clone, Debug, Default)]
pub struct Numbering {
    /// The number of each file's first thing, and how many there are.
    first: Vec<u32>,
}

impl Numbering {
    /// Numbers as many things as each file has, in the order of the files.
    #[must_use]
    pub fn new(counts: impl Iterator<Item = usize>) -> Self {
        let mut next = 0;
        let mut first = vec![next];
        for count in counts {
            next += u32::try_from(count).expect("fewer things than 2^32");
            first.push(next);
        }
        Self { first }
    }

    /// The number of a file's thing.
    #[must_use]
    pub fn of(&self, file: FileId, index: usize) -> usize {
        self.first[file.index()] as usize + index
    }

    /// The numbers of all that a file has.
    #[must_use]
    pub fn range(&self, file: FileId) -> Range<usize> {
        self.first[file.index()] as usize..self.first[file.index() + 1] as usize
    }

    /// The file of a number, and which of its things it is; nothing for a number that no file has.
    #[must_use]
    pub fn place(&self, number: usize) -> Option<(FileId, usize)> {
        let file = self.first.partition_point(|&first| first as usize <= number).checked_sub(1)?;
        self.first.get(file + 1)?;
        let id = FileId(u32::try_from(file).expect("fewer files than 2^32"));
        Some((id, number - self.first[file] as usize))
    }

    /// How many things all files have.
    #[must_use]
    pub fn count(&self) -> usize {
        self.first.last().map_or(0, |&count| count as usize)
    }
}

/// For each number a list, all of them one after the other in memory.
#[derive(Debug)]
pub struct Lists<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { starts: vec![0], items: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// Lists for `count` numbers of the items that belong to each, in the order in which they come.
    #[must_use]
    pub fn group(count: usize, items: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        let mut starts = vec![0_u32; count + 1];
        for (number, _) in items.clone() {
            starts[number] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        let Some((_, filler)) = items.clone().next() else { return Self { starts, items: Vec::new() } };
        let mut sorted = vec![filler; sum as usize];
        // Where the next item of each goes; in the end each start has moved to the next one's.
        for (number, item) in items {
            sorted[starts[number] as usize] = item;
            starts[number] += 1;
        }
        starts.rotate_right(1);
        starts[0] = 0;
        Self { starts, items: sorted }
    }

    /// Sorts the lists that have more than `few` items.
    pub fn sort_long<K: Ord>(&mut self, few: usize, key: impl Fn(&T) -> K) {
        for bounds in self.starts.windows(2) {
            let (start, end) = (bounds[0] as usize, bounds[1] as usize);
            if end - start > few {
                self.items[start..end].sort_by_key(&key);
            }
        }
    }

    /// With room for the lists of `count` numbers.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        Self { starts, items: Vec::with_capacity(count) }
    }

    /// Adds the list of the next number.
    pub fn push(&mut self, items: impl IntoIterator<Item = T>) {
        self.items.extend(items);
        self.starts.push(u32::try_from(self.items.len()).expect("fewer items than 2^32"));
    }

    /// The list of a number; empty for one that has none.
    #[must_use]
    pub fn of(&self, number: usize) -> &[T] {
        self.of_all(number..number + 1)
    }

    /// The lists of several numbers as one.
    #[must_use]
    pub fn of_all(&self, numbers: Range<usize>) -> &[T] {
        match (self.starts.get(numbers.start), self.starts.get(numbers.end)) {
            (Some(&start), Some(&end)) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_back_to_their_files() {
        let numbering = Numbering::new([2, 0, 3].into_iter());
        assert_eq!(numbering.count(), 5);
        assert_eq!(numbering.range(FileId(2)), 2..5);
        for (number, place) in [(0, (0, 0)), (1, (0, 1)), (2, (2, 0)), (4, (2, 2))] {
            assert_eq!(numbering.place(number), Some((FileId(place.0), place.1)));
            assert_eq!(numbering.of(FileId(place.0), place.1), number);
        }
        assert_eq!(numbering.place(5), None);
    }

    #[test]
    fn groups_keep_the_order_of_their_items() {
        let lists = Lists::group(4, [(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd')].into_iter());
        assert_eq!(lists.of(0), ['b']);
        assert!(lists.of(1).is_empty());
        assert_eq!(lists.of(2), ['a', 'c']);
        assert_eq!(lists.of(3), ['d']);
        assert!(lists.of(4).is_empty());
        assert_eq!(lists.of_all(1..4), ['a', 'c', 'd']);
        assert!(Lists::<char>::group(2, std::iter::empty()).of(1).is_empty());
    }

    #[test]
    fn only_long_lists_are_sorted() {
        let items = [(0, 'b'), (0, 'a'), (1, 'e'), (1, 'd'), (1, 'c')];
        let mut lists = Lists::group(2, items.into_iter());
        lists.sort_long(2, |&own| own);
        assert_eq!(lists.of(0), ['b', 'a']);
        assert_eq!(lists.of(1), ['c', 'd', 'e']);
    }
}
