//! Who is listed, whose key is whose, and which models are known.

use std::sync::Arc;

use expect_test::expect;
use rookery_host::http::Client;

use super::{KeyError, Registry, RegistryOptions};
use crate::provider::{Auth, ModelEvent, ModelRequest};
use crate::providers::settings::{Environment, Kind, Retry, Settings};
use crate::settings::Secret;
use crate::tool::ToolOutput;

fn options(pairs: &'static [(&'static str, &'static str)]) -> RegistryOptions {
    let environment: Environment = Arc::new(move |name| {
        pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    });
    RegistryOptions {
        client: Client::new(),
        environment,
        retry: Retry::default(),
        cache_file: None,
        accounts: rookery_signin::Accounts::none(),
    }
}

fn named(id: &str) -> Settings {
    Settings { id: id.into(), ..Settings::default() }
}

#[test]
fn providers_are_listed_in_order() {
    let added = Settings { name: Some("A Box".into()), ..named(" Box ") };
    let registry =
        Registry::new(vec![added, named("zoo")], &options(&[("ANTHROPIC_API_KEY", "k")]));
    let row = |info: crate::provider::ProviderInfo| {
        let auth = match info.auth {
            Auth::ApiKey(variable) => variable,
            other => format!("{other:?}"),
        };
        format!("{} {:?} {auth} {}", info.id, info.name, info.is_authenticated)
    };
    let rows: Vec<String> = registry.infos().into_iter().map(row).collect();
    expect![[r#"
        openai "OpenAI" OPENAI_API_KEY false
        anthropic "Anthropic" ANTHROPIC_API_KEY true
        openrouter "OpenRouter" OPENROUTER_API_KEY false
        xai "xAI" XAI_API_KEY false
        ollama "Ollama" None true
        lmstudio "LM Studio" None true
        box "A Box" None true
        zoo "zoo" None true
        mock "Mock" None true"#]]
    .assert_eq(&rows.join("\n"));
    assert!(registry.get("X-AI").is_some() && registry.get("unknown").is_none());
}

#[test]
fn keys_change_while_in_use() {
    let registry = Registry::new(Vec::new(), &options(&[]));
    let is_known = || registry.info("openai").unwrap().is_authenticated;
    assert!(!is_known());
    assert_eq!(registry.set_key(" OpenAI ", " "), Err(KeyError::EmptyKey("openai".into())));
    assert_eq!(
        registry.set_key("unknown", "k").unwrap_err().to_string(),
        "unknown provider: unknown"
    );
    registry.set_key(" OpenAI ", "k").unwrap();
    assert!(is_known());
    registry.clear_key("openai").unwrap();
    assert!(!is_known());
}

#[test]
fn a_key_belongs_to_one_provider() {
    let added = Settings {
        kind: Some(Kind::OpenaiResponses),
        base_url: Some("http://127.0.0.1:1/v1/".into()),
        api_key_env: Some("MY_KEY".into()),
        ..named("my-box")
    };
    let registry = Registry::new(
        vec![added],
        &options(&[("OPENAI_API_KEY", "foreign"), ("MY_BOX_API_KEY", "own")]),
    );
    let endpoint = registry.providers["my-box"].endpoint.as_ref().unwrap();
    assert_eq!(endpoint.key_variables, ["MY_KEY", "MY_BOX_API_KEY"]);
    assert_eq!(endpoint.key().unwrap().unwrap().expose(), "own");
    assert_eq!(endpoint.base_url, "http://127.0.0.1:1/v1");
}

#[test]
fn keys_of_the_settings_win_over_the_environment() {
    let set = Settings {
        api_key: Secret::key("set"),
        api_key_env: Some("OTHER".into()),
        ..named("openai")
    };
    let registry =
        Registry::new(vec![set], &options(&[("OPENAI_API_KEY", "usual"), ("OTHER", "other")]));
    let key = || registry.providers["openai"].endpoint.as_ref().unwrap().key().unwrap().unwrap();
    assert_eq!(key().expose(), "set");
    registry.clear_key("openai").unwrap();
    assert_eq!(key().expose(), "other");
}

#[tokio::test]
async fn a_missing_key_is_reported_without_a_request() {
    let registry = Registry::new(Vec::new(), &options(&[]));
    let mut stream = registry.get("anthropic").unwrap().call(ModelRequest::default());
    let Some(ModelEvent::Failed(failure)) = stream.events.recv().await else {
        panic!("no failure")
    };
    expect![
        "Anthropic API key is missing; set ANTHROPIC_API_KEY or configure it from the provider menu"
    ]
    .assert_eq(&failure.message);
}

#[tokio::test]
async fn models_are_known_or_set() {
    let set = Settings {
        models: vec!["gpt-5.5".into(), "gpt-5.5-2026-04-23".into(), "own".into()],
        ..named("openai")
    };
    let registry = Registry::new(vec![set], &options(&[]));
    let rows: Vec<String> = registry
        .models("openai")
        .await
        .iter()
        .map(|model| {
            format!(
                "{} {:?} {:?} {}",
                model.id,
                model.name,
                model.context_window,
                model.reasoning.len()
            )
        })
        .collect();
    expect![[r#"
        gpt-5.5 "GPT-5.5" Some(1050000) 5
        gpt-5.5-2026-04-23 "gpt-5.5-2026-04-23" Some(1050000) 5
        own "own" None 0"#]]
    .assert_eq(&rows.join("\n"));
    let mock = registry.models("mock").await;
    assert_eq!((mock[0].id.as_str(), mock[0].context_window), ("mock", Some(128_000)));
    assert!(registry.models("anthropic").await.len() > 5);
    assert_eq!(registry.models("unknown").await, []);
}

#[test]
fn efforts_are_judged_for_known_models() {
    let registry = Registry::new(Vec::new(), &options(&[]));
    let fitted = |id: &str, model: &str, effort: &str| {
        let fitted = registry.fit_effort(id, model, effort).unwrap();
        (fitted.effort, fitted.warning.is_some())
    };
    assert_eq!(fitted("openai", "gpt-5.5", "xhigh"), ("xhigh".to_owned(), false));
    assert_eq!(fitted("openai", "gpt-5.5", "ultra"), ("xhigh".to_owned(), true));
    assert_eq!(fitted("openai", "own", "ultra"), ("ultra".to_owned(), false));
    assert_eq!(fitted("mock", "mock", "none"), ("none".to_owned(), false));
    assert_eq!(fitted("mock", "mock", "low"), ("none".to_owned(), true));
    assert_eq!(fitted("ollama", "qwen", "high"), ("high".to_owned(), false));
    assert!(registry.fit_effort("mock", "mock", "enormous").is_err());
    assert_eq!(registry.usual_effort("openai", "gpt-5.5"), Some("medium"));
    assert_eq!(registry.usual_effort("mock", "mock"), None);
    assert!(registry.known_model("anthropic", "claude-opus-4-5-20251101").is_some());
}

#[test]
fn a_header_can_carry_the_key() {
    let set = Settings {
        headers: vec![("Api-Key".into(), "secret-in-header".into())],
        ..named("openrouter")
    };
    let registry = Registry::new(vec![set], &options(&[]));
    let endpoint = registry.providers["openrouter"].endpoint.as_ref().unwrap();
    assert_eq!(endpoint.key(), Ok(None));
    assert_eq!(endpoint.secrets(None), ["secret-in-header"]);
    assert!(registry.info("openrouter").unwrap().is_authenticated);
}

#[test]
fn keys_are_taken_out_of_what_tools_find() {
    let set = Settings { api_key: Secret::key("set-0123456789"), ..named("openai") };
    let registry = Registry::new(vec![set], &options(&[("ANTHROPIC_API_KEY", "env-0123456789")]));
    registry.set_key("xai", "set-0123456789-longer").unwrap();
    registry.set_key("openrouter", "short").unwrap();
    let text = "a set-0123456789-longer b set-0123456789 c env-0123456789 short";
    let data = serde_json::json!({ "lines": [text], "n": 1 });
    let masked = registry.mask(crate::tool::ToolOutput::new(text, data));
    let all = format!("{} {}", masked.text, masked.data);
    assert!(!all.contains("0123456789") && !all.contains("longer"), "{all}");
    assert!(masked.text.starts_with("a ") && masked.text.ends_with(" short"), "{all}");
}

/// A provider that a task brought.
fn brought(key: &str) -> Settings {
    Settings {
        kind: Some(Kind::OpenaiChat),
        base_url: Some("http://127.0.0.1:1/v1".into()),
        api_key: Secret::key(key),
        models: vec!["m".into()],
        ..Settings::default()
    }
}

#[test]
fn what_a_task_brings_is_usable_and_in_no_list() {
    let registry = Registry::new(Vec::new(), &options(&[("OPENAI_API_KEY", "sk-of-the-user")]));
    let listed = registry.infos();
    let id = registry.add_private(brought("sk-of-the-task"));
    assert!(id.starts_with("task-") && id.len() == 17, "{id}");
    assert_eq!(registry.infos(), listed);
    assert!(registry.get(&id).is_some());
    let info = registry.info(&id).unwrap();
    assert!(info.is_authenticated && info.capabilities.image_input);
    assert_eq!(registry.default_model(&id).as_deref(), Some("m"));
    // Nothing that is set elsewhere can replace its key.
    assert_eq!(info.auth, Auth::None);
    let said = ToolOutput::new("it is sk-of-the-task", serde_json::Value::Null);
    assert_eq!(registry.mask(said).text, "it is ***");
    assert!(registry.has_key("sk-of-the-task"));
    assert!(!format!("{:?}", registry.private_settings()).contains("sk-of"));
}

#[test]
fn the_same_settings_are_one_provider() {
    let registry = Registry::new(Vec::new(), &options(&[]));
    let id = registry.add_private(brought("sk-1"));
    assert_eq!(registry.add_private(Settings { id: "openai".into(), ..brought("sk-1") }), id);
    assert_eq!(registry.private_settings().len(), 1);
    for other in [
        brought("sk-2"),
        Settings { base_url: Some("http://127.0.0.1:2/v1".into()), ..brought("sk-1") },
        Settings { kind: Some(Kind::OpenaiResponses), ..brought("sk-1") },
        Settings { temperature: Some(0.1), ..brought("sk-1") },
        Settings { max_tokens: Some(1), ..brought("sk-1") },
        Settings { headers: vec![("a".into(), "b".into())], ..brought("sk-1") },
    ] {
        assert_ne!(registry.add_private(other), id);
    }
    assert_eq!(registry.private_settings().len(), 7);
}

#[test]
fn those_that_are_not_used_are_forgotten_first_and_the_oldest_of_them() {
    let registry = Registry::new(Vec::new(), &options(&[]));
    let keys = ["sk-key-a", "sk-key-b", "sk-key-c", "sk-key-d"];
    let ids = keys.map(|key| registry.add_private(brought(key)));
    // Asked for again: it is the newest now.
    registry.add_private(brought("sk-key-a"));
    registry.prune_private(2, |id| id == ids[1]);
    let left: Vec<String> =
        registry.private_settings().into_iter().map(|settings| settings.id).collect();
    assert_eq!(left, [ids[1].clone(), ids[0].clone()]);
    assert!(registry.get(&ids[2]).is_none());
    assert!(!registry.has_key("sk-key-c") && registry.has_key("sk-key-b"));
    registry.prune_private(1, |_| true);
    assert_eq!(registry.private_settings().len(), 2, "what is used is never forgotten");
}
