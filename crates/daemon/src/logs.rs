//! Logs on stderr, without secrets. stdout carries only what scripts read.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// The longest part of a record that is judged as one; a longer one is cut.
const RECORD_BYTES: usize = 256 * 1024;

/// Starts logging. `ROOKERY_LOG` overrides the config.
pub(crate) fn start(config: &str, from_env: Option<String>) {
    let wanted = from_env.unwrap_or_else(|| config.to_owned());
    let filter = EnvFilter::try_new(&wanted).unwrap_or_else(|_| EnvFilter::new("info"));
    let is_terminal = io::IsTerminal::is_terminal(&io::stderr());
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Redacted(io::stderr))
        .with_ansi(is_terminal && std::env::var_os("NO_COLOR").is_none())
        .finish();
    // A test may have installed its own; then that one stays.
    let _ = tracing::subscriber::set_global_default(subscriber);
    log_panics();
}

/// Lets what a panic says pass redaction like everything else: it may quote what it stumbled over.
pub(crate) fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let trace = std::backtrace::Backtrace::capture();
        let name = thread.name().unwrap_or("unnamed");
        match trace.status() {
            std::backtrace::BacktraceStatus::Captured => {
                tracing::error!("thread {name}: {panic}\n{trace}");
            }
            _ => tracing::error!("thread {name}: {panic}"),
        }
    }));
}

/// Makes writers whose records pass redaction, whatever their source.
struct Redacted<M>(M);

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for Redacted<M> {
    type Writer = Record<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Record { to: self.0.make_writer(), bytes: Vec::new() }
    }
}

/// One record on its way out. It is written when it is complete, in one piece, so that no secret is
/// cut in two and no two records are mixed.
struct Record<W: Write> {
    to: W,
    bytes: Vec<u8>,
}

impl<W: Write> Write for Record<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > RECORD_BYTES {
            self.send()?;
        }
        let taken = &bytes[..bytes.len().min(RECORD_BYTES)];
        self.bytes.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()?;
        self.to.flush()
    }
}

impl<W: Write> Record<W> {
    fn send(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.bytes);
        // Invalid UTF-8 is shown as well as possible; logs are for people.
        let text = String::from_utf8_lossy(&bytes);
        self.to.write_all(rookery_ptywright::redact_error(&text).as_bytes())
    }
}

impl<W: Write> Drop for Record<W> {
    fn drop(&mut self) {
        // If stderr is gone, that cannot be reported.
        let _ = self.send();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<Vec<u8>>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(with_ansi: bool, work: impl FnOnce()) -> Vec<String> {
        let shared = Shared::default();
        let to = shared.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(Redacted(move || to.clone()))
            .with_ansi(with_ansi)
            .finish();
        tracing::subscriber::with_default(subscriber, work);
        let writes = shared.0.lock();
        writes.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
    }

    #[test]
    fn records_leave_without_secrets_each_in_one_write() {
        let url = "https://me:hunter2@host/x";
        let lines = logged(false, || {
            tracing::info!("cannot fetch {url}");
            tracing::warn!(password = "hunter2hunter2", "refused");
            tracing::info!(target: "another_crate", "Authorization: Basic dXNlcjpwYXNz");
        });
        assert_eq!(lines.len(), 3);
        assert!(lines[0].ends_with("cannot fetch https://me:[REDACTED]@host/x\n"), "{}", lines[0]);
        assert!(!lines[1].contains("hunter2") && lines[1].contains("refused"), "{}", lines[1]);
        assert!(!lines[2].contains("dXNlcjpwYXNz"), "{}", lines[2]);
    }

    #[test]
    fn colors_do_not_help_a_secret_out() {
        let lines = logged(true, || tracing::info!(token = "abcdefgh12345678", "hello"));
        assert!(lines[0].contains('\x1b') && lines[0].contains("hello"), "{}", lines[0]);
        assert!(!lines[0].contains("abcdefgh"), "{}", lines[0]);
    }

    #[test]
    fn a_record_in_pieces_is_judged_as_one() {
        let shared = Shared::default();
        let mut record = Record { to: shared.clone(), bytes: Vec::new() };
        record.write_all(b"tok").unwrap();
        record.write_all(b"en=ab").unwrap();
        record.write_all(b"c \xff\n").unwrap();
        drop(record);
        assert_eq!(*shared.0.lock(), ["token=[REDACTED] \u{fffd}\n".as_bytes()]);
    }

    #[test]
    fn a_record_without_end_does_not_grow_without_bound() {
        let shared = Shared::default();
        let mut record = Record { to: shared.clone(), bytes: Vec::new() };
        record.write_all(&vec![b'x'; 3 * RECORD_BYTES]).unwrap();
        assert!(record.bytes.len() <= RECORD_BYTES);
        drop(record);
        assert_eq!(shared.0.lock().iter().map(Vec::len).sum::<usize>(), 3 * RECORD_BYTES);
    }
}
