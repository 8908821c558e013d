//! What a session is to have in it: files of this machine, and storage that the provider mounts.
//!
//! Credentials are named by their id only. A manifest that carries a secret itself is refused, since it
//! would be stored and shown.

use std::path::{Component, Path, PathBuf};

use rookery_host::{Beneath, EntryKind, files};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::session::{Command, ExitCause};
use crate::{RunnerError, Session};

/// How many entries or mounts a manifest may have.
const MAX_ITEMS: usize = 64;
/// How many files all entries may bring.
const MAX_FILES: usize = 10_000;
/// How many bytes they may have.
const MAX_BYTES: u64 = 256 << 20;
/// Parts of names of members that hold secrets.
const SECRET_WORDS: [&str; 6] =
    ["secret", "token", "password", "access_key", "accesskey", "apikey"];

/// What a session is to have in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Files and directories to copy into it.
    pub entries: Vec<ManifestEntry>,
    /// Storage to mount.
    pub mounts: Vec<Mount>,
}

/// A file or a directory that is copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// Where it is on this machine; absolute.
    pub source: PathBuf,
    /// Where it goes, below the root.
    pub target: PathBuf,
    /// Whether the copy may be changed.
    #[serde(default)]
    pub writable: bool,
}

/// Storage to mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    pub name: String,
    /// Where it goes, on the runner.
    pub path: PathBuf,
    /// Whether it can only be read.
    #[serde(default, alias = "readOnly")]
    pub read_only: bool,
    /// What is mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
}

/// What is mounted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// Which sort of storage.
    #[serde(default)]
    pub kind: MountKind,
    /// Its address.
    pub uri: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<CredentialsRef>,
}

/// Credentials by their id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialsRef {
    pub id: String,
}

/// Sorts of storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MountKind {
    /// Amazon S3 and what speaks like it.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Cloudflare R2.
    R2,
    /// Azure Blob Storage.
    AzureBlob,
    BoxStorage,
    /// Whatever the provider itself has.
    #[default]
    ProviderNative,
}

impl MountKind {
    /// Its word in a manifest.
    pub(crate) fn word(self) -> &'static str {
        match self {
            MountKind::S3 => "s3",
            MountKind::Gcs => "gcs",
            MountKind::R2 => "r2",
            MountKind::AzureBlob => "azure_blob",
            MountKind::BoxStorage => "box_storage",
            MountKind::ProviderNative => "provider_native",
        }
    }
}

impl Manifest {
    /// Reads and checks a manifest; nothing is an empty one.
    ///
    /// # Errors
    /// If it is malformed, leads out of the root, or carries a secret.
    pub fn read(value: &Value) -> Result<Self, RunnerError> {
        if value.is_null() {
            return Ok(Self::default());
        }
        refuse_secrets(value)?;
        let manifest: Self = Self::deserialize(value).map_err(|error| wrong(error.to_string()))?;
        if manifest.entries.len() > MAX_ITEMS || manifest.mounts.len() > MAX_ITEMS {
            return Err(wrong(format!("has more than {MAX_ITEMS} entries or mounts")));
        }
        for entry in &manifest.entries {
            if !entry.source.is_absolute() {
                return Err(wrong("entries.source must be an absolute path".into()));
            }
            let inside = entry.target.components().all(|part| matches!(part, Component::Normal(_)));
            if !inside || entry.target.as_os_str().is_empty() {
                return Err(RunnerError::Outside(entry.target.display().to_string()));
            }
        }
        for intent in manifest.mounts.iter().filter_map(|mount| mount.intent.as_ref()) {
            let address = url::Url::parse(&intent.uri).ok();
            if address
                .is_some_and(|address| address.password().is_some() || address.query().is_some())
            {
                return Err(secret("mounts.intent.uri"));
            }
        }
        Ok(manifest)
    }

    /// Copies the entries into a session.
    ///
    /// # Errors
    /// If a source cannot be read, or the session does not take it.
    pub async fn fill(&self, session: &dyn Session) -> Result<(), RunnerError> {
        let mut budget = Budget { files: MAX_FILES, bytes: MAX_BYTES };
        let mut locked = Vec::new();
        for entry in &self.entries {
            let target = entry.target.to_string_lossy().into_owned();
            let source = entry.source.clone();
            let found = tokio::task::spawn_blocking(move || contents(&source, &mut budget)).await;
            let (found, left) =
                found.map_err(|_| RunnerError::failed("the runtime is ending"))??;
            budget = left;
            for (below, bytes) in found {
                let path = match below.as_os_str().is_empty() {
                    true => target.clone(),
                    false => format!("{target}/{}", below.display()),
                };
                session.write_file(&path, bytes).await?;
            }
            if !entry.writable {
                locked.push(target);
            }
        }
        if locked.is_empty() {
            return Ok(());
        }
        let lock = ["chmod", "-R", "a-w", "--"].map(str::to_owned).into_iter().chain(locked);
        let done = session.exec(Command::new(lock)).await?;
        match (done.how, done.exit_code) {
            (ExitCause::Exited, Some(0)) => Ok(()),
            _ => Err(RunnerError::failed("entries of the manifest could not be made read-only")),
        }
    }
}

