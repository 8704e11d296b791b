//! Programs written for Keras 3, which Horovod does not know.

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::finding::Rule;
use crate::program::{Caller, Object};
use crate::project::{FileId, Version};
use crate::semantic::{Module, Passing, ScopeId, Value, ValueId};
use crate::syntax::TextRange;

/// The modules that Keras has from version 3 on.
const MODULES: [&str; 4] = ["keras.config", "keras.ops", "keras.random", "keras.distribution"];

/// What calls can say from then on, by function and parameter.
const ARGUMENTS: [(&str, &str); 1] = [("tensorflow.keras.layers.LeakyReLU", "negative_slope")];

/// The packages that bring Keras 3 with them, from which version on.
const PACKAGES: [(&str, Version); 5] = [
    ("keras", Version(3, 0)),
    ("tensorflow", Version(2, 16)),
    ("tensorflow-gpu", Version(2, 16)),
    ("tensorflow-cpu", Version(2, 16)),
    ("tensorflow-macos", Version(2, 16)),
];

/// The first place where the program uses what Keras has from version 3 on, or its import of TensorFlow where the project
/// asks for such a version.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let facts = job.facts;
    let in_code = || {
        let (file, scope, range) = use_of_module(job).or_else(|| use_of_argument(job))?;
        Some((file, scope, range, "the program is written for Keras 3".to_owned()))
    };
    let (file, scope, range, message) = in_code().or_else(|| demand(job))?;
    let finding = obstacle(rule, facts.location(file, range), &message)
        .help("use TensorFlow 2.15 or earlier and what Keras 2 has")
        .in_scope(facts.scope_name(Caller { file, scope }));
    Some(Step::blocked(finding, "Horovod works with Keras 2 only."))
}

/// The first import of TensorFlow of a program whose project is installed with a version that brings Keras 3.
fn demand(job: &Job<'_>) -> Option<(FileId, ScopeId, TextRange, String)> {
    let (facts, entry) = (job.facts, job.program.entry);
    let (package, version) = job.texts.project().asks_for_at_least(entry, &PACKAGES)?;
    let mut files = [entry].into_iter().chain(job.program.files());
    let (file, import) =
        files.find_map(|file| Some((file, facts.modules.training_import(file, facts.library)?)))?;
    let import = facts.module(file).import(import);
    let message = format!("the project asks for {package} {version} or later, and so for Keras 3");
    Some((file, Module::TOP, facts.module(file).statement(import.statement).range, message))
}

fn use_of_module(job: &Job<'_>) -> Option<(FileId, ScopeId, TextRange)> {
    let facts = job.facts;
    let is_new = |object| {
        let Object::External(id) = object else { return false };
        let path = &facts.solution.externals.get(id).path;
        let path = path.strip_prefix("tensorflow.").unwrap_or(path);
        MODULES.iter().any(|module| {
            path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let values = job.program.files().into_iter().flat_map(|file| {
        let values = facts.module(file).values.iter().enumerate();
        values.map(move |(index, own)| (file, ValueId::new(index), own))
    });
    let mut values = values.map(|(file, value, own)| {
        (file, value, own, Caller { file, scope: facts.module(file).code_scope(own.scope) })
    });
    let found = values.find(|&(file, value, own, caller)| {
        let is_used = match own.value {
            Value::Import(_) => true,
            Value::Attribute { .. } => job.program.reached.contains(&caller),
            _ => false,
        };
        is_used && facts.objects(file, value).any(|(_, object)| is_new(object))
    });
    found.map(|(file, _, own, caller)| (file, caller.scope, own.range))
}

fn use_of_argument(job: &Job<'_>) -> Option<(FileId, ScopeId, TextRange)> {
    let facts = job.facts;
    let new = ARGUMENTS.map(|(name, parameter)| (facts.library.lookup(name), parameter));
    job.calls().find_map(|(file, id)| {
        let module = facts.module(file);
        let call = module.call(id);
        let mut called = facts.called_symbols(file, id);
        let own = called.find_map(|own| new.iter().find(|(symbol, _)| *symbol == Some(own)))?;
        let is_it = |passing| matches!(passing, Passing::Keyword(name) if module.names.text(name) == own.1);
        let argument = call.arguments.iter().find(|argument| is_it(argument.passing))?;
        Some((file, call.scope, argument.range))
    })
}
