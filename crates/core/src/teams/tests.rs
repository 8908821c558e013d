//! Teams over a whole core with the mock as the model: told, steered, stopped, kept and taken up again.

mod half_made;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use rookery_model::{Answer, ErrorKind, Mode, Result, ThreadId, Timestamp, TurnId};
use rookery_teams::{
    Change, DisplayMode, Member, MemberStatus, Message, MessageKind, Team, TeamTaskStatus,
};

use super::{NewMember, NewMessage, NewTeam, Starter};
use crate::agents::AgentConfig;
use crate::log::{News, NoticeBody, Subscription, Topics};
use crate::threads::{NewThread, NewTurn};
use crate::{Core, CoreConfig, KeeperLaunch, StopKind, TerminalLimits, UiConfig};

const PATIENCE: Duration = Duration::from_secs(30);
const HANG: &str = r#"MOCK_SCRIPT:[{"hang": true}]"#;

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Home(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn teams(&self) -> PathBuf {
        self.path().join("teams")
    }

    fn files(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.teams()) else { return Vec::new() };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    async fn core(&self) -> Core {
        let agent = AgentConfig {
            cwd: self.path(),
            teams_dir: Some(self.teams()),
            ..AgentConfig::default()
        };
        let keeper = KeeperLaunch {
            exe: "/nonexistent/keeper".into(),
            args: Vec::new(),
            socket: self.path().join("keeper.sock"),
        };
        let config = CoreConfig {
            state_dir: Some(self.path().join("state")),
            keeper,
            home: self.path(),
            env: Vec::new(),
            shell: "/bin/sh".to_owned(),
            child_env: Vec::new(),
            limits: TerminalLimits::default(),
            palette: rookery_term::Palette::default(),
            shares_ids: true,
            ui: UiConfig::default(),
            tab_env: Vec::new(),
            resources: None,
            helpers: None,
            default_tool: None,
            agent,
            max_running_tasks: 4,
        };
        Core::start(config).await.unwrap()
    }

    async fn team(&self, core: &Core, names: &[&str]) -> Team {
        let members = names.iter().map(|name| named(name)).collect();
        core.teams()
            .start(NewTeam { cwd: self.path(), members, ..NewTeam::default() })
            .await
            .unwrap()
    }
}

fn named(name: &str) -> NewMember {
    NewMember { name: name.to_owned(), ..NewMember::default() }
}

async fn say(core: &Core, team: &Team, member: &str, text: &str) -> Result<TurnId> {
    say_in(core, team, member, text, None).await
}

async fn say_in(
    core: &Core,
    team: &Team,
    member: &str,
    text: &str,
    expected: Option<TurnId>,
) -> Result<TurnId> {
    let (member, text) = (member.to_owned(), text.to_owned());
    let starter = Starter::default();
    core.teams().message(NewMessage { team: team.id, member, text, expected, starter }).await
}

/// What is reported of teams.
struct Told(Subscription, VecDeque<Change>);

impl Told {
    fn new(core: &Core) -> Self {
        Told(core.log().subscribe(Topics::NOTICES, None), VecDeque::new())
    }

    /// The next that fits.
    async fn until(&mut self, fits: impl Fn(&Change) -> bool) -> Change {
        let search = async {
            loop {
                while let Some(change) = self.1.pop_front() {
                    if fits(&change) {
                        return change;
                    }
                }
                for news in self.0.next().await.unwrap() {
                    let News::Notice(notice) = &news else { continue };
                    let NoticeBody::Team(change) = &notice.body else { continue };
                    self.1.push_back(change.clone());
                }
            }
        };
        tokio::time::timeout(PATIENCE, search).await.expect("it was told in time")
    }

    async fn until_status(&mut self, member: &str, wanted: MemberStatus) {
        let is_it = |change: &Change| {
            matches!(change, Change::Status(_, id, status)
                if id.as_str() == member && *status == wanted)
        };
        self.until(is_it).await;
    }

    async fn until_ended(&mut self, member: &str) -> Change {
        let is_it = |change: &Change| matches!(change, Change::Ended { member: id, .. } if id.as_str() == member);
        self.until(is_it).await
    }
}

fn member(core: &Core, team: &Team, id: &str) -> Member {
    core.teams().member(team.id, id).unwrap()
}

