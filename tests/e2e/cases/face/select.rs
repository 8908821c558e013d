//! Finding, copy mode and the mouse: what is selected is what is copied, and the message tells the
//! truth.

use base64::Engine as _;
use rookery_testkit::{Outer, PATIENCE, TestDaemon, wait_until};

use super::Face;

/// Rows with words, one of them wrapped.
const TEXT: &str = "printf 'alpha beta gamma\\nfirst line\\n\\nsecond part\\n日本語 wide\\n'; \
                    i=0; while [ $i -lt 60 ]; do printf w$i-; i=$((i+1)); done; \
                    echo; echo end; exec cat";

fn opened(daemon: &TestDaemon) -> Face {
    let client = daemon.client();
    let id = client.open_sh(TEXT);
    client.wait_text(id, "end");
    let outer = Outer { has_clipboard: true, keeps_bytes: true, ..Outer::default() };
    let face = Face::open_in(daemon, &[], &outer);
    face.wait("alpha beta gamma");
    face
}

/// The last text that was sent to the outer terminal's clipboard.
fn copied(face: &Face) -> String {
    let bytes = String::from_utf8_lossy(&face.pty.written()).into_owned();
    let data = bytes.rsplit("\x1b]52;c;").next().unwrap().split('\x1b').next().unwrap().to_owned();
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).unwrap_or_default();
    String::from_utf8(bytes).unwrap()
}

#[track_caller]
fn wait_copied(face: &Face, text: &str) {
    face.wait("copied");
    wait_until(&format!("{text:?} is copied"), PATIENCE, || copied(face).trim_end() == text);
}

/// A report of the mouse; the pane begins at column 23 and row 2.
fn mouse(button: u8, col: u16, row: u16, last: char) -> String {
    format!("\x1b[<{button};{};{}{last}", col + 23, row + 2)
}

#[test]
fn a_drag_a_double_and_a_triple_click_copy() {
    let daemon = TestDaemon::start();
    let face = opened(&daemon);
    face.send(mouse(0, 6, 0, 'M') + &mouse(32, 8, 0, 'M') + &mouse(32, 9, 0, 'M'));
    face.send(mouse(0, 9, 0, 'm'));
    wait_copied(&face, "beta");
    // Over rows.
    face.send(mouse(0, 11, 0, 'M') + &mouse(32, 4, 1, 'M') + &mouse(0, 4, 1, 'm'));
    wait_copied(&face, "gamma\nfirst");
    face.send((mouse(0, 1, 3, 'M') + &mouse(0, 1, 3, 'm')).repeat(2));
    wait_copied(&face, "second");
    face.send((mouse(0, 8, 1, 'M') + &mouse(0, 8, 1, 'm')).repeat(3));
    wait_copied(&face, "first line");
    // A wide character belongs to the selection whole.
    face.send(mouse(0, 0, 4, 'M') + &mouse(32, 2, 4, 'M') + &mouse(0, 2, 4, 'm'));
    wait_copied(&face, "日本");
    face.leave();
}

#[test]
fn with_shift_the_mouse_is_the_terminals_and_a_program_gets_what_it_asked_for() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client
        .open_sh("stty raw -echo; printf '\\033[?1002h\\033[?1006hgo'; exec od -An -c -w1 -v");
    client.wait_text(id, "go");
    let face = Face::open(&daemon);
    face.wait("go");
    face.send(mouse(0, 4, 9, 'M') + &mouse(0, 4, 9, 'm'));
    let got = || client.screen(id).split_whitespace().collect::<String>();
    wait_until("the program has the click", PATIENCE, || {
        got().ends_with("033[<0;5;10M033[<0;5;10m")
    });
    face.leave();
}

#[test]
fn copy_mode_walks_as_its_keys_say() {
    let daemon = TestDaemon::start();
    let face = opened(&daemon);
    // Each begins at the first row: `g`.
    let walks: &[(&str, &str)] = &[
        ("vey", "alpha"),
        ("wvey", "beta"),
        ("wwbvey", "beta"),
        ("lllvhhy", "lph"),
        ("$vby", "gamma"),
        ("jwv$y", "line"),
        ("jwv0y", "first l"),
        ("j$^vey", "first"),
        ("Vjy", "alpha beta gamma\nfirst line"),
        ("v}y", "alpha beta gamma\nfirst line"),
        ("}jv$y", "second part"),
        ("}jj{kV\r", "first line"),
        ("vjoly", "lpha beta gamma\nf"),
        ("ll\x16jly", "ph\nrs"),
        ("\x04\x15vey", "alpha"),
        ("\x06\x02vey", "alpha"),
        ("Ggvey", "alpha"),
    ];
    for (keys, text) in walks {
        face.prefix("[");
        face.wait("copy mode");
        face.send("g");
        for key in keys.chars() {
            face.send(key.to_string());
        }
        face.wait_gone("copy mode");
        wait_until(&format!("{keys:?} copies {text:?}"), PATIENCE, || {
            copied(&face).trim_end() == *text
        });
    }
    face.leave();
}

