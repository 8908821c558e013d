//! `agent-events.json`: the events that were taken, where idx0 keeps them. The store has the truth;
//! the file is read once, when the daemon starts, and written whenever an event was taken.

use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_core::Core;
use rookery_model::EventId;
use serde::Serialize;
use tokio::sync::watch;

use super::{AGENT_EVENTS, Found, HANDLED, SCHEMA_VERSION, read_list};
use crate::values::{parse_uuid, uuid};

/// How many events are remembered.
const MAX_EVENTS: usize = 100_000;
/// How many events of the file are counted as taken at once.
const AT_ONCE: usize = 2_000;

/// The file as it is written: keys in the order of the alphabet.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentEvents {
    #[serde(rename = "handledEventIDs")]
    handled: Vec<String>,
    schema_version: u64,
}

/// The file that follows the events that were taken. Cheap to clone.
#[derive(Clone)]
pub struct Mirror {
    /// How many writes were requested.
    requested: Arc<watch::Sender<u64>>,
    /// How many of those requests are done.
    written: watch::Receiver<u64>,
}

impl Mirror {
    /// Counts what the file in this directory names as taken, and follows what is taken from now on.
    /// None if the file must be left alone.
    ///
    /// # Errors
    /// If the events of the file cannot be kept.
    pub async fn start(core: Core, dir: PathBuf) -> rookery_model::Result<Option<Mirror>> {
        let path = dir.join(AGENT_EVENTS);
        let reading = path.clone();
        let was_there = tokio::fs::try_exists(&path).await.unwrap_or(false);
        let found = tokio::task::spawn_blocking(move || read(&reading)).await;
        let found = found.map_err(|error| rookery_model::Error::failed(error.to_string()))?;
        let Some(ids) = found else { return Ok(None) };
        let known: std::collections::HashSet<EventId> =
            core.sessions().handled_events().into_iter().collect();
        let new: Vec<EventId> = ids.into_iter().filter(|id| !known.contains(id)).collect();
        for ids in new.chunks(AT_ONCE) {
            core.sessions().adopt_handled_events(ids.to_vec()).await?;
        }
        let (requested, requests) = watch::channel(0);
        let (done, written) = watch::channel(0);
        tokio::spawn(follow(core, path, requests, done));
        let mirror = Mirror { requested: Arc::new(requested), written };
        if was_there {
            // What the store knows besides, or an empty list where the file made no sense.
            mirror.catch_up().await;
        }
        Ok(Some(mirror))
    }

    /// Waits until a write that began after this call is over, however it went. Those who wait at the
    /// same time share one.
    pub(crate) async fn catch_up(&self) {
        let mut request = 0;
        self.requested.send_modify(|count| {
            *count += 1;
            request = *count;
        });
        // The writer ends only with its runtime.
        let _ = self.written.clone().wait_for(|count| *count >= request).await;
    }
}

/// Writes on request, one write at a time, until the last handle is dropped.
async fn follow(
    core: Core,
    path: PathBuf,
    mut requests: watch::Receiver<u64>,
    done: watch::Sender<u64>,
) {
    while requests.changed().await.is_ok() {
        let request = *requests.borrow_and_update();
        let (core, path) = (core.clone(), path.clone());
        let written =
            tokio::task::spawn_blocking(move || write(&path, &core.sessions().handled_events()));
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "cannot write {AGENT_EVENTS}"),
            Err(error) => tracing::error!(%error, "writing {AGENT_EVENTS} failed"),
        }
        done.send_replace(request);
    }
}

