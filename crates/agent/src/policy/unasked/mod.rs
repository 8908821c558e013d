//! What may be done without asking as a client wants it, and what a role has tools for. Policy still has
//! the last word: the stricter of both counts.
//!
//! Nothing here opens anything: which paths a call touches is worked out before.

mod commands;
mod lines;
mod role;
#[cfg(test)]
mod tests;

use rookery_model::{Reach, ToolKind, ToolSort, Unasked};

pub(crate) use role::file_expression;
pub use role::{has_tool, refusal};

/// Why something is asked for or denied, in words for people and models.
mod reasons {
    pub(super) const OFF: &str = "the task asks before anything is done";
    pub(super) const READS: &str = "the task asks before files are read";
    pub(super) const READS_OUTSIDE: &str =
        "the task asks before files outside of its workspace are read";
    pub(super) const WRITES: &str = "the task asks before files are changed";
    pub(super) const WRITES_OUTSIDE: &str =
        "the task asks before files outside of its workspace are changed";
    pub(super) const PROTECTED: &str = "the task asks before settings of agents are changed";
    pub(super) const MCP: &str = "the task asks before tools of servers are used";
    pub(super) const MCP_TOOL: &str =
        "the task asks before tools of servers are used that are not always allowed";
    pub(super) const ROLES: &str = "the task asks before its role is switched";
    pub(super) const DELEGATIONS: &str = "the task asks before work is handed on";
    pub(super) const COMMANDS: &str = "the task asks before commands are run";
    pub(super) const UNLISTED: &str =
        "the task asks before commands are run that are not on its list";
    pub(super) const HIDDEN: &str =
        "the task asks before commands are run that may do more than their text shows";
    pub(super) const UNKNOWN: &str =
        "the task asks before tools are used whose effects are not known";
    pub(super) const LISTED: &str = "denied by the task's list of commands";
    /// What all of them begin with that ask.
    pub(super) const ASKS: &str = "the task asks before ";
}

/// Whether a request is there because a client wants to be asked, by its reason.
pub fn is_wanted(reason: &str) -> bool {
    reason.starts_with(reasons::ASKS)
}

/// Tools that ask in a way of their own, or have nothing to ask for.
const OWN_WAY: &[&str] = &["request_user_input", "exit_plan_mode", "attempt_completion"];
/// The tool that hands work on.
const DELEGATE: &str = "new_task";
/// The tool that switches the role.
const SWITCH: &str = "switch_mode";

/// Parts of paths that hold settings of agents, or instructions of agents: the beginning of a name.
const PROTECTED_BEGINNINGS: &[&str] = &[".roo", ".clinerules"];
/// The same, by their whole names.
const PROTECTED_NAMES: &[&str] = &[".vscode", ".roder", "agents.md", "agent.md", "claude.md"];
/// The same, by their endings.
const PROTECTED_ENDINGS: &[&str] = &[".code-workspace"];

/// A path that a call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedPath {
    /// How it is shown: relative to the workspace if it is in there.
    pub shown: String,
    /// Whether it is in the workspace.
    pub is_inside: bool,
    /// Whether it holds settings of agents.
    pub is_protected: bool,
}

/// A call that is judged.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool's name; empty for a tool that an agent behind the provider runs by itself.
    pub tool: &'a str,
    /// What it declares itself to be.
    pub kind: ToolKind,
    /// Whether it is a tool of a server.
    pub is_foreign: bool,
    /// Whether the settings of its server always allow it.
    pub is_always_allowed: bool,
    /// The command line that it runs, or what it types.
    pub command: Option<&'a str>,
    /// The paths that it touches; none if that is not known.
    pub paths: Option<&'a [TouchedPath]>,
}

