//! Providers found as executables beside the settings.

use std::time::Duration;

use crate::settings::{DEFAULT_LIMIT, DEFAULT_TIMEOUT, Provider, ProviderRun};

/// The provider behind an executable: `path`, its file name, and the beginning of its text.
pub fn discovered(path: &str, file_name: &str, head: &str) -> Provider {
    let label = header(head, "@roost.label:").unwrap_or_else(|| label_of(file_name));
    let title = header(head, "@roost.title:").unwrap_or_else(|| label.clone());
    Provider {
        label,
        run: ProviderRun::Executable(path.to_owned()),
        title,
        timeout: Duration::from_secs(DEFAULT_TIMEOUT),
        limit: DEFAULT_LIMIT,
    }
}

/// The file name without its ending, dashes and underscores as spaces.
fn label_of(file_name: &str) -> String {
    let stem = match file_name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => file_name,
    };
    let words = stem.replace(['-', '_'], " ");
    let label = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if label.is_empty() { file_name.to_owned() } else { label }
}

/// The value of a header comment, which stands before the first line that is no comment.
fn header(head: &str, key: &str) -> Option<String> {
    let lines = head.lines().map(str::trim).filter(|line| !line.is_empty());
    let comments = lines.map_while(|line| line.strip_prefix('#').or(line.strip_prefix("//")));
    let values = comments.filter_map(|comment| comment.trim_start().strip_prefix(key));
    let mut values = values.map(|value| value.trim().to_owned());
    values.find(|value| !value.is_empty())
}
