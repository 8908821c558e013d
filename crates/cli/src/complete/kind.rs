//! What the value of an argument names, by the word that help shows for it.

use clap::Arg;

/// Something that a value can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Branch,
    Checkpoint,
    Effort,
    Handoff,
    Item,
    Mode,
    Model,
    Profile,
    Project,
    Provider,
    Request,
    Review,
    Session,
    Signal,
    /// A mode of tasks.
    Slug,
    Task,
    Terminal,
    Thread,
    /// An archived thread.
    Archived,
    /// A background task.
    Background,
    Tool,
    Who,
    Worktree,
}

/// The words of help, and what they stand for.
const WORDS: &[(&str, Kind)] = &[
    ("BRANCH", Kind::Branch),
    ("CHECKPOINT", Kind::Checkpoint),
    ("EFFORT", Kind::Effort),
    ("ITEM", Kind::Item),
    ("MODE", Kind::Mode),
    ("MODEL", Kind::Model),
    ("PROFILE", Kind::Profile),
    ("PROJECT", Kind::Project),
    ("PROVIDER", Kind::Provider),
    ("REQUEST", Kind::Request),
    ("SESSION", Kind::Session),
    ("SIGNAL", Kind::Signal),
    ("SLUG", Kind::Slug),
    ("TASK", Kind::Task),
    ("TERMINAL", Kind::Terminal),
    ("THREAD", Kind::Thread),
    ("TOOL", Kind::Tool),
    ("WHO", Kind::Who),
    ("WORKTREE", Kind::Worktree),
];

/// Arguments and commands whose ID is of one kind.
const IDS: &[(&str, Kind)] = &[
    ("provider", Kind::Provider),
    ("model", Kind::Model),
    ("review", Kind::Review),
    ("checkpoint", Kind::Checkpoint),
    ("handoff", Kind::Handoff),
    ("task", Kind::Background),
];

impl Kind {
    /// What the value of an argument of the command at `path` names; none if it can be any text.
    pub(super) fn of(path: &[&str], arg: &Arg) -> Option<Self> {
        let word = arg.get_value_names().and_then(|names| names.first())?;
        if word == "ID" {
            // An argument says by its own name what it is about, if it is not what its command is about.
            let owners = [arg.get_id().as_str(), path.first()?];
            let known = |owner: &str| IDS.iter().find(|(name, _)| *name == owner);
            return owners.into_iter().find_map(known).map(|(_, kind)| *kind);
        }
        let kind = WORDS.iter().find(|(known, _)| word == *known).map(|(_, kind)| *kind)?;
        match (kind, path) {
            (Kind::Thread, ["threads", "unarchive"]) => Some(Kind::Archived),
            // A new one has a name that no other has.
            (Kind::Profile, ["roo", "profiles", "create"]) => None,
            _ => Some(kind),
        }
    }

    /// Whether a directory would do as well.
    pub(super) fn is_also_directory(self) -> bool {
        self == Kind::Worktree
    }
}
