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
    table::{Op, Table, op},
};

/// Every operation of this dialect.
pub const OPS: &[Op<Cx>] = &[
    op!(Identify => ops::identify::identify),
    op!(TabOpen => ops::tab::open),
    op!(TabClose => ops::tab::close),
    op!(TabList => ops::tab::list),
    op!(TabWrite => ops::tab::write),
    op!(TabResize => ops::tab::resize),
    op!(TabReorder => ops::tab::reorder),
    op!(TabFocus => ops::tab::focus),
    op!(TabSetTitle => ops::tab::set_title),
    op!(TabDump => ops::display::dump),
    op!(TabDumpResolved => ops::display::dump_resolved),
    op!(TabFeedPtyBytes => ops::display::feed_output).gated(),
    op!(TabCapturePtyInput => ops::display::captured).gated(),
    op!(TabDispatchMouseEvent => ops::display::mouse).gated(),
    op!(TabFeedIme => ops::display::feed_ime).gated(),
    op!(TabSetState => ops::agent::set_state),
    op!(TabSetHookActive => ops::agent::set_hook_active),
    op!(AgentReport => ops::agent::report),
    op!(NotificationCreate => ops::notification::create),
    op!(TabClearNotification => ops::notification::clear),
    op!(ProjectCreate => ops::project::create),
    op!(ProjectRename => ops::project::rename),
    op!(ProjectDelete => ops::project::delete),
    op!(ProjectReorder => ops::project::reorder),
    op!(SelectionSet => ops::selection::set),
    op!(SelectionClear => ops::selection::clear),
    op!(SelectionDump => ops::selection::dump),
    op!(ExpandSelectionAt => ops::selection::expand).gated(),
    op!(ClipboardDump => ops::clipboard::dump),
    op!(ClipboardWrite => ops::clipboard::write),
    op!(PaletteOpen => ops::palette::open),
    op!(PaletteRead => ops::palette::state),
    op!(PaletteQuery => ops::palette::query),
    op!(PaletteActivate => ops::palette::activate),
    op!(PaletteDismiss => ops::palette::dismiss),
    op!(PalettePresent => free ops::palette::present),
    op!(AppScreenshot => free ops::window::screenshot),
    op!(AppActivate => ops::window::activate),
    op!(AppWindowMetrics => ops::window::metrics),
    op!(AppSidebarDump => ops::window::sidebar),
    op!(AppSelectedTabId => ops::window::selected_tab),
    op!(AppActiveTerminalFocused => ops::window::terminal_focused),
    op!(AppCursorShape => ops::window::cursor_shape),
    op!(AppRenderStats => ops::window::render_stats),
    op!(AppSetWindowFocus => ops::window::set_focus).gated(),
    op!(WindowResize => ops::window::resize).gated(),
    op!(SidebarSetWidth => ops::window::set_sidebar_width).gated(),
    op!(EventsSubscribe => ops::events::subscribe),
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
    let test_mode = settings.test_mode;
    let cx = Cx::new(core, settings, connection);
    let link = cx.link.clone();
    Roost::over(Arc::clone(&TABLE), cx, link, test_mode)
}
