//! Rows of agents: their order and their words, for the palette and for the sidebar.

use std::cmp::Reverse;

use rookery_model::{Activity, Lifecycle, Owner, ShellState, TerminalId, Timestamp};

use super::row::{AgentDetail, Row, Target};
use crate::scene::{AgentRow, Mood};

/// What differs from the last commit in an agent's directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metrics {
    /// Files changed, lines added and removed.
    Changed {
        /// Files, untracked ones included.
        files: u64,
        /// Lines added.
        added: u64,
        /// Lines removed.
        removed: u64,
    },
    /// Clean, no repository, or it could not be found out.
    Nothing,
}

/// A tab and what goes on in it, as core knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentInput {
    pub tab: TerminalId,
    /// The project's name.
    pub project: String,
    /// The project's place.
    pub project_position: i64,
    /// The tab's place in its project.
    pub tab_position: i64,
    /// The tab's title.
    pub tab_title: String,
    /// What goes on in it; without an agent as owner the tab gets no row.
    pub activity: Activity,
    /// What was changed; none while that is being found out.
    pub metrics: Option<Metrics>,
}

/// The state to show: the agent's own word, else what the shell makes of it.
pub fn effective(activity: &Activity) -> Lifecycle {
    match activity.lifecycle {
        said if said != Lifecycle::Inactive && activity.owner.is_some() => said,
        _ if activity.shell == ShellState::Foreground => Lifecycle::Working,
        _ => Lifecycle::Inactive,
    }
}

/// The mood a state is drawn in.
pub fn mood(lifecycle: Lifecycle) -> Mood {
    match lifecycle {
        Lifecycle::Inactive => Mood::Inactive,
        Lifecycle::Finished => Mood::Finished,
        Lifecycle::Working => Mood::Working,
        Lifecycle::Waiting => Mood::Waiting,
        Lifecycle::Failed => Mood::Failed,
    }
}

/// The tabs among `tabs` that agents own, in the order they are listed: loudest first, then the
/// newest word, then by place.
pub fn ordered(tabs: &[AgentInput]) -> Vec<(&AgentInput, &Owner)> {
    let owned = tabs.iter().filter_map(|tab| Some((tab, tab.activity.owner.as_ref()?)));
    let mut agents: Vec<(&AgentInput, &Owner)> =
        owned.filter(|(_, owner)| owner.is_agent()).collect();
    agents.sort_by_key(|(agent, owner)| {
        let loudness = mood(effective(&agent.activity));
        let places = (agent.project_position, agent.tab_position, agent.tab);
        (Reverse(loudness), Reverse(owner.last_event_at.as_seconds()), places)
    });
    agents
}

/// The rows of the palette of agents.
pub(super) fn rows(tabs: &[AgentInput], now: Timestamp) -> Vec<Row> {
    let agents = ordered(tabs);
    if agents.is_empty() {
        return vec![Row::still("agents:empty", "No agent sessions")];
    }
    let row = |(agent, owner): (&AgentInput, &Owner)| {
        let detail = detail(agent, owner, now);
        let title = match detail.project.as_str() {
            "" => detail.name.clone(),
            project => format!("{project} · {}", detail.name),
        };
        Row::new(format!("agent:{}", agent.tab), title, Target::Tab(agent.tab)).agent(detail)
    };
    agents.into_iter().map(row).collect()
}

/// The words of one agent.
pub fn detail(agent: &AgentInput, owner: &Owner, now: Timestamp) -> AgentDetail {
    let lifecycle = effective(&agent.activity);
    let session_title = owner.metadata.get("session_title").map(String::as_str);
    AgentDetail {
        effective_lifecycle: lifecycle,
        project: one_line(&agent.project),
        name: name(session_title, &agent.tab_title, agent.tab),
        status_text: status_text(lifecycle, agent.activity.lifecycle, &owner.detail),
        time_text: time_text(now.as_seconds().saturating_sub(owner.last_event_at.as_seconds())),
        metrics_text: agent.metrics.map(metrics_text),
    }
}

/// The rows of agents below their projects in the sidebar; `active` is the tab that is shown.
pub fn sidebar_rows(
    tabs: &[AgentInput],
    now: Timestamp,
    active: Option<TerminalId>,
) -> Vec<AgentRow> {
    let row = |(agent, owner): (&AgentInput, &Owner)| {
        let detail = detail(agent, owner, now);
        AgentRow {
            tab: Some(agent.tab),
            thread: None,
            name: detail.name,
            mood: mood(detail.effective_lifecycle),
            status_text: detail.status_text,
            time_text: detail.time_text,
            is_active: active == Some(agent.tab),
        }
    };
    ordered(tabs).into_iter().map(row).collect()
}

/// An agent's name: what it calls its session, else the tab's title, both without leading marks.
pub fn name(session_title: Option<&str>, tab_title: &str, tab: TerminalId) -> String {
    let named = session_title.map(without_marks).filter(|name| !name.is_empty());
    let named = named.or_else(|| Some(without_marks(tab_title)).filter(|name| !name.is_empty()));
    named.unwrap_or_else(|| format!("Tab {tab}"))
}

