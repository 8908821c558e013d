//! Where a path of a tool call leads, and whether a tool may go there.
//!
//! Symbolic links are resolved before the question is asked, also below directories that do not
//! exist yet, and what was resolved is opened without following any link that came up since.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use super::elsewhere;
use crate::tool::{PathScope, ToolContext};

/// How many links may lead to one file.
const MAX_LINKS: usize = 40;
/// How large a file may be that is read whole.
const MAX_FILE: u64 = 64 << 20;

/// A path that a tool may touch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Where it is: absolute, and free of links.
    pub(super) path: PathBuf,
    /// How it is shown: relative to the workspace if it is in there.
    pub(super) shown: String,
}

/// Finds the place that a path of a tool call means.
pub(super) fn resolve(context: &ToolContext, text: &str) -> Result<Place, String> {
    if elsewhere::files(context).is_some() {
        return elsewhere::resolve(context, text);
    }
    let path = expand(context, text)?;
    let lost = |error: io::Error| format!("cannot resolve {text}: {error}");
    let root = real(&context.root).map_err(lost)?;
    let path = real(&path).map_err(lost)?;
    let inside = path.strip_prefix(&root).ok();
    if context.scope == PathScope::Workspace && inside.is_none() {
        return Err(format!("path is outside workspace: {text}"));
    }
    if context.secrets.hold(&path) {
        return Err(format!("path holds secrets, which no tool touches: {text}"));
    }
    let shown = match inside {
        Some(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Some(inside) => inside.display().to_string(),
        None => path.display().to_string(),
    };
    Ok(Place { path, shown })
}

/// How a path below a place is shown.
pub(super) fn shown_below(place: &Place, path: &Path) -> String {
    match path.strip_prefix(&place.path) {
        Ok(rest) if rest.as_os_str().is_empty() => place.shown.clone(),
        Ok(rest) if place.shown == "." => rest.display().to_string(),
        Ok(rest) => Path::new(&place.shown).join(rest).display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// The absolute path that a text means, with links and dots still in it.
fn expand(context: &ToolContext, text: &str) -> Result<PathBuf, String> {
    if text.trim().is_empty() {
        return Err("path is empty".into());
    }
    if text.contains('\0') {
        return Err("path contains a NUL character".into());
    }
    let below = |base: &Path, rest: &str| base.join(rest.trim_start_matches('/'));
    Ok(if let Some(rest) = text.strip_prefix("workspace://") {
        below(&context.root, rest)
    } else if let Some(rest) = text.strip_prefix("user://") {
        below(&context.home, rest)
    } else if text == "~" {
        context.home.clone()
    } else if let Some(rest) = text.strip_prefix("~/") {
        below(&context.home, rest)
    } else {
        context.root.join(text)
    })
}

/// Resolves all links of an absolute path. What does not exist is taken by its word.
fn real(path: &Path) -> io::Result<PathBuf> {
    let mut ahead: VecDeque<OsString> = parts(path);
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        match std::fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(io::Error::other("too many symbolic links"));
                }
                let target = std::fs::read_link(&next)?;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                for part in parts(&target).into_iter().rev() {
                    ahead.push_front(part);
                }
            }
            Ok(_) => real = next,
            Err(error) if is_absent(&error) => real = next,
            Err(error) => return Err(error),
        }
    }
    Ok(real)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(part) => Some(part.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// Opens what was resolved, and refuses if a link has taken its place since.
pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Old kernels and some sandboxes do not know the call; then only the last part is guarded.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
            rustix::fs::open(path, flags, Mode::empty())?
        }
        other => other?,
    };
    Ok(file.into())
}

/// Whether there is something at a place.
pub(super) fn exists(context: &ToolContext, place: &Place) -> Result<bool, String> {
    match elsewhere::files(context) {
        Some(files) => Ok(elsewhere::kind(files.as_ref(), &place.path)?.is_some()),
        None => Ok(std::fs::symlink_metadata(&place.path).is_ok()),
    }
}

