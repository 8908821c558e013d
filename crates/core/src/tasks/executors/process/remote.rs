//! A program at a runner that is not this machine, run to its end.

use std::time::Duration;

use rookery_model::{LogStream, Result};
use rookery_runners::{Chunk, Command, ExitCause, RunnerError, Stream};
use tokio::sync::mpsc;

use super::super::super::output::Lines;
use super::super::{Job, Outcome};
use super::{LOST, Site, command_id, ended, parse_of, variables};
use crate::runners::TaskPlace;

/// Pieces of output that may wait.
const PIECES: usize = 16;
/// How much output comes at most where it comes at the end.
const OUTPUT: usize = 256 << 10;
/// A runner that keeps the time itself gets this much more, for the task's own time comes first.
const SLACK: Duration = Duration::from_secs(10);

pub(super) async fn run(job: &Job, place: &TaskPlace) -> Result<Outcome> {
    let task = &job.task;
    let input = parse_of(task)?;
    let (sender, mut pieces) = mpsc::channel(PIECES);
    let mut command = Command::new(input.argv);
    command.id = Some(command_id(task));
    command.cwd = Some(place.cwd.to_string_lossy().into_owned());
    let env = variables(task, input.env).into_iter();
    command.env = env.filter_map(|(name, value)| Some((name, value?))).collect();
    command.timeout = task.spec.timeout.map(|limit| limit + SLACK);
    command.output_limit = OUTPUT;
    command.output = Some(sender);
    let cancel = command.cancel.clone();
    let mut written = Written::default();
    let mut work = place.session.exec(command);
    let end = loop {
        tokio::select! {
            biased;
            Some(piece) = pieces.recv() => written.take(job, piece),
            end = &mut work => break end,
            () = job.stop.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
        }
    };
    while let Ok(piece) = pieces.try_recv() {
        written.take(job, piece);
    }
    let seen = written.finish(job);
    if job.stop.is_cancelled() {
        return Ok(Outcome::Left);
    }
    let end = match end {
        Ok(end) => end,
        Err(RunnerError::Closed) => return Ok(Outcome::failed(LOST)),
        Err(error) => return Ok(Outcome::failed(format!("the runner failed: {error}"))),
    };
    let total = end.dropped + (end.stdout.len() + end.stderr.len()) as u64;
    job.output.skip(total.saturating_sub(seen));
    let code = end.exit_code.map(|code| if code < 0 { 128 - code } else { code });
    match end.how {
        ExitCause::Exited => {
            let site = Site::Runner(place.clone());
            Ok(ended(&job.core, task, &site, code).await)
        }
        ExitCause::Cancelled | ExitCause::TimedOut => {
            Ok(Outcome::failed("the program took longer than the runner allows"))
        }
    }
}

/// What the program wrote, by lines.
#[derive(Default)]
struct Written {
    stdout: Lines,
    stderr: Lines,
    bytes: u64,
}

impl Written {
    fn take(&mut self, job: &Job, piece: Chunk) {
        self.bytes += piece.bytes.len() as u64;
        let (lines, stream) = match piece.stream {
            Stream::Stdout => (&mut self.stdout, LogStream::Stdout),
            Stream::Stderr => (&mut self.stderr, LogStream::Stderr),
        };
        lines.push(&piece.bytes).iter().for_each(|line| job.output.push(stream, line));
    }

    /// Gives how many bytes there were.
    fn finish(self, job: &Job) -> u64 {
        job.output.push(LogStream::Stdout, &self.stdout.finish());
        job.output.push(LogStream::Stderr, &self.stderr.finish());
        self.bytes
    }
}
