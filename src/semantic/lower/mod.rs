//! From the syntax tree to the compact form, in one walk in the order of evaluation.

mod expression;
mod pattern;
mod statement;

use rustc_hash::{FxHashMap, FxHashSet};

use super::flow::{Branch, BranchKind, Flow};
use super::id::{BlockId, CallId, ClassId, FunctionId, NameId, ScopeId, StatementId, ValueId};
use super::module::{
    Argument, Call, CallKind, Definition, DefinitionKind, Module, Parameter, ParameterKind, Passing, Scope,
    ScopeKind, Suite, SyntaxError, Use,
};
use super::names::Names;
use super::ssa::{Content, Found, Key, Place, Ssa, Version};
use super::symbols::{LexicalId, Opener, Resolution, Symbols};
use super::value::{Constant, Element, Evaluation, Role, Value, Variable};
use crate::syntax::{self, TextRange, ast};

/// The compact form of a module.
pub(super) fn module(source: &str) -> Module {
    let parsed = syntax::parse(source);
    let mut names = Names::default();
    let symbols = Symbols::collect(parsed.suite(), &mut names);
    let mut lowering = Lowering::new(source, names, symbols);
    let range = TextRange::up_to(syntax::text_size(source));
    lowering.enter(ScopeId(0), Symbols::MODULE, ScopeKind::Module, None, String::new(), range);
    lowering.suite(parsed.suite(), Suite::Body);
    lowering.leave();
    lowering.module.comments = syntax::comments_with(&parsed, source, "hvdlint");
    lowering.module.errors = parsed
        .errors()
        .iter()
        .map(|error| SyntaxError { message: clause(&error.error.to_string()), range: error.location })
        .collect();
    lowering.finish()
}

/// The parser's sentence as messages are written: it begins with a small letter and has no final period.
fn clause(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut letters = sentence.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => sentence.to_owned(),
    }
}

/// A scope whose code is being read.
struct Frame {
    scope: ScopeId,
    /// The scope's own lexical scope and the inline ones that are open.
    lexical: Vec<LexicalId>,
    ssa: Ssa,
    block: BlockId,
    /// Control can come here, as far as the syntax tells.
    alive: bool,
    parent: Option<StatementId>,
    suite: Suite,
    statement: StatementId,
    function: Option<FunctionId>,
    class: Option<ClassId>,
    loops: Vec<Loop>,
    finals: Vec<Vec<BlockId>>,
    lambdas: u32,
    /// How many calls have been read: what may look at variables from outside.
    calls: u32,
    /// The latest definition of each variable, the block and the number of calls then.
    latest: FxHashMap<u32, (usize, BlockId, u32)>,
    /// Containers that no other code has, with the keys that are known of them.
    own: FxHashMap<ValueId, Vec<Key>>,
}

struct Loop {
    header: BlockId,
    exit: BlockId,
    /// How many `finally` suites were pending around the loop.
    finals: usize,
}

struct Lowering<'a> {
    source: &'a str,
    symbols: Symbols,
    module: Module,
    frames: Vec<Frame>,
    constants: FxHashMap<Constant, ValueId>,
    cells: FxHashMap<Variable, ValueId>,
    free: FxHashMap<NameId, ValueId>,
    unbound: ValueId,
    phis: Vec<ValueId>,
    /// φs of parts of objects that some path knows nothing of.
    lost: Vec<ValueId>,
    order: u32,
}

