//! Draws the demonstration scenes into a directory, and says how long a picture takes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rookery_paint::Painter;

#[path = "../tests/demo/mod.rs"]
mod demo;

#[expect(clippy::print_stdout, reason = "an example tells what it does")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let painter = Painter::start()?;
    let scenes = [
        ("workspace", demo::workspace()),
        ("palette", demo::palette()),
        ("question", demo::question()),
    ];
    for (name, scene) in scenes {
        let scene = Arc::new(scene);
        for scale in [1, 2] {
            let cold = Instant::now();
            let picture = runtime.block_on(painter.screenshot(Arc::clone(&scene), scale))?;
            let cold = cold.elapsed();
            let mut times = Vec::new();
            for _ in 0..30 {
                let start = Instant::now();
                runtime.block_on(painter.screenshot(Arc::clone(&scene), scale))?;
                times.push(start.elapsed());
            }
            times.sort();
            let bytes = picture.png.len();
            let (best, median) = (times[0], times[15]);
            println!(
                "{name} x{scale}: first {cold:?}, best {best:?}, median {median:?}, {bytes} bytes"
            );
            std::fs::write(directory.join(format!("{name}-{scale}.png")), picture.png)?;
        }
    }
    Ok(())
}
