//! Arguments of `rookery web`.

use std::net::SocketAddr;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Web {
    #[command(subcommand)]
    pub(crate) action: Option<WebAction>,
    /// Listen at this address [default: `[web] listen` of the settings, 127.0.0.1:7665]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Serve an address that other machines can reach without encryption
    #[arg(long)]
    pub(crate) plain: bool,
    /// Pair a device: print a link, its QR code and a code to be typed
    #[arg(long)]
    pub(crate) pair: bool,
    /// Pair the browser of this machine, and open it
    #[arg(long)]
    pub(crate) open: bool,
    /// What the device may do [default: `[web] default_rights` of the settings, full]
    #[arg(long, value_enum, value_name = "RIGHTS")]
    pub(crate) rights: Option<WebRights>,
    /// Name of the device, unless it gives one itself
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print no QR code
    #[arg(long)]
    pub(crate) no_qr: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with the page and its devices.
#[derive(Debug, Subcommand)]
pub(crate) enum WebAction {
    /// List paired devices
    Devices(WebJson),
    /// Revoke a device: it is cut off at once
    Revoke(WebRevoke),
    /// Rename a device
    Rename(WebRename),
    /// Stop serving the page; paired devices stay paired
    Stop(WebJson),
}

#[derive(Debug, Args)]
pub(crate) struct WebJson {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WebRevoke {
    /// The device's id, or `all`
    #[arg(value_name = "ID|all")]
    pub(crate) device: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WebRename {
    /// The device's id
    #[arg(value_name = "ID")]
    pub(crate) device: String,
    /// Its new name
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a device may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WebRights {
    /// Everything but the daemon itself
    Full,
    /// See, and answer what agents ask
    Decide,
    /// See, without secrets
    Look,
}
