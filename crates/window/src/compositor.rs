//! Whether a Wayland compositor answers. Which window system is used can be chosen only once in a process,
//! so one that hangs, or lacks what a window needs, is found out before.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_registry::{Event, WlRegistry};
use wayland_client::{Connection, Dispatch, QueueHandle};

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// What no window can do without.
const NEEDS: [&str; 3] = ["wl_compositor", "wl_shm", "xdg_wm_base"];

/// Why no window can be opened on the compositor that the environment names; none if one can.
#[must_use]
pub fn refusal() -> Option<String> {
    let (sender, answer) = mpsc::channel();
    let thread = thread::Builder::new().name("compositor".to_owned());
    // One that hangs keeps the thread, which ends with the process.
    if let Err(error) = thread.spawn(move || drop(sender.send(ask()))) {
        return Some(error.to_string());
    }
    match answer.recv_timeout(PATIENCE) {
        Ok(answer) => answer.err(),
        Err(_) => Some("the compositor does not answer".to_owned()),
    }
}

fn ask() -> Result<(), String> {
    let connection = Connection::connect_to_env().map_err(|error| error.to_string())?;
    let asked = registry_queue_init::<Nothing>(&connection);
    let (globals, _queue) = asked.map_err(|error| format!("the compositor refuses: {error}"))?;
    let has = |name: &&&str| {
        globals.contents().with_list(|all| all.iter().any(|it| it.interface == **name))
    };
    match NEEDS.iter().find(|name| !has(name)) {
        Some(missing) => Err(format!("the compositor has no {missing}")),
        None => Ok(()),
    }
}

/// Nothing is done with what comes later.
struct Nothing;

impl Dispatch<WlRegistry, GlobalListContents> for Nothing {
    fn event(
        _: &mut Nothing,
        _: &WlRegistry,
        _: Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Nothing>,
    ) {
    }
}
