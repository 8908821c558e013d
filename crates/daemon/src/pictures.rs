//! Draws the Roost dialect's pictures with our painter, which is started when first asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use rookery_paint as paint;
use rookery_roost::{DrawCounts, Drawing, Painter, Picture};
use rookery_view::scene::Scene;

/// Counts what drawing costs, and draws.
#[derive(Debug, Default)]
pub struct Pictures {
    painter: Mutex<Option<paint::Painter>>,
    draws: Arc<AtomicU64>,
    nanos: Arc<AtomicU64>,
}

impl Pictures {
    fn painter(&self) -> Result<paint::Painter, String> {
        let mut painter = self.painter.lock();
        if painter.is_none() {
            *painter = Some(paint::Painter::start().map_err(|error| error.to_string())?);
        }
        painter.clone().ok_or_else(|| "there is no painter".to_owned())
    }
}

impl Painter for Pictures {
    fn draw(&self, scene: Arc<Scene>, scale: u32) -> Drawing {
        let painter = self.painter();
        let (draws, nanos) = (Arc::clone(&self.draws), Arc::clone(&self.nanos));
        Box::pin(async move {
            let started = Instant::now();
            let drawn = painter?.screenshot(scene, scale).await;
            let picture = drawn.map_err(|error| error.to_string())?;
            draws.fetch_add(1, Ordering::Relaxed);
            let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
            nanos.fetch_add(took, Ordering::Relaxed);
            Ok(Picture { png: picture.png, width: picture.width, height: picture.height })
        })
    }

    fn counts(&self, reset: bool) -> DrawCounts {
        let get = |counter: &AtomicU64| match reset {
            true => counter.swap(0, Ordering::Relaxed),
            false => counter.load(Ordering::Relaxed),
        };
        let (draws, draw_nanos) = (get(&self.draws), get(&self.nanos));
        // One view tree is built for each picture, as part of drawing it.
        DrawCounts { draws, draw_nanos, views: draws, ..DrawCounts::default() }
    }
}
