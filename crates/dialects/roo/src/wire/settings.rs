//! Settings as a client sends them: known ones are checked, others kept as they are, secrets set apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use super::keys::{OTHERS, PROFILE};
use super::words::ToolName;

/// A setting that is known.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it may hold.
    pub holds: Type,
}

/// What a setting may hold.
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// True or false.
    Bool,
    /// A text.
    Text,
    /// Texts.
    Texts,
    /// A number.
    Number,
    /// A number, or null for none.
    NumberOrNull,
    /// A number that is not smaller.
    AtLeast(i64),
    /// A whole number within bounds.
    Integer(i64, i64),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// An object whose values are all of a type.
    Map(&'static Type),
    /// An object.
    Object,
    /// A list.
    List,
    /// Names of tools.
    ToolNames,
    /// Modes of the client's own.
    Modes,
    /// Whatever it is.
    Any,
}

impl Type {
    fn admits(self, value: &Value) -> Result<(), String> {
        let wanted = match self {
            Type::Bool if !value.is_boolean() => "true or false",
            Type::Text if !value.is_string() => "a text",
            Type::Texts if !is_list_of(value, Value::is_string) => "a list of texts",
            Type::Number if !value.is_number() => "a number",
            Type::NumberOrNull if !value.is_number() && !value.is_null() => "a number or null",
            Type::AtLeast(least) if value.as_f64().is_none_or(|number| number < least as f64) => {
                return Err(format!("must be a number that is at least {least}"));
            }
            Type::Integer(least, most) => {
                let is_in = |number: i64| (least..=most).contains(&number);
                return match value.as_i64().is_some_and(is_in) {
                    true => Ok(()),
                    false if most == i64::MAX => {
                        Err(format!("must be a whole number from {least} on"))
                    }
                    false => Err(format!("must be a whole number from {least} to {most}")),
                };
            }
            Type::OneOf(words) if value.as_str().is_none_or(|word| !words.contains(&word)) => {
                return Err(format!("must be one of {}", words.join(", ")));
            }
            Type::Map(of) => {
                let Some(members) = value.as_object() else {
                    return Err("must be an object".into());
                };
                for (name, member) in members {
                    of.admits(member).map_err(|reason| format!("`{name}` {reason}"))?;
                }
                return Ok(());
            }
            Type::Object if !value.is_object() => "an object",
            Type::List if !value.is_array() => "a list",
            Type::ToolNames if !is_list_of(value, is_tool_name) => "a list of names of tools",
            Type::Modes => return modes(value).map(drop),
            _ => return Ok(()),
        };
        Err(format!("must be {wanted}"))
    }
}

fn is_list_of(value: &Value, is_one: fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(is_one))
}

fn is_tool_name(value: &Value) -> bool {
    ToolName::deserialize(value).is_ok()
}

/// A mode of the client's own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the members are those of the original")]
pub struct CustomMode {
    pub slug: String,
    pub name: String,
    pub role_definition: String,
    #[serde(default)]
    pub when_to_use: Option<String>,
    #[serde(default)]
    pub custom_instructions: Option<String>,
    pub groups: Vec<Group>,
}

/// Tools of a mode: a name, or a name with options.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Group {
    /// All of a sort.
    Plain(String),
    /// Those of a sort that the options admit.
    Limited(String, GroupOptions),
}

/// What limits the tools of a sort.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupOptions {
    /// Files have to match it.
    #[serde(default)]
    pub file_regex: Option<String>,
}

impl Group {
    /// Its sort.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Group::Plain(name) | Group::Limited(name, _) => name,
        }
    }
}

/// The sorts of tools that modes have, and one that is no longer there.
const GROUPS: &[&str] = &["read", "edit", "command", "mcp", "modes", RETIRED];
const RETIRED: &str = "browser";

fn modes(value: &Value) -> Result<Vec<CustomMode>, String> {
    let mut modes: Vec<CustomMode> = Vec::deserialize(value).map_err(|error| {
        format!("must be a list of modes with slug, name, roleDefinition and groups: {error}")
    })?;
    for mode in &mut modes {
        let is_slug = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if mode.slug.is_empty() || !mode.slug.chars().all(is_slug) {
            return Err("has a slug with other characters than letters, digits and dashes".into());
        }
        if mode.name.is_empty() || mode.role_definition.is_empty() {
            return Err(format!("has a mode without name or roleDefinition: {}", mode.slug));
        }
        let mut seen = Vec::new();
        for group in &mode.groups {
            if !GROUPS.contains(&group.name()) {
                return Err(format!("has an unknown group in mode {}", mode.slug));
            }
            if seen.contains(&group.name()) {
                return Err(format!("has a group twice in mode {}", mode.slug));
            }
            seen.push(group.name());
        }
        mode.groups.retain(|group| group.name() != RETIRED);
    }
    Ok(modes)
}

/// Whether a setting holds a secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    const OTHERS: &[&str] = &[
        "apiKey",
        "awsAccessKey",
        "awsSecretKey",
        "awsSessionToken",
        "codeIndexOpenAiKey",
        "vertexJsonCredentials",
        // Headers carry keys as well.
        "openAiHeaders",
    ];
    name.ends_with("ApiKey") || OTHERS.contains(&name)
}

fn is_of_profile(name: &str) -> bool {
    PROFILE.iter().any(|key| key.name == name)
}

