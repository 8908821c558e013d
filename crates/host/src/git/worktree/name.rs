//! Names of new worktrees and their branches.

use std::path::{Path, PathBuf};

use jiff::Zoned;

const TOKEN: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Where new worktrees lie, below the top of the checkout that they are made from.
pub(super) const PLACE: &str = ".idx0/worktrees";
/// What git has to ignore for it.
pub(super) const EXCLUDED: &str = ".idx0/";

/// A text as a part of a name: lower-case letters and digits, everything else one dash.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// The branch for a session: `idx0/SLUG-yyyyMMdd-HHmm`, in the time zone of `now`. The slug is that
/// of the title, else of the repository's name, else `session`.
pub fn branch_name(title: &str, repository: &str, now: &Zoned) -> String {
    let names = [slug(title), slug(repository), "session".to_owned()];
    let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
    format!("idx0/{name}-{}", now.strftime("%Y%m%d-%H%M"))
}

/// The first, then with `-2`, `-3` and so on.
pub(super) fn numbered(name: &str, attempt: usize) -> String {
    match attempt {
        0 => name.to_owned(),
        more => format!("{name}-{}", more + 1),
    }
}

/// A new place for a worktree: `wt-` and 12 letters and digits.
pub(super) fn place(top: &Path) -> PathBuf {
    let letter = |_| char::from(TOKEN[fastrand::usize(..TOKEN.len())]);
    let token: String = (0..12).map(letter).collect();
    place_of(top, &token)
}

/// The place of a worktree with this token.
pub(super) fn place_of(top: &Path, token: &str) -> PathBuf {
    top.join(PLACE).join(format!("wt-{token}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn branches_are_named_after_title_and_time() {
        let now = jiff::civil::date(2026, 3, 2).at(9, 5, 59, 0);
        let now = now.to_zoned(jiff::tz::TimeZone::UTC).unwrap();
        let name = branch_name("Fix Prompt Glitch!!! / spaces", "repo", &now);
        assert_eq!(name, "idx0/fix-prompt-glitch-spaces-20260302-0905");
        assert_eq!(branch_name("???", "My.Repo", &now), "idx0/my-repo-20260302-0905");
        assert_eq!(branch_name("", "日本", &now), "idx0/session-20260302-0905");
        assert_eq!((numbered("a", 0), numbered("a", 1)), ("a".into(), "a-2".into()));
    }

    #[test]
    fn places_have_a_token() {
        let place = place(Path::new("/r"));
        let name = place.strip_prefix("/r/.idx0/worktrees").unwrap().to_str().unwrap();
        let token = name.strip_prefix("wt-").unwrap();
        assert_eq!(token.len(), 12);
        assert!(token.bytes().all(|byte| TOKEN.contains(&byte)));
    }

    proptest! {
        #[test]
        fn slugs_are_clean(text in any::<String>()) {
            let slug = slug(&text);
            prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
            prop_assert!(slug.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-')));
        }
    }
}
