//! The desktop around us, where there is one: banners for notifications, clicks on them.

use rookery_core::{Core, News, Subscription, Topics};
use rookery_host::Banners;
use rookery_model::{Event, TerminalId};
use tokio::sync::mpsc;

/// Name under which the desktop shows our banners.
const APPLICATION: &str = "Rookery";

/// Shows a banner for every notification until the core stops. Quiet without a session bus.
pub(crate) fn show_banners(core: &Core) {
    let address = std::env::var("DBUS_SESSION_BUS_ADDRESS").ok().filter(|text| !text.is_empty());
    if address.is_none() {
        return;
    }
    let (banners, clicks) = Banners::start(address, APPLICATION);
    // Read before the task runs, so that nothing that happens from here on is missed.
    let events = core.log().subscribe(Topics::EVENTS, None);
    tokio::spawn(tell(core.clone(), events, banners));
    tokio::spawn(follow_clicks(core.clone(), clicks));
}

async fn tell(core: Core, mut events: Subscription, banners: Banners) {
    loop {
        let page = tokio::select! {
            page = events.next() => page,
            () = core.stopping() => return,
        };
        let Ok(page) = page else { return };
        for numbered in page.iter().filter_map(News::event) {
            match &numbered.event {
                Event::TerminalNotified { id, text, .. } => {
                    banners.show(id.get(), &text.title, &text.body);
                }
                Event::TerminalAttention { id, is_pending: false }
                | Event::TerminalExited { id, .. }
                | Event::TerminalClosed { id, .. } => banners.retire(id.get()),
                _ => {}
            }
        }
    }
}

/// A click on a banner shows its terminal, which also means that it was seen.
async fn follow_clicks(core: Core, mut clicks: mpsc::Receiver<u64>) {
    while let Some(tab) = clicks.recv().await {
        if let Err(error) = core.workspace().activate(TerminalId::new(tab)).await {
            tracing::debug!(%error, "a banner's terminal is gone");
        }
        core.seats().raise_window();
    }
}
