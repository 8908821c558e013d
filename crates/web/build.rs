//! Lists the files of the page: every file below `assets`. A new one needs no line of Rust.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let assets = root.join("assets");
    println!("cargo::rerun-if-changed={}", assets.display());
    let mut files = Vec::new();
    collect(&assets, "", &mut files)?;
    files.sort();
    let mut list = String::from("&[\n");
    for (name, path) in &files {
        writeln!(list, "    ({name:?}, include_bytes!({path:?})),").map_err(io::Error::other)?;
    }
    list.push(']');
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    fs::write(out.join("files.rs"), list)
}

/// Names with `/` between their parts, whatever the system has there.
fn collect(dir: &Path, before: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let name = format!("{before}{name}");
        match entry.file_type()?.is_dir() {
            true => collect(&entry.path(), &format!("{name}/"), files)?,
            false => files.push((name, entry.path())),
        }
    }
    Ok(())
}
