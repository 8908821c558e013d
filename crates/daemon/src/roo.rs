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
    pub(crate) addresses: Vec<(SocketAddr, Arc<Listener>)>,
    /// What cannot be, and why; everything else is.
    pub(crate) left_out: Vec<String>,
}

/// Reads the settings; paths of the two endpoints move them.
pub(crate) fn plan(config: &mut Config, cwd: &Path) -> Planned {
    let mut usual = Listeners::usual(cwd);
    let mut planned = Planned::default();
    for one in config.roo.listeners.clone() {
        let known = USUAL.iter().find(|(name, _)| *name == one.name).map(|(name, _)| *name);
        let listener = match read(&one, cwd) {
            Ok(listener) => listener,
            Err(error) => {
                planned.left_out.push(format!("listener `{}` is left out: {error:#}", one.name));
                // Served without its settings it might allow more than was meant.
                if let Some(name) = known {
                    config.endpoints.set(name, EndpointConfig::Enabled(false));
                }
                continue;
            }
        };
        let is_on = |name| *config.endpoints.of(name) != EndpointConfig::Enabled(false);
        match (known, one.path.clone()) {
            (Some(name), Some(path)) if is_on(name) => {
                config.endpoints.set(name, EndpointConfig::Path(path));
            }
            (None, Some(path)) => planned.sockets.push((path, Arc::new(listener.clone()))),
            _ => {}
        }
        if let Some(address) = one.tcp {
            let token = one.token.clone().map(Token);
            let over_tcp = Listener { token, is_tcp: true, ..listener.clone() };
            planned.addresses.push((address, Arc::new(over_tcp)));
        }
        match known {
            Some("roo") => usual.seed = Arc::new(listener),
            Some(_) => usual.published = Arc::new(listener),
            None => {}
        }
    }
    match from_environment(&|name| std::env::var(name).ok()) {
        Ok(Some(address)) => {
            let over_tcp = Listener { is_tcp: true, ..(*usual.published).clone() };
            planned.addresses.push((address, Arc::new(over_tcp)));
        }
        Ok(None) => {}
        Err(error) => planned.left_out.push(format!("{error:#}")),
    }
    planned.usual = Some(usual);
    planned
}

