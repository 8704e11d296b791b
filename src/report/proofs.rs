//! What is proven of the ranks, for people.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::Sources;
use super::paint::{Ink, Painted};
use super::sanitize::visible_line;
use crate::finding::Location;
use crate::ranks::Proof;
use crate::ranks::proof::{Claim, Verdict};

/// So many places of a remark are shown; the rest are counted.
const PLACES: usize = 3;

/// Writes what is known of the ranks of each program.
///
/// # Errors
///
/// `out` can't be written to.
pub fn show(proofs: &[Proof], sources: &Sources<'_>, color: bool, out: &mut dyn Write) -> io::Result<()> {
    for proof in proofs {
        let entry = visible_line(sources.path(proof.entry));
        let title = format!("{entry} on ranks with the same source, libraries, arguments and environment:");
        writeln!(out, "{}", Painted { text: &title, ink: Ink::Bold, color })?;
        for claim in &proof.claims {
            write_claim(claim, sources, color, out)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_claim(claim: &Claim, sources: &Sources<'_>, color: bool, out: &mut dyn Write) -> io::Result<()> {
    let verdict = claim.verdict();
    let (word, ink) = match verdict {
        Verdict::Proven => ("proven   ", Ink::Added),
        Verdict::Denied => ("denied   ", Ink::Removed),
        Verdict::NotShown => ("not shown", Ink::Warning),
    };
    writeln!(out, "  {}  {}", Painted { text: word, ink, color }, claim.property.text())?;
    let mut remark = |conjunction: &str, text: &str, places: &BTreeSet<Location>| {
        writeln!(out, "             {conjunction} {} ({})", visible_line(text), shown(places, sources))
    };
    for (message, places) in &claim.denials {
        remark("because", message, places)?;
    }
    for (obstacle, places) in &claim.obstacles {
        remark("because", obstacle.text(), places)?;
    }
    if verdict != Verdict::Denied {
        for (assumption, places) in &claim.assumptions {
            remark("if", assumption.text(claim.property), places)?;
        }
    }
    Ok(())
}

fn shown(places: &BTreeSet<Location>, sources: &Sources<'_>) -> String {
    let mut lines: Vec<String> = places.iter().map(|&at| sources.page_and_line(at)).collect();
    lines.dedup();
    let more = lines.len().saturating_sub(PLACES);
    lines.truncate(PLACES);
    let lines = visible_line(&lines.join(", ")).into_owned();
    if more > 0 { format!("{lines} and {more} more") } else { lines }
}