/// The events of the file, or none if it must be left alone. What is no such file is put aside.
fn read(path: &Path) -> Option<Vec<EventId>> {
    let reason = match read_list(path, HANDLED) {
        Found::Missing => return Some(Vec::new()),
        Found::Newer(version) => {
            tracing::warn!("{} has version {version} and is left alone", path.display());
            return None;
        }
        Found::Unreachable(error) => {
            tracing::warn!(%error, "{} cannot be read and is left alone", path.display());
            return None;
        }
        Found::Corrupt(reason) => reason,
        Found::List(list) => {
            let surplus = list.len().saturating_sub(MAX_EVENTS);
            let id = |text: String| parse_uuid(&text).map(EventId::new);
            let ids =
                list.iter().skip(surplus).map(|raw| id(serde_json::from_str(raw.get()).ok()?));
            match ids.collect::<Option<Vec<EventId>>>() {
                Some(ids) => return Some(ids),
                None => "it has something else than ids".to_owned(),
            }
        }
    };
    let aside = path.with_file_name(aside_name(jiff::Zoned::now()));
    tracing::warn!("{} is put aside as {}: {reason}", path.display(), aside.display());
    match std::fs::rename(path, &aside) {
        Ok(()) => Some(Vec::new()),
        Err(error) => {
            tracing::warn!(%error, "{} cannot be put aside", path.display());
            None
        }
    }
}

fn aside_name(now: jiff::Zoned) -> String {
    format!("agent-events.corrupt.{}.json", now.strftime("%Y%m%d-%H%M%S"))
}

fn write(path: &Path, ids: &[EventId]) -> io::Result<()> {
    let newest = &ids[ids.len().saturating_sub(MAX_EVENTS)..];
    let handled = newest.iter().map(|id| uuid(id.get())).collect();
    let file = AgentEvents { handled, schema_version: SCHEMA_VERSION };
    let text = serde_json::to_vec_pretty(&file)?;
    if let Some(dir) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let fresh = path.with_file_name(format!(".{AGENT_EVENTS}.{}", std::process::id()));
    // Left by a process that died and whose number came around again.
    let _ = std::fs::remove_file(&fresh);
    let done = write_new(&fresh, &text).and_then(|()| std::fs::rename(&fresh, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    done
}

fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let found = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        found.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/agent-events.json");
        assert_eq!(read(&path), Some(Vec::new()));
        let ids = [EventId::new(0xAB), EventId::new(1)];
        write(&path, &ids[..1]).unwrap();
        write(&path, &ids).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = "{\n  \"handledEventIDs\": [\n    \
             \"00000000-0000-0000-0000-0000000000AB\",\n    \
             \"00000000-0000-0000-0000-000000000001\"\n  ],\n  \"schemaVersion\": 3\n}";
        assert_eq!(text, expected);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read(&path), Some(ids.to_vec()));
        assert_eq!(names(path.parent().unwrap()), ["agent-events.json"]);
    }

    #[test]
    fn what_cannot_be_read_is_put_aside_and_what_is_newer_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent-events.json");
        for corrupt in ["{", r#"{"handledEventIDs":["x"],"schemaVersion":3}"#] {
            std::fs::write(&path, corrupt).unwrap();
            assert_eq!(read(&path), Some(Vec::new()), "{corrupt}");
            assert!(!path.exists(), "{corrupt}");
            let aside = names(dir.path()).remove(0);
            assert!(aside.starts_with("agent-events.corrupt.20") && aside.ends_with(".json"));
            assert_eq!(std::fs::read_to_string(dir.path().join(&aside)).unwrap(), corrupt);
            std::fs::remove_file(dir.path().join(aside)).unwrap();
        }
        let newer = r#"{"handledEventIDs":7,"schemaVersion":4}"#;
        std::fs::write(&path, newer).unwrap();
        assert_eq!(read(&path), None);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), newer);
        let at: jiff::Zoned = "2026-03-22T15:04:05[UTC]".parse().unwrap();
        assert_eq!(aside_name(at), "agent-events.corrupt.20260322-150405.json");
    }

    #[test]
    fn only_the_newest_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent-events.json");
        let ids: Vec<_> = (0..MAX_EVENTS as u128 + 2).map(EventId::new).collect();
        write(&path, &ids).unwrap();
        let read = read(&path).unwrap();
        assert_eq!((read.len(), read[0]), (MAX_EVENTS, EventId::new(2)));
    }
}
