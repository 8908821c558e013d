//! Single values that are kept beside the tables, each with a name of its own: what belongs to no row
//! of a table, or to one that is gone. Nothing outside of this file knows how they are spelled.

use std::fmt;

use rookery_model::TerminalId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKey {
    /// The selected project.
    ActiveProject,
    /// How a client last spelled the mode that asks.
    AskingSpelling,
    /// That the child of a closed terminal is still to be ended.
    Closing(TerminalId),
    /// How many commits there were.
    Commits,
    /// Browsers and programs elsewhere that were paired, without their secrets.
    Devices,
    /// What a dialect asked to remember, under a name of its choice.
    Dialect(String),
    /// Up to which rules secrets were looked for in what was stored before.
    Masked,
    /// The mode that holds where no thread has its own, unless it allows more than asking.
    Mode,
    /// The mark of the directory of sockets, by which the next daemon knows it again.
    Place,
    /// Destinations of runners: which there are, which is selected, and their sessions.
    Runners,
    /// Threads that are made for teams whose files do not name them yet.
    TeamsInMaking,
    /// How the server for browsers was turned on, if it is on.
    Web,
    /// Sets of directories that threads work in.
    Workspaces,
}

/// The key under which it stands in the database.
impl fmt::Display for ValueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueKey::ActiveProject => f.write_str("active_project"),
            ValueKey::AskingSpelling => f.write_str("asking_mode"),
            ValueKey::Closing(id) => write!(f, "closing/{id}"),
            ValueKey::Commits => f.write_str("commits"),
            ValueKey::Devices => f.write_str("devices"),
            ValueKey::Dialect(name) => write!(f, "dialect:{name}"),
            ValueKey::Masked => f.write_str("masked"),
            ValueKey::Mode => f.write_str("policy_mode"),
            ValueKey::Place => f.write_str("place"),
            ValueKey::Runners => f.write_str("runners"),
            ValueKey::TeamsInMaking => f.write_str("teams_in_making"),
            ValueKey::Web => f.write_str("web"),
            ValueKey::Workspaces => f.write_str("workspaces"),
        }
    }
}
