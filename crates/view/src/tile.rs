//! Panes: how the tabs of a group share a room of cells.
//!
//! A tree of splits whose leaves are terminals, by number. Pure arithmetic: the same tree and the same
//! room give the same areas in every face and in the daemon.

mod focus;
#[cfg(test)]
mod tests;

pub use focus::Edge;

/// Panes of one group.
pub const MOST_PANES: usize = 16;
/// Splits above a pane.
pub const MOST_DEPTH: usize = 8;
/// The smallest pane that a split may make.
pub const LEAST: (u16, u16) = (10, 3);
/// What shares are parts of.
pub const WHOLE: u16 = 10_000;
/// Cells between neighbors.
const GAP: u16 = 1;

/// Which way a split goes: its second part is to the right, or below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Beside each other.
    Right,
    /// Above each other.
    Below,
}

/// A side of a pane, where another is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
    Above,
    Below,
}

impl Side {
    /// The split that this takes, and whether the new pane comes first.
    fn split(self) -> (Direction, bool) {
        match self {
            Side::Left => (Direction::Right, true),
            Side::Right => (Direction::Right, false),
            Side::Above => (Direction::Below, true),
            Side::Below => (Direction::Below, false),
        }
    }
}

/// A rectangle of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// Column of its left edge.
    pub col: u16,
    /// Row of its upper edge.
    pub row: u16,
    /// Its width.
    pub cols: u16,
    /// Its height.
    pub rows: u16,
}

impl Rect {
    /// A room that begins at the upper left.
    pub fn room(cols: u16, rows: u16) -> Rect {
        Rect { col: 0, row: 0, cols, rows }
    }

    /// Whether a cell lies in it.
    pub fn contains(&self, col: u16, row: u16) -> bool {
        let within = |at: u16, from: u16, length: u16| at >= from && at - from < length;
        within(col, self.col, self.cols) && within(row, self.row, self.rows)
    }
}

/// Where a pane lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    pub terminal: u64,
    /// Its cells.
    pub rect: Rect,
}

/// Two parts beside or above each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Which way.
    pub direction: Direction,
    /// Room of the first part, in parts of [`WHOLE`].
    pub share: u16,
    /// The left or upper part.
    pub first: Tree,
    /// The right or lower part.
    pub second: Tree,
}

/// The panes of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// One terminal.
    Pane(u64),
    /// Two parts.
    Split(Box<Split>),
}

/// Why panes cannot be arranged so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No pane shows this terminal.
    #[error("no pane shows terminal {0}")]
    Unknown(u64),
    /// It is shown already.
    #[error("terminal {0} has a pane here already")]
    Twice(u64),
    /// The parts would be too small.
    #[error("too small to split: a pane needs at least {least_cols}x{least_rows} cells", least_cols = LEAST.0, least_rows = LEAST.1)]
    TooSmall,
    /// There are too many.
    #[error("a tab group has at most {MOST_PANES} panes")]
    TooMany,
    /// They lie too deep within each other.
    #[error("panes lie at most {MOST_DEPTH} splits deep")]
    TooDeep,
    /// It is the only one.
    #[error("it is the only pane")]
    Alone,
    /// There is no such border to move.
    #[error("there is no border on this side")]
    NoBorder,
}

impl Split {
    fn parts(&self, room: Rect) -> (Rect, Rect) {
        parts(self.direction, self.share, room)
    }
}

/// Where two parts lie in a room. A room without space for a gap goes to the first.
fn parts(direction: Direction, share: u16, room: Rect) -> (Rect, Rect) {
    let length = match direction {
        Direction::Right => room.cols,
        Direction::Below => room.rows,
    };
    let (first, second) = shared(length, share);
    let next = length - second;
    match direction {
        Direction::Right => {
            (Rect { cols: first, ..room }, Rect { col: room.col + next, cols: second, ..room })
        }
        Direction::Below => {
            (Rect { rows: first, ..room }, Rect { row: room.row + next, rows: second, ..room })
        }
    }
}

/// Lengths of two parts with a gap between them: each at least 1 where that is possible.
fn shared(length: u16, share: u16) -> (u16, u16) {
    if length < GAP + 2 {
        return (length, 0);
    }
    let both = length - GAP;
    let exact = u32::from(both) * u32::from(share.min(WHOLE)) + u32::from(WHOLE) / 2;
    let first = u16::try_from(exact / u32::from(WHOLE)).unwrap_or(both).clamp(1, both - 1);
    (first, both - first)
}

/// The share at which the first part gets this length.
fn share_of(first: u16, both: u16) -> u16 {
    let (first, both) = (u32::from(first), u32::from(both.max(1)));
    u16::try_from((first * u32::from(WHOLE) + both / 2) / both).unwrap_or(WHOLE)
}

impl Tree {
    /// The terminals from the upper left on.
    pub fn terminals(&self) -> Vec<u64> {
        let mut found = Vec::new();
        self.each_pane(&mut |terminal| found.push(terminal));
        found
    }

    fn each_pane(&self, visit: &mut dyn FnMut(u64)) {
        match self {
            Tree::Pane(terminal) => visit(*terminal),
            Tree::Split(split) => {
                split.first.each_pane(visit);
                split.second.each_pane(visit);
            }
        }
    }

