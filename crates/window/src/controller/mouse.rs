//! The mouse: what the window does by itself (dragging pills, the sidebar's edge and scrollbars), and
//! the rest, which is the state machine's.

use rookery_face::app::{Ask, Drag as Held};
use rookery_face::daemon::{self, ProjectOrder, TerminalMove};
use rookery_face::driver::cx;
use rookery_model::{ProjectId, TerminalId};
use rookery_term::keys::parse_chord;
use rookery_term::mouse::{MouseButton, MouseEvent, MouseKind, MouseMods};
use rookery_view::link::{Page, PaletteCall, PaneCall, Prefs, Scroll, ScrollTo, SideWord, method};
use rookery_view::scene::layout::{Bar, Hit, Point, SIDEBAR_BOUNDS};
use rookery_view::scene::pages::Button;
use rookery_view::scene::{Drop, Stage};
use rookery_view::tile::Side;

use super::{Controller, places};
use crate::picture::Picture;
use crate::{Press, Wheel};

/// How far the mouse moves before a press becomes a drag, in points.
const SLACK: f32 = 5.0;
/// Points of a line, where the state machine scrolls by lines.
pub(super) const LINE: f32 = 20.0;

/// What the mouse is doing.
#[derive(Debug, Default)]
pub(super) struct Mouse {
    drag: Option<Drag>,
    /// Parts of a notch that the wheel has turned.
    wheel: f32,
    /// What it was over last, without the exact place.
    over: Option<Hit>,
    cell: Option<(u16, u16)>,
    /// The button that is held.
    held: Option<MouseButton>,
}

#[derive(Clone, Copy, Debug)]
enum Drag {
    Sidebar,
    Bar(Bar),
    /// A pill: its tab, where it was taken, and whether it has moved.
    Pill(TerminalId, Point, bool),
    /// A project, the same way.
    Project(ProjectId, Point, bool),
}

impl Mouse {
    /// It is over nothing any more.
    pub(super) fn leave(&mut self) {
        self.over = None;
        self.cell = None;
    }

    /// Something is held or dragged.
    pub(super) fn is_busy(&self) -> bool {
        self.held.is_some() || self.drag.is_some()
    }
}

impl Controller {
    pub(super) fn button(&mut self, press: Press) {
        let Some(picture) = self.picture.clone() else { return };
        if press.is_down {
            self.mouse.held = Some(press.button);
        } else if self.mouse.held == Some(press.button) {
            self.mouse.held = None;
        }
        self.driver.app.has_super = press.has_super;
        let hit = picture.hit(press.point);
        if press.is_down {
            self.own.menu_at = press.point;
            if press.button == MouseButton::Left && self.own_press(&picture, hit, press.point) {
                return;
            }
        } else if let Some(drag) = self.mouse.drag.take() {
            return self.own_release(&picture, drag, press);
        }
        let kind = if press.is_down { MouseKind::Press } else { MouseKind::Release };
        self.pass(&picture, hit, kind, press);
    }

