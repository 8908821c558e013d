//! Edits of text files as hunks, and how one of them is taken back later.
//!
//! [`edits`] compares a file before and after, [`undo`] finds the new lines of a hunk in what the file
//! is by now and puts the old ones in their place, or refuses, and [`expected`] says where to look first.
//! Pure: it knows no files, no threads and no clock but the one that bounds a comparison.

mod diff;
mod place;
mod reverse;
mod undo;

pub use diff::{FileEdit, MAX_BYTES, SHOWN_LINES, edits};
pub use place::{begins, expected};
pub use reverse::reverse_patch;
pub use undo::{Conflict, Reverted, has_old_side, is_taken_back, undo};

#[cfg(test)]
mod tests;
