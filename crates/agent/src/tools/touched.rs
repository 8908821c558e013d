//! Which paths a call touches, for those who decide by them.

use rookery_model::ToolKind;
use serde_json::Value;

use super::{apply_patch, glob, paths};
use crate::policy::unasked::{TouchedPath, is_protected};
use crate::tool::{Tool, ToolContext};

/// How a tool names paths in its arguments.
#[derive(Clone, Copy)]
enum Named {
    /// By one path.
    Path,
    /// By one path, or none for the workspace.
    PathOrAll,
    /// By a pattern, which begins with a directory.
    Pattern,
    Patch,
    /// Not at all: what it reads is kept by us.
    Nothing,
}

/// The tools that work on files.
const NAMED: &[(&str, Named)] = &[
    ("read_file", Named::Path),
    ("list_files", Named::PathOrAll),
    ("grep", Named::PathOrAll),
    ("glob", Named::Pattern),
    ("view_image", Named::Path),
    ("write_file", Named::Path),
    ("edit", Named::Path),
    ("multi_edit", Named::Path),
    ("apply_patch", Named::Patch),
    ("read_artifact", Named::Nothing),
    ("grep_artifact", Named::Nothing),
    ("tail_artifact", Named::Nothing),
    ("memory_query", Named::Nothing),
    ("memory_read", Named::Nothing),
    ("echo", Named::Nothing),
    ("skill", Named::Nothing),
];

/// Whether a tool works where the thread's files are, which a runner may have elsewhere. What is kept by us,
/// as memories and results are, is at hand wherever the thread works.
pub fn is_placed(tool: &Tool) -> bool {
    let is_ours =
        || NAMED.iter().any(|(name, named)| *name == tool.name && matches!(named, Named::Nothing));
    match tool.kind {
        ToolKind::Write | ToolKind::Exec => true,
        ToolKind::Read => !is_ours(),
        _ => false,
    }
}

/// The paths that a call of a tool of ours touches, with all links followed; none if that is not known.
/// What the tool itself would refuse is left out: nothing is touched then. Blocks.
pub fn touched(context: &ToolContext, name: &str, arguments: &Value) -> Option<Vec<TouchedPath>> {
    let (_, named) = NAMED.iter().find(|(known, _)| *known == name)?;
    let member = |name: &str| arguments.get(name).and_then(Value::as_str);
    let texts: Vec<String> = match named {
        Named::Path => member("path").map(str::to_owned).into_iter().collect(),
        Named::PathOrAll => vec![member("path").unwrap_or(".").to_owned()],
        Named::Pattern => {
            member("pattern").map(|pattern| glob::split(pattern).0.to_owned()).into_iter().collect()
        }
        Named::Patch => apply_patch::named_paths(arguments.clone()).unwrap_or_default(),
        Named::Nothing => Vec::new(),
    };
    let touched = texts.iter().filter_map(|text| {
        let place = paths::resolve(context, text).ok()?;
        let is_inside = !place.shown.starts_with('/');
        // A name that leads elsewhere by a link is still what agents read.
        let is_protected = is_protected(&place.shown) || is_protected(&below_root(context, text));
        Some(TouchedPath { shown: place.shown, is_inside, is_protected })
    });
    Some(touched.collect())
}

/// A path as it is written, from the workspace on.
fn below_root(context: &ToolContext, text: &str) -> String {
    let root = context.root.to_string_lossy();
    let below = text.strip_prefix(root.as_ref()).unwrap_or(text);
    below.to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::super::test_world::Bench;
    use super::super::{TOOLS, find};
    use super::*;
    use crate::tool::PathScope;

    fn shown(context: &ToolContext, name: &str, arguments: Value) -> Vec<(String, bool, bool)> {
        let arguments = &arguments;
        // What is asked about has to be a call that the tool would take.
        (find(name).unwrap().check)(arguments).unwrap();
        let touched = touched(context, name, arguments).unwrap();
        touched.into_iter().map(|path| (path.shown, path.is_inside, path.is_protected)).collect()
    }

    fn inside(path: &str) -> (String, bool, bool) {
        (path.to_owned(), true, false)
    }

    #[test]
    fn every_tool_that_reads_or_writes_files_says_which() {
        for tool in
            TOOLS.iter().filter(|tool| matches!(tool.kind, ToolKind::Read | ToolKind::Write))
        {
            assert!(NAMED.iter().any(|(name, _)| *name == tool.name), "{}", tool.name);
        }
        for (name, _) in NAMED {
            assert!(find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn what_is_kept_by_us_is_not_placed_where_the_files_are() {
        let placed = |name: &str| is_placed(find(name).unwrap());
        for name in ["read_file", "grep", "view_image", "write_file", "apply_patch", "shell"] {
            assert!(placed(name), "{name}");
        }
        for name in ["memory_save", "memory_query", "memory_read", "memory_update"] {
            assert!(!placed(name), "{name}");
        }
        for name in ["memory_delete", "read_artifact", "skill", "update_plan", "task"] {
            assert!(!placed(name), "{name}");
        }
    }

    #[test]
    fn paths_are_found_in_the_arguments_of_each_tool() {
        let bench = Bench::new();
        let context = bench.context();
        let path = json!({"path": "src/a.rs"});
        assert_eq!(shown(&context, "read_file", path), [inside("src/a.rs")]);
        assert_eq!(shown(&context, "list_files", json!({})), [inside(".")]);
        assert_eq!(shown(&context, "grep", json!({"query": "x", "path": "src"})), [inside("src")]);
        assert_eq!(shown(&context, "glob", json!({"pattern": "src/**/*.rs"})), [inside("src")]);
        let write = json!({"path": "a/../b", "content": ""});
        assert_eq!(shown(&context, "write_file", write), [inside("b")]);
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: .roomodes\n@@\n-o\n+n\n*** Delete File: d\n*** End Patch";
        let protected = (".roomodes".to_owned(), true, true);
        let all = [inside("a"), inside("b"), protected, inside("d")];
        assert_eq!(shown(&context, "apply_patch", json!({"patch": patch})), all);
        assert!(touched(&context, "apply_patch", &json!({"patch": "?"})).unwrap().is_empty());
        assert_eq!(touched(&context, "shell", &json!({"command": "ls"})), None);
    }

    #[test]
    fn links_are_followed_and_hide_no_settings() {
        let bench = Bench::new();
        let mut context = bench.context();
        std::fs::create_dir_all(context.root.join("plain")).unwrap();
        symlink("plain", context.root.join(".roo")).unwrap();
        symlink(".roomodes", context.root.join("modes")).unwrap();
        symlink("/etc", context.root.join("out")).unwrap();
        let read =
            |context: &ToolContext, path: &str| shown(context, "read_file", json!({"path": path}));
        assert_eq!(read(&context, "modes"), [(".roomodes".to_owned(), true, true)]);
        assert_eq!(read(&context, ".roo/x"), [("plain/x".to_owned(), true, true)]);
        let absolute = context.root.join(".roo/x").display().to_string();
        assert_eq!(read(&context, &absolute), [("plain/x".to_owned(), true, true)]);
        // The tool refuses this by itself.
        assert_eq!(read(&context, "out/hosts"), []);
        context.scope = PathScope::Global;
        assert_eq!(read(&context, "out/hosts"), [("/etc/hosts".to_owned(), false, false)]);
    }
}
