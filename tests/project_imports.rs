//! Which file an import means.

use std::path::PathBuf;

use hvdlint::project::{FileId, FileKind, Imports, ModuleName, SourceFile, Target};

struct Layout {
    files: Vec<SourceFile>,
    imports: Imports,
}

fn layout(relatives: &[&str]) -> Layout {
    let mut relatives = relatives.to_vec();
    relatives.sort_unstable();
    let files: Vec<SourceFile> = (0..)
        .zip(&relatives)
        .map(|(id, relative)| SourceFile {
            id: FileId(id),
            path: PathBuf::from("/home/root").join(relative),
            relative: (*relative).to_owned(),
            kind: if relative.ends_with('i') { FileKind::Stub } else { FileKind::Source },
            name: ModuleName::from("not.used"),
            is_package: relative.ends_with("__init__.py"),
            reported: true,
        })
        .collect();
    let imports = Imports::new(&files);
    Layout { files, imports }
}

impl Layout {
    fn id(&self, relative: &str) -> FileId {
        self.files.iter().find(|file| file.relative == relative).expect("a file of the layout").id
    }

    fn show(&self, target: Target) -> String {
        match target {
            Target::File(id) => self.files[id.index()].relative.clone(),
            Target::Namespace(folder) => format!("{}/", self.imports.folder_path(folder)),
            Target::External => "external".into(),
        }
    }

    /// `..a.b` is a relative import of level 2.
    fn resolve(&self, importer: &str, dotted: &str) -> String {
        let (level, dotted) = split(dotted);
        self.show(self.imports.resolve(self.id(importer), level, dotted))
    }

    fn prefixes(&self, importer: &str, dotted: &str) -> Vec<String> {
        let (level, dotted) = split(dotted);
        let prefixes = self.imports.resolve_prefix(self.id(importer), level, dotted);
        prefixes.into_iter().map(|target| self.show(target)).collect()
    }

    fn from(&self, importer: &str, dotted: &str, name: &str) -> (String, String) {
        let (level, dotted) = split(dotted);
        let (module, submodule) = self.imports.resolve_from(self.id(importer), level, dotted, name);
        (self.show(module), self.show(submodule))
    }
}

fn split(dotted: &str) -> (u32, &str) {
    let name = dotted.trim_start_matches('.');
    (u32::try_from(dotted.len() - name.len()).expect("a few dots"), name)
}

fn pair(module: &str, submodule: &str) -> (String, String) {
    (module.into(), submodule.into())
}

#[test]
fn a_script_imports_its_neighbour() {
    let project = layout(&["01/main.py", "01/model.py", "02/main.py", "02/model.py", "model.py"]);
    assert_eq!(project.resolve("01/main.py", "model"), "01/model.py");
    assert_eq!(project.resolve("02/main.py", "model"), "02/model.py");
    assert_eq!(project.resolve("model.py", "main"), "external", "not a folder above the importer");
}

#[test]
fn a_script_imports_what_lies_above_it() {
    let project = layout(&["examples/a/main.py", "examples/common.py", "lib/__init__.py", "lib/net.py"]);
    assert_eq!(project.resolve("examples/a/main.py", "common"), "examples/common.py");
    assert_eq!(project.resolve("examples/a/main.py", "lib.net"), "lib/net.py");
    assert_eq!(project.prefixes("examples/a/main.py", "lib.net"), ["lib/__init__.py", "lib/net.py"]);
}

#[test]
fn a_package_comes_before_a_module_before_a_folder() {
    let project = layout(&["a.py", "a/__init__.py", "b.py", "b/c.py", "d/e.py", "f.py", "f.pyi", "g.pyi"]);
    assert_eq!(project.resolve("f.py", "a"), "a/__init__.py");
    assert_eq!(project.resolve("f.py", "b"), "b.py");
    assert_eq!(project.resolve("f.py", "b.c"), "external", "the module hides the folder");
    assert_eq!(project.resolve("f.py", "d"), "d/");
    assert_eq!(project.resolve("f.py", "d.e"), "d/e.py");
    assert_eq!(project.resolve("a.py", "f"), "f.py", "not the stub");
    assert_eq!(project.resolve("a.py", "g"), "g.pyi", "a stub is better than nothing");
}

