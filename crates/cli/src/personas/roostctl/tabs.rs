//! `roostctl tab …`, and other commands for tabs.

use std::path::{Path, PathBuf};

use rookery_roost::wire::{
    Base64, Int64,
    notification::NotificationCreate,
    project::Project,
    tab::{
        Dump, Projects, TabClearNotification, TabClose, TabDump, TabFocus, TabList, TabOpen,
        TabReorder, TabResize, TabSetState, TabSetTitle, TabState, TabWrite,
    },
};
use serde_json::value::RawValue;

use super::{
    args::{Notify, Open, SetTitle, Tab},
    escape,
    link::{Link, LinkError},
    print_json, shown, tab,
};
use crate::{
    failure::{Failure, Outcome},
    output,
};

/// Runs a program and goes on with a shell, which is `$0`.
const HOLD: &str = r#"set +e; "$@"; exec "$0" -i"#;

pub(super) async fn identify(link: &mut Link) -> Outcome<()> {
    let who = link.call(super::identify()).await?;
    output::line(format!(
        "socket={}\npid={}\nactive_project={}\nactive_tab={}\nui_version={}\nproto_version={}\napp_id={}",
        shown(&who.socket_path),
        who.pid,
        who.active_project_id,
        who.active_tab_id,
        shown(&who.ui_version),
        who.protocol_version,
        shown(&who.app_id),
    ))
}

pub(super) async fn notify(link: &mut Link, args: Notify) -> Outcome<()> {
    let tab_id = tab(link, args.which).await?;
    super::just(link, NotificationCreate { tab_id, title: args.title, body: args.body }).await
}

pub(super) async fn set_title(link: &mut Link, args: SetTitle) -> Outcome<()> {
    let tab_id = tab(link, args.which).await?;
    super::just(link, TabSetTitle { tab_id, title: args.title }).await
}

pub(super) async fn run(link: &mut Link, command: Tab) -> Outcome<()> {
    match command {
        Tab::List { json } => list(&link.call_raw(TabList {}).await?, json),
        Tab::Open(args) => open(link, args).await,
        Tab::Close(which) => {
            let tab_id = tab(link, which).await?;
            super::just(link, TabClose { tab_id }).await
        }
        Tab::Focus(which) => {
            let tab_id = tab(link, which).await?;
            super::just(link, TabFocus { tab_id }).await
        }
        Tab::ClearNotification(which) => {
            let tab_id = tab(link, which).await?;
            super::just(link, TabClearNotification { tab_id }).await
        }
        Tab::SetState { state, which } => {
            let tab_id = tab(link, which).await?;
            super::just(link, TabSetState { tab_id, state: state.into() }).await
        }
        Tab::Send(args) => {
            let data = match (args.bytes, args.bytes_base64) {
                (Some(text), _) if args.raw => Base64(text.into_bytes()),
                (Some(text), _) => Base64(escape::decode(&text)),
                (None, encoded) => base64(encoded.unwrap_or_default())?,
            };
            let tab_id = tab(link, args.which).await?;
            super::just(link, TabWrite { tab_id, data }).await
        }
        Tab::Resize { which, cols, rows } => {
            let tab_id = tab(link, which).await?;
            super::just(link, TabResize { tab_id, cols, rows }).await
        }
        Tab::Reorder { project_id, order } => {
            let tab_ids = order.into_iter().map(Int64).collect();
            super::just(link, TabReorder { project_id: Int64(project_id), tab_ids }).await
        }
        Tab::Dump { which, json } => {
            let tab_id = tab(link, which).await?;
            dump(&link.call_raw(TabDump { tab_id }).await?, json)
        }
    }
}

/// Bytes by the very rules of the wire.
fn base64(text: String) -> Outcome<Base64> {
    let bytes = serde_json::from_value(serde_json::Value::String(text));
    bytes.map_err(|error| Failure::new(format!("cannot read --bytes-base64: {error}")))
}

fn list(result: &RawValue, json: bool) -> Outcome<()> {
    if json {
        return print_json(result);
    }
    let all: Projects = serde_json::from_str(result.get()).map_err(LinkError::from)?;
    output::write(listed(&all.projects).as_bytes())
}

