//! Tabs: opened, closed, listed, arranged.

use rookery_core::OpenTerminal;
use rookery_model::{OnExit, Size};

use super::{living_tab, project_id, terminal};
use crate::{
    context::Cx,
    convert::{project, tab},
    errors::Error,
    wire::{
        Empty, Int64,
        project::Project,
        tab::{
            Focused, Projects, TabClose, TabFocus, TabList, TabOpen, TabReorder, TabReply,
            TabResize, TabSetTitle, TabWrite,
        },
    },
};

pub(crate) async fn open(cx: Cx, params: TabOpen) -> Result<TabReply, Error> {
    let or = |asked: u16, usual: u16| if asked == 0 { usual } else { asked };
    let usual = Size::DEFAULT;
    let size = size(or(params.rows, usual.rows()), or(params.cols, usual.cols()))?;
    let project = match params.project_id {
        Int64(0) => None,
        id => Some(project_id(id)?),
    };
    let request = OpenTerminal {
        argv: params.argv,
        cwd: Some(params.cwd.into()),
        env: tab_env(),
        size,
        project,
        first_title: Some(params.title).filter(|title| !title.is_empty()),
        activate: true,
        on_exit: OnExit::Close,
        any_cwd: true,
        integrate: true,
        ..OpenTerminal::default()
    };
    let opened = cx.core.terminals().open(request).await.map_err(|error| match error.field() {
        // A program without a name is one that cannot be started.
        Some("program") => Error::internal(error.message().to_owned()),
        _ => error.into(),
    })?;
    Ok(TabReply { tab: tab(&opened, true) })
}

/// What programs in a tab look for, besides the variables of every child.
#[must_use]
pub fn tab_env() -> Vec<(String, String)> {
    [
        ("TERM_PROGRAM", "Roost"),
        ("TERM_PROGRAM_VERSION", env!("CARGO_PKG_VERSION")),
        ("FORCE_HYPERLINK", "1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

fn size(rows: u16, cols: u16) -> Result<Size, Error> {
    Size::new(rows, cols).map_err(|error| Error::invalid(error.field, error.to_string()))
}

pub(crate) async fn close(cx: Cx, params: TabClose) -> Result<Empty, Error> {
    let tab = living_tab(&cx, params.tab_id)?;
    cx.core.terminals().close_soon(tab.id).await?;
    Ok(Empty {})
}

pub(crate) async fn list(cx: Cx, _params: TabList) -> Result<Projects, Error> {
    let workspace = cx.core.workspace().tree();
    let is_active = |id| workspace.active.terminal == Some(id);
    let projects = workspace.projects.iter().map(|it| -> Project {
        let tabs = it.tabs.iter().map(|terminal| tab(terminal, is_active(terminal.id)));
        project(&it.project, tabs.collect())
    });
    Ok(Projects { projects: projects.collect() })
}

pub(crate) async fn write(cx: Cx, params: TabWrite) -> Result<Empty, Error> {
    terminal(&cx, params.tab_id)?.write_all(&params.data.0).await?;
    Ok(Empty {})
}

pub(crate) async fn resize(cx: Cx, params: TabResize) -> Result<Empty, Error> {
    let size = size(params.rows.get(), params.cols.get())?;
    terminal(&cx, params.tab_id)?.resize(size).await?;
    Ok(Empty {})
}

pub(crate) async fn reorder(cx: Cx, params: TabReorder) -> Result<Empty, Error> {
    let project = project_id(params.project_id)?;
    if !cx.core.workspace().projects().iter().any(|known| known.id == project) {
        return Err(Error::not_found(format!("no project {project}")));
    }
    let tabs = params.tab_ids.into_iter().map(|id| living_tab(&cx, id).map(|tab| tab.id));
    let tabs: Result<Vec<_>, Error> = tabs.collect();
    cx.core.workspace().reorder_terminals(project, tabs?).await?;
    Ok(Empty {})
}

pub(crate) async fn focus(cx: Cx, params: TabFocus) -> Result<Focused, Error> {
    let tab = living_tab(&cx, params.tab_id)?;
    let before = cx.core.workspace().activate(tab.id).await?;
    Ok(Focused {
        previous_project_id: before.project.map_or(Int64(0), Into::into),
        previous_tab_id: before.terminal.map_or(Int64(0), Into::into),
    })
}

pub(crate) async fn set_title(cx: Cx, params: TabSetTitle) -> Result<Empty, Error> {
    let tab = living_tab(&cx, params.tab_id)?;
    cx.core.terminals().set_user_title(tab.id, Some(params.title)).await?;
    Ok(Empty {})
}
