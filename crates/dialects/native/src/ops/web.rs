//! The server for browsers, and its devices. Only the person, and only at the machine itself.

use std::sync::Arc;

use rookery_core::{Device, Reach, ViewerRights};
use rookery_model as model;

use crate::context::WebServer;
use crate::wire::{
    Web, WebDevice, WebDeviceList, WebDevices, WebPair, WebPairing, WebRename, WebRevoke,
    WebRevoked, WebRights, WebStart, WebStop, WebStopped,
};
use crate::{Cx, Error};

/// What revokes every device.
const ALL: &str = "all";

pub(crate) async fn start(cx: Cx, params: WebStart) -> Result<Web, Error> {
    let server = server(&cx)?;
    let listen = params.listen.as_deref().map(str::parse).transpose();
    let listen = listen.map_err(|_| {
        Error::invalid("listen", "listen must be ADDRESS:PORT, such as 127.0.0.1:7665")
    })?;
    let ways = server.start(listen, params.plain).await?;
    Ok(Web { url: ways.url, origins: ways.origins, devices: cx.core.devices().list().len() })
}

pub(crate) async fn stop(cx: Cx, _params: WebStop) -> Result<WebStopped, Error> {
    Ok(WebStopped { stopped: server(&cx)?.stop().await? })
}

pub(crate) async fn pair(cx: Cx, params: WebPair) -> Result<WebPairing, Error> {
    let server = server(&cx)?;
    let off = || model::Error::conflict("the server for browsers is off; run `rookery web`");
    let ways = server.ways().ok_or_else(off)?;
    let rights = params.rights.map_or_else(|| server.usual_rights(), core_rights);
    let reach = if params.here { Reach::Here } else { Reach::Anywhere };
    let pairing = cx.core.devices().pair(rights, params.name.as_deref(), reach)?;
    // Whatever else leads here, a browser of this machine is at this machine.
    let best = ways.origins.first().filter(|_| !params.here);
    let origin = best.unwrap_or(&ways.url).trim_end_matches('/');
    Ok(WebPairing {
        url: format!("{origin}/#pair={}", pairing.code),
        code: pairing.code,
        short: pairing.short,
        expires_at: millis(pairing.expires_at),
        rights: wire_rights(pairing.rights),
    })
}

pub(crate) async fn devices(cx: Cx, _params: WebDevices) -> Result<WebDeviceList, Error> {
    let devices = cx.core.devices().list().into_iter().map(shown).collect();
    Ok(WebDeviceList { devices })
}

pub(crate) async fn revoke(cx: Cx, params: WebRevoke) -> Result<WebRevoked, Error> {
    if params.device == ALL {
        return Ok(WebRevoked { revoked: cx.core.devices().revoke_all().await? });
    }
    cx.core.devices().revoke(&params.device).await?;
    Ok(WebRevoked { revoked: 1 })
}

pub(crate) async fn rename(cx: Cx, params: WebRename) -> Result<WebDevice, Error> {
    Ok(shown(cx.core.devices().rename(&params.device, &params.name).await?))
}

/// The server as a status shows it; none while it is off.
pub(crate) fn status(cx: &Cx) -> Option<Web> {
    let ways = cx.control.web()?.ways()?;
    Some(Web { url: ways.url, origins: ways.origins, devices: cx.core.devices().list().len() })
}

/// Why the server is off though it should be on, if it is.
pub(crate) fn problem(cx: &Cx) -> Option<String> {
    cx.control.web()?.problem()
}

fn server(cx: &Cx) -> Result<Arc<dyn WebServer>, Error> {
    let none = || model::Error::conflict("this server has no pages for browsers; the daemon has");
    cx.control.web().ok_or_else(|| none().into())
}

fn shown(device: Device) -> WebDevice {
    WebDevice {
        id: device.id,
        name: device.name,
        rights: wire_rights(device.rights),
        created_at: millis(device.created_at),
        seen_at: millis(device.seen_at),
        connected: device.connected > 0,
    }
}

fn millis(at: model::Timestamp) -> i64 {
    at.as_micros() / 1000
}

fn core_rights(rights: WebRights) -> ViewerRights {
    match rights {
        WebRights::Look => ViewerRights::Look,
        WebRights::Decide => ViewerRights::Decide,
        WebRights::Full => ViewerRights::Full,
    }
}

fn wire_rights(rights: ViewerRights) -> WebRights {
    match rights {
        ViewerRights::Look => WebRights::Look,
        ViewerRights::Decide => WebRights::Decide,
        ViewerRights::Full => WebRights::Full,
    }
}
