//! Threads that are driven as pieces of work.

mod delegated;
mod limits;
mod questions;
mod queued;

use rookery_agent::turn::Message;
use rookery_model::{
    Answer, Assignment, ErrorKind, ItemBody, ItemStatus, Mode, Role, ThreadId, ToolGroup, ToolSort,
    TurnStatus, Unasked,
};
use serde_json::json;

use super::{NewThread, NewTurn, core_in, is_asked, run, says, script, start, thread_in, until};
use crate::core::{Core, StopKind};
use crate::log::{ItemChange, NoticeBody, ThreadChange, Topics, TurnChange};

/// A role with tools of every sort.
fn role(slug: &str) -> Role {
    let sorts = [ToolSort::Read, ToolSort::Edit, ToolSort::Command, ToolSort::Mcp];
    let groups = sorts.map(|sort| ToolGroup { sort, files: None }).to_vec();
    Role { slug: slug.into(), name: slug.to_uppercase(), groups, ..Role::default() }
}

fn assignment() -> Assignment {
    Assignment {
        role: Some(role("code")),
        unasked: Unasked { is_on: true, ..Unasked::default() },
        settings: "{}".into(),
        ..Assignment::default()
    }
}

#[tokio::test]
async fn an_assignment_is_kept_and_its_id_and_mode_are_taken() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = ThreadId::new(0x0192_d3c4_0000_7abc_8def_0123_4567_89ab);
    let new = || NewThread {
        id: Some(id),
        cwd: home.path().to_owned(),
        mode: Some(Mode::Plan),
        assignment: Some(assignment()),
        ..NewThread::default()
    };
    let seen = core.threads().start(new()).await.unwrap();
    assert_eq!((seen.thread.id, seen.thread.mode), (id, Some(Mode::Plan)));
    let refused = core.threads().start(new()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    run(&core, id, says("hello")).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let other = Assignment { settings: "[1]".into(), ..assignment() };
    core.threads().assign(id, Some(other.clone())).await.unwrap();
    until(&mut reader, |body| matches!(body, NoticeBody::Thread(ThreadChange::Assigned))).await;
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop((core, reader));
    let core = core_in(home.path()).await;
    let read = core.threads().read(id).await.unwrap();
    assert_eq!(read.thread.assignment.as_deref(), Some(&other));
    assert_eq!(read.turns.unwrap().len(), 1, "a second start changed nothing");
    core.threads().assign(id, None).await.unwrap();
    assert_eq!(core.threads().get(id).unwrap().thread.assignment, None);
    assert!(core.threads().assign(ThreadId::new(1), None).await.is_err());
}

/// A thread with an assignment in which this may be done without asking.
async fn assigned(core: &Core, home: &std::path::Path, unasked: Unasked) -> ThreadId {
    let id = thread_in(core, home).await;
    let set = Assignment { unasked, ..assignment() };
    core.threads().assign(id, Some(set)).await.unwrap();
    id
}

/// A core that reads what another has stored, as if that one was killed: nothing was stopped.
async fn killed(home: &std::path::Path) -> (tempfile::TempDir, Core) {
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("state")).unwrap();
    let stored = std::fs::read_dir(home.join("state")).unwrap();
    for entry in stored.map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), other.path().join("state").join(entry.file_name())).unwrap();
    }
    let core = core_in(other.path()).await;
    (other, core)
}

/// A call that asks questions of these names.
fn questions(ids: &[&str]) -> serde_json::Value {
    let options = json!([{"label": "A", "description": ""}, {"label": "B", "description": ""}]);
    let ask = |id: &&str| json!({"header": "H", "id": id, "question": "Q?", "options": options});
    let questions: Vec<_> = ids.iter().map(ask).collect();
    json!({"tool": "request_user_input", "args": {"questions": questions}})
}

