//! Calls that never come to some code of the function that they enter, because a constant that they pass decides
//! against it: `build(training=False)` where `build` begins with `if not training: return`.

use rustc_hash::FxHashSet;

use super::conditions::reaches;
use super::facts::Facts;
use super::influence::Place;
use super::modules::FunctionRef;
use super::object::{Literal, Object};
use super::programs::Program;
use super::solver::{CallEdge, Caller};
use crate::project::FileId;
use crate::semantic::{
    BlockId, BranchKind, BuiltinType, Call, CallId, Constant, Method, Operator, Value, ValueId,
};

impl Facts<'_> {
    /// Whether the constants that the calls of a program pass keep all of them from a call of the function that they
    /// enter.
    #[must_use]
    pub fn is_ruled_out(&self, program: &Program, file: FileId, call: CallId) -> bool {
        let data = self.module(file).call(call);
        let Some(function) = self.function_of(Caller { file, scope: data.scope }) else { return false };
        let edges = self.incoming(function).iter().filter(|edge| self.is_run(program, edge));
        self.all_rule_out(edges, function, data.block)
    }

    /// Whether the constants that a call passes keep it from a block of the function that it enters.
    #[must_use]
    pub fn rules_out(&self, edge: &CallEdge, function: FunctionRef, block: BlockId) -> bool {
        let code = self.code_of(function);
        let flow = &self.module(code.file).scope(code.scope).flow;
        let Some(call) = edge.call.filter(|_| !Self::is_call_back(edge)) else { return false };
        let call = self.module(edge.caller.file).call(call);
        let Some(entry) = self.entry(edge, function, call) else { return false };
        self.conditions(code, block).into_iter().any(|condition| {
            let fork = flow.blocks.iter().find(|fork| fork.branch == Some(condition.branch));
            let Some(&[then, otherwise]) = fork.map(|fork| &fork.successors[..]) else { return false };
            let truth = match (condition.branch.kind, condition.branch.condition) {
                (BranchKind::If, Some(value)) => entry.truth(value, call),
                _ => None,
            };
            truth.is_some_and(|truth| !reaches(flow, if truth { then } else { otherwise }, block))
        })
    }

    /// Whether the constants that all calls of a function pass keep them from a block of it.
    #[must_use]
    pub fn is_never_entered(&self, caller: Caller, block: BlockId) -> bool {
        let Some(function) = self.function_of(caller) else { return false };
        self.all_rule_out(self.incoming(function).iter(), function, block)
    }

    /// Whether there are calls of a function, and all of them keep themselves from a block of it.
    fn all_rule_out<'e>(
        &self,
        edges: impl Iterator<Item = &'e CallEdge>,
        function: FunctionRef,
        block: BlockId,
    ) -> bool {
        let mut edges = edges.peekable();
        edges.peek().is_some() && edges.all(|edge| self.rules_out(edge, function, block))
    }

    /// Whether a program comes to one of some calls, on ways that the constants don't rule out which its calls pass.
    #[must_use]
    pub fn may_reach(&self, program: &Program, calls: Vec<(FileId, CallId)>) -> bool {
        let mut work = calls;
        let mut seen: FxHashSet<Caller> = FxHashSet::default();
        while let Some((file, call)) = work.pop() {
            let caller = Caller { file, scope: self.module(file).call(call).scope };
            if seen.contains(&caller) || self.is_ruled_out(program, file, call) {
                continue;
            }
            seen.insert(caller);
            let Some(function) = self.function_of(caller) else { return true };
            let mut edges =
                self.incoming(function).iter().filter(|edge| self.is_run(program, edge)).peekable();
            // What no code of the program calls by an expression is called by a library, or by the language.
            if edges.peek().is_none() {
                return true;
            }
            for edge in edges {
                match edge.call {
                    Some(call) => work.push((edge.caller.file, call)),
                    None => return true,
                }
            }
        }
        false
    }

    /// Whether the calls of a program pass nothing but `None` for a value that is a parameter of a function.
    #[must_use]
    pub fn is_passed_nothing(&self, program: &Program, (file, value): Place) -> bool {
        let Value::Parameter(function, _) = self.module(file).value(value).value else { return false };
        let function = FunctionRef { file, function };
        let mut edges = self.incoming(function).iter().filter(|edge| self.is_run(program, edge)).peekable();
        edges.peek().is_some()
            && edges.all(|edge| {
                let given = self.given_by(edge, function, value);
                given.is_some_and(|(file, value)| self.is_none(file, value))
            })
    }

    /// What a call passes for a parameter of the function that it enters, by the parameter's value; its default, if it
    /// passes nothing.
    #[must_use]
    pub fn given_by(&self, edge: &CallEdge, function: FunctionRef, parameter: ValueId) -> Option<Place> {
        let call = edge.call.filter(|_| !Self::is_call_back(edge))?;
        let call = self.module(edge.caller.file).call(call);
        self.entry(edge, function, call)?.given(parameter, call)
    }

    /// The truth of a value that is nothing but constants, all true or all false.
    #[must_use]
    pub fn truth(&self, file: FileId, value: ValueId) -> Option<bool> {
        if let Value::Constant(constant) = self.module(file).value(value).value {
            return match constant {
                Constant::Bool(truth) => Some(truth),
                Constant::Int(integer) => Some(integer != 0),
                Constant::None => Some(false),
                Constant::Str(name) => Some(!self.module(file).names.text(name).is_empty()),
            };
        }
        let mut truths = self.objects(file, value).map(|(_, object)| match object {
            Object::Literal(Literal::Bool(truth)) => Some(truth),
            Object::Literal(Literal::Int(integer)) => Some(integer != 0),
            Object::Literal(Literal::None) => Some(false),
            Object::Literal(Literal::Str(name)) => Some(!self.solution.names.text(name).is_empty()),
            _ => None,
        });
        let first = truths.next()??;
        truths.all(|truth| truth == Some(first)).then_some(first)
    }

    /// Whether a value is `None`, if that is known: what is read from somewhere may be missing there.
    fn is_nothing(&self, file: FileId, value: ValueId) -> Option<bool> {
        if self.is_none(file, value) {
            return Some(true);
        }
        let is_written_out = match self.module(file).value(value).value {
            Value::Constant(_) | Value::Display(..) | Value::Function(_) | Value::Class(_) => true,
            Value::Instance(builtin) => builtin != BuiltinType::None,
            _ => false,
        };
        is_written_out.then_some(false)
    }

    /// The string or the integer that a value is, and nothing else.
    fn constant(&self, (file, value): Place) -> Option<Result<&str, i64>> {
        let module = self.module(file);
        match module.value(value).value {
            Value::Constant(Constant::Str(name)) => return Some(Ok(module.names.text(name))),
            Value::Constant(Constant::Int(integer)) => return Some(Err(integer)),
            _ => {}
        }
        let mut objects = self.objects(file, value).map(|(_, object)| object);
        match objects.next().filter(|_| objects.next().is_none())? {
            Object::Literal(Literal::Str(name)) => Some(Ok(self.solution.names.text(name))),
            Object::Literal(Literal::Int(integer)) => Some(Err(integer)),
            _ => None,
        }
    }

    fn entry(&self, edge: &CallEdge, function: FunctionRef, call: &Call) -> Option<Entry<'_, '_>> {
        // A method gets its receiver beside the arguments; a partial application has more of them.
        let mut callees = self.objects(edge.caller.file, call.callee).map(|(_, callee)| match callee {
            Object::Function(own) => (own == function).then_some(0),
            Object::Bound(..) | Object::Class(_) | Object::Instance(..) => Some(1),
            _ => None,
        });
        let receivers = callees.next()??;
        let is_alike = callees.all(|own| own == Some(receivers));
        is_alike.then_some(Entry { facts: self, file: edge.caller.file, function, receivers })
    }
}

