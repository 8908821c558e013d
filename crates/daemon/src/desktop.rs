//! The desktop around us, where there is one: banners for notifications, clicks on them.
//!
//! A window that has the keyboard says the same at its own edge, so then there is no banner. A bell is
//! only worth one while a window is open somewhere: without, no user chose to look.

use rookery_core::{Core, Face, News, Page, SessionHome, Subscription, Topics};
use rookery_host::Banners;
use rookery_model::{Category, Event, QueueItem, TerminalId};
use tokio::sync::mpsc;

/// Name under which the desktop shows our banners.
const APPLICATION: &str = "Rookery";
/// Banners of terminals have the terminal's number; those of the queue an item's, above all of these.
const QUEUE: u64 = 1 << 62;

/// Shows a banner for every notification until the core stops. Quiet without a session bus.
pub(crate) fn show_banners(core: &Core) {
    let address = std::env::var("DBUS_SESSION_BUS_ADDRESS").ok().filter(|text| !text.is_empty());
    if address.is_none() {
        return;
    }
    let (banners, clicks) = Banners::start(address, APPLICATION);
    // Read before the task runs, so that nothing that happens from here on is missed.
    let events = core.log().subscribe(Topics::EVENTS, None);
    tokio::spawn(forward(core.clone(), events, banners));
    tokio::spawn(follow_clicks(core.clone(), clicks));
}

async fn forward(core: Core, mut events: Subscription, banners: Banners) {
    // What of the queue has a banner, by the order in which it was filed.
    let mut notified: Vec<u64> = Vec::new();
    loop {
        let page = tokio::select! {
            page = events.next() => page,
            () = core.stopping() => return,
        };
        let Ok(page) = page else { return };
        for numbered in page.iter().filter_map(News::event) {
            match &numbered.event {
                Event::TerminalNotified { id, text, .. } if !windows(&core).has_keyboard => {
                    banners.show(id.get(), &text.title, &text.body);
                }
                Event::TerminalBell { id } => ring(&core, &banners, *id),
                Event::QueueItemFiled(item)
                    if is_of_thread(&core, item) && !windows(&core).has_keyboard =>
                {
                    notified.push(item.order);
                    let body = item.subtitle.as_deref().unwrap_or_default();
                    banners.show(QUEUE + item.order, &item.title, body);
                }
                Event::QueueItemResolved { .. } => {
                    let open = core.queue().list();
                    let is_open = |order: &u64| open.iter().any(|item| item.order == *order);
                    notified.retain(|order| {
                        let stays = is_open(order);
                        if !stays {
                            banners.retire(QUEUE + order);
                        }
                        stays
                    });
                }
                Event::TerminalAttention { id, is_pending: false }
                | Event::TerminalExited { id, .. }
                | Event::TerminalClosed { id, .. } => banners.retire(id.get()),
                _ => {}
            }
        }
    }
}

/// What is known of the windows that are open.
struct Windows {
    is_any: bool,
    has_keyboard: bool,
}

fn windows(core: &Core) -> Windows {
    let (viewers, _) = core.seats().viewers();
    let windows = || viewers.iter().filter(|viewer| viewer.face == Face::Window);
    Windows {
        is_any: windows().next().is_some(),
        has_keyboard: windows().any(|viewer| viewer.has_keyboard),
    }
}

/// A program rang the bell in a terminal. A notification that says more is not replaced by it.
fn ring(core: &Core, banners: &Banners, id: TerminalId) {
    let open = windows(core);
    let Ok(terminal) = core.workspace().tab(id) else { return };
    if open.is_any && !open.has_keyboard && terminal.activity.pending.is_none() {
        banners.show(id.get(), &terminal.title(), "bell");
    }
}

/// Whether an item waits for a person and is about a conversation. What is about a terminal comes as a
/// notification of that.
fn is_of_thread(core: &Core, item: &QueueItem) -> bool {
    let waits = matches!(item.category, Category::ApprovalNeeded | Category::ReviewRequested);
    let session = item.session.and_then(|id| core.sessions().get(id));
    waits && matches!(session.map(|it| it.home), Some(SessionHome::Thread(_)))
}

/// A click on a banner shows what it is about, which also means that it was seen.
async fn follow_clicks(core: Core, mut clicks: mpsc::Receiver<u64>) {
    while let Some(clicked) = clicks.recv().await {
        let shown = match clicked.checked_sub(QUEUE) {
            Some(order) => show_item(&core, order).await,
            None => core.workspace().activate(TerminalId::new(clicked)).await.map(drop),
        };
        if let Err(error) = shown {
            tracing::debug!(%error, "what a banner is about is gone");
        }
        core.seats().raise_window();
    }
}

/// Shows an item of the queue in the newest window.
async fn show_item(core: &Core, order: u64) -> rookery_model::Result<()> {
    let item = core.queue().list().into_iter().find(|item| item.order == order);
    let (viewers, _) = core.seats().viewers();
    let newest = viewers.iter().find(|viewer| core.seats().is_newest_window(viewer.id));
    match (newest, item) {
        (Some(viewer), Some(item)) => {
            core.seats().go(viewer.id, Page::Inbox(Some(item.id)), None).await
        }
        _ => Ok(()),
    }
}
