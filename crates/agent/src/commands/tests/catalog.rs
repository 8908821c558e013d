//! Directories of commands, written and changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::super::*;
use crate::settings::CommandSettings;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn workspace(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    fn settings(&self) -> CommandSettings {
        CommandSettings { user_dir: Some(self.dir.path().join("user")), ..Default::default() }
    }
}

fn source(listing: &Listing, name: &str) -> Option<String> {
    let infos = listing.infos();
    infos.iter().find(|info| info.name == name).map(|info| info.source.to_string())
}

#[test]
fn the_workspace_beats_the_user_and_neither_beats_us() {
    let place = Place::new();
    place.write("user/a.md", "user's a");
    place.write("user/deep/er/b.md", "user's b");
    place.write("user/notes.txt", "no command");
    place.write("ws/.roder/commands/b.md", "workspace's b");
    let bad = place.write("ws/.roder/commands/x/help.md", "mine");
    let catalog = Catalog::new(place.settings());

    let listing = catalog.list(Some(&place.workspace())).unwrap();
    let names: Vec<_> = listing.infos().into_iter().map(|info| info.name).collect();
    assert!(names.is_sorted());
    assert_eq!(names.len(), built_ins().len() + 2);
    assert_eq!(source(&listing, "a").as_deref(), Some("user"));
    assert_eq!(source(&listing, "b").as_deref(), Some("workspace"));
    assert_eq!(source(&listing, "help").as_deref(), Some("built-in"));
    let message = "/help is built in and cannot be replaced".to_owned();
    assert_eq!(listing.warnings, [Warning { path: bad, message }]);

    let without = catalog.list(None).unwrap();
    assert_eq!(source(&without, "b").as_deref(), Some("user"));
    assert!(without.warnings.is_empty());
}

#[test]
fn one_bad_file_spoils_nothing_else() {
    let place = Place::new();
    place.write("user/good.md", "fine");
    let bad = place.write("user/bad.md", "---\nwhat: ever\n---\nx");
    let binary = place.write("user/binary.md", "");
    fs::write(&binary, b"\xff\xfe\x00").unwrap();
    let long = place.write("user/long.md", &"x".repeat(300_000));
    let twice = place.write("user/z.md", "---\nname: good\n---\nx");
    let listing = Catalog::new(place.settings()).list(None).unwrap();
    assert_eq!(source(&listing, "good").as_deref(), Some("user"));
    assert_eq!(source(&listing, "bad"), None);
    let mut paths: Vec<_> = listing.warnings.iter().map(|one| one.path.clone()).collect();
    paths.sort();
    assert_eq!(paths, [bad.clone(), binary, long, twice]);
    let said = listing.warnings.iter().find(|one| one.path == bad).unwrap().to_string();
    assert!(said.starts_with(&format!("command file {} was skipped: ", bad.display())), "{said}");
}

