//! Where an issuer does what: its document, looked at with suspicion, or the usual places if it has none.

use serde::Deserialize;
use url::Url;

use crate::address;

/// Where the document of an issuer is, below it.
pub const DOCUMENT: &str = "/.well-known/openid-configuration";

/// Where an issuer does what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// Where a browser is sent to.
    pub authorize: Option<Url>,
    /// Where codes become tokens.
    pub token: Url,
    /// Where a code for another device comes from.
    pub device: DeviceEndpoint,
}

/// Where a code for another device comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceEndpoint {
    /// The device authorization grant.
    Grant(Url),
    /// The variant that has places of its own below the issuer.
    Accounts(Box<DeviceAuth>),
}

/// The places of the variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceAuth {
    /// Where a code comes from.
    pub user_code: Url,
    /// Where it is asked whether the code was entered.
    pub token: Url,
    /// The page that the code is entered on.
    pub page: Url,
    /// What stands for the address that a browser would come back to.
    pub callback: Url,
}

/// What is read of a document; everything else in it is ignored.
#[derive(Deserialize)]
struct Document {
    issuer: String,
    #[serde(default)]
    authorization_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint: Option<String>,
    #[serde(default)]
    device_authorization_endpoint: Option<String>,
}

/// Reads the document of an issuer. The error says what is wrong with it, and quotes no more than an address.
///
/// # Errors
/// If it is another issuer's, leads to another host, or would have secrets sent in the clear.
pub fn read(issuer: &Url, body: &[u8]) -> Result<Endpoints, String> {
    let document: Document = serde_json::from_slice(body).map_err(|error| {
        format!("its discovery document cannot be read at line {}", error.line())
    })?;
    if !is_same(issuer, &document.issuer) {
        return Err("its discovery document is another issuer's".to_owned());
    }
    let endpoint = |name: &str, text: Option<String>| match text {
        None => Ok(None),
        Some(text) => checked(issuer, &text).map(Some).map_err(|why| format!("its {name} {why}")),
    };
    let token = endpoint("token_endpoint", document.token_endpoint)?
        .ok_or("its discovery document names no token_endpoint")?;
    let device = endpoint("device_authorization_endpoint", document.device_authorization_endpoint)?;
    Ok(Endpoints {
        authorize: endpoint("authorization_endpoint", document.authorization_endpoint)?,
        token,
        device: match device {
            Some(url) => DeviceEndpoint::Grant(url),
            None => DeviceEndpoint::Accounts(Box::new(DeviceAuth::of(issuer))),
        },
    })
}

/// Where an issuer without a document does what.
pub fn fallback(issuer: &Url) -> Endpoints {
    Endpoints {
        authorize: Some(below(issuer, "/oauth/authorize")),
        token: below(issuer, "/oauth/token"),
        device: DeviceEndpoint::Accounts(Box::new(DeviceAuth::of(issuer))),
    }
}

impl DeviceAuth {
    fn of(issuer: &Url) -> DeviceAuth {
        DeviceAuth {
            user_code: below(issuer, "/api/accounts/deviceauth/usercode"),
            token: below(issuer, "/api/accounts/deviceauth/token"),
            page: below(issuer, "/codex/device"),
            callback: below(issuer, "/deviceauth/callback"),
        }
    }
}

/// An address below an issuer.
pub(crate) fn below(issuer: &Url, path: &str) -> Url {
    let mut url = issuer.clone();
    let path = format!("{}{path}", issuer.path().trim_end_matches('/'));
    url.set_path(&path);
    url
}

fn is_same(issuer: &Url, text: &str) -> bool {
    let plain = |url: &Url| url.as_str().trim_end_matches('/').to_owned();
    Url::parse(text).is_ok_and(|other| plain(&other) == plain(issuer))
}

