//! What the page looks like where it matters: for those who asked their system for more contrast, less motion or
//! their own colors, in clusters of many cells, and as wide as the person made its parts.

use rookery_testkit::{PATIENCE, wait_until};
use serde_json::json;

use crate::page::Page;

/// The system asks for this.
fn prefer(page: &Page, name: &str, value: &str) {
    let features = json!([{"name": name, "value": value}]);
    page.cdp("Emulation.setEmulatedMedia", json!({"features": features}));
}

#[test]
fn what_the_system_prefers_is_heeded() {
    let page = Page::open();
    page.shell();
    let colors = "const s = getComputedStyle(document.documentElement); return ['dim', 'line', 'text', 'fg'].map(name => s.getPropertyValue('--' + name).trim())";
    let usual = page.js(colors, &[]);
    assert_ne!(usual[0], usual[2]);
    prefer(&page, "prefers-contrast", "more");
    let strong = page.js(colors, &[]);
    assert_eq!((&strong[0], &strong[1]), (&strong[2], &strong[3]));
    let still = "return [...document.querySelectorAll('*')].filter(e => ['', '::before', '::after'].some(part => { const s = getComputedStyle(e, part || null); return s.animationName !== 'none' || parseFloat(s.transitionDuration) > 0 })).map(e => e.className)";
    prefer(&page, "prefers-reduced-motion", "no-preference");
    assert_ne!(page.js(still, &[]), json!([]), "something moves, else this shows nothing");
    prefer(&page, "prefers-reduced-motion", "reduce");
    assert_eq!(page.js(still, &[]), json!([]));
    prefer(&page, "forced-colors", "active");
    let tab = "const s = getComputedStyle(document.querySelector('#tabs [aria-selected=true]')); return [s.borderTopStyle, s.borderTopWidth]";
    assert_eq!(page.js(tab, &[]), json!(["solid", "2px"]));
}

#[test]
fn a_cluster_is_as_wide_as_its_cells() {
    let page = Page::open();
    page.shell();
    let script = "const row = document.querySelector('.row'), cell = parseFloat(getComputedStyle(row).getPropertyValue('--cell-w'));
        return [1, 2, 3, 4, 5, 6, 7, 8].map(cells => { const box = document.createElement('span'); box.className = `c c${cells}`; box.textContent = 'x'; row.append(box);
            const width = box.getBoundingClientRect().width / cell; box.remove(); return Math.round(width * 100) / 100 })";
    assert_eq!(page.js(script, &[]), json!([1, 2, 3, 4, 5, 6, 7, 8]));
}

#[test]
fn the_sidebar_keeps_its_width_for_the_device() {
    let page = Page::open();
    page.shell();
    let width =
        "return Math.round(document.querySelector('#sidebar').getBoundingClientRect().width)";
    let (x, y) = page.middle("#sidebar .edge");
    page.drag((x, y), (330, y));
    assert_eq!(page.js(width, &[]), 330);
    // Whatever the browser forgets, the daemon keeps for the device.
    wait_until("the daemon has it", PATIENCE, || {
        page.js("localStorage.clear()", &[]);
        page.reload();
        page.until_open();
        page.settle();
        page.js(width, &[]) == 330
    });
    let (x, y) = page.middle("#sidebar .edge");
    page.drag((x, y), (900, y));
    assert_eq!(page.js(width, &[]), 480, "no wider than the page can bear");
}