/// What teammates were told.
fn tasks(team: &Team) -> impl Iterator<Item = &Message> {
    team.mailbox.iter().filter(|message| message.kind == MessageKind::NewTask)
}

/// What the lead was answered, and whether it heard it.
fn answers(team: &Team) -> Vec<(&str, &str, bool)> {
    let all = team.mailbox.iter().filter(|message| message.kind == MessageKind::FinalAnswer);
    all.map(|it| (it.from.as_ref().unwrap().as_str(), &*it.text, it.delivered)).collect()
}

/// Starts a turn of the lead, as a person does.
async fn lead_says(core: &Core, team: &Team, text: &str) {
    let message = rookery_agent::turn::Message { text: text.to_owned(), ..Default::default() };
    let turn = NewTurn { message, ..NewTurn::default() };
    core.threads().start_turn(team.lead, turn).await.unwrap();
}

/// Waits until a team fits.
async fn until(core: &Core, team: &Team, fits: impl Fn(&Team) -> bool) -> Team {
    let mut news = core.log().subscribe(Topics::ALL, None);
    let search = async {
        loop {
            let now = core.teams().get(team.id).unwrap();
            if fits(&now) {
                return now;
            }
            // What a thread does is told just before it is noted.
            tokio::select! {
                _ = news.next() => {}
                () = tokio::task::yield_now() => {}
            }
        }
    };
    tokio::time::timeout(PATIENCE, search).await.expect("the team came to that in time")
}

#[tokio::test]
async fn a_team_has_a_lead_and_teammates_that_work_where_it_does() {
    let home = Home::new();
    let core = home.core().await;
    let mut told = Told::new(&core);
    let new = NewThread {
        cwd: home.path(),
        tool_allowlist: Some(vec!["grep".to_owned()]),
        developer_instructions: Some("be brief".to_owned()),
        mode: Some(Mode::Plan),
        ..NewThread::default()
    };
    let lead = core.threads().start(new).await.unwrap().thread.id;
    let members = vec![named(" reviewer "), named("Tests now")];
    let new =
        NewTeam { lead: Some(lead), display: DisplayMode::Tmux, members, ..NewTeam::default() };
    let team = core.teams().start(new).await.unwrap();
    assert!(matches!(told.until(|_| true).await, Change::Started(_)));
    assert!(matches!(told.until(|_| true).await, Change::MemberStarted(..)));
    assert!(matches!(told.until(|_| true).await, Change::MemberStarted(..)));
    assert!(matches!(told.until(|_| true).await, Change::Display(_, DisplayMode::Tmux)));
    let ids: Vec<&str> = team.members.iter().map(|member| member.id.as_str()).collect();
    assert_eq!(ids, ["lead", "member-1", "member-2"]);
    assert_eq!(team.members[2].agent_path.as_deref(), Some("/root/Tests-now"));
    let seen = core.threads().get(team.members[1].thread).unwrap().thread;
    assert_eq!(seen.name.as_deref(), Some("reviewer"));
    assert_eq!(seen.cwd, home.path());
    assert_eq!(seen.tool_allowlist, Some(vec!["grep".to_owned()]));
    assert_eq!(seen.developer_instructions.as_deref(), Some("be brief"));
    assert_eq!(core.threads().mode(Some(seen.id)), Mode::Plan);
    assert_eq!(home.files(), [format!("{}.json", team.id)]);
}

#[tokio::test]
async fn what_is_wrong_leaves_nothing_behind() {
    let home = Home::new();
    let core = home.core().await;
    let count = || {
        core.threads().list(&crate::threads::ThreadQuery {
            limit: 100,
            ..crate::threads::ThreadQuery::default()
        })
    };
    let start = async |lead: Option<ThreadId>, names: &[&str]| {
        let members = names.iter().map(|name| named(name)).collect();
        let new = NewTeam { lead, cwd: home.path(), members, ..NewTeam::default() };
        core.teams().start(new).await.unwrap_err()
    };
    let unknown = start(Some(ThreadId::new(7)), &[]).await;
    assert_eq!((unknown.kind(), unknown.field()), (ErrorKind::Invalid, Some("lead_thread_id")));
    for names in [&["a", "a"][..], &[" "], &["Lead"], &["x\ny"], &["1", "2", "3", "4", "5", "6"]] {
        assert_eq!(start(None, names).await.kind(), ErrorKind::Invalid, "{names:?}");
    }
    let members = vec![NewMember { provider: Some("nowhere".to_owned()), ..named("a") }];
    let new = NewTeam { cwd: home.path(), members, ..NewTeam::default() };
    core.teams().start(new).await.unwrap_err();
    assert_eq!((count().threads.len(), home.files()), (0, Vec::new()));
    assert_eq!(core.teams().list(10), []);
}

