//! A viewer opens, says what it painted, and how it is looked at.

use rookery_core::{Fit, NewViewer, Page};
use rookery_model::{Size, TerminalId};
use rookery_view::link::{
    self, Ack, Daemon, Done, Focus, Open, Opened, Pixels, Resize, Resync, Rights, VERSION, bound,
    wants,
};
use rookery_view::scene::WindowSize;
use rookery_wire::rights::Needs;

use crate::ids::{millis, page};
use crate::session::{self, Entered, scene};
use crate::{Cx, Error, make};

pub(crate) async fn open(cx: Cx, params: Open) -> Result<Opened, Error> {
    if cx.session.viewer().is_some() {
        return Err(rookery_model::Error::conflict("a viewer is open on this connection").into());
    }
    if !params.versions.contains(&VERSION) {
        return Err(Error::versions(vec![VERSION]));
    }
    if params.name.chars().count() > bound::NAME_CHARS {
        let message = format!("name must have at most {} characters", bound::NAME_CHARS);
        return Err(Error::invalid("name", message));
    }
    let fps = params.fps.unwrap_or(bound::FPS.0);
    if fps == 0 || fps > bound::FPS.1 {
        return Err(Error::invalid("fps", format!("fps must be between 1 and {}", bound::FPS.1)));
    }
    let room = room(params.size, params.pixels)?;
    let rights = rights(&cx, params.rights);
    let (place, terminal) = match &params.place {
        // A place that is gone falls back to the desk's.
        Some(place) => match page(place) {
            Ok((page, id)) if is_there(&cx, &page) => (Some(page), id),
            _ => (None, None),
        },
        None => (None, None),
    };
    let viewer = cx.core.seats().enter(NewViewer {
        face: make::core_face(params.face),
        name: make::line(&params.name),
        device: cx.device.clone(),
        rights: make::core_rights(rights),
        fit: params.fit.map_or(Fit::Own, make::core_fit),
        within: params.within.map(TerminalId::new),
        room,
        is_single: params.single,
        draws: params.draws,
        page: place,
        terminal,
    })?;
    let entered = Entered::new(&cx.core, viewer);
    if let Some(window) = params.pixels.map(window) {
        cx.core.seats().set_viewer_window(viewer, window)?;
    }
    let wanted = |word: &str| {
        params.wants.as_ref().is_none_or(|wants| wants.iter().any(|wanted| wanted == word))
    };
    let opened = session::Opened {
        viewer,
        fps,
        wants_rows: wanted(wants::ROWS),
        wants_notices: wanted(wants::NOTICES),
        wants_clips: wanted(wants::CLIPBOARD),
        redacts: rights == Rights::Look,
    };
    if !cx.session.open(opened.clone()) {
        return Err(rookery_model::Error::conflict("a viewer is open on this connection").into());
    }
    cx.called.say(&make::line(&params.name));
    cx.allowed.lower(match rights {
        Rights::Look => Needs::Look,
        Rights::Decide => Needs::Decide,
        Rights::Full => Needs::Own,
    });
    cx.core.seats().settle_sizes().await;
    let scene = scene::make(&cx.core, &cx.session, viewer);
    cx.session.begin(scene.clone(), params.check);
    let chosen = scene.chosen.clone().unwrap_or_default();
    let reply = Opened {
        version: VERSION,
        viewer: viewer.get(),
        rights,
        is_desk: cx.core.seats().is_desk(viewer),
        daemon: daemon(&cx),
        settings: chosen.settings,
        keys: chosen.keys,
        scene,
    };
    // No waiting from here on, so that the reply goes out before the first frame.
    session::start(&cx.core, &cx.connection, &cx.session, opened, entered);
    Ok(reply)
}

/// Whether what a page is about is there still.
pub(crate) fn is_there(cx: &Cx, page: &Page) -> bool {
    match page {
        Page::Thread(id) => cx.core.threads().get(*id).is_some(),
        Page::Review(id, _) => cx.core.reviews().get(*id).is_ok(),
        Page::Workspace
        | Page::Inbox(_)
        | Page::Threads
        | Page::Reviews
        | Page::Checkpoints(_)
        | Page::Worktrees(_)
        | Page::Audit
        | Page::Settings
        | Page::Help => true,
    }
}

