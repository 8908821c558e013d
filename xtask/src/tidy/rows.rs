//! Rows of the dialects' tables: each says what it asks of its caller, and which members carry ids.

use super::Finding;

/// Macros that make a row.
const ROWS: &[&str] = &["folding_method!(", "method!(", "op!(", "command!("];
/// What a row may ask, as the constants of `wire::rights::Rights` are called.
const RIGHTS: &[&str] = &["LOOK", "REPORT", "INSIDE", "DECIDE", "EXPOSE", "FULL", "OWN"];

/// What a row without rights is told.
const NO_RIGHTS: &str = "a row says what it asks of its caller: LOOK, DECIDE, FULL, OWN, …";
/// What a row without names is told.
const NO_NAMES: &str =
    "a row says which members carry ids, and of what: [terminal: Terminal], or [] if none does";

/// Finds rows without rights or names in the sources of a dialect.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !path.starts_with("crates/dialects/") {
        return Vec::new();
    }
    let rows = text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, columns(line)?)));
    rows.flat_map(|(line, columns)| {
        let missing = [(!has_rights(columns), NO_RIGHTS), (!has_names(columns), NO_NAMES)];
        missing.into_iter().filter(|(is_missing, _)| *is_missing).map(move |(_, what)| (line, what))
    })
    .map(|(line, what)| Finding::error(path, line, what))
    .collect()
}

/// What stands before the function of a row. Rows of the macros' own rules name variables.
fn columns(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let row = ROWS.iter().find_map(|row| line.strip_prefix(row))?;
    let (columns, _) = row.split_once("=>")?;
    (!columns.contains('$') && !columns.starts_with('@')).then_some(columns)
}

fn has_rights(columns: &str) -> bool {
    let mut words = columns.split(|c: char| !c.is_ascii_alphabetic());
    words.any(|word| RIGHTS.contains(&word))
}

/// A list, or the keys of a payload, each of which says what it names.
fn has_names(columns: &str) -> bool {
    (columns.contains('[') && columns.contains(']')) || columns.contains("keys::")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "crates/dialects/native/src/lib.rs";

    fn found(line: &str) -> Vec<String> {
        check(TABLE, line).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_row_without_rights_is_found() {
        for bare in [
            r#"    method!("rookery/new", [] => ops::new::new),"#,
            r#"folding_method!("thread/new", [threadId: Thread] => ops::new),"#,
            "    op!(TabNew, [] => ops::tab::new),",
            "    op!(TabNew, [] => free ops::tab::new).gated(),",
            r#"    command!("new", keys::NONE => ops::new),"#,
        ] {
            assert_eq!(found(bare), [NO_RIGHTS], "{bare}");
            assert_eq!(check("crates/wire/src/rpc/table.rs", bare).len(), 0, "{bare}");
        }
    }

    #[test]
    fn a_row_without_names_is_found() {
        for bare in [
            "    method!(ThingNew, LOOK => ops::new::new),",
            r#"folding_method!("thread/new", FULL => ops::new),"#,
            "    op!(TabNew, LOOK => free ops::tab::new).gated(),",
            r#"    command!("new", OWN => ops::new),"#,
        ] {
            assert_eq!(found(bare), [NO_NAMES], "{bare}");
        }
        assert_eq!(found("    method!(ThingNew => ops::new::new),"), [NO_RIGHTS, NO_NAMES]);
    }

    #[test]
    fn a_row_that_says_both_is_right() {
        for said in [
            "    method!(ThingNew, LOOK, [terminal: Terminal] => ops::new::new),",
            "    op!(TabNew, DECIDE, [] => free ops::tab::new),",
            r#"    command!("new", OWN, keys::NONE => ops::new),"#,
            "        op!(@row $params, $rights, |params| $crate::table::Ready",
            "    ($name:literal, $rights:ident, [$($names:tt)*] => $function:path) => {",
        ] {
            assert_eq!(found(said), [""; 0], "{said}");
        }
    }
}
