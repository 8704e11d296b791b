//! Replaces files on the disk: each at once, and those that belong together all or none.
//!
//! A file is written beside itself under a temporary name, with its mode and owner, and renamed. Only when all files of
//! a group are written, and none has changed meanwhile, is the first one renamed.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

use super::original::CHANGED;

/// A file to be replaced.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where; a link is followed.
    pub path: PathBuf,
    /// What it must hold still.
    pub before: Vec<u8>,
    /// What it is to hold.
    pub after: Vec<u8>,
}

/// Why a group of files was left alone.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct WriteProblem {
    /// The file that is at fault.
    pub path: PathBuf,
    /// A clause about it.
    pub what: String,
    /// What to do, in the imperative.
    pub help: &'static str,
}

/// Replaces all of `group`, or nothing.
///
/// # Errors
///
/// A file has changed since it was read, is read-only, or can't be written. All files are as they were, unless the
/// disk fails between two renames and again when the first is undone; the problem says so.
pub fn write(group: &[Target]) -> Result<(), WriteProblem> {
    let mut ready = Vec::new();
    for target in group {
        let prepared = prepare(target)?;
        // Two names may lead to one file.
        let same = ready.iter().find(|(other, _): &&(Prepared, &Target)| other.place == prepared.place);
        match same {
            None => ready.push((prepared, target)),
            Some((_, other)) if other.after == target.after => {}
            Some(_) => {
                return Err(problem(
                    target,
                    "is one file under several names, which are to change differently",
                ));
            }
        }
    }
    for (prepared, target) in &ready {
        require_unchanged(&prepared.place, target)?;
    }
    rename(ready)
}

/// Gives the prepared files their names; where one can't have it, those before it go back.
fn rename(ready: Vec<(Prepared, &Target)>) -> Result<(), WriteProblem> {
    let mut done: Vec<(PathBuf, &Target)> = Vec::new();
    for (prepared, target) in ready {
        match prepared.file.persist(&prepared.place) {
            Ok(_) => done.push((prepared.place, target)),
            Err(error) => {
                let undone = done.iter().try_for_each(|(place, target)| undo(place, target));
                let more = undone.err().map_or(String::new(), |error| {
                    format!("; files that belong to it have been changed and can't be changed back: {error}")
                });
                return Err(problem(target, format!("can't be replaced: {}{more}", error.error)));
            }
        }
    }
    for (place, _) in &done {
        sync_folder(place);
    }
    Ok(())
}

/// A file with the new content, waiting for its name.
struct Prepared {
    file: NamedTempFile,
    place: PathBuf,
}

fn problem(target: &Target, what: impl Into<String>) -> WriteProblem {
    WriteProblem {
        path: target.path.clone(),
        what: what.into(),
        help: "check the permissions of the file and of its folder",
    }
}

fn prepare(target: &Target) -> Result<Prepared, WriteProblem> {
    let failed = |error: io::Error| problem(target, format!("can't be replaced: {error}"));
    let place = fs::canonicalize(&target.path).map_err(failed)?;
    require_unchanged(&place, target)?;
    if fs::metadata(&place).map_err(failed)?.permissions().readonly() {
        return Err(problem(target, "is read-only"));
    }
    let folder = place.parent().unwrap_or(Path::new("."));
    if fs::metadata(folder).map_err(failed)?.permissions().readonly() {
        return Err(problem(target, "is in a read-only folder"));
    }
    let file = beside(&place, &target.after).map_err(failed)?;
    Ok(Prepared { file, place })
}

/// A temporary file in the folder of `place`, with its mode and owner and this content, safe on the disk.
fn beside(place: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let metadata = fs::metadata(place)?;
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".hvdlint-").suffix(".tmp").tempfile_in(folder)?;
    file.write_all(content)?;
    keep_owner(file.path(), &metadata)?;
    file.as_file().set_permissions(metadata.permissions())?;
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(unix)]
fn keep_owner(path: &Path, like: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, chown};
    let own = fs::metadata(path)?;
    let differing = |own: u32, other: u32| (own != other).then_some(other);
    chown(path, differing(own.uid(), like.uid()), differing(own.gid(), like.gid()))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