#[tokio::test]
async fn members_are_added_up_to_the_limit_and_once_by_name() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one", "two", "three", "four"]).await;
    let add = async |name: &str| {
        core.teams().start_member(team.id, named(name), &Starter::default()).await
    };
    let twice = add("two").await.unwrap_err();
    assert!(twice.message().contains("already exists"), "{twice}");
    assert_eq!(add("five").await.unwrap().id.as_str(), "member-5");
    assert_eq!(add("six").await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(core.teams().get(team.id).unwrap().members.len(), 6);
}

#[tokio::test]
async fn a_message_starts_a_turn_and_its_end_is_the_members() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one", "two"]).await;
    let mut told = Told::new(&core);
    let turn =
        say(&core, &team, "member-1", r#"MOCK_SCRIPT:[{"text": "all done"}]"#).await.unwrap();
    told.until_status("member-1", MemberStatus::Running).await;
    let said = told.until(|change| matches!(change, Change::Text { .. })).await;
    assert!(matches!(said, Change::Text { text, .. } if text == "all done"));
    let Change::Ended { turn: ended, end, .. } = told.until_ended("member-1").await else {
        panic!()
    };
    assert_eq!((ended, end.status), (Some(turn), MemberStatus::Completed));
    let seen = member(&core, &team, "member-1");
    assert_eq!(seen.final_message.as_deref(), Some("all done"));
    assert_eq!((seen.turn, seen.status), (None, MemberStatus::Completed));
    assert_eq!(member(&core, &team, "member-2").status, MemberStatus::Idle);
    let mailbox = core.teams().get(team.id).unwrap().mailbox;
    assert_eq!((mailbox.len(), mailbox[0].kind), (2, MessageKind::NewTask));
    assert!(mailbox[0].delivered);
    let failing = r#"MOCK_SCRIPT:[{"error": "no"}]"#;
    say(&core, &team, "member-1", failing).await.unwrap();
    told.until_ended("member-1").await;
    let seen = member(&core, &team, "member-1");
    assert_eq!((seen.status, seen.terminal_error.as_deref()), (MemberStatus::Failed, Some("no")));
    assert_eq!(seen.final_message, None);
}

#[tokio::test]
async fn a_member_at_work_is_steered_and_only_the_expected_turn_is() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one"]).await;
    let stranger = say_in(&core, &team, "member-1", "x", Some(TurnId::new(1))).await.unwrap_err();
    assert_eq!(stranger.field(), Some("expected_turn_id"));
    let turn = say(&core, &team, "member-1", HANG).await.unwrap();
    assert_eq!(say(&core, &team, "member-1", "more").await.unwrap(), turn);
    assert_eq!(say_in(&core, &team, "member-1", "again", Some(turn)).await.unwrap(), turn);
    say_in(&core, &team, "member-1", "y", Some(TurnId::new(1))).await.unwrap_err();
    let texts = |team: &Team| team.mailbox.iter().map(|it| it.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&core.teams().get(team.id).unwrap()), [HANG, "more", "again"]);
    for (member, field) in [("lead-2", "member_id"), ("", "member_id")] {
        let unknown = say(&core, &team, member, "x").await.unwrap_err();
        assert_eq!(unknown.field(), Some(field));
    }
    assert_eq!(say(&core, &team, "member-1", " ").await.unwrap_err().field(), Some("text"));
    // What the stopped turn did not take up comes with the next message.
    let stopped = core.teams().interrupt(team.id, "member-1", None).await.unwrap();
    assert_eq!(stopped, Some(turn));
    assert_eq!(member(&core, &team, "member-1").status, MemberStatus::Interrupted);
    let next = say(&core, &team, "member-1", r#"MOCK_SCRIPT:[{"text": "ok"}]"#).await.unwrap();
    assert_ne!(next, turn);
    let after = until(&core, &team, |team| tasks(team).all(|it| it.delivered)).await;
    assert_eq!(tasks(&after).count(), 4);
}

