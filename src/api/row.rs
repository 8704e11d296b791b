//! Reads the tables: a row a symbol, as the module documentation describes.

use std::borrow::Cow;

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

/// Turns a piece of a table's source into text that may outlive it.
type Keep<'s> = fn(&'s str) -> Text;

/// What a table says: its rows, and other spellings of names.
#[derive(Debug, Default)]
pub(super) struct Table<'s> {
    /// With the name of the symbol that each is about.
    pub(super) rows: Vec<(Text, Row<'s>)>,
    /// `alias a = b`: `a`, and every name below it, is `b`.
    pub(super) aliases: Vec<(Text, Text)>,
    /// `fallback a = b`: a name below `a` that no table has is looked for below `b`.
    pub(super) fallbacks: Vec<(Text, Text)>,
}

/// The row of a symbol and those of its members, as they are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'s> {
    /// Its line, 1-based.
    pub(super) line: usize,
    /// The module that it is in; empty at the top of a table.
    section: &'s str,
    /// All from its beginning to the end of its last member's.
    text: &'s str,
}

impl<'s> Table<'s> {
    /// Finds the rows of a table and the symbols that they are about. What they say is left for `Row::read`.
    pub(super) fn split(source: &'s str, keep: Keep<'s>) -> Result<Self, RowError> {
        let mut table = Self::default();
        let mut clauses = Clauses { keep, section: "" };
        let (mut row, mut end) = (0, 0);
        for (index, text) in source.split_inclusive('\n').enumerate() {
            let start = end;
            end += text.len();
            let text = text.trim();
            if is_comment(text) {
                continue;
            }
            let line = index + 1;
            if text.starts_with('.') {
                let (_, class) = table.rows.last_mut().ok_or_else(|| RowError::new(line, NO_CLASS))?;
                class.text = &source[row..end];
            } else if let Some(name) =
                table.name_of(text, &mut clauses).map_err(|message| RowError::new(line, message))?
            {
                row = start;
                table.rows.push((name, Row { line, section: clauses.section, text: &source[row..end] }));
            }
        }
        Ok(table)
    }

    /// The name of the symbol that a row is about, or nothing if it is about a name and has been noted.
    fn name_of(&mut self, row: &'s str, clauses: &mut Clauses<'s>) -> Read<Option<Text>> {
        if row.starts_with('[') {
            (clauses.section, _) = section(row)?;
            return Ok(Some((clauses.keep)(clauses.section)));
        }
        match row.split_once(' ').ok_or("a row is a word and a name")? {
            ("class" | "def" | "attr", rest) => Ok(Some(clauses.qualify(&rest[..end_of_name(rest)]))),
            ("alias", rest) => {
                self.aliases.push(clauses.pair(rest)?);
                Ok(None)
            }
            ("fallback", rest) => {
                self.fallbacks.push(clauses.pair(rest)?);
                Ok(None)
            }
            (word, _) => Err(format!("`{word}` begins no row: class, def, attr, alias, fallback do")),
        }
    }
}

impl<'s> Row<'s> {
    /// What the row and those of its members say.
    pub(super) fn read(&self, keep: Keep<'s>) -> Result<Symbol, RowError> {
        let clauses = Clauses { keep, section: self.section };
        let mut lines = self.text.lines().map(str::trim).zip(self.line..);
        let (row, _) = lines.next().unwrap_or_default();
        let mut symbol = clauses.row(row).map_err(|message| RowError::new(self.line, message))?;
        for (text, line) in lines.filter(|(text, _)| !is_comment(text)) {
            let member = clauses.member(&symbol, text).map_err(|message| RowError::new(line, message))?;
            symbol.members.push(member);
        }
        symbol.members.sort_by(|a, b| a.last_name().cmp(b.last_name()));
        match symbol.members.windows(2).find(|pair| pair[0].name == pair[1].name) {
            Some(pair) => Err(RowError::twice(self.line, &pair[0].name)),
            None => Ok(symbol),
        }
    }

    /// Whether the word stands in the row or in one of its members', with whatever meaning.
    pub(super) fn mentions(&self, word: &str) -> bool {
        self.text.contains(word)
    }
}

impl RowError {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }

    /// Two rows, the second of which is in this line, or two members of a class in this line, have the name.
    pub(super) fn twice(line: usize, name: &str) -> Self {
        Self::new(line, format!("`{name}` is there twice"))
    }
}

const NO_CLASS: &str = "a member follows its class";

fn is_comment(row: &str) -> bool {
    row.is_empty() || row.starts_with('#')
}

/// The name of the module that a row begins a section for, and the row's marks.
fn section(row: &str) -> Read<(&str, &str)> {
    let end = row.find(']').ok_or("a section ends with `]`")?;
    Ok((&row[1..end], &row[end + 1..]))
}

fn end_of_name(row: &str) -> usize {
    row.find(['(', ' ']).unwrap_or(row.len())
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
    keep: Keep<'s>,
    section: &'s str,
}

impl<'s> Clauses<'s> {
    fn row(&self, row: &'s str) -> Read<Symbol> {
        if row.starts_with('[') {
            let (name, marks) = section(row)?;
            let role = Role::Module { closed: false, training: false, root: false, imported: true };
            let mut module = Symbol::new((self.keep)(name), role);
            self.read(&mut module, marks)?;
            return Ok(module);
        }
        match row.split_once(' ') {
            Some(("class", rest)) => self.class(rest),
            Some(("def", rest)) => self.symbol(Role::Function, rest),
            Some((_, rest)) => self.symbol(Role::Attribute, rest),
            None => Err("a row is a word and a name".into()),
        }
    }

    fn symbol(&self, role: Role, row: &'s str) -> Read<Symbol> {
        let end = end_of_name(row);
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

    fn member(&self, class: &Symbol, row: &'s str) -> Read<Symbol> {
        if !class.is_class() || !row.starts_with('.') {
            return Err(NO_CLASS.into());
        }
        let end = end_of_name(row);
        let role = if row[end..].starts_with('(') { Role::Method } else { Role::Attribute };
        let mut member = Symbol::new(Cow::Owned(format!("{}{}", class.name, &row[..end])), role);
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
                ("&", "started") => symbol.prelude = Some(Prelude::Started),
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
