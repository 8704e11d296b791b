//! A program under distribution, with what every rule asks for.

use std::cell::{OnceCell, RefCell};

use rustc_hash::{FxHashMap, FxHashSet};

use super::common::Common;
use super::data::held_out::{self, Draw};
use super::initialisation::end_of_imports;
use super::leading_to_steps::LeadingToSteps;
use super::names::{Api, Import, Names};
use super::obstacles::{alike, choices, own_results, traced_choices};
use super::output::inputs::{Inputs, Settings};
use super::output::preparation::Preparations;
use super::output::told_paths;
use super::session::is_session;
use super::session::runs;
use super::started::{needs_earlier_start, start_by_import};
use super::unstarted::{Code, Runs};
use crate::finding::{Confidence, Location};
use crate::program::{Caller, Facts, LoopKind, ObjectId, Place, Program, TrainingLoop, Unreached};
use crate::project::FileId;
use crate::ranks::Alone;
use crate::rewrite::{Text, Texts};
use crate::semantic::{BlockId, CallId, ScopeId, StatementId};
use crate::syntax::TextSize;

/// A program under distribution.
#[derive(Debug)]
pub struct Job<'c> {
    /// Everything that is known of the project.
    pub facts: &'c Facts<'c>,
    /// The texts that edits are made in.
    pub texts: &'c Texts<'c>,
    /// The program.
    pub program: &'c Program,
    /// The code that TensorFlow traces.
    pub traced: &'c FxHashSet<Caller>,
    /// Where Horovod's module for Keras serves alone: in the file that owns the loop of a program that trains by
    /// `fit` only.
    pub(super) api: Api,
    owner: FileId,
    pub(super) common: &'c Common,
    files: OnceCell<FxHashSet<FileId>>,
    calls: OnceCell<Vec<(FileId, CallId)>>,
    of_own_results: OnceCell<FxHashSet<Place>>,
    chosen_by_own_results: OnceCell<FxHashSet<Place>>,
    own_lengths: OnceCell<Vec<Place>>,
    padded: OnceCell<FxHashSet<Place>>,
    deciding_traces: OnceCell<FxHashSet<Place>>,
    draws_for_all: OnceCell<Vec<Draw>>,
    inputs: OnceCell<Inputs>,
    settings: OnceCell<Settings>,
    preparations: OnceCell<Preparations>,
    leading_to_steps: OnceCell<LeadingToSteps>,
    alone: OnceCell<Unreached>,
    kept_containers: OnceCell<FxHashMap<ObjectId, Vec<Place>>>,
    started: RefCell<FxHashMap<FileId, Option<TextSize>>>,
    import_ends: RefCell<FxHashMap<FileId, Option<TextSize>>>,
}

impl<'c> Job<'c> {
    /// The job of distributing `program`; `None` if it does not train.
    #[must_use]
    pub fn new(
        facts: &'c Facts<'c>,
        texts: &'c Texts<'c>,
        program: &'c Program,
        traced: &'c FxHashSet<Caller>,
        common: &'c Common,
    ) -> Option<Self> {
        let loops = &program.loops;
        let owner = loops.iter().find(|own| is_session(own)).or(loops.first())?.caller.file;
        let mut job = Self {
            facts,
            texts,
            program,
            traced,
            api: Api::Tape,
            owner,
            common,
            files: OnceCell::new(),
            calls: OnceCell::new(),
            of_own_results: OnceCell::new(),
            chosen_by_own_results: OnceCell::new(),
            own_lengths: OnceCell::new(),
            padded: OnceCell::new(),
            deciding_traces: OnceCell::new(),
            draws_for_all: OnceCell::new(),
            inputs: OnceCell::new(),
            settings: OnceCell::new(),
            preparations: OnceCell::new(),
            leading_to_steps: OnceCell::new(),
            alone: OnceCell::new(),
            kept_containers: OnceCell::new(),
            started: RefCell::default(),
            import_ends: RefCell::default(),
        };
        if needs_earlier_start(&job) {
            (job.owner, job.started) = (program.entry, RefCell::default());
        }
        if program.steps_of_fit.is_empty() && program.loops.iter().all(|own| job.is_fit(own)) {
            // Horovod's module for Keras broadcasts numbers only.
            job.api = if told_paths::own_names(&job).is_empty() { Api::Keras } else { Api::Tape };
        }
        Some(job)
    }

