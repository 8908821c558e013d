//! What programs that we speak with say on their standard error: logged within a bound, the last kept.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

/// The longest line that is kept.
pub(crate) const LONGEST: usize = 500;

/// How many lines are logged in a program's life.
const LOGGED: usize = 10_000;

/// The last line that a program wrote to its standard error.
pub(crate) type LastErrorLine = Arc<Mutex<String>>;

/// Reads a program's standard error to its end.
pub(crate) async fn listen(
    name: String,
    pipe: impl AsyncRead + Unpin + Send + 'static,
    last: LastErrorLine,
) {
    let mut pipe = BufReader::new(pipe);
    let mut bytes = Vec::new();
    let mut count = 0;
    loop {
        bytes.clear();
        // A long line comes as several: nothing is kept without a bound.
        let read = (&mut pipe).take(LONGEST as u64).read_until(b'\n', &mut bytes).await;
        if !matches!(read, Ok(1..)) {
            return;
        }
        let line: String = String::from_utf8_lossy(&bytes)
            .chars()
            .filter(|character| !character.is_control())
            .collect();
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if count < LOGGED {
            count += 1;
            tracing::debug!(program = name, "stderr: {line}");
        }
        line.clone_into(&mut last.lock());
    }
}
