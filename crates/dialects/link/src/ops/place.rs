//! Where a viewer is, and what it does to panes, the palette and the inbox.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rookery_core::{Face, PaneTo, Seats, WindowPicture};
use rookery_model::{self as model, ProjectId, TerminalId};
use rookery_view::keys::Action;
use rookery_view::link::{
    Act, Confirm, Done, Edit, FocusWord, InboxWindow, Message, Page, Palette, PaletteCall,
    PaneCall, Picture, PictureTaken, Prefs, PrefsFound, SettingsCall, Tone, bound,
};
use rookery_view::palette::Frame;
use rookery_view::tile::Edge;
use serde_json::Value;

use crate::ids::page;
use crate::ops::open::is_there;
use crate::{Cx, Error, make};

/// Bytes of what a face keeps for itself.
const PREFS_BYTES: usize = 64 << 10;

pub(crate) async fn go(cx: Cx, params: Page) -> Result<Done, Error> {
    let viewer = cx.viewer()?;
    let (page, terminal) = page(&params)?;
    if !is_there(&cx, &page) {
        return Err(model::Error::not_found("what the page is about is gone").into());
    }
    cx.core.seats().go(viewer, page, terminal).await?;
    cx.session.change(|_| ());
    Ok(Done {})
}

pub(crate) async fn act(cx: Cx, params: Act) -> Result<Done, Error> {
    let viewer = cx.viewer()?;
    let action = Action::from_id(&params.action).ok_or_else(|| {
        Error::invalid("action", format!("there is no action {:?}", params.action))
    })?;
    let args = params.args.as_ref();
    let tab = number(args, "t", "t is the number of a terminal")?.map(TerminalId::new);
    let project = number(args, "project", "project is the number of a project")?;
    cx.core.seats().note_user_action(viewer)?;
    let seats = cx.core.seats().of(viewer);
    let done = match (tab, project.map(ProjectId::new)) {
        (Some(tab), None) => seats.run_action_on(action, tab).await,
        // Those after the ninth have no action of their own.
        (None, Some(project)) if matches!(action, Action::SwitchProject(_)) => {
            seats.show_project(project).await
        }
        (None, None) => seats.run_action(action).await,
        _ => return Err(Error::invalid("args", "this action is about nothing of the kind")),
    };
    report(&cx, done)
}

/// What an action is about, if it is named.
fn number(args: Option<&Value>, name: &str, means: &str) -> Result<Option<u64>, Error> {
    let Some(number) = args.and_then(|args| args.get(name)) else { return Ok(None) };
    number.as_u64().map(Some).ok_or_else(|| Error::invalid("args", means))
}

/// A failure is shown in the status line as well, for who sent it as a notification.
fn report(cx: &Cx, done: model::Result<()>) -> Result<Done, Error> {
    cx.session.change(|state| {
        state.message = done
            .as_ref()
            .err()
            .map(|error| Message { tone: Tone::Warn, text: make::line(error.message()) });
    });
    done?;
    Ok(Done {})
}

pub(crate) async fn palette(cx: Cx, params: PaletteCall) -> Result<Done, Error> {
    let viewer = cx.viewer()?;
    let seats = cx.core.seats().of(viewer);
    if let PaletteCall::Query(text) = &params
        && text.len() > bound::PATTERN_BYTES
    {
        let message = format!("query must have at most {} bytes", bound::PATTERN_BYTES);
        return Err(Error::invalid("query", message));
    }
    cx.core.seats().note_user_action(viewer)?;
    match params {
        PaletteCall::Open(kind) => drop(seats.open_palette(frame(&kind)?).await?),
        PaletteCall::Query(text) => drop(seats.query_palette(&text).await?),
        PaletteCall::Move(by) => seats.move_in_palette(by).await?,
        PaletteCall::Select(row) => seats.select_in_palette(place_of(&seats, row)).await?,
        PaletteCall::Activate(row) => {
            seats.activate_row(row.map(|row| place_of(&seats, row))).await?;
        }
        PaletteCall::Back(_) => seats.back_in_palette().await?,
        PaletteCall::Close(_) => drop(seats.dismiss_palette().await?),
    }
    cx.session.change(|_| ());
    Ok(Done {})
}

/// The place among all rows of one that a viewer counts among those it has.
fn place_of(seats: &Seats, row: u32) -> usize {
    Palette::first_row(seats.palette().selection).saturating_add(row as usize)
}

fn frame(kind: &str) -> Result<Frame, Error> {
    let known = [
        Frame::Commands,
        Frame::Launcher,
        Frame::Custom,
        Frame::Agents,
        Frame::Themes,
        Frame::Fonts,
        Frame::Notifications,
    ];
    let found = known.into_iter().find(|frame| frame.to_string() == kind);
    let found = found.or((kind == "providers").then_some(Frame::Custom));
    found.ok_or_else(|| Error::invalid("open", format!("there is no palette {kind:?}")))
}

pub(crate) async fn edit(cx: Cx, params: Edit) -> Result<Done, Error> {
    let viewer = cx.viewer()?;
    if params.text.is_some() == params.cancel {
        return Err(Error::invalid("text", "give either text or cancel"));
    }
    cx.core.seats().note_user_action(viewer)?;
    cx.core.seats().of(viewer).finish_edit(params.text).await?;
    Ok(Done {})
}

