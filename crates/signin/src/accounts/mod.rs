//! The accounts of this user: who is signed in, logins that are under way, and tokens for those that call a
//! provider. What is on disk counts; memory only holds what was last seen there.

mod login;
mod refresh;
mod talk;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_host::http::Client;

use self::login::Current;
pub use self::login::{Login, LoginRequest, Pending};
use self::refresh::PendingRefresh;
use crate::account::Account;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::error::Error;
use crate::files::{Entry, Files, Lock};
use crate::secret::Secret;
use crate::tokens::Tokens;

/// How long another process may hold the files.
const LOCK_PATIENCE: Duration = Duration::from_secs(45);

/// What accounts are kept with.
pub struct Options {
    /// Where tokens are kept; none keeps none, and lets no one sign in.
    pub dir: Option<PathBuf>,
    /// What is set about each account.
    pub configs: BTreeMap<Account, Config>,
    /// The way out.
    pub client: Client,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// Whether an account is signed in, and who its owner is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedIn {
    /// Whether it is.
    pub is_signed_in: bool,
    /// The owner, as far as it is known and as long as it is.
    pub owner: Option<String>,
}

/// All accounts. Clones share them.
#[derive(Clone)]
pub struct Accounts {
    inner: Arc<Inner>,
}

struct Inner {
    files: Option<Files>,
    client: Client,
    clock: Arc<dyn Clock>,
    slots: [Slot; 2],
}

/// One account.
struct Slot {
    config: Config,
    state: Mutex<State>,
    /// Held by whoever changes the files, one after the other.
    writer: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    /// What was last seen on disk.
    tokens: Option<Arc<Tokens>>,
    /// Counts changes of that, so that what was read before one does not come back.
    version: u64,
    /// The login that is under way.
    login: Option<Current>,
    /// The number of the next one.
    next: u64,
    /// The renewal that is under way.
    flight: Option<PendingRefresh>,
}

impl Accounts {
    /// The accounts of a folder. Blocks for as long as two small files take.
    pub fn new(mut options: Options) -> Self {
        let files = options.dir.take().map(Files::new);
        let slots = Account::ALL.map(|account| {
            let config = options.configs.remove(&account).unwrap_or_default();
            let tokens =
                files.as_ref().and_then(|files| first_look(files, account, &*options.clock));
            let state = State { tokens: tokens.map(Arc::new), ..State::default() };
            let (state, writer) = (Mutex::new(state), tokio::sync::Mutex::new(()));
            Slot { config, state, writer }
        });
        let Options { client, clock, .. } = options;
        Self { inner: Arc::new(Inner { files, client, clock, slots }) }
    }

    /// Without any folder: no one can sign in.
    pub fn none() -> Self {
        let (client, clock) = (Client::new(), Arc::new(SystemClock));
        Self::new(Options { dir: None, configs: BTreeMap::new(), client, clock })
    }

    /// Whether tokens are kept at all.
    pub fn is_enabled(&self) -> bool {
        self.inner.files.is_some()
    }

    /// What is set about an account.
    pub fn config(&self, account: Account) -> &Config {
        &self.slot(account).config
    }

    /// Whether an account is signed in, from its file alone.
    ///
    /// # Errors
    /// If the file cannot be looked at.
    pub async fn status(&self, account: Account) -> Result<SignedIn, Error> {
        let tokens = self.look(account).await?;
        Ok(self.shown(tokens.as_deref()))
    }

    /// The same as it was last seen, without looking.
    pub fn last_seen(&self, account: Account) -> SignedIn {
        let tokens = self.slot(account).state.lock().tokens.clone();
        self.shown(tokens.as_deref())
    }

    /// Ends a login that is under way and forgets all tokens of an account.
    ///
    /// # Errors
    /// If nothing is kept here, or a file cannot be removed.
    pub async fn logout(&self, account: Account) -> Result<SignedIn, Error> {
        let files = self.files()?.clone();
        let slot = self.slot(account);
        slot.end_login(Error::Cancelled);
        slot.end_flight();
        let (accounts, at) = (self.clone(), self.now());
        // To its end, even if whoever asked goes away.
        let work = tokio::spawn(async move {
            let slot = accounts.slot(account);
            let _writer = slot.writer.lock().await;
            // Without a folder there is nothing to lock.
            let _lock = match files.dir().exists() {
                true => Some(accounts.lock(account).await?),
                false => None,
            };
            let entry = Entry { action: "logout", reason: "requested", at };
            let removed = blocking(move || files.remove(account, &entry)).await?;
            slot.see(None);
            removed.map_err(cannot_keep)
        });
        joined(work.await)??;
        Ok(SignedIn::default())
    }

    /// Every token that was last seen, so that it can be kept out of what is shown.
    pub fn secrets(&self) -> Vec<String> {
        let tokens = self.inner.slots.iter().filter_map(|slot| slot.state.lock().tokens.clone());
        tokens.flat_map(|tokens| tokens.secrets()).collect()
    }

