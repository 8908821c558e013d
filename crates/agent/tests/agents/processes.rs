//! Whether processes are there, and waiting until they are not.

use std::time::{Duration, Instant};

/// Whether a process is there and not a zombie.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Waits until a process is gone. Does not look at the runtime's clock, which may stand still.
pub(crate) async fn gone(pid: u32) {
    let began = Instant::now();
    while is_alive(pid) {
        assert!(began.elapsed() < Duration::from_secs(30), "process {pid} is still there");
        tokio::task::yield_now().await;
    }
}
