//! One file for each built-in tool or small family, and the table of them all.
//!
//! Beside them: [`parse_arguments`] reads the text of a call, [`finish`] shortens what a tool came
//! to, and [`questions`] and [`plan`] read the calls that only the driver of a turn can answer.

mod answers;
mod apply_patch;
mod arguments;
mod artifacts;
mod echo;
mod edit;
mod exec;
mod glob;
mod goals;
mod grep;
mod hunks;
mod list_files;
mod paging;
mod paths;
mod plans;
mod read_artifacts;
mod read_file;
mod view_image;
mod walk;
mod write_file;
mod writing;

#[cfg(test)]
mod test_world;
#[cfg(test)]
mod tests;

use crate::tool::Tool;

pub use answers::{plan, questions};
pub use arguments::parse as parse_arguments;
pub use artifacts::finish;
pub use exec::Sessions;

/// All built-in tools, in the order in which models are told of them.
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
    echo::ECHO,
];

/// The tool of a name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}
