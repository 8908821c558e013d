//! Rookery's own JSON-RPC methods, `rookery/*`: status, events, projects, terminals, threads, supervision.
//!
//! The command line and scripts speak these. [`METHODS`] is the whole dialect as a table;
//! [`wire`] holds its types, which clients use as well. It knows no socket and no other dialect,
//! and keeps nothing that outlives its connection.

#![deny(clippy::wildcard_enum_match_arm)]

mod context;
mod errors;
mod ids;
mod ops;
mod signals;
mod streams;
mod text;
pub mod wire;

use rookery_wire::{method, rpc::Method};

pub use context::{Control, Cx, Ending, WebServer, WebWays, WebWork};
pub use errors::{Error, code};
pub use ids::{ProjectRef, TerminalRef};

use wire::{
    AnswerRequest, Attach, AuditList, AuthLogin, AuthLogout, AuthStatus, ChangeList, ChangeShow,
    CheckpointCreate, CheckpointDelete, CheckpointDiff, CheckpointList, CheckpointPrune,
    CheckpointRestore, CheckpointShow, CommandList, CommandRun, DeferRequest, Detach, Dump,
    EventList, GetStatus, HandoffCreate, HandoffList, HandoffSetStatus, HunkList, HunkRollback,
    HunkShow, ImportEnable, ImportGet, ImportIgnore, ImportRefresh, ImportRemove, ImportScan,
    LendKey, ListProjects, ListProviders, MarketplaceAdd, MarketplaceAddDefaults, MarketplaceList,
    MarketplaceRefresh, MarketplaceRemove, MarketplaceSearch, MarketplaceShow, MediaAttach,
    MediaDelete, MediaGenerate, MediaGet, MediaImport, MediaList, MediaThumbnail, MemoryChoose,
    MemoryDelete, MemoryGet, MemoryList, MemoryProviders, MemoryRecall, MemorySave, MemorySearch,
    MemoryUpdate, ModelList, PluginDisable, PluginEnable, PluginInstall, PluginList, PluginPreview,
    PluginUninstall, ProjectCreate, ProjectDelete, ProjectRename, ProjectReorder, QueueList,
    QueueResolve, RaiseWindow, RequestList, ReviewAddComments, ReviewDeliver, ReviewGet,
    ReviewList, ReviewRequest, ReviewSetStatus, SessionClose, SessionCreate, SessionList, Shutdown,
    SkillGet, SkillList, SkillSet, Subscribe, TaskCancel, TaskList, TaskLogs, TaskRetry, TaskShow,
    TaskSubmit, TerminalActivate, TerminalClose, TerminalFilter, TerminalGet, TerminalKill,
    TerminalMove, TerminalOpen, TerminalPaste, TerminalPress, TerminalRename, TerminalResize,
    TerminalSignal, TerminalWrite, ThreadArchive, ThreadCompact, ThreadDelete, ThreadFork,
    ThreadGet, ThreadList, ThreadRead, ThreadRename, ThreadSetMode, ThreadSetModel, ThreadStart,
    ThreadSubscribe, ThreadUnarchive, ThreadUnsubscribe, TimelineList, TurnInterrupt, TurnStart,
    TurnSteer, Unsubscribe, Wait, WebDevices, WebPair, WebRename, WebRevoke, WebStart, WebStop,
    WorkflowApprove, WorkflowGet, WorkflowList, WorkflowPause, WorkflowPlan, WorkflowResume,
    WorkflowStop, WorkflowWait, WorktreeAttach, WorktreeBootstrap, WorktreeCreate, WorktreeLand,
    WorktreeList, WorktreeRemove,
};

