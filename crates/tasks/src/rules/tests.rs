//! Each rule by itself; how they work together is in the simulation.

use std::path::PathBuf;

use rookery_model::{Lifetime, Origin, Retry, TaskSpec};

use super::*;
use crate::identity::{Submitter, task_id};

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

pub(crate) fn task() -> Task {
    Task {
        id: task_id(Submitter { cluster: "c", space: "s", by: "b" }, "key"),
        space: "s".into(),
        by: "b".into(),
        key: "key".into(),
        needs: Vec::new(),
        spec: TaskSpec {
            executor: "process".into(),
            input: "{}".into(),
            workspace: PathBuf::from("/"),
            timeout: None,
            terminal: None,
            runner: None,
            is_reading: false,
            is_unasked: false,
        },
        thread: None,
        turn: None,
        lifetime: Lifetime::Server,
        origin: Origin::Person,
        retry: Retry::default(),
        lost: Lost::Hold,
        state: TaskState::Queued,
        epoch: 0,
        message: 7,
        holder: None,
        maybe_twice: false,
        attempts: Vec::new(),
        attempt_count: 0,
        cancel: None,
        created_at: at(0),
        started_at: None,
        ended_at: None,
        result: None,
        revision: 1,
    }
}

pub(crate) fn claimed(task: &Task) -> Task {
    claim(task, "a", at(1))
}

fn running(task: &Task) -> Task {
    start(&claimed(task), "a", task.epoch + 1, at(2)).unwrap()
}

fn fates(task: &Task) -> Vec<Fate> {
    task.attempts.iter().map(|attempt| attempt.fate).collect()
}

fn asked() -> Cancel {
    Cancel { by: "b".into(), reason: None, at: at(9) }
}

#[test]
fn a_claim_raises_the_epoch_and_a_start_is_for_its_holder() {
    let Delivery::Take(mine) = deliver(&task(), 7, "a", at(1)) else { panic!() };
    assert_eq!((mine.state, mine.epoch, mine.attempt_count), (TaskState::Claimed, 1, 1));
    assert_eq!(start(&mine, "b", 1, at(2)), Err(Fenced));
    assert_eq!(start(&mine, "a", 2, at(2)), Err(Fenced));
    let begun = start(&mine, "a", 1, at(2)).unwrap();
    assert_eq!((begun.state, begun.started_at), (TaskState::Running, Some(at(2))));
    assert_eq!(start(&begun, "a", 1, at(3)), Err(Fenced));
}

#[test]
fn a_message_too_many_is_dropped() {
    assert_eq!(deliver(&task(), 6, "a", at(1)), Delivery::Drop);
    let over = finish(&running(&task()), "a", 1, Ending::Cancelled, at(3)).unwrap().0;
    assert_eq!(deliver(&over, 7, "a", at(4)), Delivery::Drop);
    let unnoted = Task { message: 0, ..task() };
    assert!(matches!(deliver(&unnoted, 8, "a", at(1)), Delivery::Take(_)));
}

#[test]
fn what_was_only_prepared_is_taken_over_without_a_mark() {
    let Delivery::Take(taken) = deliver(&claimed(&task()), 7, "b", at(5)) else { panic!() };
    assert_eq!((taken.epoch, taken.maybe_twice), (2, false));
    assert_eq!(fates(&taken), [Fate::Released, Fate::Running]);
    assert_eq!(deliver(&taken, 7, "b", at(6)), Delivery::Mine);
    assert_eq!(start(&taken, "a", 1, at(6)), Err(Fenced));
}

#[test]
fn what_ran_is_marked_and_moves_is_held_or_fails() {
    let Delivery::Lose(held, MessageOutcome::Ack) = deliver(&running(&task()), 7, "b", at(20))
    else {
        panic!()
    };
    assert_eq!(
        (held.state, held.maybe_twice, fates(&held)),
        (TaskState::Lost, true, vec![Fate::Unknown])
    );
    assert_eq!(held.attempts[0].to, None);
    let again = retry(&held).unwrap();
    assert_eq!((again.state, again.maybe_twice, again.message), (TaskState::Queued, true, 0));
    assert_eq!(retry(&again), None);

    let fails = running(&Task { lost: Lost::Fail, ..task() });
    let (failed, then) = lose(&fails, node_lost(), at(20));
    assert_eq!((failed.state, then), (TaskState::Failed, MessageOutcome::Ack));
    assert_eq!(failed.result.unwrap().error_kind.as_deref(), Some("node_lost"));

    let backoff = Duration::from_secs(30);
    let retry = Retry { max: 1, on_lost: true, on_failed: false, backoff };
    let first = running(&Task { retry, ..task() });
    let (moved, then) = lose(&first, node_lost(), at(20));
    assert_eq!((moved.state, then), (TaskState::Queued, MessageOutcome::Again(backoff)));
    let second = running(&moved);
    assert_eq!(lose(&second, node_lost(), at(40)).0.state, TaskState::Lost);
}

