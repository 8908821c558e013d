//! Whose size a terminal has. Among the viewers that show it in room of their own it is the one whose
//! person last put something into it; until one did, the one that showed it first.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rookery_model::{ErrorKind, Result, Size, TerminalId, ViewerId};

use super::{Fit, Viewer};
use crate::log::Shows;
use crate::rooms::Seats;
use crate::world::World;

/// Typing takes the size of a terminal once in this time, so that two who type do not tear at it.
const TAKE_INTERVAL: Duration = Duration::from_secs(1);

/// Who shows what in how much room, and whose size it has.
#[derive(Default)]
pub(crate) struct Sizes {
    claims: Mutex<Claims>,
    /// Held while sizes are changed, so that the last decision is the one that stays.
    settling: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Claims {
    terminals: HashMap<TerminalId, Claim>,
    /// The last number that was given to a claim.
    last: u64,
}

#[derive(Default)]
struct Claim {
    /// Since when viewers show it; no time for one that was put there and did not go there.
    shown: BTreeMap<ViewerId, Option<u64>>,
    /// When their persons last put something into it.
    used: BTreeMap<ViewerId, u64>,
    owner: Option<ViewerId>,
    /// The room that was last given to it, and whose that was. A size that it got otherwise stays until
    /// this is another.
    given: Option<(ViewerId, Size)>,
    taken_at: Option<Instant>,
}

impl Claim {
    /// Whose size it has by the rules.
    fn rightful(&self) -> Option<ViewerId> {
        let used = self.used.iter().max_by_key(|(_, at)| **at).map(|(id, _)| *id);
        let shown = self.shown.iter().filter_map(|(id, since)| Some((since.as_ref()?, *id)));
        used.or_else(|| shown.min().map(|(_, id)| id))
    }
}

impl Claims {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Notes who shows what by now; gives the sizes that terminals have to take, and whether another
    /// viewer has the size of one of them.
    fn settle(&mut self, rooms: &Rooms) -> (Vec<(TerminalId, Size)>, bool) {
        for (terminal, viewers) in rooms {
            for (viewer, room) in viewers {
                let number = self.last + 1;
                let claim = self.terminals.entry(*terminal).or_default();
                let since = claim.shown.entry(*viewer).or_default();
                if since.is_none() && !room.is_placed {
                    *since = Some(number);
                    self.last = number;
                }
            }
        }
        let (mut due, mut has_passed_on) = (Vec::new(), false);
        let none = BTreeMap::new();
        for (terminal, claim) in &mut self.terminals {
            let here = rooms.get(terminal).unwrap_or(&none);
            claim.shown.retain(|viewer, _| here.contains_key(viewer));
            claim.used.retain(|viewer, _| here.contains_key(viewer));
            let owner = claim.rightful();
            has_passed_on |= std::mem::replace(&mut claim.owner, owner) != owner;
            let given = claim.owner.and_then(|owner| Some((owner, here.get(&owner)?.size)));
            if let Some((_, size)) = given.filter(|_| given != claim.given) {
                due.push((*terminal, size));
            }
            if given.is_some() {
                claim.given = given;
            }
        }
        self.terminals.retain(|_, claim| !claim.shown.is_empty());
        (due, has_passed_on)
    }

