//! How a tab's agent fares, and its color.

use super::Rgb;

/// Color of badges, selected rows and matched letters.
pub const ACCENT: Rgb = (0x00, 0x7a, 0xff);

/// How a tab's agent fares; the greater, the louder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mood {
    /// Nothing is going on.
    #[default]
    Inactive,
    /// It is done.
    Finished,
    /// It works.
    Working,
    /// It waits for the user.
    Waiting,
    Failed,
}

impl Mood {
    /// Its color; none for [`Mood::Inactive`], which is not drawn.
    pub fn color(self) -> Option<Rgb> {
        match self {
            Mood::Inactive => None,
            Mood::Finished => Some((0x7a, 0x7a, 0x7a)),
            Mood::Working => Some((0x5f, 0xa3, 0xf0)),
            Mood::Waiting => Some((0xf0, 0xa0, 0x40)),
            Mood::Failed => Some((0xe0, 0x52, 0x52)),
        }
    }

    /// The loudest of some moods.
    pub fn loudest(moods: impl IntoIterator<Item = Mood>) -> Mood {
        moods.into_iter().max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_louder_than_waiting_than_working_than_done() {
        use Mood::{Failed, Finished, Inactive, Waiting, Working};
        assert_eq!(Mood::loudest([Working, Failed, Waiting]), Failed);
        assert_eq!(Mood::loudest([Finished, Working, Waiting]), Waiting);
        assert_eq!(Mood::loudest([Finished, Working]), Working);
        assert_eq!(Mood::loudest([Inactive, Finished]), Finished);
        assert_eq!(Mood::loudest([]), Inactive);
    }
}
