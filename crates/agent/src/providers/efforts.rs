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

/// Not to think.
const NONE: &str = "none";

/// There is no such effort, and a known model takes no other than those it lists.
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

/// How hard a model is asked to think in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The effort that it supports.
    pub effort: String,
    /// What is to be said if that is not the one that was wanted.
    pub warning: Option<String>,
}

impl Fitted {
    pub(crate) fn wanted(effort: &str) -> Self {
        Fitted { effort: effort.to_owned(), warning: None }
    }
}

/// The effort of a known model that is nearest to the one wanted, the lesser of two. Not to think is
/// what a model does that never thinks.
pub(crate) fn fit(model: &ModelInfo, effort: &str) -> Result<Fitted, UnsupportedEffort> {
    let mut supported: Vec<&str> =
        model.reasoning.iter().map(|(known, _)| known.as_str()).collect();
    if supported.is_empty() {
        supported.push(NONE);
    }
    if supported.contains(&effort) {
        return Ok(Fitted::wanted(effort));
    }
    let place = |effort: &str| EFFORTS.iter().position(|(known, _)| *known == effort);
    let wanted = place(effort).ok_or_else(|| UnsupportedEffort {
        model: model.id.clone(),
        effort: effort.to_owned(),
        supported: supported.join(", "),
    })?;
    // In the order of efforts, so that of two that are as near the lesser is found first.
    let known = EFFORTS.iter().map(|(known, _)| *known).filter(|known| supported.contains(known));
    let nearest = known.min_by_key(|known| place(known).map(|at| at.abs_diff(wanted)));
    let nearest = nearest.unwrap_or(NONE);
    let warning = format!(
        "model {} does not support reasoning effort {effort}; {nearest} is used instead",
        model.id
    );
    Ok(Fitted { effort: nearest.to_owned(), warning: Some(warning) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(efforts: &[&str]) -> ModelInfo {
        ModelInfo { id: "m".into(), reasoning: described(efforts), ..ModelInfo::default() }
    }

    #[test]
    fn a_known_model_is_asked_for_the_nearest_of_its_efforts() {
        let cases: [(&[&str], &str, &str); 8] = [
            (&["low", "high"], "max", "high"),
            (&["low", "high"], "none", "low"),
            (&["low", "high"], "medium", "low"),
            (&["low", "medium", "high", "max"], "xhigh", "high"),
            (&["low", "medium", "high", "max"], "ultra", "max"),
            (&["minimal", "low"], "none", "minimal"),
            (&[], "low", "none"),
            (&[], "ultra", "none"),
        ];
        for (efforts, wanted, nearest) in cases {
            let fitted = fit(&model(efforts), wanted).unwrap();
            assert_eq!(fitted.effort, nearest, "{wanted} of {efforts:?}");
            let warning = fitted.warning.unwrap();
            let want = format!(
                "model m does not support reasoning effort {wanted}; {nearest} is used instead"
            );
            assert_eq!(warning, want);
        }
    }

    #[test]
    fn what_is_supported_is_used_without_a_word() {
        assert_eq!(fit(&model(&["low", "high"]), "high"), Ok(Fitted::wanted("high")));
        assert_eq!(fit(&model(&[]), "none"), Ok(Fitted::wanted("none")));
    }

    #[test]
    fn what_is_no_effort_is_refused() {
        assert_eq!(
            fit(&model(&["low", "high"]), "enormous").unwrap_err().to_string(),
            "model m does not support reasoning effort enormous; it supports low, high"
        );
        assert!(fit(&model(&[]), "").is_err());
    }
}
