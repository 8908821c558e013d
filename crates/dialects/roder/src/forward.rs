//! Tells a client what happens to threads: core's notices as this dialect's notifications, in order.

use std::sync::Arc;

use rookery_core::{FeedReader, Notice, NoticeBody};
use rookery_model as model;
use rookery_wire::Rejected;
use serde::Serialize;

use crate::context::{Cx, Preferences};
use crate::fit;
use crate::items::{self, Stamp};
use crate::show;
use crate::wire::notification::{self, name, twin};
use crate::wire::{session, tool, upkeep};

/// What a connection that cannot keep up is cut off with.
const TOO_SLOW: &str = "the client does not read its notifications";

/// Sends notifications until the connection or the world ends.
pub(crate) async fn forward(cx: Cx, mut reader: FeedReader) {
    let outbox = cx.connection.outbox().clone();
    loop {
        let batch = tokio::select! {
            batch = reader.next() => batch,
            () = outbox.cancelled() => return,
        };
        let batch = match batch {
            Ok(batch) => batch,
            Err(error) => {
                match error.kind() == model::ErrorKind::Busy {
                    true => cx.connection.close(TOO_SLOW),
                    // The world is over and all of it was told.
                    false => cx.connection.finish(),
                }
                return;
            }
        };
        for notice in batch {
            cx.client.released().await;
            if send(&cx, &notice).await.is_err() {
                return;
            }
        }
    }
}

/// Tells this client alone that something is wrong.
pub(crate) fn warn(cx: &Cx, message: String) {
    let warning = notification::Warning { message, thread_id: None };
    if let Ok(body) = fit::notification(name::WARNING, &warning) {
        // A queue that is full at the very beginning belongs to a client that is gone.
        let _ = cx.connection.outbox().try_send(body);
    }
}

async fn send(cx: &Cx, notice: &Arc<Notice>) -> Result<(), Rejected> {
    let preferences = cx.client.preferences();
    for body in render(cx, notice, &preferences) {
        cx.connection.outbox().send(body).await?;
    }
    Ok(())
}

/// The messages that tell of a notice, without those that the client does not want.
fn render(cx: &Cx, notice: &Notice, preferences: &Preferences) -> Vec<Vec<u8>> {
    let mut out = Messages { preferences, bodies: Vec::new() };
    let thread = notice.thread.map(|thread| thread.to_string()).unwrap_or_default();
    match &notice.body {
        NoticeBody::ThreadStarted(started, status) => {
            let thread = show::thread_of(cx, started, status);
            out.push(name::THREAD_STARTED, &upkeep::ThreadResult { thread });
        }
        NoticeBody::StatusChanged(status) => {
            let status = show::status(status);
            out.push(
                name::THREAD_STATUS_CHANGED,
                &notification::ThreadStatusChanged { thread_id: thread, status },
            );
        }
        NoticeBody::TurnStarted(turn) => out.turn(name::TURN_STARTED, thread, turn),
        NoticeBody::TurnEnded(turn) => out.turn(name::TURN_COMPLETED, thread, turn),
        NoticeBody::ItemStarted(..) | NoticeBody::ItemDelta(..) | NoticeBody::ItemCompleted(..) => {
            out.item(notice, preferences);
        }
        NoticeBody::Requested(request) => out.requested(cx, request),
        NoticeBody::Settled(request, mode) => out.settled(cx, request, *mode),
        NoticeBody::ModeChanged { previous, mode, reason } => {
            let changed = session::ModeChanged {
                thread_id: notice.thread.map(|thread| thread.to_string()),
                previous_mode: show::mode(cx, *previous),
                mode: show::mode(cx, *mode),
                reason: reason.clone(),
            };
            out.push(name::MODE_CHANGED, &changed);
        }
        NoticeBody::PartialResult(turn, summary) => {
            let (turn_id, summary) = (turn.to_string(), summary.clone());
            let partial = notification::TurnPartialResult { thread_id: thread, turn_id, summary };
            out.push(name::TURN_PARTIAL_RESULT, &partial);
        }
        NoticeBody::DeadlineExceeded(turn, deadline, summary) => {
            let exceeded = notification::TurnDeadlineExceeded {
                thread_id: thread,
                turn_id: turn.to_string(),
                deadline: show::moment(deadline.unwrap_or(notice.at)),
                partial_result: summary.clone(),
            };
            out.push(name::TURN_DEADLINE_EXCEEDED, &exceeded);
        }
        NoticeBody::Lifecycle(life) => {
            let lifecycle = show::lifecycle(&thread, life);
            let turn_id = life.turn.to_string();
            let updated =
                notification::TurnLifecycleUpdated { thread_id: thread, turn_id, lifecycle };
            out.push(name::TURN_LIFECYCLE_UPDATED, &updated);
        }
        NoticeBody::Archived => {
            out.push(name::THREAD_ARCHIVED, &notification::ThreadArchived { thread_id: thread });
        }
        NoticeBody::Renamed(given) => {
            let renamed = upkeep::ThreadNameResult { thread_id: thread, name: given.clone() };
            out.push(name::THREAD_NAME_UPDATED, &renamed);
        }
        NoticeBody::GoalUpdated(goal) => {
            let goal = show::goal(&thread, goal);
            let updated = notification::ThreadGoalUpdated { thread_id: thread, goal };
            out.push(name::THREAD_GOAL_UPDATED, &updated);
        }
        NoticeBody::GoalCleared => {
            let cleared = notification::ThreadArchived { thread_id: thread };
            out.push(name::THREAD_GOAL_CLEARED, &cleared);
        }
        NoticeBody::ProvidersChanged => {
            out.push(name::PROVIDERS_CHANGED, &show::providers_changed(cx));
        }
        NoticeBody::SettingsChanged => {
            out.push(name::SETTINGS_CHANGED, &show::settings_changed(cx));
        }
        NoticeBody::Warning(message) => {
            let thread_id = notice.thread.map(|thread| thread.to_string());
            let warning = notification::Warning { message: message.clone(), thread_id };
            out.push(name::WARNING, &warning);
        }
        NoticeBody::DeltasDropped(count) => {
            let dropped = notification::NotificationsDropped { count: *count };
            out.push(name::NOTIFICATIONS_DROPPED, &dropped);
        }
    }
    out.bodies
}

