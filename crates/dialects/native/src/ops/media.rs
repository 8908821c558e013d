//! Artifacts: listed, looked at, brought and deleted.

use rookery_core::Brought;
use rookery_media as media;
use rookery_model as model;

use super::named::absolute;
use crate::{
    Cx, Error,
    wire::{Artifact, Artifacts, Empty, MediaDelete, MediaGet, MediaImport, MediaKind, MediaList},
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
    let kept = media.import(Brought::Path(params.path), thread, params.title).await?;
    Ok(shown(&cx, &kept))
}

pub(crate) async fn delete(cx: Cx, params: MediaDelete) -> Result<Empty, Error> {
    match cx.core.media().delete(&params.artifact).await? {
        true => Ok(Empty {}),
        false => Err(unknown(&params.artifact)),
    }
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
