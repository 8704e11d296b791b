//! Code of runs without Horovod: where a flag is off that Horovod is started under, `if args.distributed: hvd.init()`,
//! or the choice is another one, `if args.trainer == "replicated":`, there is a single process.

use rustc_hash::{FxHashMap, FxHashSet};

use super::closed::Arm;
use crate::api::Effect;
use crate::program::{CallEdge, Caller, Facts, FunctionRef, ObjectId, Place, Program, Unreached};
use crate::project::FileId;
use crate::semantic::{
    BlockId, BranchKind, BuiltinType, CallId, Constant, Definition, Dependence, Method, Module, Operator,
    StoreKey, Value, ValueId, Variable,
};
use crate::syntax::TextRange;

/// What holds a truth that a program goes by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Flag {
    /// An attribute of these objects.
    Attribute(Box<str>, Box<[ObjectId]>),
    /// A name.
    Variable(FileId, Variable),
    /// What a value is that is computed once and handed on.
    Value(Place),
    /// An attribute of such a value, or the entry under a key: `settings["training"]["distributed"]`.
    Part(Box<Flag>, Part),
    /// What one of them is: a string or a number.
    Is(Box<Flag>, Box<str>),
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Attribute(Box<str>),
    Entry(Box<str>),
}

/// Whether one of two literals says that the other is not so.
fn contradict((one, holds): &Literal, (other, is_so): &Literal) -> bool {
    match (one, other) {
        (Flag::Is(flag, constant), Flag::Is(same, wanted)) if flag == same && constant != wanted => {
            *holds && *is_so
        }
        _ => one == other && holds != is_so,
    }
}

/// Where a condition stands, with the block that evaluates it: of `a and b` another one than of `a`.
type Test = (TextRange, BlockId);

/// A flag that is on, or off.
type Literal = (Flag, bool);

/// How many calls the conditions of a start are followed back through.
const DEPTH: u32 = 6;

/// How often at most a value is followed back to where it was before.
const STEPS: usize = 16;

/// A call that starts Horovod.
struct Start {
    /// What flags say where it is made.
    on: Vec<Literal>,
    /// The module that it stands in makes it whenever it is imported.
    is_always: bool,
}

/// What flags say once Horovod is started: where modules start it as they are imported, each its own, all that they say; else
/// what all of the starts say. Nothing without a start.
fn flags_on<'s>(starts: impl Iterator<Item = &'s Start>) -> Option<Vec<Literal>> {
    let (always, others): (Vec<&Start>, Vec<&Start>) = starts.partition(|start| start.is_always);
    if !always.is_empty() {
        return Some(always.iter().flat_map(|start| start.on.clone()).collect());
    }
    let (first, others) = others.split_first()?;
    let mut on = first.on.clone();
    on.retain(|literal| others.iter().all(|start| start.on.contains(literal)));
    Some(on)
}

/// What the flags say under which the programs start Horovod.
#[derive(Debug, Default)]
pub struct Alone {
    arms: FxHashSet<Arm>,
}

impl Alone {
    /// The arms of branches that only runs without Horovod go to.
    #[must_use]
    pub fn new(facts: &Facts<'_>, programs: &[&Program]) -> Self {
        let starts: Vec<(FileId, CallId)> = facts.calls_with(Effect::Initializes).collect();
        // Each program starts Horovod in its own way; what several of them run is alone where it is in all.
        let mut seen: FxHashMap<Caller, usize> = FxHashMap::default();
        let mut alone: FxHashMap<(Caller, BlockId, usize), usize> = FxHashMap::default();
        let mut names = FxHashMap::default();
        for &program in programs {
            let mut search = Search { facts, program, names };
            let own: Vec<Start> = starts.iter().filter_map(|&start| search.start(start)).collect();
            if let Some(on) = flags_on(own.iter()) {
                for &caller in &program.reached {
                    *seen.entry(caller).or_default() += 1;
                    for arm in search.off(caller, &on) {
                        *alone.entry(arm).or_default() += 1;
                    }
                }
            }
            names = search.names;
        }
        let in_all = |(arm, count): ((Caller, BlockId, usize), usize)| (seen[&arm.0] == count).then_some(arm);
        Self { arms: alone.into_iter().filter_map(in_all).collect() }
    }

