//! Profiles and settings for tasks to come.

use serde_json::json;

use super::Outcome;
use crate::context::Cx;
use crate::errors::Failure;
use crate::profiles::{Base, FIRST};
use crate::provider;
use crate::wire::{self, Settings};

pub(crate) async fn configure(cx: Cx, data: wire::SetConfiguration) -> Result<Outcome, Failure> {
    let name = data.0.text("currentApiConfigName").unwrap_or(FIRST).to_owned();
    let before = cx.hub.profiles().of(&name).await?;
    let provider = described(&cx, &before, &data.0.of_profile()).await?;
    cx.hub.profiles().configure(&name, &data.0, provider).await?;
    forget_unused(&cx, before.provider).await?;
    Outcome::done()
}

/// The provider of a profile once it holds these settings as well; none if they are silent on it.
async fn described(cx: &Cx, before: &Base, given: &Settings) -> Result<Option<String>, Failure> {
    if given.is_empty() {
        return Ok(None);
    }
    let settings = before.settings.clone().with(given);
    provider::find(cx, &settings, before.provider.as_deref()).await
}

/// A key that no profile has any more is not kept, unless a task works with it.
async fn forget_unused(cx: &Cx, provider: Option<String>) -> Result<(), Failure> {
    let kept = cx.hub.profiles().providers().await?;
    if let Some(provider) = provider.filter(|provider| !kept.contains(provider)) {
        cx.core.agents().forget_private_provider(provider).await?;
    }
    Ok(())
}

pub(crate) async fn configuration(cx: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    Outcome::of(&cx.hub.profiles().configuration().await?)
}

pub(crate) async fn create(cx: Cx, data: wire::ProfileData) -> Result<Outcome, Failure> {
    let before = cx.hub.profiles().of(&data.name).await?;
    let holds = match data.profile {
        Some(settings) => {
            let provider = described(&cx, &before, &settings).await?;
            Some((settings, provider))
        }
        None => None,
    };
    let id = cx.hub.profiles().create(&data.name, holds, data.activate).await?;
    forget_unused(&cx, before.provider).await?;
    Outcome::of(&json!({ "success": true, "id": id }))
}

pub(crate) async fn update(cx: Cx, data: wire::ProfileData) -> Result<Outcome, Failure> {
    // Before anything of it is kept.
    cx.hub.profiles().get(&data.name).await?;
    let profile = Some(data.profile.unwrap_or_default());
    create(cx, wire::ProfileData { profile, ..data }).await
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
    let before = cx.hub.profiles().of(&data.name).await?;
    cx.hub.profiles().delete(&data.name).await?;
    forget_unused(&cx, before.provider).await?;
    Outcome::done()
}

pub(crate) async fn get(cx: Cx, data: wire::ProfileData) -> Result<Outcome, Failure> {
    Outcome::of(&cx.hub.profiles().get(&data.name).await?)
}
