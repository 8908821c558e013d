//! What a command has at hand.

use rookery_core::Core;

use crate::files::Mirror;

/// The world, and who asks.
#[derive(Clone)]
pub(crate) struct Cx {
    /// The world.
    pub(crate) core: Core,
    /// The file that follows the events of agents, if there is one.
    pub(crate) mirror: Option<Mirror>,
    /// The names of all commands.
    pub(crate) commands: fn() -> Vec<&'static str>,
}