fn listed(projects: &[Project]) -> String {
    let mut out = String::new();
    for project in projects {
        out.push_str(&format!("project {} — {}\n", project.id, shown(&project.name)));
        for tab in &project.tabs {
            let (state, title, cwd) = (word(tab.state), shown(&tab.title), shown(&tab.cwd));
            out.push_str(&format!("  tab {} [{state}] {title} cwd={cwd}\n", tab.id));
        }
    }
    out
}

/// The word for a state.
pub(super) fn word(state: TabState) -> &'static str {
    match state {
        TabState::None => "none",
        TabState::Running => "running",
        TabState::NeedsInput => "needs_input",
        TabState::Idle => "idle",
    }
}

fn dump(result: &RawValue, json: bool) -> Outcome<()> {
    if json {
        return print_json(result);
    }
    let dump: Dump = serde_json::from_str(result.get()).map_err(LinkError::from)?;
    output::write(
        dump.rows_text.iter().map(|row| format!("{row}\n")).collect::<String>().as_bytes(),
    )
}

async fn open(link: &mut Link, args: Open) -> Outcome<()> {
    let argv = if args.hold { held(args.command, shell()) } else { args.command };
    let params = TabOpen {
        project_id: Int64(args.project_id),
        cwd: directory(args.cwd.as_deref())?,
        argv,
        cols: args.cols,
        rows: args.rows,
        title: args.title,
    };
    let tab = link.call(params).await?.tab;
    output::line(tab.id)?;
    if let Some(anchor) = args.after_tab {
        place_after(link, tab.id, Int64(anchor)).await?;
    }
    if args.focus {
        super::just(link, TabFocus { tab_id: tab.id }).await?;
    }
    Ok(())
}

/// A directory as the server can understand it, which runs elsewhere.
pub(super) fn directory(given: Option<&Path>) -> Outcome<String> {
    let Some(path) = given.filter(|path| !path.as_os_str().is_empty()) else {
        return Ok(String::new());
    };
    let path: PathBuf = std::path::absolute(path).map_err(Failure::doing(path.display()))?;
    let text = path.into_os_string().into_string();
    text.map_err(|path| Failure::new(format!("{} is not UTF-8", path.to_string_lossy())))
}

fn shell() -> String {
    let shell = std::env::var("SHELL").ok().filter(|shell| !shell.is_empty());
    shell.unwrap_or_else(|| "/bin/sh".to_owned())
}

/// The program, and a shell when it has ended. A shell alone needs no help.
fn held(command: Vec<String>, shell: String) -> Vec<String> {
    if command.is_empty() {
        return command;
    }
    let wrap = ["/bin/sh".to_owned(), "-c".to_owned(), HOLD.to_owned(), shell];
    wrap.into_iter().chain(command).collect()
}

/// Puts a new tab behind another. The tab is open already, so what prevents this is only told.
async fn place_after(link: &mut Link, new: Int64, anchor: Int64) -> Outcome<()> {
    let projects = link.call(TabList {}).await?.projects;
    let Some((project_id, tab_ids)) = order_after(&projects, new, anchor) else {
        output::note(format!("tab {anchor} is not in this project; the new tab is at the end"));
        return Ok(());
    };
    match link.call_raw(TabReorder { project_id, tab_ids }).await {
        Ok(_) => Ok(()),
        Err(trouble @ LinkError::Refused { .. }) => {
            output::note(format!("the new tab is at the end: {}", shown(&trouble.to_string())));
            Ok(())
        }
        Err(trouble) => Err(trouble.into()),
    }
}