impl<'a> Lowering<'a> {
    fn new(source: &'a str, names: Names, symbols: Symbols) -> Self {
        let nowhere = TextRange::default();
        let scopes = (0..symbols.homes.len())
            .map(|index| Scope {
                kind: ScopeKind::Module,
                parent: None,
                qualified_name: String::new(),
                range: nowhere,
                symbols: symbols.homes[index].symbols.clone(),
                flow: Flow::default(),
                exports: FxHashMap::default(),
            })
            .collect();
        Self {
            source,
            symbols,
            module: Module {
                names,
                scopes,
                values: vec![Evaluation { value: Value::Unbound, range: nowhere, scope: Module::TOP }],
                statements: Vec::new(),
                definitions: Vec::new(),
                shared: FxHashMap::default(),
                uses: Vec::new(),
                stores: Vec::new(),
                calls: Vec::new(),
                functions: Vec::new(),
                classes: Vec::new(),
                imports: Vec::new(),
                managers: Vec::new(),
                side_effects: Vec::new(),
                all: None,
                comments: Vec::new(),
                errors: Vec::new(),
            },
            frames: Vec::new(),
            constants: FxHashMap::default(),
            cells: FxHashMap::default(),
            free: FxHashMap::default(),
            unbound: ValueId(0),
            phis: Vec::new(),
            lost: Vec::new(),
            order: 0,
        }
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a scope is open while its code is read")
    }

    fn current(&self) -> &Frame {
        self.frames.last().expect("a scope is open while its code is read")
    }

    fn enter(
        &mut self,
        scope: ScopeId,
        lexical: LexicalId,
        kind: ScopeKind,
        parent: Option<ScopeId>,
        qualified_name: String,
        range: TextRange,
    ) {
        let entry = &mut self.module.scopes[scope.index()];
        entry.kind = kind;
        entry.parent = parent;
        entry.qualified_name = qualified_name;
        entry.range = range;
        let (function, class) = match kind {
            ScopeKind::Module => (None, None),
            ScopeKind::Function(function) | ScopeKind::Lambda(function) => (Some(function), None),
            ScopeKind::Class(class) => (None, Some(class)),
        };
        let mut ssa = Ssa::default();
        let block = ssa.entry();
        let around = self.frames.last();
        let statement = around.map_or(StatementId(0), |frame| frame.statement);
        let parent = around.and_then(|frame| frame.parent);
        self.frames.push(Frame {
            scope,
            lexical: vec![lexical],
            ssa,
            block,
            alive: true,
            parent,
            suite: Suite::Body,
            statement,
            function,
            class,
            loops: Vec::new(),
            finals: Vec::new(),
            lambdas: 0,
            calls: 0,
            latest: FxHashMap::default(),
            own: FxHashMap::default(),
        });
    }

    /// Ends the open scope: finds what its φs join and what it exports.
    fn leave(&mut self) {
        let (scope, block) = (self.current().scope, self.current().block);
        if matches!(self.module.scopes[scope.index()].kind, ScopeKind::Module | ScopeKind::Class(_)) {
            for index in 0..self.module.scopes[scope.index()].symbols.len() {
                let symbol = self.module.scopes[scope.index()].symbols[index];
                let variable =
                    Variable { scope, symbol: u32::try_from(index).expect("fewer symbols than bytes") };
                let value = if self.current().alive {
                    self.variable_at(block, variable)
                } else {
                    self.any_definition(variable)
                };
                if value != self.unbound {
                    self.module.scopes[scope.index()].exports.insert(symbol.name, value);
                }
            }
        }
        while let Some((block, place, phi)) = self.frame().ssa.next_pending() {
            let (blocks, carried) = self.current().ssa.operands(block, place);
            let mut operands = Vec::new();
            let mut whole = true;
            for content in carried {
                match content {
                    Content::Value(value) => operands.push(value),
                    _ => whole = false,
                }
            }
            for block in blocks {
                match self.content_at(block, place) {
                    Some(value) => operands.push(value),
                    None => whole = false,
                }
            }
            operands.sort_unstable();
            operands.dedup();
            if !whole {
                self.lost.push(phi);
            }
            self.module.values[phi.index()].value = Value::Phi(operands.into());
        }
        let frame = self.frames.pop().expect("the scope was open");
        self.module.scopes[scope.index()].flow = Flow::new(frame.ssa.blocks);
    }

    fn push(&mut self, value: Value, range: TextRange) -> ValueId {
        let scope = self.current().scope;
        self.module.values.push(Evaluation { value, range, scope });
        ValueId::new(self.module.values.len() - 1)
    }

