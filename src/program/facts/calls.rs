//! Who calls whom, by call, by scope and by function.

use super::super::call_graph::is_lost;
use super::super::influence::Place;
use super::super::modules::{FunctionRef, Modules};
use super::super::numbering::{Lists, Numbering};
use super::super::object::{Literal, Object, ObjectId};
use super::super::solver::{CallEdge, Caller, Solution, Via};
use super::Facts;
use crate::api::{Effect, EffectSet, Kind, Symbol};
use crate::finding::Location;
use crate::project::FileId;
use crate::semantic::{
    Argument, BlockId, Call, CallId, Constant, Module, ParameterKind, Passing, ScopeId, ScopeKind, Value,
    ValueId,
};

/// Where the edges of the call graph are that concern a scope, a call or a function.
#[derive(Debug)]
pub(super) struct CallIndex {
    pub(super) scopes: Numbering,
    calls: Numbering,
    functions: Numbering,
    /// Where the edges of each scope begin among the solution's, which are sorted by scope and call.
    outgoing: Vec<u32>,
    /// Where those of each call begin and end.
    of_calls: Vec<(u32, u32)>,
    /// Those to each function.
    incoming: Lists<CallEdge>,
    /// The calls of library functions that have effects, sorted.
    effective: Vec<(FileId, CallId, EffectSet)>,
    /// The functions that the language calls where something is evaluated, sorted.
    implied: Vec<(FileId, ValueId, FunctionRef)>,
    /// The same where the language asks for the elements of what a call has made: `list(map(train, rates))`.
    mapped: Vec<(FileId, ValueId, FunctionRef)>,
}

/// The parameter of `fit` for whether it draws an order.
const SHUFFLE: &str = "shuffle";

/// The package of Python's own functions.
const BUILTINS: &str = "builtins";

/// What saves a file from the network, and returns its path and what the server tells.
const DOWNLOAD: &str = "urllib.request.urlretrieve";

impl CallIndex {
    pub(super) fn new(modules: &Modules, solution: &Solution<'_>) -> Self {
        let scopes = Numbering::new(modules.list.iter().map(|module| module.scopes.len()));
        let calls = Numbering::new(modules.list.iter().map(|module| module.calls.len()));
        let functions = Numbering::new(modules.list.iter().map(|module| module.functions.len()));
        let mut outgoing = Vec::with_capacity(scopes.count() + 1);
        let mut of_calls = vec![(0, 0); calls.count()];
        let mut effective: Vec<(FileId, CallId, EffectSet)> = Vec::new();
        let mut implied: Vec<(FileId, ValueId, FunctionRef)> = Vec::new();
        let mut mapped: Vec<(FileId, ValueId, FunctionRef)> = Vec::new();
        for (index, edge) in (0..).zip(&solution.edges) {
            let scope = scopes.of(edge.caller.file, edge.caller.scope.index());
            while outgoing.len() <= scope {
                outgoing.push(index);
            }
            let Some(call) = edge.call else {
                if let (Some(at), Object::Function(function)) = (edge.at, solution.object(edge.callee)) {
                    let file = edge.caller.file;
                    let made = || matches!(modules.get(file).value(at).value, Value::Call(_));
                    match edge.via {
                        Via::Operator => implied.push((file, at, function)),
                        Via::Protocol if made() => mapped.push((file, at, function)),
                        _ => {}
                    }
                }
                continue;
            };
            let own = &mut of_calls[calls.of(edge.caller.file, call.index())];
            *own = (if own.1 == 0 { index } else { own.0 }, index + 1);
            if let Object::External(external) = solution.object(edge.callee)
                && let Some(symbol) = solution.externals.get(external).symbol
                && !symbol.effects().is_empty()
            {
                effective.push((edge.caller.file, call, symbol.effects()));
            }
        }
        let end = u32::try_from(solution.edges.len()).expect("fewer calls than 2^32");
        outgoing.resize(scopes.count() + 1, end);
        implied.sort_unstable();
        mapped.sort_unstable();
        effective.sort_unstable_by_key(|&(file, call, _)| (file, call));
        effective.dedup_by(|next, first| {
            let is_same = (next.0, next.1) == (first.0, first.1);
            if is_same {
                first.2 = first.2.union(next.2);
            }
            is_same
        });
        let to_functions = solution.edges.iter().filter_map(|edge| match solution.object(edge.callee) {
            Object::Function(function) => {
                Some((functions.of(function.file, function.function.index()), *edge))
            }
            _ => None,
        });
        let incoming = Lists::group(functions.count(), to_functions);
        Self { scopes, calls, functions, outgoing, of_calls, incoming, effective, implied, mapped }
    }
}

