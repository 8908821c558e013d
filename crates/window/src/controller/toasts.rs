//! Messages at the edge: what a window says that has the keyboard, where others get a banner of the
//! desktop. Each stays for a while from when it was on the screen first; until then it waits for room.

use std::time::{Duration, Instant};

use rookery_view::link::{self, Notice, Page};
use rookery_view::scene::Toast;

use super::Controller;

/// How long a message stays at the edge.
const TOAST: Duration = Duration::from_secs(6);
/// Messages at the edge that are kept.
const MOST_TOASTS: usize = 4;

/// A notice that is shown at the edge.
pub(super) struct ShownToast {
    id: u64,
    toast: Toast,
    /// What it is about; a click goes there.
    page: Option<Page>,
    /// Until when it stays; none while it was not on the screen yet.
    until: Option<Instant>,
}

impl Controller {
    /// A focused window says it at its edge; banners of the desktop are the daemon's.
    pub(super) fn notice(&mut self, notice: &Notice) {
        self.driver.is_dirty = true;
        let notice = match notice {
            Notice::New(notice) => notice,
            Notice::Gone { gone } => {
                self.toasts.retain(|sent| sent.id != *gone);
                return self.show_toasts();
            }
        };
        let line = rookery_face::words::line;
        if !self.own.has_focus {
            return;
        }
        let mood = match notice.urgency {
            link::Urgency::High => rookery_view::scene::Mood::Waiting,
            _ => rookery_view::scene::Mood::Working,
        };
        let toast = Toast { title: line(&notice.title), body: line(&notice.body), mood };
        let page = notice.page.clone();
        self.toasts.push(ShownToast { id: notice.id, toast, page, until: None });
        let excess = self.toasts.len().saturating_sub(MOST_TOASTS);
        self.toasts.drain(..excess);
        self.show_toasts();
    }

    fn show_toasts(&mut self) {
        self.own.toasts = self.toasts.iter().map(|sent| sent.toast.clone()).collect();
        self.driver.is_dirty = true;
    }

    /// A message at the edge was clicked: it is read, and what it is about is shown.
    pub(super) fn follow_toast(&mut self, index: usize) {
        // Those that the daemon has for every user come first.
        let others = self.driver.face.mirror().scene().toasts.iter().flatten().count();
        let own = index.checked_sub(others).filter(|own| *own < self.toasts.len());
        let Some(sent) = own.map(|own| self.toasts.remove(own)) else { return };
        self.show_toasts();
        if let Some(page) = sent.page {
            self.driver.app.go(page);
        }
    }

    /// When the first of them ends.
    pub(super) fn toasts_until(&self) -> Option<Instant> {
        self.toasts.iter().filter_map(|sent| sent.until).min()
    }

    /// They are on the screen: the time of those that were not before begins.
    pub(super) fn time_toasts(&mut self) {
        let until = Instant::now() + TOAST;
        for sent in &mut self.toasts {
            sent.until.get_or_insert(until);
        }
    }

    /// Those go whose time is over.
    pub(super) fn end_toasts(&mut self) {
        let now = Instant::now();
        self.toasts.retain(|sent| sent.until.is_none_or(|until| until > now));
        self.show_toasts();
    }
}
