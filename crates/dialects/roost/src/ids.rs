//! Domain ids as this dialect writes them. On the wire 0 means none.

use rookery_model::{EventSeq, ProjectId, TerminalId};

use crate::wire::Int64;

/// Ids are counted up from 1, so that they never reach the end of the wire's range.
fn number(raw: u64) -> Int64 {
    Int64(i64::try_from(raw).unwrap_or(i64::MAX))
}

impl From<TerminalId> for Int64 {
    fn from(id: TerminalId) -> Self {
        number(id.get())
    }
}

impl From<ProjectId> for Int64 {
    fn from(id: ProjectId) -> Self {
        number(id.get())
    }
}

impl From<EventSeq> for Int64 {
    fn from(seq: EventSeq) -> Self {
        number(seq.get())
    }
}

impl Int64 {
    /// The number as an id of the domain; none for 0 and below, which nothing has.
    pub(crate) fn raw_id(self) -> Option<u64> {
        u64::try_from(self.0).ok().filter(|raw| *raw != 0)
    }
}
