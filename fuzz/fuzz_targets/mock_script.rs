//! Scripts of the mock: any text makes a model call that ends exactly once, the same one each time, and
//! a conversation can be led to its end by them.
#![no_main]

use std::cell::LazyCell;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use rookery_agent::provider::{Entry, EntryBody, ModelEvent, ModelRequest, Provider as _};
use rookery_agent::providers::Retry;
use rookery_agent::providers::mock::Mock;
use tokio::runtime::{Builder, Runtime};

/// Longer than all that a script can wait for; the clock stands still and jumps.
const FOREVER: Duration = Duration::from_secs(1_000_000_000);

/// How many calls of a script are made.
const CALLS: u64 = 6;

thread_local! {
    static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
        Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
    });
}

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let script = format!("MOCK_SCRIPT:{text}");
    RUNTIME.with(|runtime| {
        runtime.block_on(converse(script));
        runtime.block_on(converse(text.into_owned()));
    });
});

/// A conversation that begins with this, as long as the mock has something to say.
async fn converse(begin: String) {
    let mut entries = vec![entry(0, EntryBody::User { text: begin, images: Vec::new() })];
    for step in 1..=CALLS {
        let events = ask(&entries).await;
        assert_eq!(events, ask(&entries).await, "the same conversation has the same answer");
        for event in events {
            match event {
                ModelEvent::Text { text, .. } => {
                    entries.push(entry(step, EntryBody::Agent { text }));
                }
                ModelEvent::Reasoning { text, .. } => {
                    entries.push(entry(step, EntryBody::Reasoning { text }));
                }
                ModelEvent::ToolCall { id, name, arguments, .. } => {
                    let result = EntryBody::ToolResult {
                        id: id.clone(),
                        text: String::new(),
                        is_error: false,
                        images: Vec::new(),
                    };
                    entries.push(entry(step, EntryBody::ToolCall { id, name, arguments }));
                    entries.push(entry(step, result));
                }
                _ => {}
            }
        }
        entries.push(entry(step, EntryBody::User { text: "go on".into(), images: Vec::new() }));
    }
}

fn entry(step: u64, body: EntryBody) -> Entry {
    Entry { step, body, opaque: None }
}

/// All that comes back; a call that hangs is given up.
async fn ask(entries: &[Entry]) -> Vec<ModelEvent> {
    let mock = Mock::new("mock", "Mock", Retry::default());
    let request = ModelRequest { entries: entries.to_vec(), ..ModelRequest::default() };
    let mut stream = mock.call(request);
    let mut events = Vec::new();
    let drained = async {
        while let Some(event) = stream.events.recv().await {
            events.push(event);
        }
    };
    let has_ended = tokio::time::timeout(FOREVER, drained).await.is_ok();
    let is_end =
        |event: &ModelEvent| matches!(event, ModelEvent::Done { .. } | ModelEvent::Failed(_));
    assert_eq!(events.iter().filter(|event| is_end(event)).count(), usize::from(has_ended));
    assert_eq!(events.last().is_some_and(is_end), has_ended, "{events:?}");
    events
}
