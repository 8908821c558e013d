//! The help of the tool.

/// What `idx0 help` says.
pub(super) fn text() -> String {
    HELP.trim().to_owned()
}

const HELP: &str = "
idx0: sessions, checkpoints, reviews and approvals of coding agents

Usage: idx0 <command> [--option value]...

  open                                   bring the app to the front
  new-session [--title T] [--repo DIR] [--branch B] [--worktree] [--existing-worktree DIR]
              [--tool ID | --default-tool]
  focus --session S                      focus a session
  list-sessions                          id and title of every session
  checkpoint --session S [--title T] [--summary T] [--request-review]
  handoff --session S [--target S] [--checkpoint-id ID] [--title T] [--summary T]
          [--risks a,b] [--next-actions a,b]
  request-review --session S [--checkpoint-id ID] [--summary T]
  review --review-id ID --status approved|changesRequested|deferred
  queue                                  what needs attention, the most urgent first
  resolve --queue-id ID                  mark as resolved
  list-approvals [--session S] [--status pending|approved|denied|deferred]
  respond-approval --approval-id ID --status approved|denied|deferred [--message T]
  list-vibe-tools                        agents that can be launched
  notify [--session ID] [--title T] [--summary T] [--category C] [--activity A]
  agent-event --envelope JSON            report what an agent did
  help

S is the id or the title of a session. --json on a list prints it as JSON.
IDX0_IPC_SOCKET names another socket.
";
