//! What happens to threads, as those hear it who follow or show it.

use futures_util::FutureExt as _;
use rookery_model::EventSeq;

use super::{core_in, run, says, thread_in};
use crate::core::StopKind;
use crate::log::{News, NoticeBody, Shows, ThreadChange, Topics};

#[tokio::test]
async fn one_subscription_has_events_and_notices_in_one_order() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let since = core.log().last();
    let mut all = core.log().subscribe(Topics::ALL, Some(EventSeq::new(0)));
    let thread = thread_in(&core, home.path()).await;
    let other = thread_in(&core, home.path()).await;
    let mut one = core.log().subscribe(Topics::NOTICES.of_thread(thread), None);
    for thread in [other, thread] {
        run(&core, thread, says("hello")).await;
    }
    core.stop(StopKind::KeepTerminals).await.unwrap();
    let (mut next, mut notices, mut seen) = (EventSeq::new(1), 0, Vec::new());
    // Ends when the daemon stops, with everything that happened before.
    while let Ok(batch) = all.next().await {
        for news in batch {
            match news {
                News::Event(event) => {
                    assert_eq!(event.seq, next, "each once, in order");
                    next = event.seq.next();
                    seen.push(
                        format!("{:?}", event.event).split(['(', ' ']).next().unwrap().to_owned(),
                    );
                }
                News::Notice(notice) => {
                    notices += 1;
                    if matches!(notice.body, NoticeBody::Thread(ThreadChange::Started(..))) {
                        assert!(next > since.next(), "its event came before");
                        assert_eq!(seen.last().map(String::as_str), Some("ThreadStarted"));
                    }
                }
                missed => panic!("{missed:?}"),
            }
        }
    }
    assert!(notices > 10 && seen.last().is_some_and(|last| last == "DaemonStopping"), "{seen:?}");
    while let Ok(batch) = one.next().await {
        for notice in batch.iter().filter_map(News::notice) {
            assert_ne!(notice.thread, Some(other));
        }
    }
}

#[tokio::test]
async fn a_viewer_is_woken_for_what_it_shows_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let core = core_in(home.path()).await;
    let mut threads = core.log().changes(&[Shows::Threads]);
    let mut others = core.log().changes(&[Shows::Reviews, Shows::Checkpoints, Shows::Seats]);
    thread_in(&core, home.path()).await;
    assert_eq!(threads.next().await.unwrap(), [Shows::Threads]);
    assert!(others.next().now_or_never().is_none());
    core.seats().set_sidebar_width(300.0).await.unwrap();
    assert_eq!(others.next().await.unwrap(), [Shows::Seats]);
}
