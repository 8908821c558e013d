//! What the face draws from: parts of the scene and rows of terminals, as the mirror of the link
//! holds them. An interface, so that drawing is tested without a daemon.

pub mod fixed;

use rookery_view::link::{Cursor, Ended, Hex, Owner, Row, Scene, Style, TermSize, View};

use crate::{Mirror, MirrorTerm};

/// Everything that one viewer sees.
pub trait Picture {
    /// Every part of the scene.
    fn scene(&self) -> &Scene;
    /// A terminal in view.
    fn term(&self, terminal: u64) -> Option<&dyn Term>;
}

/// One terminal in view.
pub trait Term {
    /// Its rows and columns.
    fn size(&self) -> TermSize;
    /// Which rows are shown.
    fn view(&self) -> View;
    /// One of its rows by number.
    fn row(&self, number: u64) -> Option<&Row>;
    fn cursor(&self) -> Cursor;
    /// The color that its program gave the cursor; none is the theme's.
    fn cursor_color(&self) -> Option<Hex> {
        None
    }
    /// The shape of the mouse that its program wants, by its W3C name.
    fn pointer(&self) -> Option<&str> {
        None
    }
    /// Its modes, bits of [`rookery_view::link::modes`].
    fn modes(&self) -> u32;
    /// How its program ended.
    fn ended(&self) -> Option<&Ended>;
    /// Whose size it has.
    fn owner(&self) -> Option<&Owner>;
    /// A style of its rows.
    fn style(&self, id: u32) -> Option<&Style>;
    /// The target of a link in its rows.
    fn link(&self, id: u32) -> Option<&str>;
}

impl Picture for Mirror {
    fn scene(&self) -> &Scene {
        Mirror::scene(self)
    }

    fn term(&self, terminal: u64) -> Option<&dyn Term> {
        Mirror::term(self, terminal).map(|term| term as &dyn Term)
    }
}

impl Term for MirrorTerm {
    fn size(&self) -> TermSize {
        self.size
    }

    fn view(&self) -> View {
        self.view
    }

    fn row(&self, number: u64) -> Option<&Row> {
        MirrorTerm::row(self, number)
    }

    fn cursor(&self) -> Cursor {
        self.cursor
    }

    fn cursor_color(&self) -> Option<Hex> {
        self.cursor_color
    }

    fn pointer(&self) -> Option<&str> {
        self.pointer.as_deref()
    }

    fn modes(&self) -> u32 {
        self.modes
    }

    fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    fn style(&self, id: u32) -> Option<&Style> {
        MirrorTerm::style(self, id)
    }

    fn link(&self, id: u32) -> Option<&str> {
        MirrorTerm::link(self, id)
    }
}
