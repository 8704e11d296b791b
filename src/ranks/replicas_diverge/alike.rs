//! Calls of `fit` that train the same in the same way: where some ranks make the one and some the other, all take part in
//! the same steps, as they would in a single call. What a call prints, and what its callbacks only write, makes no
//! difference.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::super::guards::Key;
use super::super::model::Model;
use super::loops;
use crate::api::{Effect, Kind};
use crate::distribute::{Acts, Common, Job, Ranks};
use crate::program::{Caller, LoopKind, Program};
use crate::project::FileId;
use crate::semantic::{CallId, Container, Element, Module, Operator, Passing, Value, ValueId};
use crate::syntax::TextRange;

/// The parameters of `fit` that no step depends on.
const WITHOUT_EFFECT: [&str; 4] = ["verbose", "max_queue_size", "workers", "use_multiprocessing"];

/// The parameter that takes callbacks.
const CALLBACKS: &str = "callbacks";

/// How deep an argument is taken apart.
const DEPTH: u32 = 12;

/// For each call of `fit` that is made like others of its scope, the first of them.
#[derive(Default)]
pub(super) struct Alike(FxHashMap<(FileId, CallId), CallId>);

/// What a call of `fit` trains, and with what.
type Training = (Vec<usize>, Vec<Key>);

impl Alike {
    /// The calls that average over the ranks; `trained` has what each of them changes.
    pub(super) fn new(model: &Model<'_>, trained: &FxHashMap<(FileId, CallId), Vec<usize>>) -> Self {
        let mut scopes: BTreeMap<Caller, BTreeMap<CallId, &Program>> = BTreeMap::new();
        for &program in &model.programs {
            for own in loops(model, program).filter(|own| own.kind == LoopKind::KerasFit) {
                scopes.entry(own.caller).or_default().entry(own.call).or_insert(program);
            }
        }
        let common = Common::default();
        let mut found = FxHashMap::default();
        for (caller, calls) in scopes.into_iter().filter(|(_, calls)| calls.len() > 1) {
            let mut first: FxHashMap<Training, CallId> = FxHashMap::default();
            for (call, program) in calls {
                let at = (caller.file, call);
                let Some(job) = Job::new(model.facts, model.texts, program, &model.traced, &common) else {
                    continue;
                };
                if model.fit_communicates(caller.file, call)
                    && let Some(given) = Given::new(model, job, at).keys()
                {
                    let mut objects = trained.get(&at).cloned().unwrap_or_default();
                    objects.sort_unstable();
                    objects.dedup();
                    found.insert(at, *first.entry((objects, given)).or_insert(call));
                }
            }
        }
        // Of those that are made once there is nothing to say.
        let mut counts: FxHashMap<(FileId, CallId), usize> = FxHashMap::default();
        for (&(file, _), &first) in &found {
            *counts.entry((file, first)).or_default() += 1;
        }
        found.retain(|&(file, _), first| counts[&(file, *first)] > 1);
        Self(found)
    }

    /// The first of the calls that a call is made like.
    pub(super) fn first(&self, file: FileId, call: CallId) -> Option<CallId> {
        self.0.get(&(file, call)).copied()
    }
}

/// What a call of `fit` is given.
struct Given<'g, 'c> {
    model: &'g Model<'c>,
    job: Job<'g>,
    file: FileId,
    module: &'g Module,
    call: CallId,
    /// What is written here is evaluated by the call alone; what comes from elsewhere may be changed in between.
    within: TextRange,
}

impl<'g, 'c> Given<'g, 'c> {
    fn new(model: &'g Model<'c>, job: Job<'g>, (file, call): (FileId, CallId)) -> Self {
        let module = model.facts.module(file);
        Self { model, job, file, module, call, within: module.call(call).range }
    }

