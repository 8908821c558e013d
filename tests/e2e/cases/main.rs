//! Tests of the real binary: sockets, keeper, shells and `kill -9`.
//!
//! Each test has a home of its own, waits only for conditions, and leaves no process behind.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a step that fails fails the test")]

mod attach;
mod cli;
mod crash;
mod hostile;
mod input;
mod keeper;
mod lifecycle;
mod persona;
mod serve;
mod start;
