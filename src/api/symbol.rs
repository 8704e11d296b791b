//! What one library symbol is: its role, its parameters, what a call returns, does and calls back.

use std::borrow::Cow;

use super::effect::{Effect, EffectSet};

/// The parameter for the tuple of what a function that is called back gets.
pub const HANDED: &str = "args";

/// The parameters for the dictionary of what it gets by name.
pub const HANDED_BY_NAME: [&str; 2] = ["kwargs", "kwds"];

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
    /// Where a file lies, as an object: `pathlib.Path`.
    Path,
    /// None of the above.
    Other,
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
    /// This string.
    Text(Text),
    /// An instance of the class of this name.
    Instance(Text),
    /// An instance of the class of this name, or something else: `tensorflow_datasets.load`.
    Perhaps(Text),
    /// A pair of an instance of the class of this name and something else: `figure, axes = plt.subplots()`.
    PairWith(Text),
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
    /// Once Horovod is initialised: the choice of this process' devices, and what the ranks wait for each other by.
    Started,
}

/// What the parameters are called by which layers are told how their weights begin.
const INITIALIZER: &str = "initializer";

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
    /// Where its name's last part begins.
    pub(super) last: usize,
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

    /// The package that it is of: its name's first part.
    #[must_use]
    pub fn package(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Its name's last part.
    #[must_use]
    pub fn last_name(&self) -> &str {
        &self.name[self.last..]
    }

    /// What it is in the language.
    #[must_use]
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// Whether it is a class that takes anything by name and nothing else, which its objects have as attributes:
    /// `SimpleNamespace(rate=0.1)`.
    #[must_use]
    pub fn is_namespace(&self) -> bool {
        self.is_class() && matches!(self.parameters(), [only] if only.passing == Passing::RestKeywords)
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

    /// Whether it is a module of which every public member is known.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.role, Role::Module { closed: true, .. })
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

    /// Whether weights of the layers that it makes begin drawn: a parameter tells how.
    #[must_use]
    pub fn draws_weights(&self) -> bool {
        self.parameters().iter().any(|own| own.name().ends_with(INITIALIZER))
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

    /// Whether what is given for a parameter is what the library calls with the arguments that it is handed: `target` of
    /// `Thread(target=work, args=(path,))`.
    #[must_use]
    pub fn hands_on(&self, called: &str) -> bool {
        matches!(self.calls.first(), Some(Calls::Argument(first)) if first.as_ref() == called)
            && self.parameter(HANDED).is_some()
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
