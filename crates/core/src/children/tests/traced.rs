//! Traces: their order, what they hold, and what becomes of them.

use rookery_model::{TraceId, TurnId};

use super::*;
use crate::children::{TraceContent, TracePage, TracePlace};
use crate::log::{ItemChange, NoticeBody, TraceChange};
use crate::threads::tests::{is_idle, sketch};

/// What is reported of traces and of the parent's tool, in short.
fn brief(body: &NoticeBody, parent_tool: &str) -> Option<String> {
    match body {
        NoticeBody::Trace(TraceChange::Created(summary)) => {
            Some(format!("created {:?}", summary.trace.status))
        }
        NoticeBody::Trace(TraceChange::Item { item, .. }) => Some(match &item.content {
            TraceContent::Prompt(_) => "told".to_owned(),
            TraceContent::Reply(text) => format!("said {text}"),
            TraceContent::Thought(text) => format!("thought {text}"),
            TraceContent::Called { tool, .. } => format!("called {tool}"),
            TraceContent::Returned { is_error, output, .. } => {
                format!("returned {is_error} {output}")
            }
            TraceContent::Status(status) => format!("noted {status:?}"),
            TraceContent::Cut => "cut".to_owned(),
        }),
        NoticeBody::Trace(TraceChange::Status { status, .. }) => Some(format!("{status:?}")),
        NoticeBody::Trace(TraceChange::Ended(summary)) => {
            Some(format!("ended {:?}", summary.trace.exit))
        }
        NoticeBody::Item(_, ItemChange::Completed(item)) => match &item.body {
            ItemBody::Tool(tool) if tool.name == parent_tool => Some(sketch(body)),
            _ => None,
        },
        _ => None,
    }
}

fn steps() -> Value {
    json!([
        {"reasoning": "hm", "tool": "echo", "args": {"text": "hi"}},
        {"text": "found", "usage": {"prompt": 3, "completion": 1}},
    ])
}

async fn traced(core: &Core, thread: ThreadId) -> (Turn, TraceId) {
    let turn =
        run(core, thread, script(json!([task("a", &steps(), &json!({})), {"text": "."}]))).await;
    let trace = core.children().traces(thread, turn.id).await[0].trace.id;
    (turn, trace)
}

#[tokio::test]
async fn a_trace_is_reported_in_order_and_before_the_tool_that_it_is_about() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    start(&core, thread, script(json!([task("a", &steps(), &json!({})), {"text": "."}]))).await;
    let mut seen = Vec::new();
    'reading: loop {
        for notice in reader.next().await.unwrap().iter().filter_map(crate::News::notice) {
            seen.extend(brief(&notice.body, "task"));
            if notice.thread == Some(thread) && is_idle(&notice.body) {
                break 'reading;
            }
        }
    }
    assert_eq!(
        seen,
        [
            "created Queued",
            "Running",
            "noted Running",
            "told",
            "thought hm",
            "called echo",
            "returned false hi",
            "said found",
            "ended Some(Completed)",
            "end tool Completed",
        ]
    );
}

#[tokio::test]
async fn a_trace_is_read_in_parts_and_outlives_the_daemon() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let (turn, trace) = traced(&core, thread).await;
    let whole = core.children().trace(thread, trace, 0, 100).await;
    assert_eq!((whole.items.len(), whole.next), (6, None));
    let first = core.children().trace(thread, trace, 0, 2).await;
    assert_eq!((first.items.as_slice(), first.next), (&whole.items[..2], Some(2)));
    let rest = core.children().trace(thread, trace, 2, 100).await;
    assert_eq!(rest.items, whole.items[2..]);
    assert_eq!(core.children().trace(thread, trace, 99, 5).await, TracePage::default());
    assert_eq!(core.children().trace(thread, TraceId::new(1), 0, 5).await, TracePage::default());
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop(core);
    let core = core_in(home.path()).await;
    let kept = core.children().traces(thread, turn.id).await;
    let summary = &kept[0].trace;
    assert_eq!((summary.title.as_str(), summary.agent.as_str()), ("a", "general"));
    assert_eq!((summary.status, summary.usage.unwrap().prompt), (TraceStatus::Completed, 3));
    assert_eq!(core.children().trace(thread, trace, 0, 100).await, whole);
}

#[tokio::test]
async fn a_trace_that_is_longer_than_is_kept_says_so() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let call = |number: u32| json!({"tool": "echo", "args": {"text": number.to_string()}});
    let steps = json!([{"tools": (0..300).map(call).collect::<Vec<_>>()}, {"text": "done"}]);
    let told = script(json!([task("a", &steps, &json!({})), {"text": "so"}]));
    let turn = run(&core, thread, told).await;
    let summary = &core.children().traces(thread, turn.id).await[0];
    assert_eq!(summary.trace.status, TraceStatus::Completed);
    let whole = core.children().trace(thread, summary.trace.id, 0, 1000).await;
    let cuts: Vec<usize> = whole
        .items
        .iter()
        .filter(|it| it.content == TraceContent::Cut)
        .map(|it| it.index)
        .collect();
    assert_eq!((whole.items.len(), cuts), (512, vec![511]));
}