/// What users and agents said, and what tools came to, in order.
async fn said(core: &Core, id: ThreadId) -> Vec<String> {
    let turns = core.threads().read(id).await.unwrap().turns.unwrap();
    let items = turns.into_iter().flat_map(|seen| seen.items);
    let texts = items.filter_map(|item| match item.body {
        ItemBody::User { text, .. } if text.starts_with("MOCK") => None,
        ItemBody::User { text, .. } => Some(format!("user {text}")),
        ItemBody::Agent { text, .. } => Some(format!("agent {text}")),
        ItemBody::Tool(tool) => {
            Some(format!("{} {}", tool.name, tool.error.or(tool.output).unwrap_or_default()))
        }
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn a_turn_goes_on_without_a_message() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = thread_in(&core, home.path()).await;
    let continued = || NewTurn { is_continued: true, ..NewTurn::default() };
    let refused = core.threads().start_turn(id, continued()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    let failed = run(&core, id, script(json!([{"error": "broken"}, {"text": "better"}]))).await;
    assert_eq!(failed.status, TurnStatus::Failed);
    let before = core.threads().get(id).unwrap().thread;
    let again = run(&core, id, continued()).await;
    assert_eq!(again.status, TurnStatus::Failed, "the mock says the same to the same");
    let steps = json!([{"text": "half"}, {"hang": true}]);
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn = start(&core, id, script(steps)).await;
    let is_delta = |body: &NoticeBody| matches!(body, NoticeBody::Item(_, ItemChange::Delta(..)));
    until(&mut reader, is_delta).await;
    let busy = core.threads().start_turn(id, continued()).await.unwrap_err();
    assert_eq!(busy.kind(), ErrorKind::Conflict);
    core.threads().interrupt(id, None).unwrap();
    core.threads().turn_ended(id, turn.id).await;
    // The agent spoke last, so that it is asked to go on; the mock takes that for a word of the user.
    let gone_on = run(&core, id, continued()).await;
    assert_eq!((gone_on.status, gone_on.calls.len()), (TurnStatus::Completed, 1));
    let after = core.threads().read(id).await.unwrap();
    assert_eq!(after.thread.preview, before.preview);
    let items = after.turns.unwrap().pop().unwrap().items;
    assert!(items.iter().all(|item| matches!(item.body, ItemBody::Agent { .. })), "{items:?}");
}

#[tokio::test]
async fn a_copy_of_a_thread_is_waited_for_by_no_other() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = thread_in(&core, home.path()).await;
    let led = Assignment { lead: Some(ThreadId::new(7)), ..assignment() };
    core.threads().assign(id, Some(led)).await.unwrap();
    let copy = core.threads().fork(id, None, None).await.unwrap();
    assert_eq!(copy.thread.assignment.as_deref(), Some(&assignment()));
}

#[tokio::test]
async fn items_and_calls_know_when_they_began_and_a_resumed_turn_counts_on() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let id = thread_in(&core, home.path()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = json!([
        {"tool": "write_file", "args": {"path": "a", "content": "x"}}, {"text": "done"}
    ]);
    let turn = start(&core, id, script(write)).await;
    until(&mut reader, is_asked).await;
    let asked = core.requests().list().pop().unwrap();
    let before = core.threads().read(id).await.unwrap().turns.unwrap().remove(0);
    assert_eq!(before.turn.calls.len(), 1);
    assert!(before.turn.calls[0].is_done && before.turn.calls[0].at >= turn.started_at);
    let tool = before.items.last().unwrap();
    assert!(tool.status == ItemStatus::InProgress && tool.at >= before.turn.calls[0].at);
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop((core, reader));
    let core = core_in(home.path()).await;
    let approved = Answer::Approved { remember: false };
    core.requests().resolve(asked.id, approved, "test").await.unwrap();
    core.threads().turn_ended(id, turn.id).await;
    let after = core.threads().read(id).await.unwrap().turns.unwrap().remove(0);
    assert_eq!(after.turn.calls.len(), 2);
    assert_eq!(after.turn.calls[0], before.turn.calls[0]);
    assert!(after.turn.calls[1].is_done && after.turn.calls[1].at > after.turn.calls[0].at);
    let whole = after.items.iter().find(|item| item.id == tool.id).unwrap();
    assert_eq!((whole.status, whole.at), (ItemStatus::Completed, tool.at));
    let times: Vec<_> = after.items.iter().map(|item| item.at).collect();
    assert!(times.is_sorted() && times[0] >= turn.started_at, "{times:?}");
}
