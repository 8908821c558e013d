//! Turns over the mock provider, through the real store and the real log.

mod assigned;
mod closed;
mod modes;
mod news;
mod unasked;

use std::path::Path;
use std::time::Duration;

use rookery_agent::settings::Settings;
use rookery_agent::turn::Message;
use rookery_model::DecisionQuery;
use rookery_model::{
    Answer, Asked, Choice, DecisionSource, ItemBody, ItemStatus, Mode, ThreadId, Turn,
    TurnErrorKind, TurnStatus, Words as _,
};
use serde_json::json;

use super::{NewThread, NewTurn, StartedTurn, ThreadQuery};
use crate::core::{Core, CoreConfig, StopKind};
use crate::log::{
    ItemChange, News, NoticeBody, RequestChange, Subscription, ThreadChange, Topics, TurnChange,
};
use crate::{AgentConfig, KeeperLaunch, TerminalLimits, UiConfig};

/// How long anything here may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn core_in(home: &Path) -> Core {
    core_with(home, Settings::default()).await
}

pub(crate) async fn core_with(home: &Path, settings: Settings) -> Core {
    let config = CoreConfig {
        state_dir: Some(home.join("state")),
        keeper: KeeperLaunch {
            exe: "/nonexistent/keeper".into(),
            args: Vec::new(),
            socket: home.join("keeper.sock"),
        },
        home: home.to_owned(),
        env: Vec::new(),
        shell: "/bin/sh".to_owned(),
        default_tool: None,
        max_running_tasks: crate::tasks::USUAL_RUNNING_TASKS,
        child_env: Vec::new(),
        limits: TerminalLimits::default(),
        palette: rookery_term::Palette::default(),
        shares_ids: true,
        ui: UiConfig::default(),
        tab_env: Vec::new(),
        resources: None,
        helpers: None,
        agent: AgentConfig { cwd: home.to_owned(), settings, ..AgentConfig::default() },
    };
    Core::start(config).await.unwrap()
}

pub(crate) async fn thread_in(core: &Core, home: &Path) -> ThreadId {
    let choice = Choice { provider: "mock".into(), ..Choice::default() };
    let new = NewThread { cwd: home.to_owned(), choice, ..NewThread::default() };
    core.threads().start(new).await.unwrap().thread.id
}

pub(crate) fn says(text: impl Into<String>) -> NewTurn {
    let message = Message { text: text.into(), ..Message::default() };
    NewTurn { message, ..NewTurn::default() }
}

pub(crate) fn script(steps: serde_json::Value) -> NewTurn {
    says(format!("MOCK_SCRIPT:{steps}"))
}

pub(crate) async fn start(core: &Core, thread: ThreadId, new: NewTurn) -> Turn {
    match core.threads().start_turn(thread, new).await.unwrap() {
        StartedTurn::New(turn) => *turn,
        StartedTurn::Steered(turn) => panic!("turn {turn} ran already"),
    }
}

/// A turn to its end.
pub(crate) async fn run(core: &Core, thread: ThreadId, new: NewTurn) -> Turn {
    let turn = start(core, thread, new).await;
    tokio::time::timeout(PATIENCE, core.threads().turn_ended(thread, turn.id))
        .await
        .expect("the turn ends");
    core.threads().turn(thread, turn.id).await.unwrap().unwrap()
}

/// Reads the log until something fits; gives all that came, in short.
pub(crate) async fn until(
    reader: &mut Subscription,
    is_last: impl Fn(&NoticeBody) -> bool,
) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        let batch = tokio::time::timeout(PATIENCE, reader.next()).await.expect("news").unwrap();
        for notice in batch.iter().filter_map(News::notice) {
            seen.push(sketch(&notice.body));
            if is_last(&notice.body) {
                return seen;
            }
        }
    }
}

