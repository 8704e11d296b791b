//! Traced code: where a graph does not do what the Python text says.
//!
//! TensorFlow runs the Python statements of a traced function once, while it makes a graph; `AutoGraph` turns branches
//! and loops that a tensor decides into operations. Here is what that makes of a program: which values are tensors
//! (`natures`), which branches and loops are staged (`staging`), and a check for each way in which the graph
//! differs from the text. What is traced at all is answered by [`crate::program::Tracing`].
//!
//! ```text
//! Facts ──▶ Tracing ──▶ Natures ──▶ Staging ──▶ checks ──▶ Findings
//!           which code, tensors?    operations?
//!           and why
//! ```
//!
//! [`dataflow`] is what `AutoGraph` itself knows of a function, fact for fact, as TensorFlow's own analyses say it.
//!
//! The behaviour is that of TensorFlow 2.15, which differs from the paper in places (seed 002, tables 4 to 6).

mod about_the_trace;
mod arms;
pub mod branch_leaves_name_undefined;
pub mod branches_disagree;
mod construction;
mod containers;
mod copied;
pub mod dataflow;
mod dtype;
pub mod eager_call_on_tensor;
pub mod exception_not_caught;
pub mod exit_from_traced_loop;
mod failing;
pub mod function_left_unconverted;
mod known;
mod later;
pub mod leaked_tensor;
mod names;
mod nature;
mod natures;
mod news;
mod outside;
mod parameters;
pub mod retraced_every_call;
pub mod side_effect_while_tracing;
mod staging;
pub mod trace_time_constant;
pub mod variable_created_in_traced_function;

use std::collections::BTreeSet;
use std::hash::Hash;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::checks::Context;
use crate::finding::{Confidence, Finding, Label, Location, Rule};
use crate::program::{Caller, Conversion, Facts, Reason, Tracing};
use crate::project::FileId;
use crate::rewrite::Texts;
use crate::semantic::{Constant, Module, Value, ValueId};
use crate::syntax::TextRange;

use dataflow::Refused;
use nature::Nature;
use natures::Natures;
use staging::Staging;

/// A check of traced code: its identity, and how it is decided.
#[derive(Debug)]
pub struct GraphCheck {
    /// Its identity and page.
    pub rule: Rule,
    /// Finds the places, in any order.
    pub run: fn(&Graph<'_>) -> Vec<Finding>,
}

/// Defines a check's static from its code, name and worst level; the page is the file of its name.
macro_rules! graph_check {
    ($code:literal, $name:literal, $level:ident, $run:path) => {
        /// What the check is called, and how it is decided.
        pub static CHECK: crate::graph::GraphCheck = crate::graph::GraphCheck {
            rule: crate::finding::Rule {
                code: $code,
                name: $name,
                group: crate::finding::Group::Graph,
                level: crate::finding::Level::$level,
                page: include_str!(concat!("../../checks/", $name, ".md")),
            },
            run: $run,
        };
    };
}
use graph_check;

/// All checks of traced code, in the order of their codes.
pub static GRAPH: &[&GraphCheck] = &[
    &side_effect_while_tracing::CHECK,
    &trace_time_constant::CHECK,
    &leaked_tensor::CHECK,
    &variable_created_in_traced_function::CHECK,
    &branch_leaves_name_undefined::CHECK,
    &branches_disagree::CHECK,
    &function_left_unconverted::CHECK,
    &exit_from_traced_loop::CHECK,
    &eager_call_on_tensor::CHECK,
    &exception_not_caught::CHECK,
    &retraced_every_call::CHECK,
];

/// What tracing makes of a program.
#[derive(Debug)]
pub struct Graph<'a> {
    /// The program.
    pub facts: &'a Facts<'a>,
    /// The texts of its files.
    texts: &'a Texts<'a>,
    /// Which code is traced.
    pub tracing: &'a Tracing,
    /// What values are.
    natures: Natures,
    /// Which branches and loops are operations.
    staging: Staging,
    /// What keeps `AutoGraph` from converting functions of the files with traced code, by the places of their names.
    refused: FxHashMap<(FileId, TextRange), Refused>,
    /// Code that is traced anew at each of its calls, as far as is known: what it does, it does each time.
    retraced: FxHashSet<Caller>,
}

impl<'a> Graph<'a> {
    /// What tracing makes of the program; nothing if nothing is traced.
    #[must_use]
    pub fn new(facts: &'a Facts<'a>, texts: &'a Texts<'a>) -> Option<Self> {
        let tracing = facts.tracing();
        if tracing.is_empty() {
            return None;
        }
        let natures = Natures::new(facts, tracing, &FxHashSet::default());
        let staging = Staging::new(facts, tracing, &natures);
        let merged = staging::merged(facts, &staging);
        let (natures, staging) = if merged.is_empty() {
            (natures, staging)
        } else {
            let natures = Natures::new(facts, tracing, &merged);
            let staging = Staging::new(facts, tracing, &natures);
            (natures, staging)
        };
        let retraced = retraced_every_call::retraced(facts, tracing);
        let refused = refused(facts, texts, tracing);
        Some(Self { facts, texts, tracing, natures, staging, refused, retraced })
    }

