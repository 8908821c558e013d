//! Providers: scripts that fill a palette. How one is run, its instructions, what its output means.
//!
//! The caller bounds time and output; here is only what goes in and what comes out.

mod discover;
mod output;
mod run;

pub use discover::discovered;
pub use output::{Listed, Listing, RunEnd, parse_activate, parse_list, read_end};
pub use run::{Context, Launch, Phase, launch};

use super::row::{Row, Target};

/// Output beyond this is not read; a run that writes more has failed.
pub const MOST_OUTPUT: usize = 4 * 1024 * 1024;
/// Of standard error only the end matters.
pub const MOST_STDERR: usize = 16 * 1024;
/// How much of a discovered file's beginning is worth reading for its header.
pub const HEADER_BYTES: usize = 4096;

/// The rows of a run: what it listed, cut at `limit`, or why it failed.
pub(super) fn rows(result: Result<Listing, String>, limit: usize) -> Vec<Row> {
    let listing = match result {
        Ok(listing) => listing,
        Err(reason) => {
            return vec![Row::still("provider:_error", "Provider failed").subtitle(reason)];
        }
    };
    let more = listing.items.len().saturating_sub(limit);
    let mut rows: Vec<Row> = listing.items.into_iter().take(limit).map(row).collect();
    if more > 0 {
        rows.push(Row::still("provider:_overflow", format!("… {more} more")));
    }
    rows
}

fn row(item: Listed) -> Row {
    let target = if item.actionable { Target::ProviderItem } else { Target::Still };
    Row::new(item.id, item.title, target).subtitle(item.subtitle.unwrap_or_default())
}

#[cfg(test)]
mod tests;