    /// Presses that are the window's own.
    fn own_press(&mut self, picture: &Picture, hit: Hit, point: Point) -> bool {
        if self.driver.app.lost.is_some() && hit != Hit::Button(Button::StartDaemon) {
            return true;
        }
        match hit {
            Hit::SidebarEdge => self.mouse.drag = Some(Drag::Sidebar),
            Hit::Bar(bar, at) => {
                self.mouse.drag = Some(Drag::Bar(bar));
                self.scroll_bar(picture, bar, at);
            }
            Hit::Pill(tab) if self.driver.app.menu.is_none() => {
                self.mouse.drag = Some(Drag::Pill(tab, point, false));
            }
            Hit::Project(project) if self.driver.app.menu.is_none() => {
                self.mouse.drag = Some(Drag::Project(project, point, false));
            }
            Hit::MorePills { is_right } => self.step_tab(is_right),
            Hit::PaneClose(terminal) => {
                self.driver.app.go(Page::Workspace { terminal: Some(terminal.get()) });
                self.driver.with(|app, cx| app.close(cx, terminal.get()));
            }
            Hit::Line(line) => self.driver.app.pages.review.line = line,
            Hit::Toast(index) => self.follow_toast(index),
            Hit::Link(index) => {
                if let Some(uri) = picture.plan.link(index) {
                    self.driver.app.open_link(None, uri);
                }
            }
            Hit::Confirm => self.press_answer(0),
            Hit::Answer(index) => self.press_answer(index + 1),
            Hit::Setting(row, part) => {
                self.driver.with(|app, cx| app.press_setting(cx, row, part));
            }
            Hit::Button(button) => self.driver.with(|app, cx| app.press_button(cx, button)),
            Hit::ItemButton(index, button) => self.press_item(picture, index, button),
            Hit::Choice(index) => self.driver.with(|app, cx| app.press_option(cx, index)),
            Hit::Field(of, byte) => self.driver.with(|app, cx| app.press_field(cx, of, byte)),
            Hit::PaneNewest(terminal) => {
                let to = Some(ScrollTo::Bottom);
                let scroll = Scroll { t: terminal.get(), to, row: None, by: None };
                self.driver.app.scroll(scroll);
            }
            Hit::Row(index) if matches!(picture.scene.stage, Stage::Thread(_)) => {
                self.driver.app.take_command(index);
            }
            _ => return false,
        }
        true
    }

    /// Yes: of a question with several answers the one with this index.
    fn press_answer(&mut self, index: usize) {
        if self.is_end_unseen() {
            return;
        }
        let choice = self.driver.app.question.as_ref().and_then(|it| it.choices.get(index));
        let key = choice.map_or_else(|| "enter".to_owned(), |(letter, _)| letter.to_string());
        self.press_key(&key);
    }

    pub(super) fn press_key(&mut self, chord: &str) {
        let Ok(press) = parse_chord(chord) else { return };
        self.driver.with(|app, cx| app.key(cx, &press));
    }

    /// A button of an item of the thread that is drawn: items may have come since, so it is found by
    /// its id.
    fn press_item(&mut self, picture: &Picture, index: usize, button: Button) {
        let Stage::Thread(thread) = &picture.scene.stage else { return };
        let Some(item) = thread.items.get(index) else { return };
        self.driver.with(|app, cx| app.press_item(cx, &item.id, button));
    }

    fn step_tab(&mut self, is_right: bool) {
        let action = if is_right { "cycle_tab_next" } else { "cycle_tab_prev" };
        self.driver.with(|app, cx| app.run(cx, action));
    }

    fn own_release(&mut self, picture: &Picture, drag: Drag, press: Press) {
        self.own.drop = None;
        match drag {
            Drag::Bar(_) => {}
            Drag::Sidebar => self.end_sidebar(),
            Drag::Pill(tab, _, true) => self.drop_pill(picture, tab, press.point),
            Drag::Project(project, _, true) => self.drop_project(picture, project, press.point),
            Drag::Pill(..) | Drag::Project(..) => {
                // It was a click after all.
                let down = Press { is_down: true, ..press };
                let hit = picture.hit(press.point);
                self.pass(picture, hit, MouseKind::Press, down);
                self.driver.app.drag = None;
            }
        }
    }

    /// The sidebar has a width; narrower than half of the least, it is shut.
    fn end_sidebar(&mut self) {
        let Some(width) = self.own.dragged.take() else { return };
        let sent = self.driver.face.mirror().scene().sidebar.as_ref();
        let is_shut = sent.is_some_and(|sidebar| sidebar.collapsed);
        let is_narrow = width < SIDEBAR_BOUNDS.0 / 2.0;
        if !is_narrow {
            let width = width.clamp(SIDEBAR_BOUNDS.0, SIDEBAR_BOUNDS.1).round();
            self.own.sidebar = Some(width);
            self.driver.app.call(Ask::Quiet, method::PREFS, Prefs::one("sidebarWidth", width));
        }
        if is_narrow != is_shut {
            self.driver.with(|app, cx| app.run(cx, "toggle_sidebar"));
        }
    }

