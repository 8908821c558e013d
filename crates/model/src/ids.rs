//! Typed ids. One macro mints them all, so that no id can be passed for another.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

/// Declares a number-backed id that is never reused.
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// Wraps a raw number, as read from the store or parsed from a wire.
            pub const fn new(raw: u64) -> Self {
                Self(raw)
            }

            /// The raw number.
            pub const fn get(self) -> u64 {
                self.0
            }

            /// The id that follows this one.
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIntError;
            fn from_str(text: &str) -> Result<Self, ParseIntError> {
                text.parse().map(Self)
            }
        }
    };
}

id_type! {
    /// A project: a named group of terminals with a directory.
    ProjectId
}
id_type! {
    /// A live or finished terminal. Each dialect spells it in its own way.
    TerminalId
}
id_type! {
    /// One connection of a program that a person looks at. It ends with the connection.
    ViewerId
}
id_type! {
    /// The number of an event in the durable log. The first event is 1.
    EventSeq
}

/// Declares an id of 128 bits that was drawn once and is never drawn again.
macro_rules! long_id_type {
    ($(#[$doc:meta])* $name:ident, $write:path, $read:path) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// Wraps raw bits, as drawn or as read from the store.
            pub const fn new(raw: u128) -> Self {
                Self(raw)
            }

            /// The raw bits.
            pub const fn get(self) -> u128 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $write(self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                $read(text).map(Self).ok_or(IdError)
            }
        }
    };
}

/// A text that is no id of the kind asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id")]
pub struct IdError;

long_id_type! {
    /// A conversation with an agent; printed as a UUID.
    ThreadId, write_uuid, read_uuid
}
long_id_type! {
    /// One turn of a thread; printed as a UUID.
    TurnId, write_uuid, read_uuid
}
long_id_type! {
    /// A background task; printed as a UUID. It follows from who submitted it under which key.
    TaskId, write_uuid, read_uuid
}
long_id_type! {
    /// Something that waits for an answer; printed as a ULID.
    RequestId, write_ulid, read_ulid
}
long_id_type! {
    /// A terminal or a thread, whichever bears this universally unique name.
    SessionId, write_uuid, read_uuid
}

long_id_type! {
    /// Something that asks for attention.
    QueueItemId, write_uuid, read_uuid
}
long_id_type! {
    /// A team of agents.
    TeamId, write_uuid, read_uuid
}
long_id_type! {
    /// Changes that need a review.
    ReviewId, write_uuid, read_uuid
}
long_id_type! {
    /// A state of a working tree to come back to.
    CheckpointId, write_uuid, read_uuid
}
long_id_type! {
    /// Work that goes from one session to another.
    HandoffId, write_uuid, read_uuid
}
long_id_type! {
    /// One run of a child agent for a turn.
    TraceId, write_uuid, read_uuid
}
long_id_type! {
    /// A line of the timeline.
    TimelineItemId, write_uuid, read_uuid
}
long_id_type! {
    /// An agent's event; its sender chose the id.
    EventId, write_uuid, read_uuid
}

fn write_uuid(raw: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let hex = format!("{raw:032x}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    f.write_str(&parts.join("-"))
}

fn read_uuid(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    let is_dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let fits = bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match is_dash(at) {
            true => *byte == b'-',
            false => byte.is_ascii_hexdigit(),
        });
    fits.then(|| u128::from_str_radix(&text.replace('-', ""), 16).ok()).flatten()
}

/// Crockford's digits, which leave out letters that look like others.
const ULID_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn write_ulid(raw: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let digit = |place: u32| char::from(ULID_DIGITS[(raw >> (5 * place)) as usize & 31]);
    f.write_str(&(0..26).rev().map(digit).collect::<String>())
}

fn read_ulid(text: &str) -> Option<u128> {
    if text.len() != 26 || !matches!(text.as_bytes()[0], b'0'..=b'7') {
        return None;
    }
    text.bytes().try_fold(0u128, |raw, byte| {
        let digit = ULID_DIGITS.iter().position(|digit| *digit == byte)?;
        Some(raw << 5 | digit as u128)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_print_and_parse_in_their_own_ways() {
        let text = "0192d3c4-0000-7abc-8def-0123456789ab";
        assert_eq!(text.parse::<ThreadId>().unwrap().to_string(), text);
        for wrong in
            ["", "x", "0192d3c4-0000-7abc-8def-0123456789a", "0192d3c4-0000-7abc-8def-0123456789é"]
        {
            assert_eq!(wrong.parse::<TurnId>(), Err(IdError), "{wrong}");
        }
        let id = RequestId::new(u128::MAX - 5);
        assert_eq!(id.to_string().parse::<RequestId>(), Ok(id));
        assert_eq!(RequestId::new(1).to_string(), "00000000000000000000000001");
        assert!("80000000000000000000000000".parse::<RequestId>().is_err());
        assert!("0000000000000000000000000U".parse::<RequestId>().is_err());
    }

    #[test]
    fn ids_print_and_parse_as_plain_numbers() {
        let id: TerminalId = "42".parse().unwrap();
        assert_eq!(id, TerminalId::new(42));
        assert_eq!(id.next().to_string(), "43");
        assert!("-1".parse::<ProjectId>().is_err());
        assert!("".parse::<EventSeq>().is_err());
    }
}
