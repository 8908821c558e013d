//! Memories: short texts that outlive the thread they were learned in, each in a scope.

use crate::Timestamp;

/// Whom a memory is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MemoryScope {
    /// For every thread of this user, wherever it works.
    Global,
    /// For one user of the machine.
    User(String),
    /// For those who work in one project.
    Project(String),
    /// The same under another name: a project and a workspace with one id are one scope.
    Workspace(String),
    /// For one thread.
    Thread(String),
}

impl MemoryScope {
    /// The scope as one text, such as `project:/src/rookery`.
    pub fn id(&self) -> String {
        match self {
            MemoryScope::Global => "global".to_owned(),
            MemoryScope::User(id) => format!("user:{id}"),
            MemoryScope::Project(id) => format!("project:{id}"),
            MemoryScope::Workspace(id) => format!("workspace:{id}"),
            MemoryScope::Thread(id) => format!("thread:{id}"),
        }
    }

    /// What two spellings of one scope have in common, and no other scope has.
    pub fn key(&self) -> String {
        match self {
            MemoryScope::Workspace(id) => MemoryScope::Project(id.clone()).id(),
            other => other.id(),
        }
    }

    /// The scope that such a text means, if it means one by itself.
    pub fn from_id(text: &str) -> Option<Self> {
        if text == "global" {
            return Some(MemoryScope::Global);
        }
        let (kind, id) = text.split_once(':')?;
        let id = Some(id.to_owned()).filter(|id| !id.trim().is_empty())?;
        Some(match kind {
            "user" => MemoryScope::User(id),
            "project" => MemoryScope::Project(id),
            "workspace" => MemoryScope::Workspace(id),
            "thread" => MemoryScope::Thread(id),
            _ => return None,
        })
    }
}

/// A scope as a request names it: what is left out is filled in from where the request comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeName {
    /// A scope by its id.
    Named(MemoryScope),
    /// The project of the current workspace.
    Here,
    /// The user that the daemon runs as.
    Myself,
}

impl ScopeName {
    /// The scope that a text names: `global`, `project`, `project:ID` and the like.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text {
            "Global" => Some(ScopeName::Named(MemoryScope::Global)),
            "project" | "workspace" => Some(ScopeName::Here),
            "user" => Some(ScopeName::Myself),
            _ => MemoryScope::from_id(text).map(ScopeName::Named),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its id, which no other ever has.
    pub id: String,
    /// Whom it is for.
    pub scope: MemoryScope,
    /// What is to be known, without secrets.
    pub text: String,
    /// SHA-256 of the text, in hexadecimal digits.
    pub content_hash: String,
    /// What its author keeps beside it: a JSON text.
    pub metadata: String,
    /// How often a turn was given it.
    pub use_count: u64,
    /// When a turn was last given it.
    pub last_used_at: Option<Timestamp>,
    /// When it was first saved.
    pub created_at: Timestamp,
    /// When it was last saved or changed.
    pub updated_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_read_as_it_is_written() {
        for scope in [
            MemoryScope::Global,
            MemoryScope::User("ada".into()),
            MemoryScope::Project("/a:b".into()),
            MemoryScope::Workspace("/a".into()),
            MemoryScope::Thread("t".into()),
        ] {
            assert_eq!(MemoryScope::from_id(&scope.id()), Some(scope));
        }
        for wrong in ["", "project", "project:", "project: ", "planet:x", "thread", "Global "] {
            assert_eq!(MemoryScope::from_id(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_project_and_a_workspace_of_one_id_are_one_scope() {
        let (project, workspace) =
            (MemoryScope::Project("/a".into()), MemoryScope::Workspace("/a".into()));
        assert_eq!(project.key(), workspace.key());
        assert_ne!(project.id(), workspace.id());
        assert_ne!(project.key(), MemoryScope::Thread("/a".into()).key());
    }

    #[test]
    fn names_without_an_id_are_filled_in_by_others() {
        assert_eq!(ScopeName::parse("project"), Some(ScopeName::Here));
        assert_eq!(ScopeName::parse(" workspace "), Some(ScopeName::Here));
        assert_eq!(ScopeName::parse("user"), Some(ScopeName::Myself));
        assert_eq!(ScopeName::parse("Global"), ScopeName::parse("global"));
        assert_eq!(ScopeName::parse("thread"), None);
        let named = ScopeName::Named(MemoryScope::Thread("x".into()));
        assert_eq!(ScopeName::parse("thread:x"), Some(named));
    }
}
