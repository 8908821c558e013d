//! Typing as a person does: a look at what became of a text before the key that sends it.
//!
//! A program that finds a text and a key in one read may take the key for a part of the text, or let
//! it act on what it drew last. The bytes are the same; only the moment of the key differs.

use std::time::Duration;

use tokio::sync::watch::Receiver;
use tokio::time::{Instant, timeout};

use super::live::Progress;

/// How long a program may take to show a text. One that shows nothing (a password) gets the key then.
const ECHO: Duration = Duration::from_millis(150);
/// How long the screen must be still for the text to count as drawn.
const STILL: Duration = Duration::from_millis(25);
/// A screen that never is still gets the key after this.
const LONGEST: Duration = Duration::from_millis(400);

/// Waits until a program has drawn what was typed, as far as that can be seen. The place to hear of
/// it was taken before the text was typed.
pub async fn drawn(mut progress: Receiver<Progress>) {
    let longest = Instant::now() + LONGEST;
    let mut patience = ECHO;
    while timeout(patience, progress.changed()).await.is_ok_and(|changed| changed.is_ok()) {
        if Instant::now() >= longest {
            return;
        }
        patience = STILL;
    }
}