#[tokio::test]
async fn a_message_at_the_end_of_a_turn_is_sent_once_and_by_its_own_request() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one"]).await;
    let thread = team.members[1].thread;
    for round in 0..40 {
        let text = format!(r#"MOCK_SCRIPT:[{{"text": "{round}"}}]"#);
        let turn = say(&core, &team, "member-1", &text).await.unwrap();
        // Just when what waits would be sent.
        core.threads().turn_ended(thread, turn).await;
    }
    let after = until(&core, &team, |team| tasks(team).all(|it| it.delivered)).await;
    assert_eq!(tasks(&after).count(), 40);
    let said = core.threads().user_texts_since(thread, Timestamp::default()).await.unwrap();
    assert_eq!(said.len(), 40, "each once");
}

#[tokio::test]
async fn interrupting_one_member_leaves_the_others_alone() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one", "two"]).await;
    let none = core.teams().interrupt(team.id, "member-1", None).await.unwrap();
    assert_eq!(none, None);
    say(&core, &team, "member-1", HANG).await.unwrap();
    say(&core, &team, "member-2", HANG).await.unwrap();
    let other = core.teams().interrupt(team.id, "member-1", Some(TurnId::new(1))).await.unwrap();
    assert_eq!(other, None);
    core.teams().interrupt(team.id, "member-1", None).await.unwrap().unwrap();
    assert_eq!(member(&core, &team, "member-1").status, MemberStatus::Interrupted);
    assert_eq!(member(&core, &team, "member-2").status, MemberStatus::Running);
}

#[tokio::test]
async fn a_member_whose_request_waits_is_blocked() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one"]).await;
    let mut told = Told::new(&core);
    let script = r#"MOCK_SCRIPT:[{"tool": "write_file", "args": {"path": "a", "content": "b"}}, {"text": "ok"}]"#;
    say(&core, &team, "member-1", script).await.unwrap();
    told.until_status("member-1", MemberStatus::Blocked).await;
    let request = core.requests().list()[0].id;
    let answer = Answer::Approved { remember: false };
    core.requests().resolve(request, answer, "test").await.unwrap();
    told.until_status("member-1", MemberStatus::Running).await;
    told.until_ended("member-1").await;
    assert_eq!(member(&core, &team, "member-1").final_message.as_deref(), Some("ok"));
}

#[tokio::test]
async fn a_member_whose_child_agent_waits_is_blocked() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one"]).await;
    let mut told = Told::new(&core);
    let child = serde_json::json!(
        r#"MOCK_SCRIPT:[{"tool": "write_file", "args": {"path": "a", "content": "b"}}, {"text": "no"}]"#
    );
    let script = format!(
        r#"MOCK_SCRIPT:[{{"tool": "task", "args": {{"description": "d", "prompt": {child}}}}}, {{"text": "ok"}}]"#
    );
    say(&core, &team, "member-1", &script).await.unwrap();
    told.until_status("member-1", MemberStatus::Blocked).await;
    let request = core.requests().list()[0].id;
    core.requests().resolve(request, Answer::Denied { message: None }, "test").await.unwrap();
    told.until_status("member-1", MemberStatus::Running).await;
    told.until_ended("member-1").await;
    assert_eq!(member(&core, &team, "member-1").final_message.as_deref(), Some("ok"));
}

#[tokio::test]
async fn every_turn_of_a_member_is_told_of_however_short_it_is() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one"]).await;
    let mut told = Told::new(&core);
    for round in 0..30 {
        // As a client does that knows nothing of the team.
        lead_says(&core, &team, &format!(r#"MOCK_SCRIPT:[{{"text": "{round}"}}]"#)).await;
        told.until_status("lead", MemberStatus::Running).await;
        let Change::Ended { end, .. } = told.until_ended("lead").await else { panic!() };
        assert_eq!(end.message.as_deref(), Some(&*round.to_string()));
    }
    // Noted late, its beginning comes with its end; and neither comes twice.
    let turn = TurnId::new(u128::MAX);
    let end =
        rookery_teams::TurnEnd { status: MemberStatus::Completed, message: None, error: None };
    let live = core.teams().find(team.id).unwrap();
    let late =
        || live.change(|state| state.end_turn(team.lead, turn, end.clone(), Timestamp::default()));
    assert!(matches!(late()[..], [Change::Status(..), Change::Ended { .. }]));
    assert!(late().is_empty());
}

#[tokio::test]
async fn tasks_are_those_of_the_leads_ledger() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &[]).await;
    let mut told = Told::new(&core);
    let script = r#"MOCK_SCRIPT:[{"tool": "task_ledger.update", "args": {"tasks": [
        {"id": "1", "content": "read", "status": "in_progress"}]}}, {"text": "ok"}]"#;
    lead_says(&core, &team, script).await;
    let changed = told.until(|change| matches!(change, Change::Task(..))).await;
    let Change::Task(_, task) = changed else { panic!() };
    assert_eq!((&*task.id, &*task.title), ("1", "read"));
    assert_eq!(task.status, TeamTaskStatus::InProgress);
    told.until_ended("lead").await;
    assert_eq!(core.teams().get(team.id).unwrap().tasks, [task]);
}

