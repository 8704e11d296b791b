//! Reads the tables: a row a symbol, as the module documentation describes.

use std::borrow::Cow;

use rustc_hash::{FxBuildHasher, FxHashSet};
use thiserror::Error;

use super::effect::{Effect, EffectSet};
use super::symbol::{Calls, Kind, Parameter, Passing, Prelude, Returns, Role, Scaling, Symbol, Text};

/// A row that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct RowError {
    /// The row's line, 1-based.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// What a table says: its symbols, and other spellings of names.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// With the line of each row.
    pub(super) symbols: Vec<(usize, Symbol)>,
    /// `alias a = b`: `a`, and every name below it, is `b`.
    pub(super) aliases: Vec<(Text, Text)>,
    /// `fallback a = b`: a name below `a` that no table has is looked for below `b`.
    pub(super) fallbacks: Vec<(Text, Text)>,
}

/// Reads a table; `keep` turns a piece of `source` into text that may outlive it.
pub(super) fn read<'s>(source: &'s str, keep: fn(&'s str) -> Text) -> Result<Table, RowError> {
    let mut table = Table::default();
    let mut section = "";
    for (index, row) in source.lines().enumerate() {
        let row = row.trim();
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        let line = index + 1;
        let symbol = match table.add(row, &Clauses { keep, section }) {
            Err(message) => return Err(RowError { line, message }),
            Ok(None) => continue,
            Ok(Some(symbol)) => symbol,
        };
        if let Some(name) = row.strip_prefix('[') {
            section = &name[..symbol.name.len()];
        }
        match table.symbols.last_mut() {
            Some((_, class)) if row.starts_with('.') => class.members.push(symbol),
            _ => table.symbols.push((line, symbol)),
        }
    }
    for (_, symbol) in &mut table.symbols {
        symbol.members.sort_by(|a, b| a.last_name().cmp(b.last_name()));
    }
    match table.twice() {
        Some((line, name)) => Err(RowError { line, message: format!("`{name}` is there twice") }),
        None => Ok(table),
    }
}

impl Table {
    /// A name that two rows have, and the line of the second, or of its class.
    fn twice(&self) -> Option<(usize, &str)> {
        let mut names = FxHashSet::with_capacity_and_hasher(self.symbols.len(), FxBuildHasher);
        self.symbols.iter().find_map(|(line, symbol)| {
            let mut members = symbol.members.windows(2);
            let member = members.find(|pair| pair[0].name == pair[1].name).map(|pair| &pair[0].name);
            let name = member.or((!names.insert(symbol.name.as_ref())).then_some(&symbol.name))?;
            Some((*line, name.as_ref()))
        })
    }

    /// Reads a row: its symbol, or nothing if it is about a name and has been noted.
    fn add<'s>(&mut self, row: &'s str, clauses: &Clauses<'s>) -> Read<Option<Symbol>> {
        if let Some(rest) = row.strip_prefix('[') {
            let (name, marks) = rest.split_once(']').ok_or("a section ends with `]`")?;
            let role = Role::Module { closed: false, training: false, root: false, imported: true };
            let mut module = Symbol::new((clauses.keep)(name), role);
            clauses.read(&mut module, marks)?;
            return Ok(Some(module));
        }
        if row.starts_with('.') {
            let class = self.symbols.last().filter(|(_, class)| class.is_class());
            let (_, class) = class.ok_or("a member follows its class")?;
            return clauses.member(&class.name, row).map(Some);
        }
        let (word, rest) = row.split_once(' ').ok_or("a row is a word and a name")?;
        match word {
            "class" => clauses.class(rest).map(Some),
            "def" => clauses.symbol(Role::Function, rest).map(Some),
            "attr" => clauses.symbol(Role::Attribute, rest).map(Some),
            "alias" => {
                self.aliases.push(clauses.pair(rest)?);
                Ok(None)
            }
            "fallback" => {
                self.fallbacks.push(clauses.pair(rest)?);
                Ok(None)
            }
            _ => Err(format!("`{word}` begins no row: class, def, attr, alias, fallback do")),
        }
    }
}

impl Symbol {
    fn new(name: Text, role: Role) -> Self {
        let last = name.rfind('.').map_or(0, |dot| dot + 1);
        Self {
            name,
            last,
            role,
            parameters: Vec::new(),
            returns: Returns::Unknown,
            effects: EffectSet::NONE,
            calls: Vec::new(),
            scaled: Vec::new(),
            named_by_rules: false,
            prelude: None,
            members: Vec::new(),
        }
    }

    /// The names of the classes that the symbol, or a member of it, inherits from or returns.
    pub(super) fn classes_named(&mut self) -> impl Iterator<Item = &mut Text> {
        let bases = match &mut self.role {
            Role::Class { bases, .. } => bases.as_mut_slice(),
            _ => &mut [],
        };
        let returns = std::iter::once(&mut self.returns);
        let returns = returns.chain(self.members.iter_mut().map(|member| &mut member.returns));
        bases.iter_mut().chain(returns.filter_map(|returns| match returns {
            Returns::Instance(class) | Returns::Perhaps(class) | Returns::PairWith(class) => Some(class),
            _ => None,
        }))
    }
}

