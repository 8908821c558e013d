//! The rooms of core: one handle for each noun. A handle costs two reference counts and may be kept.

use rookery_model::ViewerId;

use crate::core::Core;

/// Declares handles and the accessors that give them.
macro_rules! rooms {
    ($($(#[$doc:meta])* $accessor:ident => $Handle:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone)]
            pub struct $Handle {
                pub(crate) core: Core,
            }
        )*

        /// What the rooms are called that have handles of their own.
        #[cfg(test)]
        pub(crate) const NAMES: &[&str] = &[$(stringify!($accessor),)*];

        impl Core {
            $(
                $(#[$doc])*
                pub fn $accessor(&self) -> $Handle {
                    $Handle { core: self.clone() }
                }
            )*
        }
    };
}

/// What each viewer has in front of it: place, scene, palette, scroll, selection.
#[derive(Clone)]
pub struct Seats {
    pub(crate) core: Core,
    /// Whose; none is the desk, and without a desk the virtual window.
    pub(crate) viewer: Option<ViewerId>,
}

impl Core {
    /// What is in front of the desk; see [`Seats::of`] for one viewer.
    pub fn seats(&self) -> Seats {
        Seats { core: self.clone(), viewer: None }
    }
}

rooms! {
    /// Providers, models, settings and slash commands of our own agents.
    agents => Agents,
    /// Snapshots of work trees.
    checkpoints => Checkpoints,
    /// Child agents, and traces of what they did.
    children => Children,
    /// Programs that clients run.
    commands => Commands,
    /// Browsers and programs elsewhere that were paired with this world.
    devices => Devices,
    /// What happened to files: edits of tools, and what commands were seen to change.
    file_changes => FileChanges,
    /// Work that one session hands to another.
    handoffs => Handoffs,
    /// Files of other agents that take effect here.
    imports => Imports,
    /// What happened, for all who follow it.
    log => Log,
    /// Catalogs of plugins, and the plugins that are installed.
    marketplaces => Marketplaces,
    /// Images and other files that are kept.
    media => Media,
    /// What is to be known in other threads as well.
    memories => Memories,
    /// What asks for attention, and the timeline.
    queue => Queue,
    /// Approvals, questions, plans, dialogs and parked calls.
    requests => Requests,
    /// Reviews of changes.
    reviews => Reviews,
    /// Places where tools and tasks run.
    runners => Runners,
    /// Terminals and threads as supervisors see them.
    sessions => Sessions,
    /// Background tasks.
    tasks => Tasks,
    /// Teams of agents: a lead and its teammates.
    teams => Teams,
    /// Programs on pseudo-terminals.
    terminals => Terminals,
    /// Conversations with agents, and their turns.
    threads => Threads,
    /// Scripts that start child agents, and their runs.
    workflows => Workflows,
    /// Projects, tabs and their order.
    workspace => Workspace,
    /// Work trees of repositories.
    worktrees => Worktrees,
}
