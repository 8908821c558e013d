//! What happens in the world, and what that means for the queue and the timeline.
//!
//! Called within the transaction in which it happens, so that a queue item is as durable as what it
//! tells of, and no client sees one without the other.

use rookery_model::{
    Category, Event, ExitStatus, Lifecycle, NotificationText, Origin, QueueItem, SessionId, Source,
    Terminal, TerminalId, ThreadId, TimelineKind, TurnStatus,
};

use crate::queue::{NewItem, is_word};
use crate::rooms::Queue;
use crate::sessions::SessionHome;
use crate::sessions::{session_of, session_of_thread};
use crate::world::Tx;

/// The title of a terminal that asks to be looked at.
const NEEDED: &str = "Approval needed";
/// Who settles what a session asked that is closed.
const BY_CLOSING: &str = "closed";

/// Whether an item says something that need only be seen.
fn is_good_to_know(item: &QueueItem) -> bool {
    item.category == Category::Informational || is_word(item, Category::Completed)
}

impl Queue {
    /// Follows up what a transaction brought.
    pub(crate) fn observe(&self, tx: &mut Tx<'_>, event: &Event) {
        match event {
            Event::TerminalOpened { terminal, .. } => {
                let session = session_of(terminal.uuid);
                tx.log_line(session, TimelineKind::SessionCreated, "Session created", None);
                tx.log_line(session, TimelineKind::SessionLaunched, "Session launched", None);
            }
            Event::TerminalExited { id, status } => self.observe_exit(tx, *id, *status),
            Event::TerminalNotified { id, text, source } if !tx.is_tools(*id) => {
                tx.observe_word(*id, text, *source);
            }
            Event::TerminalBell { id } if !tx.is_tools(*id) => tx.observe_bell(*id),
            Event::ActiveChanged { terminal: Some(id), .. } => tx.observe_look(*id),
            Event::TurnStarted { thread, .. } => tx.observe_turn(*thread),
            Event::TurnEnded { thread, status, .. } => tx.observe_end(*thread, *status),
            Event::ThreadArchived { id, is_archived: true } | Event::ThreadDeleted { id } => {
                let session = session_of_thread(*id);
                tx.resolve_items(session, |item| item.related.is_none());
            }
            _ => {}
        }
    }

    fn observe_exit(&self, tx: &mut Tx<'_>, id: TerminalId, status: ExitStatus) {
        let Ok(terminal) = tx.world.terminal(id) else { return };
        let session = session_of(terminal.uuid);
        let reason = match status {
            ExitStatus::Code(0) | ExitStatus::Unknown => None,
            ExitStatus::Code(code) => Some(format!("Process exited with code {code}")),
            ExitStatus::Signal(signal) => Some(format!("Process was ended by signal {signal}")),
        };
        let Some(reason) = reason else {
            tx.log_line(session, TimelineKind::StatusCompleted, "Terminal completed", None);
            return;
        };
        if self.ended_as_asked(id, status) {
            tx.log_line(session, TimelineKind::StatusCompleted, "Terminal ended on request", None);
            return;
        }
        tx.log_line(session, TimelineKind::StatusError, "Terminal error", None);
        if !tx.is_tools(id) {
            tx.file(NewItem {
                session: Some(session),
                related: None,
                category: Category::Error,
                title: "Terminal error".to_owned(),
                subtitle: Some(reason),
                source: Source::Protocol,
            });
        }
    }
}

impl Queue {
    /// Whether a program ended because a client wanted it to.
    fn ended_as_asked(&self, id: TerminalId, status: ExitStatus) -> bool {
        self.core.terminals().live(id).is_some_and(|live| live.is_asked_for(status))
    }
}

