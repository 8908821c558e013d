//! How this dialect spells terminal ids: `s` and the number. Pure.

use rookery_model::TerminalId;

/// The session id of a terminal.
pub(crate) fn spell(id: TerminalId) -> String {
    format!("s{id}")
}

/// The terminal that a session id names, if it is spelled exactly as [`spell`] would.
pub(crate) fn parse(name: &str) -> Option<TerminalId> {
    let id = name.strip_prefix('s')?.parse().ok()?;
    (spell(id) == name).then_some(id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_canonical_spelling_is_an_id() {
        assert_eq!(spell(TerminalId::new(3)), "s3");
        assert_eq!(parse("s3"), Some(TerminalId::new(3)));
        for text in
            ["", "s", "3", "S3", "s03", "s+3", "s-3", "s 3", "s3 ", "e3", "s18446744073709551616"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn ids_survive_the_trip(raw: u64) {
            let id = TerminalId::new(raw);
            prop_assert_eq!(parse(&spell(id)), Some(id));
        }

        #[test]
        fn arbitrary_text_never_panics(text in ".{0,24}") {
            if let Some(id) = parse(&text) {
                prop_assert_eq!(spell(id), text);
            }
        }
    }
}
