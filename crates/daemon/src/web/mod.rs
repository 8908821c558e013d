//! The server for browsers: turned on and off, kept on over restarts, and where it listens. Off until the
//! person asks for it.

mod listen;
mod peer;
mod record;
mod site;
mod sockets;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rookery_core::{Core, ViewerRights};
use rookery_dialects::{CloseReason, Served};
use rookery_model::{Error, Result};
use rookery_native::{WebServer, WebWays, WebWork};
use rookery_web::Assets;
use rookery_wire::transport::http::{Entry, Limits, Origin, Server};
use tokio_util::task::TaskTracker;

use crate::config::{Config, WebConfig};
use crate::homes::Homes;

use listen::WebOptions;
use site::PageSite;
use sockets::ShutdownSignal;

/// How long stopping waits for connections to hear of it.
const FAREWELL: std::time::Duration = std::time::Duration::from_secs(1);
/// How long a connection may go on asking before its peer is let in.
const STAY: std::time::Duration = std::time::Duration::from_secs(60);
/// Bytes of a request's body.
const MAX_BODY: usize = 4 * 1024;

/// The server for browsers.
pub struct Web {
    homes: Homes,
    /// `[web]`, as it was read last.
    config: Mutex<WebConfig>,
    /// Whether that is read again whenever the server is turned on.
    is_rereading: bool,
    /// Known once there is a world to show.
    served: OnceLock<(Core, Served)>,
    state: Arc<Mutex<State>>,
    /// Held while it is turned on or off.
    turning: tokio::sync::Mutex<()>,
}

/// How it is.
#[derive(Default)]
struct State {
    running: Option<Running>,
    /// Why it is off though it should be on.
    problem: Option<String>,
}

/// The server while it is on.
struct Running {
    address: SocketAddr,
    /// What it was turned on with.
    wanted: WebOptions,
    config: WebConfig,
    ways: WebWays,
    /// Ended when it is turned off.
    over: ShutdownSignal,
    /// What it runs.
    tasks: TaskTracker,
}

impl Web {
    /// A server that is off, with settings that stay as they are.
    pub fn new(homes: Homes, config: WebConfig) -> Arc<Web> {
        Web::with(homes, config, false)
    }

    /// A server that is off, and reads its settings again whenever it is turned on.
    pub(crate) fn rereading(homes: Homes, config: WebConfig) -> Arc<Web> {
        Web::with(homes, config, true)
    }

    fn with(homes: Homes, config: WebConfig, is_rereading: bool) -> Arc<Web> {
        Arc::new(Web {
            homes,
            config: Mutex::new(config),
            is_rereading,
            served: OnceLock::new(),
            state: Arc::default(),
            turning: tokio::sync::Mutex::default(),
        })
    }

    /// From now on there is a world to show.
    pub fn show(&self, core: &Core, served: &Served) {
        let _ = self.served.set((core.clone(), served.clone()));
    }

    /// Turns it on if it was on before, or the settings say so. Why it could not be is shown to the user.
    pub(crate) async fn resume(&self) -> Option<String> {
        // A daemon that was killed left its own.
        record::remove(&self.homes);
        let (core, _) = self.served.get()?;
        let kept = core.devices().web_server_setting().await;
        let config = self.config.lock().clone();
        if kept.is_none() && !config.enabled {
            return None;
        }
        let _turning = self.turning.lock().await;
        let wanted = kept.and_then(|text| WebOptions::read(&text)).unwrap_or_default();
        let turned = self.turn_on(wanted, config).await;
        let problem = turned.err().map(|error| not_served(&error));
        self.state.lock().problem.clone_from(&problem);
        problem
    }

    /// Turns it off until it is resumed; its visitors are told why.
    pub async fn pause(&self, why: CloseReason) -> bool {
        let _turning = self.turning.lock().await;
        self.turn_off(why).await
    }

    async fn turn_off(&self, why: CloseReason) -> bool {
        let running = self.state.lock().running.take();
        let Some(running) = running else { return false };
        record::remove(&self.homes);
        self.report_url(None);
        running.end(why).await;
        true
    }

    /// Turns it on because it was asked for, and keeps that.
    async fn turn_on_and_keep(&self, wanted: WebOptions) -> Result<WebWays> {
        let _turning = self.turning.lock().await;
        let config = self.settings()?;
        let wanted = wanted.like(self.before().await);
        let (wanted, ways) = self.turn_on(wanted, config).await?;
        self.core()?.0.devices().set_web_server_setting(Some(wanted.write())).await?;
        Ok(ways)
    }

    fn core(&self) -> Result<&(Core, Served)> {
        self.served.get().ok_or_else(|| Error::conflict("the daemon is still starting"))
    }

    /// What it was turned on with last; nothing if it was turned off since.
    async fn before(&self) -> WebOptions {
        let running = self.state.lock().running.as_ref().map(|running| running.wanted);
        let Some((core, _)) = self.served.get().filter(|_| running.is_none()) else {
            return running.unwrap_or_default();
        };
        let kept = core.devices().web_server_setting().await;
        kept.and_then(|text| WebOptions::read(&text)).unwrap_or_default()
    }

    /// `[web]` as it is now.
    fn settings(&self) -> Result<WebConfig> {
        if !self.is_rereading {
            return Ok(self.config.lock().clone());
        }
        let config = Config::reread(&self.homes).map_err(Error::failed)?.web;
        self.config.lock().clone_from(&config);
        Ok(config)
    }

