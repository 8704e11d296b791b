//! Where the product means to differ from the published output, in one place: each difference is a function on the
//! published tree, with its number in the specification's list of departures and its reason.
//!
//! Only differences that meet nearly every program are here. Programs that meet one of the others (4, 6, 10 to 14)
//! are not generated. To change what the product should write, change the function that the table names.

mod broadcast;
mod callbacks;
mod downloads;
mod guards;
mod preamble;
mod rates;
mod seeds;

use hvdlint::syntax::ast::Stmt;

use crate::rules::Pattern;
use crate::rules::classes::Classes;
use crate::tree::{every_suite, is_path, strict_assignment};

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
        apply: preamble::once,
    },
    Departure {
        number: "1",
        reason: "`horovod.tensorflow` has no `callbacks`: a program that calls `fit` needs `horovod.tensorflow.keras`",
        apply: preamble::for_keras,
    },
    Departure {
        number: "the preamble of the emission examples",
        reason: "`list_physical_devices` and `set_visible_devices` left `config.experimental` in TensorFlow 2.1",
        apply: preamble::settled_names,
    },
    Departure {
        number: "2, 3, 4",
        reason: "`global` after an assignment in the same scope is a syntax error, and a `zip` that was consumed has no \
                 variables left: one flag for each loop, in the loop's own code, and the variables of the model",
        apply: broadcast::once,
    },
    Departure {
        number: "the page of horovod-not-initialised",
        reason: "behind `import tensorflow` the GPU is chosen while other modules are still to be imported: the preamble \
                 stands behind the imports",
        apply: preamble::behind_imports,
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
    Departure {
        number: "L6 of the mistakes with Horovod",
        reason: "where the ranks share the steps, a schedule that counts all of them comes to its end too late",
        apply: rates::steps_shared,
    },
    Departure {
        number: "F2 of the mistakes with Horovod",
        reason: "with one seed for all, the ranks shuffle alike and train on the same examples",
        apply: seeds::of_each_rank,
    },
    Departure {
        number: "I4 of the mistakes with Horovod",
        reason: "ranks that download to one place at the same time read the beginning of a file, or write over it",
        apply: downloads::first_by_one,
    },
    Departure {
        number: "the page of output-on-every-rank",
        reason: "each of several neighbouring statements gets a guard of its own, which nobody would write",
        apply: guards::joined,
    },
];

/// What the product should make of a program of which the published rules make `published`.
pub fn departed(pattern: Pattern, source: &[Stmt], published: Vec<Stmt>) -> Vec<Stmt> {
    let program = Program { pattern, classes: Classes::of(source) };
    DEPARTURES.iter().fold(published, |body, departure| (departure.apply)(&program, body))
}

/// A tape's optimizer is not wrapped.
fn plain_optimizer(program: &Program, body: Vec<Stmt>) -> Vec<Stmt> {
    if program.pattern == Pattern::Keras {
        return body;
    }
    let wraps = |stmt: &Stmt| {
        strict_assignment(stmt).is_some_and(|(_, call)| is_path(&call.func, "hvd.DistributedOptimizer"))
    };
    every_suite(body, &|suite| suite.into_iter().filter(|stmt| !wraps(stmt)).collect())
}
