//! Words that are numbered by Python's `hash`, which has another secret in each process: Keras' `one_hot` and `hashing_trick`.

use super::super::model::Model;
use super::CHECK;
use super::numbering::is_seen;
use crate::finding::{Finding, Level};
use crate::program::{Caller, Literal, Object};
use crate::project::FileId;
use crate::semantic::CallId;

/// The functions of Keras that number words by a hash. What says which one is a parameter of the second.
const NUMBERING: [&str; 2] =
    ["tensorflow.keras.preprocessing.text.one_hot", "tensorflow.keras.preprocessing.text.hashing_trick"];
const FUNCTION: &str = "hash_function";

/// The numberings by `hash` in a file that the ranks train by.
pub(super) fn findings(model: &Model<'_>, file: FileId) -> Vec<Finding> {
    let facts = model.facts;
    let module = facts.module(file);
    let numbering = NUMBERING.map(|name| facts.library.lookup(name));
    let is_run = |caller: &Caller| model.programs.iter().any(|program| program.reached.contains(caller));
    let mut found = Vec::new();
    for (index, call) in module.calls.iter().enumerate() {
        let id = CallId::new(index);
        let caller = Caller { file, scope: module.code_scope(call.scope) };
        let mut symbols = facts.called_symbols(file, id).filter(|&own| numbering.contains(&Some(own)));
        let Some(symbol) = symbols.next() else { continue };
        // By `"md5"` all processes number alike; what another function does nobody knows.
        let told = facts.argument(file, call, symbol, FUNCTION);
        let is_default = told.is_none_or(|own| {
            facts.objects(file, own.value).any(|(_, object)| object == Object::Literal(Literal::None))
        });
        if is_default && is_run(&caller) && is_seen(model, (file, call.result)) {
            let message = "each rank numbers words in its own way: Python's `hash` differs between processes";
            let help = "number them by a hash that is the same everywhere: `hashing_trick(text, n, hash_function=\"md5\")`";
            let own = Finding::new(&CHECK.rule, Level::Error, model.at_call(file, id), message)
                .here("numbered by `hash`")
                .help(help)
                .in_scope(facts.scope_name(caller));
            found.push(own);
        }
    }
    found
}
