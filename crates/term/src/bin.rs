//! A bounds-checked little binary writer and reader for checkpoints and history rows.
//!
//! The bytes live in shared memory that a previous, possibly older or crashed,
//! process wrote, so the reader trusts nothing: every read may fail.

/// The bytes are not what this version writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the saved terminal state is damaged or of another version")]
pub struct Damaged;

pub(crate) type Read<T> = Result<T, Damaged>;

/// Appends values to a byte vector.
pub(crate) struct Writer<'a>(pub(crate) &'a mut Vec<u8>);

impl Writer<'_> {
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    /// A number in LEB128, one byte for anything below 128.
    pub(crate) fn uint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value as u8) | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.uint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn optional_text(&mut self, text: Option<&str>) {
        self.bool(text.is_some());
        if let Some(text) = text {
            self.bytes(text.as_bytes());
        }
    }
}

/// Takes values off the front of a byte slice.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn u8(&mut self) -> Read<u8> {
        let (&first, rest) = self.0.split_first().ok_or(Damaged)?;
        self.0 = rest;
        Ok(first)
    }

    pub(crate) fn bool(&mut self) -> Read<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damaged),
        }
    }

    pub(crate) fn uint(&mut self) -> Read<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Damaged)
    }

    /// A number that must not exceed `max`.
    pub(crate) fn uint_to(&mut self, max: u64) -> Read<usize> {
        let value = self.uint()?;
        if value <= max { Ok(value as usize) } else { Err(Damaged) }
    }

    pub(crate) fn bytes(&mut self) -> Read<&'a [u8]> {
        let len = self.uint_to(self.0.len() as u64)?;
        if len > self.0.len() {
            return Err(Damaged);
        }
        let (head, rest) = self.0.split_at(len);
        self.0 = rest;
        Ok(head)
    }

    pub(crate) fn text(&mut self) -> Read<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Damaged)
    }

    pub(crate) fn optional_text(&mut self) -> Read<Option<String>> {
        Ok(if self.bool()? { Some(self.text()?.to_owned()) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_and_texts_come_back(value: u64, text: String, flag: bool) {
            let mut bytes = Vec::new();
            let mut writer = Writer(&mut bytes);
            writer.uint(value);
            writer.optional_text(flag.then_some(&text));
            let mut reader = Reader(&bytes);
            prop_assert_eq!(reader.uint().unwrap(), value);
            prop_assert_eq!(reader.optional_text().unwrap(), flag.then_some(text));
            prop_assert!(reader.0.is_empty());
        }

        #[test]
        fn garbage_never_panics(bytes: Vec<u8>) {
            let mut reader = Reader(&bytes);
            while reader.optional_text().is_ok() && !reader.0.is_empty() {}
        }
    }
}
