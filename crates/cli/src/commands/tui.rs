//! `rookery tui`.

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    sync::Arc,
};

use rookery_daemon::{homes::Homes, running::Record};
use rookery_face::{Start, app::Environment};
use rookery_tui::{Ended, KeyProtocol, Options, Outer, out::Depth};
use rookery_view::link::Page;

use crate::{
    args::{Tui, TuiPage},
    attach::tty,
    daemon_process,
    failure::{Failure, Outcome},
    link,
};

/// The exit code of a face inside of itself.
const NESTED: u8 = 2;

/// A variable of the environment that is set and not empty.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// How a face starts a daemon where none is.
pub(super) fn start(homes: &Homes) -> Start {
    let homes = homes.clone();
    Arc::new(move || {
        let homes = homes.clone();
        Box::pin(async move {
            let started = daemon_process::ensure(&homes).await;
            started.map(|_| ()).map_err(|failure| failure.message().to_owned())
        })
    })
}

/// `rookery tui`.
pub(super) async fn run(args: Tui) -> Outcome {
    if !tty::is_usable() {
        return Err(Failure::new("the TUI needs a terminal on stdin and stdout")
            .hint("use `rookery inbox`, `rookery ls` and `rookery dump` from scripts"));
    }
    let homes = link::homes()?;
    let own_terminal = own_terminal(&homes);
    if own_terminal.is_some() && !args.nested {
        return Err(Failure::new("this terminal belongs to Rookery: it would show itself")
            .hint("use --nested to run it all the same")
            .code(NESTED));
    }
    daemon_process::ensure(&homes).await?;
    link::bring_here(&homes).await?;
    let options = options(&args, &homes, own_terminal);
    match rookery_tui::run(options).await {
        Ok(Ended::Left | Ended::Signaled(_)) => Ok(ExitCode::SUCCESS),
        Ok(Ended::Refused(why)) => Err(Failure::new(why)),
        Err(error) => Err(Failure::new(format!("cannot use this terminal: {error}"))),
    }
}

/// `rookery inbox --watch` on a terminal: the inbox page and nothing around it.
pub(super) async fn inbox(all: bool) -> Outcome {
    let homes = link::homes()?;
    daemon_process::ensure(&homes).await?;
    link::bring_here(&homes).await?;
    let args = Tui { page: Some(TuiPage::Inbox), ..Tui::default() };
    let mut options = options(&args, &homes, own_terminal(&homes));
    options.around.only_inbox = true;
    (options.follow, options.all_notes) = (true, all);
    match rookery_tui::run(options).await {
        Ok(Ended::Left) => Ok(ExitCode::SUCCESS),
        Ok(Ended::Signaled(signal)) => {
            Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)))
        }
        Ok(Ended::Refused(why)) => Err(Failure::new(why)),
        Err(error) => Err(Failure::new(format!("cannot use this terminal: {error}"))),
    }
}

/// Whether there is a terminal to draw on and to read keys from.
pub(super) fn is_usable() -> bool {
    tty::is_usable() && variable("TERM").is_some_and(|term| term != "dumb")
}

/// The terminal of the same daemon in which this runs.
fn own_terminal(homes: &Homes) -> Option<u64> {
    let id = variable("ROOKERY_TERMINAL_ID")?.parse().ok()?;
    let socket = PathBuf::from(variable("ROOKERY_SOCKET")?);
    let is_same =
        socket == link::own_socket(homes) || Record::read(homes).knows("rookery", &socket);
    is_same.then_some(id)
}

