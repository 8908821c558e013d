//! The dialect as a table, and the protocol of one connection made from it.

use std::sync::{Arc, LazyLock};

use rookery_core::Core;
use rookery_wire::ConnectionHandle;

use crate::wire::{
    agent::AgentReport,
    app::{
        AppActivate, AppActiveTerminalFocused, AppCursorShape, AppRenderStats, AppScreenshot,
        AppSelectedTabId, AppSetWindowFocus, AppSidebarDump, AppWindowMetrics, Identify,
        SidebarSetWidth, WindowResize,
    },
    clipboard::{ClipboardDump, ClipboardWrite},
    events::EventsSubscribe,
    notification::NotificationCreate,
    palette::{
        PaletteActivate, PaletteDismiss, PaletteOpen, PalettePresent, PaletteQuery, PaletteRead,
    },
    project::{ProjectCreate, ProjectDelete, ProjectRename, ProjectReorder},
    selection::{ExpandSelectionAt, SelectionClear, SelectionDump, SelectionSet},
    tab::{
        TabCapturePtyInput, TabClearNotification, TabClose, TabDispatchMouseEvent, TabDump,
        TabDumpResolved, TabFeedIme, TabFeedPtyBytes, TabFocus, TabList, TabOpen, TabReorder,
        TabResize, TabSetHookActive, TabSetState, TabSetTitle, TabWrite,
    },
};
use crate::{
    connection::Roost,
    context::{Cx, Settings},
    ops,
    table::{Op, Table, Terms, op},
};

/// Every operation of this dialect.
pub static OPS: &[Op<Cx>] = &[
    op!(Identify, LOOK, [] => ops::identify::identify),
    op!(TabOpen, INSIDE, [project_id: Project] => ops::tab::open),
    op!(TabClose, INSIDE, [tab_id: Terminal] => ops::tab::close),
    op!(TabList, LOOK, [] => ops::tab::list),
    op!(TabWrite, INSIDE, [tab_id: Terminal] => ops::tab::write),
    op!(TabResize, INSIDE, [tab_id: Terminal] => ops::tab::resize),
    op!(TabReorder, FULL, [project_id: Project, tab_ids: Terminal] => ops::tab::reorder),
    op!(TabFocus, FULL, [tab_id: Terminal] => ops::tab::focus),
    op!(TabSetTitle, REPORT, [tab_id: Terminal] => ops::tab::set_title),
    op!(TabDump, LOOK, [tab_id: Terminal] => ops::display::dump),
    op!(TabDumpResolved, LOOK, [tab_id: Terminal] => ops::display::dump_resolved),
    op!(TabFeedPtyBytes, FULL, [tab_id: Terminal] => ops::display::feed_output).gated(),
    op!(TabCapturePtyInput, FULL, [tab_id: Terminal] => ops::display::captured).gated(),
    op!(TabDispatchMouseEvent, FULL, [tab_id: Terminal] => ops::display::mouse).gated(),
    op!(TabFeedIme, FULL, [tab_id: Terminal] => ops::display::feed_ime).gated(),
    op!(TabSetState, REPORT, [tab_id: Terminal] => ops::agent::set_state),
    op!(TabSetHookActive, REPORT, [tab_id: Terminal] => ops::agent::set_hook_active),
    op!(AgentReport, REPORT, [tab_id: Terminal, session_id: NoId] => ops::agent::report),
    op!(NotificationCreate, REPORT, [tab_id: Terminal] => ops::notification::create),
    op!(TabClearNotification, REPORT, [tab_id: Terminal] => ops::notification::clear),
    op!(ProjectCreate, FULL, [] => ops::project::create),
    op!(ProjectRename, FULL, [project_id: Project] => ops::project::rename),
    op!(ProjectDelete, FULL, [project_id: Project] => ops::project::delete),
    op!(ProjectReorder, FULL, [project_ids: Project] => ops::project::reorder),
    op!(SelectionSet, FULL, [tab_id: Terminal] => ops::selection::set),
    op!(SelectionClear, FULL, [tab_id: Terminal] => ops::selection::clear),
    op!(SelectionDump, LOOK, [tab_id: Terminal] => ops::selection::dump),
    op!(ExpandSelectionAt, FULL, [tab_id: Terminal] => ops::selection::expand).gated(),
    op!(ClipboardDump, FULL, [] => ops::clipboard::dump),
    op!(ClipboardWrite, FULL, [] => ops::clipboard::write),
    op!(PaletteOpen, FULL, [] => ops::palette::open),
    op!(PaletteRead, LOOK, [] => ops::palette::state),
    op!(PaletteQuery, FULL, [] => ops::palette::query),
    op!(PaletteActivate, FULL, [id: NoId] => ops::palette::activate),
    op!(PaletteDismiss, FULL, [] => ops::palette::dismiss),
    op!(PalettePresent, FULL, [items.id: NoId] => free ops::palette::present),
    op!(AppScreenshot, LOOK, [] => free ops::window::screenshot),
    op!(AppActivate, FULL, [] => ops::window::activate),
    op!(AppWindowMetrics, LOOK, [] => ops::window::metrics),
    op!(AppSidebarDump, LOOK, [] => ops::window::sidebar),
    op!(AppSelectedTabId, LOOK, [] => ops::window::selected_tab),
    op!(AppActiveTerminalFocused, LOOK, [] => ops::window::terminal_focused),
    op!(AppCursorShape, LOOK, [] => ops::window::cursor_shape),
    op!(AppRenderStats, LOOK, [] => free ops::window::render_stats),
    op!(AppSetWindowFocus, FULL, [] => ops::window::set_focus).gated(),
    op!(WindowResize, FULL, [] => ops::window::resize).gated(),
    op!(SidebarSetWidth, FULL, [] => ops::window::set_sidebar_width).gated(),
    op!(EventsSubscribe, LOOK, [tab_id_filter: Terminal, since: Event] => ops::events::subscribe),
    Op::elsewhere("app.dock_badge"),
    Op::elsewhere("app.menu_dump"),
    Op::elsewhere("app.menu_activate"),
    Op::elsewhere("app.update_status"),
    Op::elsewhere("app.update_check"),
];

static TABLE: LazyLock<Arc<Table<Cx>>> = LazyLock::new(|| Arc::new(Table::new([OPS])));

/// The protocol of one connection, to be served with [`crate::framing`] and [`crate::options`].
#[must_use]
pub fn serve(core: Core, settings: Arc<Settings>, connection: ConnectionHandle) -> Roost<Cx> {
    let terms = Terms { test_mode: settings.test_mode, is_agent: core.caller().is_agent() };
    let cx = Cx::new(core, settings, connection);
    let link = cx.link.clone();
    Roost::over(Arc::clone(&TABLE), cx, link, terms)
}
