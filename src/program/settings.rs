//! Which way conditions go that rest on nothing but settings: constants of the source that nothing in it changes,
//! `DEBUG = False`, and defaults of parameters that no call gives anything else for; and on attributes that hold such.
//!
//! People edit settings, so an arm that one closes is not gone; but as the source stands, no run takes it. What the
//! command line, files or other programs may say is no setting.

mod attributes;

use std::cell::{OnceCell, RefCell};

use rustc_hash::{FxHashMap, FxHashSet};

use attributes::Attributes;

use super::facts::Facts;
use super::hierarchy::Ancestor;
use super::influence::Place;
use super::modules::{FunctionRef, Meaning};
use super::object::{Literal, Object};
use super::solver::Caller;
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, Method, Module, Operator, Value, ValueId};
use crate::syntax::TextRange;

/// What binds names that the source does not show.
const BY_NAME: [&str; 2] = ["builtins.exec", "builtins.globals"];

/// The method that only who makes an object calls.
const CONSTRUCTOR: &str = "__init__";

/// How deep conditions are looked into.
const DEPTH: u32 = 16;

/// How many values are looked at for one.
const VALUES: usize = 200;

/// The settings of a project.
#[derive(Debug)]
pub struct Settings<'f, 'a> {
    facts: &'f Facts<'a>,
    /// The files whose names are bound in ways that the source does not show.
    bound_by_name: FxHashSet<FileId>,
    /// The expressions that join operands by `and` or `or`.
    junctions: RefCell<FxHashMap<FileId, FxHashMap<TextRange, BranchKind>>>,
    open: RefCell<FxHashMap<FunctionRef, bool>>,
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
        Self {
            facts,
            bound_by_name: bound_by_name.map(|edge| edge.caller.file).collect(),
            junctions: RefCell::default(),
            open: RefCell::default(),
            attributes: OnceCell::new(),
        }
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
            Value::Operator { operator: Operator::Compare(method), left, right } => {
                self.compared(method, (file, left), (file, right))
            }
            Value::Instance(_) => {
                let test = module.none_test(value)?;
                Some(self.is_none((file, test.value))? == test.if_none)
            }
            Value::Phi(ref parts) => match self.junction(file, value) {
                Some(kind) => self.joined(file, parts, kind == BranchKind::Or, depth),
                None => self.constant(place),
            },
            Value::Attribute { .. } => self.constant(place).or_else(|| {
                let truths = self.held(place)?.into_iter().map(|held| self.constant(held));
                let mut truths = truths.collect::<Option<Vec<bool>>>()?.into_iter();
                let first = truths.next()?;
                truths.all(|truth| truth == first).then_some(first)
            }),
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

    fn constant(&self, (file, value): Place) -> Option<bool> {
        self.facts.truth(file, value).filter(|_| self.is_settled((file, value)))
    }

