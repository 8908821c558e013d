//! Actions that only a viewer can do: pages, panes, scrolling and sizes. Without one there is nothing to
//! do them to.

use rookery_model::{Category, Result};
use rookery_view::keys::Action;
use rookery_view::tile::Direction;

use super::Page;
use crate::rooms::Seats;
use crate::seats::PaneTo;
use crate::sessions::SessionHome;
use crate::terminals::ScrollTo;

impl Seats {
    /// Does what an action means in a viewer; what its face does by itself is none of ours.
    pub(in crate::seats) async fn run_in_viewer(&self, action: Action) -> Result<()> {
        let Some(viewer) = self.seat() else { return Ok(()) };
        let focused = self.place().terminal;
        match action {
            Action::OpenInbox => self.go(viewer, Page::Inbox(None), None).await,
            Action::OpenThreads => self.go(viewer, Page::Threads, None).await,
            Action::OpenReviews => self.go(viewer, Page::Reviews, None).await,
            Action::OpenCheckpoints => self.go(viewer, Page::Checkpoints(None), None).await,
            Action::OpenWorktrees => self.go(viewer, Page::Worktrees(None), None).await,
            Action::OpenAudit => self.go(viewer, Page::Audit, None).await,
            Action::Settings => self.go(viewer, Page::Settings, None).await,
            Action::Help => self.go(viewer, Page::Help, None).await,
            Action::NextWaiting => self.go_to_waiting().await,
            Action::SplitRight => self.split(None, Direction::Right).await.map(drop),
            Action::SplitBelow => self.split(None, Direction::Below).await.map(drop),
            Action::ZoomPane => self.zoom(self.zoomed().is_none()).await,
            Action::BreakPane => self.break_pane(None).await,
            Action::SwapPane => self.swap_pane().await,
            Action::FocusNextPane => self.focus_pane(None, PaneTo::Next).await,
            Action::FocusPane(edge) => self.focus_pane(None, PaneTo::Across(edge)).await,
            Action::GrowPane(edge) => self.grow_pane(edge, 1).await,
            Action::TakeSize => match focused {
                Some(id) => self.take_size(viewer, id).await,
                None => Ok(()),
            },
            Action::PrevPrompt => self.scroll_focused(|_| ScrollTo::PromptBefore),
            Action::NextPrompt => self.scroll_focused(|_| ScrollTo::PromptAfter),
            Action::ScrollPageUp => self.scroll_focused(|rows| ScrollTo::By(-rows)),
            Action::ScrollPageDown => self.scroll_focused(ScrollTo::By),
            Action::ScrollTop => self.scroll_focused(|_| ScrollTo::Top),
            Action::ScrollBottom => self.scroll_focused(|_| ScrollTo::Bottom),
            // Find, copy mode, the sidebar's keys and leaving are the face's own; so is what is asked
            // before a thread begins.
            _ => Ok(()),
        }
    }

    /// Scrolls the pane that has the keys; a page is all rows of it but one.
    fn scroll_focused(&self, to: impl FnOnce(i64) -> ScrollTo) -> Result<()> {
        let (Some(viewer), Some(id)) = (self.seat(), self.place().terminal) else { return Ok(()) };
        if let Ok(handle) = self.core.terminals().get(id) {
            let page = i64::from(handle.size().rows()).saturating_sub(1).max(1);
            handle.seen_by(viewer).scroll_to(to(page));
        }
        Ok(())
    }

    /// Shows the session that waits longest; from there, the next.
    async fn go_to_waiting(&self) -> Result<()> {
        let mut waiting = self.core.queue().list();
        waiting.retain(|item| item.category == Category::ApprovalNeeded);
        waiting.sort_by_key(|item| item.order);
        let mut homes: Vec<SessionHome> = Vec::new();
        for item in &waiting {
            let session = item.session.and_then(|id| self.core.sessions().get(id));
            let home = session.map(|session| session.home);
            // A session may wait for several answers.
            homes.extend(home.filter(|home| !homes.contains(home)));
        }
        let Some(viewer) = self.seat() else { return Ok(()) };
        let here = match self.viewer(viewer)?.page {
            Page::Thread(id) => Some(SessionHome::Thread(id)),
            _ => self.place().terminal.map(SessionHome::Terminal),
        };
        let at = homes.iter().position(|home| Some(*home) == here);
        let next = at.map_or(0, |at| (at + 1) % homes.len().max(1));
        match homes.get(next) {
            Some(SessionHome::Terminal(id)) => self.show(*id).await,
            Some(SessionHome::Thread(id)) => self.go(viewer, Page::Thread(*id), None).await,
            None => Ok(()),
        }
    }
}
