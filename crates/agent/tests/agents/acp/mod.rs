//! Turns of an agent that is a program.

pub(crate) mod agent;

use std::sync::Arc;
use std::time::Duration;

use rookery_agent::provider::{
    Auth, Entry, EntryBody, FailureKind, HostedTool, ModelEvent, ModelRequest, ModelStream,
    PermissionAnswer, Provider, Stop,
};
use rookery_agent::providers::{Kind, Loan, Registry, RegistryOptions, Retry, Settings};
use rookery_agent::settings::Secret;
use rookery_model::ToolKind;
use serde_json::{Value, json};

use crate::processes::{gone, is_alive};
use crate::{Case, ROLE, this_binary};

macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        &[$((concat!("acp::", stringify!($name)), || Box::pin($name()))),*]
    };
}

/// The tests.
pub(crate) const CASES: &[(&str, Case)] = cases![
    a_turn_streams_and_ends,
    one_program_serves_all_turns_of_a_thread,
    threads_have_programs_of_their_own,
    a_tool_runs_when_it_may,
    a_tool_does_not_run_when_it_may_not,
    reasons_to_stop_are_reported,
    garbage_is_left_out,
    nothing_is_lost_when_much_is_said,
    an_error_is_reported_and_the_program_kept,
    a_crash_is_reported_without_keys,
    a_program_that_is_not_there_is_reported,
    a_program_that_does_not_start_is_reported,
    a_login_is_reported,
    giving_up_reaches_the_program,
    a_program_that_does_not_stop_is_killed_with_its_children,
    silence_ends_it,
    an_idle_program_is_ended,
    the_registry_takes_its_programs_along,
    a_session_is_taken_up_again,
    a_session_that_cannot_be_taken_up_hears_what_was_said,
    a_conversation_that_changed_gets_a_new_session,
    images_are_refused_before_they_are_sent,
    a_model_is_chosen_if_the_agent_has_it,
    it_is_listed_like_any_provider,
    a_lent_key_is_for_its_caller_alone,
    only_variables_that_are_named_take_keys,
];

fn registry(env: &[(&str, &str)]) -> Registry {
    let env = env.iter().copied().chain([(ROLE, "acp")]);
    let options = RegistryOptions {
        client: rookery_host::http::Client::new(),
        environment: Arc::new(|_| None),
        retry: Retry::default(),
        cache_file: None,
        accounts: rookery_signin::Accounts::none(),
    };
    let settings = Settings {
        id: "small".into(),
        kind: Some(Kind::Acp),
        command: vec![this_binary()],
        api_key_env: Some("SMALL_KEY".into()),
        env: env.map(|(name, value)| (name.to_owned(), Secret::new(value))).collect(),
        ..Settings::default()
    };
    Registry::new(vec![settings], &options)
}

fn agent(env: &[(&str, &str)]) -> Arc<dyn Provider> {
    registry(env).get("small").unwrap()
}

fn entry(body: EntryBody) -> Entry {
    Entry { step: 0, body, opaque: None }
}

fn user(text: &str) -> Entry {
    entry(EntryBody::User { text: text.into(), images: Vec::new() })
}

fn said(text: &str, opaque: Value) -> Entry {
    let body = EntryBody::Agent { text: text.into() };
    Entry { opaque: Some(opaque), ..entry(body) }
}

fn request(thread: &str, entries: &[Entry]) -> ModelRequest {
    ModelRequest {
        thread: thread.into(),
        cwd: std::env::temp_dir(),
        model: "default".into(),
        entries: entries.to_vec(),
        ..ModelRequest::default()
    }
}

fn ask(agent: &Arc<dyn Provider>, entries: &[Entry]) -> ModelStream {
    agent.call(request("thread", entries))
}

async fn rest(stream: &mut ModelStream) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.events.recv().await {
        events.push(event);
    }
    events
}

