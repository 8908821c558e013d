//! One request in three faces: the page in a window, the page on a phone, and the TUI.

use rookery_testkit::{TestPty, rookery_binary};

use crate::chromium::Browser;
use crate::page::{Page, enter};
use crate::phone::{PHONE, become_phone, tap};

#[test]
fn a_request_that_is_answered_in_one_face_is_settled_in_all_and_they_say_by_whom() {
    let page = Page::open();
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    let request = page.until_waits(&thread);
    page.open_inbox(1);
    page.until_shown("#approve");

    let args = ["tui", "--page", "inbox"];
    let tui = TestPty::spawn(page.daemon.home(), rookery_binary(), &args, (30, 120));
    tui.wait_text("touch made");
    tui.wait_text("a approve");

    let phone = Browser::start(PHONE);
    become_phone(&phone);
    enter(&phone, &page.daemon, "decide", "Grace's phone");
    phone.until_shown("#inbox [data-act='approve']");
    page.pass_guard();
    tap(&phone, "#inbox [data-act='approve']");

    page.until_settled(&thread);
    page.until_file(&root.join("made"));
    page.until_says("#card-state", "approved by Grace's phone");
    page.until_hidden("#approve, #deny, #remember, #later");
    page.until_rows(0);
    tui.wait_text("approved by Grace's phone");
    phone.until("the phone lists it no more", GONE, &[request.into()]);
    // Keys of the others are dead by then, and nothing else came of it.
    tui.send(b"d");
    page.type_keys("d");
    page.moment();
    assert!(page.told(&thread).contains("It is done."));
    tui.wait_text("0 wait");
}

const GONE: &str =
    "return !document.querySelector(`#inbox [data-request='${arguments[0]}'] [data-act]`)";
