//! Signing in to accounts.

use std::time::Duration;

use rookery_signin::{Account, Flow, LOGIN_LIMIT, LoginRequest, Pending, SignedIn};
use rookery_wire::rpc;

use crate::{
    Cx, Error, notification,
    wire::{
        AuthAccount, AuthFlow, AuthLogin, AuthLogout, AuthState, AuthStates, AuthStatus,
        LoginNotification,
    },
};

pub(crate) async fn status(cx: Cx, params: AuthStatus) -> Result<AuthStates, Error> {
    let wanted = match params.account {
        Some(one) => vec![one],
        None => vec![AuthAccount::Codex, AuthAccount::Supergrok],
    };
    let mut accounts = Vec::new();
    for one in wanted {
        let signed_in = cx.core.agents().signed_in(account(one)).await?;
        accounts.push(state(&cx, one, signed_in));
    }
    Ok(AuthStates { accounts })
}

pub(crate) async fn login(cx: Cx, params: AuthLogin) -> Result<AuthState, Error> {
    let limit = match params.timeout_seconds {
        Some(0) => {
            let message = format!("must be from 1 to {}", LOGIN_LIMIT.as_secs());
            return Err(Error::invalid("timeout_seconds", message));
        }
        seconds => seconds.map(Duration::from_secs),
    };
    let flow = params.flow.map(|flow| match flow {
        AuthFlow::Device => Flow::Device,
        AuthFlow::Browser => Flow::Browser,
    });
    let request = LoginRequest { flow, limit };
    let signing_in = cx.core.agents().sign_in(account(params.account), request).await?;
    let shown = pending(params.account, signing_in.pending());
    match rpc::notification(notification::LOGIN, &shown) {
        // A client that is gone reads nothing; its login ends with this call.
        Ok(body) => drop(cx.connection.outbox().send(body).await),
        Err(error) => tracing::error!(%error, "a login cannot be shown"),
    }
    let signed_in = signing_in.finish().await?;
    Ok(state(&cx, params.account, signed_in))
}

pub(crate) async fn logout(cx: Cx, params: AuthLogout) -> Result<AuthState, Error> {
    let signed_out = cx.core.agents().sign_out(account(params.account)).await?;
    Ok(state(&cx, params.account, signed_out))
}

fn account(one: AuthAccount) -> Account {
    match one {
        AuthAccount::Codex => Account::Codex,
        AuthAccount::Supergrok => Account::Supergrok,
    }
}

fn state(cx: &Cx, one: AuthAccount, signed_in: SignedIn) -> AuthState {
    AuthState {
        account: one,
        signed_in: signed_in.is_signed_in,
        account_id: signed_in.owner,
        configured: cx.core.agents().can_sign_in(account(one)),
    }
}

fn pending(account: AuthAccount, pending: &Pending) -> LoginNotification {
    LoginNotification {
        account,
        login: pending.id.clone(),
        flow: match pending.flow {
            Flow::Device => AuthFlow::Device,
            Flow::Browser => AuthFlow::Browser,
        },
        page: pending.page.clone(),
        complete_page: pending.complete_page.clone(),
        code: pending.code.clone(),
        expires_at: pending.expires_at.clone(),
    }
}