pub(crate) fn sketch(body: &NoticeBody) -> String {
    match body {
        NoticeBody::Thread(ThreadChange::Started(..)) => "thread started".into(),
        NoticeBody::Thread(ThreadChange::Status(status)) => match status.active_turn {
            Some(_) => format!("running {:?}", status.flags),
            None => "idle".into(),
        },
        NoticeBody::Turn(TurnChange::Started(_)) => "turn started".into(),
        NoticeBody::Turn(TurnChange::CallStarted(_, number, _)) => format!("call {number}"),
        NoticeBody::Turn(TurnChange::CallEnded(_, number, call)) => {
            format!("call {number} over {:?}", call.error)
        }
        NoticeBody::Turn(TurnChange::Lifecycle(life)) => format!("life {:?}", life.state),
        NoticeBody::Turn(TurnChange::Ended(turn)) => format!("turn {:?}", turn.status),
        NoticeBody::Item(_, ItemChange::Started(item)) => format!("start {}", kind(&item.body)),
        NoticeBody::Item(_, ItemChange::Delta(..)) => "delta".into(),
        NoticeBody::Item(_, ItemChange::Completed(item)) => {
            format!("end {} {:?}", kind(&item.body), item.status)
        }
        NoticeBody::Request(RequestChange::Asked(_)) => "asked".into(),
        NoticeBody::Request(RequestChange::Settled(..)) => "settled".into(),
        NoticeBody::Files(_) => "files".into(),
        other => format!("{other:?}"),
    }
}

fn kind(body: &ItemBody) -> &'static str {
    match body {
        ItemBody::User { .. } => "user",
        ItemBody::Agent { .. } => "agent",
        ItemBody::Reasoning { .. } => "reasoning",
        ItemBody::Tool(_) => "tool",
        ItemBody::Compaction { .. } => "compaction",
        ItemBody::Error { .. } => "error",
        ItemBody::Raw { .. } => "raw",
    }
}

pub(crate) fn is_idle(body: &NoticeBody) -> bool {
    matches!(body, NoticeBody::Thread(ThreadChange::Status(status)) if status.active_turn.is_none())
}

pub(crate) fn is_asked(body: &NoticeBody) -> bool {
    matches!(body, NoticeBody::Request(RequestChange::Asked(_)))
}

#[tokio::test]
async fn a_plain_turn_is_reported_in_the_promised_order() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    start(&core, thread, says("hello")).await;
    let seen = until(&mut reader, is_idle).await;
    assert_eq!(
        seen,
        [
            "turn started",
            "life Running",
            "running []",
            "end user Completed",
            "call 0",
            "start agent",
            "delta",
            "delta",
            "delta",
            "end agent Completed",
            "call 0 over None",
            "life Completed",
            "turn Completed",
            "idle"
        ]
    );
    let read = core.threads().read(thread).await.unwrap();
    let turns = read.turns.unwrap();
    assert_eq!((turns.len(), turns[0].items.len()), (1, 2));
    assert_eq!(read.thread.preview, "hello");
    assert_eq!(read.thread.message_count, 2);
}

#[tokio::test]
async fn an_approval_is_asked_for_and_the_answer_decides() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let file = home.path().join("a.txt");
    let write = json!([
        {"tool": "write_file", "args": {"path": "a.txt", "content": "hi"}, "id": "w"},
        {"text": "done"}
    ]);
    for (approved, expected) in [(false, None), (true, Some("hi"))] {
        let thread = thread_in(&core, home.path()).await;
        let mut reader = core.log().subscribe(Topics::NOTICES, None);
        let turn = start(&core, thread, script(write.clone())).await;
        let seen = until(
            &mut reader,
            |body| matches!(body, NoticeBody::Thread(ThreadChange::Status(status)) if !status.flags.is_empty()),
        )
        .await;
        assert_eq!(
            seen[seen.len() - 3..],
            ["call 0 over None", "asked", "running [ApprovalRequired]"]
        );
        let request = core.requests().list().pop().unwrap();
        assert!(matches!(&request.asked, Asked::Approval { .. }));
        let answer = match approved {
            true => Answer::Approved { remember: false },
            false => Answer::Denied { message: Some("not now".into()) },
        };
        assert!(
            core.requests().resolve(request.id, answer.clone(), "test").await.unwrap().is_now()
        );
        assert!(!core.requests().resolve(request.id, answer, "test").await.unwrap().is_now());
        let seen = until(&mut reader, is_idle).await;
        // What was edited is said before the call is over.
        let expected_notices: &[&str] = match approved {
            true => &["settled", "running []", "files", "end tool Completed"],
            false => &["settled", "running []", "end tool Failed"],
        };
        assert_eq!(seen[..expected_notices.len()], *expected_notices);
        assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), expected);
        let turn = core.threads().turn(thread, turn.id).await.unwrap().unwrap();
        assert_eq!(turn.status, TurnStatus::Completed);
    }
}