    /// The arms of branches that only runs without Horovod go to.
    pub(super) fn arms(&self) -> impl Iterator<Item = Arm> + '_ {
        self.arms.iter().copied()
    }

    /// The code of a program that only such runs come to.
    #[must_use]
    pub fn code_of(&self, facts: &Facts<'_>, program: &Program) -> Unreached {
        if self.arms.is_empty() {
            return Unreached::default();
        }
        let mut callers: Vec<Caller> = program.reached.iter().copied().collect();
        callers.sort_unstable();
        let is_closed =
            |caller: Caller, block: BlockId, arm: usize| self.arms.contains(&(caller, block, arm));
        Unreached::behind(facts, &callers, is_closed, |edge| facts.is_run(program, edge))
    }
}

/// The branches that a block stands under, with the arms, as far as there is one way to it.
pub(super) fn dominating(facts: &Facts<'_>, caller: Caller, block: BlockId) -> Vec<Dependence> {
    let mut found: Vec<Dependence> = Vec::new();
    let mut at = block;
    while let [own] = facts.control(caller).direct(at)[..] {
        if found.contains(&own) {
            break;
        }
        found.push(own);
        at = own.branch;
    }
    found
}

/// Where a value comes from in a program that names, attributes and parameters hand on, as far as each has it from one place.
fn origin(facts: &Facts<'_>, program: &Program, place: Place) -> Place {
    let is_run = |(file, value): Place| {
        let module = facts.module(file);
        program.reached.contains(&Caller { file, scope: module.code_scope(module.value(value).scope) })
    };
    let mut at = place;
    for _ in 0..STEPS {
        let (file, value) = at;
        let base = match facts.module(file).value(value).value {
            Value::Attribute { base, narrowed: None, .. } => Some((file, base)),
            Value::Attribute { .. } | Value::Cell(_) | Value::Import(_) | Value::Parameter(..) => None,
            _ => break,
        };
        let is_parameter = matches!(facts.module(file).value(value).value, Value::Parameter(..));
        let from = facts.influence().operands(at).filter(|&own| Some(own) != base);
        // What only other programs pass, or code that nobody calls, is not passed here.
        let mut from = from.filter(|&own| !is_parameter || is_run(own));
        match (from.next(), from.next()) {
            (Some(only), None) => at = only,
            _ => break,
        }
    }
    at
}

struct Search<'s, 'c> {
    facts: &'s Facts<'c>,
    program: &'s Program,
    /// The names that files read, by where.
    names: FxHashMap<FileId, Vec<(TextRange, BlockId, Variable)>>,
}

impl Search<'_, '_> {
    /// A call that starts Horovod, if the program makes it.
    fn start(&mut self, (file, call): (FileId, CallId)) -> Option<Start> {
        let facts = self.facts;
        let data = facts.module(file).call(call);
        let caller = Caller { file, scope: data.scope };
        self.program.reached.contains(&caller).then(|| {
            let mut on = self.around(caller, data.block, DEPTH);
            // What is tried is done, where the library is there.
            let conditions = facts.conditions(caller, data.block);
            let is_certain = conditions.iter().all(|own| own.branch.kind == BranchKind::Try);
            on.extend(self.set_beside(caller, data.block));
            Start { on, is_always: caller.scope == Module::TOP && is_certain }
        })
    }

    /// The flags that are on or off wherever a block is come to.
    fn around(&mut self, caller: Caller, block: BlockId, depth: u32) -> Vec<Literal> {
        let facts = self.facts;
        let mut found = Vec::new();
        for Dependence { branch, arm } in dominating(facts, caller, block) {
            let said = self.said(caller, branch, arm);
            // `if not started: hvd.init(); started = True` is off but for the first time.
            if said.iter().all(|(flag, holds)| *holds || !self.is_set(caller, flag)) {
                found.extend(said);
            }
        }
        let function = facts.function_of(caller).filter(|_| depth > 0);
        found.extend(function.map(|function| self.of_calls(function, depth)).into_iter().flatten());
        found
    }

