//! The rim: the outer terminal, signals and the connection around the pure state.

pub(crate) mod calls;
mod signals;
mod tty;

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rookery_face::{Changed, Face, News};
use rookery_term::keys::decode::{self, Decoder, ESC_WAIT, Reply};
use rookery_view::link::{self, Bye, Notice, Open, Page, Rights, modes};
use rookery_wire::ClientError;

use self::calls::Calls;
use self::signals::{Signal, Signals};
use self::tty::Tty;
use crate::app::{App, Ask, Cx, Effect, Input, Lost, Surroundings};
use crate::draw::{Layout, draw};
use crate::look::{Look, line};
use crate::out::{Depth, Encoder, Modes, QUESTIONS};

/// How long a face waits for the daemon to come back before it starts one.
const START_AFTER: Duration = Duration::from_millis(500);

/// Something that is done outside and takes a while.
pub type Job = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

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
    pub around: Surroundings,
    /// Colors of the outer terminal.
    pub depth: Depth,
    /// The keyboard.
    pub keys: KeyProtocol,
    /// Whether a multiplexer answers in the terminal's place.
    pub is_multiplexed: bool,
    /// Starts a daemon, unless there is one.
    pub start: Arc<dyn Fn() -> Job + Send + Sync>,
    /// Puts a text into tmux's buffer.
    pub tmux: Arc<dyn Fn(String) -> Job + Send + Sync>,
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
    app: App,
    face: Face,
    calls: Calls,
    decoder: Decoder,
    encoder: Encoder,
    began: Instant,
    title: String,
    found: Option<link::Found>,
    is_dirty: bool,
    /// The frame that is being written, until the terminal has taken it.
    writing: Option<u64>,
    kitty: bool,
    start_at: Option<Instant>,
    /// When silence makes a key of a lone ESC.
    escape_at: Option<Instant>,
    /// The viewer is open and its first frame was applied: there is something to paint.
    has_picture: bool,
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
            app,
            face: Face::new(options.socket.clone(), open),
            calls: Calls::default(),
            decoder: Decoder::default(),
            encoder: Encoder::new(options.depth),
            began: Instant::now(),
            title: String::new(),
            found: None,
            is_dirty: false,
            writing: None,
            kitty: options.keys == KeyProtocol::Kitty,
            start_at: None,
            escape_at: None,
            has_picture: false,
            options,
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn go(&mut self, tty: &mut Tty, signals: &mut Signals) -> io::Result<Ended> {
        loop {
            if self.is_dirty && self.writing.is_none() && (self.has_picture || self.is_away()) {
                self.paint(tty).await;
            }
            let escape_at = self.escape_at;
            let start_at = self.start_at;
            tokio::select! {
                news = self.face.next() => match news {
                    Some(news) => {
                        if let Some(ended) = self.news(news) {
                            return Ok(ended);
                        }
                    }
                    None => return Ok(Ended::Refused("the daemon refused this face".to_owned())),
                },
                event = tty.next() => match event {
                    tty::Event::Typed(bytes) => {
                        let inputs = self.decoder.feed(&bytes);
                        // By the clock, so that frames which come meanwhile do not put it off.
                        let is_waiting = self.decoder.is_waiting();
                        self.escape_at = is_waiting.then(|| Instant::now() + ESC_WAIT);
                        self.inputs(tty, inputs);
                    }
                    tty::Event::Written => {
                        if self.writing.take() == Some(self.face.mirror().last()) {
                            self.face.painted().await;
                        }
                    }
                    tty::Event::Gone => return Ok(Ended::Left),
                },
                () = until(escape_at) => {
                    self.escape_at = None;
                    let inputs = self.decoder.timeout();
                    self.inputs(tty, inputs);
                }
                (ask, reply) = self.calls.next(), if !self.calls.is_empty() => {
                    let cx = cx(&self.face, self.now());
                    self.app.reply(&cx, ask, reply);
                    self.is_dirty = true;
                }
                signal = signals.next() => match signal {
                    Signal::End(signal) => return Ok(Ended::Signaled(signal)),
                    Signal::Resized => self.resized(),
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
                () = until(start_at) => {
                    self.start_at = None;
                    self.calls.job((self.options.start)(), Ask::Quiet);
                }
                () = next_minute() => self.is_dirty = true,
            }
            if self.carry_out(tty).await {
                return Ok(Ended::Left);
            }
        }
    }

    /// Whether the daemon is away, and was not just opened again.
    fn is_away(&self) -> bool {
        self.app.lost.is_some() && !self.face.is_open()
    }

    fn resized(&mut self) {
        self.app.resize(tty::size());
        self.is_dirty = true;
    }

    fn news(&mut self, news: News) -> Option<Ended> {
        self.is_dirty = true;
        match news {
            News::Opened(opened) => {
                self.start_at = None;
                // The old picture stays until the new one is here.
                self.has_picture = false;
                self.is_dirty = false;
                self.app.opened(&opened);
            }
            News::Changed(changed) => {
                self.has_picture = true;
                if self.app.lost.is_some() {
                    self.app.regain();
                }
                self.changed(&changed);
            }
            News::Lost(lost) => {
                let stopping = lost.bye == Some(Bye::Stopping);
                self.calls.clear();
                self.app.lose(Lost {
                    stopping,
                    next_try: None,
                    unsure: lost.unsent,
                    text: lost.text,
                });
                self.start_at = (!stopping).then(|| Instant::now() + START_AFTER);
            }
            News::Refused(error) => return Some(Ended::Refused(refusal(&error))),
        }
        None
    }

    fn changed(&mut self, changed: &Changed) {
        let now = self.now();
        let cx = cx(&self.face, now);
        self.app.changed(&cx);
        self.app.cards(&cx, &changed.cards);
        self.app.threads(&changed.threads);
        let notices: Vec<Notice> = changed.notices.clone();
        self.app.notices(&notices);
        if let Some(clip) = &changed.clip {
            self.app.clip(clip);
        }
        for t in &changed.terms {
            let found = self.face.mirror().term(*t).and_then(|term| term.found.clone());
            if let Some(found) = found
                && self.found.as_ref() != Some(&found)
            {
                self.app.found_more(*t, &found);
                self.found = Some(found);
            }
        }
    }

    fn inputs(&mut self, tty: &mut Tty, inputs: Vec<decode::Input>) {
        for input in inputs {
            let now = self.now();
            let cx = cx(&self.face, now);
            match input {
                decode::Input::Key(press) => self.app.key(&cx, &press),
                decode::Input::Mouse(event) => self.app.mouse(&cx, &event),
                decode::Input::Focus(has) => self.app.focus(has),
                decode::Input::Paste { text, is_cut } => self.app.paste(&cx, text, is_cut),
                decode::Input::Reply(Reply::Attributes(attributes)) => {
                    self.app.attributes = Some(attributes);
                }
                decode::Input::Reply(Reply::KeyboardFlags(_)) => {
                    let is_wanted = self.options.keys == KeyProtocol::Auto;
                    if is_wanted && !self.options.is_multiplexed {
                        self.kitty = true;
                        tty.change(Modes { kitty: Some(1), ..tty.modes() });
                    }
                }
            }
            self.is_dirty = true;
        }
    }

    async fn paint(&mut self, tty: &mut Tty) {
        self.is_dirty = false;
        let now = self.now();
        let cx = cx(&self.face, now);
        let colors = self.app.settings.colors.clone();
        let depth = Look::depth(&colors, self.options.depth);
        self.encoder.set_depth(depth);
        let theme = cx.picture.scene().theme.as_ref();
        let around = &self.options.around;
        let look = Look::new(theme, &colors, depth, around.utf8, around.plain);
        let picture = draw(&self.app, &cx, &look);
        self.wanted_modes(&cx, tty);
        self.set_title(tty);
        self.app.pages.review.drawn(now);
        let (drawn, room, is_single) = (picture.drawn, picture.room, picture.is_single);
        if self.app.lost.is_none() {
            self.app.tell_room(room, is_single);
        }
        let card = drawn.card;
        self.app.drawn(drawn, now);
        if let Some((serial, end_is_seen)) = card {
            self.app.pages.thread.card.drawn(serial, end_is_seen, now);
        }
        let bytes = self.encoder.frame(picture.canvas, picture.caret);
        if bytes.is_empty() {
            self.face.painted().await;
        } else {
            self.writing = Some(self.face.mirror().last());
            tty.write_frame(bytes);
        }
        self.carry_out(tty).await;
    }

    /// Modes of the outer terminal that follow the program that has the keyboard.
    fn wanted_modes(&self, cx: &Cx<'_>, tty: &mut Tty) {
        let types = self.app.is_typing_into_program(cx);
        let term = App::focused(cx).and_then(|t| cx.picture.term(t)).filter(|_| types);
        let has = |bit| term.is_some_and(|term| term.modes() & bit != 0);
        let mouse = self.app.settings.mouse;
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
        let scene = self.face.mirror().scene();
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
        for effect in self.app.take_effects() {
            match effect {
                Effect::Input(input) => self.send(input).await,
                Effect::Notify(method, params) => {
                    // A connection that broke is noticed by its task.
                    let _ = self.face.tell(method, &params).await;
                }
                Effect::Call(ask, method, params) => {
                    self.calls.call(self.face.client(), ask, method, params).await;
                }
                Effect::Write(bytes) => tty.write(bytes),
                Effect::Tmux(text, say) => {
                    let ask = say.map_or(Ask::Quiet, Ask::Say);
                    self.calls.job((self.options.tmux)(text), ask);
                }
                // A face in a terminal copies through that terminal, and hands addresses over as text.
                Effect::Clipboard(..) | Effect::Paste(_) | Effect::Open(_) => {}
                Effect::StartDaemon => self.calls.job((self.options.start)(), Ask::Quiet),
                Effect::Leave => return true,
            }
        }
        false
    }

    async fn send(&mut self, input: Input) {
        let sent = match input {
            Input::Key(t, press) => self.face.key(calls::wire_key(t, &press)).await,
            Input::Mouse(mouse) => self.face.mouse(mouse).await,
            Input::Focus(has) => self.face.focus(link::Focus { n: 0, has, visible: true }).await,
            Input::Resize(resize) => self.face.resize(resize).await,
        };
        if sent.is_err() {
            self.app.note = Some((link::Tone::Warn, "not sent".to_owned()));
        }
    }
}

fn cx(face: &Face, now: u64) -> Cx<'_> {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Cx { picture: face.mirror(), now, wall: i64::try_from(wall.as_millis()).unwrap_or(i64::MAX) }
}

/// Why the daemon refuses, and what helps.
pub fn refusal(error: &ClientError) -> String {
    match error {
        ClientError::Rpc(error) if error.code == -32011 => {
            "the daemon is of another version; `rookery restart` replaces it with this one"
                .to_owned()
        }
        ClientError::Rpc(error) if error.code == -32601 => {
            "the daemon is older than this program; `rookery restart` replaces it".to_owned()
        }
        error => error.to_string(),
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// Ages change at most once a minute.
async fn next_minute() {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let left = 60 - wall.as_secs() % 60;
    tokio::time::sleep(Duration::from_secs(left)).await;
}
