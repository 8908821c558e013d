//! The process's own stdin and stdout as one connection.

use tokio::io::{Join, Stdin, Stdout, join, stdin, stdout};

/// Reads stdin and writes stdout.
///
/// Reads happen on a helper thread that cannot be interrupted: a process that ends before end of
/// file must exit rather than wait for its runtime to shut down.
pub type Stdio = Join<Stdin, Stdout>;

/// The process's stdin and stdout; use it once.
#[must_use]
pub fn stdio() -> Stdio {
    join(stdin(), stdout())
}
