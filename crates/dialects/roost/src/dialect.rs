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
pub const OPS: &[Op<Cx>] = &[
    op!(Identify, LOOK => ops::identify::identify),
    op!(TabOpen, INSIDE => ops::tab::open),
    op!(TabClose, INSIDE => ops::tab::close),
    op!(TabList, LOOK => ops::tab::list),
    op!(TabWrite, INSIDE => ops::tab::write),
    op!(TabResize, INSIDE => ops::tab::resize),
    op!(TabReorder, FULL => ops::tab::reorder),
    op!(TabFocus, FULL => ops::tab::focus),
    op!(TabSetTitle, REPORT => ops::tab::set_title),
    op!(TabDump, LOOK => ops::display::dump),
    op!(TabDumpResolved, LOOK => ops::display::dump_resolved),
    op!(TabFeedPtyBytes, FULL => ops::display::feed_output).gated(),
    op!(TabCapturePtyInput, FULL => ops::display::captured).gated(),
    op!(TabDispatchMouseEvent, FULL => ops::display::mouse).gated(),
    op!(TabFeedIme, FULL => ops::display::feed_ime).gated(),
    op!(TabSetState, REPORT => ops::agent::set_state),
    op!(TabSetHookActive, REPORT => ops::agent::set_hook_active),
    op!(AgentReport, REPORT => ops::agent::report),
    op!(NotificationCreate, REPORT => ops::notification::create),
    op!(TabClearNotification, REPORT => ops::notification::clear),
    op!(ProjectCreate, FULL => ops::project::create),
    op!(ProjectRename, FULL => ops::project::rename),
    op!(ProjectDelete, FULL => ops::project::delete),
    op!(ProjectReorder, FULL => ops::project::reorder),
    op!(SelectionSet, FULL => ops::selection::set),
    op!(SelectionClear, FULL => ops::selection::clear),
    op!(SelectionDump, LOOK => ops::selection::dump),
    op!(ExpandSelectionAt, FULL => ops::selection::expand).gated(),
    op!(ClipboardDump, FULL => ops::clipboard::dump),
    op!(ClipboardWrite, FULL => ops::clipboard::write),
    op!(PaletteOpen, FULL => ops::palette::open),
    op!(PaletteRead, LOOK => ops::palette::state),
    op!(PaletteQuery, FULL => ops::palette::query),
    op!(PaletteActivate, FULL => ops::palette::activate),
    op!(PaletteDismiss, FULL => ops::palette::dismiss),
    op!(PalettePresent, FULL => free ops::palette::present),
    op!(AppScreenshot, LOOK => free ops::window::screenshot),
    op!(AppActivate, FULL => ops::window::activate),
    op!(AppWindowMetrics, LOOK => ops::window::metrics),
    op!(AppSidebarDump, LOOK => ops::window::sidebar),
    op!(AppSelectedTabId, LOOK => ops::window::selected_tab),
    op!(AppActiveTerminalFocused, LOOK => ops::window::terminal_focused),
    op!(AppCursorShape, LOOK => ops::window::cursor_shape),
    op!(AppRenderStats, LOOK => free ops::window::render_stats),
    op!(AppSetWindowFocus, FULL => ops::window::set_focus).gated(),
    op!(WindowResize, FULL => ops::window::resize).gated(),
    op!(SidebarSetWidth, FULL => ops::window::set_sidebar_width).gated(),
    op!(EventsSubscribe, LOOK => ops::events::subscribe),
    Op::elsewhere("app.dock_badge"),
    Op::elsewhere("app.menu_dump"),
    Op::elsewhere("app.menu_activate"),
    Op::elsewhere("app.update_status"),
    Op::elsewhere("app.update_check"),
];

static TABLE: LazyLock<Arc<Table<Cx>>> = LazyLock::new(|| Arc::new(Table::new([OPS])));

/// The protocol of one connection, to be served with [`framing`] and [`options`].
#[must_use]
pub fn serve(core: Core, settings: Arc<Settings>, connection: ConnectionHandle) -> Roost<Cx> {
    let terms = Terms { test_mode: settings.test_mode, is_agent: core.caller().is_agent() };
    let cx = Cx::new(core, settings, connection);
    let link = cx.link.clone();
    Roost::over(Arc::clone(&TABLE), cx, link, terms)
}