/// All that a prompt comes to: its text, what we want back, and its end.
async fn whole(agent: &Arc<dyn Provider>, entries: &[Entry]) -> (String, Value, ModelEvent) {
    let mut events = rest(&mut ask(agent, entries)).await;
    let end = events.pop().unwrap();
    let (mut text, mut kept) = (String::new(), Value::Null);
    for event in events {
        match event {
            ModelEvent::Text { text: more, .. } => text.push_str(&more),
            ModelEvent::TextDone { opaque: Some(opaque) }
            | ModelEvent::ReasoningDone { opaque: Some(opaque) } => kept = opaque,
            _ => {}
        }
    }
    (text, kept, end)
}

fn done() -> ModelEvent {
    ModelEvent::Done { stop: Stop::Stop }
}

async fn first_text(stream: &mut ModelStream) -> String {
    match stream.events.recv().await {
        Some(ModelEvent::Text { text, .. }) => text,
        other => panic!("{other:?}"),
    }
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(' ').map(|word| word.parse().unwrap()).collect()
}

async fn a_turn_streams_and_ends() {
    let agent = agent(&[]);
    let events = rest(&mut ask(&agent, &[user("echo one two")])).await;
    let text = |text: &str| ModelEvent::Text { text: text.into(), phase: None };
    assert_eq!(events[..2], [text("one "), text("two")]);
    assert!(matches!(&events[2], ModelEvent::TextDone { opaque: Some(kept) }
        if kept["thread"] == "thread" && kept["session"].as_str().unwrap().starts_with("session-")));
    assert_eq!(events[3..], [done()]);
    let thought = rest(&mut ask(&agent, &[user("think")])).await;
    assert_eq!(thought[0], ModelEvent::Reasoning { text: "hm".into(), summary: None });
    assert!(matches!(&thought[1], ModelEvent::ReasoningDone { opaque: Some(_) }));
}

async fn one_program_serves_all_turns_of_a_thread() {
    let agent = agent(&[]);
    let (first, kept, _) = whole(&agent, &[user("who")]).await;
    let talk = [user("who"), said(&first, kept), user("who are you")];
    let (second, _, _) = whole(&agent, &talk).await;
    let (first, second): (Vec<_>, Vec<_>) =
        (first.split(' ').collect(), second.split(' ').collect());
    assert_eq!(first[..2], second[..2]);
    assert_eq!((first[2], second[2]), ("1", "2"));
    assert_eq!(second[3], "1", "only what is new is sent");
}

async fn threads_have_programs_of_their_own() {
    let agent = agent(&[]);
    let mut here = agent.call(request("here", &[user("who")]));
    let mut there = agent.call(request("there", &[user("who")]));
    let (here, there) = (first_text(&mut here).await, first_text(&mut there).await);
    assert_ne!(here.split(' ').next(), there.split(' ').next());
}

async fn run_tool(is_allowed: bool) -> Vec<ModelEvent> {
    let agent = agent(&[]);
    let mut stream = ask(&agent, &[user("tool rm x")]);
    let begun = HostedTool {
        id: "call".into(),
        name: "Run".into(),
        input: json!({ "command": "rm x" }),
        kind: Some(ToolKind::Exec),
        ..HostedTool::default()
    };
    assert_eq!(stream.events.recv().await, Some(ModelEvent::HostedTool(begun.clone())));
    let Some(ModelEvent::Permission { id, tool }) = stream.events.recv().await else { panic!() };
    assert_eq!(tool, begun);
    let answers = stream.answers.clone().unwrap();
    answers.send(PermissionAnswer { id: "other".into(), is_allowed: true }).await.unwrap();
    answers.send(PermissionAnswer { id, is_allowed }).await.unwrap();
    let mut events = rest(&mut stream).await;
    assert_eq!(events.pop(), Some(done()));
    assert_eq!(events[1], ModelEvent::Text { text: "after".into(), phase: None });
    events
}

async fn a_tool_runs_when_it_may() {
    let ModelEvent::HostedTool(tool) = run_tool(true).await.remove(0) else { panic!() };
    assert_eq!((tool.is_done, tool.is_error), (true, false));
    assert_eq!(tool.output.as_deref(), Some("chose yes"));
}

