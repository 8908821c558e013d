//! Directories and files that may be trusted.
//!
//! A directory is opened step by step from the root. A link is followed only where no other user could have put it,
//! and what is found at the end must belong to this user. Files are opened relative to that descriptor, so nothing
//! can be put in between. Knows nothing of what the files contain.

mod dir;
mod peer;
mod walk;

pub use dir::{MAX_READ, TrustedDir};
pub use peer::check_peer;
