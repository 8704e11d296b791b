//! Where the product means to differ from the published output, in one place: each difference is a function on the
//! published tree, with its number in the specification's list of departures and its reason.
//!
//! Only differences that meet nearly every program are here. Programs that meet one of the others (4, 6, 10 to 14)
//! are not generated. To change what the product should write, change the function that the table names.

mod broadcast;
mod callbacks;
mod rates;

use hvdlint::syntax::ast::Stmt;

use crate::rules::Pattern;
use crate::rules::classes::Classes;
use crate::tree::{equal, every_suite, path, statements, strict_assignment};

/// A difference between the published output and the product's.
pub struct Departure {
    /// Its number in the specification, or the page that shows it.
    pub number: &'static str,
    /// What is wrong with the published output.
    pub reason: &'static str,
    /// From the published tree to the one that is wanted.
    apply: fn(&Program, Vec<Stmt>) -> Vec<Stmt>,
}

/// What the departures know of the program.
pub struct Program {
    pattern: Pattern,
    classes: Classes,
}

/// The differences, in the order in which they are applied.
pub const DEPARTURES: &[Departure] = &[
    Departure {
        number: "8",
        reason: "with `import tensorflow` and `from tensorflow import keras` the preamble is written twice, once with a \
                 `keras.config` that does not exist",
        apply: one_preamble,
    },
    Departure {
        number: "1",
        reason: "`horovod.tensorflow` has no `callbacks`: a program that calls `fit` needs `horovod.tensorflow.keras`",
        apply: horovod_for_keras,
    },
    Departure {
        number: "the preamble of the emission examples",
        reason: "`list_physical_devices` and `set_visible_devices` left `config.experimental` in TensorFlow 2.1",
        apply: settled_names,
    },
    Departure {
        number: "2, 3",
        reason: "`global` after an assignment in the same scope is a syntax error, and a `zip` that was consumed has no \
                 variables left: one flag for each loop, the variables of the model",
        apply: broadcast::once,
    },
    Departure {
        number: "5",
        reason: "`callback = [...]` and then `callbacks.append` is a NameError: one list, the broadcast first",
        apply: callbacks::one_list,
    },
    Departure {
        number: "7",
        reason: "a schedule times a number is a TypeError: the schedule's rates are scaled, the optimizer that takes it \
                 is not; and a tape's optimizer is scaled whatever its class and however it is imported",
        apply: rates::scaled_once,
    },
    Departure {
        number: "9",
        reason: "a distributed optimizer averages nothing in `apply_gradients`: the tape is distributed, and alone",
        apply: plain_optimizer,
    },
    Departure {
        number: "15",
        reason: "`steps_per_epoch` counts the batches of one rank; the published rules leave it as it is",
        apply: callbacks::steps_divided,
    },
];

/// What the product should make of a program of which the published rules make `published`.
pub fn departed(pattern: Pattern, source: &[Stmt], published: Vec<Stmt>) -> Vec<Stmt> {
    let program = Program { pattern, classes: Classes::of(source) };
    DEPARTURES.iter().fold(published, |body, departure| (departure.apply)(&program, body))
}

/// The statements that the published preamble has after the import of Horovod and the flag.
fn published_devices(tensorflow: &str) -> Vec<Stmt> {
    statements(&format!(
        "\
gpus = {tensorflow}.config.experimental.list_physical_devices('GPU')
for gpu in gpus: {tensorflow}.config.experimental.set_memory_growth(gpu, True)
if gpus: {tensorflow}.config.experimental.set_visible_devices(gpus[hvd.local_rank()], 'GPU')
"
    ))
}

/// Where the import of Horovod stands.
fn imports_of_horovod(body: &[Stmt]) -> Vec<usize> {
    let horovod = |stmt: &Stmt| {
        let Stmt::Import(import) = stmt else { return false };
        import.names.iter().any(|alias| alias.name.id.starts_with("horovod."))
    };
    (0..body.len()).filter(|&at| horovod(&body[at])).collect()
}

/// The preamble of `from tensorflow import keras` goes where `import tensorflow` has one too.
fn one_preamble(_: &Program, mut body: Vec<Stmt>) -> Vec<Stmt> {
    for at in imports_of_horovod(&body).into_iter().rev() {
        let follows = matches!(at.checked_sub(1).map(|at| &body[at]), Some(Stmt::ImportFrom(_)));
        if follows && imports_of_horovod(&body).len() > 1 {
            // The import, `hvd.init()` and three statements about devices.
            body.drain(at..at + 5);
        }
    }
    body
}

fn horovod_for_keras(program: &Program, mut body: Vec<Stmt>) -> Vec<Stmt> {
    if program.pattern == Pattern::Keras {
        for at in imports_of_horovod(&body) {
            body[at] = statements("import horovod.tensorflow.keras as hvd").remove(0);
        }
    }
    body
}

fn settled_names(_: &Program, mut body: Vec<Stmt>) -> Vec<Stmt> {
    for at in 0..body.len().saturating_sub(2) {
        let Some((_, call)) = strict_assignment(&body[at]) else { continue };
        let Some(tensorflow) = path(&call.func).map(|path| path[0].to_owned()) else { continue };
        if equal(&body[at..at + 3], &published_devices(&tensorflow)) {
            let wanted = statements(&format!(
                "\
gpus = {tensorflow}.config.list_physical_devices('GPU')
for gpu in gpus:
    {tensorflow}.config.experimental.set_memory_growth(gpu, True)
if gpus:
    {tensorflow}.config.set_visible_devices(gpus[hvd.local_rank()], 'GPU')
"
            ));
            body.splice(at..at + 3, wanted);
        }
    }
    body
}

/// A tape's optimizer is not wrapped.
fn plain_optimizer(program: &Program, body: Vec<Stmt>) -> Vec<Stmt> {
    if program.pattern == Pattern::Keras {
        return body;
    }
    let wraps = |stmt: &Stmt| {
        strict_assignment(stmt)
            .is_some_and(|(_, call)| path(&call.func) == Some(vec!["hvd", "DistributedOptimizer"]))
    };
    every_suite(body, &|suite| suite.into_iter().filter(|stmt| !wraps(stmt)).collect())
}
