//! Settings of workflows: how much their runs may use, where scripts lie, and what is asked for.

use std::path::PathBuf;
use std::time::Duration;

/// How workflows are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowSettings {
    /// Whether there are any.
    pub is_enabled: bool,
    /// Agents of a run that work at the same time.
    pub max_concurrent_agents: u64,
    pub max_agents_per_run: u64,
    /// Seconds that an agent may take.
    pub agent_timeout_seconds: u64,
    /// Seconds that a run may take.
    pub run_timeout_seconds: u64,
    pub checkpoint_bytes: u64,
    pub report_bytes: u64,
    /// The folder of scripts in a workspace.
    pub workspace_dir: Option<PathBuf>,
    /// The folder of the user's scripts.
    pub user_dir: Option<PathBuf>,
    /// Whether a run waits for approval.
    pub requires_approval: bool,
    /// Whether a script may be approved for good in a workspace.
    pub allows_always: bool,
    /// How long such an approval holds; none for ever.
    pub consent_ttl: Option<Duration>,
}

impl Default for WorkflowSettings {
    fn default() -> Self {
        Self {
            is_enabled: true,
            max_concurrent_agents: 16,
            max_agents_per_run: 1_000,
            agent_timeout_seconds: 180,
            run_timeout_seconds: 14_400,
            checkpoint_bytes: 1 << 20,
            report_bytes: 64 << 10,
            workspace_dir: None,
            user_dir: None,
            requires_approval: true,
            allows_always: true,
            consent_ttl: None,
        }
    }
}

/// What every variable begins with.
const PREFIX: &str = "RODER_DYNAMIC_WORKFLOWS_";

impl WorkflowSettings {
    /// The numbers, by the names of their keys.
    pub(super) fn numbers(&mut self) -> [(&'static str, &mut u64); 6] {
        [
            ("max_concurrent_agents", &mut self.max_concurrent_agents),
            ("max_agents_per_run", &mut self.max_agents_per_run),
            ("default_agent_timeout_seconds", &mut self.agent_timeout_seconds),
            ("default_run_timeout_seconds", &mut self.run_timeout_seconds),
            ("default_checkpoint_bytes", &mut self.checkpoint_bytes),
            ("max_report_bytes", &mut self.report_bytes),
        ]
    }

    /// Takes what variables say; gives what is wrong with them.
    pub(super) fn apply_environment(
        &mut self,
        text: impl Fn(&str) -> Option<String>,
    ) -> Vec<String> {
        let mut warnings = Vec::new();
        let variable = |key: &str| format!("{PREFIX}{}", key.to_uppercase());
        for (key, number) in self.numbers() {
            let name = variable(key);
            match text(&name).map(|text| text.parse::<u64>()) {
                None => {}
                Some(Ok(set @ 1..)) => *number = set,
                Some(_) => warnings.push(format!("{name} must be a whole number above 0")),
            }
        }
        let flags = [
            ("enabled", &mut self.is_enabled),
            ("require_approval", &mut self.requires_approval),
            ("allow_always_for_script_and_workspace", &mut self.allows_always),
        ];
        for (key, flag) in flags {
            let name = variable(key);
            match text(&name).map(|text| text.to_lowercase()).as_deref() {
                None => {}
                Some("1" | "true" | "yes" | "on") => *flag = true,
                Some("0" | "false" | "no" | "off") => *flag = false,
                Some(_) => warnings.push(format!("{name} must be true or false")),
            }
        }
        let dirs = [
            ("workspace_workflows_dir", &mut self.workspace_dir),
            ("user_workflows_dir", &mut self.user_dir),
        ];
        for (key, dir) in dirs {
            *dir = text(&variable(key)).map(PathBuf::from).or(dir.take());
        }
        let name = variable("consent_ttl_seconds");
        match text(&name).map(|text| text.parse::<u64>()) {
            None => {}
            Some(Ok(seconds @ 1..)) => self.consent_ttl = Some(Duration::from_secs(seconds)),
            Some(_) => warnings.push(format!("{name} must be a whole number above 0")),
        }
        warnings.extend(self.fit());
        warnings
    }

    /// No more agents at a time than there are.
    pub(super) fn fit(&mut self) -> Option<String> {
        if self.max_concurrent_agents <= self.max_agents_per_run {
            return None;
        }
        self.max_concurrent_agents = self.max_agents_per_run;
        Some(
            "max_concurrent_agents of workflows is larger than max_agents_per_run and was lowered"
                .to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(set: &[(&str, &str)]) -> (WorkflowSettings, Vec<String>) {
        let mut settings = WorkflowSettings::default();
        let text = |name: &str| {
            let found = set.iter().find(|(key, _)| format!("{PREFIX}{key}") == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let warnings = settings.apply_environment(text);
        (settings, warnings)
    }

    #[test]
    fn variables_count_and_wrong_ones_do_not() {
        let (settings, warnings) = apply(&[
            ("ENABLED", "off"),
            ("MAX_AGENTS_PER_RUN", "4"),
            ("REQUIRE_APPROVAL", "0"),
            ("USER_WORKFLOWS_DIR", "/w"),
            ("CONSENT_TTL_SECONDS", "60"),
            ("MAX_REPORT_BYTES", "0"),
            ("ALLOW_ALWAYS_FOR_SCRIPT_AND_WORKSPACE", "maybe"),
        ]);
        assert!(!settings.is_enabled && !settings.requires_approval && settings.allows_always);
        assert_eq!((settings.max_agents_per_run, settings.max_concurrent_agents), (4, 4));
        assert_eq!(settings.user_dir, Some("/w".into()));
        assert_eq!(settings.consent_ttl, Some(Duration::from_secs(60)));
        assert_eq!(settings.report_bytes, 64 << 10);
        assert_eq!(warnings.len(), 3, "{warnings:?}");
    }
}
