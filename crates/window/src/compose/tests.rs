//! What is written into pictures: bounded, and nothing that acts or hides.

use rookery_face::app::Environment;
use rookery_face::picture::fixed::Fixed;
use rookery_paint::Plan;
use rookery_view::safe;

use super::*;

#[test]
fn a_line_that_is_too_long_to_lay_out_says_what_is_left_out() {
    assert_eq!(bounded("short"), "short");
    let long = "ü".repeat(MOST_ASKED);
    assert_eq!(bounded(&long), long);
    let longer = bounded(&format!("{long}abc"));
    assert!(longer.ends_with("… and 3 characters more on this line"), "{longer}");
}

/// Texts of others that are made to deceive.
const HOSTILE: [&str; 9] = [
    "evil\x1b[2J\x1b[31mred",
    "evil\x1b]52;c;ZXZpbA==\x07clip",
    "evil\u{9b}2J\u{9d}0;x\u{9c}c1",
    "evil\u{202e}reversed\u{202c}\u{2066}isolated\u{2069}",
    "evil zero\u{200b}width\u{200d}join\u{feff}",
    "evil tags\u{e0041}\u{e0042}\u{e007f}",
    "evil filler\u{3164}\u{115f}\u{ffa0}",
    "evil\r\n\ttabs\u{85}and\u{2028}lines",
    "evil Approve  Deny…  Remember…",
];

/// A picture in which every text of others is this one.
fn everywhere(text: &str, page: Page) -> link::Scene {
    let text = text.to_owned();
    let agent = link::Agent {
        thread: Some("t".to_owned()),
        name: text.clone(),
        status: text.clone(),
        ..link::Agent::default()
    };
    let project = link::Project {
        id: 1,
        name: text.clone(),
        branch: Some(text.clone()),
        active: true,
        agents: vec![agent.clone()],
        ..link::Project::default()
    };
    let tab = link::Tab { id: 1, title: text.clone(), ..link::Tab::default() };
    let row = link::InboxRow {
        item: "i".to_owned(),
        category: "approval_needed".to_owned(),
        kind: text.clone(),
        session_title: text.clone(),
        title: text.clone(),
        subtitle: text.clone(),
        ..link::InboxRow::default()
    };
    let found = link::PaletteRow {
        id: "x".to_owned(),
        title: text.clone(),
        subtitle: text.clone(),
        ..link::PaletteRow::default()
    };
    let toast = link::Toast { title: text.clone(), body: text.clone(), ..link::Toast::default() };
    let message = link::Message { tone: link::Tone::Warn, text: text.clone() };
    link::Scene {
        page: Some(page),
        title: Some(text.clone()),
        status: Some(link::Status {
            mode: text.clone(),
            message: Some(message),
            ..link::Status::default()
        }),
        sidebar: Some(link::Sidebar {
            width: 300.0,
            projects: vec![project],
            threads: vec![agent],
            ..link::Sidebar::default()
        }),
        strip: Some(link::Strip {
            project: Some(1),
            groups: vec![link::Group { id: 1, tabs: vec![tab], focused: 1 }],
        }),
        panes: Some(None),
        palette: Some(Some(link::Palette { rows: vec![found], ..link::Palette::default() })),
        inbox: Some(link::Inbox { total: 1, rows: vec![row], ..link::Inbox::default() }),
        dialog: Some(Some(link::Dialog {
            title: text.clone(),
            body: text.clone(),
            ..link::Dialog::default()
        })),
        toasts: Some(vec![toast]),
        ..link::Scene::default()
    }
}

#[test]
fn nothing_is_written_that_a_decision_would_spell() {
    let app = App::new((100, 30), Environment { is_window: true, ..Environment::default() });
    let own =
        Own { window: WindowSize { width: 1100.0, height: 720.0 }, scale: 1.0, ..Own::default() };
    let pages = [Page::default(), Page::Inbox { item: None }, Page::Threads, Page::Help];
    for (text, page) in HOSTILE.iter().flat_map(|text| pages.iter().map(move |page| (text, page))) {
        let fixed = Fixed { scene: everywhere(text, page.clone()), ..Fixed::default() };
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        let mut scene = scene(&app, &cx, &own, &mut Rows::default());
        scene.toasts = toasts(&fixed.scene, &own);
        let scene = Arc::new(scene);
        let plan = Plan::of(&scene);
        let written = plan.texts();
        assert!(written.iter().any(|it| it.starts_with("evil")), "{written:?}");
        for one in written.iter().copied().chain([scene.title.as_str()]) {
            assert_eq!(safe::exact(one), one, "of {text:?} on {page:?}");
        }
    }
}
