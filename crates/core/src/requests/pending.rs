//! The requests that wait, and whose they are: nothing that concerns one thread or one session goes
//! through those of all others.

use imbl::OrdSet;
use rookery_model::{Asked, Asker, PartAnswer, Request, RequestId, SessionId, ThreadId};

use crate::world::Table;

/// Everything that waits for an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    all: Table<RequestId, Request>,
    by_owner: OrdSet<(Owner, RequestId)>,
}

/// Whose a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Client,
    Session(SessionId),
    Thread(ThreadId),
}

impl From<Asker> for Owner {
    fn from(asker: Asker) -> Owner {
        match asker {
            Asker::Turn { thread, .. } | Asker::Caller(thread) => Owner::Thread(thread),
            Asker::Session(session) => Owner::Session(session),
            Asker::Client => Owner::Client,
        }
    }
}

impl Pending {
    pub(crate) fn get(&self, id: RequestId) -> Option<&Request> {
        self.all.get(&id)
    }

    pub(crate) fn contains(&self, id: RequestId) -> bool {
        self.all.contains_key(&id)
    }

    pub(crate) fn insert(&mut self, request: Request) {
        self.remove(request.id);
        self.by_owner.insert((request.asker.into(), request.id));
        self.all.insert(request.id, request);
    }

    pub(crate) fn remove(&mut self, id: RequestId) -> Option<Request> {
        let request = self.all.remove(&id)?;
        self.by_owner.remove(&(request.asker.into(), id));
        Some(request)
    }

    /// Notes that it will be decided later; gives it as it is now, unless that was noted before.
    pub(super) fn put_off(&mut self, id: RequestId) -> Option<Request> {
        let request = self.all.get_mut(&id).filter(|request| !request.is_deferred)?;
        request.is_deferred = true;
        Some(request.clone())
    }

    /// Replaces the text of a plan that waits; gives the request as it is now.
    pub(super) fn reword_plan(&mut self, id: RequestId, summary: String) -> Option<Request> {
        let request = self.all.get_mut(&id)?;
        let Asked::PlanExit(plan) = &mut request.asked else { return None };
        plan.summary = summary;
        plan.next_steps.clear();
        Some(request.clone())
    }

    /// Notes the answer to one of the questions; gives the request as it is now.
    pub(super) fn give_part(&mut self, id: RequestId, part: PartAnswer) -> Option<Request> {
        let request = self.all.get_mut(&id)?;
        request.given.push(part);
        Some(request.clone())
    }

    /// All of them, oldest first.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Request> {
        self.all.values()
    }

    pub(crate) fn of_thread(&self, thread: ThreadId) -> impl Iterator<Item = &Request> {
        self.of(Owner::Thread(thread))
    }

    pub(crate) fn of_session(&self, session: SessionId) -> impl Iterator<Item = &Request> {
        self.of(Owner::Session(session))
    }

    fn of(&self, owner: Owner) -> impl Iterator<Item = &Request> {
        let (first, last) = (RequestId::new(0), RequestId::new(u128::MAX));
        let ids = self.by_owner.range((owner, first)..=(owner, last));
        ids.filter_map(|(_, id)| self.all.get(id))
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.all.is_same(&other.all)
    }
}

impl FromIterator<Request> for Pending {
    fn from_iter<I: IntoIterator<Item = Request>>(requests: I) -> Self {
        let mut pending = Pending::default();
        requests.into_iter().for_each(|request| pending.insert(request));
        pending
    }
}

#[cfg(test)]
mod tests {
    use rookery_model::{Mode, Plan, Timestamp};

    use super::*;

    fn request(id: u128, asker: Asker) -> Request {
        let asked = Asked::Input { questions: Vec::new() };
        let session = SessionId::new(1);
        let request =
            Request::of_session(RequestId::new(id), session, asked, Timestamp::from_micros(0));
        Request { asker, ..request }
    }

    #[test]
    fn each_is_found_by_its_owner_until_it_is_gone() {
        let (thread, session) = (ThreadId::new(7), SessionId::new(7));
        let turn = Asker::Turn { thread, turn: rookery_model::TurnId::new(1) };
        let askers = [turn, Asker::Session(session), Asker::Client, Asker::Caller(thread), turn];
        let mut pending: Pending =
            (1..).zip(askers).map(|(id, asker)| request(id, asker)).collect();
        let of_thread = |pending: &Pending| -> Vec<u128> {
            pending.of_thread(thread).map(|request| request.id.get()).collect()
        };
        assert_eq!(of_thread(&pending), [1, 4, 5]);
        assert_eq!(pending.of_session(session).count(), 1);
        assert_eq!(pending.of_thread(ThreadId::new(8)).count(), 0);
        assert!(pending.remove(RequestId::new(4)).is_some());
        pending.insert(request(5, Asker::Client));
        assert_eq!(of_thread(&pending), [1]);
        assert_eq!(pending.values().count(), 4);
        assert!(pending.put_off(RequestId::new(1)).is_some_and(|request| request.is_deferred));
        assert!(pending.put_off(RequestId::new(1)).is_none());
        assert!(pending.reword_plan(RequestId::new(1), "new".to_owned()).is_none());
    }

    #[test]
    fn a_plan_that_was_rewritten_is_what_waits() {
        let plan = Plan {
            summary: "old".to_owned(),
            next_steps: vec!["step".to_owned()],
            target: Mode::Default,
        };
        let asked = Asked::PlanExit(plan);
        let mut pending: Pending =
            [Request { asked, ..request(1, Asker::Client) }].into_iter().collect();
        pending.reword_plan(RequestId::new(1), "new".to_owned()).unwrap();
        let Some(Asked::PlanExit(plan)) = pending.get(RequestId::new(1)).map(|one| &one.asked)
        else {
            panic!("no plan waits");
        };
        assert_eq!((plan.summary.as_str(), plan.next_steps.len()), ("new", 0));
    }
}
