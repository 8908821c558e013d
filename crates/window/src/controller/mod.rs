//! Everything that thinks: the connection, the state machine and the scene, on a thread of their own.
//! The thread of the window only draws what it is given, and says what a person did.

mod dropped;
mod input;
mod mouse;
mod pictures;
mod places;
mod toasts;
mod view;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rookery_face::app::{App, Ask, Cx, Effect, Environment, Input};
use rookery_face::driver::until;
use rookery_face::pages::attach::Attached;
use rookery_face::pages::card::CardPage;
use rookery_face::{Driver, Step};
use rookery_host::ClipboardTarget;
use rookery_view::link::{self, Open, Page, Prefs, Rights, method};
use rookery_view::scene::{FontChoice, Stage, WindowSize};
use serde_json::json;
use tokio::sync::mpsc;

use self::mouse::Mouse;
use self::pictures::Shots;
use self::toasts::ShownToast;
use crate::compose::{Own, Rows};
use crate::picture::{Facts, Picture};
use crate::{Ended, Event, Options, Order, Place, Slot};

/// How long the window waits to be told where it was before.
const PLACE_WAIT: Duration = Duration::from_millis(300);
/// How long the status line stands out when a key was refused.
const FLASH: Duration = Duration::from_millis(150);
/// How long a picture may take to be drawn before the window counts as one that cannot be seen: not every
/// window system says so, but none draws what is hidden. Well below what the daemon waits for.
const UNSEEN: Duration = Duration::from_secs(5);
/// Pastes, and images that are read, that are under way.
const PASTES: usize = 4;

/// What the window is told.
pub(crate) type Orders = Arc<dyn Fn(Order) + Send + Sync>;

pub(crate) struct Controller {
    options: Options,
    driver: Driver,
    own: Own,
    rows: Rows,
    mouse: Mouse,
    picture: Option<Picture>,
    /// Pictures that were made.
    made: u64,
    slot: Slot,
    orders: Orders,
    /// Texts of clipboards; none ends a paste.
    pastes: (mpsc::Sender<Option<String>>, mpsc::Receiver<Option<String>>),
    images: (mpsc::Sender<Attached>, mpsc::Receiver<Attached>),
    /// What was typed behind a paste that is being read, and until when it is kept.
    held: VecDeque<Event>,
    held_until: Option<Instant>,
    /// The cards that it shows, by serial: that of the inbox and that of the thread.
    cards: (Option<u64>, Option<u64>),
    /// Since when a picture is being drawn.
    drawing: Option<Instant>,
    /// None was drawn for so long that no user can see the window.
    is_unseen: bool,
    /// The window is there.
    is_shown: bool,
    /// Messages at the edge, and those that wait for room there.
    toasts: Vec<ShownToast>,
    /// Until when the status line stands out, since a key was refused.
    flash_until: Option<Instant>,
    place: Place,
    /// The pixels that the daemon knows of.
    sent: Option<Option<link::Pixels>>,
    /// The sidebar's width as the daemon said it last.
    sent_sidebar: Option<f32>,
    /// What it is to be told.
    resize: Option<link::Resize>,
    /// Pictures that others asked for.
    shots: Shots,
}

impl Controller {
    /// Must be called inside a runtime.
    pub(crate) fn new(options: Options, slot: Slot, orders: Orders) -> Controller {
        let open = Open {
            face: link::Face::Window,
            name: options.name.clone(),
            // Told anew as soon as there is a window.
            size: link::Size { cols: 100, rows: 30 },
            rights: options.look.then_some(Rights::Look),
            place: options.page.clone(),
            draws: true,
            ..Open::default()
        };
        let around = Environment {
            utf8: true,
            is_window: true,
            settings_file: options.settings_file.clone(),
            agents: options.agents.clone(),
            cwd: options.cwd.clone(),
            ..Environment::default()
        };
        let mut app = App::new((100, 30), around);
        app.has_focus = false;
        Controller {
            driver: Driver::new(options.socket.clone(), open, app, options.start.clone()),
            own: Own {
                // Nothing is drawn before there is a window.
                window: WindowSize { width: 0.0, height: 0.0 },
                scale: 1.0,
                ..Own::default()
            },
            rows: Rows::default(),
            mouse: Mouse::default(),
            picture: None,
            made: 0,
            slot,
            orders,
            pastes: mpsc::channel(PASTES),
            images: mpsc::channel(PASTES),
            held: VecDeque::new(),
            held_until: None,
            cards: (None, None),
            drawing: None,
            is_unseen: false,
            is_shown: false,
            flash_until: None,
            toasts: Vec::new(),
            place: Place::default(),
            sent: None,
            sent_sidebar: None,
            resize: None,
            shots: Shots::default(),
            options,
        }
    }

