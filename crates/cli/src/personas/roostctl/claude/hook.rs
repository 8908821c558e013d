//! `roostctl claude-hook`: reports an event, and is never in the way.

use std::{
    ffi::OsString,
    io::{IsTerminal as _, Read as _},
    process::ExitCode,
    time::Duration,
};

use rookery_roost::{
    errors::Code,
    wire::{
        Int64,
        notification::NotificationCreate,
        tab::{TabClearNotification, TabSetHookActive, TabSetState},
    },
};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::report::{self, Event, OldStep};
use crate::{
    commands::{block_on, done},
    failure::{Failure, Outcome},
    output,
    personas::roostctl::{
        link::{Link, LinkError},
        tab_of,
        target::{self, Flags, non_empty, process_env},
    },
};

/// How long all of it may take; Claude Code waits for its hooks.
const PATIENCE: Duration = Duration::from_millis(1900);
/// The most that is read of a payload.
const LARGEST_PAYLOAD: u64 = 1024 * 1024;

pub(in crate::personas::roostctl) fn run(flags: &Flags, event: &[OsString]) -> ExitCode {
    let outcome = block_on(async {
        let late = |_| Failure::new("it took too long");
        timeout(PATIENCE, report(flags, event)).await.map_err(late)??;
        done()
    });
    if let Err(failure) = outcome
        && non_empty(&process_env, "ROOST_DEBUG").is_some()
    {
        failure.of("Error").report();
    }
    // Whether or not it is read, this is all that is ever said.
    let _ = output::line("{}");
    ExitCode::SUCCESS
}

async fn report(flags: &Flags, event: &[OsString]) -> Outcome<()> {
    // Always read: the writer may fail on a pipe that closes early.
    let payload = tokio::task::spawn_blocking(from_stdin).await;
    let payload = payload.map_err(|error| Failure::new(error.to_string()))??;
    let Some(tab) = tab_of(non_empty(&process_env, "ROOST_TAB_ID")).map_err(Failure::new)? else {
        return Ok(());
    };
    let name = event.first().map(|name| name.to_string_lossy()).unwrap_or_default();
    let event = Event::read(&name);
    let event = event.ok_or_else(|| Failure::new(format!("`{name}` is not a known event")))?;
    let found = target::connect(flags, &process_env).await?;
    Ok(report_event(&mut Link::over(found.stream), event, &payload, tab).await?)
}

fn from_stdin() -> Outcome<Value> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(json!({}));
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().take(LARGEST_PAYLOAD + 1).read_to_end(&mut bytes);
    read.map_err(Failure::doing("cannot read the payload"))?;
    payload(&bytes)
}

/// The payload; nothing at all is one that says nothing.
fn payload(bytes: &[u8]) -> Outcome<Value> {
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST_PAYLOAD) {
        return Err(Failure::new("the payload is larger than 1 MiB"));
    }
    if bytes.trim_ascii().is_empty() {
        return Ok(json!({}));
    }
    serde_json::from_slice(bytes)
        .map_err(|error| Failure::new(format!("cannot read the payload: {error}")))
}

/// Tells the server, in the older way if it knows no other.
async fn report_event(
    link: &mut Link,
    event: Event,
    payload: &Value,
    tab: i64,
) -> Result<(), LinkError> {
    let Some(report) = report::current(event, payload, tab) else { return Ok(()) };
    match link.call_raw(report).await {
        Err(trouble) if trouble.is(Code::UnknownOp) => {}
        outcome => return outcome.map(|_| ()),
    }
    let tab_id = Int64(tab);
    for step in report::old(event, payload) {
        match step {
            OldStep::HookActive(active) => link.call_raw(TabSetHookActive { tab_id, active }).await,
            OldStep::State(state) => link.call_raw(TabSetState { tab_id, state }).await,
            OldStep::ClearNotification => link.call_raw(TabClearNotification { tab_id }).await,
            OldStep::Notify { title, body } => {
                link.call_raw(NotificationCreate { tab_id, title, body }).await
            }
        }?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::personas::roostctl::fake::{Fake, Step};

    #[test]
    fn a_payload_is_read_or_refused() {
        assert_eq!(payload(b" \n").unwrap(), json!({}));
        assert_eq!(payload(br#"{"a":1}"#).unwrap(), json!({"a": 1}));
        let largest = usize::try_from(LARGEST_PAYLOAD).unwrap();
        assert!(payload(&vec![b' '; largest + 1]).is_err());
        assert!(payload(&vec![b' '; largest]).is_ok());
        for bad in [&b"{"[..], b"\xff", &b"[".repeat(100_000)] {
            assert!(payload(bad).is_err());
        }
    }

    #[tokio::test]
    async fn a_current_server_gets_one_report() {
        let server = Fake::default();
        let refused = Step::refuse("tab.agent_report", "not-found", "no tab 3");
        let mut link = server.serve(vec![refused]);
        let trouble = report_event(&mut link, Event::Stop, &json!({"session_id": "s"}), 3).await;
        assert!(trouble.unwrap_err().is(Code::NotFound));
        let asked = server.asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].1["lifecycle"], "finished");
        assert_eq!(asked[0].1["session_id"], "s");
    }

    #[tokio::test]
    async fn an_older_server_gets_the_older_steps() {
        let server = Fake::default();
        let mut link = server.serve(vec![
            Step::refuse("tab.agent_report", "unknown-op", "tab.agent_report"),
            Step::answer("tab.set_hook_active", "{}"),
            Step::answer("tab.set_state", "{}"),
            Step::answer("tab.clear_notification", "{}"),
        ]);
        report_event(&mut link, Event::SessionEnd, &json!({}), 3).await.unwrap();
        let asked = server.asked();
        assert_eq!(asked[1].1, json!({"tab_id": "3", "active": false}));
        assert_eq!(asked[2].1, json!({"tab_id": "3", "state": "none"}));
        assert_eq!(asked[3].1, json!({"tab_id": "3"}));
    }

    #[tokio::test]
    async fn what_says_nothing_is_not_sent() {
        let server = Fake::default();
        let mut link = server.serve(vec![]);
        report_event(&mut link, Event::SessionEnd, &json!({"agent_id": "a"}), 3).await.unwrap();
        assert!(server.asked().is_empty());
    }
}
