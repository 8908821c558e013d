//! `rookery window`: the native window, and its place in the desktop.

mod desktop;

use std::{
    fs::OpenOptions,
    io::Write,
    os::unix::net::UnixStream,
    path::Path,
    process::{Command, ExitCode, Stdio},
    sync::Arc,
};

use rookery_daemon::homes::Homes;
use rookery_host::Clipboards;
use rookery_native::wire::{GetStatus, RaiseWindow, Raised};
use rookery_window::{Backend, Ended, HAS_GPU, Options, WindowError, compositor, libraries};

use crate::{
    args,
    commands::{block_on, done, finish, tui},
    daemon_process,
    failure::{Failure, Outcome},
    link, output,
};

/// Which display there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Display {
    Wayland,
    X11,
}

fn display() -> Option<Display> {
    let wayland = tui::variable("WAYLAND_DISPLAY");
    match () {
        () if wayland.as_deref().is_some_and(answers) => Some(Display::Wayland),
        () if tui::variable("DISPLAY").is_some() => Some(Display::X11),
        // It is tried all the same, so that it is said what is wrong with it.
        () => wayland.map(|_| Display::Wayland),
    }
}

/// Whether a compositor listens there: a session that ended leaves the variable behind.
fn answers(wayland: &str) -> bool {
    let dir = tui::variable("XDG_RUNTIME_DIR").unwrap_or_default();
    UnixStream::connect(Path::new(&dir).join(wayland)).is_ok()
}

/// `rookery window`.
pub(super) fn run(args: &args::Window) -> Outcome {
    if args.install_desktop {
        return desktop::install();
    }
    if args.remove_desktop {
        return desktop::remove();
    }
    let Some(display) = display() else {
        return Err(Failure::new("there is no display: DISPLAY and WAYLAND_DISPLAY are not set")
            .hint("use `rookery tui` in a terminal"));
    };
    let display = match usable(display) {
        Ok(display) => display,
        Err(missing) => return instead(args, &format!("cannot open a window: {missing}")),
    };
    match open(args, display)? {
        Ok(code) => Ok(code),
        Err(error) => instead(args, &error.to_string()),
    }
}

/// The TUI in place of a window that cannot be, where there is a terminal for it.
fn instead(args: &args::Window, why: &str) -> Outcome {
    if !tui::is_usable() || tui::variable("ROOKERY_TERMINAL_ID").is_some() {
        return Err(
            Failure::new(why).hint("install what is missing, or use `rookery tui` in a terminal")
        );
    }
    output::note(format!("{why}; this is the TUI"));
    let args = args::Tui { look: args.look, page: args.page, ..args::Tui::default() };
    block_on(tui::run(args))
}

/// Opens a window if that can be: none if another face has to be tried, and why was said.
pub(super) fn try_open() -> Outcome<Option<ExitCode>> {
    // One that is open comes to the front, also for a terminal that has no display itself.
    if finish(prepare(&link::homes()?, &args::Window::default()))? {
        return Ok(Some(ExitCode::SUCCESS));
    }
    // Over ssh the display is another machine's, if it is any.
    let Some(display) = display().filter(|_| tui::variable("SSH_CONNECTION").is_none()) else {
        return Ok(None);
    };
    let display = match usable(display) {
        Ok(display) => display,
        Err(missing) => {
            output::note(format!("no window: {missing}"));
            return Ok(None);
        }
    };
    match open(&args::Window::default(), display)? {
        Ok(code) => Ok(Some(code)),
        Err(error) => {
            output::note(format!("no window: {error}"));
            Ok(None)
        }
    }
}

/// This display, or X11 where only Wayland cannot be had; else why there is none.
fn usable(display: Display) -> Result<Display, String> {
    let Some(why) = refusal(display) else { return Ok(display) };
    let has_x11 = display == Display::Wayland && tui::variable("DISPLAY").is_some();
    if !has_x11 || refusal(Display::X11).is_some() {
        return Err(why);
    }
    output::note(format!("no window on Wayland: {why}; X11 is used"));
    Ok(Display::X11)
}

/// Libraries that are missing, or what is wrong with the compositor.
fn refusal(display: Display) -> Option<String> {
    let missing = match display {
        Display::Wayland => libraries::missing_wayland(),
        Display::X11 => libraries::missing_x11(),
    };
    if !missing.is_empty() {
        return Some(libraries::missing_message(&missing));
    }
    // A socket that was handed over can be asked only once, by the window itself.
    let is_asked = display == Display::Wayland && tui::variable("WAYLAND_SOCKET").is_none();
    is_asked.then(compositor::refusal).flatten()
}

