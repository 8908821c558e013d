//! Artifacts: listed, looked at, brought and deleted.

use rookery_core::{ImageAction, MediaInput, NewImage, NewImageInput};
use rookery_media as media;
use rookery_model as model;

use super::named::absolute;
use crate::{
    Cx, Error,
    wire::{
        Artifact, Artifacts, Empty, Generated, MediaAttach, MediaDelete, MediaGenerate, MediaGet,
        MediaImport, MediaKind, MediaList, MediaThumbnail, Thumbnail,
    },
};

pub(crate) async fn list(cx: Cx, params: MediaList) -> Result<Artifacts, Error> {
    let thread = params.thread.as_deref().map(thread).transpose()?;
    let kind = params.kind.map(|kind| match kind {
        MediaKind::Image => media::Kind::Image,
        MediaKind::Video => media::Kind::Video,
        MediaKind::Audio => media::Kind::Audio,
        MediaKind::Other => media::Kind::Other,
    });
    let found = cx.core.media().list(thread, kind).await?;
    Ok(Artifacts { artifacts: found.iter().map(|artifact| shown(&cx, artifact)).collect() })
}

pub(crate) async fn get(cx: Cx, params: MediaGet) -> Result<Artifact, Error> {
    let found = cx.core.media().get(&params.artifact).await;
    let found = found.map_err(|_| unknown(&params.artifact))?;
    Ok(shown(&cx, &found))
}

pub(crate) async fn import(cx: Cx, params: MediaImport) -> Result<Artifact, Error> {
    absolute("path", &params.path)?;
    let thread = params.thread.as_deref().map(thread).transpose()?;
    let media = cx.core.media();
    let kept = media.import(MediaInput::Path(params.path), thread, params.title).await?;
    Ok(shown(&cx, &kept))
}

pub(crate) async fn delete(cx: Cx, params: MediaDelete) -> Result<Empty, Error> {
    match cx.core.media().delete(&params.artifact).await? {
        true => Ok(Empty {}),
        false => Err(unknown(&params.artifact)),
    }
}

pub(crate) async fn thumbnail(cx: Cx, params: MediaThumbnail) -> Result<Thumbnail, Error> {
    // Whatever is wrong with one that is there is said.
    get(cx.clone(), MediaGet { artifact: params.artifact.clone() }).await?;
    let media = cx.core.media();
    let (preview, _) = media.thumbnail(&params.artifact).await?;
    Ok(Thumbnail {
        artifact: preview.artifact,
        path: preview.thumbnail.map(|name| media.path(&name)),
        label: preview.label,
        warning: preview.warning,
    })
}

pub(crate) async fn attach(cx: Cx, params: MediaAttach) -> Result<Artifact, Error> {
    get(cx.clone(), MediaGet { artifact: params.artifact.clone() }).await?;
    let thread = thread(&params.thread)?;
    let attached = cx.core.media().attach(&params.artifact, Some(thread)).await?;
    Ok(shown(&cx, &attached.artifact))
}

pub(crate) async fn generate(cx: Cx, params: MediaGenerate) -> Result<Generated, Error> {
    let thread = params.thread.as_deref().map(thread).transpose()?;
    let wanted = NewImage {
        prompt: params.prompt,
        provider: params.provider,
        model: params.model,
        action: ImageAction::Auto,
        inputs: params.inputs.into_iter().map(NewImageInput::Artifact).collect(),
        count: params.count,
        options: serde_json::Map::new(),
        thread,
    };
    let made = cx.core.media().make(wanted).await?;
    Ok(Generated {
        artifacts: made.outputs.iter().map(|one| shown(&cx, &one.artifact)).collect(),
        provider: made.provider,
        model: made.model,
        problems: made.problems,
    })
}

fn shown(cx: &Cx, artifact: &media::Artifact) -> Artifact {
    Artifact::new(artifact, cx.core.media().path(&artifact.file))
}

fn thread(text: &str) -> Result<model::ThreadId, Error> {
    text.parse().map_err(|_| Error::invalid("thread", "thread must be the id of a thread"))
}

fn unknown(id: &str) -> Error {
    let shown: String = id.chars().take(128).collect();
    model::Error::not_found(format!("no artifact {shown}")).into()
}
