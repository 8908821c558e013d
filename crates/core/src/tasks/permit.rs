//! Whether a task may be done at all: judged as if its submitter did it, before anything is recorded.

use std::path::Path;

use rookery_agent::policy::{Judgement, Verdict};
use rookery_model::{
    Answer, Asked, Asker, Error, ErrorKind, Mode, Request, RequestId, RequestState, Result,
    TaskRunner, ToolKind,
};

use super::NewTask;
use super::executors::{Demand, Executor, about_input};
use crate::clock;
use crate::commands::ExecPermit;
use crate::rooms::Tasks;
use crate::runners::Opener;

/// The tool by which rules know that an agent is started.
const TOOL: &str = "task";

impl Tasks {
    /// Whether a task may be done. If it has to be asked for, this waits for the answer.
    ///
    /// # Errors
    /// If something is wrong with it, or an agent's own program wants an agent.
    pub(super) async fn permit(
        &self,
        executor: &Executor,
        new: &NewTask,
        (workspace, runner): (&Path, Option<&TaskRunner>),
        is_unasked: bool,
    ) -> Result<ExecPermit> {
        match (executor.demand)(new, workspace.to_owned())? {
            Demand::Command(mut command) => {
                command.runner = runner.map(|it| self.check_runner(new, it)).transpose()?;
                command.check()?;
                let permit = match is_unasked {
                    true => ExecPermit::Given { is_reading: false },
                    false => self.core.commands().permit(&command).await?,
                };
                if let (ExecPermit::Given { .. }, Some(runner)) = (&permit, runner) {
                    self.permit_runner(runner, new, is_unasked).await?;
                }
                Ok(permit)
            }
            Demand::Agent => self.permit_agents((executor, workspace), new, None).await,
            Demand::Script(input) => {
                self.refuse_agents()?;
                self.core.workflows().ensure_enabled()?;
                let asked = self.core.workflows().check_task(&input).await.map_err(about_input)?;
                self.permit_agents((executor, workspace), new, asked).await
            }
        }
    }

    /// Whether the session that a task needs may be opened; then it is not asked for once more.
    async fn permit_runner(
        &self,
        runner: &TaskRunner,
        new: &NewTask,
        is_unasked: bool,
    ) -> Result<()> {
        let runners = self.core.runners();
        if is_unasked {
            runners.grant(&runner.destination);
            return Ok(());
        }
        let by = Opener { client: new.client, thread: new.thread };
        runners.permit(&runner.destination, by).await
    }

    /// What is no command starts agents, and that is for a person to decide.
    fn refuse_agents(&self) -> Result<()> {
        match self.core.caller().is_agent() {
            false => Ok(()),
            true => {
                let message = "a program that an agent runs may submit programs only";
                Err(Error::new(ErrorKind::Denied, message))
            }
        }
    }

    /// Whether agents may be started. `asked` is what a script needs besides, in modes that ask.
    async fn permit_agents(
        &self,
        (executor, workspace): (&Executor, &Path),
        new: &NewTask,
        asked: Option<Request>,
    ) -> Result<ExecPermit> {
        self.refuse_agents()?;
        let mode = self.core.threads().mode_for(new.client, new.thread);
        let agents = &self.core.inner.agents;
        let profile = agents.profile();
        let judged = agents.judge(TOOL, ToolKind::Agents, "{}", mode, profile);
        let reason = judged.reason.clone();
        let request = match (judged.verdict, asked) {
            (Verdict::Deny, _) => return Ok(ExecPermit::Denied { reason, mode }),
            (Verdict::Allow | Verdict::AutoApprove, None) => {
                return Ok(ExecPermit::Given { is_reading: false });
            }
            (_, Some(_)) if matches!(mode, Mode::AcceptAll | Mode::Bypass) => {
                return Ok(ExecPermit::Given { is_reading: false });
            }
            (_, Some(_)) if profile.is_unattended() => {
                let reason = rookery_agent::policy::UNATTENDED.to_owned();
                return Ok(ExecPermit::Denied { reason, mode });
            }
            (_, Some(request)) => request,
            (Verdict::Ask, None) => self.request(executor, workspace, new, &judged),
        };
        match self.core.requests().ask_and_wait(request, Some(&judged)).await? {
            Answer::Approved { .. } => Ok(ExecPermit::Given { is_reading: false }),
            _ => Ok(ExecPermit::Refused { reason, mode }),
        }
    }

    /// What is asked of a person before an agent is started.
    fn request(
        &self,
        executor: &Executor,
        workspace: &Path,
        new: &NewTask,
        judged: &Judgement,
    ) -> Request {
        Request {
            id: RequestId::new(uuid::Uuid::now_v7().as_u128()),
            asker: Asker::Client,
            call_id: uuid::Uuid::now_v7().to_string(),
            tool: TOOL.to_owned(),
            asked: Asked::Approval {
                kind: ToolKind::Agents,
                reason: judged.reason.clone(),
                input: new.input.to_string(),
                argv: Vec::new(),
                cwd: workspace.to_owned(),
                env: Vec::new(),
                preview: Some(executor.description.to_owned()),
            },
            asked_at: clock::wall(),
            deadline: self.core.requests().approval_deadline(),
            is_deferred: false,
            given: Vec::new(),
            state: RequestState::Pending,
        }
    }
}
