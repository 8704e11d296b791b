//! The learning rate of each optimizer grows with the number of ranks, as the batch does.
//!
//! The seed's rule for optimizers (section 2.3), which scales an argument; here a rate that is not written is scaled
//! too, and what is no number is left to the other rules.

pub(super) mod rate_changes;
pub(super) mod rates;
pub(super) mod shared_rates;

use rustc_hash::FxHashSet;

use super::bound::within;
use super::distribution_rule;
use super::job::Job;
use super::keras::{Compile, Given, StepOf, compiles, given, models_of};
use super::obstacles::choices::rests_on_own_results;
use super::obstacles::old_keras::KERAS;
use super::obstacles::own_results::depends;
use super::optimizer::maker::{OPTIMIZER, Origin};
use super::optimizer::remade::{self, Averages, Making};
use super::ranked::knows_size;
use super::session;
use super::step::{Outcome, Step};
use super::unstarted::Code;
use crate::api::Kind;
use crate::finding::{Edit, Finding};
use crate::program::{Creation, LoopKind, Object, ObjectId, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Passing, Role, StatementKind, Value, ValueId};
use rate_changes::{Following, OF_OWN_RESULTS};
use rates::Optimizer;

distribution_rule!("HVD202", "learning-rate-not-scaled", steps);

/// What the rate's parameter was called before Keras 2.3; later classes ignore it.
pub(super) const FORMER_NAME: &str = "lr";

fn steps(job: &Job<'_>) -> Vec<Step> {
    let optimizers = rates::stepping(job);
    let mut found: Vec<Step> =
        optimizers.iter().filter_map(|optimizer| step(job, *optimizer, &optimizers)).collect();
    found.extend(rate_changes::steps(job, &RULE.rule, &optimizers));
    found.extend(unknown(job));
    found.extend(named_for_tapes(job));
    found
}

/// Optimizers that models with a `train_step` of their own are compiled with by their names; the others are distributed, and
/// scaled with that.
fn named_for_tapes(job: &Job<'_>) -> Vec<Step> {
    let facts = job.facts;
    let by_tape =
        |own: &&TrainingLoop| own.kind == LoopKind::KerasFit && StepOf::of(job, own) == StepOf::Tape;
    let loops = job.program.loops.iter().filter(by_tape);
    let models: FxHashSet<ObjectId> = loops.flat_map(|own| own.models.iter().copied()).collect();
    let mut found = Vec::new();
    if models.is_empty() || job.program.already_distributed {
        return found;
    }
    for Compile { file, call, symbol } in compiles(job) {
        if !models_of(job, file, call).iter().any(|model| models.contains(model)) {
            continue;
        }
        let Given::Argument(argument) = given(job, file, call, symbol, OPTIMIZER) else { continue };
        let Origin::Named(name) = Origin::of(job, file, argument.value) else { continue };
        let message = "the learning rate of this optimizer does not grow with the number of ranks";
        let finding = Step::missing(&RULE.rule, facts.location(file, argument.range), message)
            .here("the default rate for one rank")
            .help("make it by a call, and multiply its rate by the number of ranks")
            .in_scope(job.scope_of(file, call));
        found.push(match remade::named(job, (file, call), argument, &name, Averages::Tape) {
            Making::Edits(edits, uses, everywhere) => {
                Step::change(finding, "scale its learning rate", edits, uses).right_everywhere_in(everywhere)
            }
            Making::Fails(reason) => Step::blocked(finding, reason),
        });
    }
    found
}

