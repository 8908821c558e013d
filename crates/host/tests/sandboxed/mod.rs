//! What tests share that start themselves inside of the sandbox, as the product does: their second life,
//! and a look at everything that a command could have changed.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rookery_host::sandbox::{SANDBOX_ARGUMENT, SEAL_ARGUMENT, enter_and_exec, seal_and_exec};

/// Becomes the command, if this program was started for that. Comes back with a code if that failed.
#[expect(clippy::print_stderr, reason = "a child says why it did not run")]
pub(crate) fn second_life() -> Option<ExitCode> {
    let args: Vec<OsString> = std::env::args_os().collect();
    let become_command = match args.get(1)?.to_str()? {
        SANDBOX_ARGUMENT => enter_and_exec,
        SEAL_ARGUMENT => seal_and_exec,
        _ => return None,
    };
    let error = become_command(&args[2..]);
    eprintln!("{error}");
    Some(ExitCode::from(error.exit_code()))
}

/// A file as it was found: name, mode, time of change, content or target.
pub(crate) type Found = (PathBuf, u32, i64, i64, Vec<u8>);

/// All that is below a directory, itself included; links are not followed.
pub(crate) fn found(root: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).expect("it is there");
        let content = if metadata.is_symlink() {
            fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
        } else if metadata.is_file() {
            fs::read(&path).expect("readable")
        } else {
            Vec::new()
        };
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).expect("a directory");
            open.extend(entries.map(|entry| entry.expect("an entry").path()));
        }
        found.push((path, metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), content));
    }
    found.sort();
    found
}
