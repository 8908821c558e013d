//! What the user decided about items, in a file: one decision for each workspace and item, the latest.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use rookery_host::files;
use rookery_model::Timestamp;
use serde_json::{Value, json};

use crate::item::{SourceKind, item_id, words};

/// The largest file that is read.
const FILE_LIMIT: usize = 16 << 20;
/// Decisions that are kept.
const MOST: usize = 20_000;

words! {
    /// What was decided.
    DecisionKind {
        /// To look at it.
        Preview = "preview",
        /// To use it.
        Enable = "enable",
        /// Not to use it, and not to be asked.
        Ignore = "ignore",
        /// Not to use it any more.
        Disable = "disable",
        /// To look at it again.
        Refresh = "refresh",
        /// To forget what was decided.
        Remove = "remove",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub item_id: String,
    /// What was decided.
    pub kind: DecisionKind,
    /// What its file was like.
    pub source_hash: String,
    /// Whether that it starts programs or contacts servers was approved.
    pub approved_side_effects: bool,
    /// When.
    pub decided_at: Timestamp,
    /// Where.
    pub workspace: String,
    /// The item's file, as the item spells it.
    pub path: String,
    /// The item's name in it.
    pub name: Option<String>,
    /// What it is.
    pub source: SourceKind,
}

/// All decisions, and the file that they are kept in.
#[derive(Debug, Default)]
pub struct Decisions {
    path: Option<PathBuf>,
    all: BTreeMap<(String, String), Decision>,
    /// Rows of the file that are not understood; they stay in it.
    others: Vec<Value>,
}

impl Decisions {
    /// Reads the file, and says what was wrong with it. One that is damaged is moved aside, and one that
    /// cannot be read counts as empty. Without a file, decisions end with this process. Blocks.
    pub fn load(path: Option<PathBuf>, now: Timestamp) -> (Self, Option<String>) {
        let Some(path) = path else { return (Self::default(), None) };
        let mut decisions = Self { path: Some(path.clone()), ..Self::default() };
        let bytes = match files::read_start(&path, FILE_LIMIT + 1) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return (decisions, None),
            Err(error) => {
                // Nothing is written over what could not be read.
                decisions.path = None;
                let warning = format!("{} cannot be read: {error}", path.display());
                return (decisions, Some(warning));
            }
        };
        let rows = match bytes.len() > FILE_LIMIT {
            true => None,
            false => serde_json::from_slice::<Vec<Value>>(&bytes).ok(),
        };
        let Some(rows) = rows else {
            let warning = decisions.move_aside(&path, now);
            return (decisions, Some(warning));
        };
        for row in rows {
            match decision(&row) {
                Some(one) => decisions.insert(one),
                None => decisions.others.push(row),
            }
        }
        (decisions, None)
    }

    fn move_aside(&mut self, path: &Path, now: Timestamp) -> String {
        let mut aside = path.as_os_str().to_owned();
        aside.push(format!(".corrupt-{}", now.as_micros() / 1000));
        let aside = PathBuf::from(aside);
        match files::rename(path, &aside) {
            Ok(()) => format!("{} is damaged and was moved to {}", path.display(), aside.display()),
            Err(error) => {
                self.path = None;
                format!("{} is damaged and cannot be moved aside: {error}", path.display())
            }
        }
    }

    fn insert(&mut self, decision: Decision) {
        let key = (decision.workspace.clone(), decision.item_id.clone());
        self.all.insert(key, decision);
    }

    /// The decisions of a workspace.
    pub fn of(&self, workspace: &str) -> Vec<Decision> {
        let of = self.all.range((workspace.to_owned(), String::new())..);
        let of = of.take_while(|((of, _), _)| of == workspace);
        of.map(|(_, decision)| decision.clone()).collect()
    }

    /// The decision on an item of a workspace.
    pub fn get(&self, workspace: &str, item: &str) -> Option<&Decision> {
        self.all.get(&(workspace.to_owned(), item.to_owned()))
    }

    /// The workspaces in which something was decided.
    pub fn workspaces(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.all.keys().map(|(workspace, _)| workspace.as_str()).collect();
        all.dedup();
        all
    }

    /// Keeps a decision; if it cannot be kept, nothing was decided. Blocks.
    ///
    /// # Errors
    /// If there are too many, or the file cannot be written.
    pub fn set(&mut self, decision: Decision) -> io::Result<()> {
        let key = (decision.workspace.clone(), decision.item_id.clone());
        if self.all.len() >= MOST && !self.all.contains_key(&key) {
            return Err(io::Error::other(format!("there are {MOST} decisions already")));
        }
        let before = self.all.insert(key.clone(), decision);
        let written = self.write();
        if written.is_err() {
            match before {
                Some(before) => self.all.insert(key, before),
                None => self.all.remove(&key),
            };
        }
        written
    }

    /// Forgets decisions; says how many there were. Blocks.
    ///
    /// # Errors
    /// If the file cannot be written; then nothing is forgotten.
    pub fn forget(&mut self, is_forgotten: impl Fn(&Decision) -> bool) -> io::Result<usize> {
        let kept: BTreeMap<_, _> = self
            .all
            .iter()
            .filter(|(_, decision)| !is_forgotten(decision))
            .map(|(key, decision)| (key.clone(), decision.clone()))
            .collect();
        let count = self.all.len() - kept.len();
        if count == 0 {
            return Ok(0);
        }
        let before = std::mem::replace(&mut self.all, kept);
        if let Err(error) = self.write() {
            self.all = before;
            return Err(error);
        }
        Ok(count)
    }

    /// Takes the decisions on what is in a folder along to another one, or the same with another content. What was
    /// enabled and can start something was enabled with the old content: unless that is the same, such decisions
    /// are forgotten, and given. Blocks.
    ///
    /// # Errors
    /// If the file cannot be written; then nothing has changed.
    pub fn follow(&mut self, from: &Path, to: &Path, is_same: bool) -> io::Result<Vec<Decision>> {
        let (mut after, mut forgotten) = (BTreeMap::new(), Vec::new());
        for (key, decision) in &self.all {
            let Ok(below) = Path::new(&decision.path).strip_prefix(from) else {
                after.entry(key.clone()).or_insert_with(|| decision.clone());
                continue;
            };
            let is_enabled = decision.kind == DecisionKind::Enable;
            if is_enabled && !is_same && !decision.source.is_passive() {
                forgotten.push(decision.clone());
                continue;
            }
            let path = match below.as_os_str().is_empty() {
                // The plugin itself; its path has no slash at the end.
                true => to.to_owned(),
                false => to.join(below),
            };
            let path = path.to_string_lossy().into_owned();
            let item_id = item_id(decision.source, &path, decision.name.as_deref());
            let key = (decision.workspace.clone(), item_id.clone());
            after.insert(key, Decision { item_id, path, ..decision.clone() });
        }
        let before = std::mem::replace(&mut self.all, after);
        if before == self.all {
            return Ok(forgotten);
        }
        if let Err(error) = self.write() {
            self.all = before;
            return Err(error);
        }
        Ok(forgotten)
    }

    fn write(&self) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let rows = self.all.values().map(row).chain(self.others.iter().cloned());
        let mut text = serde_json::to_vec_pretty(&rows.collect::<Vec<Value>>())?;
        text.push(b'\n');
        files::replace(path, &text)
    }
}

