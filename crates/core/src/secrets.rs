//! What is hidden before it is written: the one rule of `docs/redaction.md`, field by field.
//!
//! The store's thread applies it to every change and every event, so nothing reaches the disk, the log
//! or a subscriber past it. Structs are taken apart with all fields: a new one has to be decided here.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::LazyLock;

use rookery_model::{
    Activity, Answer, Asked, Assignment, Checkpoint, Decision, Differences, Event, Handoff,
    LaunchSpec, NotificationText, Owner, Pending, Project, QueueItem, Record, Request,
    RequestState, Review, ReviewedPlan, Role, Settled, Task, TaskResult, Terminal, Thread,
    TimelineItem, Trace, Turn,
};
use rookery_store::{Change, Loaded};
use rookery_term::redact::{DEFAULT_REPLACEMENT, Policy};
use serde_json::Value;

/// What is hidden in everything that is written.
static POLICY: LazyLock<Policy> = LazyLock::new(Policy::strict);

/// A text without secrets.
pub(crate) fn hidden(text: &str) -> Cow<'_, str> {
    POLICY.redact(text)
}

/// Hides the secrets in a text.
pub(crate) fn hide(text: &mut String) {
    if let Cow::Owned(hidden) = POLICY.redact(text) {
        *text = hidden;
    }
}

/// The words of a command without secrets.
pub(crate) fn hidden_words(words: &[String]) -> Vec<String> {
    POLICY.redact_words(words)
}

/// Hides the secrets in a notification.
pub(crate) fn hide_in_notification(NotificationText { title, body }: &mut NotificationText) {
    hide(title);
    hide(body);
}

fn hide_any<'a>(texts: impl IntoIterator<Item = &'a mut String>) {
    texts.into_iter().for_each(hide);
}

fn hide_in_path(path: &mut PathBuf) {
    if let Cow::Owned(hidden) = POLICY.redact(&path.to_string_lossy()) {
        *path = PathBuf::from(hidden);
    }
}

/// Hides in what was stored what a version without this rule has left there.
pub(crate) fn hide_in_loaded(loaded: &mut Loaded) {
    loaded.projects.iter_mut().for_each(hide_in_project);
    loaded.terminals.iter_mut().for_each(hide_in_terminal);
    loaded.threads.iter_mut().for_each(hide_in_thread);
    loaded.settled.iter_mut().for_each(hide_in_stored_request);
    loaded.records.iter_mut().for_each(hide_in_record);
    loaded.tasks.iter_mut().for_each(hide_in_task);
}

/// Hides what a change must not bring to the disk. What is left exact is listed in the documentation.
pub(crate) fn hide_in_change(change: &mut Change) {
    match change {
        Change::ProjectUpserted(project) => hide_in_project(project),
        Change::TerminalUpserted(terminal) => hide_in_terminal(terminal),
        Change::ThreadUpserted(thread) => hide_in_thread(thread),
        Change::TurnUpserted(turn) => hide_in_turn(turn),
        Change::TraceUpserted(trace) => hide_in_trace(trace),
        Change::RequestUpserted(request) => hide_in_stored_request(request),
        Change::DecisionMade(decision) => hide_in_decision(decision),
        Change::RecordUpserted(record) => hide_in_record(record),
        Change::TaskUpserted(task) => hide_in_task(task),
        Change::TaskLogged(_, log) => hide_any(log.chunks.iter_mut().map(|chunk| &mut chunk.text)),
        // What was said and done in a thread is sent to the model again, word for word; values are
        // places, settings, and messages that wait for their turn.
        // Lines of files are brought back as they were; what holds a key of ours has none of it.
        Change::ItemUpserted { .. }
        | Change::KeptSet { .. }
        | Change::MessagesQueued(..)
        | Change::SteersSet(..)
        | Change::ChangeUpserted(_) => {}
        Change::ProjectDeleted(_)
        | Change::TerminalDeleted(_)
        | Change::LayoutSet(..)
        | Change::OutputNoted(..)
        | Change::ArtifactsAttached(..)
        | Change::ActiveSet { .. }
        | Change::ThreadDeleted(_)
        | Change::TurnDeleted(_)
        | Change::ChangeDeleted(..)
        | Change::RecordDeleted(..)
        | Change::TaskDeleted(_) => {}
    }
}

