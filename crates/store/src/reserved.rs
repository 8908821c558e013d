//! The sidecar file `reserved`: upper bounds of every number given out so far.
//!
//! It lies beside the database so that event numbers and ids do not repeat even when the
//! database is lost. Bounds are reserved in blocks, always before a number is shown to
//! anyone. The file also says whether the database was closed cleanly, and else under which
//! boot of the machine it was in use.

use std::io;
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

    pub(crate) fn bounds(self) -> Option<Numbers> {
        match self {
            Sidecar::Known { bounds, .. } => Some(bounds),
            Sidecar::Absent | Sidecar::Damaged => None,
        }
    }
}

fn parse(bytes: &[u8], boot: &str) -> Option<Sidecar> {
    let mut words = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.split(' ');
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
    Some(Sidecar::Known { bounds, interrupted: user != CLOSED && user != boot })
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
}

impl Reserved {
    /// Takes the sidecar over and reserves a block after `next`; never lowers a known bound.
    pub(crate) fn open(dir: &Path, sidecar: Sidecar, next: Numbers) -> io::Result<Reserved> {
        let bounds = next.plus_block();
        let bounds = sidecar.bounds().map_or(bounds, |known| known.max(bounds));
        let reserved = Reserved { dir: Some(dir.to_owned()), boot: boot_id(), bounds };
        reserved.write(&reserved.boot)?;
        Ok(reserved)
    }

    /// No sidecar, for a store that is forgotten with the process.
    pub(crate) fn in_memory(next: Numbers) -> Reserved {
        Reserved { dir: None, boot: String::new(), bounds: next.plus_block() }
    }

    /// Makes sure that all numbers below `next` are reserved; cheap unless a block is used up.
    pub(crate) fn cover(&mut self, next: Numbers) -> io::Result<()> {
        if next.fits_in(self.bounds) {
            return Ok(());
        }
        let before = self.bounds;
        self.bounds = before.max(next.plus_block());
        self.write(&self.boot).inspect_err(|_| self.bounds = before)
    }

    /// Says that everything is safely in the database.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.write(CLOSED)
    }

    fn write(&self, user: &str) -> io::Result<()> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let Numbers { event, project, terminal } = self.bounds;
        files::replace(dir, NAME, &format!("{event} {project} {terminal} {user}\n"))
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
        let mut reserved = Reserved::open(dir.path(), Sidecar::Absent, Numbers::FIRST).unwrap();
        let first = numbers(10_001, 1_001, 1_001);
        let known = |bounds| Sidecar::Known { bounds, interrupted: false };
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
        assert_eq!(said("7 8 9 now\n"), Sidecar::Known { bounds, interrupted: false });
        assert_eq!(said("7 8 9 closed\n"), Sidecar::Known { bounds, interrupted: false });
        assert_eq!(said("7 8 9 earlier\n"), Sidecar::Known { bounds, interrupted: true });
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

    proptest! {
        #[test]
        fn parsing_never_panics(bytes: Vec<u8>) {
            let _ = parse(&bytes, "now");
        }

        #[test]
        fn what_is_written_is_read(event in 1..=LARGEST, project in 1..=LARGEST, terminal in 1..=LARGEST) {
            let text = format!("{event} {project} {terminal} now\n");
            let bounds = numbers(event, project, terminal);
            let expected = Sidecar::Known { bounds, interrupted: false };
            prop_assert_eq!(parse(text.as_bytes(), "now"), Some(expected));
        }
    }
}
