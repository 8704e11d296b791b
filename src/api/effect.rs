//! What calling a library symbol does, and sets of it.

use std::fmt;

/// Something that a call does besides returning a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Trains a model: `fit`, `train_on_batch`, `train_step`.
    Trains,
    /// Evaluates a model.
    Evaluates,
    /// Predicts with a model.
    Predicts,
    /// Applies given gradients: `apply_gradients`.
    AppliesGradients,
    /// Takes gradients and applies them: `minimize`.
    Minimizes,
    /// Takes gradients: `tape.gradient`, `tf.gradients`, `compute_gradients`.
    TakesGradients,
    /// Gives a model its optimizer: `compile`.
    Compiles,
    /// Makes a model from a file, with its optimizer.
    LoadsModel,
    /// Replaces weights by those of a file.
    LoadsWeights,
    /// Every rank has to take part.
    Collective,
    /// Takes part in what other ranks communicate until all come to it: `hvd.join`.
    Joins,
    /// Sends variables or values from one rank to all.
    Broadcasts,
    /// Averages (or otherwise reduces) over the ranks.
    Averages,
    /// Returns the same on all ranks, whatever each gives.
    Agrees,
    /// Exchanges values with other processes by another library than Horovod: `comm.bcast`.
    Exchanges,
    /// Returns the distributed form of its argument: `hvd.DistributedOptimizer`.
    Distributes,
    /// Starts Horovod.
    Initializes,
    /// Returns this process' number: differs between ranks.
    ReadsRank,
    /// Returns this process' number on its host.
    ReadsLocalRank,
    /// Returns the number of ranks: the same on all.
    ReadsSize,
    /// What it counts is not all ranks, but those of a host, or the hosts.
    PerHost,
    /// May return something else on another rank: clock, process, host, order of a directory.
    Varies,
    /// Creates, changes or removes a file or a directory.
    WritesFile,
    /// Leaves the same behind when it is done twice, at whatever time.
    Idempotent,
    /// Makes a directory, in which nothing is yet.
    MakesFolder,
    /// Fails when it is done twice: the directory exists already, the file is gone.
    FailsTwice,
    /// Reads a file or asks the file system.
    ReadsFile,
    /// Fetches a file to a place where it looks first: once it is there, it is only read.
    Downloads,
    /// Writes to the standard streams or to a log.
    Prints,
    /// Reads standard input.
    ReadsInput,
    /// Draws random numbers.
    DrawsRandom,
    /// Seeds a generator of random numbers.
    SeedsRandom,
    /// Seeds all generators that have no seed of their own: Python's, `NumPy`'s and TensorFlow's.
    SeedsAll,
    /// Changes its receiver, a variable, a metric or a global setting.
    UpdatesState,
    /// Keeps its keyword arguments as attributes of each `argparse.Namespace`: `set_defaults`.
    SetsDefaults,
    /// Takes elements from an iterator.
    ConsumesIterator,
    /// Writes to an event file.
    WritesSummary,
    /// Chooses which devices the process sees.
    PinsDevice,
    /// Stops training, or changes its rate or weights.
    SteersTraining,
    /// May end training before its last epoch.
    StopsTraining,
    /// Decides from the metrics of an epoch.
    ReadsMetrics,
    /// Ends the process.
    Exits,
    /// Writes nothing where it is given `mode='disabled'`, but goes on to work.
    DisabledByMode,
    /// Splits data between workers.
    Shards,
    /// Returns as many elements as it is given, at the same places or at others.
    KeepsLength,
    /// Gives a layer or a model other weights, as it is told: `layer.set_weights`.
    SetsWeights,
    /// Brings elements into an order that it draws, or draws some of them.
    Reorders,
    /// Gives parts of what it is given, one after the other: at least one, and as many as it is told, whatever it draws.
    GivesFolds,
    /// Its receiver has more or fewer elements afterwards: `list.append`.
    Resizes,
    /// Returns how many elements it is given, or of which classes they are, whatever their order.
    Measures,
    /// Starts another thread or process.
    Spawns,
    /// Makes a graph of the function that it is given: its Python code runs once for each graph.
    Traces,
    /// Runs the function that it is given, or the code in its block, as plain Python also within a graph.
    RunsEagerly,
    /// Makes `tf.function` run its functions without a graph.
    DisablesTracing,
    /// Calls the function that it is given once for the same arguments.
    Memoizes,
    /// Reads a clock, or makes an identifier from one.
    ReadsClock,
    /// Reads the variables of the environment, which are the same for all ranks but for those of the launcher.
    ReadsEnvironment,
    /// Needs the value of its argument, which a tensor has only when the graph runs; of a module, its functions do.
    ReadsValue,
    /// Needs the values of the elements that it is given: whether they are true, which is the least.
    ReadsElements,
    /// Asks its argument for its type or shape, which a tensor has while it is traced.
    ReadsType,
    /// `AutoGraph` replaces it: of a tensor it makes a tensor.
    Converts,
    /// May fail for the values of its arguments, when the graph runs.
    FailsLate,
    /// Makes something once, when it is first needed: `build`.
    RunsOnce,
    /// Returns something larger than its arguments: `tf.concat`.
    Grows,
    /// Keeps `AutoGraph` from rewriting the function that it is given.
    KeepsPython,
    /// Returns the number that it is given, or that its receiver holds: `tf.constant`, `variable.numpy`.
    KeepsValue,
    /// What it returns has elements of the type of those of its first argument, or of its receiver: `tf.reduce_sum`,
    /// `dataset.batch`.
    KeepsType,
    /// What it returns has fractions, unless its first argument says how many bits: `tf.sqrt`, losses.
    GivesFractions,
    /// Adds its argument to what its receiver holds.
    Adds,
    /// Takes its argument from what its receiver holds.
    Subtracts,
    /// Reduces to the sum: `hvd.Sum`.
    Sums,
    /// Reduces to the greatest: `hvd.Max`.
    TakesGreatest,
    /// Reduces to the least: `hvd.Min`, `min`.
    TakesLeast,
    /// Asks something that is so in traced code: whether its argument is a tensor.
    HoldsInGraph,
    /// Asks something that is not so in traced code: whether operations run at once.
    FailsInGraph,
    /// Makes a file or a directory of the process's own, which holds what the program puts there.
    Temporary,
    /// Is told where to write, and writes when another call makes it: a profile, or events that are added one by one.
    WritesLater,
    /// Raises where code is traced: it runs a traced function of its own, again and again.
    RefusesTracing,
    /// What is logged goes to the file that it is given from then on: `logging.FileHandler`.
    KeepsLog,
    /// Returns what the weights of its receiver are at that time: `model.get_weights()`.
    CopiesWeights,
    /// Catches what is raised in the block that it manages: `contextlib.suppress`.
    Catches,
    /// Waits for requests until somebody stops it; of a module, its functions show the page of such a server.
    Serves,
}

