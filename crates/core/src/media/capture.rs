//! Images that come by: what users send, tools return and screenshots show. They are kept in the
//! background, each once for its thread, unless the settings say otherwise.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rookery_media::{Kind, sniff};
use rookery_model::{Item, ItemBody, ThreadId, TurnId};

use super::{LARGEST, NewArtifact, digest};
use crate::rooms::Media;

/// Where an image comes from that a user sent.
const SENT: &str = "user";
/// Where an image comes from that a tool returned.
const RETURNED: &str = "tool";
/// Where a screenshot comes from.
const SCREENSHOT: &str = "screenshot";
/// Images of one item that are kept.
const MOST_OF_ITEM: usize = 32;

impl Media {
    /// Keeps the images of an item.
    pub(crate) fn keep_images_of(&self, thread: ThreadId, turn: TurnId, item: &Item) {
        let (images, provider, title) = match &item.body {
            ItemBody::User { images, .. } => (images, SENT, None),
            ItemBody::Tool(tool) => (&tool.images, RETURNED, Some(tool.name.clone())),
            _ => return,
        };
        if images.is_empty() || !self.keeps() {
            return;
        }
        let images: Vec<String> = images.iter().take(MOST_OF_ITEM).cloned().collect();
        let media = self.clone();
        let work = async move {
            for image in images {
                let Some(bytes) = bytes_of(&image) else { continue };
                let new = NewArtifact {
                    bytes,
                    provider: provider.to_owned(),
                    thread: Some(thread),
                    turn: Some(turn),
                    title: title.clone(),
                    ..NewArtifact::default()
                };
                media.keep_once(new).await;
            }
        };
        self.spawn(work);
    }

    /// Keeps a screenshot, as PNG.
    pub fn keep_screenshot(&self, png: &[u8]) {
        if !self.keeps() {
            return;
        }
        let provider = SCREENSHOT.to_owned();
        let new = NewArtifact { bytes: png.to_vec(), provider, ..NewArtifact::default() };
        let media = self.clone();
        self.spawn(async move { media.keep_once(new).await });
    }

    /// Does something in the background, wherever this is called from.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let inner = &self.core.inner;
        inner.background.spawn_on(work, &inner.runtime);
    }

    fn keeps(&self) -> bool {
        self.core.agents().settings().media.keeps
    }

    /// Keeps an image, unless it is kept for its thread already. One that belongs to no thread gets this
    /// one's. What goes wrong is of no consequence to those who brought it.
    async fn keep_once(&self, new: NewArtifact) {
        if sniff(&new.bytes).kind != Kind::Image {
            return;
        }
        let kept = async {
            let index = self.index().await?;
            let hash = digest(&new.bytes);
            let same = |artifact: &Arc<_>| is_same(artifact, &hash, new.thread);
            let known = index.all().into_iter().find(same);
            match known {
                None => self.keep(new).await.map(drop),
                Some(known) if known.thread == new.thread => Ok(()),
                Some(known) => {
                    let _order = self.room().order.lock().await;
                    let Some(known) = index.get(&known.id) else { return Ok(()) };
                    let mut changed = (*known).clone();
                    (changed.thread, changed.turn) = (new.thread, new.turn);
                    self.replace(&index, changed).await.map(drop)
                }
            }
        };
        if let Err(error) = kept.await {
            tracing::warn!(%error, "an image was not kept");
        }
    }
}

/// Whether an artifact has these bytes and may be the one of this thread.
fn is_same(artifact: &rookery_media::Artifact, hash: &str, thread: Option<ThreadId>) -> bool {
    artifact.sha256 == hash && (artifact.thread == thread || artifact.thread.is_none())
}

/// The bytes of a `data:` address.
fn bytes_of(address: &str) -> Option<Vec<u8>> {
    let (kind, text) = address.strip_prefix("data:")?.split_once(',')?;
    let is_small = text.len() as u64 <= LARGEST * 4 / 3;
    STANDARD.decode(text).ok().filter(|_| kind.ends_with(";base64") && is_small)
}
