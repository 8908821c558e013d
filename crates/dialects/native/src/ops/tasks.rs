//! Background tasks: submitted, listed, shown, followed, cancelled and done again.

use std::time::Duration;

use rookery_core::{
    Core, NewTask, News, NoticeBody, RunEnd, Submitted, Subscription, TaskChange, TaskQuery, Topics,
};
use rookery_model::{self as model, Words as _};
use rookery_wire::{Outbox, rpc};
use serde_json::{Value, json};

use super::check_name;
use super::named::pick;
use crate::text::{redacted, redacted_words};
use crate::{
    Cx, Error, notification,
    wire::{
        RetryOn, Task, TaskAttempt, TaskCancel, TaskCancelled, TaskList, TaskLogPiece, TaskLogged,
        TaskLogs, TaskNews, TaskNotification, TaskRetry, TaskShow, TaskState, TaskSubmit, Tasks,
        WhenLost, WorkflowRun, format_time,
    },
};

/// How long is waited before a task is done again.
const BACKOFF: Duration = Duration::from_secs(5);

impl Cx {
    fn task_id(&self, text: &str) -> Result<model::TaskId, Error> {
        let all = self.core.tasks().list(&TaskQuery::default());
        pick("task", all.into_iter().map(|one| one.id), text)
    }
}

pub(crate) async fn submit(cx: Cx, params: TaskSubmit) -> Result<Task, Error> {
    let opened = params.opened;
    let submitted = cx.core.tasks().submit(new_task(&cx, params)?).await?;
    let task = accepted(submitted)?;
    if !opened {
        return Ok(shown(&cx.core, &task));
    }
    let (task, _) = cx.core.tasks().opened(task.id).await?;
    Ok(shown(&cx.core, &task))
}

fn accepted(submitted: Submitted) -> Result<Box<model::Task>, Error> {
    match submitted {
        Submitted::Task(task) => Ok(task),
        Submitted::Denied { reason, was_asked, .. } => {
            let why = if was_asked { "it was not approved" } else { "policy denies it" };
            let message = format!("the task does not run: {why}: {reason}");
            Err(model::Error::new(model::ErrorKind::Denied, message).into())
        }
    }
}

fn new_task(cx: &Cx, params: TaskSubmit) -> Result<NewTask, Error> {
    if params.argv.is_empty() == params.executor.is_none() {
        return Err(Error::invalid("argv", "give either argv or executor"));
    }
    if let Some(title) = &params.title {
        check_name("title", title)?;
    }
    if params.cwd.as_ref().is_some_and(|cwd| !cwd.is_absolute()) {
        return Err(Error::invalid("cwd", "cwd must be an absolute path"));
    }
    let project = params.project.map(|project| project.0);
    let root = match (&params.cwd, project) {
        (None, Some(id)) => {
            let projects = cx.core.workspace().projects();
            let found = projects.iter().find(|project| project.id == id);
            let missing = || model::Error::not_found(format!("no project {id}"));
            Some(found.ok_or_else(missing)?.root.clone())
        }
        (cwd, _) => cwd.clone(),
    };
    let max = params.retries.unwrap_or(0);
    let is_on =
        |what: RetryOn| max > 0 && (params.retry_on.is_empty() || params.retry_on.contains(&what));
    let retry = model::Retry {
        max,
        on_lost: is_on(RetryOn::Lost),
        on_failed: is_on(RetryOn::Failed),
        backoff: params.retry_backoff_seconds.map_or(BACKOFF, Duration::from_secs),
    };
    let lost = match params.lost {
        Some(WhenLost::Hold) => model::Lost::Hold,
        Some(WhenLost::Fail) | None => model::Lost::Fail,
    };
    let is_program = params.executor.is_none();
    let (executor, input) = match params.executor {
        Some(executor) => (executor, params.input.unwrap_or(Value::Null)),
        None => {
            let (command, args) = (&params.argv[0], &params.argv[1..]);
            let input = json!({
                "command": command, "args": args, "env_overrides": params.env, "pty": true,
            });
            ("process".to_owned(), input)
        }
    };
    let terminal = is_program.then_some(model::TaskTerminal {
        project,
        title: params.title,
        rows: params.rows,
        cols: params.cols,
        keep: params.keep,
    });
    Ok(NewTask {
        executor,
        input,
        workspace: root,
        timeout: params.timeout_seconds.map(Duration::from_secs),
        key: params.key,
        retry,
        lost,
        terminal,
        is_typed: is_program,
        ..NewTask::default()
    })
}

