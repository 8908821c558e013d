//! Runs the fixtures of every folder in `/plugins`: `plugins/<name>/fixtures/cases.toml`.
//!
//! A plugin author adds a screen and a few lines here, and needs no Rust. Run it with
//! `cargo nextest run -p rookery-plugins --test shipped`. The keys of `cases.toml` (unknown keys are refused):
//!
//! ```toml
//! [[case]]                            # classify(ctx), in a fresh VM
//! name = "permission dialog for bash"
//! screen = "permission_bash.txt"      # a file beside cases.toml; its last line break does not count
//! state = "waiting_for_permission"
//! confidence = 0.84                   # optional
//! evidence_contains = "..."           # optional
//! last_intent = "prompt_submitted"    # optional: given to the classifier
//! stable_ms = 350                     # optional: given to the classifier
//! exited = true                       # optional: given to the classifier
//! transcript = "..."                  # optional: the text itself; the screen if absent
//! metadata = { permission = { tool = "Bash" } }   # optional: must be contained in the state's metadata
//!
//! [[intent]]                          # an intent function, in a fresh VM
//! name = "approve"
//! after = "permission_bash.txt"       # optional: this screen is classified first, in the same VM
//! params = { }                        # optional
//! actions = [ { type = "key", value = "enter" } ]   # exactly these
//! last_intent = "..."                 # optional, exactly this; "" = cleared; left out = the function gives none
//! error_contains = "stale_dialog"     # instead of actions: the function fails, and says this
//!
//! [[matcher]]                         # a wait function, in a fresh VM
//! name = "wait_turn_matcher"
//! params = { }                        # optional; completed_turn_stable_ms = 300 is added if it is not given
//! matches = ["completed.txt"]         # optional: screens for which the tree holds
//! rejects = ["thinking.txt"]          # optional: screens for which it does not
//! ```
//!
//! While a matcher is judged, `screen_stable` counts as true, the transcript is the screen, and the
//! process has not exited.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rookery_plugins::{Context, Instance, Limits, Plugin, split_screen};
use serde::Deserialize;
use serde_json::{Value, json};

