//! The pages of a B-tree, as far as they can be read: cells, and the values in them. Whatever does
//! not fit is left out; nothing here trusts what it reads.

use rusqlite::types::Value;

use super::pages::{Pages, be16, be32};

/// What one row may take; larger ones were never ours.
const MAX_ROW: u64 = 1 << 30;
/// Columns of one row at most.
const MAX_COLUMNS: usize = 64;

/// What kind of page it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    TableLeaf,
    TableInner,
    IndexLeaf,
    IndexInner,
}

/// A row: its number, where it has one, and its values as they are stored.
pub(super) struct Row {
    pub(super) number: Option<i64>,
    pub(super) values: Vec<Value>,
}

/// A page of a tree, taken apart.
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) children: Vec<u32>,
    pub(super) rows: Vec<Row>,
    /// Rows that are there but cannot be read.
    pub(super) unreadable: usize,
}

/// Reads a page of a tree; none if it is none.
pub(super) fn node(pages: &Pages, number: u32) -> Option<Node> {
    let page = pages.page(number)?;
    let head = if number == 1 { 100 } else { 0 };
    let kind = match page.get(head)? {
        0x0d => Kind::TableLeaf,
        0x05 => Kind::TableInner,
        0x0a => Kind::IndexLeaf,
        0x02 => Kind::IndexInner,
        _ => return None,
    };
    let is_inner = matches!(kind, Kind::TableInner | Kind::IndexInner);
    let cells = usize::from(be16(&page, head + 3));
    let pointers = head + if is_inner { 12 } else { 8 };
    if pointers + 2 * cells > pages.usable() {
        return None;
    }
    let mut node = Node { kind, children: Vec::new(), rows: Vec::new(), unreadable: 0 };
    for cell in 0..cells {
        let at = usize::from(be16(&page, pointers + 2 * cell));
        match read_cell(pages, &page, at, kind, &mut node.children) {
            Some(Some(row)) => node.rows.push(row),
            Some(None) => {}
            None => node.unreadable += 1,
        }
    }
    if is_inner {
        node.children.push(be32(&page, head + 8));
    }
    Some(node)
}

/// Reads one cell: none if it cannot be read, no row if it is of a kind that has none.
fn read_cell(
    pages: &Pages,
    page: &[u8],
    mut at: usize,
    kind: Kind,
    children: &mut Vec<u32>,
) -> Option<Option<Row>> {
    page.get(at..at + 4)?;
    if matches!(kind, Kind::TableInner | Kind::IndexInner) {
        children.push(be32(page, at));
        at += 4;
    }
    if kind == Kind::TableInner {
        return Some(None);
    }
    let length = varint(page, &mut at)?;
    let number = match kind {
        Kind::TableLeaf => Some(varint(page, &mut at)? as i64),
        _ => None,
    };
    let payload = payload(pages, page, at, length, kind)?;
    Some(Some(Row { number, values: values(&payload)? }))
}

/// The bytes of a row, with what overflowed into other pages.
fn payload(pages: &Pages, page: &[u8], at: usize, length: u64, kind: Kind) -> Option<Vec<u8>> {
    let length = usize::try_from(length).ok().filter(|length| *length as u64 <= MAX_ROW)?;
    let usable = pages.usable();
    let largest = match kind {
        Kind::TableLeaf => usable - 35,
        _ => (usable - 12) * 64 / 255 - 23,
    };
    if length <= largest {
        return Some(page.get(at..at + length)?.to_vec());
    }
    let smallest = (usable - 12) * 32 / 255 - 23;
    let fitting = smallest + (length - smallest) % (usable - 4);
    let local = if fitting <= largest { fitting } else { smallest };
    let mut bytes = page.get(at..at + local)?.to_vec();
    let mut next = be32(page, at + local);
    // Each page adds to it, so a ring of pages ends as well.
    while bytes.len() < length {
        let overflow = pages.page(next)?;
        let part = (length - bytes.len()).min(usable - 4);
        bytes.extend_from_slice(overflow.get(4..4 + part)?);
        next = be32(&overflow, 0);
    }
    Some(bytes)
}

/// The values of a row.
fn values(payload: &[u8]) -> Option<Vec<Value>> {
    let mut at = 0;
    let head = usize::try_from(varint(payload, &mut at)?).ok()?;
    let mut body = head;
    let mut values = Vec::new();
    while at < head {
        let serial = varint(payload, &mut at)?;
        let (value, length) = value(payload, body, serial)?;
        body += length;
        values.push(value);
        if values.len() > MAX_COLUMNS {
            return None;
        }
    }
    (at == head && body == payload.len()).then_some(values)
}

fn value(payload: &[u8], at: usize, serial: u64) -> Option<(Value, usize)> {
    let bytes = |length: usize| payload.get(at..at.checked_add(length)?);
    let integer = |length: usize| {
        let bytes = bytes(length)?;
        let first = if bytes[0] & 0x80 != 0 { -1 } else { 0 };
        let number = bytes.iter().fold(first, |number: i64, byte| number << 8 | i64::from(*byte));
        Some((Value::Integer(number), length))
    };
    match serial {
        0 => Some((Value::Null, 0)),
        1..=4 => integer(serial as usize),
        5 => integer(6),
        6 => integer(8),
        7 => {
            let bits = bytes(8)?.try_into().ok()?;
            Some((Value::Real(f64::from_be_bytes(bits)), 8))
        }
        8 => Some((Value::Integer(0), 0)),
        9 => Some((Value::Integer(1), 0)),
        10 | 11 => None,
        even if even % 2 == 0 => {
            let length = usize::try_from((even - 12) / 2).ok()?;
            Some((Value::Blob(bytes(length)?.to_vec()), length))
        }
        odd => {
            let length = usize::try_from((odd - 13) / 2).ok()?;
            let text = String::from_utf8(bytes(length)?.to_vec()).ok()?;
            Some((Value::Text(text), length))
        }
    }
}

/// A number of one to nine bytes; moves on behind it.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for place in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if place == 8 {
            return Some(number << 8 | u64::from(byte));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_of_all_lengths_are_read() {
        for (bytes, number) in [
            (&[0x05][..], 5),
            (&[0x81, 0x00], 128),
            (&[0xff; 9], u64::MAX),
            (&[0x80, 0x80, 0x01, 0x77], 1),
        ] {
            assert_eq!(varint(bytes, &mut 0), Some(number));
        }
        assert_eq!(varint(&[0x80, 0x80], &mut 0), None);
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        // Its head: NULL, a negative byte, one, "ab", x'07'.
        let payload = [6, 0, 1, 9, 17, 14, 0xff, b'a', b'b', 7];
        let expected = [
            Value::Null,
            Value::Integer(-1),
            Value::Integer(1),
            Value::Text("ab".into()),
            Value::Blob(vec![7]),
        ];
        assert_eq!(values(&payload).unwrap(), expected);
        for cut in 0..payload.len() {
            assert_eq!(values(&payload[..cut]), None, "cut at {cut}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes: Vec<u8>) {
            let _ = values(&bytes);
        }
    }
}
