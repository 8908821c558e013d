//! Lists the plugins that come with the program: every folder of `/plugins` whose manifest takes the
//! program's version. A new one needs no line of Rust.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A manifest with this version takes the program's.
const OUR_VERSION: &str = "version = \"0.0.0-shipped\"";

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let plugins = root.join("../../plugins");
    println!("cargo::rerun-if-changed={}", plugins.display());
    let mut folders = Vec::new();
    for entry in fs::read_dir(&plugins)? {
        let folder = entry?.path();
        let manifest = fs::read_to_string(folder.join("manifest.toml")).unwrap_or_default();
        if manifest.lines().any(|line| line == OUR_VERSION) {
            folders.push(folder);
        }
    }
    folders.sort();
    let mut list = String::from("&[\n");
    for folder in &folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let include = |file: &str| format!("include_str!({:?})", absolute(folder, file));
        let (manifest, code) = (include("manifest.toml"), include("plugin.lua"));
        let path = format!("plugins/{name}/manifest.toml");
        writeln!(list, "    ({path:?}, {manifest}, {code}),").map_err(io::Error::other)?;
    }
    list.push(']');
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    fs::write(out.join("shipped.rs"), list)
}

fn absolute(folder: &Path, file: &str) -> PathBuf {
    let path = folder.join(file);
    path.canonicalize().unwrap_or(path)
}
