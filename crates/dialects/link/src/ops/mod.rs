//! What the methods do.

pub(crate) mod cards;
pub(crate) mod input;
pub(crate) mod open;
pub(crate) mod place;
pub(crate) mod terminal;
pub(crate) mod threads;
