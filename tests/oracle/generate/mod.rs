//! Programs inside the restrictions, the same ones in every run.
//!
//! They vary in what the rules look at (imports, how rates and counts are passed, where the loop stands) and in what
//! no rule should look at (layout, comments, quotes, names). They meet none of the departures that
//! [`crate::departures`] leaves out: no traced step, no callback that writes or decides, no built model in a tape
//! loop, one model, one optimizer, one tape without arguments.

mod data;
mod fit;
mod model;
mod rate;
mod tape;
mod text;

use std::collections::BTreeSet;

use self::text::Text;
use crate::rules::Pattern;

/// How many programs of each pattern there are.
const EACH: u64 = 130;

/// A generated program.
pub struct Program {
    /// Its file: `tape_007.py`.
    pub name: String,
    /// The pattern that its training loop has.
    pub pattern: Pattern,
    /// Its text.
    pub source: String,
    /// What the generator chose.
    pub features: BTreeSet<&'static str>,
}

/// All programs.
pub fn programs() -> Vec<Program> {
    let tapes = (0..EACH).map(|seed| program(Pattern::Tape, seed));
    tapes.chain((0..EACH).map(|seed| program(Pattern::Keras, seed))).collect()
}

fn program(pattern: Pattern, seed: u64) -> Program {
    let (name, mut text) = match pattern {
        Pattern::Tape => (format!("tape_{seed:03}.py"), Text::new(Dice::new(seed))),
        Pattern::Keras => (format!("fit_{seed:03}.py"), Text::new(Dice::new(!seed))),
    };
    match pattern {
        Pattern::Tape => tape::write(&mut text),
        Pattern::Keras => fit::write(&mut text),
    }
    let (source, features) = text.finish();
    Program { name, pattern, source, features }
}

/// Reproducible choices (`SplitMix64`).
pub struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Whether something happens that happens once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.roll().is_multiple_of(times)
    }

    /// One of the choices.
    pub fn one<T: Clone>(&mut self, choices: &[T]) -> T {
        let at = usize::try_from(self.roll() % choices.len() as u64).expect("an index fits");
        choices[at].clone()
    }
}
