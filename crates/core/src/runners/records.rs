//! What is written down of destinations, and how it is read again. Secrets are not part of it; their names
//! are, so that it can be said what has to be given again.

use std::path::PathBuf;
use std::sync::Arc;

use rookery_runners::Manifest;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Destination, RunnerState, Table, TakenSnapshot, find};

/// The table as a text; none if there is nothing to write down.
pub(super) fn write(table: &Table) -> Option<String> {
    if table.destinations.is_empty() {
        return None;
    }
    let one = |(id, it): (&String, &Destination)| {
        let (config, mut secrets) = it.provider.without_secrets(&it.config);
        secrets.extend(it.missing.iter().cloned());
        let (session, metadata) = it.session.clone().unzip();
        json!({
            "id": id,
            "provider": it.provider.id,
            "config": config,
            "secrets": secrets,
            "manifest": manifest(&it.manifest),
            "cwd": it.cwd,
            "state": word(it.state),
            "session": session,
            "metadata": metadata,
            "snapshot": it.snapshot.as_ref().map(snapshot),
        })
    };
    let destinations: Vec<Value> = table.destinations.iter().map(one).collect();
    let (selected, made) = (&table.selected, table.made);
    Some(json!({"selected": selected, "made": made, "destinations": destinations}).to_string())
}

/// The table of a text. What cannot be read is left out.
pub(super) fn read(text: &str) -> Table {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let list = value.get("destinations").and_then(Value::as_array);
    let destinations = list.into_iter().flatten().filter_map(destination).collect();
    let made = value.get("made").and_then(Value::as_u64).unwrap_or_default();
    let mut table = Table { selected: None, destinations, made };
    let selected = value.get("selected").and_then(Value::as_str);
    table.selected = selected.filter(|id| table.destinations.contains_key(*id)).map(str::to_owned);
    table
}

fn destination(value: &Value) -> Option<(String, Destination)> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let provider = find(text("provider")?)?;
    let secrets = value.get("secrets").and_then(Value::as_array).into_iter().flatten();
    let missing: Vec<String> = secrets.filter_map(Value::as_str).map(str::to_owned).collect();
    let session = text("session").map(str::to_owned);
    let metadata = value.get("metadata").cloned().unwrap_or_default();
    let state = match text("state") {
        Some("paused") => RunnerState::Paused,
        Some("detached") => RunnerState::Detached,
        Some("failed") => RunnerState::Failed,
        _ if session.is_some() => RunnerState::Active,
        _ => RunnerState::Configured,
    };
    let read = Destination {
        provider,
        config: value.get("config").cloned().unwrap_or_default(),
        missing,
        manifest: Manifest::read(value.get("manifest").unwrap_or(&Value::Null)).ok()?,
        cwd: PathBuf::from(text("cwd")?),
        state,
        session: session.map(|session| (session, metadata)),
        snapshot: value.get("snapshot").and_then(taken),
        live: None,
        gate: Arc::default(),
        asking: Arc::default(),
        is_permitted: false,
        used: Instant::now(),
    };
    Some((text("id")?.to_owned(), read))
}

fn snapshot(taken: &TakenSnapshot) -> Value {
    let TakenSnapshot { provider, id, metadata } = taken;
    json!({"provider": provider, "id": id, "metadata": metadata})
}

fn taken(value: &Value) -> Option<TakenSnapshot> {
    let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let metadata = value.get("metadata").cloned().unwrap_or_default();
    Some(TakenSnapshot { provider: text("provider")?, id: text("id")?, metadata })
}

fn manifest(manifest: &Manifest) -> Value {
    serde_json::to_value(manifest).unwrap_or_default()
}

fn word(state: RunnerState) -> &'static str {
    match state {
        RunnerState::Configured | RunnerState::Deleted => "configured",
        RunnerState::Active => "active",
        RunnerState::Paused => "paused",
        RunnerState::Detached => "detached",
        RunnerState::Failed => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_written_is_read_again_without_secrets() {
        let config = json!({"base_url": "https://runner.example", "token": "hunter2"});
        let metadata = json!({"label": "before"});
        let snapshot =
            TakenSnapshot { provider: "hosted-http".into(), id: "snap-1".into(), metadata };
        let destination = Destination {
            provider: find("hosted-http").unwrap(),
            config,
            missing: Vec::new(),
            manifest: Manifest::default(),
            cwd: "/work".into(),
            state: RunnerState::Active,
            session: Some(("rs-1".into(), json!({"remote_session": "s"}))),
            snapshot: Some(snapshot.clone()),
            live: None,
            gate: Arc::default(),
            asking: Arc::default(),
            is_permitted: false,
            used: Instant::now(),
        };
        let table = Table {
            selected: Some("box".into()),
            destinations: [("box".to_owned(), destination)].into(),
            made: 3,
        };
        let text = write(&table).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
        let again = read(&text);
        assert_eq!((again.selected.as_deref(), again.made), (Some("box"), 3));
        let again = &again.destinations["box"];
        assert_eq!(again.missing, ["token"]);
        assert_eq!(again.state, RunnerState::Active);
        assert_eq!(again.session.as_ref().unwrap().0, "rs-1");
        assert_eq!(again.snapshot, Some(snapshot));
    }

    #[test]
    fn what_is_damaged_is_left_out() {
        for text in ["", "[]", "{", r#"{"destinations": [{"id": 3}, {"provider": "none"}]}"#] {
            assert!(read(text).destinations.is_empty(), "{text}");
        }
    }
}
