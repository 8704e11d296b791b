//! Whether something is decided by a rank's own results, also through what is chosen because of them: `wait += 1`
//! where the loss did not fall, and `if wait > patience: break` later.

use rustc_hash::FxHashSet;

use super::super::bound::may_be;
use super::super::job::Job;
use super::super::output::inputs::own_effects;
use super::alike::is_common;
use super::counted::is_length;
use super::form_questions::asks_for_form;
use super::own_lengths::comprehension_tests;
use crate::api::{Effect, Symbol};
use crate::program::{Caller, FunctionRef, Object, ObjectId, Place, influenced_through_contents};
use crate::project::FileId;
use crate::semantic::{
    BlockId, Branch, BranchKind, CallId, Definition, Evaluation, Function, FunctionId, ScopeId,
    StatementKind, Store, StoreKey, Use, Value, ValueId,
};
use crate::syntax::TextRange;

/// Whether the results of a rank's own, which are not averaged, decide what a condition is.
pub(in crate::distribute) fn rests_on_own_results(job: &Job<'_>, condition: Place) -> bool {
    let is_own = |place| job.chosen_by_own_results().contains(&place);
    is_own(condition) && !asks_for_end(job, condition) && !asks_for_form(job, condition, &is_own)
}

/// Whether the results of a rank's own choose which of several values one is that is read in a stretch of code: `2 if loss > limit
/// else 1`, or what a variable is bound to under such a condition.
pub(super) fn is_chosen(job: &Job<'_>, caller: Caller, value: ValueId, within: TextRange) -> bool {
    let module = job.facts.module(caller.file);
    if !matches!(module.value(value).value, Value::Phi(_)) {
        return false;
    }
    let range = module.value(value).range;
    let decides = |branch: &Branch| {
        branch.condition.is_some_and(|condition| rests_on_own_results(job, (caller.file, condition)))
    };
    let mut written = module.scope(caller.scope).flow.blocks.iter().filter_map(|block| block.branch);
    let mut reads = module.uses.iter().filter(|own| own.value == value && within.contains_range(own.range));
    let is_bound = |own: &Definition| {
        own.scope == caller.scope
            && job.facts.conditions(caller, own.block).iter().any(|condition| decides(&condition.branch))
    };
    written.any(|own| range.contains_range(own.range) && decides(&own))
        || reads.any(|read| {
            module.definitions.iter().any(|own| Some(own.variable) == read.variable && is_bound(own))
        })
}

/// Whether a value asks whether what a library hands out is `None`: `if queue.get() is None` asks whether there is more, not
/// what it is.
fn asks_for_end(job: &Job<'_>, (file, value): Place) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let Some(test) = module.none_test(value) else { return false };
    let handed = match module.value(test.value).value {
        Value::Await(inner) => inner,
        _ => test.value,
    };
    let Value::Call(call) = module.value(handed).value else { return false };
    let tells = |own: &Symbol| {
        [Effect::Trains, Effect::Evaluates, Effect::DrawsRandom].iter().any(|&effect| own.has(effect))
    };
    facts.called_functions(file, call).next().is_none() && !facts.called_symbols(file, call).any(tells)
}

/// All that is computed from a rank's own results or chosen because of them, and what is computed from that.
pub(in crate::distribute) fn chosen_by_own_results(job: &Job<'_>) -> FxHashSet<Place> {
    let mut found = job.of_own_results().clone();
    let mut lengths = Lengths::new(job);
    let mut news = found.clone();
    while !news.is_empty() {
        let deciding = Deciding::new(job, &news);
        let mut chosen = deciding.chosen();
        chosen.extend(lengths.changed_under(&deciding));
        chosen.retain(|&place| !found.contains(&place) && job.evaluates(place));
        let begin: FxHashSet<Place> = chosen.iter().copied().collect();
        // What is computed from what is found has been found with it. What `__len__` of the project returns may be one of
        // the lengths.
        let is_own = |place| job.facts.implied_functions(place).next().is_some();
        let is_alike = |place| is_common(job, place) && !is_own(place);
        let stops = |place| found.contains(&place) || !job.evaluates(place) || is_alike(place);
        news = influenced_through_contents(job.facts, &chosen, stops);
        news.retain(|&place| begin.contains(&place) || job.evaluates(place) && !is_alike(place));
        news.retain(|&place| found.insert(place));
    }
    found
}

/// The lengths of lists that grow or shrink under conditions among these values.
pub(in crate::distribute) fn lengths(job: &Job<'_>, values: &FxHashSet<Place>) -> Vec<Place> {
    Lengths::new(job).changed_under(&Deciding::new(job, values))
}

/// The code that some values decide about.
struct Deciding<'j> {
    job: &'j Job<'j>,
    values: &'j FxHashSet<Place>,
    /// The scopes that branch on one of them.
    scopes: FxHashSet<Caller>,
}

