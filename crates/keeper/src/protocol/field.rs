//! Fields inside a body: `u16` id, `u32` length, bytes. Ids are global and never change their meaning.

use thiserror::Error;

pub(super) const VERSION: u16 = 1;
pub(super) const MIN_VERSION: u16 = 2;
pub(super) const PID: u16 = 3;
pub(super) const FEATURES: u16 = 4;
pub(super) const TERMINAL: u16 = 5;
pub(super) const ARG: u16 = 6;
pub(super) const ENV: u16 = 7;
pub(super) const CWD: u16 = 8;
pub(super) const SIZE: u16 = 9;
pub(super) const RING_BYTES: u16 = 10;
pub(super) const META: u16 = 11;
pub(super) const SIGNAL: u16 = 12;
pub(super) const SCOPE: u16 = 13;
pub(super) const STATE: u16 = 14;
pub(super) const SPAWNED_AT: u16 = 15;
pub(super) const EXITED_AT: u16 = 16;
pub(super) const ADOPTED: u16 = 17;
pub(super) const ENTRY: u16 = 18;
pub(super) const MORE: u16 = 19;
pub(super) const CODE: u16 = 20;
pub(super) const ERRNO: u16 = 21;
pub(super) const MESSAGE: u16 = 22;

/// Why a frame's body does not make a message. The stream itself is still in step.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    /// A kind from a newer peer, or none at all.
    #[error("unknown message kind {0:#06x}")]
    UnknownKind(u16),
    /// A field's length runs past the end of the body.
    #[error("field {0} is cut short")]
    Truncated(u16),
    /// A known field has an impossible length or value.
    #[error("field {0} has an invalid value")]
    Invalid(u16),
    /// A field the message cannot do without.
    #[error("field {0} is missing")]
    Missing(u16),
}

/// Writes fields one after the other.
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn bytes(mut self, id: u16, value: &[u8]) -> Self {
        self.0.extend_from_slice(&id.to_le_bytes());
        self.0.extend_from_slice(&u32::try_from(value.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.0.extend_from_slice(value);
        self
    }

    pub(super) fn each(self, id: u16, values: &[Vec<u8>]) -> Self {
        values.iter().fold(self, |writer, value| writer.bytes(id, value))
    }

    pub(super) fn u8(self, id: u16, value: u8) -> Self {
        self.bytes(id, &[value])
    }

    pub(super) fn u16(self, id: u16, value: u16) -> Self {
        self.bytes(id, &value.to_le_bytes())
    }

    pub(super) fn i32(self, id: u16, value: i32) -> Self {
        self.bytes(id, &value.to_le_bytes())
    }

    pub(super) fn u32(self, id: u16, value: u32) -> Self {
        self.bytes(id, &value.to_le_bytes())
    }

    pub(super) fn u64(self, id: u16, value: u64) -> Self {
        self.bytes(id, &value.to_le_bytes())
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// One field of a body, with the means to read its value.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) id: u16,
    pub(super) value: &'a [u8],
}

impl Field<'_> {
    fn fixed<const N: usize>(self) -> Result<[u8; N], DecodeError> {
        self.value.try_into().map_err(|_| DecodeError::Invalid(self.id))
    }

    pub(super) fn u8(self) -> Result<u8, DecodeError> {
        Ok(u8::from_le_bytes(self.fixed()?))
    }

    pub(super) fn u16(self) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.fixed()?))
    }

    pub(super) fn i32(self) -> Result<i32, DecodeError> {
        Ok(i32::from_le_bytes(self.fixed()?))
    }

    pub(super) fn u64(self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.fixed()?))
    }

    pub(super) fn four_u16(self) -> Result<[u16; 4], DecodeError> {
        let [a, b, c, d, e, f, g, h] = self.fixed()?;
        Ok([[a, b], [c, d], [e, f], [g, h]].map(u16::from_le_bytes))
    }

    pub(super) fn tagged_i32(self) -> Result<(u8, i32), DecodeError> {
        let [kind, value @ ..] = self.fixed::<5>()?;
        Ok((kind, i32::from_le_bytes(value)))
    }
}

/// Calls `take` for every field; the caller ignores ids it does not know.
pub(super) fn each_field<'a>(
    mut body: &'a [u8],
    mut take: impl FnMut(Field<'a>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    while let Some((id, rest)) = body.split_first_chunk::<2>() {
        let id = u16::from_le_bytes(*id);
        let (length, rest) = rest.split_first_chunk::<4>().ok_or(DecodeError::Truncated(id))?;
        let length = u32::from_le_bytes(*length) as usize;
        let (value, rest) = rest.split_at_checked(length).ok_or(DecodeError::Truncated(id))?;
        take(Field { id, value })?;
        body = rest;
    }
    if body.is_empty() { Ok(()) } else { Err(DecodeError::Truncated(0)) }
}
