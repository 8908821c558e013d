//! Reading a whole directory of idx0: every file that is understood, and what is said of the others.
//! Nothing in the directory changes.

use std::path::Path;

use rookery_core::{Import, Imported, Taken};
use rookery_model::{EventId, Related, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::records::{self, AttentionItem, Links};
use super::{AGENT_EVENTS, Found, HANDLED, read_list};
use crate::values::{parse_uuid, uuid};
use crate::wire::{self, ImportReport, ImportedFile, ImportedSession};

/// How many sessions are named.
const MAX_SESSIONS: usize = 1_000;

/// What was read, and what is to be said of it.
pub(crate) struct Directory {
    import: Import,
    draft: Draft,
}

/// A report that lacks what became of the records.
pub(crate) struct Draft {
    report: ImportReport,
    /// Whether the items of the queue are from the file that was there before it.
    is_inbox: bool,
}

/// A session, of which only the name matters.
#[derive(Deserialize)]
struct SessionName {
    id: String,
    title: String,
}

impl Directory {
    /// Reads all files. It may take a while.
    pub(crate) fn read(dir: &Path, is_dry: bool, now: Timestamp) -> Directory {
        let report = ImportReport {
            directory: dir.display().to_string(),
            dry_run: is_dry,
            files: Vec::new(),
            sessions: Vec::new(),
        };
        let draft = Draft { report, is_inbox: false };
        let mut directory = Directory { import: Import::default(), draft };
        directory.read_all(dir, now);
        directory
    }

    fn read_all(&mut self, dir: &Path, now: Timestamp) {
        let import = Import {
            approvals: self.list(dir, "approvals", records::approval),
            reviews: self.list(dir, "reviews", records::review),
            checkpoints: self.list(dir, "checkpoints", records::checkpoint),
            handoffs: self.list(dir, "handoffs", records::handoff),
            handled: self
                .file(dir, AGENT_EVENTS, HANDLED, |id: String| parse_uuid(&id).map(EventId::new)),
            ..Import::default()
        };
        let links = links(&import);
        let item = |item: wire::SupervisionQueueItem| records::queue_item(item, &links, now);
        let mut queue = self.file(dir, "queue.json", "items", item);
        let old = self
            .file(dir, "inbox.json", "items", |item: AttentionItem| records::attention(item, now));
        if queue.is_empty() && !old.is_empty() {
            queue = old;
            self.draft.is_inbox = true;
        } else if let Some(inbox) = self.draft.report.files.last_mut().filter(|_| !old.is_empty()) {
            // It became the queue when idx0 last started.
            "unused".clone_into(&mut inbox.state);
        }
        let line = |line: wire::TimelineItem| records::timeline_item(line, &links);
        let timeline = self.file(dir, "timeline.json", "items", line);
        let name = |session: SessionName| Some((parse_uuid(&session.id)?, session.title));
        let sessions = self.file(dir, "sessions.json", "sessions", name);
        let named = sessions.into_iter().take(MAX_SESSIONS);
        self.draft.report.sessions =
            named.map(|(id, title)| ImportedSession { id: uuid(id), title }).collect();
        self.import = Import { queue, timeline, ..import };
    }

    /// The list of a file that has its name.
    fn list<W: DeserializeOwned, T>(
        &mut self,
        dir: &Path,
        name: &str,
        read: impl Fn(W) -> Option<T>,
    ) -> Vec<T> {
        self.file(dir, &format!("{name}.json"), name, read)
    }

    fn file<W: DeserializeOwned, T>(
        &mut self,
        dir: &Path,
        file: &str,
        list: &str,
        read: impl Fn(W) -> Option<T>,
    ) -> Vec<T> {
        let (state, reason, raw) = match read_list(&dir.join(file), list) {
            Found::List(raw) => ("read", None, raw),
            Found::Missing => ("missing", None, Vec::new()),
            Found::Newer(version) => ("newer", Some(format!("version {version}")), Vec::new()),
            Found::Corrupt(reason) => ("corrupt", Some(reason), Vec::new()),
            Found::Unreachable(error) => ("unreachable", Some(error.to_string()), Vec::new()),
        };
        let one = |raw: &serde_json::value::RawValue| read(serde_json::from_str(raw.get()).ok()?);
        let records: Vec<T> = raw.iter().filter_map(|raw| one(raw)).collect();
        self.draft.report.files.push(ImportedFile {
            file: file.to_owned(),
            reason,
            state: state.to_owned(),
            unreadable: raw.len() - records.len(),
            ..ImportedFile::default()
        });
        records
    }

    /// What may be taken over, and what is to be said then.
    pub(crate) fn into_parts(self) -> (Import, Draft) {
        (self.import, self.draft)
    }
}

impl Draft {
    /// The report, with what became of the records.
    pub(crate) fn finish(mut self, imported: &Imported) -> ImportReport {
        for file in &mut self.report.files {
            let Taken { taken, known, surplus } = match file.file.as_str() {
                "approvals.json" => imported.approvals,
                "reviews.json" => imported.reviews,
                "checkpoints.json" => imported.checkpoints,
                "handoffs.json" => imported.handoffs,
                "timeline.json" => imported.timeline,
                AGENT_EVENTS => imported.handled,
                "queue.json" if !self.is_inbox => imported.queue,
                "inbox.json" if self.is_inbox => imported.queue,
                _ => continue,
            };
            (file.taken, file.known, file.surplus) = (taken, known, surplus);
        }
        self.report
    }
}

/// What the ids of these records mean in others.
fn links(import: &Import) -> Links {
    let approvals = import.approvals.iter().map(|one| (one.id.get(), Related::Request(one.id)));
    let reviews = import.reviews.iter().map(|one| (one.id.get(), Related::Review(one.id)));
    let checkpoints =
        import.checkpoints.iter().map(|one| (one.id.get(), Related::Checkpoint(one.id)));
    let handoffs = import.handoffs.iter().map(|one| (one.id.get(), Related::Handoff(one.id)));
    approvals.chain(reviews).chain(checkpoints).chain(handoffs).collect()
}

#[cfg(test)]
mod tests {
    use rookery_model::{Category, RequestState};
    use serde_json::json;

    use super::*;

    const A: &str = "11111111-1111-1111-1111-111111111111";
    const B: &str = "22222222-2222-2222-2222-222222222222";
    const AT: &str = "2026-03-22T15:00:00Z";

    fn read(files: &[(&str, serde_json::Value)]) -> (Import, ImportReport) {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(dir.path().join(name), content.to_string()).unwrap();
        }
        let now = Timestamp::from_micros(1);
        let (import, draft) = Directory::read(dir.path(), false, now).into_parts();
        (import, draft.finish(&Imported::default()))
    }

    fn state(report: &ImportReport, name: &str) -> (String, usize) {
        let file = report.files.iter().find(|one| one.file == name).unwrap();
        (file.state.clone(), file.unreadable)
    }

    fn item(id: &str, related: &str) -> serde_json::Value {
        json!({ "id": id, "sessionID": A, "category": "blocked", "title": "t", "createdAt": AT,
                "isResolved": true, "isPinned": false, "relatedObjectID": related })
    }

    #[test]
    fn each_record_is_read_by_itself_and_knows_what_it_is_about() {
        let approval = json!({ "id": B, "sessionID": A, "createdAt": AT, "title": "t",
            "summary": "s", "requestedAction": "a", "status": "deferred" });
        let (import, report) = read(&[
            ("queue.json", json!({ "items": [item(A, B), item("x", B), 7], "schemaVersion": 3 })),
            ("approvals.json", json!({ "approvals": [approval], "schemaVersion": 3 })),
            ("inbox.json", json!({ "items": [legacy("error")], "schemaVersion": 2 })),
            ("reviews.json", json!({ "reviews": [], "schemaVersion": 9 })),
            ("handoffs.json", json!([])),
            ("sessions.json", json!({ "sessions": [{ "id": A, "title": "api", "x": 1 }] })),
        ]);
        assert_eq!(state(&report, "queue.json"), ("read".into(), 2));
        assert_eq!(state(&report, "inbox.json"), ("unused".into(), 0));
        assert_eq!(state(&report, "reviews.json"), ("newer".into(), 0));
        assert_eq!(state(&report, "handoffs.json"), ("corrupt".into(), 0));
        assert_eq!(state(&report, "timeline.json"), ("missing".into(), 0));
        assert_eq!(report.sessions, [ImportedSession { id: A.into(), title: "api".into() }]);
        let approval = &import.approvals[0];
        assert!(approval.is_deferred && approval.state == RequestState::Pending);
        assert_eq!(import.queue[0].related, Some(Related::Request(approval.id)));
        assert_eq!(import.queue[0].resolved_at, Some(Timestamp::from_micros(1)));
    }

    fn legacy(reason: &str) -> serde_json::Value {
        json!({ "id": A, "sessionID": B, "reason": reason, "message": "m", "createdAt": AT,
                "isResolved": false })
    }

    #[test]
    fn the_inbox_is_the_queue_of_those_who_have_none() {
        for (reason, category) in [
            ("needsInput", Category::Blocked),
            ("completed", Category::Completed),
            ("error", Category::Error),
            ("notification", Category::Informational),
        ] {
            let (import, report) = read(&[
                ("inbox.json", json!({ "items": [legacy(reason)] })),
                ("queue.json", json!({ "items": [] })),
            ]);
            assert_eq!(state(&report, "inbox.json"), ("read".into(), 0));
            assert_eq!(import.queue[0].category, category);
            assert_eq!(import.queue[0].subtitle.as_deref(), Some("m"));
        }
        let (import, report) = read(&[("inbox.json", json!({ "items": [legacy("other")] }))]);
        assert_eq!((import.queue.len(), state(&report, "inbox.json").1), (0, 1));
    }

    #[test]
    fn what_the_dialect_writes_is_read_again() {
        use rookery_model as model;
        let session = model::SessionId::new(7);
        let at = Timestamp::from_micros(1_000_000);
        let checkpoint = model::Checkpoint {
            id: model::CheckpointId::new(1),
            place: session.into(),
            repo: Some("/r".into()),
            branch: Some("b".into()),
            worktree: None,
            title: "t".into(),
            summary: "s".into(),
            head: Some("abc".into()),
            snapshot: None,
            differences: model::Differences {
                files: vec![model::ChangedFile {
                    path: "p".into(),
                    additions: Some(1),
                    deletions: None,
                    status: "M".into(),
                }],
                stat: Some(model::DiffStat { files: 1, additions: 1, deletions: 0 }),
                tests: Some(model::TestSummary {
                    status: model::TestStatus::Passed,
                    text: "ok".into(),
                }),
            },
            created_at: at,
            source: model::CheckpointSource::Manual,
        };
        let review = model::Review {
            id: model::ReviewId::new(2),
            place: session.into(),
            checkpoint: Some(checkpoint.id),
            created_at: at,
            summary: "s".into(),
            differences: checkpoint.differences.clone(),
            status: model::ReviewStatus::Deferred,
            comments: Vec::new(),
            plan: None,
        };
        let handoff = model::Handoff {
            id: model::HandoffId::new(3),
            from: session.into(),
            to: Some(model::SessionId::new(8)),
            checkpoint: None,
            title: "t".into(),
            summary: "s".into(),
            risks: vec!["r".into()],
            next_actions: Vec::new(),
            created_at: at,
            status: model::HandoffStatus::Accepted,
        };
        let (import, _) = read(&[
            ("checkpoints.json", json!({ "checkpoints": [wire::Checkpoint::from(&checkpoint)] })),
            ("reviews.json", json!({ "reviews": [wire::ReviewRequest::from(&review)] })),
            ("handoffs.json", json!({ "handoffs": [wire::Handoff::from(&handoff)] })),
            (AGENT_EVENTS, json!({ HANDLED: [A.to_lowercase(), B] })),
        ]);
        assert_eq!(import.checkpoints, [checkpoint]);
        assert_eq!(import.reviews, [review]);
        assert_eq!(import.handoffs, [handoff]);
        assert_eq!(import.handled.len(), 2);
    }
}
