//! The methods, one file per noun. Each decodes nothing and decides little: it asks core and
//! answers in the shapes of `wire`.

mod launch;
pub(crate) mod server;
pub(crate) mod session;
