//! The text that distributes an optimizer: around the call that makes it, or in the place of its name.

use super::super::job::Job;
use super::super::keras::written;
use super::super::names::{Import, fresh};
use super::super::ranked::reads_size;
use super::super::started::{code_runs_started, runs_started};
use super::super::unstarted::Code;
use super::configuration::{Remake, remake};
use super::maker::Origin;
use crate::api::{Parameter, Role as SymbolRole, Scaling, Symbol};
use crate::finding::Edit;
use crate::program::{Literal, Object};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{Argument, CallId, DefinitionKind, Element, Role, Value, ValueId};
use crate::syntax::TextSize;

/// A place of a call.
type Place = (FileId, CallId);

/// Edits, with what they use.
type Changes = (Vec<Edit>, Vec<(FileId, Import)>);

/// How an optimizer is distributed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::distribute) enum Making {
    /// By edits, with what they use, and the files in which they are right also where Horovod is not started.
    Edits(Vec<Edit>, Vec<(FileId, Import)>, Vec<FileId>),
    /// Not at all: why.
    Fails(&'static str),
}

const GONE: &str = "The file can't be read any more.";
const EARLY: &str =
    "The optimizer is made before Horovod is started, and its learning rate needs the number of ranks.";
const NO_NAME: &str = "No optimizer of Keras has this name.";

/// One that a call makes: `optimizer = hvd.DistributedOptimizer(optimizer)` behind its assignment, or around the
/// call.
pub(super) fn wrapped(job: &Job<'_>, file: FileId, call: CallId) -> Making {
    let Some(text) = job.text(file) else { return Making::Fails(GONE) };
    let code = code(job, file, call);
    let hvd = &code.horovod;
    let mut uses = vec![code.import];
    let mut everywhere = code.everywhere();
    let mut edits = Vec::new();
    match remake(job, file, call) {
        Remake::Works => {}
        Remake::Fails(reason) => return Making::Fails(reason),
        Remake::Registers(classes) => {
            for class in classes {
                let Some(text) = job.text(class.file) else { return Making::Fails(GONE) };
                let (tf, import) = job.tensorflow(class.file);
                uses.push(import);
                everywhere.push(class.file);
                let decorator = format!("@{tf}.keras.utils.register_keras_serializable()");
                edits.extend(text.before(text.module.class(class.class).statement, &[&decorator]));
            }
        }
    }
    let data = text.module.call(call);
    let name = assigned(text, call);
    let mut lines = Vec::new();
    match looked_up(job, file, call) {
        LookedUp::No => {}
        LookedUp::Scaled(own, own_uses) => {
            edits.extend(own);
            uses.extend(own_uses);
        }
        LookedUp::Later => match &name {
            Some(name) => {
                let size = code.size();
                lines.push(format!("{name}.learning_rate = float({name}.learning_rate) * {size}"));
            }
            None => return Making::Fails("Its learning rate is known only when the program runs."),
        },
        LookedUp::Fails(reason) => return Making::Fails(reason),
    }
    if !lines.is_empty() && !runs_started(job, file, call) {
        return Making::Fails(EARLY);
    }
    if let Some(name) = name {
        lines.extend(code.if_started(text, &[format!("{name} = {hvd}.DistributedOptimizer({name})")]));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        edits.extend(text.after(data.statement, &lines));
    } else {
        edits.extend(text.wrap(data.range, &format!("{hvd}.DistributedOptimizer("), ")"));
        everywhere.clear();
    }
    Making::Edits(edits, uses, everywhere)
}

/// The code that makes a call.
fn code(job: &Job<'_>, file: FileId, call: CallId) -> Code {
    job.code(file, job.facts.module(file).call(call).scope)
}

/// The name that a statement gives to the result of a call, if that is all that it does.
fn assigned(text: Text<'_>, call: CallId) -> Option<String> {
    let data = text.module.call(call);
    if data.role != Role::Assigned {
        return None;
    }
    let definition = text.module.definitions.iter().find(|definition| {
        definition.statement == Some(data.statement) && definition.kind == DefinitionKind::Assignment
    })?;
    Some(text.module.variable_name(definition.variable).to_owned())
}

