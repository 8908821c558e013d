//! Lists that are longer than what is here of them, and what is not approved blind.

use rookery_view::link::*;

use super::*;

fn review_file(path: &str, lines: std::ops::Range<u32>, is_first: bool) -> DiffFile {
    let line = |number: u32| DiffLine {
        kind: LineKind::Added,
        new: Some(number + 1),
        text: format!("line-{number}"),
        ..DiffLine::default()
    };
    let hunk = Hunk { new: 1, lines: lines.map(line).collect(), ..Hunk::default() };
    let status = if is_first { FileStatus::Changed } else { FileStatus::Added };
    DiffFile { path: path.to_owned(), status, hunks: Some(vec![hunk]), ..DiffFile::default() }
}

impl Bench {
    /// A review of files whose lines are not here yet.
    fn review(&mut self, paths: &[&str]) -> u64 {
        self.fixed.scene.page = Some(Page::Review { review: "R".to_owned(), file: None });
        self.step(|app, cx| app.changed(cx));
        let (serial, _) = self.app.pages.review.diff_call();
        let file = |path: &&str| DiffFile { path: (*path).to_owned(), ..DiffFile::default() };
        let list = Diff { files: paths.iter().map(file).collect(), next: None };
        self.step(|app, cx| app.reply(cx, Ask::Diff(serial, None), Ok(json(list))));
        self.app.take_effects();
        serial
    }

    fn lines_come(
        &mut self,
        serial: u64,
        path: &str,
        lines: std::ops::Range<u32>,
        next: Option<u32>,
    ) {
        let from = lines.start;
        let diff = Diff { files: vec![review_file(path, lines, from == 0)], next };
        let ask = match from {
            0 => Ask::Diff(serial, Some(path.to_owned())),
            from => Ask::DiffMore(serial, path.to_owned(), from),
        };
        self.step(|app, cx| app.reply(cx, ask, Ok(json(diff))));
    }

    fn after_guard(&mut self) {
        self.draw();
        self.now += 1000;
    }
}

fn froms(effects: &[Effect], wanted: &str) -> Vec<Value> {
    let all = calls(effects).into_iter().filter(|(method, _)| *method == wanted);
    all.map(|(_, params)| params["from"].clone()).collect()
}

#[test]
fn long_diffs_come_page_by_page_and_are_not_approved_before_their_end() {
    let mut bench = Bench::new();
    let serial = bench.review(&["a.rs"]);
    bench.lines_come(serial, "a.rs", 0..2000, Some(2000));
    bench.after_guard();
    assert_eq!(froms(&bench.app.take_effects(), method::DIFF.name), [Value::Null; 0]);
    // The first press goes to the end of what is here, and asks for the rest.
    let effects = bench.keys(&["a"]);
    assert!(bench.note().ends_with("a again approves"), "{}", bench.note());
    assert_eq!(froms(&effects, method::DIFF.name), [json!(2000)]);
    assert!(!calls(&effects).iter().any(|(method, _)| method.contains("setStatus")));
    bench.lines_come(serial, "a.rs", 2000..2500, None);
    let shown = bench.draw().join("\n");
    assert!(shown.contains("line-1999") && !shown.contains("more lines follow"), "{shown}");
    bench.keys(&["G"]);
    assert!(bench.draw().join("\n").contains("line-2499"));
    bench.now += 1000;
    let effects = bench.keys(&["a"]);
    assert!(calls(&effects).iter().any(|(method, _)| *method == "rookery/reviews/setStatus"));
}

#[test]
fn what_fits_is_approved_at_once_and_every_file_counts() {
    let mut bench = Bench::new();
    let serial = bench.review(&["a.rs", "b.rs"]);
    bench.lines_come(serial, "a.rs", 0..3, None);
    bench.after_guard();
    let effects = bench.keys(&["a"]);
    assert_eq!(bench.note(), "1 of 2 files were not shown to their end; a again approves");
    assert!(!calls(&effects).iter().any(|(method, _)| method.contains("setStatus")));
    assert_eq!(bench.app.pages.review.file, 1, "it goes there");
    // Not within the guard.
    let effects = bench.keys(&["a"]);
    assert!(!calls(&effects).iter().any(|(method, _)| method.contains("setStatus")));
    let mut bench = Bench::new();
    let serial = bench.review(&["a.rs", "b.rs"]);
    bench.lines_come(serial, "a.rs", 0..3, None);
    bench.after_guard();
    bench.keys(&["]"]);
    bench.lines_come(serial, "b.rs", 0..3, None);
    bench.after_guard();
    let effects = bench.keys(&["a"]);
    assert!(calls(&effects).iter().any(|(method, _)| *method == "rookery/reviews/setStatus"));
}

impl Bench {
    /// A window of an inbox with more rows than one has.
    fn long_inbox(&mut self, from: u32, total: u32) {
        self.fixed.scene.page = Some(Page::Inbox { item: None });
        let row = |number: u32| InboxRow { item: format!("i{number}"), ..InboxRow::default() };
        let rows = (from..total.min(from + bound::INBOX_ROWS)).map(row).collect();
        self.fixed.scene.inbox = Some(Inbox { from, total, rows, ..Inbox::default() });
        self.step(|app, cx| app.changed(cx));
    }

