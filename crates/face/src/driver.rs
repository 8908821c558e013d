//! What goes on between a face and the daemon, the same for every face: frames into the state, its
//! calls and their answers, the way back after the daemon was away. Painting and the person's side are
//! the face's own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rookery_view::link::method::Call;
use rookery_view::link::{self, Bye, Found, Open, Tone};

use crate::app::{App, Ask, Cx, Effect, Input, Lost, Moves, moves};
use crate::calls::{Calls, Job, refusal, wire_key};
use crate::client::{Face, News};
use crate::mirror::Changed;

/// How long a face waits for the daemon to come back before it starts one.
const START_AFTER: Duration = Duration::from_millis(500);

/// Starts a daemon, unless there is one.
pub type Start = Arc<dyn Fn() -> Job + Send + Sync>;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The viewer is open, for the first time or again.
    Opened,
    /// A frame came.
    Changed {
        /// A window shall come to the front.
        raise: bool,
        /// A picture of what is shown now is asked for.
        shoot: Option<link::Shoot>,
        /// A window shall have this size.
        resize: Option<link::WindowPoints>,
    },
    /// The daemon is away.
    Lost,
    /// An answer came, or time passed.
    Other,
}

/// State, connection and calls of a face.
pub struct Driver {
    /// What the person does and sees.
    pub app: App,
    /// The connection, and the mirror of what came.
    pub face: Face,
    /// Calls and jobs that are under way.
    pub calls: Calls,
    /// Something may look different now.
    pub is_dirty: bool,
    /// Whether the face can be seen at all.
    pub is_visible: bool,
    /// The pixels that the daemon is informed of together with a size.
    pub pixels: Option<link::Pixels>,
    start: Start,
    start_at: Option<Instant>,
    began: Instant,
    found: Option<Found>,
    /// The viewer is open and its first frame was applied.
    has_picture: bool,
}

impl Driver {
    /// Connects. Must be called inside a runtime.
    pub fn new(socket: PathBuf, open: Open, mut app: App, start: Start) -> Driver {
        app.around.name.clone_from(&open.name);
        Driver {
            app,
            face: Face::new(socket, open),
            calls: Calls::default(),
            is_dirty: false,
            is_visible: true,
            pixels: None,
            start,
            start_at: None,
            began: Instant::now(),
            found: None,
            has_picture: false,
        }
    }

