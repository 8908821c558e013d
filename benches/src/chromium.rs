//! A browser without a screen, driven over a pipe by its own protocol: requests and replies as JSON that end with a
//! zero byte.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gate::{await_readable, pause};
use crate::outer::below;
use crate::peers::x_terminals::install;
use crate::process;

/// What the programs are called, and the package.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const PACKAGE: &str = "chromium";
/// How long anything that should happen soon may take.
const SOON: Duration = Duration::from_secs(60);
/// Between two looks at a page that says nothing by itself.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Width and height of the page.
const SIZE: (u32, u32) = (1280, 860);
/// Gives a program both ends of the pipe under the numbers that it looks for.
const WITH_PIPE: &str = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

/// Where it is, and its version; or why there is none.
pub(crate) fn find(may_install: bool) -> Result<(PathBuf, String), String> {
    let look = || PROGRAMS.iter().find_map(|name| process::find(name));
    if look().is_none() {
        install(PACKAGE, may_install)?;
    }
    let binary = look().ok_or("Chromium is not found")?;
    let said = process::output(process::program(&binary).arg("--version"))
        .map_err(|error| format!("{error:#}"))?;
    Ok((binary, said.split_whitespace().take(2).collect::<Vec<_>>().join(" ")))
}

/// A running browser with one page.
pub(crate) struct Chromium {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: String,
    next_id: u64,
    events: VecDeque<Value>,
    _profile: TempDir,
}

