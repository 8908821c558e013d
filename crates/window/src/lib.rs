//! The native window: shows the tree that `paint` draws, sends keys, mouse and text.
//!
//! Two threads. One thinks: it holds the connection, the mirror and the state machine that every face
//! has, and makes pictures. The other, which must be the process's first, belongs to the window
//! system: it draws the newest picture and says what a person does. It wakes for nothing else, so a
//! window in which nothing happens costs nothing.
//!
//! Knows neither the world nor any dialect but the link; files, the environment and other programs are
//! its caller's.

mod canvas;
mod compose;
pub mod compositor;
mod controller;
mod drawing;
mod drops;
#[cfg(feature = "gpu")]
mod gpu;
pub mod icon;
mod keys;
pub mod libraries;
mod picture;
mod place;
mod pointer;
mod shown;
mod stage;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rookery_face::Start;
use rookery_face::calls::Job;
use rookery_host::Clipboards;
use rookery_term::keys::KeyPress;
use rookery_term::mouse::{MouseButton, MouseMods};
use rookery_view::link::Page;
use rookery_view::scene::WindowSize;
use rookery_view::scene::layout::Point;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use winit::event_loop::EventLoop;
use winit::platform::x11::EventLoopBuilderExtX11;

use crate::controller::Controller;
use crate::picture::Picture;
use crate::stage::Stage;

/// The name of the window's class, and of its desktop file.
pub const APP_ID: &str = "rookery";

/// Events that wait to be thought about.
const EVENTS: usize = 1024;

/// Reads a file, unless it is longer than this.
pub type ReadFile = Arc<dyn Fn(&Path, u64) -> Result<Vec<u8>, String> + Send + Sync>;

/// Hears of something that the person may want to know.
pub type Note = Arc<dyn Fn(&str) + Send + Sync>;

/// Whether this program was built so that it can draw with a graphics card.
pub const HAS_GPU: bool = cfg!(feature = "gpu");

/// What the window is drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// A graphics card if there is one and the program can use it, else the processor.
    #[default]
    Best,
    /// The processor.
    Software,
    /// A graphics card, also one that the processor stands in for.
    Gpu,
}

/// Everything that a window needs from outside.
pub struct Options {
    /// The daemon's socket.
    pub socket: PathBuf,
    /// What other viewers see of this one.
    pub name: String,
    /// Only looks.
    pub look: bool,
    /// On X11, whatever else there is.
    pub x11: bool,
    /// What it is drawn with.
    pub backend: Backend,
    /// Hears of what is drawn otherwise than it was meant to be.
    pub note: Note,
    /// The page to begin with.
    pub page: Option<Page>,
    /// Where the user's settings lie, as it is shown.
    pub settings_file: String,
    /// Where a thread begins that is in no project.
    pub cwd: String,
    /// Agents that are installed, for the empty page.
    pub agents: Vec<String>,
    /// Starts a daemon, unless there is one.
    pub start: Start,
    /// Opens an address with the program of the desktop.
    pub open: Arc<dyn Fn(String) -> Job + Send + Sync>,
    /// Reads a file, up to a number of bytes.
    pub read: ReadFile,
    /// The clipboards of this machine.
    pub clipboards: Clipboards,
    /// Gets a line for each picture that was shown.
    pub trace: Option<Box<dyn Write + Send>>,
}

/// How a window ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The person closed it.
    Left,
    /// The daemon refuses this face.
    Refused(String),
}

/// Why there is no window.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    /// The window system cannot be reached.
    #[error("cannot open a window: {0}")]
    Display(String),
    /// The window system ended while the window was open.
    #[error("the window system is gone")]
    Gone,
    /// A thread could not be started, or ended by itself.
    #[error("cannot open a window: {0}")]
    Thread(String),
}

/// Where a window is and how large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Place {
    /// Width and height in points; none if it never was anywhere.
    pub(crate) size: Option<(f32, f32)>,
    /// Its corner in physical pixels, where the window system says so.
    pub(crate) at: Option<(i32, i32)>,
    pub(crate) is_maximized: bool,
}

/// A button of the mouse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Press {
    pub(crate) is_down: bool,
    pub(crate) button: MouseButton,
    pub(crate) point: Point,
    pub(crate) mods: MouseMods,
    /// The key between Control and Alt, which programs are not told of.
    pub(crate) has_super: bool,
}

