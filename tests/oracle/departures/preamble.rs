//! What is written after the imports: departures 1 and 8, the place, and names that TensorFlow has settled.

use hvdlint::syntax::ast::Stmt;

use super::Program;
use crate::rules::Pattern;
use crate::tree::{equal, is_path, path, statements, strict_assignment};

/// How many statements a preamble has without its flag: the import, `hvd.init()` and three about devices.
const LENGTH: usize = 5;

/// Where the imports of Horovod stand, with which each preamble begins.
pub fn starts(body: &[Stmt]) -> Vec<usize> {
    let horovod = |stmt: &Stmt| {
        let Stmt::Import(import) = stmt else { return false };
        import.names.iter().any(|alias| alias.name.id.starts_with("horovod."))
    };
    (0..body.len()).filter(|&at| horovod(&body[at])).collect()
}

/// The preamble of `from tensorflow import keras` goes where `import tensorflow` has one too.
pub fn once(_: &Program, mut body: Vec<Stmt>) -> Vec<Stmt> {
    for at in starts(&body).into_iter().rev() {
        let follows = matches!(at.checked_sub(1).map(|at| &body[at]), Some(Stmt::ImportFrom(_)));
        if follows && starts(&body).len() > 1 {
            body.drain(at..at + LENGTH);
        }
    }
    body
}

/// `import horovod.tensorflow.keras as hvd` where `fit` is called.
pub fn for_keras(program: &Program, mut body: Vec<Stmt>) -> Vec<Stmt> {
    if program.pattern == Pattern::Keras {
        for at in starts(&body) {
            body[at] = statements("import horovod.tensorflow.keras as hvd").remove(0);
        }
    }
    body
}

/// `config.list_physical_devices` and `config.set_visible_devices`.
pub fn settled_names(_: &Program, mut body: Vec<Stmt>) -> Vec<Stmt> {
    for at in 0..body.len().saturating_sub(2) {
        let Some((_, call)) = strict_assignment(&body[at]) else { continue };
        let Some(tensorflow) = path(&call.func).map(|path| path[0].to_owned()) else { continue };
        if equal(&body[at..at + 3], &devices(&tensorflow, "config.experimental")) {
            body.splice(at..at + 3, devices(&tensorflow, "config"));
        }
    }
    body
}

/// The statements about devices, with two of the functions in `config`.
fn devices(tensorflow: &str, config: &str) -> Vec<Stmt> {
    statements(&format!(
        "\
gpus = {tensorflow}.{config}.list_physical_devices('GPU')
for gpu in gpus:
    {tensorflow}.config.experimental.set_memory_growth(gpu, True)
if gpus:
    {tensorflow}.{config}.set_visible_devices(gpus[hvd.local_rank()], 'GPU')
"
    ))
}

/// The preamble goes behind the last import.
pub fn behind_imports(_: &Program, mut body: Vec<Stmt>) -> Vec<Stmt> {
    let Some(&at) = starts(&body).first() else { return body };
    let preamble: Vec<_> = body.drain(at..at + LENGTH).collect();
    let top = body.iter().take_while(|stmt| is_top(stmt)).count();
    body.splice(top..top, preamble);
    body
}

/// Whether a statement may stand among the imports.
fn is_top(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Import(_) | Stmt::ImportFrom(_) => true,
        Stmt::Expr(docstring) => docstring.value.is_string_literal_expr(),
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [target] => target.as_subscript_expr().is_some_and(|target| is_path(&target.value, "os.environ")),
            _ => false,
        },
        _ => false,
    }
}
