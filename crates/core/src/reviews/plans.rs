//! Plans as reviews: a plan that an agent asks to carry out, or a change that it wanted to make while it
//! planned. The request of a plan and its review are settled together, from wherever that is done.

use rookery_model::{
    Answer, Error, PlanAnchor, PlanKey, PlanRewrite, PlanStage, Result, Review, ReviewComment,
    ReviewId, ReviewStatus, ThreadId, TurnId,
};

use super::plan_stages::{PlanReview, no_plan, undecided};
use super::{plan_text, plan_words};
use crate::clock;
use crate::log::PlanChange;
use crate::requests::decisions;
use crate::rooms::Reviews;

/// How often one plan may be replaced.
const MAX_REWRITES: usize = 32;
/// The bytes of a comment or a plan that a client sends.
const MAX_TEXT: usize = 1 << 20;
/// Comments on one plan at most.
const MAX_COMMENTS: usize = 1_000;

/// A change that an agent wanted to make while it planned.
#[derive(Clone, Debug)]
pub(crate) struct BlockedEdit {
    pub(crate) thread: ThreadId,
    pub(crate) turn: TurnId,
    pub(crate) key: PlanKey,
    pub(crate) tool: String,
    /// The files that it names.
    pub(crate) paths: Vec<String>,
    /// What would change, as a diff.
    pub(crate) preview: Option<String>,
}

impl Reviews {
    /// The review of a plan.
    pub fn plan(&self, thread: ThreadId, key: &PlanKey) -> Option<Review> {
        self.core.look().plan_review(thread, key).cloned()
    }

