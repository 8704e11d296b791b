//! A model that is loaded from a file and trained on is loaded by Horovod, which distributes its optimizer. Who only
//! uses it gets the plain one.

use super::super::job::Job;
use super::super::keras::{Compile, Given, StepOf, compiles, given};
use super::super::output::inputs::paths_behind;
use super::super::output::path_texts::text as text_of;
use super::super::step::Step;
use super::maker::Origin;
use super::remade::Making;
use crate::api::{Effect, Parameter, Symbol};
use crate::finding::Rule;
use crate::program::{FunctionRef, LoopKind, Object, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Passing, Value};

/// How a call that loads a model becomes one of Horovod's.
pub(super) fn by_horovod(job: &Job<'_>, file: FileId, call: CallId) -> Making {
    let Some(text) = job.text(file) else { return Making::Fails("The file can't be read any more.") };
    let data = text.module.call(call);
    let is_keyword = |argument: &Argument, name: &str| matches!(argument.passing, Passing::Keyword(own) if text.module.names.text(own) == name);
    let (path, others) = match data.arguments.split_first() {
        Some((path, others)) if path.passing == Passing::Positional || is_keyword(path, "filepath") => {
            (path, others)
        }
        _ => return Making::Fails("It can't be seen which file the model is loaded from."),
    };
    if !others.iter().all(|argument| is_keyword(argument, "custom_objects")) {
        return Making::Fails("`hvd.load_model` takes no arguments but the path and `custom_objects`.");
    }
    if is_archive(job, file, path) {
        return Making::Fails(
            "Keras can't load a `.keras` file of a model with a distributed optimizer: save it as `.h5`, or \
             compile the model again after loading.",
        );
    }
    let (hvd, import) = job.horovod_keras(file);
    let edits = vec![text.replace(data.callee_range, format!("{hvd}.load_model"))];
    Making::Edits(edits, vec![import], Vec::new())
}

/// Whether a call that loads a model is told to make its optimizer by a function that distributes it:
/// `custom_objects={'Adam': lambda **options: hvd.DistributedOptimizer(Adam(**options))}`.
pub(super) fn makes_distributed(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let data = facts.module(file).call(call);
    let given = facts.called_symbols(file, call);
    let mut given = given.filter_map(|symbol| facts.argument(file, data, symbol, "custom_objects"));
    let Some(given) = given.next() else { return false };
    let gives_distributed = |function: FunctionRef| {
        let module = facts.module(function.file);
        module.function(function.function).returns.iter().any(|&returned| {
            match module.value(returned).value {
                Value::Call(call) => facts
                    .called_symbols(function.file, call)
                    .any(|symbol| symbol.has(Effect::Distributes) && !symbol.has(Effect::LoadsModel)),
                _ => false,
            }
        })
    };
    let behind = facts.influence().backwards(&[(file, given.value)], |_| false);
    behind.into_iter().any(|(file, value)| {
        facts
            .objects(file, value)
            .any(|(_, own)| matches!(own, Object::Function(function) if gives_distributed(function)))
    })
}

/// The steps for models that are read from `.keras` files, into which distributed optimizers go under the names of
/// their classes: Keras finds them only if it is told what they are.
pub(super) fn from_archives(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let by_optimizer =
        |own: &TrainingLoop| own.kind == LoopKind::KerasFit && StepOf::of(job, own) != StepOf::Tape;
    if job.program.already_distributed || !job.program.loops.iter().any(by_optimizer) {
        return Vec::new();
    }
    let loading = job.calls().filter(|&(file, call)| {
        let is_plain = |symbol: &Symbol| symbol.has(Effect::LoadsModel) && !symbol.has(Effect::Distributes);
        let first = job.facts.module(file).call(call).arguments.first();
        job.facts.called_symbols(file, call).any(is_plain)
            && first.is_some_and(|path| is_archive(job, file, path))
    });
    loading.filter_map(|(file, call)| with_classes(job, rule, file, call)).collect()
}

fn with_classes(job: &Job<'_>, rule: &'static Rule, file: FileId, call: CallId) -> Option<Step> {
    let text = job.text(file)?;
    let data = text.module.call(call);
    let finding = Step::missing(
        rule,
        job.at_call(file, call),
        "the file holds a distributed optimizer, which Keras does not find by its name",
    )
    .here("loaded here")
    .help("name its class: `custom_objects={'Adam': tf.keras.optimizers.Adam}`")
    .in_scope(job.scope_of(file, call));
    match &data.arguments[1..] {
        [] => {}
        [only] if matches!(only.passing, Passing::Keyword(name) if text.module.names.text(name) == "compile") =>
        {
            return None;
        }
        _ => {
            let reason = "Its other arguments leave no place for the class: save the model as `.h5`.";
            return Some(Step::blocked(finding, reason));
        }
    }
    let (tf, import) = job.tensorflow(file);
    let mut classes: Vec<String> = Vec::new();
    for class in compiles(job).into_iter().flat_map(|compile| classes_of(job, compile)) {
        let (_, path) = class.name().split_once('.')?;
        let (_, name) = class.name().rsplit_once('.')?;
        let entry = format!("'{name}': {tf}.{path}");
        if !classes.contains(&entry) {
            classes.push(entry);
        }
    }
    if classes.is_empty() {
        return None;
    }
    let argument = format!("custom_objects={{{}}}", classes.join(", "));
    let edits = vec![text.append_argument(data, &argument)];
    Some(Step::change(finding, "name the class of the optimizer", edits, vec![import]))
}

/// The classes of the optimizers that a call of `compile` gives a model.
fn classes_of<'c>(job: &Job<'c>, compile: Compile<'c>) -> Vec<&'c Symbol> {
    let facts = job.facts;
    let Compile { file, call, symbol } = compile;
    let named = |name: &str| facts.library.optimizer_named(name).into_iter().collect();
    match given(job, file, call, symbol, "optimizer") {
        Given::Argument(argument) => match Origin::of(job, file, argument.value) {
            Origin::Made(makers) => {
                let made = makers.into_iter().flat_map(|(file, call)| facts.called_symbols(file, call));
                made.filter(|symbol| symbol.is_class()).collect()
            }
            Origin::Named(name) => named(&name),
            _ => Vec::new(),
        },
        Given::Nothing => {
            let default = symbol.parameter("optimizer").and_then(Parameter::default);
            default.map_or_else(Vec::new, |name| named(name.trim_matches(['\'', '"'])))
        }
        Given::Hidden => Vec::new(),
    }
}

/// Whether a path is that of a `.keras` file, by the literals and f-strings that it is made of.
fn is_archive(job: &Job<'_>, file: FileId, path: &Argument) -> bool {
    let behind = paths_behind(job, &[(file, path.value)]);
    // `~/.keras` is a folder.
    let is_name = |text: &str| text.strip_suffix(ARCHIVE).is_some_and(|stem| !stem.ends_with('/'));
    behind.into_iter().any(|place| text_of(job, place).is_some_and(is_name))
}

/// With what the names of such files end.
const ARCHIVE: &str = ".keras";
