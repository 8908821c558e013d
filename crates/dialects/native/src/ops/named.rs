//! What a request names: a session by a word, anything else by its id or the end of it.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rookery_core::{Core, Session, SessionError};
use rookery_model::{self as model, WorkPlace};

use crate::Error;

/// The fewest letters that name something by the end of its id.
pub(super) const SHORTEST_END: usize = 4;

/// The session that a word means.
pub(super) fn session(core: &Core, field: &'static str, word: &str) -> Result<Session, Error> {
    let shown: String = word.chars().take(64).collect();
    core.sessions().find(word).map_err(|error| match error {
        SessionError::Unknown => {
            model::Error::not_found(format!("no session is called {shown:?}")).into()
        }
        SessionError::Ambiguous => {
            Error::invalid(field, format!("several sessions are called {shown:?}; give an id"))
        }
    })
}

/// The place that a session or a work tree names: exactly one of them, the tree by any directory of it.
pub(super) async fn place(
    core: &Core,
    field: &'static str,
    word: Option<&str>,
    tree: Option<&Path>,
) -> Result<WorkPlace, Error> {
    match (word, tree) {
        (Some(word), None) => Ok(WorkPlace::Session(session(core, field, word)?.id)),
        (None, Some(directory)) => {
            absolute("tree", directory)?;
            // Before git is asked: an agent has no tree to speak of.
            core.check_place(&WorkPlace::Tree(directory.to_owned()))?;
            Ok(WorkPlace::Tree(core.sessions().tree_at(directory).await?))
        }
        (Some(_), Some(_)) | (None, None) => {
            Err(Error::invalid(field, format!("give either {field} or tree")))
        }
    }
}

/// The work tree around a directory, if one was named.
pub(super) async fn tree_filter(
    core: &Core,
    directory: Option<&Path>,
) -> Result<Option<PathBuf>, Error> {
    let Some(directory) = directory else { return Ok(None) };
    absolute("tree", directory)?;
    Ok(Some(core.sessions().tree_at(directory).await?))
}

/// The session that a word means, if one was said at all.
pub(super) fn session_filter(
    core: &Core,
    word: Option<&str>,
) -> Result<Option<model::SessionId>, Error> {
    word.map(|word| session(core, "session", word).map(|found| found.id)).transpose()
}

/// One of the known ids, by all of it or by its end. A whole id is taken even if it is not known.
pub(super) fn pick<I: Copy + Display + FromStr>(
    what: &str,
    known: impl IntoIterator<Item = I>,
    text: &str,
) -> Result<I, Error> {
    let text = text.trim().to_ascii_lowercase();
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let shown: String = text.chars().take(64).collect();
    let mut fitting = known.into_iter().filter(|id| id.to_string().ends_with(&text));
    match (fitting.next(), fitting.next()) {
        (Some(id), None) if text.len() >= SHORTEST_END => Ok(id),
        (Some(_), Some(_)) if text.len() >= SHORTEST_END => Err(Error::invalid(
            "id",
            format!("several {what}s end with {shown:?}; use more characters of the id"),
        )),
        _ => Err(model::Error::not_found(format!("no {what} {shown:?}")).into()),
    }
}

/// A path has to say where it is without a current directory.
pub(super) fn absolute(field: &'static str, path: &Path) -> Result<(), Error> {
    if path.is_absolute() {
        return Ok(());
    }
    Err(Error::invalid(field, format!("{field} must be an absolute path")))
}

/// The text if there is more to it than blanks, else what is usual.
pub(super) fn text_or(text: Option<String>, usual: &str) -> String {
    text.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| usual.to_owned())
}

#[cfg(test)]
mod tests {
    use model::ReviewId;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_end_of_an_id_is_enough_if_no_other_ends_so() {
        let known = [ReviewId::new(0x1_0000_abcd), ReviewId::new(0x2_0001_abcd)];
        let name = |text: &str| pick("review", known, text).ok();
        assert_eq!(name("0000ABCD"), Some(known[0]));
        assert_eq!(name("1abcd"), Some(known[1]));
        assert_eq!(name(&known[1].to_string()), Some(known[1]));
        for wrong in ["", "bcd", "abcd", "00000"] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
        let unknown = ReviewId::new(7);
        assert_eq!(name(&unknown.to_string()), Some(unknown));
    }

    proptest! {
        #[test]
        fn any_text_names_one_or_none(text in any::<String>()) {
            let known = [ReviewId::new(1), ReviewId::new(2)];
            if let Ok(id) = pick("review", known, &text) {
                prop_assert!(id.to_string().ends_with(&text.trim().to_ascii_lowercase()));
            }
        }
    }
}
