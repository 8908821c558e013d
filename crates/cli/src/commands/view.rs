//! `rookery view`: a viewer without a picture, which prints its mirror after each frame.

use rookery_face::{Face, MirrorTerm, News};
use rookery_view::link::{Fit, Open, Page, Size};
use serde_json::{Map, Value, json};

use crate::{
    args,
    commands::done,
    failure::{Failure, Outcome},
    link, output,
};

/// The room of a viewer that shows nothing.
const ROOM: Size = Size { cols: 80, rows: 24 };

pub(super) async fn run(args: args::View) -> Outcome {
    if !args.json {
        return Err(Failure::new("nothing to print").hint("use --json"));
    }
    let client = link::connect().await?;
    drop(client);
    let mut face = Face::new(link::socket()?, open(&args)?);
    let mut left = args.frames;
    while left != Some(0) {
        let news = tokio::select! {
            news = face.next() => news,
            _ = tokio::signal::ctrl_c() => break,
        };
        match news {
            Some(News::Changed(changed)) => {
                let is_over = changed.bye.is_some();
                print(&face)?;
                face.painted().await;
                left = left.map(|left| left - 1);
                if is_over {
                    break;
                }
            }
            Some(News::Opened(_) | News::Lost(_)) => {}
            Some(News::Refused(error)) => return Err(error.into()),
            None => break,
        }
    }
    done()
}

fn open(args: &args::View) -> Outcome<Open> {
    let named = |page: &str| {
        serde_json::from_value::<Page>(json!({ "page": page }))
            .ok()
            .filter(|page| *page != Page::Unknown)
    };
    let place = match (&args.page, args.terminal) {
        (_, Some(terminal)) => Some(Page::Workspace { terminal: Some(terminal) }),
        (Some(page), None) => {
            let unknown = || Failure::new(format!("there is no page {page:?}"));
            Some(named(page).ok_or_else(unknown)?)
        }
        (None, None) => None,
    };
    Ok(Open {
        name: "view".to_owned(),
        size: ROOM,
        fit: Some(Fit::Follow),
        place,
        ..Open::default()
    })
}

/// One line of JSON.
fn print(face: &Face) -> Outcome<()> {
    let (mirror, scene) = (face.mirror(), face.mirror().scene());
    let terms: Map<String, Value> =
        mirror.terms().map(|(id, term)| (id.to_string(), shown(term))).collect();
    output::json_line(&json!({
        "n": mirror.last(),
        "page": scene.page,
        "strip": scene.strip,
        "panes": scene.panes,
        "inbox": scene.inbox,
        "terms": terms,
    }))
}

fn shown(term: &MirrorTerm) -> Value {
    json!({
        "size": term.size,
        "view": term.view,
        "rows": term.texts(),
        "cursor": term.cursor,
    })
}