    /// The model, and all that the steps depend on; what is the same has equal keys.
    fn keys(&self) -> Option<Vec<Key>> {
        let facts = self.model.facts;
        let call = self.module.call(self.call);
        let symbol = facts.called_symbols(self.file, self.call).find(|own| own.has(Effect::Trains))?;
        let mut keys = vec![self.key(facts.receiver(self.file, call)?, DEPTH)];
        for parameter in symbol.parameters() {
            let name = parameter.name();
            let given = facts.argument(self.file, call, symbol, name).map(|own| own.value);
            keys.extend(match given {
                _ if WITHOUT_EFFECT.contains(&name) => None,
                _ if name == CALLBACKS => {
                    let mut parts = Vec::new();
                    if let Some(list) = given {
                        self.add_callbacks(list, &mut parts, DEPTH);
                    }
                    Some(Key::Of(name.into(), parts.into()))
                }
                given => given.map(|value| Key::Of(name.into(), [self.key(value, DEPTH)].into())),
            });
        }
        let hidden = call.arguments.iter().filter(|own| is_hidden(own.passing));
        keys.extend(hidden.map(|own| Key::Of("*".into(), [self.key(own.value, DEPTH)].into())));
        Some(keys)
    }

    /// Adds the callbacks of a list, without those that only write.
    fn add_callbacks(&self, list: ValueId, found: &mut Vec<Key>, depth: u32) {
        match &self.module.value(list).value {
            Value::Operator { operator: Operator::Binary(method), left, right }
                if method.name() == "__add__" && self.is_written_here(list) && depth > 0 =>
            {
                self.add_callbacks(*left, found, depth - 1);
                self.add_callbacks(*right, found, depth - 1);
            }
            Value::Display(Container::List | Container::Tuple, elements)
                if self.is_written_here(list) || self.is_used_once(list) =>
            {
                for element in elements {
                    match *element {
                        Element::At(_, own) if self.only_writes(own) => {}
                        Element::At(_, own) => found.push(self.key(own, depth)),
                        _ => found.push(self.itself(list)),
                    }
                }
            }
            _ => found.push(self.key(list, depth)),
        }
    }

    /// Whether a value is a callback that one rank may have alone.
    fn only_writes(&self, value: ValueId) -> bool {
        let callbacks = self.model.facts.of_kind(self.file, value, Kind::Callback);
        !callbacks.is_empty()
            && callbacks.into_iter().all(|own| Acts::of(&self.job, own).ranks() == Ranks::First)
    }

    fn is_written_here(&self, value: ValueId) -> bool {
        self.within.contains_range(self.module.value(value).range)
    }

    fn is_used_once(&self, value: ValueId) -> bool {
        self.module.uses.iter().filter(|own| own.value == value).count() == 1
    }

    fn itself(&self, value: ValueId) -> Key {
        Key::Place(self.file, u32::try_from(value.index()).unwrap_or(u32::MAX))
    }

    /// How a value is computed, as far as the call does that.
    fn key(&self, value: ValueId, depth: u32) -> Key {
        let own = &self.module.value(value).value;
        if matches!(own, Value::Constant(_)) {
            return self.model.key((self.file, value));
        }
        let Some(depth) = depth.checked_sub(1).filter(|_| self.is_written_here(value)) else {
            return self.itself(value);
        };
        let of = |name: String, parts: &[ValueId]| {
            Key::Of(name.into(), parts.iter().map(|&part| self.key(part, depth)).collect())
        };
        match own {
            Value::Cell(_) | Value::Free(_) => of(format!("{own:?}"), &[]),
            Value::Operator { operator, left, right } => of(format!("{operator:?}"), &[*left, *right]),
            Value::Attribute { narrowed: Some(stored), .. } | Value::Item { narrowed: Some(stored), .. } => {
                self.key(*stored, depth)
            }
            Value::Attribute { base, name, .. } => {
                of(format!(".{}", self.module.names.text(*name)), &[*base])
            }
            Value::Item { base, key, .. } => of("[.]".to_owned(), &[*base, *key]),
            Value::Display(container, elements) => {
                let parts: Option<Vec<ValueId>> =
                    elements.iter().map(|element| element.written_out()).collect();
                parts.map_or_else(|| self.itself(value), |parts| of(format!("{container:?}"), &parts))
            }
            Value::Call(id) => {
                let call = self.module.call(*id);
                let given = call.arguments.iter().map(|own| own.value);
                let parts: Vec<ValueId> = std::iter::once(call.callee).chain(given).collect();
                let passing: Vec<Passing> = call.arguments.iter().map(|own| own.passing).collect();
                of(format!("{passing:?}"), &parts)
            }
            _ => self.itself(value),
        }
    }
}

fn is_hidden(passing: Passing) -> bool {
    matches!(passing, Passing::Spread | Passing::Merge)
}