/// What the viewer may do: what it asks for, and never more than its connection.
fn rights(cx: &Cx, asked: Option<Rights>) -> Rights {
    let most = match () {
        () if cx.core.caller().is_agent() => Rights::Look,
        () if cx.allowed.admits(Needs::Full) => Rights::Full,
        () if cx.allowed.admits(Needs::Decide) => Rights::Decide,
        () => Rights::Look,
    };
    asked.map_or(most, |asked| asked.min(most))
}

fn room(size: link::Size, pixels: Option<Pixels>) -> Result<Size, Error> {
    let room = Size::new(size.rows, size.cols)?;
    let Some(pixels) = pixels else { return Ok(room) };
    // What is no sensible number of pixels is none.
    let cells = |cell: f64, count: u16| {
        let all = cell * pixels.scale * f64::from(count);
        if (1.0..=65_535.0).contains(&all) { all as u16 } else { 0 }
    };
    Ok(room.with_pixels(cells(pixels.cell.0, size.cols), cells(pixels.cell.1, size.rows)))
}

fn window(pixels: Pixels) -> WindowSize {
    WindowSize { width: pixels.width as f32, height: pixels.height as f32 }
}

fn daemon(cx: &Cx) -> Daemon {
    let status = cx.core.status();
    Daemon {
        version: status.version.to_owned(),
        build: status.version.to_owned(),
        pid: status.pid,
        started_at: millis(status.started_at),
    }
}

pub(crate) async fn ack(cx: Cx, params: Ack) -> Result<Done, Error> {
    cx.viewer()?;
    cx.session.acknowledge(params.n);
    Ok(Done {})
}

pub(crate) async fn resync(cx: Cx, params: Resync) -> Result<Done, Error> {
    cx.viewer()?;
    cx.session.change_beside(|state| {
        state.resync.scene |= params.scene;
        for id in params.terms.into_iter().take(MOST_TERMS) {
            if !state.resync.terms.contains(&id) {
                state.resync.terms.push(id);
            }
        }
    });
    Ok(Done {})
}

/// Terminals that may be asked for anew at once.
const MOST_TERMS: usize = 64;

pub(crate) async fn focus(cx: Cx, params: Focus) -> Result<Done, Error> {
    let viewer = cx.viewer()?;
    // What an agent runs has no keyboard that a person types on.
    let has = params.has && !cx.core.caller().is_agent();
    let was_visible = cx.core.seats().viewer(viewer)?.is_visible;
    // The frame that has this number shows what was done before it, also around terminals.
    let appears = params.visible && !was_visible;
    cx.session.change(|state| {
        if !appears {
            state.ask_for_input(params.n);
        }
    });
    let set = cx.core.seats().set_keyboard(viewer, has, params.visible).await;
    if appears {
        cx.session.change(|state| {
            state.resync.scene = true;
            // By it a viewer that was hidden knows that it has all there is to see.
            state.ask_for_input(params.n);
        });
    }
    set?;
    Ok(Done {})
}

pub(crate) async fn resize(cx: Cx, params: Resize) -> Result<Done, Error> {
    let viewer = cx.viewer()?;
    let now = cx.core.seats().viewer(viewer)?;
    let size = params.size.unwrap_or(link::Size { cols: now.room.cols(), rows: now.room.rows() });
    let room = room(size, params.pixels)?;
    cx.session.taken(params.n);
    let fit = params.fit.map(make::core_fit);
    if let Some(window) = params.pixels.map(window) {
        cx.core.seats().set_viewer_window(viewer, window)?;
    }
    if let Some(width) = params.pixels.and_then(|pixels| pixels.sidebar) {
        cx.core.seats().set_viewer_sidebar(viewer, width as f32).await?;
    }
    cx.core.seats().arrange_viewer(viewer, room, fit, params.single).await?;
    Ok(Done {})
}
