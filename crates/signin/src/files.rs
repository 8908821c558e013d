//! The token files: one folder that only this user can enter, files that only this user can read from their
//! first byte on, replaced at once. Blocking; callers keep it off the runtime's threads.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rookery_trust::TrustedDir;
use serde_json::json;

use crate::account::Account;
use crate::tokens::Tokens;

/// The longest record of what was done with tokens; older lines go first.
const AUDIT_LIMIT: u64 = 256 << 10;
/// How much of it is kept then. No more than the folder reads at once.
const AUDIT_KEPT: usize = 60 << 10;

/// The folder with the files of all accounts.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    dir: PathBuf,
}

/// Held while files are changed; other processes of this user wait.
pub(crate) struct Lock {
    _file: File,
}

/// What was done with tokens, and why, for the record.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) action: &'static str,
    pub(crate) reason: &'a str,
    /// Milliseconds since the epoch.
    pub(crate) at: u64,
}

impl Files {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    fn existing(&self) -> io::Result<Option<TrustedDir>> {
        match TrustedDir::existing(&self.dir) {
            // Opened as it is, then closed to others if it was open to them.
            Ok(_) => TrustedDir::private(&self.dir).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits for the lock of an account.
    pub(crate) fn lock(&self, account: Account) -> io::Result<Lock> {
        let file = TrustedDir::private(&self.dir)?.open(&format!(".{}.lock", account.name()))?;
        file.lock()?;
        Ok(Lock { _file: file })
    }

    /// The tokens of an account; none if there are none. A file that is damaged is moved aside.
    pub(crate) fn load(&self, account: Account, now: u64) -> io::Result<Option<Tokens>> {
        let Some(dir) = self.existing()? else { return Ok(None) };
        let name = main_file(account);
        match read(&dir, account, &name)? {
            Found::Nothing => Ok(None),
            Found::Tokens(tokens) => Ok(Some(tokens)),
            Found::Damaged(why) => {
                let aside = format!("{name}.corrupt-{now}");
                let path = self.dir.join(&name);
                tracing::warn!(path = %path.display(), aside, "a token file is damaged: {why}");
                dir.rename_new(&name, &aside)?;
                self.restore(&dir, account, now)
            }
        }
    }

    /// The tokens before those that were damaged, if they are kept.
    fn restore(&self, dir: &TrustedDir, account: Account, now: u64) -> io::Result<Option<Tokens>> {
        if !account.row().is_audited {
            return Ok(None);
        }
        let Found::Tokens(tokens) = read(dir, account, &backup_file(account))? else {
            return Ok(None);
        };
        dir.replace_durably(&main_file(account), &tokens.write(account))?;
        self.record(dir, account, &Entry { action: "restore", reason: "damaged file", at: now });
        Ok(Some(tokens))
    }

    /// Replaces the tokens of an account.
    pub(crate) fn save(
        &self,
        _lock: &Lock,
        account: Account,
        tokens: &Tokens,
        entry: &Entry<'_>,
    ) -> io::Result<()> {
        let dir = TrustedDir::private(&self.dir)?;
        sweep(&dir, account)?;
        let name = main_file(account);
        if account.row().is_audited
            && let Found::Tokens(before) = read(&dir, account, &name)?
        {
            dir.replace_durably(&backup_file(account), &before.write(account))?;
        }
        dir.replace_durably(&name, &tokens.write(account))?;
        self.record(&dir, account, entry);
        Ok(())
    }

    /// Removes the tokens of an account, those before them, and what was left of either.
    pub(crate) fn remove(&self, account: Account, entry: &Entry<'_>) -> io::Result<()> {
        let Some(dir) = self.existing()? else { return Ok(()) };
        // The file itself first: without it the rest counts for nothing.
        dir.remove(&main_file(account))?;
        let is_of = |name: &&String| is_of_account(name, account);
        let rest: Vec<String> = dir.names()?.iter().filter(is_of).cloned().collect();
        for name in rest {
            dir.remove(&name)?;
        }
        dir.sync()?;
        self.record(&dir, account, entry);
        Ok(())
    }

    /// Removes what a process left that was killed while it wrote. Does nothing while another one writes.
    pub(crate) fn tidy(&self, account: Account) -> io::Result<()> {
        let Some(dir) = self.existing()? else { return Ok(()) };
        let file = dir.open(&format!(".{}.lock", account.name()))?;
        match file.try_lock() {
            Ok(()) => sweep(&dir, account),
            Err(_) => Ok(()),
        }
    }

    /// Says in the record what was done. The entry stands whether or not it can be recorded.
    pub(crate) fn note(&self, account: Account, entry: &Entry<'_>) {
        if let Ok(Some(dir)) = self.existing() {
            self.record(&dir, account, entry);
        }
    }

    fn record(&self, dir: &TrustedDir, account: Account, entry: &Entry<'_>) {
        if !account.row().is_audited {
            return;
        }
        let name = format!("{}.audit.jsonl", account.name());
        let line = json!({
            "action": entry.action,
            "reason": entry.reason,
            "pid": std::process::id(),
            "time": time(entry.at),
        });
        if let Err(error) = append(dir, &name, &format!("{line}\n")) {
            tracing::warn!(%error, "what was done with tokens cannot be recorded");
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

fn main_file(account: Account) -> String {
    format!("{}.json", account.name())
}

fn backup_file(account: Account) -> String {
    format!("{}.json.bak", account.name())
}

/// Whether a file holds tokens of an account, or did while it was written.
fn is_of_account(name: &str, account: Account) -> bool {
    let main = main_file(account);
    name == main
        || name.strip_prefix(&main).is_some_and(|rest| rest.starts_with('.'))
        || is_unfinished(name, account)
}

/// Whether a file is one that was being written.
fn is_unfinished(name: &str, account: Account) -> bool {
    name.strip_prefix('.').is_some_and(|rest| rest.starts_with(&format!("{}.json", account.name())))
}

/// Removes files that were never finished. Only whoever holds the lock writes any.
fn sweep(dir: &TrustedDir, account: Account) -> io::Result<()> {
    let names = dir.names()?;
    names.iter().filter(|name| is_unfinished(name, account)).try_for_each(|name| dir.remove(name))
}

enum Found {
    Nothing,
    Tokens(Tokens),
    Damaged(String),
}

fn read(dir: &TrustedDir, account: Account, name: &str) -> io::Result<Found> {
    match dir.read(name) {
        Ok(bytes) => match Tokens::read(account, &bytes) {
            Ok(tokens) => Ok(Found::Tokens(tokens)),
            Err(why) => Ok(Found::Damaged(why)),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Ok(Found::Damaged("it is too long".to_owned()))
        }
        Err(error) => Err(error),
    }
}

fn append(dir: &TrustedDir, name: &str, line: &str) -> io::Result<()> {
    let mut file = dir.append(name)?;
    if file.metadata()?.len() > AUDIT_LIMIT {
        drop(file);
        let whole = tail(dir, name)?;
        dir.replace(name, &whole)?;
        file = dir.append(name)?;
    }
    file.write_all(line.as_bytes())
}

/// The newest lines of a record.
fn tail(dir: &TrustedDir, name: &str) -> io::Result<Vec<u8>> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut file = dir.open_existing(name)?;
    let back = i64::try_from(AUDIT_KEPT).unwrap_or(i64::MAX);
    file.seek(SeekFrom::End(-back))?;
    let mut bytes = Vec::new();
    file.take(AUDIT_KEPT as u64).read_to_end(&mut bytes)?;
    let first = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
    Ok(bytes.split_off(first))
}

/// A moment as records and wires write it.
pub(crate) fn time(millis: u64) -> String {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(millis).map(|time| time.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
