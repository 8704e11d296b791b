//! The files that a program reads, and whether it makes them itself: what a call writes is output, or input for later.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::job::Job;
use super::free_names;
use super::path_texts::{self, PathText, PathTexts};
use super::unknown_readers::UnknownReaders;
use crate::api::{Effect, EffectSet, Kind, Role, Symbol};
use crate::program::{Facts, FunctionRef, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Constant, Value, ValueId};

/// What a call's callees do themselves; a function of the project has its own statements. Where it does no more than write,
/// what else may be called there counts: `model.save_weights(path)` of a class of the project's, or of the library's.
pub(in crate::distribute) fn own_effects(job: &Job<'_>, file: FileId, id: CallId) -> EffectSet {
    let facts = job.facts;
    let callees = facts.callees(file, id);
    let mut effects = EffectSet::NONE;
    for edge in callees {
        let of_edge = facts.effects().of_edge(facts, edge);
        match facts.solution.object(edge.callee) {
            Object::Function(function) => {
                let others = OF_WRITING.into_iter().fold(of_edge.effects, EffectSet::without);
                if of_edge.unknown && !takes_place_of_writer(job, function) || !others.is_empty() {
                    return EffectSet::NONE;
                }
            }
            Object::Class(_) => return EffectSet::NONE,
            _ => effects = effects.union(of_edge.effects),
        }
    }
    effects
}

/// Whether a method takes the place of one of the library's that writes a file.
fn takes_place_of_writer(job: &Job<'_>, function: FunctionRef) -> bool {
    let facts = job.facts;
    let module = facts.module(function.file);
    let name = module.names.text(module.function(function.function).name);
    let base = facts.modules.class_of(function).and_then(|class| facts.library_base(class));
    let method = base.and_then(|base| facts.library.member(base, name));
    method.is_some_and(|method| method.has(Effect::WritesFile))
}

/// What code does that only writes.
const OF_WRITING: [Effect; 5] =
    [Effect::WritesFile, Effect::MakesFolder, Effect::FailsTwice, Effect::Idempotent, Effect::Prints];

/// Calls that are found once and asked for again, in a job that goes from one thread to another.
pub(super) type Calls = Arc<[(FileId, CallId)]>;

/// What a program reads.
#[derive(Debug, Default)]
pub(in crate::distribute) struct Inputs {
    /// All that is computed from what the paths of its data are made of.
    data: FxHashSet<Place>,
    /// The same for the weights that it loads.
    weights: FxHashSet<Place>,
    /// What each path of weights is made of.
    loaded: Vec<FxHashSet<Place>>,
    /// What is computed from where a process has files for itself: below `tempfile.mkdtemp()`.
    own: FxHashSet<Place>,
    /// The calls that read data.
    data_read: Vec<(FileId, CallId)>,
    /// The texts that their paths are made of.
    data_texts: PathTexts,
    /// All texts of the program.
    texts: PathTexts,
    /// The calls that read weights or models.
    weights_read: Vec<(FileId, CallId)>,
    /// The questions by which a name is found that is free.
    searches: Vec<(FileId, CallId)>,
    /// The calls of libraries that nobody knows, which may read what they are told the path of.
    unknown: UnknownReaders,
    /// All that goes into what `fit` is given.
    fitted: FxHashSet<Place>,
    /// What is known to read where a call writes.
    read_where: RefCell<FxHashMap<(FileId, CallId), Calls>>,
}