    fn selected(&self) -> &str {
        self.app.pages.inbox.selected.as_deref().unwrap_or_default()
    }
}

#[test]
fn an_inbox_is_walked_beyond_the_rows_that_are_here() {
    let mut bench = Bench::new();
    bench.long_inbox(0, 450);
    bench.app.take_effects();
    assert!(bench.draw()[1].contains("1–200 of 450"), "{:?}", bench.draw());
    bench.keys(&["G"]);
    bench.long_inbox(250, 450);
    assert_eq!(bench.selected(), "i449");
    bench.keys(&["g"]);
    bench.long_inbox(0, 450);
    assert_eq!(bench.selected(), "i0");
    for _ in 0..199 {
        bench.keys(&["j"]);
    }
    assert_eq!(bench.selected(), "i199");
    let effects = bench.keys(&["j"]);
    assert_eq!(froms(&effects, method::INBOX.name), [json!(150)]);
    bench.long_inbox(150, 450);
    assert_eq!(bench.selected(), "i200", "one further, as anywhere else");
    bench.keys(&["k"]);
    assert_eq!(bench.selected(), "i199");
    // Rows that go away while one looks at them: there may be others.
    bench.long_inbox(150, 100);
    assert_eq!(froms(&bench.app.take_effects(), method::INBOX.name), [json!(0)]);
}

#[test]
fn an_inbox_is_filtered_by_the_daemon_and_letters_are_letters_meanwhile() {
    let mut bench = Bench::new();
    bench.inbox();
    bench.after_guard();
    let effects = bench.keys(&["/", "a", "d"]);
    let asked: Vec<String> = calls(&effects)
        .into_iter()
        .map(|(method, params)| format!("{method} {}", params["query"].as_str().unwrap_or("-")))
        .collect();
    assert_eq!(asked, ["rookery/view/inbox a", "rookery/view/inbox ad"]);
    bench.draw();
    bench.keys(&["enter"]);
    assert!(!bench.app.pages.inbox.filtering && bench.app.pages.inbox.filter.is_some());
    let effects = bench.keys(&["escape"]);
    assert_eq!(calls(&effects)[0].1.get("query"), None, "everything is there again");
    assert!(bench.app.pages.inbox.filter.is_none());
}

#[test]
fn notes_in_the_inbox_are_remembered() {
    let mut bench = Bench::new();
    bench.inbox();
    let effects = bench.keys(&["i"]);
    let kept = calls(&effects).into_iter().find(|(method, _)| *method == method::PREFS.name);
    assert_eq!(kept.map(|(_, params)| params["set"]["inbox-all"].clone()), Some(json!(true)));
    let mut bench = Bench::new();
    bench.inbox();
    let prefs = json!({ "prefs": { "inbox-all": true } });
    bench.step(|app, cx| app.reply(cx, Ask::Prefs, Ok(prefs)));
    assert_eq!(calls(&bench.app.take_effects())[0].1["all"], true);
}

#[test]
fn a_session_is_opened_at_its_terminal_or_as_its_thread() {
    for (terminal, page) in [
        (Some(3), json!({ "page": "workspace", "terminal": 3 })),
        (None, json!({ "page": "thread", "thread": "0199-uuid" })),
    ] {
        let mut bench = Bench::new();
        bench.inbox();
        let card = Card {
            request: Some("r1".to_owned()),
            session: "0199-uuid".to_owned(),
            terminal,
            ..Card::default()
        };
        let serial = bench.app.pages.card.serial();
        bench.step(|app, cx| app.reply(cx, Ask::Card(serial), Ok(json(card))));
        bench.app.take_effects();
        assert_eq!(calls(&bench.keys(&["o"])), [(method::GO.name, page)]);
    }
}

#[test]
fn threads_are_listed_page_by_page() {
    let mut bench = Bench::new();
    bench.fixed.scene.page = Some(Page::Threads);
    bench.step(|app, cx| app.changed(cx));
    let row =
        |number: u32| json!({ "thread": format!("t{number}"), "title": format!("n{number}") });
    let page = |numbers: std::ops::Range<u32>, after: Option<&str>| {
        let rows: Vec<Value> = numbers.map(row).collect();
        json!({ "threads": rows, "after": after })
    };
    bench.step(|app, cx| app.reply(cx, Ask::List("threads"), Ok(page(0..100, Some("here")))));
    bench.app.take_effects();
    assert_eq!(calls(&bench.keys(&["j"])), []);
    let effects = bench.keys(&["G"]);
    assert_eq!(calls(&effects), [(method::THREAD_LIST.name, json!({ "after": "here" }))]);
    assert_eq!(calls(&bench.keys(&["k"])), [], "once");
    let more = Ask::MoreThreads("here".to_owned());
    // One of them was there already: it changed meanwhile.
    bench.step(|app, cx| app.reply(cx, more, Ok(page(99..120, None))));
    bench.keys(&["G"]);
    assert_eq!(bench.app.pages.list.selected, 119);
    assert!(bench.draw().join("\n").contains("n119"));
}