/// What `tf.keras.optimizers.get` is given.
enum LookedUp {
    /// The call is another.
    No,
    /// Something whose learning rate these edits scale.
    Scaled(Vec<Edit>, Vec<(FileId, Import)>),
    /// A string that is known only when the program runs.
    Later,
    /// Something that can't be scaled: why.
    Fails(&'static str),
}

/// A function that looks an optimizer up by its name or description gets it with a scaled rate.
fn looked_up(job: &Job<'_>, file: FileId, call: CallId) -> LookedUp {
    let facts = job.facts;
    let data = facts.module(file).call(call);
    let mut functions =
        facts.called_symbols(file, call).filter(|symbol| *symbol.role() == SymbolRole::Function);
    let Some(argument) = functions.find_map(|symbol| {
        let first = symbol.parameters().first()?;
        facts.argument(file, data, symbol, first.name())
    }) else {
        return LookedUp::No;
    };
    match Origin::of(job, file, argument.value) {
        Origin::Named(name) => match constructor(job, file, &code(job, file, call), &name) {
            Some(_) if !runs_started(job, file, call) => LookedUp::Fails(EARLY),
            Some((made, uses)) => match job.text(file) {
                Some(text) => LookedUp::Scaled(vec![text.replace(argument.range, made)], uses),
                None => LookedUp::Fails(GONE),
            },
            None => LookedUp::Fails(NO_NAME),
        },
        Origin::NamedLater => LookedUp::Later,
        Origin::Described(of, value) => match scaled_description(job, of, value) {
            Ok((edits, uses)) => LookedUp::Scaled(edits, uses),
            Err(reason) => LookedUp::Fails(reason),
        },
        Origin::Made(_) | Origin::Unseen => LookedUp::No,
    }
}

/// One that `compile` takes because it is given none.
pub(super) fn omitted(job: &Job<'_>, file: FileId, call: CallId, symbol: &Symbol) -> Making {
    let default = symbol.parameter("optimizer").and_then(Parameter::default);
    let code = code(job, file, call);
    match default.and_then(|name| constructor(job, file, &code, name.trim_matches(['\'', '"']))) {
        Some((made, uses)) => in_front(job, (file, call), None, &[made], uses, Averages::Optimizer),
        None => Making::Fails(NO_NAME),
    }
}

/// One that a string names.
pub(in crate::distribute) fn named(
    job: &Job<'_>,
    (file, call): Place,
    argument: &Argument,
    name: &str,
    averages: Averages,
) -> Making {
    match constructor(job, file, &code(job, file, call), name) {
        Some((made, uses)) => in_front(job, (file, call), Some(argument), &[made], uses, averages),
        None => Making::Fails(NO_NAME),
    }
}

/// One that a string names which is known only when the program runs.
pub(super) fn named_later(job: &Job<'_>, file: FileId, call: CallId, argument: &Argument) -> Making {
    let Some(text) = job.text(file) else { return Making::Fails(GONE) };
    let (keras, import) = job.keras_of_models(file);
    let name = fresh(text.module, NAME);
    let size = code(job, file, call).size();
    let made = format!("{keras}.optimizers.get({})", text.slice(argument.range));
    let scaled = format!("{name}.learning_rate = float({name}.learning_rate) * {size}");
    in_front(job, (file, call), Some(argument), &[made, scaled], vec![import], Averages::Optimizer)
}

/// The name of an optimizer that had none.
const NAME: &str = "optimizer";

/// Who averages the gradients that an optimizer applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::distribute) enum Averages {
    /// It does so itself: it is distributed.
    Optimizer,
    /// The tape that takes them.
    Tape,
}