use support::{holds, plugins_dir};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    #[serde(default)]
    case: Vec<Case>,
    #[serde(default)]
    intent: Vec<IntentCase>,
    #[serde(default)]
    matcher: Vec<MatcherCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    screen: String,
    state: String,
    confidence: Option<f64>,
    evidence_contains: Option<String>,
    last_intent: Option<String>,
    stable_ms: Option<u64>,
    #[serde(default)]
    exited: bool,
    transcript: Option<String>,
    metadata: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IntentCase {
    name: String,
    after: Option<String>,
    #[serde(default = "empty")]
    params: Value,
    actions: Option<Vec<Value>>,
    last_intent: Option<String>,
    error_contains: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MatcherCase {
    name: String,
    #[serde(default = "empty")]
    params: Value,
    #[serde(default)]
    matches: Vec<String>,
    #[serde(default)]
    rejects: Vec<String>,
}

fn empty() -> Value {
    json!({})
}

/// A folder of `/plugins` with what was found wrong in it.
struct Folder {
    path: PathBuf,
    plugin: Plugin,
    failures: Vec<String>,
}

impl Folder {
    fn start(&mut self, case: &str) -> Option<Instance> {
        let started = Instance::start(&self.plugin, Limits::default());
        self.noted(case, started.map_err(|error| error.to_string()))
    }

    fn screen(&mut self, case: &str, file: &str) -> Option<String> {
        let path = self.path.join("fixtures").join(file);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()));
        let text = self.noted(case, text)?;
        Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }

    fn noted<T>(&mut self, case: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|why| self.fail(case, why)).ok()
    }

    fn fail(&mut self, case: &str, why: impl std::fmt::Display) {
        self.failures.push(format!("{}: {case}: {why}", self.path.display()));
    }

    fn expect<T: PartialEq + std::fmt::Debug>(&mut self, case: &str, what: &str, found: &T, expected: &T) {
        if found != expected {
            self.fail(case, format!("{what}: expected {expected:?}, found {found:?}"));
        }
    }

    fn run_case(&mut self, case: &Case) -> Option<()> {
        let screen = self.screen(&case.name, &case.screen)?;
        let mut instance = self.start(&case.name)?;
        let state = instance.classify(&context(&screen, case)).map_err(|error| error.to_string());
        let state = self.noted(&case.name, state)?;
        let shown = format!("{} ({})", state.state, state.evidence);
        if state.state != case.state {
            self.fail(&case.name, format!("expected state {}, found {shown}", case.state));
        }
        if case.confidence.is_some_and(|expected| (expected - state.confidence).abs() > 0.0005) {
            self.fail(&case.name, format!("confidence of {shown} is {}", state.confidence));
        }
        if case.evidence_contains.as_ref().is_some_and(|part| !state.evidence.contains(part)) {
            self.fail(&case.name, format!("evidence of {shown} lacks {:?}", case.evidence_contains));
        }
        let found = state.metadata.unwrap_or(Value::Null);
        if case.metadata.as_ref().is_some_and(|expected| !contained(expected, &found)) {
            self.fail(&case.name, format!("metadata of {shown} is {found}"));
        }
        Some(())
    }

    fn run_intent(&mut self, case: &IntentCase) -> Option<()> {
        let mut instance = self.start(&case.name)?;
        if let Some(file) = &case.after {
            let screen = self.screen(&case.name, file)?;
            let classified = instance.classify(&plain_context(&screen)).map_err(|error| error.to_string());
            self.noted(&case.name, classified)?;
        }
        let intent = instance.intent(&case.name, &case.params).map_err(|error| error.to_string());
        if let Some(expected) = &case.error_contains {
            match intent {
                Err(why) if why.contains(expected) => {}
                other => self.fail(&case.name, format!("expected an error with {expected:?}, found {other:?}")),
            }
            return Some(());
        }
        let intent = self.noted(&case.name, intent)?;
        match &case.actions {
            Some(actions) => self.expect(&case.name, "actions", &intent.actions, actions),
            None => self.fail(&case.name, "needs `actions` or `error_contains`"),
        }
        self.expect(&case.name, "last_intent", &intent.last_intent, &case.last_intent);
        Some(())
    }

    fn run_matcher(&mut self, case: &MatcherCase) -> Option<()> {
        let mut instance = self.start(&case.name)?;
        let mut params = case.params.clone();
        if params.get("completed_turn_stable_ms").is_none() {
            params["completed_turn_stable_ms"] = json!(300);
        }
        let matcher = instance.matcher(&case.name, &params).map_err(|error| error.to_string());
        let matcher = self.noted(&case.name, matcher)?;
        let wanted = case.matches.iter().map(|file| (file, true));
        for (file, expected) in wanted.chain(case.rejects.iter().map(|file| (file, false))) {
            let Some(screen) = self.screen(&case.name, file) else { continue };
            match holds(&matcher, &screen) {
                Ok(found) => self.expect(&case.name, file, &found, &expected),
                Err(why) => self.fail(&case.name, why),
            }
        }
        Some(())
    }
}

fn no_markers() -> &'static BTreeMap<String, u64> {
    static NONE: BTreeMap<String, u64> = BTreeMap::new();
    &NONE
}

fn plain_context(screen: &str) -> Context<'_> {
    let (body_text, status_text) = split_screen(screen);
    Context {
        screen,
        body_text,
        status_text,
        transcript: screen,
        sequence: 1,
        completed_turn_stable_ms: 300,
        markers: no_markers(),
        cursor: screen.chars().count() as u64,
        last_intent: None,
        stable_ms: None,
        exited: false,
        last_event_seq: None,
        blocks: &[],
    }
}

fn context<'a>(screen: &'a str, case: &'a Case) -> Context<'a> {
    let transcript = case.transcript.as_deref().unwrap_or(screen);
    Context {
        transcript,
        cursor: transcript.chars().count() as u64,
        last_intent: case.last_intent.as_deref(),
        stable_ms: case.stable_ms,
        exited: case.exited,
        ..plain_context(screen)
    }
}