impl<'j> Deciding<'j> {
    fn new(job: &'j Job<'j>, values: &'j FxHashSet<Place>) -> Self {
        let mut own = Self { job, values, scopes: FxHashSet::default() };
        let files: FxHashSet<FileId> = values.iter().map(|&(file, _)| file).collect();
        for file in files {
            let module = job.facts.module(file);
            let scopes = (0..module.scopes.len()).map(ScopeId::new).filter(|&scope| {
                let mut branches =
                    module.scope(scope).flow.blocks.iter().filter_map(|own| own.branch.as_ref());
                branches.any(|branch| own.decides(file, branch))
            });
            let scopes: Vec<Caller> = scopes.map(|scope| Caller { file, scope }).collect();
            own.scopes.extend(scopes);
        }
        own
    }

    /// Whether a branch is taken or not by one of the values; how often a loop turns is not a choice.
    fn decides(&self, file: FileId, branch: &Branch) -> bool {
        branch.kind != BranchKind::For
            && branch.condition.is_some_and(|own| self.values.contains(&(file, own)))
    }

    /// Whether the values decide that a block runs.
    fn is_under(&self, caller: Caller, block: BlockId) -> bool {
        self.scopes.contains(&caller) && {
            let conditions = self.job.facts.conditions(caller, block).into_iter();
            conditions.map(|condition| condition.branch).any(|branch| self.decides(caller.file, &branch))
        }
    }

    /// The values that variables and attributes get, or that functions return, where the values decide it.
    fn chosen(&self) -> Vec<Place> {
        let files: FxHashSet<FileId> = self.scopes.iter().map(|caller| caller.file).collect();
        files.into_iter().flat_map(|file| self.chosen_in(file)).collect()
    }

    fn chosen_in(&self, file: FileId) -> Vec<Place> {
        let module = self.job.facts.module(file);
        let is_chosen = |scope, block| self.is_under(Caller { file, scope }, block);
        let definitions = module.definitions.iter().filter(|own| own.statement.is_some());
        let defined = definitions.filter(|own| is_chosen(own.scope, own.block));
        let stores = module.stores.iter();
        let stored = stores.filter(|own| is_chosen(own.scope, module.statement(own.statement).block));
        let returns = module.statements.iter().filter(|own| own.kind == StatementKind::Return);
        let returning: FxHashSet<ScopeId> =
            returns.filter(|own| is_chosen(own.scope, own.block)).map(|own| own.scope).collect();
        let functions = (0..).map(FunctionId::new).zip(&module.functions);
        let functions = functions.filter(|(_, own)| returning.contains(&own.scope));
        let expressions = self.expressions_in(file).into_iter().chain(self.comprehensions_in(file));
        let mut found: Vec<Place> = expressions.map(|value| (file, value)).collect();
        found.extend(defined.flat_map(|own| self.bound(file, own)));
        found.extend(stored.flat_map(|own| self.stored(file, own)));
        found.extend(functions.flat_map(|(function, own)| self.returned(file, function, own)));
        found
    }

    /// What a variable is bound to. A constant stands for all that are written alike: then where the variable is read.
    fn bound(&self, file: FileId, own: &Definition) -> Vec<Place> {
        let module = self.job.facts.module(file);
        if !module.value(own.value).is_shared() {
            return vec![(file, own.value)];
        }
        let reads = module.uses.iter().filter(|reading| reading.variable == Some(own.variable));
        let may_be = |reading: &&Use| match module.value(reading.value).value {
            Value::Cell(variable) => variable == own.variable,
            _ => reading.value != own.value && may_be(module, reading.value, own.value),
        };
        reads.filter(may_be).map(|reading| (file, reading.value)).collect()
    }

    /// What an attribute or an element is set to, and for a constant where it is read.
    fn stored(&self, file: FileId, own: &Store) -> Vec<Place> {
        let facts = self.job.facts;
        let module = facts.module(file);
        if !module.value(own.value).is_shared() {
            return vec![(file, own.value)];
        }
        let StoreKey::Attribute(stored) = own.key else { return vec![(file, own.base)] };
        let is_read = |&(of, value): &Place| match facts.module(of).value(value).value {
            Value::Attribute { name, .. } => facts.module(of).names.text(name) == module.names.text(stored),
            _ => false,
        };
        facts.influence().dependents((file, own.value)).filter(is_read).collect()
    }

