//! Where runs are kept: one directory for each, and what was consented to. Everything blocks.
//!
//! `runs/<id>/run.json` is replaced whole, `agent-results.jsonl` and `checkpoints.jsonl` only grow.
//! A file that cannot be read is moved aside, and what it held starts empty.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use rookery_host::{files, journal};
use rookery_model::{Error, Result};
use rookery_scripts::LaunchKey;
use serde_json::{Value, json};

use super::encode::{Consent, KeptResult};
use super::types::Run;
use crate::clock;

/// The record of a run.
const RECORD: &str = "run.json";
/// The results of its agents.
const RESULTS: &str = "agent-results.jsonl";
/// What its script keeps.
const CHECKPOINTS: &str = "checkpoints.jsonl";
/// What was consented to.
const CONSENTS: &str = "consents.json";
/// Longest file that is read.
const MAX_FILE: u64 = 256 << 20;
/// Longest id of a run.
const MAX_ID: usize = 128;

/// Whether a text may become the name of a file.
pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    text.len() <= MAX_ID
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && text.bytes().all(is_part)
}

/// The files of all runs; without a directory nothing is kept.
#[derive(Clone, Debug)]
pub(crate) struct RunFiles {
    root: Option<PathBuf>,
}

impl RunFiles {
    pub(crate) fn new(root: Option<PathBuf>) -> RunFiles {
        RunFiles { root }
    }

    /// Whether runs that are over can be read again.
    pub(crate) fn is_kept(&self) -> bool {
        self.root.is_some()
    }

    fn runs(&self) -> Option<PathBuf> {
        self.root.as_ref().map(|root| root.join("runs"))
    }

    fn dir(&self, run: &str) -> Result<Option<PathBuf>> {
        if !is_name(run) {
            return Err(Error::invalid("run_id", "this is not a run id"));
        }
        Ok(self.runs().map(|runs| runs.join(run)))
    }

    /// All runs that were kept.
    pub(crate) fn load_all(&self) -> Vec<Run> {
        let Some(runs) = self.runs() else { return Vec::new() };
        let Ok(entries) = files::read_dir(&runs) else { return Vec::new() };
        let names = entries.into_iter().filter(|entry| entry.is_dir).map(|entry| entry.name);
        names.filter(|name| is_name(name)).filter_map(|name| self.load(&name)).collect()
    }

    /// A run that was kept.
    pub(crate) fn load(&self, run: &str) -> Option<Run> {
        let dir = self.dir(run).ok()??;
        let value = read_or_set_aside(&dir.join(RECORD), |value| {
            Run::from_json(value).filter(|read| read.id == run)
        })?;
        Some(value)
    }

    /// Keeps a run as it is now.
    pub(crate) fn save(&self, run: &Run) -> Result<()> {
        let Some(dir) = self.dir(&run.id)? else { return Ok(()) };
        let text = run.to_json().to_string();
        files::replace(&dir.join(RECORD), text.as_bytes()).map_err(|error| failed(&error))
    }

    /// Forgets a run.
    pub(crate) fn remove(&self, run: &str) -> Result<()> {
        let Some(dir) = self.dir(run)? else { return Ok(()) };
        let names = [RECORD, RESULTS, CHECKPOINTS];
        journal::remove_all(&dir, &names).map_err(|error| failed(&error))
    }

    /// Keeps the result of an agent.
    pub(crate) fn add_result(&self, run: &str, result: &KeptResult) -> Result<()> {
        self.append(run, RESULTS, &result.to_json())
    }

    /// Notes that the result of an agent does not count any more.
    pub(crate) fn drop_result(&self, run: &str, agent: &str) -> Result<()> {
        self.append(run, RESULTS, &json!({ "droppedAgentId": agent }))
    }

    /// The results that count.
    pub(crate) fn results(&self, run: &str) -> Result<HashMap<LaunchKey, KeptResult>> {
        let mut results: HashMap<LaunchKey, KeptResult> = HashMap::new();
        for line in self.lines(run, RESULTS)? {
            let dropped = line.get("droppedAgentId").or_else(|| line.get("dropped_agent_id"));
            if let Some(dropped) = dropped.and_then(Value::as_str) {
                results.retain(|_, kept| kept.agent != dropped);
            } else if let Some(kept) = KeptResult::from_json(&line) {
                results.insert(kept.key.clone(), kept);
            }
        }
        Ok(results)
    }

    /// Keeps what a script wants to have again.
    pub(crate) fn add_checkpoint(&self, run: &str, key: &str, value: &Value) -> Result<()> {
        self.append(run, CHECKPOINTS, &json!({ "key": key, "value": value }))
    }

    /// What a script kept.
    pub(crate) fn checkpoints(&self, run: &str) -> Result<BTreeMap<String, Value>> {
        let lines = self.lines(run, CHECKPOINTS)?.into_iter();
        let kept = lines.filter_map(|mut line| {
            let key = line.get("key")?.as_str()?.to_owned();
            Some((key, line.get_mut("value")?.take()))
        });
        Ok(kept.collect())
    }

