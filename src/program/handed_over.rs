//! What a program hands to code that nobody knows, which may call it.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::modules::FunctionRef;
use super::object::Object;
use super::solver::Caller;
use crate::semantic::CallId;

/// For each scope the functions that it hands to code that nobody knows, which may call them:
/// `parser.set_defaults(func=train)`, `@app.command()`.
pub type HandedOver = FxHashMap<Caller, Vec<(CallId, FunctionRef)>>;

/// Finds what is handed over.
#[must_use]
pub fn handed_over(facts: &Facts<'_>) -> HandedOver {
    let mut handed = HandedOver::default();
    for edge in &facts.solution.edges {
        let (caller, Some(call)) = (edge.caller, edge.call) else { continue };
        let known = match facts.solution.object(edge.callee) {
            Object::Unknown => false,
            object @ Object::External(_) => facts.symbol(object).is_some(),
            _ => true,
        };
        if known || !facts.concerned.contains(&caller.file) {
            continue;
        }
        for argument in &facts.module(caller.file).call(call).arguments {
            for (_, object) in facts.objects(caller.file, argument.value) {
                if let Object::Function(function) | Object::Bound(_, function) = object {
                    handed.entry(caller).or_default().push((call, function));
                }
            }
        }
    }
    handed
}

impl Facts<'_> {
    /// Whether a call decorates a test: `@parameterized.parameters(1, 2)`. Who runs the module does not run the test, what
    /// collects tests does.
    pub(super) fn is_left_to_tests(
        &self,
        caller: Caller,
        call: Option<CallId>,
        function: FunctionRef,
    ) -> bool {
        call.is_some_and(|call| self.is_decorator(caller.file, call))
            && self.modules.is_test_function(function)
    }

    /// Whether a call decorates a function that other code calls by its name: `@gin.configurable` gives it its arguments and
    /// leaves it to who calls it.
    pub(super) fn is_only_decorated(&self, caller: Caller, call: CallId, function: FunctionRef) -> bool {
        let own = self.code_of(function);
        let is_called = |caller: Caller, call| caller != own && !self.is_decorator(caller.file, call);
        let mut callers = self.incoming(function).iter().filter_map(|edge| Some((edge.caller, edge.call?)));
        self.is_decorator(caller.file, call) && callers.any(|(caller, call)| is_called(caller, call))
    }
}
