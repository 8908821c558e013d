//! ptywright's logs: one file per day, pruned by age, and stderr where it is free.
//! Everything passes redaction, and a day's file has a largest size.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::ToSpan;
use jiff::civil::Date;
use parking_lot::Mutex;
use rookery_trust::TrustedDir;
use tracing::Subscriber;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use super::home::{LogFormat, PtywrightHome};

/// What one day may fill.
const LARGEST: u64 = 64 << 20;

const PREFIX: &str = "ptywright.";
const SUFFIX: &str = ".log";

/// Whose logs they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogsOf {
    /// A server: also on stderr, and the file is there from the start, so that it can be followed.
    Server,
    /// A program that runs in a terminal, where nothing else may be shown: the file alone, made with its first line.
    Run,
}

/// Starts logging. `PTYWRIGHT_LOG` overrides the level.
pub fn start(home: &PtywrightHome, of: LogsOf) {
    let (logging, mut wrong) = home.logging();
    let level = std::env::var("PTYWRIGHT_LOG").ok().filter(|level| !level.is_empty());
    let filter = EnvFilter::try_new(level.as_ref().unwrap_or(&logging.level))
        .unwrap_or_else(|_| EnvFilter::new("warn"));
    let mut file = logging.file.then(|| {
        prune(&home.logs(), today(), logging.max_days);
        DailyFile::new(home.logs())
    });
    if of == LogsOf::Server
        && let Some(Err(error)) = file.as_ref().map(|file| file.append(today(), b""))
    {
        let message = format!("cannot log to {}: {error}", home.logs().display());
        wrong.get_or_insert(message);
        file = None;
    }
    let file = file.map(|file| layer(logging.format, move || Redacting(file.clone())));
    let stderr = (of == LogsOf::Server).then(|| layer(logging.format, || Redacting(io::stderr())));
    let subscriber = Registry::default().with(filter).with(file).with(stderr);
    // A test may have installed its own; then that one stays.
    let _ = tracing::subscriber::set_global_default(subscriber);
    crate::logs::log_panics();
    if let Some(wrong) = wrong {
        tracing::warn!("{wrong}");
    }
}

fn layer<S, W, M>(format: LogFormat, writer: M) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Write,
    M: Fn() -> W + Send + Sync + 'static,
{
    let layer = fmt::layer().with_ansi(false).with_writer(writer);
    match format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().boxed(),
    }
}

/// Hides secrets. Every write is a whole line, as the formatter above makes them.
struct Redacting<W>(W);

impl<W: Write> Write for Redacting<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = rookery_ptywright::redact_error(&String::from_utf8_lossy(line));
        self.0.write_all(text.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The file of the day, made when it is first written to.
#[derive(Clone)]
struct DailyFile {
    dir: PathBuf,
    open: Arc<Mutex<Option<OpenFile>>>,
}

struct OpenFile {
    day: Date,
    file: File,
    length: u64,
}

impl DailyFile {
    fn new(dir: PathBuf) -> DailyFile {
        DailyFile { dir, open: Arc::default() }
    }

    fn append(&self, day: Date, line: &[u8]) -> io::Result<()> {
        let mut open = self.open.lock();
        let current = match open.take().filter(|open| open.day == day) {
            Some(current) => open.insert(current),
            None => {
                let dir = TrustedDir::own(&self.dir)?;
                let file = dir.append(&format!("{PREFIX}{day}{SUFFIX}"))?;
                let length = file.metadata()?.len();
                open.insert(OpenFile { day, file, length })
            }
        };
        if current.length + line.len() as u64 <= LARGEST {
            current.file.write_all(line)?;
            current.length += line.len() as u64;
        }
        Ok(())
    }
}

impl Write for DailyFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.append(today(), line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn today() -> Date {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// The day of a log file, by its name.
fn day_of(path: &Path) -> Option<Date> {
    path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

/// Log files and their days, in no order.
fn files(dir: &Path) -> Vec<(Date, PathBuf)> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| Some((day_of(&entry.path())?, entry.path())))
        .collect()
}

/// The newest log file.
pub fn newest(dir: &Path) -> Option<PathBuf> {
    files(dir).into_iter().max().map(|(_, path)| path)
}

/// Removes files of days long ago; 0 keeps all.
fn prune(dir: &Path, today: Date, max_days: u32) {
    if max_days == 0 {
        return;
    }
    let oldest = today.saturating_sub(i64::from(max_days.min(100_000)).days());
    for (day, path) in files(dir) {
        if day < oldest {
            // Next time is as good.
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_has_its_file_and_old_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        let logs = dir.path().join("logs");
        let file = DailyFile::new(logs.clone());
        assert_eq!(newest(&logs), None);
        let day = |text: &str| text.parse::<Date>().unwrap();
        file.append(day("2026-01-01"), b"one\n").unwrap();
        file.append(day("2026-01-02"), b"two\n").unwrap();
        file.append(day("2026-01-02"), b"three\n").unwrap();
        std::fs::write(logs.join("ptywright.notes.log"), "mine").unwrap();
        let second = logs.join("ptywright.2026-01-02.log");
        assert_eq!(newest(&logs), Some(second.clone()));
        assert_eq!(std::fs::read_to_string(&second).unwrap(), "two\nthree\n");
        prune(&logs, day("2026-01-15"), 14);
        prune(&logs, day("2026-02-01"), 0);
        assert!(logs.join("ptywright.2026-01-01.log").exists());
        prune(&logs, day("2026-01-16"), 14);
        assert!(!logs.join("ptywright.2026-01-01.log").exists());
        assert!(second.exists() && logs.join("ptywright.notes.log").exists());
    }

    #[test]
    fn secrets_do_not_reach_a_log() {
        let mut written = Vec::new();
        let mut writer = Redacting(&mut written);
        writer.write_all(b"api_key=sk-abcdefghijklmnopqrstuvwxyz123456\n").unwrap();
        let text = String::from_utf8(written).unwrap();
        assert!(!text.contains("abcdefghijklmnop"), "{text}");
    }

    #[test]
    fn a_day_cannot_fill_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ptywright.2026-01-01.log");
        File::create(&path).unwrap().set_len(LARGEST - 4).unwrap();
        let file = DailyFile::new(dir.path().to_owned());
        let day = "2026-01-01".parse().unwrap();
        file.append(day, b"one\n").unwrap();
        file.append(day, b"two\n").unwrap();
        assert_eq!(path.metadata().unwrap().len(), LARGEST);
    }
}
