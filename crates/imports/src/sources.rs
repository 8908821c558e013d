//! Where other agents keep their files: one row for each place. Pure data.

/// How the files of a place are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Find {
    /// It is a file. A directory of that name belongs to another row.
    File,
    /// Files below it with one of these endings, down to a depth.
    Files(&'static [&'static str], usize),
    /// Files of this name in the folders right below it.
    InFolders(&'static str),
    /// Files of folders beside it whose names begin with its own.
    FoldersLike(&'static [&'static str]),
    /// Files of this name below it, where it is the root itself.
    Nested,
}

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Text for every turn.
    Guidance,
    /// The same, if it speaks of agents, and only that part.
    Excerpt,
    /// Text with a head that may say what it is for.
    Rule,
    Skill,
    /// A slash command, named by its path below this folder.
    Command,
    /// The definition of an agent.
    Agent,
    Servers,
    Hooks,
    /// The manifest of a plugin.
    Plugin,
}

/// One place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Its path from the root on.
    pub(crate) path: &'static str,
    pub(crate) find: Find,
    pub(crate) read: Read,
    /// Whether what is there takes effect without a decision.
    pub(crate) is_live: bool,
}

const fn row(path: &'static str, find: Find, read: Read) -> Row {
    Row { path, find, read, is_live: false }
}

const fn live(path: &'static str, find: Find, read: Read) -> Row {
    Row { path, find, read, is_live: true }
}

/// Folders below a folder of commands.
const COMMANDS: Find = Find::Files(&["md"], 8);
const MARKDOWN: Find = Find::Files(&["md"], 0);
const RULES: &[&str] = &["md", "txt"];
const SKILLS: Find = Find::InFolders("SKILL.md");

/// The places of a workspace.
pub(crate) const WORKSPACE: &[Row] = &[
    live("AGENTS.md", Find::File, Read::Guidance),
    live("CLAUDE.md", Find::File, Read::Guidance),
    row("GEMINI.md", Find::File, Read::Guidance),
    row("README.md", Find::File, Read::Excerpt),
    row("AGENTS.md", Find::Nested, Read::Guidance),
    row("CLAUDE.md", Find::Nested, Read::Guidance),
    row(".github/copilot-instructions.md", Find::File, Read::Guidance),
    row(".windsurfrules", Find::File, Read::Guidance),
    row(".clinerules", Find::File, Read::Guidance),
    row(".roorules", Find::File, Read::Guidance),
    row(".cursorrules", Find::File, Read::Rule),
    row(".cursor/rules", Find::Files(&["mdc"], 4), Read::Rule),
    row(".claude/rules", Find::Files(&["md"], 4), Read::Rule),
    row(".roo/rules", Find::FoldersLike(RULES), Read::Rule),
    row(".clinerules", Find::Files(RULES, 2), Read::Rule),
    row(".agents/skills", SKILLS, Read::Skill),
    row(".claude/skills", SKILLS, Read::Skill),
    row(".roder/skills", SKILLS, Read::Skill),
    row(".codex/skills", SKILLS, Read::Skill),
    row(".agents/commands", COMMANDS, Read::Command),
    row(".claude/commands", COMMANDS, Read::Command),
    live(".roder/commands", COMMANDS, Read::Command),
    row(".codex/prompts", COMMANDS, Read::Command),
    row(".opencode/command", COMMANDS, Read::Command),
    live(".claude/agents", MARKDOWN, Read::Agent),
    live(".agents/agents", MARKDOWN, Read::Agent),
    live(".roder/agents", MARKDOWN, Read::Agent),
    row(".opencode/agent", MARKDOWN, Read::Agent),
    row(".mcp.json", Find::File, Read::Servers),
    row(".cursor/mcp.json", Find::File, Read::Servers),
    row("mcp.toml", Find::File, Read::Servers),
    row("mcp.yaml", Find::File, Read::Servers),
    row(".vscode/mcp.json", Find::File, Read::Servers),
    row(".codex/config.toml", Find::File, Read::Servers),
    row(".roo/mcp.json", Find::File, Read::Servers),
    row("opencode.json", Find::File, Read::Servers),
    row(".codex/hooks.json", Find::File, Read::Hooks),
    row(".cursor/hooks.json", Find::File, Read::Hooks),
    row(".claude/settings.json", Find::File, Read::Hooks),
    row(".claude/settings.local.json", Find::File, Read::Hooks),
    row(".codex-plugin/plugin.json", Find::File, Read::Plugin),
    row(".claude-plugin/plugin.json", Find::File, Read::Plugin),
    row(".agents/plugins", Find::InFolders("plugin.json"), Read::Plugin),
];

/// The places of our own directory of settings.
pub(crate) const CONFIG: &[Row] = &[
    row("skills", SKILLS, Read::Skill),
    live("commands", COMMANDS, Read::Command),
    live("agents", MARKDOWN, Read::Agent),
    row("mcp.json", Find::File, Read::Servers),
];

/// The places of the user's home.
pub(crate) const HOME: &[Row] = &[
    row(".agents/skills", SKILLS, Read::Skill),
    row(".agents/commands", COMMANDS, Read::Command),
    row(".agents/mcp.json", Find::File, Read::Servers),
    row(".claude/CLAUDE.md", Find::File, Read::Guidance),
    row(".claude/rules", Find::Files(&["md"], 4), Read::Rule),
    row(".claude/skills", SKILLS, Read::Skill),
    row(".claude/commands", COMMANDS, Read::Command),
    live(".claude/agents", MARKDOWN, Read::Agent),
    row(".claude/mcp.json", Find::File, Read::Servers),
    row(".claude/settings.json", Find::File, Read::Hooks),
    row(".codex/AGENTS.md", Find::File, Read::Guidance),
    row(".codex/skills", SKILLS, Read::Skill),
    row(".codex/prompts", COMMANDS, Read::Command),
    row(".codex/config.toml", Find::File, Read::Servers),
    row(".codex/hooks.json", Find::File, Read::Hooks),
    row(".cursor/rules", Find::Files(&["mdc"], 4), Read::Rule),
    row(".cursor/skills", SKILLS, Read::Skill),
    row(".cursor/commands", COMMANDS, Read::Command),
    row(".cursor/mcp.json", Find::File, Read::Servers),
    row(".cursor/hooks.json", Find::File, Read::Hooks),
];

/// The usual places of a plugin's parts.
pub(crate) const PLUGIN: &[Row] = &[
    row("skills", SKILLS, Read::Skill),
    row("commands", COMMANDS, Read::Command),
    row("agents", MARKDOWN, Read::Agent),
    row("rules", Find::Files(&["md", "mdc"], 4), Read::Rule),
    row("hooks/hooks.json", Find::File, Read::Hooks),
    row(".mcp.json", Find::File, Read::Servers),
];

/// Where a plugin has its manifest: for each kind of marketplace in the folder `.KIND-plugin`, or in its own.
pub(crate) const MANIFESTS: [&str; 5] = [
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    ".cursor-plugin/plugin.json",
    ".roder-plugin/plugin.json",
    "plugin.json",
];
