//! Tests of the palette as a machine.

use super::provider::Listed;
use super::*;
use proptest::prelude::*;

fn commands() -> Content {
    Content::Commands { notifications: 0, has_providers: true }
}

fn themes() -> Content {
    let names = ["dracula", "nord", "roost-dark"].map(str::to_owned).to_vec();
    Content::Themes { names, active: "Nord".to_owned() }
}

fn fonts() -> Content {
    let families = ["Fira Code", "Iosevka"].map(str::to_owned).to_vec();
    Content::Fonts { families, active: "Fira Code".to_owned() }
}

fn custom() -> Content {
    let line = |label: &str| Provider::parse(&format!("label={label} run=x title=T limit=2"));
    Content::Custom(vec![line("one").unwrap(), line("two").unwrap()])
}

fn inbox() -> Content {
    let entry = |tab: u64, body: &str| InboxEntry {
        tab: TerminalId::new(tab),
        project: "web".to_owned(),
        tab_title: format!("tab {tab}"),
        body: body.to_owned(),
    };
    Content::Notifications(vec![entry(5, "done"), entry(3, "")])
}

fn opened(content: &Content) -> Palette {
    let mut palette = Palette::default();
    assert_eq!(palette.open(content), []);
    palette
}

fn ids(palette: &Palette) -> Vec<String> {
    palette.state().items.into_iter().map(|item| item.id).collect()
}

/// Activates a row that leads to another frame, and fills it.
fn drill(palette: &mut Palette, id: &str, content: &Content) {
    match palette.activate(id).unwrap().as_slice() {
        [Effect::Drill { frame, ticket }] => {
            assert_eq!(*frame, content.frame());
            assert!(palette.push(*ticket, content));
        }
        other => panic!("{other:?}"),
    }
}

fn call(effects: &[Effect]) -> ProviderCall {
    match effects {
        [Effect::RunProvider(call)] => (**call).clone(),
        other => panic!("{other:?}"),
    }
}

fn listing(ids: &[&str]) -> Result<Listing, String> {
    let item = |id: &&str| Listed {
        id: (*id).to_owned(),
        title: (*id).to_owned(),
        subtitle: None,
        actionable: true,
    };
    Ok(Listing { placeholder: None, items: ids.iter().map(item).collect() })
}

#[test]
fn a_closed_palette_shows_nothing() {
    let mut palette = Palette::default();
    let closed = PaletteState::default();
    assert!(!closed.open && closed.frame.is_none() && closed.items.is_empty());
    assert_eq!(palette.state(), closed);
    assert_eq!(palette.query("x"), []);
    assert_eq!(palette.dismiss(), []);
    assert_eq!(palette.back(), []);
    assert_eq!(palette.move_by(1), []);
    assert_eq!(palette.activate("new_tab"), Err(NoSuchRow));
    assert_eq!(palette.activate_selected(), Err(NoSuchRow));
    assert_eq!(palette.state(), closed);
}

