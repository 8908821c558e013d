//! Media: artifacts that are kept, how they are shown, and images that are made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::or_default;

/// What sort of media an artifact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MediaKind {
    Image,
    Video,
    Audio,
    Other,
}

/// How large an image is, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaDimensions {
    pub width: u32,
    pub height: u32,
}

/// What a provider said of an image that it made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaGeneration {
    pub provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermark: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_response_id: Option<String>,
}

/// A file that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaArtifact {
    pub id: String,
    pub kind: MediaKind,
    /// What it is, by its bytes.
    pub mime_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<MediaDimensions>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_millis: Option<u64>,
    pub byte_size: u64,
    /// Where it comes from: `import`, `user`, `tool`, `screenshot`, or who made it.
    pub provider: String,
    /// SHA-256 of the prompt that it was made from; empty if it was made from none.
    pub prompt_hash: String,
    pub store_path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<MediaGeneration>,
    pub created_at: String,
    /// Whether it may be deleted.
    pub roder_owned: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub sha256: String,
}

/// How an artifact can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PreviewStrategy {
    InlineImage,
    Thumbnail,
    MetadataOnly,
}

/// How an artifact is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaPreview {
    pub artifact_id: String,
    pub strategy: PreviewStrategy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail_path: Option<String>,
    /// What is shown where no picture can be.
    pub fallback_label: String,
    /// Why there is no picture, if there should be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Params of `media/list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MediaListParams {
    pub thread_id: Option<String>,
    pub kind: Option<MediaKind>,
}

/// Result of `media/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaListResult {
    /// Newest first.
    pub artifacts: Vec<MediaArtifact>,
}

/// Params of `media/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaReadParams {
    pub artifact_id: String,
    /// The most bytes that are wanted; 10 MiB if it is not said.
    #[serde(default)]
    pub max_bytes: Option<u64>,
}

/// Result of `media/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaReadResult {
    pub artifact: MediaArtifact,
    pub bytes_base64: String,
}

/// Params of `media/thumbnail` and `media/delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaIdParams {
    pub artifact_id: String,
}

/// Result of `media/thumbnail`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaThumbnailResult {
    pub preview: MediaPreview,
    /// The thumbnail as PNG, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_base64: Option<String>,
}

/// Result of `media/delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaDeleteResult {
    pub deleted: bool,
}

/// Params of `media/attachToTurn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaAttachToTurnParams {
    pub artifact_id: String,
    /// The thread whose next turn gets the image.
    #[serde(default)]
    pub thread_id: Option<String>,
}

/// Result of `media/attachToTurn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaAttachToTurnResult {
    pub attachment: MediaAttachment,
    /// The same as an input of `turn/start`; null if it is no image.
    pub image: Option<InputImage>,
}

/// An artifact with its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaAttachment {
    pub artifact_id: String,
    pub mime_type: String,
    pub data_url: String,
}

/// An image as an input, as published clients write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct InputImage {
    pub image_url: String,
}

/// Params of `media/import`: a file by its path, or bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MediaImportParams {
    /// Absolute.
    pub path: Option<String>,
    pub bytes_base64: Option<String>,
    /// What the caller takes it for; the bytes decide.
    pub mime_type: Option<String>,
    pub thread_id: Option<String>,
    pub title: Option<String>,
}

/// Result of `media/import`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaImportResult {
    pub artifact: MediaArtifact,
}

/// Result of `media/image/providers/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageProvidersListResult {
    pub default_provider: String,
    pub providers: Vec<ImageProvider>,
}

/// Who makes images.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageProvider {
    pub id: String,
    pub display_name: String,
    pub supports_images: bool,
    pub supports_videos: bool,
    /// Whether it has the key that it needs.
    pub configured: bool,
    pub default_model: String,
    pub image_models: Vec<ImageModel>,
}

/// A model that makes images.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageModel {
    pub id: String,
    pub display_name: String,
    pub provider: String,
    pub is_default: bool,
    pub legacy: bool,
    pub supports_edit: bool,
    pub supports_multiple_outputs: bool,
    pub supports_transparent_background: bool,
    pub supports_partial_images: bool,
}

/// What is done to make an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ImageAction {
    Auto,
    Generate,
    Edit,
}

/// An image that another is made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageInput {
    pub bytes_base64: String,
    #[serde(default)]
    pub mime_type: String,
}

/// Params of `media/image/generate`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ImageGenerateParams {
    pub prompt: String,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub action: Option<ImageAction>,
    #[serde(deserialize_with = "or_default")]
    pub input_artifacts: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub input_images: Vec<ImageInput>,
    /// One if it is not said, 10 at most.
    pub count: Option<i64>,
    pub aspect_ratio: Option<String>,
    pub size: Option<String>,
    pub image_size: Option<String>,
    pub quality: Option<String>,
    pub output_format: Option<String>,
    pub background: Option<String>,
    pub output_compression: Option<u8>,
    pub moderation: Option<String>,
    /// Further members of the request, as the provider calls them.
    #[serde(deserialize_with = "or_default")]
    pub provider_options: Map<String, Value>,
    pub thread_id: Option<String>,
}

/// Result of `media/image/generate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageGenerateResult {
    pub response: ImageGeneration,
}

/// Images that were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageGeneration {
    pub provider: String,
    pub model: String,
    pub outputs: Vec<ImageOutput>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_response_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ImageUsage>,
    /// What went wrong with images that are not among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_errors: Vec<String>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageOutput {
    pub artifact: MediaArtifact,
    pub preview: MediaPreview,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised_prompt: Option<String>,
}

/// What a provider counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageUsage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
}

/// Params of `media/artifactCreated` and `media/artifactUpdated`. Ids are empty if it belongs to no thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaArtifactCreated {
    pub thread_id: String,
    pub turn_id: String,
    pub artifact: MediaArtifact,
    pub timestamp: String,
}

/// Params of `media/artifactDeleted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaArtifactDeleted {
    pub artifact_id: String,
    pub timestamp: String,
}

/// Params of `media/previewReady`. Ids are empty if it belongs to no thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MediaPreviewReady {
    pub thread_id: String,
    pub turn_id: String,
    pub preview: MediaPreview,
    pub timestamp: String,
}

/// The names of what is reported of artifacts.
pub mod name {
    /// Carries a [`MediaArtifactCreated`](super::MediaArtifactCreated).
    pub const CREATED: &str = "media/artifactCreated";
    /// Carries a [`MediaArtifactCreated`](super::MediaArtifactCreated).
    pub const UPDATED: &str = "media/artifactUpdated";
    /// Carries a [`MediaArtifactDeleted`](super::MediaArtifactDeleted).
    pub const DELETED: &str = "media/artifactDeleted";
    /// Carries a [`MediaPreviewReady`](super::MediaPreviewReady).
    pub const PREVIEW_READY: &str = "media/previewReady";
}
