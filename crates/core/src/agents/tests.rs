//! Choices that live, and choices that last: a whole core over a directory of its own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rookery_model::{Choice, ErrorKind, Mode};
use serde_json::json;

use super::{AgentConfig, NewRoot};
use crate::log::{News, NoticeBody, SettingsChange, Topics};
use crate::threads::{DirectCall, DirectOutcome, NewThread};
use crate::{Core, CoreConfig, KeeperLaunch, StopKind, TerminalLimits, UiConfig};

pub(super) struct Home(tempfile::TempDir);

impl Home {
    pub(super) fn new() -> Self {
        Home(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn settings(&self) -> PathBuf {
        self.path().join("config.toml")
    }

    pub(super) fn dir(&self, name: &str) -> PathBuf {
        let dir = self.path().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    pub(super) async fn core(&self, keeps: bool) -> Core {
        let agent = AgentConfig {
            settings_file: keeps.then(|| self.settings()),
            cwd: self.path(),
            commands_dir: Some(self.dir("commands")),
            ..AgentConfig::default()
        };
        let keeper = KeeperLaunch {
            exe: "/nonexistent/keeper".into(),
            args: Vec::new(),
            socket: self.path().join("keeper.sock"),
        };
        let config = CoreConfig {
            state_dir: Some(self.path().join("state")),
            keeper,
            home: self.path(),
            env: Vec::new(),
            shell: "/bin/sh".to_owned(),
            child_env: Vec::new(),
            limits: TerminalLimits::default(),
            palette: rookery_term::Palette::default(),
            shares_ids: true,
            ui: UiConfig::default(),
            tab_env: Vec::new(),
            resources: None,
            helpers: None,
            default_tool: None,
            max_running_tasks: crate::tasks::USUAL_RUNNING_TASKS,
            agent,
        };
        Core::start(config).await.unwrap()
    }

    pub(super) async fn thread(&self, core: &Core) -> rookery_model::ThreadId {
        let new = NewThread { cwd: self.path(), ..NewThread::default() };
        core.threads().start(new).await.unwrap().thread.id
    }
}

fn new_root(path: &Path) -> NewRoot {
    NewRoot { path: path.to_owned(), name: None }
}

#[tokio::test]
async fn a_key_is_kept_used_and_forgotten() {
    let home = Home::new();
    std::fs::write(home.settings(), "# mine\nmodel = \"m\" # here\n").unwrap();
    let core = home.core(true).await;
    let is_ready = |core: &Core| {
        let infos = core.agents().providers();
        infos.iter().find(|info| info.id == "xai").is_some_and(|info| info.is_authenticated)
    };
    assert!(!is_ready(&core));
    assert_eq!(core.agents().configure_provider(" X-AI ", " sk-1 ").await.unwrap(), "xai");
    assert!(is_ready(&core));
    let text = std::fs::read_to_string(home.settings()).unwrap();
    assert!(text.contains("# mine") && text.contains("# here"), "{text}");
    assert!(text.contains("api_key = \"sk-1\""), "{text}");
    for (provider, key) in [("unknown", "k"), ("", "k"), ("xai", "  ")] {
        let error = core.agents().configure_provider(provider, key).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{provider}");
    }
    assert_eq!(core.agents().clear_provider("xai").await.unwrap(), "xai");
    assert!(!is_ready(&core));
    assert!(!std::fs::read_to_string(home.settings()).unwrap().contains("sk-1"));
}

#[tokio::test]
async fn without_a_file_keys_are_refused_and_choices_live_in_memory() {
    let home = Home::new();
    let core = home.core(false).await;
    let error = core.agents().configure_provider("openai", "sk-1").await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "persistence is disabled"));
    assert!(core.agents().clear_provider("openai").await.is_err());
    core.agents().set_shell(" /bin/dash ").await.unwrap();
    assert_eq!(core.agents().shell(), "/bin/dash");
    assert!(core.agents().set_shell("  ").await.is_err());
    core.agents().set_web_search("auto").await.unwrap();
    assert_eq!(core.agents().settings().web_search.spelling, "auto");
    assert!(core.agents().set_web_search("often").await.is_err());
    core.agents().set_search_index(false).await.unwrap();
    core.agents().set_dynamic_context(false).await.unwrap();
    assert!(!core.agents().settings().search_index.enabled);
    assert!(!core.agents().settings().context.file_backed_dynamic_context);
    assert!(!home.settings().exists());
}

#[tokio::test]
async fn the_default_model_is_chosen_whole() {
    let home = Home::new();
    let core = home.core(true).await;
    let choice = |provider: &str, model: &str, reasoning: Option<&str>| Choice {
        provider: provider.to_owned(),
        model: model.to_owned(),
        reasoning: reasoning.map(str::to_owned),
    };
    let mut feed = core.log().subscribe(Topics::NOTICES, None);
    let chosen =
        core.agents().select_default(choice("ollama", "llama", Some("high"))).await.unwrap();
    assert_eq!(chosen, choice("ollama", "llama", Some("high")));
    assert_eq!(core.agents().default_choice(), chosen);
    let told = feed.next().await.unwrap();
    assert!(matches!(
        told[0].notice().unwrap().body,
        NoticeBody::Settings(SettingsChange::Providers)
    ));
    // Only the provider is named: the rest stays. A model that is named begins without an effort.
    assert_eq!(core.agents().select_default(choice("ollama", "", None)).await.unwrap(), chosen);
    let plain = choice("ollama", "llama", None);
    assert_eq!(core.agents().select_default(plain.clone()).await.unwrap(), plain);
    let text = std::fs::read_to_string(home.settings()).unwrap();
    assert!(text.contains("provider = \"ollama\"") && !text.contains("reasoning"), "{text}");
    let error = core.agents().select_default(choice("unknown", "", None)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
}

#[tokio::test]
async fn the_mode_that_asks_is_spelled_as_it_last_was_and_outlives_a_restart() {
    let home = Home::new();
    let core = home.core(false).await;
    let thread = home.thread(&core).await;
    assert_eq!(core.threads().asking_spelling().as_deref(), Some("default"));
    core.threads()
        .set_mode(Some(thread), Mode::Default, Some("ask".to_owned()), None)
        .await
        .unwrap();
    assert_eq!(core.threads().asking_spelling().as_deref(), Some("ask"));
    core.agents().set_default_mode("plan").await.unwrap();
    assert_eq!(
        (core.threads().mode(None), core.threads().asking_spelling().as_deref()),
        (Mode::Plan, Some("ask"))
    );
    assert!(core.agents().set_default_mode("yolo").await.is_err());
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop(core);
    let core = home.core(false).await;
    assert_eq!(
        (core.threads().mode(None), core.threads().asking_spelling().as_deref()),
        (Mode::Plan, Some("ask"))
    );
    core.agents().set_default_mode("default").await.unwrap();
    assert_eq!(core.threads().asking_spelling().as_deref(), Some("default"));
}

#[tokio::test]
async fn a_thread_finds_its_place() {
    let home = Home::new();
    let (a, b) = (home.dir("a"), home.dir("b"));
    let below = home.dir("a/below");
    let core = home.core(false).await;
    assert_eq!(core.agents().workspaces()[0].roots[0].path, home.path());
    let roots = vec![new_root(&a), new_root(&b), new_root(&a.join("../a"))];
    let both = core.agents().create_workspace(None, roots, None).await.unwrap();
    assert_eq!(both.roots.len(), 2);
    let id = Some(both.id.as_str());
    let place = core.agents().place_for(None, id, None, &b).await.unwrap();
    assert_eq!((&place.cwd, &place.root, &place.workspace_id), (&a, &a, &both.id));
    let place = core.agents().place_for(Some(&below), id, None, &b).await.unwrap();
    assert_eq!((&place.cwd, &place.root, &place.root_id), (&below, &a, &both.roots[0].id));
    let outside = core.agents().place_for(Some(&b), id, None, &b).await.unwrap_err();
    assert_eq!(outside.message(), "cwd must be the selected root or a child path");
    // A directory alone gets a workspace of its own, once, and it lasts.
    let alone = core.agents().place_for(Some(&below), None, None, &b).await.unwrap();
    assert_eq!((&alone.cwd, &alone.root), (&below, &below));
    assert_eq!(core.agents().place_for(Some(&below), None, None, &b).await.unwrap(), alone);
    let usual = core.agents().place_for(None, None, None, &b).await.unwrap();
    assert_eq!(usual.cwd, b);
    let ids = (alone.workspace_id.clone(), alone.root_id.clone());
    assert_eq!(core.agents().workspace_of(&below), Some(ids.clone()));
    for wrong in [home.path().join("nothing"), home.settings(), PathBuf::from("relative")] {
        let error = core.agents().place_for(Some(&wrong), None, None, &b).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{}", wrong.display());
    }
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop(core);
    let core = home.core(false).await;
    assert_eq!(core.agents().workspace_of(&below), Some(ids));
    assert!(core.agents().forget_workspace(&alone.workspace_id).await.unwrap());
    assert!(!core.agents().forget_workspace(&alone.workspace_id).await.unwrap());
    assert_eq!(core.agents().workspace_of(&below), None);
}

#[tokio::test]
async fn a_bad_command_file_is_complained_about_once() {
    let home = Home::new();
    std::fs::write(home.dir("commands").join("bad.md"), "---\nnope: 1\n---\nx").unwrap();
    std::fs::write(home.dir("commands").join("good.md"), "say {{arguments}}").unwrap();
    let core = home.core(false).await;
    let mut feed = core.log().subscribe(Topics::NOTICES, None);
    for _ in 0..2 {
        let listed = core.agents().commands(&home.path()).await.unwrap();
        assert!(listed.iter().any(|command| command.name == "good"));
        assert!(listed.iter().all(|command| command.name != "bad"));
    }
    let expanded =
        core.agents().expand_command("good", "hi", &home.path(), None, None).await.unwrap();
    assert_eq!(expanded.message, "say hi");
    let error =
        core.agents().expand_command("nope", "", &home.path(), None, None).await.unwrap_err();
    assert_eq!(error.message(), "unknown command \"nope\"");
    core.log().warn(None, "last");
    let mut texts = Vec::new();
    while texts.last().is_none_or(|last| last != "last") {
        for notice in feed.next().await.unwrap().iter().filter_map(News::notice) {
            if let NoticeBody::Warning(text) = &notice.body {
                texts.push(text.clone());
            }
        }
    }
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].contains("bad.md"));
}

