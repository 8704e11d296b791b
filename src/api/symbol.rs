//! What one library symbol is: its role, its parameters, what a call returns, does and calls back.

use std::borrow::Cow;
use std::fmt;

/// Text of a table: borrowed from the program for the built-in tables, owned for a user's rows.
pub(super) type Text = Cow<'static, str>;

/// What kind of object a class makes. A class without a kind of its own has its base's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Applies gradients to variables.
    Optimizer,
    /// Learning rate as a function of the step.
    Schedule,
    /// A `keras.Model` or a subclass.
    Model,
    /// A Keras layer that is no model.
    Layer,
    /// A `tf.data.Dataset`.
    Dataset,
    /// An iterator over a dataset.
    DatasetIterator,
    /// Another source of batches: `keras.utils.Sequence`, what `ImageDataGenerator.flow` returns.
    BatchSource,
    /// `tf.train.Checkpoint`.
    Checkpoint,
    /// The `Saver` of TensorFlow 1.
    Saver,
    /// `tf.train.CheckpointManager`.
    CheckpointManager,
    /// A Keras callback.
    Callback,
    /// A Keras metric.
    Metric,
    /// A Keras loss.
    Loss,
    /// `tf.GradientTape`.
    Tape,
    /// A TensorFlow 1 session.
    Session,
    /// A session with hooks: `MonitoredTrainingSession` and its like.
    MonitoredSession,
    /// Writes event files.
    SummaryWriter,
    /// Writes other files: an open file, a CSV writer, a writer of records.
    FileWriter,
    /// A `tf.Variable`.
    Variable,
    /// A tensor.
    Tensor,
    /// A `tf.distribute` strategy.
    Strategy,
    /// A `tf.estimator` estimator.
    Estimator,
    /// A session run hook.
    Hook,
    /// A generator of random numbers.
    Random,
    /// None of the above.
    Other,
}

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
    /// Sends variables or values from one rank to all.
    Broadcasts,
    /// Averages (or otherwise reduces) over the ranks.
    Averages,
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
    /// May return something else on another rank: clock, process, host, order of a directory.
    Varies,
    /// Creates, changes or removes a file or a directory.
    WritesFile,
    /// Reads a file or asks the file system.
    ReadsFile,
    /// Writes to the standard streams or to a log.
    Prints,
    /// Reads standard input.
    ReadsInput,
    /// Draws random numbers.
    DrawsRandom,
    /// Seeds a generator of random numbers.
    SeedsRandom,
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
    /// Decides from the metrics of an epoch.
    ReadsMetrics,
    /// Ends the process.
    Exits,
    /// Splits data between workers.
    Shards,
    /// Starts another thread or process.
    Spawns,
    /// Makes a graph of the function that it is given: its Python code runs once for each graph.
    Traces,
}

impl Effect {
    /// Every effect with its word in the tables.
    pub const ALL: [(Self, &'static str); 35] = [
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
        (Self::Broadcasts, "broadcasts"),
        (Self::Averages, "averages"),
        (Self::Distributes, "distributes"),
        (Self::Initializes, "initializes"),
        (Self::ReadsRank, "reads-rank"),
        (Self::ReadsLocalRank, "reads-local-rank"),
        (Self::ReadsSize, "reads-size"),
        (Self::Varies, "varies"),
        (Self::WritesFile, "writes-file"),
        (Self::ReadsFile, "reads-file"),
        (Self::Prints, "prints"),
        (Self::ReadsInput, "reads-input"),
        (Self::DrawsRandom, "draws-random"),
        (Self::SeedsRandom, "seeds-random"),
        (Self::UpdatesState, "updates-state"),
        (Self::SetsDefaults, "sets-defaults"),
        (Self::ConsumesIterator, "consumes-iterator"),
        (Self::WritesSummary, "writes-summary"),
        (Self::PinsDevice, "pins-device"),
        (Self::SteersTraining, "steers-training"),
        (Self::ReadsMetrics, "reads-metrics"),
        (Self::Exits, "exits"),
        (Self::Shards, "shards"),
        (Self::Spawns, "spawns"),
        (Self::Traces, "traces"),
    ];
}

/// A set of effects.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct EffectSet(u64);

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

/// How an argument reaches a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passing {
    /// By position or by keyword.
    Either,
    /// By position only.
    Position,
    /// By keyword only.
    Keyword,
    /// `*args`: the remaining positions.
    Rest,
    /// `**kwargs`: the remaining keywords.
    RestKeywords,
}

/// A parameter of a function, a method (without `self`) or a constructor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub(super) name: Text,
    pub(super) default: Option<Text>,
    pub(super) passing: Passing,
}

impl Parameter {
    /// Its name, without stars.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its default value as Python text, if it has one; `...` if the value can't be written.
    #[must_use]
    pub fn default(&self) -> Option<&str> {
        self.default.as_deref()
    }

    /// How an argument reaches it.
    #[must_use]
    pub fn passing(&self) -> Passing {
        self.passing
    }
}

/// What a call returns, or what an attribute holds.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Returns {
    /// Nobody knows.
    #[default]
    Unknown,
    /// `None`.
    Nothing,
    /// An instance of the class of this name.
    Instance(Text),
    /// An instance of the class of this name, or something else: `tensorflow_datasets.load`.
    Perhaps(Text),
    /// The object that the method was called on.
    Receiver,
    /// This argument itself.
    Argument(Text),
    /// A new object that stands for this argument and has its class: a decorated function, a distributed
    /// optimizer. When the argument is not given, the call returns a decorator, as `tf.function()` does.
    Wrapped(Text),
    /// This argument with some of its own arguments already given: `functools.partial`.
    Partial(Text),
    /// The module that this argument names: `importlib.import_module`.
    Module(Text),
    /// What calling this argument returns: `strategy.run(step)`.
    ResultOf(Text),
    /// A function that returns its argument, perhaps wrapped: `register_keras_serializable()`.
    Decorator,
}