#[test]
fn the_commands_are_complete_and_in_order() {
    let rows: Vec<(String, String)> =
        opened(&commands()).state().items.into_iter().map(|item| (item.id, item.title)).collect();
    let expected = [
        ("select_theme", "Select Theme\u{2026}"),
        ("select_font", "Select Font\u{2026}"),
        ("view_agents", "Go to Agent\u{2026}"),
        ("view_notifications", "View Notifications"),
        ("clear_notifications", "Clear All Notifications"),
        ("toggle_sidebar_agents", "Toggle Sidebar Agents"),
        ("new_tab", "New Tab"),
        ("close_tab", "Close Tab"),
        ("rename_tab", "Rename Tab"),
        ("cycle_tab_next", "Next Tab"),
        ("cycle_tab_prev", "Previous Tab"),
        ("new_project", "New Project"),
        ("rename_project", "Rename Project"),
        ("close_project", "Close Project"),
        ("toggle_sidebar", "Toggle Sidebar"),
        ("jump_to_unread", "Jump to Unread"),
        ("font_increase", "Increase Font Size"),
        ("font_decrease", "Decrease Font Size"),
        ("font_reset", "Reset Font Size"),
        ("custom_commands", "Custom Commands\u{2026}"),
        ("open_inbox", "Open Inbox"),
        ("next_waiting", "Next Waiting"),
        ("new_thread", "New Thread"),
        ("open_threads", "Open Threads"),
        ("open_reviews", "Open Reviews"),
        ("open_checkpoints", "Open Checkpoints"),
        ("open_worktrees", "Open Worktrees"),
        ("open_audit", "Open Audit"),
        ("split_right", "Split Right"),
        ("split_below", "Split Below"),
        ("zoom_pane", "Zoom Pane"),
        ("break_pane", "Break Pane"),
        ("swap_pane", "Swap Pane"),
        ("take_size", "Take Size"),
        ("find", "Find"),
        ("copy_mode", "Copy Mode"),
        ("prev_prompt", "Prev Prompt"),
        ("next_prompt", "Next Prompt"),
        ("last_tab", "Last Tab"),
        ("focus_sidebar", "Focus Sidebar"),
        ("settings", "Settings"),
        ("help", "Help"),
        ("leave", "Leave"),
    ];
    assert_eq!(rows, expected.map(|(id, title)| (id.to_owned(), title.to_owned())));
}

#[test]
fn notifications_are_counted_and_custom_commands_need_a_provider() {
    let palette = opened(&Content::Commands { notifications: 3, has_providers: false });
    let items = palette.state().items;
    assert_eq!(items[3].title, "View Notifications (3)");
    assert!(!items.iter().any(|item| item.id == "custom_commands"));
    assert_eq!(items.last().unwrap().id, "leave");
}

#[test]
fn every_kind_opens_its_frame() {
    let table = [
        ("", "commands"),
        ("commands", "commands"),
        ("launcher", "launcher"),
        ("custom", "custom"),
        ("agents", "agents"),
    ];
    for (kind, id) in table {
        assert_eq!(Frame::from_kind(kind).unwrap().to_string(), id);
    }
    for kind in ["themes", "fonts", "notifications", "present", "Commands", "provider:items:1"] {
        assert_eq!(Frame::from_kind(kind), None, "{kind}");
    }
    assert_eq!(Frame::Provider(3).to_string(), "provider:items:3");
}

#[test]
fn empty_frames_tell_so_in_a_row_that_does_nothing() {
    let table = [
        (Content::Launcher(vec![]), "launch:none", "No commands configured"),
        (Content::Custom(vec![]), "provider:none", "No providers configured"),
        (Content::Notifications(vec![]), "notif:none", "No notifications"),
        (
            Content::Agents { tabs: vec![], now: rookery_model::Timestamp::from_micros(0) },
            "agents:empty",
            "No agent sessions",
        ),
    ];
    for (content, id, title) in table {
        let mut palette = opened(&content);
        let before = palette.state();
        assert_eq!((before.items[0].id.as_str(), before.items[0].title.as_str()), (id, title));
        assert!(!before.items[0].actionable);
        assert_eq!(palette.activate(id), Ok(vec![]));
        assert_eq!(palette.state(), before);
    }
}

#[test]
fn an_action_closes_the_palette() {
    let mut palette = opened(&commands());
    assert_eq!(palette.activate("new_tab"), Ok(vec![Effect::Run(Action::NewTab)]));
    assert_eq!(palette.state(), PaletteState::default());
}

#[test]
fn every_command_row_acts() {
    for id in ids(&opened(&commands())) {
        let effects = opened(&commands()).activate(&id).unwrap();
        match effects.as_slice() {
            [Effect::Run(action)] => assert_eq!(action.id(), id),
            [Effect::Drill { .. }] => {}
            other => panic!("{id}: {other:?}"),
        }
    }
}

