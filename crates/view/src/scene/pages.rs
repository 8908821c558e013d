//! Pages in place of the workspace, as plain data: what the daemon sent, and what the viewer did to
//! it. Texts are as the link has them, where everything is safe to show.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::stage::Tone;
use super::{Mood, Rgb};
use crate::link::{self, DiffFile, InboxRow, ThreadHead, ThreadItem};

/// A text that is being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// What was written.
    pub text: String,
    /// Where the next letter goes, in bytes.
    pub cursor: usize,
    /// What is selected, in bytes.
    pub selected: Option<Range<usize>>,
    /// What an input method shows at the cursor.
    pub preedit: String,
    /// Whether it has the keyboard.
    pub has_keyboard: bool,
}

impl Field {
    /// A field with a text and the keyboard, the cursor at its end.
    pub fn of(text: &str) -> Field {
        let cursor = text.len();
        Field { text: text.to_owned(), cursor, has_keyboard: true, ..Field::default() }
    }
}

/// A button of a page. What it does is the viewer's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Button {
    /// Yes, once.
    Approve,
    /// No; a reason may follow.
    Deny,
    /// Yes, and exactly this from now on.
    Remember,
    /// Not now.
    Later,
    /// To the session.
    Open,
    /// All of it.
    Whole,
    /// The next one.
    Next,
    Back,
    /// Send what was written.
    Send,
    /// Stop what runs.
    Stop,
    /// Choose a policy mode.
    Mode,
    /// Choose a model.
    Model,
    /// Choose a project.
    Project,
    Newest,
    /// Show older ones.
    Older,
    /// Comment on the line.
    Comment,
    /// Send the comments to the agent.
    RequestChanges,
    /// Make a new one.
    New,
    /// Put it back as it was.
    Restore,
    /// Bring its commits home.
    Land,
    /// Take it away.
    Remove,
    /// Take a note off the list.
    Dismiss,
    /// Also list what only informs.
    Notes,
    /// Write what is filtered by.
    Filter,
    Shell,
    /// A conversation with an agent.
    Thread,
    /// An agent's program.
    Agent,
    /// Every key.
    Help,
    Palette,
    StartDaemon,
    /// Find: the one before, the one after, an expression, capitals, close.
    FindOlder,
    /// The match after this one.
    FindNewer,
    /// What is searched is an expression.
    FindRegex,
    /// Capitals count.
    FindCase,
    /// Close what is open over the page.
    Close,
}

/// What can be begun where nothing runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Empty {
    /// Where a shell would begin.
    pub root: String,
    /// Agents that are installed.
    pub agents: Vec<String>,
    /// The button that Enter presses.
    pub focus: Option<Button>,
    /// Keys that do the same as the four offers, in their order; may be shorter.
    pub keys: Vec<String>,
}

/// What waits, the most urgent first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inbox {
    /// The rows that were sent.
    pub rows: Arc<Vec<InboxRow>>,
    /// How many wait.
    pub waiting: u32,
    /// How many only inform.
    pub notes: u32,
    /// The selected row.
    pub selected: Option<usize>,
    /// Whether what only informs is listed too.
    pub all: bool,
    /// Whether the card has the whole page.
    pub is_whole: bool,
    /// First row that is shown, if the user scrolled; else the selected one is in view.
    pub first: Option<usize>,
    /// The card of the selected row.
    pub card: Option<Card>,
}

/// A request, and how far a decision on it has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    /// What the daemon sent.
    pub card: Arc<link::Card>,
    /// How far it is scrolled down, in points.
    pub scroll: f32,
    /// The reason of a denial, while it is written.
    pub deny: Option<Field>,
    /// Whether Enter would remember.
    pub remember: bool,
    /// The question that is asked now.
    pub question: usize,
    /// What was chosen of it, by index.
    pub chosen: Vec<usize>,
    /// An answer in own words, while it is written.
    pub own: Option<Field>,
    /// The button that the person moved to.
    pub focus: Option<Button>,
    /// What is said of the last key, such as `read it first`.
    pub message: Option<(Tone, String)>,
}

impl Card {
    /// A card as it comes.
    pub fn new(card: Arc<link::Card>) -> Card {
        Card { card, ..Card::default() }
    }

    /// Whether it still waits.
    pub fn is_pending(&self) -> bool {
        let state = self.card.state.as_str();
        self.card.request.is_some() && (state == "pending" || state.is_empty())
    }

    /// Whether it can be decided so.
    pub fn allows(&self, action: &str) -> bool {
        self.is_pending() && self.card.actions.iter().any(|known| known == action)
    }
}

