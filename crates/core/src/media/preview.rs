//! How an artifact is shown: an image by a thumbnail, which is made once and kept; anything else by what is
//! known of it.

use std::sync::Arc;

use rookery_media::{Kind, Preview, thumbnail};
use rookery_model::{Error, Result};

use super::{LARGEST, MediaChange, unknown};
use crate::core::blocking;
use crate::rooms::Media;

/// The largest thumbnail: one of our own making has less.
const LARGEST_THUMBNAIL: u64 = 4 << 20;

impl Media {
    /// How an artifact is shown, with its thumbnail as PNG if it has one.
    ///
    /// # Errors
    /// If there is no such artifact, or what was made cannot be kept.
    pub async fn thumbnail(&self, id: &str) -> Result<(Preview, Option<Vec<u8>>)> {
        let index = self.index().await?;
        let artifact = index.get(id).ok_or_else(|| unknown(id))?;
        if artifact.kind != Kind::Image {
            return Ok((artifact.preview(None), None));
        }
        if let Some(name) = artifact.thumbnail.clone() {
            let files = Arc::clone(&index);
            let kept = blocking(move || files.files.read(&name, LARGEST_THUMBNAIL)).await?;
            // One that is gone is made again.
            if let Ok(bytes) = kept {
                return Ok((artifact.preview(None), Some(bytes)));
            }
        }
        let room = self.room();
        let permit = room.decoders.acquire().await;
        let _permit = permit.map_err(|error| Error::failed(error.to_string()))?;
        let (files, name) = (Arc::clone(&index), artifact.file.clone());
        let made = blocking(move || match files.files.read(&name, LARGEST) {
            Ok(bytes) => thumbnail(&bytes),
            Err(error) => Err(format!("its file cannot be read: {error:?}")),
        });
        let bytes = match made.await? {
            Ok(bytes) => bytes,
            Err(why) => {
                let warning = format!("no thumbnail can be made: {why}");
                return Ok((artifact.preview(Some(warning)), None));
            }
        };
        let _order = room.order.lock().await;
        // Deleted meanwhile: nothing of it may come back.
        let current = index.get(id).ok_or_else(|| unknown(id))?;
        let name = format!("{id}.thumb.png");
        let (files, own, written) = (Arc::clone(&index), name.clone(), bytes.clone());
        let written = blocking(move || files.files.write(&own, &written)).await?;
        written.map_err(|error| Error::failed(format!("the thumbnail cannot be kept: {error}")))?;
        let mut changed = (*current).clone();
        changed.thumbnail = Some(name);
        let changed = self.replace(&index, changed).await?;
        let preview = changed.preview(None);
        self.notify(MediaChange::PreviewReady(changed, preview.clone()));
        Ok((preview, Some(bytes)))
    }
}
