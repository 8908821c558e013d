//! Hooks at work: commands of imports that run at events of a turn, within bounds, and may prevent them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_agent::definitions::claude_name;
use rookery_agent::policy::Verdict;
use rookery_agent::tool::Sandbox;
use rookery_host::{End, Script, sandbox};
use rookery_imports::{
    HookAnswer, HookCall, HookEvent, HookTool, PLUGIN_ROOT, hook_answer, hook_input,
};
use rookery_model::{Mode, Thread};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::active::ActiveHook;
use crate::rooms::Imports;

/// How much a hook may print.
const OUTPUT_LIMIT: usize = 256 << 10;
/// The variable that names the workspace.
const PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";

/// A call of a tool, as hooks are informed of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolCall<'a> {
    /// The tool.
    pub(crate) name: &'a str,
    /// What it is called with, as JSON.
    pub(crate) arguments: &'a str,
    /// What came of it, and whether that is a failure.
    pub(crate) result: Option<(&'a str, bool)>,
}

/// An event, as hooks get it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HookInput<'a> {
    pub(crate) event: HookEvent,
    /// What the user said.
    pub(crate) prompt: Option<&'a str>,
    /// What the event says of itself.
    pub(crate) detail: Option<&'a str>,
    /// Whether the turn goes on because a hook wanted it to.
    pub(crate) is_repeated: bool,
}

impl HookInput<'_> {
    pub(crate) fn of(event: HookEvent) -> Self {
        HookInput { event, prompt: None, detail: None, is_repeated: false }
    }
}

/// How a hook is confined in a mode.
enum Confinement {
    /// It runs as other commands do.
    None,
    /// It may only read.
    ReadOnly(Sandbox),
    /// It does not run, for this reason.
    Denied(String),
}

/// The refusal for an event that a hook guards, where the hook could not decide; none for other events.
fn unguarded(event: HookEvent, one: &ActiveHook, reason: &str) -> Option<String> {
    let is_guard = matches!(event, HookEvent::PreToolUse | HookEvent::UserPromptSubmit);
    is_guard.then(|| {
        let path = &one.origin.path;
        format!(
            "its hook in {path} cannot run here ({reason}); leave this mode, or ignore that import"
        )
    })
}

/// What hooks said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HookEnd {
    /// Why one of them prevents what it was asked about.
    pub(crate) blocked: Option<String>,
    /// What the model is to know.
    pub(crate) context: Vec<String>,
}

impl Imports {
    /// Runs the hooks before or after a call of a tool.
    pub(crate) async fn run_tool_hooks(
        &self,
        thread: &Thread,
        mode: Mode,
        call: ToolCall<'_>,
        stop: &CancellationToken,
    ) -> HookEnd {
        let event = match call.result {
            None => HookEvent::PreToolUse,
            Some(_) => HookEvent::PostToolUse,
        };
        let theirs = claude_name(call.name);
        let names: Vec<&str> = [call.name].into_iter().chain(theirs).collect();
        let hooks = self.hooks(thread, event, &names).await;
        if hooks.is_empty() {
            return HookEnd::default();
        }
        let arguments: Value = serde_json::from_str(call.arguments).unwrap_or_default();
        let tool = HookTool {
            name: theirs.unwrap_or(call.name),
            input: &arguments,
            response: call.result,
        };
        let session = thread.id.to_string();
        let call = HookCall {
            event,
            session: &session,
            cwd: &thread.cwd,
            tool: Some(tool),
            prompt: None,
            detail: None,
            is_repeated: false,
        };
        self.run_hooks(thread, mode, hooks, call, stop).await
    }

    /// Runs the hooks of an event that is about no tool.
    pub(crate) async fn run_event_hooks(
        &self,
        thread: &Thread,
        mode: Mode,
        happened: HookInput<'_>,
    ) -> HookEnd {
        let hooks = self.hooks(thread, happened.event, &[]).await;
        self.run_happened(thread, mode, hooks, happened).await
    }

    /// Runs the hooks of an event that they cannot prevent, in the background.
    pub(crate) async fn run_notice_hooks(&self, thread: &Thread, event: HookEvent, detail: &str) {
        let hooks = self.hooks(thread, event, &[]).await;
        if hooks.is_empty() {
            return;
        }
        let Ok(place) = Arc::clone(&self.room().notice_hooks).try_acquire_owned() else {
            tracing::warn!(event = event.word(), "too many hooks run; this one does not");
            return;
        };
        let mode = self.core.threads().mode(Some(thread.id));
        let (core, thread, detail) = (self.core.detached(), thread.clone(), detail.to_owned());
        self.core.inner.runtime.spawn(async move {
            let happened = HookInput { detail: Some(&detail), ..HookInput::of(event) };
            core.imports().run_happened(&thread, mode, hooks, happened).await;
            drop(place);
        });
    }

    async fn run_happened(
        &self,
        thread: &Thread,
        mode: Mode,
        hooks: Vec<ActiveHook>,
        happened: HookInput<'_>,
    ) -> HookEnd {
        if hooks.is_empty() {
            return HookEnd::default();
        }
        let session = thread.id.to_string();
        let HookInput { event, prompt, detail, is_repeated } = happened;
        let (session, cwd, tool) = (session.as_str(), thread.cwd.as_path(), None);
        let call = HookCall { event, session, cwd, tool, prompt, detail, is_repeated };
        self.run_hooks(thread, mode, hooks, call, &CancellationToken::new()).await
    }

