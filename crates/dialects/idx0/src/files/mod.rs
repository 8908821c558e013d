//! The files of an idx0 directory: how one is read and written. What is in them is decided elsewhere.

mod import;
mod mirror;
mod records;

pub(crate) use import::Directory;
pub use mirror::Mirror;

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::value::RawValue;

/// The newest version of the files that is understood.
pub(crate) const SCHEMA_VERSION: u64 = 3;
/// The file of the events that were taken.
pub(crate) const AGENT_EVENTS: &str = "agent-events.json";
/// The list within it.
pub(crate) const HANDLED: &str = "handledEventIDs";
/// The largest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// What became of reading a file.
#[derive(Debug)]
pub(crate) enum Found {
    /// There is none.
    Missing,
    /// Its elements, each as it is written.
    List(Vec<Box<RawValue>>),
    /// A later program wrote it.
    Newer(u64),
    /// It is not what it should be.
    Corrupt(String),
    /// It is there and cannot be read.
    Unreachable(io::Error),
}

/// Reads the list of this name out of a file.
pub(crate) fn read_list(path: &Path, name: &str) -> Found {
    let bytes = match read_bytes(path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Found::Corrupt(format!("it is larger than {MAX_BYTES} bytes")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Found::Missing,
        Err(error) => return Found::Unreachable(error),
    };
    parse_list(&bytes, name)
}

/// The bytes of a regular file, or nothing if it is too large.
fn read_bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // Whatever else has this name, such as a pipe, would be waited for.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_BYTES).then_some(bytes))
}

fn parse_list(bytes: &[u8], name: &str) -> Found {
    let members: BTreeMap<String, &RawValue> = match serde_json::from_slice(bytes) {
        Ok(members) => members,
        Err(error) => return Found::Corrupt(error.to_string()),
    };
    let version = members.get("schemaVersion").map(|raw| raw.get().parse::<u64>());
    match version {
        Some(Ok(version)) if version > SCHEMA_VERSION => return Found::Newer(version),
        Some(Ok(_)) | None => {}
        Some(Err(_)) => return Found::Corrupt("schemaVersion is not a number".to_owned()),
    }
    let Some(list) = members.get(name) else {
        return Found::Corrupt(format!("{name} is missing"));
    };
    match serde_json::from_str(list.get()) {
        Ok(list) => Found::List(list),
        Err(_) => Found::Corrupt(format!("{name} is not a list")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        let found = parse_list(text.as_bytes(), "items");
        if let Found::List(list) = &found {
            return list.iter().map(|one| one.get()).collect::<Vec<_>>().join("+");
        }
        format!("{found:?}")
    }

    #[test]
    fn lists_are_found_whatever_their_elements_are() {
        assert_eq!(
            shown(r#"{"items":[1,{"a":[]}, null],"schemaVersion":3}"#),
            r#"1+{"a":[]}+null"#
        );
        assert_eq!(shown(r#"{"items":[]}"#), "");
        assert_eq!(shown(r#"{"schemaVersion":4}"#), "Newer(4)");
        for corrupt in
            ["", "[]", "{", r#"{"items":{}}"#, "{}", r#"{"items":[],"schemaVersion":"3"}"#]
        {
            assert!(shown(corrupt).starts_with("Corrupt"), "{corrupt}: {}", shown(corrupt));
        }
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(read_list(&dir.path().join("none"), "x"), Found::Missing));
        assert!(matches!(read_list(dir.path(), "x"), Found::Unreachable(_)));
    }

    proptest! {
        #[test]
        fn nothing_that_is_read_panics(text in ".{0,200}") {
            let _ = parse_list(text.as_bytes(), "items");
            let _ = parse_list(format!("{{\"items\":[{text}]}}").as_bytes(), "items");
        }
    }
}
