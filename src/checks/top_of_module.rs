//! Where the top of a module ends: which statements may stand between imports, and around them.

use rustc_hash::FxHashSet;

use crate::api::{Effect, Prelude};
use crate::program::{Facts, Object};
use crate::project::FileId;
use crate::semantic::{
    BranchKind, BuiltinType, Call, CallId, Definition, DefinitionKind, Module, Operator, Role, Statement,
    StatementId, StatementKind, Store, StoreKey, Suite, Value, ValueId,
};
use crate::syntax::TextSize;

/// What the statements of a module are to its top.
#[derive(Debug)]
pub struct Top {
    /// `try` with a handler for failed imports, `if TYPE_CHECKING`: imports in them are at the top.
    transparent: FxHashSet<StatementId>,
    /// Other statements that do not end the top.
    prelude: FxHashSet<StatementId>,
}

impl Top {
    /// Looks at the statements of a module's own scope.
    #[must_use]
    pub fn new(facts: &Facts<'_>, file: FileId) -> Self {
        let reader =
            Reader { facts, file, module: facts.module(file), initialised: initialised(facts, file) };
        let transparent = reader.transparent();
        let prelude = reader.prelude(&transparent);
        Self { transparent, prelude }
    }

    /// Whether an import in the suites of the statement counts as one beside it.
    #[must_use]
    pub fn is_transparent(&self, statement: StatementId) -> bool {
        self.transparent.contains(&statement)
    }

    /// Whether an import is for type checkers only and never runs.
    #[must_use]
    pub fn is_for_types(&self, module: &Module, import: StatementId) -> bool {
        module
            .ancestor_ids(import)
            .any(|id| self.is_transparent(id) && module.statement(id).kind == StatementKind::If)
    }

    /// The first statement that ends the top.
    #[must_use]
    pub fn end<'m>(&self, module: &'m Module) -> Option<&'m Statement> {
        (0..module.statements.len()).map(StatementId::new).find_map(|id| {
            let statement = module.statement(id);
            let stays = statement.scope != Module::TOP
                || statement.suite == Suite::Handler
                || self.is_transparent(id)
                || self.prelude.contains(&id)
                || statement.parent.is_some_and(|parent| !self.is_transparent(parent));
            (!stays).then_some(statement)
        })
    }

    /// The last of the module's own statements in front of that.
    #[must_use]
    pub fn last(&self, module: &Module) -> Option<StatementId> {
        let end = self.end(module).map(|statement| statement.range.start());
        let own = (0..module.statements.len()).map(StatementId::new).filter(|&id| {
            let statement = module.statement(id);
            statement.scope == Module::TOP && statement.parent.is_none()
        });
        // One that the end lies in is not in front of it: `try: from google.colab import drive` and a `print` behind it.
        own.take_while(|&id| end.is_none_or(|end| module.statement(id).range.end() <= end)).last()
    }
}

/// Where control comes to an import: to one in an `except` clause from the beginning of its `try`.
#[must_use]
pub fn reached(module: &Module, import: StatementId) -> TextSize {
    let mut reached = module.statement(import).range.start();
    let mut suite = module.statement(import).suite;
    for around in module.ancestors(import) {
        if suite == Suite::Handler {
            reached = around.range.start();
        }
        suite = around.suite;
    }
    reached
}

/// Where the module's own code has initialised Horovod.
fn initialised(facts: &Facts<'_>, file: FileId) -> Option<TextSize> {
    let calls = facts.module(file).calls.iter().enumerate().filter(|(_, call)| call.scope == Module::TOP);
    let mut starts = calls.filter(|(index, _)| {
        facts.called_symbols(file, CallId::new(*index)).any(|symbol| symbol.has(Effect::Initializes))
    });
    starts.next().map(|(_, call)| call.range.end())
}

struct Reader<'f, 'a> {
    facts: &'f Facts<'a>,
    file: FileId,
    module: &'a Module,
    initialised: Option<TextSize>,
}

impl Reader<'_, '_> {
    fn transparent(&self) -> FxHashSet<StatementId> {
        let module = self.module;
        let mut found = FxHashSet::default();
        for block in &module.scope(Module::TOP).flow.blocks {
            if let Some(branch) = block.branch
                && branch.kind == BranchKind::If
                && branch.condition.is_some_and(|condition| self.is_prelude_object(condition))
            {
                found.insert(branch.statement);
            }
        }
        let handlers: Vec<_> = module
            .values
            .iter()
            .filter(|evaluation| evaluation.scope == Module::TOP)
            .filter(|evaluation| match evaluation.value {
                Value::Caught(classes) => self.handles_import_errors(classes),
                Value::Instance(BuiltinType::Exception) => true,
                _ => false,
            })
            .map(|evaluation| evaluation.range)
            .collect();
        for (index, statement) in module.statements.iter().enumerate() {
            if statement.kind == StatementKind::Try && statement.scope == Module::TOP {
                let first = handlers.partition_point(|range| range.start() < statement.range.start());
                if handlers.get(first).is_some_and(|range| statement.range.contains_range(*range)) {
                    found.insert(StatementId::new(index));
                }
            }
        }
        found
    }

