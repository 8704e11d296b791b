//! Which files a project has, and what is read from them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use hvdlint::project::{
    ConfigSource, FileKind, FileProblem, OpenOptions, Project, ProjectError, StandardInput,
};
use tempfile::TempDir;

/// A folder that is no git repository.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(TempDir::new().expect("a temporary folder"));
        for (path, text) in files {
            folder.write(path, text.as_bytes());
        }
        folder
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a new folder");
        fs::write(path, bytes).expect("a new file");
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn open(&self, paths: &[&str], options: &OpenOptions) -> Result<Project, ProjectError> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| self.path(path)).collect();
        Project::open(&paths, options)
    }

    fn project(&self, paths: &[&str]) -> Project {
        self.open(paths, &OpenOptions::default()).expect("a project")
    }
}

fn all(project: &Project) -> Vec<&str> {
    project.files().iter().map(|file| file.relative.as_str()).collect()
}

fn reported(project: &Project) -> Vec<&str> {
    project.reported().map(|file| file.relative.as_str()).collect()
}

fn read(project: &Project, relative: &str) -> Result<String, FileProblem> {
    let file = project.files().iter().find(|file| file.relative == relative).expect("a file of the project");
    project.read(file.id)
}

#[test]
fn the_given_folder_is_the_root_where_nothing_else_is() {
    let folder = Folder::new(&[("a/b.py", ""), ("a/c/d.py", ""), ("e.py", "")]);
    let project = folder.project(&["a"]);
    assert_eq!(all(&project), ["b.py", "c/d.py"]);
    assert_eq!(project.root(), fs::canonicalize(folder.path("a")).expect("an existing folder"));
    assert_eq!(all(&folder.project(&["a/b.py"])), ["b.py", "c/d.py"], "a file stands for its folder");
    let common = folder.project(&["a/c", "e.py"]);
    assert_eq!(all(&common), ["a/b.py", "a/c/d.py", "e.py"]);
    assert_eq!(reported(&common), ["a/c/d.py", "e.py"]);
}

#[test]
fn the_git_root_is_the_root_where_no_configuration_is() {
    let folder = Folder::new(&[(".git/HEAD", ""), ("a/b.py", ""), ("c.py", "")]);
    let project = folder.project(&["a"]);
    assert_eq!(all(&project), ["a/b.py", "c.py"]);
    assert_eq!(reported(&project), ["a/b.py"]);
    let options = OpenOptions { report_all: true, ..OpenOptions::default() };
    assert_eq!(reported(&folder.open(&["a"], &options).expect("a project")), ["a/b.py", "c.py"]);
}

#[test]
fn the_nearest_configuration_is_the_root() {
    let folder = Folder::new(&[
        (".git/HEAD", ""),
        ("hvdlint.toml", "strict = false"),
        ("a/pyproject.toml", "[tool.hvdlint]\nstrict = true\n"),
        ("a/b/pyproject.toml", "[tool.other]\nstrict = 1\n"),
        ("a/b/c.py", ""),
        ("d.py", ""),
    ]);
    let project = folder.project(&["a/b/c.py"]);
    assert_eq!(all(&project), ["b/c.py"]);
    assert!(project.config().strict);
    assert!(project.config().origin.as_ref().is_some_and(|origin| origin.ends_with("a/pyproject.toml")));
    assert!(!folder.project(&["d.py"]).config().strict);
}

#[test]
fn a_configuration_above_the_git_root_does_not_count() {
    let folder = Folder::new(&[("hvdlint.toml", "strict = true"), ("r/.git/HEAD", ""), ("r/a/b.py", "")]);
    let project = folder.project(&["r/a"]);
    assert!(!project.config().strict);
    assert_eq!(all(&project), ["a/b.py"]);
}

