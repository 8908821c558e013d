//! Banners on the desktop: one at most for each tab, and news of those that were clicked.
//!
//! Callers only leave a request; a task of its own talks to the session bus. Where there is no bus,
//! or no notification server on it, requests are dropped silently.

mod bus;
mod mailbox;
mod text;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use mailbox::{Mailbox, Request};

/// How many clicks may wait to be read.
const CLICKS: usize = 64;

/// How long one call over the bus may take.
const CALL_LIMIT: Duration = Duration::from_secs(5);

/// The banners of one application; clones share them. The task ends with the last of them.
#[derive(Clone)]
pub struct Banners {
    shared: Option<Arc<CloseOnDrop>>,
}

/// Closes the mailbox when the last sender is dropped.
struct CloseOnDrop {
    mailbox: Arc<Mailbox>,
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.mailbox.close();
    }
}

impl Banners {
    /// Starts the task if there is a session bus, as `DBUS_SESSION_BUS_ADDRESS` names it.
    /// It connects when the first banner is to be shown.
    ///
    /// The second part tells the tab of every banner that was clicked; without a bus it ends at once.
    /// Must be called inside of a tokio runtime with time and I/O.
    pub fn start(
        bus_address: Option<String>,
        application: impl Into<String>,
    ) -> (Self, mpsc::Receiver<u64>) {
        Self::start_within(bus_address, application.into(), CALL_LIMIT)
    }

    fn start_within(
        bus_address: Option<String>,
        application: String,
        call_limit: Duration,
    ) -> (Self, mpsc::Receiver<u64>) {
        let (clicks, clicked) = mpsc::channel(CLICKS);
        let Some(address) = bus_address.filter(|address| !address.is_empty()) else {
            tracing::debug!("there is no session bus, so no banners are shown");
            return (Self { shared: None }, clicked);
        };
        let mailbox = Arc::new(Mailbox::default());
        let notifier = bus::Notifier::new(address, application, clicks, call_limit);
        tokio::spawn(notifier.work(Arc::clone(&mailbox)));
        (Self { shared: Some(Arc::new(CloseOnDrop { mailbox })) }, clicked)
    }

    /// Shows a banner for a tab, in place of the one that it may have.
    pub fn show(&self, tab: u64, title: &str, body: &str) {
        self.post(tab, || Request::Show { title: text::title(title), body: text::body(body) });
    }

    /// Takes the banner of a tab away, if it has one.
    pub fn retire(&self, tab: u64) {
        self.post(tab, || Request::Retire);
    }

    fn post(&self, tab: u64, request: impl FnOnce() -> Request) {
        if let Some(shared) = &self.shared
            && !shared.mailbox.put(tab, request())
        {
            tracing::debug!(tab, "too many banners wait to be shown");
        }
    }
}

#[cfg(test)]
mod tests;
