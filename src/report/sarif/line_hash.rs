//! GitHub's `primaryLocationLineHash`, as `github/codeql-action` defines it in `src/fingerprints.ts`.

use std::collections::HashMap;

/// So many code units, counted from the beginning of a line, make its hash.
const BLOCK: usize = 100;
/// Stands behind the last code unit.
const END: u16 = 0xFFFF;
const BASE: u64 = 37;

/// The hash of every line: a rolling hash over the next 100 UTF-16 code units without blanks, and how many lines
/// up to this one have the same.
pub(super) fn line_hashes(text: &str) -> Vec<String> {
    let (mut units, starts) = units(text);
    units.push(END);
    let at = |index: usize| u64::from(units.get(index).copied().unwrap_or(0));
    let leaving = (0..BLOCK).fold(1u64, |power, _| power.wrapping_mul(BASE));

    let mut hash = (0..BLOCK).fold(0u64, |hash, i| hash.wrapping_mul(BASE).wrapping_add(at(i)));
    let mut position = 0;
    let mut seen: HashMap<u64, u32> = HashMap::new();
    let mut hashes = Vec::with_capacity(starts.len());
    for start in starts {
        while position < start {
            hash = hash
                .wrapping_mul(BASE)
                .wrapping_add(at(position + BLOCK))
                .wrapping_sub(leaving.wrapping_mul(at(position)));
            position += 1;
        }
        let count = seen.entry(hash).or_insert(0);
        *count += 1;
        hashes.push(format!("{hash:x}:{count}"));
    }
    hashes
}

/// The code units that count, with every line end as LF, and where in them each line begins.
fn units(text: &str) -> (Vec<u16>, Vec<usize>) {
    const SPACE: u16 = 32;
    const TAB: u16 = 9;
    const LF: u16 = 10;
    const CR: u16 = 13;
    let mut units = Vec::with_capacity(text.len());
    let mut starts = Vec::new();
    let (mut at_start, mut after_cr) = (true, false);
    for unit in text.encode_utf16() {
        if unit == SPACE || unit == TAB || (after_cr && unit == LF) {
            after_cr = false;
            continue;
        }
        after_cr = unit == CR;
        let unit = if after_cr { LF } else { unit };
        if at_start {
            starts.push(units.len());
        }
        at_start = unit == LF;
        units.push(unit);
    }
    if at_start {
        starts.push(units.len());
    }
    (units, starts)
}

#[cfg(test)]
mod tests {
    use super::line_hashes;

    /// The vectors that `src/fingerprints.test.ts` publishes.
    #[test]
    fn the_published_vectors_hold() {
        let greetings = [
            "e9496ae3ebfced30:1",
            "fb7c023a8b9ccb3f:1",
            "ce8ba1a563dcdaca:1",
            "e20e36e16fcb0cc8:1",
            "b3edc88f2938467e:1",
            "c8e28b0b4002a3a0:1",
            "c129715d7a2bc9a3:1",
        ];
        assert_eq!(line_hashes(""), ["c129715d7a2bc9a3:1"]);
        assert_eq!(
            line_hashes(" a\nb\n  \t\tc\n d"),
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"]
        );
        for text in [
            " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n",
            " hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r",
            " hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n",
            " hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n",
        ] {
            assert_eq!(line_hashes(text), greetings);
        }
        let lorem = line_hashes(&"Lorem ipsum dolor sit amet.\n".repeat(10));
        assert_eq!(lorem[..2], ["a7f2ff13bc495cf2:1", "a7f2ff13bc495cf2:2"]);
        assert_eq!(lorem[10], "c129715d7a2bc9a3:1");
    }
}
