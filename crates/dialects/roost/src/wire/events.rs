//! What the server tells unasked, and how to ask for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Int64,
    agent::{Lifecycle, Ownership, ShellState},
    calls,
    project::Project,
    shapes,
    tab::{Tab, TabState},
};
use crate::errors::Error;

/// An event: its name and its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", content = "data")]
pub enum Event {
    #[serde(rename = "tab.opened")]
    TabOpened(TabOpened),
    /// A tab is gone.
    #[serde(rename = "tab.closed")]
    TabClosed(TabClosed),
    /// A tab shows another state.
    #[serde(rename = "tab.state_changed")]
    TabStateChanged(TabStateChanged),
    /// A tab has another title.
    #[serde(rename = "tab.title_changed")]
    TabTitleChanged(TabTitleChanged),
    /// A tab is in another directory.
    #[serde(rename = "tab.cwd_changed")]
    TabCwdChanged(TabCwdChanged),
    /// A notification was raised or cleared.
    #[serde(rename = "tab.notification")]
    TabNotification(TabNotification),
    /// A project came to be.
    #[serde(rename = "project.created")]
    ProjectCreated(ProjectCreated),
    /// A project has another name.
    #[serde(rename = "project.renamed")]
    ProjectRenamed(ProjectRenamed),
    /// A project is gone.
    #[serde(rename = "project.deleted")]
    ProjectDeleted(ProjectDeleted),
    /// The active selection was set.
    #[serde(rename = "active.changed")]
    ActiveChanged(ActiveChanged),
    /// A hook took or left a tab.
    #[serde(rename = "hook_active.changed")]
    HookActiveChanged(HookActiveChanged),
    /// A notification, with its text.
    #[serde(rename = "notification.fired")]
    NotificationFired(NotificationFired),
    #[serde(rename = "agent_report.changed")]
    AgentReportChanged(AgentReportChanged),
}

impl Event {
    /// The tab this is about; 0 for events about projects and for an empty selection.
    #[must_use]
    pub fn tab_id(&self) -> Int64 {
        match self {
            Self::TabOpened(data) => data.tab.id,
            Self::TabClosed(TabClosed { tab_id })
            | Self::TabStateChanged(TabStateChanged { tab_id, .. })
            | Self::TabTitleChanged(TabTitleChanged { tab_id, .. })
            | Self::TabCwdChanged(TabCwdChanged { tab_id, .. })
            | Self::TabNotification(TabNotification { tab_id, .. })
            | Self::ActiveChanged(ActiveChanged { tab_id, .. })
            | Self::HookActiveChanged(HookActiveChanged { tab_id, .. })
            | Self::NotificationFired(NotificationFired { tab_id, .. })
            | Self::AgentReportChanged(AgentReportChanged { tab_id, .. }) => *tab_id,
            Self::ProjectCreated(_) | Self::ProjectRenamed(_) | Self::ProjectDeleted(_) => Int64(0),
        }
    }
}

shapes! {
    /// Data of `tab.opened`.
    TabOpened {
        /// The tab.
        tab: Tab,
    }
    /// Data of `tab.closed`.
    TabClosed {
        /// The tab.
        tab_id: Int64,
    }
    /// Data of `tab.state_changed`.
    TabStateChanged {
        /// The tab.
        tab_id: Int64,
        /// Its state.
        state: TabState,
    }
    /// Data of `tab.title_changed`.
    TabTitleChanged {
        /// The tab.
        tab_id: Int64,
        /// Its title.
        title: String,
    }
    /// Data of `tab.cwd_changed`.
    TabCwdChanged {
        /// The tab.
        tab_id: Int64,
        /// Its directory.
        cwd: String,
    }
    /// Data of `tab.notification`.
    TabNotification {
        /// The tab.
        tab_id: Int64,
        /// Whether one is pending.
        has_pending: bool,
    }
    /// Data of `project.created`.
    ProjectCreated {
        /// The project, without tabs.
        project: Project,
    }
    /// Data of `project.renamed`.
    ProjectRenamed {
        /// The project.
        project_id: Int64,
        /// Its name.
        name: String,
    }
    /// Data of `project.deleted`.
    ProjectDeleted {
        /// The project.
        project_id: Int64,
    }
    /// Data of `active.changed`.
    ActiveChanged {
        /// The project, or 0.
        project_id: Int64,
        /// The tab, or 0.
        tab_id: Int64,
    }
    /// Data of `hook_active.changed`.
    HookActiveChanged {
        /// The tab.
        tab_id: Int64,
        /// Whether a hook owns it.
        active: bool,
    }
    /// Data of `notification.fired`.
    NotificationFired {
        /// The tab.
        tab_id: Int64,
        /// The title.
        title: String,
        /// The body.
        body: String,
    }
    /// Data of `agent_report.changed`.
    AgentReportChanged {
        /// The tab.
        tab_id: Int64,
        /// What its shell is doing.
        shell_state: ShellState,
        /// How far along its agent is.
        agent_lifecycle: Lifecycle,
        /// Who owns it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ownership: Option<Ownership>,
        /// What it shows of its work.
        state: TabState,
        /// Whether a hook owns it.
        hook_active: bool,
    }
    /// The answer to a subscription.
    Subscribed {
        /// Number of the newest event, if numbers were asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<Int64>,
    }
}

calls! {
    /// Asks for events on this connection.
    "events.subscribe" EventsSubscribe -> Subscribed [EventsSubscribe::sensible] {
        /// Only events about this tab; 0 for all.
        #[serde(default)]
        tab_id_filter: Int64,
        /// Asks for numbered events after this one; -1 for those from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Int64>,
    }
}

impl EventsSubscribe {
    fn sensible(&self) -> Result<(), Error> {
        match self.since {
            Some(Int64(since)) if since < -1 => {
                Err(Error::invalid("since", "must be an event number, or -1"))
            }
            _ => Ok(()),
        }
    }
}