#[tokio::test]
async fn a_direct_call_can_wait_for_its_approval() {
    let home = Home::new();
    let core = home.core(false).await;
    let thread = home.thread(&core).await;
    let call = |waits| DirectCall {
        thread,
        tool: "write_file".to_owned(),
        arguments: json!({"path": "new.txt", "content": "x"}),
        waits,
        client: None,
    };
    let refused = core.threads().call_tool(call(false)).await.unwrap();
    assert!(matches!(refused, DirectOutcome::NeedsApproval { .. }));
    let pending = async |core: &Core| {
        let asked = async {
            while core.requests().list().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), asked).await.unwrap();
        core.requests().list()[0].id
    };
    let no = rookery_model::Answer::Denied { message: None };
    assert!(core.requests().resolve(pending(&core).await, no, "test").await.unwrap().is_now());
    let task = tokio::spawn({
        let (core, call) = (core.clone(), call(true));
        async move { core.threads().call_tool(call).await.unwrap() }
    });
    let id = pending(&core).await;
    let yes = rookery_model::Answer::Approved { remember: false };
    assert!(core.requests().resolve(id, yes, "test").await.unwrap().is_now());
    let DirectOutcome::Ran(output) = task.await.unwrap() else { panic!("it did not run") };
    assert!(!output.is_error, "{}", output.text);
    assert!(home.path().join("new.txt").exists());
    // Who goes away takes the question back.
    let task = tokio::spawn({
        let (core, call) = (core.clone(), call(true));
        async move { core.threads().call_tool(call).await.map(drop) }
    });
    pending(&core).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(core.requests().list().is_empty());
}

