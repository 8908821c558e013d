//! Renewing a token: once at a time for each account, to its end even if whoever needed it goes away, since an
//! issuer may give a refresh token only once.

use futures_util::future::{BoxFuture, FutureExt as _, Shared};
use tokio_util::sync::CancellationToken;

use super::{Accounts, Slot, blocking, cannot_read, joined, not_signed_in};
use crate::account::Account;
use crate::error::Error;
use crate::exchange;
use crate::files::Entry;
use crate::secret::Secret;
use crate::tokens::Tokens;

/// A renewal that is under way; all who need it wait for the same.
pub(super) struct PendingRefresh {
    outcome: Shared<BoxFuture<'static, Result<Secret, Error>>>,
    stop: CancellationToken,
}

impl Slot {
    /// Lets a renewal go: its tokens are not wanted any more.
    pub(super) fn end_flight(&self) {
        let flight = self.state.lock().flight.take();
        if let Some(flight) = flight {
            flight.stop.cancel();
        }
    }
}

impl Accounts {
    /// Renews a token, or waits for a renewal that is under way. `refused` is a token that must not come back.
    pub(super) async fn refresh(
        &self,
        account: Account,
        refused: Option<Secret>,
    ) -> Result<Secret, Error> {
        let outcome = {
            let mut state = self.slot(account).state.lock();
            match &state.flight {
                Some(flight) => flight.outcome.clone(),
                None => {
                    let flight = self.fly(account, refused);
                    let outcome = flight.outcome.clone();
                    state.flight = Some(flight);
                    outcome
                }
            }
        };
        outcome.await
    }

    fn fly(&self, account: Account, refused: Option<Secret>) -> PendingRefresh {
        let (accounts, stop) = (self.clone(), CancellationToken::new());
        let stopped = stop.clone();
        let work = tokio::spawn(async move {
            let outcome = tokio::select! {
                biased;
                () = stopped.cancelled() => Err(Error::Cancelled),
                outcome = accounts.renew_now(account, refused.as_ref()) => outcome,
            };
            // One that was let go has made room already, perhaps for another one.
            if !stopped.is_cancelled() {
                accounts.slot(account).state.lock().flight = None;
            }
            outcome
        });
        let outcome = async move { joined(work.await)? }.boxed().shared();
        PendingRefresh { outcome, stop }
    }

    async fn renew_now(&self, account: Account, refused: Option<&Secret>) -> Result<Secret, Error> {
        let slot = self.slot(account);
        let _writer = slot.writer.lock().await;
        let lock = self.lock(account).await?;
        let (files, now) = (self.files()?.clone(), self.now());
        let found = blocking(move || files.load(account, now)).await?.map_err(cannot_read)?;
        let tokens = found.ok_or_else(|| not_signed_in(account, "there is no token"))?;
        // Another process may have renewed it meanwhile.
        if let Some(fresh) = tokens.fresh(now).filter(|fresh| Some(*fresh) != refused) {
            let fresh = fresh.clone();
            slot.see(Some(tokens));
            return Ok(fresh);
        }
        let Some(refresh) = tokens.refresh.clone() else {
            return Err(not_signed_in(account, "the token is over and cannot be renewed"));
        };
        let ready = slot.config.ready(account)?;
        let client = &self.inner.client;
        let endpoints = exchange::discover(client, &ready).await?;
        let grant = match exchange::renew(client, &ready, &endpoints.token, &refresh).await {
            Ok(grant) => grant,
            Err(Error::Refused { reason, .. }) => {
                let files = self.files()?.clone();
                let words = reason.clone();
                blocking(move || {
                    let entry = Entry { action: "refresh_failed", reason: &words, at: now };
                    files.note(account, &entry);
                })
                .await?;
                return Err(not_signed_in(account, &format!("it cannot be renewed ({reason})")));
            }
            Err(error) => return Err(error),
        };
        let access = grant.access.clone();
        let renewed = Tokens::from_grant(account, grant, Some(&tokens), self.now());
        let reason = if refused.is_some() { "refused by the provider" } else { "expiring" };
        self.keep(account, renewed, lock, ("refresh", reason)).await?;
        Ok(access)
    }
}