    fn constant(&mut self, constant: Constant, range: TextRange) -> ValueId {
        if let Some(&value) = self.constants.get(&constant) {
            return value;
        }
        let value = self.push(Value::Constant(constant), range);
        self.constants.insert(constant, value);
        value
    }

    fn text_constant(&mut self, text: &str, range: TextRange) -> ValueId {
        let name = self.module.names.intern(text);
        self.constant(Constant::Str(name), range)
    }

    fn cell(&mut self, variable: Variable) -> ValueId {
        if let Some(&value) = self.cells.get(&variable) {
            return value;
        }
        let value = self.push(Value::Cell(variable), TextRange::default());
        self.cells.insert(variable, value);
        value
    }

    fn free(&mut self, name: NameId) -> ValueId {
        if let Some(&value) = self.free.get(&name) {
            return value;
        }
        let value = self.push(Value::Free(name), TextRange::default());
        self.free.insert(name, value);
        value
    }

    // ---- variables ----

    fn resolve(&self, name: NameId) -> Resolution {
        let lexical = *self.current().lexical.last().expect("a scope has its own lexical scope");
        self.symbols.resolve(lexical, name)
    }

    /// The value of a variable of the open scope at the end of what has been read of `block`.
    fn variable_at(&mut self, block: BlockId, variable: Variable) -> ValueId {
        if self.module.symbol(variable).rebound {
            return self.cell(variable);
        }
        self.content_at(block, Place::Name(variable.symbol)).unwrap_or(self.unbound)
    }

    /// What a variable may be in a scope whose end control never reaches, such as a script that ends by `raise`.
    fn any_definition(&mut self, variable: Variable) -> ValueId {
        let definitions = self.module.definitions.iter();
        let mut values: Vec<ValueId> = definitions
            .filter(|definition| definition.variable == variable && definition.value != self.unbound)
            .map(|definition| definition.value)
            .collect();
        values.sort_unstable();
        values.dedup();
        match values[..] {
            [] => self.unbound,
            [only] => only,
            _ => self.push(Value::Phi(values.into()), TextRange::default()),
        }
    }

    /// What `place` holds at the end of what has been read of `block`; `None` if that is not known.
    fn content_at(&mut self, block: BlockId, place: Place) -> Option<ValueId> {
        match self.current().ssa.lookup(block, place) {
            Found::Content(Content::Value(value)) => Some(value),
            Found::Content(_) => None,
            Found::AtEntry => match place {
                Place::Name(symbol) => Some(self.value_at_entry(symbol)),
                _ => None,
            },
            Found::Nowhere => matches!(place, Place::Name(_)).then_some(self.unbound),
            Found::Merge(block) => {
                let phi = self.push(Value::Phi(Box::default()), TextRange::default());
                self.phis.push(phi);
                self.frame().ssa.place_phi(block, place, phi);
                Some(phi)
            }
        }
    }

    /// What a variable of the open scope is before its code binds it.
    fn value_at_entry(&mut self, symbol: u32) -> ValueId {
        let scope = self.current().scope;
        let name = self.module.scopes[scope.index()].symbols[symbol as usize].name;
        match self.module.scopes[scope.index()].kind {
            ScopeKind::Module => self.free(name),
            // A name that a class body binds is looked for in the module before, not in functions around it.
            ScopeKind::Class(_) => match self.symbols.resolve(Symbols::MODULE, name) {
                Resolution::Local(variable) | Resolution::Outer(variable) => self.cell(variable),
                Resolution::Free => self.free(name),
            },
            ScopeKind::Function(_) | ScopeKind::Lambda(_) => self.unbound,
        }
    }

    fn next_order(&mut self) -> u32 {
        self.order += 1;
        self.order
    }

    fn read(&mut self, name: &str, range: TextRange) -> ValueId {
        let name = self.module.names.intern(name);
        let block = self.current().block;
        let (variable, value) = match self.resolve(name) {
            Resolution::Local(variable) => (Some(variable), self.variable_at(block, variable)),
            Resolution::Outer(variable) => (Some(variable), self.cell(variable)),
            Resolution::Free => (None, self.free(name)),
        };
        let scope = self.current().scope;
        let order = self.next_order();
        self.module.uses.push(Use { variable, value, range, scope, block, order });
        value
    }

