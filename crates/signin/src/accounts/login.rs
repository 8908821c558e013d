//! A login: begun, shown to a person, and finished. One at a time for each account: a second one takes the place
//! of the first. Dropping it ends it, and nothing of it is left.

use std::future::Future;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rookery_host::http::loopback::Loopback;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::talk::Talk;
use super::{Accounts, SignedIn, Slot, joined};
use crate::LOGIN_LIMIT;
use crate::account::Account;
use crate::browser::{self, LoginSecrets};
use crate::config::{Flow, Ready};
use crate::device::{self, Code, Questions};
use crate::discovery::{DeviceEndpoint, Endpoints};
use crate::error::Error;
use crate::exchange::{self, Reply};
use crate::files;
use crate::tokens::Tokens;

/// How a login is to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoginRequest {
    /// How a person allows us in; what is set if nothing is said.
    pub flow: Option<Flow>,
    /// How long it may take; as long as any may if nothing is said.
    pub limit: Option<Duration>,
}

/// What a person needs to know to finish a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Tells this login from others.
    pub id: String,
    /// How it is done.
    pub flow: Flow,
    /// The page to open.
    pub page: String,
    /// The same with the code in it.
    pub complete_page: Option<String>,
    /// The code to type there.
    pub code: Option<String>,
    /// Until when, as RFC 3339.
    pub expires_at: String,
}

/// The login that is under way, as its account knows it.
pub(super) struct Current {
    number: u64,
    stop: CancellationToken,
    end: Arc<OnceLock<Error>>,
}

/// The place of a login; another one may take it.
struct Ticket {
    accounts: Accounts,
    account: Account,
    number: u64,
    stop: CancellationToken,
    end: Arc<OnceLock<Error>>,
    limit: Duration,
    deadline: Instant,
    /// How many visitors were turned away.
    strangers: AtomicUsize,
}

/// A login that waits for a person.
pub struct Login {
    ticket: Ticket,
    ready: Ready,
    endpoints: Endpoints,
    waiting: Waiting,
    pending: Pending,
}

/// What is waited for.
enum Waiting {
    Device(Code, Questions),
    Browser(Loopback, LoginSecrets, String),
}

impl Slot {
    /// Ends a login that is under way.
    pub(super) fn end_login(&self, why: Error) {
        let current = self.state.lock().login.take();
        if let Some(current) = current {
            // Only the first reason counts.
            let _ = current.end.set(why);
            current.stop.cancel();
        }
    }
}

impl Ticket {
    fn new(accounts: &Accounts, account: Account, limit: Duration) -> Ticket {
        let slot = accounts.slot(account);
        slot.end_login(Error::Superseded);
        let (stop, end) = (CancellationToken::new(), Arc::default());
        let mut state = slot.state.lock();
        state.next += 1;
        let number = state.next;
        let current = Current { number, stop: stop.clone(), end: Arc::clone(&end) };
        // One that began in between is superseded as well.
        if let Some(between) = state.login.replace(current) {
            let _ = between.end.set(Error::Superseded);
            between.stop.cancel();
        }
        drop(state);
        let deadline = Instant::now() + limit;
        let strangers = AtomicUsize::new(0);
        Ticket {
            accounts: accounts.clone(),
            account,
            number,
            stop,
            end,
            limit,
            deadline,
            strangers,
        }
    }

    /// Does something unless the login ends before.
    async fn within<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(self.ended()),
            done = tokio::time::timeout_at(self.deadline, work) => {
                done.unwrap_or_else(|_| Err(self.late()))
            }
        }
    }

    fn ended(&self) -> Error {
        self.end.get().cloned().unwrap_or(Error::Cancelled)
    }

    fn late(&self) -> Error {
        let note = match self.strangers.load(Ordering::Relaxed) {
            0 => String::new(),
            count => {
                format!("; {count} answers were rejected because they were not of this sign-in")
            }
        };
        Error::TimedOut { limit: self.limit, note }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.accounts.slot(self.account).state.lock();
        if state.login.as_ref().is_some_and(|current| current.number == self.number) {
            state.login = None;
        }
    }
}

impl Accounts {
    /// Begins a login: finds the issuer, and gets what a person has to see. A login to the same account that is
    /// under way is superseded, but only by one that can begin at all.
    ///
    /// # Errors
    /// If nothing is kept here, a setting is missing, or the issuer cannot be used.
    pub async fn begin(&self, account: Account, request: LoginRequest) -> Result<Login, Error> {
        self.files()?;
        let ready = self.config(account).ready(account)?;
        let limit = request.limit.unwrap_or(LOGIN_LIMIT).min(LOGIN_LIMIT);
        let ticket = Ticket::new(self, account, limit);
        let flow = request.flow.unwrap_or(ready.flow);
        let begun = ticket.within(self.open(&ready, flow)).await;
        let (endpoints, waiting, shown) = begun?;
        let until = self.now().saturating_add(left(&ticket));
        let until = match &waiting {
            Waiting::Device(_, questions) => until.min(questions.until()),
            Waiting::Browser(..) => until,
        };
        let pending = Pending {
            id: format!("login_{}", uuid::Uuid::now_v7().simple()),
            flow,
            page: shown.page,
            complete_page: shown.complete_page,
            code: shown.code,
            expires_at: files::time(until),
        };
        Ok(Login { ticket, ready, endpoints, waiting, pending })
    }

    async fn open(&self, ready: &Ready, flow: Flow) -> Result<(Endpoints, Waiting, Shown), Error> {
        let endpoints = exchange::discover(&self.inner.client, ready).await?;
        let (waiting, shown) = match flow {
            Flow::Device => self.open_device(ready, &endpoints.device).await?,
            Flow::Browser => open_browser(ready, endpoints.authorize.as_ref()).await?,
        };
        Ok((endpoints, waiting, shown))
    }

