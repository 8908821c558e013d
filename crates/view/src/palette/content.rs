//! What core hands in for each kind of frame, and the rows made of it.

use rookery_model::{TerminalId, Timestamp};

use super::Frame;
use super::agents::{self, AgentInput};
use super::row::{Row, Target};
use crate::keys::ACTIONS;
use crate::settings::{Command, Provider};

/// At most this many notifications are listed.
pub const INBOX_ROWS: usize = 10;

/// The facts behind one frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The palette of commands.
    Commands {
        /// How many notifications are unseen.
        notifications: usize,
        /// Whether there is any provider.
        has_providers: bool,
    },
    /// The launcher, with the commands of the settings.
    Launcher(Vec<Command>),
    /// The palette of providers, configured ones first.
    Custom(Vec<Provider>),
    /// The themes to choose from.
    Themes {
        /// All names.
        names: Vec<String>,
        /// The one in force.
        active: String,
    },
    /// The fonts to choose from.
    Fonts {
        /// All families.
        families: Vec<String>,
        /// The one in force.
        active: String,
    },
    /// Unseen notifications, newest first.
    Notifications(Vec<InboxEntry>),
    /// Tabs, in any order; those that agents own are listed.
    Agents {
        tabs: Vec<AgentInput>,
        /// The time.
        now: Timestamp,
    },
}

/// One unseen notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxEntry {
    /// The tab it is about.
    pub tab: TerminalId,
    /// The project's name.
    pub project: String,
    /// The tab's title.
    pub tab_title: String,
    /// Its text; may be empty.
    pub body: String,
}

/// A question that a client asks through the palette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    pub title: String,
    /// Words for the empty field; the title if empty.
    pub placeholder: String,
    /// The answers to choose from.
    pub items: Vec<Answer>,
}

/// One answer to a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// What the asker gets back.
    pub id: String,
    /// Its words.
    pub title: String,
    /// A second line.
    pub subtitle: Option<String>,
}

impl Question {
    /// The words for the empty field.
    pub(super) fn prompt(&self) -> &str {
        let given = [self.placeholder.as_str(), self.title.as_str()];
        given.into_iter().find(|words| !words.is_empty()).unwrap_or("Select…")
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let row = |answer: &Answer| {
            let subtitle = answer.subtitle.as_deref().unwrap_or_default();
            Row::new(&answer.id, &answer.title, Target::Pick).subtitle(subtitle)
        };
        self.items.iter().map(row).collect()
    }
}

/// Rows that lead to another frame: row id, title, frame.
const DRILLS: &[(&str, &str, Frame)] = &[
    ("select_theme", "Select Theme…", Frame::Themes),
    ("select_font", "Select Font…", Frame::Fonts),
    ("view_agents", "Go to Agent…", Frame::Agents),
    ("view_notifications", "View Notifications", Frame::Notifications),
];

impl Content {
    /// The frame this fills.
    pub const fn frame(&self) -> Frame {
        match self {
            Self::Commands { .. } => Frame::Commands,
            Self::Launcher(_) => Frame::Launcher,
            Self::Custom(_) => Frame::Custom,
            Self::Themes { .. } => Frame::Themes,
            Self::Fonts { .. } => Frame::Fonts,
            Self::Notifications(_) => Frame::Notifications,
            Self::Agents { .. } => Frame::Agents,
        }
    }

    /// What is in force and may be previewed over.
    pub(super) fn active(&self) -> Option<&str> {
        match self {
            Self::Themes { active, .. } | Self::Fonts { active, .. } => Some(active),
            _ => None,
        }
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        match self {
            Self::Commands { notifications, has_providers } => {
                command_rows(*notifications, *has_providers)
            }
            Self::Launcher(commands) => launcher_rows(commands),
            Self::Custom(providers) => provider_rows(providers),
            Self::Themes { names, .. } => choices(names, Target::Theme),
            Self::Fonts { families, .. } => choices(families, Target::Font),
            Self::Notifications(entries) => inbox_rows(entries),
            Self::Agents { tabs, now } => agents::rows(tabs, *now),
        }
    }
}

fn command_rows(notifications: usize, has_providers: bool) -> Vec<Row> {
    let drills = DRILLS.iter().map(|(id, title, frame)| {
        let count = match frame {
            Frame::Notifications if notifications > 0 => format!(" ({notifications})"),
            _ => String::new(),
        };
        Row::new(*id, format!("{title}{count}"), Target::Drill(*frame))
    });
    let actions = |is_roosts: bool| {
        let rows = ACTIONS.iter().filter(move |row| row.is_roosts == is_roosts);
        rows.filter_map(|row| {
            row.title.map(|title| Row::new(row.id, title, Target::Run(row.action)))
        })
    };
    let custom = has_providers
        .then(|| Row::new("custom_commands", "Custom Commands…", Target::Drill(Frame::Custom)));
    drills.chain(actions(true)).chain(custom).chain(actions(false)).collect()
}

fn launcher_rows(commands: &[Command]) -> Vec<Row> {
    if commands.is_empty() {
        return vec![Row::still("launch:none", "No commands configured")];
    }
    let row = |(index, command): (usize, &Command)| {
        let target = Target::Launch(Box::new(command.clone()));
        Row::new(format!("launch:{index}"), &command.label, target).subtitle(&command.run)
    };
    commands.iter().enumerate().map(row).collect()
}

fn provider_rows(providers: &[Provider]) -> Vec<Row> {
    if providers.is_empty() {
        return vec![Row::still("provider:none", "No providers configured")];
    }
    let row = |(index, provider): (usize, &Provider)| {
        let target = Target::List(Box::new(provider.clone()));
        Row::new(format!("provider:{index}"), &provider.label, target).subtitle(provider.run_text())
    };
    providers.iter().enumerate().map(row).collect()
}

fn choices(names: &[String], target: fn(String) -> Target) -> Vec<Row> {
    names.iter().map(|name| Row::new(name, name, target(name.clone()))).collect()
}

fn inbox_rows(entries: &[InboxEntry]) -> Vec<Row> {
    if entries.is_empty() {
        return vec![Row::still("notif:none", "No notifications")];
    }
    let row = |entry: &InboxEntry| {
        let title = format!("{} · {}", entry.project, entry.tab_title);
        Row::new(format!("notif:{}", entry.tab), title, Target::Tab(entry.tab))
            .subtitle(&entry.body)
    };
    entries.iter().take(INBOX_ROWS).map(row).collect()
}
