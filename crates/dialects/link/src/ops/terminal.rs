//! What a viewer does with the text of a terminal: scrolls, reads, finds, selects and copies.

use std::time::{Duration, Instant};

use rookery_core::{Clipboard, ScreenView, ScrollTo, TerminalHandle};
use rookery_model as model;
use rookery_term::find::{Case, Finder};
use rookery_term::redact::Policy;
use rookery_term::{Expand, Place, Selection, SelectionKind};
use rookery_view::link::differ::TermNow;
use rookery_view::link::{
    self, ClipTarget, Copied, Copy, Done, Find, Found, LinkAt, LinkFound, Rows, RowsFound, Scroll,
    Select, SelectKind, Selected, bound,
};

use crate::session::rows::{Masked, selected};
use crate::{Cx, Error};

/// How long one step of a search may take; the rest comes in frames.
const STEP: Duration = Duration::from_millis(50);
/// How long the screen may be held for it at once.
const HOLD: Duration = Duration::from_millis(4);
/// Bytes of a copied text.
const COPY_BYTES: usize = 16 << 20;

pub(crate) async fn scroll(cx: Cx, params: Scroll) -> Result<Done, Error> {
    let handle = cx.terminal(params.t)?;
    let to = match (params.by, params.to, params.row) {
        (Some(rows), None, None) => ScrollTo::By(rows),
        (None, Some(link::ScrollTo::Top), None) => ScrollTo::Top,
        (None, Some(link::ScrollTo::Bottom), None) => ScrollTo::Bottom,
        (None, Some(link::ScrollTo::Row), Some(row)) => ScrollTo::Row(row),
        (None, Some(link::ScrollTo::Hold), row) => ScrollTo::Hold(row),
        (None, Some(link::ScrollTo::PromptBefore), None) => ScrollTo::PromptBefore,
        (None, Some(link::ScrollTo::PromptAfter), None) => ScrollTo::PromptAfter,
        _ => {
            return Err(Error::invalid(
                "to",
                "give either by, or to, and with to: \"row\" the row",
            ));
        }
    };
    handle.scroll_to(to);
    cx.session.change_beside(|_| ());
    Ok(Done {})
}

pub(crate) async fn rows(cx: Cx, params: Rows) -> Result<RowsFound, Error> {
    if params.count == 0 || params.count > bound::ROWS {
        return Err(Error::invalid(
            "count",
            format!("count must be between 1 and {}", bound::ROWS),
        ));
    }
    let handle = cx.terminal(params.t)?;
    let redacts = cx.session.opened().is_some_and(|opened| opened.redacts);
    let range = params.from..params.from.saturating_add(params.count);
    let (found, is_used_up) = cx.session.look(|state| {
        let found = handle.look(|ScreenView { screen, .. }| {
            let masked = match redacts {
                true => Masked::of(screen, range),
                false => Masked::default(),
            };
            let mask = |number: u64| masked.row(number, screen.size().cols);
            let mut now = TermNow::new(params.t, screen);
            now.mask = redacts.then_some(&mask);
            state.differ.rows(&now, params.epoch, params.from, params.count)
        });
        (found, state.differ.is_behind())
    });
    if is_used_up {
        // Numbers of styles begin anew, with a frame of their own if there is no other.
        cx.session.change_beside(|_| ());
    }
    Ok(found)
}

pub(crate) async fn find(cx: Cx, params: Find) -> Result<Found, Error> {
    let handle = cx.terminal(params.t)?;
    let case = match params.case.unwrap_or_default() {
        link::Case::Smart => Case::Smart,
        link::Case::Sensitive => Case::Sensitive,
        link::Case::Insensitive => Case::Insensitive,
    };
    let finder = Finder::new(&params.text, params.regex, case, bound::MATCHES_COUNTED);
    let mut finder = finder.map_err(|error| Error::invalid("text", error.to_string()))?;
    if cx.session.opened().is_some_and(|opened| opened.redacts) {
        finder = finder.without_secrets();
    }
    let limit = params.limit.map_or(bound::MATCHES_RETURNED, |limit| limit as usize);
    let search = Search { finder, left: limit.min(bound::MATCHES_RETURNED) };
    // From here on the one before goes on no more, whichever of the two is done with its first step first.
    let number = cx.session.look(|state| {
        state.finds.remove(&handle.id());
        let number = state.searches.entry(handle.id()).or_default();
        *number += 1;
        *number
    });
    let (found, search) = go_on(&handle, search).await?;
    cx.session.change_beside(|state| {
        if found.more && state.searches.get(&handle.id()) == Some(&number) {
            state.finds.insert(handle.id(), search);
        }
    });
    Ok(found)
}

