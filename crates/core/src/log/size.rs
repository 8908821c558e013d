//! About how much memory a notice takes.

use rookery_agent::turn::Delta;
use rookery_model::{
    Answer, Asked, Item, ItemBody, ObservedFile, PartAnswer, QueuedMessage, Request, RequestState,
    Task,
};

use super::{
    FileChange, ItemChange, Notice, NoticeBody, PlanChange, ProgramName, RequestChange, TaskChange,
    ThreadChange, TraceChange, TurnChange,
};
use crate::children::TraceContent;

/// What a notice takes besides its texts: itself, its place in the queue, and the allocations of its
/// short strings.
const FIXED: usize = size_of::<Notice>() + 192;
/// What the head of a thread or a turn takes, about.
const HEAD: usize = 1024;

impl NoticeBody {
    pub(super) fn size(&self) -> usize {
        let more = match self {
            NoticeBody::Thread(change) => of_thread(change),
            NoticeBody::Turn(change) => match change {
                TurnChange::Started(_) | TurnChange::Ended(_) | TurnChange::Lifecycle(_) => HEAD,
                TurnChange::CallStarted(..) => 0,
                TurnChange::ToolRuns(_, item) => item.as_str().len(),
                TurnChange::CallEnded(_, _, call) => call.error.as_ref().map_or(0, String::len),
                TurnChange::PartialResult(_, text) | TurnChange::DeadlineExceeded(_, _, text) => {
                    text.len()
                }
            },
            NoticeBody::Item(_, change) => match change {
                ItemChange::Started(item) | ItemChange::Completed(item) => of_item(item),
                ItemChange::Delta(_, delta) => of_delta(delta),
                ItemChange::Output(_, text) => text.len(),
            },
            NoticeBody::Trace(change) => of_trace(change),
            NoticeBody::Request(change) => match change {
                RequestChange::Asked(request)
                | RequestChange::Part(request)
                | RequestChange::Reworded(request)
                | RequestChange::Settled(request, _) => of_request(request),
            },
            NoticeBody::Runner(change) => change.destination.len() + change.provider.len(),
            NoticeBody::Stopping(stopping) => {
                let name = match &stopping.program {
                    ProgramName::Command(id) | ProgramName::AtRunner(id) => id.len(),
                    ProgramName::Task(_) | ProgramName::Terminal(_) => 0,
                };
                HEAD + name + stopping.reason.as_ref().map_or(0, String::len)
            }
            NoticeBody::Team(change) => of_team(change),
            NoticeBody::Settings(_) => 0,
            NoticeBody::Files(change) => of_files(change),
            NoticeBody::Plan(change) => of_plan(change),
            NoticeBody::Task(change) => match change {
                TaskChange::Queued(task)
                | TaskChange::Started(task, _)
                | TaskChange::Ended(task) => of_task(task),
                TaskChange::Output(output) => output.chunk.text.len(),
            },
            NoticeBody::Workflow(notice) => size_of_val(&**notice) + notice.change.size(),
            NoticeBody::Memory(change) => size_of_val(&**change) + change.size(),
            NoticeBody::Import(change) => size_of_val(&**change) + change.size(),
            NoticeBody::Marketplace(change) => size_of_val(&**change) + change.size(),
            NoticeBody::Media(change) => size_of_val(&**change) + change.size(),
            NoticeBody::Warning(text) => text.len(),
        };
        FIXED + more
    }
}

fn of_files(change: &FileChange) -> usize {
    match change {
        FileChange::Recorded(hunk) => HEAD + hunk.edit.len(),
        FileChange::Observed(seen) => {
            let file = |file: &ObservedFile| size_of::<ObservedFile>() + file.path.len();
            HEAD + seen.files.iter().map(file).sum::<usize>()
        }
        FileChange::RollbackRequested { .. } | FileChange::RollbackCompleted { .. } => HEAD,
    }
}

fn of_plan(change: &PlanChange) -> usize {
    match change {
        PlanChange::Created(review) => {
            HEAD + review.plan.as_ref().map_or(0, |plan| 2 * plan.markdown.len())
        }
        PlanChange::Commented { comment, .. } => HEAD + comment.text.len(),
        PlanChange::Rewritten { rewrite, .. } => HEAD + rewrite.markdown.len(),
        PlanChange::Status { .. } | PlanChange::Approved(_) | PlanChange::Rejected { .. } => HEAD,
    }
}

