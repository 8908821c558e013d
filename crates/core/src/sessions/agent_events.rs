//! Events that harnesses report: each is taken once, with everything that follows from it.

use rookery_model::{
    Category, Checkpoint, CheckpointId, CheckpointSource, Differences, Error, ErrorKind, Event,
    EventId, HandoffId, Record, Related, RequestId, Result, ReviewId, SessionId, Source,
    TimelineKind, Timestamp,
};

use super::attention::report;
use crate::handoffs::NewHandoff;
use crate::queue::NewItem;
use crate::reviews::NewReview;
use crate::rooms::Sessions;
use crate::sessions::Reported;
use crate::sessions::SessionHome;
use crate::world::Tx;
use crate::world::draw;

/// An event that a harness reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentEvent {
    /// Its id, by which it is taken once.
    pub id: EventId,
    /// The session it is about, if that was said.
    pub session: Option<SessionId>,
    /// The title of the session, if that was said.
    pub title_hint: Option<String>,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub kind: AgentEventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEventKind {
    /// Work goes on.
    Progress {
        /// In a few words.
        summary: Option<String>,
    },
    /// A checkpoint was made elsewhere.
    Checkpoint {
        /// In a few words.
        title: String,
        /// In a few more.
        summary: String,
        /// The commit, if that was said.
        head: Option<String>,
        /// What differed.
        differences: Differences,
    },
    /// Work goes to another session.
    Handoff {
        /// Who takes over.
        to: Option<SessionId>,
        /// The snapshot to go on from.
        checkpoint: Option<CheckpointId>,
        /// In a few words.
        title: String,
        /// In a few more.
        summary: String,
        /// What may go wrong.
        risks: Vec<String>,
        /// What comes next.
        next_actions: Vec<String>,
    },
    /// Changes are to be reviewed.
    Review {
        /// The snapshot they are in.
        checkpoint: Option<CheckpointId>,
        /// What it is about.
        summary: String,
        /// What differs.
        differences: Differences,
    },
    /// Something must be allowed.
    Approval {
        /// In a few words.
        title: String,
        /// In a few more.
        summary: String,
        /// What exactly.
        action: String,
        /// How far it reaches.
        scope: Option<String>,
    },
    /// Work is done.
    Completed {
        /// In a few words.
        summary: Option<String>,
    },
    /// Work cannot go on.
    Blocked {
        /// In a few words.
        summary: Option<String>,
    },
    /// Work failed.
    Error {
        /// In a few words.
        summary: Option<String>,
    },
}

/// What came to be through an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// Only a word in the queue.
    Nothing,
    Checkpoint(CheckpointId),
    Handoff(HandoffId),
    Review(ReviewId),
    /// Something that waits for a decision.
    Approval(RequestId),
}

impl Sessions {
    /// Takes an event.
    ///
    /// # Errors
    /// Conflict if it was taken before, not found if it names no session; then nothing is noted,
    /// and it may be sent again.
    pub async fn take_agent_event(&self, event: AgentEvent) -> Result<(SessionId, Created)> {
        self.core
            .transact_durably(|tx| {
                if tx.world.handled.contains(event.id) {
                    return Err(Error::new(ErrorKind::Conflict, "duplicate event"));
                }
                let session = tx.target(&event)?;
                self.core.check_session_in(tx.world, session)?;
                let created = tx.take_event(session, event.at, event.kind);
                tx.note_handled(event.id);
                Ok((session, created))
            })
            .await
    }

    /// The ids of events that were taken, oldest first.
    pub fn handled_events(&self) -> Vec<EventId> {
        self.core.look().handled.iter().collect()
    }

    /// Counts events as taken that another program took.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn adopt_handled_events(&self, ids: Vec<EventId>) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                for id in ids {
                    if !tx.world.handled.contains(id) {
                        tx.note_handled(id);
                    }
                }
                Ok(())
            })
            .await
    }
}

