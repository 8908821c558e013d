//! `rookery ls`: the terminals, as a table or JSON.

use rookery_native::wire::{Exit, Terminal, TerminalFilter, TerminalList, TerminalState};

use crate::{
    args,
    commands::done,
    failure::Outcome,
    link::{self, call},
    output::{self, Colors, Table, Tone, shorten},
    resolve,
};

pub(super) async fn run(args: args::Ls) -> Outcome {
    let client = link::connect().await?;
    let project = match &args.project {
        Some(project) => Some(resolve::project(&client, project).await?),
        None => None,
    };
    let list: TerminalList =
        call(&client, "rookery/terminals/list", TerminalFilter { project }).await?;
    if args.json {
        output::json(&list)?;
    } else if list.terminals.is_empty() {
        output::note("no terminals; open one with `rookery open`");
    } else {
        output::write(table(&list).render(Colors::of_stdout()).as_bytes())?;
    }
    done()
}

fn table(list: &TerminalList) -> Table {
    let mut table = Table::new(&["ID", "STATE", "SIZE", "PID", "TITLE", "DIRECTORY", "COMMAND"]);
    for terminal in &list.terminals {
        let (tone, state) = state(terminal);
        let is_active = list.active == Some(terminal.id);
        let title_tone = if is_active { Tone::Strong } else { Tone::Plain };
        table.row(vec![
            (Tone::Strong, terminal.id.to_string()),
            (tone, state),
            (Tone::Faint, format!("{}x{}", terminal.size.cols, terminal.size.rows)),
            (Tone::Faint, terminal.pid.to_string()),
            (title_tone, shorten(&terminal.title, 32)),
            (Tone::Plain, shorten(&terminal.cwd, 40)),
            (Tone::Faint, shorten(&terminal.argv.join(" "), 60)),
        ]);
    }
    table
}

fn state(terminal: &Terminal) -> (Tone, String) {
    match (terminal.state, terminal.exit) {
        (TerminalState::Running, _) => (Tone::Good, "running".into()),
        (TerminalState::Lost, _) => (Tone::Warning, "lost".into()),
        (TerminalState::Exited, Some(Exit::Code(0))) => (Tone::Faint, "exited 0".into()),
        (TerminalState::Exited, Some(Exit::Code(code))) => (Tone::Bad, format!("exited {code}")),
        (TerminalState::Exited, Some(Exit::Signal(signal))) => {
            (Tone::Bad, format!("signal {signal}"))
        }
        (TerminalState::Exited, _) => (Tone::Warning, "exited".into()),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn one_line_per_terminal() {
        let terminal = |id: u64, state: &str, exit: serde_json::Value| {
            json!({
                "id": id, "uuid": "", "project": 1, "title": "sh", "renamed": false,
                "argv": ["/bin/sh", "-c", "true"], "cwd": "/srv", "pid": 41, "state": state,
                "size": {"rows": 24, "cols": 80}, "createdAt": "", "exit": exit,
            })
        };
        let list = json!({"active": 1, "terminals": [
            terminal(1, "running", json!(null)),
            terminal(12, "exited", json!({"code": 3})),
            terminal(13, "exited", json!({"signal": 9})),
        ]});
        let list: TerminalList = serde_json::from_value(list).unwrap();
        expect![[r#"
            ID  STATE     SIZE   PID  TITLE  DIRECTORY  COMMAND
            1   running   80x24  41   sh     /srv       /bin/sh -c true
            12  exited 3  80x24  41   sh     /srv       /bin/sh -c true
            13  signal 9  80x24  41   sh     /srv       /bin/sh -c true
        "#]]
        .assert_eq(&table(&list).render(Colors::none()));
    }
}
