//! Viewers come, go about and leave; where the hands are is the desk.

use std::time::Duration;

use rookery_model::{Error, ErrorKind, Result, Size, TerminalId, ViewerId};
use rookery_view::scene::WindowSize;
use tokio::sync::watch;

use super::{
    Ending, Face, Fit, MAX_VIEWERS_OF_DEVICE, NewViewer, Page, TabHistory, Viewer, ViewerRights,
};
use crate::rooms::Seats;
use crate::seats::Seat;
use crate::world::{Active, Tx};

impl Seats {
    /// The same for one viewer. Without one it is about the desk, and without a desk about the window
    /// that the daemon itself imagines.
    #[must_use]
    pub fn of(&self, viewer: ViewerId) -> Seats {
        Seats { core: self.core.clone(), viewer: Some(viewer) }
    }

    /// Lets a viewer in. It begins where it was, else where the desk is, and is not the desk.
    pub fn enter(&self, new: NewViewer) -> Result<ViewerId> {
        let room = &self.core.inner.seats;
        let fit = if new.rights == ViewerRights::Full { new.fit } else { Fit::Follow };
        let (most, device) = (room.config.max_viewers, new.device.clone());
        let id = self.core.adjust(|world| {
            if world.viewers.len() >= most {
                return Err(Error::busy(format!("there are {most} viewers already")));
            }
            let id = world.last_viewer.next();
            let place = new.terminal.and_then(|id| world.terminals.get(&id));
            let at = place.map_or(world.active, |terminal| Active {
                project: Some(terminal.project),
                terminal: Some(terminal.id),
            });
            let viewing = world.viewing();
            *viewing.last_viewer = id;
            viewing.viewers.insert(
                id,
                Viewer {
                    id,
                    face: new.face,
                    name: new.name,
                    device: new.device,
                    rights: new.rights,
                    fit,
                    within: new.within,
                    room: new.room,
                    window: None,
                    is_single: new.is_single,
                    draws: new.draws,
                    page: new.page.unwrap_or_default(),
                    at,
                    is_placed: false,
                    tab_history: TabHistory::default(),
                    zoomed: None,
                    has_keyboard: false,
                    is_visible: true,
                },
            );
            Ok(id)
        })?;
        let mut state = room.state.lock();
        let seat = Seat { sidebar: state.headless.sidebar, ..Seat::default() };
        state.seats.insert(id, seat);
        drop(state);
        room.endings.lock().insert(id, Ending::new(None));
        if let Some(device) = device {
            self.make_room_on(&device, MAX_VIEWERS_OF_DEVICE);
        }
        Ok(id)
    }

    /// A viewer is gone, and nothing of it is kept. What the desk had is the imagined window's now.
    pub async fn leave(&self, id: ViewerId) {
        let before = self.core.look().focused();
        let was_desk = self.core.adjust(|world| {
            let viewing = world.viewing();
            let was_desk = *viewing.desk == Some(id);
            viewing.viewers.remove(&id);
            if was_desk {
                *viewing.desk = None;
            }
            was_desk
        });
        let effects = {
            let mut state = self.core.inner.seats.state.lock();
            let seat = state.seats.remove(&id);
            match seat {
                Some(seat) if was_desk => {
                    state.headless = seat;
                    state.rename_askers(Some(id), None);
                    Vec::new()
                }
                Some(mut seat) => seat.palette.dismiss(),
                None => Vec::new(),
            }
        };
        self.of(id).carry_out_quick(effects);
        self.core.inner.seats.endings.lock().remove(&id);
        self.core.inner.seats.shots.forget(id);
        for live in self.core.terminals().all_live() {
            live.with_engine(|engine| engine.displays.forget(id, was_desk));
        }
        self.core.inner.seats.sizes.forget(id);
        self.send_focus_changes(&before);
        self.settle_sizes().await;
    }

    /// Whether some viewer has the keyboard whose person could answer what is asked.
    pub fn has_keyboard(&self) -> bool {
        let decides = |viewer: &Viewer| viewer.rights >= ViewerRights::Decide;
        self.core.look().viewers.values().any(|viewer| viewer.has_keyboard && decides(viewer))
    }

    /// How long a viewer may leave frames unacknowledged while more waits.
    pub fn viewer_patience(&self) -> Duration {
        self.core.inner.seats.config.viewer_patience
    }

    /// All viewers, and which of them is the desk.
    pub fn viewers(&self) -> (Vec<Viewer>, Option<ViewerId>) {
        let world = self.core.look();
        (world.viewers.values().cloned().collect(), world.desk)
    }

    pub fn viewer(&self, id: ViewerId) -> Result<Viewer> {
        let world = self.core.look();
        world.viewers.get(&id).cloned().ok_or_else(|| no_viewer(id))
    }

    /// Whether a viewer is the desk.
    pub fn is_desk(&self, id: ViewerId) -> bool {
        self.core.look().desk == Some(id)
    }