/// A search that goes on.
pub(crate) struct Search {
    finder: Finder,
    /// How many matches are still told, the newest of all; others are only counted.
    left: usize,
}

/// Searches on for a step, where it keeps nothing else from running; gives what was found in it.
pub(crate) async fn go_on(
    handle: &TerminalHandle,
    mut search: Search,
) -> Result<(Found, Search), Error> {
    let handle = handle.clone();
    let stepped = tokio::task::spawn_blocking(move || {
        let found = step(&handle, &mut search);
        (found, search)
    });
    stepped.await.map_err(|error| model::Error::failed(error.to_string()).into())
}

fn step(handle: &TerminalHandle, search: &mut Search) -> Found {
    let Search { finder, left } = search;
    let mut found = Vec::new();
    let started = Instant::now();
    while !finder.is_done() && started.elapsed() < STEP {
        // Let go of now and then: the terminal waits meanwhile.
        handle.look(|ScreenView { screen, .. }| {
            let held = Instant::now();
            while !finder.is_done() && held.elapsed() < HOLD {
                found.extend(finder.step(screen));
            }
        });
    }
    let epoch = finder.epoch().unwrap_or_default();
    found.truncate(*left);
    *left -= found.len();
    let told = found.iter().map(|found| (found.start.row, found.start.col, found.cells)).collect();
    let total = u32::try_from(finder.total()).unwrap_or(u32::MAX);
    Found { epoch, matches: told, total, more: !finder.is_done() }
}

pub(crate) async fn select(cx: Cx, params: Select) -> Result<Selected, Error> {
    let handle = cx.terminal(params.t)?;
    let place = |(row, col): (u64, u16)| Place { row, col };
    let range = match (params.anchor, params.head) {
        (None, None) => None,
        (Some(anchor), head) => Some(Selection {
            anchor: place(anchor),
            head: place(head.unwrap_or(anchor)),
            kind: match params.kind.unwrap_or_default() {
                SelectKind::Text => SelectionKind::Text,
                SelectKind::Lines => SelectionKind::Lines,
                SelectKind::Block => SelectionKind::Block,
            },
        }),
        (None, Some(_)) => return Err(Error::invalid("anchor", "a selection needs an anchor")),
    };
    let expand = match params.expand {
        None => Expand::Character,
        Some(link::Expand::Word) => Expand::Word,
        Some(link::Expand::Line) => Expand::Line,
    };
    let settled = handle.select_range(range, expand);
    let end = |place: Place| (place.row, place.col);
    Ok(Selected {
        anchor: settled.map(|range| end(range.anchor)),
        head: settled.map(|range| end(range.head)),
    })
}

pub(crate) async fn copy(cx: Cx, params: Copy) -> Result<Copied, Error> {
    let handle = cx.terminal(params.t)?;
    let redacts = cx.session.opened().is_some_and(|opened| opened.redacts);
    let (text, cut) = handle.look(|ScreenView { screen, selection, .. }| match selection {
        Some(selection) if redacts => selected(screen, &selection, COPY_BYTES),
        Some(selection) => screen.selected_text_within(&selection, COPY_BYTES),
        None => (String::new(), false),
    });
    let is_full = cx.allowed.admits(rookery_wire::rights::Needs::Full);
    for target in params.to.iter().filter(|_| is_full && !text.is_empty()) {
        let clipboard = match target {
            ClipTarget::Clipboard => Clipboard::System,
            ClipTarget::Selection => Clipboard::Selection,
        };
        cx.core.seats().set_clipboard(clipboard, &text)?;
    }
    Ok(Copied { text, cut })
}

pub(crate) async fn link_at(cx: Cx, params: LinkAt) -> Result<LinkFound, Error> {
    let handle = cx.terminal(params.t)?;
    let (row, col) = params.at;
    let found = handle.link_at(Place { row, col });
    let redacts = cx.session.opened().is_some_and(|opened| opened.redacts);
    Ok(found.map_or_else(LinkFound::default, |found| LinkFound {
        uri: Some(match redacts {
            true => Policy::ours().redact(&found.uri).into_owned(),
            false => found.uri.to_string(),
        }),
        from: Some((found.start.row, found.start.col)),
        to: Some((found.end.row, found.end.col)),
    }))
}
