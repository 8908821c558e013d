//! Devices: browsers and programs elsewhere that were paired with this world, what each may do, and which of them
//! are connected.
//!
//! A device is paired once, by a code that the person carries to it, and from then on shows a secret of its own.
//! Of secrets only a digest is kept, and of codes nothing reaches the disk.

mod pairing;
mod records;
mod secret;
mod visit;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rookery_model::{Error, Result, Timestamp};
use rookery_store::{Change, ValueKey};

use crate::clock;
use crate::log::{Shows, Signalled, SignalledGuard, Signals};
use crate::rooms::Devices;
use crate::seats::ViewerRights;

pub use pairing::{Pairing, Reach, Unpaired};
pub use visit::{CloseReason, Visit};

use pairing::Open;
use secret::Digest;
use visit::Visitor;

/// Devices that may be paired.
pub const MAX_DEVICES: usize = 64;
/// Characters that a device's name may have.
const NAME_CHARS: usize = 64;
/// Ids of revoked devices that are remembered.
const MAX_REVOKED: usize = 64;
/// How old the time of the last visit may be before it is written down anew.
const SEEN_OFTEN: Duration = Duration::from_secs(60);

/// A device as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its id, which is no secret.
    pub id: String,
    /// What the person calls it.
    pub name: String,
    /// What it may do.
    pub rights: ViewerRights,
    /// When it was paired.
    pub created_at: Timestamp,
    /// When it last came.
    pub seen_at: Timestamp,
    /// How many connections it has.
    pub connected: usize,
}

/// A credential for a device that was just paired; shown once.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential(String);

impl Credential {
    /// The text to be shown.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credential(..)")
    }
}

/// A device as it is kept.
struct Paired {
    name: String,
    rights: ViewerRights,
    digest: Digest,
    created_at: Timestamp,
    seen_at: Timestamp,
    /// The time of the last visit that was written down.
    saved_at: Timestamp,
    visitors: Vec<Visitor>,
}

impl Paired {
    fn view(&self, id: &str) -> Device {
        Device {
            id: id.to_owned(),
            name: self.name.clone(),
            rights: self.rights,
            created_at: self.created_at,
            seen_at: self.seen_at,
            connected: self.visitors.len(),
        }
    }
}

/// All devices, and codes that were not used yet.
#[derive(Default)]
struct State {
    devices: BTreeMap<String, Paired>,
    open: Vec<Open>,
    /// Ids of devices that this daemon revoked, the newest last.
    revoked: VecDeque<String>,
    last_visit: u64,
}

impl State {
    fn remember_revoked(&mut self, ids: impl IntoIterator<Item = String>) {
        self.revoked.extend(ids);
        let surplus = self.revoked.len().saturating_sub(MAX_REVOKED);
        self.revoked.drain(..surplus);
    }
}

/// Devices and pairings.
pub(crate) struct Room {
    state: Arc<Signalled<State>>,
}

impl Room {
    /// With the devices that were kept.
    pub(crate) fn new(kept: Option<String>, signals: &Signals) -> Room {
        let devices = kept.map(|text| records::read(&text)).unwrap_or_default();
        let state = State { devices, ..State::default() };
        Room { state: Arc::new(Signalled::new(state, Shows::Devices, signals)) }
    }
}

