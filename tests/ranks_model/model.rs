//! The executable model: all executions of a program on a few ranks, and what goes wrong in them.
//!
//! Numbers are terms: two are equal exactly if they were computed alike, so nothing is right by coincidence. What
//! nobody knows beforehand (the command line, the ranks' data) is tried in all combinations; given that, timing does
//! not matter. A rank is run from its beginning up to the next collective, each time with one more result.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use super::language::{Action, Number, Program, Question, Step, Turns};

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Ranks wait for others for ever, or get their answers to another question.
    OutOfStep,
    /// A variable differs in the end.
    Diverged,
    /// A file is written by several ranks.
    Overwritten,
    /// A name is not bound on the rank that uses it.
    Unbound,
}

type Term = u64;

fn term(parts: impl Hash) -> Term {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// What nobody knows beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Unknown {
    Same(u32),
    Own(u32, u32, usize),
    Above(u32, Term),
}

/// What a rank submits: by key what it is for, and its value.
type Submission = BTreeMap<&'static str, (String, Term)>;

/// Why a rank goes no further.
enum Pause {
    Waits(Submission),
    Leaves,
    Stops,
    Unbound,
    /// It depends on something unknown, with so many answers.
    Asks(Unknown, u8),
}

/// One rank on its way.
struct Rank<'a> {
    number: usize,
    answers: &'a HashMap<Unknown, u8>,
    results: &'a [BTreeMap<&'static str, Term>],
    next: usize,
    names: [Term; 2],
    held: [Term; 2],
    /// The names that were introduced.
    introduced: BTreeSet<u32>,
    written: BTreeSet<(u32, usize)>,
    asked: HashMap<u32, u32>,
}

impl<'a> Rank<'a> {
    fn new(
        program: &Program,
        number: usize,
        answers: &'a HashMap<Unknown, u8>,
        results: &'a [BTreeMap<&'static str, Term>],
    ) -> Self {
        let held = [0, 1].map(|own| term(("begins", own, program.begins_apart[own].then_some(number))));
        Self {
            number,
            answers,
            results,
            next: 0,
            names: [term("p"), term("q")],
            held,
            introduced: BTreeSet::new(),
            written: BTreeSet::new(),
            asked: HashMap::new(),
        }
    }

    fn answer(&self, unknown: Unknown, count: u8) -> Result<u8, Pause> {
        self.answers.get(&unknown).copied().ok_or(Pause::Asks(unknown, count))
    }

    fn own(&mut self, site: u32, count: u8) -> Result<u8, Pause> {
        let turn = self.asked.entry(site).or_default();
        *turn += 1;
        let unknown = Unknown::Own(site, *turn, self.number);
        self.answer(unknown, count)
    }

    fn number(&mut self, number: Number, site: u32) -> Term {
        match number {
            Number::Constant => term(("constant", site)),
            Number::Size => term("size"),
            Number::Rank => term(("rank", self.number)),
            Number::Data => {
                let turn = self.asked.entry(site).or_default();
                *turn += 1;
                term(("data", site, *turn, self.number))
            }
            Number::Name(name) => self.names[name],
            Number::Held(variable) => self.held[variable],
        }
    }

    fn says_yes(&mut self, question: Question, site: u32) -> Result<bool, Pause> {
        Ok(match question {
            Question::IsRoot => self.number == 0,
            Question::IsOther => self.number != 0,
            Question::AreSeveral => true,
            Question::Same => self.answer(Unknown::Same(site), 2)? == 1,
            Question::Own => self.own(site, 2)? == 1,
            Question::IsAbove(variable) => self.answer(Unknown::Above(site, self.held[variable]), 2)? == 1,
        })
    }

    fn submit(&mut self, submission: Submission) -> Result<BTreeMap<&'static str, Term>, Pause> {
        let Some(results) = self.results.get(self.next) else { return Err(Pause::Waits(submission)) };
        self.next += 1;
        Ok(results.clone())
    }

    fn run(&mut self, steps: &[Step]) -> Result<(), Pause> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, Step { site, action }: &Step) -> Result<(), Pause> {
        let site = *site;
        match action {
            Action::Reduce(kind, purpose, of, name) => {
                let value = self.number(*of, site);
                let results = self.submit(BTreeMap::from([(*kind, ((*purpose).to_owned(), value))]))?;
                self.names[*name] = results[kind];
            }
            Action::Together(_) => {
                let value = self.names[0];
                let both = ["traced a", "traced b"].map(|key| (key, (key.to_owned(), value)));
                let results = self.submit(BTreeMap::from(both))?;
                self.names = [results["traced a"], results["traced b"]];
            }
            Action::Broadcast(variable) => {
                let value = (format!("variable {variable}"), self.held[*variable]);
                self.held[*variable] = self.submit(BTreeMap::from([("broadcast", value)]))?["broadcast"];
            }
            Action::Assign(variable, of) => self.held[*variable] = term((self.number(*of, site), site)),
            Action::Add(variable, of) => {
                self.held[*variable] = term((self.held[*variable], "plus", self.number(*of, site), site));
            }
            Action::Bind(name, of) => self.names[*name] = self.number(*of, site),
            Action::Write(is_own) => {
                self.written.insert((site, if *is_own { self.number } else { 0 }));
            }
            Action::Introduce(binds, all, uses) => {
                if *all || self.says_yes(*binds, site)? {
                    self.introduced.insert(site);
                }
                let is_used = match uses {
                    Some(question) => self.says_yes(*question, site)?,
                    None => true,
                };
                if is_used && !self.introduced.contains(&site) {
                    return Err(Pause::Unbound);
                }
            }
            Action::When(question, yes, no) => {
                let arm = if self.says_yes(*question, site)? { yes } else { no };
                self.run(arm)?;
            }
            Action::Repeat(turns, body) => {
                let count = match turns {
                    Turns::Same => self.answer(Unknown::Same(site), 3)?,
                    Turns::Own => self.own(site, 3)?,
                };
                for _ in 0..count {
                    match self.run(body) {
                        Err(Pause::Stops) => break,
                        other => other?,
                    }
                }
            }
            Action::Leave => return Err(Pause::Leaves),
            Action::Stop => return Err(Pause::Stops),
        }
        Ok(())
    }
}

