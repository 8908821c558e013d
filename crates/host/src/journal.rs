//! Files that only grow, line by line: each line is on disk before the call comes back.
//!
//! A line that a crash cut short is left alone and never becomes part of the next one. Blocking; callers
//! keep it off the runtime's threads.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Adds a line to a file, or makes the file and its directory. No other user can read it.
pub fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let is_new = !path.exists();
    let dir = path.parent().unwrap_or(Path::new("."));
    if is_new {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let mut file = options.open(path)?;
    // One writer at a time, or half of another's line looks like one that was cut short.
    file.lock()?;
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if is_torn(&mut file)? {
        bytes.push(b'\n');
    }
    bytes.extend(line.iter().filter(|byte| **byte != b'\n'));
    bytes.push(b'\n');
    file.write_all(&bytes)?;
    file.sync_data()?;
    if is_new {
        File::open(dir)?.sync_all()?;
    }
    Ok(())
}

/// Whether the last line of a file does not end.
fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// All lines of a file that end, within its first `limit` bytes; none if there is no file.
pub fn lines(path: &Path, limit: u64) -> io::Result<Vec<String>> {
    let file = match crate::files::open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    bytes.truncate(whole);
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Moves a file aside that cannot be read, under a name that says when; gives its new place.
pub fn set_aside(path: &Path, millis: i64) -> io::Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".corrupt-{millis}"));
    let aside = PathBuf::from(name);
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// Removes files of ours from a directory, and the directory if nothing else is in it.
pub fn remove_all(dir: &Path, names: &[&str]) -> io::Result<()> {
    for name in names {
        match fs::remove_file(dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    // What is not ours stays, and its directory with it.
    let _ = fs::remove_dir(dir);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn lines_come_back_and_a_torn_one_is_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/journal");
        assert!(lines(&path, 1 << 20).unwrap().is_empty());
        append(&path, b"one").unwrap();
        fs::write(&path, "one\ntw").unwrap();
        assert_eq!(lines(&path, 1 << 20).unwrap(), ["one"]);
        append(&path, b"th\nree").unwrap();
        assert_eq!(lines(&path, 1 << 20).unwrap(), ["one", "tw", "three"]);
        assert_eq!(lines(&path, 5).unwrap(), ["one"]);
        let dir_mode = fs::metadata(path.parent().unwrap()).unwrap().permissions().mode();
        assert_eq!(dir_mode & 0o777, 0o700);
    }

    #[test]
    fn what_is_ours_is_removed_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        append(&path.join("a"), b"x").unwrap();
        assert_eq!(fs::metadata(path.join("a")).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(path.join("other"), "x").unwrap();
        remove_all(&path, &["a", "b"]).unwrap();
        assert!(!path.join("a").exists() && path.join("other").exists());
        let aside = set_aside(&path.join("other"), 7).unwrap();
        assert!(aside.ends_with("other.corrupt-7") && !path.join("other").exists());
        fs::remove_file(aside).unwrap();
        remove_all(&path, &[]).unwrap();
        assert!(!path.exists());
    }
}
