//! Tests of the page in a real browser: Debian's Chromium, driven by WebDriver and its own protocol.
//!
//! Every test has a daemon and a browser of its own, waits only for conditions, and fails if the page
//! reported an error or a breach of its Content-Security-Policy.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a step that fails fails the test")]

mod app;
mod asker;
mod chromium;
mod comes_back;
mod decide;
mod entry;
mod faces;
mod frame;
mod hostile;
mod inbox;
mod keys;
mod kills;
mod looks;
mod mirror;
mod page;
mod pages;
mod panes;
mod phone;
mod phone_work;
mod programs;
mod readers;
mod safety;
mod scroll;
mod supervise;
mod terminal;
mod threads;
mod unsure;
mod whole;
