//! Codes by which devices are paired: each works once, for a while, and guessing voids it.

use std::time::Duration;

use rookery_model::{Error, Result, Timestamp};
use tokio::time::Instant;

use super::secret::{self, Digest};
use super::{Credential, Device, MAX_DEVICES, Paired, checked_name, now};
use crate::clock;
use crate::rooms::Devices;
use crate::seats::ViewerRights;

/// How long a code may be used.
const LIFE: Duration = Duration::from_secs(10 * 60);
/// Codes at once; the oldest makes room.
const MAX_OPEN: usize = 8;
/// Wrong codes that were typed, after which those that were open are void.
const MAX_WRONG: u32 = 5;

/// What a device is paired with. Shown once, to the person.
#[derive(Clone)]
pub struct Pairing {
    /// The code for a link.
    pub code: String,
    /// The code to be typed.
    pub short: String,
    /// Until when they may be used.
    pub expires_at: Timestamp,
    /// What the device will be allowed.
    pub rights: ViewerRights,
}

impl std::fmt::Debug for Pairing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pairing").field("rights", &self.rights).finish_non_exhaustive()
    }
}

/// Why a device was not paired.
#[derive(Debug, PartialEq, Eq)]
pub enum Unpaired {
    /// The code is wrong, was used, or is void.
    Wrong,
    /// Something else is.
    Failed(Error),
}

impl From<Error> for Unpaired {
    fn from(error: Error) -> Self {
        Unpaired::Failed(error)
    }
}

/// A code that was not used yet.
pub(super) struct Open {
    code: Digest,
    short: Digest,
    rights: ViewerRights,
    name: Option<String>,
    until: Instant,
    wrong: u32,
}

impl Devices {
    /// Opens a pairing: the next device that shows one of its codes gets these rights, and this name if it has none.
    ///
    /// # Errors
    /// If the caller is an agent, or the name is no name.
    pub fn pair(&self, rights: ViewerRights, name: Option<&str>) -> Result<Pairing> {
        self.core.refuse_agents()?;
        let name = name.map(checked_name).transpose()?;
        let (code, short) = (secret::secret()?, secret::short()?);
        let typed = secret::typed(&short).unwrap_or_default();
        let mut state = self.state();
        forget_old(&mut state.open);
        if state.open.len() >= MAX_OPEN {
            state.open.remove(0);
        }
        let until = Instant::now() + LIFE;
        let (long, typed) = (Digest::of(&code), Digest::of(&typed));
        state.open.push(Open { code: long, short: typed, rights, name, until, wrong: 0 });
        Ok(Pairing { code, short, expires_at: clock::after(LIFE), rights })
    }

    /// Pairs a device that shows a code. The code is used up.
    ///
    /// # Errors
    /// If the code is not right, or there are too many devices.
    pub async fn redeem(
        &self,
        code: &str,
        name: &str,
    ) -> std::result::Result<(Device, Credential), Unpaired> {
        let given = match name.trim().is_empty() {
            true => None,
            false => Some(checked_name(name)?),
        };
        let (id, secret) = (secret::id()?, secret::secret()?);
        let device = {
            let mut state = self.state();
            forget_old(&mut state.open);
            let at = find(&mut state.open, code).ok_or(Unpaired::Wrong)?;
            if state.devices.len() >= MAX_DEVICES {
                let message = format!("there are {MAX_DEVICES} devices already; revoke one");
                return Err(Error::busy(message).into());
            }
            let open = state.open.remove(at);
            let at = now();
            let paired = Paired {
                name: given.or(open.name).unwrap_or_else(|| "browser".to_owned()),
                rights: open.rights,
                digest: Digest::of(&secret),
                created_at: at,
                seen_at: at,
                saved_at: at,
                visitors: Vec::new(),
            };
            let device = paired.view(&id);
            state.devices.insert(id.clone(), paired);
            device
        };
        if let Err(error) = self.save().await {
            // What is not written down would be gone with the daemon, and was promised to no one yet.
            self.state().devices.remove(&id);
            return Err(error.into());
        }
        Ok((device, Credential(format!("{id}.{secret}"))))
    }
}

fn forget_old(open: &mut Vec<Open>) {
    let now = Instant::now();
    open.retain(|open| now < open.until);
}

/// The pairing that a code belongs to. A wrong one that was typed counts against all.
fn find(open: &mut Vec<Open>, code: &str) -> Option<usize> {
    let Some(typed) = secret::typed(code) else {
        return open.iter().position(|open| open.code.is_of(code));
    };
    let found = open.iter().position(|open| open.short.is_of(&typed));
    if found.is_none() {
        open.iter_mut().for_each(|open| open.wrong += 1);
        open.retain(|open| open.wrong < MAX_WRONG);
    }
    found
}