    fn define(&mut self, name: &str, value: ValueId, kind: DefinitionKind, range: TextRange) {
        let name = self.module.names.intern(name);
        let lexical = match kind {
            // An assignment expression binds outside of the comprehensions around it.
            DefinitionKind::Walrus => self.current().lexical[0],
            _ => *self.current().lexical.last().expect("a scope has its own lexical scope"),
        };
        let (Resolution::Local(variable) | Resolution::Outer(variable)) = self.symbols.resolve(lexical, name)
        else {
            return;
        };
        let order = self.next_order();
        let index = self.module.definitions.len();
        let frame = self.frames.last_mut().expect("a scope is open while its code is read");
        if variable.scope == frame.scope {
            let symbol = variable.symbol;
            frame.ssa.define(frame.block, Place::Name(symbol), Content::Value(value));
            let before = frame.latest.insert(symbol, (index, frame.block, frame.calls));
            if let Some((before, block, calls)) = before
                && block == frame.block
                && calls == frame.calls
            {
                self.module.definitions[before].hidden = true;
            }
        }
        let statement = (kind != DefinitionKind::Parameter).then_some(frame.statement);
        let (scope, block) = (frame.scope, frame.block);
        let hidden = false;
        self.module.definitions.push(Definition {
            variable,
            value,
            kind,
            range,
            statement,
            scope,
            block,
            order,
            hidden,
        });
        // What a variable of the module or one that a closure captures holds, other code can reach.
        let symbol = self.module.symbol(variable);
        if variable.scope == Module::TOP || symbol.captured || symbol.rebound {
            self.escape(value);
        }
    }

    // ---- parts of objects ----

    fn version_of(&mut self, place: Place) -> Version {
        let frame = self.frame();
        match frame.ssa.lookup(frame.block, place) {
            Found::Content(Content::Version(version)) => version,
            Found::AtEntry => Version::default(),
            Found::Merge(block) => {
                let version = frame.ssa.new_version();
                frame.ssa.place_version(block, place, version);
                version
            }
            Found::Content(_) | Found::Nowhere => frame.ssa.new_version(),
        }
    }

    fn change(&mut self, place: Place) {
        let frame = self.frame();
        let version = frame.ssa.new_version();
        frame.ssa.define(frame.block, place, Content::Version(version));
    }

    fn part(&mut self, base: ValueId, key: Key) -> Place {
        if self.current().own.contains_key(&base) {
            return Place::Own(base, key);
        }
        let memory = self.version_of(Place::Memory);
        let keyed = self.version_of(Place::Keyed(key));
        Place::Shared { base, key, memory, keyed }
    }

    /// What stores in this scope have put at `base`'s `key`, if nothing can have changed it since.
    fn stored(&mut self, base: ValueId, key: Key) -> Option<ValueId> {
        let place = self.part(base, key);
        let block = self.current().block;
        self.content_at(block, place)
    }

    fn remember(&mut self, base: ValueId, key: Key, value: ValueId) {
        let place = self.part(base, key);
        let frame = self.frame();
        if let Some(keys) = frame.own.get_mut(&base)
            && !keys.contains(&key)
        {
            keys.push(key);
        }
        frame.ssa.define(frame.block, place, Content::Value(value));
    }

    /// A store into `base`: under a known key, or `None` for any.
    fn store_part(&mut self, base: ValueId, key: Option<Key>, value: ValueId) {
        if matches!(self.module.value(base).value, Value::Phi(_)) {
            self.escape_all();
        }
        let own = self.current().own.contains_key(&base);
        match key {
            Some(key) => {
                if !own {
                    self.change(Place::Keyed(key));
                }
                self.remember(base, key, value);
            }
            None if own => self.forget(base),
            None => self.change(Place::Memory),
        }
    }

    /// Whatever is known of a container's parts is known no more.
    fn forget(&mut self, base: ValueId) {
        let frame = self.frame();
        for key in frame.own.get(&base).cloned().unwrap_or_default() {
            frame.ssa.define(frame.block, Place::Own(base, key), Content::Lost);
        }
    }

