//! The drawing as a picture: Graphviz's `dot` does the work.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use thiserror::Error;

/// Why there is no picture. The text of each names the next step.
#[derive(Debug, Error)]
pub enum SvgError {
    /// There is no such program.
    #[error(
        "Graphviz was not found: svg needs its program `{program}` on PATH\n\
         help: install Graphviz, or use `--format dot` or `--format mermaid`"
    )]
    NotInstalled {
        /// What was looked for.
        program: String,
    },
    /// The program ended without success.
    #[error(
        "Graphviz could not draw the graph: {message}\n\
         help: use `--format dot` to see what it was given, or `--format mermaid`"
    )]
    Refused {
        /// What it said.
        message: String,
    },
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What `program -Tsvg` makes of `dot`.
pub(super) fn render(dot: &str, program: &str) -> Result<String, SvgError> {
    let child = Command::new(program)
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SvgError::NotInstalled { program: program.to_owned() });
        }
        other => other?,
    };
    let mut input = child.stdin.take().expect("standard input is piped");
    let output = std::thread::scope(|scope| {
        // A program that refuses may not read to the end; what it says then matters more than the broken pipe.
        scope.spawn(move || input.write_all(dot.as_bytes()).ok());
        child.wait_with_output()
    })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let message = if message.is_empty() { output.status.to_string() } else { message };
        return Err(SvgError::Refused { message });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_graphviz_is_explained() {
        let error = render("digraph {}", "there-is-no-such-graphviz").expect_err("not there");
        assert_eq!(
            error.to_string(),
            "Graphviz was not found: svg needs its program `there-is-no-such-graphviz` on PATH\n\
             help: install Graphviz, or use `--format dot` or `--format mermaid`"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_refusal_is_passed_on() {
        let error = render("digraph {}", "false").expect_err("always fails");
        assert!(matches!(error, SvgError::Refused { .. }));
    }
}
