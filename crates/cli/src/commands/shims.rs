//! `rookery shims`: links by which this program is called under the names of other tools.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use crate::{
    args::{ShimsAction, ShimsDir},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    output::{self, Table, Tone},
    personas::PERSONAS,
};

/// What is found under a name.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// A link to this program, or to another one of its name.
    Ours(PathBuf),
    Foreign,
}

pub(super) fn run(action: ShimsAction) -> Outcome {
    let exe = daemon_process::executable()?;
    match action {
        ShimsAction::Install(dir) => print(&install(&directory(dir)?, &exe)?)?,
        ShimsAction::List(dir) => list(&directory(dir)?, &exe)?,
        ShimsAction::Remove(dir) => remove(&directory(dir)?, &exe)?,
    }
    done()
}

/// The links that `shims install` would make in the usual directory; none if it would not touch it.
pub(super) fn missing() -> Outcome<Vec<PathBuf>> {
    let exe = daemon_process::executable()?;
    let links = links(&directory(ShimsDir { dir: None })?, &exe)?;
    if links.iter().any(|(_, _, found)| *found == Found::Foreign) {
        return Ok(Vec::new());
    }
    let is_missing = |found: &Found| !matches!(found, Found::Ours(target) if *target == exe);
    let missing = links.into_iter().filter(|(_, _, found)| is_missing(found));
    Ok(missing.map(|(_, link, _)| link).collect())
}

/// Makes the links in the usual directory.
pub(super) fn install_usual(is_quiet: bool) -> Outcome<()> {
    let made = install(&directory(ShimsDir { dir: None })?, &daemon_process::executable()?)?;
    if is_quiet { Ok(()) } else { print(&made) }
}

fn print(made: &[PathBuf]) -> Outcome<()> {
    made.iter().try_for_each(|link| output::line(link.display()))
}

fn directory(given: ShimsDir) -> Outcome<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME").filter(|home| !home.is_empty())?));
    let dir = given.dir.or_else(|| Some(home()?.join(".local/bin")));
    let dir = dir.ok_or_else(|| Failure::new("HOME is not set").hint("name a directory"))?;
    std::path::absolute(&dir).map_err(Failure::doing(dir.display()))
}

fn look(link: &Path, exe: &Path) -> io::Result<Found> {
    let is_link = match fs::symlink_metadata(link) {
        Ok(found) => found.is_symlink(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    };
    if !is_link {
        return Ok(Found::Foreign);
    }
    let target = fs::read_link(link)?;
    let is_ours = target == exe || target.file_name() == Some(OsStr::new("rookery"));
    Ok(if is_ours { Found::Ours(target) } else { Found::Foreign })
}

/// The links of a directory, and what is found there.
fn links(dir: &Path, exe: &Path) -> Outcome<Vec<(&'static str, PathBuf, Found)>> {
    let one = |name: &'static str| {
        let link = dir.join(name);
        let found = look(&link, exe).map_err(Failure::doing(link.display()))?;
        Ok((name, link, found))
    };
    PERSONAS.iter().map(|persona| one(persona.name)).collect()
}

/// Makes every link; gives them.
fn install(dir: &Path, exe: &Path) -> Outcome<Vec<PathBuf>> {
    fs::create_dir_all(dir).map_err(Failure::doing(dir.display()))?;
    let links = links(dir, exe)?;
    // All or nothing, as far as can be known beforehand.
    if let Some((_, link, _)) = links.iter().find(|(_, _, found)| *found == Found::Foreign) {
        return Err(Failure::new(format!("{} is not one of our links", link.display()))
            .hint("move it away, or choose another directory"));
    }
    let mut made = Vec::new();
    for (_, link, found) in links {
        if let Found::Ours(target) = &found
            && target != exe
        {
            fs::remove_file(&link).map_err(Failure::doing(link.display()))?;
        }
        match symlink(exe, &link) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Failure::doing(link.display())(error));
            }
            _ => made.push(link),
        }
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|known| known == dir) {
        output::note(format!("{} is not in PATH; add it to run the links by name", dir.display()));
    }
    Ok(made)
}

fn list(dir: &Path, exe: &Path) -> Outcome<()> {
    let mut table = Table::new(&["NAME", "LINK", "STATE"]);
    for (name, link, found) in links(dir, exe)? {
        let (tone, state) = match found {
            Found::Nothing => (Tone::Faint, "not installed".to_owned()),
            Found::Ours(target) if target == exe => (Tone::Good, "installed".to_owned()),
            Found::Ours(target) => (Tone::Warning, format!("leads to {}", target.display())),
            Found::Foreign => (Tone::Warning, "not ours".to_owned()),
        };
        let link = (Tone::Plain, link.display().to_string());
        table.row(vec![(Tone::Strong, name.to_owned()), link, (tone, state)]);
    }
    table.print()
}

fn remove(dir: &Path, exe: &Path) -> Outcome<()> {
    for (_, link, found) in links(dir, exe)? {
        match found {
            Found::Nothing => {}
            Found::Ours(_) => {
                fs::remove_file(&link).map_err(Failure::doing(link.display()))?;
                output::line(link.display())?;
            }
            Found::Foreign => {
                output::note(format!("{} is not one of our links and was kept", link.display()));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_ours_by_target_or_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let exe = Path::new("/opt/built/program");
        let link = |name: &str, target: &str| {
            let path = dir.path().join(name);
            symlink(target, &path).unwrap();
            look(&path, exe).unwrap()
        };
        assert_eq!(link("a", "/opt/built/program"), Found::Ours("/opt/built/program".into()));
        assert_eq!(link("b", "/old/rookery"), Found::Ours("/old/rookery".into()));
        assert_eq!(link("c", "/bin/sh"), Found::Foreign);
        assert_eq!(look(&dir.path().join("d"), exe).unwrap(), Found::Nothing);
        fs::write(dir.path().join("e"), "").unwrap();
        assert_eq!(look(&dir.path().join("e"), exe).unwrap(), Found::Foreign);
    }
}
