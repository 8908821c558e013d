//! Python packages that clients of others are built from, for the tests that hold sessions with them.
//!
//! Installed where pip is there and may reach its registry; otherwise it is said what is missing.

use std::path::{Path, PathBuf};

use crate::process::Run;

/// What is installed, from the root.
const REQUIREMENTS: &str = "clients/roder-check/requirements.txt";
/// Where it is installed, in the target directory; the end-to-end tests look there.
const PLACE: &str = "python-clients";
/// A copy of what was installed.
const INSTALLED: &str = "requirements.txt";

/// The variable that lets tests pass without the packages.
pub(crate) const SKIP: &str = "ROOKERY_SKIP_PYTHON_CLIENTS";

/// Installs the packages if `install` is set, and prints what remains missing. Whether they are there.
pub(crate) fn provide(root: &Path, install: bool) -> bool {
    let dir = target_dir(root).join(PLACE);
    if is_current(root, &dir) {
        return true;
    }
    let outcome = if install { fetch(root, &dir) } else { Err(anyhow::anyhow!("not asked to")) };
    if let Err(error) = &outcome {
        println!(
            "missing: the Python packages of {REQUIREMENTS} ({error:#}); without them the published client of \
             Roder is not tested; to install: python3 -m pip install --target {} -r {REQUIREMENTS}, and copy \
             that file there",
            dir.display()
        );
    }
    outcome.is_ok()
}

/// Whether the packages are installed as they are named now.
fn is_current(root: &Path, dir: &Path) -> bool {
    let named = std::fs::read(root.join(REQUIREMENTS)).ok();
    named.is_some() && named == std::fs::read(dir.join(INSTALLED)).ok()
}

fn fetch(root: &Path, dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir)?;
    let place = dir.display().to_string();
    let quiet = ["--quiet", "--disable-pip-version-check", "--upgrade"];
    let pip = Run::new("python3", root).args(["-m", "pip", "install", "--target", &place]);
    pip.args(quiet).args(["-r", REQUIREMENTS]).status()?;
    // Last, so that what was cut off is begun again.
    std::fs::copy(root.join(REQUIREMENTS), dir.join(INSTALLED))?;
    Ok(())
}

fn target_dir(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}