    /// Serves it so, if it is not. Returns what it is turned on with, with the port that was found, so that pages
    /// find the next daemon at the same place.
    async fn turn_on(
        &self,
        wanted: WebOptions,
        config: WebConfig,
    ) -> Result<(WebOptions, WebWays)> {
        let (core, served) = self.core()?;
        let address = listen::address(&wanted, &config)?;
        if let Some(running) = &self.state.lock().running
            && running.is_so(wanted, &config, address)
        {
            return Ok((running.wanted, running.ways.clone()));
        }
        let tls = listen::certificate(&wanted, &config, address).await?;
        let origins = listen::origins(&config)?;
        let was_there = self.make_room(address).await;
        let limits = Limits { stay: Some(STAY), body: MAX_BODY, ..Limits::default() };
        let site = PageSite::new(core.clone(), Entry::new(origins.clone()), Arc::new(assets()));
        let acceptor = tls.as_ref().map(listen::Certificate::tls);
        let server = match Server::bind(address, site, limits, acceptor).await {
            Ok(server) => server,
            Err(error) => {
                let error = listen::not_bound(address, &error).await;
                let problem = was_there.then(|| not_served(&error));
                self.state.lock().problem = problem;
                return Err(error);
            }
        };
        let address = server.local_addr().map_err(|error| Error::failed(error.to_string()))?;
        let ways = listen::ways(address, tls.is_some(), &origins);
        self.turn_off(CloseReason::Stopping).await;
        record::write(&self.homes, &ways.url);
        let (over, tasks) = (ShutdownSignal::default(), TaskTracker::new());
        let serving = sockets::serve_all(server, served.clone(), over.clone(), tasks.clone());
        tasks.spawn(self.attend(serving, address));
        if let Some(certificate) = tls {
            let over = over.clone();
            tasks.spawn(async move {
                tokio::select! {
                    _ = over.wait() => {}
                    () = certificate.follow() => {}
                }
            });
        }
        tracing::info!("the page for browsers is at {}", ways.url);
        let wanted = WebOptions { listen: wanted.listen.map(|_| address), ..wanted };
        let ways_now = ways.clone();
        let running = Running { address, wanted, config, ways: ways_now, over, tasks };
        *self.state.lock() = State { running: Some(running), problem: None };
        self.report_url(Some(ways.url.clone()));
        Ok((wanted, ways))
    }

    /// Ends a server of ours that may be in the way at an address. Its pages find the next one there. False if
    /// there is none.
    async fn make_room(&self, address: SocketAddr) -> bool {
        let is_there = |running: &Running| running.address.port() == address.port();
        let is_in_the_way = self.state.lock().running.as_ref().is_some_and(is_there);
        is_in_the_way && self.turn_off(CloseReason::Restarting).await
    }

    /// Serves to the end; one that comes by itself is noted.
    fn attend(
        &self,
        serving: impl Future<Output = Option<std::io::Error>> + Send + 'static,
        address: SocketAddr,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (state, homes) = (Arc::clone(&self.state), self.homes.clone());
        let core = self.served.get().map(|(core, _)| core.clone());
        async move {
            let Some(error) = serving.await else { return };
            let problem = format!("the page for browsers is gone from {address}: {error}");
            tracing::error!("{problem}");
            record::remove(&homes);
            *state.lock() = State { running: None, problem: Some(problem) };
            if let Some(core) = core {
                core.seats().set_web(None);
            }
        }
    }

    /// Tells all who look where the page is.
    fn report_url(&self, url: Option<String>) {
        if let Some((core, _)) = self.served.get() {
            core.seats().set_web(url);
        }
    }
}

fn not_served(error: &Error) -> String {
    format!("the page for browsers is not served: {error}")
}

impl Running {
    /// Whether turning it on with these would change nothing.
    fn is_so(&self, wanted: WebOptions, config: &WebConfig, address: SocketAddr) -> bool {
        // A port that the system chose stays the one that was asked for.
        let is_there = self.address == address || self.wanted.listen == wanted.listen;
        is_there && self.wanted.is_plain == wanted.is_plain && self.config == *config
    }

    async fn end(self, why: CloseReason) {
        self.over.end(why);
        self.tasks.close();
        if tokio::time::timeout(FAREWELL, self.tasks.wait()).await.is_err() {
            tracing::debug!("connections of browsers have not ended yet");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.over.end(CloseReason::Stopping);
    }
}

impl WebServer for Web {
    fn start(&self, listen: Option<SocketAddr>, is_plain: bool) -> WebWork<'_, WebWays> {
        Box::pin(self.turn_on_and_keep(WebOptions { listen, is_plain }))
    }

    fn stop(&self) -> WebWork<'_, bool> {
        Box::pin(async move {
            let was_on = self.pause(CloseReason::Stopping).await;
            self.state.lock().problem = None;
            if let Some((core, _)) = self.served.get() {
                core.devices().set_web_server_setting(None).await?;
            }
            Ok(was_on)
        })
    }

    fn ways(&self) -> Option<WebWays> {
        self.state.lock().running.as_ref().map(|running| running.ways.clone())
    }

    fn problem(&self) -> Option<String> {
        self.state.lock().problem.clone()
    }

    fn usual_rights(&self) -> ViewerRights {
        self.config.lock().default_rights.into()
    }
}

/// Where a build for development takes the files of the page from, if not from the source.
const ASSETS_VARIABLE: &str = "ROOKERY_WEB_ASSETS";

/// The files of the page: in a build for development those that lie there now, so that a change shows with the
/// next start.
fn assets() -> Assets {
    if cfg!(debug_assertions)
        && let Some(found) = site::from_disk(std::env::var_os(ASSETS_VARIABLE).map(Into::into))
    {
        return found;
    }
    Assets::embedded()
}

/// An origin as the settings spell it.
fn origin(text: &str) -> Result<Origin> {
    Origin::parse(text.trim_end_matches('/')).ok_or_else(|| {
        let message = format!("`[web] origins` has {text:?}; an origin is https://NAME[:PORT]");
        Error::invalid("origins", message)
    })
}