#[tokio::test]
async fn traces_go_with_their_turns_and_are_copied_with_them() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let (turn, trace) = traced(&core, thread).await;
    let fork = core.threads().fork(thread, None, None).await.unwrap().thread.id;
    let copied = core.threads().read(fork).await.unwrap().turns.unwrap()[0].turn.id;
    let traces = core.children().traces(fork, copied).await;
    assert_eq!(traces.len(), 1);
    assert_ne!(traces[0].trace.id, trace);
    core.threads().roll_back(thread, 1).await.unwrap();
    assert_eq!(core.children().traces(thread, turn.id).await, []);
    let page = core.children().trace(fork, traces[0].trace.id, 0, 100).await;
    assert_eq!(page.items.len(), 6, "the child is still there");
    // With the parent go its children, and what they said.
    let child = children_of(&core, thread)[0];
    core.threads().delete(thread).await.unwrap();
    assert!(core.threads().get(child).is_none());
    let page = core.children().trace(fork, traces[0].trace.id, 0, 100).await;
    assert_eq!(page.items.len(), 1, "how it fared is known without its words");
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop(core);
    let core = core_in(home.path()).await;
    assert_eq!(core.children().traces(fork, copied).await.len(), 1);
}

#[tokio::test]
async fn children_of_ephemeral_threads_are_traced_in_memory() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let choice = rookery_model::Choice { provider: "mock".into(), ..Default::default() };
    let new = crate::NewThread {
        cwd: home.path().into(),
        choice,
        ephemeral: true,
        ..crate::NewThread::default()
    };
    let thread = core.threads().start(new).await.unwrap().thread.id;
    let (turn, trace) = traced(&core, thread).await;
    assert_eq!(core.children().traces(thread, turn.id).await.len(), 1);
    assert_eq!(core.children().trace(thread, trace, 0, 100).await.items.len(), 6);
    assert!(core.look().threads.values().all(|state| state.thread.ephemeral));
}

#[tokio::test]
async fn a_failed_child_is_told_of_by_its_category_alone() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let child = task("a", &json!([{"error": "sk-secret in the words of a provider"}]), &json!({}));
    let turn = run(&core, thread, script(json!([child, {"text": "."}]))).await;
    let traces = core.children().traces(thread, turn.id).await;
    let summary = &traces[0].trace;
    assert_eq!(
        (summary.status, summary.error.as_deref()),
        (TraceStatus::Failed, Some("provider_error"))
    );
    let told = heard(&core, thread).await;
    assert_eq!(told[0], "task: provider_error: the provider of the model failed");
    let quiet = run(&core, thread, says("no child")).await;
    assert_eq!(core.children().traces(thread, quiet.id).await, []);
}

#[tokio::test]
async fn a_child_at_work_is_said_to_be_until_its_end_and_no_longer() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    *core.inner.children.pulse.lock() = std::time::Duration::from_millis(20);
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let steps = json!([{"tool": "echo", "args": {"text": "hi"}}, {"hang": true}]);
    let turn = start(&core, thread, script(json!([task("a", &steps, &json!({}))]))).await;
    let mut told = Vec::new();
    let mut read = async |most: usize, until: fn(&NoticeBody) -> bool| {
        loop {
            let batch = tokio::time::timeout(PATIENCE, reader.next()).await.expect("news").unwrap();
            for notice in batch.iter().filter_map(crate::News::notice) {
                if let NoticeBody::Trace(change) = &notice.body {
                    told.push(change.clone());
                }
                if until(&notice.body) || told.len() > most {
                    return std::mem::take(&mut told);
                }
            }
        }
    };
    // The model says nothing any more, and still it is known that the child works, and for how long.
    let pulses = |told: &[TraceChange]| {
        let pulse = |change: &TraceChange| match change {
            TraceChange::Status { status: TraceStatus::Running, detail, elapsed_ms, .. } => {
                detail.clone().map(|detail| (detail, *elapsed_ms))
            }
            _ => None,
        };
        told.iter().filter_map(pulse).collect::<Vec<_>>()
    };
    let seen = pulses(&read(12, |_| false).await);
    assert!(seen.len() >= 3, "{seen:?}");
    assert!(seen.iter().all(|(detail, _)| detail == "used echo"), "{seen:?}");
    assert!(seen.is_sorted_by_key(|(_, elapsed)| *elapsed) && seen[2].1 > 0, "{seen:?}");
    core.threads().interrupt(thread, Some(turn.id)).unwrap();
    let end = |body: &NoticeBody| matches!(body, NoticeBody::Trace(TraceChange::Ended(_)));
    read(usize::MAX, end).await;
    core.threads().turn_ended(thread, turn.id).await;
    let after = core.log().subscribe(Topics::NOTICES, None);
    drop(after);
    let left = read(usize::MAX, is_idle).await;
    assert!(left.is_empty(), "nothing comes after the end: {left:?}");
}

#[tokio::test]
async fn a_trace_says_where_its_child_works() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let here = thread_in(&core, home.path()).await;
    let (turn, _) = traced(&core, here).await;
    let places = async |thread, turn: TurnId| {
        let traces = core.children().traces(thread, turn).await;
        traces.into_iter().map(|one| one.place).collect::<Vec<_>>()
    };
    assert_eq!(places(here, turn.id).await, [TracePlace::Here]);
    // As a runner would have left it.
    let bind = async |provider: &str| {
        let thread = thread_in(&core, home.path()).await;
        let binding = rookery_model::RunnerBinding {
            destination: "d".into(),
            provider: provider.into(),
            workspace: "/there".into(),
            read_roots: Vec::new(),
        };
        let bound = Box::new(binding);
        core.transact_durably(|tx| {
            tx.world.threads.get_mut(&thread).unwrap().thread.runner = Some(bound.clone());
            Ok(())
        })
        .await
        .unwrap();
        let (turn, _) = traced(&core, thread).await;
        (places(thread, turn.id).await, bound)
    };
    let (tree, runner) = bind("git-worktree").await;
    let path = home.path().to_owned();
    assert_eq!(tree, [TracePlace::Worktree { path, runner: Some(runner) }]);
    let (far, runner) = bind("ssh").await;
    assert_eq!(far, [TracePlace::Elsewhere(runner)]);
}