#[test]
fn a_configuration_can_be_named_or_refused() {
    let folder =
        Folder::new(&[("hvdlint.toml", "nonsense = 1"), ("other.toml", "strict = true"), ("a.py", "")]);
    let open = |config| folder.open(&["a.py"], &OpenOptions { config, ..OpenOptions::default() });
    assert!(matches!(open(ConfigSource::Discover), Err(ProjectError::Config(_))));
    assert!(!open(ConfigSource::Isolated).expect("no configuration").config().strict);
    assert!(open(ConfigSource::File(folder.path("other.toml"))).expect("a good one").config().strict);
    let error = open(ConfigSource::File(folder.path("missing.toml"))).expect_err("a missing one");
    assert!(matches!(error, ProjectError::NotFound(_)), "{error}");
}

#[test]
fn hidden_ignored_and_foreign_code_is_left_out() {
    let folder = Folder::new(&[
        (".gitignore", "generated/\n"),
        (".venv/x.py", ""),
        (".hidden/x.py", ""),
        ("__pycache__/x.py", ""),
        ("build/x.py", ""),
        ("env/pyvenv.cfg", ""),
        ("env/lib/x.py", ""),
        ("generated/x.py", ""),
        ("lib/site-packages/x.py", ""),
        ("node_modules/x.py", ""),
        ("notes.txt", ""),
        ("book.ipynb", ""),
        ("stub.pyi", ""),
        ("a.py", ""),
    ]);
    let project = folder.project(&[""]);
    assert_eq!(all(&project), ["a.py", "book.ipynb", "stub.pyi"]);
    assert_eq!(project.files()[1].kind, FileKind::Notebook);
    assert_eq!(project.files()[2].kind, FileKind::Stub);
    assert_eq!(project.problems(), []);
}

#[test]
fn a_gitignore_above_counts_within_a_repository_only() {
    let files = [(".gitignore", "x.py\n"), ("a/x.py", ""), ("a/y.py", "")];
    let plain = Folder::new(&files);
    assert_eq!(all(&plain.project(&["a"])), ["x.py", "y.py"]);
    let repository = Folder::new(&files);
    repository.write(".git/HEAD", b"");
    assert_eq!(all(&repository.project(&["a"])), ["a/y.py"]);
}

#[test]
fn the_configuration_excludes() {
    let files = [
        ("hvdlint.toml", "extend-exclude = ['gen', '/b.py']"),
        ("a/gen/x.py", ""),
        ("a/b.py", ""),
        ("b.py", ""),
    ];
    assert_eq!(all(&Folder::new(&files).project(&[""])), ["a/b.py"]);
    let folder = Folder::new(&[("hvdlint.toml", "exclude = []"), ("build/x.py", ""), (".hidden/x.py", "")]);
    assert_eq!(all(&folder.project(&[""])), ["build/x.py"], "the defaults are replaced");
}

#[test]
fn what_is_named_is_included_unless_excludes_are_forced() {
    let folder = Folder::new(&[
        ("hvdlint.toml", "extend-exclude = ['gen']"),
        (".gitignore", "tmp/\n"),
        ("a.py", ""),
        ("gen/x.py", ""),
        ("tmp/y.py", ""),
        ("run", ""),
    ]);
    let paths = ["gen/x.py", "tmp", "run"];
    let project = folder.project(&paths);
    assert_eq!(all(&project), ["a.py", "gen/x.py", "run", "tmp/y.py"]);
    assert_eq!(reported(&project), ["gen/x.py", "run", "tmp/y.py"]);
    let options = OpenOptions { force_exclude: true, ..OpenOptions::default() };
    let project = folder.open(&paths, &options).expect("a project");
    assert_eq!(reported(&project), ["run", "tmp/y.py"], "git is not asked about what is named");
    let project = folder.open(&["gen/x.py"], &options).expect("a project");
    assert_eq!(reported(&project), [""; 0]);
    assert!(project.require_reported().is_ok(), "everything being excluded is what was asked for");
}

#[test]
fn a_missing_path_is_an_error_that_names_it() {
    let folder = Folder::new(&[("a.py", "")]);
    let error = folder.open(&["a.py", "b.py"], &OpenOptions::default()).expect_err("a missing path");
    assert!(error.to_string().ends_with("b.py` doesn't exist"), "{error}");
    assert_eq!(error.help(), "check the spelling; paths are relative to the current directory");
    let error = folder.open(&["a.py/b.py"], &OpenOptions::default()).expect_err("a file is no folder");
    assert!(matches!(error, ProjectError::NotFound(_)), "{error}");
}

