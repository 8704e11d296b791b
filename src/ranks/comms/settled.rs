//! Conditions on the rank that are asked twice, so that all ranks do the same in the end, some of them earlier:
//! `if hvd.rank() != 0: wait()`, and later `if hvd.rank() == 0: wait()`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::guards::{Atom, Key, Literal};
use super::super::model::Model;
use super::{Comms, Event, Node, NodeId};
use crate::program::{Caller, Place};
use crate::semantic::BlockId;

/// How many summaries are looked at behind a condition.
const MANY: usize = 256;

/// What a condition asks of the rank's number, if it asks nothing else, and whether it is true if the answer is yes.
pub(super) fn question(model: &Model<'_>, condition: Place) -> Option<(Key, bool)> {
    let (yes, no) = (model.literals(condition, true), model.literals(condition, false));
    let ([yes], [no]) = (&yes.0[..], &no.0[..]) else { return None };
    let Literal { atom: Atom::Is(number, value), holds } = yes else { return None };
    let parts = [Key::Number(*number), Key::Constant(value.to_string().into())];
    (yes.atom == no.atom && *holds != no.holds).then(|| (Key::Of("is".into(), Box::new(parts)), *holds))
}

impl Comms {
    /// Whether ranks that part at a branch do the same in the end, as the scope asks the same again.
    #[must_use]
    pub fn is_settled(&self, caller: Caller, block: BlockId) -> bool {
        let Some(own) = self.scopes.get(&caller) else { return false };
        own.asked.get(&block).is_some_and(|key| {
            own.settled.contains(key)
                && self
                    .of_scope(caller)
                    .and_then(|body| self.within(body, usize::MAX))
                    .is_some_and(|all| !all.iter().any(|&id| self.asks(id, key)))
        })
    }

    /// What a summary is for the ranks that answer a question in one way, which has its number.
    pub(super) fn answered(&mut self, id: NodeId, key: &Key, answer: usize) -> NodeId {
        let Some(all) = self.within(id, MANY) else { return id };
        if !all.iter().any(|&own| self.asks(own, key)) {
            return id;
        }
        // What a summary is made of was made before it.
        let mut known: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        for own in all {
            let answered = match self.node(own).clone() {
                Node::End(_) => own,
                Node::Choice(asked, arms) if asked == *key => known[&arms[answer]],
                Node::Choice(asked, arms) => {
                    let arms: Box<[NodeId]> = arms.iter().map(|arm| known[arm]).collect();
                    if arms.iter().all(|&arm| arm == arms[0]) {
                        arms[0]
                    } else {
                        self.intern(Node::Choice(asked, arms))
                    }
                }
                Node::Then(event, rest) => {
                    let event = match self.events[event.0 as usize] {
                        Event::Call(body) => self.event(Event::Call(known[&body])),
                        _ => event,
                    };
                    self.intern(Node::Then(event, known[&rest]))
                }
            };
            known.insert(own, answered);
        }
        known[&id]
    }

    fn asks(&self, id: NodeId, key: &Key) -> bool {
        matches!(self.node(id), Node::Choice(asked, _) if asked == key)
    }

    /// All summaries that one is made of, itself included, those that others are made of first; `None` if there are more
    /// than so many.
    fn within(&self, id: NodeId, most: usize) -> Option<Vec<NodeId>> {
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut work = vec![id];
        while let Some(own) = work.pop() {
            if !seen.insert(own) {
                continue;
            }
            if seen.len() > most {
                return None;
            }
            match self.node(own) {
                Node::End(_) => {}
                Node::Choice(_, arms) => work.extend(arms),
                Node::Then(event, rest) => {
                    work.push(*rest);
                    if let Event::Call(body) = self.events[event.0 as usize] {
                        work.push(body);
                    }
                }
            }
        }
        let mut all: Vec<NodeId> = seen.into_iter().collect();
        all.sort_unstable();
        Some(all)
    }
}
