//! Files that are dropped on the window under Wayland, where `winit` takes none: a data device of ours on its
//! connection. What comes for it is read along with what comes for `winit`, and looked at before that waits.

use std::io::{PipeReader, Read as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc::WeakSender;
use wayland_client::backend::Backend;
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_data_device::{self, WlDataDevice};
use wayland_client::protocol::wl_data_device_manager::{DndAction, WlDataDeviceManager};
use wayland_client::protocol::wl_data_offer::{self, WlDataOffer};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::{
    Connection, Dispatch, EventQueue, Proxy as _, QueueHandle, delegate_noop, event_created_child,
};
use winit::raw_window_handle::{
    HasDisplayHandle as _, HasWindowHandle as _, RawDisplayHandle, RawWindowHandle,
};
use winit::window::Window;

use crate::Event;

/// What files are offered as.
const FILES: &str = "text/uri-list";
/// How long a list may be, and how long it may take.
const MOST: u64 = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(5);

/// What is dropped on one window. It stands on the connection of the window's loop, and is to be gone before that.
pub(crate) struct Drops {
    queue: EventQueue<Dragged>,
    device: WlDataDevice,
    dragged: Dragged,
}

/// What is being dragged.
struct Dragged {
    /// The surface of the window.
    surface: usize,
    /// What was offered last, and whether it is files.
    fresh: Option<(WlDataOffer, bool)>,
    /// What is over the window, and whether it is taken.
    over: Option<(WlDataOffer, bool)>,
    events: WeakSender<Event>,
}

impl Drops {
    /// None on X11, and where the compositor has no data devices.
    pub(crate) fn on(window: &Window, events: WeakSender<Event>) -> Option<Drops> {
        let display = window.display_handle().ok()?.as_raw();
        let surface = window.window_handle().ok()?.as_raw();
        let (RawDisplayHandle::Wayland(display), RawWindowHandle::Wayland(surface)) =
            (display, surface)
        else {
            return None;
        };
        // SAFETY: the display is that of the loop, which ends after this is gone.
        #[expect(unsafe_code, reason = "winit has no other way to its connection")]
        let backend = unsafe { Backend::from_foreign_display(display.display.as_ptr().cast()) };
        let connection = Connection::from_backend(backend);
        let (globals, queue) = registry_queue_init::<Dragged>(&connection).ok()?;
        let handle = queue.handle();
        let seat: WlSeat = globals.bind(&handle, 1..=1, ()).ok()?;
        let manager: WlDataDeviceManager = globals.bind(&handle, 3..=3, ()).ok()?;
        let device = manager.get_data_device(&seat, &handle, ());
        connection.flush().ok()?;
        let surface = surface.surface.as_ptr() as usize;
        let dragged = Dragged { surface, fresh: None, over: None, events };
        Some(Drops { queue, device, dragged })
    }

    /// Looks at what came. Never waits.
    pub(crate) fn follow(&mut self) {
        // A connection that is gone is noticed by the loop.
        if self.queue.dispatch_pending(&mut self.dragged).is_ok_and(|count| count > 0) {
            let _ = self.queue.flush();
        }
    }
}

impl Drop for Drops {
    fn drop(&mut self) {
        self.device.release();
        let _ = self.queue.flush();
    }
}

impl Dragged {
    /// Takes files that came over the window.
    fn enter(&mut self, serial: u32, surface: usize, offer: WlDataOffer) {
        let has_files = self.is_files(&offer);
        let is_taken = has_files && surface == self.surface;
        offer.accept(serial, is_taken.then(|| FILES.to_owned()));
        if is_taken {
            offer.set_actions(DndAction::Copy, DndAction::Copy);
        }
        if let Some((old, _)) = self.over.replace((offer, is_taken)) {
            old.destroy();
        }
    }

    /// Whether what was offered last is this, and files.
    fn is_files(&mut self, offer: &WlDataOffer) -> bool {
        match self.fresh.take() {
            Some((fresh, has_files)) if fresh == *offer => has_files,
            other => {
                self.fresh = other;
                false
            }
        }
    }

    /// They were let go of over the window.
    fn take(&mut self) {
        let Some((offer, is_taken)) = self.over.take() else { return };
        if is_taken {
            if let Err(error) = receive(&offer, self.events.clone()) {
                tracing::warn!(%error, "what was dropped cannot be read");
            }
            // Whoever gives it has been asked for it by now.
            offer.finish();
        }
        offer.destroy();
    }
}

/// Asks for a list of files, and reads it on a thread of its own: who gives it may take their time.
fn receive(offer: &WlDataOffer, events: WeakSender<Event>) -> std::io::Result<()> {
    let (reader, writer) = std::io::pipe()?;
    offer.receive(FILES.to_owned(), writer.as_fd());
    let thread = thread::Builder::new().name("drop".to_owned());
    thread.spawn(move || tell(&events, &read(reader)))?;
    Ok(())
}

/// All that is given within the time, up to a number of bytes.
fn read(mut reader: PipeReader) -> Vec<u8> {
    let until = Instant::now() + PATIENCE;
    let mut all = Vec::new();
    let mut part = [0; 4096];
    while (all.len() as u64) < MOST {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).ok();
        let ready = poll(&mut [PollFd::new(&reader, PollFlags::IN)], left.as_ref());
        match ready {
            Ok(1..) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Ok(0) | Err(_) => break,
        }
        match reader.read(&mut part) {
            Ok(0) | Err(_) => break,
            Ok(count) => all.extend_from_slice(&part[..count]),
        }
    }
    all
}

