//! Messages to frames and back. Kinds and field numbers are frozen: add, never change.

use super::field::{self, DecodeError, Writer, each_field};
use super::frame::{Frame, FrameError};
use super::message::{
    Entry, ErrorCode, ErrorReply, ExitStatus, MAX_META, Reply, Request, Scope, Size, Spawn, State,
};

const HELLO: u16 = 0x0001;
const SPAWN: u16 = 0x0002;
const LIST: u16 = 0x0003;
const ATTACH: u16 = 0x0004;
const SIGNAL: u16 = 0x0005;
const SET_META: u16 = 0x0006;
const RELEASE: u16 = 0x0007;
const ADOPT: u16 = 0x0008;

const HELLO_REPLY: u16 = 0x8001;
const SPAWNED: u16 = 0x8002;
const LISTED: u16 = 0x8003;
const ATTACHED: u16 = 0x8004;
const OK: u16 = 0x8005;
const ERROR: u16 = 0x8006;
const EXITED: u16 = 0xc001;

impl ErrorCode {
    fn to_wire(self) -> u16 {
        match self {
            Self::Unsupported => 1,
            Self::BadRequest => 2,
            Self::UnknownTerminal => 3,
            Self::DuplicateTerminal => 4,
            Self::SpawnFailed => 5,
            Self::SignalFailed => 6,
            Self::Limit => 7,
            Self::Other(code) => code,
        }
    }

    fn from_wire(code: u16) -> Self {
        match code {
            1 => Self::Unsupported,
            2 => Self::BadRequest,
            3 => Self::UnknownTerminal,
            4 => Self::DuplicateTerminal,
            5 => Self::SpawnFailed,
            6 => Self::SignalFailed,
            7 => Self::Limit,
            other => Self::Other(other),
        }
    }
}

impl State {
    fn write(self, writer: Writer) -> Writer {
        let (kind, value) = match self {
            Self::Running => (0, 0),
            Self::Exited(ExitStatus::Code(code)) => (1, code),
            Self::Exited(ExitStatus::Signal(signal)) => (2, signal),
            Self::Exited(ExitStatus::Unknown) => (3, 0),
        };
        let [a, b, c, d] = i32::to_le_bytes(value);
        writer.bytes(field::STATE, &[kind, a, b, c, d])
    }

    fn read(field: field::Field<'_>) -> Result<Self, DecodeError> {
        Ok(match field.tagged_i32()? {
            (0, _) => Self::Running,
            (1, code) => Self::Exited(ExitStatus::Code(code)),
            (2, signal) => Self::Exited(ExitStatus::Signal(signal)),
            (3, _) => Self::Exited(ExitStatus::Unknown),
            _ => return Err(DecodeError::Invalid(field.id)),
        })
    }
}

impl Size {
    fn to_wire(self) -> [u8; 8] {
        let [[a, b], [c, d], [e, f], [g, h]] =
            [self.rows, self.cols, self.xpixel, self.ypixel].map(u16::to_le_bytes);
        [a, b, c, d, e, f, g, h]
    }
}

impl Entry {
    /// Bytes this entry takes in a list, give or take a few.
    pub(crate) fn weight(&self) -> usize {
        128 + self.meta.len()
    }

    fn write(&self, writer: Writer) -> Writer {
        self.state
            .write(writer.u64(field::TERMINAL, self.terminal_id).i32(field::PID, self.pid))
            .u64(field::SPAWNED_AT, self.spawned_at_micros)
            .u64(field::EXITED_AT, self.exited_at_micros)
            .u8(field::ADOPTED, self.adopted.into())
            .bytes(field::META, &self.meta)
    }
}

/// Every field a message may have, as found; messages then take what they need.
#[derive(Default)]
struct Bag<'a> {
    version: Option<u16>,
    min_version: Option<u16>,
    pid: Option<i32>,
    features: Option<u64>,
    terminal: Option<u64>,
    args: Vec<Vec<u8>>,
    env: Vec<Vec<u8>>,
    cwd: Option<&'a [u8]>,
    size: Option<Size>,
    ring_bytes: Option<u64>,
    meta: Option<&'a [u8]>,
    signal: Option<i32>,
    scope: Option<Scope>,
    state: Option<State>,
    spawned_at: Option<u64>,
    exited_at: Option<u64>,
    adopted: Option<bool>,
    entries: Vec<Entry>,
    more: Option<bool>,
    code: Option<u16>,
    errno: Option<i32>,
    message: Option<&'a [u8]>,
}

impl<'a> Bag<'a> {
    fn read(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut bag = Self::default();
        each_field(body, |field| bag.take(field))?;
        Ok(bag)
    }

