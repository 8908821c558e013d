//! Listeners of Roo Code beside its two endpoints: each bound to a directory of its own, some over TCP.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use rookery_dialects::{Dialect, Listeners, Served};
use rookery_host::{TcpPeer, tcp_peer};
use rookery_roo::wire::Shape;
use rookery_roo::{Delivery, Listener, Token};
use rookery_wire::transport::tcp::{Access, TcpConnection, TcpEndpoint};
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as WordError, StrDeserializer};

use crate::config::{Config, EndpointConfig, ListenerConfig};

/// Connections over TCP at once.
const MAX_TCP: usize = 256;

/// Endpoints that are there without any settings, and their shapes.
const USUAL: [(&str, Shape); 2] = [("roo", Shape::Seed), ("roo-code", Shape::Published)];

/// All listeners.
#[derive(Debug, Default)]
pub(crate) struct Planned {
    /// Settings of the two endpoints.
    pub(crate) usual: Option<Listeners>,
    /// Further sockets.
    pub(crate) sockets: Vec<(PathBuf, Arc<Listener>)>,
    /// Addresses.
    pub(crate) addresses: Vec<(SocketAddr, Arc<Listener>)>,
}

/// Reads the settings; paths of the two endpoints move them.
///
/// # Errors
/// The listener that cannot be, and why.
pub(crate) fn plan(config: &mut Config, cwd: &Path) -> anyhow::Result<Planned> {
    let mut usual = Listeners::usual(cwd);
    let mut planned = Planned::default();
    for one in config.roo.listeners.clone() {
        let listener = read(&one, cwd).with_context(|| format!("listener `{}`", one.name))?;
        if let Some((name, _)) = USUAL.iter().find(|(name, _)| *name == one.name) {
            if let Some(path) = one.path.clone() {
                config.endpoints.set(name, EndpointConfig::Path(path));
            }
        } else if let Some(path) = &one.path {
            planned.sockets.push((path.clone(), Arc::new(listener.clone())));
        } else if one.tcp.is_none() {
            bail!("listener `{}` has neither `path` nor `tcp`", one.name);
        }
        if let Some(address) = one.tcp {
            let token = one.token.clone().map(Token);
            let over_tcp = Listener { token, is_tcp: true, ..listener.clone() };
            planned.addresses.push((address, Arc::new(over_tcp)));
        }
        match one.name.as_str() {
            "roo" => usual.seed = Arc::new(listener),
            "roo-code" => usual.published = Arc::new(listener),
            _ => {}
        }
    }
    if let Some(address) = from_environment() {
        let over_tcp = Listener { is_tcp: true, ..(*usual.published).clone() };
        planned.addresses.push((address, Arc::new(over_tcp)));
    }
    planned.usual = Some(usual);
    Ok(planned)
}

/// The variables of the original open a port on this machine, and never beyond it.
fn from_environment() -> Option<SocketAddr> {
    let port = std::env::var("ROO_CODE_IPC_TCP_PORT").ok()?.trim().parse::<u16>().ok()?;
    let host = std::env::var("ROO_CODE_IPC_TCP_HOST").unwrap_or_default();
    let ip = host.trim().parse::<std::net::IpAddr>().ok().filter(std::net::IpAddr::is_loopback);
    Some(SocketAddr::new(ip.unwrap_or(Ipv4Addr::LOCALHOST.into()), port))
}

fn read(one: &ListenerConfig, cwd: &Path) -> anyhow::Result<Listener> {
    if one.name.trim().is_empty() {
        bail!("a listener needs a `name`");
    }
    if one.path.as_ref().is_some_and(|path| path.is_relative()) {
        bail!("`path` must be absolute");
    }
    let usual = USUAL.iter().find(|(name, _)| *name == one.name).map(|(_, shape)| *shape);
    let shape = match (usual, &one.shape) {
        (Some(shape), _) => shape,
        (None, Some(text)) => word(text, "shape", "seed, published")?,
        (None, None) => Shape::Published,
    };
    let workspace = one.workspace.clone().unwrap_or_else(|| cwd.to_owned());
    if workspace.is_relative() {
        bail!("`workspace` must be absolute");
    }
    let mode = one.mode.as_deref().map(|text| {
        rookery_agent::policy::parse_mode(text)
            .with_context(|| format!("`mode` is none of default, accept_all, plan, bypass: {text}"))
    });
    let delivery = one.delivery.as_deref();
    let delivery =
        delivery.map(|text| word(text, "delivery", "auto, broadcast, own")).transpose()?;
    Ok(Listener {
        delivery: delivery.unwrap_or_default(),
        mode: mode.transpose()?,
        ..Listener::new(one.name.clone(), shape, workspace)
    })
}

