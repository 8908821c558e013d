//! Commands with real files, real programs and pages that are made up.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use rookery_host::Script;
use url::Url;

use super::super::*;
use crate::settings::CommandSettings;

/// Lets everything through but what it lists, and remembers what it was asked.
#[derive(Default)]
struct Watchman {
    forbidden: Vec<&'static str>,
    asked: Mutex<Vec<String>>,
}

impl Gate for Watchman {
    fn check(&self, command: &str, _: &Path) -> Result<(), String> {
        self.asked.lock().push(command.to_owned());
        match self.forbidden.iter().any(|word| command.contains(word)) {
            true => Err("side-effecting tool call".into()),
            false => Ok(()),
        }
    }
}

#[derive(Default)]
struct Pages(HashMap<&'static str, Fetched>);

impl Fetch for Pages {
    fn fetch(&self, url: Url, _: usize) -> Fetching<'_> {
        let found = self.0.get(url.as_str()).cloned();
        Box::pin(async move {
            match found {
                Some(Fetched::Status(0)) => std::future::pending().await,
                Some(page) => Ok(page),
                None => Err("no such page".into()),
            }
        })
    }
}

struct Place {
    dir: tempfile::TempDir,
    settings: CommandSettings,
    gate: Watchman,
    pages: Pages,
}

impl Place {
    fn new() -> Self {
        let settings = CommandSettings {
            allow_shell_includes: true,
            allow_url_includes: true,
            allowed_url_hosts: vec!["A.example".into(), "b.example:8080".into()],
            ..CommandSettings::default()
        };
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("ws")).unwrap();
        Self { dir, settings, gate: Watchman::default(), pages: Pages::default() }
    }

    fn workspace(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::write(self.dir.path().join(path), text).unwrap();
    }

    async fn expand(&self, text: &str, arguments: &str) -> Result<Expanded, CommandError> {
        let command = Command::parse(text, "cmd", Source::Workspace).unwrap();
        self.run(&command, arguments).await
    }

    async fn run(&self, command: &Command, arguments: &str) -> Result<Expanded, CommandError> {
        let workspace = self.workspace();
        let around = ExpandContext {
            workspace: &workspace,
            settings: &self.settings,
            gate: &self.gate,
            fetch: &self.pages,
        };
        expand(command, arguments, around).await
    }

    async fn include(&self, include: &str) -> Result<Vec<Block>, String> {
        let text = format!("---\ninclude: {include}\n---\nx");
        self.expand(&text, "").await.map(|out| out.blocks).map_err(|error| error.to_string())
    }
}

#[tokio::test]
async fn a_command_becomes_a_message_with_context() {
    let place = Place::new();
    place.write("ws/guide.md", "be good");
    let text = "---\nallowed-tools: [grep]\nmodel: m\nagent: a\ninclude: {files: [guide.md]}\n---\n\
                Do {{arguments}} by {{include.files.guide_md}}\n";
    let out = place.expand(text, "it").await.unwrap();
    assert_eq!(out.message, "Do it by [context:command.cmd.files.guide_md]");
    assert_eq!(out.allowed_tools, ["grep"]);
    assert_eq!((out.model.as_deref(), out.agent.as_deref()), (Some("m"), Some("a")));
    let expected = Block {
        id: "command.cmd.files.guide_md".into(),
        kind: BlockKind::RetrievedDocument,
        text: "be good".into(),
        priority: 50,
        token_estimate: Some(2),
        metadata: serde_json::json!({"source": "file", "path": "guide.md", "truncated": false}),
    };
    assert_eq!(out.blocks, [expected]);
}

#[tokio::test]
async fn files_stay_in_the_workspace() {
    let place = Place::new();
    place.write("secret", "s");
    std::os::unix::fs::symlink("../secret", place.workspace().join("link")).unwrap();
    for path in ["../secret", "link", "/etc/passwd"] {
        let said = place.include(&format!("{{files: [{{path: '{path}', optional: true}}]}}")).await;
        let expected = format!("file include \"{path}\" is not allowed: it is outside workspace");
        assert_eq!(said, Err(expected));
    }
    let missing = place.include("{files: [none.md]}").await.unwrap_err();
    assert!(missing.starts_with("file include \"none.md\" failed: "), "{missing}");
    assert_eq!(place.include("{files: [{path: none.md, optional: true}]}").await, Ok(vec![]));
    let folder = place.include("{files: ['.']}").await;
    assert!(folder.is_err(), "{folder:?}");
}