    /// A person put something into a terminal, or asked for its size. True if that is now another's.
    fn take(
        &mut self,
        terminal: TerminalId,
        viewer: ViewerId,
        by_hand: bool,
        now: Instant,
    ) -> bool {
        let number = self.next();
        let Some(claim) = self.terminals.get_mut(&terminal) else { return false };
        if !claim.shown.contains_key(&viewer) {
            return false;
        }
        let is_new = claim.owner != Some(viewer);
        let is_soon = claim.taken_at.is_some_and(|last| now < last + TAKE_INTERVAL);
        if is_new && is_soon && !by_hand {
            return false;
        }
        claim.used.insert(viewer, number);
        if is_new {
            claim.taken_at = Some(now);
        }
        is_new
    }
}

/// A viewer's room for a terminal.
struct Room {
    size: Size,
    /// Whether the viewer was put at it.
    is_placed: bool,
}

/// Who has how much room for what.
type Rooms = BTreeMap<TerminalId, BTreeMap<ViewerId, Room>>;

impl Sizes {
    pub(super) fn forget(&self, viewer: ViewerId) {
        for claim in self.claims.lock().terminals.values_mut() {
            claim.shown.remove(&viewer);
            claim.used.remove(&viewer);
        }
    }
}

impl World {
    /// The room that viewers with room of their own have for what they show.
    fn rooms(&self) -> Rooms {
        let mut rooms = Rooms::new();
        for viewer in self.viewers.values().filter(|viewer| viewer.fit == Fit::Own) {
            for area in self.areas(viewer) {
                if viewer.within.is_some_and(|within| within.get() == area.terminal) {
                    continue;
                }
                let size = Size::new(area.rect.rows.max(1), area.rect.cols.max(1));
                if let Ok(size) = size.map(|size| with_pixels(size, viewer)) {
                    let terminal = TerminalId::new(area.terminal);
                    let room = Room { size, is_placed: viewer.is_placed };
                    rooms.entry(terminal).or_default().insert(viewer.id, room);
                }
            }
        }
        rooms
    }
}

/// The pixels of a part of a viewer's room, if it said how many it has.
fn with_pixels(size: Size, viewer: &Viewer) -> Size {
    let part = |cells: u16, pixels: u16, all: u16| {
        u16::try_from(u32::from(cells) * u32::from(pixels) / u32::from(all.max(1))).unwrap_or(0)
    };
    let room = viewer.room;
    size.with_pixels(
        part(size.cols(), room.pixel_width, room.cols()),
        part(size.rows(), room.pixel_height, room.rows()),
    )
}

impl Seats {
    /// Gives terminals the sizes that they have to have by now.
    pub async fn settle_sizes(&self) {
        let sizes = &self.core.inner.seats.sizes;
        let _settling = sizes.settling.lock().await;
        let (due, has_passed_on) = sizes.claims.lock().settle(&self.core.look().rooms());
        for (id, size) in due {
            let Ok(handle) = self.core.terminals().get(id) else { continue };
            if handle.size() == size {
                continue;
            }
            match handle.resize(size).await {
                // What has ended is looked at in the size that it had.
                Err(error) if error.kind() != ErrorKind::Closed => {
                    tracing::warn!(%error, terminal = %id, "a terminal did not take a viewer's size");
                }
                _ => {}
            }
        }
        if has_passed_on {
            // Whose size it has is shown, also where the size stays the same.
            self.core.inner.signals.raise(Shows::Seats);
        }
    }

    /// A person put something into a terminal: it takes the size of that viewer.
    pub fn note_input(&self, viewer: ViewerId, terminal: TerminalId) {
        let sizes = &self.core.inner.seats.sizes;
        if sizes.claims.lock().take(terminal, viewer, false, Instant::now()) {
            let seats = self.clone();
            self.core.inner.runtime.spawn(async move { seats.settle_sizes().await });
        }
    }

    /// A person asked for the size of a terminal.
    pub async fn take_size(&self, viewer: ViewerId, terminal: TerminalId) -> Result<()> {
        // Who follows asked for room of its own by that.
        let is_following = self.viewer(viewer)?.fit == Fit::Follow;
        if is_following {
            let room = self.viewer(viewer)?.room;
            self.arrange_viewer(viewer, room, Some(Fit::Own), None).await?;
        }
        self.settle_sizes().await;
        let sizes = &self.core.inner.seats.sizes;
        sizes.claims.lock().take(terminal, viewer, true, Instant::now());
        self.settle_sizes().await;
        Ok(())
    }

    /// Whose size a terminal has.
    pub fn size_owner(&self, terminal: TerminalId) -> Option<ViewerId> {
        self.core.inner.seats.sizes.claims.lock().terminals.get(&terminal)?.owner
    }