/// Agents put a sign before their titles; the row has a dot of its own. ASCII stays, because a
/// title may be a path or begin with a bracket, and a title of signs alone stays whole.
fn without_marks(text: &str) -> String {
    let line = one_line(text);
    let is_mark = |c: char| c.is_whitespace() || (!c.is_ascii() && !c.is_alphanumeric());
    let rest = line.trim_start_matches(is_mark);
    if rest.is_empty() { line } else { rest.to_owned() }
}

/// Titles and details come from programs; they must not reshape a row.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}

/// The words for a state. Only an agent that itself reports work can have tasks in the background.
pub fn status_text(effective: Lifecycle, reported: Lifecycle, detail: &str) -> String {
    const LONGEST_DETAIL: usize = 40;
    let detail = one_line(detail);
    match effective {
        Lifecycle::Working if reported == Lifecycle::Working => match background_tasks(&detail) {
            Some(1) => "Working · 1 bg task".to_owned(),
            Some(tasks) => format!("Working · {tasks} bg tasks"),
            None => "Working".to_owned(),
        },
        Lifecycle::Working => "Working".to_owned(),
        Lifecycle::Waiting => "Waiting for input".to_owned(),
        Lifecycle::Finished => "Finished".to_owned(),
        Lifecycle::Failed if detail.is_empty() => "Failed".to_owned(),
        Lifecycle::Failed => format!("Failed · {}", cut(&detail, LONGEST_DETAIL)),
        Lifecycle::Inactive => "Idle".to_owned(),
    }
}

fn background_tasks(detail: &str) -> Option<u64> {
    let tasks: u64 = detail.strip_prefix("background_tasks:")?.trim().parse().ok()?;
    Some(tasks).filter(|tasks| *tasks > 0)
}

