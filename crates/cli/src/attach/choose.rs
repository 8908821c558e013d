//! Which terminal to attach to: the one that is named, the only one, or the one that is chosen; never
//! the one that this process runs in.

use std::io::{self, BufRead as _, Read as _, Write as _};

use rookery_model::TerminalId;
use rookery_native::{
    TerminalRef,
    wire::{Terminal, TerminalFilter, TerminalGet, TerminalList, TerminalState},
};
use rookery_wire::Client;

use crate::{
    failure::{Failure, Outcome},
    link::{ask, call},
    output::{self, Colors, Table, Tone, shorten},
    resolve,
};

/// The longest answer that is read.
const LONGEST_ANSWER: u64 = 1024;

/// What is known of the terminal that this process runs in.
struct Own {
    /// Its universally unique name, if its environment tells.
    uuid: Option<String>,
    /// The leader of this process's session, which is what a terminal was opened with.
    session: Option<u32>,
}

impl Own {
    fn of_this_process() -> Self {
        let session = rustix::process::getsid(None).ok();
        Self {
            uuid: std::env::var("IDX0_SESSION_ID").ok().filter(|uuid| !uuid.is_empty()),
            session: session.and_then(|id| u32::try_from(id.as_raw_nonzero().get()).ok()),
        }
    }

    fn is(&self, terminal: &Terminal) -> bool {
        let is_named = |uuid: &String| uuid.eq_ignore_ascii_case(&terminal.uuid);
        let is_running = terminal.state == TerminalState::Running;
        self.uuid.as_ref().is_some_and(is_named)
            || (is_running && self.session == Some(terminal.pid))
    }
}

/// The terminal to attach to.
pub(super) async fn terminal(client: &Client, named: Option<&str>) -> Outcome<TerminalRef> {
    let own = Own::of_this_process();
    let Some(text) = named else {
        let list: TerminalList = call(client, TerminalFilter::default()).await?;
        let others = list.terminals.into_iter().filter(|terminal| !own.is(terminal));
        let running = others.filter(|terminal| terminal.state == TerminalState::Running);
        return choose(&running.collect::<Vec<_>>());
    };
    let terminal = resolve::terminal(client, text).await?;
    let target = TerminalGet { terminal };
    let see = "run `rookery ls` to list terminals";
    let found: Terminal = ask(client, target, see).await?;
    if own.is(&found) {
        let message = format!("this is terminal {} itself", found.id);
        return Err(Failure::new(message).hint(
            "it would show itself endlessly; attach to another terminal, or from another one",
        ));
    }
    Ok(terminal)
}

fn choose(running: &[Terminal]) -> Outcome<TerminalRef> {
    match running {
        [] => {
            Err(Failure::new("no other terminal is running").hint("open one with `rookery open`"))
        }
        [only] => Ok(by_number(only)),
        several => {
            output::note(
                table(several).render(Colors::of_stderr(), output::width_of_stdout()).trim_end(),
            );
            let answer = answer()?;
            find(several, &answer).map(by_number)
        }
    }
}

fn by_number(terminal: &Terminal) -> TerminalRef {
    TerminalRef::Number(TerminalId::new(terminal.id))
}

fn table(terminals: &[Terminal]) -> Table {
    let mut table = Table::new(&["ID", "TITLE", "DIRECTORY", "COMMAND"]);
    for terminal in terminals {
        table.row(vec![
            (Tone::Strong, terminal.id.to_string()),
            (Tone::Plain, shorten(&terminal.title, 32)),
            (Tone::Plain, shorten(&terminal.cwd, 40)),
            (Tone::Faint, shorten(&terminal.argv.join(" "), 60)),
        ]);
    }
    table
}

fn answer() -> Outcome<String> {
    let mut stderr = io::stderr().lock();
    let asked = write!(stderr, "attach to (id or title): ").and_then(|()| stderr.flush());
    asked.map_err(Failure::doing("cannot ask"))?;
    let mut line = String::new();
    let read = io::stdin().lock().take(LONGEST_ANSWER).read_line(&mut line);
    read.map_err(Failure::doing("cannot read the answer"))?;
    Ok(line.trim().to_owned())
}

/// The one that an answer means: an id, or a title that only one of them has.
fn find<'a>(terminals: &'a [Terminal], answer: &str) -> Outcome<&'a Terminal> {
    let nothing = || Failure::new("no terminal was chosen").hint("name one: `rookery attach ID`");
    if answer.is_empty() {
        return Err(nothing());
    }
    if let Some(one) = terminals.iter().find(|terminal| terminal.id.to_string() == answer) {
        return Ok(one);
    }
    let mut titled = terminals.iter().filter(|terminal| terminal.title == answer);
    match (titled.next(), titled.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            Err(Failure::new(format!("several terminals have the title {answer:?}"))
                .hint("use the id, such as `rookery attach 1`"))
        }
        (None, _) => Err(Failure::new(format!("no terminal in the list is {answer:?}"))
            .hint("use the id, such as `rookery attach 1`")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn terminal(id: u64, title: &str, state: &str) -> Terminal {
        serde_json::from_value(json!({
            "id": id, "uuid": format!("0c9a-{id}"), "project": 1, "title": title,
            "renamed": false, "argv": [], "cwd": "/", "pid": 40 + id,
            "size": {"rows": 24, "cols": 80}, "state": state, "createdAt": "",
        }))
        .unwrap()
    }

    #[test]
    fn the_own_terminal_is_known_by_its_name_and_by_its_session() {
        let own = Own { uuid: Some("0C9A-1".into()), session: Some(42) };
        assert!(own.is(&terminal(1, "sh", "running")));
        assert!(own.is(&terminal(2, "sh", "running")));
        assert!(!own.is(&terminal(2, "sh", "exited")), "its number may mean another by now");
        assert!(!own.is(&terminal(3, "sh", "running")));
        assert!(!Own { uuid: None, session: None }.is(&terminal(1, "sh", "running")));
    }

    #[test]
    fn an_answer_is_an_id_or_a_title_that_one_has() {
        let all = ["sh", "vim", "sh"].iter().zip(1..);
        let all: Vec<_> = all.map(|(title, id)| terminal(id, title, "running")).collect();
        assert_eq!(find(&all, "3").unwrap().id, 3);
        assert_eq!(find(&all, "vim").unwrap().id, 2);
        for wrong in ["", "sh", "4", "emacs"] {
            assert!(find(&all, wrong).is_err(), "{wrong}");
        }
        assert!(choose(&[]).is_err());
        let only = TerminalRef::Number(TerminalId::new(1));
        assert_eq!(choose(&all[..1]).unwrap(), only);
    }
}
