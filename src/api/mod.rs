//! What a symbol of a library *is*, as data: a table, a row a symbol.
//!
//! Checks and the value flow ask here; nothing else compares names. A [`Library`] is asked with the qualified
//! name that an import leads to (`tensorflow.keras.optimizers.Adam`), in any of its spellings, and answers with
//! a [`Symbol`]: its role, parameters, what a call returns, does, and calls back.
//!
//! # The tables
//!
//! `src/api/table/*.txt`, and a user's own rows in the same form:
//!
//! ```text
//! # a comment
//! [tensorflow.keras.optimizers]          the module that the following rows are in; a row of its own
//! class Adam(learning_rate=0.001, ...) < Optimizer : optimizer * learning_rate
//!     .minimize(loss, var_list) ! minimizes @ loss
//!     .iterations -> tensorflow.Variable
//! def get(identifier) -> Optimizer
//! attr name -> builtins.str
//! alias tensorflow.optimizers = tensorflow.keras.optimizers
//! fallback tensorflow = tensorflow.compat.v1
//! ```
//!
//! A name without a dot is in the section; a row that begins with a dot is a member of the class above it.
//! Without parentheses the parameters are unknown. After them, marks with their words:
//!
//! | mark | words |
//! |---|---|
//! | `<` | base classes |
//! | `:` | a [`Kind`]; without it a class has its base's |
//! | `->` | what a call [`Returns`]: a class, `?class` (perhaps), `pair-with class` (it is the first of two), `None`, `self`, `argument p`, `wrapped p`, `partial p`, `module p`, `result-of p`, `decorator` |
//! | `!` | each [`Effect`] |
//! | `@` | what the library [`Calls`] back: `p` (that argument), `p.method`, `self.method` |
//! | `*`, `/` | parameters that are multiplied with, or divided by, the number of ranks |
//! | `&` | `rules`: the distribution rules act on it; of a module, `closed`: it has no other public members, `training`: a file that imports it concerns training, `root`: rules look for members under its imported name, `attribute`: it is an attribute only, and import statements find it or its members under no or another name; `prelude`: may stand between imports, `started`: may do so once Horovod is initialised |
//!
//! `alias` renames a prefix, `fallback` only names that no row has; both take whole names.

