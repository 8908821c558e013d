//! The mouse: clicks on everything that is drawn, selecting by drag, the wheel.

#[cfg(test)]
mod tests;

use rookery_term::keys::parse_chord;
use rookery_term::mouse::{MouseButton, MouseEvent, MouseKind};
use rookery_view::link::{
    self, EdgeWord, Expand, LinkAt, Page, PaletteCall, PaneCall, Prefs, Scroll, Select, SelectKind,
    SideWord, method, modes,
};
use serde_json::json as value;

use super::{App, Ask, Choice, Cx, Effect, Hit, Input, Selection};
use crate::daemon::{self, ProjectOrder, TerminalMove};

/// Within this time a second click is a double click.
const DOUBLE: u64 = 400;

/// How often the same cell was clicked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clicks {
    at: (u16, u16),
    when: u64,
    count: u8,
}

/// What is being dragged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drag {
    /// Cells of a terminal are selected.
    Select(u64),
    /// A program gets the drag; the cell that it was told of last.
    Program(u64, (u16, u16)),
    /// The edge between panes: the pane before it, and whether it stands upright.
    Gap(u64, bool, u16),
    /// The sidebar's edge.
    SidebarEdge,
    /// A pill.
    Tab(u64),
    Project(u64),
}

impl App {
    /// The mouse did something.
    pub fn mouse(&mut self, cx: &Cx<'_>, event: &MouseEvent) {
        if self.lost.is_some() {
            let is_start = self.hit(event.col, event.row) == Some(Hit::Key("u".to_owned()));
            if is_start && (event.kind, event.button) == (MouseKind::Press, MouseButton::Left) {
                self.push(Effect::StartDaemon);
            }
            return;
        }
        let (col, row) = (event.col, event.row);
        if event.kind == MouseKind::Press && !matches!(self.hit(col, row), Some(Hit::Key(_))) {
            self.unarm();
        }
        match (event.kind, event.button) {
            (MouseKind::Press, MouseButton::WheelUp | MouseButton::WheelDown) => {
                self.wheel(cx, event);
            }
            (MouseKind::Press, button) => {
                self.note = None;
                let clicks = self.count_clicks(cx, (col, row));
                self.press(cx, event, button, clicks);
            }
            (MouseKind::Motion, _) => self.motion(cx, event),
            (MouseKind::Release, _) => self.let_go(cx, event),
        }
    }

    fn count_clicks(&mut self, cx: &Cx<'_>, at: (u16, u16)) -> u8 {
        let again = self.clicks.at == at && cx.now.saturating_sub(self.clicks.when) < DOUBLE;
        let count = if again { self.clicks.count % 3 + 1 } else { 1 };
        self.clicks = Clicks { at, when: cx.now, count };
        count
    }

    fn hit(&self, col: u16, row: u16) -> Option<Hit> {
        let hits = self.drawn.hits.iter().rev();
        hits.into_iter().find(|(area, _)| area.contains(col, row)).map(|(_, hit)| hit.clone())
    }

    fn pane_at(&self, col: u16, row: u16) -> Option<(u64, u16, u16)> {
        let (t, area, first) =
            self.drawn.panes.iter().find(|(_, area, _)| area.contains(col, row))?;
        Some((*t, row - area.row + first.0, col - area.col + first.1))
    }

    /// The cell of a terminal that is nearest to the mouse: what was pressed in it goes on beside it.
    fn cell_near(&self, t: u64, event: &MouseEvent) -> Option<(u16, u16)> {
        let (_, area, first) = self.drawn.panes.iter().find(|pane| pane.0 == t)?;
        let row = event.row.clamp(area.row, area.bottom().saturating_sub(1).max(area.row));
        let col = event.col.clamp(area.col, area.right().saturating_sub(1).max(area.col));
        Some((row - area.row + first.0, col - area.col + first.1))
    }

