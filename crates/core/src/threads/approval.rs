//! What is asked when a call needs approval: exactly what would be run, and by which shell.

use std::path::Path;

use rookery_agent::policy::Judgement;
use rookery_agent::tools;
use rookery_model::{Asked, ThreadId, ToolKind, spelled};
use serde_json::Value;

use super::tools::Job;
use crate::rooms::Threads;

impl Threads {
    /// What is asked when a call needs approval: exactly what would be run.
    pub(super) fn approval(
        &self,
        job: &Job,
        kind: ToolKind,
        judgement: &Judgement,
        preview: Option<String>,
    ) -> Asked {
        let input: Value = serde_json::from_str(&job.arguments).unwrap_or(Value::Null);
        let thread = self.get(job.thread).map(|seen| seen.thread);
        let root = thread.map(|thread| thread.cwd).unwrap_or_default();
        let command = self.core.inner.agents.command_of(&job.name, kind, &job.arguments);
        let argv = tools::shell_argv(&job.shell, &job.name, &input).filter(|_| !job.is_hosted);
        let argv = argv.unwrap_or_default();
        let cwd =
            input.get("workdir").and_then(Value::as_str).map_or(root.clone(), |dir| root.join(dir));
        Asked::Approval {
            kind,
            reason: self.with_asker(job.thread, &judgement.reason),
            input: job.arguments.clone(),
            preview: preview.or_else(|| command.map(|command| tools::shown_in_part(&command))).map(
                |preview| {
                    with_shell(preview, &argv, &cwd, self.core.inner.agents.seal(&[]).is_some())
                },
            ),
            argv,
            cwd,
            env: Vec::new(),
        }
    }

    /// A reason with who asks, if that is a child agent: those who decide see whom it works for.
    fn with_asker(&self, thread: ThreadId, reason: &str) -> String {
        match self.core.look().asked_by(thread) {
            Some(asker) => format!("{reason}; asked by {asker}"),
            None => reason.to_owned(),
        }
    }

    /// The shell that tools run commands with from now on.
    pub(super) fn tool_shell(&self) -> String {
        self.core.inner.agents.shell(&self.core.inner.config.shell)
    }

    /// The variables that no program of a tool inherits.
    pub(crate) fn withheld(&self) -> Vec<String> {
        self.core.inner.agents.withheld(&self.core.inner.config.env)
    }
}

/// The shell of an approval, which is the one that runs whatever the settings say by then.
pub(super) fn approved_shell(asked: &Asked) -> Option<String> {
    match asked {
        Asked::Approval { argv, .. } => argv.first().cloned(),
        _ => None,
    }
}

/// A command with what runs it and where, for whoever decides: what is shown is what is bound. What was
/// approved is not held to reading; whether it can speak to us depends on the kernel and the settings.
fn with_shell(preview: String, argv: &[String], cwd: &Path, is_sealed: bool) -> String {
    let [shell, option, _] = argv else { return preview };
    let (shell, cwd) = (spelled(shell), spelled(&cwd.to_string_lossy()));
    let reach = if is_sealed { ", kept off Rookery's sockets" } else { "" };
    format!("{preview}\n[runs as {shell} {option} in {cwd}, outside of the sandbox{reach}]")
}