/// What is wanted of a call, and why if it does not simply go ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It goes ahead, as far as policy lets it.
    Approve,
    /// A person is asked.
    Ask(&'static str),
    /// It is denied.
    Deny(&'static str),
}

/// What a client wants of a call.
pub fn judge(unasked: &Unasked, call: &Call<'_>) -> Outcome {
    let when =
        |is_allowed: bool, why| if is_allowed { Outcome::Approve } else { Outcome::Ask(why) };
    if !call.is_foreign && OWN_WAY.contains(&call.tool) {
        return Outcome::Approve;
    }
    if !unasked.is_on {
        return Outcome::Ask(reasons::OFF);
    }
    if call.is_foreign {
        return match (unasked.mcp, call.is_always_allowed) {
            (true, true) => Outcome::Approve,
            (true, false) => Outcome::Ask(reasons::MCP_TOOL),
            (false, _) => Outcome::Ask(reasons::MCP),
        };
    }
    match (call.tool, call.kind) {
        (SWITCH, _) => when(unasked.roles, reasons::ROLES),
        (DELEGATE, _) | (_, ToolKind::Agents) => when(unasked.delegations, reasons::DELEGATIONS),
        (_, ToolKind::Internal) => Outcome::Approve,
        (_, ToolKind::Read) => reach(unasked.reads, call, reasons::READS, reasons::READS_OUTSIDE),
        (_, ToolKind::Write) => writes(unasked, call),
        (_, ToolKind::State) => keeps(unasked),
        (_, ToolKind::Exec) => runs(unasked, call),
        (_, ToolKind::Network | ToolKind::Unknown) => Outcome::Ask(reasons::UNKNOWN),
    }
}

fn reach(reach: Reach, call: &Call<'_>, why: &'static str, outside: &'static str) -> Outcome {
    let is_inside = call.paths.is_some_and(|paths| paths.iter().all(|path| path.is_inside));
    match reach {
        Reach::Nowhere => Outcome::Ask(why),
        Reach::Workspace if !is_inside => Outcome::Ask(outside),
        Reach::Workspace | Reach::Anywhere => Outcome::Approve,
    }
}

fn writes(unasked: &Unasked, call: &Call<'_>) -> Outcome {
    let is_protected = call.paths.is_none_or(|paths| paths.iter().any(|path| path.is_protected));
    match reach(unasked.writes, call, reasons::WRITES, reasons::WRITES_OUTSIDE) {
        Outcome::Approve if is_protected && !unasked.protected_writes => {
            Outcome::Ask(reasons::PROTECTED)
        }
        wanted => wanted,
    }
}

/// Agents of other threads are given what is kept for them, so it is as good as a file of theirs.
fn keeps(unasked: &Unasked) -> Outcome {
    match unasked.writes {
        Reach::Nowhere => Outcome::Ask(reasons::WRITES),
        Reach::Workspace => Outcome::Ask(reasons::WRITES_OUTSIDE),
        Reach::Anywhere if !unasked.protected_writes => Outcome::Ask(reasons::PROTECTED),
        Reach::Anywhere => Outcome::Approve,
    }
}

fn runs(unasked: &Unasked, call: &Call<'_>) -> Outcome {
    match call.command {
        // Looking at what a running program printed.
        None | Some("") if call.tool == "write_stdin" => Outcome::Approve,
        _ if !unasked.commands => Outcome::Ask(reasons::COMMANDS),
        None => Outcome::Ask(reasons::UNLISTED),
        Some(line) => commands::judge(line, &unasked.allowed_commands, &unasked.denied_commands),
    }
}

/// Whether a path holds settings of agents, by the parts that it has from the workspace on.
pub fn is_protected(path: &str) -> bool {
    path.split('/').map(str::to_lowercase).any(|part| {
        PROTECTED_BEGINNINGS.iter().any(|beginning| part.starts_with(beginning))
            || PROTECTED_NAMES.contains(&part.as_str())
            || PROTECTED_ENDINGS.iter().any(|ending| part.ends_with(ending))
    })
}

/// The sort of tools that a call belongs to; none if it belongs to every role.
fn sort(call: &Call<'_>) -> Option<ToolSort> {
    if call.is_foreign {
        return Some(ToolSort::Mcp);
    }
    if OWN_WAY.contains(&call.tool) || [DELEGATE, SWITCH].contains(&call.tool) {
        return None;
    }
    match call.kind {
        ToolKind::Internal => None,
        ToolKind::Read | ToolKind::Network => Some(ToolSort::Read),
        ToolKind::Write | ToolKind::State => Some(ToolSort::Edit),
        ToolKind::Agents => Some(ToolSort::Roles),
        // What is not known may be anything that a command can be.
        ToolKind::Exec | ToolKind::Unknown => Some(ToolSort::Command),
    }
}