fn keep_owner(_path: &Path, _like: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

fn require_unchanged(place: &Path, target: &Target) -> Result<(), WriteProblem> {
    let now = fs::read(place).map_err(|error| problem(target, format!("can't be read again: {error}")))?;
    if now == target.before {
        return Ok(());
    }
    Err(WriteProblem { help: "run again when nothing else writes to it", ..problem(target, CHANGED) })
}

fn undo(place: &Path, target: &Target) -> io::Result<()> {
    beside(place, &target.before)?.persist(place).map_err(|error| error.error)?;
    Ok(())
}

/// Makes the new name last, where the system can.
fn sync_folder(place: &Path) {
    if let Some(folder) = place.parent().and_then(|folder| fs::File::open(folder).ok()) {
        // Some file systems can't; the content is safe all the same.
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("written");
        }
        folder
    }

    fn target(folder: &Path, name: &str, before: &str, after: &str) -> Target {
        Target { path: folder.join(name), before: before.into(), after: after.into() }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn all_files_of_a_group_are_replaced() {
        let folder = folder(&[("a", "1"), ("b", "2")]);
        let path = folder.path();
        write(&[target(path, "a", "1", "one"), target(path, "b", "2", "two")]).expect("written");
        assert_eq!(fs::read_to_string(path.join("a")).expect("there"), "one");
        assert_eq!(fs::read_to_string(path.join("b")).expect("there"), "two");
        assert_eq!(names(path), ["a", "b"], "nothing is left behind");
    }

    #[test]
    fn nothing_is_replaced_where_one_file_has_changed_or_is_gone() {
        let folder = folder(&[("a", "1"), ("b", "other")]);
        let path = folder.path();
        for name in ["b", "c"] {
            let problem =
                write(&[target(path, "a", "1", "one"), target(path, name, "2", "two")]).expect_err("refused");
            assert_eq!(problem.path, path.join(name));
            assert_eq!(fs::read_to_string(path.join("a")).expect("there"), "1");
            assert_eq!(names(path), ["a", "b"]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_rename_that_fails_undoes_those_before_it() {
        let folder = folder(&[("a", "1"), ("b", "2")]);
        let path = folder.path();
        let (a, b) = (target(path, "a", "1", "one"), target(path, "b", "2", "two"));
        let ready = [&a, &b].map(|target| (prepare(target).expect("prepared"), target));
        // Nothing can be renamed to the name of a folder.
        fs::remove_file(path.join("b")).expect("removed");
        fs::create_dir(path.join("b")).expect("made");
        let problem = rename(ready.into()).expect_err("refused");
        assert_eq!(problem.path, path.join("b"));
        assert!(!problem.what.contains("changed back"), "{problem}");
        assert_eq!(fs::read_to_string(path.join("a")).expect("there"), "1");
        assert_eq!(names(path), ["a", "b"], "what was prepared is gone");
    }

    #[cfg(unix)]
    #[test]
    fn the_mode_is_kept_links_are_followed_and_read_only_files_are_left_alone() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder(&[("a", "1")]);
        let path = folder.path();
        let mode = |mode| fs::set_permissions(path.join("a"), fs::Permissions::from_mode(mode)).expect("set");
        mode(0o751);
        symlink("a", path.join("link")).expect("linked");
        write(&[target(path, "link", "1", "2"), target(path, "a", "1", "2")]).expect("written");
        let metadata = fs::metadata(path.join("a")).expect("there");
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o751);
        assert_eq!(fs::read_to_string(path.join("a")).expect("there"), "2");
        assert!(fs::symlink_metadata(path.join("link")).expect("there").is_symlink());
        let problem =
            write(&[target(path, "link", "2", "3"), target(path, "a", "2", "4")]).expect_err("refused");
        assert!(problem.what.contains("several names"), "{problem}");
        mode(0o444);
        assert_eq!(write(&[target(path, "a", "2", "3")]).expect_err("refused").what, "is read-only");
    }
}
