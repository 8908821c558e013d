//! The talk of a login with its issuer: asking until a code was entered, or waiting for the browser that brings one.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};

use rookery_host::http::loopback::{Loopback, Visit};
use serde_json::json;

use super::Accounts;
use crate::browser::{self, BrowserRequest, LoginSecrets};
use crate::config::Ready;
use crate::device::{self, Answer, Code, FlowEnd, PollOutcome, Questions};
use crate::discovery::{DeviceAuth, DeviceEndpoint, Endpoints};
use crate::error::Error;
use crate::exchange::{self, Claim, Fault};
use crate::grant::Grant;
use crate::secret::Secret;

/// What visitors read that are not ours.
const NOTHING: &str = "There is nothing here.";
/// What visitors read that come twice.
const USED: &str = "This answer was used already.";

/// The talk of a login with its issuer.
pub(super) struct Talk<'a> {
    pub(super) accounts: &'a Accounts,
    pub(super) ready: &'a Ready,
    pub(super) endpoints: &'a Endpoints,
}

impl Talk<'_> {
    pub(super) async fn ask_until_entered(
        &self,
        code: Code,
        questions: Questions,
    ) -> Result<Grant, Error> {
        match &self.endpoints.device {
            DeviceEndpoint::Grant(_) => {
                self.ask_until(questions, || self.ask_for_tokens(&code)).await
            }
            DeviceEndpoint::Accounts(places) => {
                let given = self.ask_until(questions, || self.ask_for_code(places, &code)).await?;
                let claim = Claim {
                    code: &given.code,
                    verifier: &given.verifier,
                    redirect: places.callback.as_str(),
                };
                self.redeem(&claim).await
            }
        }
    }

    async fn ask_until<T, Asking>(
        &self,
        mut questions: Questions,
        ask: impl Fn() -> Asking,
    ) -> Result<T, Error>
    where
        Asking: Future<Output = Answer<T>>,
    {
        let account = self.ready.account.name();
        let clock = &self.accounts.inner.clock;
        loop {
            let wait = questions.wait(clock.now()).ok_or(Error::Expired)?;
            clock.sleep(wait).await;
            match questions.take(ask().await) {
                PollOutcome::Wait => {}
                PollOutcome::Done(given) => return Ok(given),
                PollOutcome::FlowEnd(over) => {
                    return Err(match over {
                        FlowEnd::Denied => Error::Denied,
                        FlowEnd::Expired => Error::Expired,
                        FlowEnd::Refused(reason) => Error::Refused { account, reason },
                        FlowEnd::Away(reason) => Error::Unreachable { account, reason },
                        FlowEnd::Wrong(reason) => Error::Issuer { account, reason },
                    });
                }
            }
        }
    }

    async fn ask_for_tokens(&self, code: &Code) -> Answer<Grant> {
        let device = code.device.expose();
        let fields = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("device_code", device),
            ("client_id", &self.ready.client_id),
        ];
        let client = &self.accounts.inner.client;
        match exchange::form(client, &self.endpoints.token, &fields).await {
            Ok(reply) => device::judge_grant(reply.status, &reply.body, &[device]),
            Err(fault) => missed(fault),
        }
    }

    async fn ask_for_code(&self, places: &DeviceAuth, code: &Code) -> Answer<device::AccountCode> {
        let device = code.device.expose();
        let body = json!({ "device_auth_id": device, "user_code": code.user });
        match exchange::json(&self.accounts.inner.client, &places.token, &body).await {
            Ok(reply) => device::judge_account(reply.status, &reply.body, &[device]),
            Err(fault) => missed(fault),
        }
    }

    async fn redeem(&self, claim: &Claim<'_>) -> Result<Grant, Error> {
        let client = &self.accounts.inner.client;
        exchange::redeem(client, self.ready, &self.endpoints.token, claim).await
    }

    /// Waits for the one visitor that brings our code.
    pub(super) async fn wait_for_browser(
        &self,
        mut door: Loopback,
        proof: &LoginSecrets,
        redirect: &str,
        strangers: &AtomicUsize,
    ) -> Result<Grant, Error> {
        loop {
            let visit = next(&mut door).await?;
            match self.judge(&visit, proof) {
                BrowserRequest::Code(code) => {
                    return self.trade(door, visit, &code, proof, redirect).await;
                }
                BrowserRequest::Refused(refusal) => {
                    answer(visit, 200, "The sign-in was refused. You can close this page.");
                    let account = self.ready.account.name();
                    return Err(match refusal.code.as_str() {
                        "access_denied" => Error::Denied,
                        _ => Error::Refused { account, reason: refusal.words() },
                    });
                }
                BrowserRequest::Elsewhere => answer(visit, 404, NOTHING),
                BrowserRequest::Stranger(why) => {
                    strangers.fetch_add(1, Ordering::Relaxed);
                    answer(visit, 400, why);
                }
            }
        }
    }

    /// Turns a code into tokens, and tells the browser what came of it. The code is used once, whoever brings it
    /// again meanwhile.
    async fn trade(
        &self,
        mut door: Loopback,
        first: Visit,
        code: &Secret,
        proof: &LoginSecrets,
        redirect: &str,
    ) -> Result<Grant, Error> {
        let claim = Claim { code, verifier: &proof.verifier, redirect };
        let mut trade = std::pin::pin!(self.redeem(&claim));
        let traded = loop {
            tokio::select! {
                traded = &mut trade => break traded,
                visit = next(&mut door) => {
                    let visit = visit?;
                    match self.judge(&visit, proof) {
                        BrowserRequest::Elsewhere => answer(visit, 404, NOTHING),
                        BrowserRequest::Stranger(why) => answer(visit, 400, why),
                        BrowserRequest::Code(_) | BrowserRequest::Refused(_) => answer(visit, 400, USED),
                    }
                }
            }
        };
        match &traded {
            Ok(_) => answer(first, 200, "You are signed in. You can close this page."),
            Err(error) => answer(first, 502, &format!("The sign-in failed: {error}.")),
        }
        traded
    }

    fn judge(&self, visit: &Visit, proof: &LoginSecrets) -> BrowserRequest {
        let wanted = self.ready.account.row().callback_path;
        let Visit { method, path, query, .. } = visit;
        browser::judge(method, path, query, wanted, &self.ready.issuer, proof)
    }
}

async fn next(door: &mut Loopback) -> Result<Visit, Error> {
    let closed = || Error::Machine("the port for the browser was closed".to_owned());
    door.next().await.ok_or_else(closed)
}

/// Answers without waiting for a visitor that takes its time.
fn answer(visit: Visit, status: u16, sentence: &str) {
    let sentence = sentence.to_owned();
    tokio::spawn(async move { visit.answer(status, &sentence).await });
}

fn missed<T>(fault: Fault) -> Answer<T> {
    match fault {
        Fault::Away(why) => Answer::Away(why),
        Fault::Wrong(why) => Answer::Wrong(why),
    }
}
