//! Tools as this dialect names and shows them. Names that it does not have never reach the wire.

use std::path::{Component, Path, PathBuf};

use rookery_agent::policy::unasked;
use rookery_model::ToolItem;
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde_json::Value;

use super::{About, diffs};
use crate::wire::{ClineSayTool, McpUse, SayTool, ToolName};

/// How a call is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shown {
    /// By other messages than one of its own.
    Elsewhere,
    Command(String),
    /// As tools, one for each file that is touched.
    Tools(Vec<ClineSayTool>),
    /// As a tool of a server.
    Mcp(McpUse),
}

/// Our tools, what counts and failures call them, and what asks call them; none are shown by other messages.
const TOOLS: &[(&str, ToolName, Option<SayTool>)] = &[
    ("read_file", ToolName::ReadFile, Some(SayTool::ReadFile)),
    ("view_image", ToolName::ReadFile, Some(SayTool::ReadFile)),
    ("list_files", ToolName::ListFiles, Some(SayTool::ListFilesTopLevel)),
    ("glob", ToolName::SearchFiles, Some(SayTool::SearchFiles)),
    ("grep", ToolName::SearchFiles, Some(SayTool::SearchFiles)),
    ("write_file", ToolName::WriteToFile, Some(SayTool::NewFileCreated)),
    ("edit", ToolName::ApplyDiff, Some(SayTool::AppliedDiff)),
    ("multi_edit", ToolName::ApplyDiff, Some(SayTool::AppliedDiff)),
    ("apply_patch", ToolName::ApplyDiff, Some(SayTool::AppliedDiff)),
    ("shell", ToolName::ExecuteCommand, None),
    ("exec_command", ToolName::ExecuteCommand, None),
    ("unified_exec", ToolName::ExecuteCommand, None),
    ("write_stdin", ToolName::ExecuteCommand, None),
    ("update_plan", ToolName::UpdateTodoList, Some(SayTool::UpdateTodoList)),
    ("task_ledger.update", ToolName::UpdateTodoList, Some(SayTool::UpdateTodoList)),
    ("request_user_input", ToolName::AskFollowupQuestion, None),
    ("attempt_completion", ToolName::AttemptCompletion, None),
    ("exit_plan_mode", ToolName::SwitchMode, Some(SayTool::SwitchMode)),
    ("switch_mode", ToolName::SwitchMode, Some(SayTool::SwitchMode)),
    ("new_task", ToolName::NewTask, Some(SayTool::NewTask)),
    ("skill", ToolName::Skill, Some(SayTool::Skill)),
];

/// What stands before the name of a server's tool.
const MCP: &str = "mcp__";

/// What counts and failures call a tool.
pub(crate) fn tool_name(name: &str) -> ToolName {
    if name.starts_with(MCP) {
        return ToolName::UseMcpTool;
    }
    TOOLS.iter().find(|row| row.0 == name).map_or(ToolName::CustomTool, |row| row.1)
}

/// Our tools that go by a name of this dialect.
pub(crate) fn ours(name: &str) -> impl Iterator<Item = String> {
    let word: StrDeserializer<'_, WordError> = name.into_deserializer();
    let known = ToolName::deserialize(word).ok();
    TOOLS.iter().filter(move |row| Some(row.1) == known).map(|row| row.0.to_owned())
}

/// Whether a tool changes files, so that only what it would change, or has changed, says it all.
pub(crate) fn changes_files(name: &str) -> bool {
    let row = TOOLS.iter().find(|row| row.0 == name);
    row.is_some_and(|row| matches!(row.2, Some(SayTool::NewFileCreated | SayTool::AppliedDiff)))
}

/// Whether a tool runs a command.
pub(crate) fn is_command(name: &str) -> bool {
    tool_name(name) == ToolName::ExecuteCommand
}

