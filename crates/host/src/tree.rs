//! Whole directories that others fill: listed, hashed and copied within bounds. Links that lead out are refused,
//! and so is what is neither a file nor a directory nor a link. Blocking; callers keep it off the runtime's threads.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use sha2::{Digest as _, Sha256};

use crate::beneath::{Beneath, EntryKind};

/// Directories in one another.
const DEEPEST: usize = 64;
/// How much is read at once.
const PIECE: usize = 64 << 10;

/// How much there may be in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// Files, links and directories.
    pub files: usize,
    /// Bytes of all files.
    pub bytes: u64,
}

/// What is in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Files and links by their paths from the directory on, in order.
    pub files: Vec<String>,
    /// Bytes of all files.
    pub bytes: u64,
    /// SHA-256 over names, contents, and which files can be run.
    pub hash: String,
    /// Links that lead to nothing; they are left out.
    pub dangling: Vec<String>,
}

/// Why a directory is not taken.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// There are too many.
    #[error("it has more than {0} files")]
    TooMany(usize),
    /// They are too large.
    #[error("it has more than {} MiB", .0 >> 20)]
    TooLarge(u64),
    /// Directories are too deep in one another.
    #[error("{0}: its directories are too deep")]
    TooDeep(String),
    /// A link leads out.
    #[error("{0}: a link that leads out of it")]
    LeadsOut(String),
    /// Something that is no file, such as a pipe.
    #[error("{0}: neither a file nor a directory")]
    NotAFile(String),
    /// A name that is no text.
    #[error("{0}: a name that is no text")]
    NoText(String),
    /// The system said no.
    #[error("{path}: {error}")]
    Io {
        /// Which file.
        path: String,
        /// Why.
        error: io::Error,
    },
}

/// Lists and hashes a directory. Entries whose name is in `skipped` are left out, wherever they are.
///
/// # Errors
/// If there is something in it that may not be there, or it cannot be read.
pub fn list(root: &Beneath, skipped: &[&str], limits: TreeLimits) -> Result<Tree, TreeError> {
    let mut walk = Walk { root, skipped, limits, count: 0, tree: Tree::default(), into: None };
    walk.run()?;
    Ok(walk.tree)
}

/// Copies a directory to one that is not there yet. Nothing in the copy is set-user-id, and links are made last.
///
/// # Errors
/// As for [`list`]; what was copied until then is left to the caller.
pub fn copy(
    root: &Beneath,
    to: &Path,
    skipped: &[&str],
    limits: TreeLimits,
) -> Result<Tree, TreeError> {
    let mut walk = Walk { root, skipped, limits, count: 0, tree: Tree::default(), into: Some(to) };
    walk.run()?;
    let synced = File::open(to).and_then(|dir| Ok(rustix::fs::syncfs(&dir)?));
    synced.map_err(|error| TreeError::Io { path: to.display().to_string(), error })?;
    Ok(walk.tree)
}

/// Puts a directory in the place of another one of ours, at once; afterwards the old one is where the new one was.
/// True if there was an old one.
///
/// # Errors
/// If the system says no; nothing has happened then.
pub fn exchange(new: &Path, target: &Path) -> io::Result<bool> {
    match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::NOENT) => {
            fs::rename(new, target)?;
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether something is there, a link included.
pub fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

struct Walk<'a> {
    root: &'a Beneath,
    skipped: &'a [&'a str],
    limits: TreeLimits,
    count: usize,
    tree: Tree,
    /// Where it is copied to.
    into: Option<&'a Path>,
}

