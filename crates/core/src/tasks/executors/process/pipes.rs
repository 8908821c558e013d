//! A program on pipes of this machine, perhaps in the directory of a session.

use rookery_model::{LogStream, Result};

use super::super::super::ID_VARIABLE;
use super::super::super::output::Lines;
use super::super::{Job, Outcome};
use super::{GRACE, REAP_LIMIT, Site, ended, request};
use crate::commands::{ExecStream, Execution};
use crate::core::{Core, blocking};

pub(super) async fn run(job: &Job, site: &Site) -> Result<Outcome> {
    let request = request(&job.task, site)?;
    let reading = job.task.spec.is_reading;
    let mut execution = job.core.commands().run_permitted(request, reading).await?;
    let (mut stdout, mut stderr) = (Lines::default(), Lines::default());
    loop {
        let chunk = tokio::select! {
            chunk = execution.next() => chunk,
            () = job.stop.cancelled() => {
                stop(&job.core, execution).await;
                return Ok(Outcome::Left);
            }
        };
        let Some(chunk) = chunk else { break };
        let (lines, stream) = match chunk.stream {
            ExecStream::Stdout => (&mut stdout, LogStream::Stdout),
            ExecStream::Stderr => (&mut stderr, LogStream::Stderr),
        };
        lines.push(&chunk.bytes).iter().for_each(|line| job.output.push(stream, line));
    }
    job.output.push(LogStream::Stdout, &stdout.finish());
    job.output.push(LogStream::Stderr, &stderr.finish());
    let end = execution.finish().await?;
    let code = end.signal.map_or(end.exit_code, |signal| 128 + signal);
    Ok(ended(&job.core, &job.task, site, Some(code)).await)
}

/// Asks the group to end, and kills it when it does not.
async fn stop(core: &Core, execution: Execution) {
    let id = execution.process_id().to_owned();
    let mark = id.clone();
    let _ = core.commands().terminate(0, &id);
    let mut ending = std::pin::pin!(execution.finish());
    if tokio::time::timeout(GRACE, &mut ending).await.is_err() {
        let killed = blocking(move || rookery_host::kill_marked(ID_VARIABLE, &mark)).await;
        killed.unwrap_or_else(|error| tracing::warn!(%error, "a task's programs may live on"));
        let _ = tokio::time::timeout(REAP_LIMIT, ending).await;
    }
}
