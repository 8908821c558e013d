//! Many nodes over one set of records and one queue, interleaved at random: nodes die, answers are lost,
//! leases end while the node that has them lives on. Whatever happens, no task ends twice, what may have
//! had its effect twice is marked, and none is forgotten.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use proptest::prelude::*;
use rookery_model::{Fate, Lost, Retry, TaskState};

use super::*;
use crate::rules::tests::{at, task};

/// What all nodes share.
#[derive(Default)]
struct Broker {
    records: BTreeMap<TaskId, Task>,
    messages: BTreeMap<u64, (TaskId, Option<usize>)>,
    last: u64,
    /// Effects of each task, by epoch.
    effects: BTreeMap<TaskId, Vec<u64>>,
    ends: BTreeMap<TaskId, usize>,
    /// Answers that are lost, one after the other.
    losses: Vec<bool>,
}

impl Broker {
    fn loses(&mut self) -> bool {
        self.losses.pop().unwrap_or(false)
    }
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Broker>>);

#[derive(Debug)]
struct Gone;

/// Lets others go first.
async fn step() {
    let mut is_first = true;
    std::future::poll_fn(move |_| match std::mem::replace(&mut is_first, false) {
        true => Poll::Pending,
        false => Poll::Ready(()),
    })
    .await;
}

impl Records for Shared {
    type Error = Gone;

    async fn read(&self, id: TaskId) -> Result<Option<Task>, Gone> {
        step().await;
        Ok(self.0.lock().unwrap().records.get(&id).cloned())
    }

    async fn create(&self, task: Task) -> Result<Task, SetError<Gone>> {
        step().await;
        let mut broker = self.0.lock().unwrap();
        if broker.records.contains_key(&task.id) {
            return Err(SetError::Changed);
        }
        broker.records.insert(task.id, task.clone());
        if broker.loses() { Err(SetError::Unknown(Gone)) } else { Ok(task) }
    }

    async fn set(&self, task: Task) -> Result<Task, SetError<Gone>> {
        step().await;
        let mut broker = self.0.lock().unwrap();
        let before = broker.records.get(&task.id).unwrap().clone();
        if before.revision != task.revision {
            return Err(SetError::Changed);
        }
        assert!(!before.state.is_over(), "{:?} became {:?}", before.state, task.state);
        assert!(task.maybe_twice || !before.maybe_twice, "a mark was taken back");
        assert!(task.epoch >= before.epoch, "an epoch went back");
        if task.state.is_over() {
            *broker.ends.entry(task.id).or_default() += 1;
        }
        let kept = Task { revision: task.revision + 1, ..task };
        broker.records.insert(kept.id, kept.clone());
        if broker.loses() { Err(SetError::Unknown(Gone)) } else { Ok(kept) }
    }
}

impl Queue for Shared {
    type Error = Gone;

    async fn publish(&self, task: &Task) -> Result<u64, Gone> {
        step().await;
        let mut broker = self.0.lock().unwrap();
        broker.last += 1;
        let number = broker.last;
        broker.messages.insert(number, (task.id, None));
        if broker.loses() { Err(Gone) } else { Ok(number) }
    }

    async fn ack(&self, message: Message) -> Result<(), Gone> {
        step().await;
        self.0.lock().unwrap().messages.remove(&message.number);
        Ok(())
    }

    async fn nak(&self, message: Message, _after: Duration) -> Result<(), Gone> {
        step().await;
        if let Some((_, holder)) = self.0.lock().unwrap().messages.get_mut(&message.number) {
            *holder = None;
        }
        Ok(())
    }
}

/// What a node does with one message, from its delivery to its end.
async fn work(shared: Shared, message: Message, node: String, outcome: u8) {
    let mut seconds = 10;
    let mut now = || {
        seconds += 1;
        at(seconds)
    };
    let held = match take(&shared, &shared, message, &node, now()).await {
        Ok(TakeOutcome::Claimed(task)) => task,
        Ok(TakeOutcome::Mine(task)) if task.state == TaskState::Claimed => task,
        Ok(TakeOutcome::Mine(task)) => {
            // Begun before this node died; of its process nothing is left.
            let mine = (node.as_str(), task.epoch);
            let _ = lose(&shared, &shared, message, mine, rules::node_lost(), now()).await;
            return;
        }
        Ok(TakeOutcome::Nothing | TakeOutcome::Lost(_)) | Err(Gone) => return,
    };
    let mine = (node.as_str(), held.epoch);
    if outcome == 0 {
        let _ = release(&shared, &shared, message, mine, now()).await;
        return;
    }
    let Ok(Some(_)) = start(&shared, &held, &node, now()).await else { return };
    step().await;
    shared.0.lock().unwrap().effects.entry(held.id).or_default().push(held.epoch);
    step().await;
    let ending = match outcome {
        1 => Ending::Failed(TaskResult::default()),
        _ => Ending::Done(TaskResult::default()),
    };
    for _ in 0..4 {
        if finish(&shared, &shared, message, mine, ending.clone(), now()).await.is_ok() {
            return;
        }
    }
}