/// A word of a closed list.
trait Word: Sized {
    fn read(from: StrDeserializer<'_, WordError>) -> Result<Self, WordError>;
}

impl Word for Shape {
    fn read(from: StrDeserializer<'_, WordError>) -> Result<Self, WordError> {
        Shape::deserialize(from)
    }
}

impl Word for Delivery {
    fn read(from: StrDeserializer<'_, WordError>) -> Result<Self, WordError> {
        Delivery::deserialize(from)
    }
}

fn word<T: Word>(text: &str, key: &str, words: &str) -> anyhow::Result<T> {
    let read: Result<T, WordError> = T::read(text.into_deserializer());
    read.ok().with_context(|| format!("`{key}` is none of {words}: {text}"))
}

/// The dialect that a listener speaks.
pub(crate) fn dialect(listener: &Listener) -> Option<&'static Dialect> {
    let name = USUAL.iter().find(|(_, shape)| *shape == listener.shape).map(|(name, _)| *name);
    name.and_then(Dialect::named)
}

/// The same dialects, with this listener in the place of the usual one.
pub(crate) fn served_by(served: &Served, listener: &Arc<Listener>) -> Served {
    let listener = Arc::clone(listener);
    let both = Listeners { seed: Arc::clone(&listener), published: listener };
    served.clone().with_listeners(both)
}

/// Takes connections over TCP until it is dropped.
pub(crate) async fn accept_tcp(
    address: SocketAddr,
    listener: Arc<Listener>,
    served: Served,
) -> anyhow::Result<impl Future<Output = ()> + Send> {
    let access = match &listener.token {
        Some(token) => Access::Token(token.0.clone()),
        None => Access::Loopback,
    };
    let endpoint = TcpEndpoint::bind(address, &access, MAX_TCP).await;
    let endpoint = endpoint.with_context(|| format!("listener `{}`", listener.name))?;
    tracing::info!(listener = listener.name, "listening at {}", endpoint.local_addr()?);
    let served = served_by(&served, &listener);
    let dialect = dialect(&listener).context("there is no such dialect")?;
    Ok(async move {
        loop {
            let Ok(stream) = endpoint.accept().await else { return };
            tokio::spawn(serve_tcp(dialect, stream, Arc::clone(&listener), served.clone()));
        }
    })
}

async fn serve_tcp(
    dialect: &'static Dialect,
    stream: TcpConnection,
    listener: Arc<Listener>,
    served: Served,
) {
    let peer = stream.peer();
    let found = match stream.local() {
        Ok(local) => tokio::task::spawn_blocking(move || tcp_peer(local, peer)).await.ok(),
        Err(_) => None,
    };
    let pids = match found {
        Some(TcpPeer::Processes(pids)) => pids,
        // Its token is all that can be known of it.
        Some(TcpPeer::Elsewhere) if listener.token.is_some() => Vec::new(),
        // With a token or without: what agents run could have it, and hide.
        _ => {
            tracing::warn!(%peer, listener = listener.name, "refused: no process of this user is at the other end");
            return;
        }
    };
    dialect.serve_processes(stream, &pids, served).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(text: &str) -> anyhow::Result<(Planned, Config)> {
        let (mut config, warnings) = Config::parse(text);
        assert!(warnings.is_empty(), "{warnings:?}");
        plan(&mut config, Path::new("/cwd")).map(|planned| (planned, config))
    }

    #[test]
    fn without_settings_there_are_two() {
        let (planned, _) = planned("").unwrap();
        let usual = planned.usual.unwrap();
        assert_eq!(usual.seed.shape, Shape::Seed);
        assert_eq!(usual.published.workspace, Path::new("/cwd"));
        assert!(planned.sockets.is_empty() && planned.addresses.is_empty());
    }

    #[test]
    fn further_ones_have_directories_of_their_own() {
        let text = "[[roo.listeners]]\nname = \"web\"\npath = \"/run/web.sock\"\nworkspace = \"/web\"\nmode = \"accept_all\"\ndelivery = \"own\"\n\
            [[roo.listeners]]\nname = \"roo-code\"\npath = \"/run/x.sock\"\ntcp = \"127.0.0.1:7800\"\n";
        let (planned, config) = planned(text).unwrap();
        let (path, web) = &planned.sockets[0];
        assert_eq!(path, Path::new("/run/web.sock"));
        assert_eq!((web.workspace.as_path(), web.delivery), (Path::new("/web"), Delivery::Own));
        assert_eq!(web.mode, Some(rookery_model::Mode::AcceptAll));
        let (address, over_tcp) = &planned.addresses[0];
        assert_eq!(address.port(), 7800);
        assert!(over_tcp.is_tcp && over_tcp.token.is_none());
        let moved = EndpointConfig::Path("/run/x.sock".into());
        assert_eq!(*config.endpoints.of("roo-code"), moved);
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (text, why) in [
            ("name = \"a\"", "neither `path` nor `tcp`"),
            ("name = \"a\"\npath = \"x\"", "`path` must be absolute"),
            ("name = \"a\"\npath = \"/x\"\nshape = \"round\"", "`shape` is none of"),
            ("name = \"a\"\npath = \"/x\"\nmode = \"wild\"", "`mode` is none of"),
            ("path = \"/x\"", "needs a `name`"),
        ] {
            let error = planned(&format!("[[roo.listeners]]\n{text}\n")).unwrap_err();
            assert!(format!("{error:#}").contains(why), "{error:#}");
        }
    }
}
