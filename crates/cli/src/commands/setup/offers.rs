//! What is offered beside a model: links, hooks and completions.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap_complete::Shell;
use rookery_daemon::setup::Found;

use super::{ask, is_yes};
use crate::{
    args,
    commands::{completions, hooks, shims},
    failure::{Failure, Outcome},
    output,
};

/// What is to be written beside the settings.
pub(super) struct Offers {
    /// Links that are to be made.
    pub(super) shims: Vec<PathBuf>,
    pub(super) hooks: Option<hooks::Planned>,
    pub(super) completions: Option<Completions>,
}

/// A script that completes our command lines.
pub(super) struct Completions {
    pub(super) file: PathBuf,
    script: Vec<u8>,
    /// What else is to be done, if the shell does not look there by itself.
    pub(super) hint: Option<String>,
}

impl Offers {
    /// What was asked for, or is agreed to.
    pub(super) fn choose(args: &args::Setup, found: &Found, asks: bool) -> Outcome<Self> {
        let wanted = |flag: bool, question: String| match flag || !asks {
            true => Ok(flag),
            false => ask(&question).map(|answer| is_yes(&answer)),
        };
        let mut offers = Self { shims: Vec::new(), hooks: None, completions: None };
        let links = shims::missing()?;
        if let Some(dir) = links.first().and_then(|link| link.parent()) {
            let question =
                format!("create links (roostctl, roder, ...) in {}? [y/N] ", dir.display());
            if wanted(args.shims, question)? {
                offers.shims = links;
            }
        }
        let hooked = found.agents.iter().find(|agent| agent.has_hooks).map(|agent| agent.name);
        if args.hooks || hooked.is_some() {
            let name = hooked.unwrap_or("agents");
            let question = format!("install hooks that report what {name} does? [y/N] ");
            if let Some(planned) = hooks::Planned::install()?
                && wanted(args.hooks, question)?
            {
                offers.hooks = Some(planned);
            }
        }
        if let Some(completions) = Completions::missing() {
            let question = format!("write completions to {}? [y/N] ", completions.file.display());
            if wanted(args.shell, question)? {
                offers.completions = Some(completions);
            }
        }
        Ok(offers)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shims.is_empty() && self.hooks.is_none() && self.completions.is_none()
    }

    pub(super) fn write(&self, is_quiet: bool) -> Outcome<()> {
        if !self.shims.is_empty() {
            shims::install_usual(is_quiet)?;
        }
        if let Some(hooks) = &self.hooks {
            hooks.write()?;
        }
        if let Some(completions) = &self.completions {
            completions.write()?;
        }
        Ok(())
    }
}

impl Completions {
    /// The script of the user's shell, unless it is there already or the shell is not known.
    fn missing() -> Option<Self> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let shell = PathBuf::from(variable("SHELL")?);
        let home = PathBuf::from(variable("HOME")?);
        let base = |name, usual: &str| {
            variable(name)
                .map(PathBuf::from)
                .filter(|dir| dir.is_absolute())
                .unwrap_or(home.join(usual))
        };
        let data = base("XDG_DATA_HOME", ".local/share");
        let config = base("XDG_CONFIG_HOME", ".config");
        let (shell, file, hint) = place(shell.file_name()?.to_str()?, &data, &config)?;
        let script = completions::script(shell);
        let is_there = fs::read(&file).is_ok_and(|known| known == script);
        (!is_there).then_some(Self { file, script, hint })
    }

    fn write(&self) -> Outcome<()> {
        let failed = || Failure::doing(format!("cannot write {}", self.file.display()));
        if let Some(dir) = self.file.parent() {
            fs::create_dir_all(dir).map_err(failed())?;
        }
        fs::write(&self.file, &self.script).map_err(failed())?;
        if let Some(hint) = &self.hint {
            output::note(hint);
        }
        Ok(())
    }
}

/// Where a shell looks for completions, and what has to be done where it does not.
fn place(shell: &str, data: &Path, config: &Path) -> Option<(Shell, PathBuf, Option<String>)> {
    match shell {
        "bash" => Some((Shell::Bash, data.join("bash-completion/completions/rookery"), None)),
        "fish" => Some((Shell::Fish, config.join("fish/completions/rookery.fish"), None)),
        "zsh" => {
            let dir = data.join("zsh/site-functions");
            let hint = format!("add `fpath+=({})` to ~/.zshrc, before compinit", dir.display());
            Some((Shell::Zsh, dir.join("_rookery"), Some(hint)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_has_its_place() {
        let place = |shell: &str| place(shell, Path::new("/d"), Path::new("/c"));
        let file = |shell: &str| place(shell).map(|(_, file, _)| file.display().to_string());
        assert_eq!(file("bash").unwrap(), "/d/bash-completion/completions/rookery");
        assert_eq!(file("fish").unwrap(), "/c/fish/completions/rookery.fish");
        assert!(place("zsh").unwrap().2.unwrap().contains("fpath"));
        assert_eq!(file("sh"), None);
    }
}
