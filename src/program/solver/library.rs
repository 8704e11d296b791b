//! Calls into libraries: what they give back and whom they call, as the table of known API says.

use super::{
    Arguments, Caller, ExternalId, Field, FileId, Literal, Meaning, Name, NodeId, Object, ObjectId, SiteId,
    Solver, Target, Use, Via,
};
use crate::api::{Calls, Effect, HANDED, HANDED_BY_NAME, Kind, Library, Passing, Returns, Symbol};
use crate::semantic::{Constant, Container, Value, ValueId};

/// What the arguments of the command line are kept in.
const NAMESPACE: &str = "argparse.Namespace";

/// The default of a parameter that stands for a function of the module that is run, as far as can be told the one that
/// makes the call: `tf.app.run()` runs its `main`.
const MAIN: &str = "__main__.main";

/// The parameter of `compile` that may be given a name, and the class of what it names.
const OPTIMIZER: &str = "optimizer";
const OPTIMIZERS: &str = "tensorflow.keras.optimizers.Optimizer";

impl Solver<'_> {
    pub(super) fn call_library(&mut self, site: SiteId, external: ExternalId, receiver: Option<ObjectId>) {
        let Some(symbol) = self.externals.get(external).symbol else {
            self.unknown_library_result(site, external, receiver);
            return;
        };
        let arguments = self.arguments(site);
        let called_back = if self.view == super::View::Runs { symbol.calls() } else { &[] };
        for calls in called_back {
            self.call_back(site, symbol, calls, &arguments, receiver);
        }
        if symbol.has(Effect::Compiles)
            && let Some(receiver) = receiver
        {
            self.keep_arguments(receiver, symbol, &arguments);
        }
        if symbol.has(Effect::SetsDefaults) {
            let component = self.modules.components.of(self.site_caller(site).file);
            for &(name, value) in &arguments.keywords {
                let default = self.default(component, name);
                self.flow(value, default);
            }
        }
        if self.library_dictionary(site, external, &arguments) {
            return;
        }
        if symbol.is_class() && !matches!(symbol.returns(), Returns::Partial(_)) {
            let made = self.created(site, external);
            if let Some(made) = made.filter(|_| keeps_what_is_named(self.externals.library(), symbol)) {
                self.keep_named(made, symbol, &arguments);
            }
            return;
        }
        match symbol.returns() {
            Returns::Unknown => self.unknown_result(site),
            Returns::Nothing => {
                if let Some(result) = self.result(site) {
                    self.add_new(result, Object::Literal(Literal::None));
                }
            }
            Returns::Text(text) => {
                if let Some(result) = self.result(site) {
                    let literal = Literal::Str(self.names.id(text));
                    self.add_new(result, Object::Literal(literal));
                }
            }
            Returns::Instance(class) => {
                let class = self.externals.id(class);
                self.created(site, class);
            }
            Returns::Perhaps(class) => {
                let class = self.externals.id(class);
                self.created(site, class);
                self.unknown_result(site);
            }
            Returns::PairWith(class) => {
                if let Some(result) = self.result(site) {
                    let class = self.externals.id(class);
                    let instance = self.instance_made(site, class, result);
                    let pair = self.objects.id(Object::Container(Container::Tuple, result));
                    let [first, second] = [0, 1].map(|index| self.part(pair, Literal::Int(index)));
                    self.add(first, instance);
                    self.unknown(second);
                    self.add(result, pair);
                }
            }
            Returns::Receiver => {
                if let (Some(result), Some(receiver)) = (self.result(site), receiver) {
                    self.add(result, receiver);
                }
            }
            Returns::Argument(name) => {
                if let Some(value) = argument(self, symbol, &arguments, name) {
                    self.flow_result(site, value);
                }
            }
            Returns::Wrapped(name) => match (argument(self, symbol, &arguments, name), self.result(site)) {
                (Some(value), Some(result)) => self.on(value, Use::WrapInto(result)),
                (None, Some(result)) => self.add_new(result, Object::Identity),
                _ => {}
            },
            Returns::Partial(name) => self.partial(site, symbol, &arguments, name),
            Returns::Module(name) => {
                if let (Some(value), Some(result)) =
                    (argument(self, symbol, &arguments, name), self.result(site))
                {
                    self.on(value, Use::ImportInto(self.site_caller(site).file, result));
                }
            }
            Returns::ResultOf(name) => {
                if let Some(callee) = argument(self, symbol, &arguments, name) {
                    let result = self.result(site);
                    let open = Arguments { open: true, ..Arguments::default() };
                    let inner = self.derived(site, open, result, Via::Library);
                    self.on(callee, Use::Call(inner));
                }
            }
            // `@functools.lru_cache`, which is given the function itself, and `@functools.lru_cache()`.
            Returns::Decorator => match (arguments.positional.first(), self.result(site)) {
                (Some(&value), Some(result)) if self.sites[site.0 as usize].decorator => {
                    self.on(value, Use::WrapInto(result));
                }
                (_, Some(result)) => self.add_new(result, Object::Identity),
                (_, None) => {}
            },
        }
    }

    /// A model keeps what it is compiled with, also what stands in `*args` and `**kwargs`.
    fn keep_arguments(&mut self, model: ObjectId, symbol: &Symbol, arguments: &Arguments) {
        for (position, parameter) in (0..).zip(symbol.parameters()) {
            let name = self.names.id(parameter.name());
            if let Some(value) = argument(self, symbol, arguments, parameter.name()) {
                let field = self.field(model, Field::Attribute(name));
                self.flow(value, field);
                if parameter.name() == OPTIMIZER {
                    self.on(value, Use::OptimizerInto(field));
                }
                continue;
            }
            if arguments.merge.is_empty() && arguments.spread.is_empty() {
                continue;
            }
            let field = self.field(model, Field::Attribute(name));
            let keyword = self.objects.id(Object::Literal(Literal::Str(name)));
            for &merge in &arguments.merge {
                self.on(merge, Use::ElementInto(keyword, field));
            }
            if let [spread] = arguments.spread[..]
                && arguments.positional.is_empty()
            {
                let index = self.objects.id(Object::Literal(Literal::Int(position)));
                self.on(spread, Use::ElementInto(index, field));
            }
        }
    }

    /// What an object is given by name and not by a parameter's is an attribute of it.
    fn keep_named(&mut self, made: ObjectId, symbol: &Symbol, arguments: &Arguments) {
        for &(name, value) in &arguments.keywords {
            if symbol.parameter(self.names.text(name)).is_none() {
                self.kept.insert((made, name));
                self.store_attribute(made, name, value);
            }
        }
    }

    /// What a model makes of the name of an optimizer.
    pub(super) fn optimizer_named(&mut self, object: ObjectId, node: NodeId) {
        if matches!(self.objects.get(object), Object::Literal(Literal::Str(_))) {
            let class = self.externals.id(OPTIMIZERS);
            self.add_new(node, Object::Created(class, node));
        }
    }

    /// What the command line's arguments of a component have by default.
    fn default(&mut self, component: FileId, name: Name) -> NodeId {
        if let Some(&node) = self.defaults.get(&(component, name)) {
            return node;
        }
        let node = self.fresh();
        self.defaults.insert((component, name), node);
        node
    }

    /// The same for an object, if it is such arguments, and made in a place that can be told.
    pub(super) fn namespace_default(&mut self, object: ObjectId, name: Name) -> Option<NodeId> {
        let Object::Created(class, made) = self.objects.get(object) else { return None };
        if *self.externals.get(class).path != *NAMESPACE {
            return None;
        }
        let component = match self.values.place(made.index()) {
            Some((file, _)) => self.modules.components.of(file),
            // One that stands for many; the number of any other that is no value's is no file's.
            None => FileId(u32::MAX - made.0),
        };
        Some(self.default(component, name))
    }

    /// What a library made at this call.
    fn created(&mut self, site: SiteId, class: ExternalId) -> Option<ObjectId> {
        let result = self.result(site)?;
        let object = self.instance_made(site, class, result);
        self.add(result, object);
        Some(object)
    }

    fn instance_made(&mut self, site: SiteId, class: ExternalId, result: NodeId) -> ObjectId {
        // Beyond the sites that are told apart, one object stands for all of a component.
        let component = self.modules.components.of(self.site_caller(site).file);
        self.creation(Object::Created(class, NodeId(u32::MAX - component.0)), result)
    }

    /// The table has no row: something was returned; where it may be a class, an instance of it.
    fn unknown_library_result(&mut self, site: SiteId, external: ExternalId, receiver: Option<ObjectId>) {
        if self.sites[site.0 as usize].decorator {
            self.unknown_result(site);
            return;
        }
        let class = if receiver.is_some() { ExternalId::NAMELESS } else { external };
        self.created(site, class);
    }

    fn partial(&mut self, site: SiteId, symbol: &Symbol, arguments: &Arguments, name: &str) {
        let Some(callee) = argument(self, symbol, arguments, name) else { return };
        let Some(result) = self.result(site) else { return };
        let given = Arguments {
            positional: arguments.positional.iter().skip(1).copied().collect(),
            ..arguments.clone()
        };
        self.partials.entry(result).or_insert_with(|| (Vec::new(), given.into())).0.push(callee);
        self.add_new(result, Object::Partial(result));
    }

    fn call_back(
        &mut self,
        site: SiteId,
        symbol: &Symbol,
        calls: &Calls,
        arguments: &Arguments,
        receiver: Option<ObjectId>,
    ) {
        let caller = self.site_caller(site);
        match calls {
            Calls::Argument(name) => {
                // What returns its argument's result calls it with that result, and a partial when it is called.
                if matches!(symbol.returns(), Returns::ResultOf(of) | Returns::Partial(of) if of == name) {
                    return;
                }
                let given = argument(self, symbol, arguments, name).filter(|&own| !self.is_none(own));
                if let Some(callee) = given.or_else(|| self.main(symbol, arguments, name, caller.file)) {
                    let handed = self.handed_on(symbol, name, arguments);
                    let inner = self.derived(site, handed, None, Via::Library);
                    self.on(callee, Use::Call(inner));
                }
            }
            Calls::ArgumentMethod(name, method) => {
                if let Some(value) = argument(self, symbol, arguments, name) {
                    let method = self.names.id(method);
                    self.on(value, Use::Hook(method, caller));
                }
            }
            Calls::Receiver(method) => {
                let Some(receiver) = receiver else { return };
                let own = self.names.id(method);
                match self.objects.get(receiver) {
                    Object::Instance(..) => {}
                    // `model.train_step = train_step`
                    Object::Created(..) if self.stored.contains(&own) => {}
                    _ => return,
                }
                let node = self.attribute_node(receiver, own);
                // A model's `__call__` passes its arguments on to `call`; other hooks get the library's own.
                let passes_on = symbol.last_name() == "__call__";
                let arguments = if passes_on {
                    arguments.clone()
                } else {
                    Arguments { open: true, ..Arguments::default() }
                };
                let result = self.result(site).filter(|_| passes_on);
                let inner = self.derived(site, arguments, result, Via::Library);
                self.on(node, Use::CallOwn(inner));
            }
        }
    }

    /// What a library gives to the argument that it calls: `Thread(target=work, args=(path,))` calls `work(path)`.
    fn handed_on(&mut self, symbol: &Symbol, called: &str, arguments: &Arguments) -> Arguments {
        if !symbol.hands_on(called) {
            return Arguments { open: true, ..Arguments::default() };
        }
        let spread: Vec<NodeId> = argument(self, symbol, arguments, HANDED).into_iter().collect();
        let named = HANDED_BY_NAME.iter().filter_map(|name| argument(self, symbol, arguments, name));
        let merge: Vec<NodeId> = named.collect();
        Arguments { open: spread.is_empty() && merge.is_empty(), spread, merge, ..Arguments::default() }
    }

    /// Whether a value is written as `None`.
    fn is_none(&self, node: NodeId) -> bool {
        self.values.place(node.index()).is_some_and(|(file, index)| {
            let evaluation = self.modules.get(file).value(ValueId::new(index));
            matches!(evaluation.value, Value::Constant(Constant::None))
        })
    }

    /// The function that is called for a parameter that nothing is given for, or `None`.
    fn main(
        &mut self,
        symbol: &Symbol,
        arguments: &Arguments,
        parameter: &str,
        file: FileId,
    ) -> Option<NodeId> {
        let default = symbol.parameter(parameter)?.default().filter(|own| *own == MAIN)?;
        if !(arguments.spread.is_empty() && arguments.merge.is_empty()) {
            return None;
        }
        let (_, name) = default.rsplit_once('.')?;
        let name = self.names.id(name);
        let module = self.objects.id(Object::Module(file));
        Some(self.attribute_node(module, name))
    }

    /// Calls the project's own code only: a hook that the library inherits calls nothing here.
    pub(super) fn call_own(&mut self, site: SiteId, object: ObjectId) {
        if let Object::Bound(..) | Object::Function(_) = self.objects.get(object) {
            self.call(site, object);
        }
    }

    /// The library calls the method `name` of `object` and of its elements.
    pub(super) fn hook(&mut self, object: ObjectId, name: Name, caller: Caller) {
        match self.objects.get(object) {
            Object::Instance(..) => {
                let method = self.attribute_node(object, name);
                let open = Arguments { open: true, ..Arguments::default() };
                let site = self.site(super::Site {
                    caller,
                    call: None,
                    at: None,
                    arguments: open.into(),
                    result: None,
                    decorator: false,
                    raise: false,
                    via: Via::Library,
                });
                self.on(method, Use::CallOwn(site));
            }
            // A list may contain itself.
            Object::Container(..) if self.hooked.insert((object, name, caller)) => {
                let all = self.all(object);
                self.on(all, Use::Hook(name, caller));
            }
            _ => {}
        }
    }

    /// The module that `object` names goes to `node`.
    pub(super) fn import_into(&mut self, object: ObjectId, file: FileId, node: NodeId) {
        let Object::Literal(Literal::Str(name)) = self.objects.get(object) else {
            self.unknown(node);
            return;
        };
        let path = self.names.text(name).to_owned();
        let meaning = match self.modules.imports().resolve(file, 0, &path) {
            Target::External if path.starts_with('.') => Meaning::Unknown,
            Target::External => Meaning::External(path),
            target => Meaning::Module(target),
        };
        self.meaning(meaning, node);
    }

    /// A stand-in for `object` goes to `node`: a new object of the library, or the code itself.
    pub(super) fn wrap(&mut self, object: ObjectId, node: NodeId) {
        match self.objects.get(object) {
            Object::Created(class, _) => self.add_new(node, Object::Created(class, node)),
            _ => self.add(node, object),
        }
    }
}

/// The argument for a parameter of a library's function.
fn argument(solver: &mut Solver<'_>, symbol: &Symbol, arguments: &Arguments, name: &str) -> Option<NodeId> {
    let id = solver.names.id(name);
    if let Some(&(_, node)) = arguments.keywords.iter().find(|(keyword, _)| *keyword == id) {
        return Some(node);
    }
    let parameter = symbol.parameter(name)?;
    match parameter.passing() {
        Passing::Either | Passing::Position | Passing::Rest => {
            arguments.positional.get(symbol.position_of(name)?).copied()
        }
        Passing::Keyword | Passing::RestKeywords => None,
    }
}

/// Whether the objects of a class have as attributes what they are given by names of the caller's choice:
/// `SimpleNamespace(rate=0.1)`, `tf.train.Checkpoint(optimizer=optimizer)`.
fn keeps_what_is_named(library: &Library, class: &Symbol) -> bool {
    class.is_namespace() || library.kind_of_class(class) == Kind::Checkpoint
}
