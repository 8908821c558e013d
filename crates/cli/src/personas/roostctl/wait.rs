//! `roostctl wait`. A server that numbers its events is listened to; on any other, as the original
//! does, we look again and again.

use std::{future::Future, path::Path, pin::Pin, time::Duration};

use rookery_daemon::homes::Homes;
use rookery_model::TerminalId;
use rookery_native::{
    TerminalRef,
    wire::{self, GetStatus, Status},
};
use rookery_roost::{
    errors::Code,
    wire::{
        Int64,
        envelope::Incoming,
        events::{Event, EventsSubscribe},
        tab::{TabDump, TabList, TabState},
    },
};
use rookery_wire::Client;
use tokio::time::{Instant, sleep, timeout};

use super::{args::Wait, link::Link, tab};
use crate::{
    failure::{Failure, Outcome},
    link::own_socket,
};

/// The shortest pause between looks.
const SHORTEST_INTERVAL: u64 = 10;
/// Longer than any user waits; a clock can add it without overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How long our own endpoint may take to answer before we do without.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is waited for.
#[derive(Debug)]
struct Goal {
    tab: Int64,
    state: Option<TabState>,
    text: Option<String>,
    is_gone: bool,
}

/// How we learn that it may be time to look again.
struct Signs {
    /// Whether the server tells what changes.
    has_events: bool,
    /// Reports when the screen shows the text, if the server supports it.
    screen: Option<Screen>,
    interval: Duration,
}

/// What made us look again.
enum Sign {
    Event(Vec<u8>),
    Look,
}

/// Conditions that nothing could meet, or everything. As in the original, they end with the code of
/// a wait that came to nothing.
fn check(args: &Wait) -> Outcome<()> {
    let needs_tab = args.state.is_some() || args.text.is_some();
    match (needs_tab, args.gone) {
        (false, false) => {
            Err(Failure::new("wait needs at least one of --state, --text and --gone"))
        }
        (true, true) => Err(Failure::new("--gone stands alone; leave out --state and --text")),
        _ => Ok(()),
    }
}

pub(super) async fn run(link: &mut Link, socket: &Path, args: Wait) -> Outcome<()> {
    check(&args)?;
    let goal = Goal {
        tab: tab(link, args.which).await?,
        state: args.state.map(TabState::from),
        text: args.text,
        is_gone: args.gone,
    };
    let until = Instant::now() + args.timeout.min(LONGEST);
    let interval = Duration::from_millis(args.interval_ms.max(SHORTEST_INTERVAL));
    let timed_out = || Failure::new(format!("timed out after {} s", args.timeout.as_secs_f64()));
    let first = async {
        // Before the first look, so that nothing happens between the two unseen.
        let has_events = subscribe(link, goal.tab).await?;
        Ok::<_, Failure>((has_events, is_met(link, &goal).await?))
    };
    // Even without any time there is one look, but a silent server gets no more than its share.
    let looked = timeout(args.timeout.clamp(PATIENCE, LONGEST), first).await;
    let (has_events, is_done) = looked.map_err(|_| timed_out())??;
    if is_done {
        return Ok(());
    }
    let waiting = async {
        let screen = match &goal.text {
            Some(text) if has_events => Screen::find(link, socket, goal.tab, text, until).await,
            _ => None,
        };
        until_met(link, &goal, Signs { has_events, screen, interval }).await
    };
    if let Ok(outcome) = tokio::time::timeout_at(until, waiting).await {
        return outcome;
    }
    // The state may have changed without an event.
    match timeout(PATIENCE, is_met(link, &goal)).await {
        Ok(Ok(true)) => Ok(()),
        _ => Err(timed_out()),
    }
}

/// Asks for events. A server that does not number them may also be one that never sends any.
async fn subscribe(link: &mut Link, tab_id_filter: Int64) -> Outcome<bool> {
    let params = EventsSubscribe { tab_id_filter, since: Some(Int64(-1)) };
    match link.call(params).await {
        Ok(subscribed) => Ok(subscribed.seq.is_some()),
        Err(super::LinkError::Refused { .. }) => Ok(false),
        Err(trouble) => Err(trouble.into()),
    }
}

async fn until_met(link: &mut Link, goal: &Goal, mut signs: Signs) -> Outcome<()> {
    loop {
        if let Sign::Event(line) = signs.next(link).await?
            && is_settled_by(goal, &line)
        {
            return Ok(());
        }
        if is_met(link, goal).await? {
            return Ok(());
        }
    }
}

