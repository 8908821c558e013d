//! The server for browsers: turned on and off, kept on over restarts, and where it listens. Off until the
//! person asks for it.

mod listen;
mod record;
mod site;
mod sockets;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rookery_core::{Core, ViewerRights};
use rookery_dialects::Served;
use rookery_model::{Error, Result};
use rookery_native::{WebServer, WebWays, WebWork};
use rookery_web::Assets;
use rookery_wire::transport::http::{Entry, Limits, Origin, Server};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::WebConfig;
use crate::homes::Homes;

use listen::Wanted;
use site::PageSite;

/// How long stopping waits for connections to hear of it.
const FAREWELL: std::time::Duration = std::time::Duration::from_secs(1);
/// How long a connection may go on asking before its peer is let in.
const STAY: std::time::Duration = std::time::Duration::from_secs(60);
/// Bytes of a request's body.
const MAX_BODY: usize = 4 * 1024;

/// The server for browsers.
pub struct Web {
    homes: Homes,
    config: WebConfig,
    /// Known once there is a world to show.
    served: OnceLock<(Core, Served)>,
    running: Mutex<Option<Running>>,
    /// Held while it is turned on or off.
    turning: tokio::sync::Mutex<()>,
}

/// The server while it is on.
struct Running {
    address: SocketAddr,
    ways: WebWays,
    /// Cancelled when it is turned off.
    over: CancellationToken,
    /// What it runs.
    tasks: TaskTracker,
}

impl Web {
    /// A server that is off.
    pub fn new(homes: Homes, config: WebConfig) -> Arc<Web> {
        let (served, running) = (OnceLock::new(), Mutex::new(None));
        Arc::new(Web { homes, config, served, running, turning: tokio::sync::Mutex::default() })
    }

    /// From now on there is a world to show.
    pub fn show(&self, core: &Core, served: &Served) {
        let _ = self.served.set((core.clone(), served.clone()));
    }

    /// Turns it on if it was on before, or the settings say so. Why it could not be is told to the user.
    pub(crate) async fn resume(&self) -> Option<String> {
        let (core, _) = self.served.get()?;
        let kept = core.devices().kept_server().await;
        if kept.is_none() && !self.config.enabled {
            return None;
        }
        let wanted = kept.and_then(|text| Wanted::read(&text)).unwrap_or_default();
        let turned = self.turn_on(wanted, false).await;
        turned.err().map(|error| format!("the page for browsers is not served: {error}"))
    }

    /// Turns it off until it is resumed; its visitors are told that the daemon stops.
    pub async fn pause(&self) -> bool {
        let _turning = self.turning.lock().await;
        let running = self.running.lock().take();
        let Some(running) = running else { return false };
        record::remove(&self.homes);
        self.tell(None);
        running.end().await;
        true
    }

    async fn turn_on(&self, wanted: Wanted, is_asked: bool) -> Result<WebWays> {
        let none = || Error::conflict("the daemon is only starting");
        let (core, served) = self.served.get().ok_or_else(none)?;
        let _turning = self.turning.lock().await;
        let address = listen::address(&wanted, &self.config)?;
        let known = self.running.lock().as_ref().map(|it| (it.address, it.ways.clone()));
        if let Some((at, ways)) = known
            && (wanted.listen.is_none() || address == at)
        {
            return Ok(ways);
        }
        let tls = listen::certificate(&wanted, &self.config, address)?;
        let origins = listen::origins(&self.config)?;
        let limits = Limits { stay: Some(STAY), body: MAX_BODY, ..Limits::default() };
        let assets = Arc::new(assets());
        let site = PageSite::new(core.clone(), Entry::new(origins.clone()), assets);
        let server =
            Server::bind(address, site, limits, tls.as_ref().map(listen::Certificate::tls));
        let server = server.await.map_err(|error| listen::not_bound(address, &error))?;
        let address = server.local_addr().map_err(|error| Error::failed(error.to_string()))?;
        let ways = listen::ways(address, tls.is_some(), &origins);
        if is_asked {
            // With the port that was found, so that pages find the next daemon at the same place.
            let listen = wanted.listen.map(|_| address);
            core.devices().keep_server(Some(Wanted { listen, ..wanted }.write())).await?;
        }
        let before = self.running.lock().take();
        if let Some(before) = before {
            before.end().await;
        }
        record::write(&self.homes, &ways.url);
        let (over, tasks) = (CancellationToken::new(), TaskTracker::new());
        let serving = sockets::serve_all(server, served.clone(), over.clone(), tasks.clone());
        tasks.spawn(serving);
        if let Some(certificate) = tls {
            tasks.spawn(over.clone().run_until_cancelled_owned(certificate.follow()));
        }
        tracing::info!("the page for browsers is at {}", ways.url);
        *self.running.lock() = Some(Running { address, ways: ways.clone(), over, tasks });
        self.tell(Some(ways.url.clone()));
        Ok(ways)
    }

    /// Tells all who look where the page is.
    fn tell(&self, url: Option<String>) {
        if let Some((core, _)) = self.served.get() {
            core.seats().set_web(url);
        }
    }
}

impl Running {
    async fn end(self) {
        self.over.cancel();
        self.tasks.close();
        if tokio::time::timeout(FAREWELL, self.tasks.wait()).await.is_err() {
            tracing::debug!("connections of browsers have not ended yet");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

impl WebServer for Web {
    fn start(&self, listen: Option<SocketAddr>, is_plain: bool) -> WebWork<'_, WebWays> {
        Box::pin(async move { self.turn_on(Wanted { listen, is_plain }, true).await })
    }

    fn stop(&self) -> WebWork<'_, bool> {
        Box::pin(async move {
            let was_on = self.pause().await;
            if let Some((core, _)) = self.served.get() {
                core.devices().keep_server(None).await?;
            }
            Ok(was_on)
        })
    }

    fn ways(&self) -> Option<WebWays> {
        self.running.lock().as_ref().map(|running| running.ways.clone())
    }

    fn usual_rights(&self) -> ViewerRights {
        self.config.default_rights.into()
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
