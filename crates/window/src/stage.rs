//! The thread of the window: draws the newest picture, and says what a person does.

use std::io::Write;
use std::sync::{Arc, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use iced_core::renderer::Style;
use iced_core::{Color, Size, mouse};
use iced_graphics::Viewport;
use iced_runtime::UserInterface;
use iced_runtime::user_interface::Cache;
use rookery_term::mouse::{MouseButton, MouseMods};
use rookery_view::scene::WindowSize;
use rookery_view::scene::layout::{Hit, Point};
use serde_json::json;
use tokio::sync::mpsc;
use winit::application::ApplicationHandler;
use winit::dpi::{LogicalSize, PhysicalPosition};
use winit::event::{DeviceEvent, DeviceId, ElementState, Ime, MouseScrollDelta, WindowEvent};
use winit::event_loop::ActiveEventLoop;
use winit::keyboard::ModifiersState;
use winit::platform::startup_notify::{
    EventLoopExtStartupNotify as _, WindowAttributesExtStartupNotify as _,
};
use winit::platform::wayland::WindowAttributesExtWayland;
use winit::platform::x11::WindowAttributesExtX11;
use winit::window::{CursorIcon, ImePurpose, UserAttentionType, Window, WindowId};

use crate::drawing::Drawing;
use crate::drops::Drops;
use crate::picture::Picture;
use crate::place::{Screen, fit};
use crate::shown::Shown;
use crate::{APP_ID, Backend, Ended, Event, Note, Order, Place, Press, Slot, Wheel, keys, pointer};

/// The smallest window, in points.
const LEAST: (f32, f32) = (320.0, 200.0);

pub(crate) struct Stage {
    slot: Slot,
    events: Option<mpsc::Sender<Event>>,
    trace: Option<Box<dyn Write + Send>>,
    /// What windows are drawn with.
    draws: (Backend, Note),
    shown: Option<Shown>,
    mods: ModifiersState,
    at: PhysicalPosition<f64>,
    /// The mouse is over the window.
    is_inside: bool,
    /// An input method holds text that is not entered yet: keys are its own.
    is_composing: bool,
    has_focus: bool,
    /// What the wheel did last as a button, until that is reported as a turn.
    wheel_button: Option<ElementState>,
    place: Place,
    ended: Option<Result<Ended, String>>,
}

impl Stage {
    pub(crate) fn new(
        slot: Slot,
        events: mpsc::Sender<Event>,
        trace: Option<Box<dyn Write + Send>>,
        draws: (Backend, Note),
    ) -> Stage {
        Stage {
            slot,
            events: Some(events),
            trace,
            draws,
            shown: None,
            mods: ModifiersState::empty(),
            at: PhysicalPosition::new(0.0, 0.0),
            is_inside: false,
            is_composing: false,
            has_focus: false,
            wheel_button: None,
            place: Place::default(),
            ended: None,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.shown.is_some()
    }

    /// How it ended, once the loop is over.
    pub(crate) fn finish(self) -> Option<Result<Ended, String>> {
        self.ended
    }

    /// Says what happened. A queue that is full for once is waited for, but not by the mouse.
    fn send(&mut self, event: Event) {
        let Some(events) = &self.events else { return };
        match events.try_send(event) {
            Err(mpsc::error::TrySendError::Full(event))
                if !matches!(event, Event::Moved(..) | Event::Wheel(_)) =>
            {
                let _ = events.blocking_send(event);
            }
            _ => {}
        }
    }

    fn open(&mut self, event_loop: &ActiveEventLoop, place: Place) -> Result<(), String> {
        let screen = |it: winit::monitor::MonitorHandle| Screen {
            at: (it.position().x, it.position().y),
            size: (it.size().width, it.size().height),
            scale: it.scale_factor(),
        };
        let screens: Vec<Screen> = event_loop.available_monitors().map(screen).collect();
        let place = fit(place, &screens);
        let usual = WindowSize::default();
        let (width, height) = place.size.unwrap_or((usual.width, usual.height));
        let size = LogicalSize::new(width.max(LEAST.0), height.max(LEAST.1));
        let mut attributes = Window::default_attributes()
            .with_title("Rookery")
            .with_inner_size(size)
            .with_min_inner_size(LogicalSize::new(LEAST.0, LEAST.1))
            .with_maximized(place.is_maximized)
            .with_window_icon(crate::icon::of_window());
        attributes = WindowAttributesExtX11::with_name(attributes, APP_ID, APP_ID);
        attributes = WindowAttributesExtWayland::with_name(attributes, APP_ID, APP_ID);
        // What started this waits to hear that it is there.
        if let Some(token) = event_loop.read_token_from_env() {
            attributes = attributes.with_activation_token(token);
        }
        if let Some((x, y)) = place.at {
            attributes = attributes.with_position(PhysicalPosition::new(x, y));
        }
        let window = event_loop.create_window(attributes).map_err(|error| error.to_string())?;
        let window = Arc::new(window);
        window.set_ime_allowed(true);
        window.set_ime_purpose(ImePurpose::Terminal);
        let (backend, note) = (self.draws.0, Arc::clone(&self.draws.1));
        let drawing = Drawing::new(&window, backend, note).map_err(|error| error.to_string())?;
        let drops = self.events.as_ref().and_then(|events| Drops::on(&window, events.downgrade()));
        self.place = place;
        self.shown = Some(Shown {
            drops,
            window,
            drawing,
            cache: Cache::new(),
            picture: None,
            pointer: CursorIcon::Default,
            caret: None,
            title: "Rookery".to_owned(),
            is_occluded: false,
            is_asked: false,
            has_ime: true,
        });
        self.send_size();
        Ok(())
    }

    fn scale(&self) -> f64 {
        self.shown.as_ref().map_or(1.0, |shown| shown.window.scale_factor())
    }

    fn send_size(&mut self) {
        let Some(shown) = &self.shown else { return };
        let scale = shown.window.scale_factor();
        let size = shown.window.inner_size();
        if size.width == 0 || size.height == 0 {
            return self.send(Event::Visible(false));
        }
        let logical = size.to_logical::<f32>(scale);
        self.place.is_maximized = shown.window.is_maximized();
        if !self.place.is_maximized {
            self.place.size = Some((logical.width, logical.height));
        }
        let window = WindowSize { width: logical.width, height: logical.height };
        let place = self.place;
        self.send(Event::Placed(place));
        self.send(Event::Resized(window, scale as f32));
    }

    fn point(&self) -> Point {
        let logical = self.at.to_logical::<f32>(self.scale());
        Point { x: logical.x, y: logical.y }
    }

    fn mouse_mods(&self) -> MouseMods {
        MouseMods {
            shift: self.mods.shift_key(),
            ctrl: self.mods.control_key(),
            alt: self.mods.alt_key(),
        }
    }

    fn send_point(&mut self) {
        let (point, mods) = (self.point(), self.mouse_mods());
        self.send(Event::Moved(point, mods, self.mods.super_key()));
    }

    /// A new picture came: it is drawn when the window system says so.
    fn take_picture(&mut self) {
        let newest = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(shown), Some(picture)) = (&mut self.shown, newest) else { return };
        let painted = Event::Painted(picture.n, picture.made);
        shown.picture = Some(picture);
        // Not every window system says that a window was put away; asking costs a question to it, so
        // one that has the keyboard is not asked about.
        if !self.has_focus && !shown.is_occluded && shown.window.is_minimized() == Some(true) {
            shown.is_occluded = true;
            self.send(Event::Visible(false));
            return self.send(painted);
        }
        if shown.is_occluded {
            self.send(painted);
        } else {
            shown.is_asked = true;
            shown.window.request_redraw();
        }
        if self.is_inside {
            self.pointer();
        }
    }

    fn draw(&mut self) {
        let Some(shown) = &mut self.shown else { return };
        let Some(picture) = shown.picture.clone() else { return };
        let scale = shown.window.scale_factor() as f32;
        let size = shown.window.inner_size();
        if size.width == 0 || size.height == 0 {
            return;
        }
        let viewport = Viewport::with_physical_size(Size::new(size.width, size.height), scale);
        let root = rookery_paint::view_plan::<(), ()>(&picture.plan);
        let cache = std::mem::take(&mut shown.cache);
        let logical = viewport.logical_size();
        let renderer = shown.drawing.renderer();
        let mut interface = UserInterface::build(root, logical, cache, renderer);
        let style = Style { text_color: Color::WHITE };
        interface.draw(renderer, &(), &style, mouse::Cursor::Unavailable);
        shown.cache = interface.into_cache();
        let ground = rookery_paint::background(&picture.scene);
        // What lay over the window may have left anything there.
        let is_asked = std::mem::take(&mut shown.is_asked);
        let drawn = shown.drawing.present(&viewport, ground, !is_asked);
        if let Err(error) = drawn {
            // It counts as one that is not seen, unless it is drawn once more.
            tracing::warn!(%error, "a picture was not drawn");
            if error.is_passing() {
                shown.is_asked = is_asked;
                shown.window.request_redraw();
            }
            return;
        }
        shown.follow(&picture);
        if is_asked {
            self.note(&picture);
            self.send(Event::Painted(picture.n, picture.made));
        }
    }

    /// A line for each picture, for tests and measurements.
    fn note(&mut self, picture: &Picture) {
        let Some(trace) = &mut self.trace else { return };
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let facts = &picture.facts;
        let line = json!({
            "n": picture.n,
            "input": picture.input,
            "at_us": u64::try_from(at.as_micros()).unwrap_or(u64::MAX),
            "page": facts.page,
            "terminal": facts.terminal,
            "panes": facts.panes,
            "over": facts.over,
            "waiting": facts.waiting,
            "message": facts.message,
            "typed": facts.typed,
            "takes_text": facts.takes_text,
            "over_link": facts.is_over_link,
            "places": pointer::places(picture),
            "drawn_by": self.shown.as_ref().map(|shown| shown.drawing.name()),
        });
        // A trace that cannot be written is no reason to stop.
        let _ = writeln!(trace, "{line}").and_then(|()| trace.flush());
    }

    fn pointer(&mut self) {
        let point = self.point();
        let Some(shown) = &mut self.shown else { return };
        let Some(picture) = &shown.picture else { return };
        let icon = match picture.hit(point) {
            Hit::Cell { .. } if picture.facts.is_over_link => CursorIcon::Pointer,
            Hit::Cell { terminal, .. } => pointer::wanted(&picture.facts, terminal.get()),
            hit => pointer::over(hit),
        };
        if shown.pointer != icon {
            shown.pointer = icon;
            shown.window.set_cursor(icon);
        }
    }

    fn ime(&mut self, ime: Ime) {
        match ime {
            Ime::Preedit(text, cursor) => {
                self.is_composing = !text.is_empty();
                self.send(Event::Preedit(text, cursor.map(|(_, end)| end)));
            }
            Ime::Commit(text) => {
                self.is_composing = false;
                self.send(Event::Commit(text));
            }
            Ime::Enabled => {}
            Ime::Disabled => {
                self.is_composing = false;
                self.send(Event::Preedit(String::new(), None));
            }
        }
    }

    /// The window can be seen again.
    fn uncover(&mut self) {
        let Some(shown) = &mut self.shown else { return };
        if std::mem::take(&mut shown.is_occluded) {
            self.send(Event::Visible(true));
        }
    }

    fn raise(&mut self) {
        let Some(shown) = &self.shown else { return };
        shown.window.set_minimized(false);
        shown.window.focus_window();
        // Where the system lets no window come forward by itself it is marked at least.
        if !self.has_focus {
            self.mark(Some(UserAttentionType::Informational));
        }
    }

    /// Asks the desktop for another size. The size that it gets is reported as every change of size is.
    fn resize(&mut self, size: WindowSize) {
        let Some(shown) = &self.shown else { return };
        let size = LogicalSize::new(size.width.max(LEAST.0), size.height.max(LEAST.1));
        // Some systems answer at once instead of by an event.
        if shown.window.request_inner_size(size).is_some() {
            self.send_size();
        }
    }

    /// Marks the window on the taskbar, or takes that back: by itself it stays.
    fn mark(&self, attention: Option<UserAttentionType>) {
        if let Some(shown) = &self.shown {
            shown.window.request_user_attention(attention);
        }
    }
}

impl ApplicationHandler<Order> for Stage {
    fn resumed(&mut self, _event_loop: &ActiveEventLoop) {}

    fn user_event(&mut self, event_loop: &ActiveEventLoop, order: Order) {
        match order {
            Order::Open(place) => {
                if let Err(why) = self.open(event_loop, place) {
                    self.ended = Some(Err(why));
                    self.events = None;
                    event_loop.exit();
                }
            }
            Order::Show => self.take_picture(),
            Order::Raise => self.raise(),
            Order::Resize(size) => self.resize(size),
            Order::Bell => self.mark(Some(UserAttentionType::Informational)),
            Order::End(ended) => {
                self.ended.get_or_insert(Ok(ended));
                self.events = None;
                event_loop.exit();
            }
        }
    }

    fn about_to_wait(&mut self, _event_loop: &ActiveEventLoop) {
        if let Some(drops) = self.shown.as_mut().and_then(|shown| shown.drops.as_mut()) {
            drops.follow();
        }
    }

    /// What stands on the loop's connection goes first.
    fn exiting(&mut self, _event_loop: &ActiveEventLoop) {
        if let Some(shown) = &mut self.shown {
            shown.drops = None;
        }
    }

    /// On X11 a wheel may come as buttons: each turn is pressed and released, and both are reported as
    /// if the wheel had turned. Which of the two it was is said here, right before.
    fn device_event(&mut self, _event_loop: &ActiveEventLoop, _id: DeviceId, event: DeviceEvent) {
        if let DeviceEvent::Button { button: 4..=7, state } = event {
            self.wheel_button = Some(state);
        }
    }

    fn window_event(&mut self, _event_loop: &ActiveEventLoop, _id: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::RedrawRequested => self.draw(),
            WindowEvent::Resized(size) => {
                if size.width > 0 && size.height > 0 {
                    self.send(Event::Visible(true));
                }
                self.send_size();
            }
            WindowEvent::ScaleFactorChanged { .. } => self.send_size(),
            WindowEvent::Moved(at) => {
                let is_free = self.shown.as_ref().is_some_and(|it| !it.window.is_maximized());
                if is_free {
                    // What is reported is the inside; what is asked for is the frame.
                    let outer = self.shown.as_ref().and_then(|it| it.window.outer_position().ok());
                    let at = outer.unwrap_or(at);
                    self.place.at = Some((at.x, at.y));
                    let place = self.place;
                    self.send(Event::Placed(place));
                }
            }
            WindowEvent::CloseRequested => self.send(Event::Close),
            WindowEvent::Destroyed => {
                // Another program took the window away: nothing can be drawn any more.
                self.shown = None;
                self.send(Event::Close);
            }
            WindowEvent::Focused(has) => {
                self.has_focus = has;
                if has {
                    self.uncover();
                    self.mark(None);
                } else {
                    self.is_composing = false;
                }
                self.send(Event::Focus(has));
            }
            WindowEvent::Occluded(is_hidden) => match &mut self.shown {
                Some(shown) if is_hidden => {
                    shown.is_occluded = true;
                    self.send(Event::Visible(false));
                }
                _ => self.uncover(),
            },
            WindowEvent::ModifiersChanged(mods) => {
                self.mods = mods.state();
                // What is under the mouse may be a link now.
                if self.is_inside {
                    self.send_point();
                }
            }
            WindowEvent::KeyboardInput { event, is_synthetic, .. } => {
                // What was held when the window got the keyboard was not pressed here.
                if !is_synthetic
                    && !self.is_composing
                    && let Some(press) = keys::press(&event, self.mods)
                {
                    self.send(Event::Key(press));
                }
            }
            WindowEvent::Ime(ime) => self.ime(ime),
            WindowEvent::CursorMoved { position, .. } => {
                self.at = position;
                self.pointer();
                self.is_inside = true;
                self.send_point();
            }
            WindowEvent::CursorLeft { .. } => {
                self.is_inside = false;
                self.send(Event::Gone);
            }
            WindowEvent::MouseInput { state, button, .. } => {
                let button = match button {
                    winit::event::MouseButton::Left => MouseButton::Left,
                    winit::event::MouseButton::Middle => MouseButton::Middle,
                    winit::event::MouseButton::Right => MouseButton::Right,
                    _ => return,
                };
                let is_down = state == ElementState::Pressed;
                let (point, mods) = (self.point(), self.mouse_mods());
                let has_super = self.mods.super_key();
                self.send(Event::Button(Press { is_down, button, point, mods, has_super }));
            }
            // The second half of a turn that came as a button.
            WindowEvent::MouseWheel { .. }
                if self.wheel_button.take() == Some(ElementState::Released) => {}
            WindowEvent::MouseWheel { delta, .. } => {
                let (by, is_points) = match delta {
                    MouseScrollDelta::LineDelta(_, rows) => (rows, false),
                    MouseScrollDelta::PixelDelta(by) => {
                        (by.to_logical::<f32>(self.scale()).y, true)
                    }
                };
                let (point, mods) = (self.point(), self.mouse_mods());
                self.send(Event::Wheel(Wheel { by, is_points, point, mods }));
            }
            WindowEvent::DroppedFile(path) => self.send(Event::Dropped(path)),
            _ => {}
        }
    }
}
