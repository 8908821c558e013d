//! The window's title, and shortening paths and text to a number of graphemes.

use std::path::Path;

use unicode_segmentation::UnicodeSegmentation;

/// How many graphemes of a directory the title shows.
pub const TITLE_GRAPHEMES: usize = 48;

/// Project name and directory, the home directory as `~`, the directory cut at its left if it is long.
pub fn window_title(project: &str, cwd: &Path, home: Option<&Path>) -> String {
    let cwd = cut_left(&abbreviated(cwd, home), TITLE_GRAPHEMES);
    match (project.is_empty(), cwd.is_empty()) {
        (false, false) => format!("{project} – {cwd}"),
        (false, true) => project.to_owned(),
        (true, _) => cwd,
    }
}

/// A directory with the home directory written as `~`.
pub fn abbreviated(path: &Path, home: Option<&Path>) -> String {
    let below_home =
        home.filter(|home| home.parent().is_some()).and_then(|home| path.strip_prefix(home).ok());
    match below_home {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.to_string_lossy()),
        None => path.to_string_lossy().into_owned(),
    }
}

/// The end of a text, with an ellipsis in front if something was cut.
fn cut_left(text: &str, graphemes: usize) -> String {
    let excess = text.graphemes(true).count().saturating_sub(graphemes);
    if excess == 0 {
        return text.to_owned();
    }
    let rest = text.graphemes(true).skip(excess + 1);
    std::iter::once("…").chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titled(project: &str, cwd: &str, home: &str) -> String {
        window_title(project, Path::new(cwd), Some(Path::new(home)))
    }

    #[test]
    fn the_title_names_the_project_and_its_directory_below_home() {
        assert_eq!(
            titled("rookery", "/home/ada/src/rookery", "/home/ada"),
            "rookery – ~/src/rookery"
        );
        assert_eq!(titled("rookery", "/home/ada", "/home/ada"), "rookery – ~");
        assert_eq!(titled("rookery", "/home/adalyn", "/home/ada"), "rookery – /home/adalyn");
        assert_eq!(titled("rookery", "", "/home/ada"), "rookery");
        assert_eq!(titled("", "/srv", "/home/ada"), "/srv");
        assert_eq!(titled("root", "/srv", "/"), "root – /srv");
    }

    #[test]
    fn a_long_directory_is_cut_at_its_left_to_48_graphemes() {
        let cwd = format!("/{}", "e\u{301}".repeat(60));
        let title = titled("p", &cwd, "/home/ada");
        let shown = title.strip_prefix("p – ").unwrap();
        assert_eq!(shown.graphemes(true).count(), TITLE_GRAPHEMES);
        assert!(shown.starts_with('…'));
        assert!(shown.ends_with("e\u{301}"));
        let exact = format!("/{}", "a".repeat(TITLE_GRAPHEMES - 1));
        assert_eq!(titled("", &exact, "/home/ada"), exact);
    }
}
