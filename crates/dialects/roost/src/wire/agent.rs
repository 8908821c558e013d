//! Who works in a tab, and how far along it is.

use std::collections::BTreeMap;

use super::{Int64, calls, shapes, tab::Tab, words};
use crate::errors::Error;

words! {
    /// What the shell of a tab is doing.
    ShellState {
        /// Nothing was heard of it yet.
        Unknown,
        /// It waits for a command.
        AtPrompt,
        /// A command runs.
        ForegroundProcess,
    }
    /// How far along an agent is.
    Lifecycle {
        /// Not at work.
        Inactive,
        /// At work.
        Working,
        /// Waiting for the user.
        Waiting,
        /// Done.
        Finished,
        /// Given up.
        Failed,
    }
    /// What a report does to the ownership of a tab.
    OwnershipAction {
        /// The reporter becomes the owner, whatever owner there was before.
        Claim,
        /// The report counts only if the reporter is the owner.
        Preserve,
        /// The owner lets go.
        Release,
    }
    /// What a report does to the notification of a tab.
    Attention {
        /// Raises it.
        Set,
        Clear,
        /// Leaves it.
        Preserve,
    }
    /// How grave a notification is.
    Severity {
        /// For information.
        Info,
        Warn,
        Error,
    }
}

/// The default of `attention`.
fn preserve() -> Attention {
    Attention::Preserve
}

/// The default of `severity`.
fn info() -> Severity {
    Severity::Info
}

shapes! {
    /// The owner of a tab.
    Ownership {
        /// What sort of owner, such as `claude`.
        source: String,
        /// Which of them; may be empty.
        #[serde(default)]
        session_id: String,
        /// When it last reported, in Unix seconds by the server's clock.
        #[serde(default)]
        last_event_at: i64,
        /// What it said it is doing.
        #[serde(default)]
        detail: String,
        /// Further facts it told.
        #[serde(default)]
        metadata: BTreeMap<String, String>,
    }
    /// What became of a report.
    AgentReported {
        /// False if the reporter does not own the tab; nothing was changed then.
        accepted: bool,
        /// The tab afterwards.
        tab: Tab,
    }
}

calls! {
    /// Reports what an agent is doing, in one step.
    "tab.agent_report" AgentReport -> AgentReported [AgentReport::consistent] {
        /// The tab.
        tab_id: Int64,
        /// What sort of agent; not empty.
        source: String,
        /// Which of them.
        #[serde(default)]
        session_id: String,
        /// What happens to the ownership.
        ownership_action: OwnershipAction,
        /// How far along it is; absent leaves it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lifecycle: Option<Lifecycle>,
        /// What happens to the notification.
        #[serde(default = "preserve")]
        attention: Attention,
        /// How grave the notification is.
        #[serde(default = "info")]
        severity: Severity,
        /// Title of the notification.
        #[serde(default)]
        title: String,
        /// Body of the notification.
        #[serde(default)]
        body: String,
        /// What it is doing.
        #[serde(default)]
        detail: String,
        /// Further facts.
        #[serde(default)]
        metadata: BTreeMap<String, String>,
    }
}

impl AgentReport {
    fn consistent(&self) -> Result<(), Error> {
        if self.source.is_empty() {
            return Err(Error::invalid("source", "must not be empty"));
        }
        if self.attention == Attention::Set {
            for (field, text) in [("title", &self.title), ("body", &self.body)] {
                if text.is_empty() {
                    return Err(Error::invalid(field, "must not be empty when attention is `set`"));
                }
            }
        }
        Ok(())
    }
}
