//! A patch that takes a hunk back, in the format of the tool `apply_patch`.

use rookery_model::{Edit, FileOperation, LineKind};

/// How long such a patch may be, in bytes.
const MAX_REVERSE: usize = 256 << 10;

/// A patch that undoes an edit. One whose lines are not all ended, or not all kept, cannot be expressed in one.
#[must_use]
pub fn reverse_patch(edit: &Edit) -> Option<String> {
    let is_ended = edit.lines.iter().all(|line| line.text.ends_with('\n'));
    if !is_ended || edit.obstacle.is_some() {
        return None;
    }
    let path = &edit.path;
    let mut patch = String::from("*** Begin Patch\n");
    match edit.operation {
        FileOperation::Create => patch.push_str(&format!("*** Delete File: {path}\n")),
        FileOperation::Delete => {
            patch.push_str(&format!("*** Add File: {path}\n"));
            edit.lines.iter().for_each(|line| patch.push_str(&format!("+{}", line.text)));
        }
        FileOperation::Modify | FileOperation::Rename => {
            patch.push_str(&format!("*** Update File: {path}\n"));
            if edit.operation == FileOperation::Rename
                && let Some(old_path) = &edit.old_path
            {
                patch.push_str(&format!("*** Move to: {old_path}\n"));
            }
            // A file that only got another name has no lines to tell.
            if !edit.lines.is_empty() {
                patch.push_str("@@\n");
            }
            for line in &edit.lines {
                let sign = match line.kind {
                    LineKind::Context => ' ',
                    LineKind::Added => '-',
                    LineKind::Removed => '+',
                };
                patch.push_str(&format!("{sign}{}", line.text));
            }
        }
    }
    patch.push_str("*** End Patch\n");
    (patch.len() <= MAX_REVERSE).then_some(patch)
}
