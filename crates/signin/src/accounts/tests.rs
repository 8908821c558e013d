//! Logins, renewals and sign-outs against an issuer on this machine that speaks the real protocol.

mod flows;
mod hostile;
mod renewals;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rookery_issuer::{CLIENT, Issuer};
use serde_json::Value;

use super::*;
use crate::clock::Sleep;

const CODEX: Account = Account::Codex;
const GROK: Account = Account::Supergrok;

/// A clock that goes on by itself when it is waited for.
struct QuickClock {
    now: Mutex<u64>,
    waits: Mutex<Vec<u64>>,
}

impl QuickClock {
    fn new() -> Arc<Self> {
        Arc::new(Self { now: Mutex::new(1_000_000_000), waits: Mutex::default() })
    }

    fn pass(&self, seconds: u64) {
        *self.now.lock() += seconds * 1000;
    }

    fn waits(&self) -> Vec<u64> {
        self.waits.lock().clone()
    }
}

impl Clock for QuickClock {
    fn now(&self) -> u64 {
        *self.now.lock()
    }

    fn sleep(&self, time: Duration) -> Sleep {
        self.waits.lock().push(time.as_secs());
        self.pass(time.as_secs());
        Box::pin(tokio::task::yield_now())
    }
}

struct Place {
    home: tempfile::TempDir,
    issuer: Issuer,
    accounts: Accounts,
}

impl Place {
    fn with(clock: Arc<dyn Clock>) -> Place {
        let private = fs::Permissions::from_mode(0o700);
        let home = tempfile::Builder::new().permissions(private).tempdir().unwrap();
        let issuer = Issuer::start();
        let accounts = accounts(home.path(), issuer.url(), clock);
        Place { home, issuer, accounts }
    }

    /// With a clock that does not keep anyone waiting.
    fn quick() -> (Place, Arc<QuickClock>) {
        let clock = QuickClock::new();
        (Place::with(clock.clone()), clock)
    }

    fn real() -> Place {
        Place::with(Arc::new(SystemClock))
    }

    fn dir(&self) -> std::path::PathBuf {
        self.home.path().join("auth")
    }

    fn file(&self, name: &str) -> Option<Value> {
        let bytes = fs::read(self.dir().join(name)).ok()?;
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    /// Signs in by a code, which the person enters at once.
    async fn sign_in(&self, account: Account) -> SignedIn {
        let login = self.accounts.begin(account, LoginRequest::default()).await.unwrap();
        self.issuer.enter(login.pending().code.as_deref().unwrap(), true);
        login.finish().await.unwrap()
    }

    /// Everything that lies in the folder, as one text.
    fn everything(&self) -> String {
        let entries = fs::read_dir(self.dir()).into_iter().flatten().filter_map(Result::ok);
        let texts = entries.map(|entry| fs::read_to_string(entry.path()).unwrap_or_default());
        texts.collect()
    }

    /// Whether anything was kept that an issuer gave.
    fn has_kept_anything(&self) -> bool {
        let text = self.everything();
        self.issuer.secrets().iter().any(|secret| text.contains(secret.as_str()))
            || self.dir().join("codex.json").exists()
    }
}

fn accounts(home: &Path, issuer: &str, clock: Arc<dyn Clock>) -> Accounts {
    let config = Config {
        issuer: Some(issuer.to_owned()),
        client_id: Some(CLIENT.to_owned()),
        callback_port: Some(0),
        ..Config::default()
    };
    Accounts::new(Options {
        dir: Some(home.join("auth")),
        configs: Account::ALL.map(|account| (account, config.clone())).into(),
        client: Client::new(),
        clock,
    })
}

fn browser() -> LoginRequest {
    LoginRequest { flow: Some(crate::Flow::Browser), limit: None }
}

async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[tokio::test]
async fn nothing_is_touched_where_nothing_is_kept() {
    let issuer = Issuer::start();
    let options = Options {
        dir: None,
        configs: BTreeMap::from([(
            CODEX,
            Config {
                issuer: Some(issuer.url().into()),
                client_id: Some(CLIENT.into()),
                ..Config::default()
            },
        )]),
        client: Client::new(),
        clock: Arc::new(SystemClock),
    };
    let accounts = Accounts::new(options);
    assert_eq!(accounts.begin(CODEX, LoginRequest::default()).await.err(), Some(Error::Disabled));
    assert_eq!(accounts.logout(CODEX).await, Err(Error::Disabled));
    assert_eq!(accounts.access(CODEX).await, Err(Error::Disabled));
    assert_eq!(accounts.status(CODEX).await, Ok(SignedIn::default()));
    assert!(Error::Disabled.to_string().contains("auth persistence is disabled"));
    assert!(issuer.asked("").is_empty());
}

#[tokio::test]
async fn without_a_client_id_no_one_is_asked_and_no_other_login_is_superseded() {
    let (place, _) = Place::quick();
    let none = Accounts::new(Options {
        dir: Some(place.dir()),
        configs: BTreeMap::new(),
        client: Client::new(),
        clock: QuickClock::new(),
    });
    let error = none.begin(GROK, LoginRequest::default()).await.err().unwrap();
    assert!(error.to_string().starts_with("auth.supergrok.client_id is not set"), "{error}");
    assert!(!place.dir().exists());
}

#[tokio::test]
async fn status_is_what_the_file_says() {
    let (place, clock) = Place::quick();
    fs::create_dir(place.dir()).unwrap();
    let write = |name: &str, text: String| fs::write(place.dir().join(name), text).unwrap();
    let status = async |account| place.accounts.status(account).await.unwrap();
    assert_eq!(status(CODEX).await, SignedIn::default());
    let now = clock.now();
    write(
        "codex.json",
        format!(
            r#"{{"type":"oauth","refresh":"r","access":"a","expires":{},"account_id":"me"}}"#,
            now - 1
        ),
    );
    let me = SignedIn { is_signed_in: true, owner: Some("me".into()) };
    assert_eq!(status(CODEX).await, me);
    assert_eq!(place.accounts.last_seen(CODEX), me);
    write(
        "supergrok.json",
        format!(
            r#"{{"type":"oauth","refresh":"","access":"a","expires":{},"email":"e"}}"#,
            now + 1000
        ),
    );
    assert_eq!(status(GROK).await.owner.as_deref(), Some("e"));
    clock.pass(1);
    assert_eq!(status(GROK).await, SignedIn::default());
    fs::remove_file(place.dir().join("codex.json")).unwrap();
    assert_eq!(status(CODEX).await, SignedIn::default());
    // What others may read is closed to them as soon as it is looked at.
    assert_eq!(mode(&place.dir()), 0o700);
}