    /// The hooks of an event; none for a thread whose tools work elsewhere.
    async fn hooks(&self, thread: &Thread, event: HookEvent, names: &[&str]) -> Vec<ActiveHook> {
        let active = self.active_in(&thread.root).await;
        let is_wanted = |one: &&ActiveHook| {
            one.hook.event == event && (names.is_empty() || one.hook.is_for(names))
        };
        if active.hooks.is_empty() || self.core.runners().is_elsewhere(thread.id) {
            return Vec::new();
        }
        active.hooks.iter().filter(is_wanted).cloned().collect()
    }

    /// Runs hooks one after another, until one prevents what it was asked about.
    async fn run_hooks(
        &self,
        thread: &Thread,
        mode: Mode,
        hooks: Vec<ActiveHook>,
        call: HookCall<'_>,
        stop: &CancellationToken,
    ) -> HookEnd {
        let mut end = HookEnd::default();
        let input = hook_input(call).to_string().into_bytes();
        let active = self.active(thread);
        let workspace = active.workspace.clone().unwrap_or_else(|| thread.root.clone());
        for one in hooks {
            let held = match self.confinement(thread, mode, &one) {
                Confinement::None => None,
                Confinement::ReadOnly(sandbox) => Some(sandbox),
                Confinement::Denied(reason) => {
                    let reason = format!("policy denied the hook: {reason}");
                    self.fail(&workspace, &one.origin, &reason);
                    end.blocked = unguarded(call.event, &one, &reason);
                    match end.blocked.is_some() {
                        true => break,
                        false => continue,
                    }
                }
            };
            let is_held = held.is_some();
            let script = self.script(thread, &workspace, &one, held, input.clone());
            let outcome = tokio::select! {
                outcome = script.run() => outcome,
                () = stop.cancelled() => return end,
            };
            let code = match outcome.end {
                End::Exited(code) => Some(code),
                End::Signaled(_) | End::TimedOut | End::TooMuchOutput | End::Failed(_) => None,
            };
            let HookAnswer { blocked, context, problem } =
                hook_answer(call.event, code, &outcome.stdout, &outcome.stderr);
            end.context.extend(context);
            end.blocked = blocked;
            if let Some(problem) = problem {
                let how = if code.is_none() { outcome.end.to_string() } else { problem };
                let reason = format!("a hook failed: {how}");
                self.fail(&workspace, &one.origin, &reason);
                // The failure may come from the confinement: it has not decided anything.
                if is_held {
                    let reason = format!("{reason}, where it may only read");
                    end.blocked = unguarded(call.event, &one, &reason);
                }
            }
            if end.blocked.is_some() {
                break;
            }
        }
        end
    }

    /// What a hook may do in a mode. One that only the mode denies is held to reading where the kernel can do
    /// that, so that it guards while an agent plans.
    fn confinement(&self, thread: &Thread, mode: Mode, one: &ActiveHook) -> Confinement {
        let agents = &self.core.inner.agents;
        let judgement = agents.judge_line(&one.hook.command, mode);
        if judgement.verdict != Verdict::Deny {
            return Confinement::None;
        }
        let file = Path::new(&one.origin.path);
        let own = file.parent().filter(|_| file.is_absolute());
        let open = [Some(thread.cwd.as_path()), Some(&thread.root), one.plugin.as_deref(), own];
        let open: Vec<&Path> = open.into_iter().flatten().collect();
        let home = &self.core.inner.config.home;
        let sandbox = agents.sandbox(home, &open).filter(|_| judgement.rule.is_none());
        sandbox.map_or(Confinement::Denied(judgement.reason), Confinement::ReadOnly)
    }

    /// The command as it is run: without keys, kept off our control sockets or to reading, and bounded.
    fn script(
        &self,
        thread: &Thread,
        workspace: &Path,
        one: &ActiveHook,
        held: Option<Sandbox>,
        stdin: Vec<u8>,
    ) -> Script {
        let agents = &self.core.inner.agents;
        let mut argv = vec!["sh".to_owned(), "-c".to_owned(), one.hook.command.clone()];
        let open = [Some(&thread.cwd), Some(&thread.root), one.plugin.as_ref()];
        let open: Vec<&Path> = open.into_iter().flatten().map(PathBuf::as_path).collect();
        let is_held = held.is_some();
        if let Some(wrap) = held.or_else(|| agents.seal(&open)) {
            argv = wrap(argv);
        }
        let mut script = Script::new(argv);
        if is_held {
            script.env.extend(sandbox::quiet_env().into_iter().map(|(k, v)| (k.into(), v.into())));
        }
        script.env.push((PROJECT_DIR.into(), workspace.into()));
        if let Some(root) = &one.plugin {
            script.env.push((PLUGIN_ROOT.into(), root.into()));
        }
        script.env_remove = self.core.threads().withheld().into_iter().map(Into::into).collect();
        script.cwd = Some(thread.cwd.clone());
        script.stdin = stdin;
        script.timeout = one.hook.timeout;
        script.stdout_limit = OUTPUT_LIMIT;
        script
    }
}
