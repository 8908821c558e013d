//! What a read hides: the default policy, one that the request describes, or nothing.

use std::borrow::Cow;

use rookery_term::redact::Policy;
use rookery_wire::rpc::RpcError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{errors, screen::View};

/// Expressions that one request may bring.
const MAX_EXTRA_REGEXES: usize = 64;

/// A policy as a request describes it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Redaction {
    /// Must be there, and counts as true whatever it says.
    pub enabled: bool,
    /// What stands in place of a secret.
    pub replacement: String,
    /// Texts that are secrets.
    #[serde(default)]
    pub extra_literals: Vec<String>,
    /// Expressions that find secrets; `$1` in the replacement refers to their groups.
    #[serde(default)]
    pub extra_regexes: Vec<String>,
}

/// How a request wants to see what a session shows; a part of the params of every method that reads.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Look {
    /// `false` hides nothing.
    #[serde(default)]
    pub redact: Option<bool>,
    /// What to hide besides the usual, and what to show instead.
    #[serde(default)]
    #[schemars(with = "Option<Redaction>")]
    pub redaction: Option<Value>,
    /// `false` leaves the cells out; an addition of ours.
    #[serde(default)]
    pub cells: Option<bool>,
}

impl Look {
    /// What it means for a screen.
    ///
    /// # Errors
    /// If the policy it describes is none.
    pub(crate) async fn view(self) -> Result<View, RpcError> {
        let redact = self.redact.unwrap_or(true);
        let policy = match self.redaction {
            // Expressions take their time to compile; other requests must not wait for that.
            Some(redaction) if redact => {
                let compiling = tokio::task::spawn_blocking(|| custom(redaction));
                let policy = compiling.await;
                let policy = policy.map_err(|error| RpcError::internal(error.to_string()))??;
                Some(Cow::Owned(policy))
            }
            _ => policy(redact, None)?,
        };
        Ok(View { policy, cells: self.cells.unwrap_or(true) })
    }
}

/// A policy in force: borrowed if it is the default one.
pub(crate) type InForce = Cow<'static, Policy>;

/// The policy for one read; none if it hides nothing, and then `redaction` is not even looked at.
pub(crate) fn policy(redact: bool, redaction: Option<Value>) -> Result<Option<InForce>, RpcError> {
    match redaction {
        _ if !redact => Ok(None),
        None => Ok(Some(Cow::Borrowed(errors::default_policy()))),
        Some(value) => custom(value).map(|policy| Some(Cow::Owned(policy))),
    }
}

fn custom(value: Value) -> Result<Policy, RpcError> {
    let wanted: Redaction = serde_json::from_value(value)
        .map_err(|error| RpcError::invalid_params(error.to_string()))?;
    if wanted.extra_regexes.len() > MAX_EXTRA_REGEXES {
        let message = format!("more than {MAX_EXTRA_REGEXES} extra_regexes");
        return Err(RpcError::invalid_params(message));
    }
    Policy::ptywright_compatible()
        .customize(wanted.replacement, wanted.extra_literals, wanted.extra_regexes)
        .map_err(|error| RpcError::invalid_params(error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redacted(redaction: Value, text: &str) -> String {
        policy(true, Some(redaction)).unwrap().unwrap().redact(text).into_owned()
    }

    fn refused(redaction: Value) -> RpcError {
        policy(true, Some(redaction)).unwrap_err()
    }

    #[test]
    fn absent_means_the_default() {
        let policy = policy(true, None).unwrap().unwrap();
        assert!(matches!(policy, Cow::Borrowed(_)));
        assert_eq!(policy.redact("token=abc"), "token=[REDACTED]");
    }

    #[test]
    fn nothing_is_hidden_nor_checked_when_switched_off() {
        assert!(policy(false, Some(json!(5))).unwrap().is_none());
        assert!(policy(false, None).unwrap().is_none());
    }

    #[test]
    fn a_custom_policy_keeps_the_built_in_rules() {
        let wanted = json!({
            "enabled": false, "replacement": "<$1>", "extra_literals": ["blue", ""], "extra_regexes": ["n(\\d)"],
        });
        assert_eq!(redacted(wanted, "token=abc blue n7"), "token=<$1> <$1> <7>");
    }

    #[test]
    fn refusals_name_the_fault() {
        let missing = |name| RpcError::new(-32602, format!("missing field `{name}`"));
        assert_eq!(refused(json!({"replacement": ""})), missing("enabled"));
        assert_eq!(refused(json!({"enabled": true})), missing("replacement"));
        let bad = json!({"enabled": true, "replacement": "", "extra_regexes": ["(?=x)"]});
        assert_eq!(refused(bad), RpcError::new(-32602, "invalid redaction regex `(?=x)`"));
        let null = json!({"enabled": true, "replacement": "", "extra_literals": null});
        assert_eq!(refused(null).code, -32602);
        assert_eq!(refused(json!(5)).code, -32602);
    }
}
