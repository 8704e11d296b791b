//! The names by which a file's new code speaks of Horovod and TensorFlow: those that the file has, else fresh ones.

use crate::program::{Facts, Object};
use crate::project::FileId;
use crate::semantic::{Definition, DefinitionKind, Imported, Module, Value};
use crate::syntax::TextSize;

/// Something that new code imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Import {
    /// `tensorflow`
    TensorFlow,
    /// `tf_keras`: Keras 2 apart from TensorFlow, whose classes know nothing of those of `tf.keras`.
    TfKeras,
    /// `horovod.tensorflow`: tapes, broadcasts, collectives.
    Horovod,
    /// `horovod.tensorflow.keras`: callbacks, `load_model`.
    HorovodKeras,
    /// `contextlib`
    Contexts,
    /// `random`
    Random,
    /// `tempfile`
    Temporary,
}

impl Import {
    /// The module.
    #[must_use]
    pub fn module(self) -> &'static str {
        match self {
            Self::TensorFlow => "tensorflow",
            Self::TfKeras => "tf_keras",
            Self::Horovod => "horovod.tensorflow",
            Self::HorovodKeras => "horovod.tensorflow.keras",
            Self::Contexts => "contextlib",
            Self::Random => "random",
            Self::Temporary => "tempfile",
        }
    }

    /// A member that tells the module apart from others.
    fn landmark(self) -> &'static str {
        match self {
            Self::TensorFlow => "config",
            Self::TfKeras => "optimizers",
            Self::Horovod => "DistributedGradientTape",
            Self::HorovodKeras => "callbacks",
            Self::Contexts => "nullcontext",
            Self::Random => "randrange",
            Self::Temporary => "mkdtemp",
        }
    }
}

/// The names of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Of Horovod, for `rank`, `size`, `init` and what both of its modules have.
    pub horovod: Name,
    /// Of Horovod's module for Keras.
    pub keras: Name,
    /// Of TensorFlow.
    pub tensorflow: Name,
    /// Of Keras apart from TensorFlow.
    pub tf_keras: Name,
    /// Of Python's module for contexts.
    pub contexts: Name,
    /// Of Python's module for random numbers.
    pub random: Name,
    /// Of Python's module for temporary files.
    pub temporary: Name,
}

/// A name and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// What it is bound to, or has to be.
    pub import: Import,
    /// The file binds it already.
    pub bound: bool,
}

/// Which of Horovod's modules a program's own code needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// It trains by tapes, `minimize` or `train_on_batch`, or the code is of a helper.
    Tape,
    /// It trains by `fit` only.
    Keras,
}

impl Names {
    /// The names of a file.
    #[must_use]
    pub fn new(facts: &Facts<'_>, file: FileId, api: Api) -> Self {
        let module = facts.module(file);
        let name = |import: Import, wish: &str| match bound(facts, file, import) {
            Some(text) => Name { text, import, bound: true },
            None => Name { text: fresh(module, wish), import, bound: false },
        };
        let tensorflow = name(Import::TensorFlow, "tf");
        let tf_keras = name(Import::TfKeras, "tf_keras");
        let contexts = name(Import::Contexts, "contextlib");
        let random = name(Import::Random, "random");
        let temporary = name(Import::Temporary, "tempfile");
        let tape = bound(facts, file, Import::Horovod);
        let keras = bound(facts, file, Import::HorovodKeras);
        let (horovod, keras) = match (api, tape, keras) {
            (_, Some(_), _) => (name(Import::Horovod, "hvd"), name(Import::HorovodKeras, "hvd_keras")),
            (Api::Keras, None, _) => {
                // `from helpers import *` brings the name that the helpers have for Horovod's other module.
                let keras =
                    name(Import::HorovodKeras, if takes_all(facts, file) { "hvd_keras" } else { "hvd" });
                (keras.clone(), keras)
            }
            (Api::Tape, None, Some(_)) => {
                (name(Import::Horovod, "hvd_tensorflow"), name(Import::HorovodKeras, "hvd"))
            }
            (Api::Tape, None, None) => {
                (name(Import::Horovod, "hvd"), name(Import::HorovodKeras, "hvd_keras"))
            }
        };
        Self { horovod, keras, tensorflow, tf_keras, contexts, random, temporary }
    }
}

