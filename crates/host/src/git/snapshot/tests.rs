//! Real repositories: taken, changed, and put back to the byte.

mod edges;
mod random;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::*;
use crate::git::testing::{Place, Traps};

pub(super) fn id(text: &str) -> CheckpointId {
    text.parse().unwrap()
}

pub(super) async fn checkpoint(place: &Place, name: &str) -> Captured {
    let options = CaptureOptions::titled(format!("title of {name}"));
    capture(&place.repo().await, &id(name), &options).await.unwrap()
}

pub(super) async fn back(place: &Place, name: &str) -> Restored {
    let safety = id(&format!("before-{name}-{}", fastrand::u32(..)));
    restore(&place.repo().await, &id(name), &safety, &RestoreOptions::default()).await.unwrap()
}

fn bytes(name: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(name))
}

/// Everything that a repository can have that is awkward.
async fn nasty() -> Place {
    let place = Place::empty().await;
    for name in ["staged", "unstaged", "both", "deleted", "gone from index", "renamed", "moved"] {
        place.write(name, format!("{name}\nline\n").repeat(20));
    }
    place.write("run.sh", "#!/bin/sh\n");
    place.mode("run.sh", 0o755);
    place.write("binary", [0, 159, 146, 150, 0, b'\r', b'\n', 255]);
    place.write("dir/file", "will be a directory\n");
    place.write("becomes-dir", "x\n");
    place.link("link", "staged");
    place.write(".gitignore", "*.ignored\n/secret/\n");
    place.write("tracked.ignored", "tracked all the same\n");
    place.git(["add", "--force", "tracked.ignored"]).await;
    place.commit("base").await;
    place.write("staged", "staged\nnew\n");
    place.write("both", "both\nstaged\n");
    place.git(["add", "staged", "both"]).await;
    place.write("both", "both\nthen changed\n");
    place.write("unstaged", "unstaged\r\nwith crlf\r\n");
    place.remove("deleted");
    place.git(["rm", "--quiet", "gone from index"]).await;
    place.git(["mv", "renamed", "renamed ü.txt"]).await;
    std::fs::rename(place.path("moved"), place.path("moved-unstaged")).unwrap();
    place.write("binary", [1, 0, 2, 0, 255, b'\n']);
    place.write("größe/日本語 🦀", "non-ascii\n");
    place.write("quote\"tab\tnew\nline", "odd name\n");
    place.write(bytes(b"not-utf8-\xff\xfe"), "odder name\n");
    place.write("empty", "");
    place.write("intended", "");
    place.git(["add", "--intent-to-add", "intended"]).await;
    place.write("no newline", "at the end");
    place.remove("dir/file");
    std::fs::remove_dir(place.path("dir")).unwrap();
    place.link("dir", "/etc");
    place.remove("becomes-dir");
    place.write("becomes-dir/inner", "y\n");
    place.remove("link");
    place.link("link", "nowhere at all");
    place.mode("run.sh", 0o644);
    place.write("private", "mode 600\n");
    place.mode("private", 0o600);
    place.write("left.ignored", "not captured\n");
    place.write("secret/key", "not captured\n");
    place.write("large", vec![b'L'; 3 << 20]);
    place
}

/// Makes a mess of a repository.
async fn mess(place: &Place) {
    for name in ["staged", "both", "unstaged", "quote\"tab\tnew\nline"] {
        place.write(name, "messed up\n");
    }
    place.write("deleted", "is back\n");
    place.remove("binary");
    place.remove("dir");
    place.write("dir/sub/new", "now really a directory\n");
    std::fs::remove_dir_all(place.path("becomes-dir")).unwrap();
    place.write("becomes-dir", "a file again\n");
    place.remove("link");
    place.write("link", "no link\n");
    place.remove(bytes(b"not-utf8-\xff\xfe"));
    place.write("brand/new/file", "goes\n");
    place.mode("private", 0o644);
    place.mode("run.sh", 0o755);
    place.git(["add", "--all"]).await;
    place.write("brand/new/other", "goes too\n");
}

#[tokio::test]
async fn everything_comes_back_to_the_byte() {
    let place = nasty().await;
    place.git(["stash", "list"]).await;
    let index_file = std::fs::read(place.path(".git/index")).unwrap();
    let before = place.sight().await;
    let captured = checkpoint(&place, "one").await;
    assert_eq!(place.sight().await, before, "taking it changes nothing");
    assert_eq!(std::fs::read(place.path(".git/index")).unwrap(), index_file);
    assert_eq!(captured.skipped, []);
    mess(&place).await;
    let messed = place.sight().await;
    let restored = back(&place, "one").await;
    assert_eq!(place.sight().await, before);
    assert_eq!(std::fs::read(place.path(".git/index")).unwrap(), index_file, "even its times");
    assert!(!place.path("brand").exists(), "empty directories go");
    assert!(restored.written > 5 && restored.removed > 2);
    // And the way back from the way back.
    back(&place, restored.safety.id.as_str()).await;
    assert_eq!(place.sight().await, messed);
}

