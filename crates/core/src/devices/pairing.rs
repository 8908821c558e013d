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

/// Where a code may be used, and where a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// At this machine, by this user.
    Here,
    Anywhere,
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
    /// The same by the clock on the wall: the other one stands still while the machine sleeps.
    ends_at: Timestamp,
    reach: Reach,
    wrong: u32,
}

impl Devices {
    /// Opens a pairing: the next device within reach that shows one of its codes gets these rights, and this name
    /// if it has none.
    ///
    /// # Errors
    /// If the caller is an agent, or the name is no name.
    pub fn pair(&self, rights: ViewerRights, name: Option<&str>, reach: Reach) -> Result<Pairing> {
        self.core.refuse_agents()?;
        let name = name.map(checked_name).transpose()?;
        let (code, short) = (secret::secret()?, secret::short()?);
        let typed = secret::typed(&short).unwrap_or_default();
        let mut state = self.state();
        forget_old(&mut state.open, Instant::now(), now());
        if state.open.len() >= MAX_OPEN {
            state.open.remove(0);
        }
        let (until, ends_at) = (Instant::now() + LIFE, clock::after(LIFE));
        let (long, typed) = (Digest::of(&code), Digest::of(&typed));
        let open = Open { code: long, short: typed, rights, name, until, ends_at, reach, wrong: 0 };
        state.open.push(open);
        Ok(Pairing { code, short, expires_at: ends_at, rights })
    }

    /// Pairs a device that shows a code, and is there. The code is used up.
    ///
    /// # Errors
    /// If the code is not right, or there are too many devices.
    pub async fn redeem(
        &self,
        code: &str,
        name: &str,
        place: Reach,
    ) -> std::result::Result<(Device, Credential), Unpaired> {
        let given = match name.trim().is_empty() {
            true => None,
            false => Some(checked_name(name)?),
        };
        let (id, secret) = (secret::id()?, secret::secret()?);
        let device = {
            let mut state = self.state();
            forget_old(&mut state.open, Instant::now(), now());
            let at = find(&mut state.open, code, place).ok_or(Unpaired::Wrong)?;
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

fn forget_old(open: &mut Vec<Open>, now: Instant, wall: Timestamp) {
    open.retain(|open| now < open.until && wall < open.ends_at);
}

/// The pairing that a code belongs to. A wrong one that was typed counts against all, also if no code is spelled
/// like it: a letter that looks like another, or one too few. Those of links are not typed.
fn find(open: &mut Vec<Open>, code: &str, place: Reach) -> Option<usize> {
    let reaches = |open: &Open| open.reach == Reach::Anywhere || place == Reach::Here;
    if secret::is_long(code) {
        return open.iter().position(|open| open.code.is_of(code) && reaches(open));
    }
    let is_it = |open: &Open, typed: &str| open.short.is_of(typed) && reaches(open);
    let typed = secret::typed(code);
    let found = typed.and_then(|typed| open.iter().position(|open| is_it(open, &typed)));
    if found.is_none() {
        open.iter_mut().for_each(|open| open.wrong += 1);
        open.retain(|open| open.wrong < MAX_WRONG);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_ends_by_either_clock() {
        let (now, wall) = (Instant::now(), now());
        let (digest, later) = (Digest::of("x"), Timestamp::from_micros(wall.as_micros() + 5));
        let open = || Open {
            code: digest,
            short: digest,
            rights: ViewerRights::Look,
            name: None,
            until: now + LIFE,
            ends_at: later,
            reach: Reach::Anywhere,
            wrong: 0,
        };
        let left = |now: Instant, wall: Timestamp| {
            let mut all = vec![open()];
            forget_old(&mut all, now, wall);
            all.len()
        };
        assert_eq!(left(now, wall), 1);
        assert_eq!(left(now + LIFE, wall), 0);
        // As after a sleep of the machine, in which only this clock goes on.
        assert_eq!(left(now, later), 0);
    }
}
