//! Which face `rookery` without a command opens.

use crate::{
    attach::tty,
    commands::{block_on, tui, up},
    failure::Outcome,
};

/// The best face there is: a window with a display, else the TUI on a terminal, else the status.
pub(super) fn best() -> Outcome {
    match tui::variable("ROOKERY_FACE").as_deref() {
        Some("tui") => return block_on(tui::run(crate::args::Tui::default())),
        Some("status") => return block_on(up::run(false)),
        Some("window") => return window(),
        _ => {}
    }
    // What runs in one of our own terminals would be shown inside of itself.
    if tui::variable("ROOKERY_TERMINAL_ID").is_some() {
        return block_on(up::run(false));
    }
    #[cfg(feature = "window")]
    if let Some(code) = super::window::try_open()? {
        return Ok(code);
    }
    let is_terminal = tty::is_usable() && tui::variable("TERM").is_none_or(|term| term != "dumb");
    match is_terminal {
        true => block_on(tui::run(crate::args::Tui::default())),
        false => block_on(up::run(false)),
    }
}

#[cfg(feature = "window")]
fn window() -> Outcome {
    super::window::run(&crate::args::Window::default())
}

#[cfg(not(feature = "window"))]
fn window() -> Outcome {
    Err(crate::failure::Failure::new("this build has no window").hint("use `rookery tui`"))
}
