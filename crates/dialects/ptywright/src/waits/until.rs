//! Waiting on a session for what a plugin asked for, predicates of plugins included.
//!
//! The terminal engine watches everything but predicates, at every chunk of output. A predicate sees
//! the newest screen whenever there is one, so what flashes by between two looks is not shown to it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rookery_core::{Scene, TerminalHandle};
use rookery_model::{Error, ErrorKind};
use rookery_plugins::Verdict;
use rookery_term::{
    Detail, Evidence, Matched as Moment, Matcher as Condition, Snapshot,
    matcher::{Facts, TRANSCRIPT_TAIL},
};
use rookery_watch::{Adapters, Observation};
use rookery_wire::rpc::RpcError;
use tokio::time::{sleep, sleep_until};

use crate::{
    errors::{self, Origin},
    wire::{
        evidence::{Judged, Matched},
        matcher::{Matcher, Predicate},
    },
};

/// Changes within this time are judged together.
const PACE: Duration = Duration::from_millis(4);

/// What stands for something found that is a secret.
const HIDDEN: &str = "[REDACTED]";

/// What was waited for.
pub(crate) struct Found {
    /// The session at that moment.
    pub(crate) observation: Observation,
    evidence: Evidence,
    predicates: Vec<Predicate>,
    verdicts: Vec<Verdict>,
}

impl Found {
    /// Which branch of the matcher held, without secrets unless they were asked for.
    pub(crate) fn matched(&self, redact: Option<bool>) -> Matched {
        let hide = |found: String| self.hide(found, redact);
        let judged = |number: u32| {
            let index = number as usize;
            let (predicate, verdict) = (self.predicates.get(index)?, self.verdicts.get(index)?);
            let (evidence, capture) = (verdict.evidence.clone(), verdict.capture.clone());
            Some(Judged { predicate, evidence, capture })
        };
        Matched::new(self.evidence.clone(), &judged, &hide)
    }
}

impl Found {
    /// What was found, if it may be shown. Alone, a secret no longer looks like one; so only what
    /// stands in a text without its secrets is shown.
    fn hide(&self, found: String, redact: Option<bool>) -> String {
        if redact == Some(false) {
            return found;
        }
        let policy = errors::default_policy();
        let (screen, tail) = (self.observation.snapshot.plain_text(), &self.observation.transcript);
        let above = self.observation.snapshot.above();
        let is_shown = policy.redact_below(above, screen).contains(&found)
            || policy.redact_piece(tail.context(), tail.text()).contains(&found);
        let is_quoted = screen.contains(&found) || tail.text().contains(&found);
        if is_shown || !is_quoted { policy.redact(&found).into_owned() } else { HIDDEN.to_owned() }
    }
}

/// Waits until the matcher holds.
pub(crate) async fn until(
    adapters: &Arc<Adapters>,
    session: &TerminalHandle,
    matcher: Matcher,
    timeout: Duration,
) -> Result<Found, RpcError> {
    let (condition, predicates) = matcher.compiled().await?;
    let fail = |error: Error| errors::rpc(Origin::Io, &error);
    if predicates.is_empty() {
        let waited = session.wait(condition.clone(), Detail::Text, timeout).await.map_err(fail)?;
        return Ok(found_by_engine(session, &condition, waited.matched));
    }
    let (started, given_up) = (Instant::now(), CancelFlag::default());
    let watch = Watch { adapters, session, condition, predicates, started, given_up: &given_up };
    // A judge that takes its time, or has others before us, does not make the wait longer.
    match tokio::time::timeout(timeout.max(PACE), watch.run(timeout)).await {
        Ok(found) => found.map_err(fail),
        Err(_) => Err(errors::timed_out()),
    }
}

/// Set when the wait is over, so that predicates that queue up need not be asked.
#[derive(Default)]
struct CancelFlag(Arc<AtomicBool>);

impl Drop for CancelFlag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn found_by_engine(session: &TerminalHandle, condition: &Condition, moment: Moment) -> Found {
    let facts = Seen {
        snapshot: &moment.snapshot,
        tail: moment.transcript_tail.text(),
        stable_for: moment.stable_for,
        has_exited: moment.exited,
        verdicts: &[],
    };
    let evidence = condition.evidence(&facts).unwrap_or(Evidence::All(Vec::new()));
    let stable_ms = Some(millis(moment.stable_for));
    let observation = Observation {
        snapshot: moment.snapshot,
        transcript: moment.transcript_tail,
        chars_written: moment.chars_written,
        shell_marks: session.scene().shell_marks,
        has_exited: moment.exited,
        stable_ms,
    };
    Found { observation, evidence, predicates: Vec::new(), verdicts: Vec::new() }
}