impl Devices {
    fn state(&self) -> SignalledGuard<'_, State> {
        self.core.inner.devices.state.lock()
    }

    /// All devices, the oldest first.
    pub fn list(&self) -> Vec<Device> {
        let state = self.state();
        let mut all: Vec<Device> = state.devices.iter().map(|(id, it)| it.view(id)).collect();
        all.sort_by_key(|device| device.created_at);
        all
    }

    /// The device that a credential belongs to.
    pub fn find(&self, credential: &str) -> Option<Device> {
        let (id, secret) = credential.split_once('.')?;
        let state = self.state();
        let device = state.devices.get(id)?;
        device.digest.is_of(secret).then(|| device.view(id))
    }

    /// Whether a credential is that of a device which this daemon revoked.
    pub fn was_revoked(&self, credential: &str) -> bool {
        let id = credential.split_once('.').map(|(id, _)| id);
        self.state().revoked.iter().any(|revoked| Some(revoked.as_str()) == id)
    }

    /// Renames a device.
    ///
    /// # Errors
    /// If there is none with that id, or the name is empty or too long.
    pub async fn rename(&self, id: &str, name: &str) -> Result<Device> {
        let name = checked_name(name)?;
        let device = {
            let mut state = self.state();
            let device = state.devices.get_mut(id).ok_or_else(|| unknown(id))?;
            device.name = name;
            device.view(id)
        };
        self.save().await?;
        Ok(device)
    }

    /// Revokes one device: its credential is worth nothing from now on, and its connections are informed.
    ///
    /// # Errors
    /// If there is none with that id.
    pub async fn revoke(&self, id: &str) -> Result<()> {
        let revoked = {
            let mut state = self.state();
            let revoked = state.devices.remove(id).ok_or_else(|| unknown(id))?;
            state.remember_revoked([id.to_owned()]);
            revoked
        };
        close(&revoked);
        self.save().await
    }

    /// Revokes all devices, and voids codes that were not used yet. Returns how many devices there were.
    ///
    /// # Errors
    /// If that cannot be written down; they are revoked for as long as the daemon runs.
    pub async fn revoke_all(&self) -> Result<usize> {
        let revoked = {
            let mut state = self.state();
            state.open.clear();
            let revoked = std::mem::take(&mut state.devices);
            state.remember_revoked(revoked.keys().cloned());
            revoked
        };
        revoked.values().for_each(close);
        self.save().await?;
        Ok(revoked.len())
    }

    /// Stored options with which the web server was last started; none if it is off.
    pub async fn web_server_setting(&self) -> Option<String> {
        let store = self.core.inner.store.clone();
        let read = move || store.kept(&ValueKey::Web).ok().flatten();
        crate::core::blocking(read).await.ok().flatten()
    }

    /// Keeps that the server for devices is on, or off.
    ///
    /// # Errors
    /// If it cannot be written down.
    pub async fn set_web_server_setting(&self, value: Option<String>) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                tx.save(Change::KeptSet { what: ValueKey::Web, value });
                Ok(())
            })
            .await
    }

    /// Writes down which devices there are.
    async fn save(&self) -> Result<()> {
        let state = &self.core.inner.devices.state;
        self.core
            .transact_durably(|tx| {
                // Read here, so that what is written last is what is true last.
                let value = records::write(&mut state.lock_quietly().devices);
                tx.save(Change::KeptSet { what: ValueKey::Devices, value });
                Ok(())
            })
            .await
    }
}

fn close(device: &Paired) {
    device.visitors.iter().for_each(|visitor| visitor.close(CloseReason::Revoked));
}

fn unknown(id: &str) -> Error {
    let shown: String = id.chars().take(NAME_CHARS).collect();
    Error::not_found(format!("no device has the id {shown:?}"))
}

/// A name on one line, in which everything is seen.
fn checked_name(name: &str) -> Result<String> {
    let spaced = name.chars().map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c });
    let name: String = spaced.filter(|c| !rookery_model::is_unseen(*c)).collect();
    let name = name.trim();
    match name.chars().count() {
        0 => Err(Error::invalid("name", "name must not be empty")),
        1..=NAME_CHARS => Ok(name.to_owned()),
        _ => {
            let message = format!("name must have at most {NAME_CHARS} characters");
            Err(Error::invalid("name", message))
        }
    }
}

/// Whether a visit is worth writing down.
fn is_news(device: &Paired) -> bool {
    let passed = device.seen_at.as_micros().saturating_sub(device.saved_at.as_micros());
    u128::try_from(passed).is_ok_and(|passed| passed >= SEEN_OFTEN.as_micros())
}

/// Wall time now.
fn now() -> Timestamp {
    clock::wall()
}
