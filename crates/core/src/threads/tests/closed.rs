//! Threads that are put away or deleted, with what works in them.

use std::io::BufRead as _;

use super::*;
use crate::threads::ActiveTurn;

#[tokio::test]
async fn what_tools_left_running_ends_with_their_thread() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    for (name, is_deleted) in [("first", false), ("second", true)] {
        let id = thread_in(&core, home.path()).await;
        core.threads().set_mode(Some(id), Mode::Bypass, None, None).await.unwrap();
        let pipe = home.path().join(name);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        // A thread of its own, which holds up no runtime if the other end never comes.
        let (sender, mut lines) = tokio::sync::mpsc::unbounded_channel();
        std::thread::spawn(move || {
            let pipe = std::io::BufReader::new(std::fs::File::open(pipe).unwrap());
            pipe.lines().for_each(|line| drop(sender.send(line.unwrap())));
        });
        let command = format!("exec 3>{name}; echo here >&3; sleep 1000 & sleep 1000");
        let args = json!({"cmd": command, "yield_time_ms": 1});
        let steps = json!([{"tool": "exec_command", "args": args}, {"text": "it runs"}]);
        let turn = run(&core, id, script(steps)).await;
        assert_eq!(turn.status, TurnStatus::Completed);
        let mut next = async || tokio::time::timeout(PATIENCE, lines.recv()).await.expect("a line");
        assert_eq!(next().await.as_deref(), Some("here"));
        match is_deleted {
            true => core.threads().delete(id).await.unwrap(),
            false => core.threads().archive(id, true).await.unwrap(),
        };
        assert_eq!(next().await, None, "no program holds the other end");
    }
}

#[tokio::test]
async fn a_turn_that_does_not_stop_keeps_no_thread_open() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    core.inner.agents.change_settings(|set| set.lifecycle.shutdown_drain_timeout = Duration::ZERO);
    let [put_away, deleted] =
        [thread_in(&core, home.path()).await, thread_in(&core, home.path()).await];
    for id in [put_away, deleted] {
        // A turn that nothing drives, so that nothing ends it.
        let turn = ActiveTurn::new(rookery_model::TurnId::new(id.get()));
        core.transact_durably(|tx| {
            tx.world.threads.set_active(id, Some(turn));
            Ok(())
        })
        .await
        .unwrap();
    }
    let closed = async {
        assert!(core.threads().archive(put_away, true).await.unwrap());
        assert!(core.threads().delete(deleted).await.unwrap());
    };
    tokio::time::timeout(PATIENCE, closed).await.expect("they are closed");
    assert!(core.threads().get(put_away).unwrap().thread.archived);
    assert!(core.threads().get(deleted).is_none());
}
