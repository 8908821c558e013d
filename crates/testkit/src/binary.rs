//! The `rookery` executable that tests run: the one of this build, built if it is not there yet.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where the executable is.
pub fn rookery_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(find_or_build)
}

/// A test executable lies in `target/PROFILE/deps`, the binary in `target/PROFILE`.
fn find_or_build() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let deps = own.parent().unwrap();
    let profile = deps.parent().unwrap();
    let binary = profile.join("rookery");
    if !binary.is_file() {
        build(profile);
    }
    assert!(binary.is_file(), "{} was not built", binary.display());
    binary
}

#[expect(clippy::disallowed_methods, reason = "the one place that builds what tests run")]
fn build(profile: &Path) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // The folder of the profile `dev` is called `debug`, all others are called like themselves.
    let name = profile.file_name().and_then(|name| name.to_str()).unwrap_or("debug");
    let name = if name == "debug" { "dev" } else { name };
    let mut command = Command::new(cargo);
    command.args(["build", "--package", "rookery", "--profile", name]);
    command.arg("--target-dir").arg(profile.parent().unwrap());
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let status = command.status().unwrap();
    assert!(status.success(), "cargo build of the rookery binary: {status}");
}