    /// Other code can reach `value` from now on.
    fn escape(&mut self, value: ValueId) {
        if self.current().own.contains_key(&value) {
            self.forget(value);
            self.frame().own.remove(&value);
        }
    }

    fn escape_all(&mut self) {
        let own: Vec<ValueId> = self.current().own.keys().copied().collect();
        for value in own {
            self.escape(value);
        }
    }

    // ---- control flow ----

    fn branch(&mut self, kind: BranchKind, condition: Option<ValueId>, range: TextRange) {
        let frame = self.frame();
        let branch = Branch { kind, condition, range, statement: frame.statement };
        frame.ssa.blocks[frame.block.index()].branch = Some(branch);
    }

    /// Control ends here: what follows is not reached.
    fn stop(&mut self) {
        let frame = self.frame();
        frame.alive = false;
        frame.block = frame.ssa.unreachable();
    }

    /// Goes on in `block`.
    fn resume(&mut self, block: BlockId, alive: bool) {
        let frame = self.frame();
        frame.alive = alive;
        frame.block = if alive { block } else { frame.ssa.unreachable() };
    }

    /// Goes on where the living among `ends` join; their paths parted at `fork` at time `from`.
    fn join(&mut self, fork: BlockId, from: u32, ends: &[Option<BlockId>]) {
        let frame = self.frame();
        let merge = frame.ssa.merge(fork, from);
        let mut alive = false;
        for end in ends.iter().flatten() {
            alive = true;
            frame.ssa.join(merge, *end);
        }
        frame.ssa.close(merge);
        self.resume(merge, alive);
    }

    /// The current block if control reaches it.
    fn end(&self) -> Option<BlockId> {
        self.current().alive.then_some(self.current().block)
    }

    // ---- calls and functions ----

    /// A call's place among the calls, in front of those in its arguments.
    fn reserve_call(&mut self, range: TextRange) -> CallId {
        let frame = self.current();
        let call = Call {
            callee: self.unbound,
            arguments: Vec::new(),
            kind: CallKind::Expression,
            role: Role::Operand,
            result: self.unbound,
            range,
            callee_range: range,
            statement: frame.statement,
            scope: frame.scope,
            block: frame.block,
        };
        self.module.calls.push(call);
        CallId::new(self.module.calls.len() - 1)
    }

    fn call(
        &mut self,
        id: CallId,
        callee: ValueId,
        callee_range: TextRange,
        arguments: Vec<Argument>,
        kind: CallKind,
        role: Role,
    ) -> ValueId {
        let range = self.module.call(id).range;
        let result = self.push(Value::Call(id), range);
        self.change(Place::Memory);
        let frame = self.frame();
        frame.calls += 1;
        let block = frame.block;
        let call = &mut self.module.calls[id.index()];
        *call = Call { callee, arguments, kind, role, result, callee_range, block, ..call.clone() };
        result
    }

    fn decorate(&mut self, mut value: ValueId, decorators: &[(ValueId, TextRange)]) -> ValueId {
        for &(decorator, range) in decorators.iter().rev() {
            let argument = Argument { value, passing: Passing::Positional, range };
            let id = self.reserve_call(range);
            value = self.call(id, decorator, range, vec![argument], CallKind::Decorator, Role::Decorator);
        }
        value
    }

