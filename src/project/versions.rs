//! What a text says of the versions of a library: to an installer, as the module of a cluster or as an image is named, and
//! in words.

use std::borrow::Cow;
use std::fmt;

/// A version's first two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The first of NVIDIA's images of TensorFlow, which count by year and month, that has TensorFlow 2.11.
const NVIDIAS_2_11: Version = Version(23, 1);

/// What a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Installers, images and job scripts do what it says.
    Commands,
    /// People read it: it may also say `TensorFlow 2.4` and mean that.
    Words,
}

/// Whether a text that says which versions of a package are wanted, as in `horovod==0.18.1`, rules this version and
/// all later ones out; nothing where it does not speak of its versions.
pub(super) fn is_less(text: &str, manner: Manner, package: &str, version: Version) -> Option<bool> {
    let text = resolved(text).to_ascii_lowercase();
    let spoken = (manner == Manner::Words).then(|| spoken(&text, package));
    let required = required(&text, package).map(|own| own.limit);
    let limits = required.chain(loaded(&text, package)).chain(spoken.into_iter().flatten());
    let mut answers = limits.map(|limit| limit.is_below(version));
    let first = answers.next()?;
    // Another place may ask for others: then nobody knows.
    Some(first && answers.all(|is_below| is_below))
}

/// Whether a text that tells an installer which versions of a package to take, as in `keras>=3`, rules all earlier ones
/// out; nothing where it does not speak of its versions.
pub(super) fn is_at_least(text: &str, package: &str, version: Version) -> Option<bool> {
    let text = resolved(text).to_ascii_lowercase();
    let mut answers = required(&text, package).map(|own| own.lowest.is_some_and(|lowest| lowest >= version));
    let first = answers.next()?;
    Some(first && answers.all(|is_above| is_above))
}

/// The text with what its variables stand for: `ENV HOROVOD_VERSION=0.18.1` of an image, `version=2.4` of a script.
fn resolved(text: &str) -> Cow<'_, str> {
    let mut resolved = Cow::Borrowed(text);
    if !text.contains('$') {
        return resolved;
    }
    for line in text.lines() {
        let line = line.trim_start();
        let assigned =
            ["ENV ", "ARG ", "export "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
        let Some((name, value)) = assigned.trim_start().split_once(['=', ' ']) else { continue };
        let value = value.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'']);
        let is_version = value.starts_with(|first: char| first.is_ascii_digit());
        if is_version && !name.is_empty() && name.chars().all(|own| own.is_alphanumeric() || own == '_') {
            let used = [format!("${{{name}}}"), format!("${name}")];
            for used in used.iter().filter(|used| text.contains(used.as_str())) {
                resolved = Cow::Owned(resolved.replace(used.as_str(), value));
            }
        }
    }
    resolved
}

/// What is said to installers: `horovod>=0.16,<0.21`.
fn required(text: &str, package: &str) -> impl Iterator<Item = Allowed> {
    text.match_indices(package).filter_map(|(at, _)| {
        let is_in_word = |other: char| other.is_alphanumeric() || matches!(other, '-' | '_' | '.' | '/');
        let is_whole = !text[..at].ends_with(is_in_word);
        is_whole.then(|| allowed(&text[at + package.len()..])).flatten()
    })
}

/// The versions of modules that a job loads, and of images: `module load tensorflow/gpu-2.4.1-py38`,
/// `tensorflow/tensorflow:2.3.0-gpu`.
fn loaded(text: &str, package: &str) -> impl Iterator<Item = Limit> {
    let lines = text.lines().filter(move |line| line.contains(package));
    lines.flat_map(move |line| {
        let words =
            line.split(|other: char| other.is_whitespace() || matches!(other, '`' | '"' | '\'' | ';'));
        let is_loading = words.clone().any(|word| matches!(word, "module" | "ml"));
        words.filter_map(move |word| {
            let at = word.rfind(package)?;
            let (before, behind) = (&word[..at], &word[at + package.len()..]);
            if let Some(tag) = behind.strip_prefix(':') {
                let own = version(tag).filter(|_| before.ends_with('/'))?;
                return Some(match before.ends_with("nvidia/") {
                    true if own < NVIDIAS_2_11 => Limit::Before(Version(2, 11)),
                    true => Limit::Open,
                    false => Limit::Newest(own),
                });
            }
            let behind =
                is_loading.then(|| behind.trim_start_matches(|other: char| !other.is_ascii_digit()))?;
            version(behind).map(Limit::Newest)
        })
    })
}

