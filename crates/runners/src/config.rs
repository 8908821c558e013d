//! Members of a configuration, read one by one in either spelling, so that an error names the one at fault.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::RunnerError;

/// How long a text of a configuration may be.
const MAX_TEXT: usize = 4096;
/// How many texts a list may have.
const MAX_LIST: usize = 64;

/// A configuration.
pub(crate) struct Fields<'a> {
    members: Option<&'a Map<String, Value>>,
}

impl<'a> Fields<'a> {
    /// Reads an object; nothing is as good as an empty one.
    pub(crate) fn new(config: &'a Value) -> Result<Self, RunnerError> {
        match config {
            Value::Null => Ok(Self { members: None }),
            Value::Object(members) => Ok(Self { members: Some(members) }),
            _ => Err(RunnerError::invalid("config", "config must be an object")),
        }
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        let members = self.members?;
        members.get(name).or_else(|| members.get(&camel(name))).filter(|value| !value.is_null())
    }

    /// A text that is not blank.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>, RunnerError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        text(name, value).map(Some)
    }

    /// A text that has to be there.
    pub(crate) fn required(&self, name: &'static str) -> Result<String, RunnerError> {
        let missing = || RunnerError::invalid(name, format!("config.{name} is missing"));
        self.text(name)?.ok_or_else(missing)
    }

    /// An absolute path.
    pub(crate) fn path(&self, name: &'static str) -> Result<Option<PathBuf>, RunnerError> {
        let Some(path) = self.text(name)?.map(PathBuf::from) else { return Ok(None) };
        if !path.is_absolute() {
            let message = format!("config.{name} must be an absolute path");
            return Err(RunnerError::invalid(name, message));
        }
        Ok(Some(path))
    }

    /// The number of a port.
    pub(crate) fn port(&self, name: &'static str) -> Result<Option<u16>, RunnerError> {
        self.get(name).map(|value| port(name, value)).transpose()
    }

    /// A list of ports.
    pub(crate) fn ports(&self, name: &'static str) -> Result<Vec<u16>, RunnerError> {
        self.list(name)?.iter().map(|value| port(name, value)).collect()
    }

    /// A list of texts.
    pub(crate) fn texts(&self, name: &'static str) -> Result<Vec<String>, RunnerError> {
        self.list(name)?.iter().map(|value| text(name, value)).collect()
    }

    fn list(&self, name: &'static str) -> Result<&'a [Value], RunnerError> {
        let Some(value) = self.get(name) else { return Ok(&[]) };
        let message = format!("config.{name} must be a list of at most {MAX_LIST}");
        let list = value.as_array().filter(|list| list.len() <= MAX_LIST);
        list.map(Vec::as_slice).ok_or_else(|| RunnerError::invalid(name, message))
    }
}

fn text(name: &'static str, value: &Value) -> Result<String, RunnerError> {
    let text = value.as_str().filter(|text| {
        !text.trim().is_empty() && text.len() <= MAX_TEXT && !text.contains(char::is_control)
    });
    let wrong = || {
        let message = format!(
            "config.{name} must be a text of 1 to {MAX_TEXT} bytes without control characters"
        );
        RunnerError::invalid(name, message)
    };
    text.map(str::to_owned).ok_or_else(wrong)
}

fn port(name: &'static str, value: &Value) -> Result<u16, RunnerError> {
    let port = value.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
    port.ok_or_else(|| RunnerError::invalid(name, format!("config.{name} must be 1 to 65535")))
}

/// `base_ref` as `baseRef`.
pub(crate) fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut all, word| {
        let mut letters = word.chars();
        all.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        all + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_come_in_either_spelling_and_errors_name_them() {
        let config =
            json!({"baseRef": "main", "root": "rel", "port": 0, "ports": [1, 70000], "setup": "x"});
        let fields = Fields::new(&config).unwrap();
        assert_eq!(fields.text("base_ref").unwrap().as_deref(), Some("main"));
        assert_eq!(
            fields.path("root").unwrap_err().to_string(),
            "config.root must be an absolute path"
        );
        assert_eq!(fields.port("port").unwrap_err().to_string(), "config.port must be 1 to 65535");
        assert!(fields.ports("ports").is_err());
        assert!(fields.texts("setup").unwrap_err().to_string().starts_with("config.setup must be"));
        assert_eq!(fields.required("host").unwrap_err().to_string(), "config.host is missing");
        assert!(Fields::new(&json!([])).is_err());
        assert!(Fields::new(&Value::Null).unwrap().text("x").unwrap().is_none());
    }
}
