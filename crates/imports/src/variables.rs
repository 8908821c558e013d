//! Variables in the settings of a server: `${NAME}` and `${NAME:-default}`. Pure.

use std::collections::BTreeMap;

use crate::mcp::McpServer;

/// The variable that stands for the folder of a plugin.
pub const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";

/// A text with its variables replaced.
///
/// # Errors
/// If a variable has no value and no default; it is named.
pub fn expand(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        out.push_str(&rest[..at]);
        let inner = &rest[at + 2..at + end];
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let found = value(name).filter(|value| !value.is_empty());
        match found.as_deref().or(default) {
            Some(value) => out.push_str(value),
            None => {
                let name: String = name.chars().take(60).flat_map(char::escape_debug).collect();
                return Err(format!("the variable {name} has no value"));
            }
        }
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

impl McpServer {
    /// The same server with its variables replaced.
    ///
    /// # Errors
    /// If one has no value; it is named.
    pub fn expanded(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let map = |map: &BTreeMap<String, String>| -> Result<BTreeMap<String, String>, String> {
            map.iter().map(|(key, text)| Ok((key.clone(), expand(text, value)?))).collect()
        };
        let command: Result<Vec<String>, String> =
            self.command.iter().map(|word| expand(word, value)).collect();
        Ok(Self {
            command: command?,
            env: map(&self.env)?,
            headers: map(&self.headers)?,
            cwd: self.cwd.as_deref().map(|cwd| expand(cwd, value)).transpose()?,
            url: self.url.as_deref().map(|url| expand(url, value)).transpose()?,
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_or_named() {
        let value = |name: &str| (name == "A").then(|| "${B}".to_owned());
        assert_eq!(expand("x${A}y${C:-d}$A${", &value).unwrap(), "x${B}yd$A${", "once, not again");
        assert_eq!(expand("${C}", &value).unwrap_err(), "the variable C has no value");
        assert_eq!(expand("${C:-}", &value).unwrap(), "");
    }
}
