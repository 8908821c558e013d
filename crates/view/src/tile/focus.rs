//! Which pane lies in a direction, as a person sees it.

use super::{Rect, Tree};

/// An edge of a pane, and the direction that leads across it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// The left one.
    Left,
    /// The right one.
    Right,
    /// The upper one.
    Up,
    /// The lower one.
    Down,
}

impl Tree {
    /// The pane next to another in a direction: of those across its edge the one that faces most of it,
    /// and of equals the upper or left one. None at the edge of the room.
    pub fn neighbor(&self, terminal: u64, edge: Edge, room: Rect) -> Option<u64> {
        let from = self.area(terminal, room)?;
        let areas = self.areas(room);
        let facing = areas.iter().filter(|area| area.terminal != terminal).filter_map(|area| {
            let faced = match edge {
                Edge::Left | Edge::Right => {
                    overlap(from.row, from.rows, area.rect.row, area.rect.rows)
                }
                Edge::Up | Edge::Down => {
                    overlap(from.col, from.cols, area.rect.col, area.rect.cols)
                }
            };
            let is_across = match edge {
                Edge::Left => end(area.rect.col, area.rect.cols) + 1 == u32::from(from.col),
                Edge::Right => end(from.col, from.cols) + 1 == u32::from(area.rect.col),
                Edge::Up => end(area.rect.row, area.rect.rows) + 1 == u32::from(from.row),
                Edge::Down => end(from.row, from.rows) + 1 == u32::from(area.rect.row),
            };
            (is_across && faced > 0).then_some((faced, area.terminal))
        });
        facing
            .fold(None, |best: Option<(u32, u64)>, next| match best {
                Some(best) if best.0 >= next.0 => Some(best),
                _ => Some(next),
            })
            .map(|(_, terminal)| terminal)
    }

    /// The pane after another, from the upper left on; the first after the last.
    pub fn next(&self, terminal: u64) -> Option<u64> {
        let panes = self.terminals();
        let at = panes.iter().position(|pane| *pane == terminal)?;
        panes.get((at + 1) % panes.len()).copied()
    }
}

fn end(start: u16, length: u16) -> u32 {
    u32::from(start) + u32::from(length)
}

/// Cells that two stretches share.
fn overlap(one: u16, one_length: u16, other: u16, other_length: u16) -> u32 {
    let from = u32::from(one.max(other));
    end(one, one_length).min(end(other, other_length)).saturating_sub(from)
}
