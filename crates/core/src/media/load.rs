//! Artifacts of an earlier daemon: read from their records. One that cannot be read is left out and stays
//! where it is; what a daemon that was killed left of an unfinished one is removed.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use rookery_host::{Beneath, EntryKind, files};
use rookery_media::{Artifact, LARGEST_RECORD, read_record};

/// What records end with.
const RECORD: &str = ".json";
/// What the name of every file that we make begins with.
const OURS: &str = "media-";
/// Entries of the directory that are looked at.
const MOST_ENTRIES: usize = 100_000;

/// All records in a directory. Blocks.
pub(super) fn records(dir: &Path) -> Vec<Artifact> {
    let listed = Beneath::new(dir).and_then(|below| {
        let entries = below.list(Path::new(""), MOST_ENTRIES)?;
        Ok((below, entries))
    });
    let (below, entries) = match listed {
        Ok(listed) => listed,
        // It is made with the first artifact.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            tracing::warn!(%error, dir = %dir.display(), "artifacts cannot be read");
            return Vec::new();
        }
    };
    let files = entries.into_iter().filter(|(_, kind)| *kind == EntryKind::File);
    let names: Vec<String> = files.filter_map(|(name, _)| name.into_string().ok()).collect();
    let mut found = Vec::new();
    for id in names.iter().filter_map(|name| name.strip_suffix(RECORD)) {
        match read(&below, id) {
            Ok(artifact) => found.push(artifact),
            Err(why) => tracing::warn!(id, why, "the record of an artifact is left out"),
        }
    }
    remove_unfinished(dir, &names);
    found
}

fn read(below: &Beneath, id: &str) -> Result<Artifact, String> {
    let name = format!("{id}{RECORD}");
    let limit = usize::try_from(LARGEST_RECORD).unwrap_or(usize::MAX);
    let bytes = below.read_start(Path::new(&name), limit).map_err(|error| error.to_string())?;
    read_record(id, &bytes)
}

/// Removes files that are named as ours are and have no record, good or bad: their artifact was never
/// there, or is not any more.
fn remove_unfinished(dir: &Path, names: &[String]) {
    let recorded: HashSet<&str> =
        names.iter().filter_map(|name| name.strip_suffix(RECORD)).collect();
    for name in names.iter().filter(|name| !name.ends_with(RECORD)) {
        let id = name.split('.').next().unwrap_or_default();
        let is_ours = id.strip_prefix(OURS).is_some_and(|rest| uuid::Uuid::try_parse(rest).is_ok());
        if is_ours && !recorded.contains(id) {
            tracing::info!(name, "a file of an unfinished artifact is removed");
            if let Err(error) = files::remove(&dir.join(name)) {
                tracing::warn!(%error, name, "it cannot be removed");
            }
        }
    }
}
