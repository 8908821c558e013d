//! Attacks on the way to a directory and on the files in it. Those of a second user need root.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::*;

fn home() -> tempfile::TempDir {
    let private = Permissions::from_mode(0o700);
    tempfile::Builder::new().permissions(private).tempdir().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Gives a path to another user; false if this process may not.
fn give_away(path: &Path) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::lchown(path, Some(65534), Some(65534)).unwrap();
    } else {
        eprintln!("skipped: only root can make files of a second user");
    }
    is_root
}

#[test]
fn what_is_missing_is_made_private_and_what_is_open_is_closed() {
    let home = home();
    let path = home.path().join("a/b");
    TrustedDir::private(&path).unwrap();
    assert_eq!((mode(&path), mode(&home.path().join("a"))), (0o700, 0o700));
    for open in [0o777, 0o1777, 0o755, 0o770] {
        set_mode(&path, open);
        TrustedDir::private(&path).unwrap();
        assert_eq!(mode(&path) & 0o777, 0o700, "{open:o}");
    }
    set_mode(&path, 0o777);
    TrustedDir::own(&path).unwrap();
    assert_eq!(mode(&path), 0o700);
    set_mode(&path, 0o755);
    TrustedDir::own(&path).unwrap();
    TrustedDir::check_use(&path).unwrap();
    assert_eq!(mode(&path), 0o755);
    TrustedDir::check_use(&home.path().join("none")).unwrap();
}

#[test]
fn attack_a_way_that_every_user_can_change_is_refused() {
    let home = home();
    set_mode(home.path(), 0o777);
    let error = TrustedDir::private(&home.path().join("ours")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("chmod o-w"), "{error}");
    set_mode(home.path(), 0o1777);
    TrustedDir::private(&home.path().join("ours")).unwrap();
}

#[test]
fn attack_a_link_in_a_directory_that_all_can_write_is_not_followed() {
    let home = home();
    let (shared, victim) = (home.path().join("shared"), home.path().join("victim"));
    fs::create_dir(&shared).unwrap();
    fs::create_dir(&victim).unwrap();
    set_mode(&victim, 0o755);
    symlink(&victim, shared.join("ours")).unwrap();
    set_mode(&shared, 0o1777);
    let error = TrustedDir::private(&shared.join("ours")).unwrap_err();
    assert!(error.to_string().contains("is a link"), "{error}");
    assert_eq!(mode(&victim), 0o755, "nothing was changed at the other end");
    // The same link where only this user can have put it.
    set_mode(&shared, 0o700);
    TrustedDir::private(&shared.join("ours/inner")).unwrap();
    assert!(victim.join("inner").is_dir());
}

#[test]
fn attack_a_directory_or_link_of_another_user_is_refused() {
    let home = home();
    let theirs = home.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    symlink(home.path(), home.path().join("link")).unwrap();
    if !give_away(&theirs) || !give_away(&home.path().join("link")) {
        return;
    }
    for path in ["theirs", "link/new"] {
        let error = TrustedDir::private(&home.path().join(path)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{path}: {error}");
    }
    assert!(!home.path().join("new").exists());
    set_mode(home.path(), 0o1777);
    // Another's directory in a shared one is no way to ours either.
    fs::create_dir(theirs.join("ours")).unwrap();
    let error = TrustedDir::private(&theirs.join("ours")).unwrap_err();
    assert!(error.to_string().contains("uid 65534"), "{error}");
}

#[test]
fn attack_planted_files_are_neither_followed_nor_written() {
    let home = home();
    let victim = home.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let dir = TrustedDir::private(&home.path().join("ours")).unwrap();
    symlink(&victim, dir.path().join("link")).unwrap();
    fs::hard_link(&victim, dir.path().join("twin")).unwrap();
    rustix::fs::mknodat(&dir, "pipe", FileType::Fifo, Mode::RWXU, 0).unwrap();
    for name in ["link", "twin", "pipe"] {
        for opened in [dir.open(name), dir.append(name), dir.open_existing(name)] {
            let error = opened.unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }
    dir.replace("link", b"ours").unwrap();
    dir.replace("twin", b"ours").unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(dir.read("twin").unwrap(), b"ours");
    assert_eq!(mode(&dir.path().join("link")), 0o600);
    if give_away(&dir.path().join("twin")) {
        assert!(dir.open("twin").is_err() && dir.check("twin").is_err());
    }
    dir.check("link").unwrap();
}

#[test]
fn files_are_private_and_reading_is_bounded() {
    let home = home();
    let dir = TrustedDir::private(home.path()).unwrap();
    drop(dir.append("log").unwrap());
    assert_eq!(mode(&home.path().join("log")), 0o600);
    set_mode(&home.path().join("log"), 0o666);
    drop(dir.open("log").unwrap());
    assert_eq!(mode(&home.path().join("log")), 0o600);
    assert_eq!(dir.read("none").unwrap_err().kind(), ErrorKind::NotFound);
    dir.replace("long", &vec![b'x'; MAX_READ as usize + 1]).unwrap();
    assert_eq!(dir.read("long").unwrap_err().kind(), ErrorKind::InvalidData);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "nothing is left over");
}

#[test]
fn links_of_ones_own_are_followed_but_not_in_circles() {
    let home = home();
    fs::create_dir_all(home.path().join("real/deep")).unwrap();
    symlink("real/../real", home.path().join("relative")).unwrap();
    symlink(home.path().join("relative/deep"), home.path().join("absolute")).unwrap();
    let dir = TrustedDir::existing(&home.path().join("absolute")).unwrap();
    let (there, here) = (fs::metadata(home.path().join("real/deep")).unwrap(), dir.identity("."));
    assert_eq!(here.unwrap(), (there.dev(), there.ino()));
    symlink("circle", home.path().join("circle")).unwrap();
    assert!(TrustedDir::existing(&home.path().join("circle")).is_err());
    fs::write(home.path().join("file"), "").unwrap();
    let error = TrustedDir::private(&home.path().join("file")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotADirectory);
}

#[test]
fn a_file_is_replaced_durably_and_listed() {
    let home = home();
    let dir = TrustedDir::private(&home.path().join("a")).unwrap();
    dir.replace_durably("f", b"one").unwrap();
    dir.replace_durably("f", b"two").unwrap();
    assert_eq!(dir.read("f").unwrap(), b"two");
    assert_eq!(mode(&home.path().join("a/f")), 0o600);
    dir.replace("g", b"").unwrap();
    let mut names = dir.names().unwrap();
    names.sort();
    assert_eq!(names, ["f", "g"]);
    // What cannot be replaced leaves nothing of the attempt.
    fs::create_dir(home.path().join("a/d")).unwrap();
    assert!(dir.replace_durably("d", b"x").is_err());
    assert_eq!(dir.names().unwrap().len(), 3);
}
