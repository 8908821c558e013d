//! Attacks, as a stranger's program would make them. `cargo xtask attack` runs everything with this word in
//! its path.

mod accepted;
mod callers;
mod client_modes;
mod closing;
mod exhausted;
mod fence;
mod full_store;
mod imports;
mod logins;
mod marketplaces;
mod planted;
mod roo_tcp;
mod secrets;
mod slow_clients;
mod truth;
mod web_agent;
mod web_entry;
mod websocket;