#[test]
fn what_changes_after_it_was_saved_stops_a_restore() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("old"), "x").unwrap();
    std::fs::write(at("gone"), "x").unwrap();
    // Until the clock of the file system goes on.
    let clock = loop {
        let clock = scratch::clock(dir.path()).unwrap();
        let stat = rustix::fs::stat(at("gone")).unwrap();
        if cache::Stamp::of(&stat).is_older(&clock) {
            break clock;
        }
    };
    let oid = Oid::parse(&"a".repeat(40)).unwrap();
    let write = |name: &str| write::Write {
        path: name.into(),
        mode: 0o100_644,
        oid: oid.clone(),
        replaces: true,
    };
    let plan = write::Plan {
        writes: vec![write("old"), write("new")],
        removes: vec![b"gone".to_vec()],
        clock: Some(clock),
        ..write::Plan::default()
    };
    assert!(write::check(dir.path(), plan.clone()).is_ok());
    loop {
        std::fs::write(at("old"), "y").unwrap();
        std::fs::write(at("gone"), "y").unwrap();
        let stat = rustix::fs::stat(at("old")).unwrap();
        if clock.is_older(&cache::Stamp::of(&stat)) {
            break;
        }
    }
    let error = write::check(dir.path(), plan).unwrap_err();
    assert_eq!(error, CheckpointError::Blocked(vec!["gone".into(), "old".into()]));
}

#[tokio::test]
async fn what_changed_is_reported_as_git_sees_it() {
    let place = nasty().await;
    let captured = checkpoint(&place, "one").await;
    let letter = |name: &str| {
        let found = captured.changed_files.iter().find(|file| file.path == Path::new(name));
        found.map(|file| (file.status, file.additions, file.deletions))
    };
    assert_eq!(letter("staged"), Some(('M', Some(1), Some(39))));
    assert_eq!(letter("renamed ü.txt"), Some(('R', Some(0), Some(0))));
    assert_eq!(letter("moved-unstaged").map(|found| found.0), Some('R'));
    assert_eq!(letter("deleted").map(|found| found.0), Some('D'));
    assert_eq!(letter("binary"), Some(('M', None, None)));
    assert_eq!(letter("größe/日本語 🦀"), Some(('A', Some(1), Some(0))));
    assert_eq!(letter("quote\"tab\tnew\nline"), Some(('A', Some(1), Some(0))));
    assert_eq!(letter("dir"), Some(('A', Some(1), Some(0))));
    assert_eq!(letter("left.ignored"), None);
    assert_eq!(letter("tracked.ignored"), None, "unchanged");
    assert_eq!(captured.stat.files, captured.changed_files.len() as u64);
    assert_eq!(captured.branch.as_deref(), Some("main"));
    let head = place.says(["rev-parse", "HEAD"]).await;
    assert_eq!(captured.head.map(|oid| oid.to_string()), Some(head.clone()));
    let parents =
        place.says(["log", "-1", "--format=%P %an <%ae>", "refs/rookery/checkpoints/one"]).await;
    assert!(
        parents.starts_with(&head) && parents.ends_with("Rookery <rookery@localhost>"),
        "{parents}"
    );
    let clean = Place::new().await;
    let captured = checkpoint(&clean, "clean").await;
    assert_eq!((captured.stat, captured.changed_files), (Stat::default(), Vec::new()));
}

#[tokio::test]
async fn nothing_that_the_repository_names_is_run() {
    let place = Place::empty().await;
    place.write(".gitattributes", "*.f filter=f diff=d merge=m\n*.p filter=p\n*.i ident\n");
    place.write("a.f", "filtered\n");
    place.write("b.p", "processed\n");
    place.write("c.i", "$Id$\n");
    place.commit("base").await;
    let before = place.sight().await;
    let traps = Traps::set(&place);
    checkpoint(&place, "one").await;
    place.write("a.f", "changed\n");
    place.write("new.f", "new\n");
    place.write("c.i", "$Id: expanded $\n");
    place.remove("b.p");
    let captured = checkpoint(&place, "two").await;
    let files: Vec<_> =
        captured.changed_files.iter().map(|f| (f.path.to_str().unwrap(), f.status)).collect();
    assert_eq!(
        files,
        [("a.f", 'M'), ("b.p", 'D'), ("new.f", 'A')],
        "an expanded keyword is no change"
    );
    let repo = place.repo().await;
    diff(&repo, &id("two"), &Against::Head, None).await.unwrap();
    diff(&repo, &id("one"), &Against::WorkTree, None).await.unwrap();
    back(&place, "one").await;
    prune(&repo, Keep::Newest(1)).await.unwrap();
    assert_eq!(traps.sprung(), "");
    drop(traps);
    let config = std::fs::read_to_string(place.path(".git/config")).unwrap();
    let clean = &config[..config.find("[core]\n\tfsmonitor").unwrap()];
    std::fs::write(place.path(".git/config"), clean).unwrap();
    std::fs::remove_dir_all(place.path(".git/hooks")).unwrap();
    assert_eq!(place.sight().await, before);
}

