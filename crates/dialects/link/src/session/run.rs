//! The task that sends a viewer its frames. It sleeps until something that the viewer shows has changed,
//! reads the newest state, and sends what is new of it, never faster than the viewer paints.

mod pace;
mod terminals;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_all;
use rookery_core::{Changes, Clipboard, Core, EndReason, Page, Progress, Shows};
use rookery_model::{TerminalId, ViewerId};
use rookery_term::Mark;
use rookery_view::link::{self, Bye, Clip, ClipTarget, Found, Frame};
use rookery_wire::{ConnectionHandle, rpc};
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use self::pace::Pace;
use super::branches::{BRANCHES, CHANGES};
use super::notices::Notices;
use super::threads::OpenThread;
use super::{Entered, Opened, Session, State, cards, scene};

/// How long a stop is waited for to say whether another daemon follows.
const WORD: Duration = Duration::from_secs(1);
/// How long input may take to be given to a program before a frame goes without it.
const GIVING: Duration = Duration::from_millis(1);
/// What all viewers show besides terminals.
const SHOWS: &[Shows] = &[
    Shows::Checkpoints,
    Shows::Queue,
    Shows::Requests,
    Shows::Reviews,
    Shows::Seats,
    Shows::Terminals,
    Shows::Threads,
    Shows::Workspace,
];

/// Starts to send frames. The viewer ends with its connection.
pub(crate) fn start(
    core: &Core,
    connection: &ConnectionHandle,
    session: &Arc<Session>,
    opened: Opened,
    entered: Entered,
) {
    let mut runner = Runner {
        pace: Pace::new(opened.fps),
        viewer: opened.viewer,
        changes: core.log().changes(SHOWS),
        clips: core.seats().clips(),
        raises: core.seats().raise_requests(),
        shots: core.seats().picture_news(),
        core: core.clone(),
        connection: connection.clone(),
        session: Arc::clone(session),
        opened,
        progress: HashMap::new(),
        open: None,
        page: None,
        marks: HashMap::new(),
        found: HashMap::new(),
        notices: Notices::new(core),
        cards: Vec::new(),
        clips_due: Vec::new(),
        is_raised: false,
        is_scene_due: true,
        is_due: true,
    };
    let (core, viewer) = (core.clone(), runner.viewer);
    let (over, session) = (connection.outbox().clone(), Arc::clone(session));
    tokio::spawn(async move {
        let seats = core.seats();
        let bye = tokio::select! {
            // Whoever sends frames notices a stop as well, but not which.
            biased;
            bye = session.closed() => Some(bye),
            why = seats.viewer_end(viewer) => Some(match why {
                EndReason::Stopping => Bye::Stopping,
                EndReason::Restarting => Bye::Restarting,
                EndReason::Revoked => Bye::Revoked,
                EndReason::Replaced => Bye::Replaced,
            }),
            () = over.cancelled() => None,
            bye = runner.run() => bye,
        };
        let bye = match bye {
            // The news ended before the word about it came.
            Some(Bye::Stopping) => match timeout(WORD, seats.viewer_end(viewer)).await {
                Ok(EndReason::Restarting) => Some(Bye::Restarting),
                _ => bye,
            },
            bye => bye,
        };
        if let Some(bye) = bye {
            runner.send_goodbye(bye).await;
        }
        over.cancelled().await;
        entered.leave().await;
    });
}

/// Waits until something happens in the open thread; true if it may show around it as well.
async fn next_news(core: &Core, open: &mut Option<OpenThread>) -> bool {
    match open {
        Some(open) => open.wait(core).await,
        None => std::future::pending().await,
    }
}