impl Tx<'_> {
    /// Whether a terminal belongs to a tool of a turn, which looks after it.
    fn is_tools(&self, id: TerminalId) -> bool {
        let terminal = self.world.terminals.get(&id);
        terminal.is_some_and(|terminal| matches!(terminal.origin, Origin::Tool(_)))
    }

    /// Something was said about a terminal.
    fn observe_word(&mut self, id: TerminalId, text: &NotificationText, source: Source) {
        let Ok(terminal) = self.world.terminal(id) else { return };
        let (session, lifecycle) = (session_of(terminal.uuid), terminal.activity.lifecycle);
        match source {
            // Whoever raised it has filed what there is to file.
            Source::Protocol | Source::Screen => {}
            Source::Program => self.need(session, Some(text), source),
            Source::Report => {
                let category = match lifecycle {
                    Lifecycle::Waiting => Category::ApprovalNeeded,
                    Lifecycle::Finished => Category::Completed,
                    Lifecycle::Failed => Category::Error,
                    Lifecycle::Inactive | Lifecycle::Working => Category::Informational,
                };
                let subtitle = Some(text.body.clone()).filter(|body| !body.is_empty());
                let title = if text.title.is_empty() { "Notification" } else { &text.title };
                let title = title.to_owned();
                let new = NewItem {
                    session: Some(session),
                    related: None,
                    category,
                    title,
                    subtitle,
                    source,
                };
                match category {
                    // A more trusted source said so, or it was said before.
                    Category::ApprovalNeeded if self.waits_already(session) => {}
                    Category::Informational | Category::Completed => drop(self.file(new)),
                    _ => self.file_once(new),
                }
            }
        }
    }

    fn observe_bell(&mut self, id: TerminalId) {
        let is_seen = self.world.active.terminal == Some(id) || self.world.is_seen(id);
        let Ok(terminal) = self.world.terminal(id) else { return };
        if !is_seen && !terminal.activity.mutes_program() {
            self.need(session_of(terminal.uuid), None, Source::Program);
        }
    }

    /// A session wants to be looked at, and maybe says what for.
    fn need(&mut self, session: SessionId, text: Option<&NotificationText>, source: Source) {
        if self.waits_already(session) {
            return;
        }
        let said = text.map(|text| {
            let parts = [text.title.as_str(), text.body.as_str()];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
        });
        let said = said.filter(|said| !said.is_empty());
        self.file(NewItem {
            session: Some(session),
            related: None,
            category: Category::ApprovalNeeded,
            title: NEEDED.to_owned(),
            subtitle: said.or_else(|| Some("Session requested input".to_owned())),
            source,
        });
        self.log_line(session, TimelineKind::StatusNeedsInput, NEEDED, None);
    }

    /// The user looks at a terminal: that it wants to be looked at, and that it is done, is dealt with.
    /// What waits for a decision goes on waiting.
    fn observe_look(&mut self, id: TerminalId) {
        let Ok(terminal) = self.world.terminal(id) else { return };
        let session = session_of(terminal.uuid);
        self.resolve_items(session, |item| {
            is_word(item, Category::ApprovalNeeded) || is_word(item, Category::Completed)
        });
    }

    /// A session is at work again: that it was done is no news any more.
    pub(crate) fn observe_work(&mut self, id: TerminalId) {
        let Ok(terminal) = self.world.terminal(id) else { return };
        let session = session_of(terminal.uuid);
        self.resolve_items(session, |item| is_word(item, Category::Completed));
    }

    /// A thread works again: how its last turn ended is no news any more.
    fn observe_turn(&mut self, thread: ThreadId) {
        let session = session_of_thread(thread);
        self.resolve_items(session, |item| {
            item.related.is_none() && matches!(item.category, Category::Completed | Category::Error)
        });
        self.log_line(session, TimelineKind::StatusProgress, "Turn started", None);
    }

    fn observe_end(&mut self, thread: ThreadId, status: TurnStatus) {
        let Ok(state) = self.world.thread(thread) else { return };
        // Whoever a child agent works for knows.
        if state.thread.child.is_some() {
            return;
        }
        let (session, title) = (session_of_thread(thread), state.thread.title().to_owned());
        let (category, word, kind) = match status {
            TurnStatus::Completed => {
                (Category::Completed, "Completed", TimelineKind::StatusCompleted)
            }
            TurnStatus::Failed => (Category::Error, "Error", TimelineKind::StatusError),
            // Whoever interrupted it knows.
            TurnStatus::Interrupted | TurnStatus::InProgress => return,
        };
        self.log_line(session, kind, word, None);
        self.file_once(NewItem {
            session: Some(session),
            related: None,
            category,
            title: word.to_owned(),
            subtitle: Some(title),
            source: Source::Protocol,
        });
    }

    /// The user took note of what was said about a terminal.
    pub(crate) fn dismiss_notifications(&mut self, id: TerminalId) {
        let Ok(terminal) = self.world.terminal(id) else { return };
        let session = session_of(terminal.uuid);
        self.resolve_items(session, is_good_to_know);
    }

    /// A terminal is about to be forgotten.
    pub(crate) fn observe_closing(&mut self, terminal: &Terminal) {
        let session = session_of(terminal.uuid);
        self.log_line(session, TimelineKind::SessionClosed, "Session closed", None);
        self.resolve_items(session, |item| is_good_to_know(item) || is_word(item, Category::Error));
        // These cannot be acted on any more.
        let asked = self.world.requests.of_session(session);
        let asked = asked.map(|request| request.id).collect();
        self.cancel_requests(asked, BY_CLOSING);
    }

    /// The terminal on which it is shown that a thread waits: one that works in its directory, the
    /// last used first; else one of the project around it; else the selected one.
    pub(crate) fn home_of(&self, thread: ThreadId) -> Option<TerminalId> {
        let world = &self.world;
        let cwd = &world.thread(thread).ok()?.thread.cwd;
        let living = || world.terminals.values().filter(|terminal| terminal.is_alive());
        let latest = |found: Vec<&Terminal>| {
            found.into_iter().max_by_key(|one| (one.last_active, one.id)).map(|one| one.id)
        };
        let here = latest(living().filter(|terminal| terminal.cwd() == cwd).collect());
        let around = || {
            let roots = world.projects.iter().filter(|project| cwd.starts_with(&project.root));
            let nearest = roots.max_by_key(|project| project.root.components().count())?;
            world.remembered_tab(nearest)
        };
        let selected = || world.active.terminal.filter(|id| self.living(*id).is_ok());
        here.or_else(around).or_else(selected).or_else(|| latest(living().collect()))
    }

    /// The terminal on which it is shown that a session waits.
    pub(crate) fn shown_on(&self, session: SessionId) -> Option<TerminalId> {
        match self.world.session(session)?.home {
            SessionHome::Terminal(id) => self.living(id).is_ok().then_some(id),
            SessionHome::Thread(id) => self.home_of(id),
        }
    }
}