impl Inputs {
    /// Follows the paths that a program reads. What is put there is input, which every rank needs.
    pub(in crate::distribute) fn new(job: &Job<'_>) -> Self {
        let is_read = |&(file, call): &(FileId, CallId)| {
            !job.facts.opens_for_writing(file, job.facts.module(file).call(call))
                && (job.facts.opens(file, job.facts.module(file).call(call))
                    || own_effects(job, file, call).contains(Effect::ReadsFile)
                        && !job.facts.asks_for_existence(file, call)
                        && !is_given_open(job.facts, file, call))
        };
        let (mut weights, data): (Vec<_>, Vec<_>) =
            job.calls().filter(is_read).partition(|&(file, call)| loads(job, file, call));
        weights.extend(job.calls().filter(|&(file, call)| makes_manager(job, file, call)));
        let given: Vec<Place> = data.iter().flat_map(|&(file, call)| arguments(job, file, call)).collect();
        let texts: Vec<Place> = texts_behind(job, &given).into_iter().collect();
        let loaded: Vec<FxHashSet<Place>> =
            weights.iter().map(|&(file, call)| texts_behind(job, &arguments(job, file, call))).collect();
        let all: Vec<Place> = loaded.iter().flatten().copied().collect();
        let forwards = |texts: &[Place]| {
            let texts = job.common.default_texts(job.facts).with_parameters(texts);
            job.facts.influence().forwards(&texts, |place| ends_path(job, place))
        };
        let made = job.facts.calls_with(Effect::Temporary);
        let temporary: Vec<Place> =
            made.map(|(file, call)| (file, job.facts.module(file).call(call).result)).collect();
        Self {
            data: forwards(&texts),
            weights: forwards(&all),
            loaded,
            own: forwards(&temporary),
            data_read: data,
            data_texts: PathTexts::among(job, list_paths_behind(job, &given)),
            texts: PathTexts::among(
                job,
                job.program.files().into_iter().flat_map(|file| all_values(job.facts, file)),
            ),
            weights_read: weights,
            searches: free_names::questions(job),
            unknown: UnknownReaders::new(job),
            fitted: fitted(job),
            read_where: RefCell::default(),
        }
    }

    /// Whether `fit` is given what a call reads: a directory's images are read as they are asked for, and the ranks end the last
    /// validation each at its own time.
    pub(super) fn is_read_by_fit(&self, job: &Job<'_>, (file, call): (FileId, CallId)) -> bool {
        self.fitted.contains(&(file, job.facts.module(file).call(call).result))
    }

    /// The calls that read data.
    pub(super) fn all_data_read(&self) -> &[(FileId, CallId)] {
        &self.data_read
    }

    /// The calls that load weights or models.
    pub(super) fn weights_read(&self) -> &[(FileId, CallId)] {
        &self.weights_read
    }

    /// What the paths are that the program reads from.
    pub(super) fn paths_read(&self, job: &Job<'_>) -> Vec<Place> {
        let all = self.data_read.iter().chain(&self.weights_read);
        all.flat_map(|&(file, call)| arguments(job, file, call)).collect()
    }

    /// The calls that may read the data that a call writes.
    pub(super) fn data_read(&self, job: &Job<'_>, (file, call): (FileId, CallId)) -> Vec<(FileId, CallId)> {
        self.data_read_at(job, (file, call), &written_to(job, (file, call)))
    }

    /// The same, with what the path is made of that the call writes to.
    fn data_read_at(
        &self,
        job: &Job<'_>,
        (file, call): (FileId, CallId),
        behind: &[Place],
    ) -> Vec<(FileId, CallId)> {
        if writes_anywhere(job, file, call) {
            return self.data_read.clone();
        }
        self.given_path_of(job, behind, &self.data_read)
    }

    /// The questions that find whether the name is free that a call writes to.
    pub(super) fn searches(&self, job: &Job<'_>, write: (FileId, CallId)) -> Vec<(FileId, CallId)> {
        if self.searches.is_empty() {
            return Vec::new();
        }
        self.given_path_of(job, &written_to(job, write), &self.searches)
    }

    /// The calls of libraries that nobody knows and that are told where a call writes.
    pub(super) fn read_unknown(&self, job: &Job<'_>, write: (FileId, CallId)) -> Vec<(FileId, CallId)> {
        self.unknown.given_path_of(job, write)
    }

