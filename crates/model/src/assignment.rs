//! Assignments: what a client that drives a thread as a piece of work set for it, so that it goes on
//! by itself. A thread without one is talked with.

use crate::{ThreadId, Timestamp, Usage};

/// A thread as a piece of work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The role it works in; none if none was chosen.
    pub role: Option<Role>,
    /// Roles that it may be switched to beside those that the workspace has.
    pub roles: Vec<Role>,
    /// What may be done without asking. Policy has the last word: where it asks or denies, so it is.
    pub unasked: Unasked,
    /// What its agent may use, and how much of it, whether or not it is asked for.
    pub bounds: Bounds,
    /// The thread that waits for its result.
    pub lead: Option<ThreadId>,
    /// What its tokens cost, if that is known.
    pub prices: Option<Prices>,
    /// Instructions of its client for all roles.
    pub instructions: Option<String>,
    /// Settings that only the dialect of its client reads: JSON text without secrets.
    pub settings: String,
}

/// How an agent works: its instructions, and which kinds of tools it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// Its name in commands: letters, digits and dashes.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// Who the agent is to be.
    pub definition: String,
    /// Further instructions.
    pub instructions: Option<String>,
    /// When it is the right one, for agents that choose.
    pub when_to_use: Option<String>,
    /// The tools that it has; others are denied.
    pub groups: Vec<ToolGroup>,
}

/// Tools of one sort that a role has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolGroup {
    pub sort: ToolSort,
    /// A regular expression that paths must match, if it is about files.
    pub files: Option<String>,
}

/// The sorts of tools that roles tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolSort {
    /// Look at files, search, list.
    Read,
    /// Change files.
    Edit,
    /// Run commands.
    Command,
    /// Tools of servers.
    Mcp,
    /// Switch roles and hand work on.
    Roles,
}

/// What may be done without asking, as a client wants it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unasked {
    /// Whether anything may; if not, even reading is asked for.
    pub is_on: bool,
    /// Reading.
    pub reads: Reach,
    /// Changing files.
    pub writes: Reach,
    /// Changing files that hold settings of agents.
    pub protected_writes: bool,
    /// Tools of servers.
    pub mcp: bool,
    /// Switching the role.
    pub roles: bool,
    /// Handing work on to another thread.
    pub delegations: bool,
    /// Running commands that the lists allow.
    pub commands: bool,
    /// Beginnings of commands that may be run; `*` is any.
    pub allowed_commands: Vec<String>,
    /// Beginnings of commands that are denied.
    pub denied_commands: Vec<String>,
    /// After how many milliseconds a question is answered with the first of its options.
    pub answers_after: Option<u64>,
    /// How many model calls may follow one another before a person is asked.
    pub max_calls: Option<u64>,
    /// How much they may cost, in millionths of a dollar.
    pub max_cost: Option<u64>,
}

/// What an agent may use, and how much of it. What is not set has the bounds of every thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Tools that are off, by our names for them.
    pub disabled_tools: Vec<String>,
    /// Whether all tools of servers are off.
    pub no_mcp: bool,
    /// After how many seconds a command is ended.
    pub command_seconds: Option<u64>,
    /// Beginnings of commands that may take longer.
    pub long_commands: Vec<String>,
    /// After how many failed calls of tools in a row a turn ends. What a person denied does not count,
    /// nor does a command that ran, however it ended.
    pub failures_in_a_row: Option<u64>,
    /// How many milliseconds lie between the beginnings of two model calls, at least.
    pub between_calls: Option<u64>,
}

/// How far something may be done without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Not at all.
    #[default]
    Nowhere,
    /// In the directory that the thread works in.
    Workspace,
    /// Wherever the user may.
    Anywhere,
}

/// What tokens cost: millionths of a dollar for a million of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from the cache.
    pub cached: u64,
    /// Written to the cache.
    pub cache_creation: u64,
}

impl Prices {
    /// What a call cost, in millionths of a dollar.
    pub fn cost(&self, usage: &Usage) -> u64 {
        let Usage { prompt, completion, cached, cache_creation } = *usage;
        let plain = prompt.saturating_sub(cached).saturating_sub(cache_creation);
        let parts = [
            (plain, self.input),
            (completion, self.output),
            (cached, self.cached),
            (cache_creation, self.cache_creation),
        ];
        let whole: u128 = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens).saturating_mul(u128::from(*price)))
            .fold(0, u128::saturating_add);
        u64::try_from(whole / 1_000_000).unwrap_or(u64::MAX)
    }
}

/// A message that waits until the agent takes what a user says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedMessage {
    /// Its id, a UUID, by which it can be taken back.
    pub id: u128,
    /// When it was sent.
    pub at: Timestamp,
    pub text: String,
    /// Images, as `data:` addresses.
    pub images: Vec<String>,
}

/// What a user said to a turn that runs, until an item holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steer {
    pub text: String,
    /// Images, as `data:` or `http` addresses.
    pub images: Vec<String>,
    /// Further blocks for the model.
    pub context: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_costs_what_its_tokens_cost() {
        let prices =
            Prices { input: 3_000_000, output: 15_000_000, cached: 300_000, cache_creation: 0 };
        let usage = Usage { prompt: 1_000, completion: 100, cached: 400, cache_creation: 100 };
        assert_eq!(prices.cost(&usage), 500 * 3 + 100 * 15 + 120);
        let most = Usage { prompt: u64::MAX, completion: u64::MAX, cached: 0, cache_creation: 0 };
        assert_eq!(Prices { input: u64::MAX, ..prices }.cost(&most), u64::MAX);
    }
}