/// Raises the window that is open, or opens one and stays until it is closed.
fn open(args: &args::Window, display: Display) -> Outcome<Result<ExitCode, WindowError>> {
    let homes = link::homes()?;
    let is_raised = finish(prepare(&homes, args))?;
    if is_raised {
        return Ok(Ok(ExitCode::SUCCESS));
    }
    let trace = args.trace.as_deref().map(create).transpose()?;
    match rookery_window::run(Options {
        x11: display == Display::X11,
        ..options(args, &homes, trace)
    }) {
        Ok(Ended::Left) => Ok(Ok(ExitCode::SUCCESS)),
        Ok(Ended::Refused(why)) => Err(Failure::new(why)),
        Err(error) => Ok(Err(error)),
    }
}

/// Starts a daemon unless there is one; whether a window that was open came to the front.
async fn prepare(homes: &Homes, args: &args::Window) -> Outcome<bool> {
    let (client, _) = daemon_process::ensure(homes).await?;
    link::bring_here(homes).await?;
    // One that can only look, or writes what it draws, is not the one that is there.
    if args.new || args.look || args.trace.is_some() {
        return Ok(false);
    }
    let page = args.page.map(|page| tui::page(page).word().to_owned());
    // A daemon of another version may not know the method; then there is simply a second window.
    let raised: Result<Raised, _> = client.send(RaiseWindow { page }).await;
    if raised.is_err() {
        link::call(&client, GetStatus).await?;
    }
    Ok(raised.is_ok_and(|raised| raised.raised))
}

fn create(path: &Path) -> Outcome<Box<dyn Write + Send>> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let doing = format!("cannot write {}", path.display());
    Ok(Box::new(file.map_err(Failure::doing(doing))?))
}

fn options(args: &args::Window, homes: &Homes, trace: Option<Box<dyn Write + Send>>) -> Options {
    Options {
        socket: link::own_socket(homes),
        name: name(),
        look: args.look,
        x11: false,
        backend: backend(tui::variable("ICED_BACKEND").as_deref()),
        note: Arc::new(|text| output::note(text)),
        page: args.page.map(tui::page),
        settings_file: tui::shortened(&homes.roost_config()),
        agents: tui::installed_agents(),
        cwd: std::env::current_dir().unwrap_or_default().display().to_string(),
        start: tui::start(homes),
        open: Arc::new(|uri| {
            Box::pin(async move {
                let opened = tokio::task::spawn_blocking(move || open_uri(&uri)).await;
                opened.unwrap_or_else(|error| Err(error.to_string()))
            })
        }),
        read: Arc::new(read_file),
        clipboards: Clipboards::start(true),
        trace,
    }
}

/// What the window is drawn with: the first of the names that iced has for it.
fn backend(names: Option<&str>) -> Backend {
    let mut names = names.unwrap_or_default().split(',').map(str::trim);
    match names.find(|name| !name.is_empty()) {
        None => Backend::Best,
        Some("tiny-skia") => Backend::Software,
        Some("wgpu") if HAS_GPU => Backend::Gpu,
        Some("wgpu") => {
            output::note(
                "ICED_BACKEND=wgpu is not used: the window draws in software, since this program was built \
                 without the feature gpu",
            );
            Backend::Software
        }
        Some(name) => {
            output::note(format!("ICED_BACKEND={name} is not known: use tiny-skia or wgpu"));
            Backend::Best
        }
    }
}

/// `laptop window`.
fn name() -> String {
    let name = rustix::system::uname();
    format!("{} window", name.nodename().to_string_lossy())
}

/// Reads a file that was dropped on the window.
fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > most {
        let most = most / 1_000_000;
        return Err(format!("{} is too large: {most} MB are the most", path.display()));
    }
    std::fs::read(path).map_err(failed)
}

/// Gives an address to the program that the desktop opens it with.
#[expect(clippy::disallowed_methods, reason = "the one place where the desktop opens an address")]
fn open_uri(uri: &str) -> Result<(), String> {
    let opened = Command::new("xdg-open")
        .arg(uri)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match opened {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("xdg-open could not open it: {status}")),
        Err(error) => Err(format!("cannot run xdg-open: {error}")),
    }
}

/// What a command says at its end.
fn report(text: impl std::fmt::Display) -> Outcome {
    output::note(text);
    done()
}
