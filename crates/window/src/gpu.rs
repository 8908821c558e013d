//! What is on the screen, drawn by a graphics card.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use iced_core::{Color, Size};
use iced_graphics::Viewport;
use rookery_paint::gpu::wgpu::{
    CompositeAlphaMode, CreateSurfaceError, Instance, PresentMode, Surface, SurfaceConfiguration,
    SurfaceError, SurfaceTexture, TextureUsages, TextureViewDescriptor,
};
use rookery_paint::gpu::{self, Adapters, Gpu, GpuError, Hardware};
use winit::window::Window;

/// Pictures in a row that may fail before the card is left.
const MOST_LATE: u32 = 3;

/// The pixels of one window, on a graphics card.
pub(crate) struct GpuCanvas {
    // Before what it stands on.
    surface: Surface<'static>,
    gpu: Gpu,
    _instance: Instance,
    size: Size<u32>,
    mode: PresentMode,
    /// Pictures that failed since the last one that did not.
    late: u32,
}

/// Why a picture is not on the screen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GpuCanvasError {
    /// Another one is to be tried.
    #[error("the window system was not ready: {0}")]
    Late(SurfaceError),
    /// Nothing will come of it.
    #[error("{0}")]
    Lost(String),
}

/// Why a card cannot be used for a window.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoGpu {
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error("the graphics card cannot draw into this window: {0}")]
    Surface(#[from] CreateSurfaceError),
}

impl GpuCanvas {
    pub(crate) fn new(window: &Arc<Window>, adapters: Adapters) -> Result<GpuCanvas, NoGpu> {
        let instance = gpu::instance();
        let surface = instance.create_surface(Arc::clone(window)).map_err(|error| {
            // Without any driver there is nothing to make one with.
            match Gpu::start(&instance, None, adapters) {
                Err(GpuError::None) => NoGpu::Gpu(GpuError::None),
                _ => NoGpu::Surface(error),
            }
        })?;
        let gpu = Gpu::start(&instance, Some(&surface), adapters)?;
        let modes = surface.get_capabilities(gpu.adapter()).present_modes;
        // A picture is shown as soon as it is there, and never half; where that cannot be had it waits for
        // the screen.
        let mode = match modes.contains(&PresentMode::Mailbox) {
            true => PresentMode::Mailbox,
            false => PresentMode::Fifo,
        };
        let size = Size::new(0, 0);
        Ok(GpuCanvas { surface, gpu, _instance: instance, size, mode, late: 0 })
    }

    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Shows what the renderer was told to draw.
    pub(crate) fn present(
        &mut self,
        renderer: &mut Hardware,
        viewport: &Viewport,
        ground: Color,
        before: impl FnOnce(),
    ) -> Result<(), GpuCanvasError> {
        // What is lost in the middle of a picture is a panic of the library.
        let shown =
            catch_unwind(AssertUnwindSafe(|| self.show(renderer, viewport, ground, before)));
        let shown = shown.unwrap_or_else(|_| Err(GpuCanvasError::Lost("it was lost".to_owned())));
        if let Some(why) = self.gpu.failure() {
            return Err(GpuCanvasError::Lost(why.to_owned()));
        }
        match shown {
            Err(GpuCanvasError::Late(error)) if self.late >= MOST_LATE => {
                Err(GpuCanvasError::Lost(error.to_string()))
            }
            Err(GpuCanvasError::Late(error)) => {
                self.late += 1;
                Err(GpuCanvasError::Late(error))
            }
            Err(lost) => Err(lost),
            Ok(()) => {
                self.late = 0;
                Ok(())
            }
        }
    }

    fn show(
        &mut self,
        renderer: &mut Hardware,
        viewport: &Viewport,
        ground: Color,
        before: impl FnOnce(),
    ) -> Result<(), GpuCanvasError> {
        if self.size != viewport.physical_size() {
            self.fit(viewport.physical_size())?;
        }
        let frame = match self.surface.get_current_texture() {
            Err(SurfaceError::Outdated | SurfaceError::Lost) => {
                self.fit(viewport.physical_size())?;
                self.surface.get_current_texture()
            }
            frame => frame,
        };
        let frame: SurfaceTexture = frame.map_err(GpuCanvasError::Late)?;
        let view = frame.texture.create_view(&TextureViewDescriptor::default());
        renderer.present(Some(ground), self.gpu.format(), &view, viewport);
        before();
        if frame.suboptimal {
            // The next one is made to fit.
            self.size = Size::new(0, 0);
        }
        frame.present();
        Ok(())
    }

    /// Makes it as large as the window.
    fn fit(&mut self, size: Size<u32>) -> Result<(), GpuCanvasError> {
        let most = self.gpu.device().limits().max_texture_dimension_2d;
        if size.width > most || size.height > most {
            let why = format!("a window may have {most} pixels on a side");
            return Err(GpuCanvasError::Lost(why));
        }
        self.surface.configure(
            self.gpu.device(),
            &SurfaceConfiguration {
                usage: TextureUsages::RENDER_ATTACHMENT,
                format: self.gpu.format(),
                width: size.width,
                height: size.height,
                present_mode: self.mode,
                desired_maximum_frame_latency: 1,
                alpha_mode: CompositeAlphaMode::Auto,
                view_formats: Vec::new(),
            },
        );
        self.size = size;
        Ok(())
    }
}
