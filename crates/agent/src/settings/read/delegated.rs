//! Reads the bounds of work that agents hand on: to child agents, to teammates and to workflows.

use std::path::PathBuf;
use std::time::Duration;

use rookery_model::Words as _;
use toml_edit::Item;

use super::{SECOND, Section};
use crate::settings::{LANES, LaneBounds, SubagentSettings, TeamSettings, WorkflowSettings};

/// The most child agents that a file may let work at once.
const CHILDREN_LIMIT: u32 = 1024;
/// The most teammates that a file may allow: each is a thread that may work at the same time.
const MOST_TEAMMATES: usize = 64;

pub(super) fn subagents(section: &Section<'_>) -> SubagentSettings {
    let default = SubagentSettings::default();
    let number = |section: &Section<'_>, key, default: u32| {
        let set = section.count(key).filter(|&number| number > 0);
        set.map_or(default, |number| u32::try_from(number).unwrap_or(u32::MAX))
    };
    let time = |section: &Section<'_>, default| {
        let set = section.time("timeout_seconds", SECOND);
        set.filter(|time| !time.is_zero()).unwrap_or(default)
    };
    let lanes = section.section("lanes");
    let lane = |at: usize| {
        let (section, default) = (lanes.section(LANES[at].lane.word()), default.lanes[at]);
        LaneBounds {
            max_concurrent: number(&section, "max_concurrent", default.max_concurrent),
            timeout: time(&section, default.timeout),
        }
    };
    SubagentSettings {
        max_concurrent: number(section, "max_concurrent", default.max_concurrent)
            .min(CHILDREN_LIMIT),
        timeout: time(section, default.timeout),
        max_turns: number(section, "max_turns", default.max_turns),
        max_result_chars: number(section, "max_result_chars", default.max_result_chars),
        lanes: std::array::from_fn(lane),
    }
}

pub(super) fn workflows(section: &Section<'_>) -> WorkflowSettings {
    let mut settings = WorkflowSettings::default();
    let above_zero = |section: &Section<'_>, key: &str| {
        let read = |item: &Item| item.as_integer().and_then(|number| u64::try_from(number).ok());
        section.get(key, "a whole number above 0", |item| read(item).filter(|&number| number > 0))
    };
    for (key, number) in settings.numbers() {
        *number = above_zero(section, key).unwrap_or(*number);
    }
    settings.is_enabled = section.flag("enabled").unwrap_or(settings.is_enabled);
    settings.workspace_dir = section.text("workspace_workflows_dir").map(PathBuf::from);
    settings.user_dir = section.text("user_workflows_dir").map(PathBuf::from);
    let approval = section.section("approval");
    settings.requires_approval =
        approval.flag("require_approval").unwrap_or(settings.requires_approval);
    settings.allows_always =
        approval.flag("allow_always_for_script_and_workspace").unwrap_or(settings.allows_always);
    settings.consent_ttl = above_zero(&approval, "consent_ttl_seconds").map(Duration::from_secs);
    if settings.fit().is_some() {
        section.warn("max_concurrent_agents", "at most max_agents_per_run");
    }
    settings
}

pub(super) fn teams(section: &Section<'_>) -> TeamSettings {
    let most =
        section.count("max_teammates").map(|most| usize::try_from(most).unwrap_or(MOST_TEAMMATES));
    let default = TeamSettings::default();
    TeamSettings { max_teammates: most.unwrap_or(default.max_teammates).min(MOST_TEAMMATES) }
}
