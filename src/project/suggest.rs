//! Guesses what a misspelt word was meant to be.

/// The candidate nearest to `word`, if a slip of the hand explains the difference.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('_', "-");
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_mended_and_strangers_left_alone() {
        let keys = ["select", "ignore", "extend-select"];
        assert_eq!(nearest("selct", keys), Some("select"));
        assert_eq!(nearest("extend_select", keys), Some("extend-select"));
        assert_eq!(nearest("IGNORE", keys), Some("ignore"));
        assert_eq!(nearest("plugins", keys), None);
    }
}
