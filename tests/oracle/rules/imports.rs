//! Imports and aliases: what they record, and what is written after the import of TensorFlow.

use hvdlint::syntax::ast::{Alias, Stmt};

use super::env::{Env, Key};
use super::{Output, Pattern, Rules};
use crate::tree::statements;

impl Rules {
    /// `trans_S[import alias*]` and `trans_S[from i id? import alias*]`
    ///
    /// Reading: both sections print the rule of `import` twice, with `hvd_broadcast_done = False` and without. Of two
    /// functions on the same statements one applies. The flag is read by the rule of `apply_gradients`, and the
    /// first is taken for the tape pattern, the second for the Keras pattern.
    pub fn import(&self, stmt: &Stmt, env: &Env) -> Output {
        let (names, horovod, name) = match stmt {
            Stmt::Import(import) => {
                let after = trans_aliases(&import.names, env);
                let name = after.only_new(env, Key::TensorFlow).map(str::to_owned);
                (after, "horovod.tensorflow", name)
            }
            Stmt::ImportFrom(import) => {
                let after = trans_aliases(&import.names, env);
                let tensorflow = import.module.as_ref().is_some_and(|module| module.id == *"tensorflow");
                let name = after.only_new(env, Key::Keras).filter(|_| tensorflow).map(str::to_owned);
                (after, "horovod.tensorflow.keras", name)
            }
            other => unreachable!("only imports come here: {other:?}"),
        };
        let mut made = vec![stmt.clone()];
        if let Some(name) = name {
            let flag = match (stmt, self.pattern) {
                (Stmt::Import(_), Pattern::Tape) => "hvd_broadcast_done = False\n",
                _ => "",
            };
            made.extend(preamble(horovod, flag, &name));
        }
        (made, names)
    }
}

/// What the rules write after the import that binds TensorFlow.
fn preamble(horovod: &str, flag: &str, tensorflow: &str) -> Vec<Stmt> {
    statements(&format!(
        "\
import {horovod} as hvd
{flag}hvd.init()
gpus = {tensorflow}.config.experimental.list_physical_devices('GPU')
for gpu in gpus: {tensorflow}.config.experimental.set_memory_growth(gpu, True)
if gpus: {tensorflow}.config.experimental.set_visible_devices(gpus[hvd.local_rank()], 'GPU')
"
    ))
}

/// `trans_Ā : Alias list → Σ → Σ`
fn trans_aliases(aliases: &[Alias], env: &Env) -> Env {
    aliases.iter().fold(env.clone(), |env, alias| trans_alias(alias, &env))
}

/// `trans_A : Alias → Σ → Σ`
///
/// Reading: `LET id = tensorflow THEN` is `IF`. In the rule of `id₁ as id₂`, `LET id = optimizers THEN σ["optimizers"
/// ↦ id]` means `id₁` and records `id₂`, as the lines above it do.
fn trans_alias(alias: &Alias, env: &Env) -> Env {
    let key = match (alias.name.id.as_str(), &alias.asname) {
        ("tensorflow", _) => Key::TensorFlow,
        ("keras", None) | ("tensorflow.keras", Some(_)) => Key::Keras,
        ("os", _) => Key::Os,
        ("optimizers", _) => Key::Optimizers,
        _ => return env.clone(),
    };
    env.with(key, alias.asname.as_ref().map_or(alias.name.id.as_str(), |name| name.id.as_str()))
}
