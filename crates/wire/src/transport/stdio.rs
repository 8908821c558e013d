//! The process's own stdin and stdout as one connection.

use tokio::io::{Join, Stdin, Stdout, join, stdin, stdout};

use super::{Transport, delegate_io, hung_up};

/// Reads stdin and writes stdout.
///
/// Reads happen on a helper thread that cannot be interrupted: a process that ends before end of
/// file must exit rather than wait for its runtime to shut down.
#[derive(Debug)]
pub struct Stdio {
    both: Join<Stdin, Stdout>,
}

/// The process's stdin and stdout; use it once.
#[must_use]
pub fn stdio() -> Stdio {
    Stdio { both: join(stdin(), stdout()) }
}

delegate_io!(Stdio, both);

impl Transport for Stdio {
    /// Nobody reads stdout any more.
    fn peer_gone(&self) -> bool {
        hung_up(&rustix::stdio::stdout())
    }
}
