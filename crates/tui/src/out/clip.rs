//! How a copied text gets to the person's own clipboard, and what may be said about it.

use base64::Engine as _;

/// From here on a copy is announced first.
const LARGE: usize = 100 * 1024;

/// The way that a copy takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Into tmux's buffer, which hands it on to its terminal.
    Tmux,
    /// By OSC 52, to a terminal that says that it takes it.
    Osc52,
    /// By OSC 52, to a terminal that says nothing about it.
    Osc52Unsure,
    /// The clipboard of this machine, which the daemon has set.
    Daemon,
}

impl Route {
    /// The way in this surrounding. `da1` are the attributes that the terminal answered with, if it
    /// did; 52 among them means the clipboard.
    pub fn choose(in_tmux: bool, da1: Option<&[u16]>, is_remote: bool, lacks: bool) -> Route {
        match da1 {
            _ if in_tmux => Route::Tmux,
            Some(attributes) if attributes.contains(&52) => Route::Osc52,
            _ if lacks && !is_remote => Route::Daemon,
            _ => Route::Osc52Unsure,
        }
    }

    /// What is said after it.
    pub fn message(self) -> &'static str {
        match self {
            Route::Tmux | Route::Osc52 | Route::Daemon => "copied",
            Route::Osc52Unsure => "sent to your terminal (it did not say whether it takes it)",
        }
    }
}

/// What is said after a copy of this many bytes.
pub fn copied_message(route: Route, bytes: usize) -> String {
    match bytes {
        bytes if bytes > LARGE => {
            format!("{} KB, which some terminals refuse: {}", bytes / 1024, route.message())
        }
        _ => route.message().to_owned(),
    }
}

/// The sequence that sets the outer terminal's clipboard.
pub fn osc52(text: &str) -> Vec<u8> {
    let data = base64::engine::general_purpose::STANDARD.encode(text);
    format!("\x1b]52;c;{data}\x1b\\").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_tells_the_truth() {
        assert_eq!(Route::choose(true, None, true, false), Route::Tmux);
        assert_eq!(Route::choose(false, Some(&[62, 22, 52]), false, false), Route::Osc52);
        assert_eq!(Route::choose(false, Some(&[62]), true, true), Route::Osc52Unsure);
        assert_eq!(Route::choose(false, Some(&[62]), false, true), Route::Daemon);
        assert_eq!(Route::Osc52.message(), "copied");
        assert!(Route::Osc52Unsure.message().starts_with("sent to your terminal"));
        assert_eq!(osc52("hi"), b"\x1b]52;c;aGk=\x1b\\");
    }
}
