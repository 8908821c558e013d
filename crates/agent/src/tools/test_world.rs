//! A workspace and a world to try tools in. Its terminals are real programs on pipes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_host::sandbox::Secrets;
use rookery_host::{PipeCommand, PipeStream, Pipes};
use rookery_model::{
    Goal, GoalStatus, Memory, MemoryScope, PlanStep, ScopeName, TerminalId, ThreadId, Timestamp,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{MemoryAnswer, MemoryCall, Sessions, SkillText};
use crate::tool::{
    PathScope, SearchBounds, TerminalCommand, TerminalOutput, ToolContext, ToolOutput, ToolWorld,
    WorldFuture,
};

/// Everything that a tool needs.
pub(super) struct Bench {
    dir: tempfile::TempDir,
    pub(super) world: Arc<TestWorld>,
    pub(super) sessions: Arc<Sessions>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["root", "home"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir, world: Arc::default(), sessions: Arc::default() }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("root")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("home")
    }

    pub(super) fn artifacts(&self) -> PathBuf {
        self.dir.path().join("artifacts")
    }

    pub(super) fn writes(&self) -> PathBuf {
        self.dir.path().join("writes")
    }

    pub(super) fn context(&self) -> ToolContext {
        ToolContext {
            thread: ThreadId::new(7),
            turn: None,
            root: self.root(),
            home: self.home(),
            scope: PathScope::Workspace,
            secrets: Secrets::of(Some(&self.home()), &[]),
            search: SearchBounds::default(),
            artifacts: Some(self.artifacts()),
            writes: Some(self.writes()),
            read_only: false,
            sandbox: None,
            seal: None,
            unattended: None,
            shell: "/bin/sh".into(),
            withheld: Vec::new(),
            command_limit: None,
            sessions: self.sessions.clone(),
            cancel: CancellationToken::new(),
            time_left: None,
            commands: None,
            files: None,
            session: None,
            world: self.world.clone(),
        }
    }

    /// Writes a file of the workspace.
    pub(super) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root().join(name)).unwrap()
    }

    /// All names in the workspace, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        fn visit(root: &Path, dir: &Path, names: &mut Vec<String>) {
            for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
                let path = entry.path();
                names.push(path.strip_prefix(root).unwrap().display().to_string());
                if entry.file_type().unwrap().is_dir() {
                    visit(root, &path, names);
                }
            }
        }
        let mut names = Vec::new();
        visit(&self.root(), &self.root(), &mut names);
        names.sort();
        names
    }

    /// Runs a tool.
    pub(super) async fn run(&self, name: &str, arguments: Value) -> ToolOutput {
        self.run_in(self.context(), name, arguments).await
    }

    pub(super) async fn run_in(
        &self,
        context: ToolContext,
        name: &str,
        arguments: Value,
    ) -> ToolOutput {
        (super::find(name).unwrap().run)(context, arguments).await
    }
}

/// A world with one thread.
#[derive(Default)]
pub(super) struct TestWorld {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    commands: Vec<TerminalCommand>,
    terminals: HashMap<TerminalId, Arc<Pipes>>,
    goal: Option<Goal>,
    plan: Vec<PlanStep>,
    ledger: Vec<PlanStep>,
    memory: Option<Memory>,
}

impl TestWorld {
    /// What was run in terminals so far.
    pub(super) fn commands(&self) -> Vec<TerminalCommand> {
        self.state.lock().commands.clone()
    }

    pub(super) fn plan(&self) -> Vec<PlanStep> {
        self.state.lock().plan.clone()
    }

    pub(super) fn ledger(&self) -> Vec<PlanStep> {
        self.state.lock().ledger.clone()
    }

    fn terminal(&self, id: TerminalId) -> Result<Arc<Pipes>, String> {
        self.state.lock().terminals.get(&id).cloned().ok_or_else(|| "no such terminal".into())
    }
}

