//! Where the server for browsers listens: which addresses may be served in plain text, its certificate, and how
//! it can be reached.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use rookery_host::{Watch, Watched};
use rookery_model::{Error, Result};
use rookery_native::WebWays;
use rookery_wire::transport::http::{Origin, Tls};
use rookery_wire::transport::ws::pairing;
use serde_json::{Value, json};

use crate::config::WebConfig;

/// What whoever turned the server on asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WebOptions {
    /// Where to listen; as the settings say if it is not named.
    pub(super) listen: Option<SocketAddr>,
    /// Whether any address may be served in plain text.
    pub(super) is_plain: bool,
}

impl WebOptions {
    /// As a text that is kept.
    pub(super) fn write(self) -> String {
        json!({ "listen": self.listen.map(|at| at.to_string()), "plain": self.is_plain })
            .to_string()
    }

    /// The same, with what is not said as it was before.
    pub(super) fn like(self, before: WebOptions) -> WebOptions {
        match self.listen {
            Some(_) => self,
            None => {
                WebOptions { listen: before.listen, is_plain: self.is_plain || before.is_plain }
            }
        }
    }

    pub(super) fn read(text: &str) -> Option<WebOptions> {
        let value: Value = serde_json::from_str(text).ok()?;
        let listen = value.get("listen").and_then(Value::as_str);
        Some(WebOptions {
            listen: listen.and_then(|text| text.parse().ok()),
            is_plain: value.get("plain").and_then(Value::as_bool).unwrap_or_default(),
        })
    }
}

/// The address to be bound.
pub(super) fn address(wanted: &WebOptions, config: &WebConfig) -> Result<SocketAddr> {
    let address = match wanted.listen {
        Some(address) => address,
        None => config.listen.parse().map_err(|_| {
            let message = format!("`[web] listen` is {:?}; it must be ADDRESS:PORT", config.listen);
            Error::invalid("listen", message)
        })?,
    };
    let is_encrypted = config.tls_cert.is_some() && config.tls_key.is_some();
    if wanted.is_plain || is_encrypted || is_private_way(address.ip()) {
        return Ok(address);
    }
    let message = format!(
        "{address} is reached by other machines, and nothing on the way would be encrypted; set tls_cert and tls_key in [web], or say --plain"
    );
    Err(Error::invalid("listen", message))
}

/// Whether plain text stays on this machine or is encrypted by Tailscale.
fn is_private_way(address: IpAddr) -> bool {
    match address.to_canonical() {
        address if address.is_loopback() => true,
        IpAddr::V4(v4) => v4.octets()[0] == 100 && v4.octets()[1] & 0xc0 == 64,
        IpAddr::V6(v6) => v6.segments()[..3] == [0xfd7a, 0x115c, 0xa1e0],
    }
}

/// The certificate of the server, and its files.
pub(super) struct Certificate {
    tls: Tls,
    certificate: PathBuf,
    key: PathBuf,
    /// Of both, begun before they were read; none if they cannot be watched.
    watches: Option<[Watch; 2]>,
}

/// The certificate that the settings name; none if the server speaks plain text.
pub(super) async fn certificate(
    wanted: &WebOptions,
    config: &WebConfig,
    address: SocketAddr,
) -> Result<Option<Certificate>> {
    let (certificate, key) = match (&config.tls_cert, &config.tls_key) {
        (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
        (None, None) => return Ok(None),
        _ => {
            let message = "`[web]` has one of tls_cert and tls_key; it needs both";
            return Err(Error::invalid("tls_cert", message));
        }
    };
    if wanted.is_plain {
        tracing::warn!("the page for browsers is served at {address} without encryption");
        return Ok(None);
    }
    let watches = watch(&certificate, &key).await;
    if let Err(error) = &watches {
        tracing::warn!(%error, "certificates are not watched; a new one needs a restart");
    }
    let tls = Tls::new(&read(&certificate)?, &read(&key)?)
        .map_err(|error| Error::failed(error.to_string()))?;
    Ok(Some(Certificate { tls, certificate, key, watches: watches.ok() }))
}

async fn watch(certificate: &Path, key: &Path) -> std::io::Result<[Watch; 2]> {
    let file = |path: &Path| std::path::absolute(path).map(Watched::File);
    Ok([Watch::start(file(certificate)?).await?, Watch::start(file(key)?).await?])
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path)
        .map_err(|error| Error::failed(format!("cannot read {}: {error}", path.display())))
}

impl Certificate {
    pub(super) fn tls(&self) -> Tls {
        self.tls.clone()
    }

    fn read_again(&self) -> Result<()> {
        let replaced = self.tls.replace(&read(&self.certificate)?, &read(&self.key)?);
        replaced.map_err(|error| Error::failed(error.to_string()))
    }