    fn press(&mut self, cx: &Cx<'_>, event: &MouseEvent, button: MouseButton, clicks: u8) {
        let (col, row) = (event.col, event.row);
        let hit = self.hit(col, row);
        if let Some(menu) = self.menu.take() {
            if let Some(Hit::MenuRow(index)) = hit {
                self.choose_in_menu(cx, menu, index);
            }
            return;
        }
        if self.click_outside(cx, hit.as_ref()) {
            return;
        }
        match (hit, button) {
            (Some(Hit::Pane(t)), _) => self.press_pane(cx, t, event, button, clicks),
            (Some(hit), MouseButton::Left) => self.click(cx, hit, clicks),
            (Some(hit), MouseButton::Right) => self.open_menu(cx, &hit, (col, row)),
            (None, MouseButton::Left) => self.grab_gap(cx, col, row),
            _ => {}
        }
    }

    /// A click beside what lies over everything: a palette goes away, a question stays, and nothing
    /// below either is clicked.
    fn click_outside(&mut self, cx: &Cx<'_>, hit: Option<&Hit>) -> bool {
        let scene = cx.picture.scene();
        let is_asked =
            self.question.is_some() || scene.dialog.as_ref().is_some_and(Option::is_some);
        if is_asked {
            return !matches!(hit, Some(Hit::Key(_)));
        }
        let is_open = scene.palette.as_ref().is_some_and(Option::is_some);
        if !is_open || matches!(hit, Some(Hit::PaletteRow(_))) {
            return false;
        }
        self.palette = None;
        self.call(Ask::Quiet, method::PALETTE, PaletteCall::Close(true));
        true
    }

    fn click(&mut self, cx: &Cx<'_>, hit: Hit, clicks: u8) {
        // A key of the bar goes on with the prefix; anything else is done without it.
        if !matches!(hit, Hit::Key(_)) {
            self.prefix = false;
        }
        match hit {
            // The first of the two clicks went there; going there once more would end the edit.
            Hit::Tab(_, tab) if clicks == 2 => self.rename(tab),
            // It is gone to when the button is let go there: until then it may be dragged to a pane.
            Hit::Tab(_, tab) => self.drag = Some(Drag::Tab(tab)),
            Hit::NewTab => self.run(cx, "new_tab"),
            Hit::Project(project) => {
                self.drag = Some(Drag::Project(project));
                self.go_to_project(cx, project);
                if clicks == 2 {
                    self.run(cx, "rename_project");
                }
            }
            Hit::Agent(Some(terminal), _) => self.go(Page::Workspace { terminal: Some(terminal) }),
            Hit::Agent(None, Some(thread)) => self.go(Page::Thread { thread }),
            Hit::Agent(None, None) | Hit::Pane(_) | Hit::MenuRow(_) => {}
            Hit::SidebarEdge => self.drag = Some(Drag::SidebarEdge),
            Hit::Row(index) => self.click_row(cx, index, clicks),
            Hit::PaletteRow(index) => {
                let open = cx.picture.scene().palette.as_ref().and_then(Option::as_ref);
                let id = open.and_then(|open| open.rows.get(index as usize));
                let id = id.map(|row| row.id.clone());
                self.choose_in_palette(cx, id, Some(index));
            }
            Hit::Key(chord) => {
                if let Ok(press) = parse_chord(&chord) {
                    self.key(cx, &press);
                }
            }
            Hit::Action(action) => self.run(cx, &action),
        }
    }

    /// Shows a project; whether there is one. It is named, since those after the ninth have no action.
    pub fn go_to_project(&mut self, cx: &Cx<'_>, project: u64) -> bool {
        let mut projects = cx.picture.scene().sidebar.iter().flat_map(|sidebar| &sidebar.projects);
        if !projects.any(|row| row.id == project) {
            return false;
        }
        let args = Some(value!({ "project": project }));
        let act = link::Act { action: "switch_project_1".to_owned(), args };
        self.call(Ask::Quiet, method::ACT, act);
        if !matches!(App::page(cx), Page::Workspace { .. }) {
            // One in which nothing runs has no tab that would lead there.
            self.go(Page::Workspace { terminal: None });
        }
        true
    }

