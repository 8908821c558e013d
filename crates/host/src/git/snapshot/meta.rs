//! What is written down about a checkpoint, as lines of a commit message: `key value`, with every
//! byte that is not plain written as `%XX`.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::scratch::Modified;
use super::{SkipReason, Skipped, Submodule};
use crate::git::run::path;
use crate::git::{Head, Oid};

const FIRST: &str = "rookery checkpoint 1";

/// All of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meta {
    pub(super) title: String,
    pub(super) captured_at: SystemTime,
    pub(super) top: PathBuf,
    pub(super) head: Head,
    /// When the user's index was written; None if there was none.
    pub(super) index_modified: Option<Modified>,
    pub(super) in_progress: Option<String>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) submodules: Vec<Submodule>,
}

impl Meta {
    pub(super) fn print(&self) -> String {
        let mut lines = vec![FIRST.to_owned()];
        let mut say = |key: &str, value: &[u8]| lines.push(format!("{key} {}", escape(value)));
        say("title", self.title.as_bytes());
        let since = self.captured_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        say("captured", format!("{}.{:09}", since.as_secs(), since.subsec_nanos()).as_bytes());
        say("top", self.top.as_os_str().as_bytes());
        if let Some(head) = &self.head.commit {
            say("head", head.as_str().as_bytes());
        }
        if let Some(branch) = &self.head.branch {
            say("branch", branch.as_bytes());
        }
        if let Some((seconds, nanos)) = self.index_modified {
            say("index", format!("{seconds}.{nanos}").as_bytes());
        }
        if let Some(what) = &self.in_progress {
            say("progress", what.as_bytes());
        }
        for Skipped { path, reason } in &self.skipped {
            say(&format!("skipped {}", reason.as_str()), path.as_os_str().as_bytes());
        }
        for Submodule { path, head, is_dirty } in &self.submodules {
            let head = head.as_ref().map_or("-", Oid::as_str);
            let state = if *is_dirty { "dirty" } else { "clean" };
            say(&format!("submodule {head} {state}"), path.as_os_str().as_bytes());
        }
        lines.join("\n") + "\n"
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        (lines.next()? == FIRST).then_some(())?;
        let mut meta = Self {
            title: String::new(),
            captured_at: SystemTime::UNIX_EPOCH,
            top: PathBuf::new(),
            head: Head::default(),
            index_modified: None,
            in_progress: None,
            skipped: Vec::new(),
            submodules: Vec::new(),
        };
        for line in lines {
            let (key, value) = line.split_once(' ')?;
            meta.set(key, value)?;
        }
        Some(meta)
    }

    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        let text = || String::from_utf8(unescape(value)?).ok();
        match key {
            "title" => self.title = text()?,
            "captured" => {
                let (seconds, nanos) = value.split_once('.')?;
                let since = Duration::new(seconds.parse().ok()?, nanos.parse().ok()?);
                self.captured_at = SystemTime::UNIX_EPOCH.checked_add(since)?;
            }
            "top" => self.top = path(&unescape(value)?),
            "head" => self.head.commit = Some(Oid::parse(value)?),
            "branch" => self.head.branch = Some(text()?),
            "index" => {
                let (seconds, nanos) = value.split_once('.')?;
                self.index_modified = Some((seconds.parse().ok()?, nanos.parse().ok()?));
            }
            "progress" => self.in_progress = Some(text()?),
            "skipped" => {
                let (reason, name) = value.split_once(' ')?;
                let (path, reason) = (path(&unescape(name)?), SkipReason::parse(reason)?);
                self.skipped.push(Skipped { path, reason });
            }
            "submodule" => {
                let mut words = value.splitn(3, ' ');
                let head = Oid::parse(words.next()?);
                let is_dirty = words.next()? == "dirty";
                let path = path(&unescape(words.next()?)?);
                self.submodules.push(Submodule { path, head, is_dirty });
            }
            // A later version may say more.
            _ => {}
        }
        Some(())
    }
}

fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'%' | 0..b' ' | 0x7f.. => text.push_str(&format!("%{byte:02X}")),
            plain => text.push(char::from(*plain)),
        }
    }
    text
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            plain => bytes.push(plain),
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            title in any::<String>(),
            branch in prop::option::of(any::<String>()),
            name in prop::collection::vec(any::<u8>(), 0..20),
            (seconds, nanos) in (0_u64..1 << 40, 0_u32..1_000_000_000),
        ) {
            let oid = Oid::parse(&"1".repeat(40));
            let meta = Meta {
                title,
                captured_at: SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos),
                top: path(&name),
                head: Head { commit: oid.clone(), branch },
                index_modified: Some((-5, i64::from(nanos))),
                in_progress: Some("merge".into()),
                skipped: vec![Skipped { path: path(&name), reason: SkipReason::Special }],
                submodules: vec![
                    Submodule { path: path(&name), head: oid, is_dirty: true },
                    Submodule { path: path(b"x y"), head: None, is_dirty: false },
                ],
            };
            prop_assert!(meta.print().bytes().all(|b| b == b'\n' || (b' '..0x7f).contains(&b)));
            prop_assert_eq!(Meta::parse(&meta.print()), Some(meta));
        }

        #[test]
        fn nonsense_does_not_panic(text in "(title|captured|skipped|submodule|index)[ %.0-9a-z\n]{0,40}") {
            let _ = Meta::parse(&format!("{FIRST}\n{text}"));
        }
    }
}
