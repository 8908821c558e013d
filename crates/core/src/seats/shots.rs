//! Pictures of the window that the desk is. Only that window knows all that it shows (a page, a menu, what
//! is half typed), so it is asked; what is drawn here without it is terminals and what lies around them.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_model::ViewerId;
use rookery_view::scene::WindowSize;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::viewers::Page;
use crate::log::Shows;
use crate::rooms::Seats;

/// How long a window may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long it may take to have another size.
const RESIZE: Duration = Duration::from_secs(1);
/// Pictures that may be on their way.
const MOST: usize = 16;

/// A picture that a window is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureAsk {
    /// Counted from 1.
    pub ask: u64,
    /// Pixels of a point: 1 or 2.
    pub scale: u32,
}

/// What a window shows, drawn by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowPicture {
    /// The encoded image.
    pub png: Vec<u8>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// Pictures that are on their way.
#[derive(Default)]
pub(super) struct PictureRequests {
    asked: Mutex<Asked>,
    /// Raised when one is asked for.
    news: watch::Sender<u64>,
}

#[derive(Default)]
struct Asked {
    last: u64,
    waiting: BTreeMap<u64, Shot>,
    /// Sizes that windows shall have and were not told of yet.
    sizes: BTreeMap<ViewerId, WindowSize>,
}

struct Shot {
    viewer: ViewerId,
    scale: u32,
    is_sent: bool,
    reply: oneshot::Sender<Result<WindowPicture, String>>,
}

impl PictureRequests {
    /// Nothing is awaited from a viewer any more.
    pub(super) fn forget(&self, viewer: ViewerId) {
        let mut asked = self.asked.lock();
        asked.waiting.retain(|_, shot| shot.viewer != viewer);
        asked.sizes.remove(&viewer);
    }
}

/// Takes a question back that is not waited for any more.
struct Withdraws<'a>(&'a PictureRequests, u64);

impl Drop for Withdraws<'_> {
    fn drop(&mut self) {
        self.0.asked.lock().waiting.remove(&self.1);
    }
}

impl Seats {
    /// What the window shows that the desk is, drawn by itself. None if the desk is none that can be asked,
    /// or it does not answer.
    pub async fn window_picture(&self, scale: u32) -> Option<WindowPicture> {
        let viewer = self.desk_window().filter(|viewer| viewer.draws)?;
        // Were it to look at terminals for this while it is hidden, they might take its size.
        if !viewer.is_visible && viewer.page == Page::Workspace {
            return None;
        }
        let shots = &self.core.inner.seats.shots;
        let (reply, answer) = oneshot::channel();
        let ask = {
            let mut asked = shots.asked.lock();
            if asked.waiting.len() >= MOST {
                return None;
            }
            asked.last += 1;
            let ask = asked.last;
            asked.waiting.insert(ask, Shot { viewer: viewer.id, scale, is_sent: false, reply });
            ask
        };
        let _withdraws = Withdraws(shots, ask);
        shots.news.send_modify(|count| *count += 1);
        match timeout(PATIENCE, answer).await {
            Ok(Ok(Ok(picture))) => Some(picture),
            Ok(Ok(Err(why))) => {
                tracing::warn!(why, "the window gave no picture of itself");
                None
            }
            Ok(Err(_)) => None,
            Err(_) => {
                tracing::warn!("the window gave no picture of itself in time");
                None
            }
        }
    }

    /// Asks a window to be this large. How large it is then, it says itself; one that does not within a moment
    /// stays as it is.
    pub(super) async fn ask_for_size(&self, viewer: ViewerId, size: WindowSize) {
        let mut changes = self.core.log().changes(&[Shows::Seats]);
        let shots = &self.core.inner.seats.shots;
        shots.asked.lock().sizes.insert(viewer, size);
        shots.news.send_modify(|count| *count += 1);
        let follows = async {
            while self.viewer(viewer).is_ok_and(|it| it.window != Some(size)) {
                if changes.next().await.is_err() {
                    return;
                }
            }
        };
        if timeout(RESIZE, follows).await.is_err() {
            tracing::debug!("the window has not the size that it was asked to have");
        }
    }

    /// The size that a window is asked to have, once.
    pub fn next_size_ask(&self, viewer: ViewerId) -> Option<WindowSize> {
        self.core.inner.seats.shots.asked.lock().sizes.remove(&viewer)
    }

    /// Changes whenever a window is asked for a picture, or to have another size.
    pub fn picture_news(&self) -> watch::Receiver<u64> {
        self.core.inner.seats.shots.news.subscribe()
    }

    /// Whether a viewer is asked for a picture, or to have another size, and was not told of it.
    pub fn has_picture_ask(&self, viewer: ViewerId) -> bool {
        let asked = self.core.inner.seats.shots.asked.lock();
        asked.sizes.contains_key(&viewer)
            || asked.waiting.values().any(|shot| shot.viewer == viewer && !shot.is_sent)
    }

    /// The next picture that a viewer is asked for, once.
    pub fn next_picture_ask(&self, viewer: ViewerId) -> Option<PictureAsk> {
        let mut asked = self.core.inner.seats.shots.asked.lock();
        let mut new = asked.waiting.iter_mut().filter(|(_, it)| it.viewer == viewer && !it.is_sent);
        let (ask, shot) = new.next()?;
        shot.is_sent = true;
        Some(PictureAsk { ask: *ask, scale: shot.scale })
    }

    /// A viewer answers. False if it was not asked for this, or not any more.
    pub fn give_picture(
        &self,
        viewer: ViewerId,
        ask: u64,
        picture: Result<WindowPicture, String>,
    ) -> bool {
        let mut asked = self.core.inner.seats.shots.asked.lock();
        let is_asked = asked.waiting.get(&ask).is_some_and(|shot| shot.viewer == viewer);
        let shot = if is_asked { asked.waiting.remove(&ask) } else { None };
        // Whoever asked may be gone.
        shot.is_some_and(|shot| shot.reply.send(picture).is_ok())
    }
}
