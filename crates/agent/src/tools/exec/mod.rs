//! Tools that run commands: `shell` to the end, the others as sessions that can be asked again.

mod clean;
mod process;
mod session_tools;
mod sessions;
mod shell;

use std::time::Duration;

pub use clean::Cleaner;
pub use session_tools::shell_argv;
pub(super) use session_tools::{
    EXEC_COMMAND, UNIFIED_EXEC, WRITE_STDIN, preview_exec_command, preview_unified_exec,
    preview_write_stdin,
};
pub use sessions::Sessions;
pub(super) use shell::{SHELL, preview_shell};

/// Roughly how many bytes a token has.
const BYTES_PER_TOKEN: usize = 4;

/// The result of a command as a model reads it. The first line says how it ended, or how to go on.
fn report(first: &str, wall_time: Duration, output: &str) -> String {
    format!("{first}\nWall time: {:.3} seconds\nOutput:\n{output}", wall_time.as_secs_f64())
}

/// What stands before an output whose beginning is gone.
fn dropped(bytes: u64) -> String {
    format!("[{bytes} bytes of output were dropped]\n")
}

/// The beginning and the end of an output that has more tokens than wanted.
fn within_tokens(output: &str, tokens: usize) -> String {
    let limit = tokens.max(1).saturating_mul(BYTES_PER_TOKEN);
    if output.len() <= limit {
        return output.to_owned();
    }
    let head = output.floor_char_boundary(limit / 2);
    let tail = output.ceil_char_boundary(output.len() - limit / 2);
    let omitted = tail - head;
    format!("{}\n[{omitted} bytes omitted]\n{}", &output[..head], &output[tail..])
}

/// How a command stands, in one word.
fn status(ended: Option<(i32, bool)>) -> &'static str {
    match ended {
        None => "running",
        Some((_, true)) => "timed_out",
        Some((0, false)) => "completed",
        Some(_) => "failed",
    }
}

#[cfg(test)]
mod tests;
