//! Draws the Roost dialect's pictures with our painter, which is started when first asked.

use std::pin::Pin;
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
    /// What was drawn last since the counters were reset.
    last: Arc<Mutex<Option<Arc<Scene>>>>,
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
        let last = Arc::clone(&self.last);
        Box::pin(async move {
            let started = Instant::now();
            let drawn = painter?.screenshot(Arc::clone(&scene), scale).await;
            let picture = drawn.map_err(|error| error.to_string())?;
            draws.fetch_add(1, Ordering::Relaxed);
            let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
            nanos.fetch_add(took, Ordering::Relaxed);
            *last.lock() = Some(scene);
            Ok(Picture { png: picture.png, width: picture.width, height: picture.height })
        })
    }

    fn present(&self, scene: Arc<Scene>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let is_drawn = self.last.lock().as_ref().is_some_and(|last| *last == scene);
        if is_drawn {
            return Box::pin(std::future::ready(()));
        }
        let drawing = self.draw(scene, 1);
        Box::pin(async move {
            if let Err(error) = drawing.await {
                tracing::warn!(error, "the window was not drawn");
            }
        })
    }

    fn counts(&self, reset: bool) -> DrawCounts {
        if reset {
            *self.last.lock() = None;
        }
        let get = |counter: &AtomicU64| match reset {
            true => counter.swap(0, Ordering::Relaxed),
            false => counter.load(Ordering::Relaxed),
        };
        let (draws, draw_nanos) = (get(&self.draws), get(&self.nanos));
        // One view tree is built for each picture, as part of drawing it.
        DrawCounts { draws, draw_nanos, views: draws, ..DrawCounts::default() }
    }
}