struct Runner {
    core: Core,
    connection: ConnectionHandle,
    session: Arc<Session>,
    opened: Opened,
    viewer: ViewerId,
    changes: Changes,
    clips: broadcast::Receiver<(Clipboard, String)>,
    raises: watch::Receiver<u64>,
    /// Pictures that windows are asked for.
    shots: watch::Receiver<u64>,
    /// How far the terminals have come that are shown.
    progress: HashMap<TerminalId, watch::Receiver<Progress>>,
    /// The thread that is open.
    open: Option<OpenThread>,
    /// The page of the last frame.
    page: Option<Page>,
    /// Up to where the last frame had the terminals that are shown.
    marks: HashMap<TerminalId, Mark>,
    /// What searches have found that go on.
    found: HashMap<TerminalId, Found>,
    pace: Pace,
    notices: Notices,
    cards: Vec<link::CardNews>,
    /// The newest text for each clipboard.
    clips_due: Vec<Clip>,
    is_raised: bool,
    /// Whether something around terminals may have changed.
    is_scene_due: bool,
    is_due: bool,
}

impl Runner {
    /// Sends frames until the connection or the daemon is gone, or this one does not keep up.
    async fn run(&mut self) -> Option<Bye> {
        loop {
            self.follow();
            if !self.is_due && self.wait_or_report_input().await.is_err() {
                return Some(Bye::Stopping);
            }
            if !self.is_due {
                continue;
            }
            if self.wait_for_room().await.is_err() {
                return Some(Bye::Stalled);
            }
            self.wait_for_pace().await;
            // Sizes follow from who shows what by now.
            self.core.seats().settle_sizes().await;
            self.is_due = false;
            // Input that is just being given is told with what comes of it, and not by a frame of its own.
            let _ = timeout(GIVING, self.session.input_turn.lock()).await;
            self.find().await;
            if let Some(open) = &mut self.open {
                open.read_edits(&self.core).await;
            }
            if let Some(frame) = self.frame()
                && let Err(bye) = self.send(&frame, self.core.seats().viewer_patience()).await
            {
                return bye;
            }
        }
    }

    /// Follows what is shown now.
    fn follow(&mut self) {
        let shown = self.shown();
        self.progress.retain(|id, _| shown.contains(id));
        for id in shown {
            if !self.progress.contains_key(&id)
                && let Ok(handle) = self.core.terminals().get(id)
            {
                self.progress.insert(id, handle.progress());
                self.is_due = true;
            }
        }
        self.follow_thread();
    }

    fn follow_thread(&mut self) {
        let (open, new) = self.session.look(|state| (state.thread, state.opening.take()));
        if let Some(mut new) = new {
            // What was reported of it as it was open before may come after the reply that opened it again.
            if self.open.as_ref().is_some_and(|open| open.id() == new.id()) {
                new.resend();
            }
            self.open = Some(new);
        }
        self.open.take_if(|it| Some(it.id()) != open);
    }

    fn shown(&self) -> Vec<TerminalId> {
        match self.opened.wants_rows {
            true => self.core.seats().shown(self.viewer),
            false => Vec::new(),
        }
    }

    /// Sleeps until there is something new. That the kernel has some input is told by itself only if
    /// nothing comes of it for as long as one frame may take.
    async fn wait_or_report_input(&mut self) -> Result<(), ()> {
        let Some(since) = self.session.look(|state| state.input_since) else {
            return self.wait().await;
        };
        match timeout_at(since + self.pace.period(), self.wait()).await {
            Ok(waited) => waited,
            Err(_) => {
                self.is_due = true;
                Ok(())
            }
        }
    }