    fn take(&mut self, field: field::Field<'a>) -> Result<(), DecodeError> {
        match field.id {
            field::VERSION => self.version = Some(field.u16()?),
            field::MIN_VERSION => self.min_version = Some(field.u16()?),
            field::PID => self.pid = Some(field.i32()?),
            field::FEATURES => self.features = Some(field.u64()?),
            field::TERMINAL => self.terminal = Some(field.u64()?),
            field::ARG => self.args.push(field.value.to_vec()),
            field::ENV => self.env.push(field.value.to_vec()),
            field::CWD => self.cwd = Some(field.value),
            field::SIZE => {
                let [rows, cols, xpixel, ypixel] = field.four_u16()?;
                self.size = Some(Size { rows, cols, xpixel, ypixel });
            }
            field::RING_BYTES => self.ring_bytes = Some(field.u64()?),
            field::META if field.value.len() > MAX_META => {
                return Err(DecodeError::Invalid(field.id));
            }
            field::META => self.meta = Some(field.value),
            field::SIGNAL => self.signal = Some(field.i32()?),
            field::SCOPE => {
                self.scope = Some(match field.u8()? {
                    0 => Scope::Child,
                    1 => Scope::Group,
                    _ => return Err(DecodeError::Invalid(field.id)),
                });
            }
            field::STATE => self.state = Some(State::read(field)?),
            field::SPAWNED_AT => self.spawned_at = Some(field.u64()?),
            field::EXITED_AT => self.exited_at = Some(field.u64()?),
            field::ADOPTED => self.adopted = Some(field.u8()? != 0),
            field::ENTRY => self.entries.push(read_entry(field.value)?),
            field::MORE => self.more = Some(field.u8()? != 0),
            field::CODE => self.code = Some(field.u16()?),
            field::ERRNO => self.errno = Some(field.i32()?),
            field::MESSAGE => self.message = Some(field.value),
            _ => {}
        }
        Ok(())
    }

    fn terminal(&self) -> Result<u64, DecodeError> {
        need(self.terminal, field::TERMINAL)
    }

    fn meta(&self) -> Vec<u8> {
        self.meta.unwrap_or_default().to_vec()
    }

    fn entry(&self) -> Result<Entry, DecodeError> {
        Ok(Entry {
            terminal_id: self.terminal()?,
            pid: need(self.pid, field::PID)?,
            state: need(self.state, field::STATE)?,
            spawned_at_micros: self.spawned_at.unwrap_or(0),
            exited_at_micros: self.exited_at.unwrap_or(0),
            adopted: self.adopted.unwrap_or(false),
            meta: self.meta(),
        })
    }

    fn exit_status(&self) -> Result<ExitStatus, DecodeError> {
        match need(self.state, field::STATE)? {
            State::Exited(status) => Ok(status),
            State::Running => Err(DecodeError::Invalid(field::STATE)),
        }
    }
}

fn need<T>(value: Option<T>, id: u16) -> Result<T, DecodeError> {
    value.ok_or(DecodeError::Missing(id))
}

/// Entries do not nest, so that a hostile body cannot make the decoder recurse.
fn read_entry(body: &[u8]) -> Result<Entry, DecodeError> {
    let mut bag = Bag::default();
    each_field(body, |field| if field.id == field::ENTRY { Ok(()) } else { bag.take(field) })?;
    bag.entry()
}

impl Request {
    /// The frame's bytes; `fds` descriptors will ride with it.
    pub fn encode(&self, tag: u64, fds: usize) -> Result<Vec<u8>, FrameError> {
        let new = Writer::default();
        let (kind, fields) = match self {
            Self::Hello { version, min_version } => {
                (HELLO, new.u16(field::VERSION, *version).u16(field::MIN_VERSION, *min_version))
            }
            Self::Spawn(spawn) => (
                SPAWN,
                new.u64(field::TERMINAL, spawn.terminal_id)
                    .each(field::ARG, &spawn.argv)
                    .each(field::ENV, &spawn.env)
                    .bytes(field::CWD, &spawn.cwd)
                    .bytes(field::SIZE, &spawn.size.to_wire())
                    .u64(field::RING_BYTES, spawn.ring_bytes)
                    .bytes(field::META, &spawn.meta),
            ),
            Self::List => (LIST, new),
            Self::Attach { terminal_id } => (ATTACH, new.u64(field::TERMINAL, *terminal_id)),
            Self::Signal { terminal_id, signal, scope } => {
                let scope = match scope {
                    Scope::Child => 0,
                    Scope::Group => 1,
                };
                let fields = new.u64(field::TERMINAL, *terminal_id).i32(field::SIGNAL, *signal);
                (SIGNAL, fields.u8(field::SCOPE, scope))
            }
            Self::SetMeta { terminal_id, meta } => {
                (SET_META, new.u64(field::TERMINAL, *terminal_id).bytes(field::META, meta))
            }
            Self::Release { terminal_id } => (RELEASE, new.u64(field::TERMINAL, *terminal_id)),
            Self::Adopt { terminal_id, pid, meta } => {
                let fields = new.u64(field::TERMINAL, *terminal_id).i32(field::PID, *pid);
                (ADOPT, fields.bytes(field::META, meta))
            }
        };
        frame_bytes(kind, tag, fds, fields)
    }

