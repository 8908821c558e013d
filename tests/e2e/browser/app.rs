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
    // What is kept has its build in its address, and nothing that the daemon said is among it.
    let kept = "const done = arguments[0]; (async () => { const all = [];
            for (const name of await caches.keys()) for (const request of await (await caches.open(name)).keys()) all.push(new URL(request.url).pathname);
            done(all) })()";
    let kept = page.js_later(kept, &[]);
    let build = page.js("return window.rookery.version.build", &[]);
    let below = format!("/a/{}/", build.as_str().unwrap());
    let kept: Vec<_> = kept.as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(kept.contains(&format!("{below}pages/card.js").as_str()), "{kept:?}");
    assert!(kept.iter().all(|path| path.starts_with(&below)), "{kept:?}");
}

/// The worker of a browser without a screen is not reached by clicks on notifications: its own code is run beside
/// the page, with what it calls kept.
#[test]
fn a_click_on_a_notification_leads_to_a_page_that_is_open_or_begins_one() {
    let page = phone(TestDaemon::start(), "full");
    let root = page.project("api");
    let thread = page.ask(&root, "Touch", "touch made");
    let item = page.until(
        "it is listed",
        "return document.querySelector('#inbox [data-item]')?.dataset.item ?? ''",
        &[],
    );
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/web/assets");
    let worker = std::fs::read_to_string(assets.join("sw.js")).unwrap();
    let script = format!(
        "const [place, isOpen, done] = arguments; const told = [], heard = {{}};
         const known = {{url: location.origin + '/', postMessage: message => told.push(message), focus: async () => told.push('focus')}};
         const self = {{location, skipWaiting() {{}}, addEventListener: (name, run) => (heard[name] = run),
             clients: {{claim() {{}}, matchAll: async () => (isOpen ? [known] : []), openWindow: async address => told.push(address)}}}};
         {worker}
         let waits; const notification = {{data: {{place}}, close: () => told.push('close')}};
         heard.notificationclick({{notification, waitUntil: work => (waits = work)}});
         waits.then(() => done(told));"
    );
    let place = json!({"page": "inbox", "item": item});
    let open = page.js_later(&script, &[place.clone(), json!(true)]);
    assert_eq!(open, json!(["close", {"go": place}, "focus"]));
    let begun = page.js_later(&script, &[place, json!(false)]);
    assert_eq!(begun[0], "close");
    let address = begun[1].as_str().unwrap().to_owned();
    page.go("about:blank");
    page.go(&format!("{}{address}", page.url));
    page.until_open();
    page.until_page("card");
    page.until_says("#card-what", "touch made");
    // What the worker tells a page that is open leads there as well.
    crate::phone::tap(&page, "#bar [data-go='inbox']");
    page.until_page("inbox");
    let message =
        "navigator.serviceWorker.dispatchEvent(new MessageEvent('message', {data: arguments[0]}))";
    page.js(message, &[open[1].clone()]);
    page.until_page("card");
    page.until_says("#card-what", "touch made");
    assert_eq!(page.waiting(&thread).len(), 1);
}
