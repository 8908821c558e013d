//! What was hashed before, by what the file system says of a file: so that a file that did not
//! change is not read again. A file of ours, beside the user's index; losing it costs only time.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;

use rustix::fs::Stat;

use crate::git::Oid;

const MAGIC: &[u8] = b"rookery stat cache 1\n";
/// A cache that is larger is not read.
const LIMIT: u64 = 512 << 20;

/// What changes with every change of a file: number, size, and both times. Devices are left out,
/// since their numbers do not survive a restart of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp([u64; 6]);

impl Stamp {
    #[expect(clippy::unnecessary_cast, reason = "the types differ between machines")]
    pub(super) fn of(stat: &Stat) -> Self {
        let times = [stat.st_mtime as u64, stat.st_mtime_nsec as u64];
        let changed = [stat.st_ctime as u64, stat.st_ctime_nsec as u64];
        Self([stat.st_ino as u64, stat.st_size as u64, times[0], times[1], changed[0], changed[1]])
    }

    /// Whether it last changed before that moment, by the file system's own clock: then another
    /// change would have been seen.
    pub(super) fn is_older(&self, than: &Stamp) -> bool {
        (self.0[4], self.0[5]) < (than.0[4], than.0[5])
    }

    pub(super) fn size(&self) -> u64 {
        self.0[1]
    }
}

/// Which blob each file was, the last time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cache(HashMap<Vec<u8>, (Stamp, Oid)>);

impl Cache {
    /// Reads it; anything wrong with it makes it empty.
    pub(super) fn load(path: &Path) -> Self {
        let is_large = std::fs::metadata(path).is_ok_and(|meta| meta.len() > LIMIT);
        match is_large {
            true => Self::default(),
            false => std::fs::read(path).ok().and_then(|b| Self::parse(&b)).unwrap_or_default(),
        }
    }

    /// The blob of a file that is as it was.
    pub(super) fn get(&self, path: &[u8], stamp: &Stamp) -> Option<&Oid> {
        self.0.get(path).filter(|(known, _)| known == stamp).map(|(_, oid)| oid)
    }

    pub(super) fn insert(&mut self, path: Vec<u8>, stamp: Stamp, oid: Oid) {
        self.0.insert(path, (stamp, oid));
    }

    /// Writes it so that it is there as a whole or not at all.
    pub(super) fn save(&self, path: &Path, scratch: &Path) -> std::io::Result<()> {
        let draft = scratch.join("cache");
        let mut file = std::fs::File::create(&draft)?;
        file.write_all(&self.print())?;
        std::fs::rename(draft, path)
    }

    fn print(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((self.0.len() as u64).to_le_bytes());
        for (path, (stamp, oid)) in &self.0 {
            bytes.extend(u32::try_from(path.len()).unwrap_or(u32::MAX).to_le_bytes());
            bytes.extend(path);
            stamp.0.iter().for_each(|field| bytes.extend(field.to_le_bytes()));
            bytes.push(u8::try_from(oid.as_str().len()).unwrap_or(u8::MAX));
            bytes.extend(oid.as_str().bytes());
        }
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let mut take = |count: usize| {
            let (taken, left) = rest.split_at_checked(count)?;
            rest = left;
            Some(taken)
        };
        let count = u64::from_le_bytes(take(8)?.try_into().ok()?);
        let mut entries = HashMap::new();
        for _ in 0..count {
            let length = u32::from_le_bytes(take(4)?.try_into().ok()?);
            let path = take(length as usize)?.to_vec();
            let mut stamp = [0; 6];
            for field in &mut stamp {
                *field = u64::from_le_bytes(take(8)?.try_into().ok()?);
            }
            let digits = usize::from(*take(1)?.first()?);
            let oid = Oid::read(take(digits)?)?;
            entries.insert(path, (Stamp(stamp), oid));
        }
        rest.is_empty().then_some(Self(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            entries in prop::collection::hash_map(
                prop::collection::vec(any::<u8>(), 1..20), (any::<[u64; 6]>(), "[0-9a-f]{40}"), 0..9),
            cut in any::<prop::sample::Index>(),
        ) {
            let entry = |(path, (stamp, oid)): (Vec<u8>, ([u64; 6], String))| {
                (path, (Stamp(stamp), Oid::parse(&oid).unwrap()))
            };
            let cache = Cache(entries.into_iter().map(entry).collect());
            let bytes = cache.print();
            let cut = &bytes[..cut.index(bytes.len())];
            prop_assert_eq!(Cache::parse(cut), None, "cut short");
            prop_assert_eq!(Cache::parse(&bytes), Some(cache));
        }

        #[test]
        fn nonsense_is_nothing(bytes in prop::collection::vec(any::<u8>(), 0..99)) {
            let bytes = [MAGIC, &bytes].concat();
            let _ = Cache::parse(&bytes);
        }
    }
}
