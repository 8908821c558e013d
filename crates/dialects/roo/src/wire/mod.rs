//! What is sent and received, apart from what it means in the world.

mod command;
mod envelope;
mod event;
mod keys;
mod message;
mod settings;
mod tool;
mod usage;
mod words;

pub use command::*;
pub use envelope::{Incoming, Received, ack, parse};
pub use event::{Bond, Change, CommandEntry, Event, ModeEntry, ModelInfo, QueuedMessage, Shape};
pub use message::{Action, ClineMessage, Condensed, Kind};
pub use settings::{
    CustomMode, Group, GroupOptions, Key, OTHERS, PROFILE, Settings, Type, is_secret,
};
pub use tool::{ClineSayTool, DiffStats, McpUse};
pub use usage::{TokenUsage, ToolCount, ToolUsage};
pub use words::{Ask, Say, SayTool, ToolName, Waiting};
