//! Which members of a request carry ids, and of what: a column of every dialect's table, as data, so
//! that it is known before a request is decoded whether it concerns another machine.

use serde_json::{Map, Value};

/// What an id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdKind {
    /// A terminal: a number, a UUID, ptywright's session or Roost's tab.
    Terminal,
    Project,
    Thread,
    /// A turn of a thread.
    Turn,
    /// An item of a thread.
    Item,
    /// A request that waits for an answer, in whatever words: approval, question, plan, tool.
    Request,
    /// A session: a terminal or a thread under one kind of name, or under its title.
    Session,
    QueueItem,
    Review,
    Checkpoint,
    Handoff,
    /// A work tree, by a directory of it.
    Worktree,
    /// An event, by its number.
    Event,
    /// A subscription or an attachment of this connection.
    Stream,
    /// An adapter of ptywright.
    Adapter,
    /// A wait of this connection.
    Wait,
    /// A process that the client, or a thread, runs.
    Process,
    /// A background task.
    Task,
    /// A run of a workflow.
    Run,
    /// A set of directories.
    Workspace,
    /// A team of agents.
    Team,
    Memory,
    /// An artifact: an image or another file that is kept.
    Artifact,
    /// Nothing of the world, though it is called like an id: a time, a switch, an option of a list, a name that
    /// another program gave.
    NoId,
}

/// The member of a schema that says what an id names.
pub const MARKER: &str = "x-id";

impl IdKind {
    /// Its word in schemas.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Terminal => "terminal",
            Self::Project => "project",
            Self::Thread => "thread",
            Self::Turn => "turn",
            Self::Item => "item",
            Self::Request => "request",
            Self::Session => "session",
            Self::QueueItem => "queue_item",
            Self::Review => "review",
            Self::Checkpoint => "checkpoint",
            Self::Handoff => "handoff",
            Self::Worktree => "worktree",
            Self::Event => "event",
            Self::Stream => "stream",
            Self::Adapter => "adapter",
            Self::Wait => "wait",
            Self::Process => "process",
            Self::Run => "run",
            Self::Workspace => "workspace",
            Self::Team => "team",
            Self::Memory => "memory",
            Self::Artifact => "artifact",
            Self::NoId => "none",
        }
    }
}

/// A member of params that carries an id, or a list of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The path to it: names with dots between them. Lists are not part of it.
    pub member: &'static str,
    /// What it names.
    pub kind: IdKind,
}

/// The column of a row: `names![terminal: Terminal, target.session: Session]`.
#[macro_export]
macro_rules! names {
    [$( $member:ident $(. $more:ident)* : $kind:ident ),* $(,)?] => {
        &[$( $crate::ids::Named {
            member: concat!(stringify!($member) $(, ".", stringify!($more))*),
            kind: $crate::ids::IdKind::$kind,
        } ),*]
    };
}

/// Names of members that are ids wherever they occur.
const LIKE_IDS: &[&str] = &[
    "id",
    "ids",
    "terminal",
    "terminals",
    "tab",
    "project",
    "thread",
    "threads",
    "turn",
    "session",
    "sessions",
    "request",
    "review",
    "checkpoint",
    "handoff",
    "worktree",
    "attachment",
    "subscription",
    "adapter",
    "seq",
    "after",
    "since",
];
/// How further ones end.
const ENDINGS: &[&str] =
    &["Id", "Ids", "ID", "IDs", "_id", "_ids", "Uuid", "_uuid", "Session", "_session", "Thread"];

