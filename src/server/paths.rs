//! Between the client's URIs and paths of this machine.

use std::path::{Path, PathBuf};

use lsp_types::Uri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::project::locate;

/// What is escaped in the path of a URI.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The folder that documents without a file are thought to be in, each in a folder of its own. It does not exist.
const UNTITLED: &str = "/untitled-documents";

/// A document's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file, which need not exist yet.
    File(PathBuf),
    /// An editor's buffer that has no file yet, under a path that nothing else has.
    Untitled(PathBuf),
}

impl Place {
    /// Where the document of a URI is. Nothing for other schemes, such as those of version control.
    pub(super) fn of(uri: &Uri) -> Option<Self> {
        if let Some(path) = file(uri) {
            return Some(Self::File(locate(&path).unwrap_or(path)));
        }
        let name = uri.as_str().strip_prefix("untitled:")?;
        let folder: String = utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC).to_string();
        let path = Path::new(UNTITLED).join(folder).join("untitled.py");
        Some(Self::Untitled(std::path::absolute(&path).unwrap_or(path)))
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Untitled(path) => path,
        }
    }
}

/// The path of a `file` URI as the client writes it: links in it are not followed.
pub(super) fn file(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // The part up to the first slash is a host; only this one's files can be read.
    let (host, _) = rest.split_once('/')?;
    if !matches!(host, "" | "localhost") {
        return None;
    }
    let path = percent_decode_str(&rest[host.len()..]).decode_utf8().ok()?;
    // `/c:/folder`
    let drive = path.strip_prefix('/').filter(|rest| cfg!(windows) && rest.as_bytes().get(1) == Some(&b':'));
    Some(PathBuf::from(drive.unwrap_or(&path)))
}

/// The URI of a file.
pub(super) fn uri(path: &Path) -> Option<Uri> {
    let path = path.to_str()?;
    let path = if cfg!(windows) { path.trim_start_matches(r"\\?\").replace('\\', "/") } else { path.into() };
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", utf8_percent_encode(&path, ESCAPED)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(uri: &str) -> Uri {
        uri.parse().expect("a URI")
    }

    #[test]
    #[cfg(unix)]
    fn paths_and_uris_lead_to_each_other() {
        for path in ["/a/b.py", "/with space/ü#%?[1].py", "/c:/x.py"] {
            let uri = uri(Path::new(path)).expect("it can be written");
            assert_eq!(file(&uri).as_deref(), Some(Path::new(path)), "{uri:?}");
        }
        assert_eq!(file(&parse("file:///a%20b/%C3%BC.py")).as_deref(), Some(Path::new("/a b/ü.py")));
        assert_eq!(file(&parse("file://localhost/a.py")).as_deref(), Some(Path::new("/a.py")));
    }

    #[test]
    fn what_is_no_file_of_this_machine_has_no_path() {
        for other in
            ["git:/a/b.py?ref", "file://server/share/a.py", "https://example.org/a.py", "file:///%ff.py"]
        {
            assert_eq!(file(&parse(other)), None, "{other}");
        }
    }

    #[test]
    fn untitled_documents_are_apart() {
        let place = |uri| Place::of(&parse(uri)).expect("it has a place");
        let (one, two) = (place("untitled:Untitled-1"), place("untitled:Untitled-2"));
        assert_ne!(one.path().parent(), two.path().parent());
        assert!(matches!(one, Place::Untitled(_)));
        assert_eq!(Place::of(&parse("git:/a.py")), None);
    }
}