impl Walk<'_> {
    fn run(&mut self) -> Result<(), TreeError> {
        let mut hash = Sha256::new();
        let mut links = Vec::new();
        self.make_dir("")?;
        let mut waiting = vec![(String::new(), 0)];
        while let Some((dir, depth)) = waiting.pop() {
            if depth > DEEPEST {
                return Err(TreeError::TooDeep(dir));
            }
            for (path, kind) in self.entries(&dir)? {
                match kind {
                    EntryKind::Dir => {
                        self.make_dir(&path)?;
                        waiting.push((path, depth + 1));
                    }
                    EntryKind::File => self.file(path)?,
                    EntryKind::Link => links.push(path),
                    EntryKind::Other => return Err(TreeError::NotAFile(path)),
                }
            }
        }
        for path in links {
            self.link(path)?;
        }
        // What is hashed does not depend on the order of the file system.
        self.tree.files.sort();
        for line in &self.tree.files {
            hash.update(line.as_bytes());
            hash.update(b"\n");
        }
        self.tree.hash = hex(&hash.finalize());
        let names = self.tree.files.iter_mut();
        names.for_each(|line| line.truncate(line.rfind('\0').unwrap_or(line.len())));
        Ok(())
    }

    /// The entries of a directory with their paths.
    fn entries(&mut self, dir: &str) -> Result<Vec<(String, EntryKind)>, TreeError> {
        let most = self.limits.files.saturating_sub(self.count) + self.skipped.len() + 1;
        let listed = self.root.list(Path::new(dir), most).map_err(|error| failed(dir, error))?;
        let mut found = Vec::new();
        for (name, kind) in listed {
            let name = name
                .into_string()
                .map_err(|name| TreeError::NoText(format!("{dir}/{}", name.to_string_lossy())))?;
            if self.skipped.contains(&name.as_str()) {
                continue;
            }
            // A zero byte cannot be in a name, so it can end one in what is hashed.
            let path = if dir.is_empty() { name } else { format!("{dir}/{name}") };
            self.count += 1;
            found.push((path, kind));
        }
        match self.count > self.limits.files {
            true => Err(TreeError::TooMany(self.limits.files)),
            false => Ok(found),
        }
    }

    fn make_dir(&self, path: &str) -> Result<(), TreeError> {
        let Some(to) = self.into else { return Ok(()) };
        let made = DirBuilder::new().mode(0o700).create(to.join(path));
        made.map_err(|error| failed(path, error))
    }

    fn file(&mut self, path: String) -> Result<(), TreeError> {
        let failed = |error| failed(&path, error);
        let mut from = self.root.open(Path::new(&path)).map_err(failed)?;
        let is_runnable = from.metadata().map_err(failed)?.permissions().mode() & 0o111 != 0;
        let mode = if is_runnable { 0o755 } else { 0o644 };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        let mut to =
            self.into.map(|to| options.open(to.join(&path))).transpose().map_err(failed)?;
        let (mut content, mut piece) = (Sha256::new(), vec![0; PIECE]);
        loop {
            let count = from.read(&mut piece).map_err(failed)?;
            if count == 0 {
                break;
            }
            self.tree.bytes += count as u64;
            if self.tree.bytes > self.limits.bytes {
                return Err(TreeError::TooLarge(self.limits.bytes));
            }
            content.update(&piece[..count]);
            if let Some(to) = &mut to {
                to.write_all(&piece[..count]).map_err(failed)?;
            }
        }
        let kind = if is_runnable { 'x' } else { 'f' };
        self.tree.files.push(format!("{path}\0{kind}{}", hex(&content.finalize())));
        Ok(())
    }

    fn link(&mut self, path: String) -> Result<(), TreeError> {
        let target = match self.root.link_within(Path::new(&path)) {
            Ok(Some(target)) => target,
            Ok(None) => {
                self.tree.dangling.push(path);
                return Ok(());
            }
            Err(_) => return Err(TreeError::LeadsOut(path)),
        };
        let Some(text) = target.to_str() else { return Err(TreeError::NoText(path)) };
        if let Some(to) = self.into {
            symlink(&target, to.join(&path)).map_err(|error| failed(&path, error))?;
        }
        let line = format!("{path}\0l{}", hex(&Sha256::digest(text.as_bytes())));
        self.tree.files.push(line);
        Ok(())
    }
}

