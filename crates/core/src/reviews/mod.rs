//! Reviews: changes to be looked at, and the comments on them.

mod deliver;
mod plan_stages;
mod plan_text;
mod plan_words;
mod plans;
mod table;

use rookery_model::{
    Answer, Category, CheckpointId, Differences, Error, Event, PlanAnchor, Record, Related, Result,
    Review, ReviewComment, ReviewId, ReviewStatus, ReviewedPlan, Source, TimelineKind, WorkPlace,
};

use crate::clock;
use crate::queue::NewItem;
use crate::requests::decisions;
use crate::rooms::Reviews;
use crate::world::Tx;
use crate::world::draw;

pub(crate) use plans::BlockedEdit;
pub(crate) use table::ReviewTable;

/// Comments of one review at most.
const MAX_COMMENTS: usize = 1_000;

/// A review to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewReview {
    /// Where the changes are.
    pub place: WorkPlace,
    /// The snapshot they are in.
    pub checkpoint: Option<CheckpointId>,
    /// What it is about.
    pub summary: String,
    /// What differs; taken from the checkpoint if nothing is said.
    pub differences: Differences,
}

/// A comment to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewComment {
    /// The file, if it is about one.
    pub path: Option<String>,
    /// The line of the new side, if it is about one.
    pub line: Option<u32>,
    /// The comment.
    pub text: String,
}

pub(crate) fn is_open(review: &Review) -> bool {
    review.status != ReviewStatus::Approved
}

/// What belongs to reviews alone.
#[derive(Default)]
pub(crate) struct Room {
    /// Held while comments go to an agent.
    deliveries: tokio::sync::Mutex<()>,
}

impl Reviews {
    /// Asks for a review.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub async fn request(&self, new: NewReview) -> Result<Review> {
        self.core.check_place(&new.place)?;
        self.core.transact_durably(|tx| Ok(tx.ask_review(new, Source::Report))).await
    }

    /// All reviews, newest first.
    pub fn list(&self) -> Vec<Review> {
        let mut reviews: Vec<Review> = self.core.look().reviews.values().cloned().collect();
        reviews.sort_by_key(|review| std::cmp::Reverse((review.created_at, review.id)));
        reviews
    }

    /// One review.
    ///
    /// # Errors
    /// If there is none of this id.
    pub fn get(&self, id: ReviewId) -> Result<Review> {
        let world = self.core.look();
        world.reviews.get(&id).cloned().ok_or_else(|| no_review(id))
    }

    /// Sets the status of a review, also to the one it has.
    ///
    /// # Errors
    /// If there is no such review, an agent's own program says so, or that cannot be kept.
    pub async fn set_status(&self, id: ReviewId, status: ReviewStatus, by: &str) -> Result<Review> {
        self.core.refuse_agents()?;
        if let Some(plan) = self.get(id)?.plan {
            return self.set_plan_status(id, &plan, status, by).await;
        }
        self.core
            .transact_durably(|tx| {
                let mut review = tx.review(id)?;
                let is_news = review.status != status;
                review.status = status;
                tx.keep(Record::Review(review.clone()));
                tx.follow_review(&review);
                let mode = tx.world.mode;
                let decision = decisions::of_review(&review, mode, by).filter(|_| is_news);
                if let Some(decision) = decision {
                    tx.decider = self.core.caller.decider();
                    tx.record(decision);
                }
                tx.emit(Event::ReviewChanged(Box::new(review.clone())));
                Ok(review)
            })
            .await
    }

    /// Adds comments to a review. They reach the agent by [`Reviews::deliver`].
    ///
    /// # Errors
    /// If there is no such review, it has too many comments, or they cannot be kept.
    pub async fn comment(
        &self,
        id: ReviewId,
        comments: Vec<NewComment>,
        by: &str,
    ) -> Result<Review> {
        if let Some(plan) = self.get(id)?.plan {
            return self.comment_on_plan(id, &plan, comments, by).await;
        }
        self.core
            .transact_durably(|tx| {
                let mut review = tx.review(id)?;
                if review.comments.len() + comments.len() > MAX_COMMENTS {
                    let message = format!("a review has at most {MAX_COMMENTS} comments");
                    return Err(Error::invalid("comments", message));
                }
                let at = clock::wall();
                review.comments.extend(comments.into_iter().map(|comment| {
                    let NewComment { path, line, text } = comment;
                    let by = by.to_owned();
                    ReviewComment { path, line, text, by, at, is_delivered: false, anchor: None }
                }));
                tx.keep(Record::Review(review.clone()));
                tx.emit(Event::ReviewChanged(Box::new(review.clone())));
                Ok(review)
            })
            .await
    }
}