#[tokio::test]
async fn attack_what_a_task_brought_is_kept_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    use rookery_agent::providers::{TaskProvider, of_task};

    let home = Home::new();
    let core = home.core(true).await;
    let brought = |key: &str| {
        of_task(TaskProvider { service: "deepseek", key: Some(key), ..TaskProvider::default() })
            .unwrap()
    };
    let id =
        core.agents().add_private_provider(brought("sk-of-the-task"), Vec::new()).await.unwrap();
    assert_eq!(
        core.agents().add_private_provider(brought("sk-of-the-task"), Vec::new()).await.unwrap(),
        id
    );
    let file = home.path().join("task-providers.json");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(std::fs::read_to_string(&file).unwrap().contains("sk-of-the-task"));
    let choice = Choice { provider: id.clone(), model: "m".into(), reasoning: None };
    let new = NewThread { cwd: home.path(), choice: choice.clone(), ..NewThread::default() };
    let thread = core.threads().start(new).await.unwrap().thread.id;
    // More than are kept: the one that a thread chooses stays.
    let mut last = String::new();
    for number in 0..260 {
        let key = format!("sk-another-{number}");
        last = core.agents().add_private_provider(brought(&key), Vec::new()).await.unwrap();
    }
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop(core);
    let core = home.core(true).await;
    assert_eq!(core.inner.agents.registry.private_settings().len(), 256);
    assert_eq!(core.threads().get(thread).unwrap().thread.choice, choice);
    for known in [&id, &last] {
        assert!(core.inner.agents.provider(known).is_some(), "{known}");
    }
    assert!(core.inner.agents.registry.has_key("sk-of-the-task"));
    assert!(core.agents().providers().iter().all(|info| info.id != id));
    // It is the task's own: neither its key nor the choice of new threads is for others to set.
    assert!(core.agents().configure_provider(&id, "sk-x").await.is_err());
    assert!(core.agents().select_default(choice).await.is_err());
    core.stop(StopKind::KeepTerminals).await.unwrap();
}

