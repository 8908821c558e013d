//! Real files, edited in place.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use proptest::prelude::*;

use super::*;

const TEXT: &str = "# mine\nprovider = \"mock\" # for now\nunknown = [1,2,   3]\n\n[policy_modes]\n# careful\ndefault = 'plan'\n\n[providers.openai]\nbase_url = \"http://x\"\n";

fn place(text: Option<&str>) -> (tempfile::TempDir, SettingsFile) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    if let Some(text) = text {
        fs::write(&path, text).unwrap();
    }
    (dir, SettingsFile::new(path))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn one_value_changes_and_everything_else_stays() {
    let (dir, file) = place(Some(TEXT));
    let document = file
        .edit(|document| {
            set_setting(document, &["provider"], "openai")?;
            set_setting(document, &["policy_modes", "default"], "ask")?;
            set_setting(document, &["providers", "openai", "api_key"], "k")?;
            set_setting(document, &["web_search", "mode"], "live")
        })
        .unwrap();
    let expected = TEXT.replace("\"mock\"", "\"openai\"").replace("'plan'", "\"ask\"").replace(
        "\"http://x\"\n",
        "\"http://x\"\napi_key = \"k\"\n\n[web_search]\nmode = \"live\"\n",
    );
    assert_eq!(fs::read_to_string(file.path()).unwrap(), expected);
    assert_eq!(document.to_string(), expected);
    assert_eq!(names(dir.path()), ["config.toml"]);
}

#[test]
fn a_new_file_is_for_the_user_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(dir.path().join("deep/down/config.toml"));
    assert_eq!(file.read().unwrap().to_string(), "");
    file.edit(|document| set_setting(document, &["providers", "x", "api_key"], "k")).unwrap();
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "[providers.x]\napi_key = \"k\"\n");
    assert_eq!(mode(file.path()), 0o600);
    assert_eq!(mode(&dir.path().join("deep/down")), 0o700);
}

#[test]
fn an_open_file_is_closed_to_others_when_it_is_replaced() {
    let (_dir, file) = place(Some("a = 1\n"));
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
    file.edit(|document| set_setting(document, &["a"], 2)).unwrap();
    assert_eq!(mode(file.path()), 0o600);
}

#[test]
fn a_link_stays_a_link() {
    let (dir, _) = place(Some("a = 1\n"));
    let link = dir.path().join("link.toml");
    symlink("config.toml", &link).unwrap();
    SettingsFile::new(&link).edit(|document| set_setting(document, &["a"], 2)).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(dir.path().join("config.toml")).unwrap(), "a = 2\n");
}

#[test]
fn a_broken_file_is_left_alone_and_its_secrets_are_not_told() {
    let text = "a = 1\napi_key = \"sk-secret\n";
    let (dir, file) = place(Some(text));
    let said = file.edit(|document| set_setting(document, &["a"], 2)).unwrap_err().to_string();
    assert!(said.contains("is broken at line 2: "), "{said}");
    assert!(!said.contains("sk-secret"), "{said}");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), text);
    assert_eq!(names(dir.path()), ["config.toml"]);
}

#[test]
fn nothing_is_written_when_nothing_changes() {
    let (_dir, file) = place(Some(TEXT));
    let before = fs::metadata(file.path()).unwrap().ino();
    file.edit(|document| set_setting(document, &["provider"], "mock")).unwrap();
    file.edit(|document| {
        assert!(!remove_setting(document, &["providers", "openai", "api_key"]));
        assert!(!remove_setting(document, &["provider", "openai"]));
        Ok(())
    })
    .unwrap();
    assert_eq!(fs::metadata(file.path()).unwrap().ino(), before);
}

#[test]
fn what_is_no_table_is_not_made_one() {
    let (_dir, file) = place(Some("providers = 3\n[model]\n"));
    let said = file.edit(|document| set_setting(document, &["providers", "x", "api_key"], "k"));
    assert_eq!(said.unwrap_err().to_string(), "providers in the settings file is not a table");
    let said = file.edit(|document| set_setting(document, &["model"], "m"));
    assert_eq!(said.unwrap_err().to_string(), "model in the settings file is not a value");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "providers = 3\n[model]\n");
}

#[test]
fn inline_tables_are_edited_where_they_are() {
    let (_dir, file) = place(Some("providers = { x = { kind = \"mock\" } } # all\n"));
    file.edit(|document| {
        set_setting(document, &["providers", "x", "api_key"], "k")?;
        set_setting(document, &["providers", "y", "api_key"], "l")
    })
    .unwrap();
    let document = file.read().unwrap();
    assert_eq!(document["providers"]["x"]["api_key"].as_str(), Some("k"));
    assert_eq!(document["providers"]["x"]["kind"].as_str(), Some("mock"));
    assert_eq!(document["providers"]["y"]["api_key"].as_str(), Some("l"));
    assert!(document.to_string().ends_with("# all\n"), "{document}");
}

#[test]
fn a_folder_in_the_file_s_place_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let said = SettingsFile::new(dir.path()).read().unwrap_err().to_string();
    assert!(said.ends_with("it is not a regular file"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_comes_back(keys in prop::collection::vec(".{1,8}", 1..4), text in ".*") {
        let (_dir, file) = place(Some(TEXT));
        let path: Vec<&str> = keys.iter().map(String::as_str).collect();
        let edited = file.edit(|document| set_setting(document, &path, text.as_str()));
        if edited.is_ok() {
            let document = file.read().unwrap();
            let item = path.iter().try_fold(document.as_item(), |item, key| item.get(key));
            prop_assert_eq!(item.and_then(Item::as_str), Some(text.as_str()));
            prop_assert!(document.to_string().contains("# careful"));
        }
    }
}