/// The steps of optimizers of which nothing is known. In a program that uses Horovod they may be right.
fn unknown(job: &Job<'_>) -> Vec<Step> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let facts = job.facts;
    let mut steps: Vec<_> = job.tape_loops().flat_map(|own| own.steps.iter().copied()).collect();
    steps.sort_unstable();
    steps.dedup();
    steps.retain(|&(file, call)| {
        facts.receiver(file, facts.module(file).call(call)).is_some_and(|receiver| {
            facts.is_unknown(file, receiver) && facts.of_kind(file, receiver, Kind::Optimizer).is_empty()
        })
    });
    let blocked = |(file, call)| {
        let message = "it can't be seen how the optimizer is made that steps here";
        let finding = Step::missing(&RULE.rule, job.at_call(file, call), message)
            .here("step of an unknown optimizer")
            .help("make the optimizer by a call of its class")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, "Its learning rate, which has to grow with the number of ranks, is not known.")
    };
    let found = steps.into_iter().map(blocked);
    let found = found.chain(rates::of_unknown_class(job).into_iter().map(of_unknown_class(job)));
    found.chain(of_own_constructors(job)).collect()
}

/// Optimizers whose class has a constructor of its own, of which it can't be seen what becomes the rate.
fn of_own_constructors(job: &Job<'_>) -> Vec<Step> {
    let stepping: FxHashSet<ObjectId> = {
        let loops = job.program.loops.iter().chain(&job.program.steps_of_fit);
        loops.flat_map(|own| own.optimizers.iter().copied()).collect()
    };
    let hidden = rates::of_own_classes(job).into_iter().filter(|(made, class)| {
        class.is_none() && stepping.contains(&made.object) && !knows_size_of(job, made)
    });
    let step = |(made, _): (&Creation, _)| {
        let message = "it can't be seen which learning rate this optimizer is made with";
        let finding = Step::missing(&RULE.rule, job.at_call(made.file, made.call), message)
            .here("a class of the program's own")
            .help("give the rate by its name: `learning_rate=...`")
            .in_scope(job.scope_of(made.file, made.call));
        Step::blocked(
            finding,
            "The constructor of its class decides, and the rate has to grow with the number of ranks.",
        )
    };
    hidden.map(step).collect()
}

/// Whether a call that makes an optimizer is given something that depends on the number of ranks.
fn knows_size_of(job: &Job<'_>, made: &Creation) -> bool {
    let arguments = job.facts.module(made.file).call(made.call).arguments.iter();
    let given: Vec<_> = arguments.map(|own| (made.file, own.value)).collect();
    knows_size(job, &given)
}

/// `optimizer = tf.keras.optimizers.get(settings)`: which class it makes, and with which rate, is not written; its rate is
/// set anew behind that.
fn of_unknown_class<'j>(job: &'j Job<'_>) -> impl Fn((FileId, CallId)) -> Step + 'j {
    |(file, id)| {
        let call = job.facts.module(file).call(id);
        let message = "the learning rate of this optimizer does not grow with the number of ranks";
        let finding = Step::missing(&RULE.rule, job.at_call(file, id), message)
            .here("an optimizer of some class")
            .help("multiply its rate by the number of ranks")
            .in_scope(job.scope_of(file, id));
        let changed = job.text(file).and_then(|text| {
            let code = job.code(file, call.scope);
            let statement = text.module.statement(call.statement);
            let is_named =
                call.role == Role::Assigned && statement.kind == StatementKind::Assign { simple: true };
            let own = within(text.module, statement.range).next().filter(|_| is_named)?;
            let name = text.module.variable_name(own.variable);
            let line = format!("{name}.learning_rate = {name}.learning_rate * {}", code.size());
            Some((code, text.after(call.statement, &[&line])))
        });
        match changed {
            Some((code, edits)) => {
                code.step(Step::change(finding, "scale its learning rate", edits, vec![code.import]))
            }
            None => Step::blocked(finding, "It has no name by which its rate could be set anew."),
        }
    }
}

