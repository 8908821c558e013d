//! Taking over what another idx0 kept.

use std::path::PathBuf;

use rookery_model::Timestamp;

use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::files::Directory;
use crate::ids::{Payload, filled};
use crate::values::is_true;

pub(crate) async fn import(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let path = filled(&payload, "path").ok_or_else(|| Failure::new("Missing path"))?;
    let dir = PathBuf::from(path);
    if !dir.is_absolute() {
        return Err(Failure::new(format!("The path is not absolute: {path}")));
    }
    let is_dry = payload.get("dryRun").is_some_and(|text| is_true(text));
    let now = Timestamp::from_micros(jiff::Timestamp::now().as_microsecond());
    let read = move || dir.is_dir().then(|| Directory::read(&dir, is_dry, now));
    let read = tokio::task::spawn_blocking(read).await;
    let directory = read.map_err(|error| Failure::new(error.to_string()))?;
    let missing = || Failure::new(format!("The path does not exist: {path}"));
    let (import, draft) = directory.ok_or_else(missing)?.into_parts();
    let (message, imported) = match is_dry {
        true => ("Nothing was changed", cx.core.sessions().preview_import(import)),
        false => ("Import finished", cx.core.sessions().import(import).await?),
    };
    if let (Some(mirror), false) = (&cx.mirror, is_dry) {
        mirror.catch_up().await;
    }
    let report = serde_json::to_string(&draft.finish(&imported));
    let report = report.map_err(|error| Failure::new(error.to_string()))?;
    Ok(Reply::ok(message).with("json", report))
}