    async fn open_device(
        &self,
        ready: &Ready,
        endpoint: &DeviceEndpoint,
    ) -> Result<(Waiting, Shown), Error> {
        let account = ready.account.name();
        let client = &self.inner.client;
        let (reply, usual_page) = match endpoint {
            DeviceEndpoint::Grant(url) => {
                let fields = [("client_id", &*ready.client_id), ("scope", &*ready.scope)];
                (exchange::form(client, url, &fields).await, None)
            }
            DeviceEndpoint::Accounts(places) => {
                let body = json!({ "client_id": ready.client_id });
                (exchange::json(client, &places.user_code, &body).await, Some(&places.page))
            }
        };
        let reply = reply.map_err(|fault| fault.of(account))?;
        let wrong = |reason: String| Error::Issuer { account, reason };
        if !(200..300).contains(&reply.status) {
            return Err(refused(ready, &reply));
        }
        let code = match endpoint {
            DeviceEndpoint::Grant(_) => device::read_grant_code(&reply.body),
            DeviceEndpoint::Accounts(_) => device::read_account_code(&reply.body),
        };
        let code = code.map_err(wrong)?;
        let page = code.page.as_ref().or(usual_page).map(Url::to_string).unwrap_or_default();
        let shown = Shown {
            page,
            complete_page: code.complete.as_ref().map(Url::to_string),
            code: Some(code.user.clone()),
        };
        let questions = Questions::new(&code, self.now());
        Ok((Waiting::Device(code, questions), shown))
    }
}

/// What a person is shown.
struct Shown {
    page: String,
    complete_page: Option<String>,
    code: Option<String>,
}

/// How much of a login's time is left, in milliseconds.
fn left(ticket: &Ticket) -> u64 {
    let left = ticket.deadline.saturating_duration_since(Instant::now());
    u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
}

/// The issuer gives no code for a device.
fn refused(ready: &Ready, reply: &Reply) -> Error {
    let account = ready.account.name();
    match (crate::grant::refusal(&reply.body, &[]), reply.status) {
        (_, status @ (429 | 500..)) => Error::Unreachable {
            account,
            reason: format!("it answered {status} when asked for a code"),
        },
        (Some(refusal), _) => Error::Refused { account, reason: refusal.words() },
        (None, 404) => {
            let reason =
                "it gives no codes for devices; sign in with the flow `browser`".to_owned();
            Error::Issuer { account, reason }
        }
        (None, status) => {
            let quoted = crate::quote(&reply.body, &[]);
            let reason = format!("it answered {status} when asked for a code, {quoted}");
            Error::Issuer { account, reason }
        }
    }
}

async fn open_browser(ready: &Ready, endpoint: Option<&Url>) -> Result<(Waiting, Shown), Error> {
    let account = ready.account.name();
    let Some(endpoint) = endpoint else {
        let reason =
            "it names no authorization_endpoint; sign in with the flow `device`".to_owned();
        return Err(Error::Issuer { account, reason });
    };
    let random = || {
        let mut bytes = [0; browser::RANDOM];
        let no_random = |error| Error::Machine(format!("there are no random bytes: {error}"));
        getrandom::fill(&mut bytes).map(|()| bytes).map_err(no_random)
    };
    let proof = LoginSecrets::new(random()?, random()?);
    let door = Loopback::bind(ready.callback_port).await;
    let door =
        door.map_err(|error| Error::Machine(format!("no port is free on 127.0.0.1: {error}")))?;
    let redirect = format!("http://127.0.0.1:{}{}", door.port(), ready.account.row().callback_path);
    let url = browser::authorize_url(endpoint, &ready.client_id, &ready.scope, &redirect, &proof);
    let shown = Shown { page: url.to_string(), complete_page: None, code: None };
    Ok((Waiting::Browser(door, proof, redirect), shown))
}

impl Login {
    /// What a person needs to know.
    pub fn pending(&self) -> &Pending {
        &self.pending
    }

    /// Waits for the person, gets tokens and keeps them.
    ///
    /// # Errors
    /// Why it came to nothing; nothing is kept then.
    pub async fn finish(self) -> Result<SignedIn, Error> {
        let Login { ticket, ready, endpoints, waiting, pending } = self;
        let accounts = ticket.accounts.clone();
        let talk = Talk { accounts: &accounts, ready: &ready, endpoints: &endpoints };
        let grant = match waiting {
            Waiting::Device(code, questions) => {
                ticket.within(talk.ask_until_entered(code, questions)).await?
            }
            Waiting::Browser(door, proof, redirect) => {
                ticket
                    .within(talk.wait_for_browser(door, &proof, &redirect, &ticket.strangers))
                    .await?
            }
        };
        let account = ready.account;
        let tokens = Tokens::from_grant(account, grant, None, accounts.now());
        // To its end, so that files and memory say the same even if whoever asked goes away.
        joined(tokio::spawn(keep(ticket, tokens, pending.flow)).await)?
    }
}

/// Keeps the tokens of a login that is still wanted.
async fn keep(ticket: Ticket, tokens: Tokens, flow: Flow) -> Result<SignedIn, Error> {
    let (accounts, account) = (&ticket.accounts, ticket.account);
    let slot = accounts.slot(account);
    slot.end_flight();
    let _writer = slot.writer.lock().await;
    let lock = accounts.lock(account).await?;
    if ticket.stop.is_cancelled() {
        return Err(ticket.ended());
    }
    accounts.keep(account, tokens, lock, ("login", flow.word())).await?;
    Ok(accounts.last_seen(account))
}
