//! Attributes that are set under a condition on the rank, `if hvd.rank() == 0: self.writer = ...`, and read under none.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::guards::{Guard, Literal};
use super::super::model::Model;
use super::{CHECK, is_on_rank, sureness};
use crate::finding::{Finding, Label, Level, Location};
use crate::program::{Ancestor, Caller, ClassRef, Literal as Told, Object, ObjectId};
use crate::semantic::{BlockId, CallId, StatementKind, StoreKey, Value, ValueId};
use crate::syntax::TextSize;

/// Where an attribute is set, and which ranks come there.
struct Stored {
    at: Location,
    guard: Guard,
}

/// The attributes of an object that programs set, by name.
type Attributes<'m> = FxHashMap<(ObjectId, &'m str), Vec<Stored>>;

/// The findings of all attributes that some rank lacks.
pub(super) fn check(model: &Model<'_>) -> Vec<Finding> {
    let stored = stored(model);
    if stored.values().flatten().all(|own| own.guard.is_all()) || sets_by_name(model) {
        return Vec::new();
    }
    let callers: FxHashSet<Caller> = model.callers().into_iter().collect();
    let mut found = Vec::new();
    let mut told = FxHashSet::default();
    for &file in &model.files {
        let module = model.facts.module(file);
        let blocks: FxHashMap<TextSize, BlockId> =
            module.uses.iter().map(|own| (own.range.start(), own.block)).collect();
        for (index, evaluation) in module.values.iter().enumerate() {
            let Value::Attribute { base, name, narrowed: None } = evaluation.value else { continue };
            let caller = Caller { file, scope: evaluation.scope };
            let name = module.names.text(name);
            let block = blocks.get(&evaluation.range.start());
            let Some(&block) = block.filter(|_| callers.contains(&caller)) else { continue };
            if told.contains(&(caller, name)) || model.unreached.is_block(caller, block) {
                continue;
            }
            let reading = Reading { caller, block, value: ValueId::new(index), base, name };
            if let Some(finding) = reading.finding(model, &stored, &callers) {
                told.insert((caller, name));
                found.push(finding);
            }
        }
    }
    found
}

/// What the programs set, with the ranks that do.
fn stored<'m>(model: &Model<'m>) -> Attributes<'m> {
    let facts = model.facts;
    let mut found: Attributes<'m> = FxHashMap::default();
    for &file in &model.files {
        let module = facts.module(file);
        for store in &module.stores {
            let StoreKey::Attribute(name) = store.key else { continue };
            let caller = Caller { file, scope: store.scope };
            // Which object a method is called on its callers know: their conditions say nothing of this one.
            let guard = model.own_guard(caller, module.statement(store.statement).block);
            for (object, own) in facts.objects(file, store.base) {
                if matches!(own, Object::Instance(..)) {
                    let at = facts.location(file, store.range);
                    let key = (object, module.names.text(name));
                    found.entry(key).or_default().push(Stored { at, guard: guard.clone() });
                }
            }
        }
    }
    found
}

/// Whether attributes are set or asked for by names that are values: `setattr(self, name, value)`.
fn sets_by_name(model: &Model<'_>) -> bool {
    let by_name = ["builtins.setattr", "builtins.vars", "builtins.delattr"];
    model.files.iter().any(|&file| {
        let calls = (0..model.facts.module(file).calls.len()).map(CallId::new);
        calls.into_iter().any(|call| by_name.iter().any(|name| model.facts.calls_builtin(file, call, name)))
    })
}

/// An attribute that is read.
struct Reading<'m> {
    caller: Caller,
    block: BlockId,
    value: ValueId,
    base: ValueId,
    name: &'m str,
}