/// Drops secrets from what is inside of a value; clients may send objects that are not known here.
fn drop_secrets(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !is_secret(name));
            members.values_mut().for_each(drop_secrets);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_secrets),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Settings that were looked at.
#[derive(Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Settings(Map<String, Value>);

impl std::fmt::Debug for Settings {
    /// Values may be keys: only names are shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Settings {
    /// Checks what a client sent. Nulls are as good as absent where null means nothing.
    ///
    /// # Errors
    /// The name of the setting that does not fit, and what it must be.
    pub fn check(members: Map<String, Value>) -> Result<Settings, (String, String)> {
        for (name, value) in &members {
            let Some(key) = PROFILE.iter().chain(OTHERS).find(|key| key.name == name) else {
                continue;
            };
            key.holds.admits(value).map_err(|reason| (name.clone(), reason))?;
        }
        Ok(Settings(members))
    }

    /// Settings that were checked before.
    #[must_use]
    pub fn from_kept(members: Map<String, Value>) -> Settings {
        Settings(members)
    }

    /// What a setting holds.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Whether a setting is there, null or not.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// Whether a switch is on.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    /// Texts.
    #[must_use]
    pub fn texts(&self, name: &str) -> Vec<String> {
        let list = self.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Modes of the client's own.
    #[must_use]
    pub fn modes(&self) -> Vec<CustomMode> {
        self.get("customModes").and_then(|value| modes(value).ok()).unwrap_or_default()
    }

    /// These, with others in their place where both have a setting.
    #[must_use]
    pub fn with(mut self, others: &Settings) -> Settings {
        self.0.extend(others.0.clone());
        self
    }

    /// Those that hold no secrets.
    #[must_use]
    pub fn without_secrets(&self) -> Settings {
        let mut rest = self.only(|name| !is_secret(name));
        rest.0.values_mut().for_each(drop_secrets);
        rest
    }

    /// Those that belong to a profile.
    #[must_use]
    pub fn of_profile(&self) -> Settings {
        self.only(is_of_profile)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As an object.
    #[must_use]
    pub fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }

    fn only(&self, admits: impl Fn(&str) -> bool) -> Settings {
        let members = self.0.iter().filter(|(name, _)| admits(name));
        Settings(members.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn checked(value: Value) -> Result<Settings, (String, String)> {
        let Value::Object(members) = value else { panic!("{value}") };
        Settings::check(members)
    }

    #[test]
    fn no_setting_is_listed_twice() {
        let mut names: Vec<&str> = PROFILE.iter().chain(OTHERS).map(|key| key.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(is_of_profile("apiProvider") && !is_of_profile("mode"));
    }

    #[test]
    fn known_settings_are_checked_and_others_kept() {
        let given =
            json!({"autoApprovalEnabled": true, "allowedMaxCost": null, "theirs": [1, null]});
        assert_eq!(checked(given.clone()).unwrap().to_value(), given);
        for (name, value) in [
            ("autoApprovalEnabled", json!("yes")),
            ("allowedCommands", json!(["*", 5])),
            ("mode", json!(1)),
            ("apiProvider", json!("unheard-of")),
            ("writeDelayMs", json!(-1)),
            ("checkpointTimeout", json!(61)),
            ("checkpointTimeout", json!(10.5)),
            ("disabledTools", json!(["read_file", "rm"])),
            ("experiments", json!({"customTools": 1})),
            (
                "customModes",
                json!([{"slug": "a b", "name": "n", "roleDefinition": "r", "groups": []}]),
            ),
            (
                "customModes",
                json!([{"slug": "a", "name": "n", "roleDefinition": "r", "groups": ["read", "read"]}]),
            ),
            (
                "customModes",
                json!([{"slug": "a", "name": "n", "roleDefinition": "r", "groups": ["fly"]}]),
            ),
            ("language", json!("xx")),
        ] {
            let (wrong, _) = checked(json!({ name: value.clone() })).unwrap_err();
            assert_eq!(wrong, name, "{value}");
        }
    }

    #[test]
    fn secrets_are_set_apart_and_never_shown() {
        let settings =
            checked(json!({"openAiApiKey": "sk-1", "apiKey": "sk-2", "mode": "code"})).unwrap();
        assert_eq!(settings.without_secrets().to_value(), json!({"mode": "code"}));
        assert!(!format!("{settings:?}").contains("sk-"));
    }

    #[test]
    fn groups_may_be_limited_and_retired_ones_are_dropped() {
        let groups =
            json!(["read", ["edit", {"fileRegex": "\\.md$", "description": "d"}], "browser"]);
        let mode = json!({"slug": "doc", "name": "Doc", "roleDefinition": "r", "groups": groups});
        let modes = checked(json!({ "customModes": [mode] })).unwrap().modes();
        let names: Vec<&str> = modes[0].groups.iter().map(Group::name).collect();
        assert_eq!(names, ["read", "edit"]);
    }

    proptest! {
        #[test]
        fn no_value_of_any_setting_panics(index in 0..OTHERS.len(), text in "\\PC{0,12}", number: f64) {
            for value in [json!(text), json!(number), json!([text]), json!({ "a": text }), json!(null)] {
                let mut members = Map::new();
                members.insert(OTHERS[index].name.to_owned(), value);
                if let Ok(settings) = Settings::check(members) {
                    let _ = settings.modes();
                }
            }
        }
    }
}
