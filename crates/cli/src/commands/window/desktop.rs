//! The window's place in the desktop: an entry in the menu, an icon, and what software centers show.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rookery_window::{APP_ID, icon};

use crate::{
    commands::tui::variable,
    daemon_process,
    failure::{Failure, Outcome},
};

/// The id of the metadata. Such ids begin with a domain; what this machine writes for itself has none.
const METADATA_ID: &str = "local.rookery.Rookery";

/// The metadata as it was called before it had an id of its own.
const OLD_METADATA: &str = "metainfo/rookery.metainfo.xml";

/// The files, below the directory for data, and what is in them. `built` is the day of this program.
fn files(program: &str, built: &str) -> [(PathBuf, String); 3] {
    [
        (PathBuf::from(format!("applications/{APP_ID}.desktop")), entry(program)),
        (PathBuf::from(format!("icons/hicolor/scalable/apps/{APP_ID}.svg")), icon::svg()),
        (PathBuf::from(format!("metainfo/{METADATA_ID}.metainfo.xml")), metainfo(built)),
    ]
}

fn entry(program: &str) -> String {
    let program = quoted(program);
    format!(
        "[Desktop Entry]
Type=Application
Version=1.5
Name=Rookery
GenericName=Terminals and coding agents
Comment=Terminals, coding agents and what needs you, in one window
Exec={program} window
Icon={APP_ID}
Terminal=false
StartupWMClass={APP_ID}
StartupNotify=true
Categories=Development;System;TerminalEmulator;
Keywords=terminal;shell;agent;
Actions=new;inbox;

[Desktop Action new]
Name=New Window
Exec={program} window --new

[Desktop Action inbox]
Name=Inbox
Exec={program} window --page inbox
"
    )
}

fn metainfo(built: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<component type=\"desktop-application\">
  <id>{METADATA_ID}</id>
  <metadata_license>CC0-1.0</metadata_license>
  <project_license>MIT OR Apache-2.0</project_license>
  <name>Rookery</name>
  <summary>Terminals and coding agents in one window</summary>
  <description>
    <p>Rookery holds terminals and conversations with coding agents, shows which of them wait for you, and keeps all of it running when a window is closed.</p>
  </description>
  <launchable type=\"desktop-id\">{APP_ID}.desktop</launchable>
  <releases>
    <release version=\"{version}\" date=\"{built}\"/>
  </releases>
  <content_rating type=\"oars-1.1\"/>
</component>
",
        version = env!("CARGO_PKG_VERSION"),
    )
}

/// A word of an `Exec` line, as the specification of desktop entries quotes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut out = String::from("\"");
    for c in word.chars() {
        match c {
            // Once for the quotes, once for strings of the file.
            '"' | '`' | '$' => out.extend(['\\', '\\', c]),
            '\\' => out.push_str("\\\\\\\\"),
            '%' => out.push_str("%%"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The day on which a program was built, as far as its file tells.
fn built(program: &Path) -> String {
    let modified = fs::metadata(program).and_then(|file| file.modified()).ok();
    let at = modified.and_then(|at| jiff::Timestamp::try_from(at).ok());
    let at = at.unwrap_or_else(jiff::Timestamp::now);
    at.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}

/// Where the user's desktop looks for entries.
fn data_dir() -> Outcome<PathBuf> {
    let named = variable("XDG_DATA_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let home = || variable("HOME").map(|home| Path::new(&home).join(".local/share"));
    named.or_else(home).ok_or_else(|| Failure::new("neither XDG_DATA_HOME nor HOME is set"))
}

/// Writes the files.
pub(super) fn install() -> Outcome {
    let program = daemon_process::executable()?;
    let built = built(&program);
    let program =
        program.to_str().ok_or_else(|| Failure::new("this program's path is not text"))?;
    let dir = data_dir()?;
    for (path, text) in files(program, &built) {
        let path = dir.join(path);
        let failed = || Failure::doing(format!("cannot write {}", path.display()));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed())?;
        }
        fs::write(&path, text).map_err(failed())?;
        super::report(format!("wrote {}", path.display()))?;
    }
    // One that an older program wrote would describe it twice.
    let _ = fs::remove_file(dir.join(OLD_METADATA));
    super::report("`rookery window --remove-desktop` removes them")
}

/// Removes the files; what is not there is no trouble.
pub(super) fn remove() -> Outcome {
    let dir = data_dir()?;
    let paths = files("", "").map(|(path, _)| path).into_iter().chain([OLD_METADATA.into()]);
    for path in paths {
        let path = dir.join(path);
        match fs::remove_file(&path) {
            Ok(()) => super::report(format!("removed {}", path.display()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                return Err(Failure::doing(format!("cannot remove {}", path.display()))(error));
            }
        };
    }
    super::report("removed Rookery from the desktop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_blanks_is_one_word() {
        assert_eq!(quoted("/usr/bin/rookery"), "/usr/bin/rookery");
        assert_eq!(quoted("/opt/my tools/rookery"), "\"/opt/my tools/rookery\"");
        assert_eq!(quoted("/a$b"), "\"/a\\\\$b\"");
        assert_eq!(quoted("/50%"), "\"/50%%\"");
    }

    #[test]
    fn the_entry_names_the_class_of_the_window() {
        let entry = entry("/usr/bin/rookery");
        assert!(entry.contains("\nStartupWMClass=rookery\n"));
        assert!(entry.contains("\nExec=/usr/bin/rookery window\n"));
        // One that is open shows it.
        assert!(entry.contains("\nExec=/usr/bin/rookery window --page inbox\n"));
        let [(desktop, _), _, (metadata, text)] = files("x", "2026-11-19");
        assert_eq!(desktop, Path::new("applications/rookery.desktop"));
        assert_eq!(metadata, Path::new("metainfo/local.rookery.Rookery.metainfo.xml"));
        assert!(text.contains("<id>local.rookery.Rookery</id>"), "{text}");
        assert!(text.contains(" date=\"2026-11-19\"/>"), "{text}");
    }
}
