//! Sessions: terminals and threads under one kind of name, as those who supervise them see them.

mod accepted;
mod agent_events;
mod attention;
mod create;
mod import;
mod places;

use std::path::PathBuf;
use std::time::Duration;

use rookery_model::{Checkout, SessionId, Terminal, TerminalId, TerminalUuid, Thread, ThreadId};

use crate::clock;
use crate::rooms::Sessions;
use crate::world::World;

pub use agent_events::{AgentEvent, AgentEventKind, Created};
pub use attention::{Reported, SessionNotice};
pub use create::{AgentChoice, NewSession};
pub use import::{Import, Imported, Taken};

pub(crate) use create::{planned, worktree_error};
pub(crate) use places::open_tree;

/// A thread that rests is listed for so long.
const LISTED_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Threads that are listed at most, the newest of them.
const MAX_THREADS: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionHome {
    Terminal(TerminalId),
    /// A conversation.
    Thread(ThreadId),
}

/// A session as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its universally unique name, the same for ever.
    pub id: SessionId,
    /// What it is.
    pub home: SessionHome,
    pub title: String,
    /// Where it works.
    pub cwd: PathBuf,
}

/// Why a word names no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionError {
    /// None fits.
    Unknown,
    /// More than one fits.
    Ambiguous,
}

impl Session {
    pub(crate) fn of_terminal(terminal: &Terminal) -> Session {
        Session {
            id: session_of(terminal.uuid),
            home: SessionHome::Terminal(terminal.id),
            title: terminal.title().into_owned(),
            cwd: terminal.cwd().to_owned(),
        }
    }

    pub(crate) fn of_thread(thread: &Thread) -> Session {
        Session {
            id: session_of_thread(thread.id),
            home: SessionHome::Thread(thread.id),
            title: thread.title().to_owned(),
            cwd: thread.cwd.clone(),
        }
    }
}

/// The session that a terminal is.
pub(crate) fn session_of(uuid: TerminalUuid) -> SessionId {
    SessionId::new(u128::from_be_bytes(uuid.0))
}

pub(crate) fn session_of_thread(id: ThreadId) -> SessionId {
    SessionId::new(id.get())
}

impl World {
    /// What bears this name, whether it is listed or not.
    pub(crate) fn session(&self, id: SessionId) -> Option<Session> {
        let uuid = TerminalUuid(id.get().to_be_bytes());
        let terminal = self.terminals.values().find(|terminal| terminal.uuid == uuid);
        terminal.map(Session::of_terminal).or_else(|| {
            self.threads
                .get(&ThreadId::new(id.get()))
                .map(|state| Session::of_thread(&state.thread))
        })
    }

    /// The repository that a session was opened for.
    pub(crate) fn checkout_of(&self, session: SessionId) -> Option<&Checkout> {
        match self.session(session)?.home {
            SessionHome::Terminal(id) => self.terminals.get(&id)?.checkout.as_ref(),
            SessionHome::Thread(_) => None,
        }
    }

    /// Every session that a supervisor may want to look at: all terminals, and the threads that are at
    /// work or were lately.
    pub(crate) fn sessions(&self) -> Vec<Session> {
        let now = clock::wall().as_micros();
        let lately = now.saturating_sub(i64::try_from(LISTED_FOR.as_micros()).unwrap_or(i64::MAX));
        let mut threads: Vec<_> = (self.threads.values())
            .filter(|state| !state.thread.archived)
            .filter(|state| state.active.is_some() || state.thread.updated_at.as_micros() >= lately)
            .collect();
        threads.sort_by_key(|state| {
            std::cmp::Reverse((state.active.is_some(), state.thread.updated_at, state.thread.id))
        });
        threads.truncate(MAX_THREADS);
        let terminals = self.terminals.values().map(Session::of_terminal);
        terminals
            .chain(threads.into_iter().map(|state| Session::of_thread(&state.thread)))
            .collect()
    }
}

impl Sessions {
    /// Every session that a supervisor may want to look at.
    pub fn list(&self) -> Vec<Session> {
        self.core.look().sessions()
    }

    /// The session of this id, whether it is listed or not.
    pub fn get(&self, id: SessionId) -> Option<Session> {
        self.core.look().session(id)
    }

    /// The session that a word means: its id, else its title, else the only title that contains the
    /// word. Letters may be large or small.
    ///
    /// # Errors
    /// If it means none, or more than one.
    pub fn find(&self, word: &str) -> Result<Session, SessionError> {
        let word = word.trim();
        if word.is_empty() {
            return Err(SessionError::Unknown);
        }
        let world = self.core.look();
        if let Some(session) = word.parse().ok().and_then(|id| world.session(id)) {
            return Ok(session);
        }
        choose(world.sessions(), word)
    }
}

fn choose(sessions: Vec<Session>, word: &str) -> Result<Session, SessionError> {
    let word = word.to_lowercase();
    let titles: Vec<(String, Session)> =
        sessions.into_iter().map(|session| (session.title.to_lowercase(), session)).collect();
    let only = |fits: &dyn Fn(&str) -> bool| {
        let mut fitting = titles.iter().filter(|(title, _)| fits(title)).map(|(_, found)| found);
        match (fitting.next(), fitting.next()) {
            (None, _) => Err(SessionError::Unknown),
            (Some(one), None) => Ok(one.clone()),
            (Some(_), Some(_)) => Err(SessionError::Ambiguous),
        }
    };
    match only(&|title| title == word) {
        Err(SessionError::Unknown) => only(&|title| title.contains(&word)),
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(titles: &[&str]) -> Vec<Session> {
        let session = |(at, title): (usize, &&str)| Session {
            id: SessionId::new(at as u128),
            home: SessionHome::Thread(ThreadId::new(at as u128)),
            title: (*title).to_owned(),
            cwd: PathBuf::new(),
        };
        titles.iter().enumerate().map(session).collect()
    }

    fn chosen(titles: &[&str], word: &str) -> Result<u128, SessionError> {
        choose(named(titles), word).map(|session| session.id.get())
    }

    #[test]
    fn the_exact_title_wins_over_those_that_contain_it() {
        assert_eq!(chosen(&["api-tests", "api"], "API"), Ok(1));
        assert_eq!(chosen(&["api-tests", "web"], "api"), Ok(0));
        assert_eq!(chosen(&["ÉTUDE", "web"], "étude"), Ok(0));
    }

    #[test]
    fn two_of_one_title_are_ambiguous_and_are_not_looked_at_more_loosely() {
        assert_eq!(chosen(&["api", "Api", "api-tests"], "api"), Err(SessionError::Ambiguous));
        assert_eq!(chosen(&["api-a", "api-b"], "api"), Err(SessionError::Ambiguous));
        assert_eq!(chosen(&["api"], "nope"), Err(SessionError::Unknown));
    }
}
