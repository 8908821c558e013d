//! Artifacts of core as this dialect shows them, and what is reported of them.

use rookery_core::MediaChange;
use rookery_media as media;
use rookery_model as model;
use serde::Serialize;
use serde_json::Value;

use crate::context::Cx;
use crate::show;
use crate::wire::media::{
    MediaArtifact, MediaArtifactCreated, MediaArtifactDeleted, MediaDimensions, MediaGeneration,
    MediaKind, MediaPreview, MediaPreviewReady, PreviewStrategy, name,
};

pub(crate) fn artifact(cx: &Cx, artifact: &media::Artifact) -> MediaArtifact {
    let generation = artifact.generation.as_ref().map(|generation| MediaGeneration {
        provider: generation.provider.clone(),
        model: generation.model.clone(),
        revised_prompt: generation.revised_prompt.clone(),
        watermark: generation.watermark.clone(),
        safety: generation.safety.clone(),
        provider_response_id: generation.response.clone(),
    });
    MediaArtifact {
        id: artifact.id.clone(),
        kind: kind(artifact.kind),
        mime_type: artifact.mime_type.clone(),
        dimensions: artifact
            .dimensions
            .map(|size| MediaDimensions { width: size.width, height: size.height }),
        duration_millis: artifact.duration_millis,
        byte_size: artifact.byte_size,
        provider: artifact.provider.clone(),
        prompt_hash: artifact.prompt_hash.clone(),
        store_path: path(cx, &artifact.file),
        thumbnail_path: artifact.thumbnail.as_deref().map(|name| path(cx, name)),
        generation,
        created_at: show::time(artifact.created_at),
        roder_owned: artifact.is_owned,
        thread_id: artifact.thread.map(|thread| thread.to_string()),
        turn_id: artifact.turn.map(|turn| turn.to_string()),
        title: artifact.title.clone(),
        sha256: artifact.sha256.clone(),
    }
}

pub(crate) fn preview(cx: &Cx, preview: &media::Preview) -> MediaPreview {
    MediaPreview {
        artifact_id: preview.artifact.clone(),
        strategy: match preview.strategy {
            media::Strategy::InlineImage => PreviewStrategy::InlineImage,
            media::Strategy::Thumbnail => PreviewStrategy::Thumbnail,
            media::Strategy::MetadataOnly => PreviewStrategy::MetadataOnly,
        },
        thumbnail_path: preview.thumbnail.as_deref().map(|name| path(cx, name)),
        fallback_label: preview.label.clone(),
        warning: preview.warning.clone(),
    }
}

fn path(cx: &Cx, name: &str) -> String {
    cx.core.media().path(name).to_string_lossy().into_owned()
}

fn kind(kind: media::Kind) -> MediaKind {
    match kind {
        media::Kind::Image => MediaKind::Image,
        media::Kind::Video => MediaKind::Video,
        media::Kind::Audio => MediaKind::Audio,
        media::Kind::Other => MediaKind::Other,
    }
}

/// The kind that a client names, in the words of the engine.
pub(crate) fn read_kind(kind: MediaKind) -> media::Kind {
    match kind {
        MediaKind::Image => media::Kind::Image,
        MediaKind::Video => media::Kind::Video,
        MediaKind::Audio => media::Kind::Audio,
        MediaKind::Other => media::Kind::Other,
    }
}

/// What is reported of a change.
pub(crate) fn notification(
    cx: &Cx,
    at: model::Timestamp,
    change: &MediaChange,
) -> (&'static str, Value) {
    let timestamp = show::time(at);
    let created = |made: &media::Artifact, timestamp| {
        let (thread_id, turn_id) = place(made);
        MediaArtifactCreated { thread_id, turn_id, artifact: artifact(cx, made), timestamp }
    };
    match change {
        MediaChange::Created(made) => notice_of(name::CREATED, created(made, timestamp)),
        MediaChange::Updated(made) => notice_of(name::UPDATED, created(made, timestamp)),
        MediaChange::Deleted(id) => {
            notice_of(name::DELETED, MediaArtifactDeleted { artifact_id: id.clone(), timestamp })
        }
        MediaChange::PreviewReady(made, shown) => {
            let (thread_id, turn_id) = place(made);
            let preview = preview(cx, shown);
            let ready = MediaPreviewReady { thread_id, turn_id, preview, timestamp };
            notice_of(name::PREVIEW_READY, ready)
        }
    }
}

/// The thread and the turn of an artifact; empty if it has none.
fn place(artifact: &media::Artifact) -> (String, String) {
    let thread = artifact.thread.map(|thread| thread.to_string());
    let turn = artifact.turn.map(|turn| turn.to_string());
    (thread.unwrap_or_default(), turn.unwrap_or_default())
}

fn notice_of(name: &'static str, params: impl Serialize) -> (&'static str, Value) {
    (name, serde_json::to_value(params).unwrap_or_default())
}
