//! A small language of programs that several ranks run: what they compute, communicate, change and write.

use std::fmt;

use proptest::prelude::*;
use proptest::sample::select;

/// A variable that should be equal on all ranks.
pub type Variable = usize;

/// A number that a rank has.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// The same everywhere.
    Constant,
    /// The number of ranks.
    Size,
    /// The rank's own number.
    Rank,
    /// The rank's own data.
    Data,
    /// What the name is bound to.
    Name(usize),
    /// What the variable holds.
    Held(Variable),
}

/// A question that a rank decides by.
#[derive(Clone, Copy, Debug)]
pub enum Question {
    /// Whether it is rank 0.
    IsRoot,
    /// Whether it is another one.
    IsOther,
    /// Whether there are several ranks.
    AreSeveral,
    /// What the command line says: the same for all, and nobody knows what.
    Same,
    /// What its own data says.
    Own,
    /// Whether the variable holds more than the command line says.
    IsAbove(Variable),
}

/// How often a loop turns.
#[derive(Clone, Copy, Debug)]
pub enum Turns {
    /// As often as the command line says.
    Same,
    /// As often as the rank's own data says.
    Own,
}

/// Something that a rank does; the number tells the places in a program apart.
#[derive(Clone, Debug)]
pub struct Step {
    pub site: u32,
    pub action: Action,
}

#[derive(Clone, Debug)]
pub enum Action {
    /// All ranks agree on a mean, or on the greatest: kind, purpose, of what, bound to which name.
    Reduce(&'static str, &'static str, Number, usize),
    /// A traced step with two reductions, in one order or the other.
    Together(bool),
    /// All ranks get what rank 0 holds.
    Broadcast(Variable),
    Assign(Variable, Number),
    Add(Variable, Number),
    Bind(usize, Number),
    /// A file that every rank calls the same, or each by a name of its own.
    Write(bool),
    /// A new name is bound by those that say yes, and by the others if `all`; then it is used by all, or by those
    /// that say yes to the second question.
    Introduce(Question, bool, Option<Question>),
    When(Question, Vec<Step>, Vec<Step>),
    Repeat(Turns, Vec<Step>),
    /// The function returns.
    Leave,
    /// The innermost loop ends.
    Stop,
}

/// A program: whether each variable begins with a number of the rank's own, and what is done.
#[derive(Clone)]
pub struct Program {
    pub begins_apart: [bool; 2],
    pub steps: Vec<Step>,
}

impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\n{}", super::python::text(self))
    }
}

/// Where broadcasts may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broadcasts {
    /// Where all ranks come in any case.
    Always,
    /// Under conditions and in loops, too.
    Anywhere,
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        3 => Just(Number::Constant),
        1 => Just(Number::Size),
        2 => Just(Number::Rank),
        1 => Just(Number::Data),
        3 => (0..2_usize).prop_map(Number::Name),
        3 => (0..2_usize).prop_map(Number::Held),
    ]
}

fn question() -> impl Strategy<Value = Question> {
    prop_oneof![
        3 => Just(Question::IsRoot),
        2 => Just(Question::IsOther),
        1 => Just(Question::AreSeveral),
        2 => Just(Question::Same),
        1 => Just(Question::Own),
        2 => (0..2_usize).prop_map(Question::IsAbove),
    ]
}

/// A question about the rank alone.
fn who() -> impl Strategy<Value = Question> {
    select(vec![Question::IsRoot, Question::IsOther])
}

fn plain() -> BoxedStrategy<Action> {
    let reduce = (select(vec!["Average", "Max"]), select(vec!["a", "b"]), number(), 0..2_usize);
    prop_oneof![
        4 => reduce.prop_map(|(kind, purpose, of, name)| Action::Reduce(kind, purpose, of, name)),
        2 => any::<bool>().prop_map(Action::Together),
        2 => (0..2_usize, number()).prop_map(|(to, of)| Action::Assign(to, of)),
        2 => (0..2_usize, number()).prop_map(|(to, of)| Action::Add(to, of)),
        2 => (0..2_usize, number()).prop_map(|(to, of)| Action::Bind(to, of)),
        2 => any::<bool>().prop_map(Action::Write),
        1 => (who(), any::<bool>(), prop::option::of(who()))
            .prop_map(|(bound, all, used)| Action::Introduce(bound, all, used)),
    ]
    .boxed()
}

fn broadcast() -> impl Strategy<Value = Action> {
    (0..2_usize).prop_map(Action::Broadcast)
}

fn unnumbered(action: Action) -> Step {
    Step { site: 0, action }
}

/// Steps under conditions and in loops; what ends a block stands last.
fn nested(depth: u32, in_loop: bool, broadcasts: Broadcasts) -> BoxedStrategy<Vec<Step>> {
    let one = if broadcasts == Broadcasts::Anywhere {
        prop_oneof![4 => plain(), 1 => broadcast()].boxed()
    } else {
        plain()
    };
    let step = if depth == 0 {
        one
    } else {
        prop_oneof![3 => one, 2 => compound(depth - 1, in_loop, broadcasts)].boxed()
    };
    let end = if in_loop {
        vec![None, None, None, None, Some(Action::Stop), Some(Action::Leave)]
    } else {
        vec![None, None, None, None, Some(Action::Leave)]
    };
    (prop::collection::vec(step, 0..3), select(end))
        .prop_map(|(steps, end)| steps.into_iter().chain(end).map(unnumbered).collect())
        .boxed()
}

fn compound(depth: u32, in_loop: bool, broadcasts: Broadcasts) -> BoxedStrategy<Action> {
    let arms = (question(), nested(depth, in_loop, broadcasts), nested(depth, in_loop, broadcasts));
    // What ends a loop's body in any case makes it no loop.
    let body = nested(depth, true, broadcasts).prop_map(|mut steps| {
        steps.retain(|step| !matches!(step.action, Action::Leave | Action::Stop));
        steps
    });
    prop_oneof![
        3 => arms.prop_map(|(question, yes, no)| Action::When(question, yes, no)),
        1 => (select(vec![Turns::Same, Turns::Own]), body).prop_map(|(turns, body)| Action::Repeat(turns, body)),
    ]
    .boxed()
}

/// Programs of the language.
pub fn program(broadcasts: Broadcasts) -> impl Strategy<Value = Program> {
    let step = prop_oneof![3 => plain(), 2 => broadcast(), 3 => compound(1, false, broadcasts)];
    (any::<[bool; 2]>(), prop::collection::vec(step, 1..6)).prop_map(move |(begins_apart, actions)| {
        let mut steps: Vec<Step> = actions.into_iter().map(unnumbered).collect();
        if broadcasts == Broadcasts::Always {
            let leaves = steps.iter().position(may_leave).unwrap_or(steps.len());
            let behind = steps.split_off(leaves);
            steps.extend(behind.into_iter().filter(|own| !matches!(own.action, Action::Broadcast(_))));
        }
        number_sites(&mut steps, &mut 0);
        Program { begins_apart, steps }
    })
}

fn may_leave(step: &Step) -> bool {
    match &step.action {
        Action::When(_, yes, no) => yes.iter().chain(no).any(may_leave),
        Action::Repeat(_, body) => body.iter().any(may_leave),
        Action::Leave => true,
        _ => false,
    }
}

fn number_sites(steps: &mut [Step], next: &mut u32) {
    for step in steps {
        *next += 1;
        step.site = *next;
        match &mut step.action {
            Action::When(_, yes, no) => {
                number_sites(yes, next);
                number_sites(no, next);
            }
            Action::Repeat(_, body) => number_sites(body, next),
            _ => {}
        }
    }
}