    /// The parameters with their defaults and annotations, evaluated where the function is defined; their
    /// values come when its scope is entered.
    fn parameters(&mut self, parameters: &ast::Parameters) -> Vec<Parameter> {
        let mut result = Vec::new();
        let mut add = |lowering: &mut Self, parameter: &ast::Parameter, default: Option<&ast::Expr>, kind| {
            let name = lowering.module.names.intern(&parameter.name);
            let default = default.map(|default| lowering.expression(default, Role::Default));
            let annotation = parameter
                .annotation
                .as_deref()
                .map(|annotation| lowering.expression(annotation, Role::Operand));
            let value = lowering.unbound;
            result.push(Parameter { name, kind, value, default, annotation, range: parameter.name.range });
        };
        for parameter in &parameters.posonlyargs {
            add(self, &parameter.parameter, parameter.default.as_deref(), ParameterKind::PositionalOnly);
        }
        for parameter in &parameters.args {
            add(self, &parameter.parameter, parameter.default.as_deref(), ParameterKind::Ordinary);
        }
        if let Some(parameter) = &parameters.vararg {
            add(self, parameter, None, ParameterKind::Variadic);
        }
        for parameter in &parameters.kwonlyargs {
            add(self, &parameter.parameter, parameter.default.as_deref(), ParameterKind::KeywordOnly);
        }
        if let Some(parameter) = &parameters.kwarg {
            add(self, parameter, None, ParameterKind::Keywords);
        }
        result
    }

    fn bind_parameters(&mut self, function: FunctionId) {
        for index in 0..self.module.functions[function.index()].parameters.len() {
            let parameter = self.module.functions[function.index()].parameters[index].clone();
            let index = u32::try_from(index).expect("fewer parameters than bytes");
            let value = self.push(Value::Parameter(function, index), parameter.range);
            self.module.functions[function.index()].parameters[index as usize].value = value;
            let name = self.module.names.text(parameter.name).to_owned();
            self.define(&name, value, DefinitionKind::Parameter, parameter.range);
        }
    }

    fn qualified(&self, name: &str) -> String {
        let around = &self.module.scope(self.current().scope).qualified_name;
        if around.is_empty() { name.to_owned() } else { format!("{around}.{name}") }
    }

    fn open_lexical(&mut self, opener: Opener, range: TextRange) -> LexicalId {
        let lexical = self.symbols.at(opener, range);
        self.frame().lexical.push(lexical);
        lexical
    }

    // ---- the end ----

    /// Removes the φs that join one value only, and gives every mention the value that is left.
    fn finish(mut self) -> Module {
        let lost = self.spread_loss();
        let replaced = self.trivial_phis();
        let resolve = |value: ValueId| replaced[value.index()];
        let narrow = |value: Option<ValueId>| value.filter(|value| !lost.contains(value)).map(resolve);
        let module = &mut self.module;
        for evaluation in &mut module.values {
            rewrite(&mut evaluation.value, &resolve, &narrow);
        }
        for definition in &mut module.definitions {
            definition.value = resolve(definition.value);
        }
        for (index, definition) in (0..).zip(&module.definitions) {
            if self.cells.contains_key(&definition.variable) && !definition.hidden {
                module.shared.entry(definition.variable).or_default().push(index);
            }
        }
        for reading in &mut module.uses {
            reading.value = resolve(reading.value);
        }
        for store in &mut module.stores {
            store.base = resolve(store.base);
            store.value = resolve(store.value);
            if let super::module::StoreKey::Item(key) = &mut store.key {
                *key = resolve(*key);
            }
        }
        for call in &mut module.calls {
            call.callee = resolve(call.callee);
            call.arguments.iter_mut().for_each(|argument| argument.value = resolve(argument.value));
        }
        for function in &mut module.functions {
            function.returns.iter_mut().for_each(|value| *value = resolve(*value));
            function.yields.iter_mut().for_each(|value| *value = resolve(*value));
            function.decorators.iter_mut().for_each(|value| *value = resolve(*value));
            for parameter in &mut function.parameters {
                parameter.default = parameter.default.map(resolve);
                parameter.annotation = parameter.annotation.map(resolve);
            }
        }
        for class in &mut module.classes {
            class.bases.iter_mut().for_each(|value| *value = resolve(*value));
            class.decorators.iter_mut().for_each(|value| *value = resolve(*value));
        }
        for scope in &mut module.scopes {
            scope.exports.values_mut().for_each(|value| *value = resolve(*value));
            for block in &mut scope.flow.blocks {
                if let Some(branch) = &mut block.branch {
                    branch.condition = branch.condition.map(resolve);
                }
            }
        }
        module.managers.iter_mut().for_each(|(value, _)| *value = resolve(*value));
        self.module
    }

