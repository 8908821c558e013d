//! Skills, in the published shape.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillsListParams {
    /// A directory; that of `cwd`, the workspace, or the client's if none is named.
    #[serde(default)]
    pub workspace: Option<String>,
    #[serde(default)]
    pub workspace_id: Option<String>,
    #[serde(default)]
    pub root_id: Option<String>,
    #[serde(default)]
    pub cwd: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillsReadParams {
    pub selector: Selector,
    #[serde(default)]
    pub workspace: Option<String>,
    #[serde(default)]
    pub cwd: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillsSetEnabledParams {
    pub selector: Selector,
    pub enabled: bool,
    #[serde(default)]
    pub workspace: Option<String>,
    #[serde(default)]
    pub cwd: Option<String>,
}

/// Which skill is meant: `{"name": {"name": …}}` or `{"path": {"path": …}}`, without the inner object, or a
/// name alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// By its name.
    Name(String),
    /// By its file.
    Path(String),
}

/// What is said of a selector that is none.
const NO_SELECTOR: &str = "expected {\"name\": {\"name\": …}} or {\"path\": {\"path\": …}}";

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let inner = |key: &str| {
            let named = value.get(key)?;
            named.as_str().or_else(|| named.get(key)?.as_str()).map(str::to_owned)
        };
        let selector = value.as_str().map(|name| Self::Name(name.to_owned()));
        let selector = selector.or_else(|| inner("name").map(Self::Name));
        let selector = selector.or_else(|| inner("path").map(Self::Path));
        selector.ok_or_else(|| de::Error::custom(format!("no selector; {NO_SELECTOR}")))
    }
}

impl JsonSchema for Selector {
    fn schema_name() -> Cow<'static, str> {
        "SkillSelector".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": NO_SELECTOR, "anyOf": [{ "type": "string" }, { "type": "object" }] })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillsListResult {
    pub skills: Vec<SkillDescriptor>,
    pub diagnostics: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillsReadResult {
    pub skill: Option<Skill>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skill {
    pub descriptor: SkillDescriptor,
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillDescriptor {
    pub id: String,
    pub name: String,
    pub canonical_path: String,
    pub source: SkillSource,
    /// Always `global`: a skill that is enabled is sent to the model.
    pub exposure: String,
    /// `enabled` or `disabled`.
    pub activation: String,
    pub description: String,
    pub experimental: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SkillSource {
    Workspace,
    User,
    /// Published decoders read its member in snake_case.
    Plugin {
        plugin_id: String,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_are_read_in_every_form() {
        let read = |value| serde_json::from_value::<Selector>(value);
        for value in [json!("a"), json!({"name": "a"}), json!({"name": {"name": "a"}})] {
            assert_eq!(read(value).unwrap(), Selector::Name("a".into()));
        }
        for value in [json!({"path": "p"}), json!({"path": {"path": "p"}})] {
            assert_eq!(read(value).unwrap(), Selector::Path("p".into()));
        }
        for wrong in [json!(1), json!({}), json!({"name": 1}), json!({"path": {}})] {
            assert!(read(wrong).unwrap_err().to_string().starts_with("no selector; expected"));
        }
    }
}
