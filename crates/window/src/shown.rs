//! What is known of the window that is open: what it is drawn with, and what it was told last.

use std::sync::Arc;

use iced_runtime::user_interface::Cache;
use winit::dpi::{LogicalPosition, LogicalSize};
use winit::window::{CursorIcon, Window};

use crate::drawing::Drawing;
use crate::drops::Drops;
use crate::picture::Picture;

/// What the window is drawn with.
pub(crate) struct Shown {
    /// What is dropped on it, where the toolkit takes no files.
    pub(crate) drops: Option<Drops>,
    pub(crate) window: Arc<Window>,
    pub(crate) drawing: Drawing,
    pub(crate) cache: Cache,
    pub(crate) picture: Option<Picture>,
    pub(crate) pointer: CursorIcon,
    pub(crate) caret: Option<(f32, f32, f32)>,
    pub(crate) title: String,
    pub(crate) is_occluded: bool,
    /// Drawing was asked for here; else the window system wants what it has lost.
    pub(crate) is_asked: bool,
    /// Input methods are on.
    pub(crate) has_ime: bool,
}

impl Shown {
    /// Title and the place of input methods follow the picture.
    pub(crate) fn follow(&mut self, picture: &Picture) {
        let title = match picture.scene.title.as_str() {
            "" => "Rookery",
            title => title,
        };
        if self.title != title {
            self.window.set_title(title);
            self.title = title.to_owned();
        }
        // On a page keys are no text: an input method would keep them.
        let takes_text = picture.facts.takes_text;
        if std::mem::replace(&mut self.has_ime, takes_text) != takes_text {
            self.window.set_ime_allowed(takes_text);
            self.caret = None;
        }
        let Some(caret) = picture.caret() else { return };
        let now = (caret.x, caret.y, caret.height);
        if self.caret.replace(now) != Some(now) {
            let at = LogicalPosition::new(caret.x, caret.y);
            let size = LogicalSize::new(caret.width.max(1.0), caret.height);
            self.window.set_ime_cursor_area(at, size);
        }
    }
}