    fn handles_import_errors(&self, classes: ValueId) -> bool {
        if let Value::Display(_, elements) = &self.module.value(classes).value {
            return elements.iter().any(|element| match *element {
                crate::semantic::Element::At(_, class) => self.handles_import_errors(class),
                _ => false,
            });
        }
        self.facts.objects(self.file, classes).any(|(_, object)| {
            let symbol = self.facts.symbol(object);
            symbol.is_some_and(|symbol| self.facts.library.handles_import_errors(symbol))
        })
    }

    /// The statements that do what imports commonly need, and nothing else.
    fn prelude(&self, transparent: &FxHashSet<StatementId>) -> FxHashSet<StatementId> {
        let module = self.module;
        let (mut good, mut bad) = (FxHashSet::default(), FxHashSet::default());
        let mut judge = |statement: StatementId, is_prelude: bool| {
            let _ = if is_prelude { good.insert(statement) } else { bad.insert(statement) };
        };
        // What a prelude statement is given is computed before it: `root = os.path.dirname(__file__)`.
        let mut needed = Vec::new();
        for (index, call) in module.calls.iter().enumerate() {
            if call.scope == Module::TOP && call.role == Role::Statement {
                let is_prelude = self.is_prelude_call(CallId::new(index), call);
                judge(call.statement, is_prelude);
                if is_prelude {
                    needed.extend(call.arguments.iter().map(|argument| (self.file, argument.value)));
                }
            }
        }
        for store in module.stores.iter().filter(|store| store.scope == Module::TOP) {
            let is_prelude = self.is_prelude_store(store);
            judge(store.statement, is_prelude);
            if is_prelude {
                needed.push((self.file, store.value));
            }
        }
        // The influence of all values is only worth its while where there is any.
        needed.retain(|&(_, value)| !matches!(module.value(value).value, Value::Constant(_)));
        let needed = if needed.is_empty() {
            FxHashSet::default()
        } else {
            self.facts.influence().backwards(&needed, |_| false)
        };
        for definition in module.definitions.iter().filter(|definition| definition.scope == Module::TOP) {
            if let Some(statement) = definition.statement
                && !matches!(definition.kind, DefinitionKind::Import | DefinitionKind::Loop)
            {
                let is_needed = needed.contains(&(self.file, definition.value));
                // `available = True` tells that an import succeeded.
                let around = module.statement(statement).parent;
                let is_flag = around.is_some_and(|around| transparent.contains(&around))
                    && matches!(module.value(definition.value).value, Value::Constant(_));
                judge(statement, is_needed || is_flag || self.is_prelude_definition(definition));
            }
        }
        // Backwards: what is in a compound statement decides about it.
        for (index, statement) in module.statements.iter().enumerate().rev() {
            let id = StatementId::new(index);
            let stays = match statement.kind {
                StatementKind::Expression { docstring } => docstring || good.contains(&id),
                // A conditional import is reported; without it what follows would be at the top.
                StatementKind::Import { .. }
                | StatementKind::Assign { .. }
                | StatementKind::AugmentedAssign
                | StatementKind::Delete
                | StatementKind::If
                | StatementKind::For
                | StatementKind::With
                | StatementKind::Try
                | StatementKind::ScopeDeclaration
                | StatementKind::Break
                | StatementKind::Continue
                | StatementKind::Other => true,
                _ => false,
            };
            if stays && !bad.contains(&id) {
                good.insert(id);
            } else if let Some(parent) = statement.parent {
                bad.insert(parent);
            }
        }
        good.retain(|id| !bad.contains(id));
        good
    }

    fn allows(&self, prelude: Prelude, at: TextSize) -> bool {
        prelude == Prelude::Always || self.initialised.is_some_and(|initialised| initialised < at)
    }

    fn is_prelude_object(&self, value: ValueId) -> bool {
        self.facts.objects(self.file, value).any(|(_, object)| {
            matches!(object, Object::External(_))
                && self.facts.symbol(object).and_then(crate::api::Symbol::prelude) == Some(Prelude::Always)
        })
    }

    fn is_prelude_call(&self, id: CallId, call: &Call) -> bool {
        self.facts.receiver(self.file, call).is_some_and(|receiver| self.is_prelude_object(receiver))
            || self.facts.called_symbols(self.file, id).any(|symbol| {
                symbol.has(Effect::Initializes)
                    || symbol.prelude().is_some_and(|prelude| self.allows(prelude, call.range.start()))
            })
    }

    fn is_prelude_store(&self, store: &Store) -> bool {
        // `sys.path += [...]` stores what it changed.
        let changed = match (store.key, &self.module.value(store.value).value) {
            (StoreKey::Attribute(_), Value::Operator { operator: Operator::InPlace(_), left, .. }) => *left,
            _ => store.base,
        };
        self.is_prelude_object(changed)
    }

    fn is_prelude_definition(&self, definition: &Definition) -> bool {
        let name = self.module.variable_name(definition.variable);
        name.starts_with("__") && name.ends_with("__")
            || matches!(self.module.value(definition.value).value, Value::Call(call)
                if self.is_prelude_call(call, self.module.call(call)))
    }
}
