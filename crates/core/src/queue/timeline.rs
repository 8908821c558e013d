//! The timeline: what happened in sessions, in few words, the newest thousand lines of it.

use rookery_model::{Record, Related, SessionId, TimelineItem, TimelineItemId, TimelineKind};

use crate::clock;
use crate::rooms::Queue;
use crate::world::Tx;
use crate::world::draw;

/// Lines that are kept.
pub(crate) const MAX_LINES: usize = 1_000;

impl Queue {
    /// The newest lines, of one session or of all; newest first.
    pub fn timeline(&self, session: Option<SessionId>, limit: usize) -> Vec<TimelineItem> {
        let world = self.core.look();
        let lines = world.timeline.values().rev();
        let wanted =
            lines.filter(|line| session.is_none_or(|session| line.session == Some(session)));
        wanted.take(limit).cloned().collect()
    }
}

impl Tx<'_> {
    /// Writes a line, of a session or of none.
    pub(crate) fn log_line(
        &mut self,
        session: impl Into<Option<SessionId>>,
        kind: TimelineKind,
        title: impl Into<String>,
        related: Option<Related>,
    ) {
        let line = TimelineItem {
            id: TimelineItemId::new(draw()),
            session: session.into(),
            created_at: clock::wall(),
            order: self.world.next_order(),
            kind,
            title: title.into(),
            related,
        };
        self.keep(Record::Timeline(line));
    }
}