#[test]
fn a_folder_without_python_is_told_on_request() {
    let folder = Folder::new(&[("a.txt", ""), ("b/c.py", "")]);
    assert!(folder.project(&["b"]).require_reported().is_ok());
    fs::remove_file(folder.path("b/c.py")).expect("an existing file");
    let error = folder.project(&["b"]).require_reported().expect_err("no file is left");
    assert!(error.to_string().starts_with("there is no Python file in `"), "{error}");
}

#[test]
fn a_folder_called_like_a_file_is_a_folder() {
    let folder = Folder::new(&[("x.py/y.py", ""), ("z.py", "")]);
    assert_eq!(all(&folder.project(&[""])), ["x.py/y.py", "z.py"]);
    assert_eq!(all(&folder.project(&["x.py"])), ["y.py"]);
}

#[test]
fn files_come_in_the_order_of_their_paths_bytes() {
    let names: Vec<String> = (0..200).map(|n| format!("d{}/{}é_{n}.py", n % 7, n % 3)).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let folder = Folder::new(&files);
    folder.write("d1.py", b"");
    let first = folder.project(&[""]);
    let mut sorted = all(&first);
    sorted.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    assert_eq!(all(&first), sorted);
    assert!(first.files().iter().enumerate().all(|(index, file)| file.id.index() == index));
    for threads in [1, 2, 8] {
        let options = OpenOptions { threads, ..OpenOptions::default() };
        let again = folder.open(&[""], &options).expect("a project");
        assert_eq!(again.files(), first.files());
    }
}

#[test]
fn modules_are_named_after_their_paths() {
    let folder = Folder::new(&[("src/pkg/__init__.py", ""), ("src/pkg/net.py", ""), ("train.py", "")]);
    let project = folder.project(&[""]);
    let names: Vec<&str> = project.files().iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["pkg", "pkg.net", "train"]);
    let packages: Vec<bool> = project.files().iter().map(|file| file.is_package).collect();
    assert_eq!(packages, [true, false, false]);
}

#[test]
fn names_can_be_relative_to_a_package_folder() {
    let folder =
        Folder::new(&[(".git/HEAD", ""), ("case/pkg/main.py", ""), ("case/pkg/deep/a.py", ""), ("b.py", "")]);
    let package = Some(folder.path("case"));
    let options = OpenOptions { package: package.clone(), ..OpenOptions::default() };
    let project = folder.open(&["case/pkg/deep"], &options).expect("a project");
    let names: Vec<&str> = project.files().iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["pkg.deep.a", "pkg.main"]);
    assert_eq!(
        Project::open(&[], &options).expect("a project").files().len(),
        2,
        "the package is the default path"
    );
    let error = folder.open(&["b.py"], &options).expect_err("a file outside");
    assert!(matches!(error, ProjectError::OutsidePackage { .. }), "{error}");
}

#[test]
fn standard_input_stands_for_a_file() {
    let folder = Folder::new(&[("a.py", "on disk"), ("b.py", "")]);
    for (name, files) in [("a.py", vec!["a.py", "b.py"]), ("new/c.py", vec!["new/c.py"])] {
        let filename = Some(folder.path(name));
        let stdin = Some(StandardInput { filename, text: "typed".into() });
        let options = OpenOptions { stdin, ..OpenOptions::default() };
        let project = Project::open(&[PathBuf::from("-")], &options).expect("a project");
        let prefix = if name == "a.py" { "" } else { "new/" };
        let expected: Vec<&str> = files.iter().map(|file| file.trim_start_matches(prefix)).collect();
        assert_eq!(all(&project), expected);
        let given = project.find(&folder.path(name)).expect("the given file");
        assert!(given.reported);
        assert_eq!(project.read(given.id).as_deref(), Ok("typed"));
        assert_eq!(&*project.document(given.id).expect("its text").text, "typed");
    }
    let error = Project::open(&[PathBuf::from("-")], &OpenOptions::default()).expect_err("nothing to read");
    assert_eq!(error.to_string(), "`-` stands for standard input, which can't be read here");
}

