//! What running some code does to variables that should be equal on all ranks.
//!
//! A variable is equal on all ranks or differs; code is a monotone function on these two states. Functions are
//! composed along a way and joined where ways meet (Wegbreit's property extraction, on the smallest lattice there is).
//! From the computational model of TensorFlow come the rules: an assignment makes equal what all ranks assign alike;
//! an addition keeps what is equal only if all ranks make it, with an equal amount, in whatever order.

use std::collections::BTreeMap;

/// What made a variable differ; an index into the list of culprits.
pub(super) type Culprit = u32;

/// A state of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Equal,
    /// Differs, because of this if it is known.
    Differs(Option<Culprit>),
    /// Is made to differ by this in each step of training.
    Parts(Culprit),
}

impl State {
    /// What made it differ, if it does and that is known.
    pub(super) fn culprit(self) -> Option<Culprit> {
        match self {
            Self::Differs(culprit) => culprit,
            Self::Parts(culprit) => Some(culprit),
            Self::Equal => None,
        }
    }
}

/// What code does to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// To one that is equal.
    equal: State,
    /// To one that differs.
    differs: State,
    /// Where it first changes it in a way that ranks have to make together.
    touched: Option<Touch>,
    /// How it makes equal what differs.
    mending: Mending,
}

/// A change that ranks have to make together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    /// It is made at one place: ways that come there go on as one.
    Once(Culprit),
    /// It is made at several places alike, so that ways with it may still differ in the next one that is not.
    Alike(Culprit, Option<Culprit>),
}

impl Touch {
    fn culprit(self) -> Culprit {
        let (Self::Once(culprit) | Self::Alike(culprit, _)) = self;
        culprit
    }

    /// Where a change is made that is made at one place.
    fn single(self) -> Option<Culprit> {
        match self {
            Self::Once(culprit) => Some(culprit),
            Self::Alike(_, next) => next,
        }
    }

    /// This one, with another one beside it.
    fn with(self, other: Option<Self>) -> Self {
        match self {
            Self::Alike(culprit, None) => Self::Alike(culprit, other.and_then(Self::single)),
            _ => self,
        }
    }
}

/// How what differs is made equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mending {
    /// By a broadcast, or a new beginning.
    Broadcast,
    /// By a broadcast under a flag that all ranks share, or from files behind the training.
    Flagged,
    /// By an assignment, if at all.
    Assignment,
}

/// What code does to several variables; those that are not here stay as they are.
pub(super) type Changes = BTreeMap<usize, Change>;

impl Change {
    /// Nothing.
    pub(super) const NONE: Self = Self {
        equal: State::Equal,
        differs: State::Differs(None),
        touched: None,
        mending: Mending::Assignment,
    };

    /// All ranks get the same.
    pub(super) const EQUAL: Self =
        Self { equal: State::Equal, differs: State::Equal, touched: None, mending: Mending::Broadcast };

    /// All ranks get the same once nothing is trained any more: the steps before have differed if they did.
    pub(super) const LOADED: Self = Self { mending: Mending::Flagged, ..Self::EQUAL };

    /// Ranks get different values.
    pub(super) fn differing(culprit: Culprit) -> Self {
        let state = State::Differs(Some(culprit));
        Self { equal: state, differs: state, ..Self::NONE }
    }

    /// Ranks get different values in each step.
    pub(super) fn parting(culprit: Culprit) -> Self {
        let state = State::Parts(culprit);
        Self { equal: state, differs: state, ..Self::NONE }
    }

    /// All ranks change it by the same.
    pub(super) fn touching(culprit: Culprit) -> Self {
        Self { touched: Some(Touch::Once(culprit)), ..Self::NONE }
    }

    /// All ranks change it by the same, be it at one place or at another that this is to blame for too.
    pub(super) fn touching_alike(culprit: Culprit) -> Self {
        Self { touched: Some(Touch::Alike(culprit, None)), ..Self::NONE }
    }

    /// All ranks get the same, but a rank that has no part in it does not.
    pub(super) fn assigning(culprit: Culprit) -> Self {
        Self { differs: State::Equal, ..Self::touching(culprit) }
    }

    /// Where it first changes it in a way that ranks have to make together.
    pub(super) fn touched(self) -> Option<Culprit> {
        self.touched.map(Touch::culprit)
    }

