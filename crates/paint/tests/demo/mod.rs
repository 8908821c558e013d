//! A workspace as one might have it in the afternoon: for pictures and for tests of them.

#![allow(dead_code, reason = "no test draws all of them")]

pub(crate) mod pages;

use std::sync::Arc;
use std::time::Duration;

use rookery_model::{ProjectId, TerminalId};
use rookery_term::{MemoryBlocks, NoTranscript, Screen, ScreenConfig, ScreenSize};
use rookery_view::scene::grid::ViewState;
use rookery_view::scene::{
    AgentRow, Dialog, Grid, Inbox, InboxRow, Layout, Mood, PaletteOverlay, PaletteRow, Pill,
    ProjectRow, Scene, Stage, Toast,
};
use rookery_view::theme::Theme;

/// What an agent's screen might show.
const SCREEN: &str = concat!(
    "\x1b[34m~/src/rookery\x1b[0m \x1b[35mmain\x1b[0m \x1b[32m❯\x1b[0m cargo nextest run -p rookery-term\r\n",
    "    \x1b[1;32mFinished\x1b[0m `test` profile [unoptimized + debuginfo] target(s) in 4.18s\r\n",
    "\x1b[32;1m────────────\x1b[0m\r\n",
    "    \x1b[32;1mStarting\x1b[0m \x1b[1m214\x1b[0m tests across \x1b[1m3\x1b[0m binaries\r\n",
    "        \x1b[32;1mPASS\x1b[0m [   0.004s] \x1b[35;1mrookery-term\x1b[0m \x1b[36mreflow::\x1b[34;1ma_wide_character_never_splits\x1b[0m\r\n",
    "        \x1b[32;1mPASS\x1b[0m [   0.011s] \x1b[35;1mrookery-term\x1b[0m \x1b[36mwaits::\x1b[34;1ma_pattern_is_found_across_chunks\x1b[0m\r\n",
    "        \x1b[31;1mFAIL\x1b[0m [   0.016s] \x1b[35;1mrookery-term\x1b[0m \x1b[36mcolors::\x1b[34;1mdim_text_fades\x1b[0m\r\n",
    "\x1b[2m  stderr ───\x1b[0m\r\n",
    "    assertion \x1b[31m`left == right`\x1b[0m failed: \x1b[4:3;58:2::224:108:117mfaded twice\x1b[0m\r\n",
    "      left: \x1b[31m(0x7f, 0x7f, 0x7f)\x1b[0m   \x1b[9mignored\x1b[0m  \x1b[3mitalic\x1b[0m  \x1b[1;3mboth\x1b[0m  \x1b[4mline\x1b[0m  \x1b[4:2mtwo\x1b[0m  \x1b[4:4mdots\x1b[0m  \x1b[4:5mdashes\x1b[0m\r\n",
    "     right: \x1b[32m(0x80, 0x80, 0x80)\x1b[0m\r\n",
    "\r\n",
    "\x1b[38;5;208m╭─ \x1b[1magent\x1b[22m ──────────────────────────────────────────────────────────────────────────────────╮\x1b[0m\r\n",
    "\x1b[38;5;208m│\x1b[0m \x1b[1mRounds differently from the palette.\x1b[0m  The test wants 0x80, faded() gives 0x7f.\x1b[92G\x1b[38;5;208m│\x1b[0m\r\n",
    "\x1b[38;5;208m│\x1b[0m I can change \x1b[36mfaded()\x1b[0m to round half up, or fix the expectation. 你好，世界 🚀 ✓ café ñ\x1b[92G\x1b[38;5;208m│\x1b[0m\r\n",
    "\x1b[38;5;208m│\x1b[0m\x1b[92G\x1b[38;5;208m│\x1b[0m\r\n",
    "\x1b[38;5;208m│\x1b[0m   \x1b[48;5;24;97m ❯ 1. Change faded() \x1b[0m   2. Fix the test   3. Neither, tell me more\x1b[92G\x1b[38;5;208m│\x1b[0m\r\n",
    "\x1b[38;5;208m╰──────────────────────────────────────────────────────────────────────────────────────────╯\x1b[0m\r\n",
    "\r\n",
    "┌─ cpu ────────────┬─ memory ─────────┐  ╔══════════╦══════════╗  ┏━━━━━━━┳━━━━━━━┓\r\n",
    "│ \x1b[32m▁▂▃▄▅▆▇█▇▆▅▄▃▂▁\x1b[0m  │ \x1b[34m████████\x1b[90m░░░░░░░░\x1b[0m │  ║  double  ║   lines  ║  ┃ heavy ┃ lines ┃\r\n",
    "│ \x1b[33m⣀⣤⣶⣿⣿⣶⣤⣀⣀⣠⣴⣾⣷⣦⣄\x1b[0m  │ \x1b[35m▓▓▓▓▓▓▒▒▒▒░░░░░░\x1b[0m │  ╠══════════╬══════════╣  ┣━━━━━━━╋━━━━━━━┫\r\n",
    "└──────────────────┴──────────────────┘  ╚══════════╩══════════╝  ┗━━━━━━━┻━━━━━━━┛\r\n",
    "\r\n",
    "\x1b[40m   \x1b[41m   \x1b[42m   \x1b[43m   \x1b[44m   \x1b[45m   \x1b[46m   \x1b[47m   \x1b[0m  ",
    "\x1b[100m   \x1b[101m   \x1b[102m   \x1b[103m   \x1b[104m   \x1b[105m   \x1b[106m   \x1b[107m   \x1b[0m\r\n",
    "\r\n",
    "\x1b[34m~/src/rookery\x1b[0m \x1b[35mmain\x1b[0m \x1b[32m❯\x1b[0m git commit -m \x1b[33m\"term: round half up\"\x1b[0m",
);