pub(crate) async fn confirm(cx: Cx, params: Confirm) -> Result<Done, Error> {
    let viewer = cx.viewer()?;
    cx.core.seats().note_user_action(viewer)?;
    cx.core.seats().of(viewer).answer_question(params.yes).await?;
    Ok(Done {})
}

pub(crate) async fn pane(cx: Cx, params: PaneCall) -> Result<Done, Error> {
    let viewer = cx.viewer()?;
    cx.core.seats().note_user_action(viewer)?;
    let seats = cx.core.seats().of(viewer);
    let id = TerminalId::new;
    let done = match params {
        PaneCall::Split { split, t } => seats.split(t.map(id), split.into()).await.map(drop),
        PaneCall::Focus { focus, t } => {
            let to = match focus {
                FocusWord::Left => PaneTo::Across(Edge::Left),
                FocusWord::Right => PaneTo::Across(Edge::Right),
                FocusWord::Up => PaneTo::Across(Edge::Up),
                FocusWord::Down => PaneTo::Across(Edge::Down),
                FocusWord::Next => PaneTo::Next,
            };
            seats.focus_pane(t.map(id), to).await
        }
        PaneCall::Zoom { zoom } => seats.zoom(zoom).await,
        PaneCall::Resize { resize, by } => seats.grow_pane(resize.into(), by).await,
        PaneCall::Move { moved, to, side } => seats.move_pane(id(moved), id(to), side.into()).await,
        PaneCall::Break { broken } => seats.break_pane(Some(id(broken))).await,
    };
    report(&cx, done)
}

/// A window answers with what it shows.
pub(crate) async fn picture(cx: Cx, params: Picture) -> Result<PictureTaken, Error> {
    let viewer = cx.viewer()?;
    let given = match params.error {
        Some(why) => Err(make::line(&why)),
        None => {
            let png = BASE64_STANDARD.decode(&params.png);
            let png = png.map_err(|error| Error::invalid("png", error.to_string()))?;
            if !png.starts_with(PNG) {
                return Err(Error::invalid("png", "png must be a picture"));
            }
            Ok(WindowPicture { png, width: params.width, height: params.height })
        }
    };
    // One that comes too late is no fault of the window's.
    Ok(PictureTaken { taken: cx.core.seats().give_picture(viewer, params.ask, given) })
}

/// How every PNG begins.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

pub(crate) async fn inbox(cx: Cx, params: InboxWindow) -> Result<Done, Error> {
    cx.viewer()?;
    if params.count > bound::INBOX_ROWS {
        let message = format!("count must be at most {}", bound::INBOX_ROWS);
        return Err(Error::invalid("count", message));
    }
    if params.query.len() > bound::PATTERN_BYTES {
        let message = format!("query must have at most {} bytes", bound::PATTERN_BYTES);
        return Err(Error::invalid("query", message));
    }
    cx.session.change(|state| state.inbox = params);
    Ok(Done {})
}

/// Writes a line of the user's settings file; what it changes comes as the scene's part `chosen`.
pub(crate) async fn settings(cx: Cx, params: SettingsCall) -> Result<Done, Error> {
    let viewer = cx.viewer()?;
    match params {
        SettingsCall::Set { set, value } => cx.core.seats().choose(&set, &value).await?,
        SettingsCall::Bind { bind, action } => {
            let face = match cx.core.seats().viewer(viewer)?.face {
                Face::Tui | Face::Other => "tui",
                Face::Window => "window",
                Face::Web => "web",
            };
            let chord = format!("{face}:{bind}");
            cx.core.seats().choose_key(&chord, action.as_deref()).await?;
        }
    }
    Ok(Done {})
}

pub(crate) async fn prefs(cx: Cx, params: Prefs) -> Result<PrefsFound, Error> {
    let viewer = cx.viewer()?;
    let viewer = cx.core.seats().viewer(viewer)?;
    let name = match &viewer.device {
        Some(device) => format!("device/{device}"),
        None => format!("face/{:?}", viewer.face).to_lowercase(),
    };
    let kept = cx.core.remembered(&name).await?;
    let mut prefs: std::collections::BTreeMap<String, Value> =
        kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    match (params.get, params.set) {
        (true, None) => {}
        (false, Some(set)) => {
            if !cx.allowed.admits(rookery_wire::rights::Needs::Full) {
                return Err(Error::denied("this viewer may not change what its face keeps"));
            }
            for (name, value) in set {
                match value.is_null() {
                    true => drop(prefs.remove(&name)),
                    false => drop(prefs.insert(name, value)),
                }
            }
            let text = serde_json::to_string(&prefs).unwrap_or_default();
            if text.len() > PREFS_BYTES {
                let message = format!("a face keeps at most {PREFS_BYTES} bytes");
                return Err(Error::invalid("set", message));
            }
            cx.core.remember(&name, Some(text)).await?;
        }
        _ => return Err(Error::invalid("get", "give either get or set")),
    }
    Ok(PrefsFound { prefs })
}