type Job = Pin<Box<dyn Future<Output = ()>>>;

/// The nodes, each with at most one thing to do at a time.
struct World {
    shared: Shared,
    jobs: Vec<Option<Job>>,
    /// A node that slept is another's rival from then on: what wakes up is not what was begun since.
    lives: [usize; NODES],
    /// Nodes whose lease was given to others while they live on.
    beside: RefCell<Vec<Job>>,
}

const NODES: usize = 3;

impl World {
    fn new(losses: Vec<bool>) -> World {
        let shared = Shared(Arc::new(Mutex::new(Broker { losses, ..Broker::default() })));
        World {
            shared,
            jobs: (0..NODES).map(|_| None).collect(),
            lives: [0; NODES],
            beside: RefCell::default(),
        }
    }

    fn poll(job: &mut Job) -> bool {
        job.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn deliver(&mut self, node: usize, place: usize, outcome: u8) {
        if self.jobs[node].is_some() {
            return;
        }
        let mut broker = self.shared.0.lock().unwrap();
        let free: Vec<u64> = broker
            .messages
            .iter()
            .filter(|(_, (_, holder))| holder.is_none())
            .map(|(number, _)| *number)
            .collect();
        let Some(number) = free.get(place % free.len().max(1)).copied() else { return };
        let (task, holder) = broker.messages.get_mut(&number).unwrap();
        *holder = Some(node);
        let message = Message { number, task: *task };
        drop(broker);
        let job =
            work(self.shared.clone(), message, format!("n{node}.{}", self.lives[node]), outcome);
        self.jobs[node] = Some(Box::pin(job));
    }

    fn advance(&mut self, node: usize) {
        if let Some(job) = &mut self.jobs[node]
            && World::poll(job)
        {
            self.jobs[node] = None;
        }
        self.beside.borrow_mut().retain_mut(|job| !World::poll(job));
    }

    /// The leases of a node end: its messages are brought to others.
    fn expire(&mut self, node: usize) {
        let mut broker = self.shared.0.lock().unwrap();
        for (_, holder) in broker.messages.values_mut() {
            if *holder == Some(node) {
                *holder = None;
            }
        }
    }

    fn act(&mut self, action: &Action) {
        match *action {
            Action::Deliver(node, place, outcome) => self.deliver(node, place, outcome),
            Action::Advance(node) => self.advance(node),
            Action::Die(node) => {
                self.jobs[node] = None;
                self.expire(node);
            }
            Action::Sleep(node) => {
                // It does not know that others may have its task now.
                if let Some(job) = self.jobs[node].take() {
                    self.beside.borrow_mut().push(job);
                    self.lives[node] += 1;
                }
                self.expire(node);
            }
            Action::Cancel(place) => {
                let broker = self.shared.0.lock().unwrap();
                let ids: Vec<TaskId> = broker.records.keys().copied().collect();
                drop(broker);
                let Some(id) = ids.get(place % ids.len().max(1)).copied() else { return };
                let shared = self.shared.clone();
                let asked = Cancel { by: "p".into(), reason: None, at: at(5) };
                self.beside.borrow_mut().push(Box::pin(async move {
                    let _ = cancel(&shared, id, asked, "elsewhere", at(6)).await;
                }));
            }
        }
    }

    /// Publishes again what no message brings any more.
    fn sweep(&mut self) {
        let stranded: Vec<Task> = {
            let broker = self.shared.0.lock().unwrap();
            let has: BTreeSet<u64> = broker.messages.keys().copied().collect();
            let is_stranded = |task: &&Task| {
                rules::is_stranded(task, has.contains(&task.message), false, at(1000))
            };
            broker.records.values().filter(is_stranded).cloned().collect()
        };
        for task in stranded {
            let shared = self.shared.clone();
            self.beside.borrow_mut().push(Box::pin(async move {
                let _ = publish(&shared, &shared, task).await;
            }));
        }
    }

    /// Lets everything come to rest: no more faults.
    fn rest(&mut self) {
        self.shared.0.lock().unwrap().losses.clear();
        for round in 0..200 {
            for node in 0..NODES {
                self.deliver(node, round, 2);
                (0..40).for_each(|_| self.advance(node));
            }
            (0..NODES).for_each(|node| self.expire(node));
            self.sweep();
        }
    }
}

#[derive(Clone, Debug)]
enum Action {
    Deliver(usize, usize, u8),
    Advance(usize),
    Die(usize),
    Sleep(usize),
    Cancel(usize),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (0..NODES, 0..8_usize, 0..4_u8).prop_map(|(n, p, o)| Action::Deliver(n, p, o)),
        20 => (0..NODES).prop_map(Action::Advance),
        1 => (0..NODES).prop_map(Action::Die),
        1 => (0..NODES).prop_map(Action::Sleep),
        1 => (0..8_usize).prop_map(Action::Cancel),
    ]
}

