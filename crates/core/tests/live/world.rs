//! A core for each test, and what tests ask of it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use rookery_core::{
    AgentConfig, Core, CoreConfig, ExecChunk, ExecEnd, ExecRequest, ExecStart, ExecStream,
    Execution, KeeperLaunch, StopKind, TerminalLimits, UiConfig,
};
use rookery_model::{Accepted, AcceptedWork, Mode, Record, Timestamp};
use rookery_store::{Change, Store};
use rustix::process::{Pid, test_kill_process};

/// A fresh world in a directory of its own.
pub(crate) struct World {
    pub(crate) home: tempfile::TempDir,
    pub(crate) core: Core,
}

impl World {
    /// One in which everything may run.
    pub(crate) async fn open() -> World {
        World::in_mode(Mode::Bypass, false).await
    }

    pub(crate) async fn in_mode(mode: Mode, has_sandbox: bool) -> World {
        let home = tempfile::tempdir().unwrap();
        let config = World::config(&home, has_sandbox);
        DirBuilder::new().mode(0o700).create(home.path().join("keeper")).unwrap();
        let core = Core::start(config).await.unwrap();
        core.threads().set_mode(None, mode, None, None).await.unwrap();
        World { home, core }
    }

    /// One that is kept in the home, where the daemon before has left this work unfinished.
    pub(crate) async fn resume(home: tempfile::TempDir, unfinished: Vec<AcceptedWork>) -> World {
        let (state, keeper) = (home.path().join("state"), home.path().join("keeper"));
        for dir in [&state, &keeper] {
            DirBuilder::new().mode(0o700).recursive(true).create(dir).unwrap();
        }
        let (store, _) = Store::open(&state).unwrap();
        for work in unfinished {
            let accepted = Accepted { at: Timestamp::from_micros(7), work };
            let change = Change::RecordUpserted(Box::new(Record::Accepted(Box::new(accepted))));
            store.commit_or_forget(vec![change]).await.unwrap();
        }
        store.close().unwrap();
        drop(store);
        let mut config = World::config(&home, false);
        config.state_dir = Some(state);
        // Terminals live on while no core is there.
        config.keeper.args.truncate(1);
        let core = Core::start(config).await.unwrap();
        World { home, core }
    }

    /// Stops the core as a restart does; the home is left, with all that was kept.
    pub(crate) async fn pause(self) -> tempfile::TempDir {
        self.core.stop(StopKind::KeepTerminals).await.unwrap();
        self.home
    }

    fn config(home: &tempfile::TempDir, has_sandbox: bool) -> CoreConfig {
        let own = std::env::current_exe().unwrap();
        let mut programs = home.path().join("bin:").into_os_string();
        programs.push(std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        CoreConfig {
            state_dir: None,
            keeper: KeeperLaunch {
                exe: own.clone(),
                args: vec!["__keeper".into(), "--end-with-last-client".into()],
                socket: home.path().join("keeper/keeper.sock"),
            },
            home: home.path().to_owned(),
            // Programs that a test puts into its home are found first.
            env: vec![("PATH".into(), programs), ("HERE".into(), "yes".into())],
            shell: "/bin/sh".to_owned(),
            default_tool: None,
            max_running_tasks: rookery_core::USUAL_RUNNING_TASKS,
            child_env: Vec::new(),
            limits: TerminalLimits::default(),
            palette: rookery_term::Palette::default(),
            shares_ids: true,
            ui: UiConfig::default(),
            tab_env: Vec::new(),
            resources: None,
            helpers: None,
            agent: AgentConfig {
                cwd: home.path().to_owned(),
                artifacts: Some(home.path().join("artifacts")),
                sandbox: has_sandbox.then_some(own),
                ..AgentConfig::default()
            },
        }
    }

    pub(crate) async fn start(&self, request: ExecRequest) -> Execution {
        match self.core.commands().run(request).await.unwrap() {
            ExecStart::Running(execution) => execution,
            other => panic!("it does not run: {other:?}"),
        }
    }

    /// Runs a command to its end.
    pub(crate) async fn run(&self, request: ExecRequest) -> ExecEnd {
        self.start(request).await.finish().await.unwrap()
    }

    /// Why a command is not run.
    pub(crate) async fn refusal(&self, request: ExecRequest) -> rookery_model::Error {
        self.core.commands().run(request).await.unwrap_err()
    }

    pub(crate) async fn stop(self) {
        self.core.stop(StopKind::EndTerminals).await.unwrap();
    }
}

pub(crate) fn command(argv: &[&str]) -> ExecRequest {
    let command = argv.iter().map(|&word| word.to_owned()).collect();
    ExecRequest { command, ..ExecRequest::default() }
}

pub(crate) fn sh(text: &str) -> ExecRequest {
    command(&["sh", "-c", text])
}

/// A command whose output is streamed.
pub(crate) fn streamed(text: &str) -> ExecRequest {
    ExecRequest { streams: true, process_id: Some("p".into()), ..sh(text) }
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Everything it streams from now on: both outputs, and on which of them the cap was reached.
pub(crate) async fn rest(execution: &mut Execution) -> (Vec<u8>, Vec<u8>, Vec<ExecStream>) {
    let (mut out, mut err, mut capped) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(ExecChunk { stream, bytes, cap_reached }) = execution.next().await {
        assert!(bytes.len() <= 64 << 10);
        assert!(!capped.contains(&stream), "nothing comes after the cap");
        match stream {
            ExecStream::Stdout => out.extend_from_slice(&bytes),
            ExecStream::Stderr => err.extend_from_slice(&bytes),
        }
        if cap_reached {
            capped.push(stream);
        }
    }
    (out, err, capped)
}

/// What it streams up to where this was said.
pub(crate) async fn until(execution: &mut Execution, end: &str) -> String {
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains(end) {
        let chunk = execution.next().await.unwrap_or_else(|| panic!("{end:?} was never said"));
        said.extend_from_slice(&chunk.bytes);
    }
    String::from_utf8(said).unwrap()
}

/// Waits until a process is gone.
pub(crate) async fn gone(pid: &str) {
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let is_dead =
        |stat: &Path| std::fs::read_to_string(stat).is_ok_and(|stat| stat.contains(") Z "));
    while test_kill_process(pid).is_ok() && !is_dead(Path::new(&stat)) {
        tokio::task::yield_now().await;
    }
}