#[tokio::test]
async fn long_files_are_cut_between_characters() {
    let place = Place::new();
    place.write("ws/long", format!("a{}", "é".repeat(40_000)));
    place.write("ws/exact", "x".repeat(65_536));
    place.write("ws/binary", [0xff; 65_536]);
    let blocks = place.include("{files: [long, exact, binary]}").await.unwrap();
    let facts: Vec<_> = blocks
        .iter()
        .map(|block| (block.text.len(), block.metadata["truncated"].as_bool().unwrap()))
        .collect();
    assert_eq!(facts, [(65_535, true), (65_536, false), (65_535, true)]);
    assert!(!blocks[0].text.contains('\u{fffd}'));
}

#[tokio::test]
async fn programs_need_two_permissions() {
    let mut place = Place::new();
    place.gate.forbidden = vec!["rm"];
    let blocks =
        place.include("{shell: [{id: s, command: 'pwd; echo no >&2; exit 3'}]}").await.unwrap();
    let here = fs::canonicalize(place.workspace()).unwrap();
    assert_eq!(blocks[0].text.trim_end(), here.to_str().unwrap());
    assert_eq!(blocks[0].id, "command.cmd.shell.s");
    assert_eq!(blocks[0].kind.as_str(), "Environment");
    assert_eq!(blocks[0].metadata["exit_code"], 3);
    assert_eq!(blocks[0].metadata["error"], "no");
    let said = place.include("{shell: [{command: 'rm x'}]}").await;
    assert_eq!(said, Err("shell include \"rm_x\" is not allowed: side-effecting tool call".into()));

    place.settings.allow_shell_includes = false;
    let said = place.include("{shell: [{id: s, command: 'touch made'}]}").await;
    let off = "shell include \"s\" is not allowed: commands.allow_shell_includes is off";
    assert_eq!(said, Err(off.into()));
    assert!(!place.workspace().join("made").exists());
}

#[tokio::test]
async fn programs_have_bounds() {
    let mut place = Place::new();
    place.settings.include_timeout = Duration::from_millis(100);
    let late = place.include("{shell: [{id: s, command: 'exec tail -f /dev/null'}]}").await;
    assert_eq!(late, Err("shell include \"s\" failed: timed out after 100ms".into()));
    place.settings.include_timeout = Duration::from_secs(20);
    let blocks = place.include("{shell: [{id: s, command: 'yes'}]}").await.unwrap();
    assert_eq!(blocks[0].metadata["truncated"], true);
    assert!(blocks[0].text.len() <= 65_536 && blocks[0].text.len() > 60_000);
}

