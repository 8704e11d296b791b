//! Which files are looked at first after an edit: those that the changed ones have most to do with.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::examine::Trainer;
use crate::program::Modules;
use crate::project::FileId;

/// How many values are looked at, if those of the changed files and of the ways to them are not more: some forty files,
/// so that the answer comes before the next key is pressed.
const ROOM: usize = 4_000;

/// The files near the changed ones, out of those that `may` be looked at: the program that runs them and has the fewest
/// files is followed from where it begins to them and to where it trains, and then what is imported by these files and
/// imports them, step by step, while there is room. Nothing if that is most of all files anyway.
pub(super) fn around(
    changed: &[FileId],
    modules: &Modules,
    trainers: &[Trainer],
    may: &FxHashSet<FileId>,
) -> Option<FxHashSet<FileId>> {
    let size = |file: &FileId| modules.get(*file).values.len();
    let runs = |trainer: &&Trainer| changed.iter().any(|file| trainer.files.contains(file));
    let program = trainers.iter().filter(runs).min_by_key(|trainer| trainer.files.len());
    let own = program.map(|program| modules.with_imported([program.entry]));
    let is_near = |file: FileId| may.contains(&file) && own.as_ref().is_none_or(|own| own.contains(&file));
    let links = Links::new(modules, may.iter().copied().filter(|&file| is_near(file)));
    let mut found: BTreeSet<FileId> = changed.iter().copied().collect();
    if let Some(program) = program {
        let ways = links.ways_from(program.entry);
        for &end in program.loops.iter().chain(changed) {
            found.extend(ways.to(end));
        }
    }
    let mut left = ROOM.saturating_sub(found.iter().map(size).sum());
    let mut queue: VecDeque<FileId> = changed.iter().copied().chain(found.iter().copied()).collect();
    while let Some(file) = queue.pop_front() {
        for &other in links.of(file) {
            if !found.contains(&other) && size(&other) <= left {
                left -= size(&other);
                found.insert(other);
                queue.push_back(other);
            }
        }
    }
    let near: usize = found.iter().map(size).sum();
    let all: usize = may.iter().map(size).sum();
    (near < all / 4).then(|| found.into_iter().collect())
}

/// The imports between some files.
#[derive(Default)]
struct Links {
    imported: FxHashMap<FileId, Vec<FileId>>,
    /// What a file imports, then what imports it.
    both: FxHashMap<FileId, Vec<FileId>>,
}

impl Links {
    fn new(modules: &Modules, files: impl IntoIterator<Item = FileId>) -> Self {
        let files: BTreeSet<FileId> = files.into_iter().collect();
        let mut links = Self::default();
        for &file in &files {
            let imported = modules.imported_by(file).filter(|other| files.contains(other));
            links.imported.insert(file, imported.collect());
        }
        links.both.clone_from(&links.imported);
        for &file in &files {
            for other in &links.imported[&file] {
                links.both.entry(*other).or_default().push(file);
            }
        }
        links
    }

    fn of(&self, file: FileId) -> &[FileId] {
        self.both.get(&file).map_or(&[], Vec::as_slice)
    }

    /// The shortest chains of imports that begin with a file.
    fn ways_from(&self, entry: FileId) -> Ways {
        let mut importers: FxHashMap<FileId, Option<FileId>> = FxHashMap::from_iter([(entry, None)]);
        let mut queue = VecDeque::from([entry]);
        while let Some(file) = queue.pop_front() {
            for &other in self.imported.get(&file).into_iter().flatten() {
                importers.entry(other).or_insert_with(|| {
                    queue.push_back(other);
                    Some(file)
                });
            }
        }
        Ways { importers }
    }
}

/// By which import each file is reached first.
struct Ways {
    importers: FxHashMap<FileId, Option<FileId>>,
}

impl Ways {
    /// The files on the way to one, itself included.
    fn to(&self, end: FileId) -> impl Iterator<Item = FileId> {
        std::iter::successors(Some(end), |file| self.importers.get(file).copied().flatten())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::examine::Distribution;
    use crate::project::{ConfigSource, OpenOptions, Project};

    /// What is near `c.py` in a program `main.py`, which trains in `loop.py` and has a hundred other files.
    fn near(others: usize, trains: bool) -> Option<Vec<String>> {
        let root = Path::new("/nowhere");
        let mut main = "import a\nimport loop\n".to_owned();
        let mut files = vec![
            ("a.py".to_owned(), "import b".to_owned()),
            ("b.py".to_owned(), "import c".to_owned()),
            ("c.py".to_owned(), "import d\nx = 1".to_owned()),
            ("d.py".to_owned(), String::new()),
            ("loop.py".to_owned(), String::new()),
            ("unrelated.py".to_owned(), "import c".to_owned()),
        ];
        for index in 0..others {
            writeln!(main, "import other_{index}").expect("memory");
            files.push((format!("other_{index}.py"), format!("x = {}", "1 + ".repeat(50) + "1")));
        }
        files.push(("main.py".to_owned(), main));
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| root.join(name)).collect();
        let overlay = paths.iter().cloned().zip(files.into_iter().map(|(_, text)| text)).collect();
        let options = OpenOptions { config: ConfigSource::Isolated, overlay, ..OpenOptions::default() };
        let project = Project::open(&paths, &options).expect("all files are in memory");
        let modules = Modules::load(&project);
        let file = |name: &str| {
            let mut files = project.files().iter();
            files.find(|file| file.relative == name).expect("it was written").id
        };
        let trainer = Trainer {
            entry: file("main.py"),
            files: ["main.py", "a.py", "b.py", "c.py", "loop.py"].map(file).to_vec(),
            loops: vec![file("loop.py")],
            distribution: Distribution::Settled,
        };
        let trainers = if trains { vec![trainer] } else { Vec::new() };
        let all = modules.files().collect();
        let found = around(&[file("c.py")], &modules, &trainers, &all)?;
        let mut found: Vec<String> =
            found.into_iter().map(|file| project.file(file).relative.clone()).collect();
        found.retain(|name| !name.starts_with("other"));
        found.sort_unstable();
        Some(found)
    }

    #[test]
    fn the_way_from_the_entry_and_to_the_loop_is_near() {
        let found = near(1_000, true).expect("most files are far away");
        assert_eq!(found, ["a.py", "b.py", "c.py", "d.py", "loop.py", "main.py"]);
    }

    #[test]
    fn without_a_program_what_imports_the_file_is_near() {
        let found = near(1_000, false).expect("most files are far away");
        assert_eq!(found, ["a.py", "b.py", "c.py", "d.py", "loop.py", "main.py", "unrelated.py"]);
    }

    #[test]
    fn few_files_are_all_looked_at() {
        assert_eq!(near(2, true), None);
    }
}