    /// Runs until the window is closed or the daemon refuses it.
    pub(crate) async fn run(mut self, mut events: mpsc::Receiver<Event>) -> Ended {
        let ended = self.go(&mut events).await;
        self.remember().await;
        ended
    }

    async fn go(&mut self, events: &mut mpsc::Receiver<Event>) -> Ended {
        loop {
            if let Some(ended) = self.carry_out().await {
                return ended;
            }
            self.show();
            // A picture may have told how much room there is.
            if let Some(ended) = self.carry_out().await {
                return ended;
            }
            let toasts_until = self.toasts_until();
            let flash_until = self.flash_until;
            let unseen_at = self.drawing.map(|since| since + UNSEEN);
            let held_until = self.held_until;
            if let Some(event) = self.next_held() {
                self.event(event).await;
                continue;
            }
            tokio::select! {
                biased;
                event = events.recv() => match event {
                    None | Some(Event::Close) => return Ended::Left,
                    Some(event) if self.holds(&event) => self.held.push_back(event),
                    Some(event) => self.event(event).await,
                },
                step = self.driver.next() => match step {
                    Ok(step) => self.step(step).await,
                    Err(why) => return Ended::Refused(why),
                },
                Some(image) = self.images.1.recv() => {
                    self.driver.with(|app, cx| app.attach(cx, image));
                }
                Some(text) = self.pastes.1.recv() => match text {
                    Some(text) => self.pasted(text),
                    None => self.held_until = None,
                },
                () = until(held_until) => self.held_until = None,
                () = until(toasts_until) => {
                    self.end_toasts();
                }
                () = until(flash_until) => {
                    self.flash_until = None;
                    self.own.is_flashing = false;
                    self.driver.is_dirty = true;
                }
                () = until(unseen_at) => {
                    self.visible(false).await;
                    self.is_unseen = true;
                }
            }
        }
    }

    /// What happened between this face and the daemon, as far as it is the window's.
    async fn step(&mut self, step: Step) {
        match step {
            Step::Opened => {
                self.sent = None;
                let font = &self.driver.app.settings.font;
                self.own.font = FontChoice { family: font.family.clone(), size: font.size };
                if !self.is_shown {
                    self.open_window().await;
                }
            }
            Step::Changed { raise, shoot, resize } => {
                if raise {
                    (self.orders)(Order::Raise);
                }
                if let Some(link::WindowPoints { width, height }) = resize {
                    let size = WindowSize { width: width as f32, height: height as f32 };
                    (self.orders)(Order::Resize(size));
                }
                let theme = self.driver.face.mirror().scene().theme.as_ref();
                if let Some(font) = theme.map(|it| &it.font).filter(|font| font.size > 0.0) {
                    self.own.font = FontChoice { family: font.family.clone(), size: font.size };
                }
                self.follow_sidebar();
                if let Some(shoot) = shoot {
                    self.shoot(shoot).await;
                }
                self.shoot_hidden().await;
                if !self.driver.is_visible {
                    self.driver.face.painted().await;
                }
            }
            Step::Lost => {
                self.own.preedit = Default::default();
                self.held_until = None;
                self.forget_shots();
            }
            Step::Other => {}
        }
    }

    /// The sidebar's width is the daemon's as soon as that has heard of the one chosen here, or gave it
    /// another one.
    fn follow_sidebar(&mut self) {
        let sent = self.driver.face.mirror().scene().sidebar.as_ref().map(|it| it.width);
        let before = std::mem::replace(&mut self.sent_sidebar, sent);
        if before.is_some() && before != sent {
            self.own.sidebar = None;
        }
    }

    /// The window comes where it was, as large as it was.
    async fn open_window(&mut self) {
        self.is_shown = true;
        let get = Prefs { get: true, set: None };
        let asked = self.driver.face.call(method::PREFS, &get);
        if let Ok(Ok(found)) = tokio::time::timeout(PLACE_WAIT, asked).await {
            let kept = found.prefs.get("window").cloned().unwrap_or_default();
            self.place = serde_json::from_value(kept).unwrap_or_default();
            let width = found.prefs.get("sidebarWidth").and_then(serde_json::Value::as_f64);
            self.own.sidebar = width.map(|width| width as f32);
        }
        (self.orders)(Order::Open(self.place));
    }