    /// Whether all ranks that do it have the same behind it, whatever they had.
    pub(super) fn assigns(self) -> bool {
        self.equal == State::Equal && self.differs == State::Equal
    }

    /// Whether it makes equal what differs, by a broadcast or a new beginning.
    pub(super) fn is_broadcast(self) -> bool {
        self.differs == State::Equal && self.mending != Mending::Assignment
    }

    /// Whether all that is to blame for what it does is of this kind.
    pub(super) fn is_only_by(self, is_one: impl Fn(Culprit) -> bool) -> bool {
        let states = [self.equal, self.differs].map(State::culprit);
        let mut culprits = states.into_iter().chain([self.touched()]).flatten().peekable();
        culprits.peek().is_some() && culprits.all(is_one)
    }

    /// The state behind it.
    pub(super) fn apply(self, state: State) -> State {
        match (state, self.differs) {
            (State::Equal, _) => self.equal,
            // The next step makes it differ again, and the flag has fallen.
            (State::Parts(_), State::Equal) if self.mending == Mending::Flagged => state,
            (_, State::Differs(None)) | (State::Parts(_), State::Differs(_)) => state,
            (_, changed) => changed,
        }
    }

    fn then(self, next: Self) -> Self {
        // What is assigned anew forgets what was done before.
        let is_anew = next.differs == State::Equal;
        let touched = || self.touched.map(|own| own.with(next.touched)).or(next.touched);
        Self {
            equal: next.apply(self.equal),
            differs: next.apply(self.differs),
            touched: if is_anew { next.touched } else { touched() },
            mending: match (self.mending, next.mending) {
                (mending, Mending::Assignment) => mending,
                (Mending::Broadcast, _) => Mending::Broadcast,
                (_, mending) => mending,
            },
        }
    }

    /// As [`Self::then`], but what it remembers is the last change that ranks have to make together: where ways meet
    /// again, those that changed the same last come from the same place.
    fn followed_by(self, next: Self) -> Self {
        let is_anew = next.differs == State::Equal;
        let touched = || next.touched.map(|own| own.with(self.touched)).or(self.touched);
        Self { touched: if is_anew { next.touched } else { touched() }, ..self.then(next) }
    }

    /// Whether it does the same, whatever is to blame for it.
    fn is_like(self, other: Self) -> bool {
        (self.equal == State::Equal) == (other.equal == State::Equal)
            && (self.differs == State::Equal) == (other.differs == State::Equal)
            && self.touched == other.touched
    }

    /// What is known where all ranks go the same one of two ways. A variable that is broadcast on one of them is taken
    /// for equal: a broadcast stands under a flag, or in a loop. What each step makes differ differs behind that, too.
    fn or(self, other: Self) -> Self {
        let equal = if self.equal == State::Equal { other.equal } else { self.equal };
        let is_flagged = |own: Self| own.differs == State::Equal && own.mending == Mending::Flagged;
        let differs = match (self.differs, other.differs) {
            (State::Parts(culprit), _) if is_flagged(other) => State::Parts(culprit),
            (_, State::Parts(culprit)) if is_flagged(self) => State::Parts(culprit),
            _ if self.is_broadcast() || other.is_broadcast() => State::Equal,
            (State::Equal, differs) | (differs, _) => differs,
        };
        let mending = match (self.mending, other.mending) {
            (one, other) if one == other => one,
            _ if self.is_broadcast() || other.is_broadcast() => Mending::Flagged,
            (one, _) => one,
        };
        Self { equal, differs, touched: self.touched.or(other.touched), mending }
    }

    /// What is known where some ranks go one way, and some another.
    fn apart(self, other: Self) -> Self {
        let single = |own: Self| own.touched.and_then(Touch::single);
        let culprits = [self, other].map(|own| own.equal.culprit().or_else(|| single(own)));
        let touched = [self, other].into_iter().find_map(Self::touched);
        let culprit = culprits.into_iter().flatten().next().or(touched);
        culprit.map_or_else(|| self.or(other), Self::differing)
    }
}

/// First the one, then the other.
pub(super) fn then(first: &Changes, next: &Changes) -> Changes {
    let mut changes = first.clone();
    for (&object, &change) in next {
        let before = changes.get(&object).copied().unwrap_or(Change::NONE);
        changes.insert(object, before.then(change));
    }
    changes
}

