//! Who speaks: the person, or something that an agent runs. Decided by the daemon from the process
//! table, never from what a caller says of itself.

use std::fmt;

use crate::{Decider, TerminalId, ThreadId};

/// Where an agent works, as far as it is known. Everything with the same home is one agent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Home {
    /// A terminal in which an agent's program runs.
    Terminal(TerminalId),
    /// A thread whose tool opened or started it.
    Thread(ThreadId),
    /// It left its terminal or its tool, so that its origin is not known.
    Unknown,
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminal(id) => write!(f, "terminal/{id}"),
            Self::Thread(id) => write!(f, "thread/{id}"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

/// Who opened a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The person, or a program of theirs.
    #[default]
    Person,
    /// A tool of a thread, which looks after it.
    Tool(ThreadId),
    /// A program that an agent runs.
    Agent(Home),
}

impl Origin {
    /// Whose it is, if it is an agent's.
    #[must_use]
    pub fn home(self) -> Option<Home> {
        match self {
            Self::Person => None,
            Self::Tool(thread) => Some(Home::Thread(thread)),
            Self::Agent(home) => Some(home),
        }
    }

    /// Reads what [`Display`](fmt::Display) wrote. What cannot be read is an agent's of unknown home:
    /// only the person's own word makes a terminal the person's.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let unknown = Self::Agent(Home::Unknown);
        match text.split_once('/') {
            None if text == "person" => Self::Person,
            Some(("tool", id)) => id.parse().map_or(unknown, Self::Tool),
            Some(("terminal", id)) => {
                id.parse().map_or(unknown, |id| Self::Agent(Home::Terminal(id)))
            }
            Some(("thread", id)) => id.parse().map_or(unknown, |id| Self::Agent(Home::Thread(id))),
            Some(_) | None => unknown,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => f.write_str("person"),
            Self::Tool(thread) => write!(f, "tool/{thread}"),
            Self::Agent(home) => home.fmt(f),
        }
    }
}

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// The daemon itself, on behalf of no connection.
    Daemon,
    /// A process of this user above which no agent is, in this terminal if it is in one of ours.
    Person(Option<TerminalId>),
    /// Something that an agent runs, or whose origin is not known.
    Agent(Home),
}

/// One end of a connection, as records name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// What it may do.
    pub standing: Standing,
    /// Its process, if the transport tells.
    pub pid: Option<u32>,
    /// The name of its program.
    pub program: Option<String>,
    /// The endpoint it came by.
    pub endpoint: String,
}

impl Caller {
    /// The daemon itself.
    #[must_use]
    pub fn daemon() -> Self {
        Self { standing: Standing::Daemon, pid: None, program: None, endpoint: String::new() }
    }

    /// As a record of a decision names it; the daemon itself is not named.
    #[must_use]
    pub fn decider(&self) -> Option<Decider> {
        let terminal = match self.standing {
            Standing::Daemon => return None,
            Standing::Person(terminal) => terminal,
            Standing::Agent(Home::Terminal(terminal)) => Some(terminal),
            Standing::Agent(Home::Thread(_) | Home::Unknown) => None,
        };
        let Self { pid, program, endpoint, .. } = self.clone();
        Some(Decider { pid, program, terminal, endpoint })
    }

    /// Whether an agent is above it, or may be.
    #[must_use]
    pub fn is_agent(&self) -> bool {
        matches!(self.standing, Standing::Agent(_))
    }

    /// Whether it may type into a terminal that was opened by `origin`, end it and the like.
    ///
    /// The terminal that an agent works in is not its own to type into: what it types there may be
    /// read by the person's shell once the agent has ended.
    #[must_use]
    pub fn may_use(&self, origin: Origin) -> bool {
        match self.standing {
            Standing::Daemon | Standing::Person(_) => true,
            Standing::Agent(home) => origin.home() == Some(home),
        }
    }

    /// Whether it may report what happens in a terminal that was opened by `origin`.
    #[must_use]
    pub fn may_report(&self, terminal: TerminalId, origin: Origin) -> bool {
        self.may_use(origin) || self.standing == Standing::Agent(Home::Terminal(terminal))
    }

    /// What a terminal that it opens has for its origin.
    #[must_use]
    pub fn origin(&self) -> Origin {
        match self.standing {
            Standing::Daemon | Standing::Person(_) => Origin::Person,
            Standing::Agent(home) => Origin::Agent(home),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(standing: Standing) -> Caller {
        Caller { standing, ..Caller::daemon() }
    }

    #[test]
    fn origins_are_read_as_they_are_written() {
        let thread: ThreadId = "01900000-0000-7000-8000-000000000000".parse().unwrap();
        for origin in [
            Origin::Person,
            Origin::Tool(thread),
            Origin::Agent(Home::Terminal(TerminalId::new(7))),
            Origin::Agent(Home::Thread(thread)),
            Origin::Agent(Home::Unknown),
        ] {
            assert_eq!(Origin::read(&origin.to_string()), origin);
        }
        for text in ["", "terminal", "terminal/x", "thread/", "Person", "terminal/1/2"] {
            assert_eq!(Origin::read(text), Origin::Agent(Home::Unknown), "{text}");
        }
    }

    #[test]
    fn an_agent_uses_what_it_opened_and_reports_where_it_works() {
        let (one, two) = (TerminalId::new(1), TerminalId::new(2));
        let agent = caller(Standing::Agent(Home::Terminal(one)));
        assert!(agent.may_use(agent.origin()));
        assert!(!agent.may_use(Origin::Person));
        assert!(!agent.may_use(Origin::Agent(Home::Terminal(two))));
        assert!(!agent.may_use(Origin::Agent(Home::Unknown)));
        assert!(agent.may_report(one, Origin::Person));
        assert!(!agent.may_report(two, Origin::Person));
        assert!(agent.may_report(two, agent.origin()));
        let person = caller(Standing::Person(None));
        assert!(person.may_use(Origin::Person) && person.may_use(agent.origin()));
    }
}
