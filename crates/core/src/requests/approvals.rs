//! Approvals as those who supervise see them: requests in words, open ones and those decided.
//!
//! There is no list of approvals beside the requests: deciding is `resolve`, like every other answer,
//! and so the first one counts.

use rookery_model::{
    Activity, Answer, Asked, Category, NotificationText, QueueItem, Related, Request, RequestId,
    RequestState, SessionId, Settled, Source, TerminalId, TimelineKind, Timestamp, spelled,
};

use crate::clock;
use crate::log::RequestChange;
use crate::queue::{NewItem, is_word};
use crate::requests::decisions;
use crate::rooms::Requests;
use crate::sessions::session_of_thread;
use crate::world::Tx;
use crate::world::draw;

/// Settled requests that are kept at hand.
const MAX_SETTLED: usize = 1_000;

/// Where an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalStatus {
    /// Not decided yet.
    Pending,
    /// To be decided later.
    Deferred,
    /// Allowed.
    Approved,
    /// Refused, or not waited for any more.
    Denied,
    /// Answered at its terminal; what was chosen there is not known.
    AtTerminal,
    /// A dialog that went without an answer.
    Withdrawn,
}

/// An approval in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub id: RequestId,
    /// The session that asks; none if a client does that belongs to none.
    pub session: Option<SessionId>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// In a few words.
    pub title: String,
    /// Why it asks.
    pub summary: String,
    /// What exactly would be done.
    pub action: String,
    /// How far it reaches.
    pub scope: Option<String>,
    /// Where it stands.
    pub status: ApprovalStatus,
}

impl Requests {
    /// Approvals that wait and those that were decided lately: open ones first, then the newest.
    pub fn approvals(&self) -> Vec<Approval> {
        let world = self.core.look();
        let all = world.requests.values().chain(world.settled.values());
        let mut approvals: Vec<Approval> = all.filter_map(Approval::of).collect();
        approvals.sort_by_key(|one| {
            let is_open = one.status == ApprovalStatus::Pending;
            (!is_open, std::cmp::Reverse((one.created_at, one.id)))
        });
        approvals
    }

    /// One approval, whether it waits or was decided lately.
    pub fn approval(&self, id: RequestId) -> Option<Approval> {
        let world = self.core.look();
        world.requests.get(id).or_else(|| world.settled.get(&id)).and_then(Approval::of)
    }

    /// The asker has this decision: from now on it stands.
    pub fn mark_acted_on(&self, id: RequestId) {
        self.core.adjust(|world| world.acted_on().insert(id));
    }
}

impl Approval {
    /// A request in words, if it is one that is allowed or refused.
    pub(crate) fn of(request: &Request) -> Option<Approval> {
        let (title, summary, action, scope) = match &request.asked {
            Asked::Approval { reason, argv, input, cwd, .. } => {
                let action = match argv.as_slice() {
                    [] => format!("{} {input}", request.tool),
                    argv => format!("{} {}", request.tool, argv.join(" ")),
                };
                let scope = Some(cwd.display().to_string()).filter(|cwd| !cwd.is_empty());
                (request.tool.clone(), reason.clone(), action, scope)
            }
            Asked::PlanExit(plan) => {
                let steps = plan.next_steps.join("; ");
                let action = if steps.is_empty() { plan.summary.clone() } else { steps };
                (request.tool.clone(), plan.summary.clone(), action, None)
            }
            Asked::Permission { title, summary, action, scope } => {
                (title.clone(), summary.clone(), action.clone(), scope.clone())
            }
            Asked::Dialog { title, text, .. } => (title.clone(), text.clone(), text.clone(), None),
            Asked::Input { .. } | Asked::External(_) => return None,
        };
        Some(Approval {
            id: request.id,
            session: session_of_request(request),
            created_at: request.asked_at,
            title: spelled(&title),
            summary: spelled(&summary),
            action: spelled(&action),
            scope: scope.as_deref().map(spelled),
            status: status(request),
        })
    }
}

/// The session that a request belongs to, if it belongs to one.
pub(crate) fn session_of_request(request: &Request) -> Option<SessionId> {
    let thread = request.thread().map(session_of_thread);
    request.session().or(thread)
}

fn status(request: &Request) -> ApprovalStatus {
    match &request.state {
        RequestState::Pending if request.is_deferred => ApprovalStatus::Deferred,
        RequestState::Pending => ApprovalStatus::Pending,
        RequestState::Settled(Settled { answer: Answer::Approved { .. }, .. }) => {
            ApprovalStatus::Approved
        }
        RequestState::Settled(Settled { answer: Answer::AtTerminal, .. }) => {
            ApprovalStatus::AtTerminal
        }
        RequestState::Settled(Settled { answer: Answer::Cancelled, .. })
            if matches!(request.asked, Asked::Dialog { .. }) =>
        {
            ApprovalStatus::Withdrawn
        }
        RequestState::Settled(_) => ApprovalStatus::Denied,
    }
}

