//! The stored form of every task and log.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rookery_model::{
    Attempt, Cancel, Fate, Holder, Lifetime, LogChunk, LogStream, Lost, Retry, Task, TaskId,
    TaskLog, TaskResult, TaskRunner, TaskSpec, TaskState, TaskTerminal, ThreadId, TurnId, Words,
};

use super::super::{task_from_json, task_log_from_json, task_log_to_json, task_to_json};
use super::{origin, path, project_id, text, time};

fn word<T: Words + std::fmt::Debug>() -> impl Strategy<Value = T> {
    (0..T::WORDS.len()).prop_map(|place| T::WORDS[place].0)
}

fn span() -> impl Strategy<Value = Duration> {
    any::<u32>().prop_map(|millis| Duration::from_millis(millis.into()))
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    option::of(text())
}

fn spec() -> impl Strategy<Value = TaskSpec> {
    let terminal = (
        option::of(project_id()),
        maybe(),
        any::<Option<u16>>(),
        any::<Option<u16>>(),
        any::<bool>(),
    )
        .prop_map(|(project, title, rows, cols, keep)| TaskTerminal {
            project,
            title,
            rows,
            cols,
            keep,
        });
    let runner = (text(), option::of(path()))
        .prop_map(|(destination, workspace)| TaskRunner { destination, workspace });
    let places = (option::of(terminal), option::of(runner));
    (text(), text(), path(), option::of(span()), places, any::<[bool; 2]>()).prop_map(
        |(executor, input, workspace, timeout, (terminal, runner), [is_reading, is_unasked])| {
            TaskSpec {
                executor,
                input,
                workspace,
                timeout,
                terminal,
                runner,
                is_reading,
                is_unasked,
            }
        },
    )
}

fn attempt() -> impl Strategy<Value = Attempt> {
    (any::<u64>(), text(), time(), option::of(time()), word::<Fate>())
        .prop_map(|(epoch, node, from, to, fate)| Attempt { epoch, node, from, to, fate })
}

fn result() -> impl Strategy<Value = TaskResult> {
    (any::<Option<i32>>(), maybe(), maybe(), maybe(), maybe()).prop_map(
        |(exit_code, payload, error, error_kind, partial)| TaskResult {
            exit_code,
            payload,
            error,
            error_kind,
            partial,
        },
    )
}

fn task() -> impl Strategy<Value = Task> {
    let names = (any::<u128>(), text(), text(), text(), vec(text(), 0..3), spec());
    let place = (
        any::<Option<u128>>(),
        any::<Option<u128>>(),
        word::<Lifetime>(),
        origin(),
        (any::<u32>(), any::<bool>(), any::<bool>(), span()),
        word::<Lost>(),
    );
    let course = (
        word::<TaskState>(),
        any::<[u64; 4]>(),
        option::of((text(), time())),
        any::<bool>(),
        vec(attempt(), 0..3),
        option::of((text(), maybe(), time())),
    );
    let times = (time(), option::of(time()), option::of(time()), option::of(result()));
    (names, place, course, times).prop_map(|(names, place, course, times)| {
        let (id, space, by, key, needs, spec) = names;
        let (thread, turn, lifetime, origin, (max, on_lost, on_failed, backoff), lost) = place;
        let (state, numbers, holder, maybe_twice, attempts, cancel) = course;
        let (created_at, started_at, ended_at, result) = times;
        let [epoch, message, attempt_count, revision] = numbers;
        Task {
            id: TaskId::new(id),
            space,
            by,
            key,
            needs,
            spec,
            thread: thread.map(ThreadId::new),
            turn: turn.map(TurnId::new),
            lifetime,
            origin,
            retry: Retry { max, on_lost, on_failed, backoff },
            lost,
            state,
            epoch,
            message,
            holder: holder.map(|(node, since)| Holder { node, since }),
            maybe_twice,
            attempts,
            attempt_count,
            cancel: cancel.map(|(by, reason, at)| Cancel { by, reason, at }),
            created_at,
            started_at,
            ended_at,
            result,
            revision,
        }
    })
}

proptest! {
    #[test]
    fn tasks_come_back_as_they_were(task in task()) {
        prop_assert_eq!(task_from_json(&task_to_json(&task)).unwrap(), task);
    }

    #[test]
    fn logs_come_back_as_they_were(
        chunks in vec((any::<u64>(), word::<LogStream>(), time(), text()), 0..4),
        numbers in any::<[u64; 3]>(),
    ) {
        let chunk = |(seq, stream, at, text)| LogChunk { seq, stream, at, text };
        let [dropped, last_seq, offset] = numbers;
        let log = TaskLog { chunks: chunks.into_iter().map(chunk).collect(), dropped, last_seq, offset };
        prop_assert_eq!(task_log_from_json(&task_log_to_json(&log)).unwrap(), log);
    }
}

#[test]
fn a_log_that_was_never_written_is_empty() {
    assert_eq!(task_log_from_json("").unwrap(), TaskLog::default());
    assert!(task_log_from_json("[").is_err());
}