    /// Whether a pane shows this terminal.
    pub fn contains(&self, terminal: u64) -> bool {
        match self {
            Tree::Pane(shown) => *shown == terminal,
            Tree::Split(split) => split.first.contains(terminal) || split.second.contains(terminal),
        }
    }

    /// Number of panes.
    pub fn len(&self) -> usize {
        match self {
            Tree::Pane(_) => 1,
            Tree::Split(split) => split.first.len() + split.second.len(),
        }
    }

    /// A tree is never empty.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Splits above the deepest pane.
    pub fn depth(&self) -> usize {
        match self {
            Tree::Pane(_) => 0,
            Tree::Split(split) => 1 + split.first.depth().max(split.second.depth()),
        }
    }

    /// Where each pane lies in a room, from the upper left on. A pane without room has an area of no
    /// cells.
    pub fn areas(&self, room: Rect) -> Vec<Area> {
        let mut found = Vec::with_capacity(self.len());
        self.lay(room, &mut found);
        found
    }

    fn lay(&self, room: Rect, found: &mut Vec<Area>) {
        match self {
            Tree::Pane(terminal) => found.push(Area { terminal: *terminal, rect: room }),
            Tree::Split(split) => {
                let (first, second) = split.parts(room);
                split.first.lay(first, found);
                split.second.lay(second, found);
            }
        }
    }

    /// Where one pane lies in a room.
    pub fn area(&self, terminal: u64, room: Rect) -> Option<Rect> {
        match self {
            Tree::Pane(shown) => (*shown == terminal).then_some(room),
            Tree::Split(split) => {
                let (first, second) = split.parts(room);
                split.first.area(terminal, first).or_else(|| split.second.area(terminal, second))
            }
        }
    }

    /// The terminal whose pane covers a cell; none for a gap.
    pub fn pane_at(&self, room: Rect, col: u16, row: u16) -> Option<u64> {
        let areas = self.areas(room);
        areas.iter().find(|area| area.rect.contains(col, row)).map(|area| area.terminal)
    }

    /// Gives half of a pane's room to a new one.
    pub fn split(
        &mut self,
        terminal: u64,
        direction: Direction,
        new: u64,
        room: Rect,
    ) -> Result<(), Refused> {
        let side = match direction {
            Direction::Right => Side::Right,
            Direction::Below => Side::Below,
        };
        self.insert(terminal, side, new, room)
    }

    /// Puts a new pane at a side of another; each gets half of the room.
    pub fn insert(&mut self, at: u64, side: Side, new: u64, room: Rect) -> Result<(), Refused> {
        if self.contains(new) {
            return Err(Refused::Twice(new));
        }
        self.check_insert(at, side, room)?;
        let (direction, is_first) = side.split();
        let (first, second) = if is_first { (new, at) } else { (at, new) };
        let (first, second) = (Tree::Pane(first), Tree::Pane(second));
        if let Some(pane) = self.pane_mut(at) {
            *pane = Tree::Split(Box::new(Split { direction, share: WHOLE / 2, first, second }));
        }
        Ok(())
    }

    /// Whether another pane has room at a side of this one.
    pub fn check_insert(&self, at: u64, side: Side, room: Rect) -> Result<(), Refused> {
        let area = self.area(at, room).ok_or(Refused::Unknown(at))?;
        if self.len() >= MOST_PANES {
            return Err(Refused::TooMany);
        }
        if self.depth_of(at) >= MOST_DEPTH {
            return Err(Refused::TooDeep);
        }
        let (one, two) = parts(side.split().0, WHOLE / 2, area);
        let is_small = |part: Rect| part.cols < LEAST.0 || part.rows < LEAST.1;
        if is_small(one) || is_small(two) {
            return Err(Refused::TooSmall);
        }
        Ok(())
    }

    /// Takes a pane out; its room goes to its sibling. Says whose room grew first, which is where the
    /// focus goes.
    pub fn close(&mut self, terminal: u64) -> Result<u64, Refused> {
        let Tree::Split(split) = self else {
            return Err(if self.contains(terminal) {
                Refused::Alone
            } else {
                Refused::Unknown(terminal)
            });
        };
        let is_pane = |tree: &Tree| *tree == Tree::Pane(terminal);
        let sibling = match (is_pane(&split.first), is_pane(&split.second)) {
            (true, _) => &mut split.second,
            (_, true) => &mut split.first,
            _ if split.first.contains(terminal) => return split.first.close(terminal),
            _ => return split.second.close(terminal),
        };
        // Of a sibling with several panes the one at the removed side is the neighbor.
        let panes = sibling.terminals();
        let heir = if is_pane(&split.first) { panes.first() } else { panes.last() };
        let heir = heir.copied().unwrap_or(terminal);
        let sibling = match is_pane(&split.first) {
            true => std::mem::replace(&mut split.second, Tree::Pane(0)),
            false => std::mem::replace(&mut split.first, Tree::Pane(0)),
        };
        *self = sibling;
        Ok(heir)
    }

