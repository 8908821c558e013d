//! The rim: the outer terminal, signals and the connection around the pure state.

mod signals;
mod tty;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rookery_face::app::{App, Ask, Cx, Effect, Environment};
use rookery_face::calls::Job;
use rookery_face::driver::{cx, until};
use rookery_face::words::line;
use rookery_face::{Driver, Start};
use rookery_term::keys::decode::{self, Decoder, ESC_WAIT, Reply};
use rookery_view::link::{self, Notice, Open, Page, Rights, modes};

use self::signals::{Signal, Signals};
use self::tty::Tty;
pub use self::tty::typed;
use crate::draw::{Layout, draw};
use crate::look::Look;
use crate::out::{Depth, Encoder, Modes, QUESTIONS, Route, copied_message, notice, osc52};

/// How keys come from the outer terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyProtocol {
    /// As the terminal answers.
    #[default]
    Auto,
    /// Never more than legacy keys.
    Legacy,
    /// The kitty protocol, unasked.
    Kitty,
}

/// Everything that a run needs from outside.
pub struct Options {
    /// The daemon's socket.
    pub socket: PathBuf,
    /// What other viewers see of this one.
    pub name: String,
    /// Only looks.
    pub look: bool,
    /// Checksums in frames.
    pub check: bool,
    /// The page to begin with.
    pub page: Option<Page>,
    /// Terminals keep their sizes.
    pub follow: bool,
    /// The inbox begins with what only informs.
    pub all_notes: bool,
    /// The surrounding.
    pub around: Environment,
    /// What is between us and the person.
    pub outer: Outer,
    /// Colors of the outer terminal.
    pub depth: Depth,
    /// The keyboard.
    pub keys: KeyProtocol,
    /// Whether a multiplexer answers in the terminal's place.
    pub is_multiplexed: bool,
    /// Starts a daemon, unless there is one.
    pub start: Start,
    /// Puts a text into tmux's buffer.
    pub tmux: Arc<dyn Fn(String) -> Job + Send + Sync>,
}

/// What is known of the outer terminal, and does not change.
#[derive(Clone, Debug, Default)]
pub struct Outer {
    /// Whether tmux is between us and the terminal.
    pub in_tmux: bool,
    /// Whether the terminal is on another machine.
    pub is_remote: bool,
    /// Whether the terminal is known to take no OSC 52.
    pub lacks_osc52: bool,
    /// By which OSC the terminal shows notices: 9, 99 or 777.
    pub notify_osc: u16,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The user left.
    Left,
    /// A signal asked for it.
    Signaled(i32),
    /// The daemon refuses this face.
    Refused(String),
}

/// Runs until the user leaves.
///
/// # Errors
/// If the terminal cannot be used.
pub async fn run(options: Options) -> io::Result<Ended> {
    let mut signals = Signals::new()?;
    let mut tty = Tty::enter(Modes {
        kitty: (options.keys == KeyProtocol::Kitty).then_some(1),
        title: true,
        ..Modes::default()
    })?;
    tty.write(QUESTIONS.as_bytes().to_vec());
    let mut runner = Runner::new(options);
    let ended = runner.go(&mut tty, &mut signals).await;
    tty.leave().await;
    ended
}

struct Runner {
    options: Options,
    driver: Driver,
    decoder: Decoder,
    encoder: Encoder,
    title: String,
    /// The frame that is being written, until the terminal has taken it.
    writing: Option<u64>,
    kitty: bool,
    /// What the outer terminal said that it can do.
    attributes: Option<Vec<u16>>,
    /// When silence makes a key of a lone ESC.
    escape_at: Option<Instant>,
}

impl Runner {
    fn new(options: Options) -> Runner {
        let size = tty::size();
        let plain = options.around.plain;
        let layout = Layout::of(size, 22, false, plain);
        let open = Open {
            face: link::Face::Tui,
            name: options.name.clone(),
            size: link::Size { cols: layout.panes.cols, rows: layout.panes.rows },
            within: options.around.own_terminal,
            single: layout.is_single,
            rights: options.look.then_some(Rights::Look),
            fit: options.follow.then_some(link::Fit::Follow),
            place: options.page.clone(),
            check: options.check,
            ..Open::default()
        };
        let mut app = App::new(size, options.around.clone());
        app.pages.inbox.all = options.all_notes;
        Runner {
            driver: Driver::new(options.socket.clone(), open, app, options.start.clone()),
            decoder: Decoder::default(),
            encoder: Encoder::new(options.depth),
            title: String::new(),
            writing: None,
            kitty: options.keys == KeyProtocol::Kitty,
            attributes: None,
            escape_at: None,
            options,
        }
    }