#[tokio::test]
async fn pages_come_from_listed_hosts_only() {
    let mut place = Place::new();
    place.pages.0 = HashMap::from([
        ("https://a.example/x", Fetched::Page(b"page".to_vec())),
        ("http://b.example:8080/", Fetched::Redirect("https://a.example/x".into())),
        ("https://a.example/out", Fetched::Redirect("//evil.example/".into())),
        ("https://a.example/loop", Fetched::Redirect("loop".into())),
        ("https://a.example/gone", Fetched::Status(404)),
    ]);
    for url in ["https://a.example/x", "http://b.example:8080/"] {
        let blocks = place.include(&format!("{{urls: [{{id: u, url: '{url}'}}]}}")).await.unwrap();
        assert_eq!(blocks[0].text, "page");
        assert_eq!(blocks[0].metadata["url"], "https://a.example/x");
    }
    for (url, said) in [
        ("https://c.example/", "is not allowed: c.example is not in commands.allowed_url_hosts"),
        ("http://b.example/", "is not allowed: b.example is not in commands.allowed_url_hosts"),
        (
            "https://a.example/out",
            "is not allowed: evil.example is not in commands.allowed_url_hosts",
        ),
        ("https://a.example/loop", "failed: it redirects too often"),
        ("https://a.example/gone", "failed: status 404"),
        ("https://a.example/none", "failed: no such page"),
    ] {
        let found = place.include(&format!("{{urls: [{{id: u, url: '{url}'}}]}}")).await;
        assert_eq!(found, Err(format!("url include \"{url}\" {said}")));
        let optional = format!("{{urls: [{{id: u, url: '{url}', optional: true}}]}}");
        let is_forgiven = place.include(&optional).await.is_ok();
        assert_eq!(is_forgiven, said.starts_with("failed"), "{url}");
    }
    place.settings.allow_url_includes = false;
    let said = place.include("{urls: [{id: u, url: 'https://a.example/x'}]}").await.unwrap_err();
    assert!(said.ends_with("commands.allow_url_includes is off"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_never_comes_is_given_up() {
    let mut place = Place::new();
    place.pages.0 = HashMap::from([("https://a.example/", Fetched::Status(0))]);
    let said = place.include("{urls: [{id: u, url: 'https://a.example/'}]}").await;
    let expected = "url include \"https://a.example/\" failed: timed out after 5s";
    assert_eq!(said, Err(expected.into()));
}

#[tokio::test]
async fn nothing_is_expanded_when_commands_are_off() {
    let mut place = Place::new();
    place.settings.enabled = false;
    assert_eq!(place.expand("x", "").await, Err(CommandError::Disabled));
}

#[tokio::test]
async fn a_command_that_says_nothing_is_refused() {
    let place = Place::new();
    let said = place.expand("{{arguments}}", " ").await.unwrap_err().to_string();
    let expected = "invalid arguments of command \"cmd\": there is nothing to say without any";
    assert_eq!(said, expected);
    assert_eq!(place.expand("{{arguments}}", "x \n").await.unwrap().message, "x");
}

async fn git(place: &Place, arguments: &[&str]) {
    let identity = ["git", "-c", "user.name=n", "-c", "user.email=e@example.com"];
    let mut script = Script::new(identity.iter().chain(arguments));
    script.cwd = Some(place.workspace());
    script.timeout = Duration::from_secs(30);
    let outcome = script.run().await;
    assert!(outcome.is_success(), "{arguments:?}: {outcome:?}");
}

#[tokio::test]
async fn a_review_sees_the_change_and_can_only_read() {
    let place = Place::new();
    let review = built_ins().iter().find(|one| one.info.name == "review").unwrap();
    let out = place.run(review, "").await.unwrap();
    let said = "could not be collected (this is not a git repository)";
    assert!(out.message.contains(said), "{}", out.message);
    assert!(out.blocks.is_empty());

    git(&place, &["init", "-q"]).await;
    place.write("ws/a", "old line\n");
    git(&place, &["add", "a"]).await;
    git(&place, &["commit", "-q", "-m", "first"]).await;
    place.write("ws/a", "new line\n");
    let out = place.run(review, "--uncommitted mind the locks").await.unwrap();
    assert!(out.message.contains("[context:command.review.shell.change]"), "{}", out.message);
    assert!(out.message.ends_with("Instructions: mind the locks"), "{}", out.message);
    assert_eq!(out.blocks[0].id, "command.review.shell.change");
    assert!(out.blocks[0].text.contains("-old line\n+new line"), "{}", out.blocks[0].text);
    let out = place.run(review, "--commit HEAD").await.unwrap();
    assert!(out.blocks[0].text.contains("+old line"), "{}", out.blocks[0].text);
    for tool in ["write_file", "edit", "shell", "exec_command", "apply_patch"] {
        assert!(!out.allowed_tools.iter().any(|allowed| allowed == tool), "{tool}");
    }
    assert!(out.allowed_tools.iter().any(|allowed| allowed == "read_file"));
    let asked = place.gate.asked.lock().clone();
    assert_eq!(asked[1], "git diff --no-color --no-ext-diff --no-textconv HEAD --");

    let said = place.run(review, "--base").await.unwrap_err().to_string();
    assert_eq!(said, "invalid arguments of command \"review\": --base needs a value");
}