impl Reading<'_> {
    fn finding(
        &self,
        model: &Model<'_>,
        stored: &Attributes<'_>,
        callers: &FxHashSet<Caller>,
    ) -> Option<Finding> {
        let facts = model.facts;
        let file = self.caller.file;
        if facts.is_unknown(file, self.base) {
            return None;
        }
        let missing = facts.objects(file, self.base).find_map(|(object, own)| {
            let Object::Instance(class, _) = own else { return None };
            let places =
                stored.get(&(object, self.name)).filter(|_| !is_of_class(model, class, self.name))?;
            self.missing(model, object, places, callers)
        })?;
        if self.is_asked_for(model) || self.is_tried(model) {
            return None;
        }
        let range = facts.module(file).value(self.value).range;
        let location = facts.location(file, range);
        let name = self.name;
        let message = format!("`{name}` is set on some ranks only, and all of these read it");
        let mut finding = Finding::new(&CHECK.rule, Level::Error, location, message)
            .here("missing on the other ranks")
            .label(missing, "set on some ranks only")
            .help(format!("set `{name}` on all ranks, or read it under the same condition"))
            .in_scope(facts.scope_name(self.caller));
        finding.flow = vec![
            Label { location: missing, message: "set on some ranks only".to_owned() },
            Label { location, message: "read on all ranks".to_owned() },
        ];
        Some(finding.confidence(sureness(model, self.caller, self.block)))
    }

    /// Where an attribute of an object is set, if ranks read it that do not set it.
    fn missing(
        &self,
        model: &Model<'_>,
        object: ObjectId,
        places: &[Stored],
        callers: &FxHashSet<Caller>,
    ) -> Option<Location> {
        // An object that some ranks make is an object of these ranks.
        let (file, call) = model.facts.made_at(object)?;
        let call = model.facts.module(file).call(call);
        let maker = Caller { file, scope: call.scope };
        if !callers.contains(&maker) {
            return None;
        }
        let made = model.guard(maker, call.block);
        let here = model.guard(self.caller, self.block);
        let missing: Vec<(&Stored, Vec<Literal>)> = places
            .iter()
            .map(|own| {
                let literals = own.guard.0.iter().filter(|literal| {
                    is_on_rank(model, literal) && !here.implies(literal) && !made.implies(literal)
                });
                (own, literals.cloned().collect())
            })
            .collect();
        if missing.iter().any(|(_, literals)| literals.is_empty()) || are_opposite(&missing) {
            return None;
        }
        missing.first().map(|(own, _)| own.at)
    }

    /// Whether the program asks whether something has an attribute of this name.
    fn is_asked_for(&self, model: &Model<'_>) -> bool {
        let facts = model.facts;
        model.files.iter().any(|&file| {
            let module = facts.module(file);
            module.calls.iter().enumerate().any(|(index, call)| {
                let asks = ["builtins.hasattr", "builtins.getattr"];
                asks.iter().any(|name| facts.calls_builtin(file, CallId::new(index), name))
                    && call.arguments.iter().any(|argument| {
                        facts.objects(file, argument.value).any(|(_, own)| match own {
                            Object::Literal(Told::Str(text)) => facts.solution.names.text(text) == self.name,
                            _ => false,
                        })
                    })
            })
        })
    }

    /// Whether what follows is prepared for its absence.
    fn is_tried(&self, model: &Model<'_>) -> bool {
        let module = model.facts.module(self.caller.file);
        let range = module.value(self.value).range;
        module
            .statements
            .iter()
            .any(|statement| statement.kind == StatementKind::Try && statement.range.contains_range(range))
    }
}

/// Whether ranks set an attribute that others set elsewhere.
fn are_opposite(missing: &[(&Stored, Vec<Literal>)]) -> bool {
    let literals: Vec<&Literal> = missing.iter().flat_map(|(_, literals)| literals).collect();
    literals.iter().any(|one| literals.iter().any(|other| one.atom == other.atom && one.holds != other.holds))
}

/// Whether a class gives all of its objects an attribute, or may do.
fn is_of_class(model: &Model<'_>, class: ClassRef, name: &str) -> bool {
    let facts = model.facts;
    let gives = |own: ClassRef, name: &str| {
        let module = facts.module(own.file);
        let class = module.class(own.class);
        let Some(id) = module.names.get(name) else { return false };
        module.scope(class.scope).exports.contains_key(&id) || class.annotated.contains(&id)
    };
    facts.hierarchy.order(class).iter().any(|ancestor| match ancestor {
        Ancestor::Project(own) => {
            ["__getattr__", "__getattribute__", name].into_iter().any(|name| gives(*own, name))
        }
        Ancestor::External(path) => {
            let symbol = facts.library.lookup(path);
            symbol.is_none_or(|symbol| facts.library.member(symbol, name).is_some())
        }
        Ancestor::Builtin(_) => false,
        Ancestor::Unknown => true,
    })
}