    async fn go(&mut self, tty: &mut Tty, signals: &mut Signals) -> io::Result<Ended> {
        loop {
            if self.writing.is_none() && self.driver.wants_paint() {
                self.paint(tty).await;
            }
            let escape_at = self.escape_at;
            tokio::select! {
                step = self.driver.next() => {
                    if let Err(why) = step {
                        return Ok(Ended::Refused(why));
                    }
                }
                event = tty.next() => match event {
                    tty::Event::Typed(bytes) => {
                        let inputs = self.decoder.feed(&bytes);
                        // By the clock, so that frames which come meanwhile do not put it off.
                        let is_waiting = self.decoder.is_waiting();
                        self.escape_at = is_waiting.then(|| Instant::now() + ESC_WAIT);
                        self.inputs(tty, inputs);
                    }
                    tty::Event::Written => {
                        self.driver.app.painted(self.driver.now());
                        if self.writing.take() == Some(self.driver.face.mirror().last()) {
                            self.driver.face.painted().await;
                        }
                    }
                    tty::Event::Gone => return Ok(Ended::Left),
                },
                // Bytes that are there already are no silence, however late they are read.
                () = until(escape_at) => {
                    if tty.has_input() {
                        self.escape_at = Some(Instant::now() + ESC_WAIT);
                        continue;
                    }
                    self.escape_at = None;
                    let inputs = self.decoder.timeout();
                    self.inputs(tty, inputs);
                }
                signal = signals.next() => match signal {
                    Signal::End(signal) => return Ok(Ended::Signaled(signal)),
                    Signal::Resized => {
                        // It may have been smaller meanwhile, and lost what was written.
                        self.encoder.forget();
                        self.resized();
                    }
                    Signal::Stop => {
                        tty.suspend().await;
                        self.writing = None;
                        self.encoder.forget();
                        self.resized();
                    }
                    Signal::Continued => {
                        tty.assert_modes();
                        self.encoder.forget();
                        self.resized();
                    }
                },
            }
            if self.carry_out(tty).await {
                return Ok(Ended::Left);
            }
            // Who writes to the daemon is a task beside this one: what was typed goes out before anything is drawn.
            tokio::task::yield_now().await;
        }
    }

    fn resized(&mut self) {
        self.driver.app.resize(tty::size());
        self.driver.is_dirty = true;
    }

    fn inputs(&mut self, tty: &mut Tty, inputs: Vec<decode::Input>) {
        for input in inputs {
            let was_dirty = self.driver.is_dirty;
            match input {
                decode::Input::Key(press) => {
                    let shows = self.driver.with(|app, cx| app.shows_key(cx, &press));
                    self.driver.is_dirty = was_dirty || shows;
                    continue;
                }
                decode::Input::Mouse(event) => self.driver.with(|app, cx| app.mouse(cx, &event)),
                decode::Input::Focus(has) => self.driver.app.focus(has),
                decode::Input::Paste { text, is_cut } => {
                    self.driver.with(|app, cx| app.paste(cx, text, is_cut));
                }
                decode::Input::Reply(Reply::Attributes(attributes)) => {
                    self.attributes = Some(attributes);
                }
                decode::Input::Reply(Reply::KeyboardFlags(_)) => {
                    let is_wanted = self.options.keys == KeyProtocol::Auto;
                    if is_wanted && !self.options.is_multiplexed {
                        self.kitty = true;
                        tty.change(Modes { kitty: Some(1), ..tty.modes() });
                    }
                }
            }
            self.driver.is_dirty = true;
        }
    }

