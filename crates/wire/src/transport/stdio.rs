//! The process's own stdin and stdout as one connection.

mod ends;

use tokio::io::{Join, join};

use super::{Transport, delegate_io, hung_up};
use ends::{Input, Output};

/// Reads stdin and writes stdout.
///
/// Pipes and sockets are waited for by the runtime; anything else is read and written on helper
/// threads. Such a read cannot be interrupted: a process that ends before end of file must exit
/// rather than wait for its runtime to shut down.
pub struct Stdio {
    both: Join<Input, Output>,
}

/// The process's stdin and stdout; use it once, inside a runtime.
#[must_use]
pub fn stdio() -> Stdio {
    let input = ends::input(rustix::stdio::stdin())
        .unwrap_or_else(|_| Box::new(tokio::io::stdin()) as Input);
    let output = ends::output(rustix::stdio::stdout())
        .unwrap_or_else(|_| Box::new(tokio::io::stdout()) as Output);
    Stdio { both: join(input, output) }
}

delegate_io!(Stdio, both);

impl Transport for Stdio {
    /// The reader of stdout is gone.
    fn peer_gone(&self) -> bool {
        hung_up(&rustix::stdio::stdout())
    }
}