#[test]
fn the_examples_of_a_library_mean_what_all_its_users_mean() {
    let project = layout(&[
        "horovod/__init__.py",
        "horovod/tensorflow/__init__.py",
        "horovod/tensorflow/ops.py",
        "examples/mnist.py",
    ]);
    assert_eq!(project.resolve("examples/mnist.py", "horovod.tensorflow"), "external");
    assert_eq!(
        project.resolve("horovod/tensorflow/ops.py", "horovod.tensorflow"),
        "horovod/tensorflow/__init__.py"
    );
}

#[test]
fn what_is_missing_is_external_and_the_rest_is_told() {
    let project = layout(&["main.py", "pkg/__init__.py", "pkg/a.py"]);
    assert_eq!(project.resolve("main.py", "pkg.b"), "external");
    assert_eq!(project.prefixes("main.py", "pkg.b"), ["pkg/__init__.py"]);
    assert_eq!(project.resolve("main.py", "pkg.a.b"), "external", "a module has no submodules");
    assert_eq!(project.prefixes("main.py", "pkg.a.b"), ["pkg/__init__.py", "pkg/a.py"]);
    assert_eq!(project.prefixes("main.py", "torch.nn"), Vec::<String>::new());
    assert_eq!(project.resolve("main.py", ""), "external");
}

#[test]
fn relative_imports_count_folders() {
    let project = layout(&["p/__init__.py", "p/a.py", "p/q/__init__.py", "p/q/b.py", "p/q/c.py", "top.py"]);
    assert_eq!(project.resolve("p/q/b.py", ".c"), "p/q/c.py");
    assert_eq!(project.resolve("p/q/b.py", "."), "p/q/__init__.py");
    assert_eq!(
        project.resolve("p/q/__init__.py", ".c"),
        "p/q/c.py",
        "a package's own folder is its first level"
    );
    assert_eq!(project.resolve("p/q/b.py", "..a"), "p/a.py");
    assert_eq!(project.resolve("p/q/b.py", "..q.c"), "p/q/c.py");
    assert_eq!(project.resolve("p/q/b.py", ".."), "p/__init__.py");
    assert_eq!(project.resolve("p/q/b.py", "...top"), "top.py");
    assert_eq!(project.resolve("p/q/b.py", "....top"), "external", "beyond the root");
    assert_eq!(project.prefixes("p/q/b.py", "..q.c"), ["p/q/__init__.py", "p/q/c.py"]);
}

#[test]
fn relative_imports_work_in_folders_without_init() {
    let project = layout(&["n/a.py", "n/b.py", "n/m/c.py"]);
    assert_eq!(project.resolve("n/a.py", ".b"), "n/b.py");
    assert_eq!(project.resolve("n/a.py", "."), "n/");
    assert_eq!(project.from("n/a.py", ".", "b"), pair("n/", "n/b.py"));
    assert_eq!(project.resolve("n/m/c.py", "..a"), "n/a.py");
}

#[test]
fn names_from_a_module_may_be_submodules() {
    let project = layout(&["main.py", "p/__init__.py", "p/a.py", "solo.py"]);
    assert_eq!(project.from("main.py", "p", "a"), pair("p/__init__.py", "p/a.py"));
    assert_eq!(project.from("main.py", "p", "function"), pair("p/__init__.py", "external"));
    assert_eq!(project.from("main.py", "solo", "function"), pair("solo.py", "external"));
    assert_eq!(project.from("main.py", "torch", "nn"), pair("external", "external"));
}

#[test]
fn the_folder_that_has_the_submodule_is_meant() {
    let project = layout(&["05/main.py", "05/utils/x.py", "utils/__init__.py", "utils/y.py"]);
    assert_eq!(project.from("05/main.py", "utils", "x"), pair("05/utils/", "05/utils/x.py"));
    assert_eq!(project.from("05/main.py", "utils", "y"), pair("utils/__init__.py", "utils/y.py"));
    assert_eq!(project.resolve("05/main.py", "utils"), "utils/__init__.py", "a package before a bare folder");
    assert_eq!(project.resolve("05/main.py", "utils.y"), "utils/y.py");
}

#[test]
fn an_attribute_of_a_near_module_comes_before_a_far_submodule() {
    let project = layout(&["05/main.py", "05/utils.py", "utils/x.py"]);
    assert_eq!(project.from("05/main.py", "utils", "x"), pair("05/utils.py", "external"));
    assert_eq!(
        project.resolve("05/main.py", "utils.x"),
        "utils/x.py",
        "an import statement names modules only"
    );
}

