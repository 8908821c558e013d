//! Signing in to accounts. The client that logs in is shown where, and what came of it, before it has the reply;
//! other clients are not.

use std::time::Duration;

use rookery_model as model;
use rookery_signin::{Account, Flow, LOGIN_LIMIT, LoginRequest, Pending, SignedIn};
use rookery_wire::rpc::NoParams;
use serde::Serialize;

use crate::context::Cx;
use crate::errors::Error;
use crate::fit;
use crate::wire::auth::{
    AuthFlow, AuthLoginCompleted, AuthLoginParams, AuthLoginPending, AuthStatusResult, name,
};
use crate::wire::dual::{DeepDual, Dual};

type Answer = Result<Dual<AuthStatusResult>, Error>;

pub(crate) async fn login_codex(cx: Cx, params: AuthLoginParams) -> Answer {
    login(cx, Account::Codex, params).await
}

pub(crate) async fn login_supergrok(cx: Cx, params: AuthLoginParams) -> Answer {
    login(cx, Account::Supergrok, params).await
}

pub(crate) async fn codex_status(cx: Cx, _: NoParams) -> Answer {
    Ok(shown(cx.core.agents().signed_in(Account::Codex).await?))
}

pub(crate) async fn supergrok_status(cx: Cx, _: NoParams) -> Answer {
    Ok(shown(cx.core.agents().signed_in(Account::Supergrok).await?))
}

pub(crate) async fn logout_codex(cx: Cx, _: NoParams) -> Answer {
    Ok(shown(cx.core.agents().sign_out(Account::Codex).await?))
}

pub(crate) async fn logout_supergrok(cx: Cx, _: NoParams) -> Answer {
    Ok(shown(cx.core.agents().sign_out(Account::Supergrok).await?))
}

async fn login(cx: Cx, account: Account, params: AuthLoginParams) -> Answer {
    let request = request(&params)?;
    cx.client.check_not_drained()?;
    let signing_in = cx.core.agents().sign_in(account, request).await?;
    let flow_id = signing_in.pending().id.clone();
    notify(&cx, name::LOGIN_PENDING, pending(account, signing_in.pending())).await;
    let outcome = signing_in.finish().await;
    let completed = AuthLoginCompleted {
        provider: account.name().to_owned(),
        flow_id,
        ok: outcome.is_ok(),
        error: outcome.as_ref().err().map(|error: &model::Error| error.message().to_owned()),
    };
    notify(&cx, name::LOGIN_COMPLETED, completed).await;
    Ok(shown(outcome?))
}

fn request(params: &AuthLoginParams) -> Result<LoginRequest, Error> {
    let limit = match params.timeout_seconds {
        None => None,
        Some(0) => {
            let most = LOGIN_LIMIT.as_secs();
            return Err(Error::invalid(format!("timeoutSeconds must be from 1 to {most}")));
        }
        Some(seconds) => Some(Duration::from_secs(seconds)),
    };
    let flow = params.flow.map(|flow| match flow {
        AuthFlow::Device => Flow::Device,
        AuthFlow::Browser => Flow::Browser,
    });
    Ok(LoginRequest { flow, limit })
}

fn pending(account: Account, pending: &Pending) -> AuthLoginPending {
    let flow = match pending.flow {
        Flow::Device => AuthFlow::Device,
        Flow::Browser => AuthFlow::Browser,
    };
    AuthLoginPending {
        provider: account.name().to_owned(),
        flow_id: pending.id.clone(),
        flow,
        verification_uri: pending.page.clone(),
        verification_uri_complete: pending.complete_page.clone(),
        user_code: pending.code.clone(),
        authorize_url: (flow == AuthFlow::Browser).then(|| pending.page.clone()),
        expires_at: pending.expires_at.clone(),
    }
}

/// Notifies this client alone; what it is sent is out before the reply.
async fn notify(cx: &Cx, name: &str, params: impl Serialize) {
    if cx.client.preferences().unwanted.contains(name) {
        return;
    }
    match fit::notification(name, &DeepDual(params)) {
        // A client that is gone reads nothing; its login ends with this call.
        Ok(body) => drop(cx.connection.outbox().send(body).await),
        Err(error) => tracing::error!(%error, name, "a notification cannot be written"),
    }
}

fn shown(signed_in: SignedIn) -> Dual<AuthStatusResult> {
    Dual(AuthStatusResult { signed_in: signed_in.is_signed_in, account_id: signed_in.owner })
}