    /// The person at a viewer did something: it is the desk from now on, if it can be.
    pub fn note_user_action(&self, id: ViewerId) -> Result<()> {
        let world = self.core.look();
        let viewer = world.viewers.get(&id).ok_or_else(|| no_viewer(id))?;
        if world.desk == Some(id) || !viewer.can_be_desk() {
            return Ok(());
        }
        let before = world.focused();
        // What is selected is stored in its own time; a key does not wait for that.
        let (_, _ticket) = self.core.transact(|tx| {
            tx.move_desk(id);
            tx.see_shown(id)
        })?;
        self.send_focus_changes(&before);
        Ok(())
    }

    /// Changes where a viewer is. For the desk this selects the terminal for all.
    pub async fn go(&self, id: ViewerId, page: Page, terminal: Option<TerminalId>) -> Result<()> {
        if let Some(terminal) = terminal {
            self.core.look().terminal(terminal)?;
        }
        let before = self.core.look().focused();
        self.change(id, |viewer| viewer.page = page)?;
        match terminal {
            Some(terminal) => self.of(id).show(terminal).await?,
            None => self.core.transact(|tx| tx.see_shown(id)).map(drop)?,
        }
        self.send_focus_changes(&before);
        self.settle_sizes().await;
        Ok(())
    }

    /// Shows a terminal to whoever this works for, in its workspace.
    pub(crate) async fn show(&self, terminal: TerminalId) -> Result<()> {
        let Some(id) = self.viewer.filter(|id| !self.is_desk(*id)) else {
            return self.core.workspace().activate(terminal).await.map(drop);
        };
        let before = self.core.look().focused();
        self.core
            .transact_durably(|tx| {
                let project = tx.world.terminal(terminal)?.project;
                if let Some(viewer) = tx.world.viewers.get_mut(&id) {
                    viewer.tab_history.left(viewer.at.terminal, Some(terminal));
                    viewer.at = Active { project: Some(project), terminal: Some(terminal) };
                    viewer.is_placed = false;
                    viewer.page = Page::Workspace;
                }
                tx.see_shown(id)
            })
            .await?;
        self.send_focus_changes(&before);
        self.settle_sizes().await;
        Ok(())
    }

    /// Where whoever this works for is in the workspace.
    pub fn place(&self) -> Active {
        self.core.look().standing_of(self.viewer)
    }

    /// A viewer got or lost the keyboard, or is hidden.
    pub async fn set_keyboard(&self, id: ViewerId, has: bool, is_visible: bool) -> Result<()> {
        let before = self.core.look().focused();
        self.change(id, |viewer| {
            viewer.has_keyboard = has && is_visible;
            viewer.is_visible = is_visible;
        })?;
        if has {
            self.note_user_action(id)?;
        }
        self.core.transact(|tx| tx.see_shown(id)).map(drop)?;
        self.send_focus_changes(&before);
        self.settle_sizes().await;
        Ok(())
    }

    /// A viewer has another room, or other manners about it.
    pub async fn arrange_viewer(
        &self,
        id: ViewerId,
        room: Size,
        fit: Option<Fit>,
        is_single: Option<bool>,
    ) -> Result<()> {
        self.change(id, |viewer| {
            viewer.room = room;
            viewer.is_single = is_single.unwrap_or(viewer.is_single);
            if let Some(fit) = fit.filter(|_| viewer.rights == ViewerRights::Full) {
                viewer.fit = fit;
            }
        })?;
        self.core.adjust(|world| {
            let is_lost = world
                .desk
                .and_then(|id| world.viewers.get(&id))
                .is_some_and(|viewer| !viewer.can_be_desk());
            if is_lost {
                let (active, tab_history) = (world.active, world.tab_history.clone());
                let viewing = world.viewing();
                let left = viewing.desk.take().and_then(|id| viewing.viewers.get_mut(&id));
                if let Some(viewer) = left {
                    (viewer.at, viewer.tab_history) = (active, tab_history);
                }
            }
        });
        self.settle_sizes().await;
        Ok(())
    }

    /// A viewer is a window of this size.
    pub fn set_viewer_window(&self, id: ViewerId, size: WindowSize) -> Result<()> {
        self.change(id, |viewer| viewer.window = Some(size.bounded()))
    }

    /// The person at a viewer gave its sidebar this width.
    pub async fn set_viewer_sidebar(&self, id: ViewerId, width: f32) -> Result<()> {
        match width.is_finite() {
            true => self.of(id).set_sidebar_width(width).await,
            false => Ok(()),
        }
    }

    /// A viewer may do no more than this from now on.
    pub fn lower_rights(&self, id: ViewerId, rights: ViewerRights) -> Result<()> {
        self.change(id, |viewer| viewer.rights = viewer.rights.min(rights))
    }

    pub(crate) fn change(&self, id: ViewerId, change: impl FnOnce(&mut Viewer)) -> Result<()> {
        self.core.adjust(|world| {
            let viewer = world.viewing().viewers.get_mut(&id).ok_or_else(|| no_viewer(id))?;
            change(viewer);
            Ok(())
        })
    }

