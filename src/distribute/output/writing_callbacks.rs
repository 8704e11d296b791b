//! Callbacks that only write run on rank 0; one that keeps files to go on from keeps them apart for each rank.

use rustc_hash::FxHashSet;

use super::super::callback::{Acts, Handed, Ranks};
use super::super::callbacks::makes_list;
use super::super::job::Job;
use super::super::keras::written;
use super::super::meeting::Meeting;
use super::super::ranked::{is_for_one_rank, is_for_some, reads_rank};
use super::super::started::code_runs_started;
use super::super::step::{Outcome, Step};
use super::OF_PROCESS;
use super::inputs::names_own;
use super::waiting::Waiting;
use crate::api::{Effect, Kind};
use crate::finding::{Finding, Rule};
use crate::program::{Caller, Object, ObjectId, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{
    Argument, BlockId, CallId, Container, Element, Module, Role, ScopeId, StatementKind, Value, ValueId,
};
use crate::syntax::TextRange;

/// The steps of `checkpoint-on-every-rank` that concern callbacks.
pub(in crate::distribute) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let fits = job.program.loops.iter().filter(|own| job.is_fit(own));
    for own in fits {
        let Some(handed) = Handed::of(job, own) else { continue };
        let writing = Writing { job, rule, own, handed };
        let mut own_steps = writing.in_displays();
        own_steps.extend(writing.appended());
        own_steps.extend(writing.alone());
        own_steps.extend(writing.apart());
        own_steps.extend(writing.put());
        own_steps.sort_by_key(|(place, _)| *place);
        if let Some((_, first)) = own_steps.first_mut() {
            wait(job, own, &writing.read_behind(), first);
        }
        found.extend(own_steps.into_iter().filter(|(place, _)| seen.insert(*place)).map(|(_, step)| step));
    }
    found
}

/// Where the program reads what is written while it trains, the other ranks wait for the files of rank 0.
fn wait(job: &Job<'_>, own: &TrainingLoop, read: &[(FileId, CallId)], step: &mut Step) {
    let (file, call) = (own.caller.file, own.call);
    let Some(text) = job.text(file) else { return };
    let data = text.module.call(call);
    let statement = text.module.statement(data.statement);
    let is_simple = matches!(statement.kind, StatementKind::Expression { .. } | StatementKind::Assign { .. });
    let behind = is_simple.then_some(data.statement);
    let waiting = Waiting::for_read(job, (file, call), behind, read);
    if let Some(reason) = waiting.impossible {
        step.outcome = Outcome::Blocked(reason.to_owned());
    }
    if let Outcome::Change { edits, uses, .. } = &mut step.outcome
        && waiting.is_behind
    {
        let meeting = Meeting::at(job, text, data.statement);
        edits.extend(meeting.behind());
        step.everywhere.extend(meeting.everywhere());
        uses.extend(meeting.uses());
    }
    waiting.add_to(job, step);
}

/// The callbacks of one loop.
struct Writing<'j, 'c> {
    job: &'j Job<'c>,
    rule: &'static Rule,
    own: &'j TrainingLoop,
    handed: Handed<'c>,
}

/// Where a step is made: its file and the byte at which it begins.
type At = (FileId, u32);

impl Writing<'_, '_> {
    /// Elements of lists that are written out.
    fn in_displays(&self) -> Vec<(At, Step)> {
        let facts = self.job.facts;
        let mut found = Vec::new();
        for &(file, value) in &self.handed.behind {
            let module = facts.module(file);
            let evaluation = module.value(value);
            let Value::Display(Container::List | Container::Tuple, elements) = &evaluation.value else {
                continue;
            };
            for element in elements {
                let Element::At(_, value) = *element else { continue };
                let Some(place) = written(module, evaluation.range, value) else { continue };
                if !self.only_writes(file, value) || self.is_guarded(file, place, evaluation.scope) {
                    continue;
                }
                let Some(text) = self.job.text(file) else { continue };
                let code = self.job.code(file, evaluation.scope);
                let finding = self.finding(file, place);
                let step = if self.writes_to_own(file, value) {
                    Step::blocked(finding, OF_PROCESS)
                } else if code_runs_started(self.job, file, evaluation.scope, place.start()) {
                    let edits = text.wrap(place, "*([", &format!("] if {} else [])", code.is_first()));
                    code.step(Step::change(finding, "run it on rank 0 only", edits, vec![code.import]))
                } else {
                    Step::blocked(finding, "It is made before Horovod is started, which tells the rank.")
                };
                found.push(((file, place.start().to_u32()), step));
            }
        }
        found
    }

