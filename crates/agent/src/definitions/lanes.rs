//! Lanes: what a child is for decides what kinds of tools it has, how many work at once and for how long.

use std::time::Duration;

use rookery_model::{Lane, ToolKind};

/// One lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneRow {
    /// Which.
    pub lane: Lane,
    /// The kinds of tools that it has.
    pub kinds: &'static [ToolKind],
    /// Whether it is held to reading.
    pub is_read_only: bool,
    /// How many work at once, unless the settings say otherwise.
    pub concurrent: u32,
    /// How long one may work, unless the settings say otherwise.
    pub timeout: Duration,
}

/// All lanes.
pub const LANES: [LaneRow; 4] = [
    LaneRow {
        lane: Lane::Scout,
        kinds: &[ToolKind::Read, ToolKind::Internal],
        is_read_only: true,
        concurrent: 12,
        timeout: Duration::from_secs(120),
    },
    LaneRow {
        lane: Lane::Editor,
        kinds: &[ToolKind::Read, ToolKind::Write, ToolKind::Internal],
        is_read_only: false,
        concurrent: 4,
        timeout: Duration::from_secs(180),
    },
    LaneRow {
        lane: Lane::Reviewer,
        kinds: &[ToolKind::Read, ToolKind::Internal],
        is_read_only: true,
        concurrent: 8,
        timeout: Duration::from_secs(120),
    },
    LaneRow {
        lane: Lane::Runner,
        kinds: &[ToolKind::Exec],
        is_read_only: false,
        concurrent: 1,
        timeout: Duration::from_secs(120),
    },
];

/// The row of a lane.
pub fn lane(lane: Lane) -> &'static LaneRow {
    // The table has a row for each, in this order; a test holds it to that.
    let at = match lane {
        Lane::Scout => 0,
        Lane::Editor => 1,
        Lane::Reviewer => 2,
        Lane::Runner => 3,
    };
    &LANES[at]
}

#[cfg(test)]
mod tests {
    use rookery_model::Words as _;

    use super::*;

    #[test]
    fn every_lane_has_its_row() {
        assert_eq!(LANES.len(), Lane::WORDS.len());
        for (value, _) in Lane::WORDS {
            assert_eq!(lane(*value).lane, *value);
        }
    }
}
