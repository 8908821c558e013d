//! What a method gets to work with: the core, its connection, and the viewer that it opened.

use std::sync::Arc;

use rookery_core::{Core, TerminalHandle};
use rookery_model::{self as model, TerminalId, ViewerId};
use rookery_wire::ConnectionHandle;
use rookery_wire::rights::{self, Allowed, Called, Rights};
use rookery_wire::rpc::{Admit, RpcError};

use crate::errors::Error;
use crate::session::Session;
use rookery_view::link::Bye;

/// Why a connection has to end that its peer did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The server that it came to stops.
    Stopping,
    /// The same, and another daemon takes its place.
    Restarting,
    /// Its device was revoked.
    Revoked,
    /// Its device has too many, and this was the oldest.
    Replaced,
}

/// The context of every method, one per connection.
#[derive(Clone)]
pub struct Cx {
    pub(crate) core: Core,
    pub(crate) connection: ConnectionHandle,
    /// What the connection is allowed, in every dialect that it speaks.
    pub(crate) allowed: Allowed,
    /// What its viewer is called, for every dialect that it speaks.
    pub(crate) called: Called,
    pub(crate) session: Arc<Session>,
    /// The paired device at the other end, if it is one.
    pub(crate) device: Option<String>,
}

impl Cx {
    /// A context for one connection.
    pub fn new(core: Core, connection: ConnectionHandle, allowed: Allowed) -> Self {
        let session = Arc::default();
        Self { core, connection, allowed, called: Called::default(), session, device: None }
    }

    /// The same, where other dialects of the connection hear what its viewer is called.
    #[must_use]
    pub fn called(self, called: Called) -> Self {
        Self { called, ..self }
    }

    /// The same for a connection of a paired device.
    #[must_use]
    pub fn of_device(self, device: String) -> Self {
        Self { device: Some(device), ..self }
    }

    /// Ends the connection: its viewer, if there is one, is told why.
    pub fn part(&self, why: CloseReason) {
        let bye = match why {
            CloseReason::Stopping => Bye::Stopping,
            CloseReason::Restarting => Bye::Restarting,
            CloseReason::Revoked => Bye::Revoked,
            CloseReason::Replaced => Bye::Replaced,
        };
        self.session.part(bye);
        if self.session.opened().is_none() {
            self.connection.dismiss(bye.close_code());
        }
    }

    /// The viewer of this connection.
    pub(crate) fn viewer(&self) -> Result<ViewerId, Error> {
        let none = || model::Error::conflict("open a viewer first, with rookery/view/open");
        self.session.viewer().ok_or_else(|| none().into())
    }

    /// A terminal as the viewer has it in front of it.
    pub(crate) fn terminal(&self, number: u64) -> Result<TerminalHandle, Error> {
        let viewer = self.viewer()?;
        Ok(self.core.terminals().get(TerminalId::new(number))?.seen_by(viewer))
    }
}

impl Admit for Cx {
    fn refuse(&self, name: &'static str, rights: Rights) -> Option<RpcError> {
        let is_admitted = rights.admits(self.core.caller().is_agent());
        let denied = || model::Error::new(model::ErrorKind::Denied, rights::refusal(name));
        (!is_admitted).then(|| Error::from(denied()).into())
    }
}
