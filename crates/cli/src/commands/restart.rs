//! `rookery restart`: another daemon takes over, and terminals notice nothing.

use rookery_native::wire::Shutdown;

use crate::{
    commands::{down, status},
    daemon_process,
    failure::Outcome,
    link,
};

/// How a daemon stops that another follows.
pub(super) const RESTART: Shutdown = Shutdown { all: false, restart: true };

pub(super) async fn run(json: bool) -> Outcome {
    let homes = link::homes()?;
    match link::try_connect_own(&homes).await {
        Ok(Some(client)) => down::stop(&homes, &client, RESTART).await?,
        Ok(None) => {}
        Err(failure) => down::stop_by_signal(&homes, failure).await?,
    }
    let (client, _) = daemon_process::ensure(&homes).await?;
    status::print(&client, json).await
}