async fn a_tool_does_not_run_when_it_may_not() {
    let ModelEvent::HostedTool(tool) = run_tool(false).await.remove(0) else { panic!() };
    assert_eq!((tool.is_done, tool.is_error), (true, true));
    assert_eq!(tool.output.as_deref(), Some("chose no"));
}

async fn reasons_to_stop_are_reported() {
    let agent = agent(&[]);
    let other = |word: &str| Stop::Other(word.to_owned());
    let stops = [Stop::Length, Stop::Refusal, other("max_turn_requests"), other("cancelled")];
    for (number, stop) in stops.into_iter().enumerate() {
        let (_, _, end) = whole(&agent, &[user(&format!("stop {number}"))]).await;
        assert_eq!(end, ModelEvent::Done { stop });
    }
}

async fn garbage_is_left_out() {
    let (text, _, end) = whole(&agent(&[]), &[user("garbage")]).await;
    assert_eq!((text.as_str(), end), ("clean", done()));
}

async fn nothing_is_lost_when_much_is_said() {
    let (text, _, end) = whole(&agent(&[]), &[user("flood")]).await;
    let all: Vec<usize> = text.trim_end().split(' ').map(|word| word.parse().unwrap()).collect();
    assert_eq!(all, (0..2000).collect::<Vec<_>>());
    assert_eq!(end, done());
}

fn failure(end: ModelEvent) -> (String, FailureKind) {
    match end {
        ModelEvent::Failed(failure) => (failure.message, failure.kind),
        other => panic!("{other:?}"),
    }
}

async fn an_error_is_reported_and_the_program_kept() {
    let agent = agent(&[]);
    let (before, kept, _) = whole(&agent, &[user("who")]).await;
    let talk = [user("who"), said(&before, kept), user("error")];
    let (message, kind) = failure(whole(&agent, &talk).await.2);
    assert_eq!(kind, FailureKind::Rejected);
    let wanted = "small: the agent answered with an error when it was prompted: out of credits";
    assert_eq!(message, wanted);
    let talk = [talk.as_slice(), &[user("who is there")]].concat();
    let (after, _, _) = whole(&agent, &talk).await;
    assert_eq!(before.split(' ').next(), after.split(' ').next());
}

async fn a_crash_is_reported_without_keys() {
    let agent = agent(&[("KEY", "sk-secret")]);
    let (text, _, end) = whole(&agent, &[user("crash")]).await;
    assert_eq!(text, "about to");
    let (message, kind) = failure(end);
    assert_eq!(kind, FailureKind::Unavailable);
    let wanted = "small: the agent ended with status 7 when it was prompted: \
                  the engine[0m fell out, key ***";
    assert_eq!(message, wanted);
    let (text, _, end) = whole(&agent, &[user("echo again")]).await;
    assert_eq!((text.as_str(), end), ("again", done()), "the next turn starts another one");
}

async fn a_program_that_is_not_there_is_reported() {
    let options = RegistryOptions {
        client: rookery_host::http::Client::new(),
        environment: Arc::new(|_| None),
        retry: Retry::default(),
        cache_file: None,
        accounts: rookery_signin::Accounts::none(),
    };
    let settings = |command: &[&str]| Settings {
        id: "none".into(),
        kind: Some(Kind::Acp),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        ..Settings::default()
    };
    for (command, wanted) in [
        (&["/no/such/agent"][..], "none: cannot start /no/such/agent: "),
        (&[], "none: no program is named"),
    ] {
        let registry = Registry::new(vec![settings(command)], &options);
        let (message, kind) = failure(whole(&registry.get("none").unwrap(), &[user("x")]).await.2);
        assert!(message.starts_with(wanted), "{message}");
        assert_eq!(kind, FailureKind::Unavailable);
    }
}

async fn a_program_that_does_not_start_is_reported() {
    let agent = agent(&[("REFUSE", "1")]);
    let (message, _) = failure(whole(&agent, &[user("x")]).await.2);
    assert_eq!(message, "small: the agent ended with status 3 when it was greeted: no node here");
}