    /// Those calls that are given a path which is made of these values, as that is to which something is written.
    fn given_path_of(
        &self,
        job: &Job<'_>,
        behind: &[Place],
        among: &[(FileId, CallId)],
    ) -> Vec<(FileId, CallId)> {
        let written = texts_among(job, behind);
        let met = PathTexts::among(job, behind.iter().copied());
        let sources: Vec<Place> = written.into_iter().chain(met.met_in(&self.texts)).collect();
        let sources = job.common.default_texts(job.facts).with_parameters(&sources);
        let paths = job.facts.influence().forwards(&sources, |place| ends_path(job, place));
        let is_given = |&&(file, call): &&(FileId, CallId)| {
            arguments(job, file, call).iter().any(|place| paths.contains(place))
        };
        among.iter().filter(is_given).copied().collect()
    }

    /// The calls that may read, as data or as weights, what lies where a call writes.
    pub(super) fn read_where(&self, job: &Job<'_>, write: (FileId, CallId)) -> Calls {
        if let Some(known) = self.read_where.borrow().get(&write) {
            return Arc::clone(known);
        }
        let behind = written_to(job, write);
        let mut found = self.data_read_at(job, write, &behind);
        let written = texts_among(job, &behind);
        let loading = self.weights_read.iter().zip(&self.loaded);
        found.extend(loading.filter(|(_, read)| is_one_place(read, &written)).map(|(&own, _)| own));
        let found: Calls = found.into();
        self.read_where.borrow_mut().insert(write, Arc::clone(&found));
        found
    }

    /// The calls that read, not as weights, what lies where a call writes, by all that both paths are made of.
    pub(super) fn read_at(&self, job: &Job<'_>, write: (FileId, CallId)) -> Vec<(FileId, CallId)> {
        let behind = written_to(job, write);
        let written = texts_among(job, &behind);
        let is_there = |&(file, call): &(FileId, CallId)| {
            is_one_place(&texts_behind(job, &arguments(job, file, call)), &written)
        };
        self.given_path_of(job, &behind, &self.data_read).into_iter().filter(is_there).collect()
    }

    /// Whether what is written to a path that is made of `given` may be read. Weights lie in a folder beside others:
    /// to share one with them is not enough.
    pub(super) fn contain(&self, job: &Job<'_>, given: &[Place]) -> bool {
        given.iter().any(|place| self.data.contains(place))
            || PathTexts::among(job, list_paths_behind(job, given)).met_in(&self.data_texts).next().is_some()
            || given.iter().any(|place| self.weights.contains(place)) && {
                let written = texts_behind(job, given);
                self.loaded.iter().any(|read| is_one_place(read, &written))
            }
    }
}

/// What the path is made of that a call writes to.
fn written_to(job: &Job<'_>, (file, call): (FileId, CallId)) -> Vec<Place> {
    list_paths_behind(job, &arguments(job, file, call))
}

/// All that goes into what `fit` is given.
fn fitted(job: &Job<'_>) -> FxHashSet<Place> {
    let fits = job.program.loops.iter().filter(|own| job.is_fit(own));
    let given = fits.flat_map(|own| {
        let file = own.caller.file;
        job.facts.module(file).call(own.call).arguments.iter().map(move |own| (file, own.value))
    });
    job.facts.influence().backwards(&given.collect::<Vec<Place>>(), |_| false)
}

/// Whether a call reads from a file that is open already: `np.fromfile(file)`.
fn is_given_open(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let first = facts.module(file).call(call).arguments.first();
    first.is_some_and(|own| {
        let mut objects = facts.objects(file, own.value).peekable();
        objects.peek().is_some() && objects.all(|(id, _)| facts.builtin_class(id) == Some("file"))
    })
}

/// Whether two paths, by what they are made of, may be one, or one of them lies in the other.
fn is_one_place(read: &FxHashSet<Place>, written: &FxHashSet<Place>) -> bool {
    !read.is_disjoint(written) && (read.is_subset(written) || written.is_subset(read))
}

/// Whether a path that a call is given names a file that the program reads.
pub(super) fn names_input(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    !job.facts.concerns_weights(file, job.facts.module(file).call(call))
        && (job.inputs().contain(job, &arguments(job, file, call)) || writes_anywhere(job, file, call))
}