fn tasks() -> impl Strategy<Value = Vec<Task>> {
    let one = (0..3_u32, any::<bool>(), any::<bool>(), any::<bool>());
    proptest::collection::vec(one, 1..5).prop_map(|all| {
        let each = all.into_iter().enumerate();
        let each = each.map(|(place, (max, on_lost, on_failed, holds))| Task {
            id: TaskId::new(place as u128 + 1),
            retry: Retry { max, on_lost, on_failed, backoff: Duration::ZERO },
            lost: if holds { Lost::Hold } else { Lost::Fail },
            message: 0,
            ..task()
        });
        each.collect()
    })
}

fn run(tasks: Vec<Task>, actions: &[Action], losses: Vec<bool>) -> Broker {
    let mut world = World::new(losses);
    for task in tasks {
        let shared = world.shared.clone();
        // The submitter keeps its intent and repeats it until all of it is answered.
        world.beside.borrow_mut().push(Box::pin(async move {
            while submit(&shared, &shared, task.clone()).await.is_err() {}
        }));
    }
    actions.iter().for_each(|action| world.act(action));
    world.rest();
    let World { shared, jobs, beside, .. } = world;
    assert!(beside.borrow().is_empty() && jobs.iter().all(Option::is_none), "work is left");
    std::mem::take(&mut *shared.0.lock().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_ends_twice_is_repeated_unmarked_or_forgotten(
        tasks in tasks(),
        actions in proptest::collection::vec(action(), 0..300),
        losses in proptest::collection::vec(proptest::bool::weighted(0.15), 0..60),
    ) {
        let broker = run(tasks.clone(), &actions, losses);
        prop_assert_eq!(broker.records.len(), tasks.len());
        for (id, task) in &broker.records {
            prop_assert!(task.state.is_over(), "{:?} is forgotten: {:?}", id, task);
            prop_assert_eq!(broker.ends.get(id), Some(&1));
            let effects = broker.effects.get(id).map_or(&[][..], Vec::as_slice);
            let known = task.attempts.iter().filter(|one| one.fate == Fate::Failed).count();
            prop_assert!(
                effects.len() <= known + 1 || task.maybe_twice,
                "{:?} had its effect {} times, unmarked: {:?}", id, effects.len(), task
            );
            let mut epochs = effects.to_vec();
            epochs.dedup();
            prop_assert_eq!(epochs.len(), effects.len(), "one attempt, one effect");
        }
        prop_assert!(broker.messages.is_empty(), "messages are left: {:?}", broker.messages);
    }
}

#[test]
fn the_same_task_again_is_given_back() {
    let mut world = World::new(Vec::new());
    for _ in 0..2 {
        let shared = world.shared.clone();
        world.beside.borrow_mut().push(Box::pin(async move {
            let given = submit(&shared, &shared, Task { message: 0, ..task() }).await.unwrap();
            assert_ne!(given.message, 0);
        }));
    }
    world.rest();
    let broker = world.shared.0.lock().unwrap();
    assert_eq!(
        (broker.records.len(), broker.effects.values().map(Vec::len).sum::<usize>()),
        (1, 1)
    );
}