async fn a_login_is_reported() {
    let agent = agent(&[("WANT_LOGIN", "1")]);
    let (message, kind) = failure(whole(&agent, &[user("x")]).await.2);
    assert_eq!(kind, FailureKind::Auth);
    assert!(message.contains("wants a login"), "{message}");
}

async fn giving_up_reaches_the_program() {
    let agent = agent(&[]);
    let mut stream = ask(&agent, &[user("wait")]);
    let pid: u32 = first_text(&mut stream).await.parse().unwrap();
    drop(stream);
    let (who, _, end) = whole(&agent, &[user("wait"), user("who")]).await;
    assert_eq!(end, done());
    let same = format!("{pid} session-{pid} 2 1");
    assert_eq!(who, same, "it stopped, stayed, and heard only what is new");
}

async fn a_program_that_does_not_stop_is_killed_with_its_children() {
    let agent = agent(&[]);
    let mut stream = ask(&agent, &[user("hang")]);
    let pids = numbers(&first_text(&mut stream).await);
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    tokio::time::pause();
    drop(stream);
    tokio::time::advance(Duration::from_secs(1)).await;
    for pid in &pids {
        assert!(is_alive(*pid), "it has a while to stop");
    }
    tokio::time::advance(Duration::from_secs(20)).await;
    for pid in pids {
        gone(pid).await;
    }
}

async fn silence_ends_it() {
    let agent = agent(&[]);
    let mut stream = ask(&agent, &[user("hang")]);
    let pids = numbers(&first_text(&mut stream).await);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(601)).await;
    let (message, kind) = failure(rest(&mut stream).await.pop().unwrap());
    assert_eq!(message, "small: the agent said nothing for 600 s when it was prompted");
    assert_eq!(kind, FailureKind::Unavailable);
    for pid in pids {
        gone(pid).await;
    }
}

async fn an_idle_program_is_ended() {
    let agent = agent(&[]);
    let (who, _, _) = whole(&agent, &[user("who")]).await;
    let pid = who.split(' ').next().unwrap().parse().unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(599)).await;
    assert!(is_alive(pid));
    tokio::time::advance(Duration::from_secs(2)).await;
    gone(pid).await;
}

async fn the_registry_takes_its_programs_along() {
    let registry = registry(&[]);
    let agent = registry.get("small").unwrap();
    let mut stream = ask(&agent, &[user("hang")]);
    let busy = numbers(&first_text(&mut stream).await);
    let mut other = agent.call(request("idle", &[user("who")]));
    let who = first_text(&mut other).await;
    rest(&mut other).await;
    let idle = who.split(' ').next().unwrap().parse().unwrap();
    drop((registry, agent));
    gone(idle).await;
    assert!(busy.iter().all(|pid| is_alive(*pid)), "it has a listener");
    drop(stream);
    for pid in busy {
        gone(pid).await;
    }
}

async fn a_session_is_taken_up_again() {
    let env = [("CAN_LOAD", "1")];
    let (first, kept, _) = whole(&agent(&env), &[user("who")]).await;
    let session = first.split(' ').nth(1).unwrap();
    let talk = [user("who"), said(&first, kept.clone()), user("who now")];
    let (second, again, _) = whole(&agent(&env), &talk).await;
    let words: Vec<_> = second.split(' ').collect();
    assert_eq!(words[1..], [session, "1", "1"]);
    assert_ne!(words[0], first.split(' ').next().unwrap());
    assert_eq!(again["session"], kept["session"]);
    let mut fork = agent(&env).call(request("fork", &talk));
    let forked = first_text(&mut fork).await;
    assert_ne!(forked.split(' ').nth(1).unwrap(), session, "a fork has a session of its own");
}

async fn a_session_that_cannot_be_taken_up_hears_what_was_said() {
    let (first, kept, _) = whole(&agent(&[]), &[user("who")]).await;
    let talk = [user("who"), said("me", kept), user("heard")];
    let (second, _, _) = whole(&agent(&[]), &talk).await;
    assert!(second.contains("User: who\n\nYou: me"), "{second}");
    assert_ne!(first, second);
}