pub(crate) async fn list(cx: Cx, params: TaskList) -> Result<Tasks, Error> {
    let states = params.states.iter().map(|state| state.to_model()).collect();
    let query = TaskQuery { thread: None, states, limit: params.limit };
    let found = cx.core.tasks().list(&query);
    Ok(Tasks { tasks: found.iter().map(|task| shown(&cx.core, task)).collect() })
}

pub(crate) async fn show(cx: Cx, params: TaskShow) -> Result<Task, Error> {
    let id = cx.task_id(&params.task)?;
    Ok(shown(&cx.core, &*cx.core.tasks().get(id)?))
}

pub(crate) async fn cancel(cx: Cx, params: TaskCancel) -> Result<TaskCancelled, Error> {
    let id = cx.task_id(&params.task)?;
    let asked = rookery_core::TaskCancel { by: cx.by().to_owned(), reason: params.reason };
    let cancelled = cx.core.tasks().cancel(id, asked).await?;
    Ok(TaskCancelled { task: id.to_string(), cancelled })
}

pub(crate) async fn retry(cx: Cx, params: TaskRetry) -> Result<Task, Error> {
    let id = cx.task_id(&params.task)?;
    let task = accepted(cx.core.tasks().retry(id, cx.grant()).await?)?;
    Ok(shown(&cx.core, &task))
}

pub(crate) async fn logs(cx: Cx, params: TaskLogs) -> Result<TaskLogged, Error> {
    let id = cx.task_id(&params.task)?;
    // Before the log is read, so that nothing falls between.
    let reader = params.follow.then(|| cx.core.log().subscribe(Topics::NOTICES, None));
    let page = cx.core.tasks().read(id, params.after.unwrap_or(0)).await?;
    let subscription = match reader.filter(|_| !page.task.state.is_over()) {
        Some(reader) => {
            let (core, outbox) = (cx.core.clone(), cx.connection.outbox().clone());
            let after = page.last_seq;
            Some(cx.subscriptions.start(outbox.clone(), |number| {
                Follower { core, outbox, subscription: number, task: id, after }.follow(reader)
            })?)
        }
        None => None,
    };
    Ok(TaskLogged {
        task: shown(&cx.core, &page.task),
        pieces: page.chunks.iter().map(piece).collect(),
        dropped: page.dropped,
        last: page.last_seq,
        subscription,
    })
}

/// Sends one follower what happens to one task.
struct Follower {
    core: Core,
    outbox: Outbox,
    subscription: u64,
    task: model::TaskId,
    /// The newest piece that it has.
    after: u64,
}

impl Follower {
    /// Until the task is over, or the peer is gone.
    async fn follow(self, mut reader: Subscription) {
        while let Ok(batch) = reader.next().await {
            for news in &batch {
                let Some(news) = self.news(news) else { continue };
                let is_over = matches!(news, TaskNews::Ended { .. });
                let params = TaskNotification { subscription: self.subscription, news };
                let Ok(body) = rpc::notification(notification::TASK, &params) else { continue };
                if self.outbox.send(body).await.is_err() || is_over {
                    return;
                }
            }
        }
    }