fn row(decision: &Decision) -> Value {
    json!({
        "itemId": decision.item_id,
        "decision": decision.kind.word(),
        "sourceHash": decision.source_hash,
        "approvedSideEffects": decision.approved_side_effects,
        "decidedAt": decision.decided_at.to_string(),
        "workspace": decision.workspace,
        "path": decision.path,
        "name": decision.name,
        "sourceType": decision.source.word(),
    })
}

fn decision(row: &Value) -> Option<Decision> {
    let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let decided_at = text("decidedAt")?.parse::<jiff::Timestamp>().ok()?;
    Some(Decision {
        item_id: text("itemId")?,
        kind: DecisionKind::from_word(&text("decision")?)?,
        source_hash: text("sourceHash")?,
        approved_side_effects: row.get("approvedSideEffects").and_then(Value::as_bool)
            == Some(true),
        decided_at: Timestamp::from_micros(decided_at.as_microsecond()),
        workspace: text("workspace")?,
        path: text("path").unwrap_or_default(),
        name: text("name"),
        source: text("sourceType")
            .and_then(|word| SourceKind::from_word(&word))
            .unwrap_or(SourceKind::Unknown),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(workspace: &str, item: &str, kind: DecisionKind) -> Decision {
        Decision {
            item_id: item.into(),
            kind,
            source_hash: "h".into(),
            approved_side_effects: true,
            decided_at: Timestamp::from_micros(1_000_000),
            workspace: workspace.into(),
            path: "AGENTS.md".into(),
            name: None,
            source: SourceKind::Guidance,
        }
    }

    #[test]
    fn decisions_are_kept_by_workspace_and_item_and_the_latest_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config/workflow-imports.json");
        let load = || Decisions::load(Some(path.clone()), Timestamp::default());
        let (mut decisions, warning) = load();
        assert_eq!(warning, None);
        for (workspace, item, kind) in [
            ("/a", "workflow-1", DecisionKind::Enable),
            ("/a", "workflow-1", DecisionKind::Ignore),
            ("/a", "workflow-2", DecisionKind::Enable),
            ("/ab", "workflow-1", DecisionKind::Enable),
        ] {
            decisions.set(decided(workspace, item, kind)).unwrap();
        }
        let (again, _) = load();
        assert_eq!(again.of("/a").len(), 2);
        assert_eq!(again.get("/a", "workflow-1").unwrap().kind, DecisionKind::Ignore);
        assert_eq!(again.workspaces(), ["/a", "/ab"]);
        let (mut again, _) = load();
        assert_eq!(again.forget(|one| one.workspace == "/a").unwrap(), 2);
        assert_eq!(load().0.workspaces(), ["/ab"]);
    }

    #[test]
    fn what_starts_nothing_follows_a_folder_and_the_rest_only_with_its_content() {
        let of = |source: SourceKind, path: &str, kind| Decision {
            item_id: item_id(source, path, Some("n")),
            name: Some("n".into()),
            path: path.into(),
            source,
            ..decided("/a", "", kind)
        };
        let all = [
            of(SourceKind::Skill, "/p/1/skills/s/SKILL.md", DecisionKind::Enable),
            of(SourceKind::Hook, "/p/1/hooks/hooks.json", DecisionKind::Enable),
            of(SourceKind::McpServer, "/p/1/.mcp.json", DecisionKind::Ignore),
            of(SourceKind::Hook, "/p/10/hooks/hooks.json", DecisionKind::Enable),
        ];
        let paths = |is_same: bool, to: &str| -> (usize, Vec<String>) {
            let mut decisions = Decisions::default();
            all.iter().for_each(|one| decisions.set(one.clone()).unwrap());
            let forgotten = decisions.follow(Path::new("/p/1"), Path::new(to), is_same).unwrap();
            let mut paths: Vec<String> = decisions.of("/a").into_iter().map(|it| it.path).collect();
            let ids = decisions.of("/a").into_iter().map(|it| {
                assert_eq!(it.item_id, item_id(it.source, &it.path, Some("n")));
            });
            assert_eq!(ids.count(), paths.len());
            paths.sort();
            (forgotten.len(), paths)
        };
        let moved = ["/p/10/hooks/hooks.json", "/p/2/.mcp.json", "/p/2/skills/s/SKILL.md"];
        assert_eq!(paths(false, "/p/2"), (1, moved.map(String::from).to_vec()));
        assert_eq!(paths(true, "/p/2").1.len(), 4);
        let stay = ["/p/1/.mcp.json", "/p/1/skills/s/SKILL.md", "/p/10/hooks/hooks.json"];
        assert_eq!(paths(false, "/p/1"), (1, stay.map(String::from).to_vec()));
    }

    #[test]
    fn a_decision_on_a_plugin_itself_goes_along_to_where_it_is() {
        let (from, to) = (Path::new("/p/1"), Path::new("/p/2"));
        let of = |path: &str, kind| Decision {
            item_id: item_id(SourceKind::Plugin, path, Some("m:p")),
            path: path.to_owned(),
            name: Some("m:p".to_owned()),
            source: SourceKind::Plugin,
            ..decided("/a", "", kind)
        };
        let mut decisions = Decisions::default();
        decisions.set(of("/p/1", DecisionKind::Ignore)).unwrap();
        assert_eq!(decisions.follow(from, to, false).unwrap(), []);
        assert_eq!(decisions.of("/a"), [of("/p/2", DecisionKind::Ignore)]);
        decisions.set(of("/p/2", DecisionKind::Enable)).unwrap();
        assert_eq!(decisions.follow(to, from, false).unwrap().len(), 1);
    }

    #[test]
    fn a_damaged_file_is_moved_aside_and_unknown_rows_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w.json");
        std::fs::write(&path, "{ no").unwrap();
        let (mut decisions, warning) =
            Decisions::load(Some(path.clone()), Timestamp::from_micros(5_000));
        assert!(warning.unwrap().contains("w.json.corrupt-5"));
        assert_eq!(std::fs::read_to_string(dir.path().join("w.json.corrupt-5")).unwrap(), "{ no");
        decisions.set(decided("/a", "workflow-1", DecisionKind::Enable)).unwrap();
        let mut rows: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        rows.push(json!({"itemId": "old", "decision": "enable"}));
        std::fs::write(&path, serde_json::to_vec(&rows).unwrap()).unwrap();
        let (mut decisions, warning) = Decisions::load(Some(path.clone()), Timestamp::default());
        assert_eq!(warning, None);
        decisions.set(decided("/b", "workflow-1", DecisionKind::Enable)).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("\"old\""));
    }

    #[test]
    fn what_cannot_be_read_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let (mut decisions, warning) =
            Decisions::load(Some(dir.path().to_owned()), Timestamp::default());
        assert!(warning.unwrap().contains("cannot be read"));
        decisions.set(decided("/a", "workflow-1", DecisionKind::Enable)).unwrap();
        assert!(dir.path().is_dir());
    }
}