/// The project and the order in which one tab follows another.
fn order_after(projects: &[Project], new: Int64, anchor: Int64) -> Option<(Int64, Vec<Int64>)> {
    let has_both = |project: &&Project| {
        [new, anchor].iter().all(|id| project.tabs.iter().any(|tab| tab.id == *id))
    };
    let project = projects.iter().find(has_both).filter(|_| new != anchor)?;
    let others = project.tabs.iter().map(|tab| tab.id).filter(|id| *id != new);
    let order = others.flat_map(|id| if id == anchor { vec![id, new] } else { vec![id] });
    Some((project.id, order.collect()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::personas::roostctl::{
        args::TabArg,
        fake::{Fake, Step},
    };

    fn projects() -> Vec<Project> {
        let tab = |id: i64, title: &str| {
            serde_json::json!({
                "id": id.to_string(), "project_id": "1", "title": title, "cwd": "/tmp",
                "state": "needs_input", "has_notification": false, "is_active": false,
                "user_titled": false, "position": 0, "created_at": 0, "last_active": 0,
                "hook_active": false,
            })
        };
        let project = |id: i64, tabs: Vec<serde_json::Value>| {
            serde_json::json!({
                "id": id.to_string(), "name": "Roost", "cwd": "/", "position": 0,
                "created_at": 0, "tabs": tabs,
            })
        };
        let all = vec![
            project(1, vec![tab(3, "sh"), tab(4, "a\u{1b}[2J\nb"), tab(7, "new")]),
            project(2, vec![]),
        ];
        serde_json::from_value(serde_json::Value::Array(all)).unwrap()
    }

    #[test]
    fn the_list_shows_projects_and_tabs() {
        expect![[r#"
            project 1 — Roost
              tab 3 [needs_input] sh cwd=/tmp
              tab 4 [needs_input] a[2J b cwd=/tmp
              tab 7 [needs_input] new cwd=/tmp
            project 2 — Roost
        "#]]
        .assert_eq(&listed(&projects()));
    }

    #[test]
    fn a_tab_is_placed_behind_another_of_its_project() {
        let order = |new, anchor| {
            let found = order_after(&projects(), Int64(new), Int64(anchor));
            found.map(|(_, order)| order.iter().map(|id| id.0).collect::<Vec<_>>())
        };
        assert_eq!(order(7, 3), Some(vec![3, 7, 4]));
        assert_eq!(order(7, 4), Some(vec![3, 4, 7]));
        assert_eq!(order(7, 7), None);
        assert_eq!(order(7, 9), None);
    }

    #[test]
    fn a_held_program_leaves_a_shell() {
        let words =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(held(vec![], "/bin/zsh".into()), words(&[]));
        let wrapped = held(words(&["make", "a b"]), "/bin/zsh".into());
        let script = r#"set +e; "$@"; exec "$0" -i"#;
        assert_eq!(wrapped, words(&["/bin/sh", "-c", script, "/bin/zsh", "make", "a b"]));
    }

    #[test]
    fn directories_are_reported_in_full() {
        assert_eq!(directory(None).unwrap(), "");
        assert_eq!(directory(Some(Path::new(""))).unwrap(), "");
        assert_eq!(directory(Some(Path::new("/x"))).unwrap(), "/x");
        let here = std::env::current_dir().unwrap().join("y");
        assert_eq!(directory(Some(Path::new("y"))).unwrap(), here.to_str().unwrap());
    }

    #[tokio::test]
    async fn what_is_sent_arrives_as_bytes() {
        let server = Fake::default();
        let mut link = server.serve(vec![
            Step::answer("tab.write", "{}"),
            Step::answer("tab.write", "{}"),
            Step::answer("tab.write", "{}"),
        ]);
        let which = TabArg { tab: Some(3) };
        let send = |bytes: Option<&str>, raw, base64: Option<&str>| {
            let bytes_base64 = base64.map(str::to_owned);
            let bytes = bytes.map(str::to_owned);
            Tab::Send(crate::personas::roostctl::args::Send { which, bytes, raw, bytes_base64 })
        };
        run(&mut link, send(Some("ls\\n"), false, None)).await.unwrap();
        run(&mut link, send(Some("ls\\n"), true, None)).await.unwrap();
        run(&mut link, send(None, false, Some("bHMK"))).await.unwrap();
        for bad in ["bHM", "b HMK", "%"] {
            let error = run(&mut link, send(None, false, Some(bad))).await.unwrap_err();
            assert!(format!("{error:?}").contains("--bytes-base64"), "{bad}: {error:?}");
        }
        let data: Vec<_> =
            server.asked().into_iter().map(|(_, params)| params["data"].clone()).collect();
        assert_eq!(data, ["bHMK", "bHNcbg==", "bHMK"]);
    }
}
