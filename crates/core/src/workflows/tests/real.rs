//! Runs whose agents are real: children with threads and turns of their own, whom the mock answers.

use std::collections::BTreeSet;

use super::*;

/// Agents of the run: as many as one may have.
const AGENTS: usize = 1_000;
/// How many work at the same time.
const AT_ONCE: usize = 16;

/// The most agents at work at the same time, by what was announced.
fn most_at_work(seen: &[String]) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for line in seen.iter().filter(|line| line.starts_with("agent-")) {
        match line.rsplit(' ').next() {
            Some("started") => now += 1,
            Some("completed") => now -= 1,
            _ => {}
        }
        most = most.max(now);
    }
    most
}

#[tokio::test]
async fn a_thousand_children_work_sixteen_at_a_time() {
    let world = World::real().await;
    // As many as there are places ask a person, so that the others have to wait.
    let asks = json!([
        { "tool": "write_file", "args": { "path": "made", "content": "x" } }, { "text": "asked" }
    ]);
    let [asks, answers] =
        [asks, json!([{ "text": "answered" }])].map(|steps| json!(format!("MOCK_SCRIPT:{steps}")));
    let body = format!(
        "const all = await parallel(Array.from({{ length: {AGENTS} }}, (_, i) => () => agent(i < {AT_ONCE} ? {asks} : {answers})))\n\
         return all.filter((answer) => answer === 'answered').length"
    );
    let mut news = world.core.log().subscribe(Topics::NOTICES, None);
    let mut asked = world.core.log().subscribe(Topics::NOTICES, None);
    let id = world.start(&body).await;
    while world.core.requests().list().len() < AT_ONCE {
        tokio::time::timeout(PATIENCE, asked.next()).await.expect("they ask").unwrap();
    }
    let run = world.core.workflows().get(&id, false, true).await.unwrap();
    let at_work = run.agents.iter().filter(|agent| agent.status == AgentStatus::Running);
    assert_eq!((run.agents.len(), at_work.count()), (AGENTS, AT_ONCE));
    drop(asked);
    for request in world.core.requests().list() {
        let denied = Answer::Denied { message: None };
        world.core.requests().resolve(request.id, denied, "test").await.unwrap();
    }
    let seen = changes(&mut news, "completed").await;
    assert_eq!(most_at_work(&seen), AT_ONCE);
    let run = world.core.workflows().get(&id, false, true).await.unwrap();
    assert_eq!(run.report, Some((AGENTS - AT_ONCE).to_string()));
    let summary = run.summary();
    assert_eq!((summary.completed_agents, summary.failed_agents), (AGENTS as u32, 0));
    assert_eq!(summary.concurrency_peak, AT_ONCE as u32);
    // Each was asked once, in a thread of its own.
    let threads: BTreeSet<_> = run.agents.iter().filter_map(|agent| agent.thread).collect();
    assert_eq!(threads.len(), AGENTS);
    assert!(run.agents.iter().all(|agent| agent.attempt == 1));
    assert_eq!(world.core.look().threads.len(), AGENTS);
    // One begins anew; the answers of all others are those of before.
    world.core.workflows().restart_agent(&id, "agent-100", ClientGrant::default()).await.unwrap();
    changes(&mut news, "completed").await;
    let run = world.core.workflows().get(&id, false, true).await.unwrap();
    assert_eq!(run.report, Some((AGENTS - AT_ONCE).to_string()));
    assert_eq!(run.agents.iter().filter(|agent| agent.is_cached).count(), AGENTS - 1);
    assert_eq!(world.core.look().threads.len(), AGENTS + 1);
}
