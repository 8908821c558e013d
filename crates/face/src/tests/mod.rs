//! The mirror and the connection as a whole.

mod client;
mod mirror;