/// Says what was dropped, unless the window is closed meanwhile.
fn tell(events: &WeakSender<Event>, list: &[u8]) {
    for path in paths(list) {
        let Some(events) = events.upgrade() else { return };
        if events.blocking_send(Event::Dropped(path)).is_err() {
            return;
        }
    }
}

/// The files of this machine in a list of addresses: one a line, `#` begins a remark.
fn paths(list: &[u8]) -> Vec<PathBuf> {
    let list = String::from_utf8_lossy(list);
    let lines = list.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| url::Url::parse(line).ok()?.to_file_path().ok()).collect()
}

impl Dispatch<WlDataDevice, ()> for Dragged {
    fn event(
        dragged: &mut Dragged,
        _: &WlDataDevice,
        event: wl_data_device::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Dragged>,
    ) {
        match event {
            wl_data_device::Event::DataOffer { id } => {
                if let Some((old, _)) = dragged.fresh.replace((id, false)) {
                    old.destroy();
                }
            }
            wl_data_device::Event::Enter { serial, surface, id: Some(offer), .. } => {
                let surface = surface.id().as_ptr() as usize;
                dragged.enter(serial, surface, offer);
            }
            wl_data_device::Event::Leave => {
                if let Some((offer, _)) = dragged.over.take() {
                    offer.destroy();
                }
            }
            wl_data_device::Event::Drop => dragged.take(),
            // The clipboard, which is read otherwise.
            wl_data_device::Event::Selection { id: Some(offer) } => {
                dragged.is_files(&offer);
                offer.destroy();
            }
            _ => {}
        }
    }

    event_created_child!(Dragged, WlDataDevice, [
        wl_data_device::EVT_DATA_OFFER_OPCODE => (WlDataOffer, ()),
    ]);
}

impl Dispatch<WlDataOffer, ()> for Dragged {
    fn event(
        dragged: &mut Dragged,
        offer: &WlDataOffer,
        event: wl_data_offer::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Dragged>,
    ) {
        if let (wl_data_offer::Event::Offer { mime_type }, Some((fresh, has_files))) =
            (event, &mut dragged.fresh)
            && fresh == offer
            && mime_type == FILES
        {
            *has_files = true;
        }
    }
}

impl Dispatch<WlRegistry, GlobalListContents> for Dragged {
    fn event(
        _: &mut Dragged,
        _: &WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Dragged>,
    ) {
    }
}

delegate_noop!(Dragged: ignore WlSeat);
delegate_noop!(Dragged: WlDataDeviceManager);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_this_machine_are_taken_from_a_list() {
        let list = b"# a remark\r\nfile:///a%20b/c\r\nfile://elsewhere/x\r\nhttps://x/y\r\n\
            file://localhost/d\nnonsense\n";
        assert_eq!(paths(list), [PathBuf::from("/a b/c"), PathBuf::from("/d")]);
        assert_eq!(paths(b"\xff\n"), [] as [PathBuf; 0]);
    }

    #[test]
    fn what_is_given_is_read_to_its_end() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, b"file:///a\r\n").unwrap();
        drop(writer);
        assert_eq!(read(reader), b"file:///a\r\n");
    }
}
