//! Static single assignment form, built while the code is read.
//!
//! After Braun et al., *Simple and Efficient Construction of Static Single Assignment Form* (2013), with one
//! addition: a merge knows the block where its paths parted and the stretch of definitions between, so a
//! variable that no path defines is looked up at the fork, and no φ is made for it. Loops, whose stretch is
//! open while their body is read, get a φ that turns out trivial at the end.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::flow::{Block, Detour, Stretch};
use super::id::{BlockId, NameId, ValueId};
use super::value::Constant;

/// The part of an object that a store changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Attribute(NameId),
    Item(Constant),
}

/// Something whose value changes as the code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// A variable of the scope.
    Name(u32),
    /// `base.name`, `base[key]` of a container that nobody else has.
    Own(ValueId, Key),
    /// The same of any other object, as long as memory has not changed since.
    Shared { base: ValueId, key: Key, memory: Version, keyed: Version },
    /// All objects that other code can reach.
    Memory,
    /// What such objects have under a key.
    Keyed(Key),
}

/// A state of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Version(u32);

/// What is known of a place at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Value(ValueId),
    Version(Version),
    /// Something may have changed it.
    Lost,
}

/// How control comes to a block.
#[derive(Clone, Debug)]
enum Arrival {
    /// From outside.
    Entry,
    /// Never.
    Nowhere,
    /// From one block.
    From(BlockId),
    /// From the blocks that were joined, whose paths parted at `fork`.
    Merge { fork: BlockId, from: u32, to: u32, joined: Vec<BlockId> },
    /// From anywhere in a stretch of code: an exception.
    Exception { fork: BlockId, from: u32, to: u32 },
    /// From the end of a `finally` suite that was entered normally.
    Finally { normal: BlockId, end: BlockId, from: u32, to: u32 },
}

const OPEN: u32 = u32::MAX;

/// So many blocks are a long way.
const LONG: usize = 16;

/// Definitions with their times.
type Log = SmallVec<[(u32, Content); 2]>;

/// The outcome of looking a place up.
pub(super) enum Found {
    Content(Content),
    /// It has no definition on the way from the entry.
    AtEntry,
    /// Control never comes here.
    Nowhere,
    /// A φ is needed at this block; the caller gives its value to [`Ssa::place_phi`].
    Merge(BlockId),
}

/// The form of one scope under construction.
#[derive(Debug, Default)]
pub(super) struct Ssa {
    pub blocks: Vec<Block>,
    arrivals: Vec<Arrival>,
    /// What variables, by far the most frequent places, hold at the end of what has been read of a block.
    variables: FxHashMap<(BlockId, u32), Content>,
    /// What other places do.
    parts: FxHashMap<(BlockId, Place), Content>,
    /// For each variable its definitions, in the order of the walk.
    log_of_variables: Vec<Log>,
    /// The same for each other place.
    log_of_parts: FxHashMap<Place, Log>,
    clock: u32,
    versions: u32,
    pending: Vec<(BlockId, Place, ValueId)>,
}

impl Ssa {
    fn add(&mut self, arrival: Arrival) -> BlockId {
        self.blocks.push(Block::default());
        self.arrivals.push(arrival);
        BlockId::new(self.blocks.len() - 1)
    }

    /// Takes the blocks out, and is ready for another scope; memory is kept.
    pub fn finish(&mut self) -> Vec<Block> {
        let blocks = self.blocks.drain(..).collect();
        self.arrivals.clear();
        self.variables.clear();
        self.parts.clear();
        self.log_of_variables.clear();
        self.log_of_parts.clear();
        self.pending.clear();
        (self.clock, self.versions) = (0, 0);
        blocks
    }

    pub fn entry(&mut self) -> BlockId {
        self.add(Arrival::Entry)
    }

    pub fn unreachable(&mut self) -> BlockId {
        self.add(Arrival::Nowhere)
    }

    pub fn after(&mut self, block: BlockId) -> BlockId {
        let next = self.add(Arrival::From(block));
        self.blocks[block.index()].successors.push(next);
        next
    }

    /// The time, to be given to a merge as the beginning of its stretch.
    pub fn now(&self) -> u32 {
        self.clock
    }

    /// A merge whose paths part at `fork`, where the time is `from`; [`Self::join`] adds paths.
    pub fn merge(&mut self, fork: BlockId, from: u32) -> BlockId {
        self.add(Arrival::Merge { fork, from, to: OPEN, joined: Vec::new() })
    }

    /// Lets control go from `block` to `merge`.
    pub fn join(&mut self, merge: BlockId, block: BlockId) {
        if let Arrival::Merge { joined, .. } = &mut self.arrivals[merge.index()] {
            joined.push(block);
        }
        if !self.blocks[block.index()].successors.contains(&merge) {
            self.blocks[block.index()].successors.push(merge);
        }
    }

    /// Says that all paths to `merge` have been read; gives a block that nothing reaches if there is none.
    pub fn close(&mut self, merge: BlockId) {
        let now = self.clock;
        let arrival = &mut self.arrivals[merge.index()];
        if let Arrival::Merge { to, joined, .. } = arrival {
            *to = now;
            if joined.is_empty() {
                *arrival = Arrival::Nowhere;
            }
        }
    }

    /// Whether control comes to `merge` from anywhere.
    pub fn is_joined(&self, merge: BlockId) -> bool {
        matches!(&self.arrivals[merge.index()], Arrival::Merge { joined, .. } if !joined.is_empty())
    }

