//! Plugins: what reads a program's screen and says what state it is in and what to type.
//!
//! Owns manifests, permissions, and the sandbox in which a plugin's Lua runs. It knows no PTY, no core and no
//! protocol: texts and JSON come in, states, actions and matchers come out.
//!
//! ```
//! use rookery_plugins::{Instance, Kind, Limits, Manifest, Plugin, Runtime};
//! let manifest = Manifest {
//!     name: "echo".into(),
//!     kind: Kind::Adapter,
//!     version: "1".into(),
//!     runtime: Some(Runtime::Lua),
//!     entrypoint: Some("plugin.lua".into()),
//!     permissions: Vec::new(),
//!     default_target: None,
//! };
//! let source = "return { wait_matcher = function() return { type = 'process_exited' } end }";
//! let plugin = Plugin::from_source(manifest, source)?;
//! let mut instance = Instance::start(&plugin, Limits::default())?;
//! let matcher = instance.matcher("wait_matcher", &serde_json::json!({}))?;
//! assert_eq!(matcher, serde_json::json!({ "type": "process_exited" }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod convert;
mod error;
mod instance;
mod keys;
mod limits;
mod load;
mod manifest;
mod pattern;
mod sandbox;
mod shipped;
mod values;

pub use error::{LoadError, PluginError};
pub use instance::Instance;
pub use keys::KEY_NAMES;
pub use limits::{Limit, Limits};
pub use load::Plugin;
pub use manifest::{Kind, Manifest, ManifestError, Permission, Runtime, Target};
pub use shipped::shipped;
pub use values::{
    Block, BlockKind, Candidate, Context, Description, HostMark, Intent, PredicateInput, State,
    Verdict, split_screen,
};

#[doc(hidden)]
pub mod fuzzing;
