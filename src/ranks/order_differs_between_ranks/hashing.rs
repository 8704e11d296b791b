//! Words that are numbered by Python's `hash`, which has another secret in each process: Keras' `one_hot` and `hashing_trick`.

use rustc_hash::FxHashSet;

use super::super::disorder::{self, Why};
use super::super::model::Model;
use super::CHECK;
use super::numbering::is_seen;
use crate::api::{Effect, Kind};
use crate::finding::{Finding, Level};
use crate::program::{Caller, Literal, Object, Place};
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
            let help = "number them by a hash that is the same everywhere: `hashing_trick(text, n, hash_function=\"md5\")`";
            found.push(finding(model, caller, id, help));
        }
    }
    found.extend(by_python(model, file));
    found.extend(taken_out(model, file));
    found
}

fn finding(model: &Model<'_>, caller: Caller, id: CallId, help: &str) -> Finding {
    let message = "each rank numbers words in its own way: Python's `hash` differs between processes";
    Finding::new(&CHECK.rule, Level::Error, model.at_call(caller.file, id), message)
        .here("numbered by `hash`")
        .help(help)
        .in_scope(model.facts.scope_name(caller))
}

/// The calls of `hash` itself for texts: `hash(word) % 1000`.
fn by_python(model: &Model<'_>, file: FileId) -> Vec<Finding> {
    let facts = model.facts;
    let module = facts.module(file);
    let is_hash = |&id: &CallId| match &module.call(id).arguments[..] {
        [word] => {
            facts.calls_builtin(file, id, "builtins.hash")
                && facts.objects(file, word.value).any(|(own, _)| facts.builtin_class(own) == Some("str"))
        }
        _ => false,
    };
    let is_run = |caller: &Caller| model.programs.iter().any(|program| program.reached.contains(caller));
    let hashes = (0..module.calls.len()).map(CallId::new).filter(is_hash);
    hashes
        .filter_map(|id| {
            let call = module.call(id);
            let caller = Caller { file, scope: module.code_scope(call.scope) };
            let help = "number them by a hash that is the same everywhere, such as `zlib.crc32`, or by a sorted list";
            (is_run(&caller) && is_learnt(model, (file, call.result))).then(|| finding(model, caller, id, help))
        })
        .collect()
}

/// The elements that are taken out of sets of texts, which one is another matter in each process: `names.pop()`.
fn taken_out(model: &Model<'_>, file: FileId) -> Vec<Finding> {
    let facts = model.facts;
    let module = facts.module(file);
    let pop = facts.library.lookup("builtins.set.pop");
    let is_run = |caller: &Caller| model.programs.iter().any(|program| program.reached.contains(caller));
    let taken = module.calls.iter().enumerate().filter_map(|(index, call)| {
        let id = CallId::new(index);
        let methods = facts.callees(file, id).iter().filter_map(|edge| facts.builtin_method(edge.callee));
        let set = facts.receiver(file, call).filter(|_| pop.is_some())?;
        let is_pop = methods.into_iter().any(|(_, method)| Some(method) == pop);
        let caller = Caller { file, scope: module.code_scope(call.scope) };
        let is_hashed = || disorder::of(model, (file, set)).is_some_and(|own| own.why == Why::Hashed);
        (is_pop && is_run(&caller) && is_hashed() && is_learnt(model, (file, call.result)))
            .then_some((caller, id))
    });
    let finding = |(caller, id): (Caller, CallId)| {
        Finding::new(
            &CHECK.rule,
            Level::Error,
            model.at_call(file, id),
            "each rank takes another element of this set: Python's `hash` differs between processes",
        )
        .here("any element")
        .help("take the first one in an order that is the same everywhere: `sorted(names)[0]`")
        .in_scope(facts.scope_name(caller))
    };
    taken.map(finding).collect()
}

/// Whether what is made of a value is given to a library that trains, and not as a seed.
fn is_learnt(model: &Model<'_>, place: Place) -> bool {
    let facts = model.facts;
    let made = facts.influence().forwards(&[place], |_| false);
    let files: FxHashSet<FileId> = made.iter().map(|&(file, _)| file).collect();
    files.into_iter().any(|file| {
        facts.module(file).calls.iter().enumerate().any(|(index, call)| {
            call.arguments.iter().any(|own| made.contains(&(file, own.value)))
                && facts.called_symbols(file, CallId::new(index)).any(|symbol| {
                    let learns = [Effect::Trains, Effect::Predicts, Effect::Evaluates];
                    learns.into_iter().any(|effect| symbol.has(effect))
                        || facts
                            .library
                            .returned_class(symbol)
                            .is_some_and(|class| facts.library.kind_of_class(class) == Kind::Dataset)
                })
        })
    })
}
