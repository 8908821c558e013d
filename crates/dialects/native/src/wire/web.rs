//! The server for browsers, and the devices that are paired with it.

use rookery_wire::{call, empty_calls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `rookery/web/start`: turns the server on, until it is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WebStart {
    /// Where to listen, `ADDRESS:PORT`; as the settings say if it is not named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// Whether an address that other machines reach may be served without encryption.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
}

call!("rookery/web/start" WebStart -> Web);

/// The server as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Web {
    /// The address of the page on this machine.
    pub url: String,
    /// Where a page may come from, the best way in first.
    pub origins: Vec<String>,
    /// How many devices are paired.
    pub devices: usize,
}

empty_calls! {
    /// Params of `rookery/web/stop`, which takes none.
    pub WebStop: "rookery/web/stop" -> WebStopped,
    /// Params of `rookery/web/devices`, which takes none.
    pub WebDevices: "rookery/web/devices" -> WebDeviceList,
}

/// Result of `rookery/web/stop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebStopped {
    /// Whether the server was on.
    pub stopped: bool,
}

/// Params of `rookery/web/pair`: opens a pairing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WebPair {
    /// What the device will be allowed: `full`, `decide` or `look`; as the settings say if it is not named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rights: Option<WebRights>,
    /// What the device will be called if it names itself nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is for a browser of this user at this machine, and worth nothing anywhere else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub here: bool,
}

call!("rookery/web/pair" WebPair -> WebPairing);

/// What a device may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WebRights {
    /// See, without secrets.
    Look,
    /// And answer what agents ask.
    Decide,
    /// Everything but the daemon itself.
    Full,
}

/// Result of `rookery/web/pair`. Whoever has the link or the code can pair one device.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebPairing {
    /// The link to be opened by the device; what stands behind `#` is never sent.
    pub url: String,
    /// The code of the link.
    pub code: String,
    /// The code to be typed instead.
    pub short: String,
    /// Until when they may be used, in milliseconds since the epoch.
    pub expires_at: i64,
    pub rights: WebRights,
}

impl std::fmt::Debug for WebPairing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebPairing").field("rights", &self.rights).finish_non_exhaustive()
    }
}

/// Result of `rookery/web/devices`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebDeviceList {
    pub devices: Vec<WebDevice>,
}

/// A device that was paired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebDevice {
    pub id: String,
    pub name: String,
    pub rights: WebRights,
    /// When it was paired, in milliseconds since the epoch.
    pub created_at: i64,
    /// When it last came, in milliseconds since the epoch.
    pub seen_at: i64,
    /// Whether it has a connection.
    pub connected: bool,
}

/// Params of `rookery/web/revoke`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebRevoke {
    /// The id of a device, or `all`.
    pub device: String,
}

call!("rookery/web/revoke" WebRevoke -> WebRevoked);

/// Result of `rookery/web/revoke`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebRevoked {
    /// How many devices were revoked.
    pub revoked: usize,
}

/// Params of `rookery/web/rename`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebRename {
    /// The id of a device.
    pub device: String,
    pub name: String,
}

call!("rookery/web/rename" WebRename -> WebDevice);
