//! Proxies of the environment, which a process reads once: a child with another one is asked.

use rookery_agent::provider::ModelEvent;

use crate::fixtures::RESPONSES;
use crate::server::{Reply, serve};
use crate::{Setup, quick};

/// Tells the child that it is one.
const CHILD: &str = "ROOKERY_PROXY_CHILD";

#[tokio::test]
async fn a_proxy_of_the_environment_is_used() {
    if std::env::var_os(CHILD).is_some() {
        // Only a proxy can reach a host of this name.
        let events = Setup::new("model.invalid", quick(1)).answer(RESPONSES.id).await;
        assert!(matches!(events.last(), Some(ModelEvent::Done { .. })), "{events:?}");
        return;
    }
    let server = serve(vec![Reply::stream([RESPONSES.stream.as_bytes()])]).await;
    let output = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "proxy::a_proxy_of_the_environment_is_used", "--nocapture"])
        .env(CHILD, "1")
        .env("http_proxy", format!("http://{}", server.address))
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let seen = server.seen.lock();
    assert!(
        seen[0].0.starts_with("post http://model.invalid/base/responses http/1.1"),
        "{}",
        seen[0].0
    );
}
