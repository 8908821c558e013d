//! Raw logs: every byte of a terminal in a file, as it was read.
//!
//! A thread per log does the writing. After a restart the file's length tells
//! which bytes of the ring are still missing, so the log has no gap and no repeat.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rookery_model::{Error, Result};
use tokio::sync::mpsc;

/// Where to log a terminal's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawLog {
    /// The file.
    pub path: PathBuf,
    /// Append to an existing file; otherwise the file must not exist.
    pub append: bool,
}

pub(crate) struct OpenLog {
    file: File,
    /// Length of the file before the terminal's first byte.
    pub(crate) base: u64,
}

impl OpenLog {
    pub(crate) fn create(log: &RawLog) -> Result<OpenLog> {
        let mut options = OpenOptions::new();
        options.append(true).mode(0o600);
        if log.append {
            options.create(true)
        } else {
            options.create_new(true)
        };
        let file = options.open(&log.path).map_err(failed)?;
        let base = file.metadata().map_err(failed)?.len();
        Ok(OpenLog { file, base })
    }

    /// Opens a log again after a restart. The second value is the stream offset it ends at.
    pub(crate) fn reopen(path: &Path, base: u64) -> Option<(OpenLog, u64)> {
        let file = OpenOptions::new().append(true).open(path).ok()?;
        let length = file.metadata().ok()?.len();
        Some((OpenLog { file, base }, length.checked_sub(base)?))
    }

    /// Starts the writing thread and gives the way to it. Dropping that ends the thread.
    pub(crate) fn start(mut self) -> mpsc::Sender<Bytes> {
        let (sender, mut receiver) = mpsc::channel::<Bytes>(32);
        let spawned = std::thread::Builder::new().name("raw-log".to_owned()).spawn(move || {
            while let Some(bytes) = receiver.blocking_recv() {
                if let Err(error) = self.file.write_all(&bytes) {
                    tracing::error!(%error, "a raw log cannot be written any more");
                    return;
                }
            }
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "cannot start the thread of a raw log");
        }
        sender
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::failed(format!("io error: {error}"))
}
