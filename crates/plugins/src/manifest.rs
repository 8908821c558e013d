//! Manifests: what a plugin is called, what it may do, and which program it is made for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something a plugin may do only if its manifest says so.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Permission {
    /// Start the program.
    #[serde(rename = "session.spawn")]
    SessionSpawn,
    /// Kill and signal the program.
    #[serde(rename = "session.kill")]
    SessionKill,
    /// Change the size of the screen.
    #[serde(rename = "session.resize")]
    SessionResize,
    /// Show the screen, and the state that was read from it.
    #[serde(rename = "screen.read")]
    ScreenRead,
    /// Show the transcript.
    #[serde(rename = "transcript.read")]
    TranscriptRead,
    /// Type.
    #[serde(rename = "input.write")]
    InputWrite,
    /// Wait for a matcher.
    #[serde(rename = "matcher.wait")]
    MatcherWait,
}

impl Permission {
    /// All of them, in the order in which they are listed to clients.
    pub const ALL: [Self; 7] = [
        Self::SessionSpawn,
        Self::SessionKill,
        Self::SessionResize,
        Self::ScreenRead,
        Self::TranscriptRead,
        Self::InputWrite,
        Self::MatcherWait,
    ];

    /// The name in manifests and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionSpawn => "session.spawn",
            Self::SessionKill => "session.kill",
            Self::SessionResize => "session.resize",
            Self::ScreenRead => "screen.read",
            Self::TranscriptRead => "transcript.read",
            Self::InputWrite => "input.write",
            Self::MatcherWait => "matcher.wait",
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a plugin is for; nothing depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reads and drives a program.
    Adapter,
    /// Types for the user.
    Macro,
    /// Judges screens.
    Matcher,
}

/// What a plugin's code is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Runtime {
    /// Lua 5.4 source text.
    Lua,
    /// Valid in a manifest, but there is nothing here that could run it.
    Wasm,
}

/// The program that an adapter starts if the caller names none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// What to run.
    pub program: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Height of the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
    /// Width of the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// Environment that the caller may override.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Environment that the caller may not override.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub required_env: BTreeMap<String, String>,
}

/// What a plugin says about itself: TOML on disk, JSON on the wire. Unknown keys are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// The name by which clients ask for it.
    pub name: String,
    /// What it is for.
    pub kind: Kind,
    /// Its version, for people.
    pub version: String,
    /// What its code is written for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// The file with its code, relative to the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// What it may do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<Permission>,
    /// The program it is made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_target: Option<Target>,
}

/// Why a manifest is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The name is blank.
    #[error("plugin name must not be empty")]
    EmptyName,
    /// The version is blank.
    #[error("plugin version must not be empty")]
    EmptyVersion,
    /// There is a runtime but nothing to run.
    #[error("plugin runtime requires an entrypoint")]
    NoEntrypoint,
    /// There is something to run but no runtime.
    #[error("plugin entrypoint requires a runtime")]
    NoRuntime,
    /// A permission is listed twice.
    #[error("duplicate plugin permission: {0:?}")]
    DuplicatePermission(Permission),
}

impl Manifest {
    /// Checks what the types do not say; looks at no disk.
    pub fn validate(&self) -> Result<(), ManifestError> {
        if self.name.trim().is_empty() {
            return Err(ManifestError::EmptyName);
        }
        if self.version.trim().is_empty() {
            return Err(ManifestError::EmptyVersion);
        }
        match (self.runtime, &self.entrypoint) {
            (Some(_), None) => return Err(ManifestError::NoEntrypoint),
            (Some(_), Some(file)) if file.trim().is_empty() => {
                return Err(ManifestError::NoEntrypoint);
            }
            (None, Some(_)) => return Err(ManifestError::NoRuntime),
            _ => {}
        }
        let mut seen = BTreeSet::new();
        match self.permissions.iter().find(|permission| !seen.insert(**permission)) {
            Some(twice) => Err(ManifestError::DuplicatePermission(*twice)),
            None => Ok(()),
        }
    }

    /// Whether the plugin may do this.
    pub fn allows(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest() -> serde_json::Value {
        json!({"name": "x", "kind": "adapter", "version": "1", "runtime": "lua", "entrypoint": "plugin.lua",
               "permissions": ["session.spawn"]})
    }

    fn verdict(change: impl FnOnce(&mut serde_json::Value)) -> String {
        let mut value = manifest();
        change(&mut value);
        match serde_json::from_value::<Manifest>(value) {
            Ok(manifest) => {
                manifest.validate().map_or_else(|error| error.to_string(), |()| "valid".into())
            }
            Err(error) => error.to_string(),
        }
    }

    fn without(key: &str) -> impl FnOnce(&mut serde_json::Value) + '_ {
        move |value| {
            value.as_object_mut().unwrap().remove(key);
        }
    }

    #[test]
    fn every_rule_of_a_manifest_has_its_own_words() {
        assert_eq!(verdict(|_| ()), "valid");
        assert_eq!(verdict(|v| v["name"] = json!(" ")), "plugin name must not be empty");
        assert_eq!(verdict(|v| v["version"] = json!("")), "plugin version must not be empty");
        assert_eq!(verdict(without("entrypoint")), "plugin runtime requires an entrypoint");
        for blank in ["", "  ", "\t\n"] {
            let said = verdict(|v| v["entrypoint"] = json!(blank));
            assert_eq!(said, "plugin runtime requires an entrypoint", "{blank:?}");
        }
        assert_eq!(verdict(without("runtime")), "plugin entrypoint requires a runtime");
        let twice = json!(["session.spawn", "input.write", "session.spawn"]);
        assert_eq!(
            verdict(|v| v["permissions"] = twice),
            "duplicate plugin permission: SessionSpawn"
        );
        assert_eq!(verdict(|v| v["entrypoint"] = json!("../up.lua")), "valid");
        assert_eq!(verdict(|v| v["runtime"] = json!("wasm")), "valid");
        assert_eq!(verdict(without("name")), "missing field `name`");
        assert!(verdict(|v| v["kind"] = json!("thing")).starts_with("unknown variant `thing`"));
        assert!(
            verdict(|v| v["permissions"] = json!(["root"])).starts_with("unknown variant `root`")
        );
    }

    #[test]
    fn unknown_keys_are_ignored_and_empty_ones_are_not_shown() {
        let mut value = manifest();
        value["color"] = json!("green");
        value["default_target"] = json!({"program": "sh", "args": [], "env": {}, "extra": 1});
        let manifest: Manifest = serde_json::from_value(value).unwrap();
        let shown = serde_json::to_value(&manifest).unwrap();
        assert_eq!(shown["default_target"], json!({"program": "sh"}));
        assert_eq!(shown.get("color"), None);
        let bare: Manifest =
            serde_json::from_value(json!({"name": "x", "kind": "macro", "version": "1"})).unwrap();
        assert_eq!(
            serde_json::to_value(&bare).unwrap(),
            json!({"name": "x", "kind": "macro", "version": "1"})
        );
    }

    #[test]
    fn a_permission_has_one_name_everywhere() {
        for permission in Permission::ALL {
            assert_eq!(serde_json::to_value(permission).unwrap(), json!(permission.name()));
            assert_eq!(permission.to_string(), permission.name());
        }
        assert_eq!(format!("{:?}", Permission::MatcherWait), "MatcherWait");
    }
}