/// Whether a member is an id by its name alone.
fn is_like_an_id(name: &str) -> bool {
    LIKE_IDS.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Compares what a row names with what its params look like, and gives what is wrong: members that the
/// params do not have, kinds that contradict the type, and members that look like ids and are not named.
#[must_use]
pub fn complaints(params: &Value, defs: &Map<String, Value>, names: &[Named]) -> Vec<String> {
    let mut members = Vec::new();
    let mut walk = Walk { defs, members: &mut members, open: Vec::new() };
    walk.schema(params, "");
    let mut wrong = Vec::new();
    for named in names {
        let path = named.member;
        match members.iter().find(|member| member.path == path) {
            None => wrong.push(format!("there is no member `{path}`")),
            Some(Member { mark: Some(mark), .. }) if mark != named.kind.word() => {
                wrong.push(format!("`{path}` is of kind {mark}, not {}", named.kind.word()));
            }
            Some(_) => {}
        }
    }
    for member in &members {
        let path = &*member.path;
        let name = path.rsplit('.').next().unwrap_or(path);
        let is_named = names.iter().any(|named| named.member == path);
        if (member.mark.is_some() || is_like_an_id(name)) && !is_named {
            wrong.push(format!("`{path}` looks like an id and is not named"));
        }
    }
    wrong.sort();
    wrong.dedup();
    wrong
}

/// A member of params, at any depth.
struct Member {
    path: String,
    /// What its type says that it names.
    mark: Option<String>,
}

/// Collects the members of a schema.
struct Walk<'a> {
    defs: &'a Map<String, Value>,
    members: &'a mut Vec<Member>,
    /// Definitions that are being looked at, since types may hold themselves.
    open: Vec<String>,
}

impl Walk<'_> {
    fn schema(&mut self, schema: &Value, path: &str) {
        if let Some(mark) = schema.get(MARKER).and_then(Value::as_str)
            && let Some(member) = self.members.iter_mut().find(|member| member.path == path)
        {
            member.mark = Some(mark.to_owned());
        }
        if let Some(Value::String(reference)) = schema.get("$ref") {
            self.definition(reference, path);
        }
        for one_of in ["anyOf", "oneOf", "allOf"] {
            let alternatives = schema.get(one_of).and_then(Value::as_array);
            alternatives.into_iter().flatten().for_each(|part| self.schema(part, path));
        }
        if let Some(items) = schema.get("items") {
            self.schema(items, path);
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, member) in properties.into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if self.members.iter().all(|known| known.path != path) {
                self.members.push(Member { path: path.clone(), mark: None });
            }
            self.schema(member, &path);
        }
    }

    fn definition(&mut self, reference: &str, path: &str) {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        let Some(found) = self.defs.get(name) else { return };
        if self.open.iter().any(|open| open == name) {
            return;
        }
        self.open.push(name.to_owned());
        self.schema(found, path);
        self.open.pop();
    }
}

#[cfg(test)]
mod tests {
    use schemars::{JsonSchema, SchemaGenerator};

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only described")]
    struct Params {
        terminal: Option<TerminalName>,
        targets: Vec<Target>,
        text: String,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only described")]
    struct Target {
        session: String,
        inner: Option<Box<Target>>,
    }

    #[derive(JsonSchema)]
    #[schemars(extend("x-id" = "terminal"))]
    #[expect(dead_code, reason = "only described")]
    struct TerminalName(u64);

    fn wrong(names: &[Named]) -> Vec<String> {
        let mut generator = SchemaGenerator::default();
        let schema = generator.subschema_for::<Params>();
        let defs = generator.take_definitions(true);
        complaints(schema.as_value(), &defs, names)
    }

    #[test]
    fn a_row_that_names_all_ids_is_right() {
        assert_eq!(wrong(names![terminal: Terminal, targets.session: Session]), [""; 0]);
        assert_eq!(wrong(names![terminal: Terminal, targets.session: NoId]), [""; 0]);
    }

    #[test]
    fn what_is_forgotten_or_invented_is_found() {
        assert_eq!(
            wrong(&[]),
            [
                "`targets.session` looks like an id and is not named",
                "`terminal` looks like an id and is not named",
            ]
        );
        assert_eq!(
            wrong(names![terminal: Project, targets.session: Session, tab: Terminal]),
            ["`terminal` is of kind terminal, not project", "there is no member `tab`",]
        );
    }
}
