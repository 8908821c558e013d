//! A finger that scrolls through a long history as fast as fingers do.

use rookery_testkit::TestDaemon;

use crate::phone::{open_terminal, phone, touch};

/// Counts, from picture to picture, how long anything of the terminal is blank. It looks once each is drawn.
const WATCH: &str = "
    const pane = document.querySelector('.pane[data-focused] .scroller');
    const seen = window.seen = { pictures: 0, run: 0, longest: 0, top: null };
    const channel = new MessageChannel();
    const next = () => requestAnimationFrame(() => channel.port2.postMessage(null));
    channel.port1.onmessage = () => {
      const box = pane.getBoundingClientRect();
      const rowAt = (share) => document.elementFromPoint(box.left + 20, box.top + box.height * share)?.closest('.row');
      const isBlank = [0.03, 0.2, 0.4, 0.6, 0.8, 0.97].some((share) => !/\\d/.test(rowAt(share)?.textContent ?? ''));
      seen.pictures += 1;
      seen.run = isBlank ? seen.run + 1 : 0;
      seen.longest = Math.max(seen.longest, seen.run);
      seen.top = pane.scrollTop;
      next();
    };
    next();";
/// Pictures in 200 ms of a page that draws 60 a second.
const MOST: u64 = 12;
/// Pixels from one touch to the next, and where they begin and end.
const STEP: f64 = 180.0;
const WAY: (f64, f64) = (80.0, 800.0);

#[test]
fn no_row_is_blank_for_long_while_a_finger_scrolls_through_ten_thousand() {
    let page = phone(TestDaemon::start(), "full");
    let program =
        ["sh", "-c", "seq -f 'row %.0f.' 10000; printf 'the end of 10000 rows'; exec cat"];
    open_terminal(&page, &program, "the end of 10000 rows");
    page.js(WATCH, &[]);
    page.until("it is at the end", "return window.seen.top > 0", &[]);
    let is_at_top = || page.js("return window.seen.top === 0", &[]) == true;
    let mut drags = 0;
    while !is_at_top() {
        drags += 1;
        assert!(drags < 1_000, "{}", page.js("return window.seen", &[]));
        let mut y = WAY.0;
        touch(&page, "touchStart", &[(190.0, y)]);
        while y < WAY.1 {
            y += STEP;
            touch(&page, "touchMove", &[(190.0, y)]);
        }
        touch(&page, "touchEnd", &[]);
    }
    page.until("the first row is shown", "return [...document.querySelectorAll('.pane[data-focused] .row')].some(row => row.textContent === 'row 1.')", &[]);
    let seen = page.js("return window.seen", &[]);
    assert!(drags > 50, "{drags} drags are not all of it: {seen}");
    assert!(seen["longest"].as_u64() <= Some(MOST), "{seen}");
}
