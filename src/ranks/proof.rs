//! What of a distributed program is proven: for each property whether it holds, under which assumptions, and what the
//! analysis could not follow.
//!
//! A property is proven if no check of the ranks denies it and nothing that it rests on is unknown. Each file of the
//! folder walks over what one kind of property rests on, asks the model the same questions as the check, and notes
//! what the check takes for granted: an [`Assumption`] if it is a matter of how the program is run or of libraries, an
//! [`Obstacle`] if the program's own text leaves it open.

mod in_step;
mod replicas;
mod unknown;
mod writes;

use std::collections::{BTreeMap, BTreeSet};

use super::model::Model;
use super::{
    broadcast_without_effect, gradients_not_averaged, misused_horovod_api, name_missing, out_of_step,
    rank_not_called, replicas_diverge, write_on_every_rank, wrong_horovod_module,
};
use crate::checks::Context;
use crate::distribute;
use crate::finding::{Confidence, Finding, Location, Rule};
use crate::program::{Caller, Program};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId, CallKind};

/// Something that should be true of the ranks of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// All ranks take part in the same collectives.
    InStep,
    /// What is trained is equal on all ranks.
    ReplicasEqual,
    /// No file is written by several ranks.
    WrittenOnce,
    /// No rank uses a name that only others bind.
    NamesBound,
}

impl Property {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 4] = [Self::InStep, Self::ReplicasEqual, Self::WrittenOnce, Self::NamesBound];

    /// The name in machine formats.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InStep => "in-step",
            Self::ReplicasEqual => "replicas-equal",
            Self::WrittenOnce => "written-once",
            Self::NamesBound => "names-bound",
        }
    }

    /// What it says, as a clause.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::InStep => "all ranks take part in the same collectives",
            Self::ReplicasEqual => "what is trained becomes and stays equal on all ranks",
            Self::WrittenOnce => "no file is written by several ranks",
            Self::NamesBound => "no rank uses a name that only other ranks bind",
        }
    }

    /// The rules whose findings deny it.
    fn rules(self) -> Vec<&'static Rule> {
        match self {
            Self::InStep => vec![&out_of_step::CHECK.rule],
            Self::ReplicasEqual => vec![
                &replicas_diverge::CHECK.rule,
                &gradients_not_averaged::RULE,
                &broadcast_without_effect::CHECK.rule,
                &distribute::tape::RULE.rule,
                &distribute::optimizer::RULE.rule,
                &distribute::broadcast::RULE.rule,
            ],
            Self::WrittenOnce => vec![&write_on_every_rank::CHECK.rule, &distribute::checkpoint::RULE.rule],
            Self::NamesBound => vec![&name_missing::CHECK.rule],
        }
    }
}

/// Something that is taken for granted, about how a program is run or what libraries do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assumption {
    /// Functions of libraries that no table describes do nothing that matters.
    Library,
    /// Methods of objects that nobody knows do nothing that matters; no known method of the name does.
    Method,
    /// Code that nobody knows calls what it is given on all ranks alike.
    HandedOver,
    /// An exception is met by all ranks or by none.
    Exceptions,
    /// Data has as many elements on each rank.
    Turns,
    /// Tensors that are reduced or broadcast have equal shapes.
    Shapes,
    /// A broadcast reaches all variables.
    Broadcast,
    /// A broadcast under a condition is made in time.
    BroadcastInTime,
    /// Equal seeds give equal weights.
    Seeds,
    /// All ranks read the same files.
    Files,
    /// Hosts have file systems of their own.
    Hosts,
    /// What is fetched is equal on all ranks.
    Fetched,
}

