//! Plugins as files: which are read, and which are refused.
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "support/mod.rs"]
mod support;
#[path = "support/vm.rs"]
mod vm;

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rookery_plugins::{Instance, Kind, Limits, LoadError, Manifest, Plugin, PredicateInput};
use serde_json::json;
use tempfile::TempDir;

const GOOD: &str = "return { classify = function() end }";

/// A folder with a manifest that names `entrypoint`.
fn folder(entrypoint: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let manifest = dir.path().join("manifest.toml");
    let text = format!(
        "name = 'p'\nkind = 'adapter'\nversion = '1'\nruntime = 'lua'\nentrypoint = '{entrypoint}'\nextra = 1"
    );
    std::fs::write(&manifest, text).unwrap();
    (dir, manifest)
}

fn error(manifest: &Path) -> String {
    Plugin::load(manifest).unwrap_err().to_string()
}

#[test]
fn a_plugin_is_read_from_its_folder_or_one_below() {
    for entrypoint in ["plugin.lua", "./plugin.lua", "sub/dir/plugin.lua"] {
        let (dir, manifest) = folder(entrypoint);
        let path = dir.path().join(entrypoint);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, GOOD).unwrap();
        let plugin = Plugin::load(&manifest).unwrap();
        assert_eq!(plugin.manifest().name, "p");
        assert!(!plugin.is_shipped());
    }
}

#[test]
fn a_link_to_the_manifest_leads_to_its_real_folder() {
    let (dir, manifest) = folder("plugin.lua");
    std::fs::write(dir.path().join("plugin.lua"), GOOD).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("linked.toml");
    symlink(&manifest, &link).unwrap();
    assert!(Plugin::load(&link).is_ok());
}

#[test]
fn code_outside_of_the_folder_is_refused() {
    let (dir, manifest) = folder("../plugin.lua");
    assert_eq!(
        error(&manifest),
        "config error: plugin entrypoint `../plugin.lua` must not contain `..`"
    );
    let absolute = dir.path().join("plugin.lua");
    std::fs::write(&absolute, GOOD).unwrap();
    let (_dir, manifest) = folder(absolute.to_str().unwrap());
    assert!(error(&manifest).ends_with("must be a relative path"), "{}", error(&manifest));
    let (_dir, manifest) = folder("sub/../../plugin.lua");
    assert!(error(&manifest).contains("must not contain `..`"));

    let (inside, manifest) = folder("link.lua");
    symlink(&absolute, inside.path().join("link.lua")).unwrap();
    assert!(error(&manifest).ends_with("lies outside of the manifest's directory"));
    let (inside, manifest) = folder("sub/plugin.lua");
    symlink(dir.path(), inside.path().join("sub")).unwrap();
    assert!(error(&manifest).ends_with("lies outside of the manifest's directory"));
}

#[test]
fn what_is_no_readable_file_is_refused_at_once() {
    let (dir, manifest) = folder("plugin.lua");
    let missing = "config error: failed to read plugin entrypoint `";
    assert!(error(&manifest).starts_with(missing), "{}", error(&manifest));
    let path = dir.path().join("plugin.lua");
    std::fs::create_dir(&path).unwrap();
    assert!(error(&manifest).ends_with("not a regular file"), "{}", error(&manifest));
    std::fs::remove_dir(&path).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(error(&manifest).ends_with("not a regular file"), "{}", error(&manifest));
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, " ".repeat((1 << 20) + 1)).unwrap();
    assert!(error(&manifest).ends_with("larger than 1 MiB"), "{}", error(&manifest));
    std::fs::write(&path, b"return '\xff'").unwrap();
    assert!(error(&manifest).ends_with("not UTF-8"), "{}", error(&manifest));
    assert_eq!(
        error(Path::new("/dev/zero")),
        "config error: failed to read plugin manifest `/dev/zero`: not a regular file"
    );
    let missing = dir.path().join("nothing.toml");
    let wanted = format!(
        "config error: failed to read plugin manifest `{}`: No such file",
        missing.display()
    );
    assert!(error(&missing).starts_with(&wanted), "{}", error(&missing));
}

