//! Requests on their way to an answer at this terminal: what was seen, what waits and what is asked.

use std::collections::{HashSet, VecDeque};

use rookery_native::wire::Request;

use super::{
    asking::{Asking, Next},
    keyboard::Keyboard,
    screen::Screen,
};
use crate::{
    failure::{Failure, Outcome},
    output::Tone,
};

/// Where requests are decided, one after the other.
pub(super) struct Prompts {
    keyboard: Option<Keyboard>,
    /// Every request that was looked at, or is settled.
    seen: HashSet<String>,
    waiting: VecDeque<Request>,
    asking: Option<Asking>,
}

impl Prompts {
    pub(super) fn new(can_ask: bool) -> Outcome<Self> {
        let keyboard = can_ask.then(Keyboard::new).transpose();
        let keyboard = keyboard.map_err(Failure::doing("cannot read the keyboard"))?;
        Ok(Self { keyboard, seen: HashSet::new(), waiting: VecDeque::new(), asking: None })
    }

    pub(super) fn can_ask(&self) -> bool {
        self.keyboard.is_some()
    }

    /// Whether a request is seen for the first time.
    pub(super) fn is_new(&mut self, id: &str) -> bool {
        self.seen.insert(id.to_owned())
    }

    /// Takes a request back that says something else now, so that it is asked again; false if none such waits.
    pub(super) fn renew(&mut self, request: &Request) -> bool {
        let is_older = |known: &Request| known.id == request.id && known != request;
        let is_asked = self.asking.as_ref().is_some_and(|asking| is_older(asking.request()));
        let is_renewed = is_asked || self.waiting.iter().any(is_older);
        if is_renewed {
            self.withdraw(&request.id);
            self.seen.remove(&request.id);
        }
        is_renewed
    }

    /// Puts a request behind the others.
    pub(super) fn put(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    /// The next line, as long as something is asked.
    pub(super) async fn line(&mut self) -> Outcome<Option<String>> {
        match (&mut self.keyboard, &self.asking) {
            (Some(keyboard), Some(_)) => {
                keyboard.line().await.map_err(Failure::doing("cannot read the answer"))
            }
            _ => std::future::pending().await,
        }
    }

    /// Takes a line for what is asked; none if nothing is.
    pub(super) fn take(&mut self, line: &str) -> Option<Next> {
        let next = self.asking.as_mut()?.take(line);
        if matches!(next, Next::Answer(_)) {
            self.asking = None;
        }
        Some(next)
    }

    /// Asks what waits next, unless something is asked already.
    pub(super) fn open_next(&mut self, screen: &mut Screen) -> Outcome<()> {
        if self.asking.is_some() {
            return Ok(());
        }
        let Some(request) = self.waiting.pop_front() else { return Ok(()) };
        if let Some(keyboard) = &mut self.keyboard {
            keyboard.forget();
        }
        let asking = Asking::new(request);
        screen.details(&asking.details())?;
        self.asking = Some(asking);
        self.ask(screen)
    }

    /// Asks the present question.
    pub(super) fn ask(&self, screen: &mut Screen) -> Outcome<()> {
        let Some(asking) = &self.asking else { return Ok(()) };
        for line in asking.lines() {
            screen.note(Tone::Plain, &line)?;
        }
        screen.ask(asking.question())
    }

    /// Asks once more what something else was shown over.
    pub(super) fn repeat(&self, screen: &mut Screen) -> Outcome<()> {
        match &self.asking {
            Some(asking) if !screen.is_asking() => screen.ask(asking.question()),
            _ => Ok(()),
        }
    }

    /// Forgets a request; tells whether it was being asked.
    pub(super) fn withdraw(&mut self, id: &str) -> bool {
        self.seen.insert(id.to_owned());
        self.waiting.retain(|request| request.id != id);
        self.asking.take_if(|asking| asking.id() == id).is_some()
    }

    /// Asks nothing any more; gives what waits.
    pub(super) fn close(&mut self) -> Vec<Request> {
        self.keyboard = None;
        let asked = self.asking.take().map(Asking::into_request);
        asked.into_iter().chain(self.waiting.drain(..)).collect()
    }
}