    /// Size and place are kept for the next time.
    async fn remember(&mut self) {
        if self.options.look || !self.is_shown {
            return;
        }
        let set = Prefs::one("window", json!(self.place));
        let sent = self.driver.face.call(method::PREFS, &set);
        let _ = tokio::time::timeout(PLACE_WAIT, sent).await;
    }

    /// Makes the next picture, unless one is still being drawn or there is nothing to see.
    fn show(&mut self) {
        let has_room = self.own.window.width >= 1.0;
        let can_show =
            self.is_shown && self.driver.is_visible && has_room && self.drawing.is_none();
        if !can_show || !self.driver.wants_paint() {
            return;
        }
        self.driver.is_dirty = false;
        if self.driver.app.question.is_none() {
            self.own.asked_scroll = 0.0;
        }
        let copies = self.driver.app.copy.as_ref().map(|copy| copy.terminal);
        self.own.pan = self.own.pan.filter(|(terminal, _)| copies == Some(*terminal));
        let picture = self.compose();
        let grid = picture.layout.grid;
        self.driver.app.drawn.page_rows = places::page_rows(&picture);
        self.picture = Some(picture.clone());
        let pages = &self.driver.app.pages;
        let shown = |card: &CardPage| card.card().map(|_| card.serial());
        self.cards = (shown(&pages.card), shown(&pages.thread.card));
        if self.driver.app.lost.is_none() {
            self.set_room(grid.cols, grid.rows);
        }
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(picture);
        self.drawing = Some(Instant::now());
        (self.orders)(Order::Show);
    }

    /// The room for panes, in cells and in pixels.
    fn set_room(&mut self, cols: u16, rows: u16) {
        // What a page of keys scrolls by is counted from this.
        self.driver.app.resize((cols, rows.saturating_add(4)));
        self.driver.app.set_room(link::Size { cols, rows }, false);
        self.driver.pixels = self.pixels();
        let pixels = self.driver.pixels;
        if self.sent.replace(pixels) != Some(pixels) {
            let size = Some(link::Size { cols, rows });
            let resize = link::Resize { size, ..link::Resize::default() };
            self.resize = Some(resize);
        }
    }

    /// A picture is on the screen.
    async fn painted(&mut self, n: u64, made: u64) {
        self.driver.face.painted_to(n).await;
        if self.picture.as_ref().is_none_or(|picture| picture.made != made) {
            // A newer one is being drawn.
            return;
        }
        self.drawing = None;
        let now = self.driver.now();
        if let Some(picture) = &self.picture
            && !picture.scene.toasts.is_empty()
        {
            self.time_toasts();
        }
        if let Some(picture) = &self.picture
            && let Some(seen) = picture.plan.card()
        {
            // A card that came since was not read yet, nor was one of another page.
            let pages = &mut self.driver.app.pages;
            let (card, serial) = match picture.scene.stage {
                Stage::Thread(_) => (&mut pages.thread.card, self.cards.1),
                _ => (&mut pages.card, self.cards.0),
            };
            if let Some(serial) = serial {
                card.drawn(serial, seen.end_is_seen, now);
                card.bounded(serial, (seen.most / mouse::LINE).ceil() as usize);
            }
        }
        let rows = self.driver.app.drawn.page_rows;
        self.driver.app.pages.review.drawn_with(rows, now);
        self.driver.app.load_more_lines();
    }

