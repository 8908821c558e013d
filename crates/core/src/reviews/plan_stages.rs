//! What becomes of a plan under review: opened, decided, carried out, dropped; within transactions.

use rookery_agent::turn::Message;
use rookery_model::{
    Answer, Asked, Asker, Differences, Error, Event, Plan, PlanKey, PlanStage, Record, RecordKind,
    Related, Request, RequestId, Result, Review, ReviewId, ReviewStatus, ReviewedPlan, SessionId,
    ThreadId, TimelineKind, TurnId,
};

use super::{plan_text, plan_words};
use crate::clock;
use crate::log::{PlanChange, PlanRef};
use crate::world::{Tx, World, draw};

/// Plans of one thread that are kept; the oldest that was decided on goes first.
const MAX_PLANS: usize = 64;

impl World {
    pub(crate) fn plan_review(&self, thread: ThreadId, key: &PlanKey) -> Option<&Review> {
        let mut plans = self.reviews.plans_of(thread);
        plans.find(|(_, plan)| plan.key == *key).map(|(review, _)| review)
    }

    /// The plan that a turn carries out.
    pub(crate) fn executing_plan(&self, thread: ThreadId, turn: TurnId) -> Option<&ReviewedPlan> {
        let found = self.plans_of(thread, turn);
        let mut executing = found.filter(|(_, plan)| plan.stage == PlanStage::Executing);
        executing.next().map(|(_, plan)| plan)
    }

    /// Whether a turn has a plan that may be carried out, and was not begun.
    pub(crate) fn has_approved_plan(&self, thread: ThreadId, turn: TurnId) -> bool {
        self.plans_of(thread, turn).any(|(_, plan)| plan.stage == PlanStage::Approved)
    }

    pub(super) fn plans_of(
        &self,
        thread: ThreadId,
        turn: TurnId,
    ) -> impl Iterator<Item = (&Review, &ReviewedPlan)> {
        self.reviews.plans_of(thread).filter(move |(_, plan)| plan.turn == turn)
    }

    /// The plan that a turn waits to be allowed to carry out.
    pub(super) fn waiting_plan(&self, thread: ThreadId, turn: TurnId) -> Option<RequestId> {
        let mut waiting = self.requests.of_thread(thread).filter(|request| {
            request.turn() == Some(turn) && matches!(request.asked, Asked::PlanExit(_))
        });
        waiting.next().map(|request| request.id)
    }
}

