//! Where a program is, as the system would look for it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Where programs are looked for by those who have no `PATH`.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// The file that is run for a program's name, seen from a directory and with this `PATH`.
/// Looks at the disk, so it may block.
pub fn find_program(program: &OsStr, path: Option<&OsStr>, cwd: &Path) -> Option<PathBuf> {
    let is_program = |file: &PathBuf| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    if program.as_bytes().contains(&b'/') {
        return Some(cwd.join(program)).filter(is_program);
    }
    let dirs = std::env::split_paths(path.unwrap_or(OsStr::new(USUAL_PATH)));
    dirs.map(|dir| cwd.join(dir).join(program)).find(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_path_and_by_name() {
        let found = |program: &str, path: Option<&str>, cwd: &str| {
            find_program(OsStr::new(program), path.map(OsStr::new), Path::new(cwd)).is_some()
        };
        assert!(found("sh", None, "/"));
        assert!(found("sh", Some("/nowhere:/bin"), "/"));
        assert!(found("/bin/sh", Some(""), "/"));
        assert!(found("bin/sh", None, "/") && found("./sh", None, "/bin"));
        assert!(!found("sh", Some("/nowhere"), "/"));
        assert!(!found("/etc/passwd", None, "/") && !found("/bin", None, "/"));
        assert!(!found("no-such-program-anywhere", None, "/"));
    }
}
