//! The model: the programs that use Horovod, and what differs between their ranks.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use super::alone::Alone;
use super::apart::{self, modes::Modes};
use super::blocks::Blocks;
use super::closed::Closed;
use super::comms::Comms;
use super::environment;
use super::exits::Exits;
use super::guards::Known;
use super::made::Makers;
use super::numbers::Numbers;
use super::overrides::Overrides;
use super::replicas_diverge::reads_that_differ;
use super::seeds::Seeds;
use super::unreached;
use super::values::{Difference, Values};
use crate::api::{Effect, Symbol};
use crate::finding::Location;
use crate::program::{Caller, Facts, Literal, Object, Place, Program, Unreached};
use crate::project::FileId;
use crate::rewrite::Texts;
use crate::semantic::{BlockId, CallId, Module, Value};

/// What is known of the ranks of the programs that use Horovod.
#[derive(Debug)]
pub struct Model<'c> {
    /// Everything that is known of the project.
    pub facts: &'c Facts<'c>,
    /// The texts that fixes are made in.
    pub texts: &'c Texts<'c>,
    /// The programs that start Horovod.
    pub programs: Vec<&'c Program>,
    /// The files of their code.
    pub files: Vec<FileId>,
    /// The code that TensorFlow traces.
    pub traced: FxHashSet<Caller>,
    /// What stands in the blocks of their files.
    pub blocks: Blocks,
    /// The values that may be something else on another rank.
    pub values: Values,
    /// Which random numbers are equal.
    pub seeds: Seeds,
    /// Guards that were asked for before.
    pub(super) guards: Known,
    /// Who decides what runs in code that may end the program.
    pub(super) exits: Exits,
    /// What makes the objects of classes.
    pub(super) makers: Makers,
    /// What the numbers that values and variables hold decide.
    pub numbers: Numbers,
    /// What none of several ranks runs.
    pub unreached: Unreached,
    /// What none of several ranks runs, whatever differs between them.
    pub closed: Closed,
    /// The packages that start Horovod among some processes only.
    started_among_some: FxHashSet<&'c str>,
    /// The entries of programs that also exchange values by another library than Horovod.
    exchanging: FxHashSet<FileId>,
    /// Which methods those of classes for Horovod take the place of.
    pub overrides: Overrides,
    /// What each function communicates.
    pub comms: Comms,
    /// The code of the runs that start Horovod.
    together: OnceCell<FxHashSet<Caller>>,
    /// In which of their code ranks do something together.
    modes: OnceCell<Modes<'c>>,
}

impl<'c> Model<'c> {
    /// The model of a project; `None` if no program of it uses Horovod.
    #[must_use]
    pub fn new(facts: &'c Facts<'c>, texts: &'c Texts<'c>) -> Option<Self> {
        let programs: Vec<&Program> =
            facts.programs.iter().filter(|program| program.already_distributed).collect();
        if programs.is_empty() {
            return None;
        }
        let mut files: Vec<FileId> = programs.iter().flat_map(|program| program.files()).collect();
        files.sort_unstable();
        files.dedup();
        let blocks = Blocks::new(facts, &files);
        let overrides = Overrides::new(facts, &files, &programs);
        let numbers = Numbers::new(facts, &blocks, &files, &programs);
        let closed = Closed::new(facts, &Alone::new(facts, &programs), &numbers);
        let (values, seeds) = Values::new(facts, &blocks, &overrides, &closed, &files, &programs);
        let (traced, guards, comms) = (facts.traced(), Known::default(), Comms::default());
        let (exits, makers) = (Exits::new(facts, &files), Makers::new(facts, &files));
        let unreached = Unreached::default();
        let exchanging = environment::exchanging(facts, &programs);
        let mut model = Self {
            facts,
            texts,
            closed,
            programs,
            files,
            traced,
            blocks,
            values,
            seeds,
            guards,
            exits,
            makers,
            numbers,
            unreached,
            started_among_some: environment::started_among_some(facts),
            exchanging,
            overrides,
            comms,
            together: OnceCell::new(),
            modes: OnceCell::new(),
        };
        model.unreached = unreached::of_several(&model);
        model.comms = Comms::new(&model);
        model.follow_calls();
        model.follow_variables();
        Some(model)
    }