    /// Exchanges two panes.
    pub fn swap(&mut self, one: u64, other: u64) -> Result<(), Refused> {
        for terminal in [one, other] {
            if !self.contains(terminal) {
                return Err(Refused::Unknown(terminal));
            }
        }
        self.rename(&|terminal| match terminal {
            _ if terminal == one => other,
            _ if terminal == other => one,
            _ => terminal,
        });
        Ok(())
    }

    fn rename(&mut self, to: &dyn Fn(u64) -> u64) {
        match self {
            Tree::Pane(terminal) => *terminal = to(*terminal),
            Tree::Split(split) => {
                split.first.rename(to);
                split.second.rename(to);
            }
        }
    }

    /// Takes a pane to a side of another of the same tree.
    pub fn relocate(
        &mut self,
        terminal: u64,
        to: u64,
        side: Side,
        room: Rect,
    ) -> Result<(), Refused> {
        if terminal == to {
            return Err(Refused::Twice(terminal));
        }
        if !self.contains(to) {
            return Err(Refused::Unknown(to));
        }
        let mut moved = self.clone();
        moved.close(terminal)?;
        moved.insert(to, side, terminal, room)?;
        *self = moved;
        Ok(())
    }

    /// Keeps only the panes of which `keep` says so; none if there are none.
    pub fn retain(self, keep: &dyn Fn(u64) -> bool) -> Option<Tree> {
        match self {
            Tree::Pane(terminal) => keep(terminal).then_some(Tree::Pane(terminal)),
            Tree::Split(split) => {
                let Split { direction, share, first, second } = *split;
                match (first.retain(keep), second.retain(keep)) {
                    (Some(first), Some(second)) => {
                        Some(Tree::Split(Box::new(Split { direction, share, first, second })))
                    }
                    (one, other) => one.or(other),
                }
            }
        }
    }

    /// Moves the border at an edge of a pane outward by a number of cells, or inward if it is negative.
    /// Both sides keep at least one cell. At an edge of the room the opposite border moves instead, so
    /// that growing to the left at the left edge makes the pane narrower, as tmux does.
    pub fn resize(
        &mut self,
        terminal: u64,
        edge: Edge,
        by: i32,
        room: Rect,
    ) -> Result<(), Refused> {
        if !self.contains(terminal) {
            return Err(Refused::Unknown(terminal));
        }
        let delta = match edge {
            Edge::Right | Edge::Down => by,
            Edge::Left | Edge::Up => by.saturating_neg(),
        };
        let is_near_end = matches!(edge, Edge::Right | Edge::Down);
        let direction = match edge {
            Edge::Left | Edge::Right => Direction::Right,
            Edge::Up | Edge::Down => Direction::Below,
        };
        let done = self.shift(terminal, direction, Some(is_near_end), delta, room)
            || self.shift(terminal, direction, None, delta, room);
        if done { Ok(()) } else { Err(Refused::NoBorder) }
    }

    /// Moves the border of the innermost split in a direction above a pane; `first` says that the pane
    /// must be in its first part, or that it must not.
    fn shift(
        &mut self,
        terminal: u64,
        direction: Direction,
        first: Option<bool>,
        delta: i32,
        room: Rect,
    ) -> bool {
        let Tree::Split(split) = self else { return false };
        let (one, two) = split.parts(room);
        let is_first = split.first.contains(terminal);
        let (inner, inner_room) =
            if is_first { (&mut split.first, one) } else { (&mut split.second, two) };
        if !inner.contains(terminal) {
            return false;
        }
        if inner.shift(terminal, direction, first, delta, inner_room) {
            return true;
        }
        if split.direction != direction || first.is_some_and(|first| first != is_first) {
            return false;
        }
        let (length, before) = match direction {
            Direction::Right => (room.cols, one.cols),
            Direction::Below => (room.rows, one.rows),
        };
        if length < GAP + 2 {
            return true;
        }
        let both = length - GAP;
        let wanted = i32::from(before).saturating_add(delta).clamp(1, i32::from(both) - 1);
        split.share = share_of(u16::try_from(wanted).unwrap_or(1), both);
        true
    }

    fn pane_mut(&mut self, terminal: u64) -> Option<&mut Tree> {
        match self {
            Tree::Pane(shown) if *shown == terminal => Some(self),
            Tree::Pane(_) => None,
            Tree::Split(split) => match split.first.contains(terminal) {
                true => split.first.pane_mut(terminal),
                false => split.second.pane_mut(terminal),
            },
        }
    }

    fn depth_of(&self, terminal: u64) -> usize {
        match self {
            Tree::Pane(_) => 0,
            Tree::Split(split) => {
                let inner =
                    if split.first.contains(terminal) { &split.first } else { &split.second };
                1 + inner.depth_of(terminal)
            }
        }
    }

    /// Whether a tree from outside keeps the bounds and names no terminal twice.
    pub fn is_sound(&self) -> bool {
        let mut terminals = self.terminals();
        let count = terminals.len();
        terminals.sort_unstable();
        terminals.dedup();
        count <= MOST_PANES && terminals.len() == count && self.depth() <= MOST_DEPTH
    }
}
