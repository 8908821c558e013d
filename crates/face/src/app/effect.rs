//! What the face wants done: sent to the daemon, written to the outer terminal, or the end.

use rookery_term::keys::KeyPress;
use rookery_view::link::{self, Clip, Copied, Notice};
use serde_json::Value;

/// Something to do outside of the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Numbered input.
    Input(Input),
    /// A notification without a number.
    Notify(&'static str, Value),
    /// A call, and what its answer is for.
    Call(Ask, &'static str, Value),
    /// A text that the person copied, for the clipboard where the person is; said once it is there.
    Copy(Copied),
    /// A text that a drag selected, for the clipboard of selections where the person is.
    CopyDragged(Copied),
    /// A text that a program put into a clipboard.
    Clip(Clip),
    /// Something to show beside the picture, or to be taken back.
    Notice(Notice),
    /// A key was refused.
    Bell,
    /// What is on this machine's clipboard is to be pasted, or on the selection's if that is set.
    Paste(bool),
    /// An address for the program that the desktop opens it with.
    Open(String),
    /// Connect at once, and start a daemon if there is none.
    StartDaemon,
    /// The face ends; everything runs on.
    Leave,
}

/// Input that the daemon acknowledges by its number.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A key for a terminal.
    Key(u64, KeyPress),
    /// Text for a terminal, as an input method committed it.
    Text(u64, String),
    /// What the mouse did in a terminal.
    Mouse(link::Mouse),
    /// Whether the face has the keyboard.
    Focus(bool),
    /// The room for panes.
    Resize(link::Resize),
    /// Nothing but a number: the frame that has it shows everything before it.
    Fence,
}

/// What an answer is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Something that changes where keys go, beside what it is for itself.
    Moving(Box<Ask>),
    /// Only an error is shown.
    Quiet,
    /// Shown in the status line when it worked.
    Say(String),
    /// The card of an item; the number tells an answer that came too late.
    Card(u64),
    /// A decision, and what it was.
    Decide(&'static str),
    /// A paste that may need a question.
    Paste(u64, String),
    /// The server for browsers, which is on then.
    WebOn,
    /// The link and the code that a device is paired by.
    WebPaired,
    /// A paste about which nothing is to be asked.
    Pasted,
    /// A text to copy.
    Copy,
    /// A text that a drag selected.
    CopyDragged,
    /// A text that was handed on to the person's clipboard, and by which way.
    Copied(Copied, String),
    /// Matches.
    Find(u64),
    /// A link under the pointer, in a terminal.
    Link(u64),
    /// What link lies at a cell that the pointer is over.
    Hovered(u64, (u64, u16)),
    /// A terminal that was opened, to be shown.
    Opened,
    /// What this kind of face keeps for itself.
    Prefs,
    /// Models that a new thread can have.
    Models,
    /// The same for the thread that is shown, to choose one in a menu.
    ModelMenu,
    /// Commands that a message to an agent can begin with.
    Commands(String),
    /// Ends of a selection that were settled; copied if that is set.
    Select,
    Thread(String),
    /// Older items of it.
    Older,
    /// A message that was sent to a thread.
    Sent(String),
    /// A thread that was started.
    NewThread,
    /// A list for a page, by the page's word.
    List(&'static str),
    /// More rows of the threads, behind those that are there.
    MoreThreads(String),
    /// A review with its comments.
    Review,
    /// Files of a diff, or lines of one of them.
    Diff(u64, Option<String>),
    /// More lines of a file, from this one on.
    DiffMore(u64, String, u32),
    /// Something of the list that is shown: said when it worked, and the list is read again.
    Listed(&'static str, &'static str),
    /// A checkpoint that was restored.
    Restored,
    /// A worktree that was landed.
    Landed,
    /// All of an item that was cut, from this line on.
    Item(u32),
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The code of the error; 0 if the connection broke.
    pub code: i64,
    /// Its words.
    pub message: String,
}

/// The answer to a call.
pub type Reply = Result<Value, CallError>;