/// What may still be copied.
#[derive(Clone, Copy)]
struct Budget {
    files: usize,
    bytes: u64,
}

/// Files by their paths below where they came from.
type Found = Vec<(PathBuf, Vec<u8>)>;

/// The regular files at or below a place. Links are not followed.
fn contents(source: &Path, budget: &mut Budget) -> Result<(Found, Budget), RunnerError> {
    let shown = source.display().to_string();
    let mut found = Vec::new();
    let too_much =
        || wrong(format!("entries bring more than {MAX_FILES} files or {MAX_BYTES} bytes"));
    let mut take = |below: PathBuf, bytes: Vec<u8>, budget: &mut Budget| {
        budget.files = budget.files.checked_sub(1).ok_or_else(too_much)?;
        budget.bytes = budget.bytes.checked_sub(bytes.len() as u64).ok_or_else(too_much)?;
        found.push((below, bytes));
        Ok::<(), RunnerError>(())
    };
    let Ok(tree) = Beneath::new(source) else {
        let bytes = files::read_range(source, 0, None, MAX_BYTES).map_err(|error| match error {
            files::ReadError::Io(error) => RunnerError::file(&shown, &error),
            files::ReadError::TooLarge { .. } => too_much(),
        })?;
        take(PathBuf::new(), bytes, budget)?;
        return Ok((found, *budget));
    };
    let mut ahead = vec![PathBuf::new()];
    while let Some(dir) = ahead.pop() {
        let entries =
            tree.list(&dir, MAX_FILES).map_err(|error| RunnerError::file(&shown, &error))?;
        for (name, kind) in entries {
            let path = dir.join(name);
            match kind {
                EntryKind::Dir => ahead.push(path),
                EntryKind::File => {
                    let limit = usize::try_from(budget.bytes).unwrap_or(usize::MAX);
                    let bytes = tree
                        .read_start(&path, limit.saturating_add(1))
                        .map_err(|error| RunnerError::file(&shown, &error))?;
                    take(path, bytes, budget)?;
                }
                EntryKind::Link | EntryKind::Other => {}
            }
        }
    }
    Ok((found, *budget))
}

/// Refuses members that can only be there to carry a secret.
fn refuse_secrets(value: &Value) -> Result<(), RunnerError> {
    match value {
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            let lower = name.to_ascii_lowercase();
            if SECRET_WORDS.iter().any(|word| lower.contains(word)) {
                return Err(secret(name));
            }
            if lower == "credentials" && !value.is_null() && !is_reference(value) {
                return Err(secret("credentials"));
            }
            refuse_secrets(value)
        }),
        Value::Array(items) => items.iter().try_for_each(refuse_secrets),
        _ => Ok(()),
    }
}

fn is_reference(value: &Value) -> bool {
    value.as_object().is_some_and(|it| it.len() == 1 && it.get("id").is_some_and(Value::is_string))
}

fn secret(member: &str) -> RunnerError {
    let message =
        format!("manifest.{member} carries a secret; name credentials by their id instead");
    RunnerError::invalid("manifest", message)
}

fn wrong(why: String) -> RunnerError {
    RunnerError::invalid("manifest", format!("manifest {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_refused_and_never_repeated() {
        for manifest in [
            json!({"mounts": [{"name": "m", "path": "/m", "intent": {"kind": "s3", "uri": "s3://b", "credentials": "hunter2"}}]}),
            json!({"mounts": [{"name": "m", "path": "/m", "intent": {"uri": "s3://b", "credentials": {"id": "a", "key": "hunter2"}}}]}),
            json!({"mounts": [{"name": "m", "path": "/m", "intent": {"uri": "https://u:hunter2@h/x"}}]}),
            json!({"mounts": [{"name": "m", "path": "/m", "sessionToken": "hunter2"}]}),
            json!({"entries": [], "aws_secret": "hunter2"}),
        ] {
            let error = Manifest::read(&manifest).unwrap_err().to_string();
            assert!(error.contains("carries a secret"), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn what_leads_out_is_refused() {
        for target in ["../x", "/etc/x", "a/../../x", "", "./x"] {
            let manifest = json!({"entries": [{"source": "/tmp/x", "target": target}]});
            let error = Manifest::read(&manifest).unwrap_err().to_string();
            assert!(error.contains("outside workspace"), "{target}: {error}");
        }
        let relative = json!({"entries": [{"source": "x", "target": "x"}]});
        assert!(Manifest::read(&relative).unwrap_err().to_string().contains("entries.source"));
        assert!(Manifest::read(&json!({"entries": 3})).is_err());
        assert_eq!(Manifest::read(&Value::Null).unwrap(), Manifest::default());
    }

    #[test]
    fn a_good_manifest_is_read() {
        let value = json!({
            "entries": [{"source": "/tmp/x", "target": "a/x", "writable": true}],
            "mounts": [{"name": "m", "path": "/m", "readOnly": true,
                        "intent": {"kind": "azure_blob", "uri": "az://b", "credentials": {"id": "c"}}}]
        });
        let manifest = Manifest::read(&value).unwrap();
        assert!(manifest.entries[0].writable && manifest.mounts[0].read_only);
        assert_eq!(manifest.mounts[0].intent.as_ref().unwrap().kind, MountKind::AzureBlob);
    }
}