async fn a_conversation_that_changed_gets_a_new_session() {
    let agent = agent(&[]);
    let (first, _, _) = whole(&agent, &[user("who")]).await;
    let (second, _, _) = whole(&agent, &[user("something else"), user("who next")]).await;
    assert_eq!(first.split(' ').next(), second.split(' ').next(), "the same program");
    assert_eq!(second.split(' ').nth(3), Some("2"), "both are told again");
}

async fn images_are_refused_before_they_are_sent() {
    let registry = registry(&[]);
    assert!(registry.info("small").unwrap().capabilities.image_input);
    let images = vec!["data:image/png;base64,QQ==".into()];
    let see = entry(EntryBody::User { text: "see".into(), images });
    let (message, kind) = failure(whole(&registry.get("small").unwrap(), &[see]).await.2);
    assert_eq!(kind, FailureKind::NoImages);
    assert_eq!(message, "small: the agent does not take images");
    assert!(!registry.info("small").unwrap().capabilities.image_input);
}

async fn a_model_is_chosen_if_the_agent_has_it() {
    let agent = agent(&[]);
    let entries = [user("model")];
    for (wanted, used) in [("default", "small"), ("large", "large"), ("Small", "small")] {
        let mut stream =
            agent.call(ModelRequest { model: wanted.into(), ..request("thread", &entries) });
        assert_eq!(first_text(&mut stream).await, used);
        rest(&mut stream).await;
    }
    let huge = ModelRequest { model: "huge".into(), ..request("thread", &entries) };
    let (message, kind) = failure(rest(&mut agent.call(huge)).await.pop().unwrap());
    assert_eq!(message, "small: the agent has no model huge");
    assert_eq!(kind, FailureKind::Rejected);
    let (who, _, _) = whole(&agent, &[user("model"), user("who")]).await;
    assert!(who.ends_with(" 4 1"), "the same program and session: {who}");
}

async fn it_is_listed_like_any_provider() {
    let registry = registry(&[]);
    let info = registry.info("small").unwrap();
    assert_eq!(info.auth, Auth::None);
    assert!(info.is_authenticated && info.capabilities.streaming && info.capabilities.tool_calls);
    assert_eq!(registry.default_model("small").as_deref(), Some("default"));
    assert_eq!(registry.models("small").await.len(), 1);
}

async fn a_lent_key_is_for_its_caller_alone() {
    let registry = registry(&[]);
    let agent = registry.get("small").unwrap();
    let ask = async |thread: &str, keys: &[Loan]| {
        let request = ModelRequest { keys: keys.to_vec(), ..request(thread, &[user("key")]) };
        first_text(&mut agent.call(request)).await
    };
    let one = registry.lend("small", None, "sk-of-the-first").unwrap();
    let two = registry.lend("small", Some("SMALL_KEY"), "sk-of-the-second").unwrap();
    assert_eq!(ask("thread", std::slice::from_ref(&one)).await, "sk-of-the-first");
    assert_eq!(ask("other", &[]).await, "none", "another thread has another program");
    // The same thread, and so a program that was started with the key of its first caller.
    assert_eq!(ask("thread", &[two]).await, "sk-of-the-second");
    assert_eq!(ask("thread", &[]).await, "none");
    assert_eq!(ask("thread", &[one]).await, "sk-of-the-first");
}

async fn only_variables_that_are_named_take_keys() {
    let known = registry(&[]);
    assert_eq!(known.info("small").unwrap().wanted_keys, ["SMALL_KEY"]);
    assert!(known.key_variables().contains("SMALL_KEY"), "no tool sees it");
    for name in ["PATH", "LD_PRELOAD", ""] {
        assert!(known.lend("small", Some(name), "key").is_err(), "{name}");
    }
    // What the settings set is not for callers.
    let set = registry(&[("SMALL_KEY", "own")]);
    assert_eq!(set.info("small").unwrap().wanted_keys, Vec::<String>::new());
    let refused = set.lend("small", None, "key").unwrap_err().to_string();
    assert!(refused.contains("api_key_env"), "{refused}");
}
