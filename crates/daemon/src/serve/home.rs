//! Where ptywright keeps its own files, and the little that can be set there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The directory of ptywright's own files. Nothing is created before it is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtywrightHome(PathBuf);

/// `[logging]` of its `config.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Logging {
    /// What is logged: a level, or directives per module.
    pub level: String,
    /// Whether a file is written.
    pub file: bool,
    /// Days after which a log file is removed; 0 is never.
    pub max_days: u32,
    /// How a line looks.
    pub format: LogFormat,
}

impl Default for Logging {
    fn default() -> Self {
        Logging { level: "warn".to_owned(), file: true, max_days: 14, format: LogFormat::Text }
    }
}

/// How a line of a log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Settings {
    logging: Logging,
}

impl PtywrightHome {
    /// From the environment of this process.
    pub fn from_env() -> PtywrightHome {
        Self::from_lookup(&|name| std::env::var_os(name))
    }

    /// `PTYWRIGHT_HOME`, else `.ptywright` in the home directory, else in the current one.
    pub fn from_lookup(lookup: &dyn Fn(&str) -> Option<OsString>) -> PtywrightHome {
        let told = |name| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let dir = told("PTYWRIGHT_HOME")
            .or_else(|| told("HOME").map(|home| home.join(".ptywright")))
            .unwrap_or_else(|| PathBuf::from(".ptywright"));
        PtywrightHome(std::path::absolute(&dir).unwrap_or(dir))
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where a server listens that was given no address.
    pub fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }

    /// Where log files lie, one per day.
    pub fn logs(&self) -> PathBuf {
        self.0.join("logs")
    }

    /// What was typed at the console.
    pub fn repl_history(&self) -> PathBuf {
        self.0.join("repl-history")
    }

    /// What is set, and what is wrong with the file if it cannot be used. Unknown keys are ignored.
    pub fn logging(&self) -> (Logging, Option<String>) {
        let path = self.0.join("config.toml");
        let read = match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str::<Settings>(&text).map_err(|error| error.to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Settings::default()),
            Err(error) => Err(error.to_string()),
        };
        match read {
            Ok(settings) => (settings.logging, None),
            Err(error) => {
                let message = format!("{}: {error}; using defaults", path.display());
                (Logging::default(), Some(message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(vars: &[(&str, &str)]) -> PathBuf {
        let find = |name: &str| vars.iter().find(|(key, _)| *key == name);
        PtywrightHome::from_lookup(&|name| find(name).map(|(_, value)| value.into())).0
    }

    #[test]
    fn the_variable_wins_over_the_home_and_that_over_the_directory() {
        assert_eq!(home(&[("PTYWRIGHT_HOME", "/p"), ("HOME", "/h")]), Path::new("/p"));
        assert_eq!(home(&[("PTYWRIGHT_HOME", ""), ("HOME", "/h")]), Path::new("/h/.ptywright"));
        assert_eq!(home(&[]), std::env::current_dir().unwrap().join(".ptywright"));
    }

    #[test]
    fn settings_have_defaults_and_unknown_keys_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let home = PtywrightHome(dir.path().to_owned());
        assert_eq!(home.logging(), (Logging::default(), None));
        let text = "other = 1\n[logging]\nlevel = \"debug\"\nformat = \"json\"\ncolor = true\n";
        std::fs::write(dir.path().join("config.toml"), text).unwrap();
        let (logging, wrong) = home.logging();
        assert_eq!((logging.level.as_str(), logging.format), ("debug", LogFormat::Json));
        assert_eq!((logging.file, logging.max_days, wrong), (true, 14, None));
        std::fs::write(dir.path().join("config.toml"), "[logging]\nmax_days = \"many\"\n").unwrap();
        let (logging, wrong) = home.logging();
        assert_eq!(logging, Logging::default());
        assert!(wrong.is_some_and(|wrong| wrong.contains("using defaults")));
    }
}
