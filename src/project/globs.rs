//! Path patterns mean what they mean in `.gitignore`: a pattern without `/` names files and folders anywhere, one
//! with `/` is relative to the project root, and a folder stands for all that is in it.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use thiserror::Error;

/// Why a pattern is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{pattern}` is not a path pattern: {reason}")]
pub struct GlobProblem {
    /// As written.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Some path patterns, compiled.
#[derive(Clone, Debug)]
pub struct PathGlobs(GlobSet);

impl PathGlobs {
    /// Compiles `patterns`.
    ///
    /// # Errors
    ///
    /// The first pattern that isn't one.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, GlobProblem> {
        let mut set = GlobSetBuilder::new();
        let problem = |pattern: &str, error: &globset::Error| GlobProblem {
            pattern: pattern.into(),
            reason: error.kind().to_string(),
        };
        for pattern in patterns {
            let path = pattern.trim_end_matches('/').trim_start_matches("./");
            let anchored = match path.strip_prefix('/') {
                Some(path) => path.to_owned(),
                None if path.contains('/') => path.to_owned(),
                None => format!("**/{path}"),
            };
            let glob = GlobBuilder::new(&anchored).literal_separator(true).build();
            set.add(glob.map_err(|error| problem(pattern, &error))?);
        }
        set.build().map(Self).map_err(|error| problem(error.glob().unwrap_or_default(), &error))
    }

    /// Whether a pattern names this very file or folder, given relative to the project root.
    #[must_use]
    pub fn names(&self, relative: &Path) -> bool {
        self.0.is_match(relative)
    }

    /// Whether a pattern names this file or folder or one that it is in.
    #[must_use]
    pub fn covers(&self, relative: &Path) -> bool {
        relative.ancestors().any(|path| !path.as_os_str().is_empty() && self.names(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_read_like_gitignore() {
        let covers =
            |pattern, path: &str| PathGlobs::new([pattern]).expect("a valid pattern").covers(Path::new(path));
        assert!(covers("gen", "gen/a.py"));
        assert!(covers("gen", "x/gen/b/a.py"));
        assert!(covers("gen/", "x/gen/b/a.py"));
        assert!(covers("*_pb2.py", "x/a_pb2.py"));
        assert!(covers("x/gen", "x/gen/a.py"));
        assert!(covers("./x/*.py", "x/a.py"));
        assert!(covers("x/**", "x/y/a.py"));
        assert!(covers("/a.py", "a.py"));

        assert!(!covers("/a.py", "x/a.py"), "a leading slash means the root");
        assert!(!covers("gen", "generated/a.py"), "names are whole");
        assert!(!covers("x/gen", "y/x/gen/a.py"), "a slash means relative to the root");
        assert!(!covers("x/*.py", "x/y/a.py"), "a star stays within one folder");
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let problem = PathGlobs::new(["ok", "a[b"]).expect_err("an unclosed class");
        assert!(problem.to_string().starts_with("`a[b` is not a path pattern: "), "{problem}");
    }
}