type Read<T> = Result<T, String>;

/// How the parts of a row are read within a section.
struct Clauses<'s> {
    keep: fn(&'s str) -> Text,
    section: &'s str,
}

impl<'s> Clauses<'s> {
    fn symbol(&self, role: Role, row: &'s str) -> Read<Symbol> {
        let end = row.find(['(', ' ']).unwrap_or(row.len());
        let mut symbol = Symbol::new(self.qualify(&row[..end]), role);
        self.parameters_and_clauses(&mut symbol, &row[end..])?;
        Ok(symbol)
    }

    fn class(&self, row: &'s str) -> Read<Symbol> {
        let mut class = self.symbol(Role::Class { kind: None, bases: Vec::new() }, row)?;
        if class.returns == Returns::Unknown {
            class.returns = Returns::Instance(class.name.clone());
        }
        Ok(class)
    }

    fn member(&self, class: &str, row: &'s str) -> Read<Symbol> {
        let end = row.find(['(', ' ']).unwrap_or(row.len());
        let role = if row[end..].starts_with('(') { Role::Method } else { Role::Attribute };
        let mut member = Symbol::new(Cow::Owned(format!("{class}{}", &row[..end])), role);
        self.parameters_and_clauses(&mut member, &row[end..])?;
        Ok(member)
    }

    fn pair(&self, row: &'s str) -> Read<(Text, Text)> {
        let (from, to) = row.split_once('=').ok_or("`=` stands between the names")?;
        Ok(((self.keep)(from.trim()), (self.keep)(to.trim())))
    }

    /// A name without a dot is in the section.
    fn qualify(&self, name: &'s str) -> Text {
        if name.contains('.') || self.section.is_empty() {
            (self.keep)(name)
        } else {
            Cow::Owned(format!("{}.{name}", self.section))
        }
    }

    fn parameters_and_clauses(&self, symbol: &mut Symbol, rest: &'s str) -> Read<()> {
        let Some(inner) = rest.strip_prefix('(') else {
            if symbol.role != Role::Attribute {
                symbol.parameters = self.parameters("*args, **kwargs")?;
            }
            return self.read(symbol, rest);
        };
        let end = end_of_item(inner, ')').ok_or("a parenthesis is not closed")?;
        symbol.parameters = self.parameters(&inner[..end])?;
        self.read(symbol, &inner[end + 1..])
    }