impl Chromium {
    /// Starts one with a new profile and an empty page.
    pub(crate) fn start(binary: &Path) -> anyhow::Result<Chromium> {
        let profile = tempfile::Builder::new().prefix("rkb-").tempdir_in("/tmp")?;
        let (width, height) = SIZE;
        let mut command = process::program("sh");
        command.args(["-c", WITH_PIPE, "sh"]).arg(binary).args([
            "--headless",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-smooth-scrolling",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
        ]);
        command.arg(format!("--window-size={width},{height}"));
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start the browser")?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let mut browser = Chromium {
            child,
            input,
            output,
            session: String::new(),
            next_id: 1,
            events: VecDeque::new(),
            _profile: profile,
        };
        browser.open(SIZE).context("the browser does not answer")?;
        Ok(browser)
    }

    fn open(&mut self, (width, height): (u32, u32)) -> anyhow::Result<()> {
        let made = self.call("Target.createTarget", &json!({"url": "about:blank"}))?;
        let target = json!({"targetId": made["targetId"], "flatten": true});
        let attached = self.call("Target.attachToTarget", &target)?;
        attached["sessionId"].as_str().context("no session")?.clone_into(&mut self.session);
        self.call("Page.enable", &json!({}))?;
        self.call("Runtime.enable", &json!({}))?;
        self.call("Emulation.setFocusEmulationEnabled", &json!({"enabled": true}))?;
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &metrics).map(drop)
    }

    /// All of its processes.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mut all = vec![self.child.id()];
        let mut next = 0;
        while let Some(pid) = all.get(next).copied() {
            all.extend(below(pid));
            next += 1;
        }
        all
    }

    /// Sends a request and does not wait for the reply.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> anyhow::Result<u64> {
        let id = self.next_id;
        self.next_id += 1;
        let mut request = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            request["sessionId"] = json!(self.session);
        }
        let mut bytes = request.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).context("the browser is gone")?;
        Ok(id)
    }

    /// Sends a request and waits for its result.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let id = self.send(method, params)?;
        loop {
            let mut message = self.message(SOON)?.with_context(|| format!("{method}: silence"))?;
            if message["id"] != json!(id) {
                self.note(message);
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("{method}: {error}");
            }
            return Ok(message["result"].take());
        }
    }

    fn note(&mut self, message: Value) {
        if message.get("method").is_some() {
            self.events.push_back(message);
        }
    }

    /// The next message; none if there was none within `limit`.
    fn message(&mut self, limit: Duration) -> anyhow::Result<Option<Value>> {
        let is_empty = self.output.buffer().is_empty();
        if is_empty && await_readable(self.output.get_ref(), limit).is_err() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes)?;
        if bytes.pop() != Some(0) {
            bail!("the browser has ended");
        }
        Ok(Some(serde_json::from_slice(&bytes)?))
    }

    /// What the page says next through a name that was made known to it.
    pub(crate) fn told(&mut self, name: &str, limit: Duration) -> anyhow::Result<String> {
        let end = Instant::now() + limit;
        loop {
            let is_it = |event: &Value| {
                event["method"] == "Runtime.bindingCalled" && event["params"]["name"] == name
            };
            if let Some(at) = self.events.iter().position(is_it) {
                let event = self.events.remove(at).unwrap_or_default();
                return Ok(event["params"]["payload"].as_str().unwrap_or_default().to_owned());
            }
            self.events.clear();
            let left = end.saturating_duration_since(Instant::now());
            let next = self.message(left)?;
            self.note(next.with_context(|| format!("the page did not say {name}"))?);
        }
    }

    /// What an expression is in the page.
    pub(crate) fn js(&mut self, expression: &str) -> anyhow::Result<Value> {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut done = self.call("Runtime.evaluate", &params)?;
        if let Some(thrown) = done.get("exceptionDetails") {
            bail!("{expression}: {thrown}");
        }
        Ok(done["result"]["value"].take())
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&mut self, expression: &str) -> anyhow::Result<()> {
        let end = Instant::now() + SOON;
        while self.js(&format!("!!({expression})"))? != true {
            if Instant::now() > end {
                let shown = self.js("document.documentElement.outerHTML.slice(0, 600)")?;
                bail!("{expression} did not come true in {shown}");
            }
            pause(LOOK_EVERY)?;
        }
        Ok(())
    }

    /// Opens an address, and waits until its page is loaded.
    pub(crate) fn go(&mut self, url: &str) -> anyhow::Result<()> {
        let gone = self.call("Page.navigate", &json!({"url": url}))?;
        if let Some(error) = gone.get("errorText") {
            bail!("{url}: {error}");
        }
        Ok(())
    }

    /// Presses a letter or Enter, and lets it go.
    pub(crate) fn press(&mut self, key: char) -> anyhow::Result<()> {
        let (name, code) = match key {
            '\r' => ("Enter".to_owned(), "Enter".to_owned()),
            key => (key.to_string(), format!("Key{}", key.to_ascii_uppercase())),
        };
        let number = u32::from(key.to_ascii_uppercase());
        let mut event = json!({"type": "keyDown", "key": name, "code": code, "text": key,
            "unmodifiedText": key, "windowsVirtualKeyCode": number});
        self.send("Input.dispatchKeyEvent", &event)?;
        event["type"] = json!("keyUp");
        self.send("Input.dispatchKeyEvent", &event).map(drop)
    }

    /// Clicks into the middle of an element.
    pub(crate) fn click(&mut self, selector: &str) -> anyhow::Result<()> {
        let element = format!("document.querySelector({})", json!(selector));
        self.until(&format!("{element}?.checkVisibility()"))?;
        let middle = "[b.left + b.width / 2, b.top + b.height / 2]";
        let at =
            format!("(() => {{ const b = {element}.getBoundingClientRect(); return {middle} }})()");
        let at = self.js(&at)?;
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event)?;
        }
        Ok(())
    }

    /// Turns the wheel over the middle of the page by this many pixels; up is negative.
    pub(crate) fn wheel(&mut self, pixels: i64) -> anyhow::Result<()> {
        let (width, height) = SIZE;
        let event = json!({"type": "mouseWheel", "x": width / 2, "y": height / 2, "deltaX": 0,
            "deltaY": pixels});
        self.call("Input.dispatchMouseEvent", &event).map(drop)
    }

    /// KiB of the page's own heap, once all that can go is gone.
    pub(crate) fn heap(&mut self) -> anyhow::Result<f64> {
        self.call("HeapProfiler.collectGarbage", &json!({}))?;
        let usage = self.call("Runtime.getHeapUsage", &json!({}))?;
        Ok(usage["usedSize"].as_f64().context("no size of the heap")? / 1024.0)
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let processes = self.processes();
        processes.into_iter().for_each(process::kill);
        let _ = self.child.wait();
    }
}