    fn news(&self, news: &News) -> Option<TaskNews> {
        let notice = match news {
            News::Notice(notice) => notice,
            News::DeltasMissed(count) => return Some(TaskNews::Dropped { count: *count }),
            News::Event(_) | News::EventsMissed(_) => return None,
        };
        let NoticeBody::Task(change) = &notice.body else { return None };
        let shown =
            |task: &model::Task| (task.id == self.task).then(|| Box::new(shown(&self.core, task)));
        match change {
            TaskChange::Queued(_) => None,
            TaskChange::Started(task, _) => Some(TaskNews::Started { task: shown(task)? }),
            TaskChange::Ended(task) => Some(TaskNews::Ended { task: shown(task)? }),
            TaskChange::Output(written) => {
                let is_new = written.task == self.task && written.chunk.seq > self.after;
                is_new.then(|| TaskNews::Output { piece: piece(&written.chunk) })
            }
        }
    }
}

fn piece(chunk: &model::LogChunk) -> TaskLogPiece {
    TaskLogPiece {
        seq: chunk.seq,
        stream: chunk.stream.word().to_owned(),
        at: format_time(chunk.at),
        text: redacted(&chunk.text).into_owned(),
    }
}

fn shown(core: &Core, task: &model::Task) -> Task {
    let result = task.result.clone().unwrap_or_default();
    let attempt = |one: &model::Attempt| TaskAttempt {
        epoch: one.epoch,
        node: one.node.clone(),
        from: format_time(one.from),
        to: one.to.map(format_time),
        fate: one.fate.word().to_owned(),
    };
    Task {
        id: task.id.to_string(),
        executor: task.spec.executor.clone(),
        summary: summary(task),
        state: TaskState::of(task.state),
        workspace: task.spec.workspace.clone(),
        key: redacted(&task.key).into_owned(),
        thread: task.thread.map(|id| id.to_string()),
        created_at: format_time(task.created_at),
        started_at: task.started_at.map(format_time),
        ended_at: task.ended_at.map(format_time),
        exit_code: result.exit_code,
        error: result.error.map(|error| redacted(&error).into_owned()),
        error_kind: result.error_kind,
        payload: result.payload.and_then(|text| payload(&text)),
        terminal: core.tasks().terminal_of(task).map(model::TerminalId::get),
        epoch: task.epoch,
        maybe_twice: task.maybe_twice,
        attempts: task.attempts.iter().map(attempt).collect(),
        attempt_count: task.attempt_count,
    }
}

/// What a task's executor gave back; a run of a workflow as this dialect shows runs.
fn payload(text: &str) -> Option<Value> {
    let Some(end) = RunEnd::of_payload(text) else {
        return serde_json::from_str(&redacted(text)).ok();
    };
    let run = serde_json::to_value(WorkflowRun::from(&end.run)).ok()?;
    let shown =
        json!({ "run": run, "report": end.run.report, "reusedResults": end.reused_results });
    serde_json::from_str(&redacted(&shown.to_string())).ok()
}

/// What a task does in one line: its command, or what its input says of it.
fn summary(task: &model::Task) -> String {
    let input: Value = serde_json::from_str(&task.spec.input).unwrap_or(Value::Null);
    let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
    let Some(command) = text("command") else {
        let described = text("description").unwrap_or_else(|| task.spec.executor.clone());
        return redacted(&described).into_owned();
    };
    let args = input.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
    let args = args.iter().filter_map(Value::as_str).map(str::to_owned);
    let words: Vec<String> = std::iter::once(command).chain(args).collect();
    redacted_words(&words).join(" ")
}

impl TaskState {
    fn of(state: model::TaskState) -> Self {
        match state {
            model::TaskState::Queued => Self::Queued,
            model::TaskState::Claimed => Self::Claimed,
            model::TaskState::Running => Self::Running,
            model::TaskState::Done => Self::Done,
            model::TaskState::Failed => Self::Failed,
            model::TaskState::Cancelled => Self::Cancelled,
            model::TaskState::Lost => Self::Lost,
        }
    }

    fn to_model(self) -> model::TaskState {
        match self {
            Self::Queued => model::TaskState::Queued,
            Self::Claimed => model::TaskState::Claimed,
            Self::Running => model::TaskState::Running,
            Self::Done => model::TaskState::Done,
            Self::Failed => model::TaskState::Failed,
            Self::Cancelled => model::TaskState::Cancelled,
            Self::Lost => model::TaskState::Lost,
        }
    }
}
