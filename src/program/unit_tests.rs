//! Unit tests: what they train is a trial of what programs call. Nobody distributes them.

use super::{ClassRef, Facts};
use crate::project::FileId;
use crate::semantic::ClassId;

/// The classes of test cases.
const TEST_CASES: [&str; 4] = [
    "unittest.TestCase",
    "tensorflow.test.TestCase",
    "absl.testing.absltest.TestCase",
    "absl.testing.parameterized.TestCase",
];

/// What the names of such classes begin with, by which pytest knows them, or end with.
const NAME: &str = "Test";

impl Facts<'_> {
    /// Whether a file is a unit test: it is called like one, and has a class of test cases, or one that is called so.
    pub(super) fn is_unit_test(&self, file: FileId) -> bool {
        let cases = TEST_CASES.map(|name| self.library.lookup(name));
        let module = self.module(file);
        let is_named = |class: ClassId| {
            let name = module.names.text(module.class(class).name);
            name.starts_with(NAME) || name.ends_with(NAME)
        };
        let is_derived = |class: ClassId| {
            let base = self.library_base(ClassRef { file, class });
            base.is_some() && cases.contains(&base)
        };
        let mut classes = (0..module.classes.len()).map(ClassId::new);
        self.modules.is_test(file) && classes.any(|class| is_named(class) || is_derived(class))
    }
}