/// Hides what the log must not have.
pub(crate) fn hide_in_event(event: &mut Event) {
    match event {
        Event::ProjectCreated(project) => {
            hide_in_path(&mut project.root);
            hide_in_project(project);
        }
        Event::ProjectRenamed { id: _, name } => hide(name),
        Event::TerminalOpened { terminal, is_active: _ } => {
            hide_in_terminal(terminal);
            hide_in_path(&mut terminal.launch.cwd);
            terminal.reported_cwd.iter_mut().for_each(hide_in_path);
        }
        Event::TerminalTitleChanged { id: _, title } => hide(title),
        Event::TerminalCwdChanged { id: _, cwd } => hide_in_path(cwd),
        Event::AgentReported { id: _, activity } => hide_in_activity(activity),
        Event::TerminalNotified { id: _, text, source: _ } => hide_in_notification(text),
        Event::RequestOpened(request) | Event::RequestSettled(request) => hide_in_request(request),
        Event::ModeChanged { thread: _, from: _, to: _, reason, settled: _ } => hide_any(reason),
        Event::QueueItemFiled(item) => hide_in_queue_item(item),
        Event::ReviewChanged(review) => hide_in_review(review, true),
        Event::CheckpointCreated(checkpoint) => hide_in_checkpoint(checkpoint),
        Event::HandoffChanged(handoff) => hide_in_handoff(handoff),
        Event::DaemonStarted { .. }
        | Event::DaemonStopping
        | Event::ProjectDeleted { .. }
        | Event::TerminalResized { .. }
        | Event::TerminalExited { .. }
        | Event::TerminalLost { .. }
        | Event::TerminalClosed { .. }
        | Event::TerminalMoved { .. }
        | Event::TerminalsReordered { .. }
        | Event::LayoutChanged { .. }
        | Event::ProjectsReordered
        | Event::ActiveChanged { .. }
        | Event::TerminalStateChanged { .. }
        | Event::TerminalHooked { .. }
        | Event::TerminalAttention { .. }
        | Event::TerminalBell { .. }
        | Event::TerminalCommandFinished { .. }
        | Event::ThreadStarted { .. }
        | Event::ThreadArchived { .. }
        | Event::ThreadDeleted { .. }
        | Event::TurnStarted { .. }
        | Event::TurnEnded { .. }
        | Event::QueueItemResolved { .. } => {}
    }
}

/// Where a project is stays exact: its terminals start there.
fn hide_in_project(project: &mut Project) {
    let Project { id: _, name, root: _, position: _, selected: _, created_at: _ } = project;
    hide(name);
}

/// Where a terminal is, and what it was opened for, stay exact: others start there, and worktrees are
/// removed by them.
fn hide_in_terminal(terminal: &mut Terminal) {
    let Terminal {
        id: _,
        uuid: _,
        project: _,
        position: _,
        launch: LaunchSpec { argv, cwd: _, env },
        pid: _,
        size: _,
        program_title,
        user_title,
        reported_cwd: _,
        state: _,
        created_at: _,
        exited_at: _,
        last_active: _,
        on_exit: _,
        activity,
        checkout: _,
        origin: _,
    } = terminal;
    *argv = hidden_words(argv);
    for (_, value) in env {
        DEFAULT_REPLACEMENT.clone_into(value);
    }
    hide_any(program_title.iter_mut().chain(user_title));
    hide_in_activity(activity);
}

