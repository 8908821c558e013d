//! Rows of the dialects' tables: each says what it asks of its caller.

use super::Finding;

/// Macros that make a row.
const ROWS: &[&str] = &["folding_method!(", "method!(", "op!(", "command!("];
/// What a row may ask, as the constants of `wire::rights::Rights` are called.
const RIGHTS: &[&str] = &["LOOK", "REPORT", "INSIDE", "DECIDE", "FULL", "OWN"];

/// Finds rows without rights in the sources of a dialect.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !path.starts_with("crates/dialects/") {
        return Vec::new();
    }
    let lines = text.lines().enumerate();
    lines.filter(|(_, line)| is_bare(line)).map(|(at, _)| without(path, at + 1)).collect()
}

fn without(path: &str, line: usize) -> Finding {
    Finding::error(path, line, "a row says what it asks of its caller: LOOK, DECIDE, FULL, OWN, …")
}

/// Whether a line is a row without rights. Rows of the macros' own rules name variables.
fn is_bare(line: &str) -> bool {
    let line = line.trim_start();
    let Some(row) = ROWS.iter().find_map(|row| line.strip_prefix(row)) else { return false };
    let Some((head, _)) = row.split_once("=>") else { return false };
    let mut words = head.split(|c: char| !c.is_ascii_alphabetic());
    !head.contains('$') && !head.starts_with('@') && !words.any(|word| RIGHTS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_rights_is_found() {
        let path = "crates/dialects/native/src/lib.rs";
        for bare in [
            r#"    method!("rookery/new" => ops::new::new),"#,
            r#"folding_method!("thread/new" => ops::new),"#,
            "    op!(TabNew => ops::tab::new),",
            "    op!(TabNew => free ops::tab::new).gated(),",
            r#"    command!("new", keys::NONE => ops::new),"#,
        ] {
            assert_eq!(check(path, bare).len(), 1, "{bare}");
            assert_eq!(check("crates/wire/src/rpc/table.rs", bare).len(), 0, "{bare}");
        }
        for said in [
            r#"    method!("rookery/new", LOOK => ops::new::new),"#,
            "    op!(TabNew, DECIDE => free ops::tab::new),",
            r#"    command!("new", OWN, keys::NONE => ops::new),"#,
            "        op!(@row $params, $rights, |params| $crate::table::Ready",
            "    ($name:literal, $rights:ident => $function:path) => {",
        ] {
            assert_eq!(check(path, said).len(), 0, "{said}");
        }
    }
}