/// Whether an event alone says that the goal is reached. A state may be over when we look.
fn is_settled_by(goal: &Goal, line: &[u8]) -> bool {
    let Ok(Incoming::Event(frame)) = Incoming::parse(line) else { return false };
    match frame.event {
        Event::TabStateChanged(changed) => {
            changed.tab_id == goal.tab && goal.state == Some(changed.state) && goal.text.is_none()
        }
        _ => false,
    }
}

/// Looks whether the goal is reached.
async fn is_met(link: &mut Link, goal: &Goal) -> Outcome<bool> {
    let projects = link.call(TabList {}).await?.projects;
    let mut tabs = projects.iter().flat_map(|project| &project.tabs);
    let Some(found) = tabs.find(|tab| tab.id == goal.tab) else {
        if goal.is_gone {
            return Ok(true);
        }
        return Err(gone(goal.tab));
    };
    if goal.is_gone || goal.state.is_some_and(|state| state != found.state) {
        return Ok(false);
    }
    let Some(text) = &goal.text else { return Ok(true) };
    match link.call(TabDump { tab_id: goal.tab }).await {
        Ok(dump) => Ok(dump.rows_text.join("\n").contains(text.as_str())),
        // A foreign server attaches the terminal later than it opens the tab.
        Err(trouble) if trouble.is(Code::NotFound) => Ok(false),
        Err(trouble) => Err(trouble.into()),
    }
}

fn gone(tab: Int64) -> Failure {
    Failure::new(format!("tab {tab} does not exist"))
}

impl Signs {
    async fn next(&mut self, link: &mut Link) -> Outcome<Sign> {
        if !self.has_events {
            sleep(self.interval).await;
            return Ok(Sign::Look);
        }
        let interval = self.interval;
        tokio::select! {
            event = link.event() => Ok(Sign::Event(event?)),
            () = screen_sign(self.screen.as_mut(), interval) => Ok(Sign::Look),
        }
    }
}

/// Ends when the screen may show the text; never, if no text is waited for.
async fn screen_sign(screen: Option<&mut Screen>, interval: Duration) {
    match screen {
        Some(screen) => screen.next(interval).await,
        None => std::future::pending().await,
    }
}

type Pending = Pin<Box<dyn Future<Output = bool> + Send>>;

/// Our own endpoint of the same server, which can wait for a text.
enum Screen {
    /// It was asked, or will be.
    Pushed { client: Client, params: wire::Wait, pending: Option<Pending>, has_fired: bool },
    /// It cannot tell, so the dump must be looked at.
    Looked,
}

impl Screen {
    async fn find(
        link: &mut Link,
        socket: &Path,
        tab: Int64,
        text: &str,
        until: Instant,
    ) -> Option<Self> {
        // The two ends write wide characters differently.
        if !text.is_ascii() {
            return Some(Self::Looked);
        }
        let Ok(who) = link.call(super::identify()).await else { return Some(Self::Looked) };
        let Some(client) = same_server(socket, who.pid).await else { return Some(Self::Looked) };
        let left = until.saturating_duration_since(Instant::now()).as_millis();
        let left = u64::try_from(left).unwrap_or(u64::MAX);
        let Ok(number) = u64::try_from(tab.0) else { return Some(Self::Looked) };
        let params = wire::Wait {
            text: Some(text.to_owned()),
            timeout_ms: Some(left),
            ..wire::Wait::new(TerminalRef::Number(TerminalId::new(number)))
        };
        Some(Self::Pushed { client, params, pending: None, has_fired: false })
    }

    async fn next(&mut self, interval: Duration) {
        let Self::Pushed { client, params, pending, has_fired } = self else {
            sleep(interval).await;
            return;
        };
        if *has_fired {
            // It saw the text and the dump did not: another view of the same terminal.
            sleep(interval).await;
            *has_fired = false;
        }
        let shown = pending.get_or_insert_with(|| {
            let (client, params) = (client.clone(), params.clone());
            Box::pin(async move { client.send(params).await.is_ok() })
        });
        let is_shown = shown.await;
        *pending = None;
        *has_fired = true;
        if !is_shown {
            *self = Self::Looked;
        }
    }
}

