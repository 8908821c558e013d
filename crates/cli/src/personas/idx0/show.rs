//! How replies are shown: lines with tabs between their parts, or the JSON itself with `--json`.

use rookery_idx0::envelope::Reply;
use rookery_idx0::wire::{ApprovalRequest, SupervisionQueueItem, VibeCliTool};
use serde::de::DeserializeOwned;

use super::Result;
use super::options::Options;
use rookery_view::safe::line as printable;

const UNDECODED: &str = "Failed to decode IPC response.";

pub(super) fn message(reply: &Reply, options: &Options) -> Result<String> {
    match options.is_set("json") {
        true => serde_json::to_string(reply).map_err(|_| UNDECODED.to_owned()),
        false => Ok(reply.message.clone().unwrap_or_default()),
    }
}

/// The list inside of a reply.
fn json(reply: &Reply) -> Result<&str> {
    let data = reply.data.as_ref().and_then(|data| data.get("json"));
    data.map(String::as_str).ok_or_else(|| UNDECODED.to_owned())
}

fn list<T: DeserializeOwned>(
    reply: &Reply,
    options: &Options,
    none: &str,
    line: impl Fn(&T) -> String,
) -> Result<String> {
    let json = json(reply)?;
    if options.is_set("json") {
        return Ok(json.to_owned());
    }
    let items: Vec<T> = serde_json::from_str(json).map_err(|_| UNDECODED.to_owned())?;
    match items.is_empty() {
        true => Ok(none.to_owned()),
        false => Ok(items.iter().map(line).collect::<Vec<_>>().join("\n")),
    }
}

pub(super) fn queue(reply: &Reply, options: &Options) -> Result<String> {
    list(reply, options, "Queue empty", |item: &SupervisionQueueItem| {
        let subtitle = item.subtitle.as_deref().unwrap_or_default();
        let (title, subtitle) = (printable(&item.title), printable(subtitle));
        format!("[{}] {title}\t{}\t{subtitle}", item.category, item.session_id)
    })
}

pub(super) fn approvals(reply: &Reply, options: &Options) -> Result<String> {
    list(reply, options, "No approvals", |one: &ApprovalRequest| {
        let (title, summary) = (printable(&one.title), printable(&one.summary));
        format!("[{}] {title}\t{}\t{}\t{summary}", one.status, one.id, one.session_id)
    })
}

pub(super) fn tools(reply: &Reply, options: &Options) -> Result<String> {
    list(reply, options, "No tools discovered", |tool: &VibeCliTool| {
        let state = if tool.is_installed { "installed" } else { "missing" };
        format!("{}\t{state}\t{}", tool.id, tool.resolved_path.as_deref().unwrap_or("-"))
    })
}

pub(super) fn sessions(reply: &Reply, options: &Options) -> Result<String> {
    let data = reply.data.clone().unwrap_or_default();
    if options.is_set("json") {
        return serde_json::to_string(&data).map_err(|_| UNDECODED.to_owned());
    }
    if data.is_empty() {
        return Ok("No sessions".to_owned());
    }
    let mut sessions: Vec<(String, String)> = data.into_iter().collect();
    sessions.sort_by_key(|(id, title)| (title.to_lowercase(), id.clone()));
    let lines = sessions.iter().map(|(id, title)| format!("{id}\t{}", printable(title)));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &[&str]) -> Options {
        Options::read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn lists_are_lines_with_tabs() {
        let item = r#"[{"category":"error","createdAt":"2026-03-22T15:00:00Z","id":"A","isPinned":false,"isResolved":false,"sessionID":"S","title":"Broken"}]"#;
        let reply = Reply::ok("OK").with("json", item);
        assert_eq!(queue(&reply, &options(&[])).unwrap(), "[error] Broken\tS\t");
        assert_eq!(queue(&reply, &options(&["--json"])).unwrap(), item);
        let none = Reply::ok("OK").with("json", "[]");
        assert_eq!(queue(&none, &options(&[])).unwrap(), "Queue empty");
        assert_eq!(approvals(&none, &options(&[])).unwrap(), "No approvals");
        assert_eq!(tools(&none, &options(&[])).unwrap(), "No tools discovered");
    }

    #[test]
    fn sessions_are_sorted_by_title_whatever_its_letters() {
        let reply = Reply::ok("OK").with("1", "beta").with("2", "Alpha");
        assert_eq!(sessions(&reply, &options(&[])).unwrap(), "2\tAlpha\n1\tbeta");
        assert_eq!(sessions(&Reply::ok("OK"), &options(&[])).unwrap(), "No sessions");
    }
}
