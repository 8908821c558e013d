//! Subscriptions.

use rookery_wire::outbox::OutboxLimits;

use super::*;

const RENAMED: &str = r#"{"event":"project.renamed","data":{"project_id":"1","name":"n"}}"#;

fn renamed(seq: u64) -> String {
    format!(r#"{{"event":"project.renamed","data":{{"project_id":"1","name":"n"}},"seq":"{seq}"}}"#)
}

fn titled(tab: u64) -> String {
    format!(r#"{{"event":"tab.title_changed","data":{{"tab_id":"{tab}","title":"t"}}}}"#)
}

impl World {
    async fn subscribe(&mut self, id: i64, params: &str) {
        self.ask(id, "events.subscribe", params).await;
    }

    /// Has a request commit that many events, and returns before it is answered.
    async fn commit(&mut self, id: i64, count: u64) {
        let params = format!(r#"{{"project_id":"{count}","name":"n"}}"#);
        self.ask(id, "project.rename", &params).await;
    }

    async fn focus(&mut self, id: i64, tab: u64) {
        self.ask(id, "tab.focus", &format!(r#"{{"tab_id":"{tab}"}}"#)).await;
    }

    async fn expect_focused(&mut self, id: i64) {
        let result = r#"{"previous_project_id":"0","previous_tab_id":"0"}"#;
        self.expect(&format!(r#"{{"id":"{id}","ok":true,"result":{result}}}"#)).await;
    }
}

#[tokio::test]
async fn the_events_of_a_request_precede_its_reply() {
    let mut world = World::new();
    world.commit(1, 3).await;
    world.expect_done(1).await;
    // Sent in one go: nothing may come before the reply to the subscription.
    world.subscribe(2, "{}").await;
    world.commit(3, 600).await;
    world.commit(4, 1).await;
    world.expect_done(2).await;
    for (id, count) in [(3, 600), (4, 1)] {
        for _ in 0..count {
            world.expect(RENAMED).await;
        }
        world.expect_done(id).await;
    }
}

#[tokio::test]
async fn unsolicited_events_come_as_well() {
    let mut world = World::new();
    world.subscribe(1, "{}").await;
    world.expect_done(1).await;
    let id = ProjectId::new(1);
    world.log.commit(Event::ProjectsReordered);
    world.log.commit(Event::ProjectDeleted { id });
    world.expect(r#"{"event":"project.deleted","data":{"project_id":"1"}}"#).await;
}

#[tokio::test]
async fn a_filter_lets_one_tab_through() {
    let mut world = World::new();
    world.subscribe(1, r#"{"tab_id_filter":"3"}"#).await;
    world.expect_done(1).await;
    world.commit(2, 1).await;
    world.expect_done(2).await;
    world.focus(3, 4).await;
    world.expect_focused(3).await;
    world.focus(4, 3).await;
    world.expect(&titled(3)).await;
    world.expect_focused(4).await;
    let terminal = Some(TerminalId::new(3));
    world.log.commit(Event::ActiveChanged { project: None, terminal: None });
    world.log.commit(Event::ActiveChanged { project: None, terminal });
    world.expect(r#"{"event":"active.changed","data":{"project_id":"0","tab_id":"3"}}"#).await;
}

#[tokio::test]
async fn another_subscription_replaces_the_filter_without_loss_or_repetition() {
    let mut world = World::new();
    world.subscribe(1, "{}").await;
    world.expect_done(1).await;
    world.focus(2, 4).await;
    world.subscribe(3, r#"{"tab_id_filter":"5"}"#).await;
    world.focus(4, 4).await;
    world.focus(5, 5).await;
    world.subscribe(6, "{}").await;
    world.focus(7, 4).await;
    world.expect(&titled(4)).await;
    world.expect_focused(2).await;
    world.expect_done(3).await;
    world.expect_focused(4).await;
    world.expect(&titled(5)).await;
    world.expect_focused(5).await;
    world.expect_done(6).await;
    world.expect(&titled(4)).await;
    world.expect_focused(7).await;
}

#[tokio::test]
async fn a_number_to_start_from_brings_what_was_missed() {
    let mut world = World::new();
    world.commit(1, 3).await;
    world.expect_done(1).await;
    world.subscribe(2, r#"{"since":"1"}"#).await;
    world.expect(r#"{"id":"2","ok":true,"result":{"seq":"3"}}"#).await;
    world.expect(&renamed(2)).await;
    world.expect(&renamed(3)).await;
    world.commit(3, 1).await;
    world.expect(&renamed(4)).await;
    world.expect_done(3).await;
    world.subscribe(4, r#"{"since":"-1"}"#).await;
    world.expect(r#"{"id":"4","ok":true,"result":{"seq":"4"}}"#).await;
    world.commit(5, 1).await;
    world.expect(&renamed(5)).await;
    world.expect_done(5).await;
}

#[tokio::test]
async fn events_that_are_gone_or_yet_to_come_cannot_be_asked_for() {
    let mut world = Setup { forgotten: 10, ..Setup::default() }.start();
    world.subscribe(1, r#"{"since":"9"}"#).await;
    world
        .expect(concat!(
            r#"{"id":"1","ok":false,"error":{"code":"invalid-param","#,
            r#""message":"since: events after 9 are no longer kept"}}"#
        ))
        .await;
    world.subscribe(2, r#"{"since":"11"}"#).await;
    world.expect_error(2, "invalid-param").await;
    world.subscribe(3, r#"{"since":"10"}"#).await;
    world.expect(r#"{"id":"3","ok":true,"result":{"seq":"10"}}"#).await;
    world.commit(4, 1).await;
    world.expect(&renamed(11)).await;
}

/// A connection with small queues, and more events than they hold.
async fn flooded() -> World {
    let outbox = OutboxLimits { bytes: 64 * 1024, ..options().outbox };
    let small = Options { outbox, write_high_water: 16 * 1024, ..options() };
    let mut world = Setup { options: small, ..Setup::default() }.start();
    world.subscribe(1, "{}").await;
    world.expect_done(1).await;
    for _ in 0..400 {
        let name = "n".repeat(1024);
        world.log.commit(Event::ProjectRenamed { id: ProjectId::new(1), name });
    }
    world
}

#[tokio::test(start_paused = true)]
async fn who_does_not_read_is_cut_off() {
    let world = flooded().await;
    assert!(matches!(world.served.await.unwrap(), Outcome::Cut(_)));
}

#[tokio::test(start_paused = true)]
async fn who_reads_gets_more_than_the_queue_holds() {
    let mut world = flooded().await;
    for _ in 0..400 {
        assert!(world.line().await.len() > 1024);
    }
}

#[test]
fn the_queue_holds_what_the_contract_promises() {
    let outbox = options().outbox;
    assert!(outbox.bytes >= 4 * 1024 * 1024);
    let smallest = r#"{"event":"tab.closed","data":{"tab_id":"1"}}"#.len();
    assert!(outbox.messages * smallest >= 4 * 1024 * 1024);
}