/// At most `longest` characters, the ellipsis included.
pub(super) fn cut(text: &str, longest: usize) -> String {
    if text.chars().nth(longest).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// `12s`, `2m`, `1h` or `3d`; a time to come is `0s`.
pub fn time_text(seconds: i64) -> String {
    let seconds = seconds.max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}

/// `2f +30 -7`, or a dash.
pub fn metrics_text(metrics: Metrics) -> String {
    match metrics {
        Metrics::Changed { files: 0, added: 0, removed: 0 } | Metrics::Nothing => "—".to_owned(),
        Metrics::Changed { files, added, removed } => format!("{files}f +{added} -{removed}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn agent(tab: u64, lifecycle: Lifecycle, last_event_at: i64) -> AgentInput {
        let owner = Owner {
            source: "claude".to_owned(),
            last_event_at: at(last_event_at),
            ..Owner::default()
        };
        AgentInput {
            tab: TerminalId::new(tab),
            project: "web".to_owned(),
            project_position: 0,
            tab_position: tab as i64,
            tab_title: format!("title {tab}"),
            activity: Activity { lifecycle, owner: Some(owner), ..Activity::default() },
            metrics: None,
        }
    }

    fn owner(agent: &mut AgentInput) -> &mut Owner {
        agent.activity.owner.as_mut().unwrap()
    }

    #[test]
    fn urgent_agents_come_first_then_newer_then_by_place() {
        use Lifecycle::{Failed, Finished, Inactive, Waiting, Working};
        let mut tabs: Vec<AgentInput> = [
            (1, Inactive, 99),
            (2, Finished, 50),
            (3, Working, 10),
            (4, Working, 20),
            (5, Waiting, 1),
            (6, Failed, 1),
            (7, Finished, 50),
        ]
        .map(|(tab, effective, at)| agent(tab, effective, at))
        .to_vec();
        tabs[6].project_position = -1;
        let order: Vec<u64> = ordered(&tabs).iter().map(|(agent, _)| agent.tab.get()).collect();
        assert_eq!(order, [6, 5, 4, 3, 7, 2, 1]);
    }

    #[test]
    fn manual_states_plain_hooks_and_no_owner_are_no_agents() {
        let mut tabs: Vec<AgentInput> =
            [1, 2, 3].map(|tab| agent(tab, Lifecycle::Working, 0)).to_vec();
        owner(&mut tabs[0]).source = "manual".to_owned();
        owner(&mut tabs[1]).source = "legacy".to_owned();
        tabs[2].activity.owner = None;
        assert!(ordered(&tabs).is_empty());
        let rows = rows(&tabs, at(0));
        assert_eq!(rows[0].id, "agents:empty");
        assert_eq!(rows[0].title, "No agent sessions");
        assert!(!rows[0].is_actionable());
    }

    #[test]
    fn a_row_has_id_title_and_details() {
        let mut input = agent(3, Lifecycle::Waiting, 100);
        owner(&mut input).metadata.insert("session_title".to_owned(), "✳ parser".to_owned());
        input.metrics = Some(Metrics::Changed { files: 2, added: 30, removed: 7 });
        let rows = rows(std::slice::from_ref(&input), at(220));
        assert_eq!(rows[0].id, "agent:3");
        assert_eq!(rows[0].title, "web · parser");
        let detail = rows[0].agent.as_ref().unwrap();
        assert_eq!(detail.name, "parser");
        assert_eq!(detail.status_text, "Waiting for input");
        assert_eq!(detail.time_text, "2m");
        assert_eq!(detail.metrics_text.as_deref(), Some("2f +30 -7"));
        assert_eq!(detail.effective_lifecycle, Lifecycle::Waiting);
        let sidebar = sidebar_rows(&[input], at(220), Some(TerminalId::new(3)));
        assert_eq!((sidebar[0].name.as_str(), sidebar[0].mood), ("parser", Mood::Waiting));
        assert!(sidebar[0].is_active);
    }

    #[test]
    fn the_shell_decides_where_the_agent_is_silent() {
        let mut activity = agent(1, Lifecycle::Inactive, 0).activity;
        assert_eq!(effective(&activity), Lifecycle::Inactive);
        activity.shell = ShellState::Foreground;
        assert_eq!(effective(&activity), Lifecycle::Working);
        activity.lifecycle = Lifecycle::Finished;
        assert_eq!(effective(&activity), Lifecycle::Finished);
        activity.owner = None;
        assert_eq!(effective(&activity), Lifecycle::Working);
    }

    #[test]
    fn names_lose_leading_marks_and_have_a_last_resort() {
        let named = |session: Option<&str>, title: &str| name(session, title, TerminalId::new(7));
        assert_eq!(named(Some("✳ one"), "two"), "one");
        assert_eq!(named(Some("  "), "⠂ two"), "two");
        assert_eq!(named(None, "[wip] x"), "[wip] x");
        assert_eq!(named(None, "~/src"), "~/src");
        assert_eq!(named(None, "✳ 日本"), "日本");
        assert_eq!(named(None, "✳✳"), "✳✳");
        assert_eq!(named(None, "a\n\u{1b}b"), "ab");
        assert_eq!(named(None, ""), "Tab 7");
    }

    #[test]
    fn every_state_has_its_words() {
        use Lifecycle::{Failed, Finished, Inactive, Waiting, Working};
        let table = [
            (Working, Working, "", "Working"),
            (Working, Working, "background_tasks:1", "Working · 1 bg task"),
            (Working, Working, "background_tasks:3", "Working · 3 bg tasks"),
            (Working, Working, "background_tasks:0", "Working"),
            (Working, Working, "background_tasks:x", "Working"),
            (Working, Inactive, "background_tasks:3", "Working"),
            (Waiting, Waiting, "permission", "Waiting for input"),
            (Finished, Finished, "x", "Finished"),
            (Failed, Failed, "", "Failed"),
            (Failed, Failed, "rate\nlimit", "Failed · ratelimit"),
            (Inactive, Inactive, "x", "Idle"),
        ];
        for (effective, reported, detail, words) in table {
            assert_eq!(status_text(effective, reported, detail), words);
        }
    }

    #[test]
    fn the_detail_of_a_failure_is_cut_at_forty() {
        let words = status_text(Lifecycle::Failed, Lifecycle::Failed, &"é".repeat(41));
        assert_eq!(words, format!("Failed · {}…", "é".repeat(39)));
        let whole = status_text(Lifecycle::Failed, Lifecycle::Failed, &"é".repeat(40));
        assert_eq!(whole, format!("Failed · {}", "é".repeat(40)));
    }

    #[test]
    fn times_are_in_the_largest_unit() {
        let table = [
            (-5, "0s"),
            (0, "0s"),
            (12, "12s"),
            (59, "59s"),
            (60, "1m"),
            (3599, "59m"),
            (3600, "1h"),
            (86_399, "23h"),
            (86_400, "1d"),
            (3 * 86_400, "3d"),
        ];
        for (seconds, words) in table {
            assert_eq!(time_text(seconds), words);
        }
    }

    #[test]
    fn nothing_changed_is_a_dash() {
        assert_eq!(metrics_text(Metrics::Nothing), "—");
        assert_eq!(metrics_text(Metrics::Changed { files: 0, added: 0, removed: 0 }), "—");
        assert_eq!(metrics_text(Metrics::Changed { files: 1, added: 0, removed: 2 }), "1f +0 -2");
    }

    proptest! {
        #[test]
        fn no_text_panics(
            session in "(?s).{0,12}", title in "(?s).{0,12}",
            detail in "(?s).{0,60}", now in any::<i64>(), then in any::<i64>(),
        ) {
            let mut input = agent(1, Lifecycle::Failed, 0);
            input.tab_title = title;
            owner(&mut input).metadata.insert("session_title".to_owned(), session);
            owner(&mut input).detail = detail;
            owner(&mut input).last_event_at = Timestamp::from_micros(then);
            let row = &rows(&[input], Timestamp::from_micros(now))[0];
            prop_assert!(!row.title.chars().any(char::is_control));
        }
    }
}
