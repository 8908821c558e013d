//! What the window is drawn with: the processor, or with the feature `gpu` a graphics card where there is
//! one. A card that fails is left, and the processor goes on.

use std::sync::Arc;

use iced_core::Color;
use iced_graphics::Viewport;
use rookery_paint::Renderer;
use winit::window::Window;

use crate::canvas::{Canvas, CanvasError};
#[cfg(feature = "gpu")]
use crate::gpu::{GpuCanvas, GpuCanvasError};
use crate::{Backend, Note};

/// A renderer, and the pixels of the window that it draws.
pub(crate) struct Drawing {
    // Before the surface that it may stand on.
    renderer: Renderer,
    pixels: Pixels,
    window: Arc<Window>,
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "the processor is never left"))]
    note: Note,
}

enum Pixels {
    Software(Canvas),
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuCanvas>),
}

/// Why a picture is not on the screen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DrawError {
    #[error(transparent)]
    Canvas(#[from] CanvasError),
    /// It is to be drawn once more.
    #[cfg(feature = "gpu")]
    #[error("{0}")]
    Again(String),
    /// It was drawn for the other of both.
    #[error("the renderer and the window do not fit")]
    Mismatch,
}

impl DrawError {
    /// Whether the same picture is to be drawn once more.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            DrawError::Canvas(_) | DrawError::Mismatch => false,
            #[cfg(feature = "gpu")]
            DrawError::Again(_) => true,
        }
    }
}

impl Drawing {
    pub(crate) fn new(
        window: &Arc<Window>,
        backend: Backend,
        note: Note,
    ) -> Result<Drawing, CanvasError> {
        #[cfg(feature = "gpu")]
        let note = match Drawing::on_gpu(window, backend, note) {
            Ok(drawing) => return Ok(drawing),
            Err(note) => note,
        };
        #[cfg(not(feature = "gpu"))]
        let _ = backend;
        let pixels = Pixels::Software(Canvas::new(window)?);
        let renderer = rookery_paint::renderer();
        Ok(Drawing { renderer, pixels, window: Arc::clone(window), note })
    }

    #[cfg(feature = "gpu")]
    fn on_gpu(window: &Arc<Window>, backend: Backend, note: Note) -> Result<Drawing, Note> {
        use rookery_paint::gpu::Adapters;

        let adapters = match backend {
            Backend::Software => return Err(note),
            Backend::Best => Adapters::Hardware,
            Backend::Gpu => Adapters::Any,
        };
        match GpuCanvas::new(window, adapters) {
            Ok(canvas) => Ok(Drawing {
                renderer: canvas.gpu().renderer(),
                pixels: Pixels::Gpu(Box::new(canvas)),
                window: Arc::clone(window),
                note,
            }),
            Err(why) => {
                note(&format!("the window draws in software: {why}"));
                Err(note)
            }
        }
    }

    /// What the tree is drawn with.
    pub(crate) fn renderer(&mut self) -> &mut Renderer {
        &mut self.renderer
    }

    /// What draws, as `ICED_BACKEND` names it.
    pub(crate) fn name(&self) -> &'static str {
        match &self.pixels {
            Pixels::Software(_) => "tiny-skia",
            #[cfg(feature = "gpu")]
            Pixels::Gpu(_) => "wgpu",
        }
    }

    /// Shows what the renderer was told to draw. All of it is drawn anew if the window system may have lost
    /// what was there.
    pub(crate) fn present(
        &mut self,
        viewport: &Viewport,
        ground: Color,
        is_whole: bool,
    ) -> Result<(), DrawError> {
        let window = Arc::clone(&self.window);
        let before = move || window.pre_present_notify();
        match &mut self.pixels {
            Pixels::Software(canvas) => {
                let renderer =
                    rookery_paint::software(&mut self.renderer).ok_or(DrawError::Mismatch)?;
                Ok(canvas.present(renderer, viewport, ground, is_whole, before)?)
            }
            #[cfg(feature = "gpu")]
            Pixels::Gpu(canvas) => {
                let renderer =
                    rookery_paint::gpu::hardware(&mut self.renderer).ok_or(DrawError::Mismatch)?;
                match canvas.present(renderer, viewport, ground, before) {
                    Ok(()) => Ok(()),
                    Err(GpuCanvasError::Late(why)) => Err(DrawError::Again(why.to_string())),
                    Err(GpuCanvasError::Lost(why)) => self.leave_gpu(why),
                }
            }
        }
    }

    /// The processor goes on; the picture is drawn once more.
    #[cfg(feature = "gpu")]
    fn leave_gpu(&mut self, why: String) -> Result<(), DrawError> {
        (self.note)(&format!("the window draws in software from here on: {why}"));
        // The renderer goes first, then the surface, then the window has pixels of another kind.
        self.renderer = rookery_paint::renderer();
        self.pixels = Pixels::Software(Canvas::new(&self.window)?);
        Err(DrawError::Again(why))
    }
}
