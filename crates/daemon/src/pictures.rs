//! Draws the Roost dialect's pictures with our painter, which is started when first asked.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rookery_paint as paint;
use rookery_roost::{DrawCounts, Drawing, Painter, Picture};
use rookery_view::scene::Scene;

/// Counts what drawing costs, and draws.
#[derive(Debug, Default)]
pub struct Pictures {
    painter: Mutex<Option<paint::Painter>>,
    counted: Arc<Mutex<Counted>>,
}

/// What was drawn since the counters were reset.
#[derive(Debug, Default)]
struct Counted {
    /// What was drawn last.
    last: Option<Arc<Scene>>,
    counts: DrawCounts,
}

impl Counted {
    fn add(&mut self, scene: Arc<Scene>, took: Duration, cost: &paint::Cost) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let counts = &mut self.counts;
        counts.draws += 1;
        counts.draw_nanos += nanos(took);
        counts.texts += cost.texts;
        // One tree is built for each picture.
        counts.views += 1;
        counts.view_nanos += nanos(cost.view);
        counts.elides += cost.elided;
        counts.elide_nanos += nanos(cost.eliding);
        self.last = Some(scene);
    }
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
        let counted = Arc::clone(&self.counted);
        Box::pin(async move {
            let started = Instant::now();
            let drawn = painter?.screenshot(Arc::clone(&scene), scale).await;
            let picture = drawn.map_err(|error| error.to_string())?;
            counted.lock().add(scene, started.elapsed(), &picture.cost);
            Ok(Picture { png: picture.png, width: picture.width, height: picture.height })
        })
    }

    fn present(&self, scene: Arc<Scene>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let is_drawn = self.counted.lock().last.as_ref().is_some_and(|last| *last == scene);
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
        let mut counted = self.counted.lock();
        match reset {
            true => std::mem::take(&mut *counted).counts,
            false => counted.counts,
        }
    }
}
