//! Has the linker pack the relative relocations of the program, some 4 MB of 24 bytes each, where the C library of
//! this machine can read them. It owns no other setting; everything else is in the profile.

use std::env;
use std::process::Command;

/// The first release of glibc that reads packed relocations.
const READS_PACKED: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let var = |name: &str| env::var(name).unwrap_or_default();
    // Built for another machine, it is not known what that has.
    let is_for_here = var("HOST") == var("TARGET") && var("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_release = var("PROFILE") == "release";
    if is_release && is_for_here && glibc().is_some_and(|version| version >= READS_PACKED) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a build script has no part of ours to start programs with"
)]
/// What `getconf` says of the C library, such as `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