fn options(args: &Tui, homes: &Homes, own_terminal: Option<u64>) -> Options {
    let term = variable("TERM").unwrap_or_default();
    let colorterm = variable("COLORTERM").unwrap_or_default();
    let in_tmux = variable("TMUX").is_some();
    let is_multiplexed = in_tmux || variable("ZELLIJ").is_some() || variable("STY").is_some();
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    let around = Environment {
        name: viewer_name(),
        utf8: locale.contains("utf-8") || locale.contains("utf8"),
        plain: args.plain,
        is_window: false,
        own_terminal,
        only_inbox: false,
        settings_file: shortened(&homes.roost_config()),
        home: variable("HOME").unwrap_or_default(),
        cwd: std::env::current_dir().unwrap_or_default().display().to_string(),
        agents: installed_agents(),
    };
    let outer = Outer {
        in_tmux,
        is_remote: variable("SSH_CONNECTION").is_some(),
        lacks_osc52: matches!(term.as_str(), "linux" | "screen" | "dumb"),
        notify_osc: match () {
            () if variable("VTE_VERSION").is_some() => 777,
            () if variable("KITTY_WINDOW_ID").is_some() => 99,
            () => 9,
        },
    };
    Options {
        socket: link::own_socket(homes),
        name: viewer_name(),
        look: args.look,
        check: args.check,
        page: args.page.map(page),
        follow: false,
        all_notes: false,
        around,
        outer,
        depth: Depth::from_env(variable("NO_COLOR").is_some(), &colorterm, &term),
        keys: match variable("ROOKERY_TUI_KEYS").as_deref() {
            Some("legacy") => KeyProtocol::Legacy,
            Some("kitty") => KeyProtocol::Kitty,
            _ => KeyProtocol::Auto,
        },
        is_multiplexed,
        start: start(homes),
        tmux: Arc::new(|text| {
            Box::pin(async move {
                let copied = tokio::task::spawn_blocking(move || copy_to_tmux(&text)).await;
                copied.unwrap_or_else(|error| Err(error.to_string()))
            })
        }),
    }
}

/// `ssh pts/3`, or `pts/3` on this machine.
fn viewer_name() -> String {
    let name = rustix::termios::ttyname(rustix::stdio::stdin(), Vec::with_capacity(64)).ok();
    let name = name.map(|name| name.to_string_lossy().replace("/dev/", "")).unwrap_or_default();
    match variable("SSH_CONNECTION") {
        Some(_) => format!("ssh {name}"),
        None => format!("tui {name}"),
    }
}

/// Tmux drops a program's OSC 52 by default, but passes on what is loaded into its buffer.
#[expect(clippy::disallowed_methods, reason = "the one place where tmux is asked to copy")]
fn copy_to_tmux(text: &str) -> Result<(), String> {
    use std::io::Write as _;
    let failed = |error: std::io::Error| format!("tmux could not copy: {error}");
    let mut child = Command::new("tmux")
        .args(["load-buffer", "-w", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text.as_bytes()).map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    if status.success() { Ok(()) } else { Err(format!("tmux could not copy: {status}")) }
}

/// Agents whose program is in the `PATH`, for the page on which nothing runs.
pub(super) fn installed_agents() -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let is_there = |program: &String| dirs.iter().any(|dir| dir.join(program).is_file());
    rookery_host::known_agents()
        .iter()
        .filter_map(|agent| agent.programs.iter().find(|program| is_there(program)).cloned())
        .take(4)
        .collect()
}

/// A path below the user's home with `~`.
pub(super) fn shortened(path: &Path) -> String {
    let home = variable("HOME").map(PathBuf::from);
    match home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// A page as the link knows it.
pub(super) fn page(page: TuiPage) -> Page {
    match page {
        TuiPage::Workspace => Page::Workspace { terminal: None },
        TuiPage::Inbox => Page::Inbox { item: None },
        TuiPage::Threads => Page::Threads,
        TuiPage::Reviews => Page::Reviews,
        TuiPage::Checkpoints => Page::Checkpoints { session: None },
        TuiPage::Worktrees => Page::Worktrees { repo: None },
        TuiPage::Audit => Page::Audit,
        TuiPage::Settings => Page::Settings,
        TuiPage::Help => Page::Help,
    }
}