#[test]
fn unsaved_texts_stand_in_for_files() {
    let folder = Folder::new(&[("a.py", "old"), ("hvdlint.toml", "exclude = ['gen']")]);
    let texts =
        ["a.py", "new.py", "gen/x.py", "notes.txt"].map(|name| (folder.path(name), format!("new {name}")));
    let options = OpenOptions { overlay: HashMap::from(texts), ..OpenOptions::default() };
    let project = folder.open(&[""], &options).expect("a project");
    assert_eq!(all(&project), ["a.py", "new.py"]);
    assert_eq!(read(&project, "a.py").as_deref(), Ok("new a.py"));
    assert_eq!(read(&project, "new.py").as_deref(), Ok("new new.py"));
}

#[test]
fn text_is_read_as_it_is() {
    let folder = Folder::new(&[]);
    let cases: [(&str, &[u8], &str); 9] = [
        ("python2.py", b"print 'x'\nexec 'y'\n", "print 'x'\nexec 'y'\n"),
        ("bom.py", b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        ("latin1.py", b"# -*- coding: latin-1 -*-\ns = '\xe9'\n", "# -*- coding: latin-1 -*-\ns = 'é'\n"),
        ("crlf.py", b"a\r\nb\r\n", "a\r\nb\r\n"),
        ("cr.py", b"a\rb\r", "a\rb\r"),
        ("tabs.py", b"if x:\n\ty\n        z\n", "if x:\n\ty\n        z\n"),
        ("empty.py", b"", ""),
        ("nul.py", b"a = '\0'\n", "a = '\0'\n"),
        ("form_feed.py", b"\x0c\nx", "\x0c\nx"),
    ];
    for (name, bytes, _) in cases {
        folder.write(name, bytes);
    }
    let project = folder.project(&[""]);
    assert_eq!(project.files().len(), cases.len());
    for (name, _, text) in cases {
        assert_eq!(read(&project, name).as_deref(), Ok(text), "{name}");
        let id = project.find(&folder.path(name)).expect("a file of the project").id;
        let document = project.document(id).expect("a document");
        assert_eq!((document.path.as_str(), &*document.text), (name, text));
    }
}

#[test]
fn bytes_that_are_no_text_are_a_problem_with_a_place() {
    let folder = Folder::new(&[]);
    folder.write("a.py", b"x = 1\ns = '\xe9'\n");
    let project = folder.project(&[""]);
    let problem = read(&project, "a.py").expect_err("not UTF-8");
    assert_eq!(problem.what, "the file is not UTF-8: invalid byte 0xe9");
    let document = project.document(project.files()[0].id).expect("a document all the same");
    assert_eq!(problem.offset.and_then(|offset| document.text.get(offset..)), Some("\u{fffd}'\n"));
}

#[test]
fn large_files_are_read_and_huge_ones_are_a_problem() {
    let folder = Folder::new(&[("large.py", &"x = 1\n".repeat(10 << 20 >> 2))]);
    let huge = fs::File::create(folder.path("huge.py")).expect("a new file");
    huge.set_len(65 << 20).expect("a sparse file");
    let project = folder.project(&[""]);
    assert!(read(&project, "large.py").is_ok_and(|text| text.len() > 10_000_000));
    let problem = read(&project, "huge.py").expect_err("too large");
    assert_eq!(problem.what, "has 65 MB, more than the 64 MB that are read");
    assert_eq!(problem.offset, None);
}

#[test]
fn a_file_that_vanished_is_a_problem() {
    let folder = Folder::new(&[("a.py", "")]);
    let project = folder.project(&[""]);
    fs::remove_file(folder.path("a.py")).expect("an existing file");
    let problem = read(&project, "a.py").expect_err("a vanished file");
    assert!(problem.what.starts_with("can't be read: "), "{}", problem.what);
    assert_eq!(project.document(project.files()[0].id), None);
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn loops_of_links_end() {
        let folder = Folder::new(&[("a/b.py", "")]);
        symlink(folder.path("a"), folder.path("a/again")).expect("a link");
        symlink("loop.py", folder.path("loop.py")).expect("a link");
        let project = folder.project(&[""]);
        assert_eq!(all(&project), ["a/b.py"]);
        let [problem] = project.problems() else { panic!("{:?}", project.problems()) };
        assert!(problem.path.ends_with("loop.py"));
        assert!(problem.what.starts_with("the link leads nowhere: "), "{}", problem.what);

        let project = folder.project(&["loop.py"]);
        let problem = read(&project, "loop.py").expect_err("no file");
        assert!(problem.what.starts_with("can't be read: "), "{}", problem.what);
    }

    #[test]
    fn links_to_files_count_and_links_to_folders_are_not_followed() {
        let elsewhere = Folder::new(&[("x.py", "elsewhere"), ("d/y.py", "")]);
        let folder = Folder::new(&[("a.py", "")]);
        symlink(elsewhere.path("x.py"), folder.path("x.py")).expect("a link");
        symlink(elsewhere.path("d"), folder.path("d")).expect("a link");
        let project = folder.project(&[""]);
        assert_eq!(all(&project), ["a.py", "x.py"]);
        assert_eq!(read(&project, "x.py").as_deref(), Ok("elsewhere"));
        assert_eq!(all(&folder.project(&["d"])), ["y.py"], "unless named");
    }

    #[test]
    fn an_unreadable_file_is_a_problem_of_its_own() {
        let folder = Folder::new(&[("a.py", ""), ("b.py", ""), ("locked/c.py", "")]);
        for path in ["a.py", "locked"] {
            fs::set_permissions(folder.path(path), fs::Permissions::from_mode(0o000)).expect("an own file");
        }
        if fs::read(folder.path("a.py")).is_ok() {
            return; // The superuser reads everything.
        }
        let project = folder.project(&[""]);
        assert_eq!(all(&project), ["a.py", "b.py"]);
        assert!(read(&project, "a.py").is_err());
        assert!(read(&project, "b.py").is_ok());
        assert!(project.problems()[0].path.ends_with("locked"));
        fs::set_permissions(folder.path("locked"), fs::Permissions::from_mode(0o700)).expect("an own folder");
    }

    #[test]
    fn a_name_that_is_no_unicode_is_a_problem() {
        let folder = Folder::new(&[("a.py", "")]);
        if fs::write(folder.0.path().join(OsStr::from_bytes(b"\xff.py")), "").is_err() {
            return; // Some file systems refuse.
        }
        fs::write(folder.0.path().join(OsStr::from_bytes(b"\xff.txt")), "").expect("a new file");
        let project = folder.project(&[""]);
        assert_eq!(all(&project), ["a.py"]);
        let [problem] = project.problems() else { panic!("{:?}", project.problems()) };
        assert_eq!(problem.what, "its path is not UTF-8");
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = Folder::new(&[("a.py", "")]);
        let made = std::process::Command::new("mkfifo").arg(folder.path("pipe.py")).status();
        if !made.is_ok_and(|status| status.success()) {
            return; // There is no `mkfifo` here.
        }
        assert_eq!(all(&folder.project(&[""])), ["a.py"]);
        let project = folder.project(&["pipe.py"]);
        assert_eq!(read(&project, "pipe.py").expect_err("a pipe").what, "is not a regular file");
    }

    #[test]
    fn paths_with_dots_and_links_are_the_same_place() {
        let folder = Folder::new(&[("a/b.py", ""), ("c/d.py", "")]);
        symlink(folder.path("a"), folder.path("link")).expect("a link");
        for path in ["a", "a/", "./a", "c/../a", "link", "link/."] {
            assert_eq!(all(&folder.project(&[path])), ["b.py"], "{path}");
        }
        let project = folder.project(&["a"]);
        assert!(project.find(&folder.path("c/../link/b.py")).is_some());
        assert!(project.find(Path::new("/nowhere/b.py")).is_none());
    }
}