    /// Sleeps until there is something new.
    async fn wait(&mut self) -> Result<(), ()> {
        let progress = self
            .progress
            .iter_mut()
            .map(|(id, it)| Box::pin(async { it.changed().await.map_err(|_| *id) }));
        let progress: Vec<_> = progress.collect();
        let printed = async {
            match progress.is_empty() {
                true => std::future::pending().await,
                false => select_all(progress).await.0,
            }
        };
        let told = next_news(&self.core, &mut self.open);
        tokio::select! {
            changed = self.changes.next() => {
                changed.map_err(drop)?;
                (self.is_scene_due, self.is_due) = (true, true);
            }
            gone = printed => {
                self.is_due = true;
                if let Err(id) = gone {
                    self.progress.remove(&id);
                }
            }
            () = self.session.woken() => {
                self.take_due();
            }
            Ok((target, text)) = self.clips.recv() => {
                if self.opened.wants_clips && self.core.seats().is_desk(self.viewer) {
                    let target = match target {
                        Clipboard::System => ClipTarget::Clipboard,
                        Clipboard::Selection => ClipTarget::Selection,
                    };
                    self.clips_due.retain(|clip| clip.target != target);
                    self.clips_due.push(Clip { target, text });
                    self.is_due = true;
                }
            }
            Ok(()) = self.raises.changed() => {
                if self.core.seats().is_newest_window(self.viewer) {
                    (self.is_raised, self.is_due) = (true, true);
                }
            }
            // What was done before is in the picture, so all is read anew.
            Ok(()) = self.shots.changed() => {
                if self.core.seats().has_picture_ask(self.viewer) {
                    (self.is_scene_due, self.is_due) = (true, true);
                }
            }
            shows_around = told => {
                self.is_due |= self.open.as_ref().is_some_and(OpenThread::is_due);
                self.is_scene_due |= shows_around;
            }
        }
        Ok(())
    }

    /// While the viewer has not painted what it got, only marks are kept.
    async fn wait_for_room(&mut self) -> Result<(), ()> {
        let stalled = Instant::now() + self.core.seats().viewer_patience();
        while !self.session.has_room() {
            tokio::select! {
                () = self.session.woken() => self.follow_thread(),
                // News of the thread must not pile up for all who read them.
                shows_around = next_news(&self.core, &mut self.open) => {
                    self.is_scene_due |= shows_around;
                }
                () = sleep_until(stalled) => return Err(()),
            }
        }
        // Being woken for room may have been for something else as well.
        self.take_due();
        Ok(())
    }

    fn take_due(&mut self) {
        let (is_due, is_scene_due) = self.session.look(State::take_due);
        self.is_due |= is_due;
        self.is_scene_due |= is_scene_due;
    }

    /// The newest state of all that changed, if anything did.
    fn frame(&mut self) -> Option<Frame> {
        let mut rest = Frame::default();
        // Read first: what the kernel has by now is in the state that follows, or comes after it.
        let (input, since, is_asked) = self.session.look(|state| {
            let is_asked = std::mem::take(&mut state.is_input_asked);
            (state.input.accepted(), state.input_since.take(), is_asked)
        });
        let is_input_due =
            is_asked || since.is_some_and(|since| since + self.pace.period() <= Instant::now());
        let (resync, refusals) = self.session.look(|state| {
            let resync = std::mem::take(&mut state.resync);
            state.differ.resync(&resync);
            // An input may have been taken since this task was woken; what came before it shows.
            self.is_scene_due |= state.take_due().1;
            (resync, std::mem::take(&mut state.refusals))
        });
        let is_scene_due = std::mem::take(&mut self.is_scene_due) || resync.scene;
        if resync.scene {
            // News may have been lost with it.
            self.cards.clear();
            self.open.iter_mut().for_each(OpenThread::resend);
        }
        let is_visible = self.core.seats().viewer(self.viewer).is_ok_and(|it| it.is_visible);
        if is_scene_due {
            self.leave_page();
            let scene = scene::make(&self.core, &self.session, self.viewer);
            self.session.look(|state| state.differ.scene(&scene));
        }
        if is_scene_due && is_visible {
            let projects = self.core.workspace().projects();
            let roots = projects.into_iter().map(|it| it.root).collect();
            self.session.look_at(&self.core, &BRANCHES, roots);
            let dirs = scene::work_dirs(&self.core);
            self.session.look_at(&self.core, &CHANGES, dirs);
            rest.cards = cards::news(&self.core, &self.session, &mut self.cards);
        }
        self.send_terminals();
        // Who cannot be seen is told when it can be again.
        if let Some(open) = self.open.as_mut().filter(|_| is_visible) {
            rest.threads = open.take(&self.core);
            self.is_due |= open.is_due();
        }
        if self.opened.wants_notices && is_scene_due {
            rest.notices = self.notices.news(&self.core, self.viewer);
        }
        rest.notices.extend(refusals.into_iter().map(|text| self.notices.refusal(text)));
        if is_visible {
            rest.clip = self.clips_due.pop();
            self.is_due |= !self.clips_due.is_empty();
        }
        // Also of a window that is minimized: it is what brings it back.
        rest.raise = std::mem::take(&mut self.is_raised);
        if is_scene_due && let Some(size) = self.core.seats().next_size_ask(self.viewer) {
            let whole = |points: f32| points.round() as u32;
            let (width, height) = (whole(size.width), whole(size.height));
            rest.resize = Some(link::WindowPoints { width, height });
        }
        if is_scene_due && let Some(asked) = self.core.seats().next_picture_ask(self.viewer) {
            rest.shoot = Some(link::Shoot { ask: asked.ask, scale: asked.scale });
            let has_more = self.core.seats().has_picture_ask(self.viewer);
            self.is_due |= has_more;
            self.is_scene_due |= has_more;
        }
        let (frame, is_behind, is_scene_behind) = self.session.look(|state| {
            // By itself it would hold up what comes of it, which is about to come.
            let is_told = is_input_due || !rest.is_empty() || state.differ.has_news();
            if !is_told {
                state.input_since = since.or(state.input_since);
            }
            let frame = state.differ.finish(if is_told { input } else { 0 }, rest);
            (frame, state.differ.is_behind(), state.differ.is_scene_behind())
        });
        // What is left, of rows, styles or parts, comes with the next.
        self.is_due |= is_behind;
        self.is_scene_due |= is_scene_behind;
        frame
    }

