//! What happens to the threads of members, and what that makes of the members.

use std::sync::Arc;

use rookery_agent::turn::Delta;
use rookery_model::{
    ErrorKind, Event, Item, ItemBody, ThreadId, TurnError, TurnErrorKind, TurnId, TurnStatus,
};
use rookery_teams::{Change, Member, MemberId, MemberStatus, Role, TurnEnd};

use super::live::LiveTeam;
use super::start::stricter;
use super::{Starter, mail};
use crate::log::{
    ItemChange, News, Notice, NoticeBody, RequestChange, Subscription, ThreadChange, Topics,
    TurnChange,
};
use crate::rooms::Teams;
use crate::{clock, secrets};

/// Bytes of a member's last words that its record keeps.
const LONGEST_LAST_WORDS: usize = 64 << 10;

impl Teams {
    pub(super) fn spawn_follower(&self) {
        let news = self.core.log().subscribe(Topics::ALL, None);
        let teams = self.core.detached().teams();
        self.core.inner.runtime.spawn(teams.follow(news));
    }

    async fn follow(self, mut news: Subscription) {
        loop {
            match news.next().await {
                Ok(batch) => {
                    for one in batch {
                        self.take(&one).await;
                    }
                }
                // Too much happened at once; what members do is read from their threads.
                Err(error) if error.kind() == ErrorKind::Busy => {
                    news = self.core.log().subscribe(Topics::ALL, None);
                    self.catch_up().await;
                }
                Err(_) => return,
            }
        }
    }

    async fn take(&self, news: &News) {
        match news {
            News::Event(numbered) => match &numbered.event {
                Event::ThreadDeleted { id } => self.closed(*id, true),
                Event::ThreadArchived { id, is_archived } => self.closed(*id, *is_archived),
                _ => {}
            },
            News::Notice(notice) => self.noticed(notice).await,
            News::EventsMissed(_) | News::DeltasMissed(_) => {}
        }
    }

    async fn noticed(&self, notice: &Notice) {
        if let NoticeBody::Thread(ThreadChange::Mode { .. }) = &notice.body {
            return self.mode_changed().await;
        }
        let Some(thread) = notice.thread else { return };
        if let NoticeBody::Request(RequestChange::Asked(_) | RequestChange::Settled(..)) =
            &notice.body
        {
            return self.request_changed(thread);
        }
        for live in self.room().of_thread(thread) {
            match &notice.body {
                NoticeBody::Turn(TurnChange::Started(turn)) => {
                    self.begun(&live, thread, turn.id);
                    self.notify_lead(&live).await;
                }
                NoticeBody::Turn(TurnChange::Ended(turn)) => {
                    self.turn_ended(&live, thread, turn.id).await;
                }
                NoticeBody::Item(turn, ItemChange::Delta(_, Delta::Text { text, .. })) => {
                    self.reported(&live, thread, *turn, text);
                }
                NoticeBody::Item(turn, ItemChange::Completed(item)) => {
                    self.completed(&live, (thread, *turn), item);
                }
                _ => {}
            }
        }
    }

    fn begun(&self, live: &Arc<LiveTeam>, thread: ThreadId, turn: TurnId) {
        // The turn may be over already, if this comes late.
        let runs = self.core.threads().get(thread).and_then(|seen| seen.status.active_turn);
        if runs == Some(turn) {
            self.apply(live, |state| state.team.begin_turn(thread, turn, clock::wall()));
        }
    }

    /// A turn of a member is over; published once, however often it is reported.
    pub(super) async fn turn_ended(&self, live: &Arc<LiveTeam>, thread: ThreadId, turn: TurnId) {
        let Some((end, _)) = self.end_of(thread, turn).await else { return };
        let status = end.status;
        self.settle_letters(live, thread, turn).await;
        self.apply(live, |state| {
            mail::release(state, turn);
            state.end_turn(thread, turn, end, clock::wall())
        });
        self.notify_lead(live).await;
        if status == MemberStatus::Completed {
            self.send_what_waits(live, thread).await;
        }
    }

