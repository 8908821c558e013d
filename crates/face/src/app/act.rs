//! What actions do. Most are the daemon's; what is only about this face is done here.

use rookery_view::link::{
    Act, ClipTarget, Copy, EdgeWord, FocusWord, Mood, Page, PaletteCall, PaneCall, Scroll,
    ScrollTo, SplitWord, method,
};

use super::{App, Ask, CopyMode, Cx, Effect, FindBar, Question, Then};

/// How far a pane's edge moves with one key.
const GROW_BY: i32 = 2;

/// Actions that this face does itself, also if they were chosen in the daemon's palette.
pub(super) fn is_local(action: &str) -> bool {
    matches!(
        action,
        "find"
            | "copy_mode"
            | "copy"
            | "leave"
            | "focus_sidebar"
            | "new_thread"
            | "help"
            | "settings"
            | "open_inbox"
            | "open_threads"
            | "open_reviews"
            | "open_checkpoints"
            | "open_worktrees"
            | "open_audit"
            | "prev_prompt"
            | "next_prompt"
            | "close_tab"
            | "paste"
    ) || action.starts_with("scroll_")
}

impl App {
    /// Runs an action by its id.
    pub fn run(&mut self, cx: &Cx<'_>, action: &str) {
        if self.run_page(action) || self.run_scroll(cx, action) || self.run_pane(cx, action) {
            return;
        }
        match action {
            "find" => self.open_find(cx),
            "copy_mode" => self.open_copy_mode(cx),
            "copy" => self.copy_selection(cx),
            "paste" if self.around.is_window => self.push(Effect::Paste(false)),
            "paste" => self.paste_from(App::focused(cx), ClipTarget::Clipboard),
            "leave" => self.push(Effect::Leave),
            "focus_sidebar" => {
                self.pages.sidebar = crate::pages::sidebar::SidebarPage::default();
                self.sidebar = Some(self.active_sidebar_row(cx));
            }
            "new_thread" => self.begin_thread(cx),
            "close_tab" => match App::focused(cx) {
                Some(terminal) => self.close(cx, terminal),
                None if self.settings.confirm_close == "never" => self.act(action),
                // Which tab that would be cannot be seen here, nor what it does.
                None => self.warn("no tab is shown here; go to the one to close first"),
            },
            "command_palette" => self.open_palette("commands"),
            "command_launcher" => self.open_palette("launcher"),
            "agent_palette" => self.open_palette("agents"),
            "custom_palette" => self.open_palette("providers"),
            _ => self.act(action),
        }
    }

    fn act(&mut self, action: &str) {
        let act = Act { action: action.to_owned(), args: None };
        self.call(Ask::Quiet, method::ACT, act);
    }

    /// Closes a tab; asked first if an agent works or waits there, or always if the user says so.
    pub fn close(&mut self, cx: &Cx<'_>, terminal: u64) {
        let strip = cx.picture.scene().strip.iter().flat_map(|strip| &strip.groups);
        let tab = strip.flat_map(|group| &group.tabs).find(|tab| tab.id == terminal);
        let has_ended = cx.picture.term(terminal).is_some_and(|term| term.ended().is_some());
        let busy = tab.filter(|_| !has_ended).and_then(|tab| match tab.mood {
            Mood::Working => Some("An agent works there."),
            Mood::Waiting => Some("An agent waits there for an answer."),
            _ => None,
        });
        let why = match self.settings.confirm_close.as_str() {
            "never" => None,
            "always" => Some(busy.unwrap_or("Its program ends.")),
            _ => busy,
        };
        // Named, since another tab may be shown by the time that it is answered.
        let args = Some(serde_json::json!({ "t": terminal }));
        let act = Act { action: "close_tab".to_owned(), args };
        let Some(why) = why else { return self.call(Ask::Quiet, method::ACT, act) };
        let title = tab.map(|tab| crate::words::line(&tab.title)).unwrap_or_default();
        let then = Then::Call(Ask::Quiet, method::ACT.with(act));
        self.question = Some(Question::new("Close this tab?", vec![title, why.to_owned()], then));
    }

    /// Edits the name of a tab in its place.
    pub(super) fn rename(&mut self, terminal: u64) {
        let args = Some(serde_json::json!({ "t": terminal }));
        self.call(Ask::Quiet, method::ACT, Act { action: "rename_tab".to_owned(), args });
    }