fn failed(path: &str, error: io::Error) -> TreeError {
    TreeError::Io { path: path.to_owned(), error }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A new directory of our own in another one, which is made as well.
///
/// # Errors
/// If the system says no.
pub fn fresh_dir(parent: &Path) -> io::Result<PathBuf> {
    crate::files::make_private_dir(parent)?;
    let dir = parent.join(format!("{:016x}", fastrand::u64(..)));
    DirBuilder::new().mode(0o700).create(&dir)?;
    Ok(dir)
}

#[cfg(test)]
mod attack {
    use super::*;

    const LIMITS: TreeLimits = TreeLimits { files: 20, bytes: 1000 };

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("in/deep")).unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".git/config"), "no").unwrap();
        fs::write(root.join("in/deep/file"), "text").unwrap();
        fs::write(root.join("run"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(root.join("run"), fs::Permissions::from_mode(0o4755)).unwrap();
        symlink("in/deep/file", root.join("link")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        (dir, root)
    }

    fn copied(root: &Path, to: &Path) -> Result<Tree, TreeError> {
        copy(&Beneath::new(root).unwrap(), to, &[".git"], LIMITS)
    }

    #[test]
    fn a_copy_has_the_same_hash_and_nothing_special() {
        let (dir, root) = folder();
        let to = dir.path().join("copy");
        let tree = copied(&root, &to).unwrap();
        assert_eq!(tree.files, ["in/deep/file", "link", "run"]);
        assert_eq!((tree.bytes, tree.dangling.as_slice()), (14, &["dangling".to_owned()][..]));
        assert_eq!(fs::metadata(to.join("run")).unwrap().permissions().mode() & 0o7777, 0o755);
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("in/deep/file"));
        let again = list(&Beneath::new(&to).unwrap(), &[], LIMITS).unwrap();
        assert_eq!((again.hash.as_str(), &again.files), (tree.hash.as_str(), &tree.files));
        fs::write(to.join("in/deep/file"), "texT").unwrap();
        assert_ne!(list(&Beneath::new(&to).unwrap(), &[], LIMITS).unwrap().hash, tree.hash);
    }

    #[test]
    fn what_leads_out_or_is_no_file_is_refused() {
        for (target, name) in [
            ("../secret", "a"),
            ("/etc/passwd", "a"),
            ("../..", "in/a"),
            ("/proc/self/environ", "in/b"),
            ("a", "a"),
        ] {
            let (dir, root) = folder();
            fs::write(dir.path().join("secret"), "s").unwrap();
            symlink(target, root.join(name)).unwrap();
            let error = copied(&root, &dir.path().join("copy")).unwrap_err();
            assert!(matches!(error, TreeError::LeadsOut(_)), "{target}: {error}");
        }
        // A link over another link, which only seems to stay inside.
        let (dir, root) = folder();
        symlink("../../in", root.join("in/deep/top")).unwrap();
        symlink("top/../../x", root.join("in/deep/sly")).unwrap();
        fs::write(dir.path().join("x"), "out").unwrap();
        assert!(matches!(copied(&root, &dir.path().join("copy")), Err(TreeError::LeadsOut(_))));
        let (dir, root) = folder();
        rustix::fs::mkfifoat(CWD, root.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
        assert!(matches!(copied(&root, &dir.path().join("copy")), Err(TreeError::NotAFile(_))));
    }

    #[test]
    fn bounds_hold() {
        let (dir, root) = folder();
        fs::write(root.join("large"), vec![0; 1001]).unwrap();
        assert!(matches!(copied(&root, &dir.path().join("a")), Err(TreeError::TooLarge(_))));
        fs::remove_file(root.join("large")).unwrap();
        for number in 0..30 {
            fs::write(root.join(format!("n{number}")), "").unwrap();
        }
        assert!(matches!(copied(&root, &dir.path().join("b")), Err(TreeError::TooMany(20))));
    }

    #[test]
    fn directories_change_places() {
        let (dir, root) = folder();
        let target = dir.path().join("target");
        assert!(!exchange(&root, &target).unwrap());
        fs::create_dir(&root).unwrap();
        fs::write(root.join("new"), "").unwrap();
        assert!(exchange(&root, &target).unwrap());
        assert!(target.join("new").exists() && root.join("run").exists());
    }
}
