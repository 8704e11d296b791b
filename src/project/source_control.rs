//! Where a project's source comes from: the repository, the commit and the branch, from git or from what GitHub says.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Project, root};

/// The revision of the source under version control, for formats that record it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceControl {
    /// Absolute, without credentials.
    pub repository_uri: String,
    /// The commit.
    pub revision: Option<String>,
    /// The branch.
    pub branch: Option<String>,
}

impl Project {
    /// The project's folder in its git repository, with `/` between and behind names; empty where the two are the
    /// same, or where there is no repository.
    #[must_use]
    pub fn folder_in_repository(&self) -> String {
        let repository = root::git_root(&self.root);
        let inner = repository.and_then(|repository| self.root.strip_prefix(repository).ok());
        let names = inner.into_iter().flatten().map(|name| format!("{}/", name.to_string_lossy()));
        names.collect()
    }

    /// Where the source comes from; `None` where nobody knows. Asks git, and the variables that GitHub's runners set.
    #[must_use]
    pub fn source_control(&self, env: impl Fn(&str) -> Option<OsString>) -> Option<SourceControl> {
        let env = |name: &str| env(name)?.into_string().ok().filter(|value| !value.is_empty());
        let git = |arguments: &[&str]| git(&self.root, arguments);
        let server = env("GITHUB_SERVER_URL").zip(env("GITHUB_REPOSITORY"));
        let hosted = server.and_then(|(server, name)| web_address(&format!("{server}/{name}")));
        let remote = root::git_root(&self.root).and_then(|_| {
            let name = git(&["remote"]).and_then(|names| {
                let mut names = names.lines();
                names.clone().find(|name| *name == "origin").or_else(|| names.next()).map(str::to_owned)
            });
            let address = git(&["config", "--get", &format!("remote.{}.url", name?)])?;
            web_address(&address)
        });
        if remote.is_some() && remote != hosted {
            // Elsewhere, or a checkout that the runner did not make.
            return Some(SourceControl {
                repository_uri: remote?,
                revision: git(&["rev-parse", "--verify", "--quiet", "HEAD"]),
                branch: git(&["symbolic-ref", "--short", "--quiet", "HEAD"]),
            });
        }
        Some(SourceControl {
            repository_uri: hosted?,
            revision: git(&["rev-parse", "--verify", "--quiet", "HEAD"]).or_else(|| env("GITHUB_SHA")),
            branch: env("GITHUB_HEAD_REF").or_else(|| env("GITHUB_REF_NAME")),
        })
    }
}

/// What git prints, without the line end; `None` where it fails, is missing, or has nothing to say.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        // Set within hooks, and relative to another folder.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// The address of a repository for a browser, without credentials; `None` for a folder.
fn web_address(remote: &str) -> Option<String> {
    let (scheme, rest) = match remote.split_once("://") {
        Some((scheme @ ("http" | "https"), rest)) => (scheme, rest.to_owned()),
        Some(("ssh" | "git" | "git+ssh", rest)) => {
            // A port of SSH is none of the web server's.
            let (host, path) = rest.split_once('/')?;
            let name = host.rsplit('@').next().unwrap_or(host);
            ("https", format!("{}/{path}", name.split(':').next().unwrap_or(name)))
        }
        Some(_) => return None,
        // `git@host:owner/name`; a single letter is a drive.
        None => {
            let (host, path) = remote.split_once(':')?;
            if host.contains('/') || host.contains('\\') || host.len() < 2 {
                return None;
            }
            ("https", format!("{host}/{}", path.trim_start_matches('/')))
        }
    };
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit('@').next().unwrap_or(host);
    let path = path.split(['?', '#']).next().unwrap_or(path).trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_plain = |text: &str| {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:%+".contains(&byte);
        !text.is_empty() && text.bytes().all(is_safe)
    };
    (is_plain(host) && is_plain(path)).then(|| format!("{scheme}://{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::web_address;

    #[test]
    fn remotes_become_addresses_without_credentials() {
        let same = [
            "https://example.com/o/r",
            "https://example.com/o/r.git",
            "https://user:secret@example.com/o/r.git",
            "https://token@example.com/o/r/?token=x#y",
            "git@example.com:o/r.git",
            "example.com:/o/r",
            "ssh://git@example.com:2222/o/r.git",
            "git://example.com/o/r",
        ];
        for remote in same {
            assert_eq!(web_address(remote).as_deref(), Some("https://example.com/o/r"), "{remote}");
        }
        assert_eq!(web_address("http://h:8080/g/s/r").as_deref(), Some("http://h:8080/g/s/r"));
    }

    #[test]
    fn folders_have_no_address() {
        for remote in ["/srv/r.git", "../r", "file:///srv/r.git", "C:\\r", "r", "https://example.com/"] {
            assert_eq!(web_address(remote), None, "{remote}");
        }
    }
}