    /// What a function returns, and for a constant what its calls give.
    fn returned(&self, file: FileId, function: FunctionId, own: &Function) -> Vec<Place> {
        let facts = self.job.facts;
        let (shared, others): (Vec<ValueId>, Vec<ValueId>) =
            own.returns.iter().partition(|&&value| facts.module(file).value(value).is_shared());
        let edges = facts.incoming(FunctionRef { file, function }).iter();
        let results = edges.filter_map(|edge| {
            let call = edge.call?;
            Some((edge.caller.file, facts.module(edge.caller.file).call(call).result))
        });
        let others = others.into_iter().map(|value| (file, value));
        others.chain(results.filter(|_| !shared.is_empty())).collect()
    }

    /// The comprehensions of a file that take elements as the values decide: `sum(1 for own in batch if own > 0)`.
    fn comprehensions_in(&self, file: FileId) -> Vec<ValueId> {
        let module = self.job.facts.module(file);
        let values = (0..).map(ValueId::new).zip(&module.values);
        let is_decided = |&(value, own): &(ValueId, &Evaluation)| {
            let caller = Caller { file, scope: module.code_scope(own.scope) };
            matches!(own.value, Value::Display(..))
                && self.scopes.contains(&caller)
                && comprehension_tests(module, value).any(|test| self.values.contains(&(file, test)))
        };
        values.filter(is_decided).map(|(value, _)| value).collect()
    }

    /// The conditional expressions of a file that the values decide: `0 if loss < best else waited + 1`.
    fn expressions_in(&self, file: FileId) -> Vec<ValueId> {
        let module = self.job.facts.module(file);
        let scopes = self.scopes.iter().filter(|caller| caller.file == file);
        let blocks = scopes.flat_map(|caller| &module.scope(caller.scope).flow.blocks);
        let decided = blocks.filter_map(|block| block.branch).filter(|branch| {
            branch.kind == BranchKind::If
                && module.statement(branch.statement).kind != StatementKind::If
                && self.decides(file, branch)
        });
        let around = |branch: Branch| {
            let values = (0..).map(ValueId::new).zip(&module.values);
            let choices = values.filter(|(_, own)| {
                matches!(own.value, Value::Phi(_)) && own.range.contains_range(branch.range)
            });
            choices.min_by_key(|(_, own)| own.range.len()).map(|(id, _)| id)
        };
        decided.filter_map(around).collect()
    }
}

/// The lengths of lists that grow or shrink as some values decide, also in functions that are called there: what an
/// agent has met before its episode ended.
struct Lengths<'j> {
    job: &'j Job<'j>,
    /// The calls of `len`.
    counts: Vec<(FileId, CallId)>,
    /// The lists that are known to grow or shrink.
    changed: FxHashSet<ObjectId>,
    /// The code that was called there.
    seen: FxHashSet<Caller>,
}

impl<'j> Lengths<'j> {
    fn new(job: &'j Job<'j>) -> Self {
        let counts = job.calls().filter(|&(file, call)| is_length(job, file, call)).collect();
        Self { job, counts, changed: FxHashSet::default(), seen: FxHashSet::default() }
    }

    /// The lengths, also of lists that were known to change before.
    fn changed_under(&mut self, deciding: &Deciding<'_>) -> Vec<Place> {
        let (job, facts) = (self.job, self.job.facts);
        if self.counts.is_empty() {
            return Vec::new();
        }
        let is_under = |&(file, id): &(FileId, CallId)| {
            let call = facts.module(file).call(id);
            deciding.is_under(Caller { file, scope: call.scope }, call.block)
        };
        let mut work: Vec<(FileId, CallId)> = job.calls().filter(is_under).collect();
        while let Some((file, id)) = work.pop() {
            let call = facts.module(file).call(id);
            if own_effects(job, file, id).contains(Effect::UpdatesState) {
                let receiver = facts.receiver(file, call).into_iter();
                self.changed.extend(receiver.flat_map(|receiver| lists(job, file, receiver)));
            }
            for function in facts.called_functions(file, id) {
                let code = facts.code_of(function);
                if self.seen.insert(code) {
                    let calls = facts.outgoing(code).iter().filter_map(|edge| edge.call);
                    work.extend(calls.filter(|&own| job.runs(code.file, own)).map(|own| (code.file, own)));
                }
            }
        }
        let is_of_changed = |&&(file, id): &&(FileId, CallId)| {
            let mut arguments = facts.module(file).call(id).arguments.iter();
            arguments.any(|own| lists(job, file, own.value).any(|list| self.changed.contains(&list)))
        };
        let counts = self.counts.iter().filter(is_of_changed);
        counts.map(|&(file, id)| (file, facts.module(file).call(id).result)).collect()
    }
}

/// The lists and the like that a value may be.
fn lists<'j>(job: &'j Job<'_>, file: FileId, value: ValueId) -> impl Iterator<Item = ObjectId> + 'j {
    let objects = job.facts.objects(file, value);
    objects.filter(|(_, object)| matches!(object, Object::Container(..))).map(|(id, _)| id)
}
