//! Which terminal or project people mean: by id, else by a title or name that only one has.

use rookery_native::{
    ProjectRef, TerminalRef,
    wire::{ListProjects, ProjectList, Terminal, TerminalFilter, TerminalList},
};
use rookery_wire::Client;

use crate::{
    failure::{Failure, Outcome},
    link::call,
};

/// The terminal called `text`.
pub(crate) async fn terminal(client: &Client, text: &str) -> Outcome<TerminalRef> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let list: TerminalList = call(client, TerminalFilter::default()).await?;
    by_title(&list.terminals, text)
}

fn by_title(terminals: &[Terminal], title: &str) -> Outcome<TerminalRef> {
    let found: Vec<u64> =
        terminals.iter().filter(|terminal| terminal.title == title).map(|one| one.id).collect();
    match *found {
        [] => Err(Failure::new(format!("no terminal has the id or title {title:?}"))
            .hint("run `rookery ls` to list terminals")),
        [id] => Ok(TerminalRef::Number(rookery_model::TerminalId::new(id))),
        _ => {
            let ids: Vec<String> = found.iter().map(u64::to_string).collect();
            let message = format!("{} terminals have the title {title:?}", found.len());
            Err(Failure::new(message).hint(format!("use its id: {}", ids.join(", "))))
        }
    }
}

/// The project called `text`.
pub(crate) async fn project(client: &Client, text: &str) -> Outcome<ProjectRef> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let list: ProjectList = call(client, ListProjects).await?;
    let mut named = list.projects.iter().filter(|project| project.name == text);
    match (named.next(), named.next()) {
        (Some(project), None) => Ok(ProjectRef(rookery_model::ProjectId::new(project.id))),
        (Some(_), Some(_)) => {
            Err(Failure::new(format!("several projects have the name {text:?}"))
                .hint("use its number"))
        }
        (None, _) => {
            let names: Vec<_> = list.projects.iter().map(|project| &*project.name).collect();
            Err(Failure::new(format!("no project has the number or name {text:?}"))
                .hint(format!("there are: {}", names.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn terminals(titles: &[&str]) -> Vec<Terminal> {
        let terminal = |(title, id): (&&str, u64)| {
            serde_json::from_value(json!({
                "id": id, "uuid": "", "project": 1, "title": title, "renamed": false, "argv": [],
                "cwd": "/", "pid": 1, "size": {"rows": 24, "cols": 80}, "state": "running",
                "createdAt": "",
            }))
            .unwrap()
        };
        titles.iter().zip(1..).map(terminal).collect()
    }

    #[test]
    fn a_title_must_be_the_only_one() {
        let all = terminals(&["sh", "vim", "sh"]);
        let vim = TerminalRef::Number(rookery_model::TerminalId::new(2));
        assert_eq!(by_title(&all, "vim").unwrap(), vim);
        assert!(by_title(&all, "vi").is_err());
        let ambiguous = format!("{:?}", by_title(&all, "sh").unwrap_err());
        assert!(ambiguous.contains("1, 3"), "{ambiguous}");
    }
}
