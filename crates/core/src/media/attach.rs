//! Artifacts as what a user says: an image can wait for the next turn of a thread.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rookery_media::{Artifact, Kind};
use rookery_model::{Error, Result, ThreadId};

use crate::rooms::Media;

/// The largest artifact that is attached: as large as an image that a tool may show.
const LARGEST_ATTACHED: u64 = 10 << 20;

/// An artifact with its bytes as an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaAttachment {
    pub artifact: Arc<Artifact>,
    /// Its bytes, as a `data:` address.
    pub data_url: String,
}

impl MediaAttachment {
    /// Whether it can be shown to a model.
    pub fn is_image(&self) -> bool {
        is_image(&self.artifact)
    }
}

fn is_image(artifact: &Artifact) -> bool {
    artifact.kind == Kind::Image && artifact.mime_type.starts_with("image/")
}

impl Media {
    /// An artifact as an attachment. With a thread its image waits for the thread's next turn.
    ///
    /// # Errors
    /// If there is no such artifact or thread, it is too large, or it is no image and is to wait; nothing
    /// waits then.
    pub async fn attach(&self, id: &str, thread: Option<ThreadId>) -> Result<MediaAttachment> {
        if let Some(thread) = thread {
            self.core.threads().get(thread).ok_or_else(|| crate::world::no_thread(thread))?;
            if !is_image(&*self.get(id).await?) {
                let message = "artifact_id must name an image to wait for a turn";
                return Err(Error::invalid("artifact_id", message));
            }
        }
        let attachment = self.attachment(id).await?;
        if let Some(thread) = thread {
            self.core.threads().attach(thread, id.to_owned()).await?;
        }
        Ok(attachment)
    }

    async fn attachment(&self, id: &str) -> Result<MediaAttachment> {
        let (artifact, bytes) = self.read(id, LARGEST_ATTACHED).await?;
        let data_url = format!("data:{};base64,{}", artifact.mime_type, STANDARD.encode(bytes));
        Ok(MediaAttachment { artifact, data_url })
    }

    /// The images of these artifacts, as `data:` addresses; those that are gone are left out.
    pub(crate) async fn images(&self, ids: &[String]) -> Vec<String> {
        let mut images = Vec::new();
        for id in ids {
            match self.attachment(id).await {
                Ok(attachment) => images.push(attachment.data_url),
                Err(error) => {
                    tracing::warn!(%error, id, "an image that was to be attached is gone")
                }
            }
        }
        images
    }
}
