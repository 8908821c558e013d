//! Requests, responses and events as lines, for both ends. How a server takes a broken request
//! apart is in [`crate::envelope`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Call, Int64, events::Event};

/// A request on its way out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request<P> {
    /// What the response will carry.
    pub id: Int64,
    /// The operation.
    pub op: Cow<'static, str>,
    pub params: P,
}

impl<P: Call> Request<P> {
    /// A request for the operation that the params belong to.
    pub fn new(id: i64, params: P) -> Self {
        Self { id: Int64(id), op: Cow::Borrowed(P::METHOD), params }
    }
}

/// What a request failed with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// A stable word; see [`Code`](crate::errors::Code) for those known.
    pub code: String,
    /// For people.
    #[serde(default)]
    pub message: String,
}

/// The response to a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Response<R = Box<RawValue>> {
    /// The id of the request, or 0 if it could not be read.
    pub id: Int64,
    /// Whether it worked.
    pub ok: bool,
    /// The result, if it worked.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub result: Option<R>,
    /// The error, if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// An event, with its number if the subscription asked for numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventFrame {
    /// Name and data.
    #[serde(flatten)]
    pub event: Event,
    /// Its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Int64>,
}

/// A line from a server, as a client reads it.
#[derive(Debug, Clone)]
pub enum Incoming {
    Response(Response),
    Event(Box<EventFrame>),
    /// An event that this client does not know, or cannot read; to be skipped.
    UnknownEvent(String),
}

impl Incoming {
    /// Reads a line.
    ///
    /// # Errors
    /// If it is neither a response nor an event.
    pub fn parse(line: &[u8]) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Name {
            event: Option<String>,
        }
        let Name { event } = serde_json::from_slice(line)?;
        let Some(name) = event else {
            return serde_json::from_slice(line).map(Self::Response);
        };
        Ok(match serde_json::from_slice(line) {
            Ok(frame) => Self::Event(Box::new(frame)),
            Err(_) => Self::UnknownEvent(name),
        })
    }
}