/// How a call is shown: by its arguments and, if there is one, by what it would change.
pub(crate) fn shown(tool: &ToolItem, about: &About, preview: Option<&str>) -> Shown {
    let arguments: Value = serde_json::from_str(&tool.input).unwrap_or_default();
    if let Some(rest) = tool.name.strip_prefix(MCP) {
        let (server, name) = rest.split_once("__").unwrap_or((rest, ""));
        let arguments = (!tool.input.trim().is_empty()).then(|| tool.input.clone());
        let (server_name, tool_name) = (server.to_owned(), name.to_owned());
        return Shown::Mcp(McpUse::UseMcpTool { server_name, tool_name, arguments });
    }
    if is_command(&tool.name) {
        return Shown::Command(command(&arguments));
    }
    let Some((_, _, say)) = TOOLS.iter().find(|row| row.0 == tool.name) else {
        return Shown::Tools(vec![other(tool)]);
    };
    let Some(say) = *say else { return Shown::Elsewhere };
    let call = Call { arguments: &arguments, about, preview };
    Shown::Tools(match say {
        SayTool::NewFileCreated => vec![call.written(tool)],
        SayTool::AppliedDiff => call.changed(),
        _ => vec![call.described(say, &tool.name)],
    })
}

fn command(arguments: &Value) -> String {
    let text = ["command", "cmd", "input", "chars"].iter().find_map(|name| text(arguments, name));
    text.unwrap_or_default()
}

fn text(arguments: &Value, name: &str) -> Option<String> {
    arguments.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// A tool that this dialect has no name for.
fn other(tool: &ToolItem) -> ClineSayTool {
    let description = Some(format!("{} {}", tool.name, tool.input));
    ClineSayTool { description, ..ClineSayTool::new(SayTool::RunSlashCommand) }
}

struct Call<'a> {
    arguments: &'a Value,
    about: &'a About,
    preview: Option<&'a str>,
}

impl Call<'_> {
    /// A file that is written whole: new, unless the change says that there is one.
    fn written(&self, tool: &ToolItem) -> ClineSayTool {
        let data: Value = tool
            .data
            .as_deref()
            .and_then(|data| serde_json::from_str(data).ok())
            .unwrap_or_default();
        let is_there = data.get("created").and_then(Value::as_bool) == Some(false)
            || self.preview.is_some_and(|diff| !diff.contains("--- /dev/null"));
        let say = match is_there {
            true => SayTool::EditedExistingFile,
            false => SayTool::NewFileCreated,
        };
        let path = text(self.arguments, "path").unwrap_or_default();
        let content = self.preview.map(str::to_owned).or_else(|| text(self.arguments, "content"));
        self.file(say, path, content.unwrap_or_default())
    }

    /// Files that are changed: one ask for each of them.
    fn changed(&self) -> Vec<ClineSayTool> {
        let named = text(self.arguments, "path");
        let parts = match (self.preview, &named) {
            (Some(diff), None) => diffs::files(diff),
            _ => Vec::new(),
        };
        if parts.len() > 1 {
            let tools = parts.into_iter();
            return tools.map(|(path, diff)| self.file(SayTool::AppliedDiff, path, diff)).collect();
        }
        let first = parts.into_iter().next();
        let patch = || text(self.arguments, "patch").and_then(|patch| first_file(&patch));
        let path = named.or_else(|| first.map(|(path, _)| path)).or_else(patch);
        let content = self.preview.map(str::to_owned).or_else(|| text(self.arguments, "patch"));
        vec![self.file(SayTool::AppliedDiff, path.unwrap_or_default(), content.unwrap_or_default())]
    }

    fn file(&self, say: SayTool, path: String, content: String) -> ClineSayTool {
        let diff_stats = self.preview.is_some().then(|| diffs::stats(&content));
        ClineSayTool {
            is_outside_workspace: Some(is_outside(&self.about.root, &path)),
            is_protected: Some(is_protected(&self.about.root, &path)),
            path: Some(path),
            content: Some(content),
            diff_stats,
            ..ClineSayTool::new(say)
        }
    }

    /// A tool that changes no file.
    fn described(&self, say: SayTool, name: &str) -> ClineSayTool {
        let argument = |name: &str| text(self.arguments, name);
        let base = ClineSayTool::new(say);
        match say {
            SayTool::ReadFile | SayTool::ListFilesTopLevel => {
                let path = argument("path").unwrap_or_else(|| ".".to_owned());
                let content = absolute(&self.about.root, &path).to_string_lossy().into_owned();
                let lines = self.arguments.get("limit").and_then(Value::as_u64);
                ClineSayTool {
                    is_outside_workspace: Some(is_outside(&self.about.root, &path)),
                    content: Some(content),
                    reason: lines.map(|lines| format!("(up to {lines} lines)")),
                    path: Some(path),
                    ..base
                }
            }
            SayTool::SearchFiles => {
                let path = argument("path").unwrap_or_else(|| ".".to_owned());
                let (regex, file_pattern) = match name {
                    "glob" => (None, argument("pattern")),
                    _ => (argument("query"), None),
                };
                let is_outside_workspace = Some(is_outside(&self.about.root, &path));
                ClineSayTool { path: Some(path), regex, file_pattern, is_outside_workspace, ..base }
            }
            SayTool::SwitchMode => ClineSayTool {
                mode: argument("mode_slug").or_else(|| argument("target_mode")),
                reason: argument("reason").or_else(|| argument("summary")),
                ..base
            },
            SayTool::NewTask => ClineSayTool {
                mode: argument("mode").map(|slug| self.about.mode_name(&slug)),
                content: argument("message"),
                todos: Some(Vec::new()),
                ..base
            },
            SayTool::UpdateTodoList => {
                let list = self.arguments.get("plan").or_else(|| self.arguments.get("tasks"));
                let todos = list.and_then(Value::as_array).map(|steps| todos(steps));
                ClineSayTool { todos, ..base }
            }
            SayTool::Skill => {
                ClineSayTool { skill: argument("name").or_else(|| argument("skill")), ..base }
            }
            _ => base,
        }
    }
}