/// An endpoint, if it is one that secrets meant for the issuer may go to.
fn checked(issuer: &Url, text: &str) -> Result<Url, &'static str> {
    let url = address::secure(text)?;
    if !address::share_host(issuer, &url) {
        return Err("is on another host than the issuer");
    }
    if issuer.scheme() == "https" && url.scheme() != "https" {
        return Err("must use https as the issuer does");
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn issuer() -> Url {
        Url::parse("https://auth.example.com/tenant/").unwrap()
    }

    fn document() -> Value {
        json!({
            "issuer": "https://auth.example.com/tenant",
            "authorization_endpoint": "https://auth.example.com/authorize?x=1",
            "token_endpoint": "https://auth.example.com:8443/token",
            "device_authorization_endpoint": "https://auth.example.com/device",
            "jwks_uri": 7
        })
    }

    fn with(name: &str, value: Value) -> Result<Endpoints, String> {
        let mut document = document();
        document[name] = value;
        read(&issuer(), document.to_string().as_bytes())
    }

    #[test]
    fn a_document_says_where_things_are() {
        let read = read(&issuer(), document().to_string().as_bytes()).unwrap();
        assert_eq!(read.token.as_str(), "https://auth.example.com:8443/token");
        assert!(matches!(read.device, DeviceEndpoint::Grant(url) if url.path() == "/device"));
        let variant = with("device_authorization_endpoint", Value::Null).unwrap();
        let DeviceEndpoint::Accounts(variant) = variant.device else { panic!() };
        let want = "https://auth.example.com/tenant/api/accounts/deviceauth/usercode";
        assert_eq!(variant.user_code.as_str(), want);
    }

    #[test]
    fn without_a_document_things_are_in_their_usual_places() {
        let usual = fallback(&issuer());
        assert_eq!(usual.token.as_str(), "https://auth.example.com/tenant/oauth/token");
        let authorize = "https://auth.example.com/tenant/oauth/authorize";
        assert_eq!(usual.authorize.unwrap().as_str(), authorize);
    }

    #[test]
    fn a_document_that_was_tampered_with_is_refused() {
        let refused = |name: &str, value: &str| with(name, json!(value)).unwrap_err();
        for other in ["https://evil.example", "http://auth.example.com/tenant", "", "x"] {
            assert_eq!(refused("issuer", other), "its discovery document is another issuer's");
        }
        let other = refused("token_endpoint", "https://auth.example.com.evil.example/token");
        assert_eq!(other, "its token_endpoint is on another host than the issuer");
        for (endpoint, why) in [
            ("http://auth.example.com/token", "must use https, except on this machine"),
            ("https://a@auth.example.com/token", "has a user name in it"),
            ("/token", "is not an absolute address"),
        ] {
            assert_eq!(refused("token_endpoint", endpoint), format!("its token_endpoint {why}"));
        }
        let none = with("token_endpoint", Value::Null).unwrap_err();
        assert_eq!(none, "its discovery document names no token_endpoint");
        assert!(with("token_endpoint", json!(["x"])).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn on_this_machine_https_stays_https() {
        let secure = Url::parse("https://localhost:8443").unwrap();
        let body =
            json!({"issuer": "https://localhost:8443", "token_endpoint": "http://localhost:1/t"});
        let refused = read(&secure, body.to_string().as_bytes()).unwrap_err();
        assert_eq!(refused, "its token_endpoint must use https as the issuer does");
        let plain = Url::parse("http://localhost:8443").unwrap();
        let body =
            json!({"issuer": "http://localhost:8443/", "token_endpoint": "http://localhost:1/t"});
        assert!(read(&plain, body.to_string().as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn whatever_a_document_says_secrets_stay_with_the_issuer(token in ".{0,80}", device in ".{0,80}") {
            let body = json!({"issuer": issuer().as_str(), "token_endpoint": token,
                "device_authorization_endpoint": device}).to_string();
            if let Ok(found) = read(&issuer(), body.as_bytes()) {
                prop_assert_eq!(found.token.host_str(), Some("auth.example.com"));
                prop_assert_eq!(found.token.scheme(), "https");
            }
        }
    }
}
