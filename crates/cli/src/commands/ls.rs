//! `rookery ls`: the terminals, as a table or JSON.

use rookery_native::wire::{Exit, RunState, Terminal, TerminalFilter, TerminalList, TerminalState};

use crate::{
    args,
    commands::done,
    failure::Outcome,
    link::{self, call},
    output::{self, Table, Tone, shorten},
    resolve,
};

pub(super) async fn run(args: args::Ls) -> Outcome {
    let client = link::connect().await?;
    let project = match &args.project {
        Some(project) => Some(resolve::project(&client, project).await?),
        None => None,
    };
    let list: TerminalList = call(&client, TerminalFilter { project }).await?;
    if args.json {
        output::json(&list)?;
    } else if list.terminals.is_empty() {
        output::note("no terminals; open one with `rookery open`");
    } else {
        table(&list).print()?;
    }
    done()
}

fn table(list: &TerminalList) -> Table {
    let header = ["ID", "STATE", "AGENT", "TITLE", "DIRECTORY", "COMMAND"];
    let mut table = Table::new(&header).sparing(&["COMMAND", "DIRECTORY"]);
    for terminal in &list.terminals {
        let (tone, state) = toned(terminal);
        let is_active = list.active == Some(terminal.id);
        let title_tone = if is_active { Tone::Strong } else { Tone::Plain };
        let agent = terminal.agent.as_ref().map_or("-", |agent| &agent.kind);
        table.row(vec![
            (Tone::Strong, terminal.id.to_string()),
            (tone, state),
            (if agent == "-" { Tone::Faint } else { Tone::Plain }, agent.to_owned()),
            (title_tone, shorten(&terminal.title, 32)),
            (Tone::Plain, shorten(&terminal.cwd, 40)),
            (Tone::Faint, shorten(&terminal.argv.join(" "), 60)),
        ]);
    }
    table
}

/// What a terminal is at, in a word or two.
pub(crate) fn state(terminal: &Terminal) -> String {
    toned(terminal).1
}

/// What a terminal is at: what its agent does, if it has one, or how its program ended.
fn toned(terminal: &Terminal) -> (Tone, String) {
    match (terminal.state, terminal.exit) {
        (TerminalState::Running, _) => running(terminal),
        (TerminalState::Lost, _) => (Tone::Warning, "lost".into()),
        (TerminalState::Exited, Some(Exit::Code(0))) => (Tone::Faint, "exited 0".into()),
        (TerminalState::Exited, Some(Exit::Code(code))) => (Tone::Bad, format!("exited {code}")),
        (TerminalState::Exited, Some(Exit::Signal(signal))) => {
            (Tone::Bad, format!("signal {signal}"))
        }
        (TerminalState::Exited, _) => (Tone::Warning, "exited".into()),
    }
}

fn running(terminal: &Terminal) -> (Tone, String) {
    let state = match (&terminal.agent, terminal.activity) {
        (Some(agent), _) => agent.state.as_str(),
        (None, RunState::NeedsInput) => "waiting",
        (None, _) => "running",
    };
    let tone = match state {
        "waiting" | "login" => Tone::Warning,
        "failed" => Tone::Bad,
        "idle" => Tone::Plain,
        _ => Tone::Good,
    };
    (tone, state.to_owned())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::output::Colors;

    #[test]
    fn one_line_per_terminal() {
        let terminal = |id: u64, state: &str, exit: serde_json::Value| {
            json!({
                "id": id, "uuid": "", "project": 1, "title": "sh", "renamed": false,
                "argv": ["/bin/sh", "-c", "true"], "cwd": "/srv", "pid": 41, "state": state,
                "size": {"rows": 24, "cols": 80}, "createdAt": "", "exit": exit,
            })
        };
        let mut agent = terminal(14, "running", json!(null));
        agent["agent"] = json!({"kind": "claude", "state": "login"});
        let list = json!({"active": 1, "terminals": [
            terminal(1, "running", json!(null)),
            terminal(12, "exited", json!({"code": 3})),
            terminal(13, "exited", json!({"signal": 9})),
            agent,
        ]});
        let list: TerminalList = serde_json::from_value(list).unwrap();
        expect![[r#"
            ID  STATE     AGENT   TITLE  DIRECTORY  COMMAND
            1   running   -       sh     /srv       /bin/sh -c true
            12  exited 3  -       sh     /srv       /bin/sh -c true
            13  signal 9  -       sh     /srv       /bin/sh -c true
            14  login     claude  sh     /srv       /bin/sh -c true
        "#]]
        .assert_eq(&table(&list).render(Colors::none(), None));
    }
}
