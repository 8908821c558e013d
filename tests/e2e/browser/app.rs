//! The page as an app: installable, with a badge, notifications that lead to their card, and a start
//! without a daemon.

use rookery_testkit::TestDaemon;
use serde_json::json;

use crate::page::Page;
use crate::phone::phone;

#[test]
fn it_can_be_installed_and_its_badge_shows_the_count() {
    let page = phone(TestDaemon::start(), "full");
    page.until(
        "the worker is ready",
        "window.isReady ??= (navigator.serviceWorker.ready.then(() => { window.isReady = true; }), false); return window.isReady",
        &[],
    );
    let manifest = page.cdp("Page.getAppManifest", json!({}));
    assert_eq!(manifest["errors"], json!([]), "{manifest}");
    let told: serde_json::Value = serde_json::from_str(manifest["data"].as_str().unwrap()).unwrap();
    assert_eq!(told["display"], "standalone");
    let errors = page.cdp("Page.getInstallabilityErrors", json!({}));
    assert_eq!(errors["installabilityErrors"], json!([]), "{errors}");
    for icon in told["icons"].as_array().unwrap() {
        let script = "const done = arguments[1]; fetch(arguments[0]).then(async r => done([r.status, r.headers.get('content-type'), (await createImageBitmap(await r.blob())).width]))";
        let found = page.js_later(script, &[icon["src"].clone()]);
        let width = icon["sizes"].as_str().unwrap().split('x').next().unwrap();
        assert_eq!(found, json!([200, "image/png", width.parse::<u32>().unwrap()]), "{icon}");
    }
    page.js("window.badge = []; navigator.setAppBadge = n => { window.badge.push(n); return Promise.resolve() }; navigator.clearAppBadge = () => { window.badge.push(0); return Promise.resolve() }", &[]);
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    page.until("the badge shows it", "return window.badge.at(-1) === 1", &[]);
    let request = page.until_waits(&thread);
    let params = json!({"id": request, "approved": false});
    page.daemon.client().call("rookery/requests/answer", params);
    page.until("the badge is gone", "return window.badge.at(-1) === 0", &[]);
}

#[test]
fn a_notification_of_a_hidden_page_leads_to_its_card() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let permission =
        json!({"permission": {"name": "notifications"}, "setting": "granted", "origin": page.url});
    page.cdp("Browser.setPermission", permission);
    page.reload();
    page.until_open();
    page.until("it may notify", "return Notification.permission === 'granted'", &[]);
    // What the browser would show is kept, and not shown.
    page.js("window.shown = []; ServiceWorkerRegistration.prototype.showNotification = async (title, options) => { window.shown.push({title, ...options}) }", &[]);
    let hide = "Object.defineProperty(document, 'hidden', {configurable: true, value: arguments[0]}); document.dispatchEvent(new Event('visibilitychange'))";
    page.js(hide, &[json!(true)]);
    let thread = page.ask(&root, "Touch", "touch made");
    let place = page.until(
        "it is shown",
        "return window.shown.find(n => n.data?.place?.item)?.data.place",
        &[],
    );
    assert_eq!(place["page"], "inbox");
    page.js(hide, &[json!(false)]);
    // A click on it while no page is open begins one with the place in the fragment.
    page.go("about:blank");
    let script = "return encodeURIComponent(JSON.stringify(arguments[0]))";
    let fragment = page.js(script, &[place]).as_str().unwrap().to_owned();
    page.go(&format!("{}/#go={fragment}", page.url));
    page.until_open();
    page.until_page("card");
    page.until_says("#card-what", "touch made");
    assert_eq!(page.js("return location.hash", &[]), "");
    page.pass_guard();
    crate::phone::tap(&page, "#approve");
    page.until_settled(&thread);
}

#[test]
fn it_starts_without_a_daemon_and_comes_back_by_itself() {
    let mut page = Page::open_with(TestDaemon::start(), "full", crate::page::WIDE);
    page.until(
        "the worker has the page",
        "return navigator.serviceWorker.controller !== null",
        &[],
    );
    // Already the first start has kept all of it.
    page.daemon.kill9();
    page.until_state("lost");
    page.reload();
    page.until_shown("#lost");
    page.until_says("#lost", "The daemon is away");
    page.daemon.restart();
    page.until_open();
    page.until_hidden("#lost");
    let ahead = "return [...document.querySelectorAll('link[rel=modulepreload]')].some(l => l.href.endsWith('/pages/card.js'))";
    assert_eq!(page.js(ahead, &[]), true, "modules are loaded ahead");
}