    /// What was open on a page that was left is not any more.
    fn leave_page(&mut self) {
        let Ok(viewer) = self.core.seats().viewer(self.viewer) else { return };
        let has_card = |page: &Page| matches!(page, Page::Inbox(_) | Page::Thread(_));
        let (before, now) = (self.page.replace(viewer.page.clone()), viewer.page);
        let Some(before) = before.filter(|before| *before != now) else { return };
        self.session.look(|state| {
            if let Page::Thread(left) = before {
                state.thread.take_if(|open| *open == left);
            }
            if has_card(&before) && !has_card(&now) {
                state.card = None;
            }
        });
        self.follow_thread();
    }

    /// Sends a frame. What else the connection carries may have filled it: that is waited for as a viewer is that
    /// does not paint. An error says with which word this ends, if with any.
    async fn send(&mut self, frame: &Frame, patience: Duration) -> Result<(), Option<Bye>> {
        self.pace.sent(Instant::now());
        let body = rpc::notification(link::FRAME, frame).map_err(|error| {
            tracing::error!(%error, "a frame cannot be written as JSON");
            None
        })?;
        let outbox = self.connection.outbox().clone();
        let mut sent = pin!(outbox.send(body));
        let stalled = Instant::now() + patience;
        loop {
            tokio::select! {
                biased;
                sent = &mut sent => return sent.map_err(|_| None),
                // News of the thread must not pile up for all who read them.
                shows_around = next_news(&self.core, &mut self.open) => {
                    self.is_scene_due |= shows_around;
                }
                () = sleep_until(stalled) => return Err(Some(Bye::Stalled)),
            }
        }
    }

    async fn send_goodbye(&mut self, bye: Bye) {
        let rest = Frame { bye: Some(bye), ..Frame::default() };
        let last = self.session.look(|state| state.differ.finish(0, rest));
        if let Some(frame) = last {
            // The connection ends either way, and soon.
            let _ = self.send(&frame, WORD).await;
        }
        match bye {
            // Who asked for the stop is still answered.
            Bye::Stopping if !self.session.is_ending() => self.connection.finish(),
            Bye::Stopping | Bye::Restarting | Bye::Revoked | Bye::Stalled | Bye::Replaced => {
                self.connection.dismiss(bye.close_code());
            }
        }
    }
}