    /// Where a pill would go.
    fn drop_at(&self, picture: &Picture, tab: TerminalId, point: Point) -> Option<Drop> {
        let panes = &picture.layout.panes;
        if panes.strip.contains(point) {
            let pills = &picture.layout.strip.pills;
            let middle = |rect: &rookery_view::scene::layout::Rect| rect.x + rect.width / 2.0;
            let before = pills.iter().position(|(_, rect)| point.x < middle(rect));
            return Some(Drop::Pill(before.unwrap_or(pills.len())));
        }
        let pane = picture.layout.terminals.iter().find(|pane| pane.frame.contains(point))?;
        let side = pane.side_at(point).filter(|_| pane.terminal != tab)?;
        Some(Drop::Pane(pane.terminal, side))
    }

    fn drop_pill(&mut self, picture: &Picture, tab: TerminalId, point: Point) {
        match self.drop_at(picture, tab, point) {
            Some(Drop::Pane(over, side)) => {
                let side = match side {
                    Side::Left => SideWord::Left,
                    Side::Right => SideWord::Right,
                    Side::Above => SideWord::Above,
                    Side::Below => SideWord::Below,
                };
                let call = PaneCall::Move { moved: tab.get(), to: over.get(), side };
                self.driver.app.call(Ask::Quiet, method::PANE, call);
            }
            Some(Drop::Pill(before)) => self.move_tab(tab, before),
            _ => {}
        }
    }

    /// Before which project something would go.
    fn project_at(picture: &Picture, point: Point) -> Option<usize> {
        let sidebar = &picture.layout.sidebar;
        let middle = |row: &rookery_view::scene::layout::Rect| row.y + row.height / 2.0;
        let before = sidebar.projects.iter().position(|place| point.y < middle(&place.row));
        let is_inside = sidebar.list.contains(point);
        is_inside.then(|| before.unwrap_or(sidebar.projects.len()))
    }

    fn drop_project(&mut self, picture: &Picture, project: ProjectId, point: Point) {
        let Some(before) = Controller::project_at(picture, point) else { return };
        let all = picture.layout.sidebar.projects.iter().map(|place| place.id);
        let all: Vec<ProjectId> = all.collect();
        let (ahead, behind) = all.split_at(before.min(all.len()));
        let others = |ids: &[ProjectId]| -> Vec<u64> {
            ids.iter().filter(|id| **id != project).map(|id| id.get()).collect()
        };
        let order = [others(ahead), vec![project.get()], others(behind)].concat();
        let to = ProjectOrder { projects: order };
        self.driver.app.call(Ask::Quiet, daemon::PROJECTS_REORDER, to);
    }

    /// Moves a tab before the pill of an index. Its new place is counted in tabs, without it.
    fn move_tab(&mut self, tab: TerminalId, before: usize) {
        let groups = self.driver.face.mirror().scene().strip.iter().flat_map(|strip| &strip.groups);
        let ahead = groups.take(before).flat_map(|group| &group.tabs);
        let index = ahead.filter(|it| it.id != tab.get()).count();
        let to = TerminalMove { terminal: tab.get(), index };
        self.driver.app.call(Ask::Quiet, daemon::TERMINALS_MOVE, to);
    }

