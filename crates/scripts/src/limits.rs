//! How much a run may use. A script lowers limits for itself and never raises them.

use std::time::Duration;

use serde_json::Value;

use crate::{ErrorKind, ScriptError};

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Agents that work at the same time.
    pub max_concurrent_agents: u32,
    pub max_agents_per_run: u32,
    /// Seconds that an agent may take.
    pub agent_timeout_seconds: u64,
    /// Seconds that a run may take.
    pub run_timeout_seconds: u64,
    /// Bytes of one checkpoint, as JSON.
    pub checkpoint_bytes: u64,
    pub report_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_concurrent_agents: 16,
            max_agents_per_run: 1_000,
            agent_timeout_seconds: 180,
            run_timeout_seconds: 14_400,
            checkpoint_bytes: 1 << 20,
            report_bytes: 64 << 10,
        }
    }
}

/// The names that scripts and clients know them by, in the order of [`Limits::values`].
pub const LIMIT_NAMES: [&str; 6] = [
    "maxConcurrentAgents",
    "maxAgentsPerRun",
    "defaultAgentTimeoutSeconds",
    "defaultRunTimeoutSeconds",
    "defaultCheckpointBytes",
    "maxReportBytes",
];

impl Limits {
    /// Their values, in the order of [`LIMIT_NAMES`].
    pub fn values(&self) -> [u64; 6] {
        [
            self.max_concurrent_agents.into(),
            self.max_agents_per_run.into(),
            self.agent_timeout_seconds,
            self.run_timeout_seconds,
            self.checkpoint_bytes,
            self.report_bytes,
        ]
    }

    /// Limits of these values.
    pub fn from_values(values: [u64; 6]) -> Limits {
        let [concurrent, agents, agent, run, checkpoint, report] = values;
        let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        Limits {
            max_concurrent_agents: small(concurrent),
            max_agents_per_run: small(agents),
            agent_timeout_seconds: agent,
            run_timeout_seconds: run,
            checkpoint_bytes: checkpoint,
            report_bytes: report,
        }
    }

    /// How long an agent may take that wants this long.
    pub fn agent_timeout(&self, wanted: Option<f64>) -> Duration {
        let most = Duration::from_secs(self.agent_timeout_seconds);
        let wanted = wanted.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        wanted.map_or(most, |wanted| wanted.min(most))
    }

    /// These, lowered by what a script says of itself.
    ///
    /// # Errors
    /// If it says something that is no limit.
    pub fn lowered(self, said: Option<&Value>) -> Result<Limits, ScriptError> {
        let wrong = |message: String| ScriptError::new(ErrorKind::InvalidMetadata, message);
        let members = match said {
            None | Some(Value::Null) => return Ok(self),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(wrong("limits must be an object".to_owned())),
        };
        let mut values = self.values();
        for (name, value) in values.iter_mut().zip(LIMIT_NAMES).map(|(value, name)| (name, value)) {
            let Some(said) = members.get(name) else { continue };
            let said = said.as_u64().filter(|said| *said > 0);
            let said = said
                .ok_or_else(|| wrong(format!("limits.{name} must be a positive whole number")))?;
            *value = said.min(*value);
        }
        // As many at a time as there are is no more than there are.
        values[0] = values[0].min(values[1]);
        Ok(Limits::from_values(values))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_script_lowers_limits_and_never_raises_them() {
        let limits = Limits::default();
        let said = json!({ "maxAgentsPerRun": 4, "maxReportBytes": 1 << 30, "other": 1 });
        let lowered = limits.lowered(Some(&said)).unwrap();
        assert_eq!((lowered.max_agents_per_run, lowered.max_concurrent_agents), (4, 4));
        assert_eq!(lowered.report_bytes, limits.report_bytes);
        for wrong in [json!({ "maxReportBytes": 0 }), json!({ "maxAgentsPerRun": "9" }), json!([1])]
        {
            assert_eq!(limits.lowered(Some(&wrong)).unwrap_err().kind, ErrorKind::InvalidMetadata);
        }
    }

    #[test]
    fn an_agent_has_no_more_time_than_the_limit() {
        let limits = Limits::default();
        assert_eq!(limits.agent_timeout(Some(1.5)), Duration::from_millis(1_500));
        for wanted in [None, Some(1e9), Some(f64::INFINITY), Some(f64::NAN)] {
            assert_eq!(limits.agent_timeout(wanted), Duration::from_secs(180));
        }
    }
}