#[test]
fn the_query_filters_and_selects_the_first_row() {
    let mut palette = opened(&commands());
    palette.move_by(4);
    palette.query("  NEW ");
    let state = palette.state();
    assert_eq!(state.query, "  NEW ");
    assert_eq!(state.selection, 0);
    let found = ["new_tab", "new_project", "new_thread", "next_waiting", "open_reviews"];
    assert_eq!(ids(&palette), found);
    assert_eq!(state.items[0].letters, [0, 1, 2]);
    palette.query("");
    assert_eq!(palette.state().items.len(), 43);
}

#[test]
fn only_visible_rows_can_be_activated() {
    let mut palette = opened(&commands());
    palette.query("font");
    let before = palette.state();
    assert_eq!(palette.activate("new_tab"), Err(NoSuchRow));
    assert_eq!(palette.state(), before);
    palette.query("zzz");
    assert_eq!(palette.activate_selected(), Err(NoSuchRow));
}

#[test]
fn the_selection_stops_at_the_ends() {
    let mut palette = opened(&inbox());
    palette.move_by(-1);
    assert_eq!(palette.state().selection, 0);
    palette.move_by(100);
    assert_eq!(palette.state().selection, 1);
    palette.move_by(isize::MIN);
    assert_eq!(palette.state().selection, 0);
    palette.select(usize::MAX);
    assert_eq!(palette.state().selection, 1);
}

#[test]
fn drilling_starts_with_an_empty_query_and_back_restores_the_frame() {
    let mut palette = opened(&commands());
    palette.query("theme");
    drill(&mut palette, "select_theme", &themes());
    let state = palette.state();
    assert_eq!(state.frame, Some(Frame::Themes));
    assert_eq!(state.query, "");
    assert_eq!(palette.back(), []);
    assert_eq!(palette.state().query, "theme");
    assert_eq!(palette.back(), []);
    assert!(!palette.is_open());
}