    /// The arms of a scope's branches that say that one of the flags is not so.
    fn off(&mut self, caller: Caller, on: &[Literal]) -> Vec<(Caller, BlockId, usize)> {
        if on.is_empty() {
            return Vec::new();
        }
        let blocks = &self.facts.module(caller.file).scope(caller.scope).flow.blocks;
        let mut found = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let branch = BlockId::new(index);
            for arm in 0..block.successors.len() {
                let said = self.said(caller, branch, arm);
                if said.iter().any(|said| on.iter().any(|own| contradict(own, said))) {
                    found.push((caller, branch, arm));
                }
            }
        }
        found
    }

    /// The flags that say afterwards whether a block was come to: `distributed = False`, and `True` beside the start.
    fn set_beside(&self, caller: Caller, block: BlockId) -> Vec<Literal> {
        let facts = self.facts;
        let module = facts.module(caller.file);
        let around = dominating(facts, caller, block);
        if around.is_empty() {
            return Vec::new();
        }
        let truth = |value: ValueId| match module.value(value).value {
            Value::Constant(Constant::Bool(truth)) => Some(truth),
            _ => None,
        };
        let is_beside =
            |own: &Definition| own.scope == caller.scope && dominating(facts, caller, own.block) == around;
        let set = module.definitions.iter().filter(|own| truth(own.value) == Some(true) && is_beside(own));
        let set = set.filter(|own| {
            let mut others = module.definitions.iter().filter(|other| other.variable == own.variable);
            others.all(|other| truth(other.value) == Some(false) || is_beside(other))
        });
        set.map(|own| (Flag::Variable(caller.file, own.variable), true)).collect()
    }

    /// What holds wherever a function is called.
    fn of_calls(&mut self, function: FunctionRef, depth: u32) -> Vec<Literal> {
        let facts = self.facts;
        let mut common: Option<Vec<Literal>> = None;
        let is_run = |edge: &&CallEdge| facts.is_run(self.program, edge);
        let edges: Vec<CallEdge> = facts.incoming(function).iter().filter(is_run).copied().collect();
        for edge in edges {
            let Some(call) = edge.call else { return Vec::new() };
            let block = facts.module(edge.caller.file).call(call).block;
            let own = self.around(edge.caller, block, depth - 1);
            common = Some(match common {
                None => own,
                Some(all) => all.into_iter().filter(|literal| own.contains(literal)).collect(),
            });
        }
        common.unwrap_or_default()
    }

    /// What a branch says where it goes to an arm: of one flag, by all that holds it.
    fn said(&mut self, caller: Caller, block: BlockId, arm: usize) -> Vec<Literal> {
        let flow = &self.facts.module(caller.file).scope(caller.scope).flow;
        let Some(branch) = flow.blocks[block.index()].branch else { return Vec::new() };
        let told = branch.condition.zip(branch.kind.outcome(arm));
        told.map_or_else(Vec::new, |(condition, holds)| {
            self.read((caller.file, condition), (branch.range, block), holds)
        })
    }

    fn read(&mut self, place: Place, test: Test, holds: bool) -> Vec<Literal> {
        let (file, value) = place;
        let module = self.facts.module(file);
        match module.value(value).value {
            Value::Operator { operator: Operator::Not, left, .. } => self.read((file, left), test, !holds),
            Value::Operator {
                operator: Operator::Compare(method @ (Method::EQ | Method::NE)),
                left,
                right,
            } if let Value::Constant(constant) = module.value(right).value => {
                let is_equal = method == Method::EQ;
                let text = match constant {
                    Constant::Bool(wanted) => {
                        return self.read((file, left), test, (wanted == is_equal) == holds);
                    }
                    Constant::Str(name) => format!("'{}", module.names.text(name)),
                    Constant::Int(number) => number.to_string(),
                    Constant::None => return Vec::new(),
                };
                let flags = self.read((file, left), test, true).into_iter();
                let is =
                    |(flag, _): Literal| (Flag::Is(flag.into(), text.as_str().into()), is_equal == holds);
                flags.map(is).collect()
            }
            _ => self.holders(place, test).into_iter().map(|flag| (flag, holds)).collect(),
        }
    }

    /// What holds the truth that a condition asks for.
    fn holders(&mut self, place: Place, test: Test) -> Vec<Flag> {
        let facts = self.facts;
        let (file, value) = place;
        let module = facts.module(file);
        let own = match module.value(value).value {
            Value::Attribute { base, name, .. } => {
                let mut objects = facts.solution.values(file, base).to_vec();
                objects.sort_unstable();
                Some(Flag::Attribute(module.names.text(name).into(), objects.into()))
            }
            _ => self.named(place, test),
        };
        own.into_iter().chain([self.handed_on(place)]).collect()
    }

    /// The value that a place has from elsewhere, or what that is a part of.
    fn handed_on(&self, place: Place) -> Flag {
        let mut parts = Vec::new();
        let mut at = origin(self.facts, self.program, place);
        while let Some((base, part)) = self.part(at).filter(|_| parts.len() < STEPS) {
            parts.push(part);
            at = origin(self.facts, self.program, base);
        }
        parts.into_iter().rfold(Flag::Value(at), |of, part| Flag::Part(of.into(), part))
    }

    /// What a value is a part of, where it is taken out by name.
    fn part(&self, (file, value): Place) -> Option<(Place, Part)> {
        let module = self.facts.module(file);
        match module.value(value).value {
            Value::Item { base, key, narrowed: None } => match module.value(key).value {
                Value::Constant(Constant::Str(key)) => {
                    Some(((file, base), Part::Entry(module.names.text(key).into())))
                }
                _ => None,
            },
            Value::Attribute { base, name, narrowed: None } => {
                Some(((file, base), Part::Attribute(module.names.text(name).into())))
            }
            _ => None,
        }
    }

    /// What is said of the only name that is read in a condition, where that is all that the condition does:
    /// `distributed = '--hvd' in sys.argv` stands elsewhere.
    fn named(&mut self, (file, value): Place, (range, block): Test) -> Option<Flag> {
        let module = self.facts.module(file);
        let evaluation = module.value(value);
        let is_computed = matches!(
            evaluation.value,
            Value::Call(_) | Value::Operator { .. } | Value::Instance(BuiltinType::Bool) | Value::Item { .. }
        );
        if is_computed && range.contains_range(evaluation.range) {
            return None;
        }
        let names = self.names.entry(file).or_insert_with(|| {
            let reads = module.uses.iter().filter_map(|own| Some((own.range, own.block, own.variable?)));
            let mut reads: Vec<(TextRange, BlockId, Variable)> = reads.collect();
            reads.sort_unstable_by_key(|(own, ..)| own.start());
            reads
        });
        let first = names.partition_point(|(own, ..)| own.start() < range.start());
        let within = names[first..].iter().take_while(|(own, ..)| own.start() < range.end());
        let mut within = within.filter(|&&(_, read_in, _)| read_in == block);
        let only = within.next().filter(|_| within.next().is_none());
        only.map(|&(.., variable)| Flag::Variable(file, variable))
    }

    /// Whether a scope's code changes a flag.
    fn is_set(&self, caller: Caller, flag: &Flag) -> bool {
        let module = self.facts.module(caller.file);
        match flag {
            Flag::Is(flag, _) => self.is_set(caller, flag),
            Flag::Attribute(wanted, _) => module.stores.iter().any(|store| {
                store.scope == caller.scope
                    && matches!(store.key, StoreKey::Attribute(name) if module.names.text(name) == &**wanted)
            }),
            Flag::Variable(file, wanted) => {
                let mut definitions = module.definitions.iter();
                *file == caller.file
                    && definitions.any(|own| own.variable == *wanted && own.scope == caller.scope)
            }
            Flag::Value(_) | Flag::Part(..) => false,
        }
    }
}