/// What goes wrong on so many ranks, given some answers; an unknown that there is no answer to.
fn execute(
    program: &Program,
    ranks: usize,
    answers: &HashMap<Unknown, u8>,
) -> Result<BTreeSet<Fault>, (Unknown, u8)> {
    let mut faults = BTreeSet::new();
    let mut results = Vec::new();
    loop {
        let mut waiting: Vec<Submission> = Vec::new();
        let mut ended: Vec<Rank<'_>> = Vec::new();
        for number in 0..ranks {
            let mut rank = Rank::new(program, number, answers, &results);
            match rank.run(&program.steps) {
                Ok(()) | Err(Pause::Leaves | Pause::Stops) => ended.push(rank),
                Err(Pause::Waits(submission)) => waiting.push(submission),
                Err(Pause::Unbound) => {
                    faults.insert(Fault::Unbound);
                    return Ok(faults);
                }
                Err(Pause::Asks(unknown, count)) => return Err((unknown, count)),
            }
        }
        if waiting.is_empty() {
            if (0..2).any(|own| ended.iter().any(|rank| rank.held[own] != ended[0].held[own])) {
                faults.insert(Fault::Diverged);
            }
            let mut written = BTreeSet::new();
            if ended.iter().flat_map(|rank| &rank.written).any(|&path| !written.insert(path)) {
                faults.insert(Fault::Overwritten);
            }
            return Ok(faults);
        }
        let keys = |own: &Submission| own.keys().copied().collect::<Vec<_>>();
        if !ended.is_empty() || waiting.iter().any(|own| keys(own) != keys(&waiting[0])) {
            faults.insert(Fault::OutOfStep);
            return Ok(faults);
        }
        let mut agreed = BTreeMap::new();
        for (key, (purpose, value)) in &waiting[0] {
            if waiting.iter().any(|own| own[key].0 != *purpose) {
                faults.insert(Fault::OutOfStep);
            }
            let all: Vec<Term> = waiting.iter().map(|own| own[key].1).collect();
            agreed.insert(*key, if *key == "broadcast" { *value } else { term((key, results.len(), all)) });
        }
        results.push(agreed);
    }
}

/// What goes wrong in some execution on two or three ranks; `None` if there are too many to try.
pub fn faults(program: &Program) -> Option<BTreeSet<Fault>> {
    const MANY: usize = 3000;
    let mut faults = BTreeSet::new();
    for ranks in [2, 3] {
        let mut work = vec![HashMap::new()];
        let mut count = 0;
        while let Some(answers) = work.pop() {
            count += 1;
            if count > MANY {
                return None;
            }
            match execute(program, ranks, &answers) {
                Ok(found) => faults.extend(found),
                Err((unknown, answers_count)) => work.extend((0..answers_count).map(|answer| {
                    let mut answers = answers.clone();
                    answers.insert(unknown, answer);
                    answers
                })),
            }
        }
    }
    Some(faults)
}