    /// Hands the lead what waits for it, if a turn of its thread runs.
    pub(super) async fn notify_lead(&self, live: &Arc<LiveTeam>) {
        let lead = live.look(|state| {
            let lead = state.team.member(MemberId::LEAD)?;
            let waiting = state.team.undelivered(&lead.id, &state.letters);
            (!waiting.is_empty()).then(|| lead.clone())
        });
        let Some(lead) = lead else { return };
        let seen = self.core.threads().get(lead.thread);
        let Some(turn) = seen.and_then(|seen| seen.status.active_turn) else { return };
        if let Err(error) = self.send(live, &lead, Some(turn), &Starter::default()).await {
            tracing::debug!(%error, team = %live.id, "answers wait for the lead's next turn");
        }
    }

    /// How a turn of a thread ended, and why if it failed; none while it runs.
    pub(super) async fn end_of(
        &self,
        thread: ThreadId,
        turn: TurnId,
    ) -> Option<(TurnEnd, Option<TurnErrorKind>)> {
        let threads = self.core.threads();
        let ended = threads.turn(thread, turn).await.ok().flatten()?;
        let last = threads.result(thread, turn).await.ok().flatten();
        let (status, error) = match ended.status {
            TurnStatus::InProgress => return None,
            TurnStatus::Completed => (MemberStatus::Completed, None),
            TurnStatus::Interrupted => (MemberStatus::Interrupted, None),
            TurnStatus::Failed => (MemberStatus::Failed, Some(reason(ended.error.as_ref()))),
        };
        let message = last.filter(|text| !text.trim().is_empty()).map(|text| last_words(&text));
        let kind = ended.error.map(|error| error.kind);
        Some((TurnEnd { status, message, error }, kind))
    }

    /// Starts a turn for what the last one did not take up.
    pub(super) async fn send_what_waits(&self, live: &Arc<LiveTeam>, thread: ThreadId) {
        let member = live.look(|state| {
            let member = state.team.of_thread(thread).filter(|it| it.role == Role::Teammate)?;
            let waiting = state.team.undelivered(&member.id, &state.letters);
            (!waiting.is_empty()).then(|| member.clone())
        });
        let Some(member) = member else { return };
        match self.send(live, &member, None, &Starter::default()).await {
            Ok(_) => live.save_soon(&self.core.inner.runtime),
            Err(error) => {
                tracing::warn!(%error, team = %live.id, member = %member.id, "messages wait on");
            }
        }
    }

    /// A request of a thread was asked or settled. What a child agent asks, its parent waits for as well.
    fn request_changed(&self, thread: ThreadId) {
        let seen = self.core.threads().get(thread);
        let parent = seen.and_then(|seen| seen.thread.child.as_deref()?.parent);
        for about in [Some(thread), parent.map(|parent| parent.thread)].into_iter().flatten() {
            for live in self.room().of_thread(about) {
                self.waits(&live, about);
            }
        }
    }

    fn waits(&self, live: &Arc<LiveTeam>, thread: ThreadId) {
        let blocked = self.is_blocked(thread);
        self.apply(live, |state| state.team.set_blocked(thread, blocked, clock::wall()));
    }

    /// Whether a thread, or a child agent that works for it, waits for an answer.
    pub(super) fn is_blocked(&self, thread: ThreadId) -> bool {
        let children: Vec<ThreadId> = {
            let world = self.core.look();
            let at_work = world.threads.iter().filter(|(_, state)| {
                let parent = state.thread.child.as_deref().and_then(|child| child.parent);
                state.active.is_some() && parent.is_some_and(|parent| parent.thread == thread)
            });
            at_work.map(|(id, _)| *id).collect()
        };
        let threads = self.core.threads();
        let waits = |id| threads.get(id).is_some_and(|seen| seen.status.waits_for_answer());
        std::iter::once(thread).chain(children).any(waits)
    }

    fn reported(&self, live: &Arc<LiveTeam>, thread: ThreadId, turn: TurnId, text: &str) {
        let member = live.look(|state| state.team.of_thread(thread).map(|it| it.id.clone()));
        let Some(member) = member else { return };
        self.announce([Change::Text { team: live.id, member, turn, text: text.to_owned() }]);
    }