#[tokio::test]
async fn without_a_file_a_task_has_its_provider_as_long_as_we_run() {
    use rookery_agent::providers::{TaskProvider, of_task};

    let home = Home::new();
    let core = home.core(false).await;
    let task = TaskProvider { service: "fake-ai", ..TaskProvider::default() };
    let id = core.agents().add_private_provider(of_task(task).unwrap(), Vec::new()).await.unwrap();
    assert!(core.inner.agents.provider(&id).is_some());
    assert!(!home.path().join("task-providers.json").exists());
}

#[tokio::test]
async fn the_roles_of_a_workspace_are_listed_and_what_is_wrong_is_said_once() {
    let home = Home::new();
    let core = home.core(false).await;
    let work = home.dir("work");
    std::fs::write(work.join(".roomodes"), "customModes: [{slug: x}]").unwrap();
    let mut feed = core.log().subscribe(Topics::NOTICES, None);
    for _ in 0..2 {
        assert_eq!(core.agents().roles(&work, &[]).await.unwrap().len(), 5);
    }
    core.log().warn(None, "the last".to_owned());
    let mut said = Vec::new();
    while said.last().is_none_or(|last: &String| last != "the last") {
        for news in feed.next().await.unwrap().iter() {
            if let Some(NoticeBody::Warning(text)) = news.notice().map(|notice| &notice.body) {
                said.push(text.clone());
            }
        }
    }
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("role 1 was skipped: missing field `name`"), "{said:?}");
    assert_eq!(core.agents().role(&work, &[], "ask").await.unwrap().slug, "ask");
    let unknown = core.agents().role(&work, &[], "x").await.unwrap_err();
    assert!(unknown.message().starts_with("unknown role: x; expected one of architect, code"));
}