/// What is said in words: `TensorFlow 2.4`, and not `TensorFlow 2.4 or later`.
fn spoken(text: &str, package: &str) -> impl Iterator<Item = Limit> {
    text.match_indices(package).filter_map(|(at, _)| {
        let behind = text[at + package.len()..].trim_start_matches([' ', '*', '_', '`', '(', ':', '|']);
        let behind = behind.strip_prefix("version").unwrap_or(behind).trim_start();
        let behind = behind.strip_prefix('v').unwrap_or(behind);
        let own = version(behind)?;
        let rest =
            behind.trim_start_matches(|other: char| other.is_ascii_digit() || matches!(other, '.' | 'x'));
        let is_open = rest.starts_with('+')
            || ["or", "and"].iter().any(|word| {
                let next = rest.trim_start().strip_prefix(word).map(str::trim_start);
                let later = ["later", "above", "higher", "newer", "greater", "up"];
                next.is_some_and(|next| later.iter().any(|later| next.starts_with(later)))
            });
        Some(if is_open { Limit::Open } else { Limit::Newest(own) })
    })
}

/// The version that a text begins with, if it tells two numbers.
fn version(text: &str) -> Option<Version> {
    let length = text.find(|other: char| !other.is_ascii_digit() && other != '.').unwrap_or(text.len());
    let mut numbers = text[..length].split('.').map_while(|part| part.parse().ok());
    Some(Version(numbers.next()?, numbers.next()?))
}

/// Up to where versions are allowed.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// There is no last one.
    Open,
    Newest(Version),
    Before(Version),
}

impl Limit {
    fn is_below(self, version: Version) -> bool {
        match self {
            Self::Open => false,
            Self::Newest(newest) => newest < version,
            Self::Before(first) => first <= version,
        }
    }
}

/// The versions that an installer may take.
#[derive(Clone, Copy, Debug)]
struct Allowed {
    lowest: Option<Version>,
    limit: Limit,
}

