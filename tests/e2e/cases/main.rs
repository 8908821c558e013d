//! Tests of the real binary: sockets, keeper, shells and `kill -9`.
//!
//! Each test has a home of its own, waits only for conditions, and leaves no process behind.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a step that fails fails the test")]

mod adapters;
mod agents;
mod attach;
mod attack;
mod bad_plugins;
mod chat;
mod claude_code;
mod cli;
mod completions;
mod crash;
mod doc_console;
mod docs;
mod hostile;
mod idx0;
mod idx0_hooks;
mod idx0_link;
mod idx0_screens;
mod input;
mod keeper;
mod lifecycle;
mod model_server;
mod notifications;
mod persona;
mod python_client;
mod record;
mod roder_approvals;
mod roder_crash;
mod roder_exec;
mod roder_link;
mod roder_policy;
mod roder_remote;
mod roder_seed;
mod roder_server;
mod roder_turns;
mod roder_ws;
mod roo;
mod roo_cli;
mod roo_link;
mod roo_listeners;
mod roost;
mod roost_bad_days;
mod roost_docs;
mod roost_events;
mod roost_link;
mod roost_pictures;
mod roost_shells;
mod roostctl;
mod scripts;
mod serve;
mod setup;
mod start;
mod supervision_cli;
mod waits;
mod work_trees;