/// Whether a call does not say where it puts files, though it could, or nothing is seen of it: `archive.extractall()`,
/// `archive.extractall(".")`.
pub(super) fn writes_anywhere(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let data = job.facts.module(file).call(call);
    job.facts.called_symbols(file, call).any(|own| {
        folder(own).is_some_and(|folder| {
            let told = job.facts.argument(file, data, own, folder);
            told.is_none_or(|told| !says_where(job, (file, told.value)))
        })
    })
}

/// Whether something is known of the place that a path names: "." is where the process is.
fn says_where(job: &Job<'_>, path: Place) -> bool {
    let says = |&place: &Place| path_texts::text(job, place).is_none_or(|text| PathText::new(text).is_some());
    texts_behind(job, &[path]).iter().any(says)
}

/// Whether a call takes files out of another, and may be told where to put them: `archive.extractall(path)`,
/// `shutil.unpack_archive(archive, path)`.
pub(super) fn is_told_where(symbol: &Symbol) -> bool {
    folder(symbol).is_some()
}

/// The parameter that says where.
fn folder(symbol: &Symbol) -> Option<&'static str> {
    let has = |parameter: &str| symbol.has(Effect::WritesFile) && symbol.parameter(parameter).is_some();
    match symbol.role() {
        Role::Method if has(OF_METHODS) => Some(OF_METHODS),
        Role::Function if has(OF_FUNCTIONS) => Some(OF_FUNCTIONS),
        _ => None,
    }
}

/// What the parameter is called that says where.
const OF_METHODS: &str = "path";
const OF_FUNCTIONS: &str = "extract_dir";

/// Whether a call is given a path of the process's own.
pub(super) fn names_own(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    arguments(job, file, call).iter().any(|place| job.inputs().own.contains(place))
}

/// What a call is given, with the path that it is a method of.
pub(in crate::distribute) fn arguments(job: &Job<'_>, file: FileId, call: CallId) -> Vec<Place> {
    let data = job.facts.module(file).call(call);
    let path = job.facts.path_asked(file, data);
    data.arguments.iter().map(|argument| argument.value).chain(path).map(|value| (file, value)).collect()
}

/// The string literals and settings that values are made of, and the files whose content they are: what a file holds does
/// not say where it lies, and the elements of a dataset are examples.
pub(in crate::distribute) fn texts_behind(job: &Job<'_>, places: &[Place]) -> FxHashSet<Place> {
    texts_among(job, &list_paths_behind(job, places))
}

/// The string literals, settings and contents of files among what paths are made of.
fn texts_among(job: &Job<'_>, behind: &[Place]) -> FxHashSet<Place> {
    let facts = job.facts;
    // An empty one says nothing of a place.
    let is_text = |(file, value): Place| match facts.module(file).value(value).value {
        Value::Constant(Constant::Str(text)) => !facts.module(file).names.text(text).is_empty(),
        _ => false,
    };
    let mut found: FxHashSet<Place> = FxHashSet::default();
    for &(file, value) in behind.iter().filter(|&&(file, _)| job.runs_in(file)) {
        if is_text((file, value)) || is_content(facts, (file, value)) {
            found.insert((file, value));
        } else {
            found.extend(job.settings().like(job, (file, value)));
        }
    }
    found
}

/// Where settings are read, `arguments.folder`: the attributes of what libraries make, by their names and objects. What is read
/// in two places is the same.
#[derive(Debug, Default)]
pub(in crate::distribute) struct Settings(FxHashMap<(String, ObjectId), Vec<Place>>);

impl Settings {
    /// The settings that a program reads.
    pub(in crate::distribute) fn new(job: &Job<'_>) -> Self {
        let mut own = Self::default();
        for file in job.program.files() {
            for place in all_values(job.facts, file) {
                for key in setting(job, place) {
                    own.0.entry(key).or_default().push(place);
                }
            }
        }
        own
    }

    /// Whether a setting is read at a place.
    pub(super) fn has(&self, job: &Job<'_>, place: Place) -> bool {
        setting(job, place).iter().any(|key| self.0.contains_key(key))
    }