/// The variables of the original open a port on this machine, and never beyond it.
fn from_environment(
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Option<SocketAddr>> {
    let Some(port) = variable("ROO_CODE_IPC_TCP_PORT").filter(|port| !port.trim().is_empty())
    else {
        return Ok(None);
    };
    let port = port.trim().parse::<u16>();
    let port = port.context("`ROO_CODE_IPC_TCP_PORT` is not the number of a port")?;
    let host = variable("ROO_CODE_IPC_TCP_HOST").unwrap_or_default();
    let ip = host.trim().parse::<std::net::IpAddr>().ok().filter(std::net::IpAddr::is_loopback);
    Ok(Some(SocketAddr::new(ip.unwrap_or(Ipv4Addr::LOCALHOST.into()), port)))
}

fn read(one: &ListenerConfig, cwd: &Path) -> anyhow::Result<Listener> {
    if one.name.trim().is_empty() {
        bail!("a listener needs a `name`");
    }
    if one.path.as_ref().is_some_and(|path| path.is_relative()) {
        bail!("`path` must be absolute");
    }
    let usual = USUAL.iter().find(|(name, _)| *name == one.name).map(|(_, shape)| *shape);
    if usual.is_none() && one.path.is_none() && one.tcp.is_none() {
        bail!("it has neither `path` nor `tcp`");
    }
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

/// An address that is bound and not yet served.
pub(crate) struct BoundTcp {
    endpoint: TcpEndpoint,
    listener: Arc<Listener>,
}

/// Binds addresses; those that cannot be had are reported by `left_out`.
pub(crate) async fn bind_tcp(
    addresses: Vec<(SocketAddr, Arc<Listener>)>,
    left_out: &mut Vec<String>,
) -> Vec<BoundTcp> {
    let mut all = Vec::new();
    for (address, listener) in addresses {
        let access = match &listener.token {
            Some(token) => Access::Token(token.0.clone()),
            None => Access::Loopback,
        };
        match TcpEndpoint::bind(address, &access, MAX_TCP).await {
            Ok(endpoint) => all.push(BoundTcp { endpoint, listener }),
            Err(error) => {
                let name = &listener.name;
                left_out.push(format!("`{name}` is not served at {address}: {error}"));
            }
        }
    }
    all
}

impl BoundTcp {
    /// Takes connections until it is dropped.
    pub(crate) async fn accept_all(self, served: Served) {
        let BoundTcp { endpoint, listener } = self;
        let Some(dialect) = dialect(&listener) else { return };
        if let Ok(address) = endpoint.local_addr() {
            tracing::info!(listener = listener.name, "listening at {address}");
        }
        let served = served_by(&served, &listener);
        loop {
            let Ok(stream) = endpoint.accept().await else { return };
            tokio::spawn(serve_tcp(dialect, stream, Arc::clone(&listener), served.clone()));
        }
    }
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

    fn planned(text: &str) -> (Planned, Config) {
        let (mut config, warnings) = Config::parse(text);
        assert!(warnings.is_empty(), "{warnings:?}");
        (plan(&mut config, Path::new("/cwd")), config)
    }

    #[test]
    fn without_settings_there_are_two() {
        let (planned, _) = planned("");
        let usual = planned.usual.unwrap();
        assert_eq!(usual.seed.shape, Shape::Seed);
        assert_eq!(usual.published.workspace, Path::new("/cwd"));
        assert!(planned.sockets.is_empty() && planned.addresses.is_empty());
    }

    #[test]
    fn further_ones_have_directories_of_their_own() {
        let text = "[[roo.listeners]]\nname = \"web\"\npath = \"/run/web.sock\"\nworkspace = \"/web\"\nmode = \"accept_all\"\ndelivery = \"own\"\n\
            [[roo.listeners]]\nname = \"roo-code\"\npath = \"/run/x.sock\"\ntcp = \"127.0.0.1:7800\"\n";
        let (planned, config) = planned(text);
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
    fn what_cannot_be_is_named_and_costs_nothing_else() {
        for (text, why) in [
            ("name = \"a\"", "neither `path` nor `tcp`"),
            ("name = \"a\"\npath = \"x\"", "`path` must be absolute"),
            ("name = \"a\"\npath = \"/x\"\nshape = \"round\"", "`shape` is none of"),
            ("name = \"a\"\npath = \"/x\"\nmode = \"wild\"", "`mode` is none of"),
            ("path = \"/x\"", "needs a `name`"),
        ] {
            let good = "[[roo.listeners]]\nname = \"good\"\npath = \"/good\"\n";
            let (planned, _) = planned(&format!("[[roo.listeners]]\n{text}\n{good}"));
            let [said] = &planned.left_out[..] else { panic!("{:?}", planned.left_out) };
            assert!(said.contains(why), "{said}");
            assert_eq!(planned.sockets.len(), 1);
            assert_eq!(planned.sockets[0].1.name, "good");
        }
    }

    #[test]
    fn a_usual_one_whose_settings_cannot_be_read_is_not_served_without_them() {
        let (planned, config) =
            planned("[[roo.listeners]]\nname = \"roo-code\"\nmode = \"paln\"\n");
        assert_eq!(planned.left_out.len(), 1);
        assert_eq!(*config.endpoints.of("roo-code"), EndpointConfig::Enabled(false));
        assert_eq!(*config.endpoints.of("roo"), EndpointConfig::Enabled(true));
    }

    #[test]
    fn the_originals_variables_open_a_port_of_this_machine_only() {
        let told = |port: &'static str, host: &'static str| {
            from_environment(&move |name| {
                Some(if name.ends_with("PORT") { port } else { host }.to_owned())
            })
        };
        let opened = |port, host| told(port, host).unwrap().map(|it: SocketAddr| it.to_string());
        assert_eq!(opened("7800", ""), Some("127.0.0.1:7800".into()));
        assert_eq!(opened(" 7800", "::1"), Some("[::1]:7800".into()));
        assert_eq!(opened("7800", "0.0.0.0"), Some("127.0.0.1:7800".into()));
        assert_eq!(opened("", "127.0.0.1"), None);
        let error = told("http", "").unwrap_err();
        assert!(error.to_string().contains("ROO_CODE_IPC_TCP_PORT"), "{error:#}");
    }
}
