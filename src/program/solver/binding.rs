//! Entering functions of the project: arguments to parameters, returned values to the call.

use std::rc::Rc;

use super::{
    Arguments, Field, FileId, FunctionRef, Literal, NodeId, Object, ObjectId, Parameter, SiteId, Solver, Use,
    Value, ValueId,
};
use crate::semantic::{Container, ParameterKind};
use smallvec::{SmallVec, smallvec};

/// How deep conditional results are taken apart to find parameters among them.
const DEPTH: usize = 4;

impl Solver<'_> {
    pub(super) fn enter_function(&mut self, site: SiteId, function: FunctionRef, receiver: Option<ObjectId>) {
        self.called.insert(function);
        self.bring_in(function);
        let own = self.modules.get(function.file).function(function.function);
        let arguments = self.arguments(site);
        // Many receivers share the other arguments of a call, and what it returns.
        if arguments.is_plain() && !self.bound.insert((site, function, receiver.is_some())) {
            if let Some(receiver) = receiver {
                self.bind_receiver(function, &own.parameters, receiver);
                self.return_receiver(site, function, receiver);
            }
            return;
        }
        self.bind_arguments(site, function, &own.parameters, receiver, &arguments);
        let Some(result) = self.result(site) else { return };
        if own.generator {
            let generator = self.generator(function);
            self.add(result, generator);
            return;
        }
        let returns = self.returns_of(function);
        for &value in &returns.0 {
            self.flow(value, result);
        }
        for &index in &returns.1 {
            self.return_argument(site, function, index, receiver, result);
        }
    }

    /// The call gets its receiver back if the function returns its first parameter.
    fn return_receiver(&mut self, site: SiteId, function: FunctionRef, receiver: ObjectId) {
        let own = self.modules.get(function.file).function(function.function);
        if let Some(result) = self.result(site)
            && !own.generator
            && self.returns_of(function).1.contains(&0)
        {
            self.add(result, receiver);
        }
    }

    /// The generator that calling a generator function gives.
    pub(super) fn generator(&mut self, function: FunctionRef) -> ObjectId {
        let own = self.modules.get(function.file).function(function.function);
        let node = self.node(function.file, own.value);
        let generator = self.objects.id(Object::Container(Container::Generator, node));
        if !self.generators.insert(function) {
            return generator;
        }
        let any = self.field(generator, Field::Any);
        for &value in &own.yields {
            let from = self.node(function.file, value);
            self.flow(from, any);
        }
        generator
    }

    pub(super) fn returns_of(&mut self, function: FunctionRef) -> Rc<super::Returned> {
        if let Some(known) = self.returns.get(&function) {
            return Rc::clone(known);
        }
        let module = self.modules.get(function.file);
        let mut values = Vec::new();
        let mut parameters = Vec::new();
        let mut work: Vec<(ValueId, usize)> =
            module.function(function.function).returns.iter().map(|&value| (value, 0)).collect();
        while let Some((value, depth)) = work.pop() {
            match &module.value(value).value {
                Value::Parameter(of, index)
                    if *of == function.function
                        && plain(&module.function(*of).parameters[*index as usize]) =>
                {
                    parameters.push(*index);
                }
                Value::Phi(operands) if depth < DEPTH => {
                    work.extend(operands.iter().map(|&operand| (operand, depth + 1)));
                }
                _ => values.push(self.node(function.file, value)),
            }
        }
        parameters.sort_unstable();
        parameters.dedup();
        let found = Rc::new((values, parameters));
        self.returns.insert(function, Rc::clone(&found));
        found
    }

    /// The function gives its parameter back: the call gets its own argument, not everybody's.
    pub(super) fn return_argument(
        &mut self,
        site: SiteId,
        function: FunctionRef,
        index: u32,
        receiver: Option<ObjectId>,
        result: NodeId,
    ) {
        let own = self.modules.get(function.file).function(function.function);
        let parameter = &own.parameters[index as usize];
        let position = match (index as usize, receiver) {
            (0, Some(receiver)) => {
                self.add(result, receiver);
                return;
            }
            (index, Some(_)) => index - 1,
            (index, None) => index,
        };
        let arguments = self.arguments(site);
        let name = self.name(function.file, parameter.name);
        let keyword = arguments.keywords.iter().find(|(keyword, _)| *keyword == name).map(|&(_, node)| node);
        let positional = arguments.positional.get(position).copied();
        if let Some(argument) =
            positional.filter(|_| parameter.kind != ParameterKind::KeywordOnly).or(keyword)
        {
            self.flow(argument, result);
        } else {
            let value = self.node(function.file, parameter.value);
            self.flow(value, result);
        }
    }

    pub(super) fn bind_arguments(
        &mut self,
        site: SiteId,
        function: FunctionRef,
        parameters: &[Parameter],
        receiver: Option<ObjectId>,
        arguments: &Arguments,
    ) {
        let file = function.file;
        let mut filled: SmallVec<[bool; 16]> = smallvec![false; parameters.len()];
        let variadic = parameters.iter().position(|parameter| parameter.kind == ParameterKind::Variadic);
        let keywords = parameters.iter().position(|parameter| parameter.kind == ParameterKind::Keywords);
        let places: SmallVec<[usize; 16]> =
            (0..parameters.len()).filter(|&index| parameters[index].has_position()).collect();
        let mut next = 0;
        let mut extra = 0;
        if let Some(receiver) = receiver {
            self.bind_receiver(function, parameters, receiver);
            if let Some(&index) = places.first() {
                filled[index] = true;
                next = 1;
            } else if variadic.is_some() {
                extra = 1;
            }
        }
        for &argument in &arguments.positional {
            if let Some(&index) = places.get(next) {
                filled[index] = true;
                let to = self.node(file, parameters[index].value);
                self.flow(argument, to);
                next += 1;
            } else if let Some(variadic) = variadic {
                let container = self.rest(file, &parameters[variadic], Container::Tuple);
                let part = self.part(container, Literal::Int(extra));
                self.flow(argument, part);
                extra += 1;
            }
        }
        for &(name, argument) in &arguments.keywords {
            let named = (0..parameters.len()).find(|&index| {
                matches!(parameters[index].kind, ParameterKind::Ordinary | ParameterKind::KeywordOnly)
                    && self.name(file, parameters[index].name) == name
            });
            if let Some(index) = named {
                filled[index] = true;
                let to = self.node(file, parameters[index].value);
                self.flow(argument, to);
            } else if let Some(keywords) = keywords {
                let container = self.rest(file, &parameters[keywords], Container::Dict);
                let part = self.part(container, Literal::Str(name));
                self.flow(argument, part);
                let keys = self.field(container, Field::Keys);
                let key = self.objects.id(Object::Literal(Literal::Str(name)));
                self.add(keys, key);
            }
        }
        self.bind_rest(site, function, parameters, &filled, arguments);
        // A parameter that this call leaves out has its default.
        for (index, parameter) in parameters.iter().enumerate() {
            let to = self.node(file, parameter.value);
            match parameter.kind {
                ParameterKind::Variadic => {
                    self.rest(file, parameter, Container::Tuple);
                }
                ParameterKind::Keywords => {
                    self.rest(file, parameter, Container::Dict);
                }
                _ if filled[index] => {}
                _ => {
                    if let Some(default) = parameter.default
                        && self.defaulted.insert(to)
                    {
                        let default = self.node(file, default);
                        self.flow(default, to);
                    }
                    if arguments.open {
                        self.unknown(to);
                    }
                }
            }
        }
    }

    /// Binds the receiver to the first parameter that takes arguments by position.
    fn bind_receiver(&mut self, function: FunctionRef, parameters: &[Parameter], receiver: ObjectId) {
        let file = function.file;
        let first = parameters.iter().find(|parameter| parameter.has_position());
        let variadic = || parameters.iter().find(|parameter| parameter.kind == ParameterKind::Variadic);
        if let Some(first) = first {
            let node = self.node(file, first.value);
            self.add(node, receiver);
        } else if let Some(variadic) = variadic() {
            let container = self.rest(file, variadic, Container::Tuple);
            let part = self.part(container, Literal::Int(0));
            self.add(part, receiver);
        }
    }

    /// The container that a parameter like `*args` is.
    fn rest(&mut self, file: FileId, parameter: &Parameter, kind: Container) -> ObjectId {
        let node = self.node(file, parameter.value);
        let container = self.objects.id(Object::Container(kind, node));
        self.add(node, container);
        container
    }

    /// Binds `*args` and `**kwargs` to the parameters that are still free.
    pub(super) fn bind_rest(
        &mut self,
        site: SiteId,
        function: FunctionRef,
        parameters: &[Parameter],
        filled: &[bool],
        arguments: &Arguments,
    ) {
        let file = function.file;
        let caller = self.site_caller(site);
        let mut position: u32 = 0;
        for (index, parameter) in parameters.iter().enumerate() {
            let value = self.node(file, parameter.value);
            let is_free = !filled[index];
            match parameter.kind {
                ParameterKind::PositionalOnly | ParameterKind::Ordinary => {
                    if is_free {
                        for &spread in &arguments.spread {
                            // The first `*args` fills the free parameters in order.
                            let element = self.objects.id(Object::Literal(Literal::Int(position.into())));
                            if arguments.spread.len() == 1 {
                                self.on(spread, Use::ElementInto(element, value));
                            } else {
                                self.on(spread, Use::IterateInto(value, caller));
                            }
                        }
                        position += 1;
                    }
                }
                ParameterKind::Variadic => {
                    let container = self.objects.id(Object::Container(Container::Tuple, value));
                    for &spread in &arguments.spread {
                        if arguments.spread.len() == 1 && arguments.positional.is_empty() {
                            self.on(spread, Use::RestInto(position, container));
                        } else {
                            let any = self.field(container, Field::Any);
                            self.on(spread, Use::IterateInto(any, caller));
                        }
                    }
                }
                ParameterKind::KeywordOnly => {}
                ParameterKind::Keywords => {
                    let container = self.objects.id(Object::Container(Container::Dict, value));
                    for &merge in &arguments.merge {
                        self.on(merge, Use::MergeInto(container));
                    }
                }
            }
            if is_free && matches!(parameter.kind, ParameterKind::Ordinary | ParameterKind::KeywordOnly) {
                let name = self.name(file, parameter.name);
                let key = self.objects.id(Object::Literal(Literal::Str(name)));
                for &merge in &arguments.merge {
                    self.on(merge, Use::ElementInto(key, value));
                }
            }
        }
    }

    /// The element of the container `object` under the key goes to `node`; of anything else, whatever it has.
    pub(super) fn element_into(&mut self, object: ObjectId, key: ObjectId, node: NodeId) {
        match (self.objects.get(object), self.objects.get(key)) {
            (
                Object::Container(Container::Set | Container::Generator, _),
                Object::Literal(Literal::Int(_)),
            ) => {
                let all = self.all(object);
                self.flow(all, node);
            }
            (Object::Container(..), Object::Literal(literal)) => {
                self.container_item(object, Some(literal), node);
            }
            (Object::Unknown | Object::Created(..), _) => self.unknown(node),
            _ => {}
        }
    }

    /// The elements of `object` from `position` on go to the tuple `container`.
    pub(super) fn rest_into(&mut self, object: ObjectId, position: u32, container: ObjectId) {
        match self.objects.get(object) {
            Object::Container(Container::List | Container::Tuple, _) if object != container => {
                self.slice_into(object, position.into(), None, container);
            }
            Object::Container(..) => {
                let (all, any) = (self.all(object), self.field(container, Field::Any));
                self.flow(all, any);
            }
            Object::Unknown | Object::Created(..) => {
                let any = self.field(container, Field::Any);
                self.unknown(any);
            }
            _ => {}
        }
    }
}

fn plain(parameter: &Parameter) -> bool {
    !matches!(parameter.kind, ParameterKind::Variadic | ParameterKind::Keywords)
}
