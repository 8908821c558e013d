//! The settings file: read whole, changed value by value, replaced at once.
//!
//! It keeps comments, order and keys it has never heard of, and knows no key itself. A file that does
//! not parse is never written over. All of it blocks; writers of one process take turns by themselves.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, TomlError, Value};

use crate::files;

/// The longest file that is read.
const LIMIT: u64 = 4 << 20;

/// Why the settings were not read or not written. Never has any text of the file.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    /// The disk failed us.
    #[error("settings file {path}: {error}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        error: io::Error,
    },
    /// It is not TOML.
    #[error("settings file {path} is broken at line {line}: {reason}", path = .path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where, counted from 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A key that has to be a table for this change is something else.
    #[error("{0} in the settings file is not a table")]
    NotATable(String),
    /// A key that has to be a value for this change is a table.
    #[error("{0} in the settings file is not a value")]
    NotAValue(String),
}

/// A settings file at a place, which need not be there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    path: PathBuf,
}

impl SettingsFile {
    /// The file at this path. Nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads it. A file that is not there is an empty one. Blocks.
    pub fn read(&self) -> Result<DocumentMut, SettingsFileError> {
        let text = match read_text(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(self.io(error)),
        };
        text.parse().map_err(|error: TomlError| self.broken(&text, &error))
    }

    /// Changes it: reads it as it is now, lets `change` work on it, and puts the result in its place
    /// unless nothing changed. After a crash either the old or the new file is there. Blocks.
    ///
    /// The caller sees to it that one process does this once at a time.
    pub fn edit(
        &self,
        change: impl FnOnce(&mut DocumentMut) -> Result<(), SettingsFileError>,
    ) -> Result<DocumentMut, SettingsFileError> {
        let mut document = self.read()?;
        let before = document.to_string();
        change(&mut document)?;
        let after = document.to_string();
        // What we write has to be readable again, whatever was put in.
        let document: DocumentMut =
            after.parse().map_err(|error: TomlError| self.broken(&after, &error))?;
        if after != before {
            files::replace(&self.path, after.as_bytes()).map_err(|error| self.io(error))?;
        }
        Ok(document)
    }

    fn io(&self, error: io::Error) -> SettingsFileError {
        SettingsFileError::Io { path: self.path.clone(), error }
    }

    /// The parser's own words quote the line, which may hold a key.
    fn broken(&self, text: &str, error: &TomlError) -> SettingsFileError {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let reason = error.message().lines().next().unwrap_or_default().to_owned();
        SettingsFileError::Broken { path: self.path.clone(), line, reason }
    }
}

/// Sets a value, below tables that are made where they are missing. The comment behind a value that
/// is replaced, and the space around it, stay.
pub fn set_setting(
    document: &mut DocumentMut,
    path: &[&str],
    value: impl Into<Value>,
) -> Result<(), SettingsFileError> {
    let Some((key, above)) = path.split_last() else { return Ok(()) };
    let not_a_table = |path: &[&str]| SettingsFileError::NotATable(path.join("."));
    let mut item = document.as_item_mut();
    for (depth, name) in above.iter().enumerate() {
        let is_inline = item.is_inline_table();
        let table = item.as_table_like_mut().ok_or_else(|| not_a_table(&path[..depth]))?;
        item = table.entry(name).or_insert_with(|| new_table(is_inline, depth + 1 < above.len()));
    }
    let table = item.as_table_like_mut().ok_or_else(|| not_a_table(above))?;
    let mut value = value.into();
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(Item::None) | None => {
            table.insert(key, Item::Value(value));
        }
        Some(Item::Table(_) | Item::ArrayOfTables(_)) => {
            return Err(SettingsFileError::NotAValue(path.join(".")));
        }
    }
    Ok(())
}

/// Removes a value. Tables that become empty stay, as their comments do. True if it was there.
pub fn remove_setting(document: &mut DocumentMut, path: &[&str]) -> bool {
    let Some((key, above)) = path.split_last() else { return false };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for name in above {
        match table.get_mut(name).and_then(Item::as_table_like_mut) {
            Some(below) => table = below,
            None => return false,
        }
    }
    table.remove(key).is_some()
}

fn new_table(is_inline: bool, is_implicit: bool) -> Item {
    if is_inline {
        return Item::Value(Value::InlineTable(InlineTable::new()));
    }
    let mut table = Table::new();
    table.set_implicit(is_implicit);
    Item::Table(table)
}

fn read_text(path: &Path) -> io::Result<String> {
    // Asked before it is opened: opening a pipe would wait for its other end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    File::open(path)?.take(LIMIT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LIMIT {
        return Err(io::Error::other(format!("it is longer than {LIMIT} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
