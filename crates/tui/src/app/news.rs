//! What a frame brings besides the picture: pages that changed, cards, threads, notices, clips.

use rookery_view::link::{CardNews, Clip, InboxWindow, Notice, Page, ThreadNews, bound, method};

use super::{App, Ask, Cx, Effect};
use crate::look::line;
use crate::out::osc52;

impl App {
    /// The picture changed: a page that was opened asks for what it shows.
    pub fn changed(&mut self, cx: &Cx<'_>) {
        let page = App::page(cx);
        let before = self.last_page.replace(page.clone());
        if before.as_ref() != Some(&page) {
            self.page_opened(cx, &page);
        }
        self.follow_inbox(cx, &page);
        self.type_ahead(cx);
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

    fn page_opened(&mut self, cx: &Cx<'_>, page: &Page) {
        // Whatever was typed for the page before is not meant for this one.
        self.pages.card.disarm();
        match page {
            Page::Inbox { .. } => {
                let all = self.pages.inbox.all;
                let window = InboxWindow { from: 0, count: bound::INBOX_ROWS, all };
                self.call(Ask::Quiet, method::INBOX, window);
            }
            Page::Thread { thread } => self.load_thread(thread),
            Page::Threads => self.load_threads(),
            Page::Review { review, .. } => self.load_review(review),
            Page::Reviews => self.load_list("reviews"),
            Page::Checkpoints { .. } => self.load_list("checkpoints"),
            Page::Worktrees { .. } => self.load_worktrees(cx),
            Page::Audit => self.load_list("audit"),
            Page::Settings | Page::Help => self.pages.list.reset(),
            Page::Workspace { .. } | Page::Unknown => {}
        }
    }

    /// The card that is open was settled, or changed.
    pub fn cards(&mut self, cx: &Cx<'_>, news: &[CardNews]) {
        for news in news {
            self.pages.card.news(news, cx.now);
            self.pages.thread.card.news(news, cx.now);
        }
    }

    /// The open thread goes on.
    pub fn threads(&mut self, news: &[ThreadNews]) {
        for news in news {
            self.pages.thread.news(news);
        }
    }

    /// Notices become sequences of the outer terminal.
    pub fn notices(&mut self, notices: &[Notice]) {
        for notice in notices {
            let Notice::New(notice) = notice else { continue };
            let (title, body) = (line(&notice.title), line(&notice.body));
            if title.starts_with("input refused") {
                self.warn(title);
                continue;
            }
            let text = if body.is_empty() { title.clone() } else { format!("{title}: {body}") };
            let text = text.replace(';', ",");
            match self.settings.notify.as_str() {
                "off" => {}
                // Tmux hands the bell on, and nothing else of these.
                "bell" => self.push(Effect::Write(b"\x07".to_vec())),
                _ if self.around.in_tmux => self.push(Effect::Write(b"\x07".to_vec())),
                _ => {
                    let osc = match self.around.notify_osc {
                        777 => format!("\x1b]777;notify;Rookery;{text}\x1b\\"),
                        99 => format!("\x1b]99;;{text}\x1b\\"),
                        _ => format!("\x1b]9;{text}\x1b\\"),
                    };
                    self.push(Effect::Write(osc.into_bytes()));
                }
            }
        }
    }

    /// A program set the clipboard.
    pub fn clip(&mut self, clip: &Clip) {
        let effect = if self.around.in_tmux {
            Effect::Tmux(clip.text.clone(), None)
        } else {
            Effect::Write(osc52(&clip.text))
        };
        self.push(effect);
    }
}