    fn parameters(&self, text: &'s str) -> Read<Vec<Parameter>> {
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut passing = Passing::Either;
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = end_of_item(rest, ',').unwrap_or(rest.len());
            let item = rest[..end].trim();
            rest = rest.get(end + 1..).unwrap_or_default().trim_start();
            match item {
                "*" => passing = Passing::Keyword,
                "/" => parameters.iter_mut().for_each(|parameter| parameter.passing = Passing::Position),
                _ => {
                    let (name, default) = match item.split_once('=') {
                        Some((name, default)) => (name, Some((self.keep)(default))),
                        None => (item, None),
                    };
                    let (name, passing) = if let Some(name) = name.strip_prefix("**") {
                        (name, Passing::RestKeywords)
                    } else if let Some(name) = name.strip_prefix('*') {
                        passing = Passing::Keyword;
                        (name, Passing::Rest)
                    } else {
                        (name, passing)
                    };
                    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                        return Err(format!("`{item}` is no parameter"));
                    }
                    if parameters.iter().any(|parameter| parameter.name == name) {
                        return Err(format!("two parameters are called `{name}`"));
                    }
                    parameters.push(Parameter { name: (self.keep)(name), default, passing });
                }
            }
        }
        Ok(parameters)
    }

    /// Reads what follows name and parameters: marks, each with its words.
    fn read(&self, symbol: &mut Symbol, text: &'s str) -> Read<()> {
        let mut words = text.split([' ', ',']).filter(|word| !word.is_empty()).peekable();
        let mut mark = "";
        while let Some(word) = words.next() {
            match (mark, word) {
                (_, "<" | ":" | "->" | "!" | "@" | "*" | "/" | "&") => mark = word,
                ("<", name) => match &mut symbol.role {
                    Role::Class { bases, .. } => bases.push(self.qualify(name)),
                    _ => return Err("only a class has bases".into()),
                },
                (":", name) => match &mut symbol.role {
                    Role::Class { kind, .. } => *kind = Some(kind_named(name)?),
                    _ => return Err("only a class has a kind".into()),
                },
                ("->", form) => symbol.returns = self.returns(symbol, form, || words.next())?,
                ("!", name) => symbol.effects = symbol.effects.with(effect_named(name)?),
                ("@", target) => {
                    let calls = self.calls(symbol, target)?;
                    symbol.calls.push(calls);
                }
                ("*", name) => symbol.scaled.push((self.known(symbol, name)?, Scaling::Multiply)),
                ("/", name) => symbol.scaled.push((self.known(symbol, name)?, Scaling::Divide)),
                ("&", "rules") => symbol.named_by_rules = true,
                ("&", "prelude") => symbol.prelude = Some(Prelude::Always),
                ("&", "devices") => symbol.prelude = Some(Prelude::Devices),
                ("&", "closed" | "training" | "root" | "attribute") => match &mut symbol.role {
                    Role::Module { closed, .. } if word == "closed" => *closed = true,
                    Role::Module { root, .. } if word == "root" => *root = true,
                    Role::Module { imported, .. } if word == "attribute" => *imported = false,
                    Role::Module { training, .. } => *training = true,
                    _ => return Err(format!("only a module is {word}")),
                },
                _ => return Err(format!("`{word}` has no meaning here")),
            }
        }
        Ok(())
    }

    fn returns(
        &self,
        symbol: &Symbol,
        form: &'s str,
        mut argument: impl FnMut() -> Option<&'s str>,
    ) -> Read<Returns> {
        let mut word = || argument().ok_or_else(|| format!("`{form}` needs a name"));
        if form == "pair-with" {
            return Ok(Returns::PairWith(self.qualify(word()?)));
        }
        let mut argument = || self.known(symbol, word()?);
        Ok(match form {
            "None" => Returns::Nothing,
            "self" => Returns::Receiver,
            "decorator" => Returns::Decorator,
            "argument" => Returns::Argument(argument()?),
            "wrapped" => Returns::Wrapped(argument()?),
            "partial" => Returns::Partial(argument()?),
            "module" => Returns::Module(argument()?),
            "result-of" => Returns::ResultOf(argument()?),
            _ => match (form.strip_prefix('\''), form.strip_prefix('?')) {
                (Some(text), _) => {
                    Returns::Text((self.keep)(text.strip_suffix('\'').ok_or("a string ends with `'`")?))
                }
                (None, Some(class)) => Returns::Perhaps(self.qualify(class)),
                (None, None) => Returns::Instance(self.qualify(form)),
            },
        })
    }

    fn calls(&self, symbol: &Symbol, target: &'s str) -> Read<Calls> {
        Ok(match target.split_once('.') {
            None => Calls::Argument(self.known(symbol, target)?),
            Some(("self", method)) => Calls::Receiver((self.keep)(method)),
            Some((parameter, method)) => {
                Calls::ArgumentMethod(self.known(symbol, parameter)?, (self.keep)(method))
            }
        })
    }

    /// The name of a parameter that the row has.
    fn known(&self, symbol: &Symbol, name: &'s str) -> Read<Text> {
        match symbol.parameter(name) {
            Some(_) => Ok((self.keep)(name)),
            None => Err(format!("`{name}` is no parameter of `{}`", symbol.name)),
        }
    }
}

/// The kind of this name: the variant's words with hyphens.
pub(super) fn kind_named(name: &str) -> Read<Kind> {
    Ok(match name {
        "optimizer" => Kind::Optimizer,
        "schedule" => Kind::Schedule,
        "model" => Kind::Model,
        "layer" => Kind::Layer,
        "dataset" => Kind::Dataset,
        "dataset-iterator" => Kind::DatasetIterator,
        "batch-source" => Kind::BatchSource,
        "checkpoint" => Kind::Checkpoint,
        "saver" => Kind::Saver,
        "checkpoint-manager" => Kind::CheckpointManager,
        "callback" => Kind::Callback,
        "metric" => Kind::Metric,
        "loss" => Kind::Loss,
        "tape" => Kind::Tape,
        "session" => Kind::Session,
        "monitored-session" => Kind::MonitoredSession,
        "summary-writer" => Kind::SummaryWriter,
        "file-writer" => Kind::FileWriter,
        "variable" => Kind::Variable,
        "tensor" => Kind::Tensor,
        "strategy" => Kind::Strategy,
        "estimator" => Kind::Estimator,
        "hook" => Kind::Hook,
        "random" => Kind::Random,
        "path" => Kind::Path,
        "other" => Kind::Other,
        _ => return Err(format!("`{name}` is no kind")),
    })
}

fn effect_named(name: &str) -> Read<Effect> {
    let effect = Effect::ALL.into_iter().find(|(_, word)| *word == name);
    effect.map(|(effect, _)| effect).ok_or_else(|| format!("`{name}` is no effect"))
}

/// Where the first `end` outside brackets and strings stands.
fn end_of_item(text: &str, end: char) -> Option<usize> {
    let (mut depth, mut quote) = (0, None);
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        if let Some(open) = quote {
            if escaped {
                escaped = false;
            } else if c == open {
                quote = None;
            } else {
                escaped = c == '\\';
            }
            continue;
        }
        match c {
            _ if c == end && depth == 0 => return Some(index),
            '\'' | '"' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    None
}
