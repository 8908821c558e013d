//! The agent: what a turn does next, and everything that needs neither the world nor a handle of it.
//!
//! - [`turn`] is a pure machine: events go in, effects come out.
//! - [`provider`] says what a model is asked and what it streams back; [`providers`] has one file for each.
//! - [`tool`] says what a tool is; [`tools`] has one file for each.
//! - [`policy`] judges what a tool wants to do, [`commands`] are prompts in files,
//!   [`roles`] say how an agent works that is driven as a piece of work.
//! - [`definitions`] are kinds of child agents.
//! - [`mcp`] has the tools of servers that are programs or pages of others.
//! - [`services`] are servers that make vectors and images.
//! - [`settings`] reads what the user chose, [`workspaces`] names the directories that threads work in.
//!
//! It knows neither core nor a dialect: its driver performs the effects.

pub mod commands;
mod complaints;
pub mod definitions;
mod front_matter;
pub mod mcp;
pub mod policy;
pub mod provider;
pub mod providers;
pub mod roles;
pub mod services;
pub mod settings;
pub mod tool;
pub mod tools;
pub mod turn;
pub mod workspaces;