#[test]
fn a_frame_that_comes_too_late_is_not_shown() {
    let mut palette = opened(&commands());
    let effects = palette.activate("select_font").unwrap();
    let [Effect::Drill { ticket, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    palette.open(&commands());
    assert!(!palette.push(*ticket, &fonts()));
    assert_eq!(palette.state().frame, Some(Frame::Commands));
}

#[test]
fn themes_open_at_the_active_one_and_preview_what_is_selected() {
    let mut palette = opened(&themes());
    assert_eq!(palette.state().selection, 1);
    assert_eq!(palette.move_by(0), []);
    assert_eq!(palette.move_by(1), [Effect::PreviewTheme("roost-dark".to_owned())]);
    assert_eq!(palette.move_by(1), []);
    assert_eq!(palette.query("dra"), [Effect::PreviewTheme("dracula".to_owned())]);
    assert_eq!(palette.query("zzz"), []);
    assert_eq!(palette.dismiss(), [Effect::RevertTheme("Nord".to_owned())]);
    assert_eq!(palette.dismiss(), []);
}

#[test]
fn going_back_reverts_a_preview_but_not_if_it_is_the_active_one_again() {
    let mut palette = opened(&commands());
    drill(&mut palette, "select_font", &fonts());
    assert_eq!(palette.move_by(1), [Effect::PreviewFont("Iosevka".to_owned())]);
    assert_eq!(palette.back(), [Effect::RevertFont("Fira Code".to_owned())]);
    drill(&mut palette, "select_font", &fonts());
    palette.move_by(1);
    assert_eq!(palette.move_by(-1), [Effect::PreviewFont("Fira Code".to_owned())]);
    assert_eq!(palette.back(), []);
}

#[test]
fn applying_does_not_revert() {
    let mut palette = opened(&themes());
    palette.move_by(1);
    assert_eq!(palette.activate("dracula"), Ok(vec![Effect::ApplyTheme("dracula".to_owned())]));
    assert!(!palette.is_open());
    let mut palette = opened(&fonts());
    assert_eq!(palette.activate_selected(), Ok(vec![Effect::ApplyFont("Fira Code".to_owned())]));
}

#[test]
fn opening_something_else_reverts_a_preview() {
    let mut palette = opened(&themes());
    palette.move_by(1);
    assert_eq!(palette.open(&commands()), [Effect::RevertTheme("Nord".to_owned())]);
    assert_eq!(palette.state().frame, Some(Frame::Commands));
}

#[test]
fn notifications_lead_to_their_tabs() {
    let mut palette = opened(&inbox());
    let items = palette.state().items;
    assert_eq!((items[0].id.as_str(), items[0].title.as_str()), ("notif:5", "web · tab 5"));
    assert_eq!(items[0].subtitle.as_deref(), Some("done"));
    assert_eq!(items[1].subtitle, None);
    assert_eq!(palette.activate("notif:3"), Ok(vec![Effect::FocusTab(TerminalId::new(3))]));
    assert!(!palette.is_open());
}

#[test]
fn at_most_ten_notifications_are_listed() {
    let Content::Notifications(entries) = inbox() else { panic!() };
    let many = entries.iter().cycle().take(15).cloned().collect();
    assert_eq!(opened(&Content::Notifications(many)).state().items.len(), 10);
}

#[test]
fn the_launcher_opens_a_tab() {
    let command = Command::parse("label=Logs run=\"tail -f x\" hold").unwrap();
    let mut palette = opened(&Content::Launcher(vec![command.clone()]));
    let item = &palette.state().items[0];
    assert_eq!((item.id.as_str(), item.title.as_str()), ("launch:0", "Logs"));
    assert_eq!(item.subtitle.as_deref(), Some("tail -f x"));
    let launch = Effect::Launch(Box::new(command));
    assert_eq!(palette.activate("launch:0"), Ok(vec![launch]));
    assert!(!palette.is_open());
}

#[test]
fn a_provider_lists_and_its_rows_activate_it() {
    let mut palette = opened(&custom());
    assert_eq!(ids(&palette), ["provider:0", "provider:1"]);
    assert_eq!(palette.state().items[0].subtitle.as_deref(), Some("x"));
    palette.query("t");
    let list = call(&palette.activate("provider:1").unwrap());
    assert_eq!((list.provider.label.as_str(), &list.phase), ("two", &Phase::List));
    assert_eq!(list.query, "t");
    assert_eq!(palette.state().frame, Some(Frame::Custom));
    assert_eq!(palette.provided(&list, listing(&["a", "b", "c"])), []);
    let state = palette.state();
    assert_eq!(state.frame.unwrap().to_string(), "provider:items:1");
    assert_eq!(state.placeholder, "T");
    assert_eq!(state.query, "");
    assert_eq!(ids(&palette), ["a", "b", "provider:_overflow"]);
    let chosen = call(&palette.activate("b").unwrap());
    assert_eq!(chosen.phase, Phase::Activate { id: "b".to_owned() });
    assert_eq!(palette.provided(&chosen, listing(&["deeper"])), []);
    assert_eq!(palette.state().frame, Some(Frame::Provider(2)));
    let last = call(&palette.activate("deeper").unwrap());
    assert_eq!(palette.provided(&last, listing(&[])), []);
    assert!(!palette.is_open());
}

#[test]
fn an_empty_list_shows_an_empty_frame() {
    let mut palette = opened(&custom());
    let list = call(&palette.activate("provider:0").unwrap());
    palette.provided(&list, listing(&[]));
    let state = palette.state();
    assert_eq!(state.frame, Some(Frame::Provider(1)));
    assert!(state.items.is_empty());
}

#[test]
fn a_failed_provider_shows_why() {
    let mut palette = opened(&custom());
    let list = call(&palette.activate("provider:0").unwrap());
    palette.provided(&list, Err("exit 3".to_owned()));
    let before = palette.state();
    assert_eq!(before.items[0].id, "provider:_error");
    assert_eq!(before.items[0].subtitle.as_deref(), Some("exit 3"));
    assert_eq!(palette.activate("provider:_error"), Ok(vec![]));
    assert_eq!(palette.state(), before);
}

#[test]
fn a_providers_words_for_the_empty_field_win() {
    let mut palette = opened(&custom());
    let list = call(&palette.activate("provider:0").unwrap());
    let given = Listing { placeholder: Some("Pick".to_owned()), ..Listing::default() };
    palette.provided(&list, Ok(given));
    assert_eq!(palette.state().placeholder, "Pick");
}

#[test]
fn results_that_come_too_late_are_dropped() {
    let dismissed = |palette: &mut Palette| drop(palette.dismiss());
    let reopened = |palette: &mut Palette| drop(palette.open(&custom()));
    let asked_again = |palette: &mut Palette| drop(palette.activate("provider:1"));
    let changes: [&dyn Fn(&mut Palette); 3] = [&dismissed, &reopened, &asked_again];
    for change in changes {
        let mut palette = opened(&custom());
        let list = call(&palette.activate("provider:0").unwrap());
        change(&mut palette);
        let before = palette.state();
        assert_eq!(palette.provided(&list, listing(&["a"])), []);
        assert_eq!(palette.state(), before);
    }
}

#[test]
fn a_result_for_a_frame_left_by_going_back_is_dropped() {
    let mut palette = opened(&commands());
    drill(&mut palette, "custom_commands", &custom());
    let list = call(&palette.activate("provider:0").unwrap());
    palette.back();
    palette.provided(&list, listing(&["a"]));
    assert_eq!(palette.state().frame, Some(Frame::Commands));
}

#[test]
fn lists_without_end_do_not_grow_the_stack_without_end() {
    let mut palette = opened(&custom());
    let mut next = call(&palette.activate("provider:0").unwrap());
    for _ in 0..200 {
        palette.provided(&next, listing(&["again"]));
        next = call(&palette.activate("again").unwrap());
    }
    assert_eq!(palette.state().frame, Some(Frame::Provider(200)));
    assert_eq!(palette.stack.len(), DEEPEST);
}

fn question(placeholder: &str, title: &str) -> Question {
    let answer = Answer { id: "y".to_owned(), title: "Yes".to_owned(), subtitle: None };
    Question { title: title.to_owned(), placeholder: placeholder.to_owned(), items: vec![answer] }
}

#[test]
fn a_question_is_answered_by_a_pick() {
    let mut palette = opened(&commands());
    let (session, effects) = palette.ask(&question("", "Sure?"));
    assert_eq!(effects, []);
    assert_eq!(palette.state().frame.unwrap().to_string(), "present");
    let picked = Effect::Picked { session, id: "y".to_owned() };
    assert_eq!(palette.activate("y"), Ok(vec![picked]));
    assert!(!palette.is_open());
    assert_eq!(palette.dismiss_session(session), []);
}

#[test]
fn a_question_prompts_with_placeholder_or_title_or_a_default() {
    let table = [("p", "t", "p"), ("", "t", "t"), ("", "", "Select\u{2026}")];
    for (placeholder, title, expected) in table {
        let mut palette = Palette::default();
        palette.ask(&question(placeholder, title));
        assert_eq!(palette.state().placeholder, expected);
    }
}

#[test]
fn a_question_is_dismissed_by_whatever_closes_it() {
    type Way = fn(&mut Palette, u64) -> Vec<Effect>;
    let ways: [Way; 5] = [
        |palette, _| palette.dismiss(),
        |palette, _| palette.back(),
        |palette, _| palette.open(&commands()),
        |palette, _| palette.ask(&question("", "")).1,
        |palette, session| palette.dismiss_session(session),
    ];
    for way in ways {
        let mut palette = Palette::default();
        let (session, _) = palette.ask(&question("", ""));
        assert_eq!(way(&mut palette, session), [Effect::Dismissed { session }]);
    }
}

#[test]
fn a_client_that_left_does_not_close_the_palette_of_another() {
    let mut palette = Palette::default();
    let (session, _) = palette.ask(&question("", ""));
    palette.open(&commands());
    assert_eq!(palette.dismiss_session(session), []);
    assert!(palette.is_open());
}

#[test]
fn a_refresh_keeps_query_and_selected_row() {
    let mut palette = opened(&inbox());
    palette.query("tab");
    palette.select(1);
    let Content::Notifications(mut entries) = inbox() else { panic!() };
    entries.insert(0, InboxEntry { tab: TerminalId::new(9), ..entries[0].clone() });
    assert_eq!(palette.refresh(&Content::Notifications(entries)), []);
    let state = palette.state();
    assert_eq!(state.query, "tab");
    assert_eq!(state.items[state.selection].id, "notif:3");
    palette.refresh(&Content::Notifications(vec![]));
    assert_eq!(palette.state().selection, 0);
    assert!(palette.state().items.is_empty(), "the empty row does not match the query");
}

#[test]
fn a_refresh_reaches_frames_below_and_leaves_others_alone() {
    let mut palette = opened(&commands());
    drill(&mut palette, "view_notifications", &inbox());
    palette.refresh(&Content::Commands { notifications: 2, has_providers: true });
    assert_eq!(palette.state().items.len(), 2);
    assert!(palette.has(Frame::Commands) && !palette.has(Frame::Agents));
    palette.back();
    assert_eq!(palette.state().items[3].title, "View Notifications (2)");
}

#[test]
fn a_refresh_of_themes_previews_only_if_the_selected_one_went_away() {
    let mut palette = opened(&themes());
    palette.move_by(1);
    assert_eq!(palette.refresh(&themes()), []);
    let fewer = Content::Themes { names: vec!["dracula".to_owned()], active: "Nord".to_owned() };
    assert_eq!(palette.refresh(&fewer), [Effect::PreviewTheme("dracula".to_owned())]);
    assert_eq!(palette.dismiss(), [Effect::RevertTheme("Nord".to_owned())]);
}

#[test]
fn rows_that_share_an_id_are_distinguished_by_the_selection() {
    let mut palette = Palette::default();
    let twice = Answer { id: "a".to_owned(), title: "A".to_owned(), subtitle: None };
    palette.ask(&Question { items: vec![twice.clone(), twice], ..Question::default() });
    palette.move_by(1);
    assert_eq!(palette.state().selection, 1);
    assert!(matches!(palette.activate_selected().unwrap()[..], [Effect::Picked { .. }]));
}

#[test]
fn the_overlay_is_the_same_to_look_at() {
    let mut palette = opened(&commands());
    palette.query("new");
    palette.move_by(1);
    let overlay = palette.overlay().unwrap();
    assert_eq!(overlay.frame, "commands");
    assert_eq!(overlay.selected(), 1);
    assert_eq!(overlay.rows[1].id, "new_project");
    assert_eq!(overlay.rows[1].matched, [0, 1, 2]);
    palette.dismiss();
    assert_eq!(palette.overlay(), None);
}

proptest! {
    #[test]
    fn no_sequence_of_operations_panics(
        steps in prop::collection::vec((0_u8..12, "[a-z ]{0,3}", -3_isize..4), 0..40),
    ) {
        let mut palette = Palette::default();
        let mut last_call = None;
        for (step, text, rows) in steps {
            let effects = match step {
                0 => palette.open(&commands()),
                1 => palette.open(&themes()),
                2 => palette.open(&custom()),
                3 => palette.ask(&question(&text, "")).1,
                4 => palette.query(&text),
                5 => palette.move_by(rows),
                6 => palette.back(),
                7 => palette.dismiss(),
                8 => palette.refresh(&inbox()),
                9 => match &last_call {
                    Some(call) => palette.provided(call, listing(&["a", "b"])),
                    None => Vec::new(),
                },
                _ => palette.activate_selected().unwrap_or_default(),
            };
            for effect in effects {
                match effect {
                    Effect::Drill { frame: Frame::Themes, ticket } => {
                        prop_assert!(palette.push(ticket, &themes()));
                    }
                    Effect::RunProvider(call) => last_call = Some(*call),
                    _ => {}
                }
            }
            let state = palette.state();
            prop_assert_eq!(state.open, palette.is_open());
            prop_assert!(state.selection < state.items.len().max(1));
        }
    }
}
