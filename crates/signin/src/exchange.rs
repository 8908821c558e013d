//! One question to an issuer and its whole answer, within bounds of size and time. Redirects are not followed:
//! what is sent is meant for one address.

use std::time::Duration;

use bytes::Bytes;
use rookery_host::http::{self, Client, Request};
use serde_json::Value;
use url::{Url, form_urlencoded};

use crate::config::Ready;
use crate::discovery::{self, Endpoints};
use crate::error::Error;
use crate::grant::{self, Grant};
use crate::secret::Secret;

/// How long an answer may be.
const BODY_LIMIT: usize = 256 << 10;
/// How long an issuer may be silent, and how long a whole answer may take.
const IDLE: Duration = Duration::from_secs(15);
const WHOLE: Duration = Duration::from_secs(30);

/// A whole answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// Why there is none.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The issuer is not there for the moment.
    Away(String),
    /// It answers what cannot be used.
    Wrong(String),
}

impl Fault {
    /// The error of an account's login.
    pub(crate) fn of(self, account: &'static str) -> Error {
        match self {
            Fault::Away(reason) => Error::Unreachable { account, reason },
            Fault::Wrong(reason) => Error::Issuer { account, reason },
        }
    }
}

/// Asks for a document.
pub(crate) async fn get(client: &Client, url: &Url) -> Result<Reply, Fault> {
    ask(client, url, None, None).await
}

/// Sends a form.
pub(crate) async fn form(
    client: &Client,
    url: &Url,
    fields: &[(&str, &str)],
) -> Result<Reply, Fault> {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    ask(client, url, Some(body), Some("application/x-www-form-urlencoded")).await
}

/// Sends JSON.
pub(crate) async fn json(client: &Client, url: &Url, body: &Value) -> Result<Reply, Fault> {
    ask(client, url, Some(body.to_string()), Some("application/json")).await
}

async fn ask(
    client: &Client,
    url: &Url,
    body: Option<String>,
    kind: Option<&str>,
) -> Result<Reply, Fault> {
    let mut headers = vec![("accept".to_owned(), "application/json".to_owned())];
    headers.extend(kind.map(|kind| ("content-type".to_owned(), kind.to_owned())));
    let request = Request {
        url: url.as_str().to_owned(),
        headers,
        method: None,
        body: body.map(Bytes::from),
        idle: IDLE,
    };
    let whole = async {
        let mut response = client.send(request).await.map_err(away)?;
        let status = response.status();
        if (300..400).contains(&status) {
            return Err(Fault::Wrong(format!("it redirects ({status}), which is not followed")));
        }
        let body = response.bytes(BODY_LIMIT + 1).await.map_err(away)?;
        if body.len() > BODY_LIMIT {
            return Err(Fault::Wrong(format!("its answer is longer than {BODY_LIMIT} bytes")));
        }
        Ok(Reply { status, body })
    };
    match tokio::time::timeout(WHOLE, whole).await {
        Ok(reply) => reply,
        Err(_) => {
            Err(Fault::Away(format!("no whole answer came within {} seconds", WHOLE.as_secs())))
        }
    }
}

fn away(error: http::Error) -> Fault {
    match error {
        http::Error::Setup(_) | http::Error::Invalid(_) => Fault::Wrong(error.to_string()),
        http::Error::Connect(_) | http::Error::Idle(_) | http::Error::Lost(_) => {
            Fault::Away(error.to_string())
        }
    }
}

/// Finds out where an issuer does what.
pub(crate) async fn discover(client: &Client, ready: &Ready) -> Result<Endpoints, Error> {
    let account = ready.account.name();
    let url = discovery::below(&ready.issuer, discovery::DOCUMENT);
    let reply = get(client, &url).await.map_err(|fault| fault.of(account))?;
    match reply.status {
        200 => discovery::read(&ready.issuer, &reply.body)
            .map_err(|reason| Error::Issuer { account, reason }),
        404 | 410 => Ok(discovery::fallback(&ready.issuer)),
        status @ 500.. => {
            let reason = format!("it answered {status} when asked for its discovery document");
            Err(Error::Unreachable { account, reason })
        }
        status => {
            let reason = format!("it answered {status} when asked for its discovery document");
            Err(Error::Issuer { account, reason })
        }
    }
}

/// What proves that a code is ours, and where it came to.
pub(crate) struct Claim<'a> {
    pub(crate) code: &'a Secret,
    pub(crate) verifier: &'a Secret,
    pub(crate) redirect: &'a str,
}

/// Turns a code into tokens.
pub(crate) async fn redeem(
    client: &Client,
    ready: &Ready,
    endpoint: &Url,
    claim: &Claim<'_>,
) -> Result<Grant, Error> {
    let (code, verifier) = (claim.code.expose(), claim.verifier.expose());
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", claim.redirect),
        ("client_id", &ready.client_id),
        ("code_verifier", verifier),
    ];
    tokens(client, ready, endpoint, &fields, &[code, verifier]).await
}

/// Turns a refresh token into new ones.
pub(crate) async fn renew(
    client: &Client,
    ready: &Ready,
    endpoint: &Url,
    refresh: &Secret,
) -> Result<Grant, Error> {
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh.expose()),
        ("client_id", &ready.client_id),
    ];
    tokens(client, ready, endpoint, &fields, &[refresh.expose()]).await
}

async fn tokens(
    client: &Client,
    ready: &Ready,
    endpoint: &Url,
    fields: &[(&str, &str)],
    sent: &[&str],
) -> Result<Grant, Error> {
    let account = ready.account.name();
    let reply = form(client, endpoint, fields).await.map_err(|fault| fault.of(account))?;
    let status = reply.status;
    if (200..300).contains(&status) {
        return grant::read(&reply.body).map_err(|reason| Error::Issuer { account, reason });
    }
    let refusal = grant::refusal(&reply.body, sent);
    let words = || format!("it answered {status}, {}", crate::quote(&reply.body, sent));
    Err(match (status, refusal) {
        (429 | 500.., _) => Error::Unreachable { account, reason: words() },
        (_, Some(refusal)) => Error::Refused { account, reason: refusal.words() },
        (_, None) => Error::Issuer { account, reason: words() },
    })
}
