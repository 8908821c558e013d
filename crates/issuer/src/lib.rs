//! An issuer of tokens for tests: OpenID discovery, the device grant and its variant, codes with PKCE, and
//! refresh tokens that are good once, spoken byte for byte over a socket on this machine.
//!
//! It checks what it is sent as a real one does, remembers all of it, and can be asked to behave badly. Every
//! token that it gives is remembered, so that a test can look for it where it must not be. Nothing of the
//! product depends on this crate.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

mod answers;
mod http;
mod person;

use std::collections::{HashMap, VecDeque};
use std::net::TcpListener;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

pub use self::http::{Reply, Request};
pub use self::person::{Page, fetch};

/// The only client that the issuer knows.
pub const CLIENT: &str = "rookery-test-client";

/// An issuer. It ends with the test.
#[derive(Clone)]
pub struct Issuer {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// How it behaves, and what it has seen.
pub struct State {
    /// What it does with requests for a path before anything else, by the end of the path; each once, in order.
    pub scripts: HashMap<&'static str, VecDeque<Reply>>,
    /// Members of its document that are other than they should be; null leaves one out.
    pub document: Value,
    /// Whether it has a document at all.
    pub has_document: bool,
    /// Whether it knows the device grant; else the variant.
    pub has_device_grant: bool,
    /// How many seconds a device has to wait between two questions, as it says.
    pub interval: Value,
    /// How many seconds a code for a device is good.
    pub code_life: u64,
    /// How many seconds an access token is good.
    pub token_life: u64,
    /// Whether a refresh token is good once, and another comes with each renewal.
    pub rotates: bool,
    /// What its tokens claim.
    pub claims: Value,
    /// What the person does about codes for devices and browsers.
    pub person: Person,
    /// Paths that are not answered until they are released, by their end.
    pub held: Vec<&'static str>,
    asked: Vec<Request>,
    devices: Vec<Device>,
    codes: HashMap<String, Code>,
    refresh_tokens: HashMap<String, bool>,
    access_tokens: Vec<String>,
    secrets: Vec<String>,
    count: u64,
}

/// What the person does about a code as soon as there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Person {
    /// Nothing, until the test enters it.
    #[default]
    Waits,
    /// Enters it and allows the device in.
    Allows,
    Refuses,
}

/// A device that waits for a person.
struct Device {
    code: String,
    user_code: String,
    verdict: Option<bool>,
    asked_at: Option<Instant>,
    interval: u64,
    is_used: bool,
}

/// A code that a browser brought back.
struct Code {
    challenge: String,
    redirect: String,
    is_used: bool,
}

impl Issuer {
    /// An issuer that does everything right.
    pub fn start() -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = State {
            scripts: HashMap::new(),
            document: json!({}),
            has_document: true,
            has_device_grant: true,
            interval: json!(1),
            code_life: 900,
            token_life: 3600,
            rotates: true,
            claims: json!({
                "https://api.openai.com/auth": {"chatgpt_account_id": "acct-1"},
                "email": "person@example.com",
                "sub": "subject-1"
            }),
            person: Person::Waits,
            held: Vec::new(),
            asked: Vec::new(),
            devices: Vec::new(),
            codes: HashMap::new(),
            refresh_tokens: HashMap::new(),
            access_tokens: Vec::new(),
            secrets: Vec::new(),
            count: 0,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let issuer = Issuer { url, shared };
        let serving = issuer.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(&stream));
            }
        });
        issuer
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What it is and has seen, to be changed.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the next request for a path with this, whatever is asked.
    pub fn script(&self, path: &'static str, reply: Reply) {
        self.state().scripts.entry(path).or_default().push_back(reply);
    }

    /// Holds requests for a path back until they are released.
    pub fn hold(&self, path: &'static str) {
        self.state().held.push(path);
    }

    /// Lets go of what was held back.
    pub fn release(&self) {
        self.state().held.clear();
        self.shared.changed.notify_all();
    }

    /// What it was asked for at a path, by the end of the path.
    pub fn asked(&self, path: &str) -> Vec<Request> {
        let all = self.state();
        all.asked.iter().filter(|request| request.path.ends_with(path)).cloned().collect()
    }

    /// Every token and code that it gave away.
    pub fn secrets(&self) -> Vec<String> {
        self.state().secrets.clone()
    }

    /// Whether a token opens what it guards now.
    pub fn opens(&self, token: &str) -> bool {
        self.state().access_tokens.iter().any(|known| known == token)
    }

    /// The person enters a code and allows the device in, or refuses.
    ///
    /// # Panics
    /// If no device has this code.
    pub fn enter(&self, user_code: &str, is_allowed: bool) {
        let mut state = self.state();
        let device = state.devices.iter_mut().find(|device| device.user_code == user_code);
        device.expect("a device has this code").verdict = Some(is_allowed);
    }
}

#[cfg(test)]
mod tests;