#[test]
fn a_failed_attempt_is_repeated_without_a_mark_while_any_is_left() {
    let retry = Retry { max: 1, on_lost: false, on_failed: true, backoff: Duration::ZERO };
    let first = running(&Task { retry, ..task() });
    let failed = || Ending::Failed(TaskResult::default());
    let (again, then) = finish(&first, "a", 1, failed(), at(3)).unwrap();
    assert_eq!(
        (again.state, then, again.maybe_twice),
        (TaskState::Queued, MessageOutcome::Again(Duration::ZERO), false)
    );
    let second = running(&again);
    let (over, then) = finish(&second, "a", 2, failed(), at(6)).unwrap();
    assert_eq!((over.state, then), (TaskState::Failed, MessageOutcome::Ack));
    assert_eq!(fates(&over), [Fate::Failed, Fate::Failed]);
    assert_eq!(finish(&over, "a", 2, failed(), at(7)), Err(Fenced));
}

#[test]
fn who_was_fenced_off_says_nothing() {
    let taken = claim(&claimed(&task()), "b", at(5));
    let ending = Ending::Done(TaskResult::default());
    assert_eq!(finish(&taken, "a", 1, ending.clone(), at(6)), Err(Fenced));
    assert!(finish(&taken, "b", 2, ending, at(6)).is_ok());
}

#[test]
fn a_cancel_ends_at_once_what_this_node_can_end() {
    for before in [task(), claimed(&task()), running(&task())] {
        let Cancelling::Ends(over) = cancel(&before, asked(), "a", at(9)) else { panic!() };
        assert_eq!((over.state, over.ended_at), (TaskState::Cancelled, Some(at(9))));
        assert_eq!(cancel(&over, asked(), "a", at(10)), Cancelling::Over);
    }
    let Cancelling::Asks(waits) = cancel(&running(&task()), asked(), "b", at(9)) else { panic!() };
    assert_eq!(waits.state, TaskState::Running);
    assert_eq!(cancel(&waits, asked(), "b", at(9)), Cancelling::Over);
    let ending = Ending::Done(TaskResult::default());
    assert_eq!(finish(&waits, "a", 1, ending, at(10)).unwrap().0.state, TaskState::Cancelled);
    // A dead holder's task is ended by the next one that its message comes to.
    let Delivery::Lose(over, MessageOutcome::Ack) = deliver(&waits, 7, "b", at(30)) else {
        panic!()
    };
    assert_eq!(over.state, TaskState::Cancelled);
}

#[test]
fn a_drained_node_gives_back_what_it_only_prepared() {
    let back = release(&claimed(&task()), "a", 1, at(3)).unwrap();
    assert_eq!((back.state, fates(&back)), (TaskState::Queued, vec![Fate::Released]));
    assert_eq!(release(&running(&task()), "a", 1, at(3)), Err(Fenced));
}

#[test]
fn only_the_newest_attempts_are_kept_and_all_are_counted() {
    let mut task = task();
    for _ in 0..20 {
        task = release(&claimed(&task), "a", task.epoch + 1, at(3)).unwrap();
    }
    assert_eq!((task.attempts.len(), task.attempt_count), (MAX_ATTEMPTS, 20));
    assert_eq!(task.attempts[0].epoch, 5);
}

#[test]
fn only_what_no_message_brings_is_swept() {
    let now = at(61);
    assert!(is_stranded(&task(), false, false, now));
    assert!(!is_stranded(&task(), true, false, now));
    assert!(!is_stranded(&task(), false, true, now));
    assert!(!is_stranded(&task(), false, false, at(60)));
    let over = finish(&running(&task()), "a", 1, Ending::Cancelled, at(3)).unwrap().0;
    assert!(!is_stranded(&over, false, false, now));
}