/// Messages on their way to one client.
struct Messages<'a> {
    preferences: &'a Preferences,
    bodies: Vec<Vec<u8>>,
}

impl Messages<'_> {
    fn push(&mut self, name: &str, params: &impl Serialize) {
        if self.preferences.unwanted.contains(name) {
            return;
        }
        match fit::notification(name, params) {
            Ok(body) => self.bodies.push(body.into()),
            Err(error) => tracing::error!(%error, name, "a notification cannot be written"),
        }
    }

    /// Under the names of both generations, the older first.
    fn push_twin(&mut self, names: [&str; 2], params: &impl Serialize) {
        for name in names {
            self.push(name, params);
        }
    }

    fn turn(&mut self, name: &str, thread_id: String, turn: &model::Turn) {
        let turn = show::turn(turn, Vec::new());
        self.push(name, &notification::TurnNotification { thread_id, turn });
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only what happens to items comes here")]
    fn item(&mut self, notice: &Notice, preferences: &Preferences) {
        let Some(thread) = notice.thread else { return };
        let stamp = |turn: model::TurnId| Stamp { seq: notice.seq, thread, turn, at: notice.at };
        match &notice.body {
            NoticeBody::ItemStarted(turn, item) => {
                self.push(name::ITEM_STARTED, &items::started(stamp(*turn), item));
            }
            NoticeBody::ItemCompleted(turn, item) => {
                self.push(name::ITEM_COMPLETED, &items::completed(stamp(*turn), item));
            }
            NoticeBody::ItemDelta(turn, id, delta) => {
                let method = items::method(delta, preferences.reasoning_methods);
                self.push(method, &items::delta(stamp(*turn), id, delta));
            }
            _ => {}
        }
    }

    fn requested(&mut self, cx: &Cx, request: &model::Request) {
        match &request.asked {
            model::Asked::Approval { .. }
            | model::Asked::Permission { .. }
            | model::Asked::Dialog { .. } => {
                self.push_twin(twin::APPROVAL_REQUESTED, &show::approval(request));
            }
            model::Asked::Input { .. } => {
                self.push_twin(twin::USER_INPUT_REQUESTED, &show::user_input(request));
            }
            model::Asked::PlanExit(plan) => {
                self.push_twin(twin::PLAN_EXIT_REQUESTED, &show::plan_exit(cx, request, plan));
            }
            model::Asked::External(call) => {
                self.push(name::TOOL_EXECUTION_REQUESTED, &show::tool_execution(request, call));
            }
        }
    }

    fn settled(&mut self, cx: &Cx, request: &model::Request, mode: model::Mode) {
        let model::RequestState::Settled(settled) = &request.state else { return };
        let is_approved = matches!(settled.answer, model::Answer::Approved { .. });
        match &request.asked {
            model::Asked::Approval { .. }
            | model::Asked::Permission { .. }
            | model::Asked::Dialog { .. } => {
                let resolved = show::approval_resolved(request, is_approved, &settled.by);
                self.push_twin(twin::APPROVAL_RESOLVED, &resolved);
            }
            model::Asked::Input { .. } => {
                let resolved = show::user_input_resolved(request, &settled.answer);
                self.push_twin(twin::USER_INPUT_RESOLVED, &resolved);
            }
            model::Asked::PlanExit(plan) => {
                let resolved = show::plan_exit_resolved(cx, request, plan, is_approved, mode);
                self.push_twin(twin::PLAN_EXIT_RESOLVED, &resolved);
            }
            model::Asked::External(_) => {
                let resolved: tool::ToolExecutionResolved =
                    show::tool_execution_resolved(request, &settled.answer);
                self.push(name::TOOL_EXECUTION_RESOLVED, &resolved);
            }
        }
    }
}
