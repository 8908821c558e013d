//! Real files and directories, changed under the eyes of the kernel.

use std::fs;

use super::*;

const LIMIT: Duration = Duration::from_secs(30);

async fn next_change(watch: &mut Watch) {
    let changed = tokio::time::timeout(LIMIT, watch.changed()).await;
    assert_eq!(changed, Ok(true), "the change was not told");
}

/// A change that has certainly been told is behind us, so nothing older is left to be told.
async fn is_quiet_until(watch: &mut Watch, act: impl FnOnce()) {
    let before = *watch.changes.borrow_and_update();
    act();
    next_change(watch).await;
    let after = *watch.changes.borrow();
    assert_eq!(after, before + 1, "something else was told as well");
}

#[tokio::test]
async fn a_file_is_watched_however_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config");
    let mut watch = Watch::start(Watched::File(file.clone())).await.unwrap();
    fs::write(&file, "one").unwrap();
    next_change(&mut watch).await;
    fs::write(&file, "two").unwrap();
    next_change(&mut watch).await;
    let draft = dir.path().join("draft");
    fs::write(&draft, "three").unwrap();
    fs::rename(&draft, &file).unwrap();
    next_change(&mut watch).await;
    fs::remove_file(&file).unwrap();
    next_change(&mut watch).await;
}

#[tokio::test]
async fn neighbors_and_readers_are_no_news() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config");
    fs::write(&file, "one").unwrap();
    let mut watch = Watch::start(Watched::File(file.clone())).await.unwrap();
    fs::write(dir.path().join("neighbor"), "x").unwrap();
    fs::read(&file).unwrap();
    is_quiet_until(&mut watch, || fs::write(&file, "two").unwrap()).await;
}

#[tokio::test]
async fn many_changes_at_once_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut watch = Watch::start(Watched::Directory(dir.path().to_owned())).await.unwrap();
    is_quiet_until(&mut watch, || {
        for number in 0..100 {
            fs::write(dir.path().join(number.to_string()), "x").unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn a_directory_may_come_later_and_come_again() {
    let dir = tempfile::tempdir().unwrap();
    let themes = dir.path().join("not/yet/themes");
    let mut watch = Watch::start(Watched::Directory(themes.clone())).await.unwrap();
    for _ in 0..2 {
        fs::create_dir_all(&themes).unwrap();
        next_change(&mut watch).await;
        fs::write(themes.join("dark"), "x").unwrap();
        next_change(&mut watch).await;
        fs::remove_dir_all(dir.path().join("not")).unwrap();
        next_change(&mut watch).await;
    }
}

#[tokio::test]
async fn a_directory_that_was_replaced_is_watched_on() {
    let dir = tempfile::tempdir().unwrap();
    let (themes, away) = (dir.path().join("themes"), dir.path().join("away"));
    fs::create_dir(&themes).unwrap();
    let mut watch = Watch::start(Watched::Directory(themes.clone())).await.unwrap();
    fs::rename(&themes, &away).unwrap();
    fs::create_dir(&themes).unwrap();
    next_change(&mut watch).await;
    fs::write(away.join("old"), "x").unwrap();
    is_quiet_until(&mut watch, || fs::write(themes.join("new"), "x").unwrap()).await;
}

#[tokio::test]
async fn what_a_link_points_to_is_watched() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("home"));
    fs::create_dir(&real).unwrap();
    fs::create_dir(&link).unwrap();
    fs::write(real.join("config"), "one").unwrap();
    let file = link.join("config");
    std::os::unix::fs::symlink(real.join("config"), &file).unwrap();
    let mut watch = Watch::start(Watched::File(file.clone())).await.unwrap();
    fs::write(real.join("config"), "two").unwrap();
    next_change(&mut watch).await;
    fs::remove_file(&file).unwrap();
    fs::write(&file, "three").unwrap();
    next_change(&mut watch).await;
}

#[tokio::test]
async fn a_relative_path_is_refused() {
    assert!(Watch::start(Watched::File("config".into())).await.is_err());
}
