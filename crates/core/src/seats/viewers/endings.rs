//! Viewers that are to go: each hears of it at once, and why.

use rookery_model::ViewerId;
use tokio::sync::watch;

use crate::rooms::Seats;

/// Why a viewer is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The daemon stops.
    Stopping,
    /// Another daemon takes its place.
    Restarting,
    /// Its device may not look any more.
    Revoked,
    /// A newer viewer of the same device has taken its place.
    Replaced,
}

/// Where a viewer hears that it is to go.
pub(crate) type Ending = watch::Sender<Option<EndReason>>;

impl Seats {
    /// Waits until a viewer is to go. One that is gone is not waited for.
    pub async fn viewer_end(&self, id: ViewerId) -> EndReason {
        let ending = {
            let endings = self.core.inner.seats.endings.lock();
            endings.get(&id).map(Ending::subscribe)
        };
        let ended = async {
            let Some(mut ending) = ending else { return EndReason::Stopping };
            let said = ending.wait_for(Option::is_some).await.ok().and_then(|said| *said);
            said.unwrap_or(EndReason::Stopping)
        };
        tokio::select! {
            why = ended => why,
            () = self.core.stopping() => match self.core.is_restarting() {
                true => EndReason::Restarting,
                false => EndReason::Stopping,
            },
        }
    }

    /// Asks a viewer to go. False if there is none.
    pub fn dismiss_viewer(&self, id: ViewerId, why: EndReason) -> bool {
        let endings = self.core.inner.seats.endings.lock();
        endings.get(&id).is_some_and(|ending| ending.send_replace(Some(why)).is_none())
    }

    /// A device has at most this number of viewers: the oldest makes room.
    pub(super) fn make_room_on(&self, device: &str, most: usize) {
        let viewers = self.viewers().0;
        let mut ids: Vec<ViewerId> = viewers
            .iter()
            .filter(|it| it.device.as_deref() == Some(device))
            .map(|it| it.id)
            .collect();
        ids.sort();
        let surplus = ids.len().saturating_sub(most);
        for id in ids.into_iter().take(surplus) {
            self.dismiss_viewer(id, EndReason::Replaced);
        }
    }
}
