//! A hostile repository, and settings that change between a yes and what it is for.

use std::os::unix::fs::symlink;
use std::time::Duration;

use rookery_model::{Answer, Asked};
use serde_json::{Value, json};

use super::tests::Home;
use super::{AgentConfig, Room};
use crate::Core;
use crate::threads::{DirectCall, DirectOutcome};

#[tokio::test]
async fn guidance_stays_in_the_workspace() {
    let home = Home::new();
    let agents = Room::alone(AgentConfig::default());
    let root = home.dir("repository");
    let told_in = |root: &std::path::Path| agents.project_instructions(root, |_| false);
    let file = root.join("AGENTS.md");
    std::fs::write(home.path().join("secret"), "outside").unwrap();
    let other = root.join("CLAUDE.md");
    symlink("../secret", &other).unwrap();
    assert_eq!(told_in(&root), None);
    std::fs::remove_file(&other).unwrap();
    for target in ["/proc/self/environ", "/dev/zero", "../secret", "/etc/passwd", "AGENTS.md"] {
        symlink(target, &file).unwrap();
        assert_eq!(told_in(&root), None, "{target}");
        std::fs::remove_file(&file).unwrap();
    }
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap();
    assert_eq!(told_in(&root), None);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(root.join("CLAUDE.md"), "be kind").unwrap();
    assert_eq!(told_in(&root).unwrap(), "From CLAUDE.md of this project:\nbe kind");
    symlink("CLAUDE.md", &file).unwrap();
    let told = told_in(&root).unwrap();
    assert_eq!(told, "From AGENTS.md of this project:\nbe kind", "the same text is told once");
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "be quick").unwrap();
    let told = told_in(&root).unwrap();
    let both =
        "From AGENTS.md of this project:\nbe quick\n\nFrom CLAUDE.md of this project:\nbe kind";
    assert_eq!(told, both);
    let told = agents.project_instructions(&root, |ignored| ignored == file).unwrap();
    assert_eq!(told, "From CLAUDE.md of this project:\nbe kind");
}

#[tokio::test]
async fn keys_are_withheld_by_name_and_by_value() {
    let mut config = AgentConfig::default();
    let work = rookery_agent::settings::ProviderSettings {
        api_key: Some(rookery_agent::settings::Secret::new("sk-held-by-us")),
        api_key_env: Some("WORK_KEY".to_owned()),
        ..Default::default()
    };
    config.settings.providers.insert("work".to_owned(), work);
    let agents = Room::alone(config);
    let env = [
        ("PATH", "/bin"),
        ("COPY", "Bearer sk-held-by-us"),
        ("ROOKERY_REMOTE_TOKEN", "x"),
        ("RODER_MODEL", "x"),
    ];
    let withheld = agents.withheld(&env.map(|(name, value)| (name.into(), value.into())));
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "WORK_KEY", "COPY", "ROOKERY_REMOTE_TOKEN"]
    {
        assert!(withheld.iter().any(|known| known == name), "{name}: {withheld:?}");
    }
    for name in ["PATH", "RODER_MODEL", "HOME"] {
        assert!(withheld.iter().all(|known| known != name), "{name}: {withheld:?}");
    }
}

fn call(thread: rookery_model::ThreadId, arguments: Value, waits: bool) -> DirectCall {
    DirectCall { thread, tool: "exec_command".to_owned(), arguments, waits, client: None }
}

async fn pending(core: &Core) -> rookery_model::Request {
    let asked = async {
        while core.requests().list().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), asked).await.unwrap();
    core.requests().list()[0].clone()
}

const YES: Answer = Answer::Approved { remember: false };

#[tokio::test]
async fn what_was_approved_runs_in_the_shell_that_was_shown() {
    let home = Home::new();
    let core = home.core(false).await;
    let thread = home.thread(&core).await;
    let arguments = json!({ "cmd": "touch made; readlink /proc/$$/exe", "yield_time_ms": 20_000 });
    let task = tokio::spawn({
        let (core, call) = (core.clone(), call(thread, arguments, true));
        async move { core.threads().call_tool(call).await.unwrap() }
    });
    let request = pending(&core).await;
    let Asked::Approval { argv, preview, .. } = &request.asked else { panic!("{request:?}") };
    assert_eq!(argv[..2], ["/bin/sh", "-lc"]);
    assert!(preview.as_ref().unwrap().contains("\n[runs as /bin/sh -lc in "), "{preview:?}");
    core.agents().set_shell("/bin/bash").await.unwrap();
    assert!(core.requests().resolve(request.id, YES, "test").await.unwrap().is_now());
    let DirectOutcome::Ran(output) = task.await.unwrap() else { panic!("it did not run") };
    assert!(!output.text.contains("bash"), "{}", output.text);
    assert_eq!(output.data["shell"], "/bin/sh", "{}", output.data);
}

#[tokio::test]
async fn a_grant_is_for_one_shell() {
    let home = Home::new();
    let core = home.core(false).await;
    let thread = home.thread(&core).await;
    let plain = json!({ "cmd": "touch made", "yield_time_ms": 20_000 });
    let granted = async |arguments: &Value| {
        let call = call(thread, arguments.clone(), false);
        !matches!(
            core.threads().call_tool(call).await.unwrap(),
            DirectOutcome::NeedsApproval { .. }
        )
    };
    assert!(!granted(&plain).await);
    assert!(core.requests().resolve(pending(&core).await.id, YES, "test").await.unwrap().is_now());
    let mut other = plain.clone();
    other["shell"] = "bash".into();
    assert!(!granted(&other).await, "another shell by the call");
    let mut other = plain.clone();
    other["login"] = false.into();
    assert!(!granted(&other).await, "no login");
    core.agents().set_shell("/bin/bash").await.unwrap();
    assert!(!granted(&plain).await, "another shell by the settings");
    core.agents().set_shell("/bin/sh").await.unwrap();
    assert!(granted(&plain).await);
    assert!(!granted(&plain).await, "it was for once");
}
