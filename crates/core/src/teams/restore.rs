//! Teams of an earlier daemon: read from their files, put as their threads are, and sent what waits.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_host::files;
use rookery_model::{Result, TeamId, ThreadId, TurnErrorKind, TurnId};
use rookery_teams::{Letter, MemberId, Message, Team};

use super::live::{LiveTeam, load};
use super::mail::{times_in, worded};
use crate::core::blocking;
use crate::rooms::Teams;
use crate::{clock, secrets};

/// What files of teams end with.
const ENDING: &str = ".json";

impl Teams {
    /// Takes up the teams that an earlier daemon left. A file that cannot be read is moved aside and
    /// reported; the others are there all the same.
    pub(crate) async fn restore(&self) -> Result<()> {
        let Some(dir) = self.room().dir.clone() else { return Ok(()) };
        let read = blocking(move || read_all(&dir)).await?;
        for (path, reason) in &read.damaged {
            let message = format!("the team in {} cannot be read: {reason}", path.display());
            tracing::warn!("{message}");
            self.core.log().warn(None, message);
        }
        let damaged: Vec<&PathBuf> = read.damaged.iter().map(|(path, _)| path).collect();
        self.take_back_half_made(&read.teams, |path| damaged.iter().any(|it| it.as_path() == path))
            .await;
        if read.teams.is_empty() {
            return Ok(());
        }
        self.follow_threads();
        for kept in read.teams {
            let mut team = kept.clone();
            self.settle(&mut team).await;
            self.find_delivered(&mut team).await;
            team.recover(|thread| self.now(thread));
            let is_changed = team != kept;
            let path = self.room().file(team.id);
            let live = LiveTeam::new(team, path);
            if let Err(error) = self.add(Arc::clone(&live)) {
                tracing::warn!(%error, team = %live.id, "a team stays on disk alone");
                continue;
            }
            if is_changed {
                live.save_soon(&self.core.inner.runtime);
            }
            self.take_up(&live);
        }
        Ok(())
    }

    /// Notes how turns ended whose end the last daemon had no time to write down. One that was lost with
    /// that daemon has come to no end of its own, and leaves its member idle.
    async fn settle(&self, team: &mut Team) {
        for member in team.members.clone() {
            let Some(turn) = member.turn else { continue };
            let end = self.end_of(member.thread, turn).await;
            let is_lost = |kind: &Option<_>| *kind == Some(TurnErrorKind::RuntimeRestart);
            if let Some((end, _)) = end.filter(|(_, kind)| !is_lost(kind)) {
                team.end_turn(member.thread, turn, end, clock::wall());
            }
        }
    }

    /// Notes messages that are items of their threads, though the last daemon had no time to write down
    /// that they were delivered. Of messages that say the same, the first ones were.
    async fn find_delivered(&self, team: &mut Team) {
        let mut delivered = Vec::new();
        // How many of those that say the same to a member are accounted for.
        let mut counts: HashMap<(MemberId, String), usize> = HashMap::new();
        for message in team.mailbox.iter().filter(|message| message.delivered) {
            *counts.entry((message.to.clone(), worded(team, message))).or_default() += 1;
        }
        for message in team.mailbox.iter().filter(|message| !message.delivered) {
            let Some(member) = team.member(message.to.as_str()) else { continue };
            let words = worded(team, message);
            let is_same = |one: &&Message| one.to == message.to && worded(team, one) == words;
            let first = team.mailbox.iter().find(is_same).map_or(message.at, |first| first.at);
            let Ok(said) = self.core.threads().user_texts_since(member.thread, first).await else {
                continue;
            };
            let times: usize =
                said.iter().map(|text| times_in(&secrets::hidden(text), &words)).sum();
            let count = counts.entry((message.to.clone(), words)).or_default();
            if times > *count {
                *count += 1;
                delivered.push(message.id.clone());
            }
        }
        team.deliver(&delivered, clock::wall());
    }

    /// What a thread does: the turn that it has, and whether that waits. None if it is not there.
    fn now(&self, thread: ThreadId) -> Option<(Option<TurnId>, bool)> {
        let seen = self.core.threads().get(thread).filter(|seen| !seen.thread.archived)?;
        Some((seen.status.active_turn, self.is_blocked(thread)))
    }

    /// Sends what members have not received, once the core is up.
    fn take_up(&self, live: &Arc<LiveTeam>) {
        let team = live.team();
        self.sync_tasks(live, team.lead);
        self.expect_kept(live, &team);
        let (teams, live) = (self.core.detached().teams(), Arc::clone(live));
        self.core.inner.runtime.spawn(async move {
            let _order = live.order.lock().await;
            for member in team.teammates() {
                teams.send_what_waits(&live, member.thread).await;
            }
            teams.notify_lead(&live).await;
        });
    }

    /// A turn that waits has what it was sent before the daemon ended, so it is not sent again.
    fn expect_kept(&self, live: &Arc<LiveTeam>, team: &Team) {
        for member in &team.members {
            let Some(turn) = member.turn else { continue };
            let mut known: Vec<String> = Vec::new();
            for text in self.core.threads().undelivered_steers(member.thread) {
                let hidden = secrets::hidden(&text).into_owned();
                let is_said = |one: &&Message| {
                    !known.contains(&one.id) && times_in(&hidden, &worded(team, one)) > 0
                };
                let waiting = team.undelivered(&member.id, &[]);
                let ids: Vec<String> =
                    waiting.into_iter().filter(is_said).map(|one| one.id.clone()).collect();
                known.extend(ids.iter().cloned());
                if !ids.is_empty() {
                    let (turn, to) = (Some(turn), member.id.clone());
                    live.change(|state| state.letters.push(Letter { turn, to, ids, text }));
                }
            }
        }
    }
}

/// The files of a directory.
#[derive(Default)]
struct Read {
    teams: Vec<Team>,
    damaged: Vec<(PathBuf, String)>,
}

fn read_all(dir: &Path) -> Read {
    let mut read = Read::default();
    // There is none before the first team.
    for entry in files::read_dir(dir).unwrap_or_default() {
        let id = entry.name.strip_suffix(ENDING).and_then(|name| name.parse::<TeamId>().ok());
        let (Some(id), true) = (id, entry.is_file) else { continue };
        let path = dir.join(&entry.name);
        let team = load(&path).and_then(|team| match team.id == id {
            true => Ok(team),
            false => Err("it is the file of another team".to_owned()),
        });
        match team {
            Ok(team) => read.teams.push(team),
            Err(reason) => {
                let millis = clock::wall().as_micros() / 1_000;
                let aside = dir.join(format!("{}.corrupt-{millis}", entry.name));
                let moved = files::rename(&path, &aside);
                let more = moved.err().map(|error| format!("; and not moved aside: {error}"));
                read.damaged.push((path, reason + &more.unwrap_or_default()));
            }
        }
    }
    read
}