/// A function as a call in a file enters it.
struct Entry<'f, 'a> {
    facts: &'f Facts<'a>,
    file: FileId,
    function: FunctionRef,
    /// How many parameters come before those that the arguments are for.
    receivers: usize,
}

impl Entry<'_, '_> {
    /// Whether a value of the function is true when the call enters it, if the call alone decides that.
    fn truth(&self, value: ValueId, call: &Call) -> Option<bool> {
        let module = self.facts.module(self.function.file);
        if let Value::Operator { operator: Operator::Not, left, .. } = module.value(value).value {
            return Some(!self.truth(left, call)?);
        }
        if let Value::Operator { operator: Operator::Compare(method), left, right } =
            module.value(value).value
        {
            let wanted = match method {
                Method::EQ => true,
                Method::NE => false,
                _ => return None,
            };
            let own = self.facts.constant(self.given(left, call)?)?;
            let other = self.facts.constant((self.function.file, right))?;
            return Some((own == other) == wanted);
        }
        if let Some(test) = module.none_test(value) {
            let (file, given) = self.given(test.value, call)?;
            return Some(self.facts.is_nothing(file, given)? == test.if_none);
        }
        if let Value::Phi(parts) = &module.value(value).value {
            // What decides the chain decides it alone; otherwise all have to be known.
            let decides = module.junction(module.value(value).range)? == BranchKind::Or;
            let mut truths = parts.iter().map(|&part| self.truth(part, call));
            let is_decided = truths.clone().any(|own| own == Some(decides));
            return (is_decided || truths.all(|own| own.is_some())).then_some(decides == is_decided);
        }
        let (file, given) = self.given(value, call)?;
        self.facts.truth(file, given)
    }

    /// What the call passes for a value that is a parameter of the function.
    fn given(&self, value: ValueId, call: &Call) -> Option<(FileId, ValueId)> {
        let position = match self.facts.module(self.function.file).value(value).value {
            Value::Parameter(function, position) if function == self.function.function => position as usize,
            _ => return None,
        };
        self.facts.bound(self.file, call, self.function, position, self.receivers)
    }
}