fn step(job: &Job<'_>, optimizer: Optimizer<'_>, all: &[Optimizer<'_>]) -> Option<Step> {
    let Optimizer { made, class } = optimizer;
    if !job.program.already_distributed && is_told_own_results(job, optimizer) {
        return Some(Step::blocked(finding(job, optimizer, UNSCALED), OF_OWN_RESULTS));
    }
    let parameter = rates::scaled(class).next()?;
    let given = rates::given(job, made, class, parameter);
    if given.is_none()
        && let Some(former) = rates::keyword(job, made.file, made, FORMER_NAME)
    {
        return former_name(job, optimizer, parameter, former);
    }
    match given {
        Some(argument) => rate(job, optimizer, argument, all),
        None => default(job, optimizer, parameter),
    }
}

fn finding(job: &Job<'_>, optimizer: Optimizer<'_>, what: &str) -> Finding {
    let Optimizer { made, class } = optimizer;
    let message = format!("the learning rate of `{}` {what}", class.last_name());
    Step::missing(&RULE.rule, job.at_call(made.file, made.call), message)
        .here("the rate for one rank")
        .help("multiply the rate by the number of ranks: `* hvd.size()`")
        .in_scope(job.scope_of(made.file, made.call))
        .confidence(job.taste())
}

/// Whether a rank's own results, or what it draws, are told to an optimizer, or choose what it is told: its rate, or its momentum.
fn is_told_own_results(job: &Job<'_>, optimizer: Optimizer<'_>) -> bool {
    let file = optimizer.made.file;
    let module = job.facts.module(file);
    module.call(optimizer.made.call).arguments.iter().any(|own| {
        let place = (file, own.value);
        // One constant stands for all that are written alike.
        let is_constant = matches!(module.value(own.value).value, Value::Constant(_));
        depends(job, place) || !is_constant && rests_on_own_results(job, place)
    })
}

const UNSCALED: &str = "does not grow with the number of ranks";

/// A rate that is written; `all` are the optimizers of the program.
fn rate(job: &Job<'_>, optimizer: Optimizer<'_>, argument: &Argument, all: &[Optimizer<'_>]) -> Option<Step> {
    let file = optimizer.made.file;
    let facts = job.facts;
    if knows_size(job, &[(file, argument.value)]) {
        return None;
    }
    if facts.may_be(file, argument.value, Kind::Schedule) {
        let finding = || finding(job, optimizer, UNSCALED);
        if let Some(shared) = shared_rates::shared(job, (file, argument.value)) {
            let code = code(job, optimizer);
            let edits = job.text(file)?.multiply(shared.expression, &code.size());
            return Some(code.step(Step::change(
                finding(),
                "scale the learning rate",
                edits,
                vec![code.import],
            )));
        }
        let is_number = may_be_number(job, file, argument.value);
        return is_number.then(|| Step::blocked(finding(), OF_TWO_KINDS));
    }
    // The initial rate is scaled.
    if !rates::decays(job, (file, argument.value)).is_empty() {
        return None;
    }
    let finding = finding(job, optimizer, UNSCALED);
    let mut objects = facts.objects(file, argument.value);
    let in_graph = session::sessions(job).next().is_some();
    if !in_graph && facts.may_be(file, argument.value, Kind::Variable) {
        let reason = "The rate is a variable of TensorFlow, which the program may change.";
        return Some(Step::blocked(finding, reason));
    }
    if objects.any(|(_, object)| matches!(object, Object::Function(_) | Object::Bound(..))) {
        let reason = "The rate is a function, whose result would have to be scaled.";
        return Some(Step::blocked(finding, reason));
    }
    match rate_changes::following(job, file, argument, all) {
        Following::None => {}
        Following::Always => return None,
        Following::Sometimes => {
            let reason = "The rate may be computed from that of an optimizer, which has grown already: it would grow again.";
            return Some(Step::blocked(finding, reason));
        }
    }
    let code = code(job, optimizer);
    let edits = job.text(file)?.multiply(argument.range, &code.size());
    Some(code.step(Step::change(finding, "scale the learning rate", edits, vec![code.import])))
}

/// Why a rate that may be a number or a schedule can't be scaled.
const OF_TWO_KINDS: &str = "The rate may be a schedule, whose rates grow, or a number: multiply the number where no schedule is made of it.";

/// Whether one of the ways on which a value comes about gives no schedule: `rate` of which a schedule is made under a
/// condition only.
fn may_be_number(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let Value::Phi(ways) = &job.facts.module(file).value(value).value else { return false };
    let is_schedule = |own: ValueId| job.facts.may_be(file, own, Kind::Schedule);
    let is_none = |own: ValueId| job.facts.is_none(file, own);
    ways.iter().any(|&own| !is_schedule(own) && !is_none(own))
}

/// A rate under its former name: it gets the name that all versions know.
fn former_name(
    job: &Job<'_>,
    optimizer: Optimizer<'_>,
    parameter: &str,
    argument: &Argument,
) -> Option<Step> {
    let file = optimizer.made.file;
    if knows_size(job, &[(file, argument.value)]) {
        return None;
    }
    let text = job.text(file)?;
    let whole = text.with_keyword(job.facts.module(file).call(optimizer.made.call), argument.range);
    let code = code(job, optimizer);
    let mut edits = text.multiply(argument.range, &code.size());
    if let Some(name) = text.name_at(whole.start()) {
        edits.push(text.replace(name, parameter));
    }
    let finding = finding(job, optimizer, UNSCALED)
        .note(format!("TensorFlow 2.11 and later ignore `{FORMER_NAME}`; the name becomes `{parameter}`."));
    Some(code.step(Step::change(finding, "scale the learning rate", edits, vec![code.import])))
}

/// The code that makes an optimizer.
fn code(job: &Job<'_>, optimizer: Optimizer<'_>) -> Code {
    let Optimizer { made, .. } = optimizer;
    job.code(made.file, job.facts.module(made.file).call(made.call).scope)
}

/// A rate that is not written: the default, scaled.
fn default(job: &Job<'_>, optimizer: Optimizer<'_>, parameter: &str) -> Option<Step> {
    let Optimizer { made, class } = optimizer;
    let finding = finding(job, optimizer, "is the default, which does not grow with the number of ranks");
    if rates::unpacks(job, made) {
        let reason =
            "Its arguments are unpacked from another object, so that it can't be seen where the rate is.";
        return Some(Step::blocked(finding, reason));
    }
    if has_default_of_its_version(job, optimizer) {
        let finding = finding.note(OTHER_DEFAULTS);
        return Some(Step { finding, outcome: Outcome::ByHand, everywhere: Vec::new() });
    }
    let value = class.parameter(parameter)?.default().filter(|value| value.parse::<f64>().is_ok())?;
    let code = code(job, optimizer);
    let text = job.text(made.file)?;
    let call = job.facts.module(made.file).call(made.call);
    let argument = format!("{parameter}={value} * {}", code.size());
    let has_positions = call.arguments.iter().any(|argument| argument.passing == Passing::Positional);
    let edit: Edit = if has_positions {
        text.append_argument(call, &argument)
    } else {
        text.prepend_argument(call, &argument)
    };
    Some(code.step(Step::change(finding, "scale the default learning rate", vec![edit], vec![code.import])))
}

/// Whether the default rate of an optimizer of a Keras outside of TensorFlow depends on the version: 1.0 for `Adadelta` up to
/// Keras 2.3, 0.001 since.
fn has_default_of_its_version(job: &Job<'_>, Optimizer { made, class }: Optimizer<'_>) -> bool {
    let facts = job.facts;
    let is_outside = |object: Object| match object {
        Object::External(external) => facts.solution.externals.get(external).path.starts_with(KERAS),
        _ => false,
    };
    CHANGED_DEFAULTS.contains(&class.last_name())
        && facts
            .callees(made.file, made.call)
            .iter()
            .any(|edge| is_outside(facts.solution.object(edge.callee)))
}

/// The optimizers whose default rate has changed with Keras 2.4.
const CHANGED_DEFAULTS: [&str; 4] = ["Adadelta", "Adagrad", "Adamax", "Nadam"];

/// Why such a rate is not scaled.
const OTHER_DEFAULTS: &str =
    "Which rate that is depends on the version of Keras: write it down, and it is scaled.";
