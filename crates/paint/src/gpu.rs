//! Draws the same trees with the GPU: which adapter is taken, and the device that draws.
//!
//! Colors are blended as the processor blends them (`web-colors`), so that both give the same picture.

use std::sync::{Arc, OnceLock};

use iced_graphics::Shell;
use iced_wgpu::Engine;
pub use iced_wgpu::wgpu;
use wgpu::{
    Adapter, Backends, Device, DeviceDescriptor, DeviceLostReason, DeviceType, Instance,
    InstanceDescriptor, Limits, MemoryHints, Surface, TextureFormat,
};

use crate::fonts;
use crate::renderer::{Renderer, TEXT};

/// Draws with the GPU.
pub type Hardware = iced_wgpu::Renderer;

/// Formats whose numbers are shown as they are, best first.
const FORMATS: [TextureFormat; 2] = [TextureFormat::Bgra8Unorm, TextureFormat::Rgba8Unorm];

/// Why the GPU is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// There is none, or no driver for it.
    #[error("there is no graphics card with a Vulkan driver")]
    None,
    /// There is only one that the processor stands in for.
    #[error("the only Vulkan driver is a program ({0}), which is slower than drawing in software")]
    Program(String),
    /// It cannot show anything in this window.
    #[error("the graphics card cannot draw into this window")]
    Format,
    /// It does not work.
    #[error("the graphics card does not work: {0}")]
    Device(String),
}

/// Which adapters are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adapters {
    /// Those of a graphics card.
    Hardware,
    /// Those that the processor stands in for too.
    Any,
}

/// The way to the drivers.
#[must_use]
pub fn instance() -> Instance {
    Instance::new(&InstanceDescriptor { backends: Backends::VULKAN, ..Default::default() })
}

/// A graphics card that is ready to draw.
pub struct Gpu {
    adapter: Adapter,
    device: Device,
    engine: Engine,
    format: TextureFormat,
    failure: Arc<OnceLock<String>>,
}

impl Gpu {
    /// Starts the first adapter that fits, in the order of the driver's loader: what the user or the desktop
    /// prefers comes first there. With a surface it is one that can show pictures on it.
    ///
    /// # Errors
    /// If there is none, or it does not work.
    pub fn start(
        instance: &Instance,
        surface: Option<&Surface<'_>>,
        adapters: Adapters,
    ) -> Result<Gpu, GpuError> {
        let adapter = choose(instance, surface, adapters)?;
        let format = match surface {
            Some(surface) => {
                let shown = surface.get_capabilities(&adapter).formats;
                FORMATS.into_iter().find(|it| shown.contains(it)).ok_or(GpuError::Format)?
            }
            None => FORMATS[0],
        };
        let failed = |error: &dyn std::fmt::Display| GpuError::Device(error.to_string());
        let descriptor = DeviceDescriptor {
            label: Some("rookery"),
            // Windows may be as large as the card allows.
            required_limits: Limits {
                max_bind_groups: 2,
                max_non_sampler_bindings: 2048,
                ..Limits::downlevel_defaults()
            }
            .using_resolution(adapter.limits()),
            memory_hints: MemoryHints::MemoryUsage,
            ..DeviceDescriptor::default()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| failed(&error))?;
        let asked = runtime.block_on(adapter.request_device(&descriptor));
        let (device, queue) = asked.map_err(|error| failed(&error))?;
        let failure = Arc::default();
        watch(&device, &failure);
        let engine = Engine::new(&adapter, device.clone(), queue, format, None, Shell::headless());
        let gpu = Gpu { adapter, device, engine, format, failure };
        match gpu.failure() {
            Some(why) => Err(failed(&why)),
            None => Ok(gpu),
        }
    }

    /// A renderer with the fonts that the tree needs.
    #[must_use]
    pub fn renderer(&self) -> Renderer {
        fonts::load();
        Renderer::Primary(Hardware::new(self.engine.clone(), fonts::SANS, TEXT))
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> String {
        self.adapter.get_info().name
    }

    /// What surfaces are asked about.
    #[must_use]
    pub fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// What surfaces are made ready with.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What pixels it draws.
    #[must_use]
    pub fn format(&self) -> TextureFormat {
        self.format
    }

    /// Why what it draws is not to be trusted any more, if it was lost or did something wrong.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }
}

/// The one that draws with the GPU, if it is that.
pub fn hardware(renderer: &mut Renderer) -> Option<&mut Hardware> {
    match renderer {
        Renderer::Primary(hardware) => Some(hardware),
        Renderer::Secondary(_) => None,
    }
}

fn choose(
    instance: &Instance,
    surface: Option<&Surface<'_>>,
    adapters: Adapters,
) -> Result<Adapter, GpuError> {
    let mut all = instance.enumerate_adapters(Backends::VULKAN);
    all.retain(|it| surface.is_none_or(|surface| it.is_surface_supported(surface)));
    let kind = |adapter: &Adapter| adapter.get_info().device_type;
    let is_card = |adapter: &Adapter| {
        use DeviceType::{DiscreteGpu, IntegratedGpu, VirtualGpu};
        matches!(kind(adapter), DiscreteGpu | IntegratedGpu | VirtualGpu)
    };
    let found = all.iter().position(is_card);
    let found = found.or((adapters == Adapters::Any && !all.is_empty()).then_some(0));
    match (found, all.first()) {
        (Some(index), _) => Ok(all.swap_remove(index)),
        (None, Some(program)) => Err(GpuError::Program(program.get_info().name)),
        (None, None) => Err(GpuError::None),
    }
}

/// Without this an error of the driver would end the process.
fn watch(device: &Device, failure: &Arc<OnceLock<String>>) {
    let lost = Arc::clone(failure);
    device.set_device_lost_callback(move |reason, why| {
        // Letting go of it counts as losing it too.
        if reason != DeviceLostReason::Destroyed {
            // What came first is the reason for the rest.
            let _ = lost.set(why);
        }
    });
    let wrong = Arc::clone(failure);
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        let _ = wrong.set(error.to_string());
    }));
}