    /// `callbacks.append(ModelCheckpoint(path))`, also of a list that an attribute keeps.
    fn appended(&self) -> Vec<(At, Step)> {
        let facts = self.job.facts;
        let behind = self.handed.behind.iter();
        let lists: FxHashSet<ObjectId> = behind
            .flat_map(|&(file, value)| facts.objects(file, value))
            .filter(|(_, own)| matches!(own, Object::Container(Container::List, _)))
            .map(|(id, _)| id)
            .collect();
        // What a method is given it may be given by others, too.
        let is_made_here = |file: FileId, argument: &Argument| {
            let own = facts.module(file).value(argument.value);
            matches!(own.value, Value::Call(_)) && argument.range.contains_range(own.range)
        };
        let is_of_list = |file, value| {
            let mut own = facts.objects(file, value).peekable();
            own.peek().is_some() && own.all(|(id, _)| lists.contains(&id))
        };
        let mut found = Vec::new();
        for (file, call) in self.job.calls() {
            let data = facts.module(file).call(call);
            let Some(receiver) = facts.receiver(file, data) else { continue };
            let Some(argument) = data.arguments.last() else { continue };
            let keeps = facts.callees(file, call).iter().any(|edge| {
                matches!(facts.solution.object(edge.callee), Object::BuiltinMethod(..))
                    && facts.effects().of_edge(facts, edge).effects.contains(Effect::UpdatesState)
            });
            if !keeps
                || !(self.handed.behind.contains(&(file, receiver))
                    || is_made_here(file, argument) && is_of_list(file, receiver))
                || !self.only_writes(file, argument.value)
                || is_for_one_rank(self.job, file, call)
            {
                continue;
            }
            let Some(text) = self.job.text(file) else { continue };
            let code = self.job.code(file, data.scope);
            let finding = self.finding(file, argument.range);
            let is_statement = data.role == Role::Statement
                && matches!(text.module.statement(data.statement).kind, StatementKind::Expression { .. });
            let step = if is_statement && code_runs_started(self.job, file, data.scope, data.range.start()) {
                let header = format!("if {}:", code.is_first());
                let edits = text.guard(data.statement, data.statement, &header);
                code.step(Step::change(finding, "run it on rank 0 only", edits, vec![code.import]))
            } else {
                Step::blocked(finding, "It is added in an expression that can't be put under a condition.")
            };
            found.push(((file, argument.range.start().to_u32()), step));
        }
        found
    }

    /// `callbacks=ModelCheckpoint(path)`, unless a new list is made of it anyway.
    fn alone(&self) -> Option<(At, Step)> {
        let file = self.own.caller.file;
        let argument = self.handed.argument()?;
        if !self.only_writes(file, argument.value)
            || self.is_guarded(file, argument.range, self.own.caller.scope)
            || makes_list(self.job, self.own)
        {
            return None;
        }
        let text = self.job.text(file)?;
        let (hvd, import) = self.job.horovod(file);
        let edits = text.wrap(argument.range, "[", &format!("] if {hvd}.rank() == 0 else []"));
        let step =
            Step::change(self.finding(file, argument.range), "run it on rank 0 only", edits, vec![import]);
        Some(((file, argument.range.start().to_u32()), step))
    }

    /// Callbacks that go on from their files: each rank needs its own.
    fn apart(&self) -> Vec<(At, Step)> {
        let job = self.job;
        let facts = job.facts;
        let mut found = Vec::new();
        for &callback in &self.handed.callbacks {
            if Acts::of(job, callback).ranks() != Ranks::AllApart {
                continue;
            }
            let Some((file, call)) = facts.made_at(callback) else { continue };
            let data = facts.module(file).call(call);
            let folder = facts.called_symbols(file, call).find_map(|symbol| {
                let folder = symbol.parameters().first()?;
                facts.argument(file, data, symbol, folder.name())
            });
            let (Some(folder), Some(text)) = (folder, job.text(file)) else { continue };
            if reads_rank(job, file, folder.value) || is_for_one_rank(job, file, call) {
                continue;
            }
            let (hvd, import) = job.horovod(file);
            let finding = Step::missing(
                self.rule,
                facts.location(file, folder.range),
                "all ranks keep the state that they go on from in one place",
            )
            .here("overwritten by each other")
            .help("give each rank a folder of its own")
            .in_scope(job.scope_of(file, call));
            let step = if code_runs_started(job, file, data.scope, data.range.start()) {
                let own = format!("'{{}}/{{}}'.format({}, {hvd}.rank())", text.slice(folder.range));
                let edits = vec![text.replace(folder.range, own)];
                Step::change(finding, "give each rank a folder of its own", edits, vec![import])
            } else {
                Step::blocked(finding, "It is made before Horovod is started, which tells the rank.")
            };
            found.push(((file, folder.range.start().to_u32()), step));
        }
        found
    }

