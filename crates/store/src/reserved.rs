//! The sidecar file `reserved`: upper bounds of every number given out so far.
//!
//! It lies beside the database so that event numbers and ids do not repeat even when the
//! database is lost. Bounds are reserved in blocks, always before a number is shown to
//! anyone. The file also says whether the database was closed cleanly, and else under which
//! boot of the machine it was in use.
//!
//! Its second line is the mark: what was really shown, and how many commits there were. It is
//! overwritten in place after each commit, without waiting for the disk, so that it survives the
//! process as the commit does. A database that knows less than the mark has lost commits.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rookery_model::{EventSeq, ProjectId, TerminalId};

use crate::files;

/// Numbers reserved ahead in one step, for events and for ids.
const EVENT_BLOCK: u64 = 10_000;
const ID_BLOCK: u64 = 1_000;

/// Larger numbers are not ours: SQLite's integers end soon after, and there must be room ahead.
pub(crate) const LARGEST: u64 = i64::MAX as u64 / 2;

const NAME: &str = "reserved";
const CLOSED: &str = "closed";

/// The number that comes next, for each sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) event: EventSeq,
    pub(crate) project: ProjectId,
    pub(crate) terminal: TerminalId,
}

impl Numbers {
    /// A world in which nothing has been numbered yet.
    pub(crate) const FIRST: Numbers = Numbers {
        event: EventSeq::new(1),
        project: ProjectId::new(1),
        terminal: TerminalId::new(1),
    };

    /// The larger of each.
    pub(crate) fn max(self, other: Numbers) -> Numbers {
        Numbers {
            event: self.event.max(other.event),
            project: self.project.max(other.project),
            terminal: self.terminal.max(other.terminal),
        }
    }

    /// Numbers that surely exceed all given out so far, for when nothing tells where we were:
    /// it would take a thousand a second since 1970 to reach them.
    pub(crate) fn from_clock() -> Numbers {
        let number = files::unix_seconds().saturating_mul(1_000).max(1);
        Numbers {
            event: EventSeq::new(number),
            project: ProjectId::new(number),
            terminal: TerminalId::new(number),
        }
    }

    fn plus_block(self) -> Numbers {
        Numbers {
            event: EventSeq::new(self.event.get() + EVENT_BLOCK),
            project: ProjectId::new(self.project.get() + ID_BLOCK),
            terminal: TerminalId::new(self.terminal.get() + ID_BLOCK),
        }
    }

    /// Whether these are so far below the bounds that they must be from an older time. Bounds lie
    /// one block ahead, and a bit more if we died between reserving and saving.
    pub(crate) fn is_stale(self, bounds: Numbers) -> bool {
        !bounds.fits_in(self.plus_block().plus_block())
    }

    fn fits_in(self, bounds: Numbers) -> bool {
        self.max(bounds) == bounds
    }
}

/// What was shown to others, and after how many commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) next: Numbers,
    pub(crate) commits: u64,
}

impl Mark {
    /// Always of the same length, so that it can be overwritten.
    fn line(self) -> String {
        let Numbers { event, project, terminal } = self.next;
        let (event, project, terminal) = (event.get(), project.get(), terminal.get());
        let text = format!("{event:020} {project:020} {terminal:020} {:020}", self.commits);
        let sum = text.bytes().fold(0u32, |sum, byte| sum.rotate_left(5) ^ u32::from(byte));
        format!("{text} {sum:08x}\n")
    }

    fn parse(line: &str) -> Option<Mark> {
        let mut words = line.split(' ').map(|word| word.parse::<u64>().ok());
        let next = Numbers {
            event: EventSeq::new(words.next()??),
            project: ProjectId::new(words.next()??),
            terminal: TerminalId::new(words.next()??),
        };
        let mark = Mark { next, commits: words.next()?? };
        (mark.line() == line).then_some(mark)
    }
}

/// What the sidecar said at open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sidecar {
    /// There is none.
    Absent,
    /// It cannot be read.
    Damaged,
    /// All numbers given out are below these bounds.
    Known {
        bounds: Numbers,
        /// The machine went down while the store was in use, so that the newest commits may
        /// be missing from the database although people saw their numbers.
        interrupted: bool,
        /// What was shown; none if an older version wrote the file.
        mark: Option<Mark>,
        /// There is a mark, but it cannot be read.
        is_mark_torn: bool,
    },
}