impl Tx<'_> {
    /// The session that an event is about: by its id, else by its exact title among the sessions of
    /// the selected project, else among all.
    fn target(&self, event: &AgentEvent) -> Result<SessionId> {
        let unknown = || Error::not_found("no such session");
        if let Some(id) = event.session
            && self.world.session(id).is_some()
        {
            return Ok(id);
        }
        let hint = event.title_hint.as_deref().map(str::trim).filter(|hint| !hint.is_empty());
        let hint = hint.ok_or_else(unknown)?;
        // Titles are kept without secrets.
        let hint = crate::secrets::hidden(hint);
        let named: Vec<_> =
            self.world.sessions().into_iter().filter(|one| one.title == hint).collect();
        let is_near = |home: SessionHome| match home {
            SessionHome::Terminal(id) => self
                .world
                .terminal(id)
                .is_ok_and(|one| Some(one.project) == self.world.active.project),
            SessionHome::Thread(_) => false,
        };
        let near: Vec<_> = named.iter().filter(|session| is_near(session.home)).collect();
        match (near.as_slice(), named.as_slice()) {
            ([one], _) => Ok(one.id),
            ([], [one]) => Ok(one.id),
            _ => Err(unknown()),
        }
    }

    fn take_event(&mut self, session: SessionId, at: Timestamp, kind: AgentEventKind) -> Created {
        use AgentEventKind as Kind;
        let word = |category, title: &str, subtitle: Option<String>| NewItem {
            session: Some(session),
            related: None,
            category,
            title: title.to_owned(),
            subtitle,
            source: Source::Report,
        };
        match kind {
            Kind::Progress { summary } => {
                self.file(word(Category::Informational, "Progress update", summary));
                self.log_line(session, TimelineKind::StatusProgress, "Progress update", None);
                Created::Nothing
            }
            Kind::Checkpoint { title, summary, head, differences } => Created::Checkpoint(
                self.take_checkpoint(session, at, title, summary, head, differences),
            ),
            Kind::Handoff { to, checkpoint, title, summary, risks, next_actions } => {
                let from = session.into();
                let new = NewHandoff { from, to, checkpoint, title, summary, risks, next_actions };
                Created::Handoff(self.create_handoff(new, Source::Report).id)
            }
            Kind::Review { checkpoint, summary, differences } => {
                let new = NewReview { place: session.into(), checkpoint, summary, differences };
                Created::Review(self.ask_review(new, Source::Report).id)
            }
            Kind::Approval { title, summary, action, scope } => {
                self.show_activity(session, Reported::Waiting, &title);
                Created::Approval(self.ask_permission(session, title, summary, action, scope))
            }
            Kind::Completed { summary } => {
                self.show_activity(session, Reported::Completed, "Completed");
                self.file(word(Category::Completed, "Completed", summary));
                self.log_line(session, TimelineKind::StatusCompleted, "Completed", None);
                Created::Nothing
            }
            Kind::Blocked { summary } => {
                self.show_activity(session, Reported::Waiting, "Blocked");
                self.file(word(Category::Blocked, "Blocked", summary));
                self.log_line(session, TimelineKind::StatusBlocked, "Blocked", None);
                Created::Nothing
            }
            Kind::Error { summary } => {
                self.show_activity(session, Reported::Error, "Error");
                self.file(word(Category::Error, "Error", summary));
                self.log_line(session, TimelineKind::StatusError, "Errored", None);
                Created::Nothing
            }
        }
    }

    /// A checkpoint that was made elsewhere: nothing is captured, it is only known.
    fn take_checkpoint(
        &mut self,
        session: SessionId,
        at: Timestamp,
        title: String,
        summary: String,
        head: Option<String>,
        differences: Differences,
    ) -> CheckpointId {
        let place = self.world.checkout_of(session).cloned();
        let checkpoint = Checkpoint {
            id: CheckpointId::new(draw()),
            place: session.into(),
            repo: place.as_ref().map(|place| place.repo.clone()),
            branch: place.as_ref().and_then(|place| place.branch.clone()),
            worktree: place.and_then(|place| place.worktree),
            title,
            summary,
            head,
            snapshot: None,
            differences,
            created_at: at,
            source: CheckpointSource::AgentEvent,
        };
        let title = checkpoint.title.clone();
        self.add_checkpoint(checkpoint, &title)
    }

    /// Puts a checkpoint into its list, the queue and the timeline.
    pub(crate) fn add_checkpoint(&mut self, checkpoint: Checkpoint, line: &str) -> CheckpointId {
        let (id, session) = (checkpoint.id, checkpoint.place.session());
        let related = Some(Related::Checkpoint(id));
        self.keep(Record::Checkpoint(checkpoint.clone()));
        self.file(NewItem {
            session,
            related,
            category: Category::Informational,
            title: "Checkpoint created".to_owned(),
            subtitle: Some(checkpoint.title.clone()),
            source: Source::Report,
        });
        self.log_line(session, TimelineKind::CheckpointCreated, line, related);
        self.emit(Event::CheckpointCreated(Box::new(checkpoint)));
        id
    }

    /// Shows on a session's terminal what its agent reported.
    fn show_activity(&mut self, session: SessionId, reported: Reported, word: &str) {
        if let Some(terminal) = self.living_terminal_of(session) {
            // It lives, so there is nothing that could fail.
            let _ = self.change_activity(terminal, |now, at| report(now, reported, word, at));
        }
    }
}
