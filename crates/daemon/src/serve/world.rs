//! A world of one's own: it begins empty, is kept nowhere, and ends with its server, however that ends.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rookery_core::{
    Core, CoreConfig, KeeperLaunch, KeeperState, StopKind, TerminalLimits, UiConfig,
};
use rookery_dialects::Served;
use rookery_native::{Control, Ending};
use rookery_ptywright::Shared;
use rookery_wire::Outcome;
use rookery_wire::framing::Framing;
use rookery_wire::transport::Transport;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::run::{keeper_args, login_shell, user_home};

/// How long the keeper may take to end what is left and itself.
const KEEPER_PATIENCE: Duration = Duration::from_secs(6);

/// Longest path that a socket can have.
const LONGEST_PATH: usize = 107;

/// What a daemon tells its terminals; in another world it would be wrong.
const SET_BY_DAEMONS: &[&str] =
    &["ROOKERY_SOCKET", "ROOST_SOCKET", "IDX0_IPC_SOCKET", "IDX0_SHELL_INTEGRATION"];

/// How to start a keeper that ends with its last client and leaves nothing behind. Its directory is its own: it is
/// made by the keeper when that starts, so that there is nothing to remove if it never does.
pub fn private_keeper(exe: PathBuf) -> KeeperLaunch {
    let name = format!("ptywright-{}/k.sock", uuid::Uuid::new_v4().simple());
    let wanted = std::env::temp_dir().join(&name);
    let fits = wanted.is_absolute() && wanted.as_os_str().len() <= LONGEST_PATH;
    let socket = if fits { wanted } else { Path::new("/tmp").join(name) };
    let args = keeper_args(&["--end-with-last-client"]);
    KeeperLaunch { exe: rookery_host::own_program(&exe), args, socket }
}

/// The world and how it is served.
pub(super) struct PrivateWorld {
    core: Core,
    served: Served,
}

/// Only its server stops this world.
struct NoControl;

impl Control for NoControl {
    fn shut_down(&self, _ending: Ending) {}
}

impl PrivateWorld {
    pub(super) async fn start(
        exe_for_keeper: PathBuf,
        shared: Shared,
    ) -> rookery_model::Result<PrivateWorld> {
        let is_foreign = |name: &std::ffi::OsStr| SET_BY_DAEMONS.iter().any(|told| name == *told);
        let core = Core::start(CoreConfig {
            state_dir: None,
            keeper: private_keeper(exe_for_keeper),
            home: user_home(),
            env: std::env::vars_os().filter(|(name, _)| !is_foreign(name)).collect(),
            shell: login_shell(),
            default_tool: None,
            max_running_tasks: rookery_core::USUAL_RUNNING_TASKS,
            child_env: Vec::new(),
            limits: TerminalLimits::default(),
            palette: Default::default(),
            shares_ids: false,
            ui: UiConfig::default(),
            tab_env: Vec::new(),
            resources: None,
            helpers: None,
            agent: rookery_core::AgentConfig::default(),
        })
        .await?;
        let served = Served::new(core.clone(), Arc::new(NoControl), Arc::new(shared));
        Ok(PrivateWorld { core, served })
    }

    pub(super) async fn serve(&self, stream: impl Transport, framing: impl Framing) -> Outcome {
        // A standalone world belongs to the process that started it, an agent too.
        let caller = self.core.identify(None, "serve").await;
        self.served.on_behalf_of(caller).serve_strict(stream, framing).await
    }

    /// Ends every session and waits until the keeper is gone with all it made.
    pub(super) async fn end(self) {
        // Opened while its number can mean no other process.
        let keeper = match self.core.status().keeper {
            KeeperState::Connected { pid } => {
                let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
                pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
            }
            KeeperState::Absent => None,
        };
        if let Err(error) = self.core.stop(StopKind::EndTerminals).await {
            tracing::warn!(%error, "cannot end the sessions");
        }
        let Some(keeper) = keeper else { return };
        let wait = move || {
            let limit = Timespec { tv_sec: KEEPER_PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
            poll(&mut [PollFd::new(&keeper, PollFlags::IN)], Some(&limit))
                .is_ok_and(|ended| ended > 0)
        };
        if !tokio::task::spawn_blocking(wait).await.unwrap_or(false) {
            tracing::warn!("the keeper takes long to end");
        }
    }
}
