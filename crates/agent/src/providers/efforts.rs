//! How hard a model may be asked to think.

use crate::provider::ModelInfo;

/// Every effort there is, and what it means.
pub const EFFORTS: [(&str, &str); 8] = [
    ("none", "answers without thinking"),
    ("minimal", "thinks as little as possible"),
    ("low", "thinks briefly, for speed"),
    ("medium", "balances speed and depth"),
    ("high", "thinks deeply about hard problems"),
    ("xhigh", "thinks longer for long tasks"),
    ("max", "thinks as long as it takes"),
    ("ultra", "thinks as long as it takes and with help"),
];

/// A known model cannot think that hard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("model {model} does not support reasoning effort {effort}; it supports {supported}")]
pub struct UnsupportedEffort {
    model: String,
    effort: String,
    supported: String,
}

/// Efforts with their meanings.
pub(crate) fn described(efforts: &[&str]) -> Vec<(String, String)> {
    let known = EFFORTS.iter().filter(|(effort, _)| efforts.contains(effort));
    known.map(|(effort, meaning)| ((*effort).to_owned(), (*meaning).to_owned())).collect()
}

/// Whether a known model can think this hard. Not to think is possible for a model that never does.
pub(crate) fn check(model: &ModelInfo, effort: &str) -> Result<(), UnsupportedEffort> {
    let is_listed = model.reasoning.iter().any(|(known, _)| known == effort);
    if is_listed || (model.reasoning.is_empty() && effort == "none") {
        return Ok(());
    }
    let mut supported: Vec<&str> =
        model.reasoning.iter().map(|(known, _)| known.as_str()).collect();
    if supported.is_empty() {
        supported.push("none");
    }
    Err(UnsupportedEffort {
        model: model.id.clone(),
        effort: effort.to_owned(),
        supported: supported.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_model_has_its_own_efforts() {
        let model = ModelInfo {
            id: "m".into(),
            reasoning: described(&["low", "high"]),
            ..ModelInfo::default()
        };
        assert_eq!(check(&model, "high"), Ok(()));
        assert_eq!(
            check(&model, "max").unwrap_err().to_string(),
            "model m does not support reasoning effort max; it supports low, high"
        );
        assert!(check(&model, "none").is_err());
    }

    #[test]
    fn a_model_that_never_thinks_takes_none_only() {
        let model = ModelInfo { id: "m".into(), ..ModelInfo::default() };
        assert_eq!(check(&model, "none"), Ok(()));
        assert_eq!(
            check(&model, "low").unwrap_err().to_string(),
            "model m does not support reasoning effort low; it supports none"
        );
    }
}