    /// `trainer.add(ModelCheckpoint(path))`, where `add` appends what it is given.
    fn put(&self) -> Vec<(At, Step)> {
        let job = self.job;
        let made = self.handed.put.iter().filter(|&&own| Acts::of(job, own).ranks() == Ranks::First);
        let made = made.filter_map(|&own| job.facts.made_at(own));
        let made = made
            .filter(|&(file, call)| !is_for_one_rank(job, file, call) && !self.names_the_rank(file, call));
        let step = |(file, call): (FileId, CallId)| {
            let place = job.facts.module(file).call(call).range;
            let reason =
                "Other code puts it among the callbacks: where only rank 0 should do that can't be seen.";
            ((file, place.start().to_u32()), Step::blocked(self.finding(file, place), reason))
        };
        made.map(step).collect()
    }

    /// What may read the files of the callbacks: weights, as those lie in a folder beside others, and their logs.
    fn read_behind(&self) -> Vec<(FileId, CallId)> {
        let (job, facts) = (self.job, self.job.facts);
        let made = self.handed.behind.iter().filter(|&&(file, value)| self.only_writes(file, value));
        let made = made.flat_map(|&(file, value)| facts.objects(file, value).map(|(id, _)| id));
        let made: FxHashSet<(FileId, CallId)> = made.filter_map(|id| facts.made_at(id)).collect();
        let mut read = job.inputs().weights_read().to_vec();
        read.extend(made.into_iter().flat_map(|own| job.inputs().data_read(job, own)));
        read.sort_unstable();
        read.dedup();
        read
    }

    /// Whether a value is a callback that writes to a folder of the process's own.
    fn writes_to_own(&self, file: FileId, value: ValueId) -> bool {
        let made = self.job.facts.objects(file, value).filter_map(|(id, _)| self.job.facts.made_at(id));
        made.into_iter().any(|(file, call)| names_own(self.job, file, call))
    }

    fn finding(&self, file: FileId, place: TextRange) -> Finding {
        let facts = self.job.facts;
        Step::missing(self.rule, facts.location(file, place), "every rank writes the files of this callback")
            .here("written by each rank")
            .help("give it to `fit` on rank 0 only")
            .label(facts.location(self.own.caller.file, self.own.range), "given to this call")
    }

    /// Whether a value is surely a callback that only writes, to a place that is the same on all ranks.
    fn only_writes(&self, file: FileId, value: ValueId) -> bool {
        let facts = self.job.facts;
        let mut objects = facts.objects(file, value).peekable();
        objects.peek().is_some()
            && objects.all(|(id, _)| {
                facts.kind(id) == Some(Kind::Callback)
                    && Acts::of(self.job, id).ranks() == Ranks::First
                    && facts.made_at(id).is_none_or(|(file, call)| {
                        !is_for_one_rank(self.job, file, call) && !self.names_the_rank(file, call)
                    })
            })
    }

    /// Whether the arguments of a call depend on the rank: a file of its own for each.
    fn names_the_rank(&self, file: FileId, call: CallId) -> bool {
        let arguments = &self.job.facts.module(file).call(call).arguments;
        arguments.iter().any(|argument| reads_rank(self.job, file, argument.value))
    }

    /// Whether what is written at a place is evaluated under a condition on the rank.
    fn is_guarded(&self, file: FileId, place: TextRange, scope: ScopeId) -> bool {
        let module = self.job.facts.module(file);
        block_at(module, place).is_some_and(|block| {
            is_for_some(self.job, Caller { file, scope }, block, &mut FxHashSet::default())
        })
    }
}

/// The block that evaluates what is written at a place.
fn block_at(module: &Module, place: TextRange) -> Option<BlockId> {
    let call = module.calls.iter().find(|call| call.range == place).map(|call| call.block);
    call.or_else(|| {
        let mut uses = module.uses.iter();
        uses.find(|reading| place.contains_range(reading.range)).map(|reading| reading.block)
    })
}
