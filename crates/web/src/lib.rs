//! The page for browsers, as data: its files, a mark that changes with any of them, and the routes at which a
//! server has them. It serves nothing itself and knows no socket and no rule of entry.

mod assets;
mod routes;

pub use assets::{Asset, Assets};
pub use routes::{Methods, Route, route};
