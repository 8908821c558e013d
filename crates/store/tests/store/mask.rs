//! What is hidden is hidden before it is saved, and in what was saved without it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rookery_model::{Event, EventSeq, NumberedEvent, Project, TerminalId};
use rookery_store::{Batch, Change, Mask, Store, ValueKey};

use crate::common::{flush, now, project, ring};

const SECRET: &str = "sesame-open-sesame";

fn hide(text: &mut String) {
    *text = text.replace(SECRET, "hidden");
}

fn mask() -> Mask {
    Mask {
        change: |change| {
            if let Change::ProjectUpserted(project) = change {
                hide(&mut project.name);
            }
        },
        event: |event| {
            if let Event::TerminalTitleChanged { title, .. } = event {
                hide(title);
            }
        },
    }
}

fn titled(seq: EventSeq, title: &str) -> NumberedEvent {
    let event = Event::TerminalTitleChanged { id: TerminalId::new(1), title: title.to_owned() };
    NumberedEvent { seq, at: now(), event }
}

fn batch(seq: EventSeq) -> Batch {
    let named = Project { name: format!("a {SECRET}"), ..project(1) };
    let changes = vec![Change::ProjectUpserted(named)];
    Batch { changes, events: vec![titled(seq, &format!("is {SECRET}"))] }
}

/// Whether any file of a store has the secret.
fn has_secret(dir: &Path) -> bool {
    let files = fs::read_dir(dir).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| bytes.windows(SECRET.len()).any(|at| at == SECRET.as_bytes()))
}

#[test]
fn attack_what_is_committed_is_hidden_before_it_is_saved_or_shown() {
    let dir = tempfile::tempdir().unwrap();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    store.mask_with(mask());
    store.commit(batch(loaded.next_event)).wait_blocking().unwrap();
    let expected = titled(loaded.next_event, "is hidden").event;
    assert_eq!(store.tail(loaded.next_event).unwrap()[0].event, expected);
    assert_eq!(store.events(loaded.next_event, 9).unwrap().events[0].event, expected);
    assert!(!has_secret(dir.path()));
    drop(store);
    let (_store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.projects[0].name, "a hidden");
    assert!(!has_secret(dir.path()));
}

#[test]
fn attack_what_was_saved_without_a_mask_is_hidden_later() {
    let dir = tempfile::tempdir().unwrap();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let first = loaded.next_event;
    store.commit(batch(first)).wait_blocking().unwrap();
    // More than one step takes.
    let mut next = first.next();
    ring(&store, &mut next, 600);
    store.commit(batch(next)).wait_blocking().unwrap();
    drop(store);
    assert!(has_secret(dir.path()), "it lies there as it is");
    let (store, loaded) = Store::open(dir.path()).unwrap();
    store.mask_with(mask());
    flush(&store);
    let begun = Instant::now();
    while store.kept(&ValueKey::Masked).unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the old rows are never gone through");
        std::thread::yield_now();
    }
    let told = store.events(first, usize::MAX).unwrap().events;
    assert_eq!(told[0].event, titled(first, "is hidden").event);
    assert_eq!(told[601].event, titled(next, "is hidden").event);
    assert_eq!(told.len(), 602, "and nothing else has changed");
    assert_eq!(loaded.projects.len(), 1);
    assert!(!loaded.is_masked, "the first start finds it as it was");
    drop(store);
    assert!(!has_secret(dir.path()));
    let (_store, loaded) = Store::open(dir.path()).unwrap();
    assert_eq!(loaded.projects[0].name, "a hidden");
    assert!(loaded.is_masked, "and later ones need not look again");
}
