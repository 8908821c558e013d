//! One thread that draws for all who ask, in the order of their requests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use rookery_view::scene::Scene;
use tokio::sync::{mpsc, oneshot};

use crate::headless::{HeadlessRenderer, Picture};

/// Pictures that may wait to be drawn; the caller of one more waits for room.
const QUEUE: usize = 16;

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PaintError {
    /// The scale was neither 1 nor 2.
    #[error("scale {0} is neither 1 nor 2")]
    Scale(u32),
    /// No screen has such a scale.
    #[error("a picture has between 0.5 and 4 pixels a point")]
    Pixels,
    /// There is no thread to draw on.
    #[error("the painter cannot work: {0}")]
    Unavailable(String),
    /// Drawing failed half way.
    #[error("drawing failed: {0}")]
    Drawing(String),
    /// What was drawn could not be encoded.
    #[error("encoding the picture failed: {0}")]
    Encoding(String),
}

struct Job {
    scene: Arc<Scene>,
    scale: f32,
    answer: oneshot::Sender<Result<Picture, PaintError>>,
}

/// Draws pictures on a thread of its own. Clones share the thread, which ends with the last of them.
#[derive(Clone, Debug)]
pub struct Painter {
    jobs: mpsc::Sender<Job>,
}

impl Painter {
    /// Starts the thread. Fonts are loaded with the first picture, not before.
    pub fn start() -> Result<Painter, PaintError> {
        Painter::with(HeadlessRenderer::picture)
    }

    fn with(
        draw: impl Fn(&mut HeadlessRenderer, &Arc<Scene>, f32) -> Result<Picture, PaintError>
        + Send
        + 'static,
    ) -> Result<Painter, PaintError> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        thread::Builder::new()
            .name("painter".to_owned())
            .spawn(move || work(queue, draw))
            .map_err(|error| PaintError::Unavailable(error.to_string()))?;
        Ok(Painter { jobs })
    }

    /// Draws a scene at scale 1 or 2. Never blocks the thread it is awaited on.
    pub async fn screenshot(&self, scene: Arc<Scene>, scale: u32) -> Result<Picture, PaintError> {
        if !matches!(scale, 1 | 2) {
            return Err(PaintError::Scale(scale));
        }
        self.picture(scene, scale as f32).await
    }

    /// Draws a scene as a screen with this many pixels a point shows it.
    pub async fn picture(&self, scene: Arc<Scene>, scale: f32) -> Result<Picture, PaintError> {
        if !(0.5..=4.0).contains(&scale) {
            return Err(PaintError::Pixels);
        }
        let gone = || PaintError::Unavailable("its thread ended".to_owned());
        let (answer, picture) = oneshot::channel();
        self.jobs.send(Job { scene, scale, answer }).await.map_err(|_| gone())?;
        picture.await.map_err(|_| gone())?
    }
}

fn work(
    mut queue: mpsc::Receiver<Job>,
    draw: impl Fn(&mut HeadlessRenderer, &Arc<Scene>, f32) -> Result<Picture, PaintError>,
) {
    let mut studio: Option<HeadlessRenderer> = None;
    while let Some(Job { scene, scale, answer }) = queue.blocking_recv() {
        // The caller may have gone while the job waited.
        if answer.is_closed() {
            continue;
        }
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            draw(studio.get_or_insert_with(HeadlessRenderer::new), &scene, scale)
        }));
        let outcome = attempt.unwrap_or_else(|panic| {
            // What was half drawn is not to be trusted, nor is a lock held meanwhile.
            studio = None;
            iced_graphics::text::font_system().clear_poison();
            Err(PaintError::Drawing(panic_message(&*panic)))
        });
        // The caller has gone, so nothing is lost.
        let _ = answer.send(outcome);
    }
}

/// What a panic said.
fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no reason was given".to_owned())
}

#[cfg(test)]
mod tests {
    use rookery_view::theme::Theme;

    use super::*;

    fn scene(title: &str) -> Arc<Scene> {
        let mut scene = Scene::new(Theme::fallback());
        scene.title = title.to_owned();
        Arc::new(scene)
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn a_panic_is_an_answer_and_the_next_picture_is_drawn() {
        let draw = |studio: &mut HeadlessRenderer, scene: &Arc<Scene>, scale| {
            // As bad as it gets: within the renderer, with the lock on the fonts held.
            let fonts = iced_graphics::text::font_system().write();
            assert!(scene.title != "bad", "a bad scene");
            drop(fonts);
            studio.picture(scene, scale)
        };
        let painter = Painter::with(draw).unwrap();
        runtime().block_on(async {
            let failed = painter.screenshot(scene("bad"), 1).await;
            let PaintError::Drawing(reason) = failed.unwrap_err() else { unreachable!() };
            assert!(reason.contains("a bad scene"), "{reason}");
            let drawn = painter.screenshot(scene("good"), 1).await.unwrap();
            assert_eq!((drawn.width, drawn.height), (1100, 720));
        });
    }

    #[test]
    fn a_job_whose_caller_has_gone_is_not_drawn() {
        let (count, drawn) = std::sync::mpsc::channel();
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let draw = move |_: &mut HeadlessRenderer, scene: &Arc<Scene>, _| {
            let _ = count.send(scene.title.clone());
            let _ = gate.recv();
            Err(PaintError::Drawing("not now".to_owned()))
        };
        let painter = Painter::with(draw).unwrap();
        runtime().block_on(async {
            let first = tokio::spawn({
                let painter = painter.clone();
                async move { painter.screenshot(scene("first"), 1).await }
            });
            tokio::task::yield_now().await;
            assert_eq!(drawn.recv().as_deref(), Ok("first"));
            let second = tokio::spawn({
                let painter = painter.clone();
                async move { painter.screenshot(scene("second"), 1).await }
            });
            tokio::task::yield_now().await;
            second.abort();
            assert!(second.await.is_err());
            drop(go);
            assert!(first.await.unwrap().is_err());
            assert!(painter.screenshot(scene("third"), 1).await.is_err());
            assert_eq!(drawn.recv().as_deref(), Ok("third"));
        });
    }
}
