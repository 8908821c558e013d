//! The keeper's binary protocol as a pure codec: bytes in, messages out.
//! Frozen and additive: a peer skips fields and answers kinds it does not know, so daemons and keepers of
//! different ages understand each other. Knows nothing of sockets; descriptors are only counted here.

mod codec;
mod field;
mod frame;
mod message;
#[cfg(test)]
mod tests;

pub use field::DecodeError;
pub use frame::{Frame, FrameError, FrameReader, HEADER_LEN, MAX_BODY, MAX_FDS};
pub use message::{
    Entry, ErrorCode, ErrorReply, ExitStatus, MAX_META, Reply, Request, Scope, Size, Spawn, State,
};

/// Version of the protocol spoken by this build.
pub const PROTOCOL_VERSION: u16 = 1;

/// Oldest version this build still understands.
pub const MIN_PROTOCOL_VERSION: u16 = 1;
