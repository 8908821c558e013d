//! What the keeper remembers of a terminal for us, so that it can be found again without the store.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use rookery_model::{Origin, ProjectId, Size, TerminalUuid, Timestamp};

/// Written for the person's terminals, and read by every version.
const VERSION: u8 = 1;
/// The same, behind who opened it. Older versions do not read it, and so never
/// take such a terminal for the person's.
const AGENT_VERSION: u8 = 2;

/// Facts about a terminal that must survive even the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) uuid: TerminalUuid,
    pub(crate) project: ProjectId,
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) user_title: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) size: Size,
    pub(crate) scrollback: u64,
    pub(crate) transcript_chars: u64,
    /// Raw log and the length of its file before the first byte.
    pub(crate) raw_log: Option<(PathBuf, u64)>,
    /// Who opened it.
    pub(crate) origin: Origin,
}

impl Meta {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = match self.origin {
            Origin::Person => vec![VERSION],
            Origin::Tool(_) | Origin::Agent(_) => {
                let mut out = vec![AGENT_VERSION];
                push_bytes(&mut out, self.origin.to_string().as_bytes());
                out
            }
        };
        out.extend(self.uuid.0);
        for number in [
            self.project.get(),
            self.created_at.as_micros() as u64,
            u64::from(self.size.rows()),
            u64::from(self.size.cols()),
            self.scrollback,
            self.transcript_chars,
            self.raw_log.as_ref().map_or(0, |(_, base)| *base),
        ] {
            out.extend(number.to_le_bytes());
        }
        push_bytes(&mut out, self.cwd.as_os_str().as_bytes());
        push_bytes(&mut out, self.user_title.as_deref().unwrap_or("").as_bytes());
        let log = self.raw_log.as_ref().map(|(path, _)| path.as_os_str().as_bytes());
        push_bytes(&mut out, log.unwrap_or(b""));
        for arg in &self.argv {
            push_bytes(&mut out, arg.as_bytes());
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Meta> {
        let (version, mut rest) = bytes.split_first()?;
        let origin = match *version {
            VERSION => Origin::Person,
            AGENT_VERSION => Origin::read(std::str::from_utf8(take_bytes(&mut rest)?).ok()?),
            _ => return None,
        };
        let uuid = TerminalUuid(*take::<16>(&mut rest)?);
        let mut number = || take::<8>(&mut rest).map(|bytes| u64::from_le_bytes(*bytes));
        let project = ProjectId::new(number()?);
        let created_at = Timestamp::from_micros(number()? as i64);
        let (rows, cols) = (number()?, number()?);
        let size = Size::new(u16::try_from(rows).ok()?, u16::try_from(cols).ok()?).ok()?;
        let (scrollback, transcript_chars, base) = (number()?, number()?, number()?);
        let cwd = path(take_bytes(&mut rest)?);
        let title = String::from_utf8(take_bytes(&mut rest)?.to_vec()).ok()?;
        let log = take_bytes(&mut rest)?;
        let raw_log = (!log.is_empty()).then(|| (path(log), base));
        let mut argv = Vec::new();
        while !rest.is_empty() {
            argv.push(String::from_utf8(take_bytes(&mut rest)?.to_vec()).ok()?);
        }
        let user_title = (!title.is_empty()).then_some(title);
        Some(Meta {
            uuid,
            project,
            argv,
            cwd,
            user_title,
            created_at,
            size,
            scrollback,
            transcript_chars,
            raw_log,
            origin,
        })
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(bytes.to_vec()))
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(head)
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(*take::<4>(rest)?) as usize;
    let (head, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_back_and_cut_ones_are_refused() {
        let meta = Meta {
            uuid: TerminalUuid([7; 16]),
            project: ProjectId::new(3),
            argv: vec!["/bin/sh".to_owned(), "-c".to_owned(), String::new()],
            cwd: PathBuf::from("/tmp"),
            user_title: Some("mine".to_owned()),
            created_at: Timestamp::from_micros(-5),
            size: Size::new(10, 20).unwrap(),
            scrollback: 5,
            transcript_chars: 6,
            raw_log: Some((PathBuf::from("/log"), 9)),
            origin: Origin::Person,
        };
        let of_agent = Meta { origin: Origin::Agent(rookery_model::Home::Unknown), ..meta.clone() };
        assert_eq!(Meta::decode(&of_agent.encode()), Some(of_agent));
        let bytes = meta.encode();
        assert_eq!(Meta::decode(&bytes), Some(meta));
        for end in 0..bytes.len() {
            // Cutting whole arguments off the end is the one cut that cannot be determined.
            let _ = Meta::decode(&bytes[..end]);
        }
        assert_eq!(Meta::decode(&bytes[..20]), None);
        assert_eq!(Meta::decode(b"\x02"), None);
        assert_eq!(Meta::decode(b"\x03"), None);
    }
}