    async fn paint(&mut self, tty: &mut Tty) {
        self.driver.is_dirty = false;
        let now = self.driver.now();
        let cx = cx(&self.driver.face, now);
        let colors = self.driver.app.settings.colors.clone();
        let depth = Look::depth(&colors, self.options.depth);
        self.encoder.set_depth(depth);
        let theme = cx.picture.scene().theme.as_ref();
        let around = &self.options.around;
        let look = Look::new(theme, &colors, depth, around.utf8, around.plain);
        let picture = draw(&self.driver.app, &cx, &look);
        self.wanted_modes(&cx, tty);
        self.set_title(tty);
        let (drawn, room, is_single) = (picture.drawn, picture.room, picture.is_single);
        if self.driver.app.lost.is_none() {
            self.driver.app.set_room(room, is_single);
        }
        self.driver.app.drawn = drawn;
        let bytes = self.encoder.frame(picture.canvas, picture.caret);
        if bytes.is_empty() {
            self.driver.app.painted(now);
            self.driver.face.painted().await;
        } else {
            self.writing = Some(self.driver.face.mirror().last());
            tty.write_frame(bytes);
        }
        self.carry_out(tty).await;
    }

    /// Modes of the outer terminal that follow the program that has the keyboard.
    fn wanted_modes(&self, cx: &Cx<'_>, tty: &mut Tty) {
        let types = self.driver.app.is_typing_into_program(cx);
        let term = App::focused(cx).and_then(|t| cx.picture.term(t)).filter(|_| types);
        let has = |bit| term.is_some_and(|term| term.modes() & bit != 0);
        let mouse = self.driver.app.settings.mouse;
        let kitty = if has(modes::KITTY) { 31 } else { 1 };
        let wanted = Modes {
            mouse,
            motion: mouse && has(modes::MOTION),
            kitty: self.kitty.then_some(kitty),
            title: true,
        };
        tty.change(wanted);
    }

    fn set_title(&mut self, tty: &mut Tty) {
        let scene = self.driver.face.mirror().scene();
        let waiting = scene.status.as_ref().map_or(0, |status| status.waiting);
        let title = line(scene.title.as_deref().unwrap_or_default());
        let mut text =
            if title.is_empty() { "Rookery".to_owned() } else { format!("Rookery – {title}") };
        if waiting > 0 {
            text = format!("({waiting}) {text}");
        }
        if text != self.title {
            tty.write(format!("\x1b]2;{text}\x1b\\").into_bytes());
            self.title = text;
        }
    }

    /// Does what the state wants done; true if that is the end.
    async fn carry_out(&mut self, tty: &mut Tty) -> bool {
        for effect in self.driver.carry_out().await {
            match effect {
                Effect::Copy(copied) | Effect::CopyDragged(copied) => self.copy(&copied, tty),
                Effect::Clip(clip) if self.options.outer.in_tmux => {
                    self.driver.calls.job((self.options.tmux)(clip.text), Ask::Quiet);
                }
                Effect::Clip(clip) => tty.write(osc52(&clip.text)),
                Effect::Notice(Notice::New(new)) => {
                    let (title, body) = (line(&new.title), line(&new.body));
                    let text = if body.is_empty() { title } else { format!("{title}: {body}") };
                    let Outer { in_tmux, notify_osc, .. } = self.options.outer;
                    let told = notice(&text, &self.driver.app.settings.notify, in_tmux, notify_osc);
                    tty.write(told.unwrap_or_default());
                }
                Effect::Bell => tty.write(b"\x07".to_vec()),
                Effect::Leave => return true,
                // What was told to a terminal cannot be taken back. It pastes by itself, and gets
                // addresses as text; the rest was the driver's.
                _ => {}
            }
        }
        false
    }

    /// Through the outer terminal to the clipboard of whoever sits at it.
    fn copy(&mut self, copied: &link::Copied, tty: &mut Tty) {
        let outer = &self.options.outer;
        let attributes = self.attributes.as_deref();
        let route = Route::choose(outer.in_tmux, attributes, outer.is_remote, outer.lacks_osc52);
        let text = &copied.text;
        match route {
            // Said when tmux has taken it.
            Route::Tmux => {
                let job = (self.options.tmux)(text.clone());
                return self
                    .driver
                    .calls
                    .job(job, Ask::Copied(copied.clone(), copied_message(route, text.len())));
            }
            Route::Osc52 | Route::Osc52Unsure => tty.write(osc52(text)),
            Route::Daemon => {}
        }
        self.driver.app.has_copied(copied, &copied_message(route, text.len()));
        self.driver.is_dirty = true;
    }
}
