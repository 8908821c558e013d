//! Token files: modes, what a crash leaves, damage, and what a sign-out takes away.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::secret::Secret;

const CODEX: Account = Account::Codex;

struct Place {
    home: tempfile::TempDir,
    files: Files,
}

impl Place {
    fn new() -> Place {
        let private = fs::Permissions::from_mode(0o700);
        let home = tempfile::Builder::new().permissions(private).tempdir().unwrap();
        let files = Files::new(home.path().join("auth"));
        Place { home, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("auth").join(name)
    }

    fn save(&self, account: Account, access: &str) {
        let lock = self.files.lock(account).unwrap();
        let entry = Entry { action: "login", reason: "device", at: 1_700_000_000_000 };
        self.files.save(&lock, account, &tokens(access), &entry).unwrap();
    }

    fn load(&self, account: Account) -> Option<String> {
        let found = self.files.load(account, 7).unwrap();
        found.map(|tokens| tokens.access.unwrap().expose().to_owned())
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.home.path().join("auth")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn tokens(access: &str) -> Tokens {
    Tokens {
        refresh: Some(Secret::new("refresh-secret")),
        access: Some(Secret::new(access)),
        expires: 5,
        owner: Some("me".into()),
        id_token: None,
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn nothing_is_made_by_looking() {
    let place = Place::new();
    assert_eq!(place.load(CODEX), None);
    place.files.tidy(CODEX).unwrap();
    place.files.remove(CODEX, &Entry { action: "logout", reason: "", at: 0 }).unwrap();
    assert!(!place.home.path().join("auth").exists());
}

#[test]
fn files_are_private_and_the_last_ones_are_kept_with_a_record() {
    let place = Place::new();
    place.save(CODEX, "one");
    assert_eq!(place.names(), [".codex.lock", "codex.audit.jsonl", "codex.json"]);
    place.save(CODEX, "two");
    assert_eq!(place.load(CODEX).as_deref(), Some("two"));
    for name in place.names() {
        assert_eq!(mode(&place.path(&name)), 0o600, "{name}");
    }
    assert_eq!(mode(place.files.dir()), 0o700);
    let backup = fs::read_to_string(place.path("codex.json.bak")).unwrap();
    assert!(backup.contains("\"one\""), "{backup}");
    let record = fs::read_to_string(place.path("codex.audit.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(record.lines().next().unwrap()).unwrap();
    assert_eq!(first["action"], "login");
    assert_eq!(
        (&first["reason"], &first["time"]),
        (&"device".into(), &"2023-11-14T22:13:20Z".into())
    );
    assert_eq!(first["pid"], std::process::id());
    assert!(!record.contains("secret") && record.lines().count() == 2, "{record}");
}

#[test]
fn no_other_user_could_read_a_token_at_any_moment() {
    let place = Place::new();
    place.save(CODEX, "first");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut looks = 0_u64;
            while !is_over.load(Ordering::Relaxed) {
                for entry in fs::read_dir(place.files.dir()).unwrap().filter_map(Result::ok) {
                    if let Ok(found) = fs::metadata(entry.path()) {
                        let shown = entry.path();
                        assert_eq!(found.mode() & 0o077, 0, "{}", shown.display());
                        looks += 1;
                    }
                }
            }
            looks
        });
        for count in 0..40 {
            place.save(CODEX, &format!("token-{count}"));
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(watcher.join().unwrap() > 0);
    });
}

#[test]
fn a_damaged_file_is_moved_aside_and_the_one_before_it_counts() {
    let place = Place::new();
    place.save(CODEX, "one");
    place.save(CODEX, "two");
    fs::write(place.path("codex.json"), "{\"access\": \"half").unwrap();
    assert_eq!(place.load(CODEX).as_deref(), Some("one"));
    assert!(place.path("codex.json.corrupt-7").exists());
    assert_eq!(place.load(CODEX).as_deref(), Some("one"));
    let grok = Account::Supergrok;
    place.save(grok, "one");
    assert!(!place.path("supergrok.audit.jsonl").exists());
    fs::write(place.path("supergrok.json"), vec![b'x'; 70 << 10]).unwrap();
    assert_eq!(place.load(grok), None);
    assert!(place.path("supergrok.json.corrupt-7").exists());
}

#[test]
fn a_sign_out_takes_everything_away_but_the_record_and_other_accounts() {
    let place = Place::new();
    place.save(CODEX, "one");
    place.save(CODEX, "two");
    place.save(Account::Supergrok, "three");
    fs::write(place.path("codex.json.corrupt-1"), "secret").unwrap();
    fs::write(place.path(".codex.json.99999"), "secret").unwrap();
    fs::write(place.path("codex.jsonx"), "not ours").unwrap();
    for _ in 0..2 {
        place.files.remove(CODEX, &Entry { action: "logout", reason: "asked", at: 0 }).unwrap();
    }
    let left =
        [".codex.lock", ".supergrok.lock", "codex.audit.jsonl", "codex.jsonx", "supergrok.json"];
    assert_eq!(place.names(), left);
    assert_eq!(
        (place.load(CODEX), place.load(Account::Supergrok).as_deref()),
        (None, Some("three"))
    );
}

#[test]
fn what_a_killed_process_left_is_swept_unless_another_one_writes() {
    let place = Place::new();
    place.save(CODEX, "one");
    let left = place.path(".codex.json.99999");
    fs::write(&left, "secret").unwrap();
    let lock = place.files.lock(CODEX).unwrap();
    place.files.tidy(CODEX).unwrap();
    assert!(left.exists());
    drop(lock);
    place.files.tidy(CODEX).unwrap();
    assert!(!left.exists());
}

#[test]
fn a_planted_link_is_neither_read_nor_written_through() {
    let place = Place::new();
    let elsewhere = place.home.path().join("elsewhere.json");
    fs::write(&elsewhere, tokens("foreign").write(CODEX)).unwrap();
    place.save(Account::Supergrok, "x");
    symlink(&elsewhere, place.path("codex.json")).unwrap();
    assert!(place.files.load(CODEX, 0).is_err());
    let before = fs::read(&elsewhere).unwrap();
    let lock = place.files.lock(CODEX).unwrap();
    let entry = Entry { action: "login", reason: "device", at: 0 };
    assert!(place.files.save(&lock, CODEX, &tokens("mine"), &entry).is_err());
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
}

#[test]
fn the_record_does_not_grow_for_ever() {
    let place = Place::new();
    place.save(CODEX, "one");
    for count in 0..3000 {
        let reason = format!("{count} {}", "x".repeat(100));
        place.files.note(CODEX, &Entry { action: "refresh", reason: &reason, at: 0 });
    }
    let record = fs::read_to_string(place.path("codex.audit.jsonl")).unwrap();
    assert!(record.len() as u64 <= AUDIT_LIMIT + 1024, "{}", record.len());
    assert!(record.lines().last().unwrap().contains("2999 "));
    assert!(record.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    assert_eq!(mode(&place.path("codex.audit.jsonl")), 0o600);
}