#[tokio::test]
async fn a_filter_that_does_not_run_makes_no_changes() {
    let place = Place::filtered().await;
    let captured = checkpoint(&place, "clean").await;
    assert_eq!((captured.stat, captured.changed_files), (Stat::default(), Vec::new()));
    place.write("a.up", "more\n");
    let captured = checkpoint(&place, "changed").await;
    let names: Vec<_> = captured.changed_files.iter().map(|file| file.path.clone()).collect();
    assert_eq!(names, [Path::new("a.up")]);
    back(&place, "clean").await;
    assert_eq!(place.read("a.up"), "text\n", "what lay there comes back, not what git stores");
}

#[tokio::test]
async fn line_ends_come_back_as_they_were() {
    let place = Place::empty().await;
    place.write(
        ".gitattributes",
        "*.win text eol=crlf\n*.auto text=auto\n*.utf16 working-tree-encoding=UTF-16\n",
    );
    place.write("a.win", "one\r\ntwo\r\n");
    place.write("mixed.auto", "one\r\ntwo\n");
    let wide: Vec<u8> = "\u{feff}wide\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("w.utf16", &wide);
    place.write("plain", "crlf\r\n");
    place.commit("base").await;
    for setting in ["false", "input", "true"] {
        place.git(["config", "core.autocrlf", setting]).await;
        let name = format!("crlf-{setting}");
        place.write("plain", format!("{setting}\r\nlf\n"));
        let before = place.sight().await;
        let captured = checkpoint(&place, &name).await;
        let changed: Vec<_> =
            captured.changed_files.iter().map(|f| f.path.to_str().unwrap()).collect();
        assert_eq!(changed, ["plain"], "{setting}: a file in its usual form is no change");
        for name in ["a.win", "mixed.auto", "w.utf16", "plain"] {
            place.write(name, "gone\n");
        }
        back(&place, &name).await;
        let after = place.sight().await;
        assert_eq!(after.files, before.files, "{setting}");
        assert_eq!(after, before, "{setting}");
    }
}

#[tokio::test]
async fn checkpoints_are_listed_shown_compared_and_forgotten() {
    let place = Place::new().await;
    let repo = place.repo().await;
    place.write("kept", "one\n2\nthree\n");
    let one = checkpoint(&place, "one").await;
    place.write("new", "n\n");
    checkpoint(&place, "two").await;
    let all = list(&repo).await.unwrap();
    let names: Vec<_> = all.iter().map(|details| details.id.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!((all[0].title.as_str(), &all[0].commit), ("title of one", &one.commit));
    assert_eq!(all[0].top, place.top);
    let (details, files, stat) = show(&repo, &id("one")).await.unwrap();
    assert_eq!((details.tree, files, stat), (one.tree, one.changed_files, one.stat));
    let head = diff(&repo, &id("one"), &Against::Head, None).await.unwrap();
    let patch = String::from_utf8(head.patch).unwrap();
    assert!(patch.contains("-two\n+2\n") && !head.is_cut, "{patch}");
    let other = diff(&repo, &id("two"), &Against::Checkpoint(id("one")), None).await.unwrap();
    assert_eq!((other.files[0].path.as_path(), other.files[0].status), (Path::new("new"), 'A'));
    place.remove("new");
    let now = diff(&repo, &id("two"), &Against::WorkTree, None).await.unwrap();
    assert_eq!((now.files.len(), now.files[0].status), (1, 'D'));
    place.git(["gc", "--quiet", "--prune=now"]).await;
    back(&place, "two").await;
    assert_eq!(place.read("new"), "n\n", "kept over a cleaning");
    let taken = capture(&repo, &id("one"), &CaptureOptions::titled("again")).await;
    assert_eq!(taken.unwrap_err(), CheckpointError::Exists(id("one")));
    delete(&repo, &id("one")).await.unwrap();
    assert_eq!(delete(&repo, &id("one")).await.unwrap_err(), CheckpointError::NotFound(id("one")));
    let gone = prune(&repo, Keep::Newest(1)).await.unwrap();
    assert_eq!(gone, [id("two")]);
    assert_eq!(
        prune(&repo, Keep::Younger(std::time::Duration::from_secs(3600))).await.unwrap(),
        []
    );
    assert_eq!(list(&repo).await.unwrap().len(), 1);
    for bad in ["", "a/b", "..", "a.lock", &"x".repeat(65)] {
        assert_eq!(bad.parse::<CheckpointId>(), Err(CheckpointError::BadId), "{bad}");
    }
}
