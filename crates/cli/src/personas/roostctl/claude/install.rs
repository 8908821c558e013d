//! `roostctl claude install`: settings of their own, and the alias that makes Claude Code use them.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value, json};

use super::{EVENTS, hook_command, own_program, quoted};
use crate::{
    commands::done,
    failure::{Failure, Outcome},
    output,
    personas::roostctl::target::{Env, non_empty, process_env},
};

pub(in crate::personas::roostctl) fn settings_file(env: Env<'_>) -> Option<PathBuf> {
    let home = PathBuf::from(non_empty(env, "HOME")?);
    home.is_absolute().then(|| home.join(".config/roost/claude-settings.json"))
}

pub(in crate::personas::roostctl) fn install(force: bool) -> Outcome {
    let file = settings_file(&process_env).ok_or_else(|| Failure::new("HOME is not set"))?;
    write(&file, &settings(&own_program()?), force)?;
    output::line(alias(&file))?;
    done()
}

fn settings(program: &[String]) -> Value {
    let hook = |event: &str| json!([{ "hooks": [{ "type": "command", "command": hook_command(program, event) }] }]);
    let hooks: Map<_, _> = EVENTS.iter().map(|event| ((*event).to_owned(), hook(event))).collect();
    json!({ "hooks": hooks })
}

fn write(file: &Path, settings: &Value, force: bool) -> Outcome<()> {
    let failed = |path: &Path| Failure::doing(path.display().to_string());
    if fs::symlink_metadata(file).is_ok() && !force {
        let message = format!("{} exists; overwrite it with --force", file.display());
        return Err(Failure::new(message));
    }
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir).map_err(failed(dir))?;
    }
    // A half-written file would be read by the next session.
    let new = file.with_extension(format!("json.{}", std::process::id()));
    let written = fs::File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)
        .and_then(|mut out| {
            out.write_all(format!("{settings:#}\n").as_bytes())?;
            out.sync_all()
        })
        .and_then(|()| fs::rename(&new, file));
    written.map_err(|error| {
        // Already gone if it was renamed or never made.
        let _ = fs::remove_file(&new);
        failed(file)(error)
    })
}

/// A line for a shell's start file. The path is read twice: with the alias, and when it is used.
fn alias(file: &Path) -> String {
    let path = quoted(&file.to_string_lossy());
    let is_plain = !path.starts_with('\'');
    format!("alias claude='claude --settings '{}", if is_plain { path } else { quoted(&path) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_call_us_for_every_event() {
        let settings = settings(&["/opt/a b/roostctl".to_owned()]);
        let hooks = settings["hooks"].as_object().unwrap();
        assert_eq!(hooks.len(), 6);
        for event in EVENTS {
            let hook = &hooks[event][0]["hooks"][0];
            assert_eq!(hook["type"], "command");
            assert_eq!(hook["command"], format!("'/opt/a b/roostctl' claude-hook {event}"));
        }
    }

    #[test]
    fn a_file_is_replaced_only_by_force() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("deep/claude-settings.json");
        write(&file, &json!(1), false).unwrap();
        assert!(write(&file, &json!(2), false).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "1\n");
        write(&file, &json!(2), true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "2\n");
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn the_alias_survives_both_readings() {
        assert_eq!(alias(Path::new("/h/x.json")), "alias claude='claude --settings '/h/x.json");
        let odd = r"alias claude='claude --settings '''\''/h o/x'\'''";
        assert_eq!(alias(Path::new("/h o/x")), odd);
    }
}
