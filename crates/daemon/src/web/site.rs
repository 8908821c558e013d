//! What browsers are answered: the page, who they are, pairing, and the way to the link. Every answer carries
//! the rules that hold for the page.

use std::sync::Arc;

use rookery_core::{Core, Unpaired, Visit};
use rookery_model::{ErrorKind, Words as _};
use rookery_web::{Asset, Assets, Route, route};
use rookery_wire::transport::http::{
    Answer, Credential, Entry, Origin, Purpose, Reply, Request, Site, Visitor,
};
use rookery_wire::transport::ws::Handshake;
use serde::Deserialize;
use serde_json::json;

use super::peer;

/// The subprotocol of the link.
const SUBPROTOCOL: &str = "rookery.link.v1";
/// What programs that agents run read.
const AGENTS: &str = "a program that an agent runs is no device of yours\n";
/// Seconds that a browser keeps its cookie: half a year.
const COOKIE_LIFE: u64 = 15_552_000;

/// Where the page may get what; `WS-ORIGIN` is put in for each answer.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'WS-ORIGIN; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types rookery";

/// What the page may not use of the browser, as far as any has a name for it: everything but the clipboard.
const PERMISSIONS: &str = "accelerometer=(), all-screens-capture=(), ambient-light-sensor=(), aria-notify=(), attribution-reporting=(), autoplay=(), bluetooth=(), browsing-topics=(), camera=(), captured-surface-control=(), clipboard-read=(self), clipboard-write=(self), compute-pressure=(), cross-origin-isolated=(), deferred-fetch=(), deferred-fetch-minimal=(), device-attributes=(), digital-credentials-create=(), digital-credentials-get=(), direct-sockets=(), display-capture=(), encrypted-media=(), fullscreen=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), identity-credentials-get=(), idle-detection=(), interest-cohort=(), join-ad-interest-group=(), keyboard-map=(), language-detector=(), language-model=(), local-fonts=(), local-network=(), local-network-access=(), loopback-network=(), magnetometer=(), media-playback-while-not-visible=(), microphone=(), midi=(), on-device-speech-recognition=(), otp-credentials=(), payment=(), picture-in-picture=(), private-aggregation=(), private-state-token-issuance=(), private-state-token-redemption=(), proofreader=(), publickey-credentials-create=(), publickey-credentials-get=(), record-ad-auction-events=(), run-ad-auction=(), screen-wake-lock=(), serial=(), shared-storage=(), shared-storage-select-url=(), smart-card=(), speaker-selection=(), storage-access=(), sub-apps=(), summarizer=(), sync-xhr=(), translator=(), unload=(), usb=(), usb-unrestricted=(), web-printing=(), web-share=(), window-management=(), xr-spatial-tracking=()";

/// The headers that are the same on every answer.
const HEADERS: &[(&str, &str)] = &[
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
    ("Permissions-Policy", PERMISSIONS),
];

/// The page and its rules of entry.
pub(super) struct PageSite {
    core: Core,
    entry: Entry,
    assets: Arc<Assets>,
}

impl PageSite {
    pub(super) fn new(core: Core, entry: Entry, assets: Arc<Assets>) -> PageSite {
        PageSite { core, entry, assets }
    }
}

impl Site for PageSite {
    type Guest = Visit;

    fn refuse(&self, answer: Answer) -> Answer {
        guarded(answer, None)
    }

    async fn answer(&self, request: Request) -> Reply<Visit> {
        // Whoever names us otherwise learns nothing of what there is.
        let origin = match self.entry.judge(&request, Purpose::Open) {
            Ok(visitor) => visitor.origin,
            Err(refusal) => return guarded(refusal, None).into(),
        };
        match self.route(&request).await {
            Reply::Answer(answer) => {
                if answer.status() >= 400 {
                    let status = answer.status();
                    // Of a path only what is known: the rest may be a secret that lost its way.
                    let route = route(&request.head.path).map_or("none", Route::name);
                    tracing::debug!(peer = %request.peer, route, status, "refused a browser");
                }
                guarded(answer, Some(&origin)).into()
            }
            Reply::Enter(handshake, visit) => {
                let headers = headers(Some(&origin));
                let handshake =
                    headers.into_iter().fold(handshake, |it, (name, value)| it.with(name, value));
                Reply::Enter(handshake, visit)
            }
        }
    }
}

