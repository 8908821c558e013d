//! What a frame brings besides the picture: pages that changed, cards, threads, notices, clips.

use std::collections::BTreeMap;

use rookery_view::link::{
    CardNews, Clip, Mood, Notice, Page, PaneCall, PrefsFound, Scroll, ThreadNews, method,
};

use super::{App, Ask, Cx, Effect};
use crate::pages::settings::SettingsPage;
use crate::words::line;

impl App {
    /// The picture changed: a page that was opened asks for what it shows.
    pub fn changed(&mut self, cx: &Cx<'_>) {
        self.take_settings(cx);
        self.announce(cx);
        self.return_to_rows(cx);
        self.copy_mode_follow(cx);
        let page = App::page(cx);
        let before = self.last_page.replace(page.clone());
        if before.as_ref() != Some(&page) {
            // What was written for a new thread is kept for when it is opened again.
            self.pages.new_thread.is_open &= before.is_none();
            // After a return there is no page before: what was open stays open.
            match (&before, &page) {
                (None | Some(Page::Inbox { .. }), Page::Inbox { .. }) | (None, _) => {}
                // The card of an earlier visit is not the one of the row that is selected now.
                (_, Page::Inbox { .. }) => self.pages.card.clear(),
                // Nor is the request at which the keyboard was.
                (_, Page::Thread { .. }) => self.pages.thread.leave_items(),
                _ => {}
            }
            self.page_opened(cx, &page);
        }
        self.follow_inbox(cx, &page);
        let scene = cx.picture.scene();
        if scene.palette.as_ref().is_none_or(Option::is_none) {
            self.palette = None;
        }
        if super::keys::renamed(cx).is_none() {
            self.rename = None;
        }
        let panes = scene.panes.as_ref().and_then(Option::as_ref);
        for area in panes.iter().flat_map(|panes| &panes.areas) {
            let view = cx.picture.term(area.t).map(crate::picture::Term::view);
            let behind = view.map_or(0, |view| view.first.saturating_sub(view.top));
            match behind {
                0 => drop(self.behind.remove(&area.t)),
                behind => drop(self.behind.insert(area.t, behind)),
            }
            match view {
                Some(view) if !view.follows() => {
                    self.left_at.entry(area.t).or_insert(view.first);
                }
                _ => {
                    self.left_at.remove(&area.t);
                }
            }
        }
        let shown = |t: u64| cx.picture.term(t).is_some();
        self.find = self.find.take().filter(|find| shown(find.terminal));
        self.copy = self.copy.take().filter(|copy| shown(copy.terminal));
        self.selection = self.selection.filter(|selection| shown(selection.terminal));
    }

    /// Settings and keys may have changed, here or elsewhere.
    fn take_settings(&mut self, cx: &Cx<'_>) {
        self.pages.web = cx.picture.scene().status.as_ref().and_then(|status| status.web.clone());
        let Some(chosen) = &cx.picture.scene().chosen else { return };
        if self.settings != chosen.settings || self.sent_keys != chosen.keys {
            self.take_chosen(&chosen.settings, &chosen.keys);
        }
    }

    /// After a return, terminals are scrolled to where they were, counted from their newest rows, and
    /// the pane that had all the room has it again.
    fn return_to_rows(&mut self, cx: &Cx<'_>) {
        if let Some(panes) = cx.picture.scene().panes.as_ref().and_then(Option::as_ref) {
            let was_zoomed = self.was_zoomed.replace(panes.zoomed);
            if self.is_back && was_zoomed == Some(true) && !panes.zoomed {
                self.call(Ask::Quiet, method::PANE, PaneCall::Zoom { zoom: true });
            }
            self.is_back = false;
        }
        let shown: Vec<(u64, u64)> = self
            .to_scroll
            .iter()
            .filter(|(t, _)| cx.picture.term(**t).is_some())
            .map(|(t, behind)| (*t, *behind))
            .collect();
        for (t, behind) in shown {
            self.to_scroll.remove(&t);
            let by = i64::try_from(behind).unwrap_or(0);
            self.scroll(Scroll { t, by: Some(-by), to: None, row: None });
        }
    }