    /// What variables hold depends on what differs, and what is read of them may differ in turn.
    fn follow_variables(&mut self) {
        const ROUNDS: usize = 6;
        for _ in 0..ROUNDS {
            let is_read =
                self.values.has_variables() || self.facts.calls_with(Effect::CopiesWeights).next().is_some();
            let news = if is_read { reads_that_differ(self) } else { Vec::new() };
            if news.is_empty() {
                return;
            }
            self.values.extend(self.facts, &self.blocks, &self.overrides, news);
            self.guards = Known::default();
            self.comms = Comms::new(self);
            self.follow_calls();
        }
    }

    /// Whether code belongs to runs that start Horovod, and not to other commands of a program of which one does.
    pub(super) fn is_together(&self, caller: Caller) -> bool {
        self.together.get_or_init(|| apart::together(self.facts)).contains(&caller)
    }

    /// Whether a block belongs to runs in which ranks do something together, and not to another mode of a program.
    pub(super) fn is_of_ranks_together(&self, caller: Caller, block: BlockId) -> bool {
        self.modes.get_or_init(|| Modes::new(self.facts, |_| true)).is_together(caller, Some(block))
    }

    /// Why a value may be something else on another rank; `None` if it is the same on all.
    #[must_use]
    pub fn difference(&self, place: Place) -> Option<Difference> {
        self.values.difference(place)
    }

    /// Why ranks may decide differently at a condition that differs: not by the number of another library where Horovod
    /// is started among some processes, as that says who is a rank at all.
    #[must_use]
    pub fn among_ranks(&self, own: Difference) -> bool {
        let facts = self.facts;
        let (file, value) = own.source;
        let tells = |symbol: &Symbol| {
            !symbol.has(Effect::ReadsRank) || self.started_among_some.contains(symbol.package())
        };
        self.started_among_some.is_empty()
            || match facts.module(file).value(value).value {
                Value::Call(call) => facts.called_symbols(file, call).all(tells),
                // `communicator.rank`
                _ => facts.objects(file, value).filter_map(|(_, own)| facts.symbol(own)).all(tells),
            }
    }

    /// Whether no two ranks have the same value: the rank's number, a path that contains it.
    #[must_use]
    pub fn is_injective(&self, place: Place) -> bool {
        self.values.is_injective(self.facts, place)
    }

    /// The scopes whose code the programs run on several ranks.
    #[must_use]
    pub fn callers(&self) -> Vec<Caller> {
        let mut callers: Vec<Caller> =
            self.programs.iter().flat_map(|program| program.reached.iter().copied()).collect();
        callers.sort_unstable();
        callers.dedup();
        callers.retain(|&caller| !self.overrides.is_unused(caller) && !self.unreached.is_scope(caller));
        callers
    }

    /// Whether a program comes to a collective.
    #[must_use]
    pub fn communicates(&self, program: &Program) -> bool {
        program.reached.iter().any(|&caller| self.code_communicates(caller))
    }

    /// Whether another library than Horovod may make equal what differs in a program.
    pub(super) fn exchanges(&self, program: &Program) -> bool {
        self.exchanging.contains(&program.entry)
    }

    /// Whether it may in all programs that run a scope's code.
    pub(super) fn exchanges_in(&self, caller: Caller) -> bool {
        !self.exchanging.is_empty()
            && self
                .programs
                .iter()
                .all(|program| self.exchanges(program) || !program.reached.contains(&caller))
    }

    /// Whether a program makes a call: not under the guard of a main module that it imports.
    #[must_use]
    pub fn is_run(&self, caller: Caller, call: CallId) -> bool {
        let is_guarded = caller.scope == Module::TOP
            && self.facts.in_main_guard(caller.file, self.facts.module(caller.file).call(call).statement);
        self.programs
            .iter()
            .any(|program| program.reached.contains(&caller) && (program.entry == caller.file || !is_guarded))
    }

    /// The text that a value is, if it is one.
    #[must_use]
    pub fn text(&self, (file, value): Place) -> Option<String> {
        self.facts.objects(file, value).find_map(|(_, object)| match object {
            Object::Literal(Literal::Str(text)) => Some(self.facts.solution.names.text(text).to_owned()),
            _ => None,
        })
    }

    /// The place of a call.
    #[must_use]
    pub fn at_call(&self, file: FileId, call: CallId) -> Location {
        self.facts.location(file, self.facts.module(file).call(call).range)
    }

    /// The qualified name of the scope that a call stands in.
    #[must_use]
    pub fn scope_of(&self, file: FileId, call: CallId) -> &'c str {
        self.facts.scope_name(Caller { file, scope: self.facts.module(file).call(call).scope })
    }
}