    /// The φs of parts of objects that join something unknown, directly or through others.
    fn spread_loss(&self) -> FxHashSet<ValueId> {
        let mut lost: FxHashSet<ValueId> = self.lost.iter().copied().collect();
        if lost.is_empty() {
            return lost;
        }
        let users = self.phi_users();
        let mut work = self.lost.clone();
        while let Some(phi) = work.pop() {
            for &user in users.get(&phi).into_iter().flatten() {
                if lost.insert(user) {
                    work.push(user);
                }
            }
        }
        lost
    }

    fn phi_users(&self) -> FxHashMap<ValueId, Vec<ValueId>> {
        let mut users: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
        for &phi in &self.phis {
            if let Value::Phi(operands) = &self.module.value(phi).value {
                for &operand in operands {
                    if matches!(self.module.value(operand).value, Value::Phi(_)) {
                        users.entry(operand).or_default().push(phi);
                    }
                }
            }
        }
        users
    }

    /// For each value the value that stands for it.
    fn trivial_phis(&self) -> Vec<ValueId> {
        fn root(replaced: &mut [ValueId], mut value: ValueId) -> ValueId {
            while replaced[value.index()] != value {
                let next = replaced[value.index()];
                replaced[value.index()] = replaced[next.index()];
                value = next;
            }
            value
        }
        let mut replaced: Vec<ValueId> = (0..self.module.values.len()).map(ValueId::new).collect();
        let users = self.phi_users();
        let mut work: Vec<ValueId> = self.phis.clone();
        work.reverse();
        while let Some(phi) = work.pop() {
            if replaced[phi.index()] != phi {
                continue;
            }
            let Value::Phi(operands) = &self.module.value(phi).value else { continue };
            let mut only = None;
            let mut several = false;
            for &operand in operands {
                let operand = root(&mut replaced, operand);
                if operand != phi && only.is_none_or(|only| only != operand) {
                    several = only.replace(operand).is_some();
                    if several {
                        break;
                    }
                }
            }
            if !several {
                replaced[phi.index()] = only.unwrap_or(self.unbound);
                work.extend(users.get(&phi).into_iter().flatten());
            }
        }
        for index in 0..replaced.len() {
            let value = root(&mut replaced, ValueId::new(index));
            replaced[index] = value;
        }
        replaced
    }
}

fn rewrite(
    value: &mut Value,
    resolve: &impl Fn(ValueId) -> ValueId,
    narrow: &impl Fn(Option<ValueId>) -> Option<ValueId>,
) {
    match value {
        Value::Phi(operands) => operands.iter_mut().for_each(|operand| *operand = resolve(*operand)),
        Value::Display(_, elements) => elements.iter_mut().for_each(|element| {
            *element = match *element {
                Element::At(index, value) => Element::At(index, resolve(value)),
                Element::Key(key, value) => Element::Key(resolve(key), resolve(value)),
                Element::Any(value) => Element::Any(resolve(value)),
                Element::Spread(value) => Element::Spread(resolve(value)),
                Element::Merge(value) => Element::Merge(resolve(value)),
            }
        }),
        Value::Attribute { base, narrowed, .. } => {
            *base = resolve(*base);
            *narrowed = narrow(*narrowed);
        }
        Value::Item { base, key, narrowed } => {
            *base = resolve(*base);
            *key = resolve(*key);
            *narrowed = narrow(*narrowed);
        }
        Value::Slice { base, .. }
        | Value::Iteration(base)
        | Value::Unpack { base, .. }
        | Value::Enter(base)
        | Value::Await(base)
        | Value::Caught(base) => *base = resolve(*base),
        Value::Operator { left, right, .. } => {
            *left = resolve(*left);
            *right = resolve(*right);
        }
        Value::Unknown
        | Value::Unbound
        | Value::Constant(_)
        | Value::Instance(_)
        | Value::Parameter(..)
        | Value::Cell(_)
        | Value::Free(_)
        | Value::Function(_)
        | Value::Class(_)
        | Value::Import(_)
        | Value::Call(_) => {}
    }
}
