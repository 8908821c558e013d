//! The Roder app-server dialect: threads, turns, tools, policy and approvals over JSON-RPC.
//!
//! Owns the shapes, the spellings and the error codes of that protocol, in the superset that both
//! of its generations of clients understand. It keeps no truth of its own and knows no socket.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod casing;
mod context;
mod errors;
pub mod fit;
mod forward;
pub mod ids;
pub mod items;
pub mod manifest;
pub mod modes;
mod ops;
mod serve;
mod show;
mod spelling;
pub mod wire;

use rookery_wire::rpc::Method;

pub use context::{Client, Cx, Link, Preferences};
pub use errors::{Error, IoKind, code, reword};
pub use ops::initialize::Attach;
pub use serve::{framing, options, protocol};

/// Longest line that is read: 32 MiB. A longer one is answered with a parse error and skipped.
pub const LINE_LIMIT: usize = 32 * 1024 * 1024;

/// The version of the protocol that `initialize` tells.
pub const PROTOCOL_VERSION: u32 = 1;

/// Every method of this dialect, both names of those that have two.
pub const METHODS: &[Method<Cx>] = &[
    folding_method!("initialize", LOOK, [] => ops::initialize::initialize),
    folding_method!("initialized", LOOK, [] => ops::initialize::initialized),
    folding_method!("extensions/list", LOOK, [] => ops::discovery::extensions),
    folding_method!("providers/list", LOOK, [] => ops::providers::list),
    folding_method!("providers/configure", OWN, [] => ops::providers::configure),
    folding_method!("providers/clear", OWN, [] => ops::providers::clear),
    folding_method!("providers/select", OWN, [threadId: Thread] => ops::providers::select),
    folding_method!("model/list", LOOK, [] => ops::discovery::models),
    folding_method!("model/select", OWN, [threadId: Thread, selection.optionId: NoId] => ops::providers::select_model),
    folding_method!("tools/list", LOOK, [] => ops::discovery::tools),
    folding_method!("tools/call", FULL, [threadId: Thread] => ops::tools::call),
    folding_method!("tools/resolve", DECIDE, [requestId: Request] => ops::tools::resolve),
    folding_method!("agents/list", LOOK, [] => ops::discovery::agents),
    folding_method!("settings/get", LOOK, [] => ops::settings::get),
    folding_method!("settings/set_web_search", OWN, [] => ops::settings::set_web_search),
    folding_method!("settings/set_default_mode", OWN, [] => ops::settings::set_default_mode),
    folding_method!("settings/set_shell", OWN, [] => ops::settings::set_shell),
    folding_method!("settings/set_search_index", OWN, [] => ops::settings::set_search_index),
    folding_method!("settings/set_file_backed_dynamic_context", OWN, [] => ops::settings::set_dynamic_context),
    folding_method!("workspace/list", LOOK, [] => ops::workspaces::list),
    folding_method!("workspace/create", FULL, [] => ops::workspaces::create),
    folding_method!("workspace/update", FULL, [workspaceId: Workspace, defaultRootId: NoId] => ops::workspaces::update),
    folding_method!("workspace/forget", FULL, [workspaceId: Workspace] => ops::workspaces::forget),
    folding_method!("thread/start", FULL, [workspaceId: Workspace, rootId: NoId, selection.optionId: NoId] => ops::threads::start),
    folding_method!("thread/list", LOOK, [] => ops::threads::list),
    folding_method!("thread/read", LOOK, [threadId: Thread] => ops::threads::read),
    folding_method!("thread/history/read", LOOK, [threadId: Thread] => ops::threads::history),
    folding_method!("thread/archive", FULL, [threadId: Thread] => ops::upkeep::archive),
    folding_method!("thread/unarchive", FULL, [threadId: Thread] => ops::upkeep::unarchive),
    folding_method!("thread/delete", FULL, [threadId: Thread] => ops::upkeep::delete),
    folding_method!("thread/name/set", FULL, [threadId: Thread] => ops::upkeep::set_name),
    folding_method!("thread/fork", FULL, [threadId: Thread, fromTurnId: Turn] => ops::upkeep::fork),
    folding_method!("thread/rollback", FULL, [threadId: Thread] => ops::upkeep::rollback),
    folding_method!("thread/compact", FULL, [threadId: Thread, turnId: Turn] => ops::upkeep::compact),
    folding_method!("thread/goal/get", LOOK, [threadId: Thread] => ops::goals::get),
    folding_method!("thread/goal/set", FULL, [threadId: Thread] => ops::goals::set),
    folding_method!("thread/goal/clear", FULL, [threadId: Thread] => ops::goals::clear),
    folding_method!("turn/start", FULL, [threadId: Thread] => ops::turns::start),
    folding_method!("turn/steer", FULL, [threadId: Thread, expectedTurnId: Turn] => ops::turns::steer),
    folding_method!("turn/interrupt", FULL, [threadId: Thread, turnId: Turn] => ops::turns::interrupt),
    folding_method!("runtime/drain", FULL, [] => ops::turns::drain),
    folding_method!("session/get", LOOK, [threadId: Thread] => ops::session::get),
    folding_method!("thread/state", LOOK, [threadId: Thread] => ops::session::get),
    folding_method!("session/set_mode", DECIDE, [threadId: Thread] => ops::session::set_mode),
    folding_method!("thread/set_mode", DECIDE, [threadId: Thread] => ops::session::set_mode),
    folding_method!("session/exit_plan", DECIDE, [requestId: Request] => ops::session::exit_plan),
    folding_method!("thread/exit_plan", DECIDE, [requestId: Request] => ops::session::exit_plan),
    folding_method!("session/resolve_approval", DECIDE, [approvalId: Request] => ops::session::resolve_approval),
    folding_method!("thread/resolve_approval", DECIDE, [approvalId: Request] => ops::session::resolve_approval),
    folding_method!("session/resolve_user_input", DECIDE, [requestId: Request] => ops::session::resolve_user_input),
    folding_method!("thread/resolve_user_input", DECIDE, [requestId: Request] => ops::session::resolve_user_input),
    folding_method!("fs/readFile", FULL, [] => ops::fs::read_file),
    folding_method!("fs/readDirectory", FULL, [] => ops::fs::read_directory),
    folding_method!("command/exec", FULL, [processId: Process] => ops::exec::exec),
    folding_method!("command/exec/write", FULL, [processId: Process] => ops::exec::write),
    folding_method!("command/exec/resize", FULL, [processId: Process] => ops::exec::resize),
    folding_method!("command/exec/terminate", FULL, [processId: Process] => ops::exec::terminate),
    folding_method!("processes/list", LOOK, [] => ops::processes::list),
    folding_method!("processes/get", LOOK, [processId: Process] => ops::processes::get),
    folding_method!("processes/stop", FULL, [processId: Process] => ops::processes::stop),
    folding_method!("processes/stopAll", FULL, [] => ops::processes::stop_all),
    folding_method!("processes/subscribe", LOOK, [processId: Process] => ops::processes::subscribe),
    folding_method!("commands/list", LOOK, [] => ops::commands::list),
    folding_method!("commands/expand", FULL, [] => ops::commands::expand),
    folding_method!("commands/run", FULL, [threadId: Thread] => ops::commands::run),
];

/// What only our own servers say: how the client that they hand through reached them.
pub const LINK_METHODS: &[Method<Cx>] =
    &[folding_method!("rookery/attach", LOOK, [] => ops::initialize::attach)];

/// Sent by our own commands only: a key from the user's environment, for what they start.
pub const KEY_METHODS: &[Method<Cx>] =
    &[folding_method!("rookery/keys/lend", OWN, [] => ops::providers::lend)];

/// The names of all methods. A function of its own, since the table holds the very method that tells
/// them.
fn method_names() -> Vec<String> {
    METHODS.iter().map(|method| method.name.to_owned()).collect()
}
