//! Plugins as files: finding, checking and reading them.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use crate::error::LoadError;
use crate::instance::Instance;
use crate::limits::Limits;
use crate::manifest::{Manifest, Permission, Runtime};

/// The longest manifest or source file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A manifest with its code; cheap to clone.
#[derive(Clone, Debug)]
pub struct Plugin(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    manifest: Manifest,
    source: String,
    shipped: bool,
}

impl Plugin {
    /// Reads a manifest and the code it names, and runs the code once.
    pub fn load(manifest_path: &Path) -> Result<Self, LoadError> {
        let text = read_file(manifest_path).map_err(|why| why.of("manifest"))?;
        let manifest = parse_manifest(&text, manifest_path)?;
        let entrypoint = lua_entrypoint(&manifest)?;
        let path = locate(manifest_path, entrypoint)?;
        let source = read_file(&path).map_err(|why| why.of("entrypoint"))?;
        Self::from_source(manifest, &source)
    }

    /// Makes a plugin of code that is at hand, and runs it once.
    pub fn from_source(manifest: Manifest, source: &str) -> Result<Self, LoadError> {
        manifest.validate().map_err(|error| LoadError::Config(error.to_string()))?;
        lua_entrypoint(&manifest)?;
        let plugin = Self::unchecked(manifest, source, false);
        Instance::start(&plugin, Limits::default())
            .map_err(|error| LoadError::Lua(error.to_string()))?;
        Ok(plugin)
    }

    /// A plugin whose code is not run before it is needed.
    pub(crate) fn unchecked(manifest: Manifest, source: &str, shipped: bool) -> Self {
        Self(Arc::new(Parts { manifest, source: source.to_owned(), shipped }))
    }

    /// What the plugin says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// The same plugin with no more than these permissions.
    #[must_use]
    pub fn restricted(&self, permissions: &[Permission]) -> Self {
        let mut manifest = self.0.manifest.clone();
        manifest.permissions.retain(|permission| permissions.contains(permission));
        Self::unchecked(manifest, &self.0.source, self.0.shipped)
    }

    /// Whether the other has the same manifest and the same code.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.0.manifest == other.0.manifest && self.0.source == other.0.source
    }

    /// Whether it came with the program, and so cannot be unloaded.
    pub fn is_shipped(&self) -> bool {
        self.0.shipped
    }

    pub(crate) fn source(&self) -> &str {
        &self.0.source
    }
}

/// Reads TOML as a valid manifest.
pub(crate) fn parse_manifest(text: &str, path: &Path) -> Result<Manifest, LoadError> {
    let manifest: Manifest = toml::from_str(text).map_err(|error| {
        let (place, fault) = (place_of(&error, text), fault_of(&error));
        LoadError::Config(format!("{}: {place}{fault}", path.display()))
    })?;
    manifest.validate().map_err(|error| LoadError::Config(error.to_string()))?;
    Ok(manifest)
}

/// Where in the text the error is, for the beginning of a message.
fn place_of(error: &toml::de::Error, text: &str) -> String {
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return String::new();
    };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}: ")
}

/// What is wrong, without a word of the file: it may be any file, and the client may not be allowed to read it.
///
/// Messages of the parser end with what it expected, which is its own text; what comes before may be quoted.
fn fault_of(error: &toml::de::Error) -> String {
    const FAULTS: [&str; 4] = ["unknown variant", "invalid type", "invalid value", "duplicate key"];
    let message = error.message();
    if message.starts_with("missing field `") {
        return message.to_owned();
    }
    let fault = FAULTS.into_iter().find(|fault| message.starts_with(fault));
    let fault = fault.unwrap_or("not valid TOML");
    match message.rsplit_once(", expected ") {
        Some((_, expected)) => format!("{fault}, expected {expected}"),
        None => fault.to_owned(),
    }
}

/// The file with the code, if it is code that can be run.
fn lua_entrypoint(manifest: &Manifest) -> Result<&str, LoadError> {
    match (manifest.runtime, &manifest.entrypoint) {
        (Some(Runtime::Lua), Some(entrypoint)) => Ok(entrypoint),
        _ => Err(LoadError::Lua(format!("plugin `{}` is not a Lua plugin", manifest.name))),
    }
}

/// The real path of the code, which lies under the real directory of the manifest.
fn locate(manifest_path: &Path, entrypoint: &str) -> Result<PathBuf, LoadError> {
    let refuse =
        |why: &str| Err(LoadError::Config(format!("plugin entrypoint `{entrypoint}` {why}")));
    let relative = Path::new(entrypoint);
    if relative.components().any(|part| part == Component::ParentDir) {
        return refuse("must not contain `..`");
    }
    if !relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return refuse("must be a relative path");
    }
    let real = canonical(manifest_path, "manifest")?;
    let Some(directory) = real.parent() else { return refuse("has no directory") };
    let path = canonical(&directory.join(relative), "entrypoint")?;
    if !path.starts_with(directory) {
        return refuse("lies outside of the manifest's directory");
    }
    Ok(path)
}

fn canonical(path: &Path, part: &str) -> Result<PathBuf, LoadError> {
    path.canonicalize().map_err(|error| Unreadable::new(path, error).of(part))
}

/// A file that cannot be read, and why.
struct Unreadable(String);

impl Unreadable {
    fn new(path: &Path, why: impl Display) -> Self {
        Self(format!("`{}`: {why}", path.display()))
    }

    /// The error, if the file is this part of a plugin.
    fn of(&self, part: &str) -> LoadError {
        LoadError::Config(format!("failed to read plugin {part} {}", self.0))
    }
}

/// Reads a regular file of bounded length. A FIFO or a device is refused without waiting for it.
fn read_file(path: &Path) -> Result<String, Unreadable> {
    let refuse = |why: &str| Err(Unreadable::new(path, why));
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(error) => return Err(Unreadable::new(path, io::Error::from(error))),
    };
    let metadata = file.metadata().map_err(|error| Unreadable::new(path, error))?;
    if !metadata.is_file() {
        return refuse("not a regular file");
    }
    let mut text = Vec::new();
    let read = file.take(MAX_FILE + 1).read_to_end(&mut text);
    read.map_err(|error| Unreadable::new(path, error))?;
    if text.len() as u64 > MAX_FILE {
        return refuse("larger than 1 MiB");
    }
    String::from_utf8(text).or_else(|_| refuse("not UTF-8"))
}
