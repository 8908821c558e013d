//! Threads whose clients say what may be done without asking, and in which role.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use rookery_agent::providers::{TaskProvider, of_task};
use rookery_agent::roles::built_ins;
use rookery_model::{Assignment, Reach, Unasked};

use super::*;

async fn assigned(core: &Core, home: &Path, mode: Mode, assignment: Assignment) -> ThreadId {
    let choice = Choice { provider: "mock".into(), ..Choice::default() };
    let (mode, assignment) = (Some(mode), Some(assignment));
    let cwd = home.to_owned();
    let new = NewThread { cwd, choice, mode, assignment, ..NewThread::default() };
    core.threads().start(new).await.unwrap().thread.id
}

fn wants(unasked: Unasked) -> Assignment {
    Assignment { unasked: Unasked { is_on: true, ..unasked }, ..Assignment::default() }
}

fn calls(tool: &str, args: serde_json::Value) -> NewTurn {
    script(json!([{"tool": tool, "args": args}, {"text": "done"}]))
}

/// What came of the tools of a turn, in order.
async fn results(core: &Core, thread: ThreadId, turn: Turn) -> Vec<String> {
    let read = core.threads().read(thread).await.unwrap().turns.unwrap();
    let items = read.into_iter().find(|read| read.turn.id == turn.id).unwrap().items;
    let result = |item: rookery_model::Item| match item.body {
        ItemBody::Tool(call) => call.error.or(call.output),
        _ => None,
    };
    items.into_iter().filter_map(result).collect()
}

fn reason(asked: &Asked) -> &str {
    match asked {
        Asked::Approval { reason, .. } => reason,
        other => panic!("no approval: {other:?}"),
    }
}

#[tokio::test]
async fn attack_what_a_client_wants_to_be_asked_is_asked_in_every_mode() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a"), "x").unwrap();
    let core = core_in(home.path()).await;
    let thread = assigned(&core, home.path(), Mode::Bypass, Assignment::default()).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let turn = start(&core, thread, calls("read_file", json!({"path": "a"}))).await;
    until(&mut reader, is_asked).await;
    let asked = core.requests().list().pop().unwrap();
    assert_eq!(reason(&asked.asked), "the task asks before anything is done");
    // No mode settles what is wanted.
    core.threads().set_mode(Some(thread), Mode::AcceptAll, None, None).await.unwrap();
    core.threads().set_mode(Some(thread), Mode::Bypass, None, None).await.unwrap();
    assert_eq!(core.requests().list().len(), 1);
    let approved = Answer::Approved { remember: true };
    core.requests().resolve(asked.id, approved, "test").await.unwrap();
    core.threads().turn_ended(thread, turn.id).await;
    // What is remembered is not asked for again.
    let again = run(&core, thread, calls("read_file", json!({"path": "a"}))).await;
    assert_eq!(again.status, TurnStatus::Completed);
    core.stop(StopKind::KeepTerminals).await.unwrap();
}

#[tokio::test]
async fn what_a_client_lets_go_ahead_goes_as_far_as_policy_lets_it() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a"), "x").unwrap();
    let core = core_in(home.path()).await;
    let wanted = wants(Unasked {
        reads: Reach::Workspace,
        writes: Reach::Workspace,
        commands: true,
        allowed_commands: vec!["*".into()],
        denied_commands: vec!["touch".into()],
        ..Unasked::default()
    });
    // Policy asks although the client does not.
    let thread = assigned(&core, home.path(), Mode::Default, wanted.clone()).await;
    run(&core, thread, calls("read_file", json!({"path": "a"}))).await;
    let mut reader = core.log().subscribe(Topics::NOTICES, None);
    let write = || calls("write_file", json!({"path": "b", "content": "y"}));
    start(&core, thread, write()).await;
    until(&mut reader, is_asked).await;
    let asked = core.requests().list().pop().unwrap();
    assert_eq!(reason(&asked.asked), rookery_agent::policy::ASKED);
    // What only policy asked for is settled by the mode.
    core.threads().set_mode(Some(thread), Mode::AcceptAll, None, None).await.unwrap();
    until(&mut reader, |body| matches!(body, NoticeBody::Turn(TurnChange::Ended(_)))).await;
    assert_eq!(core.requests().list(), []);
    assert!(home.path().join("b").exists());
    // What the client denies is denied in every mode.
    let bypass = assigned(&core, home.path(), Mode::Bypass, wanted).await;
    let denied = run(&core, bypass, calls("shell", json!({"command": "cd . && touch c"}))).await;
    let said = results(&core, bypass, denied).await;
    assert_eq!(said, ["policy denied tool call: denied by the task's list of commands"]);
    assert!(!home.path().join("c").exists());
    // Settings of agents are asked for, wherever a link hides them.
    std::os::unix::fs::symlink(".roomodes", home.path().join("plain")).unwrap();
    start(&core, bypass, calls("write_file", json!({"path": "plain", "content": "y"}))).await;
    until(&mut reader, is_asked).await;
    let asked = core.requests().list().pop().unwrap();
    assert_eq!(reason(&asked.asked), "the task asks before settings of agents are changed");
    core.stop(StopKind::KeepTerminals).await.unwrap();
}

