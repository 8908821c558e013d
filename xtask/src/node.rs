//! Packages that clients of others are built from, for the tests that hold sessions with them.
//!
//! Installed where npm is there and may reach its registry; otherwise it is said what is missing.

use std::path::{Path, PathBuf};

use crate::process::Run;

/// Where they are described, from the root.
const PROJECT: &str = "clients/roo-check/package.json";
/// Where they are installed, in the target directory; the end-to-end tests look there.
const PLACE: &str = "node-clients";
/// What is there once they are installed.
const INSTALLED: &[&str] = &["node-ipc/package.json", "@roo-code/types/package.json"];

/// Installs the packages if `install` is set, and prints what remains missing.
pub(crate) fn provide(root: &Path, install: bool) {
    let dir = target_dir(root).join(PLACE);
    if is_current(root, &dir) {
        return;
    }
    let outcome = if install { fetch(root, &dir) } else { Err(anyhow::anyhow!("not asked to")) };
    if let Err(error) = outcome {
        println!(
            "missing: the Node packages of {PROJECT} ({error:#}); without them the published client of \
             Roo Code is not tested; to install: npm install --prefix {} after copying that file there",
            dir.display()
        );
    }
}

/// Whether the packages are installed as they are described now.
fn is_current(root: &Path, dir: &Path) -> bool {
    let described = std::fs::read(root.join(PROJECT)).ok();
    let installed = std::fs::read(dir.join("package.json")).ok();
    let is_there = |name: &&str| dir.join("node_modules").join(name).is_file();
    described.is_some() && described == installed && INSTALLED.iter().all(is_there)
}

fn fetch(root: &Path, dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir)?;
    std::fs::copy(root.join(PROJECT), dir.join("package.json"))?;
    let place = dir.display().to_string();
    let quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"];
    Run::new("npm", root).args(["install", "--prefix", &place]).args(quiet).status()
}

fn target_dir(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}