#[test]
fn wrong_manifests_are_config_errors_and_wrong_code_is_a_lua_error() {
    let (dir, manifest) = folder("plugin.lua");
    let path = dir.path().join("plugin.lua");
    let lua = |source: &str| {
        std::fs::write(&path, source).unwrap();
        error(&manifest)
    };
    let prefix = "lua plugin error: lua plugin `p` failed: ";
    assert_eq!(lua("return 5"), format!("{prefix}error converting Lua integer to table"));
    assert_eq!(lua(""), format!("{prefix}error converting Lua nil to table"));
    assert_eq!(lua("error('no')"), format!("{prefix}plugin.lua:1: no"));
    assert!(
        lua("return {\n x = = 1 }")
            .starts_with(&format!("{prefix}syntax error: plugin.lua:2: unexpected symbol"))
    );
    assert!(lua("\u{1b}Lua").contains("syntax error"));
    assert_eq!(lua("while true do end"), format!("{prefix}Lua plugin instruction limit exceeded"));
    // A table without `classify` loads; it fails when it is asked.
    std::fs::write(&path, "return {}").unwrap();
    assert!(Plugin::load(&manifest).is_ok());

    let toml = |text: &str| {
        std::fs::write(&manifest, text).unwrap();
        error(&manifest)
    };
    let base = "name = 'p'\nkind = 'adapter'\nversion = '1'\n";
    assert_eq!(
        toml(&format!("{base}runtime = 'lua'")),
        "config error: plugin runtime requires an entrypoint"
    );
    assert_eq!(
        toml(&format!("{base}runtime = 'wasm'\nentrypoint = 'x'")),
        "lua plugin error: plugin `p` is not a Lua plugin"
    );
    assert_eq!(toml(base), "lua plugin error: plugin `p` is not a Lua plugin");
    assert!(toml("name = ").starts_with("config error: "));
    assert!(toml("name = 'x'").contains("missing field `kind`"));
}

#[test]
fn what_is_wrong_in_a_manifest_is_reported_without_its_text() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = dir.path().join("manifest.toml");
    let base = "name = 'p'\nkind = 'adapter'\nversion = '1'\n";
    let said = |text: &str| {
        std::fs::write(&manifest, text).unwrap();
        let said = error(&manifest);
        let start = format!("config error: {}: ", manifest.display());
        said.strip_prefix(&start).unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    assert_eq!(said("root:hunter2:19000:0\n"), "line 1, column 21: not valid TOML, expected `=`");
    assert_eq!(said("name = 'hunter2"), "line 1, column 16: not valid TOML, expected `'`");
    assert_eq!(said("a = 1\nhunter2 = 1\nhunter2 = 2"), "line 3, column 1: duplicate key");
    assert_eq!(
        said("name = 'p'\nkind = 'hunter2, expected x'"),
        "line 2, column 8: unknown variant, expected one of `adapter`, `macro`, `matcher`"
    );
    assert_eq!(
        said(&format!("{base}[default_target]\nprogram = ['hunter2']")),
        "line 5, column 11: invalid type, expected a string"
    );
    assert_eq!(
        said(&format!("{base}[default_target]\nprogram = 'ü'\nrows = 70000")),
        "line 6, column 8: invalid value, expected u16"
    );
    assert_eq!(said("name = 'x'"), "line 1, column 1: missing field `kind`");
}

#[test]
fn a_plugin_can_be_made_of_text_at_hand() {
    let bare = Manifest { runtime: None, entrypoint: None, kind: Kind::Macro, ..vm::manifest(&[]) };
    assert!(matches!(Plugin::from_source(bare, GOOD), Err(LoadError::Lua(_))));
    let blank = Manifest { name: " ".into(), ..vm::manifest(&[]) };
    let error = Plugin::from_source(blank, GOOD).unwrap_err();
    assert_eq!(error, LoadError::Config("plugin name must not be empty".into()));
}

#[test]
fn the_example_of_the_guide_loads_from_disk_and_works() {
    let plugin =
        Plugin::load(&support::plugins_dir().join("example-counter/manifest.toml")).unwrap();
    let mut instance = Instance::start(&plugin, Limits::default()).unwrap();
    assert_eq!(instance.describe().unwrap().states.len(), 4);
    let (markers, params) = (BTreeMap::new(), json!({ "least": 5 }));
    let mut input = PredicateInput {
        screen: "count: 5> ",
        transcript: "",
        sequence: 1,
        stable_ms: 0,
        process_exited: false,
        markers: &markers,
        cursor: 0,
        params: &params,
    };
    assert_eq!(instance.predicate("reached", &input).unwrap().capture.as_deref(), Some("5"));
    input.screen = "count: 4> ";
    assert!(!instance.predicate("reached", &input).unwrap().matched);
    let matcher =
        instance.matcher("wait_turn_matcher", &json!({ "completed_turn_stable_ms": 1 })).unwrap();
    assert_eq!(support::holds(&matcher, "count: 4> "), Ok(true));
}

#[test]
fn the_guide_shows_the_files_of_the_example_as_they_are() {
    let guide = std::fs::read_to_string(support::plugins_dir().join("../docs/plugins.md")).unwrap();
    for (file, language) in
        [("manifest.toml", "toml"), ("plugin.lua", "lua"), ("fixtures/cases.toml", "toml")]
    {
        let text =
            std::fs::read_to_string(support::plugins_dir().join("example-counter").join(file))
                .unwrap();
        assert!(
            guide.contains(&format!("```{language}\n{text}```")),
            "docs/plugins.md does not show {file} as it is"
        );
    }
}
