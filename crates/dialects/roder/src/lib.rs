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
pub mod wire;

use rookery_wire::rpc::Method;

pub use context::{Client, Cx, Link, Wishes};
pub use errors::{Error, IoKind, code, reword};
pub use ops::initialize::Attach;
pub use serve::{framing, options, protocol};

/// Longest line that is read: 32 MiB. A longer one is answered with a parse error and skipped.
pub const LINE_LIMIT: usize = 32 * 1024 * 1024;

/// The version of the protocol that `initialize` tells.
pub const PROTOCOL_VERSION: u32 = 1;

/// Every method of this dialect, both names of those that have two.
pub const METHODS: &[Method<Cx>] = &[
    folding_method!("initialize" => ops::initialize::initialize),
    folding_method!("initialized" => ops::initialize::initialized),
    folding_method!("extensions/list" => ops::discovery::extensions),
    folding_method!("providers/list" => ops::providers::list),
    folding_method!("providers/configure" => ops::providers::configure),
    folding_method!("providers/clear" => ops::providers::clear),
    folding_method!("providers/select" => ops::providers::select),
    folding_method!("model/list" => ops::discovery::models),
    folding_method!("model/select" => ops::providers::select_model),
    folding_method!("tools/list" => ops::discovery::tools),
    folding_method!("tools/call" => ops::tools::call),
    folding_method!("tools/resolve" => ops::tools::resolve),
    folding_method!("agents/list" => ops::discovery::agents),
    folding_method!("settings/get" => ops::settings::get),
    folding_method!("settings/set_web_search" => ops::settings::set_web_search),
    folding_method!("settings/set_default_mode" => ops::settings::set_default_mode),
    folding_method!("settings/set_shell" => ops::settings::set_shell),
    folding_method!("settings/set_search_index" => ops::settings::set_search_index),
    folding_method!("settings/set_file_backed_dynamic_context" => ops::settings::set_dynamic_context),
    folding_method!("workspace/list" => ops::workspaces::list),
    folding_method!("workspace/create" => ops::workspaces::create),
    folding_method!("workspace/update" => ops::workspaces::update),
    folding_method!("workspace/forget" => ops::workspaces::forget),
    folding_method!("thread/start" => ops::threads::start),
    folding_method!("thread/list" => ops::threads::list),
    folding_method!("thread/read" => ops::threads::read),
    folding_method!("thread/history/read" => ops::threads::history),
    folding_method!("thread/archive" => ops::upkeep::archive),
    folding_method!("thread/unarchive" => ops::upkeep::unarchive),
    folding_method!("thread/delete" => ops::upkeep::delete),
    folding_method!("thread/name/set" => ops::upkeep::set_name),
    folding_method!("thread/fork" => ops::upkeep::fork),
    folding_method!("thread/rollback" => ops::upkeep::rollback),
    folding_method!("thread/compact" => ops::upkeep::compact),
    folding_method!("thread/goal/get" => ops::goals::get),
    folding_method!("thread/goal/set" => ops::goals::set),
    folding_method!("thread/goal/clear" => ops::goals::clear),
    folding_method!("turn/start" => ops::turns::start),
    folding_method!("turn/steer" => ops::turns::steer),
    folding_method!("turn/interrupt" => ops::turns::interrupt),
    folding_method!("runtime/drain" => ops::turns::drain),
    folding_method!("session/get" => ops::session::get),
    folding_method!("thread/state" => ops::session::get),
    folding_method!("session/set_mode" => ops::session::set_mode),
    folding_method!("thread/set_mode" => ops::session::set_mode),
    folding_method!("session/exit_plan" => ops::session::exit_plan),
    folding_method!("thread/exit_plan" => ops::session::exit_plan),
    folding_method!("session/resolve_approval" => ops::session::resolve_approval),
    folding_method!("thread/resolve_approval" => ops::session::resolve_approval),
    folding_method!("session/resolve_user_input" => ops::session::resolve_user_input),
    folding_method!("thread/resolve_user_input" => ops::session::resolve_user_input),
    folding_method!("fs/readFile" => ops::fs::read_file),
    folding_method!("fs/readDirectory" => ops::fs::read_directory),
    folding_method!("command/exec" => ops::exec::exec),
    folding_method!("command/exec/write" => ops::exec::write),
    folding_method!("command/exec/resize" => ops::exec::resize),
    folding_method!("command/exec/terminate" => ops::exec::terminate),
    folding_method!("processes/list" => ops::processes::list),
    folding_method!("processes/get" => ops::processes::get),
    folding_method!("processes/stop" => ops::processes::stop),
    folding_method!("processes/stopAll" => ops::processes::stop_all),
    folding_method!("processes/subscribe" => ops::processes::subscribe),
    folding_method!("commands/list" => ops::commands::list),
    folding_method!("commands/expand" => ops::commands::expand),
    folding_method!("commands/run" => ops::commands::run),
];

/// What only our own servers say: how the client that they hand through reached them.
pub const LINK_METHODS: &[Method<Cx>] =
    &[folding_method!("rookery/attach" => ops::initialize::attach)];

/// The names of all methods. A function of its own, since the table holds the very method that tells
/// them.
fn method_names() -> Vec<String> {
    METHODS.iter().map(|method| method.name.to_owned()).collect()
}
