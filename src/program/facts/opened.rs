//! The files that calls open, and what for.

use super::super::object::{Literal, Object};
use super::Facts;
use crate::api::{Effect, Kind, Symbol};
use crate::project::FileId;
use crate::semantic::{Argument, Call, CallId, Value, ValueId};

/// The parameter that says what a file is opened for.
const MODE: &str = "mode";

/// The class of what is read and written from one end to the other.
const STREAM: &str = "io.IOBase";

/// The parameters for the path of a log.
const LOG_FILES: [&str; 2] = ["filename", "sink"];

/// The method by which a dataset keeps what it has read.
const CACHE: &str = "tensorflow.data.Dataset.cache";

/// Whether a mode of opening a file writes: `"w"`, `"r+"`, `"x:gz"`.
#[must_use]
pub fn writes_by_mode(mode: &str) -> bool {
    without_compression(mode).contains(['w', 'a', 'x', '+'])
}

/// What a mode says in front of the compression of an archive: `"r:xz"` reads.
fn without_compression(mode: &str) -> &str {
    mode.split([':', '|']).next().unwrap_or(mode)
}

impl<'a> Facts<'a> {
    /// Whether a call opens a file: a stream, or `h5py.File`.
    #[must_use]
    pub fn opens(&self, file: FileId, call: &Call) -> bool {
        self.opener(file, call).is_some()
    }

    /// Whether a call opens a file that is a stream of text or bytes: `open`, `gzip.open`, `tf.io.gfile.GFile`.
    #[must_use]
    pub fn opens_stream(&self, file: FileId, call: &Call) -> bool {
        let stream = self.library.lookup(STREAM);
        self.opener(file, call)
            .and_then(|own| self.made_by(own))
            .zip(stream)
            .is_some_and(|(made, stream)| self.library.is_subclass(made, stream))
    }

    /// The path object that a call is a method of: `path.open('w')`.
    #[must_use]
    pub fn path_asked(&self, file: FileId, call: &Call) -> Option<ValueId> {
        self.receiver(file, call).filter(|&own| self.may_be(file, own, Kind::Path))
    }