    /// What a comparison comes out as, whichever of their literals both sides are.
    fn compared(&self, method: Method, left: Place, right: Place) -> Option<bool> {
        let (ones, others) = (self.literals(left)?, self.literals(right)?);
        let pairs = ones.iter().flat_map(|&one| others.iter().map(move |&other| (one, other)));
        let mut outcomes = pairs.take(VALUES + 1).map(|(one, other)| self.outcome(method, one, other));
        let first = outcomes.next()??;
        let is_settled = || self.is_settled(left) && self.is_settled(right);
        (ones.len() * others.len() <= VALUES && outcomes.all(|own| own == Some(first)) && is_settled())
            .then_some(first)
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

    /// The literals that a value is one of, and nothing else.
    fn literals(&self, (file, value): Place) -> Option<Vec<Literal>> {
        let literals = self.facts.objects(file, value).map(|(_, object)| match object {
            Object::Literal(literal) => Some(literal),
            _ => None,
        });
        literals.collect::<Option<Vec<Literal>>>().filter(|own| !own.is_empty())
    }

    /// Whether a value is always `None`, or never.
    fn is_none(&self, place: Place) -> Option<bool> {
        let mut objects = self.facts.objects(place.0, place.1).map(|(_, object)| match object {
            Object::Literal(literal) => Some(literal == Literal::None),
            Object::Function(_)
            | Object::Class(_)
            | Object::Module(_)
            | Object::Instance(..)
            | Object::Container(..)
            | Object::Type(_) => Some(false),
            _ => None,
        });
        let first = objects.next()??;
        let is_alike = objects.all(|own| own == Some(first));
        (is_alike && self.is_settled(place)).then_some(first)
    }

    /// Whether all that a value may be stands in the source, and only edits change it.
    fn is_settled(&self, place: Place) -> bool {
        let facts = self.facts;
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut work = vec![place];
        while let Some((file, value)) = work.pop() {
            if !seen.insert((file, value)) {
                continue;
            }
            if seen.len() > VALUES {
                return false;
            }
            let module = facts.module(file);
            let meaning = match module.value(value).value {
                Value::Constant(_)
                | Value::Unbound
                | Value::Instance(_)
                | Value::Function(_)
                | Value::Class(_)
                | Value::Display(..) => continue,
                Value::Call(_) => {
                    let is_made = |(_, object)| matches!(object, Object::Instance(..));
                    if facts.objects(file, value).all(is_made) {
                        continue;
                    }
                    return false;
                }
                Value::Phi(ref parts) => {
                    work.extend(parts.iter().map(|&part| (file, part)));
                    continue;
                }
                Value::Cell(variable) => {
                    if variable.scope == Module::TOP && self.bound_by_name.contains(&file) {
                        return false;
                    }
                    work.extend(module.shared_definitions(variable).map(|own| (file, own.value)));
                    continue;
                }
                Value::Parameter(function, _) => {
                    let function = FunctionRef { file, function };
                    match self.given(function, value) {
                        Some(given) => work.extend(given),
                        None => return false,
                    }
                    continue;
                }
                Value::Attribute { .. } => {
                    match self.held((file, value)) {
                        Some(held) => work.extend(held),
                        None => return false,
                    }
                    continue;
                }
                Value::Import(import) => facts.modules.imported(file, module.import(import), facts.library),
                Value::Free(name) => facts.modules.free(file, module.names.text(name), facts.library),
                _ => return false,
            };
            match meaning {
                Meaning::Value(of, value) if !self.bound_by_name.contains(&of) => work.push((of, value)),
                _ => return false,
            }
        }
        true
    }

    /// All that an attribute of the project's objects may hold, if that can be told.
    fn held(&self, (file, value): Place) -> Option<Vec<Place>> {
        let module = self.facts.module(file);
        let Value::Attribute { base, name, .. } = module.value(value).value else { return None };
        let attributes = self.attributes.get_or_init(|| Attributes::new(self.facts));
        attributes.held(self.facts, file, base, module.names.text(name))
    }

    /// What all calls of a function pass for a parameter; `None` if that can't be told.
    fn given(&self, function: FunctionRef, parameter: ValueId) -> Option<Vec<Place>> {
        if *self.open.borrow_mut().entry(function).or_insert_with(|| self.is_open(function)) {
            return None;
        }
        let edges = self.facts.incoming(function);
        if edges.len() > VALUES {
            return None;
        }
        edges.iter().map(|edge| self.facts.given_by(edge, function, parameter)).collect()
    }

    /// Whether calls may come to a function that the source does not show: nobody calls it here, or a decorator or a
    /// library has it. What other programs pass, which can import it, is theirs.
    fn is_open(&self, function: FunctionRef) -> bool {
        let facts = self.facts;
        let module = facts.module(function.file);
        let own = module.function(function.function);
        let name = module.names.text(own.name);
        let is_of_library = || {
            facts.modules.class_of(function).is_some_and(|class| {
                let ancestors = facts.hierarchy.order(class).iter();
                name != CONSTRUCTOR && ancestors.into_iter().any(|own| !matches!(own, Ancestor::Project(_)))
            })
        };
        facts.incoming(function).is_empty() || is_of_library() || facts.is_handed_out(function)
    }

    fn junction(&self, file: FileId, value: ValueId) -> Option<BranchKind> {
        let module = self.facts.module(file);
        let mut junctions = self.junctions.borrow_mut();
        let own = junctions.entry(file).or_insert_with(|| {
            let blocks = module.scopes.iter().flat_map(|scope| &scope.flow.blocks);
            let branches = blocks.filter_map(|block| block.branch);
            let joins = branches.filter(|own| matches!(own.kind, BranchKind::And | BranchKind::Or));
            joins.map(|own| (own.range, own.kind)).collect()
        });
        own.get(&module.value(value).range).copied()
    }
}
