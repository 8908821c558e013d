//! What a method gets to work with: the core, its connection, and the viewer that it opened.

use std::sync::Arc;

use rookery_core::{Core, TerminalHandle};
use rookery_model::{self as model, TerminalId, ViewerId};
use rookery_wire::ConnectionHandle;
use rookery_wire::rights::{self, Allowed, Rights};
use rookery_wire::rpc::{Admit, RpcError};

use crate::errors::Error;
use crate::session::Session;

/// The context of every method, one per connection.
#[derive(Clone)]
pub struct Cx {
    pub(crate) core: Core,
    pub(crate) connection: ConnectionHandle,
    /// What the connection is allowed, in every dialect that it speaks.
    pub(crate) allowed: Allowed,
    pub(crate) session: Arc<Session>,
}

impl Cx {
    /// A context for one connection.
    pub fn new(core: Core, connection: ConnectionHandle, allowed: Allowed) -> Self {
        Self { core, connection, allowed, session: Arc::default() }
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
