//! Ids, slugs and names of folders. Pure.

/// The longest id.
const LONGEST: usize = 128;

/// Whether a text can be the id of a marketplace or a plugin: lower case letters, digits, `-` and `.`, the last
/// two only between others.
pub fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_known = |byte: u8| is_plain(byte) || matches!(byte, b'-' | b'.');
    let bytes = text.as_bytes();
    let ends = bytes.first().is_some_and(|byte| is_plain(*byte))
        && bytes.last().is_some_and(|byte| is_plain(*byte));
    ends && bytes.len() <= LONGEST
        && bytes.iter().all(|byte| is_known(*byte))
        && !text.contains("..")
}

/// A text as lower case letters and digits with single dashes between them; empty if it has none.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        if letter.is_ascii_alphanumeric() {
            out.push(letter);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(LONGEST);
    out.truncate(out.trim_end_matches('-').len());
    out
}

/// The id of a plugin by this name: the name itself, or its slug where it is no id.
pub(crate) fn id_of_name(name: &str) -> Option<String> {
    let name = name.trim();
    let id = if is_id(name) { name.to_owned() } else { slug(name) };
    Some(id).filter(|id| is_id(id))
}

/// The name of one marketplace's variant of a plugin.
pub fn variant_key(marketplace: &str, plugin: &str) -> String {
    format!("{marketplace}:{plugin}")
}

/// A version as the name of a folder, if it can be one.
pub fn version_folder(version: &str) -> Option<&str> {
    let is_known =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_');
    let fits = version.len() <= 64
        && version.bytes().all(is_known)
        && version.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && !version.contains("..");
    fits.then_some(version)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_are_what_the_contract_says() {
        for good in ["a", "7", "codex-plugins", "superpowers.2", "a-.b"] {
            assert!(is_id(good), "{good}");
        }
        for bad in ["", "-a", "a-", ".", "A", "a b", "a/b", "a..b", "ä", "a:b", &"a".repeat(129)] {
            assert!(!is_id(bad), "{bad}");
        }
    }

    #[test]
    fn versions_are_folders_or_are_not_used() {
        for good in ["1", "1.2.3", "2.0.0-rc.1+build_7"] {
            assert_eq!(version_folder(good), Some(good));
        }
        for bad in ["", ".", "..", "1..2", "../x", "a/b", "-rf", ".hidden", "1 2", "1\0"] {
            assert_eq!(version_folder(bad), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn slugs_are_ids_or_empty(text in any::<String>()) {
            let slug = slug(&text);
            prop_assert!(slug.is_empty() || is_id(&slug));
            prop_assert_eq!(super::slug(&slug), slug);
            if let Some(id) = id_of_name(&text) {
                prop_assert!(is_id(&id));
            }
        }
    }
}
