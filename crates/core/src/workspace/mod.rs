//! Projects, titles, order, selection and attention: what users arrange, and what asks for their attention.

mod activity;
mod layout;
mod layout_text;
mod notify;
mod order;
mod projects;
mod selection;
mod tabs;

pub use activity::{AgentReport, Attention, OwnershipAction};
pub(crate) use layout::Layout;
pub use layout::{Beside, TabGroup};
pub(crate) use layout_text::read as read_layout;
pub use tabs::{Tabs, WorkspaceTree};

use rookery_model::{Error, Result};

/// Longest name or title; longer ones are refused.
const MAX_NAME: usize = 64 << 10;

/// A name or title may be any text, but not any length.
pub(crate) fn check_name(field: &'static str, name: &str) -> Result<()> {
    if name.len() > MAX_NAME {
        return Err(Error::invalid(field, format!("{field} must have at most {MAX_NAME} bytes")));
    }
    Ok(())
}
