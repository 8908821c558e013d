//! Tells a client what happens to threads: core's notices as this dialect's notifications, in order.

use rookery_core::{
    ItemChange, News, Notice, NoticeBody, RequestChange, SettingsChange, Subscription,
    ThreadChange, TurnChange,
};
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
pub(crate) async fn forward(cx: Cx, mut reader: Subscription) {
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
        for news in batch {
            cx.client.released().await;
            if send(&cx, &news).await.is_err() {
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

async fn send(cx: &Cx, news: &News) -> Result<(), Rejected> {
    let preferences = cx.client.preferences();
    for body in render(cx, news, &preferences) {
        cx.connection.outbox().send(body).await?;
    }
    Ok(())
}

/// The messages that tell of news, without those that the client does not want.
fn render(cx: &Cx, news: &News, preferences: &Preferences) -> Vec<Vec<u8>> {
    let mut out = Messages { preferences, bodies: Vec::new() };
    match news {
        News::Notice(notice) => out.notice(cx, notice),
        News::DeltasMissed(count) => {
            let dropped = notification::NotificationsDropped { count: *count };
            out.push(name::NOTIFICATIONS_DROPPED, &dropped);
        }
        News::Event(_) | News::EventsMissed(_) => {}
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

    fn notice(&mut self, cx: &Cx, notice: &Notice) {
        let thread = notice.thread.map(|thread| thread.to_string());
        match &notice.body {
            NoticeBody::Thread(change) => self.thread(cx, thread, change),
            NoticeBody::Turn(change) => self.turn(notice.at, thread.unwrap_or_default(), change),
            NoticeBody::Item(turn, change) => self.item(notice, *turn, change),
            NoticeBody::Request(RequestChange::Asked(request)) => self.requested(cx, request),
            // Its clients answer all questions at once.
            NoticeBody::Request(RequestChange::Part(_)) => {}
            NoticeBody::Request(RequestChange::Settled(request, mode)) => {
                self.settled(cx, request, *mode);
            }
            NoticeBody::Settings(SettingsChange::Providers) => {
                self.push(name::PROVIDERS_CHANGED, &show::providers_changed(cx));
            }
            NoticeBody::Settings(SettingsChange::Other) => {
                self.push(name::SETTINGS_CHANGED, &show::settings_changed(cx));
            }
            NoticeBody::Warning(message) => {
                let warning = notification::Warning { message: message.clone(), thread_id: thread };
                self.push(name::WARNING, &warning);
            }
        }
    }

    fn thread(&mut self, cx: &Cx, about: Option<String>, change: &ThreadChange) {
        let thread_id = about.clone().unwrap_or_default();
        match change {
            ThreadChange::Started(started, status) => {
                let thread = show::thread_of(cx, started, status);
                self.push(name::THREAD_STARTED, &upkeep::ThreadResult { thread });
            }
            ThreadChange::Status(status) => {
                let status = show::status(status);
                let changed = notification::ThreadStatusChanged { thread_id, status };
                self.push(name::THREAD_STATUS_CHANGED, &changed);
            }
            ThreadChange::Mode { previous, mode, reason } => {
                let changed = session::ModeChanged {
                    thread_id: about,
                    previous_mode: show::mode(cx, *previous),
                    mode: show::mode(cx, *mode),
                    reason: reason.clone(),
                };
                self.push(name::MODE_CHANGED, &changed);
            }
            ThreadChange::Archived => {
                self.push(name::THREAD_ARCHIVED, &notification::ThreadArchived { thread_id });
            }
            ThreadChange::Renamed(given) => {
                let renamed = upkeep::ThreadNameResult { thread_id, name: given.clone() };
                self.push(name::THREAD_NAME_UPDATED, &renamed);
            }
            ThreadChange::GoalSet(goal) => {
                let goal = show::goal(&thread_id, goal);
                let updated = notification::ThreadGoalUpdated { thread_id, goal };
                self.push(name::THREAD_GOAL_UPDATED, &updated);
            }
            ThreadChange::GoalCleared => {
                self.push(name::THREAD_GOAL_CLEARED, &notification::ThreadArchived { thread_id });
            }
            // This dialect knows no threads of that sort.
            ThreadChange::Assigned | ThreadChange::Role { .. } | ThreadChange::Queued(_) => {}
        }
    }

    fn turn(&mut self, at: model::Timestamp, thread_id: String, change: &TurnChange) {
        match change {
            TurnChange::Started(turn) => self.whole_turn(name::TURN_STARTED, thread_id, turn),
            TurnChange::Ended(turn) => self.whole_turn(name::TURN_COMPLETED, thread_id, turn),
            // Items tell what comes of a call.
            TurnChange::CallStarted(..) | TurnChange::CallEnded(..) | TurnChange::ToolRuns(..) => {}
            TurnChange::PartialResult(turn, summary) => {
                let (turn_id, summary) = (turn.to_string(), summary.clone());
                let partial = notification::TurnPartialResult { thread_id, turn_id, summary };
                self.push(name::TURN_PARTIAL_RESULT, &partial);
            }
            TurnChange::DeadlineExceeded(turn, deadline, summary) => {
                let exceeded = notification::TurnDeadlineExceeded {
                    thread_id,
                    turn_id: turn.to_string(),
                    deadline: show::moment(deadline.unwrap_or(at)),
                    partial_result: summary.clone(),
                };
                self.push(name::TURN_DEADLINE_EXCEEDED, &exceeded);
            }
            TurnChange::Lifecycle(life) => {
                let lifecycle = show::lifecycle(&thread_id, life);
                let turn_id = life.turn.to_string();
                let updated = notification::TurnLifecycleUpdated { thread_id, turn_id, lifecycle };
                self.push(name::TURN_LIFECYCLE_UPDATED, &updated);
            }
        }
    }

    fn whole_turn(&mut self, name: &str, thread_id: String, turn: &model::Turn) {
        let turn = show::turn(turn, Vec::new());
        self.push(name, &notification::TurnNotification { thread_id, turn });
    }

    fn item(&mut self, notice: &Notice, turn: model::TurnId, change: &ItemChange) {
        let Some(thread) = notice.thread else { return };
        let stamp = Stamp { seq: notice.seq, thread, turn, at: notice.at };
        match change {
            ItemChange::Started(item) => {
                self.push(name::ITEM_STARTED, &items::started(stamp, item));
            }
            ItemChange::Completed(item) => {
                self.push(name::ITEM_COMPLETED, &items::completed(stamp, item));
            }
            // Its clients see the whole output, with the completed item.
            ItemChange::Output(..) => {}
            ItemChange::Delta(id, delta) => {
                let method = items::method(delta, self.preferences.reasoning_methods);
                self.push(method, &items::delta(stamp, id, delta));
            }
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
