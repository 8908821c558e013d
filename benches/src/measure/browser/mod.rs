//! The page in a browser beside xterm.js with an echo server, in the same browser.

mod crash;
mod flood;
mod rest;
mod start;
mod typing;

use std::net::TcpListener;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::{Bench, Section, keep_going};
use crate::chromium::Chromium;
use crate::client::Client;
use crate::peers::rookery::Rookery;
use crate::peers::xterm_js::XtermJs;
use crate::peers::{SessionServer as _, Size};
use crate::process;
use crate::report::{Better, Report, Row};

/// How long anything that should happen soon may take.
const SOON: Duration = Duration::from_secs(60);
/// What every page that is measured runs first.
const WATCH: &str = include_str!("watch.js");
/// What it says.
const FIRST: &str = "benchFirst";
const KEY: &str = "benchKey";
const END: &str = "benchEnd";

pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    if bench.chromium.is_none() {
        return Ok(());
    }
    start::run(bench, report)?;
    typing::run(bench, report)?;
    flood::run(bench, report)?;
    rest::run(bench, report)?;
    crash::run(bench, report)
}

fn row(name: impl Into<String>, unit: &'static str, better: Better) -> Row {
    Row::new(Section::Browser.name(), name, unit, better)
}

/// A browser whose pages are measured.
fn browser(bench: &Bench) -> anyhow::Result<Chromium> {
    let (binary, _) = bench.chromium.as_ref().context("there is no browser")?;
    let mut browser = Chromium::start(binary)?;
    for name in [FIRST, KEY, END] {
        browser.call("Runtime.addBinding", &json!({"name": name}))?;
    }
    browser.call("Page.addScriptToEvaluateOnNewDocument", &json!({"source": WATCH}))?;
    Ok(browser)
}

/// Our page: a daemon and a browser that was paired with it.
struct Page {
    // The browser goes first: no page complains of a daemon that is gone.
    browser: Chromium,
    rookery: Rookery,
    client: Client,
    url: String,
}

impl Page {
    /// A page that shows a terminal with the echo.
    fn open(bench: &Bench) -> anyhow::Result<Page> {
        let rookery = bench.rookery()?;
        let client = rookery.connect()?;
        let mut page = Page { browser: browser(bench)?, rookery, client, url: String::new() };
        page.echo(bench)?;
        // It is to be found at the same place by a page that comes back.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let served = page.command(&["web", "--listen", &format!("127.0.0.1:{port}"), "--json"])?;
        page.url = served["url"].as_str().context("no address of the page")?.to_owned();
        let link = page.command(&["web", "--pair", "--rights", "full", "--json"])?;
        page.browser.go(link["url"].as_str().context("no link to pair by")?)?;
        page.browser.until("document.querySelector('#pair-name')?.checkVisibility()")?;
        page.browser.js("document.getElementById('pair-name').value = 'bench'")?;
        page.browser.click("#pair-go")?;
        page.browser.until("document.documentElement.dataset.state === 'open'")?;
        page.browser.told(FIRST, SOON)?;
        // Whoever clicks is whom the daemon counts as the one at work.
        page.browser.click(".pane[data-focused] .scroller")?;
        page.browser.until("document.activeElement?.id === 'keys'")?;
        Ok(page)
    }

    /// Runs a command of ours that answers in JSON.
    fn command(&self, args: &[&str]) -> anyhow::Result<Value> {
        let mut command = process::program(self.rookery.binary());
        command.args(args).env("ROOKERY_HOME", self.rookery.home());
        Ok(serde_json::from_str(&process::output(&mut command)?)?)
    }

    /// Opens a terminal with the echo, which is shown where one is at work.
    fn echo(&mut self, bench: &Bench) -> anyhow::Result<u64> {
        let exe = bench.exe.display().to_string();
        let terminal = super::faces::open(&mut self.client, &[&exe, "__echo"])?;
        self.client.call("rookery/terminals/activate", &json!({"terminal": terminal}))?;
        Ok(terminal)
    }

    /// Waits until a terminal is shown and has the keyboard.
    fn await_terminal(&mut self, terminal: u64) -> anyhow::Result<()> {
        let pane = format!("document.querySelector('.pane[data-terminal=\"{terminal}\"]')");
        self.browser.until(&format!("{pane}?.hasAttribute('data-focused')"))?;
        self.browser.until("document.activeElement?.id === 'keys'")
    }

    /// Rows and columns that it shows.
    fn size(&mut self) -> anyhow::Result<Size> {
        let listed = self.client.call("rookery/terminals/list", &json!({}))?;
        let size = &listed["terminals"][0]["size"];
        let part = |name: &str| size[name].as_u64().and_then(|part| u16::try_from(part).ok());
        part("rows").zip(part("cols")).context("a terminal without a size")
    }
}

/// What to do with xterm.js, if it is here, in a browser of its own. A failure is a remark, not the end.
fn with_peer<T>(
    bench: &Bench,
    report: &mut Report,
    size: Size,
    work: impl FnOnce(&mut Chromium, &str) -> anyhow::Result<T>,
) -> Option<T> {
    let (dir, _) = bench.xterm_js.as_ref()?;
    let attempt = || {
        let server = XtermJs::start(dir)?;
        let (mut browser, url) = (browser(bench)?, server.url(size));
        browser.go(&url)?;
        browser.told(FIRST, SOON)?;
        work(&mut browser, &url)
    };
    keep_going(report, "xterm.js", attempt())
}

/// A number that a page has said.
fn number(text: &str) -> anyhow::Result<f64> {
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) => bail!("{text:?} is no number"),
    }
}
