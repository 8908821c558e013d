//! Policy modes as people type and read them.

use rookery_native::wire::Mode;
use rookery_roder::modes;

/// The mode that a word spells.
pub(crate) fn read(word: &str) -> Option<Mode> {
    modes::read_argument(word).map(Mode::from)
}

/// Every word that is understood, for messages.
pub(crate) fn accepted() -> String {
    modes::accepted()
}

/// The one word for a mode that is shown everywhere.
pub(crate) fn word(mode: Mode) -> &'static str {
    modes::canonical(mode.into())
}