#[test]
fn what_changed_is_read_again_and_the_rest_is_not() {
    let place = Place::new();
    let path = place.write("user/a.md", "---\ndescription: one\n---\nx");
    let b = place.write("user/b.md", "b");
    for path in [&path, &b] {
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    let catalog = Catalog::new(place.settings());
    let about =
        |listing: &Listing| listing.find("a").map(|command| command.info.description.clone());

    let first = catalog.list(None).unwrap();
    let again = catalog.list(None).unwrap();
    assert!(Arc::ptr_eq(&first.find("a").unwrap(), &again.find("a").unwrap()));

    place.write("user/a.md", "---\ndescription: two!\n---\nx");
    let changed = catalog.list(None).unwrap();
    assert_eq!(about(&changed), Ok(Some("two!".into())));
    assert!(Arc::ptr_eq(&first.find("b").unwrap(), &changed.find("b").unwrap()));

    // As long as before, and within the same tick of the file system's clock.
    place.write("user/a.md", "---\ndescription: tri!\n---\nx");
    let same_length = catalog.list(None).unwrap();
    assert_eq!(about(&same_length), Ok(Some("tri!".into())));

    fs::remove_file(&path).unwrap();
    let gone = catalog.list(None).unwrap();
    assert_eq!(about(&gone), Err(CommandError::Unknown("a".into())));
}

#[test]
fn without_live_reload_the_first_look_counts() {
    let place = Place::new();
    place.write("user/a.md", "a");
    let catalog = Catalog::new(CommandSettings { live_reload: false, ..place.settings() });
    assert!(catalog.list(None).unwrap().find("a").is_ok());
    place.write("user/b.md", "b");
    assert!(catalog.list(None).unwrap().find("b").is_err());
}

#[test]
fn commands_from_elsewhere_come_last() {
    let place = Place::new();
    place.write("user/a.md", "user's");
    let catalog = Catalog::new(place.settings());
    let extra = |name: &str| {
        let source = Source::Extension("ext".into());
        Arc::new(Command::parse("x", name, source).unwrap())
    };
    catalog.set_extra(vec![extra("a"), extra("c"), extra("help")]);
    let listing = catalog.list(None).unwrap();
    assert_eq!(source(&listing, "a").as_deref(), Some("user"));
    assert_eq!(source(&listing, "c").as_deref(), Some("extension:ext"));
    assert_eq!(source(&listing, "help").as_deref(), Some("built-in"));
}

#[test]
fn errors_have_the_words_of_the_contract() {
    let catalog = Catalog::new(CommandSettings::default());
    let listing = catalog.list(None).unwrap();
    assert_eq!(listing.find("x").unwrap_err().to_string(), "unknown command \"x\"");
    assert_eq!(listing.find("/help").unwrap().info.name, "help");
    let relative = catalog.list(Some(Path::new("here"))).unwrap_err();
    assert_eq!(relative, CommandError::RelativeWorkspace);
    let off = CommandSettings { enabled: false, ..CommandSettings::default() };
    assert_eq!(Catalog::new(off).list(None).unwrap_err(), CommandError::Disabled);
}

#[test]
fn linked_directories_and_pipes_are_left_alone() {
    let place = Place::new();
    place.write("user/a.md", "a");
    std::os::unix::fs::symlink(place.dir.path().join("user"), place.dir.path().join("user/loop"))
        .unwrap();
    std::os::unix::fs::symlink("nowhere", place.dir.path().join("user/broken.md")).unwrap();
    let listing = Catalog::new(place.settings()).list(None).unwrap();
    assert!(listing.warnings.is_empty(), "{:?}", listing.warnings);
    assert_eq!(listing.infos().len(), built_ins().len() + 1);
}

mod attack {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_of_a_repository_lead_nowhere() {
        let place = Place::new();
        let outside = place.write("secret.md", "the secret");
        place.write("ws/.roder/commands/good.md", "good");
        let dir = place.workspace().join(".roder/commands");
        symlink(&outside, dir.join("absolute.md")).unwrap();
        symlink("../../../secret.md", dir.join("relative.md")).unwrap();
        symlink("/proc/self/environ", dir.join("environ.md")).unwrap();
        symlink("/dev/zero", dir.join("zero.md")).unwrap();
        symlink("nowhere", dir.join("dangling.md")).unwrap();
        symlink("good.md", dir.join("inside.md")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, dir.join("pipe.md"), rustix::fs::Mode::RWXU).unwrap();
        symlink("pipe.md", dir.join("to-pipe.md")).unwrap();
        let listing = Catalog::new(place.settings()).list(Some(&place.workspace())).unwrap();
        let local: Vec<String> = listing
            .infos()
            .into_iter()
            .filter(|info| info.source.to_string() == "workspace")
            .map(|info| info.name)
            .collect();
        assert_eq!(local, ["good", "inside"]);
        let out: Vec<_> = listing
            .warnings
            .iter()
            .filter(|warning| warning.message == "it leads out of the workspace")
            .map(|warning| warning.path.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(out, ["absolute.md", "environ.md", "relative.md", "zero.md"]);
    }

    #[test]
    fn a_linked_directory_of_a_repository_leads_nowhere() {
        let place = Place::new();
        place.write("elsewhere/commands/evil.md", "evil");
        fs::create_dir_all(place.workspace()).unwrap();
        symlink("../elsewhere", place.workspace().join(".roder")).unwrap();
        let listing = Catalog::new(place.settings()).list(Some(&place.workspace())).unwrap();
        assert_eq!(source(&listing, "evil"), None);
        assert_eq!(listing.warnings.len(), 1, "{:?}", listing.warnings);
    }

    #[test]
    fn the_users_own_links_are_followed_to_files_only() {
        let place = Place::new();
        place.write("dotfiles/a.md", "mine");
        fs::create_dir_all(place.dir.path().join("user")).unwrap();
        symlink("../dotfiles/a.md", place.dir.path().join("user/a.md")).unwrap();
        symlink("/dev/zero", place.dir.path().join("user/zero.md")).unwrap();
        let listing = Catalog::new(place.settings()).list(None).unwrap();
        assert_eq!(source(&listing, "a").as_deref(), Some("user"));
        assert_eq!(source(&listing, "zero"), None);
    }
}

#[test]
fn commands_of_others_are_found_and_ours_beat_them() {
    let place = Place::new();
    place.write("home/.roo/commands/a.md", "---\ndescription: Far\n---\nglobal a");
    place.write("home/.roo/commands/b.md", "global b");
    place.write("home/.roo/commands/deep/d.md", "too deep");
    let near = place.write("ws/.roo/commands/b.md", "---\nmode: ask\n---\nproject {{b}}");
    place.write("ws/.roo/commands/c.md", "project c");
    place.write("user/c.md", "ours");
    let home = place.dir.path().join("home");
    let catalog = Catalog::new(place.settings()).with_home(home);
    let listing = catalog.list(Some(&place.workspace())).unwrap();
    assert_eq!(listing.warnings, []);
    assert_eq!(source(&listing, "a").as_deref(), Some("user"));
    assert_eq!(source(&listing, "b").as_deref(), Some("workspace"));
    assert_eq!(source(&listing, "c").as_deref(), Some("user"));
    assert_eq!(source(&listing, "d"), None);
    let info = listing.find("/b").unwrap().info.clone();
    assert_eq!((info.role.as_deref(), info.file), (Some("ask"), Some(near)));
    let without = Catalog::new(place.settings()).list(Some(&place.workspace())).unwrap();
    assert_eq!(source(&without, "a"), None);
}
