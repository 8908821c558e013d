//! A name has one address: no crate hands on what another of ours owns.

use super::{Finding, rust};

/// Finds `pub use` of another crate of ours in the sources of the product.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !path.starts_with("crates/") || rust::is_test_file(path) {
        return Vec::new();
    }
    let lines = text.lines().take(rust::lines_before_tests(text)).enumerate();
    let handed_on = lines.filter(|(_, line)| is_handed_on(line));
    let message = "import it from the crate that owns it, or move it to where it belongs";
    handed_on.map(|(at, _)| Finding::error(path, at + 1, message)).collect()
}

/// Whether a line makes another crate's name one of this crate's.
fn is_handed_on(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix("pub use ");
    let rest = rest.map(|rest| rest.strip_prefix("::").unwrap_or(rest));
    rest.is_some_and(|rest| rest.starts_with("rookery_") || rest.starts_with("{rookery_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_crate_owns_is_not_handed_on() {
        let path = "crates/core/src/lib.rs";
        for line in [
            "pub use rookery_host::files;",
            "    pub use rookery_view as view;",
            "pub use ::rookery_term::Palette;",
            "pub use {rookery_host::files, rookery_term::Palette};",
        ] {
            assert_eq!(check(path, line).len(), 1, "{line}");
            assert_eq!(check("crates/core/tests/live/world.rs", line).len(), 0, "{line}");
        }
        for line in
            ["pub use world::Active;", "use rookery_host::files;", "pub(crate) use rookery_x::Y;"]
        {
            assert_eq!(check(path, line).len(), 0, "{line}");
        }
    }
}