impl Effect {
    /// Every effect with its word in the tables.
    pub const ALL: [(Self, &'static str); 82] = [
        (Self::Trains, "trains"),
        (Self::Evaluates, "evaluates"),
        (Self::Predicts, "predicts"),
        (Self::AppliesGradients, "applies-gradients"),
        (Self::Minimizes, "minimizes"),
        (Self::TakesGradients, "takes-gradients"),
        (Self::Compiles, "compiles"),
        (Self::LoadsModel, "loads-model"),
        (Self::LoadsWeights, "loads-weights"),
        (Self::Collective, "collective"),
        (Self::Joins, "joins"),
        (Self::Broadcasts, "broadcasts"),
        (Self::Averages, "averages"),
        (Self::Agrees, "agrees"),
        (Self::Exchanges, "exchanges"),
        (Self::Distributes, "distributes"),
        (Self::Initializes, "initializes"),
        (Self::ReadsRank, "reads-rank"),
        (Self::ReadsLocalRank, "reads-local-rank"),
        (Self::ReadsSize, "reads-size"),
        (Self::PerHost, "per-host"),
        (Self::Varies, "varies"),
        (Self::WritesFile, "writes-file"),
        (Self::Idempotent, "idempotent"),
        (Self::MakesFolder, "makes-folder"),
        (Self::FailsTwice, "fails-twice"),
        (Self::ReadsFile, "reads-file"),
        (Self::Downloads, "downloads"),
        (Self::Prints, "prints"),
        (Self::ReadsInput, "reads-input"),
        (Self::DrawsRandom, "draws-random"),
        (Self::SeedsRandom, "seeds-random"),
        (Self::SeedsAll, "seeds-all"),
        (Self::UpdatesState, "updates-state"),
        (Self::SetsDefaults, "sets-defaults"),
        (Self::ConsumesIterator, "consumes-iterator"),
        (Self::WritesSummary, "writes-summary"),
        (Self::PinsDevice, "pins-device"),
        (Self::SteersTraining, "steers-training"),
        (Self::StopsTraining, "stops-training"),
        (Self::ReadsMetrics, "reads-metrics"),
        (Self::Exits, "exits"),
        (Self::DisabledByMode, "disabled-by-mode"),
        (Self::Shards, "shards"),
        (Self::KeepsLength, "keeps-length"),
        (Self::SetsWeights, "sets-weights"),
        (Self::Reorders, "reorders"),
        (Self::GivesFolds, "gives-folds"),
        (Self::Resizes, "resizes"),
        (Self::Measures, "measures"),
        (Self::Spawns, "spawns"),
        (Self::Traces, "traces"),
        (Self::RunsEagerly, "runs-eagerly"),
        (Self::DisablesTracing, "disables-tracing"),
        (Self::Memoizes, "memoizes"),
        (Self::ReadsClock, "reads-clock"),
        (Self::ReadsEnvironment, "reads-environment"),
        (Self::ReadsValue, "reads-value"),
        (Self::ReadsElements, "reads-elements"),
        (Self::ReadsType, "reads-type"),
        (Self::Converts, "converts"),
        (Self::FailsLate, "fails-late"),
        (Self::RunsOnce, "runs-once"),
        (Self::Grows, "grows"),
        (Self::KeepsPython, "keeps-python"),
        (Self::KeepsValue, "keeps-value"),
        (Self::KeepsType, "keeps-type"),
        (Self::GivesFractions, "gives-fractions"),
        (Self::Adds, "adds"),
        (Self::Subtracts, "subtracts"),
        (Self::Sums, "sums"),
        (Self::TakesGreatest, "takes-greatest"),
        (Self::TakesLeast, "takes-least"),
        (Self::HoldsInGraph, "holds-in-graph"),
        (Self::FailsInGraph, "fails-in-graph"),
        (Self::Temporary, "temporary"),
        (Self::WritesLater, "writes-later"),
        (Self::RefusesTracing, "refuses-tracing"),
        (Self::KeepsLog, "keeps-log"),
        (Self::CopiesWeights, "copies-weights"),
        (Self::Catches, "catches"),
        (Self::Serves, "serves"),
    ];
}

/// A set of effects.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct EffectSet(u128);

impl EffectSet {
    /// No effect.
    pub const NONE: Self = Self(0);