/// A screen of a size with some bytes fed, as a grid.
pub(crate) fn grid(rows: u16, cols: u16, theme: &Theme, bytes: &[u8], state: &ViewState) -> Grid {
    let config = ScreenConfig {
        size: ScreenSize::new(rows, cols),
        scrollback: 100,
        palette: theme.palette.clone(),
    };
    let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
    screen.feed(bytes, &NoTranscript, Duration::ZERO);
    Grid::from_snapshot(&screen.snapshot(), state)
}

fn agent(tab: u64, name: &str, mood: Mood, time: &str) -> AgentRow {
    AgentRow {
        tab: Some(TerminalId::new(tab)),
        thread: None,
        name: name.to_owned(),
        mood,
        status_text: String::new(),
        time_text: time.to_owned(),
        is_active: tab == 11,
    }
}

fn project(id: u64, name: &str, agents: Vec<AgentRow>) -> ProjectRow {
    ProjectRow {
        id: ProjectId::new(id),
        name: name.to_owned(),
        is_active: id == 1,
        branch: if id == 1 { "main".to_owned() } else { String::new() },
        mood: Mood::loudest(agents.iter().map(|agent| agent.mood)),
        waiting: 0,
        has_badge: id == 2,
        rename: None,
        agents,
    }
}

fn pill(id: u64, title: &str, mood: Mood) -> Pill {
    Pill {
        id: TerminalId::new(id),
        title: title.to_owned(),
        mood,
        has_badge: id == 12,
        is_active: id == 11,
        more: 0,
        rename: None,
    }
}