    /// The same job among those that have this in common.
    pub(super) fn among<'o>(self, common: &'o Common) -> Job<'o>
    where
        'c: 'o,
    {
        // Where Horovod is started depends on the others.
        Job { common, started: RefCell::default(), import_ends: RefCell::default(), ..self }
    }

    /// Where Horovod is started: the module that owns the training loop, or the program if others need it while they are imported.
    #[must_use]
    pub fn owner(&self) -> FileId {
        self.owner
    }

    /// Whether a file starts Horovod for the program, so that whoever imports it has it started too.
    #[must_use]
    pub fn is_start(&self, file: FileId) -> bool {
        file == self.owner && !self.program.already_distributed
    }

    /// Where in a file that does not own the loop Horovod is started for its own code, by an import.
    pub(super) fn start_of(&self, file: FileId) -> Option<TextSize> {
        let known = self.started.borrow().get(&file).copied();
        known.unwrap_or_else(|| {
            let start = start_by_import(self, file);
            self.started.borrow_mut().insert(file, start);
            start
        })
    }

    /// Where the imports of a file end behind which Horovod is imported, and started if the file owns the loop.
    pub(super) fn end_of_imports(&self, file: FileId) -> Option<TextSize> {
        let mut ends = self.import_ends.borrow_mut();
        *ends.entry(file).or_insert_with(|| end_of_imports(self, file))
    }

    /// Whether a loop is one of Keras that calls back: `fit`, and not `train_on_batch`.
    #[must_use]
    pub fn is_fit(&self, own: &TrainingLoop) -> bool {
        let mut symbols = self.facts.called_symbols(own.caller.file, own.call);
        own.kind == LoopKind::KerasFit && symbols.any(|symbol| symbol.parameter("callbacks").is_some())
    }

    /// The tape loops, also those that `fit` runs.
    pub fn tape_loops(&self) -> impl Iterator<Item = &'c TrainingLoop> + use<'c> {
        let all = self.program.loops.iter().chain(&self.program.steps_of_fit);
        all.filter(|own| own.kind == LoopKind::GradientTape)
    }

    /// The text of a file; `None` if it can't be read any more.
    #[must_use]
    pub fn text(&self, file: FileId) -> Option<Text<'c>> {
        self.texts.get(file, self.facts.module(file)).map(|text| text.with_moved(&self.common.moved))
    }

    /// Whether another program starts Horovod in a file.
    #[must_use]
    pub fn is_started_by_another(&self, file: FileId) -> bool {
        file != self.owner && self.common.owners.contains_key(&file)
    }

    /// The code of a scope, where it is to ask for the rank.
    pub(super) fn code(&self, file: FileId, scope: ScopeId) -> Code {
        let code = Caller { file, scope: self.facts.module(file).code_scope(scope) };
        let is_unstarted = file != self.program.entry
            && !self.is_start(file)
            && self.common.unstarted(self.facts).runner(code).is_some();
        let (horovod, import) = self.horovod(file);
        Code { horovod, import, runs: if is_unstarted { Runs::Anywhere } else { Runs::Started } }
    }

    /// The names that new code in a file uses.
    #[must_use]
    pub fn names(&self, file: FileId) -> Names {
        let own = if file == self.owner { self.api } else { Api::Tape };
        let api = self.common.owners.get(&file).copied().unwrap_or(own);
        self.common.names(self.facts, file, api)
    }

    /// Horovod's name in a file, and the import that it needs.
    #[must_use]
    pub fn horovod(&self, file: FileId) -> (String, (FileId, Import)) {
        let name = self.names(file).horovod;
        (name.text, (file, name.import))
    }

    /// Horovod's name for Keras in a file, and the import that it needs.
    #[must_use]
    pub fn horovod_keras(&self, file: FileId) -> (String, (FileId, Import)) {
        let name = self.names(file).keras;
        (name.text, (file, name.import))
    }

    /// TensorFlow's name in a file, and the import that it needs.
    #[must_use]
    pub fn tensorflow(&self, file: FileId) -> (String, (FileId, Import)) {
        let name = self.names(file).tensorflow;
        (name.text, (file, name.import))
    }

    /// The Keras of which a program's models are, as it is called in a file, and the import that it needs: `tf.keras`, or one
    /// apart from TensorFlow, which takes no optimizers of the other.
    pub(super) fn keras_of_models(&self, file: FileId) -> (String, (FileId, Import)) {
        let apart = Import::TfKeras;
        let mut imports = self.program.files().into_iter().flat_map(|own| &self.facts.module(own).imports);
        if imports.any(|import| import.package() == apart.module()) {
            return (self.names(file).tf_keras.text, (file, apart));
        }
        let (tf, import) = self.tensorflow(file);
        (format!("{tf}.keras"), import)
    }

    /// The name of Python's module for contexts in a file, and the import that it needs.
    #[must_use]
    pub fn contexts(&self, file: FileId) -> (String, (FileId, Import)) {
        let name = self.names(file).contexts;
        (name.text, (file, name.import))
    }

    /// The name of Python's module for random numbers in a file, and the import that it needs.
    #[must_use]
    pub fn random(&self, file: FileId) -> (String, (FileId, Import)) {
        let name = self.names(file).random;
        (name.text, (file, name.import))
    }

    /// The name of Python's module for temporary files in a file, and the import that it needs.
    #[must_use]
    pub fn temporary(&self, file: FileId) -> (String, (FileId, Import)) {
        let name = self.names(file).temporary;
        (name.text, (file, name.import))
    }

    /// How sure it is that a step is missing which is a matter of taste: who wrote a distributed program by hand may
    /// want lines of every rank, or a rate that does not grow.
    #[must_use]
    pub fn taste(&self) -> Confidence {
        if self.program.already_distributed { Confidence::Possible } else { Confidence::Certain }
    }

    /// The place of a call.
    #[must_use]
    pub fn at_call(&self, file: FileId, call: CallId) -> Location {
        self.facts.location(file, self.facts.module(file).call(call).range)
    }

    /// The place of a statement's header.
    #[must_use]
    pub fn at_header(&self, file: FileId, statement: StatementId) -> Location {
        self.facts.location(file, self.facts.module(file).statement(statement).header)
    }

    /// The qualified name of the scope that a call stands in.
    #[must_use]
    pub fn scope_of(&self, file: FileId, call: CallId) -> &'c str {
        self.facts.scope_name(Caller { file, scope: self.facts.module(file).call(call).scope })
    }

    /// Whether the program runs a call: its scope is reached, and it does not stand under another module's guard.
    #[must_use]
    pub fn runs(&self, file: FileId, call: CallId) -> bool {
        self.facts.runs(self.program, file, call)
    }

    /// Whether the program may run the code that a value stands in: not what only other programs come to. Of code that none
    /// comes to nobody knows who calls it. A constant stands for all that are written alike.
    #[must_use]
    pub fn evaluates(&self, (file, value): Place) -> bool {
        let module = self.facts.module(file);
        let own = module.value(value);
        let code = Caller { file, scope: module.code_scope(own.scope) };
        own.is_shared()
            || self.program.reached.contains(&code)
            || self.runs_in(file) && !self.common.reached(self.facts).contains(&code)
    }

    /// The calls that the program runs, file by file in source order.
    pub fn calls(&self) -> impl Iterator<Item = (FileId, CallId)> + '_ {
        self.all_calls().iter().copied()
    }

    fn all_calls(&self) -> &[(FileId, CallId)] {
        let collect = || {
            let of_file = |file: FileId| {
                let all = (0..self.facts.module(file).calls.len()).map(CallId::new);
                all.filter(move |&call| self.runs(file, call)).map(move |call| (file, call))
            };
            self.program.files().into_iter().flat_map(of_file).collect()
        };
        self.calls.get_or_init(collect)
    }

    /// The calls in a file that the program runs, in source order.
    pub fn calls_in(&self, file: FileId) -> impl Iterator<Item = CallId> + '_ {
        let all = self.all_calls();
        let first = all.partition_point(|(other, _)| *other < file);
        all[first..].iter().take_while(move |(other, _)| *other == file).map(|&(_, call)| call)
    }

    /// Whether a call of a distributed program is made in runs without Horovod only.
    #[must_use]
    pub fn is_alone(&self, file: FileId, call: CallId) -> bool {
        let own = self.facts.module(file).call(call);
        self.is_block_alone(Caller { file, scope: own.scope }, own.block)
    }

    /// Whether a block of a distributed program is run without Horovod only.
    pub(super) fn is_block_alone(&self, caller: Caller, block: BlockId) -> bool {
        self.program.already_distributed && {
            let find = || Alone::new(self.facts, &[self.program]).code_of(self.facts, self.program);
            let alone = self.alone.get_or_init(find);
            alone.is_scope(caller) || alone.is_block(caller, block)
        }
    }

    /// The code that makes steps of training.
    pub(super) fn leading_to_steps(&self) -> &LeadingToSteps {
        self.leading_to_steps.get_or_init(|| LeadingToSteps::of(self))
    }

    /// Whether a call makes a step of training, or calls code that comes to one.
    pub(super) fn comes_to_step(&self, file: FileId, call: CallId) -> bool {
        let leading = self.leading_to_steps();
        leading.calls.contains(&(file, call))
            || self
                .facts
                .called_functions(file, call)
                .any(|own| leading.code.contains(&self.facts.code_of(own)))
    }

    /// Where attributes and variables of other scopes are read that hold containers, by container.
    pub(super) fn kept_containers(&self) -> &FxHashMap<ObjectId, Vec<Place>> {
        self.kept_containers.get_or_init(|| runs::kept_containers(self))
    }

    /// All that differs between ranks because it is computed from their examples.
    pub(super) fn of_own_results(&self) -> &FxHashSet<Place> {
        self.of_own_results.get_or_init(|| own_results::of_own_results(self))
    }

    /// The same, with what is chosen because of it.
    pub(super) fn chosen_by_own_results(&self) -> &FxHashSet<Place> {
        self.chosen_by_own_results.get_or_init(|| choices::chosen_by_own_results(self))
    }

    /// The lengths of lists that grow or shrink because of a rank's own results.
    pub(super) fn own_lengths(&self) -> &[Place] {
        self.own_lengths.get_or_init(|| choices::lengths(self, self.chosen_by_own_results()))
    }

    /// What decides, as a value of Python, which graph traced code becomes.
    pub(super) fn deciding_traces(&self) -> &FxHashSet<Place> {
        self.deciding_traces.get_or_init(|| traced_choices::deciding(self))
    }

    /// The draws that all ranks need the same of.
    pub(super) fn draws_for_all(&self) -> &[Draw] {
        self.draws_for_all.get_or_init(|| held_out::deciding(self))
    }

    /// Whether a call draws what decides which examples are held out: all ranks are given a seed for it.
    pub(super) fn draws_together(&self, file: FileId, call: CallId) -> bool {
        self.draws_for_all().iter().any(|own| (own.file, own.call) == (file, call))
    }

    /// What is made of batches that are as long as their longest example.
    pub(super) fn padded(&self) -> &FxHashSet<Place> {
        self.padded.get_or_init(|| alike::padded(self))
    }

    /// Whether the program runs code of a file.
    pub(super) fn runs_in(&self, file: FileId) -> bool {
        self.files.get_or_init(|| self.program.files().into_iter().collect()).contains(&file)
    }

    /// Where the program reads its settings.
    pub(super) fn settings(&self) -> &Settings {
        self.settings.get_or_init(|| Settings::new(self))
    }

    /// What the program reads.
    pub(super) fn inputs(&self) -> &Inputs {
        self.inputs.get_or_init(|| Inputs::new(self))
    }

    /// What the program makes in blocks of their own.
    pub(super) fn preparations(&self) -> &Preparations {
        self.preparations.get_or_init(|| Preparations::of(self))
    }
}
