//! What a tool that writes is about to do: worked out in memory, shown to the person who has to approve it,
//! and then done.

use std::time::Duration;

use rookery_changes::FileEdit;
use rookery_model::Edit;
use serde_json::Value;
use similar::{TextDiff, TextDiffConfig};

use super::elsewhere;
use super::hunks::hunk;
use super::writing::{self, Change};
use crate::tool::ToolContext;

/// Lines around a change in a preview.
const CONTEXT: usize = 3;
/// How long a good diff may be looked for; after that a worse one has to do.
const PATIENCE: Duration = Duration::from_secs(1);

/// Changes that were worked out and not made yet.
#[derive(Debug, Default)]
pub(super) struct Planned {
    /// What happens to paths.
    pub(super) changes: Vec<Change>,
    /// What happens to files, as people see it.
    pub(super) files: Vec<Touched>,
}

/// A file before and after. A missing side means that it is made or removed.
#[derive(Debug)]
pub(super) struct Touched {
    /// Its name then.
    pub(super) path: String,
    /// Its name now, if that is another.
    pub(super) old_path: Option<String>,
    /// What it contains now.
    pub(super) old: Option<String>,
    /// What it will contain.
    pub(super) new: Option<String>,
    /// Whether it is something else than text now, so that no lines of it can be determined.
    pub(super) was_binary: bool,
    /// Its permissions now, where they are known.
    pub(super) mode: Option<u32>,
}

impl Planned {
    /// Makes the changes, all or none.
    pub(super) fn commit(&self, context: &ToolContext) -> Result<(), String> {
        match elsewhere::files(context) {
            Some(files) => elsewhere::commit(files.as_ref(), &self.changes),
            None => writing::commit(&self.changes, context.writes.as_deref()),
        }
    }

    /// The hunks of all files.
    pub(super) fn edits(&self) -> Vec<Edit> {
        self.files.iter().flat_map(Touched::edits).collect()
    }

    /// A unified diff of all files.
    pub(super) fn diff(&self) -> String {
        self.files.iter().map(Touched::diff).collect()
    }
}

impl Touched {
    fn edits(&self) -> Vec<Edit> {
        rookery_changes::edits(FileEdit {
            path: &self.path,
            old_path: self.old_path.as_deref(),
            old: self.old.as_deref(),
            new: self.new.as_deref(),
            mode: self.mode,
            was_binary: self.was_binary,
        })
    }

    fn diff(&self) -> String {
        let name = |prefix: &str, path: &str, text: &Option<String>| match text {
            Some(_) => format!("{prefix}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let old_path = self.old_path.as_ref().unwrap_or(&self.path);
        let (old_name, new_name) =
            (name("a", old_path, &self.old), name("b", &self.path, &self.new));
        // Only a line feed ends a line: a return alone would break a line of the diff in two.
        let (old, new) = (lines(self.old.as_deref()), lines(self.new.as_deref()));
        let mut config = TextDiffConfig::default();
        let diff: TextDiff<'_, '_, str> =
            config.timeout(PATIENCE).newline_terminated(true).diff_slices(&old, &new);
        let text =
            diff.unified_diff().context_radius(CONTEXT).header(&old_name, &new_name).to_string();
        // Without hunks there would be nothing to see of a new name or an empty file.
        if text.is_empty() { format!("--- {old_name}\n+++ {new_name}\n") } else { text }
    }
}

/// Hunks as details for programs.
pub(super) fn shown(edits: &[Edit]) -> Vec<Value> {
    edits.iter().map(hunk).collect()
}

fn lines(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_return_alone_breaks_no_line_of_a_diff() {
        let touched = Touched {
            path: "f".into(),
            old_path: None,
            old: Some("one\rtwo\nlast".into()),
            new: Some("one\rthree\nlast".into()),
            was_binary: false,
            mode: None,
        };
        let shown = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\rtwo\n+one\rthree\n last\n\\ No newline at end of file\n";
        assert_eq!(touched.diff(), shown);
    }
}