impl<'a> Facts<'a> {
    /// The calls, in the training programs' files and in their order, of library functions with an effect.
    pub fn calls_with(&self, effect: Effect) -> impl Iterator<Item = (FileId, CallId)> + '_ {
        let calls = self.calls.effective.iter().filter(move |(_, _, effects)| effects.contains(effect));
        calls.map(|&(file, call, _)| (file, call)).filter(|(file, _)| self.concerned.contains(file))
    }

    /// How the scopes of all files are numbered.
    pub(in super::super) fn scope_numbers(&self) -> &Numbering {
        &self.calls.scopes
    }

    /// What a call expression calls.
    #[must_use]
    pub fn callees(&self, file: FileId, call: CallId) -> &[CallEdge] {
        let (start, end) = self.calls.of_calls[self.calls.calls.of(file, call.index())];
        &self.solution.edges[start as usize..end as usize]
    }

    /// Where a file's code makes what calls functions of the project for each element that the same code asks for:
    /// `list(map(train, rates))`.
    #[must_use]
    pub fn mapped_calls(&self, file: FileId) -> &[(FileId, ValueId, FunctionRef)] {
        let mapped = &self.calls.mapped;
        let start = mapped.partition_point(|own| own.0 < file);
        &mapped[start..start + mapped[start..].partition_point(|own| own.0 == file)]
    }

    /// Where a file's code evaluates what makes the language call functions of the project: the getter of a property, the
    /// method behind a subscript, an operator, `with` or `len`.
    #[must_use]
    pub fn implied_calls(&self, file: FileId) -> &[(FileId, ValueId, FunctionRef)] {
        let implied = &self.calls.implied;
        let start = implied.partition_point(|own| own.0 < file);
        &implied[start..start + implied[start..].partition_point(|own| own.0 == file)]
    }

    /// The functions of the project that the language calls where a value is evaluated.
    pub fn implied_functions(&self, (file, value): Place) -> impl Iterator<Item = FunctionRef> + '_ {
        let own = self.implied_calls(file);
        let start = own.partition_point(|own| own.1 < value);
        own[start..].iter().take_while(move |own| own.1 == value).map(|own| own.2)
    }

    /// Whether value flow has lost track of what a call calls: most of its edges are wrong.
    #[must_use]
    pub fn is_lost(&self, file: FileId, call: CallId) -> bool {
        is_lost(self.modules, &self.solution, self.callees(file, call))
    }

    /// What a scope's own code calls.
    #[must_use]
    pub fn outgoing(&self, caller: Caller) -> &[CallEdge] {
        let scope = self.calls.scopes.of(caller.file, caller.scope.index());
        let (start, end) = (self.calls.outgoing[scope], self.calls.outgoing[scope + 1]);
        &self.solution.edges[start as usize..end as usize]
    }

    /// Who calls a function.
    #[must_use]
    pub fn incoming(&self, function: FunctionRef) -> &[CallEdge] {
        self.calls.incoming.of(self.calls.functions.of(function.file, function.function.index()))
    }

    /// The library symbols that a call may call.
    pub fn called_symbols(&self, file: FileId, call: CallId) -> impl Iterator<Item = &'a Symbol> + '_ {
        self.callees(file, call).iter().filter_map(|edge| match self.solution.object(edge.callee) {
            object @ Object::External(_) => self.symbol(object),
            _ => None,
        })
    }

    /// Whether a call may change the variables that it is made on. Those of a model are no objects that the value flow
    /// knows.
    #[must_use]
    pub fn may_update(&self, file: FileId, call: CallId) -> bool {
        let callees = self.callees(file, call);
        callees.is_empty()
            || callees.iter().any(|edge| self.solution.object(edge.callee) == Object::Unknown)
            || self.called_symbols(file, call).any(|symbol| symbol.has(Effect::UpdatesState))
    }

    /// Whether a call is of one of Python's own functions.
    pub(crate) fn calls_builtin(&self, file: FileId, id: CallId, name: &str) -> bool {
        let callees = self.callees(file, id).iter().map(|edge| self.solution.object(edge.callee));
        // `six.moves.range`
        let is_named_otherwise = |callee| self.symbol(callee).is_some_and(|own| own.package() == BUILTINS);
        let mut own = callees
            .filter(|&callee| match callee {
                Object::Builtin(_) => true,
                Object::External(_) => is_named_otherwise(callee),
                _ => false,
            })
            .peekable();
        // Most calls are of nothing that Python has itself.
        let wanted = own.peek().and_then(|_| self.library.lookup(name));
        wanted.is_some() && own.any(|callee| self.symbol(callee) == wanted)
    }

    /// The functions of the project that a call may call.
    pub fn called_functions(&self, file: FileId, call: CallId) -> impl Iterator<Item = FunctionRef> + '_ {
        self.callees(file, call).iter().filter_map(|edge| match self.solution.object(edge.callee) {
            Object::Function(function) => Some(function),
            _ => None,
        })
    }

    /// Whether a call is of a symbol for which something holds, or of what may be a method of a class for which it does, of an
    /// object that nobody knows: `tf.trainable_variables()[0].assign(value)`.
    pub(crate) fn may_call(
        &self,
        file: FileId,
        id: CallId,
        class: &str,
        holds: impl Fn(&Symbol) -> bool,
    ) -> bool {
        if self.called_symbols(file, id).any(&holds) {
            return true;
        }
        let module = self.module(file);
        let Value::Attribute { base, name, .. } = module.value(module.call(id).callee).value else {
            return false;
        };
        let method = |class: &Symbol| self.library.member(class, module.names.text(name)).is_some_and(&holds);
        // What an attribute of a library's class gives: `self.model` of a callback.
        let is_of_member = |(_, own): (ObjectId, Object)| {
            let given = self.symbol(own).filter(|_| matches!(own, Object::Member(..)));
            given.and_then(|own| self.library.returned_class(own)).is_some_and(method)
        };
        self.is_unknown(file, base) && self.library.lookup(class).is_some_and(method)
            || self.objects(file, base).any(is_of_member)
    }

    /// Whether a call of `fit` goes through arrays in an order that it draws itself; a dataset has its own.
    pub(crate) fn fits_in_drawn_order(&self, file: FileId, id: CallId) -> bool {
        let call = self.module(file).call(id);
        let is_off = |own: &Argument| {
            self.objects(file, own.value).any(|(_, own)| own == Object::Literal(Literal::Bool(false)))
        };
        let is_dataset = |own: &Argument| self.may_be(file, own.value, Kind::Dataset);
        let draws = |symbol: &Symbol| {
            symbol.has(Effect::Trains)
                && symbol.parameter(SHUFFLE).is_some()
                && !self.argument(file, call, symbol, SHUFFLE).is_some_and(is_off)
        };
        !call.arguments.first().is_some_and(is_dataset) && self.called_symbols(file, id).any(draws)
    }

    /// The value that a method call is made on: `model` in `model.fit(x)`.
    #[must_use]
    pub fn receiver(&self, file: FileId, call: &Call) -> Option<ValueId> {
        match self.module(file).value(call.callee).value {
            Value::Attribute { base, .. } => Some(base),
            _ => None,
        }
    }

    /// The argument for a parameter of a library's symbol, by name or position.
    #[must_use]
    pub fn argument<'c>(
        &self,
        file: FileId,
        call: &'c Call,
        symbol: &Symbol,
        parameter: &str,
    ) -> Option<&'c crate::semantic::Argument> {
        let names = &self.module(file).names;
        let keyword = call.arguments.iter().find(
            |argument| matches!(argument.passing, Passing::Keyword(name) if names.text(name) == parameter),
        );
        keyword.or_else(|| {
            let position = symbol.position_of(parameter)?;
            let positional =
                call.arguments.iter().take_while(|argument| argument.passing == Passing::Positional);
            positional.clone().nth(position)
        })
    }

    /// The argument of a call for a parameter of a plain function of the project, or its default, as far as the call
    /// tells.
    #[must_use]
    pub fn passed_for(
        &self,
        file: FileId,
        call: CallId,
        function: FunctionRef,
        position: u32,
    ) -> Option<(FileId, ValueId)> {
        let call = self.module(file).call(call);
        let is_plain =
            |(_, callee): (ObjectId, Object)| matches!(callee, Object::Function(own) if own == function);
        let is_alone = self.objects(file, call.callee).all(is_plain);
        is_alone.then(|| self.bound(file, call, function, position as usize, 0)).flatten()
    }

    /// The same of a call that makes an object, for a parameter of its class's `__init__`; the object is the one at position 0.
    #[must_use]
    pub fn passed_to_initialiser(
        &self,
        file: FileId,
        call: CallId,
        initialiser: FunctionRef,
        position: usize,
    ) -> Option<(FileId, ValueId)> {
        self.bound(file, self.module(file).call(call), initialiser, position, 1)
    }

    /// What a call that enters a function binds to its parameter at a position: an argument or the default, as far as the
    /// call tells. So many `receivers` come before the parameters that the arguments are for.
    pub(in super::super) fn bound(
        &self,
        file: FileId,
        call: &Call,
        function: FunctionRef,
        position: usize,
        receivers: usize,
    ) -> Option<(FileId, ValueId)> {
        let target = self.module(function.file);
        let parameter = target.function(function.function).parameters.get(position)?;
        let (name, names) = (target.names.text(parameter.name), &self.module(file).names);
        let arguments = call.arguments.iter();
        let is_named = |passing| matches!(passing, Passing::Keyword(keyword) if names.text(keyword) == name);
        let named = || arguments.clone().find(|own| is_named(own.passing));
        let mut positional = arguments.clone().take_while(|own| own.passing == Passing::Positional);
        let mut in_place = || positional.nth(position.checked_sub(receivers)?);
        let given = match parameter.kind {
            ParameterKind::PositionalOnly => in_place(),
            ParameterKind::Ordinary => named().or_else(in_place),
            ParameterKind::KeywordOnly => named(),
            ParameterKind::Variadic | ParameterKind::Keywords => None,
        };
        let own = given.map(|argument| (file, argument.value));
        let is_left_out = || !call.arguments.iter().any(|argument| self.may_bind(file, argument, name));
        let default = || parameter.default.filter(|_| is_left_out());
        own.or_else(|| default().map(|default| (function.file, default)))
    }

    /// Whether a call is one of, or is given, a model or what keeps its weights in files.
    #[must_use]
    pub fn concerns_weights(&self, file: FileId, call: &Call) -> bool {
        let keeps_weights = |value| {
            [Kind::Model, Kind::Estimator, Kind::Checkpoint, Kind::CheckpointManager, Kind::Saver]
                .into_iter()
                .any(|kind| self.may_be(file, value, kind))
        };
        self.receiver(file, call).is_some_and(keeps_weights)
            || call.arguments.iter().any(|argument| keeps_weights(argument.value))
    }

    /// The function or lambda whose code a scope is.
    #[must_use]
    pub fn function_of(&self, caller: Caller) -> Option<FunctionRef> {
        match self.module(caller.file).scope(caller.scope).kind {
            ScopeKind::Function(function) | ScopeKind::Lambda(function) => {
                Some(FunctionRef { file: caller.file, function })
            }
            _ => None,
        }
    }

    /// The scope of a function's code.
    #[must_use]
    pub fn code_of(&self, function: FunctionRef) -> Caller {
        let scope = self.module(function.file).function(function.function).scope;
        Caller { file: function.file, scope }
    }

    /// The code that stands at a place.
    #[must_use]
    pub fn code_at(&self, at: Location) -> Caller {
        let module = self.module(at.file);
        let range = at.text_range();
        let around = module.scopes.iter().enumerate().filter(|(_, scope)| scope.range.contains_range(range));
        let innermost = around.min_by_key(|(_, scope)| scope.range.len());
        let scope = innermost.map_or(Module::TOP, |(index, _)| ScopeId::new(index));
        Caller { file: at.file, scope: module.code_scope(scope) }
    }

    /// The block of a scope that the code at a place stands in: of its outermost call, or its first name, or of the statement around.
    #[must_use]
    pub fn block_at(&self, caller: Caller, at: Location) -> Option<BlockId> {
        let module = self.module(caller.file);
        let range = at.text_range();
        let calls =
            module.calls.iter().filter(|own| own.scope == caller.scope && range.contains_range(own.range));
        let mut uses = module.uses.iter();
        let mut first_use = || uses.find(|own| own.scope == caller.scope && range.contains_range(own.range));
        let around = || {
            let statements = module.statements.iter().filter(|own| own.scope == caller.scope);
            let innermost =
                statements.filter(|own| own.range.contains_range(range)).min_by_key(|own| own.range.len());
            innermost.map(|own| own.block)
        };
        let in_it = calls.max_by_key(|own| own.range.len()).map(|own| own.block);
        in_it.or_else(|| first_use().map(|own| own.block)).or_else(around)
    }

    /// The edges along which a run of the program comes from a scope to functions of the project.
    pub fn reached_functions(&self, caller: Caller) -> impl Iterator<Item = (CallEdge, FunctionRef)> + '_ {
        self.outgoing(caller).iter().filter_map(|edge| match self.solution.object(edge.callee) {
            Object::Function(function) => Some((*edge, function)),
            _ => None,
        })
    }

    /// The path that a value is given back as which a download was told: `path` of `path, _ = urlretrieve(url, path)`.
    #[must_use]
    pub fn downloaded_path(&self, file: FileId, value: ValueId) -> Option<&Argument> {
        let module = self.module(file);
        let download = match module.value(value).value {
            Value::Unpack { base, index: Some(0), .. } => base,
            Value::Item { base, key, .. }
                if matches!(module.value(key).value, Value::Constant(Constant::Int(0))) =>
            {
                base
            }
            _ => return None,
        };
        let Value::Call(id) = module.value(download).value else { return None };
        self.told_to_download(file, id)
    }

    /// The path that a call is told to download a file to.
    #[must_use]
    pub fn told_to_download(&self, file: FileId, id: CallId) -> Option<&Argument> {
        let symbol = self.library.lookup(DOWNLOAD)?;
        let mut symbols = self.called_symbols(file, id);
        let is_download = symbols.next() == Some(symbol) && symbols.next().is_none();
        is_download.then(|| self.argument(file, self.module(file).call(id), symbol, "filename")).flatten()
    }

    /// Whether an edge is a library calling back.
    #[must_use]
    pub fn is_call_back(edge: &CallEdge) -> bool {
        edge.via == Via::Library
    }

    /// The call that runs an edge's callee then and there, in the thread that makes it: of the callee itself, or of a
    /// library that runs the program with it, `absl.app.run(main)`.
    #[must_use]
    pub fn call_in_place(&self, edge: &CallEdge) -> Option<CallId> {
        edge.call.filter(|&call| {
            let runs_program =
                || self.called_symbols(edge.caller.file, call).all(|symbol| symbol.has(Effect::Exits));
            !Self::is_call_back(edge) || runs_program()
        })
    }
}
