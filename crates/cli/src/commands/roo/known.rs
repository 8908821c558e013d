//! What the daemon knows of tasks, for the completion of command lines: names, each with a description.

use serde_json::Value;

use super::link::Link;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Tasks,
    Modes,
    Profiles,
}

/// Names and descriptions, if the daemon runs and tells.
pub(crate) async fn known(what: Known) -> Option<Vec<(String, String)>> {
    let command = match what {
        Known::Tasks => "GetTaskHistory",
        Known::Modes => "GetModes",
        Known::Profiles => "GetProfiles",
    };
    let listed = Link::reach().await?.ask(command, None).await.ok()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |item: &Value| match what {
        Known::Tasks => (text(&item["id"]), text(&item["task"])),
        Known::Modes => (text(&item["slug"]), text(&item["name"])),
        Known::Profiles => (text(item), String::new()),
    };
    Some(listed.as_array()?.iter().map(one).collect())
}
