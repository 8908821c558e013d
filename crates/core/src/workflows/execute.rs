//! The task of a run: runs the script, again if it has to be, until the run is over.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rookery_model::{Error, Result};
use rookery_scripts::{Finished, Host, RunInput, Script, ScriptError};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::dispatch::Dispatch;
use super::host::{RunHost, output};
use super::live::{Control, LiveRun};
use super::types::{Run, RunChange, RunStatus};
use crate::clock;
use crate::core::blocking;
use crate::rooms::Workflows;
use crate::secrets;

/// How one run of the script ended.
enum End {
    Finished(std::result::Result<Finished, ScriptError>),
    TimedOut,
    Stopped,
    Replay,
    Daemon,
}

/// The place of a run among those whose scripts run, unless it is lent to others.
type Slot = Option<OwnedSemaphorePermit>;

impl Workflows {
    /// Runs a run in a task of its own, unless one is at it.
    pub(super) fn execute(&self, live: &Arc<LiveRun>) {
        if live.is_executing.swap(true, Ordering::AcqRel) {
            return;
        }
        let (workflows, live) = (self.core.detached().workflows(), Arc::clone(live));
        self.core.inner.runtime.spawn(async move {
            if let Err(error) = workflows.run_to_end(&live).await {
                workflows.fail(&live, &error.to_string()).await;
            }
            live.is_executing.store(false, Ordering::Release);
            if live.status() == RunStatus::Queued && !workflows.is_stopping() {
                // An agent was to begin anew just when the run came to its end.
                workflows.execute(&live);
            } else {
                workflows.retire(&live);
            }
        });
    }

    fn is_stopping(&self) -> bool {
        *self.core.inner.stopping.borrow()
    }

    async fn run_to_end(&self, live: &Arc<LiveRun>) -> Result<()> {
        let mut control = live.control.subscribe();
        let slot = tokio::select! {
            slot = Arc::clone(&self.room().active).acquire_owned() => slot,
            () = stopped(&mut control) => return Ok(()),
            () = self.core.stopping() => return Ok(()),
        };
        // It is never closed.
        let mut slot = Some(slot.map_err(|error| Error::failed(error.to_string()))?);
        loop {
            let begun = live.decide(|run, changes| {
                if run.status == RunStatus::Queued {
                    run.status = RunStatus::Running;
                    run.started_at.get_or_insert_with(clock::wall);
                    changes.push(RunChange::Started(run.status));
                }
                Ok(())
            });
            begun.await?;
            match self.run_once(live, &mut slot).await? {
                End::Replay => {}
                End::Stopped | End::Daemon => return Ok(()),
                End::TimedOut => {
                    let seconds = live.look(|run| run.limits.run_timeout_seconds);
                    let error = format!("LimitExceeded: the run took longer than {seconds} s");
                    self.fail(live, &error).await;
                    return Ok(());
                }
                End::Finished(Err(error)) => {
                    self.fail(live, &error.to_string()).await;
                    return Ok(());
                }
                End::Finished(Ok(finished)) => return self.complete(live, finished).await,
            }
        }
    }

    /// Runs the script once, from its beginning.
    async fn run_once(&self, live: &Arc<LiveRun>, slot: &mut Slot) -> Result<End> {
        let run = live.run();
        let (files, id) = (live.files.clone(), live.id.clone());
        let body = run.script.body.clone().unwrap_or_default();
        let prepared = blocking(move || {
            let script = Script::read(&body);
            Ok::<_, Error>((script, files.results(&id)?, files.checkpoints(&id)?))
        });
        let (script, kept, checkpoints) = prepared.await??;
        let script = script.map_err(|error| Error::failed(error.to_string()))?;
        let host: Arc<dyn Host> = Arc::new(RunHost::new(Arc::clone(live), self.dispatcher(), kept));
        let input = RunInput {
            run: run.id.clone(),
            arguments: run.arguments.clone(),
            limits: run.limits,
            checkpoints,
            path: String::new(),
        };
        let limit = Duration::from_secs(run.limits.run_timeout_seconds);
        let mut control = live.control.subscribe();
        let (mut stops, mut clock) = (live.control.subscribe(), live.control.subscribe());
        let replays = control.borrow_and_update().replays;
        Ok(tokio::select! {
            biased;
            () = stopped(&mut stops) => End::Stopped,
            () = self.core.stopping() => End::Daemon,
            () = reached(&mut control, |control| control.replays > replays) => End::Replay,
            () = run_out(&mut clock, limit) => End::TimedOut,
            never = self.lend(live, slot) => match never {},
            finished = rookery_scripts::run(script, input, host) => End::Finished(finished),
        })
    }

    /// Gives the place of a run to others while it is paused. Once it goes on it does so at once, and takes
    /// a place as soon as there is one.
    async fn lend(&self, live: &LiveRun, slot: &mut Slot) -> Infallible {
        let mut control = live.control.subscribe();
        loop {
            if slot.is_none() {
                reached(&mut control, |control| !control.is_paused).await;
                *slot = Arc::clone(&self.room().active).acquire_owned().await.ok();
            }
            reached(&mut control, |control| control.is_paused).await;
            *slot = None;
        }
    }

    async fn complete(&self, live: &Arc<LiveRun>, finished: Finished) -> Result<()> {
        let mut report = finished.report;
        secrets::hide(&mut report);
        // A pause holds agents up, not the end.
        live.decide(|run, changes| {
            if run.status.is_terminal() {
                return Ok(());
            }
            run.end(RunStatus::Completed, changes);
            run.reason = None;
            run.report = Some(report.clone());
            if !report.is_empty() {
                changes.push(output(None, &report));
            }
            changes.push(RunChange::Completed(Box::new(run.summary())));
            Ok(())
        })
        .await
        .map(drop)
    }

    async fn fail(&self, live: &Arc<LiveRun>, error: &str) {
        let error = secrets::hidden(error).into_owned();
        let failed = |run: &mut Run, changes: &mut Vec<RunChange>| {
            if run.status.is_terminal() {
                return Ok(());
            }
            run.end(RunStatus::Failed, changes);
            run.error = Some(error.clone());
            changes.push(RunChange::Failed(error.clone(), Box::new(run.summary())));
            Ok(())
        };
        if let Err(error) = live.decide(failed).await {
            tracing::error!(%error, run = live.id, "a workflow failed, and that cannot be written");
        }
    }

    fn dispatcher(&self) -> Arc<dyn Dispatch> {
        let set = self.room().dispatch.lock().clone();
        set.unwrap_or_else(|| Arc::new(super::children::ByChildren { core: self.core.detached() }))
    }
}

async fn reached(control: &mut watch::Receiver<Control>, is: impl FnMut(&Control) -> bool) {
    if control.wait_for(is).await.is_err() {
        // The run is held by whoever waits, so this cannot be.
        std::future::pending::<()>().await;
    }
}

async fn stopped(control: &mut watch::Receiver<Control>) {
    reached(control, |control| control.is_stopped).await;
}

/// Resolves when the time of a run is over; while it is paused its time does not run.
async fn run_out(control: &mut watch::Receiver<Control>, limit: Duration) {
    let mut left = limit;
    loop {
        reached(control, |control| !control.is_paused).await;
        let begun = Instant::now();
        tokio::select! {
            () = tokio::time::sleep(left) => return,
            () = reached(control, |control| control.is_paused) => {
                left = left.saturating_sub(begun.elapsed());
            }
        }
    }
}