/// The permissions of what is at a place, where they can be determined.
pub(super) fn mode(context: &ToolContext, place: &Place) -> Option<u32> {
    if let Some(files) = elsewhere::files(context) {
        return elsewhere::mode(files.as_ref(), &place.path);
    }
    let found = std::fs::symlink_metadata(&place.path).ok()?;
    Some(std::os::unix::fs::MetadataExt::mode(&found) & 0o7777)
}

/// Reads a regular file whole, up to a limit of bytes.
pub(super) fn read(context: &ToolContext, place: &Place, limit: u64) -> Result<Vec<u8>, String> {
    match elsewhere::files(context) {
        Some(files) => elsewhere::read(files.as_ref(), place, limit),
        None => read_here(place, limit),
    }
}

/// The same on this machine, wherever the tools of the thread work.
pub(super) fn read_here(place: &Place, limit: u64) -> Result<Vec<u8>, String> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("no such file: {}", place.shown),
        _ => format!("cannot read {}: {error}", place.shown),
    };
    // A named pipe would keep us waiting for a writer.
    let file = open(&place.path, OFlags::RDONLY | OFlags::NONBLOCK).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if found.is_dir() {
        return Err(format!("{} is a directory", place.shown));
    }
    if !found.is_file() {
        return Err(format!("{} is not a regular file", place.shown));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(format!("{} is larger than {limit} bytes", place.shown));
    }
    Ok(bytes)
}

/// Reads a text file whole. What is no UTF-8 is an error: it could not be written back unchanged.
pub(super) fn read_text(context: &ToolContext, place: &Place) -> Result<String, String> {
    let bytes = read(context, place, MAX_FILE)?;
    String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8 text", place.shown))
}