/// Waits until the cursor is in this row and column of the pane.
#[track_caller]
fn wait_at(face: &Face, row: u16, col: u16) {
    wait_until(&format!("the cursor is at {row}, {col}"), PATIENCE, || {
        let cursor = face.pty.snapshot().cursor;
        (cursor.row, cursor.col) == (row + 1, col + 22)
    });
}

#[test]
fn copy_mode_searches_and_its_selection_is_let_go_before_it_is_left() {
    let daemon = TestDaemon::start();
    let face = opened(&daemon);
    face.prefix("[");
    face.wait("copy mode");
    face.send("g");
    wait_at(&face, 0, 0);
    face.send("/a\r");
    wait_at(&face, 0, 4);
    face.send("n");
    wait_at(&face, 0, 9);
    face.send("n");
    wait_at(&face, 0, 12);
    face.send("N");
    wait_at(&face, 0, 9);
    face.send("?second\r");
    wait_at(&face, 3, 0);
    face.send("v");
    face.send("e");
    wait_at(&face, 3, 5);
    // Off with the selection, which the mode outlives; then it is left.
    // By its letter: ESC with a key right behind it is that key with Alt.
    face.send("q0");
    wait_at(&face, 3, 0);
    face.wait("copy mode");
    face.send("\x1b");
    face.wait_gone("copy mode");
    assert!(!face.pty.text().contains("copied"));
    face.leave();
}

#[test]
fn wrapped_rows_are_joined_and_the_view_stays_while_output_goes_on() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let face = opened(&daemon);
    let id = super::terminals(&client)[0];
    face.prefix("[");
    face.wait("copy mode");
    face.send("?w0-\r");
    wait_at(&face, 5, 0);
    face.send("V");
    for row in 0..40 {
        client.write(id, &format!("more-{row}\n"));
    }
    client.wait_text(id, "more-39");
    face.wait("w0-w1-");
    assert!(!face.pty.text().contains("more-39"), "{}", face.pty.text());
    face.send("jjjy");
    let whole: String = (0..60).map(|n| format!("w{n}-")).collect();
    wait_until("it is one line", PATIENCE, || copied(&face).lines().next() == Some(&whole));
    face.wait("more-39");
    face.leave();
}

#[test]
fn what_is_scrolled_says_how_much_is_new() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let script = "i=0; while [ $i -lt 100 ]; do echo row-$i; i=$((i+1)); done; echo end; exec cat";
    let id = client.open_sh(script);
    client.wait_text(id, "end");
    let face = Face::open(&daemon);
    face.wait("end");
    // The wheel, over the pane.
    for _ in 0..5 {
        face.send("\x1b[<64;40;10M");
    }
    face.wait("↓ ");
    face.wait_gone("row-99");
    for row in 0..7 {
        client.write(id, &format!("new-{row}\n"));
    }
    client.wait_text(id, "new-6");
    // Each line comes twice: echoed, and from the program.
    face.wait("↓ 14 new");
    assert!(!face.pty.text().contains("new-6"));
    // Typing goes to the bottom.
    face.send("x");
    face.wait("new-6");
    face.wait_gone("↓ ");
    face.leave();
}

#[test]
fn copy_mode_holds_the_newest_rows_while_output_goes_on() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let script = "stty -echo; for i in 1 2 3 4 5 6; do seq -f early-%g 10; done; echo ready; \
                  while read line; do seq -f late-$line-%g 40; done";
    let id = client.open_sh(script);
    client.wait_text(id, "ready");
    let face = Face::open(&daemon);
    face.wait("ready");
    face.prefix("[");
    // The bar has these words as well.
    face.wait_gone("q leave");
    face.wait("copy mode");
    client.write(id, "x\r");
    client.wait_text(id, "late-x-40");
    face.wait("↓");
    let shown = face.pty.text();
    assert!(shown.contains("early-10") && shown.contains("ready"), "{shown}");
    // At most the row that the cursor was in.
    assert!(!shown.contains("late-x-2"), "{shown}");
    // The same after going to the end by hand.
    face.send("G");
    face.wait("late-x-40");
    client.write(id, "y\r");
    client.wait_text(id, "late-y-40");
    face.wait("↓");
    assert!(face.pty.text().contains("late-x-40"), "{}", face.pty.text());
    face.send("\x1b");
    face.wait("late-y-40");
    face.leave();
}
