//! The whole stack in this process: core, dialects and their endpoints, over connections in memory.
//!
//! Only the keeper is a process of its own, as it must be. Every memory daemon has a fresh world.

use std::sync::Arc;

use rookery_agent::settings::AuthSettings;
use rookery_core::{
    AgentConfig, Core, CoreConfig, KeeperLaunch, Reach, RunnerDirs, StopKind, TerminalLimits,
    UiConfig, ViewerRights,
};
use rookery_daemon::Web;
use rookery_daemon::config::WebConfig;
use rookery_daemon::homes::Homes;
use rookery_dialects::{Dialect, Served};
use rookery_issuer::{CLIENT, Issuer, Person};
use rookery_native::{Control, Ending, WebServer};
use rookery_signin::Account;
use rookery_term::Palette;
use rookery_wire::transport::memory;
use tokio::io::DuplexStream;
use tokio::sync::watch;

use crate::binary::rookery_binary;
use crate::caller::{PATIENCE, runtime};
use crate::daemon::Home;

/// A daemon without sockets. Dropping it ends its terminals and its keeper.
pub struct MemoryDaemon {
    home: Home,
    core: Core,
    served: Served,
    stopped: watch::Receiver<bool>,
    issuer: Option<Issuer>,
}

/// Stops like the daemon: core first, then connections.
struct Stop {
    core: Core,
    stopped: watch::Sender<bool>,
    web: Arc<Web>,
}

impl Control for Stop {
    fn web(&self) -> Option<Arc<dyn WebServer>> {
        Some(Arc::clone(&self.web) as Arc<dyn WebServer>)
    }

    fn shut_down(&self, ending: Ending) {
        let kind = match ending {
            Ending::KeepTerminals => StopKind::KeepTerminals,
            Ending::Restart => StopKind::Restart,
            Ending::EndAll => StopKind::EndTerminals,
        };
        let (core, stopped) = (self.core.clone(), self.stopped.clone());
        runtime().spawn(async move {
            let _ = core.stop(kind).await;
            stopped.send_replace(true);
        });
    }
}

impl MemoryDaemon {
    /// A fresh world.
    pub fn start() -> MemoryDaemon {
        MemoryDaemon::start_in_mode(false, None)
    }

    /// A fresh world whose accounts have an issuer, at which the person does this.
    pub fn with_issuer(person: Person) -> MemoryDaemon {
        let issuer = Issuer::start();
        issuer.state().person = person;
        MemoryDaemon::start_in_mode(false, Some(issuer))
    }

    /// A fresh world in which operations for tests are allowed.
    pub fn in_test_mode() -> MemoryDaemon {
        MemoryDaemon::start_in_mode(true, None)
    }

    /// A fresh world that is configured otherwise.
    pub fn configured(change: impl FnOnce(&mut CoreConfig)) -> MemoryDaemon {
        let home = Home::new();
        let mut config = config(&home);
        change(&mut config);
        MemoryDaemon::start_with(home, config, false, None)
    }

    fn start_in_mode(test_mode: bool, issuer: Option<Issuer>) -> MemoryDaemon {
        let home = Home::new();
        let config = config(&home);
        MemoryDaemon::start_with(home, config, test_mode, issuer)
    }

    fn start_with(
        home: Home,
        mut config: CoreConfig,
        test_mode: bool,
        issuer: Option<Issuer>,
    ) -> MemoryDaemon {
        if let Some(issuer) = &issuer {
            config.agent.settings.auth = auth(issuer);
        }
        if test_mode {
            config.limits.captured_input = 1 << 20;
        }
        let roost = rookery_roost::Settings {
            test_mode,
            painter: Some(Arc::new(rookery_daemon::Pictures::default())),
            ..rookery_roost::Settings::new(home.join("run/roost/roost.sock"))
        };
        let core = runtime().block_on(Core::start(config)).unwrap();
        let (sender, stopped) = watch::channel(false);
        let web = web(&home);
        let stop = Stop { core: core.clone(), stopped: sender, web: Arc::clone(&web) };
        let control = Arc::new(stop);
        let adapters = Arc::new(rookery_watch::Adapters::default().allow_plugin_load(true));
        let shared = rookery_ptywright::Shared::new(home.path().to_owned(), adapters);
        let served = Served::new(core.clone(), control, Arc::new(shared)).with_roost(roost);
        web.show(&core, &served);
        MemoryDaemon { home, core, served, stopped, issuer }
    }