    fn opener(&self, file: FileId, call: &Call) -> Option<&'a Symbol> {
        let library = self.library;
        let stream = library.lookup(STREAM)?;
        let first = usize::from(self.path_asked(file, call).is_none());
        let is_file = |class: &Symbol| {
            library.is_subclass(class, stream) || library.kind_of_class(class) == Kind::FileWriter
        };
        let opens = |symbol: &&Symbol| {
            symbol.has(Effect::ReadsFile)
                && symbol.position_of(MODE).is_some_and(|position| position >= first)
                && self.made_by(symbol).is_some_and(is_file)
        };
        self.objects(file, call.callee).find_map(|(_, object)| self.symbol(object).filter(opens))
    }

    /// The class of what a call of a symbol makes.
    fn made_by<'s>(&'s self, symbol: &'s Symbol) -> Option<&'s Symbol> {
        if symbol.is_class() { Some(symbol) } else { self.library.returned_class(symbol) }
    }

    /// Whether a call only asks whether there is a file, and needs nothing of it: `os.path.exists(path)`.
    #[must_use]
    pub fn asks_for_existence(&self, file: FileId, call: CallId) -> bool {
        let mut symbols = self.called_symbols(file, call).peekable();
        symbols.peek().is_some() && symbols.all(|symbol| self.library.asks_of_files(symbol))
    }

    /// Whether a call opens a file with a mode that writes.
    #[must_use]
    pub fn opens_for_writing(&self, file: FileId, call: &Call) -> bool {
        self.modes_of_opening(file, call).any(writes_by_mode)
    }

    /// Whether a call opens a file with a mode in which nothing remains of what was in it.
    #[must_use]
    pub fn begins_anew(&self, file: FileId, call: &Call) -> bool {
        let mut modes = self.modes_of_opening(file, call).peekable();
        modes.peek().is_some() && modes.all(|mode| without_compression(mode).contains(['w', 'x']))
    }

    /// Whether a call opens files to write them and others, or the same, to read them: `open(path, mode)` in a helper.
    #[must_use]
    pub fn opens_for_both(&self, file: FileId, call: &Call) -> bool {
        let (writing, reading): (Vec<&str>, Vec<&str>) =
            self.modes_of_opening(file, call).partition(|&mode| writes_by_mode(mode));
        !writing.is_empty() && !reading.is_empty()
    }

    /// Whether a call opens a file that must not be there, or that is read as it was written.
    #[must_use]
    pub fn opens_new_or_to_read(&self, file: FileId, call: &Call) -> bool {
        self.modes_of_opening(file, call).any(|mode| mode.contains(['x', '+']))
    }

    /// Whether what is in a file stays there when a call opens it, and is read: `open(path, "r+")`.
    #[must_use]
    pub fn opens_to_change(&self, file: FileId, call: &Call) -> bool {
        self.modes_of_opening(file, call).any(|mode| mode.contains('+') && !mode.contains(['w', 'x']))
    }

    /// The modes that a call opens a file with, as far as they are known.
    fn modes_of_opening(&self, file: FileId, call: &Call) -> impl Iterator<Item = &str> {
        let mode = self.opener(file, call).and_then(|opener| self.argument(file, call, opener, MODE));
        let objects = mode.into_iter().flat_map(move |mode| self.objects(file, mode.value));
        objects.filter_map(|(_, object)| match object {
            Object::Literal(Literal::Str(text)) => Some(self.solution.names.text(text)),
            _ => None,
        })
    }

    /// The path of the file that what is logged goes to: `logging.FileHandler(path)`, `logging.basicConfig(filename=path)`,
    /// and `logger.add(path)` of loguru, which takes streams and functions, too.
    #[must_use]
    pub fn log_file<'c>(&self, file: FileId, call: CallId) -> Option<&'c Argument>
    where
        'a: 'c,
    {
        let own = self.module(file).call(call);
        let mut symbols = self.called_symbols(file, call).filter(|symbol| symbol.has(Effect::KeepsLog));
        let path = symbols.find_map(|symbol| {
            LOG_FILES.into_iter().find_map(|parameter| self.argument(file, own, symbol, parameter))
        })?;
        let is_no_path = |own| {
            let is_called = matches!(
                own,
                Object::Function(_) | Object::Bound(..) | Object::Member(..) | Object::Builtin(_)
            );
            is_called || matches!(own, Object::Literal(Literal::None) | Object::External(_))
        };
        (!self.objects(file, path.value).any(|(_, own)| is_no_path(own))).then_some(path)
    }

    /// The path of the file in which a call caches a dataset: `dataset.cache(path)`, unless that is surely in memory.
    #[must_use]
    pub fn cache_file<'c>(&self, file: FileId, call: CallId) -> Option<&'c Argument>
    where
        'a: 'c,
    {
        let cache = self.library.lookup(CACHE)?;
        let own = self.module(file).call(call);
        let path = self.argument(file, own, cache, "filename")?;
        let mut objects = self.objects(file, path.value).peekable();
        let is_in_memory = objects.peek().is_some()
            && objects.all(|(_, object)| match object {
                Object::Literal(Literal::Str(text)) => self.solution.names.text(text).is_empty(),
                _ => false,
            });
        let caches = self.called_symbols(file, call).any(|symbol| symbol == cache)
            || self.is_called_like(file, call, cache, path);
        (caches && !is_in_memory).then_some(path)
    }

    /// Whether a method of an object that nobody knows has the name of the one that caches, and is given a text: the dataset
    /// of `data, info = tfds.load(name, with_info=True)`.
    fn is_called_like(&self, file: FileId, id: CallId, cache: &Symbol, path: &Argument) -> bool {
        let module = self.module(file);
        let Value::Attribute { name, .. } = module.value(module.call(id).callee).value else { return false };
        module.names.text(name) == cache.last_name()
            && self.called_symbols(file, id).next().is_none()
            && self.called_functions(file, id).next().is_none()
            && self.objects(file, path.value).any(|(id, _)| self.builtin_class(id) == Some("str"))
    }
}
