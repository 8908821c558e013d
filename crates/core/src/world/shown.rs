//! What a transaction changed of all that viewers show. Tables that it did not touch are the same
//! tables, so that this costs a few comparisons of pointers.

use super::World;
use crate::log::Shows;

/// What is shown, and whether it is the same in two worlds.
type Shown = (Shows, fn(&World, &World) -> bool);

const SHOWN: &[Shown] = &[
    (Shows::Checkpoints, |one, other| one.checkpoints.is_same(&other.checkpoints)),
    (Shows::Handoffs, |one, other| one.handoffs.is_same(&other.handoffs)),
    (Shows::Queue, |one, other| {
        one.queue.is_same(&other.queue) && one.timeline.is_same(&other.timeline)
    }),
    (Shows::Requests, |one, other| {
        one.requests.is_same(&other.requests) && one.settled.is_same(&other.settled)
    }),
    (Shows::Reviews, |one, other| one.reviews.is_same(&other.reviews)),
    (Shows::Seats, |one, other| one.viewers.is_same(&other.viewers) && one.desk == other.desk),
    (Shows::Sessions, |one, other| {
        one.terminals.is_same(&other.terminals) && one.threads.is_same(&other.threads)
    }),
    (Shows::Tasks, |one, other| one.tasks.is_same(&other.tasks)),
    (Shows::Terminals, |one, other| one.terminals.is_same(&other.terminals)),
    (Shows::Threads, |one, other| {
        one.threads.is_same(&other.threads)
            && one.client_modes.is_same(&other.client_modes)
            && (one.mode, &one.asking_spelling) == (other.mode, &other.asking_spelling)
    }),
    (Shows::Workspace, |one, other| {
        one.projects.is_same(&other.projects)
            && one.layouts.is_same(&other.layouts)
            && (one.active, one.window_focus) == (other.active, other.window_focus)
    }),
];

impl World {
    /// What is shown otherwise than in the world before.
    pub(super) fn changed_since(&self, before: &World) -> Vec<Shows> {
        SHOWN.iter().filter(|(_, is_same)| !is_same(self, before)).map(|(it, _)| *it).collect()
    }
}
