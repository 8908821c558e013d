//! Which files an unasked command may read: those of the system and of the
//! workspace, in the user's home only what programs need, and secrets never.
//!
//! Landlock knows rights that are given and none that are taken away, so a directory that holds
//! something closed is not opened itself: what is in it is, one by one. Names can be listed all the
//! same; contents are what is kept.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::repository;
use super::secrets::{Secrets, spellings};

/// How many files and directories are opened one by one; what is beyond stays closed.
const MAX_GRANTS: usize = 16_384;

/// In a home that is closed: what programs read to work at all. None of it holds a secret but what
/// [`Secrets`] names.
const TOOLS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".cargo",
    ".config/bat",
    ".config/fd",
    ".config/git",
    ".config/jj",
    ".config/ripgrep",
    ".deno/bin",
    ".gitattributes",
    ".gitconfig",
    ".gitignore",
    ".gitignore_global",
    ".inputrc",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/uv",
    ".local/share/zinit",
    ".nix-defexpr",
    ".nix-profile",
    ".npm-global/bin",
    ".npm-global/lib",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".ripgreprc",
    ".rustup",
    ".sdkman",
    ".terminfo",
    ".volta",
    "bin",
    "go/bin",
    "go/pkg",
];

/// Closed but for what is opened by name: devices, which may be whole disks, what belongs to one
/// login, and the homes of others.
const CLOSED: &[&str] = &["/dev", "/run/user", "/root"];

/// Devices that may be read.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// What may be read, as the caller that starts a command sets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// The user's home: closed but for what programs need, and for `open`.
    pub home: Option<PathBuf>,
    /// Directories that may be read wherever they lie: the workspace. The home itself opens all of
    /// it but its secrets.
    pub open: Vec<PathBuf>,
    /// Files and directories that are never read, wherever they lie: our own.
    pub hidden: Vec<PathBuf>,
}

/// What is known about some paths; the rest follows from it.
#[derive(Debug, Default)]
pub(super) struct Map {
    never: BTreeSet<PathBuf>,
    open: BTreeSet<PathBuf>,
    closed: BTreeSet<PathBuf>,
}

impl Map {
    /// All but what is under these paths.
    pub(super) fn without(paths: &[PathBuf]) -> Self {
        let never = paths.iter().flat_map(|path| spellings(path)).collect();
        Self { never, ..Self::default() }
    }

    /// What the command may read.
    pub(super) fn of(reads: &Reads, terminals: impl Iterator<Item = PathBuf>) -> Self {
        let mut map = Self::default();
        map.closed.extend(CLOSED.iter().map(PathBuf::from));
        map.open.extend(DEVICES.iter().map(PathBuf::from).chain(terminals));
        map.never.extend(Secrets::of(reads.home.as_deref(), &reads.hidden).into_paths());
        if rustix::process::geteuid().is_root() {
            map.closed.insert("/home".into());
            map.open.insert("/home/linuxbrew".into());
        }
        for home in reads.home.iter().flat_map(|home| spellings(home)) {
            // A machine without homes says "/"; that is the system.
            if home.parent().is_some() {
                map.open.extend(TOOLS.iter().map(|name| home.join(name)));
                map.open.extend(programs_below(&home));
                map.closed.insert(home.clone());
            }
        }
        for root in &reads.open {
            map.open.extend(spellings(root));
            map.open.extend(repository::around(root));
        }
        // A home that is the workspace is open.
        map.closed = map.closed.difference(&map.open).cloned().collect();
        // What lies in something open is open without being named, and costs nothing then.
        let is_needed = |path: &&PathBuf| !path.parent().is_some_and(|dir| map.is_open(dir));
        map.open = map.open.iter().filter(is_needed).cloned().collect();
        map
    }

    fn is_open(&self, path: &Path) -> bool {
        let beneath = |set: &BTreeSet<PathBuf>| {
            path.ancestors().find(|one| set.contains(*one)).map(|one| one.as_os_str().len())
        };
        beneath(&self.never).is_none() && beneath(&self.open) >= beneath(&self.closed)
    }

    /// Whether something is known about what lies below.
    fn has_below(&self, path: &Path) -> bool {
        let below = |set: &BTreeSet<PathBuf>| {
            let first =
                set.range::<Path, _>((std::ops::Bound::Excluded(path), std::ops::Bound::Unbounded));
            // Paths are ordered by their parts, so what is below comes right behind.
            first.take(1).any(|one| one.starts_with(path))
        };
        [&self.never, &self.open, &self.closed].into_iter().any(below)
    }

