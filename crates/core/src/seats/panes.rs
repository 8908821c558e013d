//! Panes as a viewer has them: split, gone through, moved and made larger, in its room.

use rookery_model::{Error, OnExit, Result, Size, TerminalId};
use rookery_view::tile::{Direction, Edge, Rect, Side};

use crate::rooms::Seats;
use crate::terminals::OpenTerminal;
use crate::workspace::Beside;

/// Which pane is to get the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaneTo {
    /// The one across an edge.
    Across(Edge),
    /// The one after it.
    Next,
}

impl Seats {
    /// The room for panes of whoever this works for.
    pub fn room(&self) -> Rect {
        let world = self.core.look();
        let room = self.seat().and_then(|id| world.viewers.get(&id)).map(|viewer| viewer.room);
        let room = room.unwrap_or_else(|| self.window_grid());
        Rect::room(room.cols(), room.rows())
    }

    fn focused(&self) -> Result<TerminalId> {
        self.place().terminal.ok_or_else(|| Error::conflict("no pane is shown"))
    }

    /// Opens a shell beside a pane, where that is, in half of its room.
    pub async fn split(&self, at: Option<TerminalId>, to: Direction) -> Result<TerminalId> {
        let at = at.map_or_else(|| self.focused(), Ok)?;
        let side = match to {
            Direction::Right => Side::Right,
            Direction::Below => Side::Below,
        };
        let beside = Beside { terminal: at, side, room: self.room() };
        self.core.workspace().check_beside(beside)?;
        let tab = self.core.terminals().describe(at)?;
        let is_desk = self.seat().is_none_or(|id| self.is_desk(id));
        let opened = self
            .core
            .terminals()
            .open(OpenTerminal {
                cwd: Some(self.live_cwd(&tab).await),
                project: Some(tab.project),
                size: half(tab.size, to),
                env: self.core.inner.config.tab_env.clone(),
                activate: is_desk,
                on_exit: OnExit::Close,
                any_cwd: true,
                integrate: true,
                beside: Some(beside),
                ..OpenTerminal::default()
            })
            .await?;
        if !is_desk {
            self.show(opened.id).await?;
        }
        self.settle_sizes().await;
        Ok(opened.id)
    }

    /// Gives the keys to another pane of the group that is shown.
    pub async fn focus_pane(&self, from: Option<TerminalId>, to: PaneTo) -> Result<()> {
        let from = from.map_or_else(|| self.focused(), Ok)?;
        let tree = self.core.workspace().tree_of(from);
        let next = match to {
            PaneTo::Across(edge) => tree.neighbor(from.get(), edge, self.room()),
            PaneTo::Next => tree.next(from.get()),
        };
        match next.map(TerminalId::new).filter(|next| *next != from) {
            Some(next) => self.show(next).await,
            None => Ok(()),
        }
    }

    /// Moves a border of the focused pane.
    pub async fn grow_pane(&self, edge: Edge, by: i32) -> Result<()> {
        let focused = self.focused()?;
        self.core.workspace().resize_pane(focused, edge, by, self.room()).await?;
        self.settle_sizes().await;
        Ok(())
    }

    /// Puts a tab at a side of a pane.
    pub async fn move_pane(&self, id: TerminalId, to: TerminalId, side: Side) -> Result<()> {
        let beside = Beside { terminal: to, side, room: self.room() };
        self.core.workspace().move_pane(id, beside).await?;
        self.settle_sizes().await;
        Ok(())
    }

    /// Gives a pane a group of its own.
    pub async fn break_pane(&self, id: Option<TerminalId>) -> Result<()> {
        let id = id.map_or_else(|| self.focused(), Ok)?;
        self.core.workspace().break_pane(id).await?;
        self.settle_sizes().await;
        Ok(())
    }

    /// Exchanges the focused pane with the one after it.
    pub async fn swap_pane(&self) -> Result<()> {
        let focused = self.focused()?;
        let next = self.core.workspace().tree_of(focused).next(focused.get());
        match next.map(TerminalId::new).filter(|next| *next != focused) {
            Some(next) => self.core.workspace().swap_panes(focused, next).await?,
            None => return Err(Error::conflict("it is the only pane")),
        }
        self.settle_sizes().await;
        Ok(())
    }
}

/// About the room that a new pane gets, so that its program need not draw twice.
fn half(size: Size, to: Direction) -> Size {
    let half = |length: u16| length.saturating_sub(1).div_ceil(2).max(1);
    let (rows, cols) = match to {
        Direction::Right => (size.rows(), half(size.cols())),
        Direction::Below => (half(size.rows()), size.cols()),
    };
    Size::new(rows, cols).unwrap_or(Size::DEFAULT)
}
