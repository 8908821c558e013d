//! What a role has tools for: its groups, and the files that it may change.

use regex::RegexBuilder;
use rookery_model::{Role, ToolGroup, ToolSort};

use super::{Call, sort};

/// The largest expression for names of files, once it is built.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// Whether a role has the tool of a call, whatever it is called with.
pub fn has_tool(role: &Role, call: &Call<'_>) -> bool {
    sort(call).is_none_or(|sort| group(role, sort).is_some())
}

/// Why a role does not let a call go ahead; none if it does.
pub fn refusal(role: &Role, call: &Call<'_>) -> Option<String> {
    let sort = sort(call)?;
    let Some(group) = group(role, sort) else {
        return Some(format!("role {} has no tools to {}", role.name, what(sort)));
    };
    let files = group.files.as_deref().filter(|_| sort == ToolSort::Edit)?;
    let only = format!("role {} may only change files that match {files}", role.name);
    let Ok(expression) = file_expression(files) else {
        return Some(format!("{only}, which is no regular expression"));
    };
    let Some(paths) = call.paths else {
        return Some(format!("{only}, and it is not known which files this changes"));
    };
    let other = paths.iter().find(|path| !expression.is_match(&path.shown))?;
    Some(format!("{only}: {} does not", other.shown))
}

/// The expression that a role has for files.
///
/// # Errors
/// If it is no regular expression, or too large a one.
pub(crate) fn file_expression(files: &str) -> Result<regex::Regex, regex::Error> {
    RegexBuilder::new(files).size_limit(MAX_REGEX_BYTES).build()
}

fn group(role: &Role, sort: ToolSort) -> Option<&ToolGroup> {
    role.groups.iter().find(|group| group.sort == sort)
}

fn what(sort: ToolSort) -> &'static str {
    match sort {
        ToolSort::Read => "read files",
        ToolSort::Edit => "change files",
        ToolSort::Command => "run commands",
        ToolSort::Mcp => "call servers",
        ToolSort::Roles => "hand work on",
    }
}