/// An optimizer is made and distributed in front of the call of `compile` that takes it: by an expression, and what
/// else is done to it.
fn in_front(
    job: &Job<'_>,
    (file, call): Place,
    argument: Option<&Argument>,
    made: &[String],
    mut uses: Vec<(FileId, Import)>,
    averages: Averages,
) -> Making {
    let Some(text) = job.text(file) else { return Making::Fails(GONE) };
    let data = text.module.call(call);
    if data.role != Role::Statement {
        return Making::Fails("The call of `compile` is no statement of its own.");
    }
    if !runs_started(job, file, call) {
        return Making::Fails(EARLY);
    }
    let code = code(job, file, call);
    let hvd = &code.horovod;
    uses.push(code.import);
    let name = fresh(text.module, NAME);
    let mut lines = vec![format!("{name} = {}", made[0])];
    lines.extend(made[1..].iter().cloned());
    if averages == Averages::Optimizer {
        lines.extend(code.if_started(text, &[format!("{name} = {hvd}.DistributedOptimizer({name})")]));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut edits = text.before(data.statement, &lines);
    edits.push(match argument {
        Some(argument) => text.replace(argument.range, name),
        None => text.append_argument(data, &format!("optimizer={name}")),
    });
    Making::Edits(edits, uses, code.everywhere())
}

/// One that a dictionary describes.
pub(super) fn described(
    job: &Job<'_>,
    (file, call): Place,
    argument: &Argument,
    (of, description): (FileId, ValueId),
) -> Making {
    let Some(text) = job.text(file) else { return Making::Fails(GONE) };
    let (scaled, mut uses) = match scaled_description(job, of, description) {
        Ok(scaled) => scaled,
        Err(reason) => return Making::Fails(reason),
    };
    let is_here = of == file && argument.range.contains_range(text.module.value(description).range);
    if is_here {
        // The dictionary stays where it is; what changes within it is changed there.
        let (hvd, horovod) = job.horovod(file);
        let (keras, import) = job.keras_of_models(file);
        let opening = format!("{hvd}.DistributedOptimizer({keras}.optimizers.get(");
        let mut edits = text.wrap(argument.range, &opening, "))");
        edits.extend(scaled);
        uses.extend([horovod, import]);
        return Making::Edits(edits, uses, Vec::new());
    }
    let (keras, import) = job.keras_of_models(file);
    uses.push(import);
    let made = format!("{keras}.optimizers.get({})", text.slice(argument.range));
    match in_front(job, (file, call), Some(argument), &[made], uses, Averages::Optimizer) {
        Making::Edits(mut edits, uses, _) => {
            edits.extend(scaled);
            Making::Edits(edits, uses, Vec::new())
        }
        fails @ Making::Fails(_) => fails,
    }
}

/// The package of the classes that names stand for.
const KERAS: &str = "tensorflow.keras";

/// `tf.keras.optimizers.Adam(learning_rate=0.001 * hvd.size())` for a name.
fn constructor(
    job: &Job<'_>,
    file: FileId,
    code: &Code,
    name: &str,
) -> Option<(String, Vec<(FileId, Import)>)> {
    let class = job.facts.library.optimizer_named(name)?;
    let (rate, default) = rate(class)?;
    let (keras, import) = job.keras_of_models(file);
    let path = class.name().strip_prefix(KERAS)?;
    let size = code.size();
    Some((format!("{keras}{path}({rate}={default} * {size})"), vec![code.import, import]))
}

/// The parameter of a class that grows with the number of ranks, and its default.
fn rate(class: &Symbol) -> Option<(&str, &str)> {
    let (rate, _) = class.scaled().find(|(_, scaling)| *scaling == Scaling::Multiply)?;
    Some((rate, class.parameter(rate)?.default()?))
}

/// The edits that scale the rate in `{'class_name': 'Adam', 'config': {'learning_rate': 0.01}}`.
fn scaled_description(job: &Job<'_>, file: FileId, description: ValueId) -> Result<Changes, &'static str> {
    const UNSEEN: &str = "It can't be seen which learning rate the dictionary gives.";
    let text = job.text(file).ok_or(GONE)?;
    let entry = |of: ValueId, key: &str| {
        let Value::Display(_, elements) = &text.module.value(of).value else { return None };
        elements.iter().find_map(|element| match element {
            Element::Key(own, value) if is_string(job, file, *own, key) => Some(*value),
            _ => None,
        })
    };
    let name = entry(description, "class_name").ok_or(UNSEEN)?;
    let Origin::Named(name) = Origin::of(job, file, name) else { return Err(UNSEEN) };
    let class = job.facts.library.optimizer_named(&name).ok_or(NO_NAME)?;
    let (rate, default) = rate(class).ok_or(UNSEEN)?;
    let config = entry(description, "config").ok_or(UNSEEN)?;
    let place = text.module.value(config).range;
    if !matches!(text.module.value(config).value, Value::Display(..)) {
        return Err(UNSEEN);
    }
    let scope = text.module.value(config).scope;
    if !code_runs_started(job, file, scope, place.start()) {
        return Err(EARLY);
    }
    let (hvd, import) = job.horovod(file);
    let factor = format!("{hvd}.size()");
    let edits = if let Some(value) = entry(config, rate) {
        if reads_size(job, file, value) {
            return Ok((Vec::new(), Vec::new()));
        }
        text.multiply(written(text.module, place, value).ok_or(UNSEEN)?, &factor)
    } else {
        let comma = if place.len().to_usize() > 2 { ", " } else { "" };
        let inside = place.start() + TextSize::from(1);
        vec![text.insert(inside, format!("'{rate}': {default} * {factor}{comma}"))]
    };
    Ok((edits, vec![import]))
}

/// Whether a value is this string.
fn is_string(job: &Job<'_>, file: FileId, value: ValueId, text: &str) -> bool {
    let mut objects = job.facts.objects(file, value);
    objects.any(|(_, object)| match object {
        Object::Literal(Literal::Str(name)) => job.facts.solution.names.text(name) == text,
        _ => false,
    })
}
