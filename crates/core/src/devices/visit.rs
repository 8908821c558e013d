//! Connections of devices: counted, and notified when they have to end.

use std::sync::Arc;

use tokio::sync::watch;

use super::{Device, Paired, State, is_news, now};
use crate::log::Signalled;
use crate::rooms::Devices;

/// Connections that one device may have; the oldest makes room.
const MAX_VISITS: usize = 8;

/// Why a connection has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Its device was revoked.
    Revoked,
    /// Its device has too many, and this was the oldest.
    Replaced,
}

/// A connection as its device knows it.
pub(super) struct Visitor {
    number: u64,
    reason: watch::Sender<Option<CloseReason>>,
}

impl Visitor {
    pub(super) fn close(&self, why: CloseReason) {
        self.reason.send_replace(Some(why));
    }
}

/// A connection of a device. The device no longer counts it once this is dropped.
pub struct Visit {
    /// The device as it was when the connection began.
    pub device: Device,
    number: u64,
    reason: watch::Receiver<Option<CloseReason>>,
    state: Arc<Signalled<State>>,
}

impl std::fmt::Debug for Visit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Visit").field("device", &self.device.id).finish_non_exhaustive()
    }
}

impl Visit {
    /// Resolves when the connection has to end.
    pub async fn closed(&self) -> CloseReason {
        let mut reason = self.reason.clone();
        match reason.wait_for(Option::is_some).await {
            Ok(why) => why.unwrap_or(CloseReason::Revoked),
            // The device is gone, and it with its sender.
            Err(_) => CloseReason::Revoked,
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        if let Some(device) = state.devices.get_mut(&self.device.id) {
            device.visitors.retain(|visitor| visitor.number != self.number);
        }
    }
}

impl Devices {
    /// Begins a connection of the device that a credential belongs to; none if it belongs to none.
    pub fn visit(&self, credential: &str) -> Option<Visit> {
        let (id, secret) = credential.split_once('.')?;
        let mut state = self.state();
        let number = state.last_visit + 1;
        let device = state.devices.get_mut(id).filter(|device| device.digest.is_of(secret))?;
        device.seen_at = now();
        if device.visitors.len() >= MAX_VISITS {
            device.visitors.remove(0).close(CloseReason::Replaced);
        }
        let (sender, reason) = watch::channel(None);
        device.visitors.push(Visitor { number, reason: sender });
        let (seen, is_news) = (device.view(id), is_news(device));
        state.last_visit = number;
        drop(state);
        if is_news {
            self.save_soon();
        }
        let state = Arc::clone(&self.core.inner.devices.state);
        Some(Visit { device: seen, number, reason, state })
    }

    /// Writes down when devices last came; nothing waits for it.
    fn save_soon(&self) {
        let devices = self.core.detached().devices();
        self.core.inner.background.spawn_on(
            async move {
                if let Err(error) = devices.save().await {
                    tracing::warn!(%error, "it is not written down when a device came");
                }
            },
            &self.core.inner.runtime,
        );
    }
}

impl Paired {
    /// Its last visit is written down.
    pub(super) fn saved(&mut self) {
        self.saved_at = self.seen_at;
    }
}