impl Tx<'_> {
    /// A plan waits to be allowed: it gets its review.
    pub(crate) fn review_request(&mut self, request: &Request) {
        let (Asked::PlanExit(plan), Asker::Turn { thread, turn }) = (&request.asked, request.asker)
        else {
            return;
        };
        let drafted = drafted(plan);
        self.open_plan(thread, turn, PlanKey::Request(request.id), drafted);
    }

    /// A request was settled: so is the review of its plan.
    pub(crate) fn settle_reviewed(&mut self, request: &Request, answer: &Answer) {
        let (Asked::PlanExit(_), Some(thread)) = (&request.asked, request.thread()) else { return };
        if let Ok(review) = self.undecided(thread, &PlanKey::Request(request.id)) {
            self.settle_plan_review(review, answer, true);
        }
    }

    /// Ends a review as its plan was decided on. `is_answered` says that the agent hears it as the answer
    /// to its request.
    pub(super) fn settle_plan_review(
        &mut self,
        mut review: PlanReview,
        answer: &Answer,
        is_answered: bool,
    ) {
        let (thread, reason) = (review.plan.thread, reason_of(answer));
        if matches!(answer, Answer::Approved { .. }) {
            if !is_answered {
                let words = plan_words::approved_later(&review.plan);
                self.message_agent(&mut review.plan, words);
            }
            let of = self.set_stage(&mut review, PlanStage::Approved, None);
            self.announce(thread, PlanChange::Approved(of));
            return;
        }
        // The words of a person reach the agent; why a request ended without one it hears itself.
        let words = match answer {
            Answer::Denied { message } => message.as_deref(),
            _ => None,
        };
        if words.is_some() || !is_answered {
            self.message_agent(&mut review.plan, plan_words::rejected(words));
        }
        let of = self.set_stage(&mut review, PlanStage::Rejected, reason.clone());
        self.announce(thread, PlanChange::Rejected { of, reason });
    }

    /// A turn begins to change files: a plan of it that may be carried out is.
    pub(crate) fn begin_plan(&mut self, thread: ThreadId, turn: TurnId) {
        self.move_plans(thread, turn, |stage| match stage {
            PlanStage::Approved => Some(PlanStage::Executing),
            _ => None,
        });
    }

    /// A turn is over, and so is what it carried out.
    pub(crate) fn complete_plans(&mut self, thread: ThreadId, turn: TurnId) {
        self.move_plans(thread, turn, |stage| match stage {
            PlanStage::Approved | PlanStage::Executing => Some(PlanStage::Completed),
            _ => None,
        });
    }

    fn move_plans(
        &mut self,
        thread: ThreadId,
        turn: TurnId,
        next: fn(PlanStage) -> Option<PlanStage>,
    ) {
        let plans = self.world.plans_of(thread, turn);
        let moved = plans.filter_map(|(review, plan)| {
            let stage = next(plan.stage)?;
            Some((PlanReview::of(review)?, stage))
        });
        for (mut review, stage) in moved.collect::<Vec<_>>() {
            self.set_stage(&mut review, stage, None);
        }
    }

    /// What the agent of a thread has not received yet, which it now is.
    pub(crate) fn take_undelivered(&mut self, thread: ThreadId) -> Vec<Message> {
        let plans = self.world.reviews.plans_of(thread);
        let waiting = plans.filter(|(_, plan)| !plan.undelivered.is_empty());
        let waiting: Vec<PlanReview> =
            waiting.filter_map(|(review, _)| PlanReview::of(review)).collect();
        let mut messages = Vec::new();
        for mut review in waiting {
            let undelivered = std::mem::take(&mut review.plan.undelivered);
            messages
                .extend(undelivered.into_iter().map(|text| Message { text, ..Message::default() }));
            review.head.comments.iter_mut().for_each(|comment| comment.is_delivered = true);
            self.keep_plan(&mut review);
        }
        messages
    }

    /// A thread is gone, or some turns of it are: so are their plans.
    pub(crate) fn forget_plans(&mut self, thread: ThreadId, turns: Option<&[TurnId]>) {
        let plans = self.world.reviews.plans_of(thread);
        let gone = plans.filter(|(_, plan)| turns.is_none_or(|turns| turns.contains(&plan.turn)));
        for id in gone.map(|(review, _)| review.id).collect::<Vec<_>>() {
            self.drop_review(id);
        }
    }

    fn drop_review(&mut self, id: ReviewId) {
        self.world.reviews.remove(id);
        self.forget(RecordKind::Review, id.get());
    }

    pub(super) fn plan_review(&self, thread: ThreadId, key: &PlanKey) -> Result<PlanReview> {
        self.world.plan_review(thread, key).and_then(PlanReview::of).ok_or_else(no_plan)
    }

    pub(super) fn undecided(&self, thread: ThreadId, key: &PlanKey) -> Result<PlanReview> {
        let review = self.plan_review(thread, key)?;
        undecided(&review.plan)?;
        Ok(review)
    }

    pub(super) fn open_plan(
        &mut self,
        thread: ThreadId,
        turn: TurnId,
        key: PlanKey,
        drafted: Drafted,
    ) {
        self.make_room(thread);
        let now = clock::wall();
        let head = Review {
            id: ReviewId::new(draw()),
            place: SessionId::new(thread.get()).into(),
            checkpoint: None,
            created_at: now,
            summary: drafted.title.clone(),
            differences: Differences::default(),
            status: ReviewStatus::Open,
            comments: Vec::new(),
            plan: None,
        };
        let plan = Box::new(ReviewedPlan {
            key,
            thread,
            turn,
            stage: PlanStage::AwaitingReview,
            title: drafted.title,
            markdown: plan_text::capped(&drafted.markdown),
            steps: drafted.steps,
            rewrites: Vec::new(),
            undelivered: Vec::new(),
            updated_at: now,
        });
        let mut review = PlanReview { head, plan };
        self.keep_plan(&mut review);
        let related = Some(Related::Review(review.head.id));
        let session = review.head.place.session();
        self.log_line(session, TimelineKind::ReviewRequested, "Plan to be reviewed", related);
        // As it is kept, without secrets.
        let kept = self.world.reviews.get(&review.head.id).cloned();
        let kept = kept.unwrap_or_else(|| review.whole());
        self.announce(thread, PlanChange::Created(Box::new(kept)));
    }

    /// Lets go of the oldest plans of a thread that has too many.
    fn make_room(&mut self, thread: ThreadId) {
        let mut all: Vec<(&Review, &ReviewedPlan)> = self.world.reviews.plans_of(thread).collect();
        all.sort_by_key(|(review, plan)| (!plan.stage.is_decided(), review.created_at, review.id));
        let surplus = (all.len() + 1).saturating_sub(MAX_PLANS);
        let gone: Vec<ReviewId> = all.iter().take(surplus).map(|(review, _)| review.id).collect();
        gone.into_iter().for_each(|id| self.drop_review(id));
    }

    /// Says where a plan stands, to all who follow its thread.
    pub(super) fn set_stage(
        &mut self,
        review: &mut PlanReview,
        stage: PlanStage,
        detail: Option<String>,
    ) -> PlanRef {
        review.plan.stage = stage;
        review.head.status = match stage {
            PlanStage::Drafted | PlanStage::AwaitingReview | PlanStage::Rewritten => {
                ReviewStatus::Open
            }
            PlanStage::Approved | PlanStage::Executing | PlanStage::Completed => {
                ReviewStatus::Approved
            }
            PlanStage::Rejected => ReviewStatus::ChangesRequested,
        };
        let of = self.keep_plan(review);
        let change = PlanChange::Status { of: of.clone(), stage, detail };
        self.announce(of.thread, change);
        of
    }

    /// Keeps a plan as it is now; one of a thread that is kept nowhere, in memory.
    pub(super) fn keep_plan(&mut self, review: &mut PlanReview) -> PlanRef {
        review.plan.updated_at = clock::wall();
        let of = review.reference();
        let is_kept = self.world.thread(of.thread).is_ok_and(|state| !state.thread.ephemeral);
        match is_kept {
            true => {
                self.keep(Record::Review(review.whole()));
                self.emit(Event::ReviewChanged(Box::new(review.whole())));
            }
            false => self.world.put(Record::Review(review.whole())),
        }
        of
    }

    /// Tells the agent something: in the turn that runs, or else when the next one begins. Whether it was.
    pub(super) fn message_agent(&mut self, plan: &mut ReviewedPlan, text: String) -> bool {
        let message = Message { text: text.clone(), ..Message::default() };
        if self.steer_active(plan.thread, message) {
            return true;
        }
        plan.undelivered.push(text);
        false
    }
}

