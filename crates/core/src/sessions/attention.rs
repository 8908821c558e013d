//! What tools and hooks say about a session: a word for the queue, and what the session is at.

use rookery_model::{
    Activity, Category, Lifecycle, NotificationText, Owner, QueueItemId, Result, SessionId, Source,
    TerminalId, TimelineKind, Timestamp,
};

use crate::queue::NewItem;
use crate::requests::decisions;
use crate::rooms::Sessions;
use crate::sessions::SessionHome;
use crate::world::Tx;

/// What a notice says that a session is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// At work.
    Active,
    /// Waits for a person.
    Waiting,
    /// Done.
    Completed,
    /// Failed.
    Error,
    /// Nothing is said about it any more.
    Clear,
}

impl Reported {
    /// Whether an agent of which this is said runs, if it can be determined.
    fn runs(self) -> Option<bool> {
        match self {
            Reported::Active => Some(true),
            Reported::Completed | Reported::Error | Reported::Clear => Some(false),
            Reported::Waiting => None,
        }
    }
}

/// A word about a session. The session need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionNotice {
    pub session: SessionId,
    /// How urgent it is.
    pub category: Category,
    /// In a few words.
    pub title: String,
    /// In a few more.
    pub summary: Option<String>,
    /// What the session is at, with a word on it.
    pub activity: Option<(Reported, String)>,
    /// The agent that is spoken of, if one is.
    pub agent: Option<String>,
}

impl Sessions {
    /// Takes a word about a session.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub async fn take_notice(&self, notice: SessionNotice) -> Result<QueueItemId> {
        self.core
            .transact_durably(|tx| {
                let SessionNotice { session, category, title, summary, activity, agent } = notice;
                self.core.check_session_in(tx.world, session)?;
                // A shell reports the line as it was typed, and that may hold a key.
                let summary = summary.map(|text| decisions::without_secrets(&text));
                let text = NotificationText {
                    title: title.clone(),
                    body: summary.clone().unwrap_or_default(),
                };
                tx.log_line(session, TimelineKind::StatusProgress, title.clone(), None);
                let source = Source::Report;
                let new = NewItem {
                    session: Some(session),
                    related: None,
                    category,
                    title,
                    subtitle: summary,
                    source,
                };
                let id = tx.file(new);
                if let Some(terminal) = tx.living_terminal_of(session) {
                    if let Some((reported, word)) = activity {
                        tx.change_activity(terminal, |now, at| report(now, reported, &word, at))?;
                        let (core, runs) = (self.core.clone(), reported.runs());
                        tx.afterwards(move || {
                            if let (Some(agent), Some(runs)) = (agent, runs) {
                                core.terminals().see_agent(terminal, &agent, runs);
                            }
                        });
                    }
                    // The queue has it already; what follows is for those who look at the terminal.
                    tx.raise_attention(terminal, text, Source::Protocol)?;
                }
                Ok(id)
            })
            .await
    }
}

impl Tx<'_> {
    /// The terminal that a session is, if its child lives.
    pub(crate) fn living_terminal_of(&self, session: SessionId) -> Option<TerminalId> {
        match self.world.session(session)?.home {
            SessionHome::Terminal(id) => self.living(id).is_ok().then_some(id),
            SessionHome::Thread(_) => None,
        }
    }
}

/// Lays what was reported over what goes on in a terminal. A failure is shown as an end: what went
/// wrong is in the queue, and no answer is waited for.
pub(crate) fn report(activity: &mut Activity, reported: Reported, word: &str, at: Timestamp) {
    let lifecycle = match reported {
        Reported::Clear => return activity.release(),
        Reported::Active => Lifecycle::Working,
        Reported::Waiting => Lifecycle::Waiting,
        Reported::Completed | Reported::Error => Lifecycle::Finished,
    };
    let owner = activity
        .owner
        .get_or_insert_with(|| Owner { source: Owner::NOTICE.to_owned(), ..Owner::default() });
    word.clone_into(&mut owner.detail);
    owner.last_event_at = at;
    activity.lifecycle = lifecycle;
    activity.has_spoken = true;
}
