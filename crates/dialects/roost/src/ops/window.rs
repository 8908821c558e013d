//! The window: a picture of it, its measures, and what it shows.

use std::sync::Arc;

use rookery_view::scene::{Mood, Scene, WindowSize};

use rookery_term::Detail;

use crate::{
    Picture,
    context::Cx,
    errors::{Code, Error},
    lane::Turn,
    wire::{
        Base64, Empty, Int64,
        agent::Lifecycle,
        app::{
            AppActivate, AppActiveTerminalFocused, AppCursorShape, AppRenderStats, AppScreenshot,
            AppSelectedTabId, AppSetWindowFocus, AppSidebarDump, AppWindowMetrics, CursorShape,
            RenderStats, Screenshot, SelectedTab, Sidebar, SidebarAgent, SidebarProject,
            SidebarSetWidth, TerminalFocus, WindowMetrics, WindowResize,
        },
    },
};

/// The scene is the one of the moment the request came to its turn; drawing blocks no other request.
pub(crate) async fn screenshot(
    cx: Cx,
    turn: Turn,
    params: AppScreenshot,
) -> Result<Screenshot, Error> {
    let scene = scene(&cx).await?;
    turn.end();
    let picture = match cx.core.seats().window_picture(params.scale).await {
        Some(shown) => Picture { png: shown.png, width: shown.width, height: shown.height },
        None => {
            let Some(painter) = &cx.settings.painter else {
                return Err(Error::new(Code::Internal, "this server cannot draw"));
            };
            let drawn = painter.draw(scene, params.scale).await;
            drawn.map_err(|reason| Error::new(Code::Internal, reason))?
        }
    };
    cx.core.media().keep_screenshot(&picture.png);
    Ok(Screenshot {
        png: Base64(picture.png),
        width: picture.width,
        height: picture.height,
        scale: params.scale,
    })
}

async fn scene(cx: &Cx) -> Result<Arc<Scene>, Error> {
    let core = cx.core.clone();
    let scene = tokio::task::spawn_blocking(move || Arc::new(core.seats().scene())).await;
    scene.map_err(|error| Error::new(Code::Internal, error.to_string()))
}

/// A window that is open comes to the front by itself.
pub(crate) async fn activate(cx: Cx, _params: AppActivate) -> Result<Empty, Error> {
    cx.core.seats().raise_window();
    Ok(Empty {})
}

pub(crate) async fn metrics(cx: Cx, _params: AppWindowMetrics) -> Result<WindowMetrics, Error> {
    let metrics = cx.core.seats().window_metrics();
    Ok(WindowMetrics {
        window_width: f64::from(metrics.size.width),
        window_height: f64::from(metrics.size.height),
        sidebar_width: f64::from(metrics.sidebar_width),
        sidebar_collapsed: metrics.is_collapsed,
        terminal_top: Some(f64::from(metrics.terminal_top)),
        terminal_font_family: Some(metrics.font.unwrap_or_else(|| BUILT_IN_FONT.to_owned())),
    })
}

/// The font of a terminal whose user chose none.
const BUILT_IN_FONT: &str = "DejaVu Sans Mono";

pub(crate) async fn sidebar(cx: Cx, _params: AppSidebarDump) -> Result<Sidebar, Error> {
    let sidebar = cx.core.seats().scene().sidebar;
    let are_visible = sidebar.are_agents_visible;
    let projects = sidebar.projects.into_iter().map(|project| SidebarProject {
        project_id: project.id.into(),
        agents: project
            .agents
            .into_iter()
            .filter_map(|agent| {
                Some(SidebarAgent {
                    tab_id: agent.tab?.into(),
                    name: agent.name,
                    lifecycle: lifecycle(agent.mood),
                    status_text: agent.status_text,
                    time_text: agent.time_text,
                    is_active: agent.is_active,
                })
            })
            .collect(),
    });
    Ok(Sidebar { agents_visible: are_visible, projects: projects.collect() })
}

fn lifecycle(mood: Mood) -> Lifecycle {
    match mood {
        Mood::Inactive => Lifecycle::Inactive,
        Mood::Working => Lifecycle::Working,
        Mood::Waiting => Lifecycle::Waiting,
        Mood::Finished => Lifecycle::Finished,
        Mood::Failed => Lifecycle::Failed,
    }
}

pub(crate) async fn selected_tab(cx: Cx, _params: AppSelectedTabId) -> Result<SelectedTab, Error> {
    let tab = cx.core.workspace().active().map_or(Int64(0), Into::into);
    Ok(SelectedTab { tab_id: tab })
}

pub(crate) async fn terminal_focused(
    cx: Cx,
    _params: AppActiveTerminalFocused,
) -> Result<TerminalFocus, Error> {
    Ok(TerminalFocus { focused: cx.core.seats().terminal_has_keyboard() })
}

pub(crate) async fn cursor_shape(cx: Cx, _params: AppCursorShape) -> Result<CursorShape, Error> {
    let handle = cx.core.workspace().active().and_then(|id| cx.core.terminals().get(id).ok());
    let pointer = handle.map(|handle| handle.snapshot(Detail::Text).pointer);
    let shape = pointer.map_or("default", |pointer| pointer.name());
    Ok(CursorShape { shape: shape.to_owned() })
}

/// What the window shows is drawn first if that was not done yet: without a window, nothing else does.
pub(crate) async fn render_stats(
    cx: Cx,
    turn: Turn,
    params: AppRenderStats,
) -> Result<RenderStats, Error> {
    let scene = scene(&cx).await?;
    turn.end();
    if let Some(painter) = &cx.settings.painter {
        painter.present(scene).await;
    }
    let scenes = cx.core.seats().scene_counts(params.reset);
    let painter = cx.settings.painter.as_ref();
    let drawn = painter.map(|painter| painter.counts(params.reset)).unwrap_or_default();
    let count = |number: u64| Int64(i64::try_from(number).unwrap_or(i64::MAX));
    Ok(RenderStats {
        refresh_calls: count(scenes.scenes),
        refresh_nanos: count(scenes.nanos),
        rows_rebuilt: count(scenes.rows),
        cells_walked: count(scenes.cells),
        draw_calls: count(drawn.draws),
        draw_nanos: count(drawn.draw_nanos),
        fill_text_calls: count(drawn.texts),
        view_calls: count(drawn.views),
        view_nanos: count(drawn.view_nanos),
        elide_calls: count(drawn.elides),
        elide_nanos: count(drawn.elide_nanos),
    })
}

pub(crate) async fn set_focus(cx: Cx, params: AppSetWindowFocus) -> Result<Empty, Error> {
    cx.core.seats().focus_window(params.focus);
    Ok(Empty {})
}

pub(crate) async fn resize(cx: Cx, params: WindowResize) -> Result<Empty, Error> {
    cx.core
        .seats()
        .resize_window(WindowSize { width: params.width as f32, height: params.height as f32 })
        .await?;
    Ok(Empty {})
}

pub(crate) async fn set_sidebar_width(cx: Cx, params: SidebarSetWidth) -> Result<Empty, Error> {
    cx.core.seats().set_sidebar_width(params.width as f32).await?;
    Ok(Empty {})
}