#[tokio::test]
async fn no_teammate_may_do_more_than_its_lead() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one"]).await;
    let thread = team.members[1].thread;
    core.threads().set_mode(Some(team.lead), Mode::Plan, None, None).await.unwrap();
    until(&core, &team, |team| team.members[1].mode == Mode::Plan).await;
    assert_eq!(core.threads().mode(Some(thread)), Mode::Plan);
    core.threads().set_mode(Some(team.lead), Mode::Bypass, None, None).await.unwrap();
    until(&core, &team, |team| team.members[0].mode == Mode::Bypass).await;
    assert_eq!(core.threads().mode(Some(thread)), Mode::Plan, "what was tightened stays so");
}

#[tokio::test]
async fn cleaning_up_waits_for_teammates_unless_it_is_forced() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one"]).await;
    say(&core, &team, "member-1", HANG).await.unwrap();
    let refused = core.teams().clean_up(team.id, false).await.unwrap_err();
    assert!(refused.message().contains("active teammates"), "{refused}");
    let mut told = Told::new(&core);
    assert!(core.teams().clean_up(team.id, true).await.unwrap());
    told.until(|change| matches!(change, Change::Cleaned { forced: true, .. })).await;
    assert!(!core.teams().clean_up(team.id, true).await.unwrap());
    assert_eq!((core.teams().get(team.id), home.files()), (None, Vec::new()));
    assert!(core.threads().get(team.members[1].thread).is_some(), "its threads stay");
    assert_eq!(say(&core, &team, "member-1", "x").await.unwrap_err().field(), Some("team_id"));
}

#[tokio::test]
async fn a_member_is_closed_with_its_thread() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one", "two"]).await;
    let mut told = Told::new(&core);
    core.threads().archive(team.members[1].thread, true).await.unwrap();
    told.until_status("member-1", MemberStatus::Closed).await;
    assert_eq!(say(&core, &team, "member-1", "x").await.unwrap_err().kind(), ErrorKind::Invalid);
    core.threads().archive(team.members[1].thread, false).await.unwrap();
    told.until_status("member-1", MemberStatus::Idle).await;
    core.threads().delete(team.members[2].thread).await.unwrap();
    told.until_status("member-2", MemberStatus::Closed).await;
}

#[tokio::test]
async fn teams_and_what_waits_survive_the_daemon() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one", "two"]).await;
    let mut told = Told::new(&core);
    say(&core, &team, "member-1", r#"MOCK_SCRIPT:[{"text": "later"}]"#).await.unwrap();
    told.until_ended("member-1").await;
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop(core);
    // As a daemon leaves it that died before a turn had taken the message up.
    let path = home.teams().join(format!("{}.json", team.id));
    let mut kept: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(kept["members"][1]["finalMessage"], "later");
    // Of two messages one is in the thread, and is not said again.
    kept["mailbox"][0]["delivered"] = false.into();
    let mut second = kept["mailbox"][0].clone();
    second["id"] = "second".into();
    second["text"] = r#"MOCK_SCRIPT:[{"text": "at last"}]"#.into();
    kept["mailbox"].as_array_mut().unwrap().push(second);
    kept["members"][1]["finalMessage"] = serde_json::Value::Null;
    kept["members"][1]["status"] = "running".into();
    std::fs::write(&path, kept.to_string()).unwrap();
    std::fs::write(home.teams().join("00000000-0000-0000-0000-000000000001.json"), "{").unwrap();
    let core = home.core().await;
    let after = until(&core, &team, |team| team.members[1].final_message.is_some()).await;
    assert_eq!(after.members[1].final_message.as_deref(), Some("at last"));
    let said = core.threads().user_texts_since(team.members[1].thread, Timestamp::default()).await;
    assert_eq!(said.unwrap().len(), 2, "each was said once");
    assert!(tasks(&after).all(|message| message.delivered));
    assert_eq!(after.members[2], team.members[2]);
    let aside = home.files().into_iter().filter(|name| name.contains(".json.corrupt-")).count();
    assert_eq!(aside, 1);
}