    /// Keeps what an agent wanted to change while it planned, to be looked at.
    pub(crate) async fn block(&self, edit: BlockedEdit) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                tx.world.thread(edit.thread)?;
                if tx.world.plan_review(edit.thread, &edit.key).is_none() {
                    let plan = plan_words::blocked(&edit);
                    tx.open_plan(edit.thread, edit.turn, edit.key, plan);
                }
                Ok(())
            })
            .await
    }

    /// Comments on a plan; the agent hears it now, or when its next turn begins.
    ///
    /// # Errors
    /// If there is no such plan, nothing is said, or what it is said of is not there.
    pub async fn comment_plan(
        &self,
        thread: ThreadId,
        key: &PlanKey,
        anchor: PlanAnchor,
        body: String,
        by: &str,
    ) -> Result<(Review, usize)> {
        if body.trim().is_empty() {
            return Err(Error::invalid("body", "body must not be empty"));
        }
        check_length("body", &body)?;
        let anchored = self.anchored(thread, key, &anchor).await?;
        let words = plan_words::comment(&body, anchored.as_deref());
        self.core
            .transact_durably(|tx| {
                let mut review = tx.plan_review(thread, key)?;
                if review.head.comments.len() >= MAX_COMMENTS {
                    let message = format!("a review has at most {MAX_COMMENTS} comments");
                    return Err(Error::invalid("body", message));
                }
                let (path, line) = match &anchor {
                    PlanAnchor::File { path, first, .. } => (Some(path.clone()), *first),
                    _ => (None, None),
                };
                let is_delivered = tx.message_agent(&mut review.plan, words);
                let at = clock::wall();
                let comment = ReviewComment {
                    path,
                    line,
                    text: body,
                    by: by.to_owned(),
                    at,
                    is_delivered,
                    anchor: Some(anchor),
                };
                review.head.comments.push(comment.clone());
                let index = review.head.comments.len() - 1;
                let of = tx.keep_plan(&mut review);
                tx.announce(thread, PlanChange::Commented { of, index, comment });
                Ok((review.whole(), index))
            })
            .await
    }

    /// Replaces a plan by another; the agent hears it now, or when its next turn begins.
    ///
    /// # Errors
    /// If there is no such plan, or it was decided on.
    pub async fn rewrite_plan(
        &self,
        thread: ThreadId,
        key: &PlanKey,
        markdown: &str,
    ) -> Result<(Review, usize)> {
        let member = "replacement_markdown";
        if markdown.trim().is_empty() {
            return Err(Error::invalid(member, format!("{member} must not be empty")));
        }
        check_length(member, markdown)?;
        let markdown = plan_text::capped(markdown);
        self.core
            .transact_durably(|tx| {
                let mut review = tx.undecided(thread, key)?;
                if review.plan.rewrites.len() >= MAX_REWRITES {
                    let message = format!("a plan is replaced at most {MAX_REWRITES} times");
                    return Err(Error::invalid(member, message));
                }
                tx.message_agent(&mut review.plan, plan_words::rewritten(&markdown));
                let rewrite = PlanRewrite { markdown: markdown.clone(), at: clock::wall() };
                let plan = &mut review.plan;
                plan.rewrites.push(rewrite.clone());
                let index = plan.rewrites.len() - 1;
                plan.steps = plan_text::steps(&markdown);
                plan.title = plan_text::title(&markdown);
                review.head.summary.clone_from(&plan.title);
                // What a person approves is what is carried out, from wherever they do.
                if let PlanKey::Request(request) = plan.key {
                    tx.reword_plan(request, markdown.clone());
                }
                plan.markdown = markdown;
                let of = tx.set_stage(&mut review, PlanStage::Rewritten, None);
                tx.announce(thread, PlanChange::Rewritten { of, index, rewrite });
                Ok((review.whole(), index))
            })
            .await
    }

    /// Allows a plan to be carried out, and answers its request if it waits.
    ///
    /// # Errors
    /// If there is no such plan, it was decided on, or an agent's own program says so.
    pub async fn approve_plan(&self, thread: ThreadId, key: &PlanKey, by: &str) -> Result<()> {
        self.decide_plan(thread, key, Answer::Approved { remember: false }, by).await
    }

    /// Refuses a plan, and answers its request if it waits. The agent hears the reason, if one is given.
    ///
    /// # Errors
    /// If there is no such plan, it was decided on, or an agent's own program says so.
    pub async fn reject_plan(
        &self,
        thread: ThreadId,
        key: &PlanKey,
        reason: Option<String>,
        by: &str,
    ) -> Result<()> {
        if let Some(reason) = &reason {
            check_length("reason", reason)?;
        }
        let message = reason.filter(|reason| !reason.trim().is_empty());
        self.decide_plan(thread, key, Answer::Denied { message }, by).await
    }

    /// Puts a plan off, or takes it up again; it still waits.
    pub(super) async fn put_off_plan(&self, id: ReviewId, status: ReviewStatus) -> Result<Review> {
        self.core
            .transact_durably(|tx| {
                let mut review = PlanReview::of(&tx.review(id)?).ok_or_else(no_plan)?;
                undecided(&review.plan)?;
                review.head.status = status;
                tx.keep_plan(&mut review);
                Ok(review.whole())
            })
            .await
    }

    pub(super) async fn decide_plan(
        &self,
        thread: ThreadId,
        key: &PlanKey,
        answer: Answer,
        by: &str,
    ) -> Result<()> {
        self.core.refuse_agents()?;
        let (turn, waiting) = {
            let world = self.core.look();
            let review = world.plan_review(thread, key).ok_or_else(no_plan)?;
            let plan = review.plan.as_deref().ok_or_else(no_plan)?;
            undecided(plan)?;
            (plan.turn, world.waiting_plan(thread, plan.turn))
        };
        if let Some(request) = waiting {
            // The one object that every dialect shows: its review goes with it.
            let resolved = self.core.requests().resolve(request, answer.clone(), by).await?;
            resolved.or_error(request)?;
            if *key == PlanKey::Request(request) {
                return Ok(());
            }
        }
        let is_waiting = waiting.is_some();
        self.core
            .transact_durably(|tx| {
                let review = tx.undecided(thread, key)?;
                tx.decider = self.core.caller.decider();
                tx.settle_plan_review(review, &answer, is_waiting);
                if let Some(review) = tx.world.plan_review(thread, key).cloned() {
                    let mode = tx.world.mode_of_turn(thread, turn);
                    if let Some(decision) = decisions::of_review(&review, mode, by) {
                        tx.record(decision);
                    }
                }
                Ok(())
            })
            .await
    }

    /// The text that a comment is about, where it can be determined.
    async fn anchored(
        &self,
        thread: ThreadId,
        key: &PlanKey,
        anchor: &PlanAnchor,
    ) -> Result<Option<String>> {
        let review = self.plan(thread, key).ok_or_else(no_plan)?;
        let plan = review.plan.as_deref().ok_or_else(no_plan)?;
        Ok(match anchor {
            PlanAnchor::Whole => None,
            PlanAnchor::Step(id) => {
                let step = plan.steps.iter().find(|step| step.id == *id);
                let unknown = || Error::invalid("anchor", "anchor names no step of the plan");
                let step = step.ok_or_else(unknown)?;
                Some(format!("step {:?}", step.title))
            }
            PlanAnchor::Lines(first, last) => {
                let unknown = || Error::invalid("anchor", "anchor names no lines of the plan");
                let lines = plan_text::lines(&plan.markdown, *first, *last).ok_or_else(unknown)?;
                Some(format!("the plan:\n{}", plan_text::quoted(&lines)))
            }
            PlanAnchor::File { path, first, last } => {
                if path.trim().is_empty() {
                    return Err(Error::invalid("anchor", "anchor names no file"));
                }
                let named = plan_words::lines_of(path, *first, *last);
                let lines = match first {
                    Some(first) => self.file_lines(thread, path, *first, *last).await,
                    None => None,
                };
                Some(match lines {
                    Some(lines) => format!("{named}:\n{}", plan_text::quoted(&lines)),
                    None => named,
                })
            }
            PlanAnchor::Hunk(id) => {
                let hunk = self.core.file_changes().hunk(thread, id).await;
                let unknown = || Error::invalid("anchor", "anchor names no hunk of the thread");
                Some(plan_words::hunk(&hunk.ok_or_else(unknown)?))
            }
        })
    }

    /// Lines of a file where the thread's tools see it; none if they cannot be read.
    async fn file_lines(
        &self,
        thread: ThreadId,
        path: &str,
        first: u32,
        last: Option<u32>,
    ) -> Option<String> {
        let thread = self.core.threads().get(thread)?.thread;
        let context = self.core.threads().file_context(&thread).await.ok()?;
        let last = last.unwrap_or(first);
        rookery_agent::tools::read_lines(context, path.to_owned(), first, last).await
    }
}

fn check_length(member: &'static str, text: &str) -> Result<()> {
    match text.len() > MAX_TEXT {
        true => Err(Error::invalid(member, format!("{member} is longer than {MAX_TEXT} bytes"))),
        false => Ok(()),
    }
}
