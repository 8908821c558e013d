//! How scripts are called where they lie. Nothing here looks there.

/// How files of ours end.
pub const ENDING: &str = ".workflow.js";
/// How those of other agents end.
pub const OTHER_ENDING: &str = ".js";
/// Where a workspace has its scripts, unless the settings say otherwise.
pub const OF_WORKSPACE: &str = ".agents/workflows";
/// Where other agents have theirs.
pub const OF_OTHERS: &str = ".claude/workflows";
