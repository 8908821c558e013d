//! `rookery up`: a daemon in the background, started unless there is one.

use crate::{commands::status, daemon_process, failure::Outcome, link};

pub(super) async fn run(json: bool) -> Outcome {
    let homes = link::homes()?;
    let (client, _) = daemon_process::ensure(&homes).await?;
    link::bring_here(&homes).await?;
    status::print(&client, json).await
}