    fn run_page(&mut self, action: &str) -> bool {
        let page = match action {
            "open_inbox" => Page::Inbox { item: None },
            "open_threads" => Page::Threads,
            "open_reviews" => Page::Reviews,
            "open_checkpoints" => Page::Checkpoints { session: None },
            "open_worktrees" => Page::Worktrees { repo: None },
            "open_audit" => Page::Audit,
            "settings" => Page::Settings,
            "help" => Page::Help,
            _ => return false,
        };
        self.go(page);
        true
    }

    fn run_scroll(&mut self, cx: &Cx<'_>, action: &str) -> bool {
        // A page is all rows of the pane but one, so that none is skipped.
        let shown = App::focused(cx).and_then(|t| cx.picture.term(t)).map(|term| term.size().rows);
        let rows = i64::from(shown.unwrap_or(0).saturating_sub(1).max(1));
        let (by, to) = match action {
            "scroll_page_up" => (Some(-rows), None),
            "scroll_page_down" => (Some(rows), None),
            "scroll_top" => (None, Some(ScrollTo::Top)),
            "scroll_bottom" => (None, Some(ScrollTo::Bottom)),
            "prev_prompt" => (None, Some(ScrollTo::PromptBefore)),
            "next_prompt" => (None, Some(ScrollTo::PromptAfter)),
            _ => return false,
        };
        if let Some(t) = App::focused(cx) {
            self.scroll(Scroll { t, by, to, row: None });
        }
        true
    }

    /// Scrolls a terminal.
    pub fn scroll(&mut self, scroll: Scroll) {
        let call = method::SCROLL.with(scroll);
        self.push(Effect::Notify(call.method, call.params));
    }

    fn run_pane(&mut self, cx: &Cx<'_>, action: &str) -> bool {
        let Some(panes) = cx.picture.scene().panes.as_ref().and_then(Option::as_ref) else {
            return false;
        };
        let focused = panes.focused;
        let focus = |focus| PaneCall::Focus { focus, t: None };
        let resize = |resize| PaneCall::Resize { resize, by: GROW_BY };
        let call = match action {
            "split_right" => PaneCall::Split { split: SplitWord::Right, t: None },
            "split_below" => PaneCall::Split { split: SplitWord::Below, t: None },
            "break_pane" => PaneCall::Break { broken: focused },
            "focus_next_pane" => focus(FocusWord::Next),
            "focus_left" => focus(FocusWord::Left),
            "focus_right" => focus(FocusWord::Right),
            "focus_up" => focus(FocusWord::Up),
            "focus_down" => focus(FocusWord::Down),
            "grow_left" => resize(EdgeWord::Left),
            "grow_right" => resize(EdgeWord::Right),
            "grow_up" => resize(EdgeWord::Up),
            "grow_down" => resize(EdgeWord::Down),
            _ => return false,
        };
        self.call(Ask::Quiet, method::PANE, call);
        true
    }

    /// Opens a frame of the palette.
    pub fn open_palette(&mut self, kind: &str) {
        self.palette = None;
        self.call(Ask::Quiet, method::PALETTE, PaletteCall::Open(kind.to_owned()));
    }

    fn open_find(&mut self, cx: &Cx<'_>) {
        match App::focused(cx) {
            Some(terminal) => {
                self.copy = None;
                self.find = Some(FindBar::new(terminal));
            }
            None => self.warn("there is no terminal to search"),
        }
    }

    fn open_copy_mode(&mut self, cx: &Cx<'_>) {
        let Some(terminal) = App::focused(cx) else {
            self.warn("there is no terminal to copy from");
            return;
        };
        let Some(term) = cx.picture.term(terminal) else { return };
        let (view, cursor) = (term.view(), term.cursor());
        let last = view.top + u64::from(term.size().rows).saturating_sub(1);
        let row = cursor.row.clamp(view.top, last);
        self.find = None;
        self.copy = Some(CopyMode::new(terminal, (row, cursor.col)));
        // Output goes on below; what is looked at stays.
        self.hold_view(terminal, None);
    }

    /// Copies what was selected by a drag, for a click with the middle button.
    pub(crate) fn copy_dragged(&mut self, t: u64) {
        let to = vec![ClipTarget::Selection];
        self.call(Ask::CopyDragged, method::COPY, Copy { t, to });
    }

    /// Copies what is selected, wherever that is.
    pub(crate) fn copy_selection(&mut self, _cx: &Cx<'_>) {
        let Some(selection) = self.selection else {
            self.warn("nothing is selected");
            return;
        };
        let to = vec![ClipTarget::Clipboard, ClipTarget::Selection];
        self.call(Ask::Copy, method::COPY, Copy { t: selection.terminal, to });
    }
}
