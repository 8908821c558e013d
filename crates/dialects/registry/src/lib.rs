//! Every dialect as one row: what it is called, where it listens, how a connection is served, and what
//! it can be asked. The daemon, the command line, the vectors and the fuzz targets read this table and
//! nothing else, so that a further dialect is one more row.
//!
//! It knows no socket, no config and no environment.

mod idx0;
mod link;
mod native;
mod ops;
mod ptywright;
mod read;
mod roder;
mod roo;
mod roost;
mod served;

use std::pin::Pin;

use rookery_wire::transport::Transport;
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

pub use ops::Op;
pub use served::{CloseReason, Listeners, Served};

/// A connection, whatever carries it.
pub type Stream = Box<dyn Transport>;

/// A connection that is served, to its end.
pub type Serving = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One dialect.
#[derive(Debug)]
pub struct Dialect {
    /// Its name: that of its folder of vectors and of its page in the docs.
    pub name: &'static str,
    /// What it is about, in a line.
    pub about: &'static str,
    /// Where it is spoken.
    pub endpoint: Endpoint,
    /// Whether it has no endpoint of its own, and is spoken at the one that it names beside the dialect
    /// that has it.
    pub is_joined: bool,
    /// How its messages are distinguished.
    pub frames: Frames,
    /// What a client reads that cannot be served, as the dialect says it. None of its requests was read.
    pub refusal: &'static str,
    /// Programs of its own that terminals find on their path, each a persona of ours.
    pub helpers: &'static [&'static str],
    /// Serves a connection whose caller is known.
    serve: fn(Stream, Served) -> Serving,
    /// Describes its table, in its order.
    ops: fn(&mut SchemaGenerator) -> Vec<Op>,
    /// Reads a request as far as that goes without the world.
    read: fn(&[u8]) -> Result<&'static str, String>,
}

/// Where a dialect is spoken.
#[derive(Debug)]
pub struct Endpoint {
    /// Name in the config, in `ready` and of those who decide through it.
    pub name: &'static str,
    /// Path relative to the runtime directory.
    pub path: &'static str,
    /// Variable that tells programs in terminals where it is.
    pub variable: Option<&'static str>,
    /// A variable of the original that moves it, where that is not told to programs in terminals: another
    /// server of theirs would take the place.
    pub moved_by: Option<&'static str>,
    /// Whether it is there whatever the config says, since every command needs it.
    pub always: bool,
    /// Whether its clients look for it in `/tmp/NAME-UID` where there is no runtime directory.
    pub stand_in: bool,
    /// Whether the daemon starts where it cannot listen there.
    pub need: Need,
    /// Whether its socket may lie in a directory of all users, such as `/tmp`, where its clients expect it.
    pub may_be_shared: bool,
    /// A file beside the socket that is locked while it listens, if its clients look for one.
    pub lock: Option<&'static str>,
}

/// Whether the daemon needs an endpoint to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It does.
    Required,
    /// It does without where another program serves it.
    UnlessServed,
    /// It does without whatever is in the way, and reports that.
    Optional,
}

/// How the messages of a dialect are distinguished, for those who speak it from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// A line each, both ways.
    Lines,
    /// One request and one reply per connection.
    Exchange,
    /// A form feed ends each, both ways, as node-ipc does it.
    FormFeeds,
}

/// What a JSON-RPC client reads that cannot be served.
const RPC_REFUSAL: &str = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"the daemon has too many connections or open files; close some and try again\"}}\n";

/// Our own endpoint.
const ROOKERY: Endpoint = Endpoint {
    name: "rookery",
    path: "rookery/rookery.sock",
    variable: Some("ROOKERY_SOCKET"),
    moved_by: None,
    always: true,
    stand_in: false,
    need: Need::Required,
    may_be_shared: false,
    lock: None,
};

/// Every dialect, our own first.
pub static DIALECTS: &[Dialect] = &[
    native::ROW,
    link::ROW,
    ptywright::ROW,
    roost::ROW,
    roder::ROW,
    idx0::ROW,
    roo::ROW,
    roo::PUBLISHED,
];

/// Every dialect that has an endpoint of its own.
pub fn listening() -> impl Iterator<Item = &'static Dialect> {
    DIALECTS.iter().filter(|dialect| !dialect.is_joined)
}

impl Dialect {
    /// The dialect of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Dialect> {
        DIALECTS.iter().find(|dialect| dialect.name == name)
    }

    /// The dialect that is spoken at the endpoint of this name.
    #[must_use]
    pub fn at(endpoint: &str) -> Option<&'static Dialect> {
        listening().find(|dialect| dialect.endpoint.name == endpoint)
    }

    /// Serves one connection to its end, whatever carries it.
    pub async fn serve(&'static self, stream: impl Transport, served: Served) {
        let pids: Vec<u32> = stream.peer_pid().into_iter().collect();
        self.serve_processes(stream, &pids, served).await;
    }

    /// The same where these processes hold the other end; none if the transport has no such thing. If any of them
    /// is an agent's, the connection is.
    pub async fn serve_processes(
        &'static self,
        stream: impl Transport,
        pids: &[u32],
        served: Served,
    ) {
        let mut caller = served.identify(pids.first().copied(), self.endpoint.name).await;
        for pid in pids.iter().skip(1) {
            if caller.is_agent() {
                break;
            }
            caller = served.identify(Some(*pid), self.endpoint.name).await;
        }
        (self.serve)(Box::new(stream), served.on_behalf_of(caller)).await;
    }

    /// What it can be asked, in the order of its table, and the types that this refers to.
    #[must_use]
    pub fn ops(&self) -> (Vec<Op>, Map<String, Value>) {
        let mut generator = SchemaGenerator::default();
        let ops = (self.ops)(&mut generator);
        (ops, generator.take_definitions(true))
    }

    /// JSON Schema of the params and the result of everything that it can be asked.
    #[must_use]
    pub fn schema(&self) -> Value {
        let (ops, defs) = self.ops();
        let described = ops.into_iter().filter_map(|op| {
            let (params, result) = op.schemas?;
            Some((op.name.to_owned(), json!({ "params": params, "result": result })))
        });
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": format!("Methods of the {} dialect", self.name),
            "methods": described.collect::<Map<String, Value>>(),
            "$defs": defs,
        })
    }

    /// Reads one request as far as that goes without the world, and gives the name of what it asks for.
    ///
    /// # Errors
    /// In the words that its client would read.
    pub fn read(&self, request: &[u8]) -> Result<&'static str, String> {
        (self.read)(request)
    }
}

#[cfg(test)]
mod tests;