#[tokio::test]
async fn modes_decide_without_asking() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let write = |name: &str| {
        script(
            json!([{"tool": "write_file", "args": {"path": name, "content": "x"}}, {"text": "ok"}]),
        )
    };
    let thread = thread_in(&core, home.path()).await;
    core.threads().set_mode(Some(thread), Mode::Plan, None, None).await.unwrap();
    run(&core, thread, write("plan")).await;
    assert!(!home.path().join("plan").exists());
    core.threads().set_mode(Some(thread), Mode::AcceptAll, None, None).await.unwrap();
    run(&core, thread, write("all")).await;
    assert!(home.path().join("all").exists());
    // What waits is judged again when the mode changes.
    core.threads().set_mode(Some(thread), Mode::Default, None, None).await.unwrap();
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    start(&core, thread, write("later")).await;
    until(&mut reader, is_asked).await;
    core.threads().set_mode(Some(thread), Mode::Bypass, None, None).await.unwrap();
    let seen = until(&mut reader, is_idle).await;
    assert!(seen.iter().any(|one| one.starts_with("Warning") && one.contains("bypass")));
    assert!(home.path().join("later").exists());
    let query = DecisionQuery { thread: Some(thread), ..DecisionQuery::default() };
    let decided = core.requests().decisions(query, 100).await.unwrap();
    let words: Vec<_> = decided.iter().map(|one| one.decision.verdict.word()).collect();
    assert_eq!(words, ["denied", "auto_approved", "requires_approval", "approved"]);
    let last = &decided[3].decision;
    assert_eq!((last.by.as_deref(), last.source), (Some("mode"), DecisionSource::Model));
    assert_eq!(last.request, decided[2].decision.request);
    assert!(last.subject.contains(r#""path":"later""#), "{}", last.subject);
}

#[tokio::test]
async fn bypass_is_not_warned_of_where_that_is_turned_off() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    core.inner.agents.change_settings(|settings| settings.policy.warn_on_bypass = false);
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    core.threads().set_mode(None, Mode::Bypass, None, None).await.unwrap();
    core.threads().set_mode(None, Mode::Default, None, None).await.unwrap();
    let is_default = |body: &NoticeBody| {
        matches!(body, NoticeBody::Thread(ThreadChange::Mode { mode: Mode::Default, .. }))
    };
    let seen = until(&mut reader, is_default).await;
    assert!(!seen.iter().any(|one| one.starts_with("Warning")), "{seen:?}");
}

#[tokio::test]
async fn a_plan_needs_a_summary_unless_the_settings_say_otherwise() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    core.threads().set_mode(Some(thread), Mode::Plan, None, None).await.unwrap();
    let plan =
        || script(json!([{"tool": "exit_plan_mode", "args": {"summary": " "}}, {"text": "x"}]));
    run(&core, thread, plan()).await;
    assert_eq!(core.threads().mode(Some(thread)), Mode::Plan);
    core.inner.agents.change_settings(|settings| {
        settings.policy.exit_plan_requires_summary = false;
    });
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    start(&core, thread, plan()).await;
    until(&mut reader, is_asked).await;
    let id = core.requests().list()[0].id;
    assert!(
        core.requests()
            .resolve(id, Answer::Approved { remember: false }, "test")
            .await
            .unwrap()
            .is_now()
    );
    until(&mut reader, is_idle).await;
    assert_eq!(core.threads().mode(Some(thread)), Mode::Default);
}

