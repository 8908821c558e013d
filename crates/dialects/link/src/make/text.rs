//! Text that is shown: without anything that acts on a screen.

use rookery_model::ToolKind;
use rookery_view::link::{Block, DiffFile};
use rookery_view::{diff, prose, safe};

/// Characters of a line in a list.
const LINE: usize = 500;

/// One safe line.
pub(crate) fn line(text: &str) -> String {
    let cut: String = text.chars().take(LINE).collect();
    safe::line(&safe::seen(&cut))
}

/// Lines exactly as they are, spelled where a screen would not show them.
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.lines().map(safe::exact).collect()
}

/// Prose as blocks.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    prose::blocks(text)
}

/// What a tool of this kind would change, as files, and the lines that they do not show; none if that is no
/// patch. What a command says is never read as one.
pub(crate) fn patch(kind: ToolKind, preview: &str) -> Option<(Vec<DiffFile>, Vec<String>)> {
    let is_write = kind == ToolKind::Write;
    Some(diff::parse_exact(preview)).filter(|(files, _)| is_write && !files.is_empty())
}

/// A patch as files; none if it is no patch.
pub(crate) fn files(text: &str) -> Option<Vec<DiffFile>> {
    Some(diff::parse(text)).filter(|files| !files.is_empty())
}