impl PageSite {
    async fn route(&self, request: &Request) -> Reply<Visit> {
        let Some(route) = route(&request.head.path) else {
            return Answer::text(404, "not found\n").into();
        };
        let methods = route.methods();
        if !methods.have(&request.head.method) {
            let refusal = Answer::text(405, "method is not allowed\n");
            return refusal.with("Allow", methods.listed()).into();
        }
        let answered = match route {
            Route::Page => Ok(self.file("index.html")),
            Route::Manifest => Ok(self.file("manifest.webmanifest")),
            Route::Worker => Ok(self.file("sw.js")),
            Route::Asset { build, name } => Ok(self.asset(build, name)),
            Route::Health => Ok(fresh(Answer::new(200, "text/plain; charset=utf-8", "ok\n"))),
            Route::Link => match self.link(request).await {
                Ok((handshake, visit)) => return Reply::Enter(handshake, visit),
                Err(refusal) => Err(refusal),
            },
            Route::Session => self.session(request),
            Route::Pair => self.pair(request).await,
            Route::Logout => self.log_out(request).await,
        };
        answered.unwrap_or_else(fresh).into()
    }

    fn file(&self, name: &str) -> Answer {
        match self.assets.get(name) {
            Some(file) => {
                Answer::new(200, file.kind, file.bytes.to_vec()).with("Cache-Control", "no-cache")
            }
            None => fresh(Answer::text(404, "not found\n")),
        }
    }

    /// Files whose address changes with them never change.
    fn asset(&self, build: &str, name: &str) -> Answer {
        let asset = self.assets.get(name).filter(|_| build == self.assets.build());
        let Some(Asset { kind, bytes }) = asset else {
            return fresh(Answer::text(404, "not found\n"));
        };
        Answer::new(200, kind, bytes.to_vec())
            .with("Cache-Control", "public, max-age=31536000, immutable")
    }

    /// Lets a device in to the link.
    async fn link(&self, request: &Request) -> Result<(Handshake, Visit), Answer> {
        let visitor = self.entry.judge(request, Purpose::Act)?;
        let known = |credential: &str| self.core.devices().find(credential).is_some();
        let mut credentials = visitor.credentials.iter().map(|credential| credential.0);
        let Some(credential) = credentials.find(|credential| known(credential)) else {
            return Err(self.stranger(&visitor));
        };
        self.entry.welcome(&visitor);
        if peer::is_agent(&self.core, request).await {
            return Err(Answer::text(403, AGENTS));
        }
        let handshake = Handshake::read(&request.head, SUBPROTOCOL)?;
        // It may have been revoked this moment.
        let visit = self.core.devices().visit(credential);
        Ok((handshake, visit.ok_or_else(|| self.stranger(&visitor))?))
    }

    fn session(&self, request: &Request) -> Result<Answer, Answer> {
        let visitor = self.entry.judge(request, Purpose::Read)?;
        let mut devices =
            visitor.credentials.iter().filter_map(|it| self.core.devices().find(it.0));
        let Some(device) = devices.next() else { return Err(self.stranger(&visitor)) };
        self.entry.welcome(&visitor);
        let build = self.assets.build();
        let rights = device.rights.word();
        Ok(json_answer(200, &json!({ "name": device.name, "rights": rights, "build": build })))
    }

    async fn pair(&self, request: &Request) -> Result<Answer, Answer> {
        #[derive(Deserialize)]
        struct Pair {
            code: String,
            #[serde(default)]
            name: String,
        }
        let visitor = self.entry.judge(request, Purpose::Post)?;
        let Pair { code, name } = read(request)?;
        if peer::is_agent(&self.core, request).await {
            return Err(json_answer(403, &json!({ "error": AGENTS.trim_end() })));
        }
        let place = peer::place(request).await;
        match self.core.devices().redeem(&code, &name, place).await {
            Ok((device, credential)) => {
                let cookie = visitor.cookie(credential.expose(), COOKIE_LIFE);
                let rights = device.rights.word();
                let answer = json!({ "id": device.id, "name": device.name, "rights": rights });
                Ok(json_answer(200, &answer).with("Set-Cookie", cookie))
            }
            Err(Unpaired::Wrong) => {
                let why = "this code is wrong, was used, or is no longer valid";
                Err(json_answer(401, &json!({ "error": why })))
            }
            Err(Unpaired::Failed(error)) => {
                let status = match error.kind() {
                    ErrorKind::Invalid => 400,
                    ErrorKind::Busy => 503,
                    _ => 500,
                };
                Err(json_answer(
                    status,
                    &json!({ "error": error.message(), "field": error.field() }),
                ))
            }
        }
    }