    /// One pane of those that are shown fills the room, or none does.
    pub async fn zoom(&self, is_zoomed: bool) -> Result<()> {
        let Some(id) = self.seat() else { return Ok(()) };
        let focused = self.place().terminal;
        self.change(id, |viewer| viewer.zoomed = focused.filter(|_| is_zoomed))?;
        self.core.transact(|tx| tx.see_shown(id)).map(drop)?;
        self.settle_sizes().await;
        Ok(())
    }

    /// The pane that fills a viewer's room.
    pub fn zoomed(&self) -> Option<TerminalId> {
        let world = self.core.look();
        let viewer = world.viewers.get(&self.seat()?)?;
        let focused = world.standing_of(Some(viewer.id)).terminal;
        viewer.zoomed.filter(|zoomed| Some(*zoomed) == focused)
    }

    /// The terminals that a viewer shows, the one that has its keys first.
    pub fn shown(&self, id: ViewerId) -> Vec<TerminalId> {
        let world = self.core.look();
        world.viewers.get(&id).map(|viewer| world.shown_by(viewer)).unwrap_or_default()
    }

    /// Gives the keys to a terminal that a viewer shows.
    pub async fn focus_terminal(&self, id: TerminalId) -> Result<()> {
        let is_shown = self.viewer.is_some_and(|viewer| self.shown(viewer).contains(&id));
        match is_shown && self.place().terminal != Some(id) {
            true => self.show(id).await,
            false => Ok(()),
        }
    }

    /// Asks the newest window to come to the front.
    pub fn raise_window(&self) {
        self.core.inner.seats.raises.send_modify(|count| *count += 1);
    }

    /// Changes whenever the newest window must come to the front.
    pub fn raise_requests(&self) -> watch::Receiver<u64> {
        self.core.inner.seats.raises.subscribe()
    }

    /// Whether a viewer is the newest window, of those in which everything can be done if there is one.
    pub fn is_newest_window(&self, id: ViewerId) -> bool {
        let world = self.core.look();
        let windows = world.viewers.values().filter(|viewer| viewer.face == Face::Window);
        let newest = windows.max_by_key(|viewer| (viewer.rights, viewer.id));
        newest.is_some_and(|viewer| viewer.id == id)
    }

    /// The viewer whose state this is about; none is the imagined window.
    pub(crate) fn seat(&self) -> Option<ViewerId> {
        let world = self.core.look();
        match self.viewer {
            Some(id) => world.viewers.contains_key(&id).then_some(id),
            None => world.desk,
        }
    }
}

impl Tx<'_> {
    /// The hands are at another viewer: what it shows is selected, and the last desk stays where it was.
    fn move_desk(&mut self, id: ViewerId) {
        let world = &mut *self.world;
        let (active, tab_history) = (world.active, world.tab_history.clone());
        if let Some(last) = world.desk.and_then(|last| world.viewers.get_mut(&last)) {
            (last.at, last.tab_history) = (active, tab_history);
        }
        let place = world.standing_of(Some(id));
        let tab_history = world.viewers.get_mut(&id).map(|viewer| {
            viewer.is_placed = false;
            viewer.tab_history.clone()
        });
        world.desk = Some(id);
        if place != active && place.project.is_some() {
            self.select(place);
        }
        // What the others left is not what this one did.
        self.world.tab_history = tab_history.unwrap_or_default();
    }

    /// What was selected for all is what the desk shows.
    pub(crate) fn show_on_desk(&mut self) -> Result<()> {
        let Some(id) = self.world.desk else { return Ok(()) };
        if let Some(viewer) = self.world.viewers.get_mut(&id) {
            viewer.page = Page::Workspace;
        }
        self.see_shown(id)
    }

    /// Whoever stood at a terminal that is gone, or nowhere, stands where there is one, and stays there whatever others
    /// select from now on.
    pub(crate) fn settle_viewers(&mut self) {
        let world = &mut *self.world;
        let others = world.viewers.values().filter(|viewer| world.desk != Some(viewer.id));
        let places = others.map(|viewer| (viewer.id, viewer.at, world.still_there(viewer.at)));
        let moved: Vec<_> =
            places.filter(|(_, was, is)| is.terminal.is_some() && is != was).collect();
        for (id, _, place) in moved {
            if let Some(viewer) = world.viewers.get_mut(&id) {
                viewer.is_placed |= viewer.at.terminal.is_none();
                viewer.at = place;
            }
        }
    }

    /// What a viewer shows where a person types is seen.
    pub(crate) fn see_shown(&mut self, id: ViewerId) -> Result<()> {
        let viewer = self.world.viewers.get(&id).filter(|viewer| viewer.types());
        let shown = viewer.map(|viewer| self.world.shown_by(viewer)).unwrap_or_default();
        for terminal in shown {
            self.lower_attention(terminal)?;
        }
        Ok(())
    }
}

fn no_viewer(id: ViewerId) -> Error {
    Error::new(ErrorKind::Closed, format!("viewer {id} is gone"))
}
