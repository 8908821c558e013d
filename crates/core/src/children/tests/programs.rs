//! Children of providers that are programs with tools of their own.

use rookery_agent::providers::Kind;
use rookery_agent::settings::ProviderSettings;

use super::*;

/// A core whose provider `own` is a program that writes a file as soon as it is started.
async fn with_program(home: &Path) -> Core {
    let line = format!("touch {}", home.join("made").display());
    let program = ProviderSettings {
        kind: Some(Kind::Acp),
        command: vec!["/bin/sh".into(), "-c".into(), line],
        ..ProviderSettings::default()
    };
    let providers = [("own".to_owned(), program)].into();
    core_with(home, Settings { providers, ..Settings::default() }).await
}

#[tokio::test]
async fn attack_a_child_that_is_held_to_something_is_given_to_no_program() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join(".roder/agents");
    std::fs::create_dir_all(&dir).unwrap();
    let text = "---\nname: one\ndescription: d\ntools: [Read]\nmodel: own/default\n---\n";
    std::fs::write(dir.join("one.md"), text).unwrap();
    let core = with_program(home.path()).await;
    let of = |agent: &str| NewChild {
        agent_type: Some(agent.to_owned()),
        model: Some("own/default".to_owned()),
        ..scripted(&json!([]))
    };
    let [scout, editor] = [Lane::Scout, Lane::Editor].map(Some);
    for (new, held) in [
        (of("explore"), "explore may only read"),
        (NewChild { lane: scout, ..of("general") }, "general may only read"),
        (NewChild { lane: editor, ..of("general") }, "general may use some tools only"),
        (NewChild { tools: Some(Vec::new()), ..of("general") }, "general may use some tools only"),
        (NewChild { model: None, ..of("one") }, "one may use some tools only"),
    ] {
        let error = core.children().start(new).await.unwrap_err().to_string();
        assert!(error.contains(held) && error.contains("provider own"), "{error}");
    }
    core.threads().set_mode(None, Mode::Plan, None, None).await.unwrap();
    let error = core.children().start(of("general")).await.unwrap_err().to_string();
    assert!(error.contains("general may change nothing in plan mode"), "{error}");
    assert_eq!(core.look().threads.len(), 0);
    assert!(!home.path().join("made").exists());
    // One that may do what its parent may is, in a mode that allows it.
    core.threads().set_mode(None, Mode::Default, None, None).await.unwrap();
    let child = core.children().start(of("general")).await.unwrap();
    let made = home.path().join("made");
    let begun = async {
        while !made.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, begun).await.expect("the program is started");
    child.cancel();
}
