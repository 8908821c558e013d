//! `ptywright logs`: the end of the newest log file, and what is added, also to the file of the next day.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use rookery_daemon::serve::{PtywrightHome, newest_log};

use crate::{
    commands::block_on,
    failure::{Failure, Outcome},
    output,
};

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How much of the file is read for its last lines.
const TAIL: u64 = 4 << 20;
/// Read at once.
const CHUNK: usize = 64 << 10;
/// A line that is longer is printed in pieces.
const LONGEST_LINE: usize = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct Logs {
    /// Only print lines that contain this text
    #[arg(long, value_name = "SUBSTRING")]
    filter: Option<String>,
    /// Number of lines to start with
    #[arg(long, value_name = "N", default_value_t = 20)]
    lines: usize,
}

pub(super) fn run(args: &Logs) -> Outcome {
    block_on(follow(args, PtywrightHome::from_env().logs()))
}

async fn follow(args: &Logs, dir: PathBuf) -> Outcome {
    let newest = newest_log(&dir).ok_or_else(|| {
        Failure::new(format!("io error: no log file in {}", dir.display()))
            .hint("`ptywright serve` creates one when it starts")
    })?;
    let mut tail = begin(args, newest)?;
    loop {
        show(args, &tail.read().map_err(Failure::doing(tail.path.display()))?)?;
        let newest = newest_log(&dir).filter(|newest| *newest != tail.path);
        match newest.and_then(|newest| Tail::open(newest, 0).ok()) {
            Some(next) => tail = next,
            None => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

/// Prints the last lines of a file and goes on behind them.
fn begin(args: &Logs, path: PathBuf) -> Outcome<Tail> {
    let failed = |error| Failure::doing(path.display())(error);
    let length = path.metadata().map_err(failed)?.len();
    let mut tail = Tail::open(path.clone(), length.saturating_sub(TAIL)).map_err(failed)?;
    let mut lines: Vec<String> = Vec::new();
    loop {
        let more = tail.read().map_err(failed)?;
        if more.is_empty() {
            break;
        }
        lines.extend(more.into_iter().filter(|line| wanted(args, line)));
        let surplus = lines.len().saturating_sub(args.lines);
        lines.drain(..surplus);
    }
    show(args, &lines)?;
    Ok(tail)
}

fn wanted(args: &Logs, line: &str) -> bool {
    args.filter.as_ref().is_none_or(|part| line.contains(part.as_str()))
}

fn show(args: &Logs, lines: &[String]) -> Outcome<()> {
    lines.iter().filter(|line| wanted(args, line)).try_for_each(output::line)
}

/// A file that grows.
struct Tail {
    path: PathBuf,
    file: File,
    /// The beginning of a line whose end is not there yet.
    rest: Vec<u8>,
}

impl Tail {
    fn open(path: PathBuf, from: u64) -> io::Result<Tail> {
        let mut file = File::open(&path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Tail { path, file, rest: Vec::new() };
        if from > 0 {
            // The first line is most likely cut.
            let mut lines = tail.read()?;
            if !lines.is_empty() {
                lines.remove(0);
            }
            tail.rest
                .splice(0..0, lines.iter().flat_map(|line| [line, "\n"].concat().into_bytes()));
        }
        Ok(tail)
    }

    /// The next whole lines; none if there are none yet.
    fn read(&mut self) -> io::Result<Vec<String>> {
        if is_shorter(&self.file)? || is_replaced(&self.file, &self.path) {
            *self = Tail::open(self.path.clone(), 0)?;
        }
        let mut chunk = vec![0; CHUNK];
        let count = self.file.read(&mut chunk)?;
        self.rest.extend_from_slice(&chunk[..count]);
        let end = match self.rest.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => last + 1,
            None if self.rest.len() > LONGEST_LINE => self.rest.len(),
            None => 0,
        };
        let whole: Vec<u8> = self.rest.drain(..end).collect();
        Ok(String::from_utf8_lossy(&whole).lines().map(output::printable).collect())
    }
}

fn is_shorter(mut file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.len() < file.stream_position()?)
}

fn is_replaced(file: &File, path: &Path) -> bool {
    let id = |found: std::fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), path.metadata()) {
        (Ok(open), Ok(named)) => id(open) != id(named),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn whole_lines_come_as_they_are_added() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "one\ntw").unwrap();
        let mut tail = Tail::open(path.clone(), 0).unwrap();
        assert_eq!(tail.read().unwrap(), ["one"]);
        assert!(tail.read().unwrap().is_empty());
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"o\nthree\n").unwrap();
        assert_eq!(tail.read().unwrap(), ["two", "three"]);
        std::fs::write(&path, "new\n").unwrap();
        assert_eq!(tail.read().unwrap(), ["new"]);
    }

    #[test]
    fn a_cut_first_line_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "first\nsecond\nthird\n").unwrap();
        let mut tail = Tail::open(path, 3).unwrap();
        assert_eq!(tail.read().unwrap(), ["second", "third"]);
    }
}