impl Tx<'_> {
    /// A harness wants something to be allowed; nothing here waits for the answer.
    pub(crate) fn ask_permission(
        &mut self,
        session: SessionId,
        title: String,
        summary: String,
        action: String,
        scope: Option<String>,
    ) -> RequestId {
        let tool = title.clone();
        let asked = Asked::Permission { title, summary, action, scope };
        let mut request =
            Request::of_session(RequestId::new(draw()), session, asked, clock::wall());
        request.tool = tool;
        let id = request.id;
        self.world.requests.insert(request.clone());
        self.save_request(&request);
        self.announce(None, RequestChange::Asked(Box::new(request)));
        id
    }

    /// Notes that it will be decided later.
    pub(super) fn put_off(&mut self, id: RequestId, by: &str) {
        let Some(request) = self.world.requests.put_off(id) else { return };
        self.save_request(&request);
        let mode = self.world.mode_of_asker(request.asker);
        self.record(decisions::deferred(&request, mode, by));
        let Some(approval) = Approval::of(&request) else { return };
        let related = Some(Related::Request(id));
        self.file_once(NewItem {
            session: approval.session,
            related,
            category: Category::ApprovalNeeded,
            title: approval.title,
            subtitle: Some(format!("Deferred: {}", approval.summary)),
            source: source_of(&request),
        });
        let kind = TimelineKind::ApprovalUpdated;
        self.log_line(approval.session, kind, "Approval deferred", related);
    }

    /// Keeps a settled request at hand for a while.
    pub(crate) fn archive(&mut self, request: Request) {
        self.world.settled.insert(request.id, request);
        if self.world.settled.len() > MAX_SETTLED {
            let gone = self.world.settled.pop_first();
            gone.and_then(|(id, _)| self.world.acted_on.remove(&id));
        }
    }

    /// Shows on a terminal that something waits for an answer.
    fn wait_on(&mut self, terminal: TerminalId, id: RequestId, text: Option<NotificationText>) {
        let waits = |activity: &mut Activity, _| {
            activity.requests.insert(id);
        };
        self.world.shown_on.insert(id, terminal);
        let shown = self.change_activity(terminal, waits).and_then(|()| match text {
            Some(text) => self.raise_attention(terminal, text, Source::Protocol),
            None => Ok(()),
        });
        if let Err(error) = shown {
            tracing::debug!(%error, "a terminal went before it could show what waits");
        }
    }

    /// Nothing waits for this answer any more, wherever that was shown.
    fn stop_waiting(&mut self, id: RequestId) {
        let Some(terminal) = self.world.shown_on.remove(&id) else { return };
        let goes_on = |activity: &mut Activity, _| {
            activity.requests.remove(&id);
        };
        if self.change_activity(terminal, goes_on).is_ok() {
            // It lives, so there is nothing that could fail.
            let _ = self.lower_attention(terminal);
        }
    }

    /// Requests that were in memory only are gone with the last daemon; nothing may point at them.
    pub(crate) fn forget_lost_requests(&mut self) {
        let pointing = self.world.queue.subjects().filter_map(|related| match related {
            Related::Request(id) => Some(id),
            _ => None,
        });
        let shown = self.world.shown_on.keys().copied();
        let lost = pointing.chain(shown).filter(|id| !self.world.requests.contains(*id));
        let lost: std::collections::BTreeSet<RequestId> = lost.collect();
        for id in lost {
            self.resolve_related(Related::Request(id));
            self.stop_waiting(id);
        }
    }

    /// A request was asked or settled: what that means for the queue, the timeline and the terminal
    /// on which it is shown.
    pub(crate) fn follow_request(&mut self, request: &Request) {
        let session = session_of_request(request);
        let related = Related::Request(request.id);
        match &request.state {
            RequestState::Pending if request.is_deferred => {}
            RequestState::Pending => self.show_request(request, session),
            RequestState::Settled(settled) => {
                self.resolve_related(related);
                self.stop_waiting(request.id);
                let word = match &settled.answer {
                    Answer::Approved { .. } => "Approval approved",
                    Answer::Denied { .. } => "Approval denied",
                    Answer::Cancelled | Answer::TimedOut => "Approval expired",
                    Answer::AtTerminal => "Approval answered at the terminal",
                    Answer::Given(_) | Answer::Output { .. } => return,
                };
                self.log_line(session, TimelineKind::ApprovalUpdated, word, Some(related));
            }
        }
    }

    fn show_request(&mut self, request: &Request, session: Option<SessionId>) {
        let (title, summary) = match (&request.asked, Approval::of(request)) {
            (Asked::Input { questions }, _) => {
                let first = questions.first();
                let title = first.map_or("Question", |question| &question.header);
                let text = first.map_or("", |question| &question.question);
                (title.to_owned(), text.to_owned())
            }
            (_, Some(approval)) => (approval.title, approval.summary),
            // A client runs it; no person is waited for.
            (_, None) => return,
        };
        let asker = request.thread().and_then(|thread| self.world.asked_by(thread));
        let with_asker = |text: String| match &asker {
            Some(asker) if !text.contains(asker.as_str()) => format!("{text}; asked by {asker}"),
            _ => text,
        };
        let summary = with_asker(summary);
        let related = Some(Related::Request(request.id));
        self.file_once(NewItem {
            session,
            related,
            category: Category::ApprovalNeeded,
            title: title.clone(),
            subtitle: Some(summary.clone()),
            source: source_of(request),
        });
        self.log_line(session, TimelineKind::ApprovalRequested, title.clone(), related);
        // That the session waits may have been said a moment ago, by a source that did not know for
        // what. It is one matter, and is not reported twice.
        let vague = |item: &QueueItem| is_word(item, Category::ApprovalNeeded);
        let was_told = self.has_open_item(session, vague);
        self.resolve_items(session, vague);
        if let Some(terminal) = session.and_then(|session| self.shown_on(session)) {
            let body =
                Approval::of(request).map_or(summary, |approval| with_asker(approval.action));
            let text = (!was_told).then_some(NotificationText { title, body });
            self.wait_on(terminal, request.id, text);
        }
    }
}

fn source_of(request: &Request) -> Source {
    match &request.asked {
        Asked::Permission { .. } if request.session().is_some() => Source::Report,
        Asked::Dialog { .. } => Source::Screen,
        _ => Source::Protocol,
    }
}