impl Sidecar {
    pub(crate) fn read(dir: &Path) -> Sidecar {
        match std::fs::read(dir.join(NAME)) {
            Ok(bytes) => parse(&bytes, &boot_id()).unwrap_or(Sidecar::Damaged),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Sidecar::Absent,
            Err(_) => Sidecar::Damaged,
        }
    }

    pub(crate) fn mark(self) -> Option<Mark> {
        match self {
            Sidecar::Known { mark, .. } => mark,
            Sidecar::Absent | Sidecar::Damaged => None,
        }
    }

    pub(crate) fn bounds(self) -> Option<Numbers> {
        match self {
            Sidecar::Known { bounds, .. } => Some(bounds),
            Sidecar::Absent | Sidecar::Damaged => None,
        }
    }
}

fn parse(bytes: &[u8], boot: &str) -> Option<Sidecar> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, rest) = bytes.split_at(end + 1);
    let mut words = std::str::from_utf8(head).ok()?.strip_suffix('\n')?.split(' ');
    let mut number = || words.next()?.parse().ok().filter(|n| (1..=LARGEST).contains(n));
    let bounds = Numbers {
        event: EventSeq::new(number()?),
        project: ProjectId::new(number()?),
        terminal: TerminalId::new(number()?),
    };
    let user = words.next().filter(|word| !word.is_empty())?;
    if words.next().is_some() {
        return None;
    }
    let mark = std::str::from_utf8(rest).ok().and_then(Mark::parse);
    let is_mark_torn = mark.is_none() && !rest.is_empty();
    let interrupted = user != CLOSED && user != boot;
    Some(Sidecar::Known { bounds, interrupted, mark, is_mark_torn })
}

/// Names this run of the machine. Where the system does not tell, all runs look alike.
fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    match text.trim() {
        "" => "unknown".to_owned(),
        id => id.to_owned(),
    }
}

/// The sidecar while the store is open.
#[derive(Debug)]
pub(crate) struct Reserved {
    /// None if nothing outlives this process, numbers included.
    dir: Option<PathBuf>,
    boot: String,
    bounds: Numbers,
    mark: Mark,
    /// The file as it is now, and where the mark stands in it.
    place: Option<(File, u64)>,
}

impl Reserved {
    /// Takes the sidecar over and reserves a block after `next`; never lowers a known bound.
    pub(crate) fn open(
        dir: &Path,
        sidecar: Sidecar,
        next: Numbers,
        commits: u64,
    ) -> io::Result<Reserved> {
        let bounds = next.plus_block();
        let bounds = sidecar.bounds().map_or(bounds, |known| known.max(bounds));
        let mark = Mark { next, commits };
        let dir = Some(dir.to_owned());
        let mut reserved = Reserved { dir, boot: boot_id(), bounds, mark, place: None };
        reserved.write(false)?;
        Ok(reserved)
    }

    /// No sidecar, for a store that is forgotten with the process.
    pub(crate) fn in_memory(next: Numbers) -> Reserved {
        let mark = Mark { next, commits: 0 };
        Reserved { dir: None, boot: String::new(), bounds: next.plus_block(), mark, place: None }
    }

    /// Makes sure that all numbers below `next` are reserved; cheap unless a block is used up.
    pub(crate) fn cover(&mut self, next: Numbers) -> io::Result<()> {
        if next.fits_in(self.bounds) {
            return Ok(());
        }
        let before = self.bounds;
        self.bounds = before.max(next.plus_block());
        self.write(false).inspect_err(|_| self.bounds = before)
    }

    /// Notes what the next reader of the database must find there. To be called after a commit
    /// and before any of it is shown.
    pub(crate) fn mark(&mut self, next: Numbers, commits: u64) {
        self.mark = Mark { next, commits };
        let Some((file, at)) = &self.place else { return };
        if let Err(error) = file.write_all_at(self.mark.line().as_bytes(), *at) {
            tracing::warn!(%error, "cannot note which numbers were shown");
        }
    }