#[tokio::test]
async fn a_stop_waits_for_turns_as_long_as_was_set() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    core.inner.agents.change_settings(|settings| {
        settings.lifecycle.shutdown_drain_timeout = Duration::ZERO;
        settings.lifecycle.process_grace_timeout = Duration::from_millis(7);
    });
    assert_eq!(core.inner.agents.lifecycle().process_grace_timeout, Duration::from_millis(7));
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    start(&core, thread, script(json!([{"hang": true}]))).await;
    until(&mut reader, |body| matches!(body, NoticeBody::Item(_, ItemChange::Completed(..)))).await;
    let begun = std::time::Instant::now();
    core.threads().rest_turns().await;
    assert!(begun.elapsed() < Duration::from_secs(4));
    until(&mut reader, is_idle).await;
}

#[tokio::test]
async fn interrupting_keeps_what_was_said_and_takes_back_what_was_asked() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn = start(&core, thread, script(json!([{"text": "half of it"}, {"hang": true}]))).await;
    until(&mut reader, |body| matches!(body, NoticeBody::Item(_, ItemChange::Delta(..)))).await;
    core.threads().interrupt(thread, Some(turn.id)).unwrap();
    until(&mut reader, is_idle).await;
    let read = core.threads().read(thread).await.unwrap().turns.unwrap();
    assert_eq!(read[0].turn.status, TurnStatus::Interrupted);
    let ItemBody::Agent { text, partial, .. } = &read[0].items[1].body else { panic!("no text") };
    assert!(*partial && !text.is_empty());
    let asks = json!([{"tool": "write_file", "args": {"path": "n", "content": ""}}]);
    let turn = start(&core, thread, script(asks)).await;
    until(&mut reader, is_asked).await;
    core.threads().interrupt(thread, Some(turn.id)).unwrap();
    let seen = until(&mut reader, is_idle).await;
    assert!(seen.contains(&"settled".to_owned()), "{seen:?}");
    assert!(seen.contains(&"end tool Failed".to_owned()), "{seen:?}");
    assert!(core.requests().list().is_empty());
    assert!(!home.path().join("n").exists());
}

#[tokio::test]
async fn a_turn_that_waits_goes_on_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = json!([
        {"text": "first"},
    ]);
    run(&core, thread, script(write)).await;
    let steps = json!([
        {"tool": "write_file", "args": {"path": "b", "content": "b"}, "id": "w"},
        {"text": "written"}
    ]);
    let turn = start(&core, thread, script(steps)).await;
    until(&mut reader, is_asked).await;
    core.stop(StopKind::KeepTerminals).await.unwrap();
    let request = core.requests().list().pop().unwrap();
    drop((reader, core));
    let core = core_in(home.path()).await;
    assert_eq!(core.requests().list(), std::slice::from_ref(&request));
    let seen = core.threads().get(thread).unwrap();
    assert_eq!(seen.status.active_turn, Some(turn.id));
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    core.requests()
        .resolve(request.id, Answer::Approved { remember: false }, "test")
        .await
        .unwrap();
    until(&mut reader, is_idle).await;
    let ended = core.threads().turn(thread, turn.id).await.unwrap().unwrap();
    assert_eq!(ended.status, TurnStatus::Completed);
    assert_eq!(std::fs::read_to_string(home.path().join("b")).unwrap(), "b");
}

