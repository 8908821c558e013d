//! What the issuer says when it behaves: discovery, codes, tokens, each checked as a real one checks it.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{CLIENT, Code, Device, Issuer, Person, Reply, Request, State};

impl Issuer {
    pub(crate) fn answer(&self, request: &Request) -> Reply {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/.well-known/openid-configuration") => self.document(),
            ("POST", "/device") => self.device(request),
            ("POST", "/api/accounts/deviceauth/usercode") => self.user_code(request),
            ("POST", "/api/accounts/deviceauth/token") => self.device_auth(request),
            ("GET", "/authorize" | "/oauth/authorize") => self.authorize(request),
            ("POST", "/token" | "/oauth/token") => self.token(request),
            _ => Reply::Text(404, "not here".into()),
        }
    }

    fn document(&self) -> Reply {
        let (url, state) = (self.url(), self.state());
        if !state.has_document {
            return Reply::Text(404, "not here".into());
        }
        let mut document = json!({
            "issuer": url,
            "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"),
            "jwks_uri": format!("{url}/keys"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"]
        });
        if state.has_device_grant {
            document["device_authorization_endpoint"] = json!(format!("{url}/device"));
        }
        for (name, value) in state.document.as_object().unwrap() {
            document[name] = value.clone();
        }
        let members = document.as_object_mut().unwrap();
        members.retain(|_, value| !value.is_null());
        Reply::Json(200, document)
    }

    fn device(&self, request: &Request) -> Reply {
        let mut state = self.state();
        let is_form = request.has_type("application/x-www-form-urlencoded");
        if !is_form || request.field("client_id").as_deref() != Some(CLIENT) {
            return error(401, "invalid_client");
        }
        let (code, user_code) = state.add_device();
        let page = format!("{}/activate", self.url());
        Reply::Json(
            200,
            json!({
                "device_code": code,
                "user_code": user_code,
                "verification_uri": page,
                "verification_uri_complete": format!("{page}?user_code={user_code}"),
                "expires_in": state.code_life,
                "interval": state.interval
            }),
        )
    }

    fn user_code(&self, request: &Request) -> Reply {
        let mut state = self.state();
        if state.has_device_grant {
            return Reply::Text(404, "not here".into());
        }
        let is_json = request.has_type("application/json");
        if !is_json || request.field("client_id").as_deref() != Some(CLIENT) {
            return error(401, "invalid_client");
        }
        let (code, user_code) = state.add_device();
        // As it is written there, in quotation marks.
        let interval = state.interval.as_u64().map(|seconds| seconds.to_string());
        Reply::Json(
            200,
            json!({"device_auth_id": code, "user_code": user_code, "interval": interval}),
        )
    }

    fn device_auth(&self, request: &Request) -> Reply {
        let mut state = self.state();
        let (id, user_code) = (request.field("device_auth_id"), request.field("user_code"));
        let known = state.devices.iter_mut().find(|device| {
            Some(&device.code) == id.as_ref() && Some(&device.user_code) == user_code.as_ref()
        });
        match known.map(|device| (device.verdict, std::mem::replace(&mut device.is_used, true))) {
            None => Reply::Text(404, String::new()),
            Some((Some(true), false)) => {
                let verifier = state.secret("verifier");
                let challenge = challenge(&verifier);
                let redirect = format!("{}/deviceauth/callback", self.url());
                let code = state.add_code(challenge.clone(), redirect);
                let body = json!({"authorization_code": code, "code_verifier": verifier,
                    "code_challenge": challenge});
                Reply::Json(200, body)
            }
            Some((Some(false), _)) => error(403, "access_denied"),
            Some((verdict, _)) => {
                let device =
                    state.devices.iter_mut().find(|device| Some(&device.code) == id.as_ref());
                if let (Some(device), None) = (device, verdict) {
                    device.is_used = false;
                }
                Reply::Json(403, json!({"error": "authorization_pending"}))
            }
        }
    }

    fn authorize(&self, request: &Request) -> Reply {
        let mut state = self.state();
        let parameter = |name: &str| request.parameter(name).unwrap_or_default();
        let (redirect, challenge) = (parameter("redirect_uri"), parameter("code_challenge"));
        let is_good = parameter("client_id") == CLIENT
            && parameter("response_type") == "code"
            && parameter("code_challenge_method") == "S256"
            && !parameter("state").is_empty()
            && !challenge.is_empty()
            && redirect.starts_with("http://127.0.0.1:");
        if !is_good {
            return Reply::Text(400, "this request cannot be authorized".into());
        }
        let code = state.add_code(challenge, redirect.clone());
        let mut location = url::Url::parse(&redirect).unwrap();
        location
            .query_pairs_mut()
            .append_pair("code", &code)
            .append_pair("state", &parameter("state"))
            .append_pair("iss", self.url());
        Reply::Redirect(location.to_string())
    }

    fn token(&self, request: &Request) -> Reply {
        let mut state = self.state();
        if !request.has_type("application/x-www-form-urlencoded") {
            return error(400, "invalid_request");
        }
        if request.field("client_id").as_deref() != Some(CLIENT) {
            return error(401, "invalid_client");
        }
        match request.field("grant_type").unwrap_or_default().as_str() {
            "authorization_code" => state.redeem(request),
            "refresh_token" => state.renew(request),
            "urn:ietf:params:oauth:grant-type:device_code" => state.ask(request),
            _ => error(400, "unsupported_grant_type"),
        }
    }
}

