//! Which of an agent's own options stand for a model and for how hard it thinks. Pure.

use agent_client_protocol::v1::schema::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOptions,
};

/// An option and the value that it should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) option: String,
    pub(super) value: String,
}

/// The outcome of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// It is so already.
    Made,
    /// This has to be changed.
    Change(Change),
    /// The agent does not offer it.
    Missing,
}

/// Finds a value among an agent's options of one category, by its id or its name for people.
pub(super) fn choose(
    options: &[SessionConfigOption],
    category: &SessionConfigOptionCategory,
    wanted: &str,
) -> Choice {
    for option in options.iter().filter(|option| option.category.as_ref() == Some(category)) {
        let SessionConfigKind::Select(select) = &option.kind else { continue };
        let values: Vec<_> = match &select.options {
            SessionConfigSelectOptions::Ungrouped(values) => values.iter().collect(),
            SessionConfigSelectOptions::Grouped(groups) => {
                groups.iter().flat_map(|group| &group.options).collect()
            }
            _ => continue,
        };
        let by_id = values.iter().find(|value| &*value.value.0 == wanted);
        let by_name = || values.iter().find(|value| value.name.eq_ignore_ascii_case(wanted));
        match by_id.or_else(by_name) {
            Some(value) if value.value == select.current_value => return Choice::Made,
            Some(value) => {
                let (option, value) = (option.id.0.to_string(), value.value.0.to_string());
                return Choice::Change(Change { option, value });
            }
            None => {}
        }
    }
    Choice::Missing
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_found_by_its_id_or_its_name() {
        let options: Vec<SessionConfigOption> = serde_json::from_value(json!([
            { "id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "s",
              "options": [{ "value": "s", "name": "Small" }, { "value": "l", "name": "Large" }] },
            { "id": "t", "name": "Thinking", "category": "thought_level", "type": "select",
              "currentValue": "low", "options": [{ "group": "g", "name": "G", "options":
              [{ "value": "low", "name": "Low" }, { "value": "high", "name": "High" }] }] },
        ]))
        .unwrap();
        let model = |wanted| choose(&options, &SessionConfigOptionCategory::Model, wanted);
        let change = |option: &str, value: &str| {
            Choice::Change(Change { option: option.into(), value: value.into() })
        };
        assert_eq!(model("s"), Choice::Made);
        assert_eq!(model("l"), change("m", "l"));
        assert_eq!(model("large"), change("m", "l"));
        assert_eq!(model("high"), Choice::Missing);
        let level = choose(&options, &SessionConfigOptionCategory::ThoughtLevel, "high");
        assert_eq!(level, change("t", "high"));
    }
}