#[tokio::test]
async fn late_words_are_never_lost() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut said = 0;
    for round in 0..40 {
        said += 1;
        let turn = start(&core, thread, says(format!("round {round}"))).await;
        for _ in 0..round % 4 {
            tokio::task::yield_now().await;
        }
        match core.threads().start_turn(thread, says("and more")).await.unwrap() {
            StartedTurn::New(_) | StartedTurn::Steered(_) => said += 1,
        }
        core.threads().turn_ended(thread, turn.id).await;
        core.threads().stop_turn(thread).await.unwrap();
    }
    let read = core.threads().read(thread).await.unwrap();
    let items = read.turns.unwrap().into_iter().flat_map(|seen| seen.items);
    let users = items.filter(|item| matches!(item.body, ItemBody::User { .. })).count();
    assert_eq!(users, said);
}

#[tokio::test]
async fn many_turns_each_end_once_and_all_are_stored() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    for _ in 0..100 {
        run(&core, thread, says("again")).await;
    }
    let mut ends = 0;
    while ends < 100 {
        for notice in reader.next().await.unwrap().iter().filter_map(News::notice) {
            ends += usize::from(matches!(notice.body, NoticeBody::Turn(TurnChange::Ended(_))));
        }
    }
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop((reader, core));
    let core = core_in(home.path()).await;
    let read = core.threads().read(thread).await.unwrap();
    let turns = read.turns.unwrap();
    assert_eq!(turns.len(), 100);
    assert!(
        turns.iter().all(|seen| seen.turn.status == TurnStatus::Completed && seen.items.len() == 2)
    );
}

#[tokio::test]
async fn threads_at_rest_are_not_kept_in_memory_and_can_still_be_read() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let first = thread_in(&core, home.path()).await;
    run(&core, first, says("hi")).await;
    for _ in 0..100 {
        thread_in(&core, home.path()).await;
    }
    assert!(core.inner.threads.live_threads.len() < 100);
    let read = core.threads().read(first).await.unwrap();
    assert_eq!(read.turns.unwrap()[0].items.len(), 2);
}

#[tokio::test]
async fn ephemeral_threads_leave_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let choice = Choice { provider: "mock".into(), ..Choice::default() };
    let new =
        NewThread { cwd: home.path().into(), choice, ephemeral: true, ..NewThread::default() };
    let thread = core.threads().start(new).await.unwrap().thread.id;
    run(&core, thread, says("FINDME_SECRET")).await;
    assert_eq!(core.threads().read(thread).await.unwrap().turns.unwrap()[0].items.len(), 2);
    let args = json!({"text": "FINDME_SECRET"});
    run(&core, thread, script(json!([{"tool": "echo", "args": args}, {"text": "ok"}]))).await;
    let query = DecisionQuery { thread: Some(thread), ..DecisionQuery::default() };
    assert_eq!(core.requests().decisions(query, 9).await.unwrap().len(), 1);
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop(core);
    for entry in std::fs::read_dir(home.path().join("state")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(13).any(|window| window == b"FINDME_SECRET"));
    }
    let core = core_in(home.path()).await;
    assert!(
        core.threads()
            .list(&ThreadQuery { limit: 10, ..ThreadQuery::default() })
            .threads
            .is_empty()
    );
}

#[tokio::test]
async fn a_provider_that_fails_fails_the_turn_and_not_the_thread() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let thread = thread_in(&core, home.path()).await;
    for steps in [json!([{"text": "so"}, {"error": "broken"}]), json!([{"error": "broken"}])] {
        let turn = run(&core, thread, script(steps)).await;
        assert_eq!(turn.status, TurnStatus::Failed);
        assert_eq!(turn.error.unwrap().kind, TurnErrorKind::Provider);
    }
    let turn = run(&core, thread, says("and now?")).await;
    assert_eq!(turn.status, TurnStatus::Completed);
    let read = core.threads().read(thread).await.unwrap();
    let items = read.turns.unwrap().into_iter().flat_map(|seen| seen.items);
    assert!(items.into_iter().all(|item| item.status != ItemStatus::InProgress));
}