    /// The program gets the mouse if it asked for it, unless Shift is held.
    fn is_programs(&self, cx: &Cx<'_>, t: u64, event: &MouseEvent) -> bool {
        let wants = cx.picture.term(t).is_some_and(|term| term.modes() & modes::MOUSE != 0);
        wants && !event.mods.shift && self.may_type() && self.copy.is_none()
    }

    fn press_pane(
        &mut self,
        cx: &Cx<'_>,
        t: u64,
        event: &MouseEvent,
        button: MouseButton,
        clicks: u8,
    ) {
        self.sidebar = None;
        let focused = App::focused(cx);
        if focused != Some(t) {
            self.go(Page::Workspace { terminal: Some(t) });
        }
        let Some((_, row, col)) = self.pane_at(event.col, event.row) else { return };
        if self.is_programs(cx, t, event) {
            self.drag = Some(Drag::Program(t, (row, col)));
            return self.report(t, event, row, col, clicks);
        }
        let top = cx.picture.term(t).map_or(0, |term| term.view().top);
        let at = (top + u64::from(row), col);
        let modifier = match self.settings.link_modifier.as_str() {
            "alt" => event.mods.alt,
            "super" if self.around.is_window => self.has_super,
            _ => event.mods.ctrl,
        };
        match button {
            MouseButton::Left if modifier => {
                self.call(Ask::Link(t), method::LINK_AT, LinkAt { t, at });
            }
            MouseButton::Left => self.begin_selection(t, at, clicks),
            MouseButton::Middle if self.around.is_window => self.push(Effect::Paste(true)),
            // The daemon has the selection that was copied last.
            MouseButton::Middle => self.paste_from(Some(t), link::ClipTarget::Selection),
            MouseButton::Right => {
                self.open_menu(cx, &Hit::Pane(t), (event.col, event.row));
                if let Some(menu) = &mut self.menu {
                    let words = if self.around.is_window { "Open Link" } else { "Copy Link" };
                    menu.rows.insert(2, (words.to_owned(), Choice::Link(t, at)));
                }
            }
            _ => {}
        }
    }

    fn begin_selection(&mut self, t: u64, at: (u64, u16), clicks: u8) {
        self.drag = Some(Drag::Select(t));
        let expand = match clicks {
            2 => Some(Expand::Word),
            3 => Some(Expand::Line),
            _ => None,
        };
        self.selection = None;
        if expand.is_none() {
            self.call(Ask::Quiet, method::SELECT, Select { t, ..Select::default() });
        }
        let kind = SelectKind::Text;
        let selection = Selection { terminal: t, anchor: at, head: at, kind };
        if expand.is_some() {
            self.selection = Some(selection);
            let ends = (Some(at), Some(at));
            let select = Select { t, anchor: ends.0, head: ends.1, kind: Some(kind), expand };
            self.call(Ask::Select, method::SELECT, select);
        } else {
            // Nothing is selected before the pointer moves.
            self.pages.pending_selection = Some(selection);
        }
    }

    fn report(&mut self, t: u64, event: &MouseEvent, row: u16, col: u16, clicks: u8) {
        use link::MouseButton as B;
        let button = match event.button {
            MouseButton::Left => B::Left,
            MouseButton::Middle => B::Middle,
            MouseButton::Right => B::Right,
            MouseButton::WheelUp => B::WheelUp,
            MouseButton::WheelDown => B::WheelDown,
            MouseButton::None => B::None,
        };
        let is_wheel = matches!(button, B::WheelUp | B::WheelDown);
        let kind = match event.kind {
            _ if is_wheel => link::MouseKind::Wheel,
            MouseKind::Press => link::MouseKind::Press,
            MouseKind::Release => link::MouseKind::Release,
            MouseKind::Motion => link::MouseKind::Move,
        };
        let mods = u8::from(event.mods.shift)
            | u8::from(event.mods.alt) << 1
            | u8::from(event.mods.ctrl) << 2;
        let mouse = link::Mouse { n: 0, t, kind, button, row, col, mods, clicks };
        self.push(Effect::Input(Input::Mouse(mouse)));
    }