impl Assumption {
    /// What is assumed, as a clause.
    #[must_use]
    pub fn text(self, property: Property) -> &'static str {
        match (self, property) {
            (Self::Library, Property::InStep) => {
                "library functions that no table describes don't communicate"
            }
            (Self::Library, Property::ReplicasEqual) => {
                "library functions that no table describes don't change what is trained"
            }
            (Self::Library, _) => "library functions that no table describes write no files",
            (Self::Method, Property::InStep) => "methods of objects that can't be followed don't communicate",
            (Self::Method, Property::ReplicasEqual) => {
                "methods of objects that can't be followed don't change what is trained"
            }
            (Self::Method, _) => "methods of objects that can't be followed write no files",
            (Self::HandedOver, _) => "what is handed to unknown code is called on all ranks alike",
            (Self::Exceptions, _) => "an exception is met by all ranks or by none",
            (Self::Turns, _) => "data has as many elements on each rank",
            (Self::Shapes, _) => "what is reduced or broadcast has the same shape on all ranks",
            (Self::Broadcast, _) => "all variables exist when they are broadcast",
            (Self::BroadcastInTime, _) => "a broadcast under a condition is made before it is relied on",
            (Self::Seeds, _) => "equal seeds give equal weights",
            (Self::Files, _) => "all ranks read the same files",
            (Self::Hosts, _) => "each host writes to a file system of its own",
            (Self::Fetched, _) => "what each rank fetches or prepares for itself is equal, or not shared",
        }
    }
}

/// Something that the analysis could not follow, and that may break a property.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obstacle {
    /// Nobody knows what is called.
    Call,
    /// Code is made from text.
    Text,
    /// The file does not parse.
    Syntax,
    /// A condition on which ranks part is unknown.
    Condition,
    /// How often a loop turns is unknown.
    Turns,
    /// A recursive function communicates.
    Recursion,
    /// Another thread or process communicates.
    Thread,
    /// Callbacks of `fit` are unknown.
    Callbacks,
    /// What a loop trains is unknown.
    Trained,
    /// Several ranks may write the file.
    SomeRanks,
    /// Paths differ and may still be equal on two ranks.
    PathsMayMeet,
    /// Ranks write a file if it is missing.
    IfMissing,
    /// Horovod is not used as the model takes it to be.
    Misuse(String),
    /// A finding that is not certain.
    Possible(String),
}

impl Obstacle {
    /// Why the property is not shown, as a clause.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Call => "what is called here can't be followed",
            Self::Text => "runs code that is made from text",
            Self::Syntax => "this file does not parse",
            Self::Condition => "ranks communicate by a condition that can't be followed",
            Self::Turns => "each turn communicates, and what is iterated over can't be followed",
            Self::Recursion => "a function communicates that may call itself",
            Self::Thread => "another thread or process communicates",
            Self::Callbacks => "the callbacks can't be followed",
            Self::Trained => "what is trained here can't be followed",
            Self::SomeRanks => "some ranks write this file, and more than one may",
            Self::PathsMayMeet => "the ranks' paths differ, and two may be equal",
            Self::IfMissing => "each rank that finds no such file writes it",
            Self::Misuse(message) | Self::Possible(message) => message,
        }
    }
}

/// Whether a property holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Under the assumptions.
    Proven,
    /// A finding says that it does not.
    Denied,
    /// Something could not be followed.
    NotShown,
}

impl Verdict {
    /// The name in machine formats.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Denied => "denied",
            Self::NotShown => "not-shown",
        }
    }
}

/// What is known of one property of a program.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The property.
    pub property: Property,
    /// What is assumed, and where.
    pub assumptions: BTreeMap<Assumption, BTreeSet<Location>>,
    /// What could not be followed, and where.
    pub obstacles: BTreeMap<Obstacle, BTreeSet<Location>>,
    /// What the findings say that deny it, and where.
    pub denials: BTreeMap<String, BTreeSet<Location>>,
}

impl Claim {
    fn new(property: Property) -> Self {
        let (assumptions, obstacles, denials) = Default::default();
        Self { property, assumptions, obstacles, denials }
    }