/// A conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thread {
    /// What is said about it as a whole.
    pub head: Arc<ThreadHead>,
    /// What was said and done, oldest first.
    pub items: Arc<Vec<ThreadItem>>,
    /// Whether there are older ones.
    pub has_older: bool,
    /// Messages to the running turn that it has not taken up yet.
    pub steers: Vec<String>,
    /// The selected item, while the keyboard is among them.
    pub at: Option<usize>,
    /// That item is kept in view. One whose card is open always is.
    pub follows: bool,
    /// Items that are unfolded, by id.
    pub open: BTreeSet<String>,
    /// How far it is scrolled up from the newest, in points.
    pub scroll: f32,
    /// The message that is being written.
    pub composer: Field,
    /// Names of images that go with it.
    pub images: Vec<String>,
    /// Slash commands that match what is written, with what they do.
    pub commands: Vec<(String, String)>,
    /// The one of them that Tab takes.
    pub command: usize,
    /// The card of the selected item's request.
    pub card: Option<Card>,
    /// The button that the person moved to.
    pub focus: Option<Button>,
}

impl Thread {
    /// Whether a turn runs.
    pub fn is_running(&self) -> bool {
        self.head.turn.is_some() || matches!(self.head.status.as_str(), "working" | "waiting")
    }
}

/// A conversation that is being begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewThread {
    /// Name of the project.
    pub project: String,
    /// Where it works.
    pub root: String,
    /// Who answers; empty is the default.
    pub model: String,
    /// What it may do unasked; empty is the default.
    pub mode: String,
    /// What it is asked.
    pub prompt: Field,
    /// The button that the person moved to.
    pub focus: Option<Button>,
}

/// Changes that are judged, or what a checkpoint differs by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Review {
    /// What it is about.
    pub title: String,
    /// How it stands, such as `open`; empty for a checkpoint.
    pub status: String,
    /// Whether it is a checkpoint, which is not judged.
    pub is_checkpoint: bool,
    /// Its files; the lines of those that were loaded.
    pub files: Arc<Vec<DiffFile>>,
    /// The file that is shown.
    pub file: usize,
    /// The selected line of its diff, counted over all hunks.
    pub line: usize,
    /// How far the diff is scrolled, in points; none keeps the selected line in view.
    pub scroll: Option<f32>,
    pub comments: Vec<Comment>,
    /// A comment on the selected line, while it is written.
    pub comment: Option<Field>,
    /// The button that the person moved to.
    pub focus: Option<Button>,
}

/// A comment on a line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comment {
    /// The file.
    pub path: String,
    /// The line's number on the new side, else on the old one; none is the whole file.
    pub line: Option<u32>,
    /// Who says so.
    pub by: String,
    /// What is said.
    pub text: String,
}

/// A list of things: threads, reviews, checkpoints, worktrees, decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// What is listed.
    pub title: String,
    /// More about it, at the right.
    pub aside: String,
    /// Names of the columns; may be empty.
    pub columns: Vec<String>,
    /// From top to bottom.
    pub rows: Arc<Vec<ListRow>>,
    /// The selected row.
    pub selected: Option<usize>,
    /// First row that is shown, if the user scrolled; else the selected one is in view.
    pub first: Option<usize>,
    /// What is filtered by.
    pub filter: Option<Field>,
    /// Whether rows are on their way.
    pub is_loading: bool,
    /// What is said where there are no rows.
    pub nothing: String,
    /// Buttons at the foot, with their labels.
    pub buttons: Vec<(Button, String)>,
    /// The button that the person moved to.
    pub focus: Option<Button>,
}

/// One row of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRow {
    /// How it fares; draws a dot.
    pub mood: Option<Mood>,
    /// Texts from the left; the first is the name.
    pub cells: Vec<ListCell>,
}

/// One text of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListCell {
    pub text: String,
    /// How loud it is.
    pub weight: Weight,
    /// Whether it is code, such as a path or a commit.
    pub is_code: bool,
}

/// How loud a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weight {
    /// It matters.
    #[default]
    Text,
    /// Less.
    Soft,
    /// Least.
    Faint,
    /// Something went well.
    Good,
    /// Something went wrong.
    Bad,
}

/// What can be set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The file that it is written to.
    pub file: String,
    /// From top to bottom.
    pub rows: Vec<Setting>,
    /// The selected row.
    pub selected: usize,
    /// First row that is shown, if the user scrolled.
    pub first: Option<usize>,
    /// Buttons at the foot, with their labels.
    pub buttons: Vec<(Button, String)>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// A heading above it; empty if it goes on.
    pub section: String,
    pub name: String,
    /// What it is now.
    pub value: Value,
    /// What it means, or what Enter does.
    pub hint: String,
}

/// What a setting is.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word, or something that is chosen elsewhere.
    Text(String),
    /// On or off.
    Switch(bool),
    /// One of a few; the index of the chosen one.
    Choice(Vec<String>, usize),
    /// A number with a step down and up.
    Number(String),
    Keys(Vec<String>),
    /// A theme: its name and some of its colors.
    Theme(String, Vec<Rgb>),
    /// It is being written.
    Field(Field),
}

/// What every key does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Help {
    /// What is filtered by.
    pub filter: Field,
    /// The actions that match.
    pub rows: Vec<HelpRow>,
    /// The selected row.
    pub selected: usize,
    /// First row that is shown, if the user scrolled.
    pub first: Option<usize>,
}

/// One action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HelpRow {
    /// A heading above it; empty if it goes on.
    pub section: String,
    /// What it does.
    pub title: String,
    /// The keys that do it.
    pub keys: Vec<String>,
}
