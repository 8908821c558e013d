//! What the daemon says about itself.

use rookery_agent::mcp::{McpState, McpStatus};
use rookery_model::{EventSeq, TerminalState, Timestamp};

use crate::core::Core;

/// Whether there is a keeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeeperState {
    /// None runs; the first terminal starts one.
    Absent,
    Connected {
        /// Its process id.
        pid: u32,
    },
}

/// The state of the daemon in numbers.
#[derive(Clone, Debug)]
pub struct Status {
    /// Version of the daemon.
    pub version: &'static str,
    /// Process id.
    pub pid: u32,
    /// When it started.
    pub started_at: Timestamp,
    /// Number of projects.
    pub projects: usize,
    /// Terminals whose child runs.
    pub running: usize,
    /// Terminals whose child ended.
    pub exited: usize,
    /// Terminals whose keeper died.
    pub lost: usize,
    /// Pending waits on all terminals.
    pub pending_waits: usize,
    /// Whether there is a keeper.
    pub keeper: KeeperState,
    /// Number of the newest durable event.
    pub last_event: EventSeq,
    /// Batches waiting to be stored.
    pub store_queue: usize,
    /// What was wrong with the store at start, if anything was.
    pub damage: Option<String>,
    /// What is wrong with the settings.
    pub warnings: Vec<String>,
    /// Servers of the Model Context Protocol, and how they are.
    pub mcp_servers: Vec<McpServer>,
}

/// A server of the Model Context Protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// Its name in the settings.
    pub name: String,
    /// Whether it can be used; if neither this nor an error is there, it starts.
    pub is_ready: bool,
    /// Why it cannot be used.
    pub error: Option<String>,
    /// Number of tools that it offers.
    pub tools: usize,
}

impl From<McpStatus> for McpServer {
    fn from(status: McpStatus) -> Self {
        let is_ready = status.state == McpState::Ready;
        let error = match status.state {
            McpState::Failed(why) => Some(why),
            McpState::Starting | McpState::Ready => None,
        };
        Self { name: status.name, is_ready, error, tools: status.tools }
    }
}

impl Core {
    /// The state of the daemon in numbers.
    pub fn status(&self) -> Status {
        let (projects, counts) = {
            let world = self.look();
            let mut counts = [0usize; 3];
            for terminal in world.terminals.values() {
                let slot = match terminal.state {
                    TerminalState::Running => 0,
                    TerminalState::Exited(_) => 1,
                    TerminalState::Lost => 2,
                };
                counts[slot] += 1;
            }
            (world.projects.len(), counts)
        };
        Status {
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            started_at: self.inner.started_at,
            projects,
            running: counts[0],
            exited: counts[1],
            lost: counts[2],
            pending_waits: self
                .terminals()
                .all_live()
                .iter()
                .map(|live| live.pending_waits())
                .sum(),
            keeper: match self.terminals().keeper_pid() {
                Some(pid) => KeeperState::Connected { pid },
                None => KeeperState::Absent,
            },
            last_event: self.log().last(),
            store_queue: self.inner.store.queued(),
            damage: self.inner.damage.clone(),
            warnings: self.threads().settings_warnings(),
            mcp_servers: self.mcp_servers(),
        }
    }
}

impl Core {
    fn mcp_servers(&self) -> Vec<McpServer> {
        self.inner.agents.mcp.statuses().into_iter().map(McpServer::from).collect()
    }

    /// Puts what was wrong with the store into the queue, so that it is seen where people look.
    pub(crate) fn report_damage(&self) {
        if let Some(damage) = self.inner.damage.clone() {
            self.file_damage("The store was damaged", damage);
        }
    }

    /// The same for another file of ours, and tells those who are there.
    pub(crate) fn say_damage(&self, title: &str, damage: String) {
        self.log().warn(None, damage.clone());
        self.file_damage(title, damage);
    }

    fn file_damage(&self, title: &str, damage: String) {
        let filed = self.transact(|tx| {
            tx.file(crate::queue::NewItem {
                session: None,
                related: None,
                category: rookery_model::Category::Error,
                title: title.to_owned(),
                subtitle: Some(damage),
                source: rookery_model::Source::Protocol,
            });
            Ok(())
        });
        if let Err(error) = filed {
            tracing::error!(%error, "what was damaged is not in the queue");
        }
    }
}
