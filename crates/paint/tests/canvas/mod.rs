//! A decoded picture, and questions about its pixels.

#![allow(clippy::unwrap_used, reason = "a test may fail by it")]
#![allow(dead_code, reason = "no test asks all of the questions")]

use std::path::PathBuf;
use std::sync::Arc;

use rookery_paint::{Painter, Picture};
use rookery_view::scene::Scene;
use rookery_view::scene::layout::Rect;

type Rgb = (u8, u8, u8);

/// Pixels, row by row.
pub(crate) struct Canvas {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pixels: Vec<Rgb>,
}

/// Draws a scene.
pub(crate) fn draw(scene: &Scene, scale: u32) -> Canvas {
    let pictures = draw_all(vec![(Arc::new(scene.clone()), scale)]);
    Canvas::decode(&pictures[0].png)
}

/// Draws a scene at any scale.
pub(crate) fn draw_at(scene: &Scene, scale: f32) -> Canvas {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let painter = Painter::start().unwrap();
    let picture = runtime.block_on(painter.picture(Arc::new(scene.clone()), scale)).unwrap();
    Canvas::decode(&picture.png)
}

/// Draws scenes, all asked for at once.
pub(crate) fn draw_all(scenes: Vec<(Arc<Scene>, u32)>) -> Vec<Picture> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let painter = Painter::start().unwrap();
    runtime.block_on(async {
        let jobs: Vec<_> = scenes
            .into_iter()
            .map(|(scene, scale)| {
                let painter = painter.clone();
                tokio::spawn(async move { painter.screenshot(scene, scale).await.unwrap() })
            })
            .collect();
        let mut pictures = Vec::new();
        for job in jobs {
            pictures.push(job.await.unwrap());
        }
        pictures
    })
}

impl Canvas {
    pub(crate) fn decode(png: &[u8]) -> Canvas {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        let pixels = bytes.chunks_exact(3).map(|rgb| (rgb[0], rgb[1], rgb[2])).collect();
        Canvas { width: info.width as usize, height: info.height as usize, pixels }
    }

    pub(crate) fn of_rgba(width: usize, height: usize, bytes: &[u8]) -> Canvas {
        let pixels = bytes.chunks_exact(4).map(|rgba| (rgba[0], rgba[1], rgba[2])).collect();
        Canvas { width, height, pixels }
    }

    pub(crate) fn at(&self, x: f32, y: f32) -> Rgb {
        self.pixels[y as usize * self.width + x as usize]
    }

    fn within(&self, rect: Rect) -> impl Iterator<Item = Rgb> + '_ {
        let columns = rect.x as usize..(rect.right() as usize).min(self.width);
        let rows = rect.y as usize..(rect.bottom() as usize).min(self.height);
        rows.flat_map(move |y| columns.clone().map(move |x| self.pixels[y * self.width + x]))
    }

    pub(crate) fn crop(&self, rect: Rect) -> Vec<Rgb> {
        self.within(rect).collect()
    }

    /// How many pixels of a rectangle have a color.
    pub(crate) fn count(&self, rect: Rect, rgb: Rgb) -> usize {
        self.within(rect).filter(|pixel| *pixel == rgb).count()
    }

    pub(crate) fn has(&self, rect: Rect, rgb: Rgb) -> bool {
        self.count(rect, rgb) > 0
    }

    /// How many pixels of a rectangle differ from the background.
    pub(crate) fn ink(&self, rect: Rect, background: Rgb) -> usize {
        self.within(rect).filter(|pixel| *pixel != background).count()
    }

    /// Each square of pixels as its average, so that the shape of letters hardly matters.
    pub(crate) fn shrunk(&self, by: usize) -> Canvas {
        let (width, height) = (self.width / by, self.height / by);
        let average = |index: usize| {
            let (x, y) = (index % width * by, index / width * by);
            let square = Rect::new(x as f32, y as f32, by as f32, by as f32);
            let sum = self.within(square).fold([0usize; 3], |[r, g, b], pixel| {
                [r + usize::from(pixel.0), g + usize::from(pixel.1), b + usize::from(pixel.2)]
            });
            let [r, g, b] = sum.map(|part| (part / (by * by)) as u8);
            (r, g, b)
        };
        Canvas { width, height, pixels: (0..width * height).map(average).collect() }
    }

    /// The mean and the greatest difference of a channel.
    pub(crate) fn difference(&self, other: &Canvas) -> (f64, u8) {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let channels = |canvas: &Canvas| -> Vec<u8> {
            canvas.pixels.iter().flat_map(|(r, g, b)| [*r, *g, *b]).collect()
        };
        let (own, others) = (channels(self), channels(other));
        let apart: Vec<u8> = own.iter().zip(&others).map(|(a, b)| a.abs_diff(*b)).collect();
        let sum: usize = apart.iter().map(|part| usize::from(*part)).sum();
        (sum as f64 / apart.len() as f64, apart.iter().copied().max().unwrap_or(0))
    }

    /// Compares with the stored likeness; `UPDATE_EXPECT=1` stores a new one.
    pub(crate) fn assert_like(&self, name: &str) {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("tests/golden")
            .join(format!("{name}.png"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, self.encode()).unwrap();
        }
        let golden = Canvas::decode(&std::fs::read(&path).unwrap());
        let (mean, most) = self.difference(&golden);
        assert!(mean < 2.5 && most < 70, "{name} differs: mean {mean}, most {most}");
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let bytes: Vec<u8> = self.pixels.iter().flat_map(|(r, g, b)| [*r, *g, *b]).collect();
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&bytes).unwrap();
        writer.finish().unwrap();
        out
    }
}