    fn motion(&mut self, cx: &Cx<'_>, event: &MouseEvent) {
        match self.drag.clone() {
            Some(Drag::Select(t)) => self.drag_selection(cx, t, event),
            Some(Drag::Program(t, last)) => {
                if let Some((row, col)) = self.cell_near(t, event).filter(|cell| *cell != last) {
                    self.drag = Some(Drag::Program(t, (row, col)));
                    self.report(t, event, row, col, 0);
                }
            }
            Some(Drag::Gap(t, upright, last)) => {
                let now = if upright { event.col } else { event.row };
                let by = i32::from(now) - i32::from(last);
                if by != 0 {
                    let edge = if upright { EdgeWord::Right } else { EdgeWord::Down };
                    self.call(Ask::Quiet, method::PANE, PaneCall::Resize { resize: edge, by });
                    self.drag = Some(Drag::Gap(t, upright, now));
                }
            }
            Some(Drag::SidebarEdge) => self.pages.sidebar_width = Some(event.col.clamp(16, 40)),
            Some(Drag::Tab(_) | Drag::Project(_)) => {}
            // A button that was pressed elsewhere is no program's.
            None if event.button != MouseButton::None => {}
            None => {
                if let Some((t, row, col)) = self.pane_at(event.col, event.row)
                    && self.is_programs(cx, t, event)
                {
                    self.report(t, event, row, col, 0);
                }
            }
        }
    }

    fn drag_selection(&mut self, cx: &Cx<'_>, t: u64, event: &MouseEvent) {
        let Some((_, area, _)) = self.drawn.panes.iter().find(|pane| pane.0 == t).copied() else {
            return;
        };
        let Some((row, col)) = self.cell_near(t, event) else { return };
        if event.row < area.row {
            self.scroll(Scroll { t, by: Some(-1), ..Scroll::default() });
        } else if event.row >= area.bottom() {
            self.scroll(Scroll { t, by: Some(1), ..Scroll::default() });
        }
        let top = cx.picture.term(t).map_or(0, |term| term.view().top);
        let head = (top + u64::from(row), col);
        let Some(mut selection) = self.selection.or(self.pages.pending_selection) else { return };
        if event.mods.alt {
            selection.kind = SelectKind::Block;
        }
        selection.head = head;
        self.selection = Some(selection);
    }

    fn let_go(&mut self, cx: &Cx<'_>, event: &MouseEvent) {
        let drag = self.drag.take();
        self.pages.pending_selection = None;
        match drag {
            Some(Drag::Select(t)) => {
                let Some(selection) = self.selection.filter(|selection| selection.terminal == t)
                else {
                    return;
                };
                let select = Select {
                    t,
                    anchor: Some(selection.anchor),
                    head: Some(selection.head),
                    kind: Some(selection.kind),
                    expand: None,
                };
                if self.clicks.count == 1 {
                    self.call(Ask::Quiet, method::SELECT, select);
                }
                // A drag copies: in a terminal there is no other sign that text was taken. What was put
                // into the system's clipboard on purpose stays there unless the user says otherwise.
                match self.settings.copy_on_select.as_str() {
                    "off" => {}
                    "clipboard" => self.copy_selection(cx),
                    _ => self.copy_dragged(selection.terminal),
                }
            }
            Some(Drag::Program(t, _)) => {
                if let Some((row, col)) = self.cell_near(t, event) {
                    self.report(t, event, row, col, 0);
                }
            }
            Some(Drag::SidebarEdge) => {
                if let Some(width) = self.pages.sidebar_width {
                    self.call(Ask::Quiet, method::PREFS, Prefs::one("sidebar", width));
                }
            }
            Some(Drag::Tab(tab)) => self.drop_tab(cx, tab, event),
            Some(Drag::Project(project)) => self.drop_project(cx, project, event),
            Some(Drag::Gap(..)) | None => {}
        }
    }