    /// Scrolls to where the bar was taken.
    fn scroll_bar(&mut self, picture: &Picture, bar: Bar, at: f32) {
        let at = at.clamp(0.0, 1.0);
        match bar {
            Bar::Pane(terminal) => {
                let t = terminal.get();
                let Some(term) = self.driver.face.mirror().term(t) else { return };
                let history = term.view.first.saturating_sub(term.view.oldest);
                let row = term.view.oldest + (history as f32 * at).round() as u64;
                let to = if row >= term.view.first { ScrollTo::Bottom } else { ScrollTo::Row };
                let row = (to == ScrollTo::Row).then_some(row);
                self.driver.app.scroll(Scroll { t, to: Some(to), row, by: None });
            }
            Bar::Question => self.own.asked_scroll = picture.most(bar) * at,
            Bar::Text => {
                let most = picture.most(bar);
                match &picture.scene.stage {
                    Stage::Thread(_) => {
                        let thread = &mut self.driver.app.pages.thread;
                        thread.follows = false;
                        thread.scroll = (most * (1.0 - at) / LINE).round() as usize;
                        if let Some(card) = picture.plan.card() {
                            let into = (most * at - card.top).clamp(0.0, card.most);
                            thread.card.scroll = (into / LINE).round() as usize;
                        }
                    }
                    Stage::Review(_) => {
                        let review = &mut self.driver.app.pages.review;
                        let last = review.line_count().saturating_sub(1) as f32;
                        review.line = (last * at).round() as usize;
                    }
                    _ => self.driver.app.pages.card.scroll = (most * at / LINE).round() as usize,
                }
            }
            Bar::List => {
                let rows = match &picture.scene.stage {
                    Stage::List(list) => list.rows.len(),
                    Stage::Help(help) => help.rows.len(),
                    Stage::Settings(settings) => settings.rows.len(),
                    Stage::Inbox(inbox) => inbox.rows.len(),
                    Stage::Review(review) => review.files.len(),
                    _ => return,
                };
                // What is selected is in view, so the bar moves the selection.
                let row = (rows.saturating_sub(1) as f32 * at).round() as usize;
                self.driver.with(|app, cx| app.click_row(cx, row, 1));
            }
        }
    }

    /// A thread is scrolled from where it is seen, also where an item that was gone to moved it.
    pub(super) fn take_scroll(&mut self) {
        let Some(picture) = &self.picture else { return };
        if let (Stage::Thread(thread), Some(scroll)) =
            (&picture.scene.stage, picture.plan.scroll(Bar::Text))
            && thread.at.is_some()
        {
            let below = (scroll.most - scroll.at) / LINE;
            self.driver.app.pages.thread.scroll = below.round() as usize;
        }
    }

    /// What is scrolled further than there is to see is scrolled to its end.
    pub(super) fn follow_scroll(&mut self) {
        let Some(picture) = &self.picture else { return };
        let lines = (picture.most(Bar::Text) / LINE).ceil() as usize;
        match &picture.scene.stage {
            Stage::Thread(_) => {
                let scroll = &mut self.driver.app.pages.thread.scroll;
                *scroll = (*scroll).min(lines);
            }
            Stage::Inbox(_) => {
                let scroll = &mut self.driver.app.pages.card.scroll;
                *scroll = (*scroll).min(lines);
            }
            _ => {}
        }
    }

    pub(super) fn moved(&mut self, point: Point, mods: MouseMods, has_super: bool) {
        let Some(picture) = self.picture.clone() else { return };
        let hit = picture.hit(point);
        match self.mouse.drag {
            Some(Drag::Sidebar) => {
                self.own.dragged = Some(point.x.clamp(0.0, SIDEBAR_BOUNDS.1));
                self.driver.is_dirty = true;
                return;
            }
            Some(Drag::Bar(bar)) => {
                if let Some(at) = picture.bar_at(bar, point) {
                    self.scroll_bar(&picture, bar, at);
                }
                self.driver.is_dirty = true;
                return;
            }
            Some(Drag::Pill(tab, from, has_moved)) => {
                let far = (point.x - from.x).abs().max((point.y - from.y).abs()) > SLACK;
                if far || has_moved {
                    self.mouse.drag = Some(Drag::Pill(tab, from, true));
                    self.own.drop = self.drop_at(&picture, tab, point);
                    self.driver.is_dirty = true;
                }
                return;
            }
            Some(Drag::Project(project, from, has_moved)) => {
                if (point.y - from.y).abs() > SLACK || has_moved {
                    self.mouse.drag = Some(Drag::Project(project, from, true));
                    self.own.drop = Controller::project_at(&picture, point).map(Drop::Project);
                    self.driver.is_dirty = true;
                }
                return;
            }
            None => {}
        }
        self.hover(hit, point);
        self.hover_link(hit, mods, has_super);
        let cell = places::cell(&picture, point);
        let is_news = self.mouse.cell.replace(cell) != Some(cell);
        let held = self.mouse.held;
        // A selection goes on while the mouse stands still beside its pane.
        let is_selecting = matches!(self.driver.app.drag, Some(Held::Select(_)));
        if is_news || is_selecting {
            let press = Press {
                is_down: held.is_some(),
                button: held.unwrap_or(MouseButton::None),
                point,
                mods,
                has_super,
            };
            self.pass(&picture, hit, MouseKind::Motion, press);
            self.driver.is_dirty |= self.driver.app.drag.is_some();
        }
    }

