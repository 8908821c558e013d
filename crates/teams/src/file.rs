//! A team as its file has it: JSON with members in camelCase, which other programs read as well. What is
//! missing in an older file has its usual value; what is wrong makes the file unreadable as a whole.

use rookery_model::{Mode, Timestamp, Words as _};
use serde::{Deserialize, Serialize};

use crate::mailbox::{Message, MessageKind};
use crate::member::{Member, MemberId, MemberStatus, Role};
use crate::team::{DisplayMode, Team, TeamTask, TeamTaskStatus};

/// The largest file that is read.
pub const LARGEST: u64 = 64 << 20;

/// The bytes of a team's file.
///
/// # Errors
/// If they cannot be made, which no team of ours does.
pub fn write(team: &Team) -> Result<Vec<u8>, String> {
    let mut bytes = serde_json::to_vec_pretty(&record(team)).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The team that a file holds.
///
/// # Errors
/// If it holds none, with the reason.
pub fn read(bytes: &[u8]) -> Result<Team, String> {
    let record: Record = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    team(record)
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    id: String,
    lead_thread_id: String,
    #[serde(default)]
    display_mode: DisplayWord,
    members: Vec<MemberRecord>,
    #[serde(default)]
    mailbox: Vec<MessageRecord>,
    #[serde(default)]
    tasks: Vec<TaskRecord>,
    created_at: String,
    updated_at: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemberRecord {
    id: String,
    role: RoleWord,
    name: String,
    task_name: Option<String>,
    agent_path: Option<String>,
    thread_id: String,
    parent_thread_id: Option<String>,
    current_turn_id: Option<String>,
    model_provider: Option<String>,
    model: Option<String>,
    policy_mode: String,
    status: StatusWord,
    final_message: Option<String>,
    terminal_error: Option<String>,
    pane_id: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageRecord {
    id: String,
    /// For readers that look at one message alone.
    #[serde(default)]
    team_id: String,
    from_member_id: Option<String>,
    to_member_id: String,
    #[serde(default)]
    kind: KindWord,
    text: String,
    #[serde(default)]
    delivered: bool,
    timestamp: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskRecord {
    id: String,
    title: String,
    status: TaskWord,
    assignee_member_id: Option<String>,
}

/// An enum of ours with its words in the file.
macro_rules! words {
    ($($name:ident = $of:ident as $case:literal { $($variant:ident),+ })+) => {
        $(
            #[derive(Debug, Clone, Copy, Serialize, Deserialize)]
            #[serde(rename_all = $case)]
            enum $name {
                $($variant),+
            }

            impl From<$of> for $name {
                fn from(value: $of) -> Self {
                    match value {
                        $($of::$variant => Self::$variant),+
                    }
                }
            }

            impl From<$name> for $of {
                fn from(word: $name) -> Self {
                    match word {
                        $($name::$variant => Self::$variant),+
                    }
                }
            }
        )+
    };
}

words! {
    DisplayWord = DisplayMode as "snake_case" { Auto, InProcess, Tmux, Iterm2 }
    RoleWord = Role as "snake_case" { Lead, Teammate }
    StatusWord = MemberStatus as "snake_case" { Idle, Running, Blocked, Completed, Failed, Interrupted, Closed }
    KindWord = MessageKind as "SCREAMING_SNAKE_CASE" { Message, NewTask, FinalAnswer }
    TaskWord = TeamTaskStatus as "snake_case" { Pending, InProgress, Completed, Failed }
}

impl Default for DisplayWord {
    fn default() -> Self {
        DisplayMode::default().into()
    }
}

impl Default for KindWord {
    fn default() -> Self {
        MessageKind::Message.into()
    }
}

fn record(team: &Team) -> Record {
    Record {
        id: team.id.to_string(),
        lead_thread_id: team.lead.to_string(),
        display_mode: team.display.into(),
        members: team.members.iter().map(member_record).collect(),
        mailbox: team.mailbox.iter().map(|message| message_record(team, message)).collect(),
        tasks: team.tasks.iter().map(task_record).collect(),
        created_at: team.created_at.to_string(),
        updated_at: team.updated_at.to_string(),
    }
}

fn member_record(member: &Member) -> MemberRecord {
    MemberRecord {
        id: member.id.to_string(),
        role: member.role.into(),
        name: member.name.clone(),
        task_name: member.task_name.clone(),
        agent_path: member.agent_path.clone(),
        thread_id: member.thread.to_string(),
        parent_thread_id: member.parent.map(|thread| thread.to_string()),
        current_turn_id: member.turn.map(|turn| turn.to_string()),
        model_provider: member.provider.clone(),
        model: member.model.clone(),
        policy_mode: member.mode.word().to_owned(),
        status: member.status.into(),
        final_message: member.final_message.clone(),
        terminal_error: member.terminal_error.clone(),
        pane_id: member.pane.clone(),
    }
}

fn message_record(team: &Team, message: &Message) -> MessageRecord {
    MessageRecord {
        id: message.id.clone(),
        team_id: team.id.to_string(),
        from_member_id: message.from.as_ref().map(ToString::to_string),
        to_member_id: message.to.to_string(),
        kind: message.kind.into(),
        text: message.text.clone(),
        delivered: message.delivered,
        timestamp: message.at.to_string(),
    }
}

fn task_record(task: &TeamTask) -> TaskRecord {
    TaskRecord {
        id: task.id.clone(),
        title: task.title.clone(),
        status: task.status.into(),
        assignee_member_id: task.assignee.as_ref().map(ToString::to_string),
    }
}

fn team(record: Record) -> Result<Team, String> {
    let members: Vec<Member> = record.members.into_iter().map(member).collect::<Result<_, _>>()?;
    let lead = id("leadThreadId", &record.lead_thread_id)?;
    if members.first().is_none_or(|first| first.role != Role::Lead || first.thread != lead) {
        return Err("the first member has to be the lead".to_owned());
    }
    Ok(Team {
        id: id("id", &record.id)?,
        lead,
        display: record.display_mode.into(),
        members,
        mailbox: record.mailbox.into_iter().map(message).collect::<Result<_, _>>()?,
        tasks: record.tasks.into_iter().map(task).collect(),
        created_at: time("createdAt", &record.created_at)?,
        updated_at: time("updatedAt", &record.updated_at)?,
    })
}

fn member(record: MemberRecord) -> Result<Member, String> {
    let mode = Mode::from_word(&record.policy_mode);
    Ok(Member {
        id: MemberId::from_text(record.id),
        role: record.role.into(),
        name: record.name,
        task_name: record.task_name,
        agent_path: record.agent_path,
        thread: id("threadId", &record.thread_id)?,
        parent: record.parent_thread_id.map(|text| id("parentThreadId", &text)).transpose()?,
        turn: record.current_turn_id.map(|text| id("currentTurnId", &text)).transpose()?,
        provider: record.model_provider,
        model: record.model,
        mode: mode.ok_or_else(|| format!("policyMode {:?} is no mode", record.policy_mode))?,
        status: record.status.into(),
        final_message: record.final_message,
        terminal_error: record.terminal_error,
        pane: record.pane_id,
    })
}

fn message(record: MessageRecord) -> Result<Message, String> {
    Ok(Message {
        id: record.id,
        from: record.from_member_id.map(MemberId::from_text),
        to: MemberId::from_text(record.to_member_id),
        kind: record.kind.into(),
        text: record.text,
        delivered: record.delivered,
        at: time("timestamp", &record.timestamp)?,
    })
}

fn task(record: TaskRecord) -> TeamTask {
    TeamTask {
        id: record.id,
        title: record.title,
        status: record.status.into(),
        assignee: record.assignee_member_id.map(MemberId::from_text),
    }
}

fn id<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} is no id"))
}

fn time(name: &str, text: &str) -> Result<Timestamp, String> {
    let read = text.parse::<jiff::Timestamp>().map_err(|_| format!("{name} is no time"))?;
    Ok(Timestamp::from_micros(read.as_microsecond()))
}
