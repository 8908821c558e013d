//! What is set up for Claude Code.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::program;
use crate::personas::roostctl::{
    claude::{Called, read_hook_command, settings_file},
    target::{Env, non_empty},
};

/// The most that is read of settings.
const LARGEST_SETTINGS: u64 = 4 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Claude {
    /// Where it is, and what it says of its version.
    pub(super) binary: Option<(PathBuf, Option<String>)>,
    /// The files that may have hooks of ours.
    pub(super) settings: Vec<Settings>,
    /// This program.
    pub(super) own: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) struct Settings {
    pub(super) file: PathBuf,
    /// The commands in it that report to a server, or why it cannot be read.
    pub(super) commands: Result<Vec<Called>, String>,
}

impl Claude {
    pub(super) fn collect(env: Env<'_>) -> Self {
        let binary = program::on_path("claude").map(|path| {
            let version = program::version(&path);
            (path, version)
        });
        let files = [settings_file(env), users_settings(env)];
        let settings = files.into_iter().flatten().filter_map(|file| {
            let commands = read(&file)?;
            Some(Settings { file, commands })
        });
        let own = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
        Self { binary, settings: settings.collect(), own }
    }
}

/// The settings that Claude Code reads by itself.
pub(super) fn users_settings(env: Env<'_>) -> Option<PathBuf> {
    let dir = non_empty(env, "CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let dir = dir.or_else(|| Some(PathBuf::from(non_empty(env, "HOME")?).join(".claude")))?;
    Some(dir.join("settings.json"))
}

/// The commands in a file; nothing if there is no file.
fn read(file: &Path) -> Option<Result<Vec<Called>, String>> {
    let text = File::open(file).and_then(|file| {
        let mut bytes = Vec::new();
        file.take(LARGEST_SETTINGS).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    let bytes = match text {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(Err(error.to_string())),
    };
    let parsed = serde_json::from_slice(&bytes).map_err(|error| error.to_string());
    Some(parsed.map(|settings| commands(&settings)))
}

/// The commands that report under the event they are for.
fn commands(settings: &Value) -> Vec<Called> {
    let mut found = Vec::new();
    let events = settings.get("hooks").and_then(Value::as_object);
    for (event, groups) in events.into_iter().flatten() {
        let groups = groups.as_array().into_iter().flatten();
        let hooks = groups.filter_map(|group| group.get("hooks")?.as_array()).flatten();
        let called = hooks.filter_map(|hook| read_hook_command(hook.get("command")?.as_str()?));
        found.extend(called.filter(|called| called.event == *event));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_commands_that_report_count() {
        let hook = |command: &str| json!({"type": "command", "command": command});
        let settings = json!({"hooks": {
            "Stop": [{"hooks": [hook("/b/roostctl claude-hook Stop"), hook("say done")]}],
            "SessionEnd": [{"hooks": [hook("/b/roostctl claude-hook Stop")]}],
            "Other": 7,
        }});
        let found = commands(&settings);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].event, "Stop");
        assert!(commands(&json!([])).is_empty());
    }

    #[test]
    fn a_file_that_is_no_json_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        assert!(read(&file).is_none());
        std::fs::write(&file, "{").unwrap();
        assert!(read(&file).unwrap().is_err());
        std::fs::write(&file, "{}").unwrap();
        assert!(read(&file).unwrap().unwrap().is_empty());
    }
}
