//! Handoffs: work that another session is to continue.

use rookery_model::{
    Category, CheckpointId, Error, Event, Handoff, HandoffId, HandoffStatus, Record, Related,
    Result, SessionId, Source, TimelineKind, WorkPlace,
};

use crate::clock;
use crate::queue::NewItem;
use crate::rooms::Handoffs;
use crate::world::Tx;
use crate::world::draw;

/// A handoff to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHandoff {
    /// Whose work it is.
    pub from: WorkPlace,
    /// Session that takes over, if named.
    pub to: Option<SessionId>,
    /// The snapshot to go on from.
    pub checkpoint: Option<CheckpointId>,
    /// In a few words.
    pub title: String,
    /// In a few more.
    pub summary: String,
    /// What may go wrong.
    pub risks: Vec<String>,
    /// What comes next.
    pub next_actions: Vec<String>,
}

impl Handoffs {
    /// Makes a handoff.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub async fn create(&self, new: NewHandoff) -> Result<Handoff> {
        self.core.check_place(&new.from)?;
        self.core.transact_durably(|tx| Ok(tx.create_handoff(new, Source::Report))).await
    }

    /// All handoffs, newest first.
    pub fn list(&self) -> Vec<Handoff> {
        let mut handoffs: Vec<Handoff> = self.core.look().handoffs.values().cloned().collect();
        handoffs.sort_by_key(|handoff| std::cmp::Reverse((handoff.created_at, handoff.id)));
        handoffs
    }

    /// Sets the status of a handoff, also to the one it has.
    ///
    /// # Errors
    /// If there is no such handoff, or that cannot be kept.
    pub async fn set_status(&self, id: HandoffId, status: HandoffStatus) -> Result<Handoff> {
        self.core
            .transact_durably(|tx| {
                let handoff = tx.world.handoffs.get(&id);
                let mut handoff = handoff.cloned().ok_or_else(|| no_handoff(id))?;
                handoff.status = status;
                let session = handoff.to.or(handoff.from.session());
                let word = match status {
                    HandoffStatus::Pending => "Handoff pending",
                    HandoffStatus::Accepted => "Handoff accepted",
                    HandoffStatus::Resolved => "Handoff resolved",
                };
                tx.keep(Record::Handoff(handoff.clone()));
                tx.log_line(
                    session,
                    TimelineKind::HandoffUpdated,
                    word,
                    Some(Related::Handoff(id)),
                );
                if status != HandoffStatus::Pending {
                    tx.resolve_related(Related::Handoff(id));
                }
                tx.emit(Event::HandoffChanged(Box::new(handoff.clone())));
                Ok(handoff)
            })
            .await
    }
}

impl Tx<'_> {
    pub(crate) fn create_handoff(&mut self, new: NewHandoff, source: Source) -> Handoff {
        let NewHandoff { from, to, checkpoint, title, summary, risks, next_actions } = new;
        let giver = from.session();
        let handoff = Handoff {
            id: HandoffId::new(draw()),
            from,
            to,
            checkpoint,
            title,
            summary,
            risks,
            next_actions,
            created_at: clock::wall(),
            status: HandoffStatus::Pending,
        };
        let related = Some(Related::Handoff(handoff.id));
        self.keep(Record::Handoff(handoff.clone()));
        self.file(NewItem {
            session: to.or(giver),
            related,
            category: Category::Blocked,
            title: format!("Handoff: {}", handoff.title),
            subtitle: Some(handoff.summary.clone()),
            source,
        });
        self.log_line(giver, TimelineKind::HandoffCreated, "Handoff created", related);
        if let Some(to) = to {
            self.log_line(to, TimelineKind::HandoffCreated, "Handoff received", related);
        }
        self.emit(Event::HandoffChanged(Box::new(handoff.clone())));
        handoff
    }
}

fn no_handoff(id: HandoffId) -> Error {
    Error::not_found(format!("no handoff {id}"))
}