    /// Reads a request from a frame.
    pub fn decode(frame: &Frame) -> Result<Self, DecodeError> {
        if !(HELLO..=ADOPT).contains(&frame.kind) {
            return Err(DecodeError::UnknownKind(frame.kind));
        }
        let bag = Bag::read(&frame.body)?;
        Ok(match frame.kind {
            HELLO => {
                let version = need(bag.version, field::VERSION)?;
                Self::Hello { version, min_version: bag.min_version.unwrap_or(version) }
            }
            SPAWN => Self::Spawn(Spawn {
                terminal_id: bag.terminal()?,
                cwd: need(bag.cwd, field::CWD)?.to_vec(),
                size: need(bag.size, field::SIZE)?,
                ring_bytes: bag.ring_bytes.unwrap_or(0),
                meta: bag.meta(),
                argv: bag.args,
                env: bag.env,
            }),
            LIST => Self::List,
            ATTACH => Self::Attach { terminal_id: bag.terminal()? },
            SIGNAL => Self::Signal {
                terminal_id: bag.terminal()?,
                signal: need(bag.signal, field::SIGNAL)?,
                scope: bag.scope.unwrap_or(Scope::Child),
            },
            SET_META => Self::SetMeta {
                terminal_id: bag.terminal()?,
                meta: need(bag.meta, field::META)?.to_vec(),
            },
            RELEASE => Self::Release { terminal_id: bag.terminal()? },
            ADOPT => Self::Adopt {
                terminal_id: bag.terminal()?,
                pid: need(bag.pid, field::PID)?,
                meta: bag.meta(),
            },
            kind => return Err(DecodeError::UnknownKind(kind)),
        })
    }
}

impl Reply {
    /// The frame's bytes; `fds` descriptors will ride with it.
    pub fn encode(&self, tag: u64, fds: usize) -> Result<Vec<u8>, FrameError> {
        let new = Writer::default();
        let (kind, fields) = match self {
            Self::Hello { version, pid, features } => (
                HELLO_REPLY,
                new.u16(field::VERSION, *version)
                    .u32(field::PID, *pid)
                    .u64(field::FEATURES, *features),
            ),
            Self::Spawned { terminal_id, pid } => {
                (SPAWNED, new.u64(field::TERMINAL, *terminal_id).i32(field::PID, *pid))
            }
            Self::Listed { entries, more } => {
                let fields = entries.iter().fold(new, |writer, entry| {
                    writer.bytes(field::ENTRY, &entry.write(Writer::default()).finish())
                });
                (LISTED, fields.u8(field::MORE, (*more).into()))
            }
            Self::Attached(entry) => (ATTACHED, entry.write(new)),
            Self::Ok => (OK, new),
            Self::Error(error) => (
                ERROR,
                new.u16(field::CODE, error.code.to_wire())
                    .i32(field::ERRNO, error.errno)
                    .bytes(field::MESSAGE, error.message.as_bytes()),
            ),
            Self::Exited { terminal_id, status, at_micros } => {
                let fields = new.u64(field::TERMINAL, *terminal_id);
                (EXITED, State::Exited(*status).write(fields).u64(field::EXITED_AT, *at_micros))
            }
        };
        frame_bytes(kind, tag, fds, fields)
    }

    /// Reads a reply or notice from a frame.
    pub fn decode(frame: &Frame) -> Result<Self, DecodeError> {
        if !matches!(frame.kind, HELLO_REPLY..=ERROR | EXITED) {
            return Err(DecodeError::UnknownKind(frame.kind));
        }
        let bag = Bag::read(&frame.body)?;
        Ok(match frame.kind {
            HELLO_REPLY => Self::Hello {
                version: need(bag.version, field::VERSION)?,
                pid: need(bag.pid, field::PID)?.cast_unsigned(),
                features: bag.features.unwrap_or(0),
            },
            SPAWNED => {
                Self::Spawned { terminal_id: bag.terminal()?, pid: need(bag.pid, field::PID)? }
            }
            LISTED => Self::Listed { more: bag.more.unwrap_or(false), entries: bag.entries },
            ATTACHED => Self::Attached(bag.entry()?),
            OK => Self::Ok,
            ERROR => Self::Error(ErrorReply {
                code: ErrorCode::from_wire(need(bag.code, field::CODE)?),
                errno: bag.errno.unwrap_or(0),
                message: String::from_utf8_lossy(bag.message.unwrap_or_default()).into_owned(),
            }),
            EXITED => Self::Exited {
                terminal_id: bag.terminal()?,
                status: bag.exit_status()?,
                at_micros: bag.exited_at.unwrap_or(0),
            },
            kind => return Err(DecodeError::UnknownKind(kind)),
        })
    }
}

fn frame_bytes(kind: u16, tag: u64, fds: usize, fields: Writer) -> Result<Vec<u8>, FrameError> {
    let fds = u16::try_from(fds).map_err(|_| FrameError::TooManyFds(fds))?;
    Frame { kind, fds, tag, body: fields.finish() }.encode()
}
