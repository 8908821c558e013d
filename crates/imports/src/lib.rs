//! Files that other agents keep in a workspace and in the user's home: guidance, rules, skills, slash
//! commands, agents, MCP servers, hooks and plugins.
//!
//! [`scan`] finds and reads them, bounded in files, depth and size. It starts nothing, contacts nothing
//! and writes nothing; nothing that leads out of the workspace is followed. [`Decisions`] is the file that
//! keeps what the user decided, by workspace and item. Parsers are pure. What an item does once it is
//! enabled is not known here.

mod content;
mod decisions;
mod front_matter;
mod hook_io;
mod hooks;
mod installed;
mod item;
mod jsonc;
mod mcp;
mod overlay;
mod parts;
mod plugin;
mod preview;
mod read;
mod redact;
mod scan;
mod sources;
mod tree;
mod variables;

pub use content::{Content, Rule, Skill};
pub use decisions::{Decision, DecisionKind, Decisions};
pub use front_matter::split as split_front_matter;
pub use hook_io::{HookAnswer, HookCall, HookTool, hook_answer, hook_input};
pub use hooks::{Hook, HookEvent, HookFile, parse as parse_hooks};
pub use item::{
    Conflict, Item, PluginRef, Risk, Scan, ScanError, Source, SourceKind, State, item_id,
};
pub use mcp::{McpFile, McpServer, parse as parse_mcp};
pub use overlay::{Known, add_conflicts, is_active};
pub use plugin::{Manifest, PluginRoot, parse as parse_manifest};
pub use redact::redacted;
pub use scan::{ScanRequest, UserPlaces, scan};
pub use variables::{PLUGIN_ROOT, expand};
