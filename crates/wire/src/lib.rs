//! How any dialect talks, and nothing of what it says: framings, transports, the connection loop,
//! bounded out-queues and JSON-RPC 2.0.
//!
//! A dialect implements [`Protocol`] (or takes [`rpc::JsonRpc`] with a [`rpc::Table`] of methods)
//! and hands it to [`serve_connection`] together with a [`Transport`] and a [`framing::Framing`].
//! This crate knows no entity, no event and no other Rookery crate.
//!
//! ```
//! use rookery_wire::{Options, call, framing::Ndjson, method, rpc, serve_connection, transport::memory};
//! # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! # struct Add { a: i64, b: i64 }
//! call!("math.add" Add -> i64);
//! async fn add(_cx: (), p: Add) -> Result<i64, rpc::RpcError> {
//!     Ok(p.a + p.b)
//! }
//! const METHODS: &[rpc::Method<()>] = &[method!(Add, LOOK, [] => add)];
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let (near, far) = memory::pair();
//! let table = rpc::Table::new([METHODS]);
//! tokio::spawn(serve_connection(far, Ndjson::default(), Options::default(), move |_connection| {
//!     rpc::JsonRpc::new(table, ())
//! }));
//! let client = rookery_wire::Client::over(near, Ndjson::default());
//! assert_eq!(client.send(Add { a: 1, b: 2 }).await.unwrap(), 3);
//! # }
//! ```

pub mod admission;
pub mod call;
pub mod client;
pub mod connection;
pub mod decode;
pub mod exchange;
pub mod framing;
pub mod ids;
pub mod options;
pub mod outbox;
pub mod protocol;
pub mod rights;
pub mod rpc;
mod secret;
pub mod transport;

#[cfg(test)]
mod tests;

pub use call::Call;
pub use client::{Client, ClientError};
pub use connection::{Outcome, serve_connection};
pub use options::{Options, Order};
pub use outbox::{ConnectionHandle, Outbox, Rejected, Subject};
pub use protocol::{Protocol, Step};
pub use secret::Secret;
pub use transport::Transport;
