//! Draws a picture of every page into a directory, `docs/images` of the repository if none is named.
//! With names behind the directory only those, at a scale if it is a number.

use std::path::PathBuf;
use std::sync::Arc;

use rookery_paint::Painter;

#[path = "../tests/demo/mod.rs"]
mod demo;

#[expect(clippy::print_stdout, reason = "an example tells what it does")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let images = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/images");
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().unwrap_or_else(|| images.to_owned()));
    let rest: Vec<String> = arguments.collect();
    let scale = rest.iter().find_map(|word| word.parse().ok()).unwrap_or(1.0);
    let names: Vec<&String> = rest.iter().filter(|word| word.parse::<f32>().is_err()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let painter = Painter::start()?;
    std::fs::create_dir_all(&directory)?;
    let mut scenes = demo::pages::all();
    scenes.push(("light", demo::pages::light(demo::pages::inbox())));
    for (name, scene) in scenes {
        if !names.is_empty() && !names.iter().any(|wanted| *wanted == name) {
            continue;
        }
        let picture = runtime.block_on(painter.picture(Arc::new(scene), scale))?;
        let small = demo::pages::packed(&picture.png)?;
        println!("{name}: {}x{}, {} bytes", picture.width, picture.height, small.len());
        std::fs::write(directory.join(format!("{name}.png")), small)?;
    }
    Ok(())
}