impl State {
    fn add_device(&mut self) -> (String, String) {
        let code = self.secret("device");
        let user_code = format!("{:04}-{:04}", self.count, self.count * 7 % 10_000);
        let interval = self.interval.as_u64().unwrap_or_default();
        self.devices.push(Device {
            code: code.clone(),
            user_code: user_code.clone(),
            verdict: match self.person {
                Person::Waits => None,
                Person::Allows => Some(true),
                Person::Refuses => Some(false),
            },
            asked_at: None,
            interval,
            is_used: false,
        });
        (code, user_code)
    }

    fn add_code(&mut self, challenge: String, redirect: String) -> String {
        let code = self.secret("code");
        self.codes.insert(code.clone(), Code { challenge, redirect, is_used: false });
        code
    }

    /// A question of a device whether its code was entered; one that comes too soon is informed.
    fn ask(&mut self, request: &Request) -> Reply {
        let code = request.field("device_code");
        let Some(device) =
            self.devices.iter_mut().find(|device| Some(&device.code) == code.as_ref())
        else {
            return error(400, "invalid_grant");
        };
        let wait = Duration::from_secs(device.interval);
        let is_early =
            device.asked_at.is_some_and(|at| at.elapsed() + Duration::from_millis(50) < wait);
        device.asked_at = Some(Instant::now());
        if is_early {
            device.interval += 5;
            return error(400, "slow_down");
        }
        match (device.verdict, device.is_used) {
            (None, _) => error(400, "authorization_pending"),
            (Some(false), _) => error(400, "access_denied"),
            (Some(true), true) => error(400, "invalid_grant"),
            (Some(true), false) => {
                device.is_used = true;
                self.grant(true)
            }
        }
    }

    /// A code for tokens. One that comes a second time is refused.
    fn redeem(&mut self, request: &Request) -> Reply {
        let field = |name: &str| request.field(name).unwrap_or_default();
        let Some(code) = self.codes.get_mut(&field("code")) else {
            return error(400, "invalid_grant");
        };
        let is_good = !code.is_used
            && code.redirect == field("redirect_uri")
            && code.challenge == challenge(&field("code_verifier"));
        code.is_used = true;
        if is_good { self.grant(true) } else { error(400, "invalid_grant") }
    }

    fn renew(&mut self, request: &Request) -> Reply {
        let token = request.field("refresh_token").unwrap_or_default();
        match self.refresh_tokens.get(&token) {
            Some(true) => {
                let rotates = self.rotates;
                self.refresh_tokens.insert(token, !rotates);
                self.grant(rotates)
            }
            _ => error(400, "invalid_grant"),
        }
    }

    fn grant(&mut self, with_refresh: bool) -> Reply {
        let (access, id_token) = (self.secret("access"), self.id_token());
        self.access_tokens.push(access.clone());
        let mut body = json!({
            "access_token": access,
            "id_token": id_token,
            "token_type": "Bearer",
            "expires_in": self.token_life,
            "scope": "openid"
        });
        if with_refresh {
            let refresh = self.secret("refresh");
            self.refresh_tokens.insert(refresh.clone(), true);
            body["refresh_token"] = json!(refresh);
        }
        Reply::Json(200, body)
    }

    fn id_token(&mut self) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signature = self.secret("signature");
        let token =
            format!("{}.{}.{signature}", part(&json!({"alg": "RS256"})), part(&self.claims));
        self.secrets.push(token.clone());
        token
    }

    /// A text that is found nowhere else.
    fn secret(&mut self, kind: &str) -> String {
        self.count += 1;
        let seed = format!("{kind} {} {}", std::process::id(), self.count);
        let random = URL_SAFE_NO_PAD.encode(Sha256::digest(seed.as_bytes()));
        let secret = format!("{kind}-{}-{}", self.count, &random[..24]);
        self.secrets.push(secret.clone());
        secret
    }
}

fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

fn error(status: u16, code: &str) -> Reply {
    Reply::Json(status, json!({"error": code, "error_description": format!("{code} it is")}))
}
