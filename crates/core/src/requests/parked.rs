//! What a client was asked to have approved: requests without a waiting caller, and what follows from
//! their answers. Once approved, exactly the same may be done one more time, for a while.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rookery_agent::policy::{Bound, Judgement, Remembered};
use rookery_model::{Answer, Asked, Request, RequestId, Result, ThreadId};

use crate::log::RequestChange;
use crate::requests::decisions;
use crate::rooms::Requests;
use crate::world::Tx;

/// Requests that wait without a caller waiting for them. The oldest makes room.
const MAX_ASKED: usize = 256;
/// Bytes that all of them may take; one that is larger is kept alone.
const MAX_BYTES: usize = 16 << 20;
/// Approvals that were not used yet. The oldest makes room.
const MAX_GRANTS: usize = 256;
/// How long an approval waits to be made use of.
const GRANT_LIMIT: Duration = Duration::from_secs(600);

/// What clients were asked to have approved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parked {
    /// What waits, oldest first.
    asked: VecDeque<ParkedCall>,
    /// What may be done once, oldest first.
    grants: VecDeque<Grant>,
    /// What may be done again outside of threads.
    remembered: Remembered,
}

#[derive(Clone, Debug)]
struct ParkedCall {
    id: RequestId,
    thread: Option<ThreadId>,
    bound: Bound,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Grant {
    thread: Option<ThreadId>,
    bound: Bound,
    until: Instant,
}

impl Parked {
    /// The request that waits for exactly this.
    fn find(&self, thread: Option<ThreadId>, bound: &Bound) -> Option<RequestId> {
        let mut asked = self.asked.iter();
        asked.find(|call| call.thread == thread && call.bound == *bound).map(|call| call.id)
    }

    /// Takes in a request; gives those that have to go for it.
    fn push(&mut self, call: ParkedCall) -> Vec<RequestId> {
        let mut bytes = call.bytes + self.asked.iter().map(|call| call.bytes).sum::<usize>();
        let mut gone = Vec::new();
        while self.asked.len() - gone.len() >= MAX_ASKED || bytes > MAX_BYTES {
            let Some(oldest) = self.asked.get(gone.len()) else { break };
            bytes -= oldest.bytes;
            gone.push(oldest.id);
        }
        self.asked.push_back(call);
        gone
    }

    /// The request does not wait any more. Whether it was one of these.
    pub(crate) fn forget(&mut self, id: RequestId) -> bool {
        let place = self.asked.iter().position(|call| call.id == id);
        place.and_then(|place| self.asked.remove(place)).is_some()
    }

    /// Exactly this may be done once.
    pub(crate) fn grant(&mut self, thread: Option<ThreadId>, bound: Bound, now: Instant) {
        self.grants.retain(|grant| grant.until > now);
        if self.grants.len() == MAX_GRANTS {
            self.grants.pop_front();
        }
        self.grants.push_back(Grant { thread, bound, until: now + GRANT_LIMIT });
    }

    fn has_grant(&self, thread: Option<ThreadId>, bound: &Bound, now: Instant) -> bool {
        self.grants.iter().any(|one| one.until > now && one.thread == thread && one.bound == *bound)
    }

    /// Makes use of an approval, if there is one for exactly this.
    fn take(&mut self, thread: Option<ThreadId>, bound: &Bound, now: Instant) -> bool {
        self.grants.retain(|grant| grant.until > now);
        let is_meant = |grant: &Grant| grant.thread == thread && grant.bound == *bound;
        let place = self.grants.iter().position(is_meant);
        place.and_then(|place| self.grants.remove(place)).is_some()
    }

    /// Exactly this may be done again outside of threads.
    pub(crate) fn remember(&mut self, bound: Bound) {
        self.remembered.insert(bound);
    }

    /// Whether exactly this may be done again outside of threads.
    pub(crate) fn covers(&self, bound: &Bound) -> bool {
        self.remembered.covers(bound)
    }
}

impl Requests {
    /// Whether exactly this was approved for one more time, which is now.
    pub(crate) fn take_grant(&self, thread: Option<ThreadId>, bound: &Bound) -> bool {
        let now = Instant::now();
        if !self.core.look().parked.has_grant(thread, bound, now) {
            return false;
        }
        self.core.adjust(|world| world.parked().take(thread, bound, now))
    }

    /// The request that waits for exactly this already.
    pub(crate) fn find_parked(&self, thread: Option<ThreadId>, bound: &Bound) -> Option<RequestId> {
        self.core.look().parked.find(thread, bound)
    }

