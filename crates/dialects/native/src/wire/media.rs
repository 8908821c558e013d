//! Params and results about artifacts: images and other files that are kept.

use std::path::PathBuf;

use rookery_media as media;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::format_time;

/// What sort of media an artifact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    Image,
    Video,
    Audio,
    Other,
}

/// Params of `rookery/media/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaList {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MediaKind>,
}

call!("rookery/media/list" MediaList -> Artifacts);

/// Result of `rookery/media/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifacts {
    /// Newest first.
    pub artifacts: Vec<Artifact>,
}

/// Params of `rookery/media/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaGet {
    pub artifact: String,
}

call!("rookery/media/get" MediaGet -> Artifact);

/// Params of `rookery/media/import`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaImport {
    /// The file; absolute.
    pub path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

call!("rookery/media/import" MediaImport -> Artifact);

/// Params of `rookery/media/delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaDelete {
    pub artifact: String,
}

call!("rookery/media/delete" MediaDelete -> super::Empty);

/// Params of `rookery/media/thumbnail`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaThumbnail {
    pub artifact: String,
}

call!("rookery/media/thumbnail" MediaThumbnail -> Thumbnail);

/// How an artifact is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Thumbnail {
    pub artifact: String,
    /// The PNG with its picture, 256 pixels at most; none if it has no picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Text to show instead of the image.
    pub label: String,
    /// Why there is no picture, if there should be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Params of `rookery/media/attach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaAttach {
    /// An image.
    pub artifact: String,
    /// Whose next turn gets it.
    pub thread: String,
}

call!("rookery/media/attach" MediaAttach -> Artifact);

/// Params of `rookery/media/generate`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaGenerate {
    /// What is to be seen.
    pub prompt: String,
    /// Who makes it; the first that is set up if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many; one if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Images that it is made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

call!("rookery/media/generate" MediaGenerate -> Generated);

/// Images that were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Generated {
    pub artifacts: Vec<Artifact>,
    pub provider: String,
    pub model: String,
    /// What went wrong with those that are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// An artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    pub id: String,
    pub kind: MediaKind,
    /// What it is, by its bytes.
    pub mime_type: String,
    /// In pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    pub byte_size: u64,
    /// Where it comes from: `import`, `user`, `tool`, `screenshot`, or who made it.
    pub provider: String,
    /// Its file.
    pub path: PathBuf,
    pub sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub created_at: String,
}

impl Artifact {
    /// An artifact whose file lies at this path.
    pub(crate) fn new(artifact: &media::Artifact, path: PathBuf) -> Self {
        Artifact {
            id: artifact.id.clone(),
            kind: match artifact.kind {
                media::Kind::Image => MediaKind::Image,
                media::Kind::Video => MediaKind::Video,
                media::Kind::Audio => MediaKind::Audio,
                media::Kind::Other => MediaKind::Other,
            },
            mime_type: artifact.mime_type.clone(),
            width: artifact.dimensions.map(|size| size.width),
            height: artifact.dimensions.map(|size| size.height),
            byte_size: artifact.byte_size,
            provider: artifact.provider.clone(),
            path,
            sha256: artifact.sha256.clone(),
            thread: artifact.thread.map(|thread| thread.to_string()),
            turn: artifact.turn.map(|turn| turn.to_string()),
            title: artifact.title.clone(),
            created_at: format_time(artifact.created_at),
        }
    }
}
