//! Calls of Horovod's functions that fail, or do something else than their text says.
//!
//! Each file of the folder asks one kind of question about a call.

mod broadcasts;
mod numbers;
mod signature;
mod tapes;
mod warmup;
mod wrapping;

use crate::api::{Role, Symbol};
use crate::checks::{Context, check};
use crate::finding::{Confidence, Finding, Fix, Level, Location};
use crate::program::{Caller, Facts, Object, ObjectId};
use crate::project::{FileId, Version};
use crate::semantic::{Call, CallId, Passing, ValueId};
use crate::syntax::TextRange;

check!("HVD310", "misused-horovod-api", Ranks, Error, run);

/// The packages that have TensorFlow and Keras.
const TENSORFLOW: [&str; 4] = ["tensorflow", "tensorflow-gpu", "tensorflow-cpu", "keras"];

/// The first TensorFlow that came out after Horovod 0.21.
const AFTER_HOROVOD_0_21: Version = Version(2, 4);

/// A call with what is asked about it.
#[derive(Clone, Copy)]
struct Site<'c> {
    context: Context<'c>,
    facts: &'c Facts<'c>,
    file: FileId,
    id: CallId,
    call: &'c Call,
}

/// What is wrong with a call.
struct Misuse {
    range: TextRange,
    message: String,
    here: &'static str,
    help: String,
    level: Level,
    confidence: Confidence,
    labels: Vec<(Location, &'static str)>,
    fix: Option<Fix>,
}

impl Misuse {
    /// Something at which the program fails.
    fn fails(range: TextRange, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            range,
            message: message.into(),
            here: "fails",
            help: help.into(),
            level: Level::Error,
            confidence: Confidence::Certain,
            labels: Vec::new(),
            fix: None,
        }
    }

    fn label(mut self, location: Location, message: &'static str) -> Self {
        self.labels.push((location, message));
        self
    }

    /// What only newer versions do is not certain of a program of TensorFlow 1, or one that asks for the TensorFlow of
    /// that time, or tells Keras what only that needed: nobody knows which Horovod is installed beside it.
    fn of_newer_versions(mut self, site: &Site<'_>) -> Self {
        let asks_for_old =
            || TENSORFLOW.iter().any(|package| site.asks_for_less(package, AFTER_HOROVOD_0_21));
        if site.is_of_tensorflow_1() || site.tells_old_keras() || asks_for_old() {
            self.confidence = Confidence::Possible;
        }
        self
    }

    /// A build of one's own may have what Horovod's releases have not.
    fn of_own_build(mut self) -> Self {
        self.confidence = Confidence::Possible;
        self
    }

    fn mended_by(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix;
        self
    }
}

/// The argument of `compile` that TensorFlow 2.0 to 2.3 needed for optimizers which average.
const OF_OLD_KERAS: &str = "experimental_run_tf_function";

const QUESTIONS: &[fn(&Site<'_>) -> Option<Misuse>] = &[
    signature::misuse,
    wrapping::misuse,
    tapes::misuse,
    broadcasts::misuse,
    numbers::misuse,
    warmup::misuse,
];

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let mut findings = Vec::new();
    for file in facts.files().filter(|&file| uses_horovod(facts, file)) {
        for (index, call) in facts.module(file).calls.iter().enumerate() {
            let site = Site { context, facts, file, id: CallId::new(index), call };
            // What is wrong first keeps the call from doing anything else.
            if let Some(misuse) = QUESTIONS.iter().find_map(|question| question(&site)) {
                findings.push(finding(&site, misuse));
            }
        }
    }
    findings
}

fn finding(site: &Site<'_>, misuse: Misuse) -> Finding {
    let Site { facts, file, .. } = *site;
    let location = facts.location(file, misuse.range);
    let mut finding = Finding::new(&CHECK.rule, misuse.level, location, misuse.message)
        .confidence(misuse.confidence)
        .here(misuse.here)
        .help(misuse.help)
        .in_scope(facts.scope_name(Caller { file, scope: site.call.scope }));
    for (location, label) in misuse.labels {
        finding = finding.label(location, label);
    }
    finding.fix = misuse.fix;
    finding
}

/// Whether anything in a file is a member of Horovod.
fn uses_horovod(facts: &Facts<'_>, file: FileId) -> bool {
    facts.objects_in(file).iter().any(|&object| {
        facts.symbol(facts.solution.object(object)).is_some_and(|symbol| is_horovods(facts, symbol))
    })
}

/// Whether a function or class is Horovod's, whose modules are known in full.
fn is_horovods(facts: &Facts<'_>, symbol: &Symbol) -> bool {
    let is_callable = symbol.is_class() || *symbol.role() == Role::Function;
    let module = symbol.name().rsplit_once('.').and_then(|(module, _)| facts.library.lookup(module));
    is_callable && module.is_some_and(Symbol::is_closed)
}

impl<'c> Site<'c> {
    /// Whether the project asks for a version of a package below this one.
    fn asks_for_less(&self, package: &str, version: Version) -> bool {
        self.context.project.asks_for_less(self.file, package, version)
    }

    /// Whether a program that makes the call names something that TensorFlow 2 only has elsewhere.
    fn is_of_tensorflow_1(&self) -> bool {
        let caller = Caller { file: self.file, scope: self.call.scope };
        let mut programs = self.facts.programs.iter().filter(|program| program.reached.contains(&caller));
        self.facts.is_of_tensorflow_1(self.file)
            || programs.any(|program| self.facts.is_program_of_tensorflow_1(program))
    }

    /// Whether the file compiles a model with the argument by which Keras kept to sessions, before TensorFlow 2.4.
    fn tells_old_keras(&self) -> bool {
        let module = self.facts.module(self.file);
        let mut arguments = module.calls.iter().flat_map(|call| &call.arguments);
        arguments.any(
            |own| matches!(own.passing, Passing::Keyword(name) if module.names.text(name) == OF_OLD_KERAS),
        )
    }

    /// The function or class of Horovod's that is called, if it can be no other.
    fn horovods(&self) -> Option<&'c Symbol> {
        // What it calls back, as a schedule does its function, is called later.
        let callees = self.facts.callees(self.file, self.id).iter();
        let mut callees = callees.filter(|edge| !Facts::is_call_back(edge));
        let symbol = self.facts.symbol(self.facts.solution.object(callees.next()?.callee))?;
        let is_only =
            callees.all(|edge| self.facts.symbol(self.facts.solution.object(edge.callee)) == Some(symbol));
        (is_only && is_horovods(self.facts, symbol)).then_some(symbol)
    }

    /// The argument for a parameter of what is called.
    fn argument(&self, symbol: &Symbol, parameter: &str) -> Option<&'c crate::semantic::Argument> {
        self.facts.argument(self.file, self.call, symbol, parameter)
    }

    /// Whether a value is known, and all that it may be is as wanted.
    fn is_always(&self, value: ValueId, is_wanted: impl Fn(ObjectId, Object) -> bool) -> bool {
        !self.facts.is_unknown(self.file, value)
            && self.facts.objects(self.file, value).all(|(id, object)| is_wanted(id, object))
    }

    /// Whether all that a value may be is an instance of a library's class.
    fn is_instance_of(&self, value: ValueId, class: &str) -> bool {
        let Some(class) = self.facts.library.lookup(class) else { return false };
        self.is_always(value, |_, object| match object {
            Object::Created(..) | Object::Instance(..) => {
                let own = self.facts.symbol(object).filter(|own| own.is_class());
                own.is_some_and(|own| self.facts.library.is_subclass(own, class))
            }
            _ => false,
        })
    }
}
