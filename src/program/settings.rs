//! Which way conditions go that rest on nothing but settings: constants of the source that nothing in it changes,
//! `DEBUG = False`, and defaults of parameters that no call gives anything else for; and on attributes that hold such.
//!
//! People edit settings, so an arm that one closes is not gone; but as the source stands, no run takes it. What the
//! command line, files or other programs may say is no setting.

mod attributes;
mod literals;
mod loaded;
mod passed;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use attributes::Attributes;

use super::facts::Facts;
use super::influence::Place;
use super::modules::FunctionRef;
use super::object::{Literal, Object};
use super::programs::Program;
use super::solver::Caller;
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, Method, Operator, Value, ValueId};

/// What binds names that the source does not show.
const BY_NAME: [&str; 2] = ["builtins.exec", "builtins.globals"];

/// The method that only who makes an object calls.
const CONSTRUCTOR: &str = "__init__";

/// How deep conditions are looked into.
const DEPTH: u32 = 16;

/// How many dictionaries in dictionaries are looked into.
const NESTING: u32 = 3;

/// How many values are looked at for one.
const VALUES: usize = 200;

/// The settings of a project, or of the runs of one of its programs.
#[derive(Debug)]
pub struct Settings<'f, 'a> {
    facts: &'f Facts<'a>,
    /// Whose calls count; all if it is none.
    program: Option<&'f Program>,
    common: Rc<Common<'a>>,
}

/// What is the same for all programs, as far as it was asked for.
#[derive(Debug)]
struct Common<'a> {
    /// The files whose names are bound in ways that the source does not show.
    bound_by_name: FxHashSet<FileId>,
    /// The functions, and whether calls come to them that the source does not show.
    open: RefCell<FxHashMap<FunctionRef, bool>>,
    /// The functions, and whether they only read their `**options`.
    reading: RefCell<FxHashMap<FunctionRef, bool>>,
    attributes: OnceCell<Attributes<'a>>,
}

impl<'f, 'a> Settings<'f, 'a> {
    /// The settings in the files of training programs.
    #[must_use]
    pub fn new(facts: &'f Facts<'a>) -> Self {
        let symbols = BY_NAME.map(|name| facts.library.lookup(name));
        let binds =
            |object: Object| matches!(object, Object::Builtin(_)) && symbols.contains(&facts.symbol(object));
        let edges = facts.solution.edges.iter();
        let bound_by_name = edges.filter(|edge| binds(facts.solution.object(edge.callee)));
        let common = Common {
            bound_by_name: bound_by_name.map(|edge| edge.caller.file).collect(),
            open: RefCell::default(),
            reading: RefCell::default(),
            attributes: OnceCell::new(),
        };
        Self { facts, program: None, common: Rc::new(common) }
    }

    /// Those of a program's runs: what other programs alone pass to the functions that they share is none.
    #[must_use]
    pub fn of_program(&self, program: &'f Program) -> Self {
        Self { facts: self.facts, program: Some(program), common: Rc::clone(&self.common) }
    }

    /// Whether settings keep control from an arm of a branch.
    #[must_use]
    pub fn closes(&self, caller: Caller, block: BlockId, arm: usize) -> bool {
        let branch = self.facts.module(caller.file).scope(caller.scope).flow.blocks[block.index()].branch;
        let Some((kind, condition)) = branch.and_then(|own| Some((own.kind, own.condition?))) else {
            return false;
        };
        let Some(holds) = kind.outcome(arm) else { return false };
        self.truth((caller.file, condition), DEPTH) == Some(!holds)
    }

    /// Whether a condition is true, if only settings decide that.
    fn truth(&self, place: Place, depth: u32) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        let (file, value) = place;
        let module = self.facts.module(file);
        match module.value(value).value {
            Value::Operator { operator: Operator::Not, left, .. } => {
                self.truth((file, left), depth).map(|truth| !truth)
            }
            Value::Operator { operator: Operator::Compare(_), .. }
                if self.asks_for_missing_package(place) =>
            {
                Some(false)
            }
            Value::Operator { operator: Operator::Compare(method), left, right } => {
                self.compared(method, (file, left), (file, right))
            }
            Value::Instance(_) => {
                let test = module.none_test(value)?;
                Some(self.is_none((file, test.value))? == test.if_none)
            }
            Value::Phi(ref parts) => match module.junction(module.value(value).range) {
                Some(kind) => self.joined(file, parts, kind == BranchKind::Or, depth),
                None => self.constant(place),
            },
            _ => self.constant(place),
        }
    }

    /// What operands make that `and` or `or` joins: `decides` as soon as one of them is that, and the other if all are.
    fn joined(&self, file: FileId, parts: &[ValueId], decides: bool, depth: u32) -> Option<bool> {
        let truths: Vec<Option<bool>> = parts.iter().map(|&part| self.truth((file, part), depth)).collect();
        if truths.contains(&Some(decides)) {
            return Some(decides);
        }
        truths.into_iter().all(|truth| truth.is_some()).then_some(!decides)
    }

    fn constant(&self, place: Place) -> Option<bool> {
        let mut truths = self.literals(place)?.into_iter().map(|literal| match literal {
            Literal::Bool(truth) => truth,
            Literal::Int(integer) => integer != 0,
            Literal::None => false,
            Literal::Str(name) => !self.facts.solution.names.text(name).is_empty(),
        });
        let first = truths.next()?;
        truths.all(|truth| truth == first).then_some(first)
    }

    /// What a comparison comes out as, whichever of their literals both sides are.
    fn compared(&self, method: Method, left: Place, right: Place) -> Option<bool> {
        let (ones, others) = (self.literals(left)?, self.literals(right)?);
        let pairs = ones.iter().flat_map(|&one| others.iter().map(move |&other| (one, other)));
        let mut outcomes = pairs.take(VALUES + 1).map(|(one, other)| self.outcome(method, one, other));
        let first = outcomes.next()??;
        (ones.len() * others.len() <= VALUES && outcomes.all(|own| own == Some(first))).then_some(first)
    }

    fn outcome(&self, method: Method, one: Literal, other: Literal) -> Option<bool> {
        let is_alike = matches!(
            (one, other),
            (Literal::Str(_), Literal::Str(_))
                | (Literal::Int(_), Literal::Int(_))
                | (Literal::Bool(_), Literal::Bool(_))
                | (Literal::None, _)
                | (_, Literal::None)
        );
        match (method.name(), one, other) {
            ("__eq__", ..) => is_alike.then_some(one == other),
            ("__ne__", ..) => is_alike.then_some(one != other),
            ("__lt__", Literal::Int(one), Literal::Int(other)) => Some(one < other),
            ("__le__", Literal::Int(one), Literal::Int(other)) => Some(one <= other),
            ("__gt__", Literal::Int(one), Literal::Int(other)) => Some(one > other),
            ("__ge__", Literal::Int(one), Literal::Int(other)) => Some(one >= other),
            // `"drive.google.com" in url`
            ("__contains__", Literal::Str(whole), Literal::Str(part)) => {
                let names = &self.facts.solution.names;
                Some(names.text(whole).contains(names.text(part)))
            }
            _ => None,
        }
    }
}