    fn completed(&self, live: &Arc<LiveTeam>, (thread, turn): (ThreadId, TurnId), item: &Item) {
        match &item.body {
            ItemBody::User { text, .. } => self.taken_up(live, (thread, turn), text),
            // Any tool may be the one that keeps the ledger; only a change is reported.
            ItemBody::Tool(_) => self.sync_tasks(live, thread),
            _ => {}
        }
    }

    /// The lead's tasks are those of its ledger.
    pub(super) fn sync_tasks(&self, live: &Arc<LiveTeam>, thread: ThreadId) {
        let Some(seen) = self.core.threads().get(thread) else { return };
        let is_new = live.look(|state| {
            state.team.lead == thread && {
                let known: Vec<_> =
                    state.team.tasks.iter().map(|it| (&*it.id, &*it.title)).collect();
                let ledger = &seen.thread.ledger;
                let now: Vec<_> = ledger.iter().map(|it| (&*it.id, &*it.content)).collect();
                let stands = state.team.tasks.iter().map(|it| it.status);
                known != now || !stands.eq(ledger.iter().map(|it| it.status.into()))
            }
        });
        if is_new {
            let mut ledger = seen.thread.ledger;
            ledger.iter_mut().for_each(|task| secrets::hide(&mut task.content));
            self.apply(live, |state| state.team.set_tasks(&ledger, clock::wall()));
        }
    }

    fn closed(&self, thread: ThreadId, is_closed: bool) {
        for live in self.room().of_thread(thread) {
            self.apply(&live, |state| match is_closed {
                true => state.team.close(thread, clock::wall()),
                false => state.team.reopen(thread, clock::wall()),
            });
        }
    }

    /// A mode changed somewhere: no teammate may do more than its lead, and each is shown with the mode
    /// that holds for it.
    async fn mode_changed(&self) {
        let live_teams: Vec<Arc<LiveTeam>> =
            self.room().live_teams.lock().values().cloned().collect();
        for live in live_teams {
            let team = live.team();
            let limit = self.core.threads().mode(Some(team.lead));
            for member in &team.members {
                self.hold_to(&live, member, limit).await;
            }
        }
    }

    async fn hold_to(&self, live: &Arc<LiveTeam>, member: &Member, limit: rookery_model::Mode) {
        let threads = self.core.threads();
        let mut mode = threads.mode(Some(member.thread));
        let held = stricter(mode, limit);
        if member.role == Role::Teammate && held != mode {
            let why = Some("no teammate may do more than its lead".to_owned());
            if threads.set_mode(Some(member.thread), held, None, why).await.is_ok() {
                mode = held;
            }
        }
        if member.mode != mode {
            live.change(|state| {
                let is_this = |one: &&mut Member| one.id == member.id;
                if let Some(found) = state.team.members.iter_mut().find(is_this) {
                    found.mode = mode;
                }
            });
            live.save_soon(&self.core.inner.runtime);
        }
    }

    /// Reads from threads what was missed.
    async fn catch_up(&self) {
        let live_teams: Vec<Arc<LiveTeam>> =
            self.room().live_teams.lock().values().cloned().collect();
        for live in live_teams {
            for member in live.team().members {
                let seen = self.core.threads().get(member.thread);
                let Some(seen) = seen.filter(|seen| !seen.thread.archived) else {
                    self.closed(member.thread, true);
                    continue;
                };
                let runs = seen.status.active_turn;
                if let Some(old) = member.turn.filter(|old| runs != Some(*old)) {
                    self.turn_ended(&live, member.thread, old).await;
                }
                if let Some(turn) = runs {
                    self.begun(&live, member.thread, turn);
                    self.waits(&live, member.thread);
                }
                self.sync_tasks(&live, member.thread);
            }
            self.notify_lead(&live).await;
        }
        self.mode_changed().await;
    }
}

fn reason(error: Option<&TurnError>) -> String {
    let message = error.map_or("the turn failed", |error| &*error.message);
    secrets::hidden(message).into_owned()
}

/// What a member said last, without secrets and not longer than it is kept.
fn last_words(text: &str) -> String {
    let hidden = secrets::hidden(text);
    let mut end = hidden.len().min(LONGEST_LAST_WORDS);
    while !hidden.is_char_boundary(end) {
        end -= 1;
    }
    hidden[..end].to_owned()
}