/// Hides what agents and programs said about a terminal.
pub(crate) fn hide_in_activity(activity: &mut Activity) {
    // An agent is one of the known ones, and its state one of a few words.
    let Activity { owner, pending, shell: _, lifecycle: _, has_spoken: _, requests: _, agent: _ } =
        activity;
    if let Some(owner) = owner {
        // Who speaks for a terminal is known by source and session, so these stay as they are.
        let Owner { source: _, session: _, detail, metadata, last_event_at: _ } = owner;
        hide_any([detail].into_iter().chain(metadata.values_mut()));
    }
    if let Some(Pending { text, at: _ }) = pending {
        hide_in_notification(text);
    }
}

/// Hides what a thread is called by, and what its assignment says. What its developer tells the model
/// stays exact: goal, instructions, plans, tools.
pub(crate) fn hide_in_thread(thread: &mut Thread) {
    let Thread { name, preview, assignment, .. } = thread;
    hide_any(name.iter_mut().chain([preview]));
    if let Some(assignment) = assignment {
        hide_in_assignment(assignment);
    }
}

/// Hides what the work of a child agent is called. Its words are those of the thread that it traces.
pub(crate) fn hide_in_trace(trace: &mut Trace) {
    hide(&mut trace.title);
}

/// Lists of commands stay exact, because commands are compared with them.
fn hide_in_assignment(assignment: &mut Assignment) {
    let Assignment {
        role,
        roles,
        unasked: _,
        bounds: _,
        lead: _,
        prices: _,
        instructions,
        settings,
    } = assignment;
    role.iter_mut().chain(roles).for_each(hide_in_role);
    hide_any(instructions);
    hide_in_json(settings);
}

fn hide_in_role(role: &mut Role) {
    let Role { slug: _, name, definition, instructions, when_to_use, groups: _ } = role;
    hide_any([name, definition].into_iter().chain(instructions).chain(when_to_use));
}

/// Hides in the strings of a JSON text, so that it stays one.
pub(crate) fn hide_in_json(text: &mut String) {
    if matches!(POLICY.redact(text), Cow::Borrowed(_)) {
        return;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(mut value) => {
            hide_in_value(&mut value, "");
            *text = value.to_string();
        }
        Err(_) => hide(text),
    }
}

