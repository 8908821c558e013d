//! `cargo xtask compare ptywright`: the same conversations with Rookery and with the real ptywright 0.3.0.
//!
//! Provides both programs and starts the example `compare` of the testkit, which knows how to talk to them.
//! Not part of `test` and `ci`: it needs a program that the network has to provide.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use cargo_metadata::MetadataCommand;
use clap::{Args, ValueEnum};

use crate::process::Run;

/// The release that is compared with.
const VERSION: &str = "0.3.0";

/// Who can be compared with.
#[derive(Clone, Copy, ValueEnum)]
enum Peer {
    /// ptywright 0.3.0.
    Ptywright,
}

/// What `cargo xtask compare` was asked to do.
#[derive(Args)]
pub(crate) struct CompareArgs {
    /// What to compare with.
    peer: Peer,
    /// Its program; the one that --install has installed, or the one on the path, if left out.
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// The rookery program; built if left out.
    #[arg(long, value_name = "PATH")]
    rookery: Option<PathBuf>,
    /// Install the peer below the target directory if it is not there.
    #[arg(long)]
    install: bool,
    /// Hold only the conversation with this name, and write no table.
    #[arg(long, value_name = "VECTOR")]
    only: Option<String>,
}

/// Compares; fails for a difference that nothing explains, and for an explanation of none.
pub(crate) fn run(root: &Path, args: &CompareArgs) -> anyhow::Result<()> {
    let target = target_dir(root)?;
    let Peer::Ptywright = args.peer;
    let peer = ptywright(root, &target.join("peers"), args)?;
    let rookery = match &args.rookery {
        Some(rookery) => absolute(rookery)?,
        None => {
            Run::cargo(root).args(["build", "--package", "rookery"]).status()?;
            target.join("debug/rookery")
        }
    };
    let runner = ["run", "--quiet", "--package", "rookery-testkit", "--example", "compare", "--"];
    let run = Run::cargo(root).args(runner).arg(rookery).arg(peer).arg(root);
    run.args(args.only.as_ref()).status()
}

/// The program to compare with.
fn ptywright(root: &Path, peers: &Path, args: &CompareArgs) -> anyhow::Result<PathBuf> {
    let installed = peers.join("bin/ptywright");
    let binary = if let Some(named) = &args.binary {
        absolute(named)?
    } else if installed.is_file() {
        installed
    } else if args.install {
        println!("ptywright {VERSION} is not there: installing it to {}", peers.display());
        let package = format!("ptywright@{VERSION}");
        let install = Run::cargo(root).args(["install", &package, "--locked", "--root"]).arg(peers);
        println!("$ {install}");
        install.status()?;
        installed
    } else if let Some(found) = on_path() {
        found
    } else {
        bail!("ptywright {VERSION} is not there; --install installs it, --binary PATH names it");
    };
    let version = Run::new(&binary, root).arg("--version").stdout()?;
    if version.trim() != format!("ptywright {VERSION}") {
        bail!("{} is {}, not ptywright {VERSION}", binary.display(), version.trim());
    }
    Ok(binary)
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join("ptywright")).find(|file| file.is_file())
}

/// The runner works elsewhere.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| path.display().to_string())
}

fn target_dir(root: &Path) -> anyhow::Result<PathBuf> {
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec();
    Ok(metadata.context("cargo metadata of the workspace")?.target_directory.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn args(binary: &Path) -> CompareArgs {
        CompareArgs {
            peer: Peer::Ptywright,
            binary: Some(binary.to_owned()),
            rookery: None,
            install: false,
            only: None,
        }
    }

    #[test]
    fn another_release_is_refused() {
        let dir = std::env::temp_dir().join(format!("rookery-xtask-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let binary = dir.join("ptywright");
        let version = |version: &str| {
            std::fs::write(&binary, format!("#!/bin/sh\necho ptywright {version}\n")).unwrap();
            std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o700)).unwrap();
            ptywright(&dir, &dir, &args(&binary))
        };
        let (good, bad) = (version("0.3.0"), version("0.4.0"));
        std::fs::remove_dir_all(&dir).unwrap();
        assert!(good.is_ok(), "{good:?}");
        assert!(bad.unwrap_err().to_string().ends_with("is ptywright 0.4.0, not ptywright 0.3.0"));
    }
}