    /// A picture changes only when something else is under the mouse.
    fn hover(&mut self, hit: Hit, point: Point) {
        let over = match hit {
            Hit::Cell { terminal, .. } => Hit::Pane(terminal),
            Hit::Bar(bar, _) => Hit::Bar(bar, 0.0),
            Hit::Field(field, _) => Hit::Field(field, 0),
            hit => hit,
        };
        if self.mouse.over.replace(over) != Some(over) {
            self.own.hover = Some(point);
            self.driver.is_dirty = true;
        }
        if let (Hit::MenuRow(index), Some(menu)) = (hit, &mut self.driver.app.menu) {
            menu.selected = index.min(menu.rows.len().saturating_sub(1));
        }
    }

    /// Hands an event on.
    fn pass(&mut self, picture: &Picture, hit: Hit, kind: MouseKind, press: Press) {
        let shown = self.driver.face.mirror().scene();
        let place = places::hit(picture, hit, shown);
        let is_pane = matches!(place, Some(rookery_face::app::Hit::Pane(_)) | None);
        let (col, row) = match kind {
            MouseKind::Press if !is_pane => places::elsewhere(press.point),
            _ => places::cell(picture, press.point),
        };
        places::place(&mut self.driver.app.drawn, picture, place);
        let event = MouseEvent { kind, button: press.button, col, row, mods: press.mods };
        // Not every motion changes what is seen.
        let cx = cx(&self.driver.face, self.driver.now());
        self.driver.app.mouse(&cx, &event);
    }

    pub(super) fn wheel(&mut self, wheel: Wheel) {
        let Some(picture) = self.picture.clone() else { return };
        let step =
            picture.layout.grid.cell.height * f32::from(self.driver.app.settings.wheel_rows.max(1));
        self.mouse.wheel += if wheel.is_points { wheel.by / step } else { wheel.by };
        let notches = self.mouse.wheel.trunc();
        self.mouse.wheel -= notches;
        let button = if notches > 0.0 { MouseButton::WheelUp } else { MouseButton::WheelDown };
        for _ in 0..(notches.abs() as u32).min(50) {
            self.notch(&picture, wheel, button);
        }
    }

    fn notch(&mut self, picture: &Picture, wheel: Wheel, button: MouseButton) {
        let is_up = button == MouseButton::WheelUp;
        if picture.scene.dialog.is_some() {
            let by = if is_up { -LINE } else { LINE };
            let most = picture.most(Bar::Question);
            self.own.asked_scroll = (self.own.asked_scroll + 3.0 * by).clamp(0.0, most);
            return;
        }
        if picture.scene.palette.is_some() {
            let by = if is_up { -3 } else { 3 };
            return self.driver.app.call(Ask::Quiet, method::PALETTE, PaletteCall::Move(by));
        }
        let panes = &picture.layout.panes;
        if panes.strip.contains(wheel.point) {
            return self.step_tab(!is_up);
        }
        if panes.sidebar.contains(wheel.point) {
            let (at, most) = picture.layout.sidebar.scroll;
            let at = at + if is_up { -3.0 * LINE } else { 3.0 * LINE };
            self.own.scrolled.0 = Some(at.clamp(0.0, most));
            return;
        }
        let hit = picture.hit(wheel.point);
        let (point, mods) = (wheel.point, wheel.mods);
        let press = Press { is_down: false, button, point, mods, has_super: false };
        self.take_scroll();
        self.pass(picture, hit, MouseKind::Press, press);
        self.follow_scroll();
    }
}
