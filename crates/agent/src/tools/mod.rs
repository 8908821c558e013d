//! One file for each built-in tool or small family, and the table of them all.
//!
//! Beside them: [`parse_arguments`] reads the text of a call, [`preview`] shows it, [`call`] runs it,
//! [`finish`] shortens what it came to, and [`questions`], [`plan`], [`task_call`], [`delegation`], [`role_switch`] and
//! [`completion`] read what only the driver of a turn can carry out.

mod answers;
mod apply_patch;
mod arguments;
mod artifacts;
mod delegation;
mod echo;
mod edit;
mod elsewhere;
mod exec;
mod glob;
mod goals;
mod grep;
mod hunks;
mod list_files;
mod memory;
mod paging;
mod paths;
mod planned;
mod plans;
mod read_artifacts;
mod read_file;
mod rollback;
mod skill;
mod task;
mod touched;
mod view_image;
mod walk;
mod write_file;
mod writing;

#[cfg(test)]
mod test_world;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::tool::{Tool, ToolContext, ToolOutput};

pub use answers::{plan, questions};
pub use arguments::parse as parse_arguments;
pub use artifacts::{KeptOutput, Spool, finish, shown_in_part};
pub use delegation::{
    COMPLETION, DELEGATION, Delegation, ROLE_SWITCH, completion, delegation, role_switch,
};
pub use exec::{Cleaner, Sessions, shell_argv};
pub use memory::{MemoryAnswer, MemoryCall};
pub use rollback::{RollbackError, read_lines, roll_back};
pub use skill::{SKILL_TOOL, SkillText};
pub use task::{CHILD, TaskCall, task_call};
pub use touched::{is_placed, touched};
pub use view_image::read_image;
pub use writing::settle_writes;

/// All built-in tools, in the order in which models get them.
pub const TOOLS: &[Tool] = &[
    read_file::READ_FILE,
    list_files::LIST_FILES,
    grep::GREP,
    glob::GLOB,
    view_image::VIEW_IMAGE,
    write_file::WRITE_FILE,
    edit::EDIT,
    edit::MULTI_EDIT,
    apply_patch::APPLY_PATCH,
    exec::SHELL,
    exec::EXEC_COMMAND,
    exec::WRITE_STDIN,
    exec::UNIFIED_EXEC,
    plans::UPDATE_PLAN,
    plans::UPDATE_LEDGER,
    answers::REQUEST_USER_INPUT,
    answers::EXIT_PLAN_MODE,
    goals::GET_GOAL,
    goals::CREATE_GOAL,
    goals::UPDATE_GOAL,
    read_artifacts::READ_ARTIFACT,
    read_artifacts::GREP_ARTIFACT,
    read_artifacts::TAIL_ARTIFACT,
    memory::SAVE,
    memory::QUERY,
    memory::READ,
    memory::UPDATE,
    memory::DELETE,
    skill::SKILL,
    echo::ECHO,
    task::TASK,
    delegation::NEW_TASK,
    delegation::SWITCH_MODE,
    delegation::ATTEMPT_COMPLETION,
];

/// The tool of a name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Shows what a call would do, without doing it.
type Preview = fn(&ToolContext, Value) -> Result<String, String>;

/// The tools whose calls can be previewed for approval.
const PREVIEWS: &[(&str, Preview)] = &[
    ("write_file", write_file::preview),
    ("edit", edit::preview_edit),
    ("multi_edit", edit::preview_multi_edit),
    ("apply_patch", apply_patch::preview),
    ("shell", exec::preview_shell),
    ("exec_command", exec::preview_exec_command),
    ("write_stdin", exec::preview_write_stdin),
    ("unified_exec", exec::preview_unified_exec),
    ("memory_save", memory::preview_save),
    ("memory_update", memory::preview_update),
];

/// What a call would do, as a preview for approval: a diff, or a command line.
/// None if there is nothing to show, or if the call would fail anyway.
pub async fn preview(context: ToolContext, name: &str, arguments: Value) -> Option<String> {
    let (_, preview) = PREVIEWS.iter().find(|(known, _)| *known == name)?;
    let work = tokio::task::spawn_blocking(move || preview(&context, arguments));
    let text = work.await.ok()?.ok()?;
    Some(shown_in_part(&text))
}

/// Runs a tool by name, and shortens what it came to.
pub async fn call(context: ToolContext, name: &str, arguments: Value) -> ToolOutput {
    let Some(tool) = find(name) else { return ToolOutput::error("tool not found") };
    let output = (tool.run)(context.clone(), arguments).await;
    finish(&context, output).await
}
