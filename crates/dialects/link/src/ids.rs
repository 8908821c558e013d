//! How this dialect spells ids: terminals and projects as numbers, everything else as it is shown.

use std::str::FromStr;

use rookery_core::Page;
use rookery_model as model;
use rookery_view::link;

use crate::Error;

/// An id of 128 bits, by its whole spelling.
pub(crate) fn parse<T: FromStr>(what: &'static str, text: &str) -> Result<T, Error> {
    let shown: String = text.chars().take(64).collect();
    text.trim().parse().map_err(|_| Error::invalid(what, format!("{shown:?} is not a {what} id")))
}

/// Milliseconds since 1970.
pub(crate) fn millis(at: model::Timestamp) -> i64 {
    at.as_micros() / 1_000
}

/// Bytes of a path in the name of a page.
const PATH_BYTES: usize = 4096;

/// A path in the name of a page.
fn check_path(what: &'static str, path: Option<&str>) -> Result<(), Error> {
    match path.is_some_and(|path| path.len() > PATH_BYTES) {
        true => Err(Error::invalid(what, format!("{what} must have at most {PATH_BYTES} bytes"))),
        false => Ok(()),
    }
}

/// The page that a viewer names, and the terminal on it.
pub(crate) fn page(page: &link::Page) -> Result<(Page, Option<model::TerminalId>), Error> {
    if let link::Page::Review { file, .. } = page {
        check_path("file", file.as_deref())?;
    }
    if let link::Page::Worktrees { repo } = page {
        check_path("repo", repo.as_deref())?;
    }
    Ok((
        match page {
            link::Page::Workspace { terminal } => {
                return Ok((Page::Workspace, terminal.map(model::TerminalId::new)));
            }
            link::Page::Inbox { item } => {
                Page::Inbox(item.as_deref().map(|item| parse("item", item)).transpose()?)
            }
            link::Page::Thread { thread } => Page::Thread(parse("thread", thread)?),
            link::Page::Threads => Page::Threads,
            link::Page::Review { review, file } => {
                Page::Review(parse("review", review)?, file.clone())
            }
            link::Page::Reviews => Page::Reviews,
            link::Page::Checkpoints { session } => Page::Checkpoints(
                session.as_deref().map(|session| parse("session", session)).transpose()?,
            ),
            link::Page::Worktrees { repo } => Page::Worktrees(repo.as_ref().map(Into::into)),
            link::Page::Audit => Page::Audit,
            link::Page::Settings => Page::Settings,
            link::Page::Help => Page::Help,
            link::Page::Unknown => return Err(Error::invalid("page", "there is no such page")),
        },
        None,
    ))
}

/// A page as sent to viewers.
pub(crate) fn shown_page(page: &Page, terminal: Option<model::TerminalId>) -> link::Page {
    match page {
        Page::Workspace => link::Page::Workspace { terminal: terminal.map(model::TerminalId::get) },
        Page::Inbox(item) => link::Page::Inbox { item: item.map(|item| item.to_string()) },
        Page::Thread(thread) => link::Page::Thread { thread: thread.to_string() },
        Page::Threads => link::Page::Threads,
        Page::Review(review, file) => {
            link::Page::Review { review: review.to_string(), file: file.clone() }
        }
        Page::Reviews => link::Page::Reviews,
        Page::Checkpoints(session) => {
            link::Page::Checkpoints { session: session.map(|session| session.to_string()) }
        }
        Page::Worktrees(repo) => link::Page::Worktrees {
            repo: repo.as_ref().map(|repo| repo.to_string_lossy().into_owned()),
        },
        Page::Audit => link::Page::Audit,
        Page::Settings => link::Page::Settings,
        Page::Help => link::Page::Help,
    }
}
