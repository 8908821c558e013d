//! Teams: a lead thread with teammates that are threads of their own, told by messages what to do.
//!
//! Each team is one file, written before anything that was asked for is answered. What members do is
//! taken from what happens to their threads; nothing is asked again and again. How a team changes is
//! [`rookery_teams`]'s, how turns are run is the threads'.

mod desk;
mod follow;
mod mail;
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

use self::desk::{Desk, State};
pub(crate) use self::mail::ForLead;
pub use self::mail::NewMessage;
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
    desks: Mutex<HashMap<TeamId, Arc<Desk>>>,
    /// The teams of each thread that is a member: every word of every thread is looked up here.
    by_thread: Mutex<HashMap<ThreadId, Vec<Arc<Desk>>>>,
    is_following: AtomicBool,
}

impl Room {
    pub(crate) fn new(dir: Option<PathBuf>) -> Room {
        Room {
            dir,
            desks: Mutex::default(),
            by_thread: Mutex::default(),
            is_following: AtomicBool::new(false),
        }
    }

    fn file(&self, id: TeamId) -> Option<PathBuf> {
        // An id is a number that is spelled here, so no text of a client gets into a path.
        self.dir.as_ref().map(|dir| dir.join(format!("{id}.json")))
    }

    /// The teams that a thread is a member of.
    fn of_thread(&self, thread: ThreadId) -> Vec<Arc<Desk>> {
        self.by_thread.lock().get(&thread).cloned().unwrap_or_default()
    }

    /// Looks up anew which thread is a member of which team.
    fn index(&self) {
        let desks: Vec<Arc<Desk>> = self.desks.lock().values().cloned().collect();
        let mut by_thread: HashMap<ThreadId, Vec<Arc<Desk>>> = HashMap::new();
        for desk in desks {
            for member in desk.team().members {
                by_thread.entry(member.thread).or_default().push(Arc::clone(&desk));
            }
        }
        *self.by_thread.lock() = by_thread;
    }
}

impl Teams {
    /// Teams, the one that something last happened to first.
    pub fn list(&self, limit: usize) -> Vec<Team> {
        let desks: Vec<Arc<Desk>> = self.room().desks.lock().values().cloned().collect();
        let mut teams: Vec<Team> = desks.iter().map(|desk| desk.team()).collect();
        teams.sort_by_key(|team| std::cmp::Reverse((team.updated_at, team.id)));
        teams.truncate(limit);
        teams
    }

    /// A team as it is now.
    pub fn get(&self, id: TeamId) -> Option<Team> {
        self.find(id).map(|desk| desk.team())
    }

    /// A member of a team.
    ///
    /// # Errors
    /// If there is no such team or member.
    pub fn member(&self, id: TeamId, member: &str) -> Result<Member> {
        let team = self.desk(id)?.team();
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
        let desk = self.desk(id)?;
        let thread = self.member(id, member)?.thread;
        let stopped = match self.core.threads().get(thread) {
            Some(_) => self.core.threads().interrupt(thread, turn)?,
            None => None,
        };
        let Some(stopped) = stopped else { return Ok(None) };
        self.wait_for_end(&desk, thread, stopped).await;
        desk.save().await?;
        Ok(Some(stopped))
    }

    async fn wait_for_end(&self, desk: &Arc<Desk>, thread: ThreadId, turn: TurnId) {
        let threads = self.core.threads();
        let ended = threads.turn_ended(thread, turn);
        if tokio::time::timeout(END_LIMIT, ended).await.is_ok() {
            self.turn_ended(desk, thread, turn).await;
        }
    }

    /// Takes a team apart: its record goes, its threads stay. False if there is none.
    ///
    /// # Errors
    /// If teammates are at work and are not to be interrupted, or the record cannot be removed.
    pub async fn clean_up(&self, id: TeamId, force: bool) -> Result<bool> {
        let Some(desk) = self.find(id) else { return Ok(false) };
        let _order = desk.order.lock().await;
        let at_work = self.at_work(&desk.team());
        if !at_work.is_empty() && !force {
            let names: Vec<&str> = at_work.iter().map(|member| &*member.name).collect();
            let names = names.join(", ");
            return Err(Error::conflict(format!(
                "the team has active teammates: {names}; wait for them, or use force"
            )));
        }
        for member in at_work {
            if let Some(turn) = self.core.threads().interrupt(member.thread, None)? {
                self.wait_for_end(&desk, member.thread, turn).await;
            }
        }
        desk.remove().await?;
        self.room().desks.lock().remove(&id);
        self.room().index();
        self.tell([Change::Cleaned { team: id, forced: force }]);
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

    fn find(&self, id: TeamId) -> Option<Arc<Desk>> {
        self.room().desks.lock().get(&id).cloned()
    }

    fn desk(&self, id: TeamId) -> Result<Arc<Desk>> {
        self.find(id).ok_or_else(|| Error::invalid("team_id", format!("unknown team: {id}")))
    }

    /// Puts a team among the others.
    fn add(&self, desk: Arc<Desk>) -> Result<()> {
        let mut desks = self.room().desks.lock();
        if desks.len() >= MOST_TEAMS {
            let message = format!("there are {MOST_TEAMS} teams already; clean one up first");
            return Err(Error::new(ErrorKind::Busy, message));
        }
        desks.insert(desk.id, desk);
        drop(desks);
        self.room().index();
        Ok(())
    }

    /// Changes a team and tells what came of it, at once: whoever sees the change knows that it was told.
    /// It is written down soon, if anything changed.
    fn apply(&self, desk: &Arc<Desk>, change: impl FnOnce(&mut State) -> Vec<Change>) {
        let has_changed = desk.change(|state| {
            let before = state.team.updated_at;
            let changes = change(state);
            let has_changed = !changes.is_empty() || before != state.team.updated_at;
            self.tell(changes);
            has_changed
        });
        if has_changed {
            desk.save_soon(&self.core.inner.runtime);
        }
    }

    /// Tells all who follow threads what happened to a team.
    fn tell(&self, changes: impl IntoIterator<Item = Change>) {
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
