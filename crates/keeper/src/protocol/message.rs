//! The messages: what a client may ask and what the keeper answers. Plain data; bytes are `codec`'s business.

use std::fmt;

/// Longest opaque note a client may attach to a terminal.
pub const MAX_META: usize = 64 << 10;

/// Size of a terminal's screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Rows of cells.
    pub rows: u16,
    /// Columns of cells.
    pub cols: u16,
    /// Width in pixels, 0 if unknown.
    pub xpixel: u16,
    /// Height in pixels, 0 if unknown.
    pub ypixel: u16,
}

/// Everything needed to start a child on a new PTY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spawn {
    /// Chosen by the caller; must not be in use.
    pub terminal_id: u64,
    /// Program and arguments. A program without a slash is looked up in the `PATH` of `env`.
    pub argv: Vec<Vec<u8>>,
    /// The complete environment, `key=value` each.
    pub env: Vec<Vec<u8>>,
    /// Absolute working directory.
    pub cwd: Vec<u8>,
    /// Initial size of the PTY.
    pub size: Size,
    /// Wanted capacity of the byte ring, 0 for the default.
    pub ring_bytes: u64,
    /// Opaque to the keeper, handed back by list and attach; at most [`MAX_META`].
    pub meta: Vec<u8>,
}

/// Whom a signal reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Only the process the keeper started.
    Child,
    /// The process group led by that process.
    Group,
}

/// What a client asks of the keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Says which versions the client speaks; answered by [`Reply::Hello`].
    Hello {
        /// Newest version the client speaks.
        version: u16,
        /// Oldest version the client accepts.
        min_version: u16,
    },
    /// Starts a child; answered by [`Reply::Spawned`] with PTY master and ring.
    Spawn(Spawn),
    /// Asks for all entries; answered by one or more [`Reply::Listed`].
    List,
    /// Asks for a terminal's descriptors; answered by [`Reply::Attached`] with PTY master and ring.
    Attach { terminal_id: u64 },
    /// Sends a signal; answered by [`Reply::Ok`].
    Signal {
        terminal_id: u64,
        /// Number of the signal; 0 only asks whether it could be sent.
        signal: i32,
        /// Whom it reaches.
        scope: Scope,
    },
    /// Replaces a terminal's opaque note; answered by [`Reply::Ok`].
    SetMeta {
        terminal_id: u64,
        /// The new note, at most [`MAX_META`].
        meta: Vec<u8>,
    },
    /// Forgets a terminal and closes the keeper's descriptors of it; answered by [`Reply::Ok`].
    Release { terminal_id: u64 },
    /// Takes over a terminal whose keeper died, with PTY master and ring; answered by [`Reply::Ok`].
    Adopt {
        /// Chosen by the caller; must not be in use.
        terminal_id: u64,
        /// Process that the former keeper started.
        pid: i32,
        /// Opaque note, at most [`MAX_META`].
        meta: Vec<u8>,
    },
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It ended, but it was not our child, so its exit status is not known.
    Unknown,
}

/// Whether a child still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not known to have ended.
    Running,
    /// It ended.
    Exited(ExitStatus),
}

/// What the keeper knows of one terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The id its creator chose.
    pub terminal_id: u64,
    /// Process id of the child.
    pub pid: i32,
    /// Whether it still runs.
    pub state: State,
    /// When it was started or adopted, microseconds since the Unix epoch.
    pub spawned_at_micros: u64,
    /// When its end was seen, 0 while it runs.
    pub exited_at_micros: u64,
    /// Taken over from another keeper: its exit status cannot be known.
    pub adopted: bool,
    /// The opaque note of its creator.
    pub meta: Vec<u8>,
}

/// Why a request failed, coarsely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// This keeper does not know the request or the version.
    Unsupported,
    /// The request is malformed.
    BadRequest,
    /// No such terminal.
    UnknownTerminal,
    /// The id is in use.
    DuplicateTerminal,
    /// The child could not be started; nothing is left of it.
    SpawnFailed,
    /// The signal could not be sent; `ESRCH` when the child has ended.
    SignalFailed,
    /// A limit of the keeper is reached.
    Limit,
    /// A code of a newer keeper.
    Other(u16),
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorReply {
    /// What kind of failure.
    pub code: ErrorCode,
    /// The system's error number, 0 if none.
    pub errno: i32,
    /// For people: names the thing that failed.
    pub message: String,
}

/// What the keeper tells a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Answer to [`Request::Hello`].
    Hello {
        /// Newest version the keeper speaks.
        version: u16,
        /// The keeper's process id.
        pid: u32,
        /// Bits for optional abilities; none are defined yet.
        features: u64,
    },
    /// The child runs. Rides with PTY master and ring.
    Spawned {
        /// The id the caller chose.
        terminal_id: u64,
        /// Process id of the child.
        pid: i32,
    },
    /// A part of the list, ordered by id.
    Listed {
        /// Some of the entries.
        entries: Vec<Entry>,
        /// Whether another part with the same tag follows.
        more: bool,
    },
    /// The entry asked for. Rides with PTY master and ring.
    Attached(Entry),
    /// Done.
    Ok,
    /// Not done.
    Error(ErrorReply),
    /// Notice with tag 0, sent to every client when a child ends.
    Exited {
        terminal_id: u64,
        /// How it ended.
        status: ExitStatus,
        /// When, microseconds since the Unix epoch.
        at_micros: u64,
    },
}

impl fmt::Display for ErrorReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ErrorReply {}
