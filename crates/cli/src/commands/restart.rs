//! `rookery restart`: another daemon takes over, and terminals notice nothing.

use crate::{
    commands::{down, status},
    daemon_process,
    failure::Outcome,
    link,
};

pub(super) async fn run(json: bool) -> Outcome {
    let homes = link::homes()?;
    match link::try_connect_own(&homes).await {
        Ok(Some(client)) => down::stop(&homes, &client, false).await?,
        Ok(None) => {}
        Err(failure) => down::stop_by_signal(&homes, failure).await?,
    }
    let (client, _) = daemon_process::ensure(&homes).await?;
    status::print(&client, json).await
}