    /// Whether `effect` is among them.
    #[must_use]
    pub const fn contains(self, effect: Effect) -> bool {
        self.0 & (1 << effect as u32) != 0
    }

    /// The set with `effect`.
    #[must_use]
    pub const fn with(self, effect: Effect) -> Self {
        Self(self.0 | 1 << effect as u32)
    }

    /// The set without `effect`.
    #[must_use]
    pub const fn without(self, effect: Effect) -> Self {
        Self(self.0 & !(1 << effect as u32))
    }

    /// The effects of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the sets have an effect in common.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What each rank has to do itself: what trains, or has to agree, needs all of them; progress bars have switches of
    /// their own.
    #[must_use]
    pub fn of_every_rank() -> Self {
        [
            Effect::Trains,
            Effect::Evaluates,
            Effect::Predicts,
            Effect::Collective,
            Effect::ReadsInput,
            Effect::Minimizes,
            Effect::AppliesGradients,
            Effect::Spawns,
            Effect::Exits,
        ]
        .into_iter()
        .collect()
    }

    /// The effects that change something or ask the world: without what only says what a result is like, and how a
    /// symbol is traced.
    #[must_use]
    pub fn on_the_world(self) -> Self {
        let others = [
            Effect::Agrees,
            Effect::DisabledByMode,
            Effect::KeepsLength,
            Effect::Resizes,
            Effect::Measures,
            Effect::Memoizes,
            Effect::ReadsClock,
            Effect::ReadsEnvironment,
            Effect::ReadsValue,
            Effect::ReadsElements,
            Effect::ReadsType,
            Effect::Converts,
            Effect::FailsLate,
            Effect::RunsOnce,
            Effect::RunsEagerly,
            Effect::Grows,
            Effect::KeepsPython,
            Effect::KeepsValue,
            Effect::KeepsType,
            Effect::GivesFractions,
            Effect::Adds,
            Effect::Subtracts,
            Effect::TakesLeast,
            Effect::WritesLater,
            Effect::Catches,
        ];
        others.into_iter().fold(self, Self::without)
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The effects in the order of [`Effect`].
    pub fn iter(self) -> impl Iterator<Item = Effect> {
        Effect::ALL.into_iter().map(|(effect, _)| effect).filter(move |&effect| self.contains(effect))
    }
}

impl FromIterator<Effect> for EffectSet {
    fn from_iter<I: IntoIterator<Item = Effect>>(effects: I) -> Self {
        effects.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Debug for EffectSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
