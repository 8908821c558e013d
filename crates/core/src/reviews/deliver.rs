//! What was said about changes goes back to whoever made them: sent to the thread, or typed into the
//! terminal in which the agent runs.

use std::path::Path;

use rookery_agent::turn::Message;
use rookery_model::{
    AcceptedWork, Error, ErrorKind, Event, Record, Related, Result, Review, ReviewComment,
    ReviewId, ReviewedPlan, SessionId, TerminalId, TimelineKind,
};

use crate::rooms::Reviews;
use crate::sessions::SessionHome;
use crate::terminals::{TerminalHandle, drawn};
use crate::threads::NewTurn;

/// Programs that would run what is typed as a command.
const SHELLS: &[&str] =
    &["sh", "bash", "zsh", "fish", "dash", "ksh", "mksh", "ash", "nu", "elvish"];

impl Reviews {
    /// Tells the agent what was said about its changes and has not received yet: the session that is
    /// named, else the one that the review belongs to, else the only agent in its work tree. With
    /// nothing new to tell, nothing happens.
    ///
    /// # Errors
    /// Not found if review or session are gone, conflict if no agent runs in the terminal, or none or
    /// more than one in the work tree.
    pub async fn deliver(&self, id: ReviewId, to: Option<SessionId>) -> Result<Review> {
        // Two at once would tell everything twice.
        let _one = self.core.inner.reviews.deliveries.lock().await;
        let review = self.get(id)?;
        if let Some(plan) = &review.plan {
            return self.deliver_plan(&review, plan).await;
        }
        let fresh: Vec<&ReviewComment> =
            review.comments.iter().filter(|comment| !comment.is_delivered).collect();
        if fresh.is_empty() {
            return Ok(review);
        }
        let session = self.core.sessions().addressee(&review, to).await?;
        let text = words(&review, &fresh);
        match session.home {
            SessionHome::Thread(thread) => {
                let message = Message { text, ..Message::default() };
                self.core
                    .threads()
                    .start_turn(thread, NewTurn { message, ..NewTurn::default() })
                    .await?;
            }
            SessionHome::Terminal(terminal) => self.type_to_agent(terminal, &text).await?,
        }
        let count = fresh.len();
        self.core
            .transact_durably(|tx| {
                let mut review = tx.review(id)?;
                let fresh = review.comments.iter_mut().filter(|comment| !comment.is_delivered);
                fresh.take(count).for_each(|comment| comment.is_delivered = true);
                tx.keep(Record::Review(review.clone()));
                tx.done(id.get());
                let related = Some(Related::Review(id));
                let line = "Review comments delivered";
                tx.log_line(session.id, TimelineKind::ReviewUpdated, line, related);
                tx.emit(Event::ReviewChanged(Box::new(review.clone())));
                Ok(review)
            })
            .await
    }

    /// Begins a turn in which the agent hears what it has not received of its plan.
    async fn deliver_plan(&self, review: &Review, plan: &ReviewedPlan) -> Result<Review> {
        if !plan.undelivered.is_empty() {
            let text = format!("Take up what was said about your plan ({}).", review.summary);
            let message = Message { text, ..Message::default() };
            let new = NewTurn { message, ..NewTurn::default() };
            self.core.threads().start_turn(plan.thread, new).await?;
        }
        self.get(review.id)
    }

    /// Accepts to do the same, durably, and does it in the background; that it did not work becomes
    /// an item of the queue. False, and nothing happens, if the review is that of a work tree in which
    /// no agent could be notified.
    ///
    /// # Errors
    /// If it cannot be accepted; then nothing happens.
    pub async fn deliver_soon(&self, id: ReviewId) -> Result<bool> {
        let review = self.get(id)?;
        if review.place.tree().is_some()
            && self.core.sessions().addressee(&review, None).await.is_err()
        {
            return Ok(false);
        }
        self.core.sessions().accept(AcceptedWork::Delivery(id)).await?;
        let core = self.core.clone();
        let work = async move {
            match (core.reviews().deliver(id, None).await, core.reviews().get(id)) {
                (Err(error), Ok(review)) => {
                    let title = "Review not delivered";
                    let session = review.place.session();
                    core.checkpoints()
                        .file_failure_of(session, title, &error, Some(id.get()))
                        .await;
                }
                _ => core.sessions().give_up(id.get()),
            }
        };
        self.core.inner.background.spawn_on(work, &self.core.inner.runtime);
        Ok(true)
    }

    /// Pastes a text into a terminal in which an agent runs, and sends it off.
    async fn type_to_agent(&self, id: TerminalId, text: &str) -> Result<()> {
        let handle = self.core.terminals().get(id)?;
        if self.is_at_prompt(&handle)? {
            let message = "no agent runs in that terminal; start one and deliver again";
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        let is_bracketed = handle.modes().bracketed_paste;
        let text = if is_bracketed { text.to_owned() } else { text.replace('\n', " ") };
        let progress = handle.progress();
        handle.paste(&text)?;
        drawn(progress).await;
        handle.write_all(b"\r").await
    }

    /// Whether a shell would take what is typed for a command.
    fn is_at_prompt(&self, handle: &TerminalHandle) -> Result<bool> {
        let terminal = self.core.terminals().describe(handle.id())?;
        let program = terminal.launch.argv.first().map_or("sh", String::as_str);
        let name = Path::new(program).file_name().map(|name| name.to_string_lossy());
        let name = name.as_deref().unwrap_or_default().trim_start_matches('-').to_owned();
        Ok(SHELLS.contains(&name.as_str()) && !handle.has_foreground_job())
    }
}

/// The comments as one message.
fn words(review: &Review, comments: &[&ReviewComment]) -> String {
    let mut text = format!("Review of your changes ({}):", review.summary);
    for comment in comments {
        let place = match (&comment.path, comment.line) {
            (Some(path), Some(line)) => format!("{path}:{line}: "),
            (Some(path), None) => format!("{path}: "),
            (None, _) => String::new(),
        };
        text.push_str(&format!("\n- {place}{}", comment.text));
    }
    text
}