    /// The children of a directory that are known by name: those of one that cannot be listed.
    fn known_children(&self, path: &Path) -> BTreeSet<PathBuf> {
        let all = [&self.never, &self.open, &self.closed].into_iter().flatten();
        let rest = all.filter_map(|one| one.strip_prefix(path).ok()?.components().next());
        rest.map(|name| path.join(name)).collect()
    }

    /// The files and directories that together are all that is open, each opened without following
    /// a link that took its place, and one after the other: there may be more than descriptors.
    pub(super) fn grants(&self) -> impl Iterator<Item = OwnedFd> {
        let mut ahead = vec![PathBuf::from("/")];
        let open = std::iter::from_fn(move || {
            while let Some(path) = ahead.pop() {
                if self.never.contains(&path) {
                    continue;
                }
                if !self.has_below(&path) {
                    if self.is_open(&path) {
                        return Some(path);
                    }
                    continue;
                }
                let known = self.known_children(&path);
                // In a closed one only what is known by name can be open.
                if self.is_open(&path) {
                    let children = fs::read_dir(&path).into_iter().flatten().flatten();
                    let children = children.map(|entry| entry.path());
                    ahead.extend(children.filter(|child| !known.contains(child)));
                }
                ahead.extend(known);
            }
            None
        });
        open.take(MAX_GRANTS).filter_map(|path| handle(&path))
    }
}

/// A handle for a rule. Links are left out: what they lead to is open, or not, by itself.
fn handle(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = openat(CWD, path, flags, Mode::empty()).ok()?;
    let kind = rustix::fs::fstat(&file).ok()?;
    let kind = rustix::fs::FileType::from_raw_mode(kind.st_mode);
    (!kind.is_symlink()).then_some(file)
}

/// Directories below the home that programs are looked for in.
fn programs_below(home: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path).filter_map(|dir| fs::canonicalize(dir).ok());
    dirs.filter(|dir| dir.starts_with(home) && dir != home).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// The paths that are open below a directory.
    fn granted(map: &Map, below: &Path) -> BTreeSet<PathBuf> {
        let paths = map.grants().map(|file| {
            use std::os::fd::AsRawFd as _;
            fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap()
        });
        paths.filter_map(|path| path.strip_prefix(below).ok().map(Path::to_owned)).collect()
    }

    #[test]
    fn a_home_is_closed_but_for_the_workspace_and_tools() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for dir in [".ssh", ".cargo/bin", "work/src", "other", ".config/git", ".config/rookery"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        fs::write(at(".cargo/credentials.toml"), "").unwrap();
        fs::write(at(".cargo/config.toml"), "").unwrap();
        fs::write(at(".config/git/config"), "").unwrap();
        symlink(at(".ssh"), at("work/link")).unwrap();
        let reads =
            Reads { home: Some(home.path().into()), open: vec![at("work")], hidden: Vec::new() };
        let map = Map::of(&reads, std::iter::empty());
        let expected =
            [".cargo/bin", ".cargo/config.toml", ".config/git/config", "work"].map(PathBuf::from);
        assert_eq!(granted(&map, home.path()), BTreeSet::from(expected));
    }

    #[test]
    fn an_open_home_keeps_its_secrets() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for dir in [".ssh", "other", "keys", ".config/gh", ".config/x", "state/ours", "state/b"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        symlink("keys", at(".gnupg")).unwrap();
        let reads = Reads {
            home: Some(home.path().into()),
            open: vec![home.path().into()],
            hidden: vec![at("state/ours")],
        };
        let map = Map::of(&reads, std::iter::empty());
        let expected = [".config/x", "other", "state/b"].map(PathBuf::from);
        assert_eq!(granted(&map, home.path()), BTreeSet::from(expected));
    }

    #[test]
    fn a_workspace_inside_of_what_is_hidden_stays_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let ours = dir.path().join("ours/deep");
        fs::create_dir_all(&ours).unwrap();
        let hidden = vec![dir.path().join("ours")];
        let reads = Reads { home: None, open: vec![ours], hidden };
        assert!(granted(&Map::of(&reads, std::iter::empty()), dir.path()).is_empty());
    }

    #[test]
    fn devices_are_open_by_name_only() {
        let map = Map::of(&Reads::default(), std::iter::empty());
        let open = granted(&map, Path::new("/dev"));
        assert!(open.contains(Path::new("null")), "{open:?}");
        assert!(open.iter().all(|name| DEVICES.contains(&&*format!("/dev/{}", name.display()))));
    }
}