    /// Says that everything is safely in the database.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        self.write(true)
    }

    fn write(&mut self, is_closed: bool) -> io::Result<()> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let Numbers { event, project, terminal } = self.bounds;
        let user = if is_closed { CLOSED } else { &self.boot };
        let head = format!("{event} {project} {terminal} {user}\n");
        files::replace(dir, NAME, &format!("{head}{}", self.mark.line()))?;
        let file = OpenOptions::new().write(true).open(dir.join(NAME))?;
        self.place = Some((file, head.len() as u64));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(event: u64, project: u64, terminal: u64) -> Numbers {
        Numbers {
            event: EventSeq::new(event),
            project: ProjectId::new(project),
            terminal: TerminalId::new(terminal),
        }
    }

    #[test]
    fn bounds_come_back_and_grow_in_blocks() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Sidecar::read(dir.path()), Sidecar::Absent);
        let mut reserved = Reserved::open(dir.path(), Sidecar::Absent, Numbers::FIRST, 0).unwrap();
        let first = numbers(10_001, 1_001, 1_001);
        let mark = Some(Mark { next: Numbers::FIRST, commits: 0 });
        let known =
            |bounds| Sidecar::Known { bounds, interrupted: false, mark, is_mark_torn: false };
        assert_eq!(Sidecar::read(dir.path()), known(first));
        reserved.cover(first).unwrap();
        assert_eq!(Sidecar::read(dir.path()), known(first));
        reserved.cover(numbers(10_002, 5, 5)).unwrap();
        assert_eq!(Sidecar::read(dir.path()), known(numbers(20_002, 1_005, 1_005).max(first)));
        reserved.close().unwrap();
        assert_eq!(Sidecar::read(dir.path()), known(numbers(20_002, 1_005, 1_005)));
    }

    #[test]
    fn another_boot_without_a_clean_close_is_an_interruption() {
        let said = |text: &str| parse(text.as_bytes(), "now").unwrap();
        let bounds = numbers(7, 8, 9);
        let known =
            |interrupted| Sidecar::Known { bounds, interrupted, mark: None, is_mark_torn: false };
        assert_eq!(said("7 8 9 now\n"), known(false));
        assert_eq!(said("7 8 9 closed\n"), known(false));
        assert_eq!(said("7 8 9 earlier\n"), known(true));
    }

    #[test]
    fn every_shortened_sidecar_is_seen_as_damaged() {
        let whole = "10001 1001 1001 closed\n";
        for length in 0..whole.len() {
            assert_eq!(parse(&whole.as_bytes()[..length], "now"), None, "cut at {length}");
        }
        for wrong in ["0 1 1 x\n", "1 1 99999999999999999999 x\n", "1 1 1 x y\n", "a b c d\n"] {
            assert_eq!(parse(wrong.as_bytes(), "now"), None, "{wrong:?}");
        }
    }

    #[test]
    fn the_mark_is_overwritten_in_place_and_a_torn_one_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let mut reserved = Reserved::open(dir.path(), Sidecar::Absent, Numbers::FIRST, 3).unwrap();
        let path = dir.path().join(NAME);
        let before = std::fs::read(&path).unwrap();
        reserved.mark(numbers(17, 2, 5), 4);
        let after = std::fs::read(&path).unwrap();
        assert_eq!(after.len(), before.len());
        let Some(Sidecar::Known { mark, .. }) = parse(&after, "now") else { panic!("no sidecar") };
        assert_eq!(mark, Some(Mark { next: numbers(17, 2, 5), commits: 4 }));
        let head = after.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for length in head + 1..after.len() {
            let Some(Sidecar::Known { mark, is_mark_torn, .. }) = parse(&after[..length], "now")
            else {
                panic!("no sidecar");
            };
            assert_eq!((mark, is_mark_torn), (None, true), "cut at {length}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes: Vec<u8>) {
            let _ = parse(&bytes, "now");
        }

        #[test]
        fn what_is_written_is_read(event in 1..=LARGEST, project in 1..=LARGEST, terminal in 1..=LARGEST) {
            let text = format!("{event} {project} {terminal} now\n");
            let bounds = numbers(event, project, terminal);
            let expected =
                Sidecar::Known { bounds, interrupted: false, mark: None, is_mark_torn: false };
            prop_assert_eq!(parse(text.as_bytes(), "now"), Some(expected));
        }
    }
}