    /// The places that read the same setting as this one.
    fn like<'s>(&'s self, job: &Job<'_>, place: Place) -> impl Iterator<Item = Place> + 's {
        setting(job, place).into_iter().filter_map(|key| self.0.get(&key)).flatten().copied()
    }
}

/// The names and objects of a setting that a value reads.
fn setting(job: &Job<'_>, (file, value): Place) -> Vec<(String, ObjectId)> {
    let facts = job.facts;
    let module = facts.module(file);
    let Value::Attribute { base, name, .. } = module.value(value).value else { return Vec::new() };
    let is_unknown = facts.is_unknown(file, value);
    let known = facts.objects(file, base).filter(|(_, own)| match own {
        Object::Created(..) => true,
        Object::External(_) => is_unknown,
        _ => false,
    });
    known.map(|(id, _)| (module.names.text(name).to_owned(), id)).collect()
}

/// All that paths are made of.
pub(in crate::distribute) fn paths_behind(job: &Job<'_>, paths: &[Place]) -> FxHashSet<Place> {
    list_paths_behind(job, paths).into_iter().collect()
}

/// The same places, each once.
fn list_paths_behind(job: &Job<'_>, paths: &[Place]) -> Vec<Place> {
    let mut behind = job.facts.influence().list_backwards(paths, |place| ends_path(job, place));
    behind.extend(job.common.default_texts(job.facts).of_parameters(&behind));
    behind
}

/// Whether a path is not made of what is behind a value: a file's content, an example of a dataset, how many there are, or
/// what another program that shares code has.
fn ends_path(job: &Job<'_>, place: Place) -> bool {
    !job.runs_in(place.0) || job.common.path_ends(job.facts).contains(&place)
}

/// All values that no path is made of, whoever runs their code.
pub(in crate::distribute) fn all_path_ends(facts: &Facts<'_>) -> FxHashSet<Place> {
    let is_end = |&(file, value): &Place| {
        is_content(facts, (file, value))
            || facts.may_be(file, value, Kind::Dataset)
            || is_number(facts, (file, value))
    };
    facts.files().flat_map(|file| all_values(facts, file)).filter(is_end).collect()
}

/// All values of a file.
fn all_values(facts: &Facts<'_>, file: FileId) -> impl Iterator<Item = Place> + use<> {
    (0..facts.module(file).values.len()).map(move |index| (file, ValueId::new(index)))
}

/// Whether a value is the length of another.
fn is_number(facts: &Facts<'_>, (file, value): Place) -> bool {
    let Value::Call(call) = facts.module(file).value(value).value else { return false };
    facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Measures))
}

/// Whether a value is what a file holds, and no list of files.
fn is_content(facts: &Facts<'_>, (file, value): Place) -> bool {
    let Value::Call(call) = facts.module(file).value(value).value else { return false };
    facts.called_symbols(file, call).any(|symbol| {
        symbol.has(Effect::ReadsFile) && !symbol.has(Effect::Varies) && !symbol.has(Effect::WritesFile)
    })
}

/// Whether a call loads weights or a model.
pub(in crate::distribute) fn loads(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let mut symbols = job.facts.called_symbols(file, call);
    symbols.any(|symbol| symbol.has(Effect::LoadsWeights) || symbol.has(Effect::LoadsModel))
}

/// Whether a call makes a manager of checkpoints, which looks there and then for the last one.
pub(super) fn makes_manager(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let result = job.facts.module(file).call(call).result;
    job.facts.may_be(file, result, Kind::CheckpointManager)
        && job.facts.called_symbols(file, call).any(|symbol| matches!(symbol.role(), Role::Class { .. }))
}

/// Whether the program loads weights or models from where a call says that they lie: `restore(checkpoint.save(path))`.
pub(super) fn loads_from(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let result = job.facts.module(file).call(call).result;
    let known = job.facts.influence().forwards(&[(file, result)], |_| false);
    job.calls()
        .filter(|&(file, call)| loads(job, file, call))
        .any(|(file, call)| arguments(job, file, call).iter().any(|place| known.contains(place)))
}