    fn append(&self, run: &str, name: &str, line: &Value) -> Result<()> {
        let Some(dir) = self.dir(run)? else { return Ok(()) };
        let line = line.to_string();
        journal::append(&dir.join(name), line.as_bytes()).map_err(|error| failed(&error))
    }

    /// The lines of a journal. One that was cut short is skipped.
    fn lines(&self, run: &str, name: &str) -> Result<Vec<Value>> {
        let Some(dir) = self.dir(run)? else { return Ok(Vec::new()) };
        let lines = journal::lines(&dir.join(name), MAX_FILE).map_err(|error| failed(&error))?;
        Ok(lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// What was consented to.
    pub(crate) fn consents(&self) -> Vec<Consent> {
        let Some(root) = &self.root else { return Vec::new() };
        let read = |value: &Value| {
            let consents = value.get("consents")?.as_array()?;
            consents.iter().map(Consent::from_json).collect()
        };
        read_or_set_aside(&root.join(CONSENTS), read).unwrap_or_default()
    }

    /// Keeps what was consented to.
    pub(crate) fn save_consents(&self, consents: &[Consent]) -> Result<()> {
        let Some(root) = &self.root else { return Ok(()) };
        let consents: Vec<Value> = consents.iter().map(Consent::to_json).collect();
        let text = json!({ "version": 1, "consents": consents }).to_string();
        files::replace(&root.join(CONSENTS), text.as_bytes()).map_err(|error| failed(&error))
    }
}

/// Reads a file; one that says something else than expected is moved aside.
fn read_or_set_aside<T>(path: &Path, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
    let bytes = match files::read_range(path, 0, None, MAX_FILE) {
        Ok(bytes) => bytes,
        Err(files::ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            tracing::warn!(?error, path = %path.display(), "a file of workflows cannot be read");
            return None;
        }
    };
    let value = serde_json::from_slice::<Value>(&bytes).ok();
    if let Some(value) = value.as_ref().and_then(read) {
        return Some(value);
    }
    match journal::set_aside(path, clock::wall().as_micros() / 1_000) {
        Ok(aside) => tracing::warn!(path = %aside.display(), "a damaged file was moved aside"),
        Err(error) => tracing::warn!(%error, path = %path.display(), "a damaged file stays"),
    }
    None
}

fn failed(error: &io::Error) -> Error {
    Error::failed(format!("the run cannot be saved: {error}"))
}

#[cfg(test)]
mod tests {
    use super::super::encode::KeptRecord;
    use super::super::types::AgentStatus;
    use super::*;

    #[test]
    fn only_plain_names_become_paths() {
        for good in ["workflow-1", "a", "A.b:c_d-9".replace('_', "-").as_str()] {
            assert!(is_name(good), "{good}");
        }
        let long = "x".repeat(129);
        for bad in ["", ".", "..", "../x", "a/b", "-a", ".hidden", "a b", "ä", long.as_str()] {
            assert!(!is_name(bad), "{bad}");
        }
        let files = RunFiles::new(Some(PathBuf::from("/nowhere")));
        assert!(files.drop_result("../x", "agent-1").is_err());
    }

    #[test]
    fn results_and_checkpoints_come_back_and_torn_lines_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let files = RunFiles::new(Some(dir.path().to_owned()));
        let key = |occurrence| LaunchKey {
            path: "slot 1".to_owned(),
            occurrence,
            prompt_hash: "h".to_owned(),
            model: None,
            lane: Some("scout".to_owned()),
            schema_hash: None,
        };
        let kept = |occurrence: u32| KeptResult {
            key: key(occurrence),
            agent: format!("agent-{occurrence}"),
            status: AgentStatus::Completed,
            error: None,
            output: Some("said".to_owned()),
            structured: Some(json!({ "a": 1 })),
            usage: Some(rookery_model::Usage { prompt: 3, ..Default::default() }),
            worktree: Some(crate::worktrees::KeptTree { path: "/t".into(), branch: None }),
            record: None,
        };
        for occurrence in 1..=3 {
            files.add_result("workflow-1", &kept(occurrence)).unwrap();
        }
        files.drop_result("workflow-1", "agent-2").unwrap();
        let path = dir.path().join("runs/workflow-1").join(RESULTS);
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"key\":{\"occ");
        std::fs::write(&path, text).unwrap();
        let results = files.results("workflow-1").unwrap();
        assert_eq!(results.len(), 2);
        assert_eq!(results[&key(1)], kept(1));
        files.add_checkpoint("workflow-1", "k", &json!(1)).unwrap();
        files.add_checkpoint("workflow-1", "k", &json!(2)).unwrap();
        assert_eq!(files.checkpoints("workflow-1").unwrap()["k"], json!(2));
        files.remove("workflow-1").unwrap();
        assert!(files.results("workflow-1").unwrap().is_empty());
    }

