//! Teams: a lead thread with teammates that are threads of their own that get their work by messages.
//!
//! Each team is one file, written before anything that was asked for is answered. What members do is
//! taken from what happens to their threads; nothing is asked again and again. How a team changes is
//! [`rookery_teams`]'s, how turns are run is the threads'.

mod follow;
mod live;
mod mail;
mod making;
mod restore;
mod start;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rookery_agent::providers::Loan;
use rookery_model::{Error, ErrorKind, Profile, Result, TeamId, ThreadId, TurnId};
use rookery_teams::{Change, DisplayMode, Member, MemberId, Team};

use self::live::{LiveTeam, State};
pub(crate) use self::mail::LeadMessages;
pub use self::mail::NewMessage;
use self::making::Making;
use crate::log::NoticeBody;
use crate::rooms::Teams;

/// Teams that there may be.
const MOST_TEAMS: usize = 500;
/// How long the end of an interrupted turn is waited for.
const END_LIMIT: Duration = Duration::from_secs(10);

/// A team to be started.
#[derive(Clone, Debug, Default)]
pub struct NewTeam {
    /// The thread of its lead; a new one if none is named.
    pub lead: Option<ThreadId>,
    /// Where a new lead works.
    pub cwd: PathBuf,
    /// How the client wants to see it.
    pub display: DisplayMode,
    /// Its first teammates.
    pub members: Vec<NewMember>,
    /// On whose behalf.
    pub starter: Starter,
}

/// A teammate to be started.
#[derive(Clone, Debug, Default)]
pub struct NewMember {
    /// Its name, which no other member may have.
    pub name: String,
    /// Who answers; the lead's provider if it is not said.
    pub provider: Option<String>,
    /// The model that does.
    pub model: Option<String>,
}

/// The client that something is started for.
#[derive(Clone, Debug, Default)]
pub struct Starter {
    /// Its connection.
    pub client: Option<u64>,
    /// Who is there while its turns run.
    pub profile: Option<Profile>,
    /// Keys that it lends.
    pub keys: Vec<Loan>,
}

/// Which teams there are.
pub(crate) struct Room {
    /// Where their files are; none forgets them with this process.
    dir: Option<PathBuf>,
    live_teams: Mutex<HashMap<TeamId, Arc<LiveTeam>>>,
    /// The teams of each thread that is a member: every word of every thread is looked up here.
    by_thread: Mutex<HashMap<ThreadId, Vec<Arc<LiveTeam>>>>,
    /// Threads that no file of a team names yet.
    making: Mutex<Vec<Making>>,
    is_following: AtomicBool,
}

impl Room {
    pub(crate) fn new(dir: Option<PathBuf>) -> Room {
        Room {
            dir,
            live_teams: Mutex::default(),
            by_thread: Mutex::default(),
            making: Mutex::default(),
            is_following: AtomicBool::new(false),
        }
    }

    fn file(&self, id: TeamId) -> Option<PathBuf> {
        // An id is a number that is spelled here, so no text of a client gets into a path.
        self.dir.as_ref().map(|dir| dir.join(format!("{id}.json")))
    }

    /// The teams that a thread is a member of.
    fn of_thread(&self, thread: ThreadId) -> Vec<Arc<LiveTeam>> {
        self.by_thread.lock().get(&thread).cloned().unwrap_or_default()
    }

    /// Looks up anew which thread is a member of which team.
    fn index(&self) {
        let live_teams: Vec<Arc<LiveTeam>> = self.live_teams.lock().values().cloned().collect();
        let mut by_thread: HashMap<ThreadId, Vec<Arc<LiveTeam>>> = HashMap::new();
        for live in live_teams {
            for member in live.team().members {
                by_thread.entry(member.thread).or_default().push(Arc::clone(&live));
            }
        }
        *self.by_thread.lock() = by_thread;
    }
}

impl Teams {
    /// Teams, the one that something last happened to first.
    pub fn list(&self, limit: usize) -> Vec<Team> {
        let live_teams: Vec<Arc<LiveTeam>> =
            self.room().live_teams.lock().values().cloned().collect();
        let mut teams: Vec<Team> = live_teams.iter().map(|live| live.team()).collect();
        teams.sort_by_key(|team| std::cmp::Reverse((team.updated_at, team.id)));
        teams.truncate(limit);
        teams
    }

    /// A team as it is now.
    pub fn get(&self, id: TeamId) -> Option<Team> {
        self.find(id).map(|live| live.team())
    }

    /// A member of a team.
    ///
    /// # Errors
    /// If there is no such team or member.
    pub fn member(&self, id: TeamId, member: &str) -> Result<Member> {
        let team = self.live(id)?.team();
        team.member(member).cloned().ok_or_else(|| no_member(member))
    }