    /// Where control arrives by an exception from the stretch since `from`, which began at `fork`.
    pub fn exception(&mut self, fork: BlockId, from: u32, stretch: Stretch) -> BlockId {
        let to = self.clock;
        let block = self.add(Arrival::Exception { fork, from, to });
        self.blocks[block.index()].detour = Some(Detour::Exception(stretch));
        self.blocks[fork.index()].successors.push(block);
        block
    }

    /// Where control goes on after a `finally` suite that began at time `from` and ended in `end`, when it was
    /// entered from `normal`.
    pub fn after_finally(&mut self, normal: BlockId, end: BlockId, from: u32, stretch: Stretch) -> BlockId {
        let to = self.clock;
        let block = self.add(Arrival::Finally { normal, end, from, to });
        self.blocks[block.index()].detour = Some(Detour::Finally(normal, stretch));
        self.blocks[end.index()].successors.push(block);
        block
    }

    pub fn define(&mut self, block: BlockId, place: Place, content: Content) {
        self.set(block, place, content);
        if matches!(self.arrivals[block.index()], Arrival::Nowhere) {
            return;
        }
        let log = match place {
            Place::Name(variable) => {
                let variable = variable as usize;
                if self.log_of_variables.len() <= variable {
                    self.log_of_variables.resize_with(variable + 1, Log::new);
                }
                &mut self.log_of_variables[variable]
            }
            _ => self.log_of_parts.entry(place).or_default(),
        };
        log.push((self.clock, content));
        self.clock += 1;
    }

    pub fn new_version(&mut self) -> Version {
        self.versions += 1;
        Version(self.versions)
    }

    fn set(&mut self, block: BlockId, place: Place, content: Content) {
        match place {
            Place::Name(variable) => self.variables.insert((block, variable), content),
            _ => self.parts.insert((block, place), content),
        };
    }

    fn content(&self, block: BlockId, place: Place) -> Option<Content> {
        match place {
            Place::Name(variable) => self.variables.get(&(block, variable)),
            _ => self.parts.get(&(block, place)),
        }
        .copied()
    }

    fn defined_between(&self, place: Place, from: u32, to: u32) -> &[(u32, Content)] {
        let log = match place {
            Place::Name(variable) => self.log_of_variables.get(variable as usize),
            _ => self.log_of_parts.get(&place),
        };
        let Some(log) = log else { return &[] };
        let start = log.partition_point(|&(time, _)| time < from);
        let end = log.partition_point(|&(time, _)| time < to);
        &log[start..end]
    }

    /// What `place` holds at the end of what has been read of `block`. Of variables that is noted on long ways, so that
    /// those who come after don't go them again.
    pub fn lookup(&mut self, mut block: BlockId, place: Place) -> Found {
        let mut passed: SmallVec<[BlockId; 4]> = SmallVec::new();
        for step in 1_usize.. {
            if let Some(content) = self.content(block, place) {
                for block in passed {
                    self.set(block, place, content);
                }
                return Found::Content(content);
            }
            if step.is_multiple_of(LONG) && matches!(place, Place::Name(_)) {
                passed.push(block);
            }
            block = match &self.arrivals[block.index()] {
                Arrival::Entry => return Found::AtEntry,
                Arrival::Nowhere => return Found::Nowhere,
                Arrival::From(before) => *before,
                Arrival::Merge { joined, to, .. } if *to != OPEN && joined.len() == 1 => joined[0],
                Arrival::Merge { fork, from, to, .. } => {
                    if *to == OPEN || !self.defined_between(place, *from, *to).is_empty() {
                        return Found::Merge(block);
                    }
                    *fork
                }
                Arrival::Exception { fork, from, to } => {
                    if !self.defined_between(place, *from, *to).is_empty() {
                        return Found::Merge(block);
                    }
                    *fork
                }
                Arrival::Finally { normal, end, from, to } => {
                    if self.defined_between(place, *from, *to).is_empty() { *normal } else { *end }
                }
            };
        }
        unreachable!("every way leads to the entry")
    }

    /// Makes `phi` the value of `place` at the beginning of `block`; its operands are asked for at the end.
    pub fn place_phi(&mut self, block: BlockId, place: Place, phi: ValueId) {
        self.set(block, place, Content::Value(phi));
        self.pending.push((block, place, phi));
    }

    /// Makes `version` the state of `place` at the beginning of `block`.
    pub fn place_version(&mut self, block: BlockId, place: Place, version: Version) {
        self.set(block, place, Content::Version(version));
    }

    /// A φ whose operands are still to be found.
    pub fn next_pending(&mut self) -> Option<(BlockId, Place, ValueId)> {
        self.pending.pop()
    }

    /// The blocks that a φ at `block` joins, and the definitions that an exception can carry there.
    pub fn operands(&self, block: BlockId, place: Place) -> (Vec<BlockId>, Vec<Content>) {
        match &self.arrivals[block.index()] {
            Arrival::Merge { fork, from, to, joined } => {
                if self.defined_between(place, *from, *to).is_empty() {
                    (vec![*fork], Vec::new())
                } else {
                    (joined.clone(), Vec::new())
                }
            }
            Arrival::Exception { fork, from, to } => {
                let carried = self.defined_between(place, *from, *to);
                (vec![*fork], carried.iter().map(|&(_, content)| content).collect())
            }
            _ => (Vec::new(), Vec::new()),
        }
    }
}
