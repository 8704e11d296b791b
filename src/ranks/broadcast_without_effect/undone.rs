//! A broadcast of all variables of a session that initialises them again behind it: each rank has random ones of its own then.

use super::{Broadcast, Reason};
use crate::api::Kind;
use crate::checks::Context;
use crate::finding::Location;
use crate::program::{Caller, Facts};
use crate::project::FileId;
use crate::semantic::{CallId, ValueId};
use crate::syntax::TextRange;

/// The hook that broadcasts when a session is made.
const HOOK: &str = "horovod.tensorflow.BroadcastGlobalVariablesHook";

/// The parameter of monitored sessions for their hooks.
const HOOKS: &str = "hooks";

/// Where variables are broadcast in a session.
struct Sent {
    file: FileId,
    /// The call that runs the broadcast, or makes a session that does.
    call: CallId,
    session: ValueId,
}

/// The initialisations that undo a broadcast.
pub(super) fn reasons(context: Context<'_>, broadcasts: &[Broadcast<'_>]) -> Vec<Reason> {
    let facts = context.facts;
    if !facts.creations.iter().any(|made| matches!(made.kind, Kind::Session | Kind::MonitoredSession)) {
        return Vec::new();
    }
    let sent = all_sent(facts, broadcasts);
    let mut found = Vec::new();
    for own in &sent {
        let module = facts.module(own.file);
        let broadcast = module.call(own.call);
        let caller = Caller { file: own.file, scope: broadcast.scope };
        let dominance = module.scope(caller.scope).flow.dominance();
        let is_behind = |call: CallId, before: CallId| {
            let (call, before) = (module.call(call), module.call(before));
            call.scope == before.scope
                && before.range.end() <= call.range.start()
                && dominance.dominates(before.block, call.block)
        };
        let calls = (0..module.calls.len()).map(CallId::new);
        let mut again = calls.filter(|&call| {
            is_behind(call, own.call)
                && facts.session_run(own.file, call).is_some_and(|session| is_one(facts, own, session))
                && facts.initialises_variables(own.file, call)
        });
        let Some(again) = again.next() else { continue };
        // It may be broadcast once more, here or in code that is called.
        let is_sent_again = |other: &Sent| {
            let is_first = (other.file, other.call) == (own.file, own.call);
            let is_before = other.file == own.file && is_behind(again, other.call);
            !is_first && !is_before
        };
        if !sent.iter().any(is_sent_again) {
            found.push(reason(caller, module.call(again).range, facts.location(own.file, broadcast.range)));
        }
    }
    found
}

fn reason(caller: Caller, range: TextRange, broadcast: Location) -> Reason {
    Reason {
        caller,
        range,
        message: "the broadcast is undone: each rank initialises its variables again",
        here: "random variables of each rank's own",
        help: "initialise the variables before they are broadcast",
        labels: vec![(broadcast, "broadcast here")],
        fix: None,
    }
}

/// Whether two values are the same session.
fn is_one(facts: &Facts<'_>, own: &Sent, session: ValueId) -> bool {
    let sessions = facts.solution.values(own.file, own.session);
    facts.solution.values(own.file, session).iter().any(|object| sessions.contains(object))
}

/// Where a session runs a broadcast, or is made with the hook that does.
fn all_sent(facts: &Facts<'_>, broadcasts: &[Broadcast<'_>]) -> Vec<Sent> {
    let hook = facts.library.lookup(HOOK);
    let results = broadcasts.iter().map(|own| (own.file, own.call.result));
    let operations = facts.influence().forwards(&results.collect::<Vec<_>>(), |_| false);
    let mut found = Vec::new();
    for file in facts.files() {
        for (id, call) in (0..).map(CallId::new).zip(&facts.module(file).calls) {
            if let Some(session) = facts.session_run(file, id) {
                if facts.fetched(file, id).is_some_and(|own| operations.contains(&(file, own))) {
                    found.push(Sent { file, call: id, session });
                }
                continue;
            }
            let mut symbols = facts.called_symbols(file, id);
            let hooks = symbols.find_map(|symbol| facts.argument(file, call, symbol, HOOKS));
            let is_hook = |object| hook.is_some() && facts.symbol(facts.solution.object(object)) == hook;
            if hooks.is_some_and(|hooks| facts.elements(file, hooks.value).into_iter().any(is_hook)) {
                found.push(Sent { file, call: id, session: call.result });
            }
        }
    }
    found
}