/// Steps of a plan as the items of a list.
fn todos(steps: &[Value]) -> Vec<Value> {
    let entry = |(at, step): (usize, &Value)| {
        let content = text(step, "step").or_else(|| text(step, "content")).unwrap_or_default();
        let status = match step.get("status").and_then(Value::as_str) {
            Some("completed") => "completed",
            Some("in_progress") => "in_progress",
            _ => "pending",
        };
        let id = text(step, "id").unwrap_or_else(|| at.to_string());
        serde_json::json!({ "id": id, "content": content, "status": status })
    };
    steps.iter().enumerate().map(entry).collect()
}

/// The first file that a patch names.
fn first_file(patch: &str) -> Option<String> {
    const HEADS: &[&str] = &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "+++ b/"];
    let name =
        |line: &str| HEADS.iter().find_map(|head| line.strip_prefix(head)).map(str::to_owned);
    patch.lines().find_map(name)
}

/// A path without steps back, from the workspace on.
fn absolute(root: &Path, path: &str) -> PathBuf {
    let path = path.strip_prefix("workspace://").unwrap_or(path);
    let mut whole = PathBuf::new();
    for component in root.join(path).components() {
        match component {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            other => whole.push(other),
        }
    }
    whole
}

fn is_outside(root: &Path, path: &str) -> bool {
    path.starts_with('~') || !absolute(root, path).starts_with(root)
}

/// Whether a file holds settings of agents.
fn is_protected(root: &Path, path: &str) -> bool {
    let whole = absolute(root, path);
    let inside = whole.strip_prefix(root).unwrap_or(&whole);
    unasked::is_protected(&inside.to_string_lossy())
}

/// Whether the text of an ask says that a protected file is concerned.
pub(crate) fn is_of_protected(text: &str) -> bool {
    let shown: Value = serde_json::from_str(text).unwrap_or_default();
    shown.get("isProtected") == Some(&Value::Bool(true))
}

