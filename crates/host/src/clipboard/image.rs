//! Images that other programs put on the clipboard. They are read when a user pastes, and only then; no
//! image of ours goes there.

use std::io::Read as _;
use std::time::Duration;

use wl_clipboard_rs::paste::{ClipboardType, MimeType, Seat, get_contents};

/// How long the program that has the image may take for it.
const LIMIT: Duration = Duration::from_secs(3);

/// What images are asked for as, and how each of them begins.
const KIND: &str = "image/png";
const BEGIN: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The image, if there is one of at most this number of bytes. May wait for the program that has it.
pub(super) fn png(most: u64) -> Option<Vec<u8>> {
    let is_wayland = std::env::var_os("WAYLAND_DISPLAY").is_some_and(|name| !name.is_empty());
    let found = is_wayland.then(|| wayland(most)).flatten().or_else(x11);
    found.filter(|image| image.starts_with(BEGIN) && image.len() as u64 <= most)
}

fn wayland(most: u64) -> Option<Vec<u8>> {
    let kind = MimeType::Specific(KIND);
    let (pipe, _) = get_contents(ClipboardType::Regular, Seat::Unspecified, kind).ok()?;
    let mut image = Vec::new();
    // One byte more shows that it is longer.
    pipe.take(most + 1).read_to_end(&mut image).ok()?;
    Some(image)
}

fn x11() -> Option<Vec<u8>> {
    let clipboard = x11_clipboard::Clipboard::new().ok()?;
    let atoms = &clipboard.getter.atoms;
    let kind = clipboard.getter.get_atom(KIND).ok()?;
    clipboard.load(atoms.clipboard, kind, atoms.property, LIMIT).ok()
}
