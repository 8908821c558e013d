//! Profiles and settings for tasks to come.

use serde_json::json;

use super::Outcome;
use crate::assign;
use crate::context::Cx;
use crate::errors::Failure;
use crate::wire::{self, Settings};

pub(crate) async fn configure(cx: Cx, data: wire::SetConfiguration) -> Result<Outcome, Failure> {
    let provider = assign::provider(&cx, &data.0).await?;
    cx.hub.profiles().configure(&data.0, provider).await?;
    Outcome::done()
}

pub(crate) async fn configuration(cx: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    Outcome::of(&cx.hub.profiles().configuration().await?)
}

/// What a profile is to hold, with the provider that this describes.
async fn holds(
    cx: &Cx,
    profile: Option<Settings>,
) -> Result<Option<(Settings, Option<String>)>, Failure> {
    let Some(settings) = profile else { return Ok(None) };
    let provider = assign::provider(cx, &settings).await?;
    Ok(Some((settings, provider)))
}

pub(crate) async fn create(cx: Cx, data: wire::ProfileData) -> Result<Outcome, Failure> {
    let holds = holds(&cx, data.profile).await?;
    let id = cx.hub.profiles().create(&data.name, holds, data.activate).await?;
    Outcome::of(&json!({ "success": true, "id": id }))
}

pub(crate) async fn update(cx: Cx, data: wire::ProfileData) -> Result<Outcome, Failure> {
    let holds = holds(&cx, data.profile).await?;
    let id = cx.hub.profiles().update(&data.name, holds, data.activate).await?;
    Outcome::of(&json!({ "success": true, "id": id }))
}

pub(crate) async fn list(cx: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    Outcome::of(&cx.hub.profiles().names().await?)
}

pub(crate) async fn activate(cx: Cx, data: wire::ProfileData) -> Result<Outcome, Failure> {
    cx.hub.profiles().activate(&data.name).await?;
    Outcome::done()
}

pub(crate) async fn active(cx: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    Outcome::of(&cx.hub.profiles().active().await?)
}

pub(crate) async fn delete(cx: Cx, data: wire::ProfileData) -> Result<Outcome, Failure> {
    cx.hub.profiles().delete(&data.name).await?;
    Outcome::done()
}

pub(crate) async fn get(cx: Cx, data: wire::ProfileData) -> Result<Outcome, Failure> {
    Outcome::of(&cx.hub.profiles().get(&data.name).await?)
}