impl ToolWorld for TestWorld {
    fn open(&self, command: TerminalCommand) -> WorldFuture<'_, TerminalId> {
        Box::pin(async move {
            let pipes = Pipes::start(PipeCommand {
                argv: command.argv.iter().map(Into::into).collect(),
                env: command.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
                env_remove: command.without.iter().map(Into::into).collect(),
                cwd: Some(command.cwd.clone()),
            });
            let pipes = Arc::new(pipes.await?);
            let mut state = self.state.lock();
            state.commands.push(command);
            let id = TerminalId::new(state.commands.len() as u64);
            state.terminals.insert(id, pipes);
            Ok(id)
        })
    }

    fn output(
        &self,
        id: TerminalId,
        offset: u64,
        wait: Duration,
    ) -> WorldFuture<'_, TerminalOutput> {
        Box::pin(async move {
            let pipes = self.terminal(id)?;
            let _ = tokio::time::timeout(wait, pipes.wait()).await;
            let output = pipes.read(PipeStream::Both, offset);
            let (bytes, next, lost) = (output.bytes, output.next, output.lost);
            Ok(TerminalOutput { bytes, next, lost, ended: output.ended })
        })
    }

    fn write(&self, id: TerminalId, bytes: Vec<u8>) -> WorldFuture<'_, ()> {
        Box::pin(async move { self.terminal(id)?.write(bytes) })
    }

    fn end(&self, id: TerminalId) -> WorldFuture<'_, ()> {
        Box::pin(async move {
            self.terminal(id)?.end().await;
            Ok(())
        })
    }

    fn goal(&self, _thread: ThreadId) -> Option<Goal> {
        self.state.lock().goal.clone()
    }

    fn set_goal(
        &self,
        _thread: ThreadId,
        objective: String,
        budget: Option<u64>,
    ) -> WorldFuture<'_, Goal> {
        let goal = Goal {
            objective,
            status: GoalStatus::Active,
            token_budget: budget,
            tokens_used: 0,
            seconds_used: 0,
            created_at: Timestamp::from_micros(0),
            updated_at: Timestamp::from_micros(0),
        };
        self.state.lock().goal = Some(goal.clone());
        Box::pin(async move { Ok(goal) })
    }

    fn update_goal(&self, _thread: ThreadId, status: GoalStatus) -> WorldFuture<'_, Goal> {
        let mut state = self.state.lock();
        let goal = state.goal.as_mut().map(|goal| {
            goal.status = status;
            goal.clone()
        });
        Box::pin(async move { goal.ok_or_else(|| "no goal".into()) })
    }

    fn set_plan(&self, _thread: ThreadId, plan: Vec<PlanStep>) -> WorldFuture<'_, ()> {
        self.state.lock().plan = plan;
        Box::pin(async { Ok(()) })
    }

    fn set_ledger(&self, _thread: ThreadId, ledger: Vec<PlanStep>) -> WorldFuture<'_, ()> {
        self.state.lock().ledger = ledger;
        Box::pin(async { Ok(()) })
    }

    fn memory<'a>(
        &'a self,
        _context: &'a ToolContext,
        call: MemoryCall,
    ) -> WorldFuture<'a, MemoryAnswer> {
        let mut state = self.state.lock();
        let known = state.memory.clone();
        let answer = match call {
            MemoryCall::Save { text, .. } => {
                let is_known = known.is_some();
                let memory = known.unwrap_or_else(|| remembered(text));
                state.memory = Some(memory.clone());
                Ok(MemoryAnswer::Saved(Box::new(memory), is_known))
            }
            MemoryCall::Query { scope, text, .. } => {
                let is_wanted = scope.is_none_or(|scope| scope == ScopeName::Here);
                let found = known.filter(|memory| is_wanted && memory.text.contains(&text));
                Ok(MemoryAnswer::Found(found.into_iter().map(|memory| (memory, 1.0)).collect()))
            }
            MemoryCall::Read(_) => Ok(MemoryAnswer::Read(known.map(Box::new))),
            MemoryCall::Update { text, .. } => {
                state.memory = Some(remembered(text.clone()));
                Ok(MemoryAnswer::Updated(Box::new(remembered(text))))
            }
            MemoryCall::Delete(_) => Ok(MemoryAnswer::Deleted(state.memory.take().is_some())),
        };
        Box::pin(async { answer })
    }

    fn skill(&self, name: String) -> WorldFuture<'_, SkillText> {
        Box::pin(async move {
            match name == "pdf" {
                true => Ok(SkillText { name, dir: "/skills/pdf".into(), body: "Use it.".into() }),
                false => Err(format!("there is no skill {name}")),
            }
        })
    }
}

fn remembered(text: String) -> Memory {
    Memory {
        id: "mem-1".into(),
        scope: MemoryScope::Project("/here".into()),
        text,
        content_hash: String::new(),
        metadata: "null".into(),
        use_count: 0,
        last_used_at: None,
        created_at: Timestamp::from_micros(0),
        updated_at: Timestamp::from_micros(0),
    }
}