    /// A pill was dropped: on another pill it takes its place, on a pane's edge it splits there.
    fn drop_tab(&mut self, cx: &Cx<'_>, tab: u64, event: &MouseEvent) {
        match self.hit(event.col, event.row) {
            Some(Hit::Tab(_, same)) if same == tab => {
                self.go(Page::Workspace { terminal: Some(tab) });
            }
            Some(Hit::Tab(_, other)) => {
                let groups = cx.picture.scene().strip.iter().flat_map(|strip| &strip.groups);
                let mut tabs = groups.flat_map(|group| &group.tabs);
                if let Some(index) = tabs.position(|tab| tab.id == other) {
                    let to = TerminalMove { terminal: tab, index };
                    self.call(Ask::Quiet, daemon::TERMINALS_MOVE, to);
                }
            }
            Some(Hit::Pane(over)) if over != tab => {
                let Some((_, area, _)) = self.drawn.panes.iter().find(|pane| pane.0 == over) else {
                    return;
                };
                let x = (event.col - area.col) * 100 / area.cols.max(1);
                let y = (event.row - area.row) * 100 / area.rows.max(1);
                let side = match (x, y) {
                    (0..25, _) => SideWord::Left,
                    (75.., _) => SideWord::Right,
                    (_, 0..50) => SideWord::Above,
                    _ => SideWord::Below,
                };
                self.call(Ask::Quiet, method::PANE, PaneCall::Move { moved: tab, to: over, side });
            }
            _ => {}
        }
    }

    /// A project was dropped on another: it takes its place.
    fn drop_project(&mut self, cx: &Cx<'_>, project: u64, event: &MouseEvent) {
        let Some(Hit::Project(other)) = self.hit(event.col, event.row) else { return };
        let projects = cx.picture.scene().sidebar.iter().flat_map(|sidebar| &sidebar.projects);
        let mut order: Vec<u64> = projects.map(|row| row.id).collect();
        let at = |id: u64| order.iter().position(|known| *known == id);
        if let (Some(from), Some(to)) = (at(project), at(other).filter(|_| other != project)) {
            order.remove(from);
            order.insert(to, project);
            self.call(Ask::Quiet, daemon::PROJECTS_REORDER, ProjectOrder { projects: order });
        }
    }

    /// Between panes lies one cell that can be dragged.
    fn grab_gap(&mut self, _cx: &Cx<'_>, col: u16, row: u16) {
        let gap = self.drawn.panes.iter().find_map(|(t, area, _)| {
            let beside = col == area.right() && row >= area.row && row < area.bottom();
            let below = row == area.bottom() && col >= area.col && col < area.right();
            if beside {
                Some(Drag::Gap(*t, true, col))
            } else if below {
                Some(Drag::Gap(*t, false, row))
            } else {
                None
            }
        });
        if let Some(Drag::Gap(t, ..)) = gap {
            self.go(Page::Workspace { terminal: Some(t) });
        }
        self.drag = gap;
    }

    fn wheel(&mut self, cx: &Cx<'_>, event: &MouseEvent) {
        let up = event.button == MouseButton::WheelUp;
        let rows = i64::from(self.settings.wheel_rows.max(1));
        let by = if up { -rows } else { rows };
        let Some((t, row, col)) = self.pane_at(event.col, event.row) else {
            return self.scroll_page(cx, by);
        };
        let is_alternate =
            cx.picture.term(t).is_some_and(|term| term.modes() & modes::ALTERNATE != 0);
        if self.is_programs(cx, t, event) || (is_alternate && self.may_type()) {
            return self.report(t, event, row, col, 0);
        }
        self.scroll(Scroll { t, by: Some(by), ..Scroll::default() });
    }
}
