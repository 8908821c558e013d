//! Lists of models: asked once, never waited for long, kept in a file.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rookery_model::Prices;
use tokio::sync::Notify;

use super::{Cache, FAILED, FRESH, PATIENCE, parse};
use crate::provider::{Listing, ModelInfo, ModelRequest, ModelStream, Provider};
use crate::providers::Loan;
use crate::providers::call::stream;

/// A provider that lists what it is told to, when it is told to.
struct Lister {
    asked: AtomicUsize,
    go: Notify,
    answer: Result<Vec<ModelInfo>, String>,
}

impl Provider for Lister {
    fn call(&self, _request: ModelRequest) -> ModelStream {
        stream(|_| async { Ok(()) })
    }

    fn models(&self, _key: Option<Loan>) -> Listing<'_> {
        Box::pin(async {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.go.notified().await;
            self.answer.clone()
        })
    }
}

fn one() -> Vec<ModelInfo> {
    vec![ModelInfo {
        id: "m".into(),
        name: "M".into(),
        context_window: Some(9),
        prices: Some(Prices { input: 1, output: 2, cached: 3, cache_creation: 4 }),
        ..ModelInfo::default()
    }]
}

fn lister(answer: Result<Vec<ModelInfo>, String>) -> Arc<Lister> {
    Arc::new(Lister { asked: AtomicUsize::new(0), go: Notify::new(), answer })
}

#[test]
fn lists_are_read_with_what_servers_tell() {
    let body = br#"{"data":[{"id":"a"},{"id":"b","name":"Bee","context_length":8},{"id":"c","display_name":"Cee","max_input_tokens":7},{},7]}"#;
    let read: Vec<(String, String, Option<u64>)> = parse(body)
        .unwrap()
        .into_iter()
        .map(|model| (model.id, model.name, model.context_window))
        .collect();
    let row = |id: &str, name: &str, window| (id.to_owned(), name.to_owned(), window);
    assert_eq!(read, [row("a", "a", None), row("b", "Bee", Some(8)), row("c", "Cee", Some(7))]);
    assert_eq!(parse(b"[]"), None);
    assert_eq!(parse(b"nonsense"), None);
}

#[test]
fn prices_are_read_where_servers_tell_them() {
    let told = |pricing: &str| {
        let body = format!(r#"{{"data":[{{"id":"a","pricing":{pricing}}}]}}"#);
        parse(body.as_bytes()).unwrap().remove(0).prices
    };
    let some =
        Prices { input: 3_000_000, output: 15_000_000, cached: 300_000, cache_creation: 3_750_000 };
    let whole = r#"{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003","input_cache_write":"0.00000375"}"#;
    assert_eq!(told(whole), Some(some));
    // Without a price of its own, what is cached costs what the rest does.
    let plain = Prices { cached: some.input, cache_creation: some.input, ..some };
    assert_eq!(told(r#"{"input":0.000003,"output":0.000015}"#), Some(plain));
    assert_eq!(told(r#"{"prompt":"0","completion":"0"}"#), Some(Prices::default()));
    for unknown in
        [r#"{"prompt":"-1","completion":"-1"}"#, r#"{"prompt":"1"}"#, "{}", "7", r#""x""#]
    {
        assert_eq!(told(unknown), None, "{unknown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_is_asked_for_once_while_it_is_good() {
    let (cache, provider) = (Cache::new(None), lister(Ok(one())));
    provider.go.notify_one();
    assert_eq!(cache.models("p", provider.clone()).await, one());
    assert_eq!(cache.models("p", provider.clone()).await, one());
    assert_eq!(provider.asked.load(Ordering::SeqCst), 1);
    tokio::time::advance(FRESH).await;
    assert_eq!(cache.models("p", provider.clone()).await, one());
    tokio::task::yield_now().await;
    assert_eq!(provider.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_is_not_waited_for() {
    let (cache, provider) = (Cache::new(None), lister(Ok(one())));
    let begin = tokio::time::Instant::now();
    assert_eq!(cache.models("p", provider.clone()).await, []);
    assert_eq!(begin.elapsed(), PATIENCE);
    provider.go.notify_one();
    assert_eq!(cache.models("p", provider.clone()).await, one());
    assert_eq!(provider.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_an_empty_list_for_a_while() {
    let (cache, provider) = (Cache::new(None), lister(Err("no".into())));
    provider.go.notify_one();
    assert_eq!(cache.models("p", provider.clone()).await, []);
    assert_eq!(cache.models("p", provider.clone()).await, []);
    assert_eq!(provider.asked.load(Ordering::SeqCst), 1);
    tokio::time::advance(FAILED).await;
    provider.go.notify_one();
    assert_eq!(cache.models("p", provider.clone()).await, []);
    assert_eq!(provider.asked.load(Ordering::SeqCst), 2);
    cache.forget_age("p");
    provider.go.notify_one();
    assert_eq!(cache.models("p", provider.clone()).await, []);
    assert_eq!(provider.asked.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_list_outlives_its_cache() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sub/models.json");
    super::file::write(&path, &[("p".to_owned(), one())]).unwrap();
    let (cache, provider) = (Cache::new(Some(path.clone())), lister(Err("gone".into())));
    assert_eq!(cache.models("p", provider).await, one());
    assert_eq!(cache.remembered("p", "m"), one().pop());
    assert_eq!((cache.remembered("p", "n"), cache.remembered("q", "m")), (None, None));
    std::fs::write(&path, "broken").unwrap();
    let (cache, provider) = (Cache::new(Some(path.clone())), lister(Ok(one())));
    provider.go.notify_one();
    assert_eq!(cache.models("q", provider).await, one());
    cache.save().await;
    assert_eq!(super::file::read(&path), [("q".to_owned(), one())]);
}