    /// Does what the state wants done; says how it ended if that is the end.
    async fn carry_out(&mut self) -> Option<Ended> {
        if let Some(resize) = self.resize.take() {
            self.driver.send(Input::Resize(resize)).await;
        }
        for effect in self.driver.carry_out().await {
            match effect {
                // With the keyboard here no mark on the taskbar is seen.
                Effect::Bell if self.own.has_focus => {
                    self.own.is_flashing = true;
                    self.flash_until = Some(Instant::now() + FLASH);
                    self.driver.is_dirty = true;
                }
                Effect::Bell => (self.orders)(Order::Bell),
                Effect::Copy(copied) => {
                    self.copy(copied, &[ClipboardTarget::System, ClipboardTarget::Selection]);
                }
                Effect::CopyDragged(copied) => self.copy(copied, &[ClipboardTarget::Selection]),
                Effect::Clip(clip) => {
                    let target = match clip.target {
                        link::ClipTarget::Selection => ClipboardTarget::Selection,
                        link::ClipTarget::Clipboard => ClipboardTarget::System,
                    };
                    // What is too long for a clipboard is not put there.
                    let _ = self.options.clipboards.write(target, &clip.text);
                }
                Effect::Notice(notice) => self.notice(&notice),
                Effect::Paste(is_selection) => self.begin_paste(is_selection),
                Effect::Open(uri) => self.driver.calls.job((self.options.open)(uri), Ask::Quiet),
                Effect::Leave => return Some(Ended::Left),
                _ => {}
            }
        }
        None
    }

    /// Both clipboards get what a person copies, as in other windows; only that of selections what a drag
    /// selected. That it is copied is said once the desktop has it in the first of them.
    fn copy(&mut self, copied: link::Copied, targets: &[ClipboardTarget]) {
        let clipboards = self.options.clipboards.clone();
        let written = targets.iter().try_for_each(|to| clipboards.write(*to, &copied.text));
        let (Ok(()), Some(first)) = (written, targets.first().copied()) else {
            self.driver.is_dirty = true;
            return self.driver.app.warn("too long for a clipboard: nothing was copied");
        };
        let job = Box::pin(async move {
            let taken = clipboards.taken(first).await;
            taken.map_err(|error| format!("{error}; paste works in this window only"))
        });
        self.driver.calls.job(job, Ask::Copied(copied, "copied".to_owned()));
    }

    fn pixels(&self) -> Option<link::Pixels> {
        let cell = self.picture.as_ref()?.layout.grid.cell;
        let (window, scale) = (self.own.window, f64::from(self.own.scale));
        Some(link::Pixels {
            width: f64::from(window.width),
            height: f64::from(window.height),
            cell: (f64::from(cell.width), f64::from(cell.height)),
            scale,
            sidebar: self.own.sidebar.map(f64::from),
        })
    }

    /// The window has another size, or pixels of another size.
    fn resized(&mut self, window: WindowSize, scale: f32) {
        self.own.window = window;
        self.own.scale = scale;
        self.driver.is_dirty = true;
        // A picture of the old size is not waited for.
        self.drawing = None;
    }
}

/// Seconds that the clock here is ahead of UTC.
fn utc_offset(wall: i64) -> i32 {
    let now = jiff::Timestamp::from_millisecond(wall).unwrap_or_default();
    jiff::tz::TimeZone::system().to_offset(now).seconds()
}

/// What tests wait for.
fn facts(app: &App, cx: &Cx<'_>) -> Facts {
    let scene = cx.picture.scene();
    let over = [
        (app.lost.is_some(), "lost"),
        (app.question.is_some() || scene.dialog.iter().flatten().next().is_some(), "dialog"),
        (app.menu.is_some(), "menu"),
        (scene.palette.iter().flatten().next().is_some(), "palette"),
        (app.rename.is_some() || rookery_face::app::renamed(cx).is_some(), "rename"),
        (app.find.is_some(), "find"),
        (app.copy.is_some(), "copy"),
        (app.pages.new_thread.is_open, "new"),
    ];
    let panes = scene.panes.as_ref().and_then(Option::as_ref);
    let areas = panes.iter().flat_map(|panes| &panes.areas);
    let pointer = |area: &link::Area| {
        let wanted = cx.picture.term(area.t)?.pointer()?;
        Some((area.t, wanted.to_owned()))
    };
    Facts {
        pointers: areas.filter_map(pointer).collect(),
        page: scene.page.as_ref().map_or("workspace", Page::word),
        terminal: App::focused(cx),
        panes: panes.map_or(0, |panes| panes.areas.len()),
        over: over.into_iter().find(|(is_open, _)| *is_open).map(|(_, word)| word),
        waiting: scene.status.as_ref().map_or(0, |status| status.waiting),
        message: app.note.as_ref().map(|(_, text)| text.clone()),
        typed: app.rename.as_ref().or(app.palette.as_ref()).map(|it| it.text().to_owned()),
        is_over_link: app.hover.is_link(),
        takes_text: false,
    }
}

/// The newest picture, for the thread of the window.
pub(crate) fn slot() -> Slot {
    Arc::new(Mutex::new(None))
}