    /// Whether a viewer shows a terminal in room of its own, where its person chose to be or typed.
    pub(crate) fn is_owned(&self, terminal: TerminalId) -> bool {
        let world = self.core.look();
        let owner = self.size_owner(terminal);
        let mut own = world.viewers.values().filter(|viewer| {
            let is_there = !viewer.is_placed || owner == Some(viewer.id);
            viewer.fit == Fit::Own && viewer.within != Some(terminal) && is_there
        });
        own.any(|viewer| world.shown_by(viewer).contains(&terminal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(cols: u16) -> Size {
        Size::new(24, cols).unwrap()
    }

    fn id(number: u64) -> ViewerId {
        ViewerId::new(number)
    }

    fn rooms(viewers: &[(u64, u16)]) -> Rooms {
        let room = |cols| Room { size: size(cols), is_placed: false };
        let rooms = viewers.iter().map(|(viewer, cols)| (id(*viewer), room(*cols)));
        BTreeMap::from([(T, rooms.collect())])
    }

    /// The sizes to be taken.
    fn settled(claims: &mut Claims, viewers: &[(u64, u16)]) -> Vec<(TerminalId, Size)> {
        claims.settle(&rooms(viewers)).0
    }

    const T: TerminalId = TerminalId::new(3);

    #[test]
    fn the_first_to_show_it_has_it_until_another_types() {
        let (mut claims, now) = (Claims::default(), Instant::now());
        assert_eq!(settled(&mut claims, &[(1, 80)]), [(T, size(80))]);
        assert_eq!(settled(&mut claims, &[(1, 80), (2, 100)]), []);
        assert!(claims.take(T, id(2), false, now));
        assert_eq!(settled(&mut claims, &[(1, 80), (2, 100)]), [(T, size(100))]);
        assert!(!claims.take(T, id(1), false, now), "once a second");
        assert_eq!(settled(&mut claims, &[(1, 80), (2, 100)]), []);
        assert!(claims.take(T, id(1), false, now + TAKE_INTERVAL));
        assert_eq!(settled(&mut claims, &[(1, 80), (2, 100)]), [(T, size(80))]);
        assert!(claims.take(T, id(2), true, now + TAKE_INTERVAL), "asked for by hand");
    }

    #[test]
    fn a_viewer_that_was_put_there_has_it_once_it_types() {
        let placed = |is_placed| {
            let room = Room { size: size(80), is_placed };
            BTreeMap::from([(T, BTreeMap::from([(id(1), room)]))])
        };
        let mut claims = Claims::default();
        assert_eq!(claims.settle(&placed(true)).0, []);
        assert!(claims.take(T, id(1), false, Instant::now()));
        assert_eq!(claims.settle(&placed(true)).0, [(T, size(80))]);

        let mut claims = Claims::default();
        assert_eq!(claims.settle(&placed(true)).0, []);
        assert_eq!(claims.settle(&placed(false)).0, [(T, size(80))], "it went there");
    }

    #[test]
    fn it_passes_on_and_stays_when_none_is_left() {
        let (mut claims, now) = (Claims::default(), Instant::now());
        settled(&mut claims, &[(1, 80), (2, 100)]);
        claims.take(T, id(2), false, now);
        assert_eq!(settled(&mut claims, &[(1, 80), (2, 100)]), [(T, size(100))]);
        assert_eq!(settled(&mut claims, &[(1, 80)]), [(T, size(80))]);
        assert_eq!(settled(&mut claims, &[]), []);
        assert!(!claims.take(T, id(1), false, now), "it does not show it");
    }

    #[test]
    fn another_size_holds_until_the_room_is_another() {
        let mut claims = Claims::default();
        assert_eq!(settled(&mut claims, &[(1, 80)]), [(T, size(80))]);
        assert_eq!(settled(&mut claims, &[(1, 80)]), [], "whatever it was resized to meanwhile");
        assert_eq!(settled(&mut claims, &[(1, 90)]), [(T, size(90))]);
    }
}