#[tokio::test]
async fn attack_a_role_has_no_tools_but_its_own() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let role = built_ins().remove(0);
    assert_eq!(role.slug, "architect");
    let unasked = Unasked { reads: Reach::Anywhere, writes: Reach::Anywhere, ..Unasked::default() };
    let assignment = Assignment { role: Some(role), ..wants(unasked) };
    let thread = assigned(&core, home.path(), Mode::Bypass, assignment).await;
    let head = core.threads().get(thread).unwrap().thread;
    let offered = core.offered_tools(&head, None, Mode::Bypass);
    let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
    for name in ["read_file", "write_file", "update_plan", "request_user_input"] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    assert!(!names.contains(&"shell") && !names.contains(&"unified_exec"), "{names:?}");
    let steps = json!([
        {"tool": "shell", "args": {"command": "ls"}},
        {"tool": "write_file", "args": {"path": "a.rs", "content": "x"}},
        {"tool": "write_file", "args": {"path": "a.md", "content": "x"}},
        {"text": "done"}
    ]);
    let turn = run(&core, thread, script(steps)).await;
    let said = results(&core, thread, turn).await;
    let denied = "policy denied tool call: role 🏗️ Architect";
    assert_eq!(said[0], format!("{denied} has no tools to run commands"));
    let files = r"may only change files that match \.md$: a.rs does not";
    assert_eq!(said[1], format!("{denied} {files}"));
    assert!(!home.path().join("a.rs").exists() && home.path().join("a.md").exists());
    core.stop(StopKind::KeepTerminals).await.unwrap();
}

/// Answers one request as a model does, and gives its whole text.
fn serve() -> (String, std::thread::JoinHandle<String>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", server.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (mut peer, _) = server.accept().unwrap();
        let (mut asked, mut piece) = (Vec::new(), [0; 4096]);
        loop {
            let text = String::from_utf8_lossy(&asked).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(": ")?;
                    name.eq_ignore_ascii_case("content-length").then(|| value.parse().unwrap())
                });
                if length.is_some_and(|length: usize| body.len() >= length) {
                    break;
                }
            }
            let count = peer.read(&mut piece).unwrap();
            asked.extend_from_slice(&piece[..count]);
        }
        let said =
            json!({"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]});
        let body = format!("data: {said}\n\ndata: [DONE]\n\n");
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
        write!(peer, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        String::from_utf8(asked).unwrap()
    });
    (address, serving)
}

#[tokio::test]
async fn a_task_is_answered_by_the_provider_it_brought_and_told_its_role() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("work/.roo/rules")).unwrap();
    std::fs::write(home.path().join("work/.roo/rules/a.md"), "Use tabs.").unwrap();
    let core = core_in(home.path()).await;
    let (address, serving) = serve();
    let task = TaskProvider {
        service: "openai",
        base_url: Some(&address),
        key: Some("sk-of-the-task"),
        model: Some("m-1"),
        max_tokens: Some(77),
        temperature: Some(0.25),
        ..TaskProvider::default()
    };
    let provider =
        core.agents().add_private_provider(of_task(task).unwrap(), Vec::new()).await.unwrap();
    let choice = Choice { provider: provider.clone(), model: "m-1".into(), reasoning: None };
    let facts = core.agents().model_facts(&choice);
    assert!(facts.takes_images && facts.max_tokens == Some(77));
    let role = built_ins().remove(2);
    let assignment = Assignment {
        role: Some(role),
        instructions: Some("Speak Latin.".into()),
        ..wants(Unasked::default())
    };
    let cwd = home.path().join("work");
    let new = NewThread { cwd, choice, assignment: Some(assignment), ..NewThread::default() };
    let thread = core.threads().start(new).await.unwrap().thread.id;
    let turn = run(&core, thread, says("hello")).await;
    assert_eq!(turn.status, TurnStatus::Completed, "{turn:?}");
    let asked = serving.join().unwrap();
    assert!(asked.to_lowercase().contains("authorization: bearer sk-of-the-task"), "{asked}");
    let body: serde_json::Value =
        serde_json::from_str(asked.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!((&body["temperature"], &body["max_tokens"]), (&json!(0.25), &json!(77)));
    let system = body["messages"][0]["content"].as_str().unwrap();
    for told in
        ["You work in the role ❓ Ask (ask).", "Speak Latin.", "a.md:\nUse tabs.", "- debug"]
    {
        assert!(system.contains(told), "{told}: {system}");
    }
    let names: Vec<&str> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"read_file") && !names.contains(&"write_file"), "{names:?}");
    let listed = core.agents().providers();
    assert!(listed.iter().all(|info| info.id != provider));
    core.stop(StopKind::KeepTerminals).await.unwrap();
}