/// Something of the caller's that the library calls, during the call or later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Calls {
    /// The argument of this parameter.
    Argument(Text),
    /// A method of the argument of this parameter, or of its elements: a callback's `on_epoch_end`.
    ArgumentMethod(Text, Text),
    /// A method of the receiver: `fit` calls `train_step`.
    Receiver(Text),
}

/// How an argument depends on the number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scaling {
    /// It grows with them: a learning rate.
    Multiply,
    /// They share it: a number of steps.
    Divide,
}

/// When something may stand between the imports at the top of a module (restriction 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prelude {
    /// At any time: edits of `os.environ` and `sys.path`, filters of warnings.
    Always,
    /// Once Horovod is initialised: the choice of this process' devices.
    Devices,
}

/// What a symbol is in the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A module or package.
    Module {
        /// Whether the table has every public member, so that an unknown one is a mistake of the program.
        closed: bool,
        /// Whether a file that imports it concerns training.
        training: bool,
        /// Whether it is one of TensorFlow's modules under whose imported name the rules look for members.
        root: bool,
        /// Whether `from module import member` finds what its attribute `member` is.
        imported: bool,
    },
    /// A class; calling it makes an instance.
    Class {
        /// Its own kind; without one it has its bases' (see `Library::kind_of_class`).
        kind: Option<Kind>,
        /// Names of the base classes that the library knows.
        bases: Vec<Text>,
    },
    /// A function.
    Function,
    /// A method of a class, static and class methods included.
    Method,
    /// A constant of a module, or an attribute of a class' instances.
    Attribute,
}

/// One row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub(super) name: Text,
    pub(super) role: Role,
    pub(super) parameters: Vec<Parameter>,
    pub(super) returns: Returns,
    pub(super) effects: EffectSet,
    pub(super) calls: Vec<Calls>,
    pub(super) scaled: Vec<(Text, Scaling)>,
    pub(super) named_by_rules: bool,
    pub(super) prelude: Option<Prelude>,
    /// A class' members, sorted by their last name.
    pub(super) members: Vec<Self>,
}

impl Symbol {
    /// Its canonical qualified name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name's last part.
    #[must_use]
    pub fn last_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    /// What it is in the language.
    #[must_use]
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// Whether it is a class.
    #[must_use]
    pub fn is_class(&self) -> bool {
        matches!(self.role, Role::Class { .. })
    }

    /// Whether it is a module.
    #[must_use]
    pub fn is_module(&self) -> bool {
        matches!(self.role, Role::Module { .. })
    }

    /// Whether it is a module that import statements find, with its members.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        matches!(self.role, Role::Module { imported: true, .. })
    }

    /// Whether it is one of TensorFlow's modules under whose imported name the rules look for members.
    #[must_use]
    pub fn is_root(&self) -> bool {
        matches!(self.role, Role::Module { root: true, .. })
    }

    /// When its use may stand between imports; for an attribute, when an edit of what it holds may.
    #[must_use]
    pub fn prelude(&self) -> Option<Prelude> {
        self.prelude
    }

    /// The parameters of a call in order, without `self`; for a class those of its constructor.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The parameter of this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// The parameter that takes the argument at `position` (0 is the first after `self`).
    #[must_use]
    pub fn parameter_at(&self, position: usize) -> Option<&Parameter> {
        let rest = self.parameters.iter().position(|parameter| parameter.passing == Passing::Rest);
        let index = rest.map_or(position, |rest| position.min(rest));
        self.parameters
            .get(index)
            .filter(|parameter| !matches!(parameter.passing, Passing::Keyword | Passing::RestKeywords))
    }

    /// The position of the parameter `name` (0 is the first after `self`), if it has one.
    #[must_use]
    pub fn position_of(&self, name: &str) -> Option<usize> {
        let position = self.parameters.iter().position(|parameter| parameter.name == name)?;
        matches!(self.parameters[position].passing, Passing::Either | Passing::Position).then_some(position)
    }

    /// What a call returns; for an attribute what it holds; a class' constructor returns an instance of it.
    #[must_use]
    pub fn returns(&self) -> &Returns {
        &self.returns
    }

    /// What a call does besides returning; for a class what making an instance does.
    #[must_use]
    pub fn effects(&self) -> EffectSet {
        self.effects
    }

    /// Whether a call has this effect.
    #[must_use]
    pub fn has(&self, effect: Effect) -> bool {
        self.effects.contains(effect)
    }

    /// What of the caller's the library calls.
    #[must_use]
    pub fn calls(&self) -> &[Calls] {
        &self.calls
    }

    /// The parameters whose arguments depend on the number of ranks.
    pub fn scaled(&self) -> impl Iterator<Item = (&str, Scaling)> {
        self.scaled.iter().map(|(name, scaling)| (name.as_ref(), *scaling))
    }

    /// A class' own members, without inherited ones.
    #[must_use]
    pub fn members(&self) -> &[Self] {
        &self.members
    }

    pub(super) fn own_member(&self, name: &str) -> Option<&Self> {
        let index = self.members.binary_search_by(|member| member.last_name().cmp(name)).ok()?;
        Some(&self.members[index])
    }
}
