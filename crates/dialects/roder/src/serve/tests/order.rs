//! What comes before a reply and what comes behind it, and who hears of what.

use super::raw::{Lines, script};
use super::*;

/// What was reported of hunks and of reviews.
fn methods(told: &[Value]) -> Vec<&str> {
    let names = told.iter().filter_map(|one| one["method"].as_str());
    names.filter(|name| name.starts_with("hunk/") || name.starts_with("plan/")).collect()
}

/// A command whose words are not there before something is written into `gate`.
#[expect(clippy::disallowed_methods, reason = "a test makes its gate")]
fn slow_command(world: &World) {
    let slow = "---\ninclude: {shell: [{id: m, command: cat gate}]}\n---\nx {{include.shell.m}}";
    std::fs::write(world.dir(".roder/commands").join("slow.md"), slow).unwrap();
    let made = std::process::Command::new("mkfifo").arg(world.path().join("gate")).status();
    assert!(made.unwrap().success());
}

#[tokio::test]
async fn what_a_request_changes_is_reported_before_its_reply_while_another_reply_waits() {
    let world = World::start(|agent, _| agent.settings.commands.allow_shell_includes = true).await;
    slow_command(&world);
    let mut client = Lines::to(&world);
    client.call("session/set_mode", json!({ "mode": "bypass" })).await;
    let edited = client.thread(&world).await;
    let write =
        json!([{ "tool": "write_file", "args": { "path": "a", "content": "x\n" }, "id": "c1" }]);
    client.turn(&edited, &script(&write)).await;
    client.call("session/set_mode", json!({ "mode": "plan" })).await;
    let planned = client.thread(&world).await;
    let plan = json!([{ "tool": "exit_plan_mode", "args": { "summary": "Do it" } }]);
    let prompt = script(&plan);
    client.call("turn/start", json!({ "threadId": planned, "prompt": prompt })).await;
    let review = loop {
        let message = client.next().await;
        if message["method"] == "plan/reviewCreated" {
            break message["params"]["review"]["id"].clone();
        }
    };
    let waiting = client.thread(&world).await;
    let params = json!({ "threadId": waiting, "name": "slow" });
    let held =
        json!({ "jsonrpc": "2.0", "id": "held", "method": "commands/run", "params": params });
    client.send(&held.to_string()).await;
    client.told.clear();
    let params = json!({ "threadId": edited, "hunkId": "c1-hunk-1", "confirmed": true });
    let rolled = client.call("hunk/rollback", params).await;
    assert_eq!(rolled["result"], json!({ "rolledBack": true }));
    assert_eq!(methods(&client.told), ["hunk/rollbackRequested", "hunk/rollbackCompleted"]);
    client.told.clear();
    let params =
        json!({ "threadId": planned, "reviewId": review, "anchor": "wholePlan", "body": "no" });
    let commented = client.call("plan/review/comment", params).await;
    assert_eq!(commented["result"]["comment"]["body"], "no");
    assert_eq!(methods(&client.told), ["plan/reviewCommentAdded"]);
    let gate = world.path().join("gate");
    tokio::task::spawn_blocking(move || std::fs::write(gate, "go")).await.unwrap().unwrap();
    loop {
        let message = client.next().await;
        if message["id"] == "held" {
            break;
        }
    }
}

#[tokio::test]
async fn who_watches_one_process_and_then_another_hears_of_both() {
    let world = World::start(|_, _| {}).await;
    let client = world.connect();
    call(&client, "session/set_mode", json!({ "mode": "bypass" })).await.unwrap();
    let mut told = client.notifications().unwrap();
    for id in ["p1", "p2"] {
        let watched = call(&client, "processes/subscribe", json!({ "processId": id })).await;
        assert_eq!(watched.unwrap()["processes"], json!([]));
    }
    for id in ["p3", "p2"] {
        let params = json!({ "command": ["true"], "processId": id });
        call(&client, "command/exec", params).await.unwrap();
    }
    let heard = async {
        loop {
            let message = told.recv().await.unwrap();
            if message.method == "processes/updated" {
                let params: Value = serde_json::from_str(message.params.get()).unwrap();
                return params["processes"].clone();
            }
        }
    };
    let heard = tokio::time::timeout(Duration::from_secs(20), heard).await.unwrap();
    assert_eq!(heard.as_array().unwrap().len(), 1);
    assert_eq!(heard[0]["processId"], "p2");
    let all = call(&client, "processes/subscribe", Value::Null).await.unwrap();
    assert_eq!(all["processes"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn everything_that_makes_something_is_an_extension() {
    let world = World::start(|agent, _| {
        let house = rookery_agent::settings::ServiceSettings {
            base_url: "http://127.0.0.1:9/v1".into(),
            model: "tiny".into(),
            ..Default::default()
        };
        agent.settings.memory.providers.insert("house".to_owned(), house);
    })
    .await;
    let client = world.connect();
    let listed = call(&client, "extensions/list", Value::Null).await.unwrap();
    let all = listed["extensions"].as_array().unwrap();
    let provided: Vec<&Value> =
        all.iter().flat_map(|it| it["provides"].as_array().unwrap()).collect();
    for wanted in [
        json!({ "MediaGenerator": "fake" }),
        json!({ "EmbeddingProvider": "house" }),
        json!({ "VersionControlProvider": "git" }),
        json!({ "CheckpointStore": "checkpoints" }),
    ] {
        assert!(provided.contains(&&wanted), "{wanted}");
    }
    for extension in all {
        let id = extension["id"].as_str().unwrap();
        assert!(listed["capability_statuses"][id].is_array(), "{id}");
    }
}