/// A review of a plan, with the plan in its hand.
#[derive(Clone, Debug)]
pub(super) struct PlanReview {
    pub(super) head: Review,
    pub(super) plan: Box<ReviewedPlan>,
}

impl PlanReview {
    pub(super) fn of(review: &Review) -> Option<Self> {
        let plan = review.plan.clone()?;
        Some(PlanReview { head: Review { plan: None, ..review.clone() }, plan })
    }

    pub(super) fn whole(&self) -> Review {
        Review { plan: Some(self.plan.clone()), ..self.head.clone() }
    }

    pub(super) fn reference(&self) -> PlanRef {
        let ReviewedPlan { key, thread, turn, .. } = &*self.plan;
        PlanRef { review: self.head.id, key: key.clone(), thread: *thread, turn: *turn }
    }
}

/// A plan that is to be reviewed.
pub(super) struct Drafted {
    pub(super) title: String,
    pub(super) markdown: String,
    pub(super) steps: Vec<rookery_model::ReviewedStep>,
}

fn drafted(plan: &Plan) -> Drafted {
    let markdown = plan_text::markdown(plan);
    let (title, steps) = (plan_text::title(&markdown), plan_text::steps(&markdown));
    Drafted { title, markdown, steps }
}

/// Why a plan may not be carried out.
fn reason_of(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Denied { message } => message.clone(),
        Answer::TimedOut => Some("no answer came in time".to_owned()),
        Answer::Cancelled => Some("the plan was withdrawn".to_owned()),
        Answer::Approved { .. } | Answer::Given(_) | Answer::Output { .. } | Answer::AtTerminal => {
            None
        }
    }
}

pub(super) fn undecided(plan: &ReviewedPlan) -> Result<()> {
    let word = match plan.stage {
        PlanStage::Drafted | PlanStage::AwaitingReview | PlanStage::Rewritten => return Ok(()),
        PlanStage::Approved | PlanStage::Executing | PlanStage::Completed => "approved",
        PlanStage::Rejected => "rejected",
    };
    Err(Error::conflict(format!("the plan was already {word}")))
}

/// What is said of a plan that is not known; which it was, the dialect knows to spell.
pub(super) fn no_plan() -> Error {
    Error::not_found("unknown plan review")
}