impl Reviews {
    /// A decision on a plan settles the plan.
    async fn set_plan_status(
        &self,
        id: ReviewId,
        plan: &ReviewedPlan,
        status: ReviewStatus,
        by: &str,
    ) -> Result<Review> {
        let answer = match status {
            ReviewStatus::Approved => Answer::Approved { remember: false },
            ReviewStatus::ChangesRequested => Answer::Denied { message: None },
            ReviewStatus::Open | ReviewStatus::Deferred => {
                return self.put_off_plan(id, status).await;
            }
        };
        self.decide_plan(plan.thread, &plan.key, answer, by).await?;
        self.get(id)
    }

    async fn comment_on_plan(
        &self,
        id: ReviewId,
        plan: &ReviewedPlan,
        comments: Vec<NewComment>,
        by: &str,
    ) -> Result<Review> {
        for NewComment { path, line, text } in comments {
            let anchor = match path {
                Some(path) => PlanAnchor::File { path, first: line, last: line },
                None => PlanAnchor::Whole,
            };
            self.comment_plan(plan.thread, &plan.key, anchor, text, by).await?;
        }
        self.get(id)
    }
}

impl Tx<'_> {
    pub(crate) fn review(&self, id: ReviewId) -> Result<Review> {
        self.world.reviews.get(&id).cloned().ok_or_else(|| no_review(id))
    }

    pub(crate) fn ask_review(&mut self, new: NewReview, source: Source) -> Review {
        let NewReview { place, checkpoint, summary, mut differences } = new;
        let session = place.session();
        let known = checkpoint.and_then(|id| self.world.checkpoints.get(&id));
        if let Some(known) = known {
            if differences.files.is_empty() {
                differences.files.clone_from(&known.differences.files);
            }
            differences.stat = differences.stat.or(known.differences.stat);
            if differences.tests.is_none() {
                differences.tests.clone_from(&known.differences.tests);
            }
        }
        let review = Review {
            id: ReviewId::new(draw()),
            place,
            checkpoint,
            created_at: clock::wall(),
            summary,
            differences,
            status: ReviewStatus::Open,
            comments: Vec::new(),
            plan: None,
        };
        let related = Some(Related::Review(review.id));
        self.keep(Record::Review(review.clone()));
        self.file(NewItem {
            session,
            related,
            category: Category::ReviewRequested,
            title: "Review requested".to_owned(),
            subtitle: Some(review.summary.clone()),
            source,
        });
        self.log_line(session, TimelineKind::ReviewRequested, "Review requested", related);
        self.emit(Event::ReviewChanged(Box::new(review.clone())));
        review
    }

    /// What the new status of a review means for queue and timeline.
    fn follow_review(&mut self, review: &Review) {
        let related = Related::Review(review.id);
        let again = |category, title: &str| NewItem {
            session: review.place.session(),
            related: Some(related),
            category,
            title: title.to_owned(),
            subtitle: Some(review.summary.clone()),
            source: Source::Report,
        };
        let line = match review.status {
            ReviewStatus::Open => "Review reopened",
            ReviewStatus::Approved => {
                self.resolve_related(related);
                "Review approved"
            }
            ReviewStatus::ChangesRequested => {
                self.file_once(again(Category::ReviewRequested, "Changes requested"));
                "Review changes requested"
            }
            ReviewStatus::Deferred => {
                self.file_once(again(Category::Informational, "Review deferred"));
                "Review deferred"
            }
        };
        let session = review.place.session();
        self.log_line(session, TimelineKind::ReviewUpdated, line, Some(related));
    }
}

fn no_review(id: ReviewId) -> Error {
    Error::not_found(format!("no review {id}"))
}