/// A wait that needs plugins to judge.
struct Watch<'a> {
    adapters: &'a Arc<Adapters>,
    session: &'a TerminalHandle,
    condition: Condition,
    predicates: Vec<Predicate>,
    started: Instant,
    given_up: &'a CancelFlag,
}

impl Watch<'_> {
    async fn run(mut self, timeout: Duration) -> Result<Found, Error> {
        let mut progress = self.session.progress();
        let condition = self.condition.clone();
        let mut engine = std::pin::pin!(self.session.wait(condition, Detail::Text, timeout));
        let mut last_output = self.started;
        let mut sequence = progress.borrow().sequence;
        loop {
            let now = *progress.borrow_and_update();
            if now.sequence != sequence {
                sequence = now.sequence;
                last_output = Instant::now();
            }
            if let Some(found) = self.look(last_output.elapsed()).await {
                return Ok(found);
            }
            let due = self.next_due(last_output);
            tokio::select! {
                waited = &mut engine => return match waited {
                    Ok(waited) => Ok(found_by_engine(self.session, &self.condition, waited.matched)),
                    // The end of the process may be what a predicate waits for.
                    Err(error) if error.kind() == ErrorKind::Closed => {
                        self.look(last_output.elapsed()).await.ok_or(error)
                    }
                    Err(error) => Err(error),
                },
                changed = progress.changed() => {
                    if changed.is_err() {
                        return Err(Error::closed("the terminal is closed"));
                    }
                    // A program that never stops printing must not keep its judge busy all the time.
                    sleep(PACE).await;
                }
                () = sleep_until(due.unwrap_or_else(Instant::now).into()), if due.is_some() => {}
            }
        }
    }

    /// When silence alone could make it true, if that is still to come.
    fn next_due(&self, last_output: Instant) -> Option<Instant> {
        let dues = self.condition.stable_times().into_iter().map(|min| last_output + min);
        dues.filter(|due| *due > Instant::now()).min()
    }

    /// Has everything judged as it is now.
    async fn look(&mut self, stable_for: Duration) -> Option<Found> {
        let scene = self.session.scene();
        let verdicts = self.judge(&scene, stable_for).await;
        let tail = scene.transcript.last_chars(TRANSCRIPT_TAIL);
        let evidence = self.condition.evidence(&Seen {
            snapshot: &scene.snapshot,
            tail: tail.text(),
            stable_for,
            has_exited: scene.has_exited,
            verdicts: &verdicts,
        })?;
        let observation = Observation {
            transcript: tail,
            stable_ms: Some(millis(stable_for)),
            ..Observation::from(scene)
        };
        let predicates = std::mem::take(&mut self.predicates);
        Some(Found { observation, evidence, predicates, verdicts })
    }

    async fn judge(&self, scene: &Scene, stable_for: Duration) -> Vec<Verdict> {
        let adapters = Arc::clone(self.adapters);
        let markers = adapters.marks().of(self.session.id());
        let (predicates, scene) = (self.predicates.clone(), scene.clone());
        let given_up = Arc::clone(&self.given_up.0);
        let judging = tokio::task::spawn_blocking(move || {
            let screen = scene.snapshot.plain_text();
            let judge = |predicate: &Predicate| {
                let null = serde_json::Value::Null;
                adapters.plugins().judge(
                    &predicate.plugin,
                    &predicate.predicate,
                    &rookery_plugins::PredicateInput {
                        screen,
                        transcript: scene.transcript.text(),
                        sequence: scene.snapshot.sequence,
                        stable_ms: millis(stable_for),
                        process_exited: scene.has_exited,
                        markers: &markers,
                        cursor: scene.chars_written,
                        params: predicate.params.as_ref().unwrap_or(&null),
                    },
                    &|| !given_up.load(Ordering::Acquire),
                )
            };
            predicates.iter().map(judge).collect()
        });
        judging.await.unwrap_or_default()
    }
}

/// What a condition is judged by, once it is seen.
struct Seen<'a> {
    snapshot: &'a Snapshot,
    tail: &'a str,
    stable_for: Duration,
    has_exited: bool,
    verdicts: &'a [Verdict],
}

impl Facts for Seen<'_> {
    fn screen_text(&self) -> &str {
        self.snapshot.plain_text()
    }
    fn transcript_tail(&self) -> &str {
        self.tail
    }
    fn cursor(&self) -> (u16, u16) {
        (self.snapshot.cursor.row, self.snapshot.cursor.col)
    }
    fn stable_for(&self) -> Duration {
        self.stable_for
    }
    fn has_exited(&self) -> bool {
        self.has_exited
    }
    fn outside(&self, number: u32) -> bool {
        self.verdicts.get(number as usize).is_some_and(|verdict| verdict.matched)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