    /// Milliseconds since the face began.
    pub fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Does something with the state and what is seen now.
    pub fn with<R>(&mut self, act: impl FnOnce(&mut App, &Cx<'_>) -> R) -> R {
        let cx = cx(&self.face, self.now());
        self.is_dirty = true;
        act(&mut self.app, &cx)
    }

    /// Whether there is something new to paint. After a return the old picture stays until the new
    /// one is here.
    pub fn wants_paint(&self) -> bool {
        let is_away = self.app.lost.is_some() && !self.face.is_open();
        self.is_dirty && (self.has_picture || is_away)
    }

    /// Waits for what happens next and does what every face does about it. May be dropped at any time.
    ///
    /// # Errors
    /// With the reason, if the daemon refuses this face.
    pub async fn next(&mut self) -> Result<Step, String> {
        let start_at = self.start_at;
        let toast_end = self.app.next_toast_end().map(|at| self.began + Duration::from_millis(at));
        let since = self.app.lost.as_ref().map_or(0, |lost| lost.since);
        let away = self.now().saturating_sub(since);
        tokio::select! {
            news = self.face.next() => match news {
                Some(news) => self.news(news),
                None => Err("the daemon refused the connection".to_owned()),
            },
            (ask, reply) = self.calls.next(), if !self.calls.is_empty() => {
                self.with(|app, cx| app.reply(cx, ask, reply));
                Ok(Step::Other)
            }
            () = until(start_at) => {
                self.start_at = None;
                self.calls.job((self.start)(), Ask::Quiet);
                Ok(Step::Other)
            }
            () = until(toast_end) => {
                self.app.end_toasts(self.now());
                self.is_dirty = true;
                Ok(Step::Other)
            }
            () = next_minute(), if self.is_visible => {
                self.is_dirty = true;
                Ok(Step::Other)
            }
            () = next_second(away), if self.is_visible && self.app.lost.is_some() => {
                self.is_dirty = true;
                Ok(Step::Other)
            }
        }
    }

    fn news(&mut self, news: News) -> Result<Step, String> {
        self.is_dirty = true;
        Ok(match news {
            News::Opened(opened) => {
                self.start_at = None;
                self.has_picture = false;
                self.app.opened(&opened);
                Step::Opened
            }
            News::Changed(changed) => {
                self.has_picture = true;
                if self.app.lost.is_some() {
                    self.app.regain();
                }
                self.changed(&changed);
                Step::Changed { raise: changed.raise, shoot: changed.shoot, resize: changed.resize }
            }
            News::Lost(lost) => {
                let stopping = lost.bye == Some(Bye::Stopping);
                self.calls.clear();
                self.app.lose(Lost {
                    stopping,
                    since: self.now(),
                    unsure: lost.unsent,
                    text: lost.text,
                });
                self.start_at = (!stopping).then(|| Instant::now() + START_AFTER);
                Step::Lost
            }
            News::Refused(error) => return Err(refusal(&error)),
        })
    }

    fn changed(&mut self, changed: &Changed) {
        let cx = cx(&self.face, self.now());
        self.app.changed(&cx);
        self.app.cards(&changed.cards);
        self.app.threads(&changed.threads);
        self.app.notices(&changed.notices, self.now());
        if let Some(clip) = &changed.clip {
            self.app.clip(clip);
        }
        if let Some(input) = changed.input {
            self.app.accepted(&cx, input);
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

    /// Does what the state wants done by the daemon; the rest is the face's to do, in order.
    pub async fn carry_out(&mut self) -> Vec<Effect> {
        let mut rest = Vec::new();
        for effect in self.app.take_effects() {
            match effect {
                Effect::Input(input) => self.send(input).await,
                Effect::Notify(method, params) => {
                    // A connection that broke is noticed by its task.
                    let _ = self.face.notify_call(Call { method, params }).await;
                }
                Effect::Call(ask, method, params) => {
                    let call = Call { method, params };
                    let ask = match moves(&ask, &call) {
                        Moves::Nothing => ask,
                        Moves::Rows | Moves::Place => Ask::Moving(Box::new(ask)),
                    };
                    self.calls.call(self.face.client(), ask, call).await;
                }
                Effect::StartDaemon => self.calls.job((self.start)(), Ask::Quiet),
                own => rest.push(own),
            }
        }
        rest
    }

    /// Sends input that is numbered.
    pub async fn send(&mut self, input: Input) {
        // What no user typed is not refused aloud; a size is kept for the next opening.
        let is_typed = matches!(input, Input::Key(..) | Input::Text(..) | Input::Mouse(_));
        let visible = self.is_visible;
        let sent = match input {
            Input::Key(t, press) => self.face.key(wire_key(t, &press)).await,
            Input::Mouse(mouse) => self.face.mouse(mouse).await,
            Input::Focus(has) => {
                self.face.focus(link::Focus { n: 0, has, visible }).await.map(drop)
            }
            Input::Text(t, text) => self.face.text(link::Text { n: 0, t, text }).await,
            Input::Fence => {
                let has = self.app.has_focus;
                let focus = link::Focus { n: 0, has, visible };
                self.face.focus(focus).await.map(|number| self.app.fenced(number))
            }
            Input::Resize(mut resize) => {
                resize.pixels = self.pixels;
                self.face.resize(resize).await
            }
        };
        if sent.is_err() && is_typed {
            self.app.note = Some((Tone::Warn, "not sent".to_owned()));
            self.is_dirty = true;
        }
    }
}

/// What is seen at a moment.
pub fn cx(face: &Face, now: u64) -> Cx<'_> {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Cx { picture: face.mirror(), now, wall: i64::try_from(wall.as_millis()).unwrap_or(i64::MAX) }
}

/// Waits for a moment, forever if there is none.
pub async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// How long the daemon is away is said in whole seconds.
async fn next_second(away: u64) {
    tokio::time::sleep(Duration::from_millis(1000 - away % 1000)).await;
}

/// Ages change at most once a minute.
async fn next_minute() {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    tokio::time::sleep(Duration::from_secs(60 - wall.as_secs() % 60)).await;
}