/// Whether everything in `part` is in `whole`; lists must be equal in length.
fn contained(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|found| contained(value, found)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(part, whole)| contained(part, whole))
        }
        (Value::Number(part), Value::Number(whole)) => part.as_f64() == whole.as_f64(),
        _ => part == whole,
    }
}

/// Loads a folder's plugin and runs its cases; gives everything that is wrong.
fn check(path: &Path) -> Vec<String> {
    let plugin = match Plugin::load(&path.join("manifest.toml")) {
        Ok(plugin) => plugin,
        Err(error) => return vec![format!("{}: {error}", path.display())],
    };
    let file = path.join("fixtures/cases.toml");
    let cases: Cases = match std::fs::read_to_string(&file) {
        Ok(text) => match toml::from_str(&text) {
            Ok(cases) => cases,
            Err(error) => return vec![format!("{}: {error}", file.display())],
        },
        Err(error) => return vec![format!("{}: {error}", file.display())],
    };
    let mut folder = Folder { path: path.to_owned(), plugin, failures: Vec::new() };
    for case in &cases.case {
        folder.run_case(case);
    }
    for case in &cases.intent {
        folder.run_intent(case);
    }
    for case in &cases.matcher {
        folder.run_matcher(case);
    }
    if cases.case.is_empty() && cases.intent.is_empty() && cases.matcher.is_empty() {
        folder.fail("cases.toml", "has no case");
    }
    folder.failures
}

#[test]
fn every_plugin_does_what_its_fixtures_say() {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(plugins_dir()).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    // A folder that has no manifest yet is being written.
    let failures: Vec<String> =
        folders.iter().filter(|path| path.join("manifest.toml").exists()).flat_map(|path| check(path)).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn shipped_plugins_are_sorted_and_carry_the_version_of_the_program() {
    let plugins = rookery_plugins::shipped();
    let names: Vec<&str> = plugins.iter().map(|plugin| plugin.manifest().name.as_str()).collect();
    assert!(names.is_sorted(), "{names:?}");
    for plugin in &plugins {
        assert!(plugin.is_shipped());
        assert_eq!(plugin.manifest().version, env!("CARGO_PKG_VERSION"));
        assert!(plugins_dir().join(&plugin.manifest().name).is_dir(), "{}", plugin.manifest().name);
        Instance::start(plugin, Limits::default()).unwrap();
    }
}

#[test]
fn the_runner_names_plugin_and_case_and_finds_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wrong");
    std::fs::create_dir_all(path.join("fixtures")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
    let manifest = "name = 'wrong'\nkind = 'adapter'\nversion = '1'\nruntime = 'lua'\nentrypoint = 'plugin.lua'";
    write("manifest.toml", manifest);
    write("plugin.lua", "return {\n  classify = function(\n}");
    write("fixtures/cases.toml", include_str!("wrong/cases.toml"));
    write("fixtures/screen.txt", "hello\n");
    let failures = check(&path);
    assert!(failures[0].contains("wrong: lua plugin error") && failures[0].contains("plugin.lua:3:"), "{failures:?}");

    write("plugin.lua", include_str!("wrong/plugin.lua"));
    let failures = check(&path);
    let expected = [
        "wrong state: expected state other, found ready (saw hello)",
        "wrong confidence: confidence of ready (saw hello) is 0.5",
        "wrong evidence: evidence of ready (saw hello) lacks",
        "wrong metadata: metadata of ready (saw hello) is {\"a\":{\"b\":1,\"c\":[1,2]}}",
        "no screen: ",
        "act: actions: expected [",
        "act: last_intent: expected None, found Some(\"acted\")",
        "act: expected an error with",
        "fail: expected an error with \"that\"",
        "wait_matcher: screen.txt: expected false, found true",
    ];
    assert_eq!(failures.len(), expected.len(), "{failures:#?}");
    for (failure, expected) in failures.iter().zip(expected) {
        assert!(failure.contains(expected), "{failure} lacks {expected}");
    }
}
