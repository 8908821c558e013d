//! Signing in to accounts: how an issuer is found, how a person allows us in, how tokens are kept and renewed.
//!
//! - [`Accounts`] is the handle: it starts a [`Login`], reads who is signed in, forgets tokens, and gives the
//!   token of an account to those that call its provider.
//! - What issuers send is read by pure functions ([`discovery`], [`grant`], [`device`], [`browser`]), so that it
//!   can be tested byte by byte; time comes in by a [`Clock`].
//! - Tokens lie in one folder of files that only this user can read, and nowhere else.
//!
//! It knows no wire, no turn and no provider of models. Only `host` speaks HTTP.

mod account;
mod accounts;
mod address;
pub mod browser;
mod clock;
mod config;
pub mod device;
pub mod discovery;
mod error;
mod exchange;
mod files;
pub mod grant;
mod quote;
mod secret;
mod tokens;

pub use account::{Account, Identity};
pub use accounts::{Accounts, Login, LoginRequest, Options, Pending, SignedIn};
pub use clock::{Clock, Sleep, SystemClock};
pub use config::{Config, Flow};
pub use error::Error;
pub use quote::quote;
pub use secret::Secret;

/// Whether tokens may be sent to an address: by `https`, or on this machine.
pub fn may_carry_tokens(address: &str) -> bool {
    address::secure(address).is_ok()
}

/// The longest that a login may take.
pub const LOGIN_LIMIT: std::time::Duration = std::time::Duration::from_secs(15 * 60);