#[tokio::test]
async fn the_lead_hears_what_came_of_a_teammate_once_and_is_not_woken_for_it() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one", "two"]).await;
    let mut told = Told::new(&core);
    say(&core, &team, "member-1", r#"MOCK_SCRIPT:[{"text": "it is red"}]"#).await.unwrap();
    told.until_ended("member-1").await;
    say(&core, &team, "member-2", r#"MOCK_SCRIPT:[{"error": "no"}]"#).await.unwrap();
    told.until_ended("member-2").await;
    let now = core.teams().get(team.id).unwrap();
    let failed = "The turn failed: no";
    let waiting = [("member-1", "it is red", false), ("member-2", failed, false)];
    assert_eq!(answers(&now), waiting);
    assert_eq!(member(&core, &team, "lead").status, MemberStatus::Idle, "it rests on");
    // Its next turn hears both.
    lead_says(&core, &team, "what is new?").await;
    told.until_ended("lead").await;
    let now = until(&core, &team, |team| answers(team).iter().all(|answer| answer.2)).await;
    assert_eq!(answers(&now).len(), 2);
    let said = core.threads().user_texts_since(team.lead, Timestamp::default()).await.unwrap();
    let both = format!("[Answer of teammate one]\nit is red\n\n[Answer of teammate two]\n{failed}");
    assert_eq!(said, ["what is new?".to_owned(), both]);
    // One that is interrupted has no answer.
    say(&core, &team, "member-1", HANG).await.unwrap();
    core.teams().interrupt(team.id, "member-1", None).await.unwrap().unwrap();
    assert_eq!(answers(&core.teams().get(team.id).unwrap()).len(), 2);
}

#[tokio::test]
async fn a_lead_at_work_hears_a_teammate_in_its_turn_and_what_it_missed_in_the_next() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one"]).await;
    let mut told = Told::new(&core);
    // It waits for a person, so that it is at work for as long as we like.
    let asks = r#"MOCK_SCRIPT:[{"tool": "write_file", "args": {"path": "a", "content": "b"}}, {"text": "ok"}]"#;
    lead_says(&core, &team, asks).await;
    told.until_status("lead", MemberStatus::Blocked).await;
    say(&core, &team, "member-1", r#"MOCK_SCRIPT:[{"text": "first"}]"#).await.unwrap();
    told.until_ended("member-1").await;
    let request = core.requests().list()[0].id;
    core.requests().resolve(request, Answer::Approved { remember: false }, "test").await.unwrap();
    told.until_ended("lead").await;
    until(&core, &team, |team| answers(team) == [("member-1", "first", true)]).await;
    let said = core.threads().user_texts_since(team.lead, Timestamp::default()).await.unwrap();
    assert_eq!(said, [asks.to_owned(), "[Answer of teammate one]\nfirst".to_owned()]);
    // Handed to a turn that is stopped before its model hears it.
    lead_says(&core, &team, HANG).await;
    told.until_status("lead", MemberStatus::Running).await;
    say(&core, &team, "member-1", r#"MOCK_SCRIPT:[{"text": "second"}]"#).await.unwrap();
    told.until_ended("member-1").await;
    core.teams().interrupt(team.id, "lead", None).await.unwrap().unwrap();
    lead_says(&core, &team, "and?").await;
    told.until_ended("lead").await;
    until(&core, &team, |team| answers(team).iter().all(|answer| answer.2)).await;
    // In the thread of the lead, so that its model hears it, and not twice.
    let said = core.threads().user_texts_since(team.lead, Timestamp::default()).await.unwrap();
    let second = said.iter().filter(|text| *text == "[Answer of teammate one]\nsecond");
    assert_eq!(second.count(), 1, "{said:?}");
}