    /// Whether a client asked it to stop, and it did.
    pub fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }

    /// Where its files lie.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The issuer of its accounts, if there is one.
    pub fn issuer(&self) -> Option<&Issuer> {
        self.issuer.as_ref()
    }

    /// Pairs a device that may do everything, as a browser does; gives its id.
    pub fn pair(&self, name: &str) -> String {
        let devices = self.core.devices();
        let pairing = devices.pair(ViewerRights::Full, None, Reach::Here).unwrap();
        let redeemed = devices.redeem(&pairing.code, name, Reach::Here);
        let (device, _) = runtime().block_on(redeemed).unwrap();
        device.id
    }

    /// A new connection to the endpoint of this name.
    pub fn connect(&self, endpoint: &str) -> DuplexStream {
        let found = Dialect::at(endpoint);
        let dialect = found.unwrap_or_else(|| panic!("no endpoint is called {endpoint}"));
        let (near, far) = memory::pair();
        let (served, mut stopped) = (self.served.clone(), self.stopped.clone());
        runtime().spawn(async move {
            tokio::select! {
                () = dialect.serve(far, served) => {}
                _ = stopped.wait_for(|stopped| *stopped) => {}
            }
        });
        near
    }
}

/// A server for browsers at any free port.
fn web(home: &Home) -> Arc<Web> {
    let root = home.path().as_os_str().to_owned();
    let homes = Homes::from_lookup(&|name| (name == "ROOKERY_HOME").then(|| root.clone())).unwrap();
    Web::new(homes, WebConfig { listen: "127.0.0.1:0".to_owned(), ..WebConfig::default() })
}

fn config(home: &Home) -> CoreConfig {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    CoreConfig {
        state_dir: Some(home.join("state")),
        keeper: KeeperLaunch {
            exe: rookery_binary().to_owned(),
            args: vec!["__keeper".to_owned()],
            socket: home.join("run/keeper.sock"),
        },
        home: home.path().to_owned(),
        env: vec![
            ("PATH".into(), path),
            ("HOME".into(), home.path().into()),
            ("LANG".into(), "C.UTF-8".into()),
        ],
        shell: "/bin/sh".to_owned(),
        default_tool: None,
        max_running_tasks: rookery_core::USUAL_RUNNING_TASKS,
        child_env: vec![(
            "ROOST_SOCKET".to_owned(),
            home.join("run/roost/roost.sock").display().to_string(),
        )],
        limits: TerminalLimits::default(),
        palette: Palette::default(),
        shares_ids: true,
        ui: UiConfig {
            settings: Some(home.join("config/roost/config.conf")),
            ..UiConfig::default()
        },
        tab_env: rookery_roost::tab_env(),
        resources: None,
        helpers: None,
        agent: agent_config(home),
    }
}

/// Accounts of an issuer.
fn auth(issuer: &Issuer) -> AuthSettings {
    let config = rookery_signin::Config {
        issuer: Some(issuer.url().to_owned()),
        client_id: Some(CLIENT.to_owned()),
        callback_port: Some(0),
        ..rookery_signin::Config::default()
    };
    let accounts = Account::ALL.map(|account| (account, config.clone())).into();
    AuthSettings { accounts, ..AuthSettings::default() }
}

/// Agents that work in the home, and keep there what the user chose.
fn agent_config(home: &Home) -> AgentConfig {
    AgentConfig {
        settings_file: Some(home.join("config/rookery/agent.toml")),
        cwd: home.path().to_owned(),
        artifacts: Some(home.join("state/artifacts")),
        commands_dir: Some(home.join("config/rookery/commands")),
        config_home: Some(home.join("config/rookery")),
        runners: Some(RunnerDirs {
            data: home.join("data/rookery"),
            run: home.join("run/rookery"),
        }),
        teams_dir: Some(home.join("data/rookery/teams")),
        auth_dir: Some(home.join("data/rookery/auth")),
        memories_file: Some(home.join("data/rookery/memory/memories.sqlite3")),
        media_dir: Some(home.join("data/rookery/artifacts")),
        imports_file: Some(home.join("config/rookery/workflow-imports.json")),
        marketplaces: Some(rookery_core::MarketplaceDirs {
            state_file: home.join("config/rookery/marketplaces.json"),
            sources: home.join("data/rookery/marketplaces/cache"),
            plugins: home.join("data/rookery/plugins/cache"),
            github_folders: None,
        }),
        workflows_dir: Some(home.join("data/dynamic-workflows")),
        ..AgentConfig::default()
    }
}

impl Drop for MemoryDaemon {
    fn drop(&mut self) {
        // A world that a vector has stopped already says so; the home ends what is left.
        let _ = runtime().block_on(async {
            tokio::time::timeout(PATIENCE, self.core.stop(StopKind::EndTerminals)).await
        });
    }
}
