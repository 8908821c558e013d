//! The store from outside: what is promised must hold across closing, crashes and damage.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod attack_full;
mod attack_log;
mod attack_pages;
mod commit;
mod common;
mod damage;
mod follow;
mod log;
mod mask;
mod memories;
mod memory_ranking;
mod migration;
mod recovery;
mod talk;
mod tasks;
mod thread;
mod thread_damage;