    /// A device forgets itself: what it has is worth nothing from now on.
    async fn log_out(&self, request: &Request) -> Result<Answer, Answer> {
        let visitor = self.entry.judge(request, Purpose::Post)?;
        let _: serde_json::Value = read(request)?;
        let mut devices =
            visitor.credentials.iter().filter_map(|it| self.core.devices().find(it.0));
        let Some(device) = devices.next() else { return Err(self.stranger(&visitor)) };
        let revoked = self.core.devices().revoke(&device.id).await;
        revoked.map_err(|error| json_answer(500, &json!({ "error": error.message() })))?;
        Ok(json_answer(200, &json!({})).with("Set-Cookie", visitor.cookie("", 0)))
    }

    /// The answer to a visitor that is no device. A browser forgets what was revoked; other daemons of this
    /// machine have cookies of the same name, which are none of our business.
    fn stranger(&self, visitor: &Visitor<'_>) -> Answer {
        let refusal = self.entry.refuse(visitor);
        let was_revoked = |it: &Credential<'_>| self.core.devices().was_revoked(it.0);
        match visitor.has_cookie && visitor.credentials.iter().any(was_revoked) {
            true => refusal.with("Set-Cookie", visitor.cookie("", 0)),
            false => refusal,
        }
    }
}

/// Reads the body of a request, which is JSON and says so: a form of another page can send neither.
fn read<T: for<'de> Deserialize<'de>>(request: &Request) -> Result<T, Answer> {
    let kind = request.head.only("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Answer::text(415, "only application/json is taken\n"));
    }
    serde_json::from_slice(&request.body).map_err(|error| {
        let field = "body";
        json_answer(
            400,
            &json!({ "error": format!("cannot read the body: {error}"), "field": field }),
        )
    })
}

fn json_answer(status: u16, body: &serde_json::Value) -> Answer {
    fresh(Answer::new(status, "application/json", body.to_string()))
}

/// An answer that holds for this request only.
fn fresh(answer: Answer) -> Answer {
    match answer.header("Cache-Control") {
        Some(_) => answer,
        None => answer.with("Cache-Control", "no-store"),
    }
}

fn guarded(answer: Answer, origin: Option<&Origin>) -> Answer {
    headers(origin).into_iter().fold(fresh(answer), |it, (name, value)| it.with(name, value))
}

fn headers(origin: Option<&Origin>) -> Vec<(&'static str, String)> {
    // Some browsers do not count the WebSocket of an origin to it.
    let sockets = origin.map(|origin| format!(" {}", origin.for_sockets())).unwrap_or_default();
    let policy = POLICY.replace("WS-ORIGIN", &sockets);
    let fixed = HEADERS.iter().map(|(name, value)| (*name, (*value).to_owned()));
    fixed.chain([("Content-Security-Policy", policy)]).collect()
}

/// The files of the page as they lie in this directory, or in the source, if that is still where it was built.
pub(super) fn from_disk(named: Option<std::path::PathBuf>) -> Option<Assets> {
    let source = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/assets");
    let root = named.unwrap_or_else(source);
    let mut files = Vec::new();
    collect(&root, "", &mut files).ok()?;
    Some(Assets::of(files.into_iter().map(|(name, bytes)| (name.into(), bytes.into()))))
}

fn collect(
    dir: &std::path::Path,
    before: &str,
    files: &mut Vec<(String, Vec<u8>)>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let name = format!("{before}{name}");
        match entry.file_type()?.is_dir() {
            true => collect(&entry.path(), &format!("{name}/"), files)?,
            false => files.push((name, std::fs::read(entry.path())?)),
        }
    }
    Ok(())
}