    /// In one column of text, what changed is said in the last line: who waits, who is done.
    fn announce(&mut self, cx: &Cx<'_>) {
        if !self.around.plain {
            return;
        }
        let projects = cx.picture.scene().sidebar.iter().flat_map(|sidebar| &sidebar.projects);
        let agents = projects.flat_map(|project| &project.agents);
        let tabs = cx.picture.scene().strip.iter().flat_map(|strip| &strip.groups);
        let now: BTreeMap<String, Mood> = agents
            .map(|agent| (line(&agent.name), agent.mood))
            .chain(tabs.flat_map(|group| &group.tabs).map(|tab| (line(&tab.title), tab.mood)))
            .collect();
        let is_new = |(name, mood): &(&String, &Mood)| self.moods.get(*name) != Some(mood);
        let news: Vec<String> = now
            .iter()
            .filter(|_| !self.moods.is_empty())
            .filter(is_new)
            .map(|(name, mood)| format!("{name} {}", crate::words::word(*mood)))
            .collect();
        self.moods = now;
        if !news.is_empty() {
            self.say(news.join(", "));
        }
    }

    fn page_opened(&mut self, cx: &Cx<'_>, page: &Page) {
        // Whatever was typed for the page before is not meant for this one.
        self.pages.card.disarm();
        match page {
            Page::Inbox { .. } => {
                self.pages.inbox.from = 0;
                self.ask_inbox();
            }
            Page::Thread { thread } => self.load_thread(thread),
            Page::Threads => self.load_threads(),
            Page::Review { review, .. } => self.load_review(review),
            Page::Reviews => self.load_list("reviews"),
            Page::Checkpoints { .. } => {
                self.load_list("checkpoints");
                match self.pages.wanted_checkpoint.take() {
                    Some(id) => self.load_checkpoint_diff(&id),
                    None if self.pages.review.is_checkpoint() => self.pages.review.end(),
                    None => {}
                }
            }
            Page::Worktrees { .. } => self.load_worktrees(cx),
            Page::Audit => self.load_list("audit"),
            Page::Settings | Page::Help => {
                self.pages.list.reset();
                self.pages.settings = SettingsPage::default();
            }
            Page::Workspace { .. } | Page::Unknown => {}
        }
    }

    /// What this kind of face keeps for itself came.
    pub(super) fn take_prefs(&mut self, found: &PrefsFound) {
        let width = found.prefs.get("sidebar").and_then(serde_json::Value::as_u64);
        let width = width.and_then(|width| u16::try_from(width).ok());
        self.pages.sidebar_width = self.pages.sidebar_width.or(width);
        let all = found.prefs.get(crate::pages::inbox::ALL).and_then(serde_json::Value::as_bool);
        if let Some(all) = all.filter(|all| !self.around.only_inbox && *all != self.pages.inbox.all)
        {
            self.pages.inbox.all = all;
            if matches!(self.last_page, Some(Page::Inbox { .. })) {
                self.ask_inbox();
            }
        }
    }

    /// The card that is open was settled, or changed.
    pub fn cards(&mut self, news: &[CardNews]) {
        for news in news {
            self.pages.card.news(news);
            self.pages.thread.card.news(news);
        }
    }

    /// The open thread goes on.
    pub fn threads(&mut self, news: &[ThreadNews]) {
        for news in news {
            self.pages.thread.news(news);
        }
    }

    /// What is to be shown beside the picture; what was refused is said in the status line.
    pub fn notices(&mut self, notices: &[Notice], now: u64) {
        for notice in notices {
            match notice {
                Notice::New(new) if new.title.starts_with("input refused") => {
                    self.warn(line(&new.title));
                }
                notice => {
                    if !self.around.is_window {
                        self.toast(notice, now);
                    }
                    self.push(Effect::Notice(notice.clone()));
                }
            }
        }
    }

    /// A program set the clipboard.
    pub fn clip(&mut self, clip: &Clip) {
        self.push(Effect::Clip(clip.clone()));
    }
}