/// What a value is called may be what makes it a secret.
fn hide_in_value(value: &mut Value, name: &str) {
    match value {
        Value::String(text) => {
            hide(text);
            if !text.is_empty()
                && POLICY.redact(&format!("{name}={text}")) != format!("{name}={text}")
            {
                *text = DEFAULT_REPLACEMENT.to_owned();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| hide_in_value(value, name)),
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(name, value)| hide_in_value(value, name));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn hide_in_turn(turn: &mut Turn) {
    let errors = turn.error.iter_mut().map(|error| &mut error.message);
    hide_any(errors.chain(turn.calls.iter_mut().filter_map(|call| call.error.as_mut())));
}

/// A task that is not over stays exact, because what was submitted is what is done.
fn hide_in_task(task: &mut Task) {
    if !task.state.is_over() {
        return;
    }
    hide_in_json(&mut task.spec.input);
    if let Some(TaskResult { exit_code: _, payload, error, error_kind: _, partial }) =
        &mut task.result
    {
        payload.iter_mut().for_each(hide_in_json);
        hide_any(error.iter_mut().chain(partial));
    }
    hide_any(task.cancel.iter_mut().filter_map(|cancel| cancel.reason.as_mut()));
}

/// A request that waits stays exact, because what is shown and approved is what is done.
fn hide_in_stored_request(request: &mut Request) {
    if matches!(request.state, RequestState::Settled(_)) {
        hide_in_request(request);
    }
}

fn hide_in_request(request: &mut Request) {
    let Request {
        id: _,
        asker: _,
        call_id: _,
        tool,
        asked,
        asked_at: _,
        deadline: _,
        is_deferred: _,
        given,
        state,
    } = request;
    hide(tool);
    hide_in_asked(asked);
    hide_any(given.iter_mut().map(|part| &mut part.text));
    if let RequestState::Settled(Settled { answer, by, at: _ }) = state {
        hide(by);
        match answer {
            Answer::Denied { message } => hide_any(message),
            Answer::Given(text) | Answer::Output { text, is_error: _ } => hide(text),
            Answer::Approved { remember: _ }
            | Answer::Cancelled
            | Answer::TimedOut
            | Answer::AtTerminal => {}
        }
    }
}

fn hide_in_asked(asked: &mut Asked) {
    match asked {
        Asked::Approval { kind: _, reason, input, argv, cwd, env, preview } => {
            *argv = hidden_words(argv);
            hide_any([reason, input].into_iter().chain(preview));
            hide_in_path(cwd);
            for (_, value) in env {
                *value = value.take().map(|_| DEFAULT_REPLACEMENT.to_owned());
            }
        }
        Asked::Input { questions } => {
            for question in questions {
                hide_any([&mut question.header, &mut question.question]);
                for option in &mut question.options {
                    hide_any([&mut option.label, &mut option.description]);
                }
            }
        }
        Asked::PlanExit(plan) => {
            hide_any([&mut plan.summary].into_iter().chain(&mut plan.next_steps));
        }
        Asked::External(call) => hide(&mut call.arguments),
        Asked::Permission { title, summary, action, scope } => {
            hide_any([title, summary, action].into_iter().chain(scope));
        }
        Asked::Dialog { dialog: _, title, text } => hide_any([title, text]),
    }
}

/// Hides what a record of a decision must not have.
pub(crate) fn hide_in_decision(decision: &mut Decision) {
    let Decision {
        at: _,
        thread: _,
        turn: _,
        session: _,
        request: _,
        tool_id: _,
        tool,
        mode: _,
        verdict: _,
        by,
        reason,
        rule,
        source: _,
        subject,
        decider: _,
    } = decision;
    hide_any([tool, subject].into_iter().chain(by).chain(reason).chain(rule));
}

/// Hides what supervision must not keep.
pub(crate) fn hide_in_record(record: &mut Record) {
    match record {
        Record::Queue(item) => hide_in_queue_item(item),
        Record::Review(review) => hide_in_review(review, false),
        Record::Checkpoint(checkpoint) => hide_in_checkpoint(checkpoint),
        Record::Handoff(handoff) => hide_in_handoff(handoff),
        Record::Timeline(item) => {
            let TimelineItem {
                id: _,
                session: _,
                created_at: _,
                order: _,
                kind: _,
                title,
                related: _,
            } = item;
            hide(title);
        }
        // Needed to the letter until it was done, and forgotten then.
        Record::Accepted(_) | Record::Handled(_) => {}
    }
}

fn hide_in_queue_item(item: &mut QueueItem) {
    let QueueItem {
        id: _,
        session: _,
        related: _,
        category: _,
        title,
        subtitle,
        source: _,
        created_at: _,
        order: _,
        is_pinned: _,
        resolved_at: _,
    } = item;
    hide_any([title].into_iter().chain(subtitle));
}

/// A comment stays exact until it was sent to the agent, unless it is for the log.
fn hide_in_review(review: &mut Review, for_log: bool) {
    let Review {
        id: _,
        place: _,
        checkpoint: _,
        created_at: _,
        summary,
        differences,
        status: _,
        comments,
        plan,
    } = review;
    hide(summary);
    hide_in_differences(differences);
    if let Some(plan) = plan {
        hide_in_plan(plan, for_log);
    }
    let shown = comments.iter_mut().filter(|comment| for_log || comment.is_delivered);
    shown.for_each(|comment| hide(&mut comment.text));
}

/// What is still to be sent to the agent stays exact, unless it is for the log.
fn hide_in_plan(plan: &mut ReviewedPlan, for_log: bool) {
    let ReviewedPlan {
        key: _,
        thread: _,
        turn: _,
        stage: _,
        title,
        markdown,
        steps,
        rewrites,
        undelivered,
        updated_at: _,
    } = plan;
    hide_any([title, markdown]);
    for step in steps {
        hide_any([&mut step.title].into_iter().chain(&mut step.detail));
    }
    hide_any(rewrites.iter_mut().map(|rewrite| &mut rewrite.markdown));
    if for_log {
        hide_any(undelivered);
    }
}

fn hide_in_checkpoint(checkpoint: &mut Checkpoint) {
    let Checkpoint {
        id: _,
        place: _,
        repo: _,
        branch: _,
        worktree: _,
        title,
        summary,
        head: _,
        snapshot: _,
        differences,
        created_at: _,
        source: _,
    } = checkpoint;
    hide_any([title, summary]);
    hide_in_differences(differences);
}

fn hide_in_differences(differences: &mut Differences) {
    let Differences { files: _, stat: _, tests } = differences;
    if let Some(tests) = tests {
        hide(&mut tests.text);
    }
}

fn hide_in_handoff(handoff: &mut Handoff) {
    let Handoff {
        id: _,
        from: _,
        to: _,
        checkpoint: _,
        title,
        summary,
        risks,
        next_actions,
        created_at: _,
        status: _,
    } = handoff;
    hide_any([title, summary].into_iter().chain(risks).chain(next_actions));
}

#[cfg(test)]
mod tests {
    use rookery_model::{ExternalCall, PartAnswer, RequestId, SessionId, Timestamp};

    use super::*;

    const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

    fn request(state: RequestState) -> Request {
        let asked = Asked::External(ExternalCall { arguments: format!("use {SECRET}") });
        let (id, session) = (RequestId::new(1), SessionId::new(2));
        Request { state, ..Request::of_session(id, session, asked, Timestamp::default()) }
    }

    #[test]
    fn the_settings_of_an_assignment_stay_json_without_secrets() {
        let settings = format!(r#"{{"a":"use {SECRET}","password":"hunter2-and-more","b":[1]}}"#);
        let role = Role { definition: format!("know {SECRET}"), ..Role::default() };
        let mut assignment = Assignment { role: Some(role), settings, ..Assignment::default() };
        hide_in_assignment(&mut assignment);
        let said = format!("{assignment:?}");
        assert!(!said.contains(SECRET) && !said.contains("hunter2"), "{said}");
        let settings: Value = serde_json::from_str(&assignment.settings).unwrap();
        assert_eq!(settings["b"], serde_json::json!([1]));
        let plain = r#"{"z":1, "a":"plain"}"#.to_owned();
        let mut assignment = Assignment { settings: plain.clone(), ..Assignment::default() };
        hide_in_assignment(&mut assignment);
        assert_eq!(assignment.settings, plain);
    }

    #[test]
    fn answers_to_some_questions_are_in_no_log() {
        let part = PartAnswer {
            question: "key".to_owned(),
            text: SECRET.to_owned(),
            at: Timestamp::default(),
        };
        let answered = Request { given: vec![part], ..request(RequestState::Pending) };
        let settled =
            Settled { answer: Answer::Cancelled, by: "me".to_owned(), at: Timestamp::default() };
        let settled = Request { state: RequestState::Settled(settled), ..answered.clone() };
        let mut change = Change::RequestUpserted(Box::new(settled));
        hide_in_change(&mut change);
        assert!(!format!("{change:?}").contains(SECRET));
        let mut event = Event::RequestOpened(Box::new(answered));
        hide_in_event(&mut event);
        assert!(!format!("{event:?}").contains(SECRET));
    }

    #[test]
    fn a_request_is_exact_in_the_store_as_long_as_it_waits() {
        let answer = Answer::Denied { message: Some(SECRET.to_owned()) };
        let settled = Settled { answer, by: "me".to_owned(), at: Timestamp::default() };
        for (state, is_exact) in
            [(RequestState::Pending, true), (RequestState::Settled(settled), false)]
        {
            let mut change = Change::RequestUpserted(Box::new(request(state.clone())));
            hide_in_change(&mut change);
            assert_eq!(format!("{change:?}").contains(SECRET), is_exact);
            let mut event = Event::RequestOpened(Box::new(request(state)));
            hide_in_event(&mut event);
            assert!(!format!("{event:?}").contains(SECRET));
        }
    }
}
