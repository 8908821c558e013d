//! The commands that ship with us: short prompts, one row of a table each.

use std::sync::{Arc, LazyLock};

use super::command::{Body, Command};
use super::template::Template;
use super::{CommandInfo, Source, review};

/// One row: its name, what it is for, what its arguments look like, and its prompt.
struct Row {
    name: &'static str,
    description: &'static str,
    hint: Option<&'static str>,
    prompt: &'static str,
}

/// In the order of their names, except for the review, which reads flags.
const ROWS: &[Row] = &[
    Row {
        name: "agents",
        description: "List agents, or start one",
        hint: Some("[task]"),
        prompt: "Say which agents can be started here, what each is good at and which tools it \
                 has. If a task follows, choose the agent that fits it best, say why in one \
                 sentence, and start it with a complete briefing.\n\nTask: \
                 {{arguments|default(\"none; only list the agents\")}}",
    },
    Row {
        name: "clear",
        description: "Drop the earlier conversation",
        hint: None,
        prompt: "Treat everything said before this message as finished: do not continue it, and \
                 do not refer to it unless I bring it up again. Keep the instructions of the \
                 project. Confirm in one short sentence and wait for the next task.\n\
                 {{arguments}}",
    },
    Row {
        name: "compact",
        description: "Summarize the conversation to continue with less context",
        hint: Some("[what matters most]"),
        prompt: "Sum up this conversation for a reader who continues it without having read it: \
                 the goal, decisions and their reasons, files that were changed or matter, \
                 commands that work, open problems, and the next step. Keep exact names, paths \
                 and numbers. Leave out what was tried and dropped, except where it warns of a \
                 dead end.\n\nAbove all keep: {{arguments|default(\"what the next step needs\")}}",
    },
    Row {
        name: "goal",
        description: "Show the goal of this thread, or set it",
        hint: Some("[objective]"),
        prompt: "If an objective follows, make it the goal of this thread with `create_goal`, \
                 restate it in one sentence with a test by which its completion can be seen, \
                 and begin. Otherwise read the goal with `get_goal` and say what is done, what \
                 is left and what stands in the way.\n\nObjective: \
                 {{arguments|default(\"none; show the present goal\")}}",
    },
    Row {
        name: "help",
        description: "Explain the features",
        hint: Some("[topic]"),
        prompt: "Explain briefly what you can do in this workspace: the tools you have, what \
                 needs an approval in the present mode, and the slash commands that I can use. \
                 Give one example for each. Change nothing.\n\nTopic: \
                 {{arguments|default(\"an overview\")}}",
    },
    Row {
        name: "init",
        description: "Write an AGENTS.md that introduces this project to an agent",
        hint: Some("[what to stress]"),
        prompt: "Get to know this project and write `AGENTS.md` at its root, at most one page: \
                 what the project is, how it is laid out, the exact commands that build, test, \
                 lint and run it, conventions that its code follows, and traps for newcomers. \
                 State only what you have seen in its files, and run the commands where that is \
                 harmless. If the file exists, correct it and keep what is still true.\n\nStress: \
                 {{arguments|default(\"nothing in particular\")}}",
    },
    Row {
        name: "memory",
        description: "Show the memory of this project, or add a fact",
        hint: Some("[fact]"),
        prompt: "If a fact follows, keep it where this project keeps lasting notes for agents, in \
                 one sentence and without repeating what is there; never keep a secret. Otherwise \
                 show what is remembered, and point out what no longer holds.\n\nFact: \
                 {{arguments|default(\"none; show what is remembered\")}}",
    },
    Row {
        name: "model",
        description: "Show the current model, or suggest one",
        hint: Some("[task or model]"),
        prompt: "Say which model and which reasoning effort answer in this thread, as far as you \
                 know, and whether they fit what follows. Recommend another one only with a \
                 reason; I change the selection myself.\n\nFor: \
                 {{arguments|default(\"the present work\")}}",
    },
    Row {
        name: "ps",
        description: "Show running programs of this thread",
        hint: Some("[which]"),
        prompt: "List the programs that this thread has started and that still run: what each is \
                 for, since when, how it fares by its last output, and how to stop it. Stop \
                 nothing unless I asked for it.\n\nOnly: {{arguments|default(\"all of them\")}}",
    },
    Row {
        name: "retry",
        description: "Retry the last task in another way",
        hint: Some("[what to do differently]"),
        prompt: "Take up the last task again that failed or did not satisfy. First say in one \
                 sentence what went wrong and how you know; then do it in a way that avoids \
                 this, and check the result.\n\nDo differently: \
                 {{arguments|default(\"whatever caused the failure\")}}",
    },
    Row {
        name: "roadmap",
        description: "Create or update the roadmap",
        hint: Some("[aim]"),
        prompt: "Draw up a roadmap for what follows: three to seven steps in their order, each \
                 with its result, how that is checked, what it depends on and its greatest risk. \
                 Look at the code before you judge effort. If the project has a roadmap, update \
                 that one instead. Carry out nothing yet.\n\nAim: \
                 {{arguments|default(\"what this project needs next\")}}",
    },
    Row {
        name: "snapshot",
        description: "Record the state of the work",
        hint: Some("[label]"),
        prompt: "Record where the work stands so that it can be taken up from here: the goal, the \
                 branch and commit, files that differ from it, what works and how that was \
                 checked, what does not, and the next step. Do not commit or change anything.\
                 \n\nLabel: {{arguments|default(\"now\")}}",
    },
    Row {
        name: "tasks",
        description: "Show the list of tasks, or add to it",
        hint: Some("[task]"),
        prompt: "Keep the task list of this thread with `task_ledger.update`. If a task follows, \
                 add it, split where it has more than one result. Then show the list with the \
                 state of each task and the evidence for those that are done.\n\nTask: \
                 {{arguments|default(\"none; only show the list\")}}",
    },
];

/// The commands that ship with us.
pub fn built_ins() -> &'static [Arc<Command>] {
    static COMMANDS: LazyLock<Vec<Arc<Command>>> = LazyLock::new(|| {
        let review = command("review", review::DESCRIPTION, Some(review::HINT), Body::Review);
        let review = Command {
            allowed_tools: review::TOOLS.iter().map(|&tool| tool.to_owned()).collect(),
            ..review
        };
        // A row whose prompt is not understood is left out; a test sees to it that there is none.
        let rows = ROWS.iter().filter_map(|row| {
            let template = Template::parse(row.prompt).ok()?;
            Some(command(row.name, row.description, row.hint, Body::Template(template)))
        });
        rows.chain([review]).map(Arc::new).collect()
    });
    &COMMANDS
}

fn command(name: &str, description: &str, hint: Option<&str>, body: Body) -> Command {
    let info = CommandInfo {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        argument_hint: hint.map(str::to_owned),
        source: Source::BuiltIn,
        model: None,
        agent: None,
        role: None,
        file: None,
        has_shell_includes: false,
        has_url_includes: false,
    };
    Command { info, allowed_tools: Vec::new(), body, includes: Vec::new() }
}
