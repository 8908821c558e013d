//! Random edits, a checkpoint, more random edits, and back.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

/// Names that get in each other's way.
const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"a dir/c",
    b"d/e/f",
    b"d/e",
    b"d",
    b"d/g",
    b"x.ignored",
    b"\xc3\xbc",
    b"q\"\\",
    b"n\nl",
    b"bad\xff",
    b"crlf.win",
    b"-dash",
    b"*",
];

#[derive(Clone, Debug)]
enum Edit {
    Write(usize, Vec<u8>),
    Link(usize),
    Remove(usize),
    Executable(usize),
    Stage(usize),
    Unstage(usize),
    Commit,
}

fn edit() -> impl Strategy<Value = Edit> {
    let name = || 0..NAMES.len();
    let text = prop_oneof![
        Just(b"".to_vec()),
        Just(b"one\r\ntwo\r\n".to_vec()),
        prop::collection::vec(any::<u8>(), 1..40),
    ];
    prop_oneof![
        6 => (name(), text).prop_map(|(name, text)| Edit::Write(name, text)),
        1 => name().prop_map(Edit::Link),
        2 => name().prop_map(Edit::Remove),
        1 => name().prop_map(Edit::Executable),
        3 => name().prop_map(Edit::Stage),
        1 => name().prop_map(Edit::Unstage),
        1 => Just(Edit::Commit),
    ]
}

/// Makes way for a file: whatever is above or below its path goes.
fn clear(place: &Place, name: &Path) {
    let mut above = std::path::PathBuf::new();
    for part in name.components() {
        above.push(part);
        let there = place.path(&above);
        let is_last = above == name;
        match std::fs::symlink_metadata(&there) {
            Ok(kind) if kind.is_dir() && is_last => std::fs::remove_dir_all(there).unwrap(),
            Ok(kind) if kind.is_dir() => {}
            Ok(_) => std::fs::remove_file(there).unwrap(),
            Err(_) => return,
        }
    }
}

async fn apply(place: &Place, edit: &Edit) {
    let name = |at: &usize| bytes(NAMES[*at]);
    match edit {
        Edit::Write(at, text) => {
            clear(place, name(at));
            place.write(name(at), text);
        }
        Edit::Link(at) => {
            clear(place, name(at));
            std::fs::create_dir_all(place.path(name(at)).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink("a", place.path(name(at))).unwrap();
        }
        Edit::Remove(at) => clear(place, name(at)),
        Edit::Executable(at) => {
            use std::os::unix::fs::PermissionsExt as _;
            let path = place.path(name(at));
            if std::fs::symlink_metadata(&path).is_ok_and(|kind| kind.is_file()) {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o711)).unwrap();
            }
        }
        Edit::Stage(at) => {
            let known = std::fs::symlink_metadata(place.path(name(at)));
            if known.is_ok_and(|kind| !kind.is_dir()) {
                let path = name(at).as_os_str();
                let add = ["--literal-pathspecs", "add", "--force", "--"].map(OsStr::new);
                place.git(add.into_iter().chain([path])).await;
            }
        }
        Edit::Unstage(at) => {
            let remove = ["--literal-pathspecs", "rm", "-r", "--quiet", "--cached", "--force"];
            let more = ["--ignore-unmatch", "--"];
            let all = remove.iter().chain(&more).map(OsStr::new);
            place.git(all.chain([name(at).as_os_str()])).await;
        }
        Edit::Commit => {
            place.git(["commit", "--quiet", "--allow-empty", "--message", "m"]).await;
        }
    }
}

async fn round(before: &[Edit], after: &[Edit]) {
    let place = Place::empty().await;
    place.write(".gitignore", "*.ignored\n");
    place.write(".gitattributes", "*.win text eol=crlf\n");
    for edit in before {
        apply(&place, edit).await;
    }
    let then = place.sight().await;
    checkpoint(&place, "then").await;
    assert_eq!(place.sight().await, then, "taking it changes nothing");
    // Ignored files and commits are not the business of a checkpoint.
    let is_kept = |edit: &&Edit| match edit {
        Edit::Commit => false,
        Edit::Write(at, _) | Edit::Link(at) | Edit::Remove(at) => NAMES[*at] != b"x.ignored",
        Edit::Executable(at) | Edit::Stage(at) | Edit::Unstage(at) => NAMES[*at] != b"x.ignored",
    };
    for edit in after.iter().filter(is_kept) {
        apply(&place, edit).await;
    }
    let now = place.sight().await;
    let restored = back(&place, "then").await;
    assert_eq!(place.sight().await, then, "back");
    back(&place, restored.safety.id.as_str()).await;
    assert_eq!(place.sight().await, now, "and forth");
}

#[test]
fn whatever_was_done_comes_back() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.unwrap();
    let edits = || prop::collection::vec(edit(), 0..9);
    let config =
        Config { cases: 12, max_shrink_iters: 40, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&(edits(), edits()), |(before, after)| {
        runtime.block_on(round(&before, &after));
        Ok(())
    });
    result.unwrap();
}