mod effect;
mod row;
mod symbol;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::hash_map::Entry as Slot;
use std::sync::{LazyLock, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

pub use effect::{Effect, EffectSet};
pub use row::RowError;
pub use symbol::{
    Calls, HANDED, HANDED_BY_NAME, Kind, Parameter, Passing, Prelude, Returns, Role, Scaling, Symbol,
};

use row::{Row, Table};
use symbol::Text;

/// The built-in tables with their names.
const TABLES: [(&str, &str); 6] = [
    ("tensorflow.txt", include_str!("table/tensorflow.txt")),
    ("keras.txt", include_str!("table/keras.txt")),
    ("legacy.txt", include_str!("table/legacy.txt")),
    ("addons.txt", include_str!("table/addons.txt")),
    ("horovod.txt", include_str!("table/horovod.txt")),
    ("python.txt", include_str!("table/python.txt")),
];

/// Where Keras looks for an optimizer that is given by its name.
const OPTIMIZERS: &str = "tensorflow.keras.optimizers";

static BUILTIN: LazyLock<Library> = LazyLock::new(|| {
    let mut library = Library::default();
    for (_, source) in TABLES {
        let table = Table::split(source, Cow::Borrowed)
            .and_then(|table| library.add(table, |row| Ok(Entry::unread(row))));
        table.expect(TESTED);
    }
    library
});

/// Why the built-in tables can be read.
const TESTED: &str = "a test reads the built-in tables";

/// A symbol of a library.
#[derive(Debug)]
enum Entry {
    Known(Box<Symbol>),
    /// Read when somebody asks for it first: a run asks for few of the thousands of built-in ones.
    Unread(Row<'static>, OnceLock<Box<Symbol>>),
}

impl Entry {
    fn unread(row: Row<'static>) -> Self {
        Self::Unread(row, OnceLock::new())
    }

    fn symbol(&self) -> &Symbol {
        match self {
            Self::Known(symbol) => symbol,
            Self::Unread(row, symbol) => {
                symbol.get_or_init(|| Box::new(row.read(Cow::Borrowed).expect(TESTED)))
            }
        }
    }

    /// Whether the symbol or a member of it may have one of the effects, as far as can be told without reading it.
    fn may_have(&self, effects: EffectSet) -> bool {
        match self {
            Self::Known(_) => true,
            Self::Unread(row, _) => {
                Effect::ALL.iter().any(|(effect, word)| effects.contains(*effect) && row.mentions(word))
            }
        }
    }
}

/// The known symbols.
#[derive(Debug, Default)]
pub struct Library {
    symbols: FxHashMap<Text, Entry>,
    aliases: FxHashMap<Text, Text>,
    fallbacks: Vec<(Text, Text)>,
    /// First parts of all names: anything else is unknown at once.
    packages: FxHashSet<Text>,
    /// Where to look for what is not here.
    parent: Option<&'static Library>,
}

impl Library {
    /// The built-in tables: TensorFlow, Keras, Horovod, their add-ons, and Python.
    #[must_use]
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// The built-in tables and `rows` of the user's; a row takes the place of a built-in one of its name.
    ///
    /// # Errors
    ///
    /// A row that can't be read, that is there twice, or that names a class that nobody knows.
    pub fn with_rows(rows: &str) -> Result<Self, RowError> {
        let builtin = Self::builtin();
        let keep = |text: &str| Text::Owned(text.to_owned());
        let table = Table::split(rows, keep)?;
        let own: FxHashSet<_> = table.rows.iter().map(|(name, _)| name.clone()).collect();
        let read = |row: Row| {
            let mut symbol = row.read(keep)?;
            for class in symbol.classes_named().filter(|class| !own.contains(*class)) {
                let Some(known) = builtin.lookup(class).filter(|class| class.is_class()) else {
                    let message = format!("no row is the class `{class}`");
                    return Err(RowError { line: row.line, message });
                };
                *class = known.name.clone();
            }
            Ok(Entry::Known(Box::new(symbol)))
        };
        let mut library = Self { parent: Some(builtin), ..Self::default() };
        library.add(table, read)?;
        Ok(library)
    }

    fn add<'s>(
        &mut self,
        table: Table<'s>,
        entry: impl Fn(Row<'s>) -> Result<Entry, RowError>,
    ) -> Result<(), RowError> {
        let names = table.rows.iter().map(|(name, _)| name);
        for name in names.chain(table.aliases.iter().map(|(from, _)| from)) {
            let package = first_part(name);
            if !self.packages.contains(package) {
                self.packages.insert(package.to_owned().into());
            }
        }
        self.symbols.reserve(table.rows.len());
        for (name, row) in table.rows {
            match self.symbols.entry(name) {
                Slot::Vacant(slot) => {
                    slot.insert(entry(row)?);
                }
                Slot::Occupied(slot) => return Err(RowError::twice(row.line, slot.key())),
            }
        }
        self.aliases.extend(table.aliases);
        self.fallbacks.extend(table.fallbacks);
        Ok(())
    }

    /// The symbol of a qualified name in any of its spellings; a member of a class may be inherited.
    #[must_use]
    pub fn lookup(&self, qualified: &str) -> Option<&Symbol> {
        self.resolve(&self.canonical(qualified))
    }

    /// The qualified name that the tables use for `qualified`; an unknown name stays as far as no alias
    /// concerns it.
    #[must_use]
    pub fn canonical<'n>(&self, qualified: &'n str) -> Cow<'n, str> {
        if !self.knows_package(first_part(qualified)) || self.resolve(qualified).is_some() {
            return Cow::Borrowed(qualified);
        }
        let renamed = self.renamed(qualified);
        if renamed.as_deref().is_some_and(|name| self.resolve(name).is_some()) {
            return renamed.map_or(Cow::Borrowed(qualified), Cow::Owned);
        }
        for (from, to) in self.layers().flat_map(|layer| &layer.fallbacks) {
            let Some(rest) = below(qualified, from) else { continue };
            let other = format!("{to}{rest}");
            let other = if self.resolve(&other).is_some() { Some(other) } else { self.renamed(&other) };
            if let Some(other) = other.filter(|other| self.resolve(other).is_some()) {
                return Cow::Owned(other);
            }
        }
        renamed.map_or(Cow::Borrowed(qualified), Cow::Owned)
    }

    /// `name` with its aliases replaced until a row has it or no prefix is an alias; nothing if none is.
    fn renamed(&self, name: &str) -> Option<String> {
        let mut found = None;
        // A chain of aliases is short; a cycle is a mistake of a user's rows.
        for _ in 0..8 {
            let Some(next) = self.renamed_once(found.as_deref().unwrap_or(name)) else { break };
            let known = self.resolve(&next).is_some();
            found = Some(next);
            if known {
                break;
            }
        }
        found
    }

    /// `name` with its longest prefix that is an alias replaced.
    fn renamed_once(&self, name: &str) -> Option<String> {
        let mut end = name.len();
        loop {
            let prefix = &name[..end];
            if let Some(to) = self.layers().find_map(|layer| layer.aliases.get(prefix)) {
                return Some(format!("{to}{}", &name[end..]));
            }
            end = prefix.rfind('.')?;
        }
    }

    /// The symbol of a canonical name, or an inherited member of its class.
    fn resolve(&self, name: &str) -> Option<&Symbol> {
        self.symbol(name).or_else(|| {
            let (class, member) = name.rsplit_once('.')?;
            self.member(self.symbol(class)?, member)
        })
    }

    fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.layers().find_map(|layer| layer.symbols.get(name)).map(Entry::symbol)
    }

    /// All that a package has, in no order: for who explains a mistake.
    pub(crate) fn of_package<'l>(&'l self, package: &'l str) -> impl Iterator<Item = &'l Symbol> {
        let symbols = self.layers().flat_map(|layer| &layer.symbols);
        symbols.filter(move |(name, _)| first_part(name) == package).map(|(_, entry)| entry.symbol())
    }

    fn knows_package(&self, package: &str) -> bool {
        self.layers().any(|layer| layer.packages.contains(package))
    }

    fn layers(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |layer| layer.parent)
    }

    /// The class and the classes that it inherits from, nearest first, as far as the library knows them.
    #[must_use]
    pub fn ancestry<'l>(&'l self, class: &'l Symbol) -> Vec<&'l Symbol> {
        let mut found = vec![class];
        let mut next = 0;
        while let Some(class) = found.get(next) {
            next += 1;
            if let Role::Class { bases, .. } = &class.role {
                for base in bases.iter().filter_map(|base| self.symbol(base)) {
                    if !found.iter().any(|known| known.name == base.name) {
                        found.push(base);
                    }
                }
            }
        }
        found
    }

    /// The member `name` of a class or of the nearest base class that has it.
    #[must_use]
    pub fn member<'l>(&'l self, class: &'l Symbol, name: &str) -> Option<&'l Symbol> {
        if let Some(member) = class.own_member(name) {
            return Some(member);
        }
        let Role::Class { bases, .. } = &class.role else { return None };
        if bases.is_empty() {
            return None;
        }
        self.ancestry(class).into_iter().find_map(|class| class.own_member(name))
    }

    /// Whether a symbol only answers a question about files: `os.path.exists`, not `os.listdir`.
    #[must_use]
    pub fn asks_of_files(&self, symbol: &Symbol) -> bool {
        let is_known = symbol.has(Effect::ReadsFile) && symbol.has(Effect::Varies);
        is_known && self.returned_class(symbol) == self.lookup("builtins.bool")
    }

    /// The names of those members of a class, inherited ones included, that are as wanted.
    #[must_use]
    pub fn member_names<'l>(
        &'l self,
        class: &'l Symbol,
        is_wanted: impl Fn(&Symbol) -> bool,
    ) -> FxHashSet<&'l str> {
        let mut seen = FxHashSet::default();
        let members = self.ancestry(class).into_iter().flat_map(Symbol::members);
        let nearest = members.filter(|member| seen.insert(member.last_name()));
        nearest.filter(|member| is_wanted(member)).map(Symbol::last_name).collect()
    }

    /// The last names of all functions and methods that have one of the effects.
    #[must_use]
    pub fn names_with(&self, effects: EffectSet) -> FxHashSet<&str> {
        let entries = self.layers().flat_map(|layer| layer.symbols.values());
        let symbols = entries.filter(|entry| entry.may_have(effects)).map(Entry::symbol);
        let all = symbols.flat_map(|symbol| std::iter::once(symbol).chain(symbol.members()));
        all.filter(|symbol| symbol.effects().intersects(effects)).map(Symbol::last_name).collect()
    }

    /// The kind of the instances of a class: its own or its nearest base's.
    #[must_use]
    pub fn kind_of_class(&self, class: &Symbol) -> Kind {
        let own = |class: &Symbol| match class.role {
            Role::Class { kind, .. } => kind,
            _ => None,
        };
        own(class).or_else(|| self.ancestry(class).into_iter().find_map(own)).unwrap_or(Kind::Other)
    }

    /// Whether `class` is `base` or inherits from it.
    #[must_use]
    pub fn is_subclass(&self, class: &Symbol, base: &Symbol) -> bool {
        self.ancestry(class).iter().any(|class| class.name == base.name)
    }

    /// The class of what a call of `symbol` returns, or of what an attribute holds, if it is certain and does
    /// not depend on the call.
    #[must_use]
    pub fn returned_class(&self, symbol: &Symbol) -> Option<&Symbol> {
        match &symbol.returns {
            Returns::Instance(class) => self.symbol(class),
            _ => None,
        }
    }

    /// What the methods of a class do together, inherited ones included.
    #[must_use]
    pub fn member_effects(&self, class: &Symbol) -> EffectSet {
        let classes = self.ancestry(class);
        let members = classes.iter().flat_map(|class| class.members());
        members.fold(EffectSet::NONE, |effects, member| effects.union(member.effects()))
    }

    /// What the hooks (`on_epoch_end`, ...) of a callback class do together, inherited ones included.
    #[must_use]
    pub fn hook_effects(&self, class: &Symbol) -> EffectSet {
        let classes = self.ancestry(class);
        let members = classes.iter().flat_map(|class| class.members());
        let hooks = members.filter(|member| member.last_name().starts_with("on_"));
        hooks.fold(EffectSet::NONE, |effects, hook| effects.union(hook.effects()))
    }

    /// The class of Keras' optimizers that a string names in `compile`: the one whose own name it is, whatever
    /// the case of its letters.
    #[must_use]
    pub fn optimizer_named(&self, name: &str) -> Option<&Symbol> {
        let is_named = |symbol: &&Symbol| {
            let own = symbol.parameter("name").and_then(Parameter::default);
            own.is_some_and(|own| own.trim_matches(['\'', '"']).eq_ignore_ascii_case(name))
                && symbol.is_class()
        };
        let is_optimizer =
            |(name, _): &(&Text, _)| name.rsplit_once('.').is_some_and(|(module, _)| module == OPTIMIZERS);
        let optimizers = self.layers().flat_map(|layer| layer.symbols.iter().filter(is_optimizer));
        optimizers.map(|(_, entry)| entry.symbol()).find(is_named)
    }

    /// Whether a distribution rule acts on the symbol, so that a program must not give it a second name
    /// (restriction 3): optimizers, schedules, datasets, checkpoints, the tape, models, `tf.config`, `tf.print`,
    /// and the modules that lead to them.
    #[must_use]
    pub fn acted_on_by_rules(&self, symbol: &Symbol) -> bool {
        let acted_on = |class: &Symbol| {
            matches!(
                self.kind_of_class(class),
                Kind::Optimizer
                    | Kind::Schedule
                    | Kind::Dataset
                    | Kind::Checkpoint
                    | Kind::Saver
                    | Kind::CheckpointManager
                    | Kind::Tape
            )
        };
        symbol.named_by_rules
            || match symbol.role {
                Role::Class { .. } => acted_on(symbol),
                Role::Function => self.returned_class(symbol).is_some_and(acted_on),
                Role::Module { .. } | Role::Method | Role::Attribute => false,
            }
    }

    /// Whether a qualified name is a member of TensorFlow or Keras: a class, a function, a module or a constant,
    /// but none of the modules under whose imported name the rules look for members, and no attribute of an
    /// object (`tf.float32.name`). Unknown where the tables have no row for the name nor for what it is in.
    #[must_use]
    pub fn is_member_of_root(&self, qualified: &str) -> Option<bool> {
        let name = self.canonical(qualified);
        if !self.symbol(first_part(&name)).is_some_and(Symbol::is_root) {
            return Some(false);
        }
        let around = name.rsplit_once('.').and_then(|(around, _)| self.lookup(around));
        match (self.resolve(&name), around) {
            (Some(symbol), _) if symbol.is_root() || self.holds_plain_value(symbol) => Some(false),
            (_, Some(around)) => Some(around.is_module() || around.is_class()),
            (Some(_), None) => Some(true),
            (None, None) => None,
        }
    }

    /// Whether the symbol is an attribute that holds a value of one of Python's own types: `tf.__version__`.
    fn holds_plain_value(&self, symbol: &Symbol) -> bool {
        symbol.role == Role::Attribute
            && self.returned_class(symbol).is_some_and(|class| first_part(&class.name) == "builtins")
    }

    /// Whether the lines that distribution puts below the imports need the package of a qualified name: a
    /// training library, or another that they act on.
    #[must_use]
    pub fn needed_by_rules(&self, qualified: &str) -> bool {
        let package = first_part(qualified);
        self.is_training_library(package)
            || self.symbol(&self.canonical(package)).is_some_and(|module| module.named_by_rules)
    }

    /// Whether an `except` clause for this exception class handles a failed import.
    #[must_use]
    pub fn handles_import_errors(&self, class: &Symbol) -> bool {
        self.symbol("builtins.ImportError")
            .is_some_and(|error| self.is_subclass(error, class) || self.is_subclass(class, error))
    }

    /// Whether this exception comes to all ranks alike, if it comes: because of the program's text, by who stops it, or at
    /// the end of the data.
    #[must_use]
    pub fn is_raised_on_all_ranks(&self, class: &Symbol) -> bool {
        RAISED_ON_ALL_RANKS
            .iter()
            .any(|name| self.symbol(name).is_some_and(|error| self.is_subclass(class, error)))
    }

    /// Whether a file that imports this top-level package concerns training.
    #[must_use]
    pub fn is_training_library(&self, package: &str) -> bool {
        let name = self.canonical(package);
        let module = self.symbol(first_part(&name));
        module.is_some_and(|module| matches!(module.role, Role::Module { training: true, .. }))
    }
}

/// The exceptions that come to all ranks alike.
const RAISED_ON_ALL_RANKS: [&str; 9] = [
    "builtins.AttributeError",
    "builtins.ImportError",
    "builtins.KeyboardInterrupt",
    "builtins.NameError",
    "builtins.NotImplementedError",
    "builtins.StopIteration",
    "builtins.SystemExit",
    "builtins.TypeError",
    "tensorflow.errors.OutOfRangeError",
];

fn first_part(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// What follows `prefix` in `name`, if it is a prefix of whole parts.
fn below<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    name.strip_prefix(prefix).filter(|rest| rest.starts_with('.'))
}