fn of_trace(change: &TraceChange) -> usize {
    match change {
        TraceChange::Created(_) | TraceChange::Ended(_) => HEAD,
        TraceChange::Status { detail, .. } => detail.as_ref().map_or(0, String::len),
        TraceChange::Item { item, .. } => match &item.content {
            TraceContent::Prompt(text)
            | TraceContent::Reply(text)
            | TraceContent::Thought(text) => text.len(),
            TraceContent::Called { call, tool, input } => call.len() + tool.len() + input.len(),
            TraceContent::Returned { call, is_error: _, output } => call.len() + output.len(),
            TraceContent::Status(_) | TraceContent::Cut => 0,
        },
    }
}

fn of_thread(change: &ThreadChange) -> usize {
    match change {
        ThreadChange::Started(..) => HEAD,
        ThreadChange::Renamed(text) | ThreadChange::Mode { reason: text, .. } => {
            text.as_ref().map_or(0, String::len)
        }
        ThreadChange::Queued(messages) => {
            let one = |message: &QueuedMessage| {
                size_of::<QueuedMessage>() + message.text.len() + all(&message.images)
            };
            messages.iter().map(one).sum()
        }
        ThreadChange::GoalSet(goal) => size_of_val(&**goal) + goal.objective.len(),
        ThreadChange::Status(_)
        | ThreadChange::Archived
        | ThreadChange::GoalCleared
        | ThreadChange::Role { .. }
        | ThreadChange::Assigned => 0,
    }
}

fn of_task(task: &Task) -> usize {
    let result = task.result.as_ref().map_or(0, |result| {
        let texts = [&result.payload, &result.error, &result.partial];
        texts.into_iter().flatten().map(String::len).sum()
    });
    size_of::<Task>() + HEAD + task.spec.input.len() + result
}

fn of_team(change: &rookery_teams::Change) -> usize {
    use rookery_teams::Change;
    match change {
        Change::Started(team) => HEAD * (1 + team.members.len() + team.tasks.len()),
        Change::MemberStarted(..) => HEAD,
        Change::Text { text, .. } => text.len(),
        Change::Ended { end, .. } => {
            end.message.as_ref().map_or(0, String::len) + end.error.as_ref().map_or(0, String::len)
        }
        Change::Task(_, task) => task.title.len(),
        Change::Status(..) | Change::Display(..) | Change::Cleaned { .. } => 0,
    }
}

fn of_delta(delta: &Delta) -> usize {
    match delta {
        Delta::Text { text, .. } | Delta::Thought { text } | Delta::Summary { text, .. } => {
            text.len()
        }
        Delta::SummaryPart { .. } => 0,
    }
}

fn all(texts: &[String]) -> usize {
    texts.iter().map(|text| size_of::<String>() + text.len()).sum()
}

fn of_item(item: &Item) -> usize {
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let body = match &item.body {
        ItemBody::User { text, images, context } => text.len() + all(images) + all(context),
        ItemBody::Agent { text, .. } => text.len(),
        ItemBody::Reasoning { summary, content } => all(summary) + all(content),
        ItemBody::Tool(tool) => {
            let said = optional(&tool.output) + optional(&tool.error) + optional(&tool.data);
            size_of_val(&**tool) + tool.input.len() + said + all(&tool.images)
        }
        ItemBody::Compaction { summary: text, .. }
        | ItemBody::Error { message: text }
        | ItemBody::Raw { payload: text } => text.len(),
    };
    size_of::<Item>() + body + optional(&item.opaque)
}

fn of_request(request: &Request) -> usize {
    let asked = match &request.asked {
        Asked::Approval { reason, input, argv, env, preview, .. } => {
            let env: usize = env
                .iter()
                .map(|(name, value)| name.len() + value.as_ref().map_or(0, String::len) + 64)
                .sum();
            let preview = preview.as_ref().map_or(0, String::len);
            reason.len() + input.len() + all(argv) + env + preview
        }
        Asked::Input { questions } => questions.len() * HEAD,
        Asked::PlanExit(plan) => plan.summary.len() + all(&plan.next_steps),
        Asked::External(call) => call.arguments.len(),
        Asked::Permission { title, summary, action, .. } => {
            title.len() + summary.len() + action.len()
        }
        Asked::Dialog { dialog, title, text } => dialog.len() + title.len() + text.len(),
    };
    let answer = match &request.state {
        RequestState::Settled(settled) => match &settled.answer {
            Answer::Given(text) | Answer::Output { text, .. } => text.len(),
            Answer::Denied { message } => message.as_ref().map_or(0, String::len),
            Answer::Approved { .. } | Answer::Cancelled | Answer::TimedOut | Answer::AtTerminal => {
                0
            }
        },
        RequestState::Pending => 0,
    };
    let given = |part: &PartAnswer| size_of::<PartAnswer>() + part.question.len() + part.text.len();
    size_of::<Request>() + asked + answer + request.given.iter().map(given).sum::<usize>()
}
