//! Background tasks as a pure machine.
//!
//! [`rules`] says what may follow from what: a record and something that happened give the next record.
//! [`protocol`] carries that out over [`Records`] (compare-and-set) and a [`Queue`] (publish, ack, nak),
//! however many nodes there are and whichever of them dies in between. One machine does it over its
//! own store, several over a broker; there is no second machine.
//!
//! No clock, no I/O and no runtime: time comes in as an argument.

mod backend;
mod identity;
mod lease;
pub mod protocol;
pub mod rules;

pub use backend::{Message, Queue, Records, SetError};
pub use identity::{Submitter, lane, task_id};
pub use lease::{Lease, LeaseLoss};