#[test]
fn the_sidebar_is_filtered_and_lists_threads_of_no_project() {
    let mut bench = Bench::new();
    let thread =
        Agent { thread: Some("x".to_owned()), name: "stray".to_owned(), ..Agent::default() };
    if let Some(sidebar) = &mut bench.fixed.scene.sidebar {
        sidebar.threads = vec![thread];
        sidebar.projects[0].branch = Some("main".to_owned());
    }
    let shown = bench.draw().join("\n");
    assert!(shown.contains("elsewhere") && shown.contains("stray") && shown.contains("main"));
    bench.keys(&["ctrl+\\", "w", "/", "u", "p", "g"]);
    let shown = bench.draw();
    let side: Vec<&str> = shown.iter().map(|line| line.get(..20).unwrap_or(line).trim()).collect();
    assert!(side.iter().any(|line| line.contains("upgrade")), "{side:?}");
    assert!(!side.iter().any(|line| line.contains("docs") || line.contains("stray")), "{side:?}");
    bench.keys(&["enter", "j"]);
    let effects = bench.keys(&["enter"]);
    assert_eq!(calls(&effects), [(method::GO.name, json!({ "page": "workspace", "terminal": 5 }))]);
    bench.keys(&["ctrl+\\", "w"]);
    assert!(bench.app.pages.sidebar.filter.is_none(), "it begins anew");
}

#[test]
fn copy_mode_holds_what_is_shown() {
    let mut bench = Bench::new();
    let effects = bench.keys(&["ctrl+\\", "["]);
    let held = |effect: &Effect| match effect {
        Effect::Notify(name, params) if *name == method::SCROLL.name => Some(params["to"].clone()),
        _ => None,
    };
    assert_eq!(effects.iter().filter_map(held).collect::<Vec<_>>(), [json!("hold")]);
}

#[test]
fn what_asks_elsewhere_is_reported_at_the_edge_for_a_while() {
    let mut bench = Bench::new();
    let notice = Notice::New(NewNotice {
        id: 5,
        urgency: Urgency::High,
        title: "docs: write_file".to_owned(),
        body: String::new(),
        page: None,
        at: 0,
    });
    bench.app.notices(std::slice::from_ref(&notice), bench.now);
    // The cursor stands in the first row, where nothing may cover it.
    if let Some(term) = bench.fixed.terms.get_mut(&3) {
        term.cursor.row = 3;
    }
    let shown = bench.draw();
    assert!(shown[1].ends_with("docs: write_file"), "{shown:?}");
    bench.app.end_toasts(bench.now + 10_000);
    assert!(!bench.draw()[1].contains("write_file"));
}

#[test]
fn a_long_line_of_wide_letters_is_shown_with_its_cursor() {
    let mut bench = Bench::new();
    bench.app.size = (50, 12);
    bench.fixed.scene.page = Some(Page::Thread { thread: "t1".to_owned() });
    bench.step(|app, cx| app.changed(cx));
    for _ in 0..40 {
        bench.app.pages.thread.composer.insert("日");
    }
    bench.app.pages.thread.composer.insert("end");
    let look = Look::new(None, "none", Depth::None, true, false);
    let cx = Cx { picture: &bench.fixed, now: 1, wall: 0 };
    let picture = draw(&bench.app, &cx, &look);
    let caret = picture.caret.unwrap();
    let row = picture.canvas.text(caret.row);
    assert!(row.ends_with("日end"), "{row}");
    let cells = rookery_face::cells::text_width(&row);
    assert_eq!(caret.col, cells, "right behind what is written: {row}");
}

#[test]
fn one_pane_at_a_time_has_a_dot_for_each() {
    let mut bench = Bench::new();
    bench.app.size = (58, 20);
    assert!(bench.draw()[0].contains("*."), "{:?}", bench.draw()[0]);
    bench.app.size = (100, 30);
    assert!(bench.draw()[0].contains("+1"), "{:?}", bench.draw()[0]);
}

#[test]
fn a_tiny_inbox_shows_one_row_and_its_card() {
    let mut bench = Bench::new();
    bench.inbox();
    bench.app.size = (38, 9);
    let inbox = bench.fixed.scene.inbox.as_mut().unwrap();
    inbox.rows[0].session_title = "fix-auth".to_owned();
    inbox.rows[0].title = "write_file".to_owned();
    inbox.rows.push(InboxRow { title: "other".to_owned(), ..InboxRow::default() });
    let shown = bench.draw();
    assert!(shown[1].contains("fix-auth  write_file"), "{shown:?}");
    assert!(!shown.join("\n").contains("other") && !shown.join("\n").contains("KIND"));
    assert!(shown.join("\n").contains("a approve"), "{shown:?}");
}