/// Whether a file takes all names of another one of the project.
fn takes_all(facts: &Facts<'_>, file: FileId) -> bool {
    let imports = facts.module(file).imports.iter();
    let mut stars = imports.filter(|import| import.what == Imported::Star);
    stars.any(|import| facts.files_of_import(file, import).iter().any(|&own| own != file))
}

/// The name that the module's own scope binds to a module by an import.
fn bound(facts: &Facts<'_>, file: FileId, import: Import) -> Option<String> {
    let module = facts.module(file);
    bindings(facts, file, import).next().map(|own| module.variable_name(own.variable).to_owned())
}

/// Whether the module's own scope has bound a name when it comes to a place.
#[must_use]
pub fn is_bound_before(facts: &Facts<'_>, file: FileId, import: Import, place: TextSize) -> bool {
    bindings(facts, file, import).any(|own| own.range.end() <= place)
}

/// The imports of the module's own scope that bind a module, and whose names stay what they are: `from numpy import random` behind
/// `import random` takes the name away.
fn bindings<'f>(facts: &'f Facts<'_>, file: FileId, import: Import) -> impl Iterator<Item = &'f Definition> {
    let module = facts.module(file);
    let is_own = move |own: &Definition| {
        facts.objects(file, own.value).any(|(_, object)| stands_for(facts, object, import))
    };
    let is_always = |own: &Definition| own.statement.is_some_and(|id| module.statement(id).parent.is_none());
    let is_kept = move |own: &&Definition| {
        let mut later = module.definitions.iter().filter(|other| {
            other.variable == own.variable && other.range.start() > own.range.start() && is_always(other)
        });
        later.all(is_own)
    };
    let imports = module.definitions.iter().filter(|definition| {
        definition.kind == DefinitionKind::Import && definition.variable.scope == Module::TOP
    });
    imports.filter(move |own| is_own(own)).filter(is_kept)
}

/// The part of TensorFlow's paths that its own modules have.
const INTERNAL: &str = "python";

fn stands_for(facts: &Facts<'_>, object: Object, import: Import) -> bool {
    let Object::External(own) = object else { return false };
    let path = &facts.solution.externals.get(own).path;
    // The library knows it as a part of TensorFlow.
    if import == Import::TfKeras {
        return **path == *import.module();
    }
    // `from tensorflow.python.ops import array_ops` has functions that TensorFlow shows, and not all that it has.
    if path.split('.').any(|part| part == INTERNAL) {
        return false;
    }
    facts.symbol(object).is_some_and(|symbol| {
        let package = import.module().split('.').next();
        symbol.is_module()
            && symbol.name().split('.').next() == package
            && facts.library.lookup(&format!("{}.{}", symbol.name(), import.landmark())).is_some()
    })
}

/// The wish, or the wish with a number that the file does not use: the seed's `NewID`.
#[must_use]
pub fn fresh(module: &Module, wish: &str) -> String {
    let numbered = (2..).map(|number| format!("{wish}_{number}"));
    std::iter::once(wish.to_owned())
        .chain(numbered)
        .find(|name| !is_taken(module, name))
        .expect("some number is free")
}

/// Whether a file's code binds a name or reads it; that of an attribute or an argument is another one.
fn is_taken(module: &Module, name: &str) -> bool {
    let Some(name) = module.names.get(name) else { return false };
    module.imports.iter().any(|import| import.what == Imported::Star)
        || module.definitions.iter().any(|own| module.symbol(own.variable).name == name)
        || module.values.iter().any(|own| own.value == Value::Free(name))
}
