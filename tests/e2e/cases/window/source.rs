//! A program on a Wayland compositor from which files are dragged.

use std::{
    fs::File,
    io::Write as _,
    os::{fd::AsFd as _, unix::net::UnixStream},
    path::Path,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use rookery_testkit::PATIENCE;
use wayland_client::{
    Connection, Dispatch, QueueHandle, WEnum, delegate_noop,
    globals::{GlobalListContents, registry_queue_init},
    protocol::{
        wl_buffer::WlBuffer,
        wl_compositor::WlCompositor,
        wl_data_device::{self, WlDataDevice},
        wl_data_device_manager::{DndAction, WlDataDeviceManager},
        wl_data_offer::WlDataOffer,
        wl_data_source::{self, WlDataSource},
        wl_pointer::{self, ButtonState, WlPointer},
        wl_registry::{self, WlRegistry},
        wl_seat::WlSeat,
        wl_shm::{Format, WlShm},
        wl_shm_pool::WlShmPool,
        wl_surface::WlSurface,
    },
};
use wayland_protocols::xdg::shell::client::{
    xdg_surface::{self, XdgSurface},
    xdg_toplevel::XdgToplevel,
    xdg_wm_base::{self, XdgWmBase},
};

/// Its size; less than it is given is left empty.
const SIZE: (i32, i32) = (300, 300);

/// What happens to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Came {
    /// The mouse is over its window.
    Entered,
    /// What is dragged would be taken where it is.
    Wanted,
    /// What was dragged was taken.
    Taken,
    /// It was not.
    Refused,
}

/// The program; a press of the mouse in its window begins a drag.
pub(super) struct Source(Receiver<Came>);

impl Source {
    pub(super) fn at(socket: &Path, uris: String) -> Source {
        let stream = UnixStream::connect(socket).unwrap();
        let (sender, came) = channel();
        thread::spawn(move || serve(stream, uris, sender));
        Source(came)
    }

    #[track_caller]
    pub(super) fn wait(&self, wanted: Came) {
        assert_eq!(self.0.recv_timeout(PATIENCE).unwrap(), wanted);
    }
}

/// Until the compositor is gone.
fn serve(stream: UnixStream, uris: String, came: Sender<Came>) {
    let connection = Connection::from_socket(stream).unwrap();
    let (globals, mut queue) = registry_queue_init::<Program>(&connection).unwrap();
    let handle = queue.handle();
    let compositor: WlCompositor = globals.bind(&handle, 1..=4, ()).unwrap();
    let shell: XdgWmBase = globals.bind(&handle, 1..=1, ()).unwrap();
    let shm: WlShm = globals.bind(&handle, 1..=1, ()).unwrap();
    let seat: WlSeat = globals.bind(&handle, 1..=1, ()).unwrap();
    let manager: WlDataDeviceManager = globals.bind(&handle, 3..=3, ()).unwrap();
    let surface = compositor.create_surface(&handle, ());
    let window = shell.get_xdg_surface(&surface, &handle, ());
    window.get_toplevel(&handle, ()).set_app_id("source".to_owned());
    surface.commit();
    seat.get_pointer(&handle, ());
    let device = manager.get_data_device(&seat, &handle, ());
    let buffer = buffer(&shm, &handle);
    let mut program = Program { surface, buffer, device, manager, uris, came };
    while queue.blocking_dispatch(&mut program).is_ok() {}
}

fn buffer(shm: &WlShm, handle: &QueueHandle<Program>) -> WlBuffer {
    let bytes = SIZE.0 * SIZE.1 * 4;
    let file = tempfile::tempfile().unwrap();
    file.set_len(bytes as u64).unwrap();
    let pool = shm.create_pool(file.as_fd(), bytes, handle, ());
    pool.create_buffer(0, SIZE.0, SIZE.1, SIZE.0 * 4, Format::Xrgb8888, handle, ())
}

struct Program {
    surface: WlSurface,
    buffer: WlBuffer,
    device: WlDataDevice,
    manager: WlDataDeviceManager,
    uris: String,
    came: Sender<Came>,
}

impl Program {
    fn says(&self, came: Came) {
        // The test may be over.
        let _ = self.came.send(came);
    }
}

impl Dispatch<XdgSurface, ()> for Program {
    fn event(
        program: &mut Program,
        window: &XdgSurface,
        event: xdg_surface::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Program>,
    ) {
        if let xdg_surface::Event::Configure { serial } = event {
            window.ack_configure(serial);
            program.surface.attach(Some(&program.buffer), 0, 0);
            program.surface.damage(0, 0, SIZE.0, SIZE.1);
            program.surface.commit();
        }
    }
}

impl Dispatch<XdgWmBase, ()> for Program {
    fn event(
        _: &mut Program,
        shell: &XdgWmBase,
        event: xdg_wm_base::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Program>,
    ) {
        if let xdg_wm_base::Event::Ping { serial } = event {
            shell.pong(serial);
        }
    }
}

impl Dispatch<WlPointer, ()> for Program {
    fn event(
        program: &mut Program,
        _: &WlPointer,
        event: wl_pointer::Event,
        (): &(),
        _: &Connection,
        handle: &QueueHandle<Program>,
    ) {
        match event {
            wl_pointer::Event::Enter { .. } => program.says(Came::Entered),
            wl_pointer::Event::Button {
                serial, state: WEnum::Value(ButtonState::Pressed), ..
            } => {
                let source = program.manager.create_data_source(handle, ());
                source.offer("text/uri-list".to_owned());
                source.set_actions(DndAction::Copy | DndAction::Move);
                program.device.start_drag(Some(&source), &program.surface, None, serial);
            }
            _ => {}
        }
    }
}

impl Dispatch<WlDataSource, ()> for Program {
    fn event(
        program: &mut Program,
        _: &WlDataSource,
        event: wl_data_source::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Program>,
    ) {
        match event {
            wl_data_source::Event::Send { fd, .. } => {
                File::from(fd).write_all(program.uris.as_bytes()).unwrap();
            }
            wl_data_source::Event::Action { dnd_action: WEnum::Value(action) }
                if !action.is_empty() =>
            {
                program.says(Came::Wanted);
            }
            wl_data_source::Event::DndFinished => program.says(Came::Taken),
            wl_data_source::Event::Cancelled => program.says(Came::Refused),
            _ => {}
        }
    }
}

impl Dispatch<WlDataDevice, ()> for Program {
    fn event(
        _: &mut Program,
        _: &WlDataDevice,
        _: wl_data_device::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Program>,
    ) {
    }

    wayland_client::event_created_child!(Program, WlDataDevice, [
        wl_data_device::EVT_DATA_OFFER_OPCODE => (WlDataOffer, ()),
    ]);
}

impl Dispatch<WlRegistry, GlobalListContents> for Program {
    fn event(
        _: &mut Program,
        _: &WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Program>,
    ) {
    }
}

delegate_noop!(Program: WlCompositor);
delegate_noop!(Program: ignore WlSurface);
delegate_noop!(Program: ignore WlShm);
delegate_noop!(Program: WlShmPool);
delegate_noop!(Program: ignore WlBuffer);
delegate_noop!(Program: ignore WlSeat);
delegate_noop!(Program: WlDataDeviceManager);
delegate_noop!(Program: ignore WlDataOffer);
delegate_noop!(Program: ignore XdgToplevel);
