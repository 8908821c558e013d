//! Which part of new output may be said, with its secrets hidden.

use rookery_core::TranscriptChunk;
use rookery_term::redact::Policy;

use crate::errors::default_policy;

/// Characters before a piece that are looked at to know a secret that goes on in it.
pub(super) const CONTEXT: usize = 4096;

/// What may be said now.
pub(super) struct Ready {
    /// The text, secrets hidden.
    pub(super) text: String,
    /// Bytes at the end that wait, because they may be the beginning of a secret.
    pub(super) kept_bytes: u64,
}

/// Hides secrets in a piece of a transcript. Unless it is the last chance, what may be the beginning
/// of a secret waits.
pub(super) fn ready(piece: &TranscriptChunk, is_last: bool) -> Ready {
    let policy = default_policy();
    let shown = if is_last { piece.text.len() } else { safe_len(policy, piece) };
    let (mut now, mut later) = piece.text.split_at(shown);
    // What stands for a broken byte is longer than that byte, so it cannot be counted back.
    if later.contains(char::REPLACEMENT_CHARACTER) {
        (now, later) = (&piece.text, "");
    }
    Ready {
        text: policy.redact_piece(&piece.context, now).into_owned(),
        kept_bytes: later.len() as u64,
    }
}

/// How much of a piece can be shown before more has arrived.
fn safe_len(policy: &Policy, piece: &TranscriptChunk) -> usize {
    let both = format!("{}{}", piece.context, piece.text);
    policy.safe_len(&both).saturating_sub(piece.context.len())
}