    /// Asks without waiting. Gives the request that waits for exactly this, the new one or an older.
    ///
    /// # Errors
    /// If its thread is gone, or it cannot be kept.
    pub(crate) async fn park(
        &self,
        request: Request,
        judgement: &Judgement,
        bound: Bound,
    ) -> Result<RequestId> {
        let (id, deadline) = (request.id, request.deadline);
        let parked = self
            .core
            .transact_durably(|tx| {
                if let Some(thread) = request.thread() {
                    tx.world.thread(thread)?;
                }
                if let Some(waiting) = tx.world.parked.find(request.thread(), &bound) {
                    return Ok(waiting);
                }
                let mode = tx.world.mode_of_asker(request.asker);
                tx.record(decisions::asked(&request, judgement, mode));
                self.park_in(tx, request, bound);
                Ok(id)
            })
            .await?;
        if parked == id && deadline.is_some() {
            let (core, answer) = (self.core.clone(), self.expect_answer(id));
            // One that was settled before a caller listened is not there any more.
            if self.get(id).is_some() {
                tokio::spawn(async move {
                    drop(core.requests().await_answer(id, answer, deadline).await)
                });
            } else {
                self.core.inner.requests.waiters.lock().remove(&id);
            }
        }
        Ok(parked)
    }

    fn park_in(&self, tx: &mut Tx<'_>, request: Request, bound: Bound) {
        let (id, thread) = (request.id, request.thread());
        let call = ParkedCall { id, thread, bound, bytes: size(&request.asked) };
        for oldest in tx.world.parked.push(call) {
            tx.resolve_request(oldest, Answer::TimedOut, "limit");
        }
        tx.world.requests.insert(request.clone());
        tx.save_request(&request);
        tx.announce(thread, RequestChange::Asked(Box::new(request)));
        if let Some(thread) = thread {
            tx.announce_status(thread);
        }
    }
}

impl Tx<'_> {
    /// Takes back all that clients want to do in a thread that goes away, and all that a turn waits for
    /// which has not ended in time.
    pub(crate) fn cancel_all(&mut self, thread: ThreadId, by: &str) {
        let of_thread = self.world.requests.of_thread(thread);
        let ids = of_thread.map(|request| request.id).collect();
        self.cancel_requests(ids, by);
        self.world.parked.grants.retain(|grant| grant.thread != Some(thread));
    }
}

/// About how much memory a question takes.
fn size(asked: &Asked) -> usize {
    let Asked::Approval { input, argv, env, preview, .. } = asked else { return 0 };
    let words: usize = argv.iter().map(String::len).sum();
    let set = |(name, value): &(String, Option<String>)| {
        name.len() + value.as_ref().map_or(0, String::len)
    };
    let set: usize = env.iter().map(set).sum();
    input.len() + words + set + preview.as_ref().map_or(0, String::len)
}

#[cfg(test)]
mod tests {
    use rookery_model::ToolKind;

    use super::*;

    fn bound(word: &str) -> Bound {
        let asked = Asked::Approval {
            kind: ToolKind::Exec,
            reason: String::new(),
            input: "{}".into(),
            argv: vec![word.to_owned()],
            cwd: "/".into(),
            env: Vec::new(),
            preview: None,
        };
        Bound::of("command/exec", &asked).unwrap()
    }

    fn call(number: u128, bytes: usize) -> ParkedCall {
        let bound = bound(&number.to_string());
        ParkedCall { id: RequestId::new(number), thread: Some(ThreadId::new(1)), bound, bytes }
    }

    fn push(parked: &mut Parked, call: ParkedCall) -> Vec<u128> {
        let gone = parked.push(call);
        gone.into_iter().inspect(|id| assert!(parked.forget(*id))).map(RequestId::get).collect()
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut parked = Parked::default();
        for number in 0..MAX_ASKED as u128 {
            assert!(push(&mut parked, call(number, 10)).is_empty());
        }
        assert_eq!(push(&mut parked, call(1000, 10)), [0]);
        let all: Vec<u128> = (1..MAX_ASKED as u128).chain([1000]).collect();
        assert_eq!(push(&mut parked, call(1001, MAX_BYTES + 1)), all);
        assert_eq!(push(&mut parked, call(1002, 1)), [1001]);
        assert_eq!(parked.find(Some(ThreadId::new(1)), &bound("1002")), Some(RequestId::new(1002)));
        assert_eq!(parked.find(Some(ThreadId::new(2)), &bound("1002")), None);
        assert_eq!(parked.find(Some(ThreadId::new(1)), &bound("1001")), None);
    }

    #[test]
    fn a_grant_is_for_one_time_one_place_and_a_while() {
        let (here, there) = (Some(ThreadId::new(1)), Some(ThreadId::new(2)));
        let now = Instant::now();
        let mut parked = Parked::default();
        parked.grant(here, bound("a"), now);
        assert!(!parked.take(there, &bound("a"), now));
        assert!(!parked.take(here, &bound("b"), now));
        assert!(parked.take(here, &bound("a"), now));
        assert!(!parked.take(here, &bound("a"), now));
        parked.grant(here, bound("a"), now);
        assert!(!parked.take(here, &bound("a"), now + GRANT_LIMIT));
        for number in 0..=MAX_GRANTS {
            parked.grant(here, bound(&number.to_string()), now);
        }
        assert_eq!(parked.grants.len(), MAX_GRANTS);
        assert!(!parked.take(here, &bound("0"), now));
    }
}