    /// Stops the turn of one member, and waits for its end. None if none ran.
    ///
    /// # Errors
    /// If there is no such team or member.
    pub async fn interrupt(
        &self,
        id: TeamId,
        member: &str,
        turn: Option<TurnId>,
    ) -> Result<Option<TurnId>> {
        let live = self.live(id)?;
        let thread = self.member(id, member)?.thread;
        let stopped = match self.core.threads().get(thread) {
            Some(_) => self.core.threads().interrupt(thread, turn)?,
            None => None,
        };
        let Some(stopped) = stopped else { return Ok(None) };
        self.wait_for_end(&live, thread, stopped).await;
        live.save().await?;
        Ok(Some(stopped))
    }

    async fn wait_for_end(&self, live: &Arc<LiveTeam>, thread: ThreadId, turn: TurnId) {
        let threads = self.core.threads();
        let ended = threads.turn_ended(thread, turn);
        if tokio::time::timeout(END_LIMIT, ended).await.is_ok() {
            self.turn_ended(live, thread, turn).await;
        }
    }

    /// Takes a team apart: its record goes, its threads stay. False if there is none.
    ///
    /// # Errors
    /// If teammates are at work and are not to be interrupted, or the record cannot be removed.
    pub async fn clean_up(&self, id: TeamId, force: bool) -> Result<bool> {
        let Some(live) = self.find(id) else { return Ok(false) };
        let _order = live.order.lock().await;
        let at_work = self.at_work(&live.team());
        if !at_work.is_empty() && !force {
            let names: Vec<&str> = at_work.iter().map(|member| &*member.name).collect();
            let names = names.join(", ");
            return Err(Error::conflict(format!(
                "the team has active teammates: {names}; wait for them, or use force"
            )));
        }
        for member in at_work {
            if let Some(turn) = self.core.threads().interrupt(member.thread, None)? {
                self.wait_for_end(&live, member.thread, turn).await;
            }
        }
        live.remove().await?;
        self.room().live_teams.lock().remove(&id);
        self.room().index();
        self.announce([Change::Cleaned { team: id, forced: force }]);
        Ok(true)
    }

    /// The teammates whose threads have a turn.
    fn at_work(&self, team: &Team) -> Vec<Member> {
        let threads = self.core.threads();
        let works = |member: &&Member| {
            threads.get(member.thread).is_some_and(|seen| seen.status.active_turn.is_some())
        };
        team.teammates().filter(works).cloned().collect()
    }

    fn room(&self) -> &Room {
        &self.core.inner.teams
    }

    fn find(&self, id: TeamId) -> Option<Arc<LiveTeam>> {
        self.room().live_teams.lock().get(&id).cloned()
    }

    fn live(&self, id: TeamId) -> Result<Arc<LiveTeam>> {
        self.find(id).ok_or_else(|| Error::invalid("team_id", format!("unknown team: {id}")))
    }

    /// Puts a team among the others.
    fn add(&self, live: Arc<LiveTeam>) -> Result<()> {
        let mut live_teams = self.room().live_teams.lock();
        if live_teams.len() >= MOST_TEAMS {
            let message = format!("there are {MOST_TEAMS} teams already; clean one up first");
            return Err(Error::new(ErrorKind::Busy, message));
        }
        live_teams.insert(live.id, live);
        drop(live_teams);
        self.room().index();
        Ok(())
    }

    /// Changes a team and publishes what came of it, at once: whoever sees the change knows that it was
    /// published.
    /// It is written down soon, if anything changed.
    fn apply(&self, live: &Arc<LiveTeam>, change: impl FnOnce(&mut State) -> Vec<Change>) {
        let has_changed = live.change(|state| {
            let before = state.team.updated_at;
            let changes = change(state);
            let has_changed = !changes.is_empty() || before != state.team.updated_at;
            self.announce(changes);
            has_changed
        });
        if has_changed {
            live.save_soon(&self.core.inner.runtime);
        }
    }

    /// Tells all who follow threads what happened to a team.
    fn announce(&self, changes: impl IntoIterator<Item = Change>) {
        let bodies = changes.into_iter().map(NoticeBody::Team);
        self.core.inner.log.spine().send(None, bodies);
    }

    /// Sees to it that what happens to threads reaches the members, once there is one.
    fn follow_threads(&self) {
        if !self.room().is_following.swap(true, Ordering::AcqRel) {
            self.spawn_follower();
        }
    }
}

fn no_member(member: &str) -> Error {
    let shown: String = member.chars().take(64).collect();
    Error::invalid("member_id", format!("unknown member: {shown}"))
}

/// The place of a teammate in the tree of agents.
fn agent_path(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    format!("/root/{}", name.trim().chars().map(plain).collect::<String>())
}

/// The name of the lead, for programs and people.
fn lead() -> MemberId {
    MemberId::lead()
}

#[cfg(test)]
mod tests;
