//! What a listener gives to the connections that come by it.

use std::path::PathBuf;

use rookery_model::Mode;
use serde::{Deserialize, Serialize};

use crate::wire::Shape;

/// Which events a connection gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// Those of all tasks until it starts or resumes one; from then on those of its own.
    #[default]
    Auto,
    /// Those of all tasks, as the original does it.
    Broadcast,
    /// Those of its own tasks only.
    Own,
}

/// What connections of one listener have in common.
#[derive(Clone, Debug)]
pub struct Listener {
    /// Its name, for logs and records.
    pub name: String,
    /// The shape of events.
    pub shape: Shape,
    /// Where its tasks work.
    pub workspace: PathBuf,
    /// Which events its connections get.
    pub delivery: Delivery,
    /// The policy mode of its tasks; the world's if there is none. No client can go beyond it.
    pub mode: Option<Mode>,
    /// What a client has to say first, if anything.
    pub token: Option<Token>,
    /// Whether web pages could reach it, so that a stream that begins badly is cut off.
    pub is_tcp: bool,
}

/// What a client has to say first. Showing it does not show the token.
#[derive(Clone)]
pub struct Token(pub String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(***)")
    }
}

impl Listener {
    /// A listener on a socket, for tasks that work in this directory.
    #[must_use]
    pub fn new(name: impl Into<String>, shape: Shape, workspace: PathBuf) -> Listener {
        Listener {
            name: name.into(),
            shape,
            workspace,
            delivery: Delivery::default(),
            mode: None,
            token: None,
            is_tcp: false,
        }
    }
}
