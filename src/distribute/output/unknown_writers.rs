//! What libraries that nobody knows write, as far as names tell.

use super::super::job::Job;
use super::inputs::arguments;
use crate::api::Effect;
use crate::program::{Literal, Object};
use crate::project::FileId;
use crate::semantic::{Argument, Call, CallId, Passing, Role, Value};

/// Whether a folder is made for what a function of an unknown library may put there on all ranks, or for their caches: they may
/// all make it, where it may be there already.
pub(super) fn is_for_others(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let data = facts.module(file).call(id);
    let mut symbols = facts.called_symbols(file, id);
    let may_be_there =
        symbols.find_map(|own| facts.argument(file, data, own, "exist_ok")).is_some_and(|own| {
            facts.objects(file, own.value).any(|(_, own)| own == Object::Literal(Literal::Bool(true)))
        });
    may_be_there && {
        let folder = arguments(job, file, id);
        let below = facts.influence().forwards(&folder, |_| false);
        let is_below = |file: FileId, own: &Argument| below.contains(&(file, own.value));
        job.calls().any(|(file, call)| {
            let data = facts.module(file).call(call);
            let is_unknown =
                facts.may_be_foreign(file, data.callee) && facts.called_symbols(file, call).next().is_none();
            is_unknown && data.arguments.iter().any(|own| is_below(file, own))
                || job.facts.cache_file(file, call).is_some_and(|path| is_below(file, path))
        })
    }
}

/// Whether a method of an object that nobody knows is called like one by which models are saved, and given a text: `net.save("net")`,
/// `picture.save(f"{step}.png")`, `explainer.save(grid, "maps", "first.png")`. Or like that of files, and given more than those take: `score.write("midi", fp="score.mid")`.
/// Or, where nobody asks what it returns, its name says so.
pub(super) fn saves_by_name(job: &Job<'_>, file: FileId, call: &Call) -> bool {
    let facts = job.facts;
    let Value::Attribute { base, name, .. } = facts.module(file).value(call.callee).value else {
        return false;
    };
    let (is_foreign, is_unknown) = (facts.may_be_foreign(file, base), facts.is_unknown(file, base));
    if !is_foreign && !is_unknown {
        return false;
    }
    let name = facts.module(file).names.text(name);
    let writes = |class: &str| {
        let method = facts.library.lookup(class).and_then(|class| facts.library.member(class, name));
        method.is_some_and(|method| method.has(Effect::WritesFile))
    };
    let is_text =
        |own: &Argument| facts.objects(file, own.value).any(|(id, _)| facts.builtin_class(id) == Some("str"));
    // What keeps weights is told nothing else than where.
    let keeps_weights = facts.library.lookup(WEIGHTS).is_some_and(|own| own.last_name() == name);
    let may_be_text = |own: &Argument| {
        is_text(own) || own.passing == Passing::Spread || keeps_weights && facts.is_unknown(file, own.value)
    };
    let mut given = call.arguments.iter();
    let may_be_array = call.role == Role::Statement && writes(ARRAY);
    (is_foreign || (keeps_weights || may_be_array) && is_unknown)
        && (writes(MODEL) && given.clone().any(may_be_text)
            || may_be_array && given.len() > 0
            || writes(OPEN_FILE) && given.len() > 1 && given.clone().any(is_text)
            || call.role == Role::Statement
                && is_of_writing(name)
                && given.any(|own| is_text(own) || is_setting(job, file, own)))
}

/// Whether an argument is a setting of the command line or of the environment: `args.folder`, `os.environ["FOLDER"]`.
fn is_setting(job: &Job<'_>, file: FileId, own: &Argument) -> bool {
    let facts = job.facts;
    facts.gives((file, own.value), &[Effect::ReadsEnvironment]) || job.settings().has(job, (file, own.value))
}

/// Whether a name says that something is written, to who knows nothing else of it: `write_image`, `to_netcdf`, `export_graphviz`.
fn is_of_writing(name: &str) -> bool {
    let (first, rest) = name.split_once('_').unwrap_or((name, ""));
    OF_WRITING.contains(&first) || first == "to" && !rest.is_empty()
}

/// The verbs of writing.
const OF_WRITING: [&str; 7] = ["write", "writeto", "save", "dump", "export", "store", "capture"];

/// The method of models that keeps their weights.
const WEIGHTS: &str = "tensorflow.keras.Model.save_weights";

/// The class of models.
const MODEL: &str = "tensorflow.keras.Model";

/// The class of arrays: `model.predict(x).tofile(path)`.
const ARRAY: &str = "numpy.ndarray";

/// The class of files.
const OPEN_FILE: &str = "io.TextIOWrapper";
