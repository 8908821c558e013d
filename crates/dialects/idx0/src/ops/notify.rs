//! A word about a session, from hooks and scripts.

use rookery_core::{Reported, SessionNotice};
use rookery_host::{ReportWord, known_agents};
use rookery_model::{Category, SessionId};

use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::ids::{self, Payload, filled, text_or};
use crate::values::uuid;
use crate::wire::read_category;

/// What shells say of agents.
const DOINGS: &[&str] = &["started", "finished", "failed"];

const ACTIVITIES: &[(&str, Reported)] = &[
    ("active", Reported::Active),
    ("waiting", Reported::Waiting),
    ("completed", Reported::Completed),
    ("error", Reported::Error),
    ("clear", Reported::Clear),
];

pub(crate) async fn notify(cx: Cx, payload: Payload) -> Result<Reply, Failure> {
    let session = ids::id(&payload, "sessionID");
    let session = session.ok_or_else(|| Failure::new("Missing or invalid sessionID"))?;
    let title = text_or(&payload, "title", "Activity");
    let summary = filled(&payload, "summary").and_then(|_| payload.get("summary").cloned());
    let category = payload.get("category").and_then(|word| read_category(word));
    let agent = agent_in(&title, summary.as_deref());
    let activity = payload.get("activity").and_then(|word| {
        let (_, reported) = ACTIVITIES.iter().find(|(known, _)| known == word)?;
        (agent.is_some() || *reported == Reported::Clear).then_some(*reported)
    });
    let word = filled(&payload, "activityDescription").unwrap_or(&title).to_owned();
    let notice = SessionNotice {
        session: SessionId::new(session),
        category: category.unwrap_or(Category::Informational),
        title,
        summary,
        activity: activity.map(|reported| (reported, word)),
        agent: agent.map(str::to_owned),
    };
    let id = cx.core.sessions().take_notice(notice).await?;
    Ok(Reply::ok("Notification created").with("queueID", uuid(id.get())))
}

/// The words by which shells report agents: only what is known to be an agent is believed.
fn words() -> impl Iterator<Item = &'static ReportWord> {
    known_agents().iter().filter_map(|agent| agent.report.as_ref())
}

/// The agent of which the words tell, if they are those of a shell that reports what it does.
fn agent_in(title: &str, summary: Option<&str>) -> Option<&'static str> {
    let text = format!("{title} {}", summary.unwrap_or_default()).to_lowercase();
    let says = |words: String| text.contains(&words);
    let named = words().map(|report| report.word.as_str()).find(|agent| {
        DOINGS.iter().any(|doing| says(format!("{agent} {doing}")))
            || says(format!("running: {agent}"))
    });
    named.or_else(|| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut told = words.windows(2).filter(|pair| DOINGS.contains(&pair[1]));
        told.find_map(|pair| agent_of(pair[0]))
    })
}

/// The agent that a program of this name is, such as `cursor-agent`: shells report it by that.
fn agent_of(name: &str) -> Option<&'static str> {
    // Other names begin like those that are not known by their beginning.
    let ends = |rest: &str| rest.starts_with(|next: char| "-._0123456789".contains(next));
    let begins = words().find(|known| known.prefix && name.starts_with(&known.word));
    let is_it = |known: &&ReportWord| {
        !known.prefix && name.strip_prefix(known.word.as_str()).is_some_and(ends)
    };
    begins.or_else(|| words().find(is_it)).map(|known| known.word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_says_of_an_agent_is_believed() {
        assert_eq!(agent_in("claude started", None), Some("claude"));
        assert_eq!(agent_in("x", Some("Running: codex -c")), Some("codex"));
        assert_eq!(agent_in("CLAUDE FAILED", Some("")), Some("claude"));
        assert_eq!(agent_in("Activity", Some("claude is nice")), None);
        assert_eq!(agent_in("make finished", None), None);
        assert_eq!(agent_in("cursor-agent finished", None), Some("cursor"));
        let failed = Some("Exit code 1 after 2s");
        assert_eq!(agent_in("gemini-cli failed", failed), Some("gemini"));
        assert_eq!(agent_in("rookery finished", Some("Completed in 0s")), None);
        assert_eq!(agent_in("running:", Some("goose")), Some("goose"), "the two are one text");
    }
}