#[test]
fn a_package_does_not_look_into_itself_before_the_rest() {
    let project =
        layout(&["pkg/__init__.py", "pkg/a.py", "pkg/utils.py", "utils.py", "pkg/only.py", "pkg/queue.py"]);
    assert_eq!(project.resolve("pkg/a.py", "utils"), "utils.py");
    assert_eq!(project.resolve("pkg/a.py", "only"), "pkg/only.py", "as Python 2, or run as a script");
    assert_eq!(project.resolve("pkg/a.py", "queue"), "external", "the standard library's");
    assert_eq!(project.resolve("pkg/a.py", "pkg.queue"), "pkg/queue.py");
}

#[test]
fn a_script_can_hide_the_standard_library_and_a_folder_can_not() {
    let project = layout(&["main.py", "random.py", "queue/a.py", "time.py"]);
    assert_eq!(project.resolve("main.py", "random"), "random.py");
    assert_eq!(project.resolve("main.py", "queue"), "external");
    assert_eq!(project.resolve("main.py", "queue.a"), "external");
    assert_eq!(project.resolve("main.py", "time"), "external", "built into the interpreter");
}

#[test]
fn a_library_is_hidden_by_its_own_sources_and_not_by_a_folder() {
    let examples = layout(&["keras/callbacks.py", "keras/mnist.py", "tensorflow/main.py", "main.py"]);
    assert_eq!(examples.resolve("main.py", "keras"), "external");
    assert_eq!(examples.resolve("main.py", "keras.callbacks"), "external");
    assert_eq!(examples.resolve("tensorflow/main.py", "tensorflow"), "external");
    let packages = layout(&[
        "models/tensorflow/__init__.py",
        "models/tensorflow/bert/__init__.py",
        "models/tensorflow/bert/train.py",
    ]);
    assert_eq!(packages.resolve("models/tensorflow/bert/train.py", "tensorflow"), "external");
    let sources = layout(&["tensorflow/__init__.py", "tensorflow/python/ops.py", "main.py"]);
    assert_eq!(sources.resolve("main.py", "tensorflow.python.ops"), "tensorflow/python/ops.py");
}

#[test]
fn a_script_named_after_a_library_imports_the_library() {
    let project = layout(&["keras.py", "main.py"]);
    assert_eq!(project.resolve("keras.py", "keras"), "external");
    assert_eq!(project.resolve("main.py", "keras"), "keras.py");
}

#[test]
fn the_src_folder_is_looked_into_from_anywhere() {
    let project = layout(&["src/pkg/__init__.py", "src/pkg/net.py", "scripts/train.py", "tests/test_net.py"]);
    assert_eq!(project.resolve("scripts/train.py", "pkg.net"), "src/pkg/net.py");
    assert_eq!(project.resolve("tests/test_net.py", "src.pkg.net"), "src/pkg/net.py");
}

#[test]
fn a_root_that_is_a_package_is_known_by_its_name() {
    let project = layout(&["__init__.py", "net.py", "queue.py", "sub/__init__.py", "sub/a.py"]);
    assert_eq!(project.resolve("sub/a.py", "root.net"), "net.py");
    assert_eq!(project.resolve("sub/a.py", "root"), "__init__.py");
    assert_eq!(project.prefixes("net.py", "root.sub.a"), ["__init__.py", "sub/__init__.py", "sub/a.py"]);
    assert_eq!(
        project.resolve("sub/a.py", "queue"),
        "external",
        "a package doesn't hide the standard library"
    );
    let project = layout(&["net.py", "main.py"]);
    assert_eq!(project.resolve("main.py", "root.net"), "external", "not a package");
}

#[test]
fn a_script_without_an_ending_can_not_be_imported() {
    let project = layout(&["train", "train.py", "run", "main.py"]);
    assert_eq!(project.resolve("main.py", "train"), "train.py");
    assert_eq!(project.resolve("main.py", "run"), "external");
}

#[test]
fn ten_thousand_files_are_no_burden() {
    let paths: Vec<String> = (0..10_000).map(|n| format!("a/b{}/c{}/m{n}.py", n % 100, n % 7)).collect();
    let project = layout(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    let start = std::time::Instant::now();
    for file in &project.files {
        let name = file.relative.trim_end_matches(".py").replace('/', ".");
        assert_eq!(project.imports.resolve(file.id, 0, &name), Target::File(file.id));
    }
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