/// The output of a command, from its result for the model.
pub(crate) fn command_output(tool: &ToolItem) -> String {
    let result = tool.output.as_deref().or(tool.error.as_deref()).unwrap_or_default();
    match result.split_once("\nOutput:\n") {
        Some((_, output)) => output.to_owned(),
        None => result.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::DiffStats;

    fn call(name: &str, arguments: &Value, preview: Option<&str>) -> Shown {
        let tool =
            ToolItem { name: name.into(), input: arguments.to_string(), ..ToolItem::default() };
        shown(&tool, &About::example(), preview)
    }

    fn one(shown: Shown) -> Value {
        let Shown::Tools(tools) = shown else { panic!("{shown:?}") };
        assert_eq!(tools.len(), 1);
        serde_json::to_value(&tools[0]).unwrap()
    }

    #[test]
    fn a_new_file_is_shown_with_its_diff() {
        let diff = "--- /dev/null\n+++ b/out.txt\n@@ -0,0 +1 @@\n+hi\n";
        let shown = call("write_file", &json!({"path": "out.txt", "content": "hi\n"}), Some(diff));
        assert_eq!(
            one(shown),
            json!({"tool": "newFileCreated", "path": "out.txt", "content": diff,
                "isOutsideWorkspace": false, "isProtected": false, "diffStats": {"added": 1, "removed": 0}})
        );
        let diff = "--- a/.roomodes\n+++ b/.roomodes\n@@ -1 +1 @@\n-a\n+b\n";
        let shown =
            one(call("write_file", &json!({"path": ".roomodes", "content": "b"}), Some(diff)));
        assert_eq!(shown["tool"], "editedExistingFile");
        assert_eq!(shown["isProtected"], true);
    }

    #[test]
    fn a_patch_asks_for_each_of_its_files() {
        let diff =
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+c\n";
        let Shown::Tools(tools) = call("apply_patch", &json!({"patch": "..."}), Some(diff)) else {
            panic!("a patch is no tool")
        };
        let paths: Vec<_> = tools.iter().map(|tool| tool.path.as_deref().unwrap()).collect();
        assert_eq!(paths, ["x", "y"]);
        assert_eq!(tools[1].diff_stats, Some(DiffStats { added: 1, removed: 0 }));
    }

    #[test]
    fn reads_say_where_they_reach() {
        let shown = one(call("read_file", &json!({"path": "../in.txt", "limit": 10}), None));
        assert_eq!(
            shown,
            json!({"tool": "readFile", "path": "../in.txt", "isOutsideWorkspace": true,
                "content": "/in.txt", "reason": "(up to 10 lines)"})
        );
    }

    #[test]
    fn a_name_of_the_client_stands_for_tools_of_ours() {
        assert_eq!(ours("search_files").collect::<Vec<_>>(), ["glob", "grep"]);
        assert_eq!(ours("fly").count(), 0);
    }

    #[test]
    fn other_tools_go_by_names_that_clients_know() {
        assert_eq!(call("shell", &json!({"command": "ls"}), None), Shown::Command("ls".into()));
        assert_eq!(call("request_user_input", &json!({}), None), Shown::Elsewhere);
        assert_eq!(one(call("echo", &json!({}), None))["tool"], "runSlashCommand");
        assert_eq!(tool_name("echo"), ToolName::CustomTool);
        assert_eq!(tool_name("mcp__files__read"), ToolName::UseMcpTool);
        let mcp = call("mcp__files__read", &json!({"a": 1}), None);
        let Shown::Mcp(McpUse::UseMcpTool { server_name, tool_name, arguments }) = mcp else {
            panic!("{mcp:?}")
        };
        assert_eq!((server_name.as_str(), tool_name.as_str()), ("files", "read"));
        assert_eq!(arguments.as_deref(), Some(r#"{"a":1}"#));
    }
}