/// What happened up to a place, and then something more.
pub(super) fn follow(before: &mut Changes, next: &Changes) {
    for (&object, &change) in next {
        let own = before.entry(object).or_insert(Change::NONE);
        *own = own.followed_by(change);
    }
}

/// One or the other, and all ranks the same.
pub(super) fn join(one: &Changes, other: &Changes) -> Changes {
    join_where(one, other, |_| false)
}

/// One or the other, where some ranks go the one way and some the other: apart where `first` and `second`, what the
/// ways do as far as all ranks go them together, are not alike.
pub(super) fn part(one: &Changes, other: &Changes, first: &Changes, second: &Changes) -> Changes {
    join_where(one, other, |object| !of(first, object).is_like(of(second, object)))
}

fn join_where(one: &Changes, other: &Changes, is_apart: impl Fn(usize) -> bool) -> Changes {
    let joined = one.keys().chain(other.keys()).map(|&object| {
        let (first, second) = (of(one, object), of(other, object));
        (object, if is_apart(object) { first.apart(second) } else { first.or(second) })
    });
    joined.collect()
}

fn of(changes: &Changes, object: usize) -> Change {
    changes.get(&object).copied().unwrap_or(Change::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(changes: &[Change]) -> bool {
        let all = changes.iter().fold(Change::NONE, |all, &next| all.then(next));
        all.apply(State::Equal) == State::Equal
    }

    #[test]
    fn a_broadcast_mends_what_came_before_it_and_not_what_follows() {
        assert!(after(&[Change::differing(0), Change::EQUAL]));
        assert!(!after(&[Change::EQUAL, Change::differing(0)]));
        assert!(!after(&[Change::differing(0), Change::touching(1)]));
    }

    #[test]
    fn a_step_that_only_some_ranks_make_parts_them_unless_a_broadcast_follows() {
        let apart = Change::touching(0).apart(Change::NONE);
        assert!(!after(&[apart]));
        assert!(after(&[apart, Change::EQUAL]));
        // Both arms make it.
        assert!(Change::touching(0).is_like(Change::touching(0)));
    }

    #[test]
    fn what_is_changed_at_two_places_alike_hides_no_change_beside_it() {
        let alike = Change::touching_alike(0);
        assert!(alike.is_like(alike));
        assert!(!alike.is_like(Change::NONE));
        for other in [Change::touching(1), Change::differing(1)] {
            assert!(!alike.then(other).is_like(alike));
            assert!(!other.then(alike).is_like(alike));
            assert!(!alike.followed_by(other).is_like(alike));
            assert!(!other.followed_by(alike).is_like(alike));
        }
        let (some, others) = (alike.then(Change::touching(1)), alike);
        assert_eq!(some.apart(others), Change::differing(1));
    }

    #[test]
    fn what_all_ranks_assign_behind_makes_up_for_a_change_of_some() {
        let some = Change::touching(0).then(Change::assigning(1));
        assert!(some.is_like(Change::assigning(1)));
        // Only if they come to it.
        let flagged = Change::assigning(1).or(Change::NONE);
        assert!(!Change::touching(0).then(flagged).is_like(flagged));
        assert!(!after(&[Change::differing(0), flagged]));
    }

    #[test]
    fn a_broadcast_under_a_flag_does_not_mend_what_each_step_makes_differ() {
        let flagged = Change::EQUAL.or(Change::NONE);
        assert!(!after(&[Change::parting(0), flagged]));
        // Nor what some turns make differ, behind the broadcast.
        let sometimes = Change::parting(0).or(flagged);
        assert!(!after(&[Change::differing(1), sometimes]));
        // One that every step makes does.
        assert!(after(&[Change::parting(0), Change::EQUAL]));
        assert!(after(&[Change::parting(0), Change::EQUAL.then(flagged)]));
    }

    #[test]
    fn a_broadcast_under_a_flag_that_all_ranks_share_is_taken_for_one() {
        let flagged = Change::EQUAL.or(Change::NONE);
        assert!(after(&[Change::differing(0), flagged]));
        assert!(!after(&[Change::differing(0), Change::NONE]));
    }
}
