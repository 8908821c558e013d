//! Terminals with a window: xterm and alacritty, as Debian packages them and without a configuration.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::Size;
use super::display;
use crate::process;

/// How long installing one may take.
const INSTALL_LIMIT: Duration = Duration::from_secs(300);

/// Which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Xterm,
    Alacritty,
}

impl Kind {
    /// Both.
    pub(crate) const ALL: [Kind; 2] = [Kind::Xterm, Kind::Alacritty];

    /// Its program and its package.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Xterm => "xterm",
            Kind::Alacritty => "alacritty",
        }
    }

    /// Where it is, and its version; or why there is none.
    pub(crate) fn find(self, may_install: bool) -> Result<(PathBuf, String), String> {
        let name = self.name();
        if process::find(name).is_none() {
            install(name, may_install)?;
        }
        let binary = process::find(name).ok_or_else(|| format!("{name} is not found"))?;
        let ask = match self {
            Kind::Xterm => "-version",
            Kind::Alacritty => "--version",
        };
        let said = process::output(process::program(&binary).arg(ask))
            .map_err(|error| format!("{error:#}"))?;
        // xterm says `XTerm(379)`, the other its name and its commit too.
        let version = said.replace(['(', ')'], " ").to_lowercase();
        Ok((binary, version.split_whitespace().take(2).collect::<Vec<_>>().join(" ")))
    }

    /// How it is started with a program in it, this many pixels from the left.
    pub(crate) fn command(self, (rows, cols): Size, left: u16) -> Command {
        let mut command = process::program(self.name());
        match self {
            Kind::Xterm => {
                command.args(["-geometry", &format!("{cols}x{rows}+{left}+0"), "-e"]);
            }
            Kind::Alacritty => {
                let options = [
                    format!("window.dimensions.columns={cols}"),
                    format!("window.dimensions.lines={rows}"),
                    format!("window.position.x={left}"),
                    "window.position.y=0".to_owned(),
                ];
                options.iter().for_each(|option| {
                    command.args(["-o", option]);
                });
                command.args(["--config-file", "/dev/null", "-e"]);
            }
        }
        command.env_remove("NO_COLOR");
        command
    }
}

/// What displays need, if it is here; else it is installed where that is allowed.
pub(crate) fn find_display(may_install: bool) -> Result<(PathBuf, String), String> {
    if process::find("Xvfb").is_none() {
        install(display::PACKAGE, may_install)?;
    }
    let found = process::find("Xvfb").ok_or("Xvfb is not found")?;
    Ok((found, "Xvfb".to_owned()))
}

/// Installs a package of Debian.
pub(crate) fn install(package: &str, may_install: bool) -> Result<(), String> {
    if !may_install {
        return Err(format!("{package} is not there (--install gets it, or apt-get)"));
    }
    // What it says may be more than a pipe holds.
    let mut apt = process::program("sh");
    apt.args(["-c", "exec \"$@\" >/dev/null 2>&1", "sh", "apt-get", "install", "-y"]);
    apt.arg("--no-install-recommends").args(package.split(' '));
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    process::output_within(&mut apt, INSTALL_LIMIT)
        .map(drop)
        .map_err(|error| format!("{package} was not installed: {error:#}"))
}