/// Every method of this dialect.
///
/// An endpoint that serves them must not write queued messages before replies
/// (`outbox_first`): a subscription's reply comes before its first notification.
pub static METHODS: &[Method<Cx>] = &[
    method!(GetStatus, LOOK, [] => ops::daemon::status),
    method!(Shutdown, OWN, [] => ops::daemon::shutdown),
    method!(WebStart, OWN, [] => ops::web::start),
    method!(WebStop, OWN, [] => ops::web::stop),
    method!(WebPair, OWN, [] => ops::web::pair),
    method!(WebDevices, OWN, [] => ops::web::devices),
    method!(WebRevoke, OWN, [device: NoId] => ops::web::revoke),
    method!(WebRename, OWN, [device: NoId] => ops::web::rename),
    method!(RaiseWindow, FULL, [] => ops::daemon::raise),
    method!(EventList, LOOK, [after: Event] => ops::events::list),
    method!(Subscribe, LOOK, [since: Event] => ops::events::subscribe),
    method!(Unsubscribe, LOOK, [subscription: Stream] => ops::events::unsubscribe),
    method!(ListProjects, LOOK, [] => ops::projects::list),
    method!(ProjectCreate, FULL, [] => ops::projects::create),
    method!(ProjectRename, FULL, [project: Project] => ops::projects::rename),
    method!(ProjectReorder, FULL, [projects: Project] => ops::projects::reorder),
    method!(ProjectDelete, FULL, [project: Project] => ops::projects::delete),
    method!(RequestList, LOOK, [thread: Thread] => ops::requests::list),
    method!(AnswerRequest, DECIDE, [id: Request] => ops::requests::answer),
    method!(DeferRequest, DECIDE, [id: Request] => ops::requests::defer),
    method!(QueueList, LOOK, [session: Session] => ops::queue::list),
    method!(QueueResolve, DECIDE, [id: QueueItem] => ops::queue::resolve),
    method!(TimelineList, LOOK, [session: Session] => ops::queue::timeline),
    method!(SessionList, LOOK, [] => ops::sessions::list),
    method!(SessionCreate, INSIDE, [existingWorktree: Worktree, worktree: NoId] => ops::sessions::create),
    method!(SessionClose, INSIDE, [session: Session] => ops::sessions::close),
    method!(WorkflowPlan, FULL, [] => ops::workflows::plan),
    method!(WorkflowApprove, DECIDE, [run: Run] => ops::workflows::approve),
    method!(WorkflowList, LOOK, [] => ops::workflows::list),
    method!(WorkflowGet, LOOK, [run: Run] => ops::workflows::get),
    method!(WorkflowWait, LOOK, [run: Run, since: NoId] => ops::workflows::wait),
    method!(WorkflowPause, FULL, [run: Run] => ops::workflows::pause),
    method!(WorkflowResume, FULL, [run: Run] => ops::workflows::resume),
    method!(WorkflowStop, FULL, [run: Run] => ops::workflows::stop),
    method!(ReviewList, LOOK, [session: Session, tree: Worktree] => ops::reviews::list),
    method!(ReviewGet, LOOK, [id: Review] => ops::reviews::get),
    method!(ReviewRequest, REPORT, [session: Session, tree: Worktree, checkpoint: Checkpoint] => ops::reviews::request),
    method!(ReviewAddComments, DECIDE, [id: Review] => ops::reviews::comment),
    method!(ReviewSetStatus, DECIDE, [id: Review] => ops::reviews::set_status),
    method!(ReviewDeliver, DECIDE, [id: Review, to: Session] => ops::reviews::deliver),
    method!(ChangeList, FULL, [thread: Thread, workspace: NoId] => ops::changes::list),
    method!(ChangeShow, FULL, [thread: Thread, workspace: NoId] => ops::changes::show),
    method!(HunkList, LOOK, [thread: Thread, turn: Turn] => ops::changes::hunks),
    method!(HunkShow, LOOK, [thread: Thread, hunk: NoId] => ops::changes::hunk),
    method!(HunkRollback, FULL, [thread: Thread, hunk: NoId] => ops::changes::rollback),
    method!(CheckpointList, LOOK, [session: Session, tree: Worktree] => ops::checkpoints::list),
    method!(CheckpointCreate, REPORT, [session: Session, tree: Worktree, review: NoId] => ops::checkpoints::create),
    method!(CheckpointShow, LOOK, [id: Checkpoint] => ops::checkpoints::show),
    method!(CheckpointDiff, LOOK, [id: Checkpoint, with: Checkpoint] => ops::checkpoints::diff),
    method!(CheckpointRestore, FULL, [id: Checkpoint] => ops::checkpoints::restore),
    method!(CheckpointDelete, FULL, [id: Checkpoint] => ops::checkpoints::delete),
    method!(CheckpointPrune, FULL, [] => ops::checkpoints::prune),
    method!(WorktreeList, LOOK, [] => ops::worktrees::list),
    method!(WorktreeCreate, FULL, [] => ops::worktrees::create),
    method!(WorktreeBootstrap, FULL, [path: Worktree] => ops::worktrees::bootstrap),
    method!(WorktreeAttach, FULL, [path: Worktree] => ops::worktrees::attach),
    method!(WorktreeLand, FULL, [path: Worktree] => ops::worktrees::land),
    method!(WorktreeRemove, FULL, [path: Worktree] => ops::worktrees::remove),
    method!(HandoffList, LOOK, [session: Session, tree: Worktree] => ops::handoffs::list),
    method!(HandoffCreate, REPORT, [from: Session, tree: Worktree, to: Session, checkpoint: Checkpoint] => ops::handoffs::create),
    method!(HandoffSetStatus, DECIDE, [id: Handoff] => ops::handoffs::set_status),
    method!(ListProviders, LOOK, [] => ops::agents::providers),
    method!(ModelList, LOOK, [] => ops::agents::models),
    method!(LendKey, OWN, [] => ops::agents::lend),
    method!(AuthStatus, FULL, [] => ops::auth::status),
    method!(AuthLogin, FULL, [] => ops::auth::login),
    method!(AuthLogout, FULL, [] => ops::auth::logout),
    method!(CommandList, LOOK, [] => ops::commands::list),
    method!(CommandRun, FULL, [thread: Thread] => ops::commands::run),
    method!(AuditList, LOOK, [thread: Thread, since: NoId] => ops::audit::list),
    method!(ThreadList, LOOK, [] => ops::threads::list),
    method!(ThreadGet, LOOK, [thread: Thread] => ops::threads::get),
    method!(ThreadRead, LOOK, [thread: Thread, before: Item] => ops::threads::read),
    method!(ThreadStart, FULL, [] => ops::threads::start),
    method!(ThreadFork, FULL, [thread: Thread, turn: Turn] => ops::threads::fork),
    method!(ThreadRename, FULL, [thread: Thread] => ops::threads::rename),
    method!(ThreadArchive, FULL, [thread: Thread] => ops::threads::archive),
    method!(ThreadUnarchive, FULL, [thread: Thread] => ops::threads::unarchive),
    method!(ThreadDelete, FULL, [thread: Thread] => ops::threads::delete),
    method!(ThreadCompact, FULL, [thread: Thread] => ops::threads::compact),
    method!(ThreadSetModel, FULL, [thread: Thread] => ops::threads::set_model),
    method!(ThreadSetMode, FULL, [thread: Thread] => ops::threads::set_mode),
    method!(ThreadSubscribe, LOOK, [thread: Thread] => ops::thread_news::subscribe),
    method!(ThreadUnsubscribe, LOOK, [subscription: Stream] => ops::thread_news::unsubscribe),
    method!(TurnStart, FULL, [thread: Thread] => ops::turns::start),
    method!(TurnSteer, FULL, [thread: Thread, turn: Turn] => ops::turns::steer),
    method!(TurnInterrupt, FULL, [thread: Thread, turn: Turn] => ops::turns::interrupt),
    method!(TaskSubmit, INSIDE, [project: Project] => ops::tasks::submit),
    method!(TaskList, LOOK, [] => ops::tasks::list),
    method!(TaskShow, LOOK, [task: Task] => ops::tasks::show),
    method!(TaskLogs, LOOK, [task: Task, after: NoId] => ops::tasks::logs),
    method!(TaskCancel, INSIDE, [task: Task] => ops::tasks::cancel),
    method!(TaskRetry, INSIDE, [task: Task] => ops::tasks::retry),
    method!(MarketplaceList, LOOK, [] => ops::marketplaces::list),
    method!(MarketplaceAdd, FULL, [id: NoId] => ops::marketplaces::add),
    method!(MarketplaceAddDefaults, FULL, [] => ops::marketplaces::add_defaults),
    method!(MarketplaceRemove, FULL, [] => ops::marketplaces::remove),
    method!(MarketplaceRefresh, FULL, [] => ops::marketplaces::refresh),
    method!(MarketplaceSearch, LOOK, [] => ops::marketplaces::search),
    method!(MarketplaceShow, LOOK, [] => ops::marketplaces::show),
    method!(PluginPreview, FULL, [] => ops::marketplaces::preview),
    method!(PluginInstall, FULL, [] => ops::marketplaces::install),
    method!(PluginList, LOOK, [] => ops::marketplaces::list_installed),
    method!(PluginEnable, FULL, [] => ops::marketplaces::enable),
    method!(PluginDisable, FULL, [] => ops::marketplaces::disable),
    method!(PluginUninstall, FULL, [] => ops::marketplaces::uninstall),
    method!(MediaList, LOOK, [thread: Thread] => ops::media::list),
    method!(MediaGet, LOOK, [artifact: Artifact] => ops::media::get),
    method!(MediaImport, FULL, [thread: Thread] => ops::media::import),
    method!(MediaThumbnail, LOOK, [artifact: Artifact] => ops::media::thumbnail),
    method!(MediaAttach, FULL, [artifact: Artifact, thread: Thread] => ops::media::attach),
    method!(MediaGenerate, FULL, [thread: Thread] => ops::media::generate),
    method!(MediaDelete, FULL, [artifact: Artifact] => ops::media::delete),
    method!(ImportScan, LOOK, [] => ops::imports::scan),
    method!(ImportGet, LOOK, [item: NoId] => ops::imports::get),
    method!(ImportEnable, FULL, [item: NoId] => ops::imports::enable),
    method!(ImportIgnore, FULL, [item: NoId] => ops::imports::ignore),
    method!(ImportRefresh, LOOK, [] => ops::imports::refresh),
    method!(ImportRemove, FULL, [item: NoId] => ops::imports::remove),
    method!(SkillList, LOOK, [] => ops::imports::skills),
    method!(SkillGet, LOOK, [] => ops::imports::get_skill),
    method!(SkillSet, FULL, [] => ops::imports::set_skill),
    method!(MemoryList, LOOK, [] => ops::memories::list),
    method!(MemoryGet, LOOK, [memory: Memory] => ops::memories::get),
    method!(MemoryRecall, LOOK, [thread: Thread] => ops::memories::recall),
    method!(MemoryProviders, LOOK, [] => ops::memories::providers),
    method!(MemoryChoose, FULL, [] => ops::memories::choose),
    method!(MemorySave, FULL, [] => ops::memories::save),
    method!(MemoryUpdate, FULL, [memory: Memory] => ops::memories::update),
    method!(MemoryDelete, FULL, [memory: Memory] => ops::memories::delete),
    method!(MemorySearch, LOOK, [] => ops::memories::query),
    method!(TerminalFilter, LOOK, [project: Project] => ops::terminals::list),
    method!(TerminalGet, LOOK, [terminal: Terminal] => ops::terminals::get),
    method!(TerminalOpen, INSIDE, [project: Project] => ops::terminals::open),
    method!(TerminalClose, INSIDE, [terminal: Terminal] => ops::terminals::close),
    method!(TerminalRename, REPORT, [terminal: Terminal] => ops::terminals::rename),
    method!(TerminalActivate, FULL, [terminal: Terminal] => ops::terminals::activate),
    method!(TerminalMove, FULL, [terminal: Terminal, project: Project] => ops::terminals::move_to),
    method!(TerminalWrite, INSIDE, [terminal: Terminal] => ops::input::write),
    method!(TerminalPress, INSIDE, [terminal: Terminal] => ops::input::press),
    method!(TerminalPaste, INSIDE, [terminal: Terminal] => ops::input::paste),
    method!(TerminalResize, INSIDE, [terminal: Terminal] => ops::input::resize),
    method!(TerminalSignal, INSIDE, [terminal: Terminal] => ops::input::signal),
    method!(TerminalKill, INSIDE, [terminal: Terminal] => ops::input::kill),
    method!(Dump, LOOK, [terminal: Terminal] => ops::screen::dump),
    method!(Wait, LOOK, [terminal: Terminal] => ops::screen::wait),
    method!(Attach, EXPOSE, [terminal: Terminal] => ops::attach::attach),
    method!(Detach, LOOK, [attachment: Stream] => ops::attach::detach),
];

/// The notifications of this dialect.
pub mod notification {
    /// Carries a [`wire::EventNotification`](crate::wire::EventNotification).
    pub const EVENT: &str = "rookery/event";
    /// Carries a [`wire::LoginNotification`](crate::wire::LoginNotification), to the connection that logs in.
    pub const LOGIN: &str = "rookery/login";
    /// Carries a [`wire::OutputNotification`](crate::wire::OutputNotification).
    pub const OUTPUT: &str = "rookery/output";
    /// Carries a [`wire::TaskNotification`](crate::wire::TaskNotification).
    pub const TASK: &str = "rookery/task";
    /// Carries a [`wire::ThreadNotification`](crate::wire::ThreadNotification).
    pub const THREAD: &str = "rookery/thread";
}

#[cfg(test)]
mod tests;