/// What the text behind a package's name says of its versions, if it says anything.
fn allowed(rest: &str) -> Option<Allowed> {
    let rest = rest.trim_start_matches([' ', '\t']);
    let mut rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1.trim_start_matches(' '),
        None => rest,
    };
    // `horovod = "==0.19.5"` of a Pipfile.
    let assigned = rest.strip_prefix('=').map(|own| own.trim_start_matches(' '));
    if let Some(quoted) = assigned.and_then(|own| own.strip_prefix(['"', '\''])) {
        rest = quoted;
    }
    let mut found: Option<Allowed> = None;
    loop {
        let length =
            rest.find(|other| !matches!(other, '=' | '<' | '>' | '~' | '!' | '^')).unwrap_or(rest.len());
        let (operator, behind) = rest.split_at(length);
        let behind = behind.trim_start_matches([' ', '"', '\'']);
        let length =
            behind.find(|other: char| !other.is_ascii_digit() && other != '.').unwrap_or(behind.len());
        let (number, behind) = behind.split_at(length);
        let mut numbers = number.split('.').map_while(|part| part.parse().ok());
        let Some(major) = numbers.next().filter(|_| !operator.is_empty()) else { return found };
        let own = numbers.next().map_or(Version(major, 0), |minor| Version(major, minor));
        let before = found.unwrap_or(Allowed { lowest: None, limit: Limit::Open });
        let limit = match operator {
            // Conda's, and not the assignment of a number. `~=1.2` leaves the second number open.
            "=" if !number.contains('.') => return found,
            "==" | "===" | "=" | "<=" => Limit::Newest(own),
            "~=" if number.split('.').count() > 2 => Limit::Newest(own),
            // Poetry's, which in front of 1.0 leaves only the third number open.
            "^" if major == 0 => Limit::Before(Version(0, own.1 + 1)),
            "~=" | "^" => Limit::Before(Version(major + 1, 0)),
            "<" => Limit::Before(own),
            _ => before.limit,
        };
        let lowest = if matches!(operator, "<" | "<=" | "!=") { before.lowest } else { Some(own) };
        found = Some(Allowed { lowest, limit });
        match behind.trim_start_matches(['*', ' ']).strip_prefix(',') {
            Some(next) => rest = next.trim_start_matches(' '),
            None => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_from_above_rule_later_versions_out() {
        let horovod = |text| is_less(text, Manner::Commands, "horovod", Version(0, 21));
        let older = [
            "horovod==0.18.1",
            "tensorflow==1.15\nhorovod == 0.18.1\n",
            "horovod[tensorflow]==0.16.1",
            "horovod>=0.16,<0.21",
            "  - horovod=0.19\n",
            "RUN HOROVOD_WITH_TENSORFLOW=1 pip install --no-cache-dir horovod==0.20.3",
            "horovod~=0.19.2",
            "horovod<=0.20",
            "horovod = \"==0.19.5\"",
            "horovod = \"^0.19\"",
        ];
        for text in older {
            assert_eq!(horovod(text), Some(true), "{text}");
        }
    }

    #[test]
    fn other_texts_rule_nothing_out() {
        let horovod = |text| is_less(text, Manner::Commands, "horovod", Version(0, 21));
        for text in ["horovod>=0.18", "horovod==0.21.0", "horovod~=0.19", "horovod<0.22", "horovod!=0.19.1"] {
            assert_eq!(horovod(text), Some(false), "{text}");
        }
        // One asks for an old version, another for a new one.
        assert_eq!(horovod("horovod==0.18\nhorovod==0.28.1"), Some(false));
        for text in [
            "horovod",
            "import horovod.tensorflow as hvd",
            "my-horovod==0.18",
            "horovod-gpu==0.1",
            "horovod==",
        ] {
            assert_eq!(horovod(text), None, "{text}");
        }
    }

    #[test]
    fn limits_from_below_rule_earlier_versions_out() {
        let keras = |text| is_at_least(text, "keras", Version(3, 0));
        for text in ["keras>=3", "keras==3.4.1", "\"keras~=3.0\",", "keras = \"^3.1\"", "keras>3.0,<4"] {
            assert_eq!(keras(text), Some(true), "{text}");
        }
        for text in ["keras>=2.4", "keras<3", "keras!=3.0", "keras==2.15.0\nkeras>=3"] {
            assert_eq!(keras(text), Some(false), "{text}");
        }
        for text in ["keras", "keras-cv==3.0", "import keras"] {
            assert_eq!(keras(text), None, "{text}");
        }
        let tensorflow = |text| is_at_least(text, "tensorflow", Version(2, 16));
        assert_eq!(tensorflow("  \"tensorflow[and-cuda]>=2.16,<3\","), Some(true));
        assert_eq!(tensorflow("tensorflow-datasets>=4.9"), None);
    }

    #[test]
    fn modules_images_and_variables_name_versions() {
        let tensorflow = |text| is_less(text, Manner::Commands, "tensorflow", Version(2, 11));
        for text in [
            "module load tensorflow/2.4",
            "#SBATCH -n 4\nmodule load cuda/11.2 TensorFlow/2.5.0-fosscuda-2020b\n",
            "module load tensorflow/intel-1.13.1-py36",
            "ml datascience/tensorflow-2.3",
            "FROM tensorflow/tensorflow:2.3.0-gpu",
            "singularity exec docker://nvcr.io/nvidia/tensorflow:21.07-tf2-py3 python train.py",
            "ENV TENSORFLOW_VERSION=2.1.0\nRUN pip install tensorflow==${TENSORFLOW_VERSION}",
            "ARG VERSION 2.1.0\nRUN pip install tensorflow==$VERSION",
        ] {
            assert_eq!(tensorflow(text), Some(true), "{text}");
        }
        for text in [
            "module load tensorflow/2.12",
            "FROM tensorflow/tensorflow:2.15.0",
            "FROM nvcr.io/nvidia/tensorflow:23.03-tf2-py3",
            "module load tensorflow/2.4\nmodule load tensorflow/2.15",
        ] {
            assert_eq!(tensorflow(text), Some(false), "{text}");
        }
        for text in
            ["module load tensorflow", "ls data/tensorflow/2.4", "FROM tensorflow/tensorflow:latest-gpu"]
        {
            assert_eq!(tensorflow(text), None, "{text}");
        }
        let horovod = |text| is_less(text, Manner::Commands, "horovod", Version(0, 21));
        assert_eq!(horovod("module load Horovod/0.22.1-fosscuda-2020b-TensorFlow-2.5.0"), Some(false));
        assert_eq!(horovod("FROM horovod/horovod:0.19.1-tf2.1.0-torch-mxnet1.6.0-py3.6-gpu"), Some(true));
    }

    #[test]
    fn people_are_told_in_words() {
        let horovod = |text| is_less(text, Manner::Words, "horovod", Version(0, 21));
        for text in ["Tested with Horovod 0.19.5.", "- **Horovod**: v0.18", "| horovod | 0.16.1 |"] {
            assert_eq!(horovod(text), Some(true), "{text}");
        }
        for text in ["Horovod 0.18+", "horovod 0.16 or later is needed", "Horovod 0.28.1"] {
            assert_eq!(horovod(text), Some(false), "{text}");
        }
        assert_eq!(horovod("We use Horovod on 4 GPUs."), None);
        assert_eq!(is_less("Horovod 0.19", Manner::Commands, "horovod", Version(0, 21)), None);
    }
}
