//! One finished picture: the scene, where everything in it lies, and what is under the mouse. Made by
//! the thread that thinks, drawn by the one that shows.

use std::sync::Arc;

use rookery_paint::Plan;
use rookery_view::scene::layout::{Bar, Hit, Point, Rect};
use rookery_view::scene::{Layout, Scene, Toast};

/// A picture to show.
#[derive(Clone)]
pub(crate) struct Picture {
    pub(crate) scene: Arc<Scene>,
    pub(crate) layout: Arc<Layout>,
    pub(crate) plan: Arc<Plan>,
    /// The frame that it shows.
    pub(crate) n: u64,
    /// Its own number, by which what is on the screen is known.
    pub(crate) made: u64,
    /// The highest input number in it.
    pub(crate) input: u64,
    /// What tests wait for.
    pub(crate) facts: Facts,
}

/// What a trace says of a picture besides its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The page that is shown.
    pub(crate) page: &'static str,
    /// The terminal that keys go to.
    pub(crate) terminal: Option<u64>,
    /// Shapes of the mouse that programs want, by their terminal.
    pub(crate) pointers: Vec<(u64, String)>,
    /// Terminals that are tiled.
    pub(crate) panes: usize,
    /// What lies over the page: `palette`, `dialog`, `menu`, `find`, `rename`, `copy`, `lost`.
    pub(crate) over: Option<&'static str>,
    /// Requests that wait.
    pub(crate) waiting: u32,
    /// The message in the status line.
    pub(crate) message: Option<String>,
    /// What is written in the palette, or as a name.
    pub(crate) typed: Option<String>,
    /// The mouse is over a link, with the key held that opens it.
    pub(crate) is_over_link: bool,
    /// A program or a field takes text, so that input methods are of use.
    pub(crate) takes_text: bool,
}

impl Picture {
    pub(crate) fn new(scene: Scene, n: u64, input: u64, facts: Facts) -> Picture {
        let scene = Arc::new(scene);
        let plan = Plan::of(&scene);
        let layout = Arc::new(plan.layout().clone());
        Picture { scene, layout, plan, n, made: 0, input, facts }
    }

    /// The same with messages in a corner where they lie over nothing that is typed into, pressed or
    /// decided by. Where there is no such corner they come later.
    pub(crate) fn with_toasts(self, toasts: Vec<Toast>) -> Picture {
        if toasts.is_empty() {
            return self;
        }
        let taken: Vec<Rect> = self.plan.taken().into_iter().chain(self.typed_row()).collect();
        let Some(corner) = self.layout.free_corner(&self.scene, toasts.len(), &taken) else {
            return self;
        };
        let scene = Scene { toasts, toast_corner: corner, ..(*self.scene).clone() };
        Picture { made: self.made, ..Picture::new(scene, self.n, self.input, self.facts) }
    }

    /// The rows around the cursor of the terminal that is typed into.
    fn typed_row(&self) -> Option<Rect> {
        let (pane, caret) = (self.scene.stage.focused()?, self.caret()?);
        let frame = self.layout.terminal(pane.terminal)?.frame;
        let y = caret.y - caret.height;
        Some(Rect { y, height: 3.0 * caret.height, ..frame })
    }

    /// What is under a point.
    pub(crate) fn hit(&self, point: Point) -> Hit {
        self.plan.hit(point)
    }

    /// Where typing happens, for input methods: in a field, else at the cursor of the terminal.
    pub(crate) fn caret(&self) -> Option<Rect> {
        let focused = || {
            let pane = self.scene.stage.focused()?;
            let place = self.layout.terminal(pane.terminal)?;
            let cursor = pane.grid.cursor?;
            let row = cursor.row.checked_sub(place.part.row)?;
            let col = cursor.col.checked_sub(place.part.col)?;
            (row < place.part.rows).then(|| place.cells.columns(row, col, 1))
        };
        self.plan.caret().or_else(focused)
    }

    /// Where on a scrollbar a point is, also beside it: 0 is its beginning, 1 its end.
    pub(crate) fn bar_at(&self, bar: Bar, point: Point) -> Option<f32> {
        let rect = match bar {
            Bar::Pane(terminal) => self.layout.terminal(terminal)?.bar,
            bar => self.plan.place(Hit::Bar(bar, 0.0))?,
        };
        Some(((point.y - rect.y) / rect.height.max(1.0)).clamp(0.0, 1.0))
    }

    /// How far something can be scrolled, in points.
    pub(crate) fn most(&self, bar: Bar) -> f32 {
        self.plan.scroll(bar).map_or(0.0, |scroll| scroll.most)
    }
}