    fn shown(&self, tokens: Option<&Tokens>) -> SignedIn {
        let is_signed_in = tokens.is_some_and(|tokens| tokens.is_signed_in(self.now()));
        let owner = tokens.filter(|_| is_signed_in).and_then(|tokens| tokens.owner.clone());
        SignedIn { is_signed_in, owner }
    }

    /// Reads the file of an account.
    async fn look(&self, account: Account) -> Result<Option<Arc<Tokens>>, Error> {
        let Some(files) = self.inner.files.clone() else { return Ok(None) };
        let (slot, now) = (self.slot(account), self.now());
        let before = slot.state.lock().version;
        let found = blocking(move || files.load(account, now)).await?.map_err(cannot_read)?;
        Ok(slot.see_unless_changed(found, before))
    }

    /// Waits for the files of an account, which another process may be changing.
    async fn lock(&self, account: Account) -> Result<Lock, Error> {
        let files = self.files()?.clone();
        let waiting = tokio::time::timeout(LOCK_PATIENCE, blocking(move || files.lock(account)));
        match waiting.await {
            Ok(locked) => locked?.map_err(cannot_keep),
            Err(_) => {
                let reason = "the token files are in use by another process; try again later";
                Err(Error::Machine(reason.to_owned()))
            }
        }
    }

    fn files(&self) -> Result<&Files, Error> {
        self.inner.files.as_ref().ok_or(Error::Disabled)
    }

    fn slot(&self, account: Account) -> &Slot {
        &self.inner.slots[account.index()]
    }

    fn now(&self) -> u64 {
        self.inner.clock.now()
    }

    /// Writes tokens and remembers them. The writer's lock is held.
    async fn keep(
        &self,
        account: Account,
        tokens: Tokens,
        lock: Lock,
        (action, reason): (&'static str, &'static str),
    ) -> Result<(), Error> {
        let (files, at) = (self.files()?.clone(), self.now());
        let written = tokens.clone();
        let saved = blocking(move || {
            let entry = Entry { action, reason, at };
            files.save(&lock, account, &written, &entry)
        });
        saved.await?.map_err(cannot_keep)?;
        self.slot(account).see(Some(tokens));
        Ok(())
    }
}

impl Slot {
    /// What is on disk is this, for sure.
    fn see(&self, tokens: Option<Tokens>) {
        let mut state = self.state.lock();
        state.version += 1;
        state.tokens = tokens.map(Arc::new);
    }

    /// The same if nothing was changed since `before`; gives what counts.
    fn see_unless_changed(&self, found: Option<Tokens>, before: u64) -> Option<Arc<Tokens>> {
        let mut state = self.state.lock();
        if state.version == before {
            state.tokens = found.map(Arc::new);
        }
        state.tokens.clone()
    }
}

fn first_look(files: &Files, account: Account, clock: &dyn Clock) -> Option<Tokens> {
    let tidied = files.tidy(account);
    match tidied.and_then(|()| files.load(account, clock.now())) {
        Ok(tokens) => tokens,
        Err(error) => {
            tracing::warn!(%error, account = account.name(), "a token file cannot be read");
            None
        }
    }
}

/// Does work that blocks where it may.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    joined(tokio::task::spawn_blocking(work).await)
}

fn joined<T>(done: Result<T, tokio::task::JoinError>) -> Result<T, Error> {
    done.map_err(|error| Error::Machine(format!("a sign-in was interrupted: {error}")))
}

fn cannot_keep(error: io::Error) -> Error {
    Error::Machine(format!("the sign-in cannot be kept: {error}"))
}

fn cannot_read(error: io::Error) -> Error {
    Error::Machine(format!("the sign-in cannot be read: {error}"))
}

impl Accounts {
    /// The token of an account, renewed if little of its life is left.
    ///
    /// # Errors
    /// If no one is signed in, or the token is over and cannot be renewed.
    pub async fn access(&self, account: Account) -> Result<Secret, Error> {
        self.files()?;
        let tokens =
            self.look(account).await?.ok_or_else(|| not_signed_in(account, "there is no token"))?;
        if let Some(fresh) = tokens.fresh(self.now()) {
            return Ok(fresh.clone());
        }
        if tokens.refresh.is_none() {
            let usable = tokens.usable(self.now()).cloned();
            return usable.ok_or_else(|| not_signed_in(account, "the token has expired"));
        }
        match self.refresh(account, None).await {
            Ok(secret) => Ok(secret),
            // What is left of it will do.
            Err(error) => tokens.usable(self.now()).cloned().ok_or(error),
        }
    }

    /// Another token in the place of one that a provider refused.
    ///
    /// # Errors
    /// If there is none.
    pub async fn renew(&self, account: Account, refused: &Secret) -> Result<Secret, Error> {
        self.files()?;
        let tokens =
            self.look(account).await?.ok_or_else(|| not_signed_in(account, "there is no token"))?;
        match tokens.fresh(self.now()).filter(|fresh| *fresh != refused) {
            Some(fresh) => Ok(fresh.clone()),
            None => self.refresh(account, Some(refused.clone())).await,
        }
    }
}

fn not_signed_in(account: Account, reason: &str) -> Error {
    Error::NotSignedIn { account: account.name(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests;