    /// Reads the files again whenever they are replaced or rewritten. One that is broken leaves the one before in
    /// use, and so does one whose key has not come yet.
    pub(super) async fn follow(mut self) {
        let Some([mut certificate, mut key]) = self.watches.take() else { return };
        loop {
            let is_watched = tokio::select! {
                is_watched = certificate.changed() => is_watched,
                is_watched = key.changed() => is_watched,
            };
            if !is_watched {
                return tracing::warn!(
                    "certificates are no longer watched; a new one needs a restart"
                );
            }
            match tokio::task::block_in_place(|| self.read_again()) {
                Ok(()) => tracing::info!("the certificate of the page was read again"),
                Err(error) => {
                    tracing::warn!("the certificate of the page stays as it was: {error}")
                }
            }
        }
    }
}

/// The origins that the settings name.
pub(super) fn origins(config: &WebConfig) -> Result<Vec<Origin>> {
    config.origins.iter().map(|text| super::origin(text)).collect()
}

/// How a server that is bound can be reached.
pub(super) fn ways(bound: SocketAddr, is_encrypted: bool, origins: &[Origin]) -> WebWays {
    let scheme = if is_encrypted { "https" } else { "http" };
    let interfaces = pairing::interfaces().unwrap_or_default();
    let reachable = pairing::urls(bound, &interfaces).into_iter();
    let reachable = reachable.map(|url| url.replacen("ws", scheme, 1));
    let mut all: Vec<String> = origins.iter().map(ToString::to_string).collect();
    for origin in reachable {
        if !all.contains(&origin) {
            all.push(origin);
        }
    }
    let mut here = bound;
    if bound.ip().is_unspecified() {
        here.set_ip(match bound.is_ipv4() {
            true => std::net::Ipv4Addr::LOCALHOST.into(),
            false => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    WebWays { url: format!("{scheme}://{here}/"), origins: all }
}

/// What the user reads of an address that cannot be had.
pub(super) async fn not_bound(address: SocketAddr, error: &std::io::Error) -> Error {
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return Error::failed(format!("cannot listen at {address}: {error}"));
    }
    let look = move || rookery_host::listener_at(address);
    let owner = match tokio::task::spawn_blocking(look).await.ok().flatten() {
        Some(owner) => format!("{} (process {})", owner.name, owner.pid),
        None => "another program, which belongs to another user".to_owned(),
    };
    let message = format!("{address} is taken by {owner}; choose another with --listen");
    Error::conflict(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_is_kept() {
        let wanted = WebOptions { listen: "127.0.0.1:8000".parse().ok(), is_plain: true };
        assert_eq!(WebOptions::read(&wanted.write()), Some(wanted));
        assert_eq!(WebOptions::read("{}"), Some(WebOptions::default()));
        assert_eq!(WebOptions::read("on"), None);
    }

    #[test]
    fn what_is_not_said_is_as_it_was() {
        let at = |text: &str, is_plain| WebOptions { listen: text.parse().ok(), is_plain };
        let before = at("10.0.0.1:80", true);
        assert_eq!(at("", false).like(before), before);
        assert_eq!(at("", true).like(at("10.0.0.1:80", false)), before);
        assert_eq!(at("127.0.0.1:80", false).like(before), at("127.0.0.1:80", false));
    }

    #[test]
    fn attack_plain_text_goes_no_further_than_this_machine_and_the_tailnet() {
        let config = WebConfig::default();
        for (listen, is_fine) in [
            ("127.0.0.1:0", true),
            ("[::1]:0", true),
            ("100.64.0.1:7665", true),
            ("100.127.255.255:7665", true),
            ("[fd7a:115c:a1e0::1]:7665", true),
            ("100.128.0.1:7665", false),
            ("0.0.0.0:7665", false),
            ("[::]:7665", false),
            ("192.168.1.5:7665", false),
            ("[::ffff:192.168.1.5]:7665", false),
        ] {
            let wanted = WebOptions { listen: listen.parse().ok(), is_plain: false };
            assert_eq!(address(&wanted, &config).is_ok(), is_fine, "{listen}");
            let plain = WebOptions { is_plain: true, ..wanted };
            assert!(address(&plain, &config).is_ok(), "{listen}");
        }
    }

    #[test]
    fn the_best_way_in_comes_first() {
        let origins = [Origin::parse("https://box.tail.ts.net").unwrap()];
        let ways = ways("127.0.0.1:7665".parse().unwrap(), false, &origins);
        assert_eq!(ways.url, "http://127.0.0.1:7665/");
        assert_eq!(ways.origins, ["https://box.tail.ts.net", "http://127.0.0.1:7665"]);
    }
}
