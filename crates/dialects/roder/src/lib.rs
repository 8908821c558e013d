//! The Roder app-server dialect: threads, turns, tools, policy and approvals over JSON-RPC.
//!
//! Owns the shapes, the spellings and the error codes of that protocol, in the superset that both
//! of its generations of clients understand. It keeps no truth of its own and knows no socket.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod casing;
mod changes;
mod context;
mod errors;
pub mod fit;
mod forward;
pub mod ids;
mod imports;
pub mod items;
pub mod manifest;
mod marketplaces;
mod media;
mod memories;
pub mod modes;
mod ops;
mod plans;
mod process_news;
mod processes;
mod runs;
mod serve;
mod show;
mod spelling;
mod tasks;
mod teams;
mod traces;
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
pub static METHODS: &[Method<Cx>] = &[
    folding_method!("initialize", LOOK, [] => ops::initialize::initialize),
    folding_method!("initialized", LOOK, [] => ops::initialize::initialized),
    folding_method!("extensions/list", LOOK, [] => ops::discovery::extensions),
    folding_method!("providers/list", LOOK, [] => ops::providers::list),
    folding_method!("providers/configure", OWN, [] => ops::providers::configure),
    folding_method!("providers/clear", OWN, [] => ops::providers::clear),
    folding_method!("providers/select", OWN, [threadId: Thread] => ops::providers::select),
    folding_method!("auth/codex/login", FULL, [] => ops::auth::login_codex),
    folding_method!("auth/codex/status", FULL, [] => ops::auth::codex_status),
    folding_method!("auth/codex/logout", FULL, [] => ops::auth::logout_codex),
    folding_method!("auth/supergrok/login", FULL, [] => ops::auth::login_supergrok),
    folding_method!("auth/supergrok/status", FULL, [] => ops::auth::supergrok_status),
    folding_method!("auth/supergrok/logout", FULL, [] => ops::auth::logout_supergrok),
    folding_method!("model/list", LOOK, [] => ops::discovery::models),
    folding_method!("model/select", OWN, [threadId: Thread, selection.optionId: NoId] => ops::providers::select_model),
    folding_method!("tools/list", LOOK, [] => ops::discovery::tools),
    folding_method!("tools/call", FULL, [threadId: Thread] => ops::tools::call),
    folding_method!("tools/resolve", DECIDE, [requestId: Request] => ops::tools::resolve),
    folding_method!("agents/list", LOOK, [workspace: NoId, threadId: Thread] => ops::agents::list),
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
    folding_method!("thread/start", FULL, [workspaceId: Workspace, rootId: NoId, selection.optionId: NoId, runner.providerId: NoId] => ops::threads::start),
    folding_method!("thread/list", LOOK, [] => ops::threads::list),
    folding_method!("thread/read", LOOK, [threadId: Thread] => ops::threads::read),
    folding_method!("thread/history/read", LOOK, [threadId: Thread, before: Turn] => ops::threads::history),
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
    folding_method!("turn/subagentTraces/list", LOOK, [threadId: Thread, turnId: Turn] => ops::traces::list),
    folding_method!("turn/subagentTrace/read", LOOK, [threadId: Thread, traceId: NoId] => ops::traces::read),
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
    folding_method!("command/exec", FULL, [processId: Process, threadId: Thread] => ops::exec::exec),
    folding_method!("command/exec/write", FULL, [processId: Process] => ops::exec::write),
    folding_method!("command/exec/resize", FULL, [processId: Process] => ops::exec::resize),
    folding_method!("command/exec/terminate", FULL, [processId: Process] => ops::exec::terminate),
    folding_method!("processes/list", LOOK, [] => ops::processes::list),
    folding_method!("processes/get", LOOK, [processId: Process] => ops::processes::get),
    folding_method!("processes/stop", FULL, [processId: Process] => ops::processes::stop),
    folding_method!("processes/stopAll", FULL, [] => ops::processes::stop_all),
    folding_method!("processes/subscribe", LOOK, [processId: Process] => ops::processes::subscribe),
    folding_method!("tasks/submit", FULL, [threadId: Thread, turnId: Turn, executorId: NoId] => ops::tasks::submit),
    folding_method!("tasks/list", LOOK, [threadId: Thread] => ops::tasks::list),
    folding_method!("tasks/get", LOOK, [taskId: Task] => ops::tasks::get),
    folding_method!("tasks/cancel", FULL, [taskId: Task] => ops::tasks::cancel),
    folding_method!("tasks/subscribe", LOOK, [taskId: Task, threadId: Thread] => ops::tasks::subscribe),
    folding_method!("tasks/unsubscribe", LOOK, [subscriptionId: Stream] => ops::tasks::unsubscribe),
    folding_method!("runners/list", LOOK, [] => ops::runners::list),
    folding_method!("runners/select", OWN, [destinationId: NoId, providerId: NoId] => ops::runners::select),
    folding_method!("runners/session", FULL, [threadId: Thread] => ops::runners::session),
    folding_method!("runners/snapshot", FULL, [threadId: Thread] => ops::runners::snapshot),
    folding_method!("runners/export", FULL, [threadId: Thread] => ops::runners::export),
    folding_method!("runners/delete", FULL, [destinationId: NoId] => ops::runners::delete),
    folding_method!("runners/ports", FULL, [threadId: Thread] => ops::runners::ports),
    folding_method!("runners/pause", FULL, [threadId: Thread] => ops::runners::pause),
    folding_method!("runners/resume", FULL, [threadId: Thread] => ops::runners::resume),
    folding_method!("runners/detach", FULL, [threadId: Thread] => ops::runners::detach),
    folding_method!("runners/rejoin", FULL, [threadId: Thread] => ops::runners::rejoin),
    folding_method!("commands/list", LOOK, [] => ops::commands::list),
    folding_method!("commands/expand", FULL, [] => ops::commands::expand),
    folding_method!("commands/run", FULL, [threadId: Thread] => ops::commands::run),
    folding_method!("workflows/plan", FULL, [threadId: Thread, turnId: Turn] => ops::workflows::plan),
    folding_method!("workflows/approve", DECIDE, [runId: Run] => ops::workflows::approve),
    folding_method!("workflows/list", LOOK, [threadId: Thread] => ops::workflows::list),
    folding_method!("workflows/get", LOOK, [runId: Run] => ops::workflows::get),
    folding_method!("workflows/pause", FULL, [runId: Run] => ops::workflows::pause),
    folding_method!("workflows/resume", FULL, [runId: Run] => ops::workflows::resume),
    folding_method!("workflows/stop", FULL, [runId: Run] => ops::workflows::stop),
    folding_method!("workflows/restartAgent", FULL, [runId: Run, agentId: NoId] => ops::workflows::restart_agent),
    folding_method!("workflows/save", FULL, [runId: Run] => ops::workflows::save),
    folding_method!("workflows/scripts/list", LOOK, [] => ops::workflows::list_scripts),
    folding_method!("workflows/scripts/read", LOOK, [scriptId: NoId] => ops::workflows::read_script),
    folding_method!("workflows/scripts/delete", FULL, [scriptId: NoId] => ops::workflows::delete_script),
    folding_method!("plan/review/read", LOOK, [threadId: Thread, reviewId: Review] => ops::plans::read),
    folding_method!("plan/review/comment", FULL, [threadId: Thread, reviewId: Review] => ops::plans::comment),
    folding_method!("plan/review/rewrite", FULL, [threadId: Thread, reviewId: Review] => ops::plans::rewrite),
    folding_method!("plan/review/approve", DECIDE, [threadId: Thread, reviewId: Review] => ops::plans::approve),
    folding_method!("plan/review/reject", DECIDE, [threadId: Thread, reviewId: Review] => ops::plans::reject),
    folding_method!("hunk/list", LOOK, [threadId: Thread, turnId: Turn, reviewId: Review] => ops::hunks::list),
    folding_method!("hunk/read", LOOK, [threadId: Thread, hunkId: NoId] => ops::hunks::read),
    folding_method!("hunk/rollback", FULL, [threadId: Thread, hunkId: NoId] => ops::hunks::rollback),
    folding_method!("workspace/changes/list", LOOK, [threadId: Thread, turnId: Turn] => ops::hunks::observed),
    folding_method!("git/changes/list", FULL, [workspace: NoId] => ops::git::list),
    folding_method!("git/changes/read", FULL, [workspace: NoId] => ops::git::read),
    folding_method!("vcs/status", FULL, [workspaceId: Workspace, rootId: NoId, providerId: NoId] => ops::git::status),
    folding_method!("vcs/changes/list", FULL, [workspaceId: Workspace, rootId: NoId, providerId: NoId] => ops::git::list_general),
    folding_method!("vcs/changes/read", FULL, [workspaceId: Workspace, rootId: NoId, providerId: NoId] => ops::git::read_general),
    folding_method!("team/start", FULL, [leadThreadId: Thread] => ops::teams::start),
    folding_method!("team/list", LOOK, [] => ops::teams::list),
    folding_method!("team/read", LOOK, [teamId: Team] => ops::teams::read),
    folding_method!("team/member/start", FULL, [teamId: Team] => ops::teams::start_member),
    folding_method!("team/member/message", FULL, [teamId: Team, memberId: NoId, expectedTurnId: Turn] => ops::teams::message),
    folding_method!("team/member/interrupt", FULL, [teamId: Team, memberId: NoId, turnId: Turn] => ops::teams::interrupt),
    folding_method!("team/member/focus", LOOK, [teamId: Team, memberId: NoId] => ops::teams::focus),
    folding_method!("team/cleanup", FULL, [teamId: Team] => ops::teams::clean_up),
    folding_method!("team/pane/focus", LOOK, [] => ops::teams::no_panes),
    folding_method!("team/pane/cleanup", LOOK, [] => ops::teams::no_panes),
    folding_method!("marketplaces/list", LOOK, [] => ops::marketplaces::list),
    folding_method!("marketplaces/install_default", FULL, [] => ops::marketplaces::install_default),
    folding_method!("marketplaces/add", FULL, [id: NoId] => ops::marketplaces::add),
    folding_method!("marketplaces/remove", FULL, [marketplaceId: NoId] => ops::marketplaces::remove),
    folding_method!("marketplaces/refresh", FULL, [marketplaceId: NoId] => ops::marketplaces::refresh),
    folding_method!("marketplaces/search", LOOK, [] => ops::marketplaces::search),
    folding_method!("marketplaces/plugin", LOOK, [marketplaceId: NoId, pluginId: NoId] => ops::marketplaces::plugin),
    folding_method!("plugins/preview_install", FULL, [marketplaceId: NoId, pluginId: NoId] => ops::marketplaces::preview),
    folding_method!("plugins/install", FULL, [marketplaceId: NoId, pluginId: NoId] => ops::marketplaces::install),
    folding_method!("plugins/install_all_variants", FULL, [marketplaceId: NoId, pluginId: NoId] => ops::marketplaces::install_all_variants),
    folding_method!("plugins/list_installed", LOOK, [] => ops::marketplaces::list_installed),
    folding_method!("plugins/disable", FULL, [] => ops::marketplaces::disable),
    folding_method!("plugins/enable", FULL, [] => ops::marketplaces::enable),
    folding_method!("plugins/uninstall", FULL, [] => ops::marketplaces::uninstall),
    folding_method!("media/list", LOOK, [threadId: Thread] => ops::media::list),
    folding_method!("media/read", LOOK, [artifactId: Artifact] => ops::media::read),
    folding_method!("media/thumbnail", LOOK, [artifactId: Artifact] => ops::media::thumbnail),
    folding_method!("media/delete", FULL, [artifactId: Artifact] => ops::media::delete),
    folding_method!("media/attachToTurn", FULL, [artifactId: Artifact, threadId: Thread] => ops::media::attach),
    folding_method!("media/import", FULL, [threadId: Thread] => ops::media::import),
    folding_method!("media/image/providers/list", LOOK, [] => ops::media::image_providers),
    folding_method!("media/image/generate", FULL, [threadId: Thread, inputArtifacts: Artifact] => ops::media::generate),
    folding_method!("workflow/scan", LOOK, [workspace: NoId] => ops::imports::scan),
    folding_method!("workflow/preview", LOOK, [workspace: NoId, itemId: NoId] => ops::imports::preview),
    folding_method!("workflow/enable", FULL, [workspace: NoId, itemId: NoId] => ops::imports::enable),
    folding_method!("workflow/ignore", FULL, [workspace: NoId, itemId: NoId] => ops::imports::ignore),
    folding_method!("workflow/refresh", LOOK, [workspace: NoId] => ops::imports::refresh),
    folding_method!("workflow/remove", FULL, [workspace: NoId, itemId: NoId] => ops::imports::remove),
    folding_method!("skills/list", LOOK, [workspace: NoId, workspaceId: Workspace, rootId: NoId] => ops::imports::skills),
    folding_method!("skills/read", LOOK, [workspace: NoId] => ops::imports::read_skill),
    folding_method!("skills/setEnabled", FULL, [workspace: NoId] => ops::imports::set_skill),
    folding_method!("memory/list", LOOK, [] => ops::memory::list),
    folding_method!("memory/read", LOOK, [memoryId: Memory] => ops::memory::read),
    folding_method!("memory/save", FULL, [] => ops::memory::save),
    folding_method!("memory/update", FULL, [memoryId: Memory] => ops::memory::update),
    folding_method!("memory/delete", FULL, [memoryId: Memory] => ops::memory::delete),
    folding_method!("memory/query", LOOK, [] => ops::memory::query),
    folding_method!("memory/provider/list", LOOK, [] => ops::memory::providers),
    folding_method!("memory/provider/set", OWN, [providerId: NoId] => ops::memory::set_provider),
    folding_method!("memory/recall/preview", LOOK, [threadId: Thread, turnId: Turn] => ops::memory::preview_recall),
];

/// What only our own servers say: how the client that they hand through reached them.
pub static LINK_METHODS: &[Method<Cx>] =
    &[folding_method!("rookery/attach", LOOK, [] => ops::initialize::attach)];

/// The names of all methods. A function of its own, since the table holds the very method that tells
/// them.
fn method_names() -> Vec<String> {
    METHODS.iter().map(|method| method.name.to_owned()).collect()
}