/// Several projects, agents in every mood, a terminal full of color.
pub(crate) fn workspace() -> Scene {
    let mut scene = Scene::new(theme());
    scene.title = "rookery – ~/src/rookery".to_owned();
    scene.sidebar.projects = vec![
        project(
            1,
            "rookery",
            vec![
                agent(11, "Round dim colors half up", Mood::Waiting, "12s"),
                agent(12, "Write the window", Mood::Working, "2m"),
            ],
        ),
        project(
            2,
            "billing-service",
            vec![
                agent(21, "Migrate invoices", Mood::Failed, "4m"),
                agent(22, "Review #412", Mood::Finished, "1h"),
            ],
        ),
        project(3, "website", vec![agent(31, "Rework the landing page", Mood::Working, "38s")]),
        project(4, "notes", vec![agent(41, "Idle session", Mood::Inactive, "3d")]),
        project(5, "dotfiles", vec![]),
    ];
    let talk = agent(0, "Plan the week", Mood::Inactive, "1d");
    scene.sidebar.elsewhere = vec![AgentRow { tab: None, thread: Some("talk".to_owned()), ..talk }];
    scene.strip.pills = vec![
        pill(11, "agent: colors", Mood::Waiting),
        pill(12, "agent: window", Mood::Working),
        pill(13, "~/src/rookery", Mood::Inactive),
        pill(14, "cargo watch", Mood::Finished),
    ];
    let inbox_row = |tab, title: &str, body: &str, time: &str| InboxRow {
        tab: TerminalId::new(tab),
        title: title.to_owned(),
        body: body.to_owned(),
        time_text: time.to_owned(),
    };
    scene.inbox = Inbox {
        rows: vec![
            inbox_row(12, "rookery · agent: window", "Turn complete", "2m"),
            inbox_row(21, "billing-service · migrate", "Stopped: rate limited", "4m"),
        ],
        ..Inbox::default()
    };
    scene.stage = screen(&scene);
    scene
}

/// The terminal of the workspace, as large as it has room.
pub(crate) fn screen(scene: &Scene) -> Stage {
    let area = Layout::of(scene).grid;
    let state =
        ViewState { selected: vec![(10, 12..30)], has_keyboard: true, ..ViewState::default() };
    let shown = grid(area.rows, area.cols, &scene.theme, SCREEN.as_bytes(), &state);
    Stage::terminal(TerminalId::new(11), Arc::new(shown))
}

/// The colors of the pictures.
pub(crate) fn theme() -> Theme {
    Theme { name: "dusk".to_owned(), palette: rookery_term::Palette::default() }
}

/// The same with the palette open.
pub(crate) fn palette() -> Scene {
    let mut scene = workspace();
    let row = |id: &str, title: &str, subtitle: &str, matched: &[usize]| PaletteRow {
        id: id.to_owned(),
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        mood: None,
        is_selected: id == "new_tab",
        matched: matched.to_vec(),
    };
    scene.palette = Some(PaletteOverlay {
        frame: "commands".to_owned(),
        placeholder: "Type a command".to_owned(),
        query: "ne".to_owned(),
        cursor: None,
        preedit: String::new(),
        rows: vec![
            row("new_tab", "New Tab", "Alt+T", &[0, 1]),
            row("new_project", "New Project", "Alt+N", &[0, 1]),
            row("cycle_tab_next", "Next Tab", "Alt+Shift+]", &[0, 1]),
            row("rename_tab", "Rename Tab", "Alt+R", &[2, 5]),
            row("rename_project", "Rename Project", "Alt+Shift+R", &[2, 5]),
            row("select_theme", "Select Theme…", "", &[]),
            row("font_increase", "Increase Font Size", "Alt+=", &[1, 4]),
            row("view_notifications", "View Notifications (2)", "", &[5, 10]),
        ],
    });
    scene
}

/// The same with inbox, toasts and a question.
pub(crate) fn question() -> Scene {
    let mut scene = workspace();
    scene.inbox.is_open = true;
    scene.strip.pills[2].rename = Some(rookery_view::scene::pages::Field::of("shell"));
    scene.toasts = vec![
        Toast { title: "Copied 3 lines".to_owned(), body: String::new(), mood: Mood::Inactive },
        Toast {
            title: "Migrate invoices failed".to_owned(),
            body: "Stopped: rate limited".to_owned(),
            mood: Mood::Failed,
        },
    ];
    scene.dialog = Some(Dialog {
        title: "Close project “billing-service”?".to_owned(),
        body: "Its 3 tabs are closed and what runs in them ends.".to_owned(),
        confirm: "Close Project".to_owned(),
        cancel: "Cancel".to_owned(),
        is_destructive: true,
        ..Dialog::default()
    });
    scene
}
