//! New teams, and new teammates in them.

use rookery_model::{Choice, Error, Mode, Result, TeamId, ThreadId};
use rookery_teams::{Change, DisplayMode, Member, MemberId, MemberStatus, Role, Team};

use super::live::LiveTeam;
use super::making::Making;
use super::{NewMember, NewTeam, Starter, agent_path, lead};
use crate::clock;
use crate::rooms::Teams;
use crate::runners::RunnerUse;
use crate::threads::{NewThread, ThreadView};

/// The name of a lead thread that is made for a team.
const LEAD_NAME: &str = "Team lead";
/// Characters of a teammate's name.
const LONGEST_NAME: usize = 128;

impl Teams {
    /// Starts a team with its lead and first teammates.
    ///
    /// # Errors
    /// If a part of the request is wrong, or it cannot be kept; nothing is left of it then.
    pub async fn start(&self, new: NewTeam) -> Result<Team> {
        self.check_room(new.members.len())?;
        let mut names: Vec<String> = Vec::new();
        for member in &new.members {
            check_name(&member.name, names.iter().map(String::as_str))?;
            names.push(member.name.trim().to_owned());
        }
        let known = new.lead.map(|id| self.lead_thread(id)).transpose()?;
        self.check_choices(&new, known.as_ref()).await?;
        self.follow_threads();
        let count = new.members.len() + usize::from(known.is_none());
        let making = Making {
            team: TeamId::new(uuid::Uuid::new_v4().as_u128()),
            threads: std::iter::repeat_with(new_thread_id).take(count).collect(),
        };
        self.note_making(&making)?;
        let built = self.build(&new, known, &making).await;
        let kept = match built {
            Ok(team) => self.keep(team).await,
            Err(error) => Err(error),
        };
        if kept.is_err() {
            self.take_back(making.threads.clone()).await;
        }
        self.forget_making(&making);
        let team = kept?;
        let shown =
            (team.display != DisplayMode::Auto).then_some(Change::Display(team.id, team.display));
        let joined =
            team.teammates().map(|it| Change::MemberStarted(team.id, Box::new(it.clone())));
        let begun = Change::Started(Box::new(team.clone()));
        self.announce(std::iter::once(begun).chain(joined).chain(shown));
        Ok(team)
    }

    /// Finds out whether every teammate could be answered, before any thread is made.
    async fn check_choices(&self, new: &NewTeam, lead: Option<&ThreadView>) -> Result<()> {
        let agents = self.core.agents();
        let usual = lead.map_or_else(|| agents.default_choice(), |seen| seen.thread.choice.clone());
        for member in &new.members {
            agents.fit_choice(choice(member), &usual, &new.starter.keys).await?;
        }
        Ok(())
    }

    /// Makes the threads of a team, under the ids that were noted for them.
    async fn build(
        &self,
        new: &NewTeam,
        known: Option<ThreadView>,
        making: &Making,
    ) -> Result<Team> {
        let mut ids = making.threads.iter().copied();
        let lead_thread = match known {
            Some(seen) => seen,
            None => {
                let agents = self.core.agents();
                let place = agents.place_for(Some(&new.cwd), None, None, &new.cwd).await?;
                self.core
                    .threads()
                    .start(NewThread {
                        id: ids.next(),
                        cwd: place.cwd,
                        root: Some(place.root),
                        place: Some((place.workspace_id, place.root_id)),
                        name: Some(LEAD_NAME.to_owned()),
                        keys: new.starter.keys.clone(),
                        ..NewThread::default()
                    })
                    .await?
            }
        };
        let now = clock::wall();
        let lead = lead_thread.thread.id;
        let mut team = Team {
            id: making.team,
            lead,
            display: new.display,
            members: vec![self.lead_member(&lead_thread)],
            mailbox: Vec::new(),
            tasks: Vec::new(),
            created_at: now,
            updated_at: now,
        };
        team.set_tasks(&lead_thread.thread.ledger, now);
        for member in &new.members {
            let id = (team.next_member(), ids.next().unwrap_or_else(new_thread_id));
            let member = self.teammate(id, member, &lead_thread, &new.starter).await?;
            team.members.push(member);
        }
        Ok(team)
    }

    /// Writes a new team down, and puts it among the others.
    async fn keep(&self, team: Team) -> Result<Team> {
        let live = LiveTeam::new(team.clone(), self.room().file(team.id));
        live.save().await?;
        if let Err(error) = self.add(std::sync::Arc::clone(&live)) {
            live.remove().await?;
            return Err(error);
        }
        Ok(team)
    }

    /// Starts another teammate.
    ///
    /// # Errors
    /// If there is no such team, a part of the request is wrong, or it cannot be kept.
    pub async fn start_member(
        &self,
        id: TeamId,
        new: NewMember,
        starter: &Starter,
    ) -> Result<Member> {
        let live = self.live(id)?;
        let _order = live.order.lock().await;
        // It may have been cleaned up meanwhile.
        self.live(id)?;
        let team = live.team();
        self.check_room(team.teammates().count() + 1)?;
        check_name(&new.name, team.members.iter().map(|member| &*member.name))?;
        let lead = self.lead_thread(team.lead)?;
        let making = Making { team: id, threads: vec![new_thread_id()] };
        self.note_making(&making)?;
        let joined = self.join(&live, &new, (&lead, starter), &making).await;
        if joined.is_err() {
            self.take_back(making.threads.clone()).await;
        }
        self.forget_making(&making);
        let member = joined?;
        self.room().index();
        self.announce([Change::MemberStarted(id, Box::new(member.clone()))]);
        Ok(member)
    }