    fn module(&self, file: FileId) -> &'a Module {
        self.facts.module(file)
    }

    /// The 0-based line that a place begins in; 0 if the text is gone.
    fn line(&self, file: FileId, range: TextRange) -> usize {
        let text = self.texts.get(file, self.module(file));
        let start = range.start().to_usize();
        text.and_then(|text| text.text().get(..start).map(|before| before.matches('\n').count())).unwrap_or(0)
    }

    /// The text that a value is, if it is a literal.
    fn text(&self, file: FileId, value: ValueId) -> Option<&'a str> {
        let module = self.module(file);
        match module.value(value).value {
            Value::Constant(Constant::Str(text)) => Some(module.names.text(text)),
            _ => None,
        }
    }

    fn nature(&self, file: FileId, value: ValueId) -> Nature {
        self.natures.of(file, value)
    }

    /// The traced scopes.
    fn scopes(&self) -> impl Iterator<Item = Caller> + '_ {
        self.tracing.scopes().iter().copied()
    }

    /// The traced scopes whose control flow `AutoGraph` rewrites.
    fn converted(&self) -> impl Iterator<Item = Caller> + '_ {
        self.scopes().filter(|&caller| self.is_converted(caller))
    }

    fn is_converted(&self, caller: Caller) -> bool {
        self.tracing.get(caller).is_some_and(|traced| traced.conversion == Conversion::Converted)
            && !function_left_unconverted::is_left(self, caller)
    }

    fn is_traced(&self, caller: Caller) -> bool {
        self.tracing.get(caller).is_some()
    }

    /// Traced code that does not run only to make what is missing.
    fn repeated(&self) -> impl Iterator<Item = Caller> + '_ {
        self.scopes().filter(|&caller| self.tracing.get(caller).is_some_and(|traced| !traced.once))
    }

    /// A finding in traced code, with the reason why it is traced.
    fn finding(
        &self,
        check: &'static GraphCheck,
        caller: Caller,
        range: TextRange,
        message: impl Into<String>,
    ) -> Finding {
        let location = self.facts.location(caller.file, range);
        let finding = Finding::new(&check.rule, check.rule.level, location, message)
            .in_scope(self.facts.scope_name(caller))
            .confidence(self.tracing.get(caller).map_or(Confidence::Certain, |traced| traced.confidence));
        self.explain(finding, caller)
    }

    /// Adds why the code is traced: the tracer, and the calls that lead from there.
    fn explain(&self, mut finding: Finding, caller: Caller) -> Finding {
        let mut current = caller;
        let mut labels: Vec<(Location, &str)> = Vec::new();
        while let Some(traced) = self.tracing.get(current) {
            match traced.reason {
                Reason::Given(file, call) => {
                    let range = self.module(file).call(call).range;
                    labels.push((self.facts.location(file, range), "traced here"));
                    break;
                }
                Reason::OfKeras(file, call) => {
                    let range = self.module(file).call(call).callee_range;
                    labels.push((self.facts.location(file, range), "Keras traces it for this call"));
                    break;
                }
                Reason::Called(edge) => {
                    if let Some(call) = edge.call {
                        let range = self.module(edge.caller.file).call(call).callee_range;
                        labels.push((self.facts.location(edge.caller.file, range), "called by traced code"));
                    }
                    current = edge.caller;
                }
            }
        }
        for (location, message) in labels.into_iter().rev() {
            if location != finding.primary.location {
                finding = finding.label(location, message);
            }
        }
        finding
    }
}

/// Says what has one cause at the first of its places; the others are labels.
fn one_for_each_cause<C: Eq + Hash>(mut found: Vec<(C, Finding)>, words: &str) -> Vec<Finding> {
    found.sort_by_key(|(_, finding)| finding.primary.location);
    let mut causes: FxHashMap<C, usize> = FxHashMap::default();
    let mut first: Vec<Finding> = Vec::new();
    for (cause, finding) in found {
        let known = *causes.entry(cause).or_insert(first.len());
        let Some(one) = first.get_mut(known) else {
            first.push(finding);
            continue;
        };
        let location = finding.primary.location;
        if one.primary.location != location && one.labels.iter().all(|label| label.location != location) {
            one.labels.push(Label { location, message: words.to_owned() });
        }
    }
    first
}

/// What keeps `AutoGraph` from converting functions of the files with traced code.
fn refused(
    facts: &Facts<'_>,
    texts: &Texts<'_>,
    tracing: &Tracing,
) -> FxHashMap<(FileId, TextRange), Refused> {
    let files: BTreeSet<FileId> = tracing.scopes().iter().map(|caller| caller.file).collect();
    let in_file = |file: FileId| {
        let text = texts.get(file, facts.module(file));
        let refused = text.map(|text| dataflow::refused(text.text())).unwrap_or_default();
        refused.into_iter().map(move |(name, refused)| ((file, name), refused))
    };
    files.into_par_iter().flat_map_iter(in_file).collect()
}

/// What the checks of traced code find.
#[must_use]
pub fn findings(context: Context<'_>) -> Vec<Finding> {
    let Context { facts, texts, .. } = context;
    let Some(graph) = Graph::new(facts, texts) else { return Vec::new() };
    let found = GRAPH.iter().flat_map(|check| context.unless_cancelled(|| (check.run)(&graph)));
    let is_entered = |finding: &Finding| {
        let at = finding.primary.location;
        let caller = facts.code_at(at);
        !facts.block_at(caller, at).is_some_and(|block| facts.is_never_entered(caller, block))
    };
    let found = found.filter(is_entered);
    let mut seen = FxHashSet::default();
    found.filter(|finding| seen.insert((finding.rule.code, finding.primary.location))).collect()
}
