//! Where agents are asked, and what their phase gives them.

use super::*;

fn paths(host: &TestHost) -> Vec<(String, String, u32)> {
    let launches = host.launches.lock().unwrap();
    let key = |one: &Launch| (one.prompt.clone(), one.key.path.clone(), one.key.occurrence);
    launches.iter().map(key).collect()
}

fn at(prompt: &str, path: &str, occurrence: u32) -> (String, String, u32) {
    (prompt.to_owned(), path.to_owned(), occurrence)
}

#[tokio::test]
async fn the_same_question_in_a_pipeline_is_distinguished_whoever_asks_first() {
    let body =
        "return await pipeline(['slow', 'fast'], (p, item) => agent(item), () => agent('same'))";
    let source = bare(body);
    let mut seen = Vec::new();
    for is_held in [true, false] {
        let host = Arc::new(TestHost::default());
        let gate = is_held.then(|| host.gate("slow"));
        let (running, text) = (Arc::clone(&host), source.clone());
        let done =
            tokio::spawn(async move { play_with(&running, &text, RunInput::default()).await });
        while gate.is_some() && !host.seen().contains(&"agent same".to_owned()) {
            tokio::task::yield_now().await;
        }
        if let Some(gate) = gate {
            gate.add_permits(1);
        }
        done.await.unwrap().unwrap();
        let mut all = paths(&host);
        all.sort();
        seen.push(all);
    }
    assert_eq!(seen[0], seen[1]);
    let same = [at("same", "item 0 stage 1", 0), at("same", "item 1 stage 1", 0)];
    assert_eq!(seen[0][1..3], same);
}

#[tokio::test]
async fn slots_have_their_places_and_what_is_outside_is_counted() {
    let body = "await agent('a'); await parallel([() => agent('a'), async () => { await agent('a'); return agent('b') }]); await workflow('inner', {n: 1}); await agent('a')";
    let (done, host) = play(&bare(body), Value::Null).await;
    done.unwrap();
    let expected = [
        at("a", "", 0),
        at("a", "slot 0", 0),
        at("a", "slot 1", 0),
        at("b", "", 0),
        at("inner prompt", "inner", 0),
        at("a", "", 1),
    ];
    assert_eq!(paths(&host), expected);
}

#[tokio::test]
async fn agents_have_the_model_of_their_phase_unless_they_name_one() {
    let source = "export const meta = { name: 'test', description: 'd', phases: [{ title: 'look', model: 'small' }, { title: 'judge' }] }\n\
        await agent('before'); phase('look'); await agent('a'); await agent('b', { model: 'own' }); phase('judge'); await agent('c'); await agent('d', { phase: 'look' })";
    let (done, host) = play(source, Value::Null).await;
    done.unwrap();
    let launches = host.launches.lock().unwrap();
    let models: Vec<Option<&str>> = launches.iter().map(|one| one.key.model.as_deref()).collect();
    assert_eq!(models, [None, Some("small"), Some("own"), None, Some("small")]);
    let wrong = "export const meta = { name: 'test', description: 'd', phases: [{ title: 'x', model: 3 }] }\nreturn 1";
    assert_eq!(Script::read(wrong).unwrap_err().kind, ErrorKind::InvalidMetadata);
}