    /// Makes the thread of a teammate, and writes down that it is one.
    async fn join(
        &self,
        live: &LiveTeam,
        new: &NewMember,
        (lead, starter): (&ThreadView, &Starter),
        making: &Making,
    ) -> Result<Member> {
        let thread = making.threads.first().copied().unwrap_or_else(new_thread_id);
        let id = (live.team().next_member(), thread);
        let member = self.teammate(id, new, lead, starter).await?;
        live.change(|state| {
            state.team.members.push(member.clone());
            state.team.updated_at = clock::wall();
        });
        if let Err(error) = live.save().await {
            live.change(|state| state.team.members.retain(|one| one.id != member.id));
            return Err(error);
        }
        Ok(member)
    }

    fn lead_thread(&self, id: ThreadId) -> Result<ThreadView> {
        let seen = self.core.threads().get(id).filter(|seen| !seen.thread.archived);
        seen.ok_or_else(|| Error::invalid("lead_thread_id", format!("unknown thread: {id}")))
    }

    fn lead_member(&self, seen: &ThreadView) -> Member {
        let thread = &seen.thread;
        let turn = seen.status.active_turn;
        Member {
            id: lead(),
            role: Role::Lead,
            name: MemberId::LEAD.to_owned(),
            task_name: None,
            agent_path: Some("/root".to_owned()),
            thread: thread.id,
            parent: None,
            turn,
            provider: Some(thread.choice.provider.clone()),
            model: Some(thread.choice.model.clone()),
            mode: self.core.threads().mode(Some(thread.id)),
            status: match turn {
                None => MemberStatus::Idle,
                Some(_) if self.is_blocked(thread.id) => MemberStatus::Blocked,
                Some(_) => MemberStatus::Running,
            },
            final_message: None,
            terminal_error: None,
            pane: None,
        }
    }

    /// A teammate with a thread of its own, which works where and as the lead does.
    async fn teammate(
        &self,
        (id, thread): (MemberId, ThreadId),
        new: &NewMember,
        lead: &ThreadView,
        starter: &Starter,
    ) -> Result<Member> {
        let of = &lead.thread;
        let mode = self.mode_under(of.id, starter.client);
        let name = new.name.trim().to_owned();
        let seen = self
            .core
            .threads()
            .start(NewThread {
                id: Some(thread),
                cwd: of.cwd.clone(),
                root: Some(of.root.clone()),
                place: of.place.clone(),
                choice: choice(new),
                usual: Some(of.choice.clone()),
                ephemeral: of.ephemeral,
                name: Some(name.clone()),
                tool_allowlist: of.tool_allowlist.clone(),
                developer_instructions: of.developer_instructions.clone(),
                mode: Some(mode),
                runner: RunnerUse::Like(of.id),
                keys: starter.keys.clone(),
                ..NewThread::default()
            })
            .await?;
        Ok(Member {
            id,
            role: Role::Teammate,
            agent_path: Some(agent_path(&name)),
            name,
            task_name: None,
            thread: seen.thread.id,
            parent: Some(of.id),
            turn: None,
            provider: Some(seen.thread.choice.provider),
            model: Some(seen.thread.choice.model),
            mode,
            status: MemberStatus::Idle,
            final_message: None,
            terminal_error: None,
            pane: None,
        })
    }

    /// The mode that holds for the lead, as the client that asks would work in it, whichever is stricter.
    fn mode_under(&self, lead: ThreadId, client: Option<u64>) -> Mode {
        let threads = self.core.threads();
        let own = threads.mode(Some(lead));
        let clients = client.map_or(own, |client| threads.mode_for(client, Some(lead)));
        stricter(own, clients)
    }

    fn check_room(&self, teammates: usize) -> Result<()> {
        let most = self.core.agents().settings().teams.max_teammates;
        if teammates <= most {
            return Ok(());
        }
        let message =
            format!("a team has at most {most} teammates; limited by max_teammates in the config");
        Err(Error::invalid("members", message))
    }

    /// Deletes threads that were made for nothing; some of them may not have been.
    pub(super) async fn take_back(&self, made: Vec<ThreadId>) {
        for thread in made {
            if let Err(error) = self.core.threads().delete(thread).await {
                tracing::warn!(%error, %thread, "a thread of a team that was not started stays");
            }
        }
    }
}

fn new_thread_id() -> ThreadId {
    ThreadId::new(uuid::Uuid::now_v7().as_u128())
}

/// Who is to answer; what is empty is as in the lead.
fn choice(new: &NewMember) -> Choice {
    let (provider, model) = (new.provider.clone(), new.model.clone());
    Choice {
        provider: provider.unwrap_or_default(),
        model: model.unwrap_or_default(),
        reasoning: None,
    }
}

/// The stricter of two modes.
pub(super) fn stricter(one: Mode, other: Mode) -> Mode {
    let looseness = |mode: Mode| match mode {
        Mode::Plan => 0,
        Mode::Default => 1,
        Mode::AcceptAll => 2,
        Mode::Bypass => 3,
    };
    if looseness(one) <= looseness(other) { one } else { other }
}

fn check_name<'a>(name: &str, mut taken: impl Iterator<Item = &'a str>) -> Result<()> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        let message = format!("name must have 1 to {LONGEST_NAME} characters");
        return Err(Error::invalid("name", message));
    }
    if name.chars().any(char::is_control) {
        return Err(Error::invalid("name", "name must not have control characters"));
    }
    let is_lead = name.eq_ignore_ascii_case(MemberId::LEAD);
    if is_lead || taken.any(|other| other == name) {
        return Err(Error::invalid("name", format!("member {name:?} already exists")));
    }
    Ok(())
}
