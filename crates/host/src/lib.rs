//! The machine we run on: its processes, its name and its user.
//!
//! Everything here asks the operating system; nothing here knows the world.

mod agents;
mod banners;
mod beneath;
mod child;
mod clipboard;
pub mod files;
pub mod git;
pub mod http;
pub mod journal;
mod limits;
mod listening;
mod memory;
mod name;
mod own_program;
mod pipes;
mod presence;
mod processes;
mod program;
mod project_root;
pub mod sandbox;
mod script;
mod settings_file;
pub mod shell_integration;
pub mod supervise;
mod tcp_peer;
pub mod tree;
mod user;
mod watch;

pub use agents::{
    AcpAgent, FoundTool, KnownAgent, ReportWord, agent_keys, agent_of_program, find_agent_tools,
    known_agents,
};
pub use banners::Banners;
pub use beneath::{Beneath, EntryKind};
pub use clipboard::{CLIPBOARD_LIMIT, ClipboardRefused, ClipboardTarget, Clipboards, TooLong};
pub use git::metrics as git_metrics;
pub use limits::{inherited_descriptor_limit, raise_descriptor_limit};
pub use listening::{ListeningProcess, listener_at, listening_ports};
pub use memory::release_freed;
pub use name::host_name;
pub use own_program::own_program;
pub use pipes::{PartnerPipes, PipeCommand, PipeOutput, PipeStream, PipedProgram, Pipes};
pub use presence::Presence;
pub use processes::{
    Ancestor, Ancestry, Family, Leftover, Orphans, ProcessTag, Root, SUPERVISOR_ARGUMENT,
    SessionMark, Strays, TERMINAL_MARK, cwd_of, descendants, foreground_agent, kill_marked,
    kill_session, kill_tree, let_orphans_go, session_members, wait_for_processes_naming,
};
pub use program::{
    MAX_CHUNK, Program, ProgramCommand, ProgramControl, ProgramEnd, ProgramStream, WriteError,
    find_program,
};
pub use project_root::project_root;
pub use script::{End, Outcome, Script};
pub use settings_file::{SettingsFile, SettingsFileError, remove_setting, set_setting};
pub use tcp_peer::{TcpPeer, is_own_peer, tcp_peer};
pub use user::{User, current_user, current_user_name};
pub use watch::{Watch, Watched};