/// A connection to our own endpoint of the process that serves a Roost socket.
async fn same_server(socket: &Path, pid: i32) -> Option<Client> {
    let beside = socket.parent().and_then(Path::parent).map(|dir| dir.join("rookery/rookery.sock"));
    let usual = Homes::from_env().ok().map(|homes| own_socket(&homes));
    for path in [beside, usual].into_iter().flatten() {
        let ask = async {
            let client = Client::connect_unix(&path).await.ok()?;
            let status: Status = client.send(GetStatus).await.ok()?;
            (i64::from(status.pid) == i64::from(pid)).then_some(client)
        };
        if let Ok(Some(client)) = timeout(PATIENCE, ask).await {
            return Some(client);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::personas::roostctl::{
        args::{State, TabArg},
        fake::{Fake, Step},
    };

    const EMPTY: &str = r#"{"projects":[]}"#;

    fn one_tab(state: &str) -> String {
        let tab = format!(
            r#"{{"id":"3","project_id":"1","title":"t","cwd":"/","state":"{state}","has_notification":false,"is_active":true,"user_titled":false,"position":0,"created_at":0,"last_active":0,"hook_active":false}}"#
        );
        format!(
            r#"{{"projects":[{{"id":"1","name":"p","cwd":"/","position":0,"created_at":0,"tabs":[{tab}]}}]}}"#
        )
    }

    fn shows(text: &str) -> Step {
        Step::answer("tab.dump", &format!(r#"{{"cols":9,"rows":2,"rows_text":["","{text}"]}}"#))
    }

    fn args(state: Option<State>, text: Option<&str>, gone: bool) -> Wait {
        Wait {
            which: TabArg { tab: Some(3) },
            state,
            text: text.map(str::to_owned),
            gone,
            timeout: Duration::from_secs(20),
            interval_ms: 1,
        }
    }

    async fn wait(steps: Vec<Step>, args: Wait) -> Result<(), String> {
        let outcome = run(&mut Fake::link(steps), Path::new("/none/roost/roost.sock"), args).await;
        outcome.map_err(|failure| format!("{failure:?}"))
    }

    fn numbered() -> Step {
        Step::answer("events.subscribe", r#"{"seq":"9"}"#)
    }

    #[tokio::test]
    async fn a_state_that_is_over_at_once_is_still_seen() {
        let changed = |state: &str| {
            format!(
                r#"{{"event":"tab.state_changed","data":{{"tab_id":"3","state":"{state}"}},"seq":"10"}}"#
            )
        };
        let (running, none) = (changed("running"), changed("none"));
        let steps =
            vec![numbered(), Step::answer("tab.list", &one_tab("none")).after(&[&running, &none])];
        wait(steps, args(Some(State::Running), None, false)).await.unwrap();
    }

    #[tokio::test]
    async fn a_closed_tab_is_gone_and_can_do_nothing_else() {
        let closed = r#"{"event":"tab.closed","data":{"tab_id":"3"},"seq":"10"}"#;
        let steps = || {
            vec![
                numbered(),
                Step::answer("tab.list", &one_tab("none")).after(&[closed]),
                Step::answer("tab.list", EMPTY),
            ]
        };
        wait(steps(), args(None, None, true)).await.unwrap();
        let error = wait(steps(), args(Some(State::Idle), None, false)).await.unwrap_err();
        assert!(error.contains("tab 3 does not exist"), "{error}");
    }

    #[tokio::test]
    async fn a_server_without_events_is_looked_at() {
        for first in [
            Step::refuse("events.subscribe", "not-implemented", ""),
            Step::refuse("events.subscribe", "unknown-field", "since"),
            Step::answer("events.subscribe", "{}"),
        ] {
            let steps = vec![
                first,
                Step::answer("tab.list", &one_tab("running")),
                Step::answer("tab.list", &one_tab("idle")),
                Step::refuse("tab.dump", "not-found", "not yet"),
                Step::answer("tab.list", &one_tab("idle")),
                shows("nothing"),
                Step::answer("tab.list", &one_tab("idle")),
                shows("BUILD OK"),
            ];
            wait(steps, args(Some(State::Idle), Some("BUILD OK"), false)).await.unwrap();
        }
    }

    #[tokio::test]
    async fn conditions_that_make_no_sense_are_refused_before_anything_is_asked() {
        let error = wait(vec![], args(None, None, false)).await.unwrap_err();
        assert!(error.contains("at least one of"), "{error}");
        for (state, text) in [(Some(State::Idle), None), (None, Some("x"))] {
            let error = wait(vec![], args(state, text, true)).await.unwrap_err();
            assert!(error.contains("stands alone"), "{error}");
        }
    }

    #[tokio::test]
    async fn the_time_runs_out() {
        let list = || Step::answer("tab.list", &one_tab("none"));
        let mut args = args(Some(State::Idle), None, false);
        args.timeout = Duration::ZERO;
        let error = wait(vec![numbered(), list(), list()], args).await.unwrap_err();
        assert!(error.contains("timed out after 0 s"), "{error}");
    }

    #[tokio::test]
    async fn text_is_found_over_rows() {
        let steps = vec![numbered(), Step::answer("tab.list", &one_tab("none")), shows("x")];
        wait(steps, args(None, Some("\nx"), false)).await.unwrap();
    }
}