/// The wheel; what is positive goes up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wheel {
    pub(crate) by: f32,
    /// In points, not in notches.
    pub(crate) is_points: bool,
    pub(crate) point: Point,
    pub(crate) mods: MouseMods,
}

/// What a person or the window system did.
#[derive(Debug)]
pub(crate) enum Event {
    Key(KeyPress),
    /// Text of an input method.
    Commit(String),
    /// What an input method shows, and where its cursor is in bytes.
    Preedit(String, Option<usize>),
    Button(Press),
    /// Where the mouse is, and what is held; the last is the key between Control and Alt.
    Moved(Point, MouseMods, bool),
    /// The mouse left the window.
    Gone,
    Wheel(Wheel),
    Focus(bool),
    Visible(bool),
    Resized(WindowSize, f32),
    Placed(Place),
    Dropped(PathBuf),
    /// The picture of a frame is on the screen: the frame's number, and its own.
    Painted(u64, u64),
    Close,
}

/// What the thread of the window is told.
#[derive(Debug)]
pub(crate) enum Order {
    /// Open the window.
    Open(Place),
    /// There is a new picture.
    Show,
    /// Come to the front.
    Raise,
    /// Be this large, in logical points.
    Resize(WindowSize),
    /// A key was refused.
    Bell,
    /// It is over.
    End(Ended),
}

/// The newest picture.
pub(crate) type Slot = Arc<Mutex<Option<Picture>>>;

/// Shows a window until it is closed. Must be called on the process's first thread.
///
/// # Errors
/// If the window system cannot be reached.
pub fn run(mut options: Options) -> Result<Ended, WindowError> {
    let mut builder = EventLoop::<Order>::with_user_event();
    if options.x11 {
        EventLoopBuilderExtX11::with_x11(&mut builder);
    }
    let events =
        builder.build().map_err(|error| WindowError::Display(plain(&error.to_string())))?;
    let proxy = events.create_proxy();
    let slot = controller::slot();
    let (sender, receiver) = mpsc::channel(EVENTS);
    let trace = options.trace.take();
    let draws = (options.backend, Arc::clone(&options.note));
    let thinking = {
        let slot = Arc::clone(&slot);
        let thread = std::thread::Builder::new().name("window-control".to_owned());
        let started = thread.spawn(move || think(options, slot, proxy, receiver));
        started.map_err(|error| WindowError::Thread(error.to_string()))?
    };
    let mut stage = Stage::new(slot, sender, trace, draws);
    let shown = events.run_app(&mut stage);
    let was_open = stage.is_open();
    let ended = stage.finish();
    // The channel of events is closed by now, which ends the other thread.
    let _ = thinking.join();
    match (ended, shown) {
        (Some(Ok(ended)), _) => Ok(ended),
        (Some(Err(why)), _) => Err(WindowError::Display(why)),
        (None, Ok(())) => Ok(Ended::Left),
        (None, Err(_)) if was_open => Err(WindowError::Gone),
        (None, Err(error)) => Err(WindowError::Display(error.to_string())),
    }
}

/// What went wrong, without the place in a library's source that comes before it.
fn plain(error: &str) -> String {
    match error.strip_prefix("os error at ").and_then(|rest| rest.split_once(": ")) {
        Some((_, words)) => words.to_owned(),
        None => error.to_owned(),
    }
}

fn think(
    options: Options,
    slot: Slot,
    proxy: winit::event_loop::EventLoopProxy<Order>,
    events: mpsc::Receiver<Event>,
) {
    let ended = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let orders = proxy.clone();
            let orders: controller::Orders = Arc::new(move |order| {
                // The window is gone; the loop notices by its channel.
                let _ = orders.send_event(order);
            });
            let ended = runtime
                .block_on(async { Controller::new(options, slot, orders).run(events).await });
            runtime.shutdown_background();
            ended
        }
        Err(error) => Ended::Refused(format!("cannot start a runtime: {error}")),
    };
    let _ = proxy.send_event(Order::End(ended));
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn an_error_is_reported_without_the_place_in_a_source() {
        assert_eq!(plain("os error at /a/b.rs:7: no display: none"), "no display: none");
        assert_eq!(plain("no backend"), "no backend");
    }
}