    /// A record as versions before wrote it.
    fn old_record() -> Value {
        json!({
            "version": 1, "run_id": "workflow-1", "thread_id": null, "turn_id": null,
            "script": {
                "script_id": "script-1", "name": "n", "description": null, "kind": "built_in",
                "path": "/s.js", "hash": "h", "arguments_schema": null, "body": "return 1",
                "limits": [16, 1000, 180, 14400, 1048576, 65536],
                "created_at": 1_772_366_400_000_001_i64, "updated_at": 1_772_366_400_000_001_i64,
            },
            "status": "awaiting_approval", "reason": null,
            "limits": [2, 3, 180, 14400, 1048576, 65536],
            "phases": [{ "phase_id": "phase-1", "name": "main", "status": "running",
                         "description": null, "started_at": 5, "completed_at": null }],
            "agents": [{
                "agent_id": "agent-1", "phase_id": "phase-1", "description": "d", "label": null,
                "key": { "occurrence": 0, "prompt_hash": "p", "model": null, "lane": "scout",
                         "schema_hash": null },
                "status": "completed", "lane": "scout", "model": null, "thread_id": null,
                "turn_id": null, "usage": [1, 2, 3, 4], "exit_reason": "completed", "error": null,
                "output_preview": "o", "cached": false, "attempt": 1, "worktree": null,
                "started_at": 6, "completed_at": 7,
            }],
            "approval": { "script_hash": "h", "workspace": "/w", "reason": null, "decided_at": 8,
                          "decision": "always_for_script_and_workspace" },
            "cost": [1, 3], "cost_warning": "much", "nested": { "in_ner": "i" }, "error": null,
            "report": null, "workspace": "/w", "prompt": "p", "arguments": { "a_b": [1] },
            "concurrency_peak": 2, "lines": 1, "created_at": 3, "updated_at": 4,
            "started_at": 5, "completed_at": null,
        })
    }

    #[test]
    fn records_are_written_as_the_wire_has_them_and_old_ones_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let files = RunFiles::new(Some(dir.path().to_owned()));
        let path = dir.path().join("runs/workflow-1").join(RECORD);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, old_record().to_string()).unwrap();
        let run = files.load("workflow-1").unwrap();
        assert_eq!(run.agents[0].usage.unwrap().cache_creation, 4);
        files.save(&run).unwrap();
        assert_eq!(files.load("workflow-1").unwrap(), run);
        let new: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(new["status"], "awaitingApproval");
        assert_eq!(new["script"]["source"], json!({ "kind": "builtIn", "path": "/s.js" }));
        assert_eq!(new["script"]["createdAt"], "2026-03-01T12:00:00.000001Z");
        assert_eq!(new["limits"]["maxConcurrentAgents"], 2);
        assert_eq!(new["agents"][0]["key"]["promptHash"], "p");
        assert_eq!(new["agents"][0]["usage"]["promptTokens"], 1);
        assert_eq!(new["approval"]["decision"], "alwaysForScriptAndWorkspace");
        assert_eq!(new["costEstimate"]["maxChildAgents"], 3);
        // What is not ours keeps its names.
        assert_eq!(
            (&new["nested"]["in_ner"], &new["arguments"]["a_b"]),
            (&json!("i"), &json!([1]))
        );
        files
            .add_result(
                "workflow-1",
                &KeptResult {
                    key: run.agents[0].key.clone(),
                    agent: "agent-1".to_owned(),
                    status: AgentStatus::Timeout,
                    error: Some("too late".to_owned()),
                    output: None,
                    structured: None,
                    usage: None,
                    worktree: None,
                    record: Some(KeptRecord {
                        phase: "main".to_owned(),
                        agent: run.agents[0].clone(),
                    }),
                },
            )
            .unwrap();
        let journal = path.with_file_name(RESULTS);
        let line = "{\"dropped_agent_id\":\"agent-1\"}\n";
        let text = std::fs::read_to_string(&journal).unwrap();
        assert!(text.contains("\"agentId\":\"agent-1\""), "{text}");
        let kept = files.results("workflow-1").unwrap().into_values().next().unwrap();
        assert_eq!((kept.status, kept.error.as_deref()), (AgentStatus::Timeout, Some("too late")));
        assert_eq!(kept.record.unwrap().agent, run.agents[0]);
        std::fs::write(&journal, text + line).unwrap();
        assert!(files.results("workflow-1").unwrap().is_empty());
    }

    #[test]
    fn damaged_files_are_moved_aside() {
        let dir = tempfile::tempdir().unwrap();
        let files = RunFiles::new(Some(dir.path().to_owned()));
        let consent = Consent {
            script_hash: "h".to_owned(),
            nested: [("inner".to_owned(), "i".to_owned())].into(),
            workspace: Some("/w".into()),
            path: None,
            decided_at: clock::wall(),
            expires_at: None,
        };
        files.save_consents(std::slice::from_ref(&consent)).unwrap();
        assert_eq!(files.consents(), [consent]);
        std::fs::write(dir.path().join(CONSENTS), "{").unwrap();
        assert!(files.consents().is_empty());
        let names: Vec<String> =
            files::read_dir(dir.path()).unwrap().into_iter().map(|entry| entry.name).collect();
        assert!(names.len() == 1 && names[0].starts_with("consents.json.corrupt-"), "{names:?}");
    }
}
