//! `roostctl palette …`.

use std::io::Read as _;

use rookery_roost::wire::{
    Call,
    palette::{
        PaletteActivate, PaletteDismiss, PaletteOpen, PalettePresent, PaletteQuery, PaletteRead,
        PaletteState, PresentItem, Presented,
    },
};
use serde::Deserialize;

use super::{
    args::{Palette, Present},
    link::{Link, LinkError},
    print_json, shown,
};
use crate::{
    failure::{Failure, Outcome},
    output,
};

/// How wide ids are, so that titles stand below each other.
const ID_WIDTH: usize = 24;
/// The most that is read of rows on stdin; more would not fit into a request.
const MOST_ITEMS: u64 = 16 * 1024 * 1024;

pub(super) async fn run(link: &mut Link, command: Palette) -> Outcome<()> {
    match command {
        Palette::Open { kind, form } => act(link, PaletteOpen { kind }, form.json).await,
        Palette::State(form) => act(link, PaletteRead {}, form.json).await,
        Palette::Query { query, form } => act(link, PaletteQuery { query }, form.json).await,
        Palette::Activate { id, form } => act(link, PaletteActivate { id }, form.json).await,
        Palette::Dismiss(form) => act(link, PaletteDismiss {}, form.json).await,
        Palette::Present(args) => present(link, args).await,
    }
}

async fn act<P: Call>(link: &mut Link, params: P, json: bool) -> Outcome<()> {
    let result = link.call_raw(params).await?;
    if json {
        return print_json(&result);
    }
    let state: PaletteState = serde_json::from_str(result.get()).map_err(LinkError::from)?;
    output::write(described(&state).as_bytes())
}

fn described(state: &PaletteState) -> String {
    if !state.open {
        return "palette: closed\n".to_owned();
    }
    let frame = shown(state.frame.as_deref().unwrap_or("?"));
    let (query, rows) = (shown(&state.query), state.items.len());
    let mut out = format!("palette: {frame} (query {query:?}, {rows} rows)\n");
    for (at, item) in state.items.iter().enumerate() {
        let is_selected = usize::try_from(state.selection).is_ok_and(|selected| selected == at);
        let mark = if is_selected { '>' } else { ' ' };
        out.push_str(&format!("{mark} {:<ID_WIDTH$} {}", shown(&item.id), shown(&item.title)));
        if let Some(subtitle) = &item.subtitle {
            out.push_str(&format!("  — {}", shown(subtitle)));
        }
        out.push('\n');
    }
    out
}

async fn present(link: &mut Link, args: Present) -> Outcome<()> {
    let text = match args.items {
        Some(text) => text,
        None => from_stdin()?,
    };
    let items = items(&text)?;
    let params = PalettePresent { title: args.title, placeholder: args.placeholder, items };
    let result = link.call_patiently(params).await?;
    if args.form.json {
        return print_json(&result);
    }
    let choice: Presented = serde_json::from_str(result.get()).map_err(LinkError::from)?;
    match choice.selected_id {
        Some(id) if !choice.dismissed => output::line(id),
        _ => Ok(()),
    }
}

fn from_stdin() -> Outcome<String> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MOST_ITEMS).read_to_string(&mut text);
    read.map_err(Failure::doing("cannot read the items"))?;
    Ok(text)
}

/// The rows, as a list or in an object.
fn items(text: &str) -> Outcome<Vec<PresentItem>> {
    #[derive(Deserialize)]
    struct Wrapped {
        items: Vec<PresentItem>,
    }
    let is_object = text.trim_start().starts_with('{');
    let items = if is_object {
        serde_json::from_str::<Wrapped>(text).map(|wrapped| wrapped.items)
    } else {
        serde_json::from_str(text)
    };
    items.map_err(|error| Failure::new(format!("cannot read the items: {error}")))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use rookery_roost::wire::palette::Item;

    use super::*;

    #[test]
    fn the_selected_row_is_marked() {
        let item = |id: &str, subtitle: Option<&str>| Item {
            id: id.to_owned(),
            title: format!("Title of {id}"),
            subtitle: subtitle.map(str::to_owned),
            agent: None,
        };
        let mut state = PaletteState {
            open: true,
            frame: Some("commands".to_owned()),
            query: "t\"".to_owned(),
            selection: 1,
            items: vec![item("a", Some("below")), item("b", None)],
            selected_in_view: None,
        };
        expect![[r#"
            palette: commands (query "t\"", 2 rows)
              a                        Title of a  — below
            > b                        Title of b
        "#]]
        .assert_eq(&described(&state));
        state.open = false;
        assert_eq!(described(&state), "palette: closed\n");
    }

    #[test]
    fn rows_come_as_a_list_or_in_an_object() {
        let list = r#"[{"id":"a","title":"A","more":1}]"#;
        assert_eq!(items(list).unwrap()[0].id, "a");
        assert_eq!(items(&format!(r#" {{"items":{list}}}"#)).unwrap()[0].title, "A");
        for bad in ["", "7", "{}", "[{}]", r#"[{"id":1,"title":"x"}]"#] {
            assert!(items(bad).is_err(), "{bad}");
        }
    }
}