/// Reads a text file to be looked at. Bytes that are no UTF-8 are replaced; binaries are refused.
pub(super) fn read_text_lossy(context: &ToolContext, place: &Place) -> Result<String, String> {
    let bytes = read(context, place, MAX_FILE)?;
    if bytes.contains(&0) {
        return Err(format!("{} is a binary file", place.shown));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::super::test_world::Bench;
    use super::*;

    #[test]
    fn paths_begin_at_the_workspace_or_the_home() {
        let bench = Bench::new();
        let mut context = bench.context();
        let shown = |context: &ToolContext, text: &str| resolve(context, text).unwrap().shown;
        assert_eq!(shown(&context, "src/a.rs"), "src/a.rs");
        assert_eq!(shown(&context, "./src/../b"), "b");
        assert_eq!(shown(&context, "."), ".");
        assert_eq!(shown(&context, "workspace://src/a.rs"), "src/a.rs");
        assert_eq!(shown(&context, "workspace:///src"), "src");
        let absolute = bench.root().join("x/y");
        assert_eq!(shown(&context, absolute.to_str().unwrap()), "x/y");
        context.scope = PathScope::Global;
        let notes = bench.home().join("notes").display().to_string();
        for text in ["~/notes", "user://notes", "user:///notes"] {
            assert_eq!(shown(&context, text), notes, "{text}");
        }
        assert_eq!(shown(&context, "~"), bench.home().display().to_string());
        assert!(resolve(&context, " ").is_err());
        assert!(resolve(&context, "a\0b").is_err());
    }

    #[test]
    fn what_leads_out_of_the_workspace_is_refused() {
        let bench = Bench::new();
        let context = bench.context();
        symlink("/etc", bench.root().join("etc")).unwrap();
        symlink("/nowhere/at/all", bench.root().join("dangling")).unwrap();
        symlink("..", bench.root().join("up")).unwrap();
        symlink("loop", bench.root().join("loop")).unwrap();
        for text in [
            "../x",
            "/etc/passwd",
            "~/x",
            "user://x",
            "etc/passwd",
            "dangling",
            "up/x",
            "a/../../x",
        ] {
            let why = resolve(&context, text).unwrap_err();
            assert_eq!(why, format!("path is outside workspace: {text}"));
        }
        assert!(resolve(&context, "loop").unwrap_err().contains("too many symbolic links"));
        // A sibling whose name begins alike is not inside.
        let sibling = format!("{}-other/x", bench.root().display());
        assert!(resolve(&context, &sibling).unwrap_err().contains("outside workspace"));
    }

    #[test]
    fn secrets_are_refused_in_every_scope() {
        let bench = Bench::new();
        let mut context = bench.context();
        context.root = bench.home();
        symlink(bench.home().join(".ssh"), bench.home().join("harmless")).unwrap();
        for scope in [PathScope::Workspace, PathScope::Global] {
            context.scope = scope;
            for text in ["~/.ssh/id_ed25519", ".aws/credentials", "harmless/id", "x/../.netrc"] {
                let why = resolve(&context, text).unwrap_err();
                assert_eq!(why, format!("path holds secrets, which no tool touches: {text}"));
            }
            assert!(resolve(&context, "src/.ssh/config").is_ok());
        }
        assert!(resolve(&context, "/etc/shadow").unwrap_err().contains("holds secrets"));
    }

    #[test]
    fn links_inside_lead_to_what_they_mean() {
        let bench = Bench::new();
        bench.file("real/a.txt", "text");
        symlink("real", bench.root().join("link")).unwrap();
        let place = resolve(&bench.context(), "link/new/b.txt").unwrap();
        assert_eq!(place.shown, "real/new/b.txt");
        assert_eq!(
            read_here(&resolve(&bench.context(), "link/a.txt").unwrap(), 10).unwrap(),
            b"text"
        );
    }

    #[test]
    fn a_link_that_came_up_later_is_not_followed() {
        let bench = Bench::new();
        bench.file("dir/secret", "in");
        let place = resolve(&bench.context(), "dir/secret").unwrap();
        std::fs::rename(bench.root().join("dir"), bench.root().join("moved")).unwrap();
        symlink(bench.root().join("moved"), bench.root().join("dir")).unwrap();
        assert!(read_here(&place, 10).is_err());
    }

    #[test]
    fn only_regular_files_of_some_size_are_read() {
        let bench = Bench::new();
        bench.file("five", "12345");
        let place = |name: &str| resolve(&bench.context(), name).unwrap();
        assert_eq!(read_here(&place("five"), 5).unwrap(), b"12345");
        assert_eq!(read_here(&place("five"), 4).unwrap_err(), "five is larger than 4 bytes");
        assert_eq!(read_here(&place("."), 4).unwrap_err(), ". is a directory");
        assert_eq!(read_here(&place("none"), 4).unwrap_err(), "no such file: none");
        let pipe = bench.root().join("pipe");
        rustix::fs::mkfifoat(CWD, &pipe, Mode::RWXU).unwrap();
        assert_eq!(read_here(&place("pipe"), 4).unwrap_err(), "pipe is not a regular file");
        std::fs::write(bench.root().join("odd"), b"a\xff").unwrap();
        assert_eq!(
            read_text(&bench.context(), &place("odd")).unwrap_err(),
            "odd is not UTF-8 text"
        );
        assert_eq!(read_text_lossy(&bench.context(), &place("odd")).unwrap(), "a\u{fffd}");
    }

    proptest! {
        #[test]
        fn no_path_leads_out(parts in prop::collection::vec("(\\.\\.|\\.|a|up|out|in|~|é)", 0..8), absolute: bool) {
            let bench = Bench::new();
            std::fs::create_dir_all(bench.root().join("a/a")).unwrap();
            symlink("..", bench.root().join("a/up")).unwrap();
            symlink("/", bench.root().join("out")).unwrap();
            symlink("a", bench.root().join("in")).unwrap();
            let text = format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"));
            if let Ok(place) = resolve(&bench.context(), &text) {
                let root = bench.root().canonicalize().unwrap();
                prop_assert!(place.path.starts_with(&root), "{text} leads to {place:?}");
                if let Ok(path) = root.join(&text).canonicalize() {
                    prop_assert_eq!(path, place.path);
                }
            }
        }
    }
}