    /// Whether the property holds.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if !self.denials.is_empty() {
            Verdict::Denied
        } else if self.obstacles.is_empty() {
            Verdict::Proven
        } else {
            Verdict::NotShown
        }
    }

    /// All places that it names.
    pub fn places(&self) -> impl Iterator<Item = Location> + '_ {
        let assumed = self.assumptions.values().flatten();
        assumed.chain(self.obstacles.values().flatten()).chain(self.denials.values().flatten()).copied()
    }

    fn assumes(&mut self, assumption: Assumption, at: Location) {
        self.assumptions.entry(assumption).or_default().insert(at);
    }

    fn fails(&mut self, obstacle: Obstacle, at: Location) {
        self.obstacles.entry(obstacle).or_default().insert(at);
    }

    /// Takes in what the findings in the program's files say.
    fn judge(&mut self, findings: &[&Finding]) {
        let rules = self.property.rules();
        let is_of =
            |finding: &Finding, rules: &[&Rule]| rules.iter().any(|own| own.code == finding.rule.code);
        let misuses = [
            &rank_not_called::CHECK.rule,
            &wrong_horovod_module::CHECK.rule,
            &misused_horovod_api::CHECK.rule,
        ];
        for finding in findings {
            let at = finding.primary.location;
            let said = || format!("{} ({})", finding.message, finding.rule.name);
            match finding.confidence {
                Confidence::Certain if is_of(finding, &rules) => {
                    self.denials.entry(said()).or_default().insert(at);
                }
                Confidence::Certain if is_of(finding, &misuses) => self.fails(Obstacle::Misuse(said()), at),
                Confidence::Possible if is_of(finding, &rules) => self.fails(Obstacle::Possible(said()), at),
                _ => {}
            }
        }
    }
}

/// What is known of the ranks of a program.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Its entry module.
    pub entry: FileId,
    /// The files of its code, in order.
    pub files: Vec<FileId>,
    /// Its properties, each once.
    pub claims: Vec<Claim>,
}

/// The proofs of the programs that use Horovod; `findings` has all that is found in them, whether it is reported or not.
#[must_use]
pub fn proofs(context: Context<'_>, findings: &[&Finding]) -> Vec<Proof> {
    let Some(model) = Model::new(context.facts, context.texts) else { return Vec::new() };
    let survey = unknown::Survey::new(&model);
    model.programs.iter().map(|program| proof(&model, &survey, program, findings)).collect()
}

fn proof(
    model: &Model<'_>,
    survey: &unknown::Survey<'_, '_>,
    program: &Program,
    findings: &[&Finding],
) -> Proof {
    let code = Code::of(model, program);
    let files = program.files();
    let mut claims = Property::ALL.map(Claim::new);
    let [in_step, equal, written, bound] = &mut claims;
    in_step::follow(model, survey, &code, in_step);
    replicas::follow(model, survey, &code, equal);
    writes::follow(model, survey, &code, written);
    for claim in [&mut *in_step, equal, written, bound] {
        unknown::text_and_syntax(model, &code, claim);
    }
    let own: Vec<&Finding> = findings
        .iter()
        .filter(|finding| files.binary_search(&finding.primary.location.file).is_ok())
        .copied()
        .collect();
    for claim in &mut claims {
        claim.judge(&own);
    }
    Proof { entry: program.entry, files, claims: claims.into() }
}

/// The code that a program runs.
struct Code<'p> {
    program: &'p Program,
    /// Its scopes, in order.
    callers: Vec<Caller>,
    /// The calls that it makes, with the scope and the block.
    calls: Vec<(Caller, BlockId, CallId)>,
}

impl<'p> Code<'p> {
    fn of(model: &Model<'_>, program: &'p Program) -> Self {
        let mut callers: Vec<Caller> = program.reached.iter().copied().collect();
        callers.sort_unstable();
        let mut calls = Vec::new();
        for &caller in &callers {
            let module = model.facts.module(caller.file);
            let flow = &module.scope(caller.scope).flow;
            let blocks = (0..flow.blocks.len()).map(BlockId::new).filter(|&block| flow.is_reachable(block));
            for block in blocks.filter(|&block| !model.unreached.is_block(caller, block)) {
                let made = model.blocks.of(caller, block).calls.iter();
                let made = made.filter(|&&call| module.call(call).kind == CallKind::Expression);
                let made = made.filter(|&&call| model.is_run(caller, call));
                calls.extend(made.map(|&call| (caller, block, call)));
            }
        }
        Self { program, callers, calls }
    }
}
