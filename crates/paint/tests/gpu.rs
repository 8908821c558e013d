//! The picture of a graphics card is the one that the processor draws. Any Vulkan driver will do, also one
//! that needs no card; without one there is nothing to compare.

#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used, reason = "a test may fail by it")]
#![expect(clippy::print_stderr, reason = "what is not tested is said")]

mod canvas;
mod demo;

use std::sync::Arc;

use canvas::{Canvas, draw_at};
use iced_core::renderer::Style;
use iced_core::{Color, Size, mouse};
use iced_graphics::Viewport;
use iced_runtime::UserInterface;
use iced_runtime::user_interface::Cache;
use rookery_paint::gpu::wgpu::{BufferDescriptor, BufferUsages, DeviceType};
use rookery_paint::gpu::{Adapters, Gpu, hardware, instance};
use rookery_paint::{Renderer, background, view};
use rookery_view::scene::Scene;

/// Any adapter; none where there is none, which is said.
fn gpu() -> Option<Gpu> {
    match Gpu::start(&instance(), None, Adapters::Any) {
        Ok(gpu) => Some(gpu),
        Err(why) => {
            eprintln!("not compared: {why}; the Debian package mesa-vulkan-drivers has one");
            None
        }
    }
}

fn drawn(renderer: &mut Renderer, scene: &Scene, scale: f32) -> Canvas {
    let scene = Arc::new(Scene { scale, ..scene.clone() });
    let pixels = |points: f32| (points * scale).round() as u32;
    let size = Size::new(pixels(scene.window.width), pixels(scene.window.height));
    let viewport = Viewport::with_physical_size(size, scale);
    let logical = Size::new(scene.window.width, scene.window.height);
    let root = view::<(), ()>(&scene);
    let mut interface = UserInterface::build(root, logical, Cache::new(), renderer);
    let style = Style { text_color: Color::WHITE };
    interface.draw(renderer, &(), &style, mouse::Cursor::Unavailable);
    let bytes = hardware(renderer).unwrap().screenshot(&viewport, background(&scene));
    Canvas::of_rgba(size.width as usize, size.height as usize, &bytes)
}

/// Round corners and what shines through are smoothed and rounded otherwise; nothing else differs.
fn assert_same(renderer: &mut Renderer, name: &str, scene: &Scene, scale: f32) {
    let (own, other) = (drawn(renderer, scene, scale), draw_at(scene, scale));
    let (mean, _) = own.difference(&other);
    let (_, most) = own.shrunk(10).difference(&other.shrunk(10));
    assert!(mean < 0.5 && most < 12, "{name} at {scale} differs: mean {mean}, most {most}");
}

#[test]
fn it_draws_the_same_pictures_as_the_processor() {
    let Some(gpu) = gpu() else { return };
    let mut renderer = gpu.renderer();
    for (name, scene) in demo::pages::all() {
        assert_same(&mut renderer, name, &scene, 1.0);
        if matches!(name, "letters" | "review" | "panes") {
            assert_same(&mut renderer, name, &scene, 1.25);
            assert_same(&mut renderer, name, &scene, 2.0);
        }
    }
    assert_eq!(gpu.failure(), None);
}

#[test]
fn what_it_refuses_is_told_and_ends_nothing() {
    let Some(gpu) = gpu() else { return };
    assert_eq!(gpu.failure(), None);
    let too_much = BufferDescriptor {
        label: None,
        size: u64::MAX,
        usage: BufferUsages::VERTEX,
        mapped_at_creation: false,
    };
    drop(gpu.device().create_buffer(&too_much));
    assert!(gpu.failure().is_some());
}

#[test]
fn an_adapter_that_is_the_processor_again_is_taken_only_when_it_is_wanted() {
    if let Ok(gpu) = Gpu::start(&instance(), None, Adapters::Hardware) {
        assert_ne!(gpu.adapter().get_info().device_type, DeviceType::Cpu);
    }
}
