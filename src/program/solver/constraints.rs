//! The constraints that a module's values give before anything flows.

use super::{
    Arguments, Field, FileId, Literal, Meaning, Module, NodeId, Object, ObjectId, ScopeKind, Site, SiteId,
    Solver, Target, Use, Value, ValueId, Via,
};
use crate::semantic::{
    BuiltinType, CallId, CallKind, Container, Element, Operator, Passing, ScopeId, StoreKey,
};

/// How many elements of a display are told apart.
const ELEMENTS: usize = 256;

/// How many elements of a slice keep their positions.
const POSITIONS: i64 = 64;

impl Solver<'_> {
    /// Notes what classes bind, and the names under which one may have a property.
    pub(super) fn find_names_in_classes(&mut self) {
        for file in self.modules.files() {
            let module = self.modules.get(file);
            for class in &module.classes {
                for symbol in &module.scope(class.scope).symbols {
                    let name = self.name(file, symbol.name);
                    self.in_classes.insert(name);
                }
            }
            for function in &module.functions {
                if function.class.is_some() && !function.decorators.is_empty() {
                    let name = self.name(file, function.name);
                    self.decorated.insert(name);
                }
            }
        }
        // `name = property(get)`
        let property = self.names.id("property");
        for file in self.modules.files() {
            let module = self.modules.get(file);
            for definition in &module.definitions {
                if let ScopeKind::Class(_) = module.scope(definition.variable.scope).kind
                    && let Value::Call(call) = module.value(definition.value).value
                    && let Value::Free(callee) = module.value(module.call(call).callee).value
                    && self.name(file, callee) == property
                {
                    let name = self.name(file, module.symbol(definition.variable).name);
                    self.decorated.insert(name);
                }
            }
        }
    }

    /// The constraints of what runs when a module is imported, and of its functions that are roots.
    pub(super) fn add_module(&mut self, file: FileId) {
        let module = self.modules.get(file);
        let scopes = (0..module.scopes.len()).map(ScopeId::new);
        let is_in: Vec<bool> = scopes.map(|scope| self.bodies.contain(file, scope)).collect();
        for (index, value) in module.values.iter().enumerate() {
            if value.is_shared() || is_in[value.scope.index()] {
                self.add_value(file, module, ValueId::new(index));
            }
        }
        for (index, call) in module.calls.iter().enumerate() {
            if is_in[call.scope.index()] {
                self.add_call(file, module, CallId::new(index));
            }
        }
        for (index, store) in (0..).zip(&module.stores) {
            if let StoreKey::Attribute(name) = store.key {
                let name = self.name(file, name);
                self.stored.insert(name);
            }
            if is_in[module.value(store.base).scope.index()] {
                self.add_store(file, module, index);
            }
        }
    }

    pub(super) fn add_store(&mut self, file: FileId, module: &Module, index: u32) {
        let store = &module.stores[index as usize];
        self.use_of(file, store.base, Use::Store(file, index));
        if let StoreKey::Item(key) = store.key
            && !matches!(module.value(key).value, Value::Constant(_))
        {
            self.use_of(file, key, Use::StoreKey(file, index));
        }
    }

    pub(super) fn add_value(&mut self, file: FileId, module: &Module, id: ValueId) {
        let node = self.node(file, id);
        match &module.value(id).value {
            Value::Unknown => self.unknown(node),
            Value::Unbound | Value::Call(_) | Value::Parameter(..) => {}
            Value::Constant(constant) => {
                let literal = self.literal(file, *constant);
                self.add_new(node, Object::Literal(literal));
            }
            Value::Instance(builtin) => self.add_new(node, Object::Type(*builtin)),
            Value::Cell(variable) => {
                for definition in module.shared_definitions(*variable) {
                    let from = self.node(file, definition.value);
                    self.on(from, Use::Flow(node));
                }
                // Other modules may have stored something else there.
                if variable.scope == Module::TOP {
                    let object = self.objects.id(Object::Module(file));
                    let name = self.name(file, module.symbol(*variable).name);
                    self.own_field(object, name, node);
                }
            }
            Value::Free(name) => {
                let text = module.names.text(*name);
                let meaning = self.modules.free(file, text, self.externals.library());
                if meaning == Meaning::Builtin {
                    let name = self.names.id(text);
                    self.add_new(node, Object::Builtin(name));
                } else {
                    self.meaning(meaning, node);
                }
            }
            Value::Phi(operands) => {
                for &operand in operands {
                    let from = self.node(file, operand);
                    self.on(from, Use::Flow(node));
                }
            }
            Value::Function(function) => {
                let function = super::FunctionRef { file, function: *function };
                self.add_new(node, Object::Function(function));
            }
            Value::Class(class) => {
                self.add_new(node, Object::Class(super::ClassRef { file, class: *class }));
            }
            Value::Import(import) => {
                let meaning = self.modules.imported(file, module.import(*import), self.externals.library());
                self.meaning(meaning, node);
            }
            Value::Display(kind, elements) => self.add_display(file, node, *kind, elements),
            Value::Attribute { base, narrowed, .. } => {
                let base = self.node(file, *base);
                if let Some(narrowed) = narrowed {
                    let from = self.node(file, *narrowed);
                    self.flow(from, node);
                }
                self.on(base, Use::Attribute(file, id));
            }
            Value::Item { base, key, narrowed } => {
                let base = self.node(file, *base);
                if let Some(narrowed) = narrowed {
                    let from = self.node(file, *narrowed);
                    self.flow(from, node);
                }
                self.on(base, Use::Item(file, id));
                if !matches!(module.value(*key).value, Value::Constant(_)) {
                    let key = self.node(file, *key);
                    self.on(key, Use::ItemKey(file, id));
                }
            }
            Value::Slice { base, .. } => self.use_of(file, *base, Use::Slice(file, id)),
            Value::Iteration(base) => self.use_of(file, *base, Use::Iteration(file, id)),
            Value::Unpack { base, .. } => self.use_of(file, *base, Use::Unpack(file, id)),
            Value::Enter(base) => self.use_of(file, *base, Use::Enter(file, id)),
            Value::Leave(base) => self.use_of(file, *base, Use::Leave(file, id)),
            Value::Caught(base) => self.use_of(file, *base, Use::Caught(file, id)),
            Value::Await(base) => {
                let from = self.node(file, *base);
                self.flow(from, node);
            }
            Value::Operator { operator: Operator::Not, .. } => {
                self.add_new(node, Object::Type(BuiltinType::Bool));
            }
            Value::Operator { left, right, .. } => {
                self.use_of(file, *left, Use::OperatorLeft(file, id));
                self.use_of(file, *right, Use::OperatorRight(file, id));
            }
        }
    }

    fn use_of(&mut self, file: FileId, value: ValueId, reaction: Use) {
        let node = self.node(file, value);
        self.on(node, reaction);
    }

    /// Puts what a name means into `node`.
    pub(super) fn meaning(&mut self, meaning: Meaning, node: NodeId) {
        match meaning {
            Meaning::Value(file, value) => {
                let from = self.node(file, value);
                self.flow(from, node);
            }
            Meaning::Module(target) => self.module_target(target, node),
            Meaning::External(path) => {
                let external = self.externals.id(&path);
                self.add_new(node, Object::External(external));
            }
            Meaning::Builtin | Meaning::Unknown => self.unknown(node),
        }
    }

    pub(super) fn module_target(&mut self, target: Target, node: NodeId) {
        match target {
            Target::File(file) => self.add_new(node, Object::Module(file)),
            Target::Namespace(folder) => self.add_new(node, Object::Namespace(folder)),
            Target::External => self.unknown(node),
        }
    }

    fn add_display(&mut self, file: FileId, node: NodeId, kind: Container, elements: &[Element]) {
        let container = self.objects.id(Object::Container(kind, node));
        self.add(node, container);
        let told_apart = elements.len() <= ELEMENTS;
        for element in elements {
            match *element {
                Element::At(index, value) if told_apart && kind != Container::Set => {
                    let from = self.node(file, value);
                    let part = self.part(container, Literal::Int(index.into()));
                    self.flow(from, part);
                }
                Element::At(_, value) | Element::Any(value) => {
                    let from = self.node(file, value);
                    let any = self.field(container, Field::Any);
                    self.flow(from, any);
                }
                Element::Key(key, value) => {
                    let from = self.node(file, value);
                    let constant = match self.modules.get(file).value(key).value {
                        Value::Constant(constant) if told_apart => Some(constant),
                        _ => None,
                    };
                    let part = match constant {
                        Some(constant) => {
                            let literal = self.literal(file, constant);
                            self.part(container, literal)
                        }
                        None => self.field(container, Field::Any),
                    };
                    self.flow(from, part);
                    let keys = self.field(container, Field::Keys);
                    let key = self.node(file, key);
                    self.flow(key, keys);
                }
                Element::Spread(value) => {
                    let any = self.field(container, Field::Any);
                    let caller = self.caller(file, value);
                    self.use_of(file, value, Use::IterateInto(any, caller));
                }
                Element::Merge(value) => self.use_of(file, value, Use::MergeInto(container)),
            }
        }
    }

    pub(super) fn add_call(&mut self, file: FileId, module: &Module, id: CallId) {
        let call = module.call(id);
        if !module.scope(call.scope).flow.is_reachable(call.block) {
            return;
        }
        let mut arguments = Arguments::default();
        for argument in &call.arguments {
            let node = self.node(file, argument.value);
            match argument.passing {
                Passing::Positional if arguments.spread.is_empty() => arguments.positional.push(node),
                // Behind `*args` nobody knows the position.
                Passing::Positional => {
                    let list = self.objects.id(Object::Container(Container::Tuple, node));
                    let any = self.field(list, Field::Any);
                    self.flow(node, any);
                    let rest = self.singleton(list);
                    arguments.spread.push(rest);
                }
                Passing::Keyword(name) => {
                    let name = self.name(file, name);
                    arguments.keywords.push((name, node));
                }
                Passing::Spread => arguments.spread.push(node),
                Passing::Merge => arguments.merge.push(node),
            }
        }
        let result = (call.kind != CallKind::Raise).then(|| self.node(file, call.result));
        let site = self.site(Site {
            caller: super::Caller { file, scope: call.scope },
            call: Some(id),
            at: None,
            arguments: arguments.into(),
            result,
            decorator: call.kind == CallKind::Decorator,
            raise: call.kind == CallKind::Raise,
            via: Via::Source,
        });
        self.use_of(file, call.callee, Use::Call(site));
    }

    pub(super) fn site(&mut self, site: Site) -> SiteId {
        self.sites.push(site);
        SiteId(u32::try_from(self.sites.len() - 1).expect("fewer calls than 2^32"))
    }

    // ---- fields ----

    pub(super) fn field(&mut self, object: ObjectId, field: Field) -> NodeId {
        if let Some(&node) = self.fields.get(&(object, field)) {
            return node;
        }
        let node = self.fresh();
        self.fields.insert((object, field), node);
        node
    }

    /// What a container has under a key.
    pub(super) fn part(&mut self, container: ObjectId, key: Literal) -> NodeId {
        let field = Field::Key(key);
        if let Some(&node) = self.fields.get(&(container, field)) {
            return node;
        }
        let node = self.field(container, field);
        self.parts.entry(container).or_default().push((key, node));
        if let (Some(&owner), Literal::Str(name)) = (self.own_dictionaries.get(&container), key) {
            let attribute = self.field(owner, Field::Attribute(name));
            self.flow(node, attribute);
        }
        if let Some(&all) = self.fields.get(&(container, Field::All)) {
            self.flow(node, all);
        }
        for (lower, upper, target) in self.slices.get(&container).cloned().unwrap_or_default() {
            self.slice_part(key, node, lower, upper, target);
        }
        node
    }

    /// Whatever is in a container.
    pub(super) fn all(&mut self, container: ObjectId) -> NodeId {
        if let Some(&node) = self.fields.get(&(container, Field::All)) {
            return node;
        }
        let all = self.field(container, Field::All);
        let any = self.field(container, Field::Any);
        self.flow(any, all);
        for (_, part) in self.parts.get(&container).cloned().unwrap_or_default() {
            self.flow(part, all);
        }
        all
    }

    pub(super) fn slice_part(
        &mut self,
        key: Literal,
        part: NodeId,
        lower: i64,
        upper: Option<i64>,
        target: ObjectId,
    ) {
        let Literal::Int(index) = key else { return };
        let inside = index >= lower && upper.is_none_or(|upper| upper < 0 || index < upper);
        if inside {
            // `rest = rest[1:]` in a loop brings each element to all positions in front of its own.
            let to = if index < POSITIONS {
                self.part(target, Literal::Int(index - lower))
            } else {
                self.field(target, Field::Any)
            };
            self.flow(part, to);
        }
    }

    /// Makes `target` hold what `source` has from one index to another, known positions kept.
    pub(super) fn slice_into(&mut self, source: ObjectId, lower: i64, upper: Option<i64>, target: ObjectId) {
        let known = self.slices.entry(source).or_default();
        if known.contains(&(lower, upper, target)) {
            return;
        }
        known.push((lower, upper, target));
        let (from, to) = (self.field(source, Field::Any), self.field(target, Field::Any));
        self.flow(from, to);
        for (key, part) in self.parts.get(&source).cloned().unwrap_or_default() {
            self.slice_part(key, part, lower, upper, target);
        }
    }

    /// The class that a scope's code stands in, and the function or lambda that it is.
    pub(super) fn method_around(
        &self,
        file: FileId,
        mut scope: crate::semantic::ScopeId,
    ) -> Option<(crate::semantic::ClassId, crate::semantic::FunctionId)> {
        let module = self.modules.get(file);
        loop {
            if let ScopeKind::Function(function) | ScopeKind::Lambda(function) = module.scope(scope).kind
                && let Some(class) = module.function(function).class
            {
                return Some((class, function));
            }
            scope = module.scope(scope).parent?;
        }
    }

    pub(super) fn constant_key(&mut self, file: FileId, key: ValueId) -> Option<Literal> {
        match self.modules.get(file).value(key).value {
            Value::Constant(constant) => Some(self.literal(file, constant)),
            _ => None,
        }
    }
}
